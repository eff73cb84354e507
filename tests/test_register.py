"""Every claim of the book has a check, and every check can fail."""
import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT/"tools"))
from register import NEED_CHECK, checks, statements  # noqa: E402

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
