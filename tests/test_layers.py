"""Who may import whom: the package is layered, light to import, and documented.

A module imports only modules above it in this table. So the audit can never
lean on the rules that it audits, and a lower layer can be read without a
higher one. Heavy libraries load when they are used, not before. And no cell of a
notebook hides a name that an earlier cell imported.
"""
import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT/"specdec_nb"
ANY = object()

# module: (modules it may import, libraries it may import)
LAYERS = {
    "dist": ("", "numpy"),
    "chance": ("dist", "numpy"),
    "warps": ("dist", "numpy"),
    "coupling": ("dist chance", "numpy"),
    "rules": ("dist chance coupling", "numpy"),
    "block_rule": ("dist chance coupling rules", "numpy"),
    "oracle": ("dist", "numpy"),
    "multidraft": ("dist chance coupling rules", "numpy"),
    "trees": ("dist chance coupling rules", "numpy"),
    "shapes": ("dist trees", "numpy"),
    "shared": ("dist chance coupling rules", "numpy"),
    "lossy": ("dist chance coupling rules", "numpy"),
    "registry": ("rules block_rule multidraft trees shared lossy", ""),
    "models": ("dist", "numpy"),
    "llama": ("dist models", "numpy gguf tokenizers"),
    "fewrows": ("", "numpy llvmlite"),
    "drafters": ("dist models", "numpy"),
    "lookup": ("drafters", "numpy"),
    "text": ("", ""),
    "theory": ("dist", "numpy"),
    "estimate": ("dist theory", "numpy scipy"),
    "trace": ("dist estimate", "numpy"),
    "decode": ("dist chance rules trees drafters text trace", "numpy"),
    "many": ("dist models decode", "numpy"),
    "batching": ("dist many", "numpy"),
    "systems": ("dist theory estimate trace", "numpy"),
    "thrift": ("drafters systems theory", "numpy"),
    "reality": ("", "numpy scipy"),
    "batch": ("dist", "numpy array_api_compat"),
    "fast": ("batch coupling", "numpy numba"),
    "simulate": ("dist coupling", "numpy"),
    "evidence": ("dist", "numpy scipy"),
    "audit": ("dist chance evidence", "numpy scipy"),
    "traces": ("dist chance evidence audit", "numpy scipy"),
    "server": ("dist evidence audit traces", "numpy"),
    "hf_audit": ("dist audit", "numpy torch transformers"),
    "zoo": ("dist chance coupling rules block_rule multidraft shared evidence audit", "numpy"),
    "diagnose": ("evidence audit zoo", "numpy scipy"),
    "other_tests": ("dist zoo", "numpy scipy"),
    "adapters": ("dist models llama", "numpy torch transformers"),
    "audit_cli": (ANY, "typer rich"),
    "report": (ANY, "numpy scipy matplotlib"),
    "cli": (ANY, "numpy typer rich"),
    "plots": ("", "numpy matplotlib matplotlib_inline"),
    "audit_report": ("audit evidence plots", "numpy matplotlib"),
    "testing": ("", "numpy"),
}
HEAVY = {"matplotlib", "scipy", "torch", "transformers", "tokenizers", "gguf", "llvmlite", "numba", "typer"}
EAGER = {"cli": {"typer"}, "audit_cli": {"typer"}}  # what may load when a module is imported

MODULES = sorted(p.stem for p in PACKAGE.glob("[a-z]*.py"))


def imports(source):
    """Return (modules of the package, libraries, faults) that a source imports."""
    own, libraries, faults = set(), set(), []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import): names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            if any(a.name == "*" for a in node.names): faults.append("import *")
            base = ".".join(filter(None, [PACKAGE.name if node.level else "", node.module]))
            names = [f"{base}.{a.name}" for a in node.names] if base == PACKAGE.name else [base]
        else: continue
        for name in names:
            top, _, rest = name.partition(".")
            if top != PACKAGE.name: libraries.add(top)
            elif rest: own.add(rest.partition(".")[0])
    return own, libraries - sys.stdlib_module_names, faults


def violations(folder):
    """List what breaks the table in a folder of modules."""
    found = []
    for path in sorted(folder.glob("[a-z]*.py")):
        name = path.stem
        if name not in LAYERS:
            found.append(f"{name}: not in the table of layers")
            continue
        own, libraries, faults = imports(path.read_text(encoding="utf-8"))
        may, libs = LAYERS[name]
        if may is not ANY: found += [f"{name}: imports {m}" for m in sorted(own - {*may.split()})]
        found += [f"{name}: imports {m}" for m in sorted(libraries - {*libs.split()})]
        found += [f"{name}: {fault}" for fault in faults]
    return found


def loaded(name, path=ROOT):
    """Name the heavy libraries that a fresh Python loads with a module."""
    code = (f"import sys; sys.path.insert(0, {str(path)!r}); import {name}\n"
            f"print(*{{m.partition('.')[0] for m in sys.modules}})")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not run.returncode, run.stderr
    return HEAVY & {*run.stdout.split()}


def test_layers_hold(): assert violations(PACKAGE) == []


def test_the_table_has_no_cycle():
    order = list(LAYERS)
    for i, (name, (may, _)) in enumerate(LAYERS.items()):
        above = order if may is ANY else may.split()
        assert may is ANY or {*above} <= {*order[:i]}, f"{name} may import {above}"


@pytest.mark.parametrize("source, complaint", [
    ("from .rules import token_rule", "audit: imports rules"),
    ("from specdec_nb.rules import token_rule", "audit: imports rules"),
    ("import specdec_nb.rules", "audit: imports rules"),
    ("from . import rules", "audit: imports rules"),
    ("from specdec_nb import rules", "audit: imports rules"),
    ("def f():\n    from .rules import token_rule", "audit: imports rules"),
    ("import torch.nn", "audit: imports torch"),
    ("from .dist import *", "audit: import *")])
def test_planted_imports_are_seen(tmp_path, source, complaint):
    (tmp_path/"audit.py").write_text(f"from .dist import tv\nimport math\n{source}\n")
    assert violations(tmp_path) == [complaint]


def test_unknown_module_is_seen(tmp_path):
    (tmp_path/"new.py").write_text("")
    assert violations(tmp_path) == ["new: not in the table of layers"]


def test_package_is_light(): assert loaded("specdec_nb") == set()


@pytest.mark.parametrize("module", MODULES)
def test_module_alone_is_light(module):
    assert loaded(f"specdec_nb.{module}") <= EAGER.get(module, set())


def test_planted_heavy_import_is_seen(tmp_path):
    (tmp_path/"eager.py").write_text("import matplotlib.figure\n")
    assert "matplotlib" in loaded("eager", tmp_path)


def undocumented(modules, page):
    """List modules that the API page leaves out, repeats or misplaces."""
    listed = re.findall(r"^\.\. automodule:: specdec_nb\.(\w+)\n   :members:$", page, re.M)
    wanted = sorted(modules, key=[*LAYERS, *modules].index)
    return [] if listed == wanted else [f"the page has {listed}, the package {wanted}"]


def test_every_module_is_on_the_api_page():
    page = (ROOT/"nbs"/"api.md").read_text(encoding="utf-8")
    assert undocumented(MODULES, page) == []


def test_missing_module_on_the_api_page_is_seen():
    entry = ".. automodule:: specdec_nb.{}\n   :members:\n".format
    page = entry("dist") + entry("chance")
    assert undocumented(["chance", "dist"], page) == []
    assert undocumented(["dist", "rules"], page)
    assert undocumented(["chance", "dist", "new"], page)
    assert undocumented(["chance", "dist"], entry("chance") + entry("dist"))
    assert undocumented(["dist"], ".. automodule:: specdec_nb.dist\n\n"), "no members"


def hidden_names(cells):
    """List names that a notebook imports or exports and its cells bind again at the top level.

    A check runs twice: as a function, and in place, where what it binds stays
    bound for the cells below. `law = law_of(...)` would hide the helper `law`.
    """
    imported, found = set(), []
    own_scope = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)): bound = child.name
            elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store): bound = child.id
            else: bound = None
            if bound in imported: found.append(bound)
            if bound is None and not isinstance(child, own_scope): visit(child)

    for cell in cells:
        tree = ast.parse(cell)
        for node in tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imported |= {a.asname or a.name.partition(".")[0] for a in node.names}
        visit(tree)
        if re.search(r"^#\| export$", cell, re.M):  # what the library calls by name
            imported |= {node.name for node in tree.body
                         if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return found


NOTEBOOKS = sorted((ROOT/"nbs").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[n.stem for n in NOTEBOOKS])
def test_no_cell_hides_an_import(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    assert hidden_names(code) == []


@pytest.mark.parametrize("cell, found", [
    ("law = 1", ["law"]), ("for law in []: pass", ["law"]), ("x, law = 1, 2", ["law"]),
    ("def law(): pass", ["law"]), ("if 1:\n    law = 1", ["law"]),
    ("def f(law):\n    law = 1", []), ("[law for law in []]", []), ("laws = law(1)", [])])
def test_planted_hidden_import_is_seen(cell, found):
    assert hidden_names(["from specdec_nb.testing import law", cell]) == found
    assert hidden_names(["#| export\ndef law(): pass", cell]) == found
    assert hidden_names(["def law(): pass", cell]) == []
