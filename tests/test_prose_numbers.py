"""A number in prose comes from its cell, or a list says why it may be typed.

A figure that is typed beside the cell that computes it grows old: the cell
changes and the sentence stays. So a number in prose is put there by the cell
(`{glue:...}`, or a printed value), or its page's code holds it as a setting or
in an assertion, or `prose_numbers.toml` gives the reason. A decimal number in
words that the code holds is taken for a result and needs a reason too. Captions
of figures and their descriptions are prose. Whole numbers below ten, years,
powers of ten, and what stands in citations, links, code or labels are not
looked at. A reason "by hand" gives the arithmetic, which is done here; one that
says "held" is believed if the code has the number; and no number is listed that
needs no reason.
"""
import ast
import json
import math
import re
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {p.stem: p for p in [*sorted((ROOT/"nbs").rglob("*.ipynb")), *sorted((ROOT/"nbs").glob("*.md")),
                             ROOT/"README.md", ROOT/"CONTRIBUTING.md"]}
LISTED = tomllib.loads((Path(__file__).parent/"prose_numbers.toml").read_text(encoding="utf-8"))
REASONS = LISTED.pop("reasons")
NO_PROSE = re.compile(
    r"\\[a-z]?frac\d\d|^(:::+|\(?eq-|:label:).*$|\{[a-z:]+\}`[^`]*`|`[^`]*`|\]\([^)]*\)|<[^>]*>|https?://\S+"
    r"|[\w.-]+/[\w.-]+( PR)?#\d+|#\d+|\bcommit [0-9a-f]{7,40}\b|\d{4}-\d\d-\d\d"
    r"|\b([Ss]ection|[Tt]heorem|[Cc]orollary|[Ee]quation|[Tt]able) \d[\d.]*\b"
    r"|\b10\^(\{-?\d+\}|\d)|\\[a-z]+|\^\{?-?\d+\}?|_\{?\d+\}?", re.MULTILINE)
MATHS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d*\.\d+|\d+)(?![\w]|[.,]\d)")
TOOLS = {name: getattr(math, name) for name in ("sqrt", "log", "log2", "exp", "comb", "ceil")}
TOOLS["__builtins__"] = {}


def numbers_of(text):
    "Return the numbers of a text that a cell could know, as they are written."
    text = re.sub(r"(?ms)^(```+|~~~+).*?^\1", "", text).replace("{,}", ",")
    return [x for x in NUMBER.findall(NO_PROSE.sub(" ", text))
            if "." in x or "," in x or not (int(x) < 10 or 1800 < int(x) < 2100)]


def value(number):
    "Read a number as it is written in prose or code."
    return Decimal(number.replace(",", "").replace("_", ""))


def code_numbers(source):
    "Return the values of the numbers in a cell, not in its comments; a share stands for its per cent."
    source = re.sub(r"(?m)^\s*[%!].*$", "", source)
    try: nodes = [*ast.walk(ast.parse(source))]
    except SyntaxError: return set()
    told = {id(n.value) for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}
    constants = [n.value for n in nodes if isinstance(n, ast.Constant) and id(n) not in told]
    found = {Decimal(repr(x)) for x in constants
             if isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)}
    found |= {value(x) for text in constants if isinstance(text, str) for x in NUMBER.findall(text)}
    found |= {Decimal(n.left.value)**n.right.value for n in nodes
              if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)
              and all(isinstance(side, ast.Constant) and type(side.value) is int
                      and 0 < side.value < 100 for side in (n.left, n.right))}
    return found | {100*x for x in found if x != x.to_integral_value()}


def doubtful(words, code):
    "List the numbers in words that need a reason: the code has none such, or has it as a result."
    known = set().union(*map(code_numbers, code))
    numbers = [x for text in words for x in numbers_of(text)]
    typed = [x for text in words for x in numbers_of(MATHS.sub(" ", text))
             if "." in x and len(x.replace(".", "").lstrip("0")) > 1]
    return {x for x in numbers if value(x) not in known} | {x for x in typed if value(x) in known}


def cells(path, kind):
    "Return the sources of a page's cells; captions and descriptions of figures are words too."
    if path.suffix == ".md": return [path.read_text(encoding="utf-8")] if kind == "markdown" else []
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(c["source"]) for c in found if c["cell_type"] == "code"]
    if kind == "code": return code
    return ["".join(c["source"]) for c in found if c["cell_type"] == "markdown"] + [
        text for source in code for text in re.findall(r"(?m)^#\| fig-(?:cap|alt): (.*)$", source)]


def comes_to(number, arithmetic):
    "Say whether the arithmetic gives the number, to the places that are written."
    places = len(number.split(".")[1]) if "." in number else 0
    return abs(eval(arithmetic, TOOLS) - float(value(number))) <= .5001*10**-places


@pytest.mark.parametrize("page", PAGES)
def test_numbers_in_prose_come_from_the_cell(page):
    code, why = cells(PAGES[page], "code"), LISTED.get(page, {})
    found, listed = doubtful(cells(PAGES[page], "markdown"), code), [x for xs in why.values() for x in xs]
    assert not found - set(listed), "print it, glue it, assert it, or say why in prose_numbers.toml"
    assert set(listed) <= found and len(listed) == len(set(listed)), "a reason that nothing needs"
    known = set().union(*map(code_numbers, code))
    assert not [x for x in why.get("held", ()) if value(x) not in known], "nothing holds it"
    assert not [x for x, sum_ in why.get("by_hand", {}).items() if not comes_to(x, sum_)]


def test_reasons_are_given_for_pages_that_exist():
    assert set(LISTED) <= set(PAGES)
    assert {reason for why in LISTED.values() for reason in why} == set(REASONS)


def test_planted_numbers_are_found():
    code = ["n = 10_000  # of 17\n", "'of 18'\nassert share == .125 and limit == 10**6", "%time 19"]
    assert doubtful(["With n=10,000 runs $12.5$ per cent, or 1/8, below 1,000,000."], code) == set()
    assert doubtful(["For $n=40{,}000$ runs it is 0.13 or 17, not 18 and 19."], code) == {
        "40,000", "0.13", "17", "18", "19"}
    assert doubtful(["It is .125 here, $.125$ and `.125` there, and 0.5."], code) == {".125", "0.5"}
    assert not doubtful(["{glue:text}`a-17` and `x = 12`, a/b#123, {cite:t}`chen2023`, 2023, "
                         "and commit 8974510 of 2026-11-30\n```text\n77\n```"], code)


def test_captions_are_read(tmp_path):
    source = ["#| fig-cap: It rises to 4.7.\n", "#| fig-alt: A line to 23.\n", "plot(3)"]
    page = tmp_path/"page.ipynb"
    page.write_text(json.dumps({"cells": [{"cell_type": "code", "source": source}]}))
    assert doubtful(cells(page, "markdown"), cells(page, "code")) == {"4.7", "23"}


def test_wrong_sums_are_found():
    assert comes_to("0.36", ".6**2") and comes_to(".017", ".6**8")
    assert not comes_to("0.37", ".6**2") and not comes_to("128,001", "2**7*1000")
