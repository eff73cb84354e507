"""Count how often the diagnosis of a failed audit is right, and how often it names a bug that is not there.

    python benchmarks/diagnosis.py [--minutes 30] [--rules 290] [--show]

Two kinds of wrong steps are audited at the default size. Each bug of a rule in
the zoo that the audit can see, ten times with other seeds: is it the one that
is named? And rules at random that are in no zoo: an acceptance test, a
replacement, a bonus and the rows that they read are drawn from lists of right
and wrong parts, some with a number at random, and some rules are wrong only in
a share of the blocks or beyond a number of tokens: is anything named? A rule
that has the law of a bug on all small inputs is left out, for it is that bug,
and so is one that is right. Records are appended to
benchmarks/results/diagnosis.json, which the page "Which bug is it?" reads, so
that a run can be stopped and gone on with. Seeds are 910,000,000 and more; no
page and no test uses them.
"""
import argparse
import json
import os
import time
from math import inf
from pathlib import Path

import numpy as np

from specdec_nb import audit
from specdec_nb.block_rule import block_rule
from specdec_nb.diagnose import case_law, diagnose
from specdec_nb.rules import Verdict, token_rule
from specdec_nb.zoo import BUGS, Tabulated

OUT = Path(__file__).parent/"results"/"diagnosis.json"
SEED, REPEATS = 910_000_000, 10


def norm(weights, otherwise):
    "Make a law of weights."
    weights = np.maximum(weights, 0)
    return weights/weights.sum() if weights.sum() > 1e-12 else otherwise


def cut(weights, k):
    "Keep the k largest weights."
    return np.where(weights >= np.sort(weights)[-min(k, len(weights))], weights, 0)


ACCEPT = { # (probability under target, under draft, number) -> probability of keeping
    "ratio": lambda q, p, t: q/p, "power": lambda q, p, t: (q/p)**(.4 + 1.4*t),
    "lenient": lambda q, p, t: (1.05 + t)*q/p, "strict": lambda q, p, t: (.4 + .55*t)*q/p,
    "plus": lambda q, p, t: q/p + .3*t, "minus": lambda q, p, t: q/p - .3*t,
    "floor": lambda q, p, t: max(q/p, .1 + .5*t), "ceiling": lambda q, p, t: min(q/p, .4 + .55*t),
    "heat bath": lambda q, p, t: q/(q + p), "threshold": lambda q, p, t: q >= (.3 + t)*p,
    "target": lambda q, p, t: q, "square root": lambda q, p, t: q/np.sqrt(p),
    "difference": lambda q, p, t: 1 - max(0, p - q), "entropy": lambda q, p, t: q*(1 - np.log(q)) if q else 0}
REPLACE = { # (target row, draft row, number, token) -> law
    "residual": lambda q, p, t, x: norm(q - p, q), "softened": lambda q, p, t, x: norm(norm(q - p, q)**(.3 + t), q),
    "scaled draft": lambda q, p, t, x: norm(q - (.5 + .9*t)*p, q),
    "mixed": lambda q, p, t, x: (1 - t)*norm(q - p, q) + t*q,
    "mixed with draft": lambda q, p, t, x: (1 - t/2)*norm(q - p, q) + t/2*p,
    "top": lambda q, p, t, x: norm(cut(np.maximum(q - p, 0), 1 + int(3*t)), q),
    "without the token": lambda q, p, t, x: norm(np.where(np.arange(len(q)) == x, 0, q), q),
    "distance": lambda q, p, t, x: norm(abs(q - p), q), "ratio": lambda q, p, t, x: norm(q/np.maximum(p, 1e-9) - 1, q),
    "squares": lambda q, p, t, x: norm(q**2 - p**2, q), "flat": lambda q, p, t, x: norm(q > p, q),
    "likeliest": lambda q, p, t, x: norm(np.where(q == q.max(), q, 0), q),
    "smoothed": lambda q, p, t, x: norm(np.maximum(q - p, 0) + .2*t/len(q), q)}
BONUS = { # (target rows, draft rows, number) -> law
    "target": lambda q, p, t: q[-1], "tempered": lambda q, p, t: norm(q[-1]**(.5 + t), q[-1]),
    "row before": lambda q, p, t: q[-2], "likeliest": lambda q, p, t: norm(np.where(q[-1] == q[-1].max(), 1., 0), q[-1]),
    "mean": lambda q, p, t: q.mean(axis=0), "last residual": lambda q, p, t: norm(q[-2] - p[-1], q[-1]),
    "top": lambda q, p, t: norm(cut(q[-1], 2 + int(3*t)), q[-1])}


class Mutant:
    """A rule of parts drawn at random; its name tells which."""

    def __init__(self, rng):
        def pick(parts, right): return right if rng.random() < .45 else str(rng.choice([*parts]))
        self.parts = [pick(ACCEPT, "ratio"), pick(REPLACE, "residual"), pick(BONUS, "target")]
        self.numbers = rng.random(3).round(3).tolist()
        self.share = 1. if rng.random() < .6 else float(rng.choice([.05, .1, .2, .5, .9]))
        self.first = 0 if rng.random() < .8 else int(rng.integers(1, 3))  # right in earlier places
        self.large = 0 if rng.random() < .8 else int(rng.choice([4, 8]))  # right with so few tokens
        self.base = block_rule if rng.random() < .3 else token_rule
        self.__name__ = (f"{self.parts} {self.numbers}, share {self.share:g}, from place {self.first}, "
                         f"above {self.large} tokens, else {self.base.__name__}")

    def __call__(self, target, draft, tokens, chance):
        q, p = np.asarray(target, float), np.asarray(draft, float)
        right = q.shape[1] <= self.large or self.share < 1 and not chance.coin(self.share)
        if right: return self.base(target, draft, tokens, chance)
        (accept, replace, bonus), (a, r, b) = self.parts, self.numbers
        for i, x in enumerate(tokens):
            late = i >= self.first
            keep = ACCEPT[accept if late else "ratio"](q[i, x], p[i, x], a)
            if not chance.coin(float(min(max(keep, 0.), 1.))):
                return Verdict(i, chance.draw(REPLACE[replace if late else "residual"](q[i], p[i], r, x)))
        return Verdict(len(tokens), chance.draw(BONUS[bonus](q, p, b)))


def same_law(rule, others, cases):
    "Tell whether a rule has one of the laws on all small inputs."
    mine = [case_law(rule, c) for c in cases]
    return any(all(abs(x - y).max() < 1e-6 for x, y in zip(mine, laws)) for laws in others)


def run(rule, seed):
    "Audit a rule and diagnose."
    step = BUGS["Z31"].sampler if rule is BUGS["Z31"].rule else Tabulated(rule)  # no law beyond two drafts
    began, found = time.process_time(), audit.sampler(step, seed=seed)
    half = time.process_time()
    record = {"rule": step.__name__, "seed": seed, "outcome": found.outcome, "n": sum(c.n for c in found.hypotheses)}
    if found.faulty:
        told = diagnose(found)
        record |= {"named": [b.id for b in told.named], "differs": told.differs,
                   "shares": [[s.kind, [b.id for b in s.bugs], round(s.share, 4)] for s in told.suspects[:3]]}
    return record | {"cpu": [round(half - began, 2), round(time.process_time() - half, 2)]}


def save(records):
    part = OUT.with_name(OUT.name + ".part")
    part.write_text("[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n")
    os.replace(part, OUT)


def table(records):
    "Yield lines: how often the right bug was named, and how often a wrong one."
    for kind in ("zoo", "mutant"):
        rows = [r for r in records if r["kind"] == kind and "named" in r]
        right = sum(r["named"] == [r["bug"]] for r in rows) if kind == "zoo" else 0
        named = sum(bool(r["named"]) for r in rows)
        yield f"{kind}: {len(rows)} failing audits, right bug named {right}, another {named - right}, none {len(rows) - named}"


def main():
    ask = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    ask.add_argument("--minutes", type=float, default=inf)
    ask.add_argument("--rules", type=int, default=290)
    ask.add_argument("--show", action="store_true")
    options = ask.parse_args()
    until = time.monotonic() + 60*options.minutes
    records = json.loads(OUT.read_text()) if OUT.exists() else []
    done = {(r["kind"], r["number"]) for r in records}
    small = [c for c in audit.battery(SEED) if c.bins is None and c.gamma <= 2]
    laws = [[case_law(b.rule, c) for c in small] for b in BUGS.values() if b.rule]
    laws.append([np.append(c.cell_law, 0.) for c in small])
    bugs = [b for b in BUGS.values() if b.rule and not same_law(b.rule, laws[-1:], small)]
    jobs = [("zoo", i, bug.rule, bug.id) for i, bug in enumerate(bugs*REPEATS)]
    jobs += [("mutant", i, Mutant(np.random.default_rng([SEED, i])), None) for i in range(options.rules)]
    jobs.sort(key=lambda job: job[1])
    for kind, i, rule, bug in jobs:
        if options.show or time.monotonic() > until: break
        if (kind, i) in done: continue
        place = {"kind": kind, "number": i, "bug": bug}
        if kind == "mutant" and same_law(rule, laws, small): records.append(place | {"rule": rule.__name__, "outcome": "in the zoo, or right"})
        else: records.append(place | run(rule, SEED + 1000*i + (kind == "zoo")))
        save(records)
    print("\n".join(table(records)))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
