#!/usr/bin/env python3
"""Execute the pages of the book, most of them two at a time, into the cache of the build.

Sphinx reads one page after another; most of a build is waiting for cells to
run. `make book` empties `_build` first, so the cache holds nothing older than
this run, and its keys hold the digest of the package (`_ext/nbdev_myst.py`).
"""
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import yaml
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution

ROOT = Path(__file__).parents[1]
TIMED = ("43_fewrows", "48_reality", "57_batching")  # their figures are times: each runs alone
sys.path.insert(0, str(ROOT/"_ext"))
import nbdev_myst


def pages(node):
    "Yield the files that a table of contents names."
    if isinstance(node, dict):
        yield from ([node[key] for key in ("root", "file") if key in node])
        node = node.values()
    if not isinstance(node, str):
        for part in node: yield from pages(part)


def execute(path, timeout):
    "Run one page in its own kernel, in the folder it lives in."
    notebook = nbdev_myst.read(path.read_text(encoding="utf-8"))
    return path, single_nb_execution(notebook, cwd=str(path.parent), timeout=timeout,
                                     allow_errors=False)


def run(paths, workers):
    "Execute pages into the cache; stop at the first that fails."
    with ThreadPoolExecutor(workers) as pool:
        for done in as_completed(pool.submit(execute, p, config["execute"]["timeout"])
                                 for p in paths):
            path, result = done.result()
            if result.err:
                pool.shutdown(wait=False, cancel_futures=True)
                sys.exit(f"{path.relative_to(ROOT)} failed:\n{result.exc_string}")
            cache.cache_notebook_bundle(CacheBundleIn(result.nb, str(path), data={
                "execution_seconds": result.time}), check_validity=False, overwrite=True)
            print(f"{result.time:7.1f} s  {path.relative_to(ROOT)}", flush=True)


toc, config = (yaml.safe_load((ROOT/name).read_text()) for name in ("_toc.yml", "_config.yml"))
paths = [p for name in pages(toc) if (p := ROOT/f"{name}.ipynb").exists()]
paths.sort(key=lambda p: -p.stat().st_size)  # long ones first: the two end together
cache = get_cache(ROOT/"_build"/".jupyter_cache")
run([p for p in paths if p.stem not in TIMED], 2)
run([p for p in paths if p.stem in TIMED], 1)
