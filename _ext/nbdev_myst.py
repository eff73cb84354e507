"""Read nbdev notebooks, and docstrings with docments, into the book.

Why it exists: nbdev directives (`#| ...`) are the only vocabulary of the
notebooks, and MyST-NB knows none of them. This file translates:

    #| hide, #| default_exp        cell runs, reader does not see it
    #| echo: false                 only the output is shown
    #| code-fold: true             the code is there, behind a fold
    #| eval: false                 shown, not run
    #| label / fig-cap / fig-alt   a numbered figure with alternative text
    #| test name, #| checks: kind  marked as a check, with the kind of evidence;
                                   a long one stands behind a fold

and strips the directives from the page. For the API page it adds the comments
beside parameters to the docstring and turns labels of theorems into links.
Every notebook is run again when the package has changed, so that no output is
older than the code that made it.
"""
import ast
import hashlib
import inspect
import io
import re
import sys
import tokenize
from functools import cache
from pathlib import Path
from textwrap import dedent

import nbformat
from docutils import nodes

SHORT = 25  # characters of a formula that is never broken
TOKEN = re.compile(r"\\[a-zA-Z]+\s*|\\.|.", re.DOTALL)
OPEN, CLOSE = ("{", "(", "[", r"\{"), ("}", ")", "]", r"\}")
RELATIONS = ("=", "<", ">", r"\le", r"\ge", r"\ne", r"\approx", r"\sim", r"\propto")
LONG = 20  # lines of a test that a reader need not scroll past
PACKAGE = Path(__file__).parents[1]/"specdec_nb"
DIRECTIVE = re.compile(r"^#\|\s*([\w-]+):?\s*(.*?)\s*$")
TAGS = {("hide", ""): "remove-cell", ("echo", "false"): "remove-input",
        ("code-fold", "true"): "hide-input", ("eval", "false"): "skip-execution"}
LABEL = re.compile(r"(?<![\w`-])((?:thm|lem|def|prp|cor|alg)-[a-z0-9-]*[a-z0-9])(?![\w`])")
NAME = re.compile(r"(?<![`:\w])`(\w+)`(?!`|__?)")


# ---- notebooks

def translate(cell):
    """Turn the directives of one code cell into MyST-NB metadata."""
    lines, found = cell.source.splitlines(), {}
    while lines and (match := DIRECTIVE.match(lines[0])):
        found[match[1]] = match[2]
        lines.pop(0)
    cell.source = "\n".join(lines)
    tags = [tag for (key, value), tag in TAGS.items() if found.get(key) == value]
    if "default_exp" in found: tags.append("remove-cell")
    if "test" in found and len(lines) > LONG: tags.append("hide-input")
    kinds = [word for word in found.get("checks", "").split() if "-" not in word]
    if found.get("test"): tags += [f"check-{kind}" for kind in kinds] or ["check"]
    if tags: cell.metadata["tags"] = tags
    render = {}
    if "label" in found:
        render["figure"] = {"name": found["label"], "caption": found.get("fig-cap", "")}
    if "fig-alt" in found: render["image"] = {"alt": found["fig-alt"]}
    if render: cell.metadata["mystnb"] = render


def read(text):
    """Read a notebook for MyST-NB (the hook is `nb_custom_formats`)."""
    book = nbformat.reads(text, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code": translate(cell)
    book.metadata["kernelspec"]["package"] = fingerprint()  # part of the cache's key
    return book


@cache
def fingerprint():
    """Return a digest of the package's files."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and path.suffix != ".pyc": digest.update(path.read_bytes())
    return digest.hexdigest()


def outdated(app, env, added, changed, removed):
    """Name every page when the package differs from the last build."""
    old, env.specdec_package = getattr(env, "specdec_package", None), fingerprint()
    return [] if old == env.specdec_package else list(env.found_docs)


# ---- docstrings

def comments(source):
    """Map line numbers to the comments on them."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}


def docments(obj):
    """Return the comments beside parameters, and the one beside `):`."""
    try: source = dedent(inspect.getsource(obj))
    except (OSError, TypeError): return {}, None  # namedtuple(...), a method of `str`: no source
    tree, said = ast.parse(source).body[0], comments(source)
    if isinstance(tree, ast.ClassDef):
        init = next((n for n in tree.body if getattr(n, "name", "") == "__init__"), None)
        if init is None:  # fields of a named tuple or a dataclass
            return {n.target.id: said[n.lineno] for n in tree.body
                    if isinstance(n, ast.AnnAssign) and n.lineno in said}, None
        tree = init
    a = tree.args
    params = [*a.posonlyargs, *a.args, *filter(None, [a.vararg]), *a.kwonlyargs,
              *filter(None, [a.kwarg])]
    close = next((i for i, line in enumerate(source.splitlines(), 1)
                  if i >= tree.lineno and line.lstrip().startswith(")")), None)
    returned = said.get(close) if close and close < tree.body[0].lineno else None
    return {p.arg: said[p.lineno] for p in params
            if p.lineno in said and p.lineno > tree.lineno}, returned


def link(module, text):
    """Link names of public functions; show other `names` as code."""
    def target(match):
        found = getattr(module, match[1], None)
        home = getattr(found, "__module__", "") or ""
        if home.startswith(PACKAGE.name) and callable(found):
            return f":py:obj:`{match[1]} <{home}.{match[1]}>`"
        return f"``{match[1]}``"
    return LABEL.sub(r":prf:ref:`\1`", NAME.sub(target, text))


def docstring(app, what, name, obj, options, lines):
    """Complete one docstring for the API page (after napoleon)."""
    module = sys.modules[".".join(name.split(".")[:2])]
    if what == "module":  # its docstring is the notebook's: link that instead
        page = re.search(r"File to edit: \.\./nbs/(\w+)\.ipynb", inspect.getsource(obj))
        lines[:] = []
        if page and f"nbs/{page[1]}" in app.env.found_docs:
            lines[:] = [f"Explained in :doc:`{page[1]}`."]
    lines[:] = [link(module, line) for line in lines]
    if what not in ("function", "method", "class"): return
    params, returned = docments(obj)
    fields = [f":param {k}: {link(module, v)}" for k, v in params.items()]
    if returned: fields.append(f":returns: {link(module, returned)}")
    cut = next((i for i, line in enumerate(lines)
                if line.startswith((":raises", ".. rubric"))), len(lines))
    if fields: lines[cut:cut] = ["", *fields, ""]


def skip(app, what, name, obj, skipped, options):
    """Leave out the fields of named tuples: they are listed as parameters."""
    return True if type(obj).__name__ == "_tuplegetter" else None


# ---- pages

def pieces(tex):
    """Cut a formula before its relations, where a narrow page may break the line."""
    found, depth, left = [""], 0, 0
    for token in TOKEN.findall(tex):
        sign = token.rstrip()
        left += (sign == r"\left") - (sign == r"\right")
        depth += (sign in OPEN) - (sign in CLOSE)
        if sign in RELATIONS and not depth and not left and found[-1].strip(): found.append("{}")
        found[-1] += token
    return found


def break_formulas(app, doctree):
    """Let long formulas in a line of text break: a phone shows about 30 signs."""
    for node in list(doctree.findall(nodes.math)):
        if len(node.astext()) > SHORT and len(parts := pieces(node.astext())) > 1:
            node.replace_self([nodes.math(part, part) for part in parts])


def drop_thebe(app, pagename, templatename, context, doctree):
    """Remove live-code scripts: they declare a variable twice and need a server."""
    context["script_files"] = [
        s for s in context.get("script_files", []) if "thebe" not in
        f"{getattr(s, 'filename', s)} {getattr(s, 'attributes', '')}".lower()]


def mend(app, pagename, templatename, context, doctree):
    """Drop ids that occur once a proof or exercise, and a second word "Proof"."""
    body = re.sub(r' id="(proof|(?:proof|exercise|solution)-content)"', "",
                  context.get("body", ""))
    fold = r'(sd-card-body[^>]*>\s*<div class="proof admonition">\s*<p>)Proof\. '
    context["body"] = re.sub(fold, r"\1", body)


def setup(app):
    app.connect("env-get-outdated", outdated)
    app.connect("autodoc-process-docstring", docstring, priority=900)
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-read", break_formulas)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("html-page-context", mend, priority=900)
    return {"version": "2", "parallel_read_safe": True}
