"""Build sdist and wheel; install the wheel alone in a new venv; import it.

The sdist is unpacked, and holds what the tests of the project read.

The venv gets the wheel and its declared dependencies, nothing else, and runs
from an empty folder, so a file or a dependency that was forgotten is seen.
"""
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = sorted(p.stem for p in (ROOT/"specdec_nb").glob("[a-z]*.py"))
IMPORT_ALL = "import importlib, sys\n" + "\n".join(
    f"importlib.import_module('specdec_nb.{m}')" for m in MODULES)


def run(*command, cwd):
    print("$", *(str(c) for c in command if "\n" not in str(c)), flush=True)
    subprocess.run([str(c) for c in command], cwd=cwd, check=True)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        dist, env, empty = (Path(tmp)/n for n in ("dist", "env", "empty"))
        empty.mkdir()
        run(sys.executable, "-m", "build", "--installer", "uv", "-o", dist, ROOT, cwd=ROOT)
        wheel, = dist.glob("*.whl")
        source, = dist.glob("*.tar.gz")
        with tarfile.open(source) as archive: archive.extractall(dist, filter="data")
        unpacked = dist/source.name.removesuffix(".tar.gz")  # all that the tests of the project read
        run(sys.executable, "-m", "pytest", "tests/test_project.py", cwd=unpacked)
        venv.create(env, with_pip=False)
        uv = Path(sys.executable).with_name("uv")
        run(uv, "pip", "install", "-q", "--python", env/"bin/python", wheel, cwd=empty)
        run(env/"bin/python", "-c", IMPORT_ALL, cwd=empty)
        run(env/"bin/specdec-nb", "--version", cwd=empty)
        run(uv, "pip", "check", "--python", env/"bin/python", cwd=empty)
    print(f"wheel and sdist build; the wheel alone imports {len(MODULES)} modules")


if __name__ == "__main__":
    main()
