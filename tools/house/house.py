#!/usr/bin/env python3
"""Move pages and modules into folders by plan.toml; this folder goes when the move is done.

Run in the root of a clean checkout:

    python3 tools/house/house.py            # move, rewrite
    .venv/bin/python tools/export.py                  # then export
"""
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = Path.cwd()
PLAN = tomllib.loads((HERE/"plan.toml").read_text())
PAGE, MODULE, ORDER, PACKAGE_OF = {}, {}, [], {}
for part in PLAN["part"]:
    for row in part["pages"]:
        old, new, *module = row
        PAGE[old] = f"{part['folder']}/{new}"
        ORDER.append(old)
        PACKAGE_OF[old] = part["package"]
        if module:
            MODULE[module[0]] = ".".join(filter(None, [part["package"], module[1]]))
PAGE["index"] = "index"
OLD_MODULE_OF = {row[0]: row[2] for part in PLAN["part"] for row in part["pages"] if len(row) > 2}
WARN = []


def sh(*cmd): subprocess.run([str(c) for c in cmd], check=True, cwd=ROOT)


def ext(old): return ".md" if (ROOT/"nbs"/f"{old}.md").exists() else ".ipynb"


EXT = {old: ext(old) for old in PAGE}
TOP_NAMES = {}  # public and private names of old modules
for m in MODULE:
    text = (ROOT/"specdec_nb"/f"{m}.py").read_text()
    TOP_NAMES[m] = {*re.findall(r"^(?:def|class) (\w+)", text, re.M), *re.findall(r"^(\w+)(?:, \w+)* = ", text, re.M)}
ALT = "|".join(sorted(MODULE, key=len, reverse=True))
PAGES_ALT = "|".join(sorted((re.escape(p) for p in PAGE if re.match(r"\d", p)), key=len, reverse=True))


def test_name(old):
    "Dotted name of the test module of an old page."
    package = PACKAGE_OF[old]
    if old in OLD_MODULE_OF: leaf = MODULE[OLD_MODULE_OF[old]].rpartition(".")[2]
    else: leaf = re.sub(r"^\d+_", "", PAGE[old].split("/")[-1])
    return ".".join(filter(None, [package, f"test_{leaf}"]))


TESTS = {"test_" + OLD_MODULE_OF.get(old, re.sub(r"^\d+_", "", old)): test_name(old) for old in ORDER}


# ---------------------------------------------------------------- rewriting text

def imports_of_modules(m):
    "from specdec_nb import rules, dist as d -> one import a module."
    indent, names, tail = m[1], m[2], m[3] or ""
    lines = []
    for item in filter(str.strip, names.split(",")):
        name, _, alias = item.strip().partition(" as ")
        if name not in MODULE: return m[0]
        package, _, leaf = MODULE[name].rpartition(".")
        alias = alias or name
        source = ".".join(filter(None, ["specdec_nb", package]))
        lines.append(f"{indent}from {source} import {leaf}" + (f" as {alias}" if alias != leaf else ""))
    return "\n".join(lines) + tail


def code_names(text):
    text = re.sub(rf"\bspecdec_nb\.({ALT})\b(?!\()", lambda m: f"specdec_nb.{MODULE[m[1]]}", text)
    text = re.sub(rf"\bspecdec_nb/({ALT})\.py\b", lambda m: f"specdec_nb/{MODULE[m[1]].replace('.', '/')}.py", text)
    text = re.sub(r"^( *)from specdec_nb import \(([\w, \n]+?)\)( *#.*)?$", imports_of_modules, text, flags=re.M)
    return re.sub(r"^( *)from specdec_nb import ([\w, ]+?)( *#.*)?$", imports_of_modules, text, flags=re.M)


def ticked(text):
    "`dist.tv` in prose and comments -> `laws.tv`, if the module has that name."
    def new(m):
        return f"{m[1]}{MODULE[m[2]]}.{m[3]}" if m[3] in TOP_NAMES[m[2]] else m[0]
    return re.sub(rf"(`)({ALT})\.(\w+)(?=[\w.]*`)", new, text)


def relative(target, base):
    return os.path.relpath(f"nbs/{target}", os.path.dirname(f"nbs/{base}") or ".").replace(os.sep, "/")


def links(text, page):
    "Links between pages, from the place of the page (None: from the root)."
    def link(m):
        old = m[1]
        return f"]({relative(PAGE[old], page)}{EXT[old]}"
    if page is not None:
        alt = "|".join(sorted((re.escape(p) for p in PAGE), key=len, reverse=True))
        text = re.sub(rf"\]\(({alt})(?:\.ipynb|\.md)\b", link, text)
        text = re.sub(rf"\{{doc\}}`([^`<]*<)?({alt})(>?)`",
                      lambda m: f"{{doc}}`{m[1] or ''}{relative(PAGE[m[2]], page)}{m[3]}`", text)
    text = re.sub(rf"nbs/({PAGES_ALT})\b", lambda m: f"nbs/{PAGE[m[1]]}", text)
    text = re.sub(r"nbs/api\b", "nbs/" + PAGE["api"], text)
    text = re.sub(rf"\"nbs\"/\"({PAGES_ALT})\.ipynb\"", lambda m: '"nbs"/' + "/".join(
        f'"{x}"' for x in f"{PAGE[m[1]]}.ipynb".split("/")), text)
    return text


def tests_names(text):
    def new(m):
        package, _, leaf = TESTS[m[2]].rpartition(".")
        alias = m[3] or m[2]
        source = f"from {package} import {leaf}" if package else f"import {leaf}"
        return f"{m[1]}{source}" + (f" as {alias}" if alias != leaf else "")
    alt = "|".join(TESTS)
    text = re.sub(rf"^( *)import ({alt})(?: as (\w+))?\b", new, text, flags=re.M)
    return re.sub(rf"tests/({alt})\.py", lambda m: f"tests/{TESTS[m[1]].replace('.', '/')}.py", text)


def folders(text):
    "Places outside the pages, seen from a page one folder deeper."
    return re.sub(r"\.\./(benchmarks|tools)\b", r"../../\1", text).replace('(".", "..")) if (p/"bench', '(".", "../..")) if (p/"bench')


def rewrite(text, page=None, notebook=False):
    text = tests_names(links(ticked(code_names(text)), page))
    return folders(text) if notebook else text


PATCHES = []   # (path after the move, old, new): filled by patches.py
exec((HERE/"patches.py").read_text())


def cells_of(path): return json.loads(path.read_text(encoding="utf-8"))


def store(path, nb):
    for c in nb["cells"]:
        text = c["source"] if isinstance(c["source"], str) else "".join(c["source"])
        c["source"] = text.splitlines(keepends=True)
    path.write_text(json.dumps(nb, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main():
    for part in PLAN["part"]:
        (ROOT/"nbs"/part["folder"]).mkdir(exist_ok=True)
    generated = [p for f in ("specdec_nb", "tests") for p in sorted((ROOT/f).rglob("*.py"))
                 if "AUTOGENERATED! DO NOT EDIT!" in p.read_text(encoding="utf-8")[:500]]
    # old generated files move, so that git sees a rename; the export rewrites them
    for old in ORDER:
        sh("git", "mv", f"nbs/{old}{EXT[old]}", f"nbs/{PAGE[old]}{EXT[old]}")
    packages = [p["package"] for p in PLAN["part"] if p["package"]]
    for p in packages:
        for base in ("specdec_nb", "tests"):
            (ROOT/base/p).mkdir(exist_ok=True)
            (ROOT/base/p/"__init__.py").touch()
    moves = {}
    for old, new in MODULE.items(): moves[f"specdec_nb/{old}.py"] = f"specdec_nb/{new.replace('.', '/')}.py"
    for old, new in TESTS.items():
        if (ROOT/f"tests/{old}.py").exists(): moves[f"tests/{old}.py"] = f"tests/{new.replace('.', '/')}.py"
    todo = {a: b for a, b in moves.items() if a != b}
    for a in todo: sh("git", "mv", a, a + ".moving")      # two steps: names are exchanged (report, text, ...)
    for a, b in todo.items(): sh("git", "mv", a + ".moving", b)

    for old, new in PAGE.items():
        path = ROOT/"nbs"/f"{new}{EXT[old]}"
        if EXT[old] == ".md":
            path.write_text(rewrite(path.read_text(), new), encoding="utf-8")
            continue
        nb = cells_of(path)
        for c in nb["cells"]:
            text = rewrite("".join(c["source"]), new, notebook=True)
            if c["cell_type"] == "code":
                text = re.sub(r"^#\| default_exp (\w+)", lambda m: f"#| default_exp {MODULE[m[1]]}", text, flags=re.M)
            c["source"] = text
        title = TITLES.get(old)
        if title:
            first = nb["cells"][0]
            first["source"], n = re.subn(r"\A# .*", lambda m: f"# {title}", first["source"])
            if not n: WARN.append(f"no title in {old}")
        store(path, nb)

    hand = [p for p in subprocess.check_output(["git", "ls-files"], text=True, cwd=ROOT).split()
            if re.search(r"\.(py|md|toml|ini|yml|cff|in|txt)$|Makefile$|^\.ci/", p)
            and not p.startswith(("nbs/", "specdec_nb/", "benchmarks/results"))
            and p not in ("CHANGELOG.md", "requirements-dev.txt", "_toc.yml")]
    for name in hand:
        path = ROOT/name
        if not path.exists(): continue
        text = path.read_text(encoding="utf-8")
        if "AUTOGENERATED! DO NOT EDIT!" in text[:500]: continue
        if name.startswith("tests/prose_") and name.endswith(".toml"):
            new = re.sub(rf"^\[\"?({PAGES_ALT}|index)\"?(\.[\w.]+)?\]$",
                         lambda m: f'["{PAGE[m[1]]}"{m[2] or ""}]', text, flags=re.M)
        elif name == "tests/one_seed.toml":
            new = re.sub(rf"^\"?({PAGES_ALT}|index)\"?(?= = )", lambda m: f'"{PAGE[m[1]]}"', text, flags=re.M)
        else: new = rewrite(text)
        if new != text: path.write_text(new, encoding="utf-8")

    toc = ["format: jb-book", "root: nbs/index", "options:", "  numbered: true", "parts:"]
    toc[2:4] = []
    for part in PLAN["part"]:
        toc += [f"  - caption: \"{part['caption']}\"", *(["    numbered: true"] if part.get("numbered", True) else []), "    chapters:"]
        toc += [f"      - file: nbs/{PAGE[row[0]]}" for row in part["pages"]]
    (ROOT/"_toc.yml").write_text("\n".join(toc) + "\n")

    api = (ROOT/"nbs"/f"{PAGE['api']}.md")
    head = api.read_text().partition("\n## ")[0]
    for old in ORDER:
        if old in OLD_MODULE_OF:
            m = MODULE[OLD_MODULE_OF[old]]
            head += f"\n## {m}\n\n```{{eval-rst}}\n.. automodule:: specdec_nb.{m}\n   :members:\n```\n"
    api.write_text(head)

    for name, old, new in PATCHES:
        path = ROOT/name
        if not path.exists(): WARN.append(f"{name}: not there"); continue
        if path.suffix == ".ipynb":
            nb, hits = cells_of(path), 0
            for c in nb["cells"]:
                text = "".join(c["source"])
                if old in text: hits += 1; text = text.replace(old, new)
                c["source"] = text
            store(path, nb)
        else:
            text = path.read_text()
            hits = text.count(old)
            path.write_text(text.replace(old, new))
        if not hits: WARN.append(f"{name}: patch not needed or not found: {old[:70]!r}")
    after_patches()
    print("\n".join(WARN) or "no warnings")


TITLES = PLAN.get("titles", {})
main()
