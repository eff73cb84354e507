"""Count how often the intervals and the power statements of the commands hold.

    python benchmarks/interval_coverage.py [--runs 2000] [--only WORD]

Every interval that `plan`, `generate` and `report` print, and that the functions under them
return, is computed for many made-up samples whose truth is known: small and large ones, equal
and unequal draft lengths, idle passes, generations that end by their number of tokens, skewed
overlaps. One line of the result is one setting, with the number of runs and of hits for each
statement. Results go to benchmarks/results/interval_coverage.json after every setting, and a setting
that is there already is not run again. The page "Which alpha?" has the table. Seeds come from
the name of the setting; no page and no test uses them. About half an hour of processor time.

Another command adds its own statements with a function in SETTINGS: it yields pairs of a name
and a function of a numpy Generator that returns {statement: (hit, nominal)} for one sample.
"""
import argparse
import json
import zlib
from collections import Counter
from itertools import accumulate, permutations, product
from operator import mul
from pathlib import Path

import numpy as np

from specdec_nb.estimate import (alpha_from_overlaps, alpha_from_trace, survival_from_trace,
                                 wilson)
from specdec_nb.evidence import chi_square, detectable_tv
from specdec_nb.report import TARGET, acceptance_sweep
from specdec_nb.systems import plan

OUT = Path(__file__).parent/"results"/"interval_coverage.json"
SEED, LEVEL = 20261130, .95
SIZES = 5, 10, 12, 20, 30, 50, 100
ALPHAS = .2, .5, .8, .9, .98
UNEQUAL = {"all 4": lambda n, rng: np.full(n, 4),
           "one, rarely 4": lambda n, rng: np.where(np.arange(n) % 8 == 7, 4, 1),
           "1,1,1,4": lambda n, rng: np.where(np.arange(n) % 4 == 3, 4, 1),
           "2,4": lambda n, rng: np.where(np.arange(n) % 2, 4, 2),
           "0 to 8": lambda n, rng: rng.integers(0, 9, n)}


def inside(interval, truth): return interval.low - 1e-12 <= truth <= interval.high + 1e-12


def outcomes(lengths, alpha, rng):
    "Kept drafts of passes of these lengths, if each draft is kept with probability alpha."
    return np.minimum(rng.geometric(1 - alpha, len(lengths)) - 1, lengths)


def judged(drafted, accepted, alpha, share, cost=.1):
    "Which statements about a trace hold; `share` is the true share of passes that draft."
    if not drafted.any(): return {}  # nothing is printed
    found = {}
    longest = int(drafted.max())
    survival = list(accumulate([alpha]*longest, mul))
    for i, place in enumerate(survival_from_trace(drafted, accepted), 1):
        found[f"survival at place {i}"] = inside(place.survival, survival[i - 1]), LEVEL
        found[f"acceptance at place {i}"] = inside(place.acceptance, alpha), LEVEL
    found["alpha of a trace"] = inside(alpha_from_trace(drafted, accepted), alpha), LEVEL
    made = int(np.minimum(drafted, accepted + 1).sum())
    found["alpha, Wilson's (not printed)"] = inside(wilson(int(accepted.sum()), made), alpha), None
    result = plan(trace=(drafted, accepted), cost=cost)
    total, held = [0., *accumulate(survival)], []
    for row in result.rows:
        truth = (1 + share*total[row.gamma])/(1 + share*row.gamma*cost)
        held.append(row.low - 1e-12 <= truth <= row.high + 1e-12)
        if row.gamma: found[f"speed-up of length {row.gamma}"] = held[-1], LEVEL
    found["speed-up advised"] = held[result.gamma], LEVEL
    found["speed-ups, all at once"] = all(held), LEVEL
    return found


def lengths_given():
    "Plan, and the functions under it: N passes whose lengths are chosen beforehand."
    for (name, how), n, alpha in product(UNEQUAL.items(), SIZES, ALPHAS):
        def one(rng, how=how, n=n, alpha=alpha):
            drafted = how(n, rng)
            share = 8/9 if how is UNEQUAL["0 to 8"] else 1.
            return judged(drafted, outcomes(drafted, alpha, rng), alpha, share)
        yield f"plan --trace: lengths {name}, N {n}, alpha {alpha}", one


def idle():
    "Plan: drafts of four, but a share of the passes has nothing to propose."
    for share, n, alpha in product((.02, .3, .7, .95), SIZES, (.2, .8, .98)):
        def one(rng, share=share, n=n, alpha=alpha):
            drafted = np.where(rng.random(n) < share, 0, 4)
            return judged(drafted, outcomes(drafted, alpha, rng), alpha, 1 - share)
        yield f"plan --trace: idle share {share}, N {n}, alpha {alpha}", one


def generations():
    "Generate --save-trace, then plan: a generation ends when it has its tokens."
    for gamma, tokens, alpha in product((1, 4), (8, 20, 60, 200), ALPHAS):
        def one(rng, gamma=gamma, tokens=tokens, alpha=alpha):
            drafted, accepted, left = [], [], tokens
            while left:
                drafted.append(min(gamma, left - 1))
                accepted.append(int(outcomes(np.array(drafted[-1:]), alpha, rng)[0]))
                left -= accepted[-1] + 1
            return judged(np.array(drafted), np.array(accepted), alpha, 1.)
        yield f"generate, plan: gamma {gamma}, {tokens} tokens, alpha {alpha}", one


OVERLAPS = {"nine in ten are 1": lambda rng, n: np.where(rng.random(n) < .9, 1, rng.random(n)),
            "1 or, rarely, 0": lambda rng, n: (rng.random(n) > .02)*1.,
            "0 or, rarely, 1": lambda rng, n: (rng.random(n) < .02)*1.,
            "uniform": lambda rng, n: rng.random(n),
            "near one half": lambda rng, n: rng.beta(30, 30, n),
            "U-shaped": lambda rng, n: rng.beta(.2, .2, n)}
MEANS = dict(zip(OVERLAPS, (.95, .98, .02, .5, .5, .5)))


def overlaps():
    "Alpha from overlaps of the laws."
    for (name, draw), n in product(OVERLAPS.items(), SIZES):
        def one(rng, name=name, draw=draw, n=n):
            values = draw(rng, n)
            half = 1.959964*values.std(ddof=1)/n**.5
            return {"mean overlap": (inside(alpha_from_overlaps(values), MEANS[name]), LEVEL),
                    "mean overlap, normal (not printed)": (
                        abs(values.mean() - MEANS[name]) <= half, None)}
        yield f"alpha_from_overlaps: {name}, N {n}", one


def biases(law, distance):
    "Laws at a total variation distance: mass moved from one token to another, or from all."
    for a, b in permutations(range(len(law)), 2):
        if law[a] >= distance:
            moved = law.copy()
            moved[[a, b]] += -distance, distance
            yield f"{a} to {b}", moved
    for b in range(len(law)):
        rest = 1 - law[b]
        if rest > distance:
            moved = law*(1 - distance/rest)
            moved[b] = law[b] + distance
            yield f"all to {b}", moved


def power():
    "Report: a bias of this size would have been seen with 90% power at the 5% level."
    law = np.array(TARGET)
    for n in (50, 200, 500, 2000, 20_000, 50_000):
        for where, moved in biases(law, detectable_tv(n, law, .05, test="chi-square")):
            def one(rng, n=n, moved=moved):
                counts = rng.multinomial(n, moved/moved.sum())
                return {"bias is seen": (chi_square(counts, law).p_value < .05, .9)}
            yield f"report --samples {n}: mass {where}", one


def sweep():
    "Report: a sampled acceptance rate, give or take two standard errors."
    for n in (50, 500, 5000):
        def one(rng, n=n):
            rows = acceptance_sweep(TARGET, (.02, .25, .5), n, rng)
            return {f"alpha of noise {r.amount}, two standard errors":
                    (abs(r.sampled - r.alpha) <= 2*r.error, None) for r in rows}
        yield f"report --sweep-samples {n}", one


SETTINGS = [lengths_given, idle, generations, overlaps, power, sweep]


def measure(one, name, runs):
    "Hits and tries of each statement over independent samples."
    rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    hits, tries, nominal = Counter(), Counter(), {}
    for _ in range(runs):
        for statement, (hit, least) in one(rng).items():
            hits[statement] += bool(hit)
            tries[statement] += 1
            nominal[statement] = least
    return {s: [hits[s], tries[s], nominal[s]] for s in sorted(tries)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--only", default="", help="settings with this word in their name")
    args = parser.parse_args()
    done = json.loads(OUT.read_text()) if OUT.exists() else {}
    for settings in SETTINGS:
        for name, one in settings():
            if name in done or args.only not in name: continue
            runs = args.runs//20 if name.startswith("report --sweep") else args.runs
            done[name] = measure(one, name, runs)
            OUT.write_text(json.dumps(done, indent=0, sort_keys=True) + "\n")
            print(name, flush=True)


if __name__ == "__main__": main()
