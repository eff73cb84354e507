"""What is said twice is said the same: settings.ini, pyproject.toml, the lock file."""
import configparser
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from pybtex.database import parse_string
from pybtex.exceptions import PybtexError

import specdec_nb

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13")


def read_settings(text):
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.read_string(text)
    return parser["DEFAULT"]


def read_lock(text):
    """Return the pinned requirements of a lock file."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def pins(lock, name, python):
    """Return the versions that a lock gives to one package under one Python."""
    env = {"python_version": python, "python_full_version": f"{python}.0",
           "sys_platform": "linux", "os_name": "posix", "platform_system": "Linux",
           "platform_python_implementation": "CPython",
           "implementation_name": "cpython", "platform_machine": "x86_64"}
    return [str(pin.specifier).removeprefix("==") for pin in lock
            if canonicalize_name(pin.name) == canonicalize_name(name)
            and (pin.marker is None or pin.marker.evaluate(env))]


def lock_faults(requirements, lock):
    """List requirements that a lock leaves out, pins twice or pins wrongly."""
    found = []
    for want in map(Requirement, requirements):
        for python in PYTHONS:
            got = pins(lock, want.name, python)
            if len(got) != 1: found.append(f"{want.name}: pins {got} on {python}")
            elif not want.specifier.contains(got[0], prereleases=True):
                found.append(f"{want}: pinned to {got[0]} on {python}")
    return found


SETTINGS = read_settings((ROOT/"settings.ini").read_text(encoding="utf-8"))
PYPROJECT = tomllib.loads((ROOT/"pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
LOCK = read_lock((ROOT/"requirements-dev.txt").read_text(encoding="utf-8"))
DEV = PROJECT["optional-dependencies"]["dev"]


def test_version(): assert SETTINGS["version"] == specdec_nb.__version__


def release_faults(changelog, citation):
    """Say where the changelog and the citation tell two stories of this version."""
    version = re.escape(SETTINGS["version"])
    head = re.search(rf"^## {version} \((.*)\)$", changelog, re.MULTILINE)
    released = re.search(r"^date-released: (.*)$", citation, re.MULTILINE)
    if not head: return "the changelog does not know this version"
    if not re.search(rf"^version: {version}$", citation, re.MULTILINE): return "another version"
    date = released[1] if released else "unreleased"
    return None if head[1] == date else f"{head[1]} in the changelog, {date} in the citation"


def test_changelog_and_citation_agree():
    changelog, citation = ((ROOT/f).read_text() for f in ("CHANGELOG.md", "CITATION.cff"))
    assert release_faults(changelog, citation) is None
    assert release_faults(changelog, citation + "date-released: 2026-11-30\n")
    assert release_faults(changelog.replace("(unreleased)", "(2026-11-30)"), citation)
    assert release_faults("", citation) and release_faults(changelog, "")


def test_name_and_description():
    assert canonicalize_name(SETTINGS["lib_name"]) == PROJECT["name"]
    assert SETTINGS["description"] == PROJECT["description"]
    assert {a["name"] for a in PROJECT["authors"]} == {SETTINGS["author"]}
    assert (SETTINGS["license"], PROJECT["license"]) == ("apache2", "Apache-2.0")


def test_smallest_python():
    assert PROJECT["requires-python"] == f">={SETTINGS['min_python']}"
    allowed = SpecifierSet(PROJECT["requires-python"])
    assert all(allowed.contains(p) for p in PYTHONS) and PYTHONS[0] == SETTINGS["min_python"]


def test_requirements():
    assert SETTINGS["requirements"].split() == PROJECT["dependencies"]
    assert SETTINGS["dev_requirements"].split() == DEV


def test_console_script():
    name, _, entry = SETTINGS["console_scripts"].partition("=")
    assert PROJECT["scripts"] == {name: entry}


def test_build_needs_are_dev_needs():
    assert {*PYPROJECT["build-system"]["requires"]} <= {*DEV}


def test_lock_covers_everything():
    assert all(re.fullmatch(r"==[^,*]+", str(pin.specifier)) for pin in LOCK), "exact pins"
    assert lock_faults([*PROJECT["dependencies"], *DEV], LOCK) == []


@pytest.mark.parametrize("text, complaint", [
    ("", "pins []"), ("execnb==0.2.0", "pinned to 0.2.0"),
    ("execnb==0.1.18 ; python_version < '3.12'", "pins [] on 3.12"),
    ("execnb==0.1.18\nexecnb==0.1.19", "pins ['0.1.18', '0.1.19']")])
def test_planted_lock_faults_are_seen(text, complaint):
    assert complaint in " ".join(lock_faults(["execnb>=0.1.18,<0.2"], read_lock(text)))
    assert not lock_faults(["execnb>=0.1.18,<0.2"], read_lock("execnb==0.1.18  # via nbdev"))


def bib_faults(text):
    """Say why a bibliography cannot be read, if so."""
    try: parse_string(text, "bibtex")
    except PybtexError as error: return str(error)


def test_bibliography_is_read():
    text = (ROOT/"references.bib").read_text(encoding="utf-8")
    assert bib_faults(text) is None


@pytest.mark.parametrize("text", [
    "@misc{one, year={2023}\n@misc{two, year={2024}}", "@misc{one, year=2023}"*2])
def test_planted_bibliography_faults_are_seen(text): assert bib_faults(text)


def test_notebooks_are_stored_as_lines():
    """A change of a line is a change of a line in `git diff`, as Jupyter writes it."""
    for path in sorted((ROOT/"nbs").rglob("*.ipynb")):
        sources = [cell["source"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
        assert all(isinstance(s, list) for s in sources), path
        assert all("\n" not in line[:-1] for s in sources for line in s), path


def shadowed(names):
    """Find names of scripts that an installed module has too: a folder on the path hides it."""
    from importlib.machinery import PathFinder
    path = [p for p in sys.path if p and Path(p).resolve() not in (ROOT, ROOT/"benchmarks", ROOT/"tools")]
    return [x for x in names if x in sys.builtin_module_names or PathFinder.find_spec(x, path)]


def test_no_script_hides_an_installed_module():
    folders = ("benchmarks", "tools", "_ext")
    assert shadowed([p.stem for f in folders for p in (ROOT/f).glob("*.py")]) == []
    assert shadowed(["json", "numpy", "sys", "no_such_module"]) == ["json", "numpy", "sys"]
