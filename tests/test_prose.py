"""What the pages say in words: no stray lines, no commands that fail.

Each finder of faults is tried on faults that were planted for it.
"""
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Numbers that may stand in prose although a cell of the page knows them, and why.
QUOTED = "as a paper or a thread prints it, or recomputed from that print; a test holds it"
EXACT = "an exact computation that the reader can repeat by hand; a test holds it"
SETTING = "chosen, not computed: an input, a level, a section, a name"
ALLOWED = {
    "35_shapes": {"2.952": EXACT, "2.5": EXACT}, "36_shared": {"0.028": EXACT},
    "38_lossy": {"0.994": EXACT, "0.88": EXACT},
    "41_trace": dict.fromkeys(("0.64", "0.512", "0.4096", "0.5904", "3.3616"), EXACT),
    "50_theory": {"1.2": EXACT, "3.8": SETTING, "3.5": SETTING, "3.11": SETTING,
                  "2.11": EXACT, "2.36": EXACT, "2.40": EXACT},
    "51_tables": dict.fromkeys(
        "2.4 2.35 2.45 3.3 .68 1.29 1.05 1.25 2.5 3.1 3.6 3.9 4.9 14.1 1.8 2.01 2.46 1.92 7.52 "
        ".711 .724 .112 .114 .157 .156 .451 .470 .86 .80 .78".split(), QUOTED),
    "52_systems": {"3.1": SETTING, "1.22": QUOTED, ".95": SETTING},
    "53_estimate": {".5904": EXACT}, "62_speed": {"0.75": SETTING},
    "70_audit": {"23.625": QUOTED, "23.5": QUOTED},
    "79_is_it_lossless": {"23.625": QUOTED, "23.5": QUOTED, "2.95": EXACT, "2.38": EXACT,
                          "1.05": EXACT},
    "77_server": {"0.45": SETTING}, "80_report": {"4.15": EXACT},
    "95_errata": dict.fromkeys(
        "2.5 3.1 3.6 2.33 2.94 3.45 3.8 2.4 2.0 1.6 2.35 1.93 1.54 3.3 1.875 1.53 1.535 .75 .80 "
        ".87 .62 .71 .76 .84 .68 1.29 14.1 7.52 .11".split(), QUOTED),
}
PAGES = sorted((ROOT/"nbs").glob("*.ipynb")) + sorted((ROOT/"nbs").glob("*.md")) + [
    ROOT/name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
SOURCES = [*PAGES, *sorted((ROOT/"benchmarks").glob("*.py")), ROOT/"Makefile"]


def prose(path):
    "Yield the texts of a page that a reader sees as words."
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb": return [text]
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "markdown"]


def without_code(text):
    "Leave out fenced blocks of code and mathematics on lines of its own."
    text = re.sub(r"^(```+|~~~+).*?^\1\s*$", "", text, flags=re.M | re.S)
    return re.sub(r"^\$\$.*?^\$\$[^\n]*$", "", text, flags=re.M | re.S)


def hashes(text):
    "Find words that look like a commit or the id of a cell, and are not called a commit."
    found = re.findall(r"(?<![\w/.#-])(?<!commit )[0-9a-f]{7,40}(?![\w/-])", without_code(text))
    return [word for word in found if re.search(r"\d", word) and re.search(r"[a-f]", word)]


def stray_lines(text):
    "Find lines of one word that is neither markup nor the end of a sentence."
    text = re.sub(r"^:::+\{glossary\}.*?^:::+$", "", without_code(text), flags=re.M | re.S)
    lines = text.split("\n")
    return [line for line in lines if re.fullmatch(r"\w[\w+-]{0,40}", line.strip())
            and not re.fullmatch(r"\d+[.)]", line.strip())]


def unowned_installs(text):
    "Find commands that install this package by a name that nobody has registered."
    return re.findall(r"pip3? install[^\n`;&]*\bspecdec[-_]nb(?![\w/])[^\n`;]*", re.sub(
        r"path/to/specdec_nb", "", text))


def typed_numbers(words, code):
    "Find decimal numbers of two digits or more in prose that a cell of the page knows."
    number = r"(?<![\w.#/-])(\d*\.\d+)(?!\w|\.\d)"
    known = {x.lstrip("0") for x in re.findall(number, code)}
    words = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|\]\([^)]*\)", " ", without_code(words), flags=re.S)
    return [x for x in re.findall(number, words)
            if x.lstrip("0") in known and len(x.replace(".", "").lstrip("0")) > 1]


@pytest.mark.parametrize("path", [p for p in PAGES if p.suffix == ".ipynb"], ids=lambda p: p.name)
def test_numbers_in_prose_come_from_the_cell(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    typed = {x for text in prose(path) for x in typed_numbers(text, code)}
    assert not typed - set(ALLOWED.get(path.stem, ())), (
        "typed by hand beside a cell that computes it: print it, glue it, or say why in ALLOWED")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_stray_line_and_no_hash(path):
    for text in prose(path): assert not hashes(text) and not stray_lines(text)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_commands_install_from_a_clone(path):
    assert not unowned_installs(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("finder, text", [
    (hashes, "A sentence.\n42a8403b\n## A heading"), (hashes, "as of acfb227, it fails"),
    (stray_lines, "A sentence ends.\n42a8403b"), (stray_lines, "One.\n\nTODO\n\nTwo."),
    (unowned_installs, "pip install specdec-nb"),
    (unowned_installs, "To see it: pip install 'specdec-nb[models]'"),
    (unowned_installs, "pip install --upgrade specdec_nb[fast]")])
def test_planted_faults_of_prose_are_seen(finder, text): assert finder(text)


def test_planted_numbers_are_seen():
    assert typed_numbers("The best is 1.31 times as fast.", "assert round(x, 2) == 1.31") == ["1.31"]
    assert typed_numbers("It covers .683 of them.", "covered == 0.683") == [".683"]
    assert not typed_numbers("Section $1.31$, `1.31`, 0.5 and 2.72.", "x = 1.31, .5, 2.718")


@pytest.mark.parametrize("finder, text", [
    (hashes, "The effaced facade, at commit 143acb3, 1234567 tokens, `2**31`, a 0.1234567 and `Z12`."),
    (hashes, "```text\n42a8403b\n```"), (stray_lines, "```text\nword\n```\n\nA sentence."),
    (stray_lines, "$$\nx\n$$\n\n## Heading\n\n:::\n\nOne short paragraph.\n\n---"),
    (unowned_installs, "specdec-nb models install smollm2; pip install path/to/specdec_nb"),
    (unowned_installs, "pip install '.[models]'")])
def test_sound_prose_is_not_blamed(finder, text): assert not finder(text)
