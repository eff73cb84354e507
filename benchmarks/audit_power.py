"""Count how often the biases that an audit prints as seen are seen, and its bounds hold.

    python benchmarks/audit_power.py [--runs 200] [--only WORD]

For every input of the step's and of the engine's default audit, for samples
and for two samples, a bias of exactly the printed size is planted among the
compared cells, in three of the least favourable directions: half of the mass
grows and half shrinks in proportion. What is counted is how often the check
reaches its level at the default size (looks before the end could only add).
"bias >=" is the printed lower bound of a case that is looked at ten times and
stopped at the first look that suffices. Results go to
benchmarks/results/audit_power.json, setting by setting; the page "Auditing II"
has the table. Seeds come from the name of the setting.
"""
import argparse
import json
import zlib
from math import log
from pathlib import Path

import numpy as np

from specdec_nb import audit
from specdec_nb.evidence import (detectable_tv, log_e_below, merge, pool, tv_lower_bound)
from specdec_nb.evidence import two_sample as compare

OUT = Path(__file__).parent/"results"/"audit_power.json"
SEED, ALPHA, SHOWN = 20261201, 1e-6, .9


def halves(law, order, size):
    "Move mass between two sets of mass near a half, in proportion; the largest that the law allows."
    chosen, mass = np.zeros(len(law), dtype=bool), 0.
    for x in order:
        if mass + law[x] <= .5 + 1e-9: chosen[x], mass = True, mass + law[x]
    size = min(size, 1 - mass)
    return np.where(chosen, law*(1 + size/mass), law*(1 - size/(1 - mass)))


def orders(law, rng):
    by_size = np.argsort(law, kind="stable")
    return {"rare first": by_size, "likely first": by_size[::-1], "at random": rng.permutation(len(law))}


def table(law, bound, views, n, level, more=0):
    "Yield functions of a generator and a number of runs: the share of runs in which a bias is seen."
    cells = np.maximum(views[1], 0)
    pooled = np.bincount(cells, law)
    size = audit._power_of(n, pooled, level, len(views) + more)

    def seen(rng, runs):
        found = {}
        for name, order in orders(pooled, rng).items():
            wrong = law*(halves(pooled, order, size)/pooled)[cells]
            hits = 0
            for counts in rng.multinomial(n, wrong/wrong.sum(), runs):
                log_e = audit.log_e_of_views(counts, bound*law, views)
                hits += log_e + log(len(views)/(len(views) + more)) >= -log(level)
            found[name] = [hits, runs, SHOWN]
        return {"size": round(size, 4), **found}
    return seen


def steps():
    cases = audit.battery()
    for case in cases:
        n_more = 0 if case.hashes is None else case.gamma + 1
        yield f"step: {case.name}", table(case.cell_law, 1 + case.slack, audit._views(case, 20_000),
                                          20_000, ALPHA/len(cases), n_more)


def engines():
    cases = audit.engine_battery()
    level = ALPHA/(2*len(cases))
    for case in cases:
        n = round(4_000*case.share)
        yield f"engine: {case.name}", table(case.cell_law, 1 + case.slack,
                                            audit._text_views(case, n), n, level)
        margin = audit._pair_cells(case)[1]
        both = np.outer(margin, margin).ravel()
        yield f"engine, two requests: {case.name}", table(
            both, 1 + case.slack, [np.arange(len(both)), pool(both, n//2)], n//2, level)


def samples():
    zipf = 1/np.arange(1, 65)
    for name, law in (("even", np.full(64, 1/64)), ("skewed", zipf/zipf.sum())):
        for n in (200, 1_000, 4_000):
            views = [np.arange(64), np.maximum(pool(law, n), 0)]
            yield f"samples: 64 {name} outcomes, {n} of them", table(law, 1 + 1e-9, views, n, ALPHA)


def two_samples():
    zipf = 1/np.arange(1, 65)
    for name, law in (("2 even", np.full(2, .5)), ("64 skewed", zipf/zipf.sum())):
        for n, m in ((400, 400), (1_500, 1_500), (500, 2_000), (2_000, 500)):
            def seen(rng, runs, law=law, n=n, m=m):
                cells = pool(law, min(n, m))
                pooled = merge(law, cells)
                size = detectable_tv(n*m//(n + m), len(pooled), ALPHA)
                found = {}
                for which, order in orders(pooled, rng).items():
                    wrong = law*(halves(pooled, order, size)/pooled)[cells]
                    runs_here = max(20, runs//4)
                    hits = sum(compare(rng.multinomial(n, wrong/wrong.sum()), rng.multinomial(m, law)).log_e
                               >= -log(ALPHA) for _ in range(runs_here))
                    found[which] = [int(hits), runs_here, SHOWN]
                return {"size": round(size, 4), **found}
            yield f"two samples: {name} outcomes, {n} and {m}", seen


def bounds():
    for size in (.01, .015, .02, .025, .03, .05):
        def holds(rng, runs, size=size):
            law = np.array([.4, .3, .2, .1])
            wrong, early, false, false_early = law + [-size, size, 0, 0], 0, 0, 0
            for _ in range(10*runs):
                pieces = rng.multinomial(1_000, wrong, 20)
                for look in range(2, 21, 2):
                    a, b = pieces[0:look:2].sum(0), pieces[1:look:2].sum(0)
                    stop = log_e_below(a + b, law) >= log(29/ALPHA)
                    if stop or look == 20: break
                above = tv_lower_bound(a, b, law, .01, 10) > size
                false, early, false_early = false + above, early + (look < 20), false_early + (above and look < 20)
            return {"size": size, "bound holds": [10*runs - false, 10*runs, .99],
                    "stopped early": early, "wrong and early": int(false_early)}
        yield f"bias >=: TV {size}, ten looks", holds


def main():
    ask = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    ask.add_argument("--runs", type=int, default=200)
    ask.add_argument("--only", default="")
    options = ask.parse_args()
    done = json.loads(OUT.read_text()) if OUT.exists() else {}
    for settings in (steps, engines, samples, two_samples, bounds):
        for name, one in settings():
            if name in done or options.only not in name: continue
            rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
            done[name] = json.loads(json.dumps(one(rng, options.runs), default=int))
            OUT.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}"
                                              for k, v in sorted(done.items())) + "\n}\n")
            print(name, done[name], flush=True)


if __name__ == "__main__": main()
