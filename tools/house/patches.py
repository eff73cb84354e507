def P(name, old, new): PATCHES.append((name, old, new))


N = lambda old: f"nbs/{PAGE[old]}.ipynb"

# settings, packaging
P("settings.ini", "recursive = False", "recursive = True")
P("pyproject.toml", 'packages = ["specdec_nb"]', 'packages = ["specdec_nb", %s]' % ", ".join(
    f'"specdec_nb.{p["package"]}"' for p in PLAN["part"] if p["package"]))
P(".gitignore", "nbs/_quarto.yml", "_quarto.yml")
P(".gitignore", "nbs/nbdev.yml", "nbdev.yml")
P("Makefile", "--skip_file_re '^([_.]|48_|57_)'", "--skip_file_re '^([_.]|%s$|%s$)'" % (
    PAGE["48_reality"].split("/")[1] + r"\.ipynb", PAGE["57_batching"].split("/")[1] + r"\.ipynb"))
P("Makefile", r"\.ipynb$|", r"\.ipynb|")
P("Makefile", r"\.ipynb$)'", r"\.ipynb)'")

# export
P("tools/export.py", '''nbdev writes specdec_nb/<module>.py. This adds one processor, in nbdev's own
protocol, that writes tests/test_<module>.py from cells marked `#| test`:''',
'''nbdev writes specdec_nb/<package>/<module>.py. This adds one processor, in nbdev's own
protocol, that writes tests/<package>/test_<module>.py from cells marked `#| test`:''')
P("tools/export.py", 'for old in folder.glob("*.py"):', 'for old in folder.rglob("*.py"):')
P("tools/export.py", '''    module = proc.module or re.sub(r"^\\d+_", "", notebook.stem)
''', '''    place = test_module(notebook, proc.module).split(".")
''')
P("tools/export.py", 'head = make_code_cells(f"from {lib_name}.{module} import *")',
  'head = make_code_cells(f"from {lib_name}.{proc.module} import *")')
P("tools/export.py", '''    maker = ModuleMaker(dest=folder, name=f"test_{module}",
                        nb_path=notebook, parse=False)
''', '''    folder = folder.joinpath(*place[:-1])
    folder.mkdir(exist_ok=True)
    if place[:-1]: (folder/"__init__.py").touch()
    maker = ModuleMaker(dest=folder, name=place[-1], nb_path=notebook, parse=False)
''')
P("tools/export.py", '''def export_tests(notebook''', '''def test_module(notebook: Path, module):
    """Name the module of a notebook's tests: beside the library's, or by folder and page."""
    package, _, leaf = (module or "").rpartition(".")
    if not module:
        package, leaf = (re.sub(r"^\\d+_", "", name) for name in (notebook.parent.name, notebook.stem))
        if package in TOP: package = ""
    return ".".join(filter(None, [package, f"test_{leaf}"]))


def export_tests(notebook''')
P("tools/export.py", '''GENERATED = ''', '''TOP = (%s)  # folders of pages whose modules stand at the top of the package
GENERATED = ''' % ", ".join(['"nbs"'] + [f'"{re.sub(r"^[0-9]+_", "", p["folder"])}"' for p in PLAN["part"] if not p["package"]]))
P("tools/export.py", 'for path in sorted(Path(folder).glob("*.*"))', 'for path in sorted(Path(folder).rglob("*.*"))')

# execution of the book
P("tools/execute.py", 'TIMED = ("43_fewrows", "48_reality", "57_batching")', "TIMED = (%s)" % ", ".join(
    f'"nbs/{PAGE[p]}"' for p in ("43_fewrows", "48_reality", "57_batching")))
P("tools/execute.py", '''run([p for p in paths if p.stem not in TIMED], 2)
run([p for p in paths if p.stem in TIMED], 1)''', '''timed = [ROOT/f"{name}.ipynb" for name in TIMED]
run([p for p in paths if p not in timed], 2)
run([p for p in paths if p in timed], 1)''')

# register
P("tools/register.py", '''    for path in sorted(Path(folder).glob("[0-9i]*.ipynb")):
        proc = NBProcessor(path, procs=[RegisterProc], process=True).procs[0]
        module = "test_" + (proc.module or re.sub(r"^\\d+_", "", path.stem))
        yield path.stem, module, proc''', '''    for path in sorted(Path(folder).rglob("[0-9i]*.ipynb")):
        proc = NBProcessor(path, procs=[RegisterProc], process=True).procs[0]
        page = path.relative_to(folder).with_suffix("").as_posix()
        yield page, test_module(path, proc.module), proc''')
P("tools/register.py", '''from nbdev.process import NBProcessor
''', '''from export import test_module
from nbdev.process import NBProcessor
''')
P("tools/register.py", "page: str      # notebook name", "page: str      # path of the notebook below the folder")
P("tools/register.py", "(page 02 defines them)", "(the page on checks defines them)")
P(N("97_register"), 'statements("."), checks(".")', 'statements(".."), checks("..")')
P(N("97_register"), "### {{doc}}`{page}`", "### {{doc}}`../{page}`")
P("tests/test_register.py", 'source = (ROOT/"tests"/f"{check.module}.py").read_text()',
  'source = (ROOT/"tests"/f"{check.module.replace(\'.\', \'/\')}.py").read_text()')
P("tests/test_register.py", "(page 02)", "(see the page on checks)")
P("tests/test_register.py", "page 02 does not say", "the page on checks does not say")

# the wheel
P("tools/check_wheel.py", '''MODULES = sorted(p.stem for p in (ROOT/"specdec_nb").glob("[a-z]*.py"))''',
  '''MODULES = sorted(".".join(p.relative_to(ROOT/"specdec_nb").with_suffix("").parts)
                 for p in (ROOT/"specdec_nb").rglob("[a-z]*.py"))''')

# the book's reader
P("_ext/nbdev_myst.py", '''    module = sys.modules[".".join(name.split(".")[:2])]
''', '''    parts = name.split(".")
    module = next(sys.modules[home] for n in range(len(parts), 0, -1)
                  if (home := ".".join(parts[:n])) in sys.modules)
''')
P("_ext/nbdev_myst.py", r'''r"File to edit: \.\./nbs/(\w+)\.ipynb"''', r'''r"File to edit: [./]+/nbs/([\w/]+)\.ipynb"''')
P("_ext/nbdev_myst.py", '''lines[:] = [f"Explained in :doc:`{page[1]}`."]''', '''lines[:] = [f"Explained in :doc:`/nbs/{page[1]}`."]''')

# tests by hand
P("tests/test_prose.py", '''sorted((ROOT/"nbs").glob("*.ipynb")) + sorted((ROOT/"nbs").glob("*.md"))''',
  '''sorted((ROOT/"nbs").rglob("*.ipynb")) + sorted((ROOT/"nbs").rglob("*.md"))''')
P("tests/test_prose.py", 'ids=lambda path: path.name)', 'ids=lambda path: str(path.relative_to(ROOT)))')
P("tests/test_prose.py", "found.setdefault(path.stem, [])",
  'found.setdefault(path.relative_to(ROOT/"nbs").with_suffix("").as_posix(), [])')
P("tests/test_prose_numbers.py", '''PAGES = {p.stem: p for p in [*sorted((ROOT/"nbs").rglob("*.ipynb")), *sorted((ROOT/"nbs").glob("*.md")),
                             ROOT/"README.md", ROOT/"CONTRIBUTING.md"]}''',
  '''PAGES = {p.relative_to(ROOT/"nbs").with_suffix("").as_posix(): p for p in [
    *sorted((ROOT/"nbs").rglob("*.ipynb")), *sorted((ROOT/"nbs").rglob("*.md"))]}
PAGES |= {name: ROOT/f"{name}.md" for name in ("README", "CONTRIBUTING")}''')
P("tests/test_book.py", '(HTML.parents[1]/"nbs").glob("*.ipynb")', '(HTML.parents[1]/"nbs").rglob("*.ipynb")')
P("tests/test_book.py", '''if (HTML/"nbs"/path.with_suffix(".html").name).exists()]''',
  '''if (HTML/path.relative_to(HTML.parents[1]).with_suffix(".html")).exists()]''')

# pages
P(N("01_notation"), '''        head, *rest = re.match(r"[\\w.]+", name)[0].split(".")
        try: here = np if head == "np" else importlib.import_module(f"specdec_nb.{head}")
        except ImportError: return False
        for part in rest:
            fields''', '''        head, *rest = re.match(r"[\\w.]+", name)[0].split(".")
        if head == "np": here = np
        else: here, rest = specdec_nb, [head, *rest]
        for part in rest:
            if inspect.ismodule(here) and not hasattr(here, part):
                try: importlib.import_module(f"{here.__name__}.{part}")
                except ImportError: return False
            fields''')
P(N("01_notation"), "import importlib\nimport json", "import importlib\nimport inspect\nimport json")
P(N("01_notation"), "from specdec_nb import laws as dist\n", "import specdec_nb\n")
P(N("01_notation"), "PACKAGE = Path(dist.__file__).parent", "PACKAGE = Path(specdec_nb.__file__).parent")
P(N("01_notation"), 'PACKAGE.glob("*.py")', 'PACKAGE.rglob("*.py")')
P(N("01_notation"), '"dist.tv", "trace.Step.emitted"', '"laws.tv", "decoding.trace.Step.emitted"')
P(N("01_notation"), '"dist.tvd", "rules.Verdict.kept", "trace.Step.tokens_out"', '"laws.tvd", "rules.token.Verdict.kept", "decoding.trace.Step.tokens_out"')
P(N("49_many"), '''for name in ("decode", "models", "drafters", "trace",
                                                     "text"))''',
  '''for name in (
    "decoding/loop", "models/base", "drafters/base", "decoding/trace", "decoding/text"))''')
P(N("10_dist"), "the program that page 80\n", "the program that the page of the report\n")


def entry_modules(text):
    "The registry names modules of its own package."
    text = text.replace('- {"registry"}', '- {"rules.registry"}')
    if "RULES = (" not in text: return text
    for m in ("rules", "block_rule", "multidraft", "trees", "shared", "lossy", "registry", "shapes"):
        text = re.sub(rf'(\", |^ +)"{m}"(?=, "\w)', lambda x: f'{x[1]}"{MODULE[m]}"', text, flags=re.M)
    text = re.sub(rf'"page ({PAGES_ALT})"', lambda x: f'"page {PAGE[x[1]]}"', text)
    return text


def after_patches():
    path = ROOT/N("39_rules_compared")
    nb = cells_of(path)
    for c in nb["cells"]:
        if c["cell_type"] == "code": c["source"] = entry_modules("".join(c["source"]))
    store(path, nb)
    layers = ROOT/"tests/test_layers.py"
    text = layers.read_text()
    tail = text[text.index("def hidden_names"):].replace('(ROOT/"nbs").glob("*.ipynb")', '(ROOT/"nbs").rglob("*.ipynb")')
    layers.write_text((HERE/"layers_head.py").read_text() + "\n\n" + tail)
