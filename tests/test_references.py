"""What the book names: every entry of the bibliography is cited, every thread has its full name.

Each finder of faults is tried on faults that were planted for it.
"""
import json
import re
from pathlib import Path

import pytest
from pybtex.database import parse_string

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT/"nbs").glob("*.ipynb")) + sorted((ROOT/"nbs").glob("*.md")) + [
    ROOT/name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
BIB = (ROOT/"references.bib").read_text(encoding="utf-8")
OWNER = r"[\w.-]+/[\w.-]+"


def texts(path):
    "Yield (kind, text) of the cells of a page."
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb": return [("markdown", text)]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]


def cited(text):
    "List the keys that a text cites, by a role or in brackets at the end of a source."
    roles = re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", text)
    keys = [key.strip() for found in roles for key in found.split(",")]
    return keys + re.findall(r"(?:warned of in|in the program) [^\"\n]*\[(\w+)\]", text)


def entry_faults(bib, keys):
    "Say what is wrong with a bibliography: uncited, missing, or not to be found by a reader."
    found, entries = [], parse_string(bib, "bibtex").entries
    for key, entry in entries.items():
        lacks = [name for name in ("title", "year") if not entry.fields.get(name)]
        if not entry.persons.get("author"): lacks.append("author")
        if not any(entry.fields.get(name) for name in ("url", "doi", "eprint")):
            lacks.append("url, doi or eprint")
        if key not in keys: found.append(f"{key}: no page cites it")
        found += [f"{key}: no {name}" for name in lacks]
    return found + [f"{key}: cited, no entry" for key in sorted({*keys} - {*entries})]


def undated(text, bib):
    "List sources in docstrings, an author and a year, that no entry has."
    years = {(entry.persons["author"][0].last_names[-1], entry.fields["year"])
             for entry in parse_string(bib, "bibtex").entries.values()}
    found = re.findall(r"Source:\s+([A-Z][\w'-]+)(?: and [A-Z]\w+|,? [\w, ]*|\s+et\s+al\.)?\s+\((\d{4})\)",
                       text)
    return [pair for pair in found if pair not in years]


def short_threads(kind, text):
    "List threads that are not named owner/repository#number."
    if kind == "code":  # in code only what has a word or a comma before it: colours are no threads
        text = "\n".join(re.findall(r'"[^"\n]*"', text))
        return [word for word in re.findall(r"[\w./-]*[A-Za-z][\w./-]*#\d+|\bPR ?#\d+|, #\d{1,6}\b", text)
                if not re.fullmatch(OWNER + r"#\d+", word)]
    text = re.sub(r"^(```+).*?^\1\s*$", "", text, flags=re.M | re.S)
    text = re.sub(r"(?<=\]\()[^)\s]*", "", text)  # addresses of links
    return [word for word in re.findall(r"[\w./-]*(?: ?PR ?)?#\d+\b", text)
            if not re.fullmatch(OWNER + r"#\d+", word)]


def wrong_links(text):
    "List threads whose link goes to another thread."
    return [name for name, repo, number, address in re.findall(
        rf"\[(({OWNER})#(\d+))\]\(([^)\s]*)\)", text)
        if not re.fullmatch(rf"https://github\.com/{re.escape(repo)}/(issues|pull|discussions)/{number}"
                            r"(#\S*)?", address)]


def test_every_entry_is_cited_and_every_citation_has_an_entry():
    keys = {key for path in PAGES for _, text in texts(path) for key in cited(text)}
    assert not entry_faults(BIB, keys)


def test_sources_in_docstrings_have_an_entry():
    assert not [(path.name, pair) for path in PAGES for kind, text in texts(path)
                if kind == "code" for pair in undated(text, BIB)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_threads_have_their_full_names(path):
    assert not [(word, text[:40]) for kind, text in texts(path) if "#| test" not in text
                for word in short_threads(kind, text)]  # tests may plant short names
    assert not [name for kind, text in texts(path) for name in wrong_links(text)]


GOOD = "@misc{one, title={A}, author={Ox, Ann}, year={2023}, eprint={1}}"


@pytest.mark.parametrize("bib, keys, fault", [
    (GOOD, [], "one: no page cites it"), (GOOD, ["one", "two"], "two: cited, no entry"),
    (GOOD.replace("eprint={1}", ""), ["one"], "one: no url, doi or eprint"),
    (GOOD.replace("year={2023}, ", ""), ["one"], "one: no year"),
    (GOOD.replace("title={A}, ", ""), ["one"], "one: no title"),
    (GOOD.replace("author={Ox, Ann}, ", ""), ["one"], "one: no author")])
def test_planted_faults_of_entries_are_seen(bib, keys, fault):
    assert entry_faults(bib, keys) == [fault]
    assert not entry_faults(GOOD, ["one"])


def test_planted_sources_without_an_entry_are_seen():
    assert undated("Source: Walker (1977).", GOOD) == [("Walker", "1977")]
    assert undated("Source: Ox et al. (2024)", GOOD) == [("Ox", "2024")]
    assert not undated("Source: Ox et al. (2023), section 2", GOOD)


@pytest.mark.parametrize("kind, text", [
    ("markdown", "as in #123"), ("markdown", "vllm#7627 says"), ("markdown", "(a/b#1, #2)"),
    ("markdown", "vllm PR#10198"), ("markdown", "a/b PR#3"), ("code", 'x = "vllm#9834, PR#10198"'),
    ("code", 'x = "a/b#1, #2"')])
def test_planted_short_names_are_seen(kind, text): assert short_threads(kind, text)


@pytest.mark.parametrize("kind, text", [
    ("markdown", "in [a/b.c#1](https://github.com/a/b.c/issues/1#issuecomment-2)"),
    ("markdown", "[below](page.ipynb#12)"), ("code", 'colour = "#0072B2"'), ("code", 'x = "a/b#1, c/d#2"'),
    ("code", "x = 1 # 2")])
def test_full_names_are_not_blamed(kind, text): assert not short_threads(kind, text)


def test_a_link_to_another_thread_is_seen():
    assert wrong_links("[a/b#1](https://github.com/a/b/issues/2)")
    assert wrong_links("[a/b#1](https://github.com/a/c/issues/1)")
    assert not wrong_links("[a/b#1](https://github.com/a/b/pull/1)")
