"""Measure how often the audit raises a false alarm on right rules.

    python benchmarks/false_alarms.py [audits] [blocks a case]

Each audit has its own seed, hence its own random rows and draws, and takes
every third case of the battery, so that three rules meet all cases. It is not
stopped; the largest mean e-value over its looks is kept, because an audit of
level a raises an alarm exactly if that number reaches 1/a. The same is kept
for each case alone, as if it were the whole audit. The result goes to
benchmarks/results/false_alarms.json, which the page "Auditing II" draws.
About ten minutes for 1,026 audits on one core.
"""
import json
import sys
import time
from math import log, log10
from pathlib import Path

import numpy as np

from specdec_nb.audit import battery, sampler
from specdec_nb.evidence import log_mean_e

OUT = Path(__file__).parent/"results"/"false_alarms.json"


def draw(weights, rng):
    "Draw a token from weights, which need not sum to one."
    steps = weights.cumsum()
    return min(int(steps.searchsorted(rng.random()*steps[-1], side="right")),
               int(np.flatnonzero(weights)[-1]))


def token(target, draft, tokens, rng):
    "Accept each token with probability min(1, target/draft), in order."
    target, draft = target.astype(float), draft.astype(float)
    for i, x in enumerate(tokens):
        if rng.random()*draft[i, x] >= target[i, x]:
            left = np.maximum(target[i] - draft[i], 0)
            return [*tokens[:i], draw(left if left.any() else target[i], rng)]
    return [*tokens, draw(target[-1], rng)]


def block(target, draft, tokens, rng):
    "Keep the longest prefix whose coin succeeds."
    target, draft = target.astype(float), draft.astype(float)
    weight, kept, at = 1., 0, 1.
    for i, x in enumerate(tokens):
        weight = min(1., weight*target[i, x]/draft[i, x])
        coin = weight
        if i + 1 < len(tokens) and weight < 1:
            left = np.maximum(weight*target[i + 1] - draft[i + 1], 0).sum()
            coin = left/(left + 1 - weight)
        if rng.random() < coin: kept, at = i + 1, weight
    if kept == len(tokens): return [*tokens, draw(target[kept], rng)]
    left = np.maximum(at*target[kept] - draft[kept], 0)
    return [*tokens[:kept], draw(left if left.any() else target[kept], rng)]


def match(target, draft, tokens, rng):
    "Draw from the target and go on while the draft said the same."
    target, out = target.astype(float), []
    for row, x in zip(target, [*tokens, -1]):
        out.append(draw(row, rng))
        if out[-1] != x: break
    return out


def from_target(target, draft, tokens, rng):
    "Wrong on purpose: draws the replacement from the target."
    target, draft = target.astype(float), draft.astype(float)
    for i, x in enumerate(tokens):
        if rng.random()*draft[i, x] >= target[i, x]: return [*tokens[:i], draw(target[i], rng)]
    return [*tokens, draw(target[-1], rng)]


LEVELS = (.5, .2, .1, .05, .01, 1e-3)
RIGHT = {"token": token, "block": block, "match": match}


def largest(rule, seed, n):
    "Return the log10 of the largest mean e-value over the looks, and of each case's."
    cases = battery(seed)[:-1]  # without the large vocabulary, which takes longest
    audit = sampler(rule, n=n, seed=seed, alpha=1e-300, cases=cases[seed % 3::3])
    if audit.could_not or any(c.log_e is None for c in audit.failures):
        raise RuntimeError(audit.verdict)
    paths = [[log_e/log(10) for _, log_e in c.path] for c in audit.hypotheses]
    looks = [log_mean_e([log(10)*p[min(i, len(p) - 1)] for p in paths])/log(10)
             for i in range(max(map(len, paths)))]
    return max(looks), [max(p) for p in paths]


def measure(n_audits, n, first_seed=0):
    "Audit right rules in turn; return the largest e-values, base 10."
    names, whole, single = [*RIGHT], [], []
    for i in range(n_audits):
        mean, each = largest(RIGHT[names[i//3 % 3]], first_seed + i, n)
        whole.append(mean)
        single += each
    return whole, single


def main(n_audits=1026, n=80):
    start = time.time()
    right, single = measure(n_audits, n)
    clock = time.process_time()
    default = sampler(token)
    default = {"blocks": sum(c.n for c in default.hypotheses),
               "processor seconds": round(time.process_time() - clock, 1),
               "detectable tv": round(default.detectable_tv, 4)}
    wrong = [sampler(from_target, n=1000, seed=i).biased for i in range(25)]
    OUT.write_text(json.dumps({
        "rules": [*RIGHT], "audits": n_audits, "blocks a case": n,
        "largest log10 e": [round(x, 3) for x in sorted(right, reverse=True)],
        "cases alone": {"audits": len(single), "alarms": {
            level: sum(x >= -log10(level) for x in single) for level in LEVELS}},
        "default audit": default,
        "wrong rule": {"audits": len(wrong), "blocks a case": 1000, "found": sum(wrong)},
        "seconds": round(time.time() - start)}) + "\n")


if __name__ == "__main__": main(*map(int, sys.argv[1:]))
