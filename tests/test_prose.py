"""What the pages say in words: no stray lines, no commands that fail.

Each finder of faults is tried on faults that were planted for it.
"""
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

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


@pytest.mark.parametrize("finder, text", [
    (hashes, "The effaced facade, at commit 143acb3, 1234567 tokens, `2**31`, a 0.1234567 and `Z12`."),
    (hashes, "```text\n42a8403b\n```"), (stray_lines, "```text\nword\n```\n\nA sentence."),
    (stray_lines, "$$\nx\n$$\n\n## Heading\n\n:::\n\nOne short paragraph.\n\n---"),
    (unowned_installs, "specdec-nb models install smollm2; pip install path/to/specdec_nb"),
    (unowned_installs, "pip install '.[models]'")])
def test_sound_prose_is_not_blamed(finder, text): assert not finder(text)
