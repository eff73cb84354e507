"""Who may lean on whom: folders of pages are packages, in the order of the book.

A module imports only modules whose page comes before its own, and only from the
packages named for its package below. So the audit can never lean on the rules
that it audits, and a lower floor can be read without a higher one. Heavy
libraries load when they are used, not before. And no cell of a notebook hides a
name that an earlier cell imported.
"""
import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT/"specdec_nb"

# package: packages it leans on, beside laws, chance and itself. A module that may do more has a line of its own.
MAY = {
    "laws": "", "chance": "", "testing": "", "plots": "",
    "rules": "", "models": "", "drafters": "models", "decoding": "rules models drafters",
    "planning": "drafters decoding", "kernels": "rules", "audit": "", "report": "rules planning audit",
    "cli": "rules models drafters decoding planning kernels audit report",
    "decoding.trace": "planning",  # survival_from_trace
    "audit.zoo": "rules",          # what is planted is a rule, written wrong
    "audit.diagnose": "rules", "audit.cli": "rules models decoding planning",
}
HELPERS = {"testing", "plots"}  # their pages stand in the part for reference
LIBRARIES = {  # beside numpy
    "models.llama": "gguf tokenizers", "models.gguf": "gguf", "models.tokenizer": "tokenizers",
    "models.few_rows": "llvmlite", "models.hf": "torch transformers",
    "planning.estimate": "scipy", "planning.measure": "scipy",
    "kernels.verify": "array_api_compat", "kernels.compiled": "numba",
    "audit": "scipy", "audit.hf": "torch transformers", "audit.report": "matplotlib", "audit.cli": "typer rich",
    "report": "scipy matplotlib", "cli": "typer rich", "plots": "matplotlib matplotlib_inline",
}
HEAVY = {"matplotlib", "scipy", "torch", "transformers", "tokenizers", "gguf", "llvmlite", "numba", "typer"}
EAGER = {"cli": {"typer"}, "audit.cli": {"typer"}}  # what may load when a module is imported


def dotted(path, folder=PACKAGE): return ".".join(path.relative_to(folder).with_suffix("").parts)


def pages(folder=PACKAGE):
    "Name each module's page, in the order of the book."
    found = {dotted(p, folder): re.search(r"File to edit: [./]+/nbs/(\S+)\.ipynb", p.read_text(encoding="utf-8"))
             for p in folder.rglob("[a-z]*.py")}
    return dict(sorted(((m, page and page[1]) for m, page in found.items()), key=lambda x: (x[1] or "", x[0])))


PAGES = pages()
MODULES = list(PAGES)
TOC = re.findall(r"- file: nbs/(\S+)", (ROOT/"_toc.yml").read_text())


def imports(source, name):
    """Return (modules of the package, libraries, faults) that the source of a module imports."""
    own, libraries, faults = set(), set(), []
    here = [PACKAGE.name, *name.split(".")]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import): names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            if any(a.name == "*" for a in node.names): faults.append("import *")
            base = ".".join([*here[:-node.level], *filter(None, [node.module])] if node.level else [node.module])
            names = [f"{base}.{a.name}" for a in node.names]
        else: continue
        for name in names:
            top, _, rest = name.partition(".")
            if top != PACKAGE.name: libraries.add(top)
            elif rest: own.add(next((m for m in (rest, rest.rpartition(".")[0]) if m in MODULES), rest))
    return own - {f"__{x}__" for x in ("version",)}, libraries - sys.stdlib_module_names, faults


def violations(name, source, order=MODULES):
    """List what one module imports that it may not."""
    own, libraries, faults = imports(source, name)
    package = name.partition(".")[0]
    if package not in MAY: return [f"{name}: not in the table"]
    may = {*MAY[package].split(), *MAY.get(name, "").split(), package, "laws", "chance", *HELPERS}
    libs = {"numpy", *LIBRARIES.get(package, "").split(), *LIBRARIES.get(name, "").split()}
    early = {*order[:order.index(name)], *HELPERS} if name in order else {*order}
    found = [f"{name}: imports {m}" for m in sorted(own)
             if m.partition(".")[0] not in may or m not in early and name not in MAY]
    return found + [f"{name}: imports {m}" for m in sorted(libraries - libs)] + [f"{name}: {f}" for f in faults]


@pytest.mark.parametrize("module", MODULES)
def test_floors_hold(module):
    path = PACKAGE/f"{module.replace('.', '/')}.py"
    assert violations(module, path.read_text(encoding="utf-8")) == []


def test_paths_sort_in_the_order_of_the_book(): assert TOC == sorted(TOC)


def test_every_page_is_in_the_book():
    found = {p.relative_to(ROOT/"nbs").with_suffix("").as_posix() for f in ("*.ipynb", "*.md")
             for p in (ROOT/"nbs").rglob(f) if not p.name.startswith(("_", "."))}
    assert found == {*TOC, "index"}


def test_a_folder_of_pages_is_a_package():
    for module, page in PAGES.items():
        folder, package = re.sub(r"^\d+_", "", page.partition("/")[0]), module.rpartition(".")[0]
        assert package == folder or not package and folder in ("basics", "reference"), module


def test_every_part_of_the_book_is_a_folder():
    toc = yaml.safe_load((ROOT/"_toc.yml").read_text())
    folders = [{Path(c["file"]).parent.name for c in part["chapters"]} for part in toc["parts"]]
    assert all(len(f) == 1 for f in folders) and len(folders) == len(set().union(*folders))


@pytest.mark.parametrize("source, complaint", [
    ("from ..rules.token import token_rule", "audit.engine: imports rules.token"),
    ("from specdec_nb.rules.token import token_rule", "audit.engine: imports rules.token"),
    ("import specdec_nb.rules.token", "audit.engine: imports rules.token"),
    ("from ..rules import token", "audit.engine: imports rules.token"),
    ("from specdec_nb.rules import token", "audit.engine: imports rules.token"),
    ("from .zoo import BUGS", "audit.engine: imports audit.zoo"),
    ("def f():\n    from ..rules.token import token_rule", "audit.engine: imports rules.token"),
    ("import torch.nn", "audit.engine: imports torch"),
    ("from ..laws import *", "audit.engine: import *")])
def test_planted_imports_are_seen(source, complaint):
    assert violations("audit.engine", f"from ..laws import tv\nimport math\n{source}\n") == [complaint]


def test_unknown_package_is_seen(): assert violations("new.module", "") == ["new.module: not in the table"]


def loaded(name, path=ROOT):
    """Name the heavy libraries that a fresh Python loads with a module."""
    code = (f"import sys; sys.path.insert(0, {str(path)!r}); import {name}\n"
            f"print(*{{m.partition('.')[0] for m in sys.modules}})")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not run.returncode, run.stderr
    return HEAVY & {*run.stdout.split()}


def test_package_is_light(): assert loaded("specdec_nb") == set()


@pytest.mark.parametrize("module", MODULES)
def test_module_alone_is_light(module):
    assert loaded(f"specdec_nb.{module}") <= EAGER.get(module, set())


def test_planted_heavy_import_is_seen(tmp_path):
    (tmp_path/"eager.py").write_text("import matplotlib.figure\n")
    assert "matplotlib" in loaded("eager", tmp_path)


def undocumented(modules, page):
    """List modules that the API page leaves out, repeats or misplaces."""
    listed = re.findall(r"^\.\. automodule:: specdec_nb\.([\w.]+)\n   :members:$", page, re.M)
    return [] if listed == modules else [f"the page has {listed}, the package {modules}"]


def test_every_module_is_on_the_api_page():
    page = (ROOT/"nbs"/"9_reference"/"80_api.md").read_text(encoding="utf-8")
    assert undocumented(MODULES, page) == []


def test_missing_module_on_the_api_page_is_seen():
    entry = ".. automodule:: specdec_nb.{}\n   :members:\n".format
    page = entry("laws") + entry("rules.token")
    assert undocumented(["laws", "rules.token"], page) == []
    assert undocumented(["laws", "chance"], page)
    assert undocumented(["laws", "rules.token", "new"], page)
    assert undocumented(["laws", "rules.token"], entry("rules.token") + entry("laws"))
    assert undocumented(["laws"], ".. automodule:: specdec_nb.laws\n\n"), "no members"
