"""Measure the ratios that the speed page promises.

    python benchmarks/run.py                  our own candidates
    python benchmarks/run.py --peers          also what others wrote, installed on the way
    python benchmarks/run.py --json FILE      keep the results
    python benchmarks/run.py --figure FILE    draw them there, and not in build/speed.png
    python benchmarks/run.py --only WORD      metrics whose name contains WORD

One thread, CPU time, all candidates of a metric in turn in every round. A gate fails only if
the whole 95 % interval of the median ratio is on its wrong side; a line without a gate is only
measured.
"""
import argparse
import datetime
import json
import os
import platform
import random
import subprocess
import sys
from functools import cache
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                 "NUMBA_NUM_THREADS"): os.environ[variable] = "1"

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1]))
import baselines  # noqa: E402
from data import Pool  # noqa: E402
from harness import median, race, ratio, verdict  # noqa: E402
from specdec_nb.batch import verify  # noqa: E402

BUILD = Path(__file__).parents[1]/"build"/"peers"
METRICS = []
pool = cache(Pool)


def metric(name, gate, aim, lower=False, needs=()):
    """Register a function that returns (rounds, above, below)."""
    def register(function):
        METRICS.append((name, gate, aim, lower, needs, function))
        return function
    return register


def many(function, data, calls=1):
    """Make a candidate: `calls` batches a round, counted in blocks."""
    def run(number):
        for i in range(calls): function(*data(number*calls + i))
    return run, calls*data.batch


def as_torch(data):
    """Return a pool whose batches are torch tensors, without uniforms."""
    import torch
    tensors = [torch.from_numpy(x) for x in (data.target, data.draft, data.tokens)]
    def batch(number): return [x[data.part(number)] for x in tensors]
    batch.batch = data.batch
    return batch


def logits(data, library=None):
    """Return a pool of logits, for NumPy or torch."""
    arrays = [data.logits, data.draft_logits, data.tokens]
    if library: arrays = [library.from_numpy(x) for x in arrays]
    else: arrays.append(data.uniforms)
    def batch(number): return [x[data.part(number)] for x in arrays]
    batch.batch = data.batch
    return batch


def against(theirs, ours, **how): # their time over ours
    return race({"theirs": theirs, "ours": ours}, [("theirs", "ours")], **how), "theirs", "ours"


for V, gate, aim in ((128_000, 3, 1.8), (32_000, 4.5, 2.2)):
    @metric(f"NumPy / floor, V={V//1000}k B=64", gate, aim, True)
    def floor(V=V):
        data = pool(V, 64)
        return against(many(verify, data), many(baselines.read_once, data))


def kernel(data, extra=False):
    from specdec_nb.fast import verify_fast
    if not extra: return many(verify_fast, data)
    def run(number): verify_fast(*data(number), extra=data.extra[data.part(number)])
    return run, data.batch


for V in (32_000, 128_000):
    @metric(f"numba / floor, V={V//1000}k B=64", 1.4, 1.05, True, ("numba",))
    def compiled(V=V):
        data = pool(V, 64)
        return against(kernel(data), many(baselines.read_once, data))


@metric("numba thin / floor, V=128k B=64", .95, .6, True, ("numba",))
def thin():
    data = pool(128_000, 64)
    return against(kernel(data, True), many(baselines.read_once, data))


for V, gate, aim in ((32_000, 8, 25), (128_000, 12, 35)):
    @metric(f"transformers on laws / NumPy, V={V//1000}k B=1", gate, aim,
            needs=("torch", "transformers"))
    def core(V=V):
        data, (on_laws, _) = pool(V, 1), baselines.transformers_core()
        return against(many(on_laws, as_torch(data), 4), many(verify, data, 4))


@metric("transformers / NumPy, both from logits, V=32k B=1", 1.3, 3,
        needs=("torch", "transformers"))
def from_logits():
    import torch
    data, (_, on_logits) = pool(32_000, 1), baselines.transformers_core()
    def ours(q, p, x, u): verify(q, p, x, u, logits=True)
    return against(many(on_logits, logits(data, torch), 4), many(ours, logits(data), 4))


for V, gate, aim in ((32_000, 60, 200), (128_000, 100, 300)):
    @metric(f"vLLM's PyTorch path on CPU / NumPy, V={V//1000}k B=64", gate, aim,
            needs=("torch", "vllm wheel"))
    def vllm(V=V):
        data, sampler = pool(V, 64), baselines.vllm_sampler(BUILD)
        return against(many(sampler, as_torch(data)), many(verify, data), least=7, seconds=8)


for V, gate, aim in ((32_000, 3, 10), (128_000, 7, 18)):
    @metric(f"textbook NumPy / NumPy, V={V//1000}k B=1", gate, aim)
    def book(V=V):
        data = pool(V, 1)
        return against(many(baselines.textbook, data, 4), many(verify, data, 4))


for V in (32_000, 128_000):
    @metric(f"lean NumPy loop / NumPy, V={V//1000}k B=1", None, None)
    def lean(V=V):
        data = pool(V, 1)
        return against(many(baselines.lean_loop, data, 4), many(verify, data, 4))


for V, B, gate, aim in ((32_000, 1, 80, 300), (8, 64, 2.5, 10)):
    @metric(f"seed verify / NumPy, V={V if V < 1000 else '32k'} B={B}", gate, aim,
            needs=("seed",))
    def seed_verify(V=V, B=B):
        data, seed, rng = pool(V, B), baselines.seed_program(), random.Random(0)
        lists = [[x.tolist() for x in data(i)[:3]] for i in range(6)]
        def theirs(number): baselines.seed_verify(seed, *lists[number % 6], rng)
        # many calls, each on another block: a single one would be timed with its code cold
        return against((theirs, B), many(verify, data, 32))


def pair(size, seed=0):
    """Two laws whose acceptance rate is about 0.75."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 1, size)
    return [np.exp(x)/np.exp(x).sum() for x in (scores, scores + rng.normal(0, .7, size))]


for V, gate, aim in ((8, 35, 60), (1000, 2000, 4000)):
    @metric(f"seed acceptance rate / trace mode, V={V}", gate, aim, needs=("seed",))
    def trace(V=V):
        from specdec_nb.simulate import simulate
        (q, p), seed = pair(V), baselines.seed_program()
        rng, old, n = np.random.default_rng(0), random.Random(0), 20_000 if V < 100 else 300
        def theirs(_): seed.acceptance_rate(q.tolist(), p.tolist(), n, old)
        def ours(_): simulate(q, p, 500_000, rng)
        return against((theirs, n), (ours, 500_000))


@metric("seed acceptance rate / counts mode, 10^7 trials, V=8", 1e5, 5e5, needs=("seed",))
def counts():
    from specdec_nb.simulate import sample_counts
    (q, p), seed = pair(8), baselines.seed_program()
    rng, old = np.random.default_rng(0), random.Random(0)
    def theirs(_): seed.acceptance_rate(q.tolist(), p.tolist(), 20_000, old)
    def ours(_):
        for _ in range(20): sample_counts(q, p, 10**7, rng)
    return against((theirs, 20_000), (ours, 20*10**7))


@metric("Fraction oracle / float oracle, V=8 gamma=5", 300, 4000)
def oracle():
    from fractions import Fraction
    from specdec_nb.oracle import block_law, dyadic
    rng, exact = np.random.default_rng(0), np.vectorize(Fraction, otypes=[object])
    tables = [[dyadic(rng.dirichlet(np.ones(8), (8,)*i), 8) for i in range(n)] for n in (6, 5)]
    fractions = [[exact(t) for t in side] for side in tables]
    def ours(_):
        for _ in range(20): block_law(*tables)
    for a, b in zip(block_law(*tables), block_law(*fractions)): assert (a == b).all()
    return against((lambda _: block_law(*fractions), 1), (ours, 20), least=7, seconds=6)


@metric("HiGHS / best acceptance of two drafts by sort, V=100", 2000, 20_000,
        needs=("specdec_nb.multidraft",))
def drafts():
    from specdec_nb.multidraft import optimal_acceptance
    q, p = pair(100)
    assert abs(baselines.transport(q, p) - optimal_acceptance(q, p, 2)) < 1e-6
    def ours(_):
        for _ in range(100): optimal_acceptance(q, p, 2)
    return against((lambda _: baselines.transport(q, p), 1), (ours, 100), least=7, seconds=6)


@metric("import: specdec_nb.batch / numpy", 1.10, 1.01, True)
def imports():
    from resource import RUSAGE_CHILDREN, getrusage
    def spent(): return sum(getrusage(RUSAGE_CHILDREN)[:2])
    def child(code):
        def run(_=0):
            before = spent()
            subprocess.run([sys.executable, "-c", code], check=True,
                           env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])})
            return spent() - before
        return run
    codes = {"theirs": child("import numpy"), "ours": child("import specdec_nb.batch")}
    rounds, order = [], random.Random(0)
    for run in codes.values(): run()
    for _ in range(25):
        names = list(codes)
        order.shuffle(names)
        rounds.append({name: codes[name]() for name in names})
    return rounds, "ours", "theirs"


@metric("growth of verify in gamma, 8 / 3, V=32k B=64", 1.3, 1.1, True)
def in_gamma():
    long, short = (pool(32_000, 64, gamma, 96) for gamma in (8, 3))
    return against(many(verify, long), many(verify, short))


@metric("growth of verify in V, 128k / 32k, B=64", 4.5, 4.0, True)
def in_vocabulary():
    return against(many(verify, pool(128_000, 64)), many(verify, pool(32_000, 64)))


def missing(needs):
    """Return what a metric needs and this machine does not have."""
    from importlib.util import find_spec
    there = {"seed": baselines.SEED.exists(), "vllm wheel": bool(list(BUILD.glob("vllm-*.whl")))}
    return [need for need in needs if not (there[need] if need in there else find_spec(need))]


def machine():
    """Return what the numbers depend on."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [s.split(":")[1].strip() for s in info.read_text().splitlines() if "model name" in s]
        cpu = names[0] if names else cpu
    return dict(cpu=cpu, cores=os.cpu_count(), load=os.getloadavg(), numpy=np.__version__,
                python=platform.python_version(), threads=1,
                date=datetime.date.today().isoformat())


def draw(rows, path):
    """Save a figure: each ratio, its gate and its aim."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    rows = [row for row in rows if "median" in row][::-1]
    figure, ax = plt.subplots(figsize=(8, .32*len(rows) + 1), layout="constrained")
    y = range(len(rows))
    ax.hlines(y, [r["low"] for r in rows], [r["high"] for r in rows], color="C0", lw=4, alpha=.5)
    ax.plot([r["median"] for r in rows], y, "o", color="C0", label="measured")
    gates, aims = ([np.nan if r[key] is None else r[key] for r in rows] for key in ("gate", "aim"))
    ax.plot(gates, y, "|", color="black", ms=12, label="gate")
    ax.plot(aims, y, "x", color="C1", label="aim")
    ax.set(xscale="log", yticks=y, yticklabels=[r["name"] for r in rows], xlabel="ratio")
    ax.legend()
    figure.savefig(path)


def main():
    """Run, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="install the peers first")
    parser.add_argument("--json", type=Path, help="keep the results here")
    parser.add_argument("--figure", type=Path, default=BUILD.parent/"speed.png",
                        help="draw the results here")
    parser.add_argument("--only", default="", help="only metrics with this in their name")
    options = parser.parse_args()
    if options.peers:
        BUILD.mkdir(parents=True, exist_ok=True)
        baselines.install(BUILD)
    rows, tally = [], {"pass": 0, "fail": 0, "skip": 0, "-": 0}
    print(f"{'ratio':55} {'median':>10} {'95 % interval':>21} {'gate':>9} {'aim':>9}  rounds")
    for name, gate, aim, lower, needs, function in METRICS:
        if options.only not in name: continue
        row, lacks = dict(name=name, gate=gate, aim=aim, lower_is_better=lower), missing(needs)
        if lacks:
            tally["skip"] += 1
            row["skipped"] = f"needs {', '.join(lacks)}"
            print(f"{name:55} skipped: {row['skipped']}")
        else:
            times, above, below = function()
            found = ratio(times, above, below)
            said = verdict(found, gate, lower)
            tally[said] += 1
            reached = aim is not None and (
                found.median <= aim if lower else found.median >= aim)
            row |= found._asdict() | dict(verdict=said, aim_reached=bool(reached), seconds={
                key: median([r[key] for r in times]) for key in times[0]})
            sign = "<=" if lower else ">="
            wanted = [f"{sign}{x:<8g}" if x else f"{'none':10}" for x in (gate, aim)]
            print(f"{name:55} {found.median:10.4g} {found.low:10.4g}-{found.high:<10.4g} "
                  f"{wanted[0]} {wanted[1]} {found.rounds:3} {said}"
                  f"{', aim reached' if reached else ''}", flush=True)
        rows.append(row)
        if options.json: # after each line, so that a run cut short is not lost
            options.json.write_text(json.dumps(dict(machine=machine(), rows=rows), indent=1) + "\n")
    options.figure.parent.mkdir(parents=True, exist_ok=True)
    draw(rows, options.figure)
    print(f"figure: {options.figure}")
    print(f"{tally['pass']} passed, {tally['fail']} failed, {tally['skip']} skipped")
    sys.exit(bool(tally["fail"]))


if __name__ == "__main__":
    main()
