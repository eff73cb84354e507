"""Read nbdev notebooks into the book.

Why it exists: nbdev directives (`#| ...`) are the only vocabulary of the
notebooks, and MyST-NB knows none of them. This file translates:

    #| hide, #| default_exp     cell runs, reader does not see it
    #| echo: false              only the output is shown
    #| code-fold: true          the code is there behind a fold
    #| label / fig-cap / fig-alt    a numbered figure with alternative text

and strips every `#|` line from the page. It also makes outputs go stale when
the package changes: caches below it look at code cells and dates alone.
"""
import hashlib
import re
from pathlib import Path

import nbformat

PACKAGE = Path(__file__).parents[1]/"specdec_nb"
DIRECTIVE = re.compile(r"^#\|\s*([\w-]+):?\s*(.*?)\s*$")
TAGS = {("hide", ""): "remove-cell", ("echo", "false"): "remove-input",
        ("code-fold", "true"): "hide-input"}
LABEL = re.compile(r"(?<![\w-])((?:thm|lem|def|prp|cor|alg)-[a-z0-9-]*[a-z0-9])")


def fingerprint():
    """Return a digest of the package's source."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.glob("*.py")): digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def translate(cell):
    """Turn the directives of one code cell into MyST-NB metadata."""
    lines = cell.source.splitlines()
    found = {}
    while lines and (match := DIRECTIVE.match(lines[0])):
        found[match[1]] = match[2]
        lines.pop(0)
    cell.source = "\n".join(lines)
    tags = [tag for (key, value), tag in TAGS.items()
            if key in found and found[key] == value]
    if "default_exp" in found: tags.append("remove-cell")
    if tags: cell.metadata["tags"] = tags
    render = {}
    if "label" in found:
        render["figure"] = {"name": found["label"],
                            "caption": found.get("fig-cap", "")}
    if "fig-alt" in found: render["image"] = {"alt": found["fig-alt"]}
    if render: cell.metadata["mystnb"] = render


def read(text):
    """Read a notebook for MyST-NB (the hook is `nb_custom_formats`)."""
    book = nbformat.reads(text, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code": translate(cell)
    stamp = nbformat.v4.new_code_cell(f"# package {fingerprint()}")
    stamp.metadata["tags"] = ["remove-cell"]
    book.cells.append(stamp)
    return book


def outdated(app, env, added, changed, removed):
    """Name every notebook when the package differs from the last build."""
    old, env.specdec_package = getattr(env, "specdec_package", None), fingerprint()
    if old == env.specdec_package: return []
    return [doc for doc in env.found_docs
            if env.doc2path(doc).endswith(".ipynb")]


def docments_to_fields(app, what, name, obj, options, lines):
    """Add nbdev's comment-style parameter docs; link labels of theorems."""
    lines[:] = [LABEL.sub(r":prf:ref:`\1`", line) for line in lines]
    if what not in ("function", "method", "class"): return
    from fastcore.docments import docments
    try: docs = docments(obj, full=False)
    except (TypeError, ValueError, OSError): return
    returned = docs.pop("return", None)
    fields = [f":param {k}: {' '.join(v.split())}"
              for k, v in docs.items() if v and k != "self"]
    if returned: fields.append(f":returns: {' '.join(returned.split())}")
    if fields:
        cut = next((i for i, line in enumerate(lines)
                    if line.startswith((":raises", ".. rubric"))), len(lines))
        lines[cut:cut] = ["", *fields, ""]


def drop_thebe(app, pagename, templatename, context, doctree):
    """Remove live-code scripts: they declare a variable twice and need a server."""
    context["script_files"] = [s for s in context.get("script_files", [])
                               if "thebe" not in str(getattr(s, "filename", s) or "").lower()
                               and "thebe" not in str(getattr(s, "attributes", {})).lower()]


def setup(app):
    app.connect("env-get-outdated", outdated)
    app.connect("autodoc-process-docstring", docments_to_fields, priority=900)
    app.connect("html-page-context", drop_thebe, priority=900)
    return {"version": "1", "parallel_read_safe": True}
