"""Every claim of the book has a check, every check can fail, and `exact` means equality."""
import ast
import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT/"tools"))
from register import KINDS, NEED_CHECK, checks, statements  # noqa: E402

STATEMENTS, CHECKS = statements(ROOT/"nbs"), checks(ROOT/"nbs")
CLAIMS = {s.label for s in STATEMENTS if s.kind in NEED_CHECK}
PLANTED = [(check, mutant) for check in CHECKS for mutant in check.mutants]


def test_every_claim_is_checked():
    checked = {label for check in CHECKS for label in check.labels}
    assert not CLAIMS - checked, "claims without a check"
    assert not checked - {s.label for s in STATEMENTS}, "checks of unknown claims"


def test_every_claim_has_a_planted_wrong_version():
    guarded = {label for check in CHECKS if check.mutants for label in check.labels}
    assert not CLAIMS - guarded, "claims without a mutant"


@pytest.mark.parametrize("check, mutant", PLANTED, ids=[
    f"{check.module}.{check.name}-{wrong}" for check, (_, wrong) in PLANTED])
def test_planted_wrong_version_is_rejected(check, mutant, monkeypatch):
    right, wrong = mutant
    module = importlib.import_module(check.module)
    assert hasattr(module, right), f"{right} is not a name in {check.module}"
    monkeypatch.setattr(module, right, getattr(module, wrong))
    with pytest.raises(AssertionError): getattr(module, check.name)()


# ---- `exact` means fractions, enumeration and equality (page 02)

CLOSE = {"allclose", "isclose", "approx", "assert_allclose", "assert_almost_equal",
         "assert_array_almost_equal"}


def is_small(node):
    """Tell whether an expression holds a number that can only be a tolerance."""
    return any(isinstance(n, ast.Constant) and isinstance(n.value, float) and 0 < n.value < 1e-3
               or isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)
               and isinstance(n.right, ast.UnaryOp) for n in ast.walk(node))


def tolerances(function):
    """Yield the parts of a test that compare within a tolerance, round, or sample."""
    equalities = [n for n in ast.walk(function) if isinstance(n, ast.Compare)
                  and all(isinstance(op, (ast.Eq, ast.NotEq)) for op in n.ops)]
    compared = {id(part) for n in equalities for part in (n.left, *n.comparators)}
    for n in ast.walk(function):
        if isinstance(n, ast.Compare) and n not in equalities and any(
                isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in n.ops) and any(
                map(is_small, (n.left, *n.comparators))): yield n
        if not isinstance(n, ast.Call): continue
        name = getattr(n.func, "attr", getattr(n.func, "id", ""))
        if (name in CLOSE or name == "round" and len(n.args) == 2
                or name == "float" and id(n) not in compared
                or name == "Sampled" and "rng" in ast.unparse(n)): yield n


def inexact(source, name):
    """Return the tolerances of a test of this source, and of the helpers it names."""
    parts = {n.name: n for n in ast.parse(source).body
             if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    todo, seen = [name], set()
    while todo:
        here = todo.pop()
        if here in seen or here not in parts: continue
        seen.add(here)
        todo += [n.id for n in ast.walk(parts[here]) if isinstance(n, ast.Name)]
    return [f"{here}: {ast.unparse(n)}" for here in seen for n in tolerances(parts[here])]


def test_exact_alone_has_no_tolerance():
    wrong = []
    for check in CHECKS:
        if check.evidence != ("exact",): continue
        source = (ROOT/"tests"/f"{check.module}.py").read_text()
        wrong += [f"{check.module}.{check.name}, {found}" for found in inexact(source, check.name)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("line", [
    "assert np.allclose(a, b)", "assert abs(a - b) < 1e-9", "assert a == approx(b)",
    "assert abs(a - b).max() <= 2**-40", "assert round(a, 3) == .862", "assert float(a) <= b",
    "run(Sampled(rng))"])
def test_a_tolerance_under_exact_is_found(line):
    assert inexact(f"def test_it():\n    helper()\ndef helper():\n    {line}", "test_it")
    assert not inexact(f"def test_it():\n    assert a == float(b)\ndef other():\n    {line}",
                       "test_it")


def test_the_register_knows_its_words():
    kinds = {kind for check in CHECKS for kind in check.evidence}
    assert kinds == {"exact", "symbolic", "numerical", "statistical"} == set(KINDS)
    page = (ROOT/"nbs"/"02_testing.ipynb").read_text()
    for kind in KINDS: assert f"**{kind.capitalize()}.**" in page, f"page 02 does not say {kind}"
