"""Read the claims of the book, and the checks that stand under them.

A claim is a labelled theorem, lemma, corollary or proposition; definitions
and algorithms may be checked, claims must be. A check is a cell marked
`#| test name` with directives

    #| checks: exact thm-one lem-two
    #| mutant: right_name = wrong_name; right_name = other_wrong_name

The words before the labels say what decides (page 02 defines them). A cell
that compares by equality and, beside it, within a tolerance says both:
`exact numerical`. A test of the package reads every cell that says `exact`
alone, with its helpers, and fails if it finds a tolerance there.
"""
import re
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from nbdev.process import NBProcessor

STATEMENT = re.compile(
    r"^:::+\{prf:(\w+)\}[ ]*(.*)\n:label: (\S+)", re.M)
STATEMENT_LABEL = re.compile(r"\w+-")
NEED_CHECK = ("theorem", "lemma", "corollary", "proposition")
KINDS = ("exact", "symbolic", "numerical", "statistical")


class Claim(NamedTuple):
    label: str
    kind: str      # theorem, lemma, ...
    title: str
    page: str      # notebook name


class Check(NamedTuple):
    name: str      # test function
    module: str    # test module
    evidence: tuple # some of KINDS; () for a test of no numbered claim
    labels: tuple
    mutants: tuple # pairs (right name, wrong name)
    page: str


class RegisterProc:
    """Collect claims and checks of one notebook, in nbdev's protocol."""
    def __init__(self, nb): self.nb = nb

    def begin(self): self.claims, self.checks, self.module = [], [], None

    def _default_exp_(self, cell, module): self.module = module

    def _test_(self, cell, name=None):
        words = cell.directives_.get("checks:", [])
        evidence = tuple(takewhile(lambda word: not STATEMENT_LABEL.match(word), words))
        labels = words[len(evidence):]
        pairs = " ".join(cell.directives_.get("mutant:", [])).split(";")
        mutants = tuple(tuple(p.strip() for p in pair.split("=")) for pair in pairs if pair)
        if not (labels or mutants): return
        if not name: raise ValueError(f"checks and mutants need `#| test name`: {cell.source[:80]}")
        if labels and not evidence or not set(evidence) <= set(KINDS):
            raise ValueError(f"{name}: `checks:` needs some of {KINDS}, then labels; "
                             f"got {' '.join(words)!r}")
        if any(len(pair) != 2 for pair in mutants):
            raise ValueError(f"{name}: a mutant is `right_name = wrong_name`, got {pairs}")
        self.checks.append((f"test_{name}", evidence, tuple(labels), mutants))

    def __call__(self, cell):
        if cell.cell_type == "markdown":
            self.claims += [(m[3], m[1], m[2].strip()) for m in STATEMENT.finditer(cell.source)]


def _read(folder):
    for path in sorted(Path(folder).glob("[0-9i]*.ipynb")):
        proc = NBProcessor(path, procs=[RegisterProc], process=True).procs[0]
        module = "test_" + (proc.module or re.sub(r"^\d+_", "", path.stem))
        yield path.stem, module, proc


def statements(folder):
    """Return every labelled statement of the notebooks, in order of files."""
    return [Claim(*c, page) for page, _, proc in _read(folder) for c in proc.claims]


def checks(folder):
    """Return every check of the notebooks."""
    return [Check(name, module, *rest, page) for page, module, proc in _read(folder)
            for name, *rest in proc.checks]
