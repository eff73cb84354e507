#!/usr/bin/env python3
"""Split pages (and their modules) along cells: run after house.py, before the export. Reads splits.toml.

Each page is cut at cells into segments; imports are rebuilt for each segment from
what its cells use; names that another segment exports are imported from its new
module; helpers of tests that a later segment needs are copied into it (listed as TWIN).
All imports of moved names, in every page and script, follow.
"""
import ast
import builtins
import json
import re
import subprocess
import symtable
import sys
import tomllib
from pathlib import Path

HERE, ROOT = Path(__file__).parent, Path.cwd()
SPLITS = tomllib.loads((HERE/"splits.toml").read_text())["split"]
NB = ROOT/"nbs"
SAY = []


def load(path): return json.loads(path.read_text(encoding="utf-8"))


def store(path, nb):
    for c in nb["cells"]:
        c["source"] = ("".join(c["source"])).splitlines(keepends=True)
    path.write_text(json.dumps(nb, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def src(c): return "".join(c["source"])


def kind(c):
    if c["cell_type"] != "code": return "text"
    heads = [l for l in src(c).split("\n") if l.startswith("#|")]
    if any(re.match(r"#\| default_exp", l) for l in heads): return "exp"
    try: body = ast.parse(code(c)).body
    except SyntaxError: return "plain"
    exported = any(re.match(r"#\| export\b", l) for l in heads)
    tested = any(re.match(r"#\| test", l) for l in heads)
    if body and all(isinstance(n, (ast.Import, ast.ImportFrom)) for n in body):
        return "import-export" if exported else "import-test" if tested else "import-plain"
    return "export" if exported else "named" if re.search(r"^#\| test \w", src(c), re.M) else "test" if tested else "plain"


def code(c): return "\n".join(l for l in src(c).split("\n") if not l.startswith(("%", "!")))


def defs(node):
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)): return {node.name}
    found = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store): found.add(n.id)
    return found


def uses(text):
    "Names that a cell reads and does not bind itself, in code and in its directives."
    found = set()

    def visit(table, bound):
        for s in table.get_symbols():
            if table.get_type() == "module":
                if s.is_referenced() and not (s.is_assigned() or s.is_imported()): found.add(s.get_name())
            elif s.is_global() and s.is_referenced() and s.get_name() not in bound: found.add(s.get_name())
        for child in table.get_children(): visit(child, bound)

    table = symtable.symtable(text, "cell", "exec")
    visit(table, {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()})
    for m in re.finditer(r"^#\| mutant: (.*)$", text, re.M): found |= {*re.findall(r"\w+", m[1])}
    return found


def pieces(text):
    "name -> (module or None, original name)"
    out = {}
    for n in ast.parse(text).body:
        if isinstance(n, ast.Import):
            for a in n.names: out[a.asname or a.name.partition(".")[0]] = (None, a.name, a.asname)
        else:
            for a in n.names: out[a.asname or a.name] = (n.module, a.name, a.asname)
    return out


def import_text(wanted):
    "Import statements for {bound name: piece}, standard library first."
    plain, by = set(), {}
    for bound, (module, name, alias) in wanted.items():
        item = name + (f" as {alias}" if alias else "")
        if module is None: plain.add(f"import {item}")
        else: by.setdefault(module, set()).add(item)
    groups = [[], [], []]
    where = lambda m: 2 if m.startswith("specdec_nb") else 0 if m.partition(".")[0] in sys.stdlib_module_names else 1
    for line in sorted(plain): groups[where(line.split()[1])].append(line)
    for module in sorted(by): groups[where(module)].append(wrap(module, sorted(by[module])))
    return "\n\n".join("\n".join(g) for g in groups if g)


def wrap(module, items, indent=""):
    line = f"{indent}from {module} import " + ", ".join(items)
    if len(line) <= 100: return line
    head, lines = f"{indent}from {module} import (", []
    now = head
    for i, item in enumerate(items):
        piece = item + (")" if i == len(items) - 1 else ",")
        if len(now) + len(piece) + 1 > 96: lines.append(now.rstrip()); now = " "*len(head)
        now += ("" if now.endswith("(") or now.isspace() else " ") + piece
    return "\n".join([*lines, now])


MOVED = {}  # (module, name) -> module
ANCHORS = {}  # page -> {label: page}


def split(spec):
    path = NB/f"{spec['page']}.ipynb"
    nb = load(path)
    cells = nb["cells"]
    segs, current = [], None
    starts = {s["start"]: s for s in spec["into"]}
    missing = {*starts} - {c["id"] for c in cells} - {""}
    if missing: SAY.append(f"{spec['page']}: no cells {missing}"); return
    take = {i: s["page"] for s in spec["into"] for i in s.get("cells", ())}
    first = spec["into"][0]
    segs = {s["page"]: [] for s in spec["into"]}
    now = first["page"]
    all_imports, own_kind = {}, {}
    for c in cells:
        if c["id"] in starts: now = starts[c["id"]]["page"]
        k = kind(c)
        if k == "exp": continue
        if k.startswith("import"):
            for name, piece in pieces(code(c)).items():
                all_imports.setdefault(name, piece)
                if k == "import-export": own_kind[name] = "export"
            continue
        if k not in ("text",):
            try: top = [n for n in ast.parse(code(c)).body if isinstance(n, (ast.Import, ast.ImportFrom))]
            except SyntaxError: top = []
            for n in top:
                for name, piece in pieces(ast.unparse(n)).items(): all_imports.setdefault(name, piece)
        segs[take.get(c["id"], now)].append(c)
    old_module = re.search(r"#\| default_exp ([\w.]+)", "\n".join(src(c) for c in cells if kind(c) == "exp"))
    old_module = old_module and old_module[1]
    exports, helpers, local = {}, {}, {s["page"]: set() for s in spec["into"]}
    for s in spec["into"]:
        for c in segs[s["page"]]:
            k = kind(c)
            if k in ("text", "named"): continue
            text = code(c)
            lines = text.split("\n")
            for node in ast.parse(text).body:
                first_line = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                for name in defs(node):
                    if k == "export": exports.setdefault(name, s)
                    else:
                        local[s["page"]].add(name)
                        helpers.setdefault(name, (s, "\n".join(lines[first_line-1:node.end_lineno])))
    for name, s in exports.items():
        if old_module and s.get("module") and f"specdec_nb.{s['module']}" != f"specdec_nb.{old_module}":
            MOVED[f"specdec_nb.{old_module}", name] = f"specdec_nb.{s['module']}"
    built = set(dir(builtins))
    order = [s["page"] for s in spec["into"]]
    for s in spec["into"]:
        mine = segs[s["page"]]
        local_e = {n for n, x in exports.items() if x is s}
        local_h = local[s["page"]]
        need_e, need_t, twins = {}, {}, {}

        def want(name, into, exported):
            if name in exports and exports[name] is not s:
                other = exports[name]
                if exported and order.index(other["page"]) > order.index(s["page"]):
                    SAY.append(f"FORWARD {s['page']}: {name} of {other['page']}")
                into[name] = (f"specdec_nb.{other['module']}", name, None)
            elif name in local_e: return
            elif name in all_imports:
                module, orig, alias = all_imports[name]
                into[name] = (MOVED.get((module, orig), module), orig, alias)
            elif not exported and name in helpers and name not in local_h: twin(name)

        def twin(name):
            if name in twins: return
            twins[name] = helpers[name][1]
            for n in uses(helpers[name][1]): want(n, need_t, False)

        for c in mine:
            k = kind(c)
            if k == "text": continue
            try: names = uses("\n".join(l for l in src(c).split("\n") if not l.startswith(("%", "!"))))
            except SyntaxError: continue
            for n in sorted(names): want(n, need_e if k == "export" else need_t, k == "export")
            if k != "export":  # names of the page's own module are private: import them by name
                for n in names:
                    if n in all_imports and all_imports[n][0] == f"specdec_nb.{old_module}":
                        module, orig, alias = all_imports[n]
                        need_t[n] = (MOVED.get((module, orig), module), orig, alias)
        head = []
        new_id = lambda tag: re.sub(r"\W", "", s["page"].split("/")[-1])[-5:] + tag
        if s.get("title"):
            if mine and kind(mine[0]) == "text":
                mine[0]["source"] = re.sub(r"\A(# .*\n+(> .*\n*)*|## .*\n*)", "", src(mine[0]))
                if not src(mine[0]).strip(): mine.pop(0)
            head.append({"cell_type": "markdown", "id": new_id("ttl"), "metadata": {},
                         "source": f"# {s['title']}\n\n> {s['aim']}"})
        elif mine and kind(mine[0]) == "text": head.append(mine.pop(0))
        make = lambda tag, text: {"cell_type": "code", "execution_count": None, "id": new_id(tag),
                                  "metadata": {}, "outputs": [], "source": text}
        if s.get("module"): head.append(make("exp", f"#| default_exp {s['module']}"))
        if need_e: head.append(make("imp", "#| hide\n#| export\n" + import_text(need_e)))
        if need_t: head.append(make("tst", "#| hide\n#| test\n" + import_text(need_t)))
        tail = []
        if twins:
            for late, tag, where in ((False, "twn", head), (True, "twl", tail)):
                text, seen = [], set()
                for n in sorted(twins, key=lambda n: list(helpers).index(n)):
                    later = order.index(helpers[n][0]["page"]) > order.index(s["page"])
                    if later == late and twins[n] not in seen: seen.add(twins[n]); text.append(twins[n])
                if text: where.append(make(tag, "#| hide\n#| test\n" + "\n\n\n".join(text)))
            SAY.append(f"TWIN {s['page']}: {' '.join(sorted(twins))}")
        for c in mine:
            for label in re.findall(r"^\(([\w-]+)\)=|^:label: (\S+)", src(c), re.M):
                pass
        out = dict(nb, cells=[*head, *mine, *tail])
        new = NB/f"{s['page']}.ipynb"
        if new != path or s is not first: new.parent.mkdir(exist_ok=True)
        s["cells_"] = out
    subprocess.run(["git", "mv", path, NB/f"{first['page']}.ipynb"], check=True) if first["page"] != spec["page"] else None
    for s in spec["into"]: store(NB/f"{s['page']}.ipynb", s.pop("cells_"))
    spec["segments"] = {s["page"]: segs[s["page"]] for s in spec["into"]}


def follow(text):
    "Imports of moved names lead to the new modules."
    def new(m):
        indent, module, names, tail = m[1], m[2], m[3].strip("()"), m[4] or ""
        items = [x.strip() for x in re.sub(r"#.*", "", names).replace("\n", " ").split(",") if x.strip()]
        groups = {}
        for item in items: groups.setdefault(MOVED.get((module, item.partition(" as ")[0]), module), []).append(item)
        if set(groups) == {module}: return m[0]
        return "\n".join(wrap(k, groups[k], indent) + tail for k in sorted(groups))
    text = re.sub(r"^( *)from (specdec_nb[\w.]+) import (\([^)]*\)|[^\n#(]+?)( *#.*)?$", new, text, flags=re.M)
    for (module, name), to in MOVED.items():   # strings and prose: specdec_nb.audit.engine.sampler, `audit.engine.sampler`
        a, b = f"{module}.{name}", f"{to}.{name}"
        text = re.sub(rf"{re.escape(a)}\b", b, text)
        text = re.sub(rf"`{re.escape(a.partition('.')[2])}\b", f"`{b.partition('.')[2]}", text)
        text = text.replace(f'"{module.partition(".")[2]}", "{name}"', f'"{to.partition(".")[2]}", "{name}"')
    return text


def unalias(texts, where):
    "from specdec_nb.audit import engine as audit; audit.sampler -> audit_step.sampler, if sampler moved."
    for module in sorted({m for m, _ in MOVED}):
        package, _, leaf = module.rpartition(".")
        stmt = re.compile(rf"^( *)from {re.escape(package)} import {leaf}(?: as (\w+))?( *#.*)?$", re.M)
        hit = next((m for t in texts for m in [stmt.search(t)] if m), None)
        if not hit: continue
        bound, extra = hit[2] or leaf, {}

        def new(m):
            to = MOVED.get((module, m[1]))
            if not to: return m[0]
            other = to.rpartition(".")[2]
            extra[to] = other if not any(re.search(rf"\b{other}\b", re.sub(r"#.*", "", t)) for t in texts) or (
                extra.get(to) == other) else f"{package.rpartition('.')[2]}_{other}"
            names[to] = names.get(to, extra[to])
            return f"{names[to]}.{m[1]}"
        names = {}
        texts = [re.sub(rf"(?<![\w.`/]){bound}\.(\w+)", new, t) for t in texts]
        if not names: continue
        lines = lambda i, tail: "".join(f"\n{i}from {to.rpartition('.')[0]} import {to.rpartition('.')[2]}"
            + (f" as {n}" if n != to.rpartition('.')[2] else "") + tail for to, n in sorted(names.items()))
        texts = [stmt.sub(lambda m: m[0] + lines(m[1], m[3] or ""), t) for t in texts]
        left = any(re.search(rf"(?<![\w.`/]){bound}\b", stmt.sub("", t)) for t in texts)
        if not left: texts = [stmt.sub("", t, 1).replace("\n\n\nfrom", "\n\nfrom") if stmt.search(t) else t for t in texts]
        SAY.append(f"ALIAS {bound} of {module} in {where}: {sorted(names.values())}")
    return texts


def main():
    for spec in SPLITS:
        split(spec)
    files = subprocess.check_output(["git", "ls-files", "--cached", "--others", "--exclude-standard"], text=True).split()
    aliases = {}
    for name in files:
        path = ROOT/name
        if not path.exists() or name.startswith(("specdec_nb/", "benchmarks/results")): continue
        if name.startswith("nbs/") and name.endswith(".ipynb"):
            nb = load(path); changed = False
            for c in nb["cells"]:
                old = src(c); new = follow(old)
                if new != old: c["source"] = new; changed = True
            if changed: store(path, nb)
        elif re.search(r"\.(py|md|toml)$|Makefile$", name):
            text = path.read_text(encoding="utf-8")
            if "AUTOGENERATED" in text[:500]: continue
            new = follow(text)
            if new != text: path.write_text(new)
        if name.startswith("nbs/") and name.endswith(".ipynb"):
            nb = load(path)
            texts = [src(c) for c in nb["cells"]]
            new = unalias(texts, name)
            if new != texts:
                for c, text in zip(nb["cells"], new): c["source"] = text
                store(path, nb)
        elif name.endswith(".py"):
            text = path.read_text(encoding="utf-8")
            if "AUTOGENERATED" not in text[:500]:
                new, = unalias([text], name)
                if new != text: path.write_text(new)
    toc = (ROOT/"_toc.yml").read_text()
    api = (ROOT/"nbs/9_reference/80_api.md").read_text()
    for spec in SPLITS:
        toc = toc.replace(f"      - file: nbs/{spec['page']}\n", "".join(f"      - file: nbs/{s['page']}\n" for s in spec["into"]))
        if not spec.get("module"): continue
        entry = "\n## {0}\n\n```{{eval-rst}}\n.. automodule:: specdec_nb.{0}\n   :members:\n```\n".format
        api = api.replace(entry(spec["module"]), "".join(entry(s["module"]) for s in spec["into"] if s.get("module")))
    (ROOT/"_toc.yml").write_text(toc); (ROOT/"nbs/9_reference/80_api.md").write_text(api)
    numbers()
    one_seed()
    print("\n".join(SAY))


def one_seed():
    "Cells listed in one_seed.toml went to other pages."
    path = ROOT/"tests/one_seed.toml"
    if not path.exists(): return
    text = path.read_text()
    for spec in SPLITS:
        home = {c["id"]: s["page"] for s in spec["into"] for c in load(NB/f"{s['page']}.ipynb")["cells"]}

        def new(m):
            groups = {}
            for i in re.findall(r'"(\w+)"', m[1]): groups.setdefault(home.get(i, spec["page"]), []).append(i)
            return "\n".join(f'"{p}" = [' + ", ".join(f'"{i}"' for i in ids) + "]" for p, ids in groups.items())
        text = re.sub(rf'^"{re.escape(spec["page"])}" = \[([^\]]*)\]', new, text, flags=re.M)
    path.write_text(text)


def numbers():
    "Reasons for typed numbers go to the page that the number went to."
    sys.path.insert(0, str(ROOT/"tests"))
    path = ROOT/"tests/prose_numbers.toml"
    text = path.read_text()
    for spec in SPLITS:
        key = f'["{spec["page"]}"]'
        if key not in text: continue
        start = text.index(key)
        end = text.find("\n[", start + 1)
        block = text[start:end if end > 0 else None]
        lines = block.split("\n")[1:]
        new = []
        for s in spec["into"]:
            prose = "\n".join(src(c) for c in load(NB/f"{s['page']}.ipynb")["cells"] if c["cell_type"] == "markdown").replace("{,}", ",")
            kept = []
            has = lambda x: re.search(rf"(?<![\w.,]){re.escape(x)}(?![\w]|[.,]\d)", prose)
            for line in lines:
                if m := re.match(r'(\w+)\."([^"]+)" = ', line):
                    if has(m[2]): kept.append(line)
                elif m := re.match(r"(\w+) = \[(.*)\]$", line):
                    items = [x for x in re.findall(r'"([^"]+)"', m[2]) if has(x)]
                    if items: kept.append(f"{m[1]} = [" + ", ".join(f'"{x}"' for x in items) + "]")
                elif line.strip() and not line.startswith("#"): SAY.append(f"NUMBERS {spec['page']}: {line[:80]}")
            if kept: new.append(f'["{s["page"]}"]\n' + "\n".join(kept) + "\n")
        text = text[:start] + "\n".join(new) + text[start + len(block):]
    path.write_text(text)
    import test_prose_numbers as t
    import tomllib as tl
    listed = tl.loads(text)
    added = False
    for spec in SPLITS:
        for s in spec["into"]:
            page = s["page"]
            why = listed.get(page, {})
            have = {x for xs in why.values() for x in xs}
            need = t.doubtful(t.cells(NB/f"{page}.ipynb", "markdown"), t.cells(NB/f"{page}.ipynb", "code"))
            extra, idle = sorted(need - have), have - need
            if idle: SAY.append(f"NUMBERS idle on {page}: {idle}")
            if extra:
                added = True
                line = "elsewhere = [" + ", ".join(f'"{x}"' for x in extra) + "]\n"
                head = f'["{page}"]\n'
                if head in text: text = text.replace(head, head + line)
                else: text += "\n" + head + line
    if added: text = text.replace("[reasons]\n", '[reasons]\nelsewhere = "a cell of the page before or after computes it; the two were one page"\n')
    path.write_text(text)


main()
