"""Measure how often the audit raises a false alarm on right rules.

    python benchmarks/false_alarms.py [audits] [blocks a case]

Three right rules are audited in turn, each time with another seed. No audit
is stopped; the largest mean e-value over its looks is kept, because an audit
of level a raises an alarm exactly if that number reaches 1/a. The same is
kept for each case alone, as if it were the whole audit. To be quick, the
evidence of all audits is computed at once, from counts that the audit's own
pieces have made; that `sampler` finds the same numbers is checked on three
audits. The result goes to benchmarks/results/false_alarms.json, which the
page "Auditing II" draws. About two minutes of one core.
"""
import json
import sys
import time
from math import log, log10
from pathlib import Path

import numpy as np

from specdec_nb.audit import _piece, _views, battery, sampler
from specdec_nb.evidence import log_e_value

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


def measure(n_audits, n, looks=4):
    "Return the log10 of the largest e-values over the looks: (of audits, of cases)."
    cases, rules, size = battery(0)[:-1], [*RIGHT.values()], n//looks  # the last is slow
    evidence = np.empty((looks, len(cases), n_audits))
    for k, case in enumerate(cases):
        counts = np.array([[
            np.sum(_piece(rules[seed % 3], case, seed, j, size, None, None, 0).counts["joint"], 0)
            for j in range(looks)] for seed in range(n_audits)]).cumsum(axis=1)
        views = _views(case, n)
        merge = [np.eye(v.max() + 1, dtype=int)[v] for v in views]
        laws = [case.cell_law @ m for m in merge]
        for look in range(looks):
            seen = [log_e_value(counts[:, look] @ m, q/q.sum()) for m, q in zip(merge, laws)]
            evidence[look, k] = np.logaddexp.reduce(seen, axis=0) - log(len(views))
    for seed in range(3):
        audit = sampler(rules[seed], n=n, seed=seed, alpha=1e-300, cases=cases)
        found = np.transpose([[e for _, e in c.path] for c in audit.hypotheses])
        assert np.allclose(found, evidence[..., seed]), "not what the audit finds"
    whole = np.logaddexp.reduce(evidence, axis=1) - log(len(cases))
    return whole.max(axis=0)/log(10), evidence.max(axis=0).ravel()/log(10)


def main(n_audits=1026, n=60):
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
        "largest log10 e": np.round(np.sort(right)[::-1], 3).tolist(),
        "cases alone": {"audits": len(single), "alarms": {
            level: int((single >= -log10(level)).sum()) for level in LEVELS}},
        "default audit": default,
        "wrong rule": {"audits": len(wrong), "blocks a case": 1000, "found": sum(wrong)},
        "seconds": round(time.time() - start)}) + "\n")


if __name__ == "__main__": main(*map(int, sys.argv[1:]))
