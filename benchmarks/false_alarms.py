"""Measure how often the audit raises a false alarm on right rules.

    python benchmarks/false_alarms.py [right] [wrong] [default]

Three right rules are audited in turn on a third of the battery, each time
with another seed. No audit is stopped; the largest mean e-value over its
looks is kept, because an audit of level a raises an alarm exactly if that
number reaches 1/a. The same is kept for each case alone, as if it were the
whole audit. To be quick, the evidence of all audits is computed at once, from
counts that the audit's own pieces have made; that `sampler` finds the same
numbers is checked on one audit of each rule. "wrong" is a negative control,
"default" times one audit. Results go to benchmarks/results/false_alarms.json,
which the page "Auditing II" draws. About three minutes of processor time for
all three parts, which run if none is named.
"""
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from math import log, log10
from pathlib import Path

import numpy as np

from specdec_nb.audit import battery, sampler
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


WORKERS = 4
LEVELS = (.5, .2, .1, .05, .01, 1e-3)
RIGHT = {"token": token, "block": block, "match": match}


def count(case, n_audits, size, looks):
    "Return the counts of one case at each look, shape (audits, looks, cells)."
    rules = [*RIGHT.values()]
    return np.array([[
        np.sum(_piece(rules[seed % 3], case, seed, j, size, None, None, 0).counts["joint"], 0)
        for j in range(looks)] for seed in range(n_audits)]).cumsum(axis=1)


def measure(n_audits, n, pool, looks=4):
    "Return the log10 of the largest e-values over the looks: (of audits, of cases)."
    cases = battery(0)[:-1:3]  # a third of them; the last is slow
    evidence = np.empty((looks, len(cases), n_audits))
    jobs = [pool.submit(count, case, n_audits, n//looks, looks) for case in cases]
    for k, (case, job) in enumerate(zip(cases, jobs)):
        counts, views = job.result(), _views(case, n)
        merge = [np.eye(v.max() + 1, dtype=int)[v] for v in views]
        laws = [case.cell_law @ m for m in merge]
        for look in range(looks):
            seen = [log_e_value(counts[:, look] @ m, q/q.sum()) for m, q in zip(merge, laws)]
            evidence[look, k] = np.logaddexp.reduce(seen, axis=0) - log(len(views))
    for seed, rule in enumerate(RIGHT.values()):
        audit = sampler(rule, n=n, seed=seed, alpha=1e-300, cases=cases)
        found = np.transpose([[e for _, e in c.path] for c in audit.hypotheses])
        assert np.allclose(found, evidence[..., seed]), "not what the audit finds"
    whole = np.logaddexp.reduce(evidence, axis=1) - log(len(cases))
    return whole.max(axis=0)/log(10), evidence.max(axis=0).ravel()/log(10)


def a_default_audit():
    "Time one audit as it comes, in seconds of one core."
    clock = time.process_time()
    audit = sampler(token)
    return {"blocks": sum(c.n for c in audit.hypotheses),
            "processor seconds": round(time.process_time() - clock, 1),
            "detectable tv": round(audit.detectable_tv, 4)}


def is_found(seed): return sampler(from_target, n=1000, seed=seed).biased


def right_rules(pool, n_audits=1026, n=60):
    "Measure false alarms."
    whole, single = measure(n_audits, n, pool)
    return {"rules": [*RIGHT], "audits": n_audits, "blocks a case": n,
            "largest log10 e": np.round(np.sort(whole)[::-1], 3).tolist(),
            "cases alone": {"audits": len(single), "alarms": {
                level: int((single >= -log10(level)).sum()) for level in LEVELS}}}


def a_wrong_rule(pool, n_audits=20):
    "See that the audit can find something."
    return {"wrong rule": {"audits": n_audits, "blocks a case": 1000,
                           "found": sum(pool.map(is_found, range(n_audits)))}}


PARTS = {"right": right_rules, "wrong": a_wrong_rule,
         "default": lambda pool: {"default audit": a_default_audit()}}


def main(*parts):
    with ProcessPoolExecutor(WORKERS) as pool:
        for part in parts or PARTS:
            data = json.loads(OUT.read_text()) if OUT.exists() else {}
            OUT.write_text(json.dumps(data | PARTS[part](pool)) + "\n")


if __name__ == "__main__": main(*sys.argv[1:])
