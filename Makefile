PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help test book sync check serve clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(READY): requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(v < (3, 11) and f"Python 3.11 or newer is needed; $(PYTHON) is {v[0]}.{v[1]}. Try: make PYTHON=python3.12")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check uv==0.13.9
	$(BIN)/uv pip install -q --python $(BIN)/python -r requirements-dev.txt
	$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	$(BIN)/specdec-nb models install smollm2 || echo "No weights: what needs the real model will be skipped, and say so."
	touch $@

sync: $(READY) ## export library and tests from the notebooks
	$(BIN)/python tools/export.py

check: $(READY) ## export, and fail if that changed anything
	$(BIN)/python tools/export.py --check

test: check ## everything that must hold
	$(BIN)/nbdev_test --n_workers 2 --skip_file_re '^([_.]|48_|57_)'  # these time a real model: the book runs them
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not book"
	$(BIN)/python tools/check_wheel.py

book: sync ## execute every notebook and build the book from nothing
	rm -rf _build
	$(BIN)/python tools/execute.py
	$(BIN)/jupyter-book build . -W -n --keep-going
	$(BIN)/python -m pytest -n 2 -m book -rs
	@echo "The book: $(CURDIR)/_build/html/index.html"

serve: ## serve the built book on this machine
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html 8000

clean: ## remove all that can be made again
	rm -rf $(VENV) _build build dist *.egg-info .pytest_cache .hypothesis
