"""Compare `verify` with the readable rules on many cases, uniform for uniform.

The cases are those of nbs/60_batch: small laws on a grid that every format can
hold, ragged blocks, and uniforms that an adversary puts on the edges. There,
and in the tests, are a few hundred of each kind; here at least 10,000 for each
rule, each library that is installed, and each type of its numbers. The seed is
fixed. It takes minutes. From the root of the repository:

    python benchmarks/equality.py > benchmarks/equality.txt
"""
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT/"tests")]
import test_batch as page  # noqa: E402

N = 10_000


def kinds(name):
    """Return the types of numbers of a library, or None if it is not installed."""
    if name == "numpy": return [np.float64, np.float32, np.float16]
    try:
        if name == "jax":
            import jax
            jax.config.update("jax_enable_x64", True)
        return page.library(name)[1]
    except page.pytest.skip.Exception: return None


def compare(name, rule, kind, one_hot):
    """Return the number of cases that were equal; raise if one is not."""
    if name != "numpy": return page.agrees_elsewhere(name, rule, N, kind, one_hot)
    return page.agrees(page.cases(rule, N, one_hot=one_hot), rule, kind=kind, one_hot=one_hot)


print(f"{'library':18}{'numbers':26}{'rule':8}{'draft':10} equal cases")
for library in ("numpy", "torch", "jax", "array_api_strict"):
    for kind in kinds(library) or []:
        for rule in ("token", "block", "greedy"):
            for one_hot in (False, True)[:1 if rule == "greedy" else 2]:
                count = compare(library, rule, kind, one_hot)
                name = str(getattr(kind, "__name__", kind))
                print(f"{library:18}{name:26}{rule:8}"
                      f"{'one-hot' if one_hot else 'laws':10}{count:12,}", flush=True)
    if not kinds(library): print(f"{library:18}not installed")
