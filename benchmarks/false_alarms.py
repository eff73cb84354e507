"""Measure how often the audits raise a false alarm on right subjects, as they are run by default.

    python benchmarks/false_alarms.py [--minutes 60] [--door WORD ...] [--list] [--show]

Every door of the audit is tried with right subjects at its default size: a
step with no declared rule and with each, with injected uniforms, in batches;
engines with drafts of every kind, undeclared and declared; recorded steps; a
served model in each form of log-probabilities, with and without a baseline;
samples, texts of two systems, and `generate` of the transformers library. One
audit is one record: the door, the seed, the largest evidence for a bias and
for a breach at any of its looks, what was certain, the outcome, the seconds.
An audit of level a raises an alarm exactly if the evidence of one kind reaches
1/a, or if something certain was found.

Records are appended to benchmarks/results/false_alarms.json, which the page
"Auditing II" reads, so that a run can be stopped and gone on with at any time.
The door that is furthest behind its number of audits comes next. Seeds are
730,000,000 and more, others for each door; no page and no test uses them. The negative control audits
wrong subjects. The whole takes some hours of one core.
"""
import argparse
import json
import os
import time
from bisect import bisect_right
from math import inf, isfinite, log, log10
from pathlib import Path
from zlib import crc32

import numpy as np
from fake_servers import PROMPT, SHAPES, WRONG_LAWS, FakeServer
from scipy.special import betaincinv

from specdec_nb import audit, hf_audit, server, traces
from specdec_nb.evidence import log_mean_e

OUT = Path(__file__).parent/"results"/"false_alarms.json"
SEED, LEVELS, CHEAP, DEAR = 730_000_000, (.1, .01, .001), 200, 40


def steps_of(weights):
    "Return cumulative probabilities as a list."
    steps = np.cumsum(weights, dtype=float)
    return (steps/steps[-1]).tolist() if steps[-1] else None


class Step:
    """A right verification step: "token", "block" or "match"; what it computes from rows, it keeps."""

    def __init__(self, rule, wrong=False):
        self.rule, self.wrong, self.plans, self.__name__ = rule, wrong, {}, f"{rule} rule"

    def plan(self, target, draft, tokens):
        "Return the drafted tokens, the coins, and what to draw from after each number of kept ones."
        q, p = target.astype(float), draft.astype(float)
        weight, coins, left, n = 1., [], [], len(tokens)
        if self.rule == "match": return tokens.tolist(), [], [*map(steps_of, q)]
        for i, x in enumerate(tokens):
            excess = np.maximum((weight if self.rule == "block" else 1.)*q[i] - p[i], 0)
            left.append(steps_of(q[i] if self.wrong or not excess.any() else excess))
            weight = min(1., (weight if self.rule == "block" else 1.)*q[i, x]/p[i, x])
            coins.append(weight)
            if self.rule == "block" and i + 1 < n and weight < 1:
                unserved = np.maximum(weight*q[i + 1] - p[i + 1], 0).sum()
                coins[-1] = unserved/(unserved + 1 - weight)
        return tokens.tolist(), coins, [*left, steps_of(q[-1])]

    def large(self, q, p, tokens, rng):
        "The same for many tokens, without a plan; rows are float64."
        drafted, kept, weight, at = tokens.tolist(), 0, 1., 1.
        for i, x in enumerate(drafted if self.rule != "match" else []):
            weight = min(1., (weight if self.rule == "block" else 1.)*q[i, x]/p[i, x])
            coin = weight
            if self.rule == "block" and i + 1 < len(drafted) and weight < 1:
                left = np.maximum(weight*q[i + 1] - p[i + 1], 0).sum()
                coin = left/(left + 1 - weight)
            if rng.random() < coin: kept, at = i + 1, weight
            elif self.rule == "token": break
        if self.rule == "match" or kept == len(drafted): left = q[kept]
        else: left = np.maximum((at if self.rule == "block" else 1.)*q[kept] - p[kept], 0)
        steps = (q[kept] if self.wrong or not left.any() else left).cumsum()
        token = int(steps.searchsorted(rng.random()*steps[-1], side="right"))
        if self.rule == "match" and token == drafted[0]:
            return [token, *self.large(q[1:], p[1:], tokens[1:], rng)] if len(drafted) > 1 else [
                token, int(np.searchsorted(q[1].cumsum(), rng.random()*q[1].sum(), side="right"))]
        return [*drafted[:kept], token]

    def __call__(self, target, draft, tokens, rng):
        if target.shape[1] > audit.MANY: return self.large(target, draft, tokens, rng)
        else:
            if id(tokens) not in self.plans:
                self.plans[id(tokens)] = tokens, self.plan(target, draft, tokens)
            drafted, coins, rows = self.plans[id(tokens)][1]
        if self.rule == "match":
            out = []
            for row, x in zip(rows, [*drafted, None]):
                out.append(bisect_right(row, rng.random()))
                if out[-1] != x: break
            return out
        kept = 0
        if self.rule == "block":
            for i, coin in enumerate(coins):
                if rng.random() < coin: kept = i + 1
        else:
            while kept < len(coins) and rng.random() < coins[kept]: kept += 1
        return [*drafted[:kept], bisect_right(rows[kept], rng.random())]


class Row:
    "Hands out given uniforms, the last one for the draw."
    def __init__(self, values): self.values, self.at = values.tolist(), -1

    def random(self):
        self.at += 1
        return self.values[self.at]


def with_uniforms(step):
    "Make a right token rule that takes gamma+1 uniforms."
    def fn(target, draft, tokens, uniforms):
        drafted, coins, rows = step.plan(target, draft, tokens)
        kept = 0
        while kept < len(coins) and uniforms[kept] < coins[kept]: kept += 1
        return [*drafted[:kept], bisect_right(rows[kept], uniforms[-1])]
    return fn


def batched(target, draft, tokens, rng):
    "A right token rule on whole batches; padding is -1."
    size, gamma = tokens.shape
    at, place = np.arange(size), np.arange(gamma)
    p, q = (rows[at[:, None], place, tokens].astype(float) for rows in (draft, target))
    kept = np.cumprod(rng.random((size, gamma))*p < q, axis=1).sum(axis=1)
    last = target[at, kept].astype(float)
    left = np.maximum(last - draft[at, np.minimum(kept, gamma - 1)].astype(float), 0)
    use = (kept < gamma) & left.any(axis=1)
    steps = np.where(use[:, None], left, last).cumsum(axis=1)
    token = (steps > rng.random(size)[:, None]*steps[:, -1:]).argmax(axis=1)
    out = np.where(np.arange(gamma + 1) < kept[:, None], np.pad(tokens, ((0, 0), (0, 1))), -1)
    out[at, kept] = token
    return out


class Engine:
    """A right engine: the token rule in a loop. `how` says what it drafts."""

    def __init__(self, how, wrong=False):
        self.how, self.wrong, self.__name__ = how, wrong, f"engine, {how} drafts"
        self.kept, self.length, self.seen = {}, 2, {}

    def law(self, row):
        "Return the law that drafts are drawn from."
        if self.how == "cold": return row**2/(row**2).sum()
        if self.how == "greedy": return np.eye(len(row))[row.argmax()]
        if self.how == "top two":
            row = np.where(row >= np.sort(row)[-2:][0], row, 0)
            return row/row.sum()
        if self.how == "reduced vocabulary":
            row = np.array([*row[:-1], 0.])
            return row/row.sum() if row.any() else row
        return row

    def __call__(self, target, draft, prompt, max_tokens, stop, seed):
        rng, text, size = np.random.default_rng(seed), (), target.vocab_size
        while len(text) < max_tokens and not (text and text[-1] in stop):
            context, tokens, rows = (*prompt, *text), (), []
            longest = min(self.length if self.how == "adapts" else 2, max_tokens - len(text) - 1)
            while len(tokens) < longest:
                here = (*context, *tokens)
                if self.how in ("lookup", "learns"):
                    guess = here[-1] if self.how == "lookup" else self.seen.get((size, stop, here[-2:]))
                    if guess is None: break
                    rows.append(np.eye(size)[guess])
                    tokens += (guess,)
                    continue
                given = draft(here)
                if id(given) not in self.kept:
                    row = self.law(given)
                    self.kept[id(given)] = given, row, steps_of(row)
                _, row, steps = self.kept[id(given)]
                if steps is None: break
                rows.append(row)
                tokens += (bisect_right(steps, rng.random()),)
            q, kept = [target((*context, *tokens[:i])) for i in range(len(tokens) + 1)], 0
            while kept < len(tokens) and rng.random()*rows[kept][tokens[kept]] < q[kept][tokens[kept]]:
                kept += 1
            last = q[kept]
            if kept < len(tokens) and not self.wrong:
                left = np.maximum(last - rows[kept], 0)
                last = left if left.any() else last
            steps = np.cumsum(last)
            out = (*tokens[:kept], int(steps.searchsorted(rng.random()*steps[-1], side="right")))
            self.length = min(3, self.length + 1) if kept == longest else max(1, self.length - 1)
            for i, x in enumerate(out):
                self.seen[size, stop, (*context, *out[:i])[-2:]] = x
                if x in stop:
                    out = out[:i + 1]
                    break
            text += out
        return text


def together(target, draft, prompts, max_tokens, stop, seeds):
    "Serve several requests, each with its own seed."
    one = Engine("same")
    return [one(target, draft, p, max_tokens, stop, s) for p, s in zip(prompts, seeds)]


def recorded(seed, declared, n=2_000, vocab_size=6, gamma=3):
    "Lines of a trace of a right token rule on rows that never return."
    rng, lines = np.random.default_rng(seed), [traces.header_line(vocab_size, declared)]
    step = Step("token")
    for _ in range(n):
        target = rng.dirichlet([.7]*vocab_size, gamma + 1)
        draft = (target[:-1] + 4*rng.dirichlet([.7]*vocab_size, gamma))/5
        tokens = np.array([bisect_right(steps_of(row), rng.random()) for row in draft])
        drafted, coins, rows = step.plan(target, draft, tokens)
        kept = 0
        while kept < gamma and rng.random() < coins[kept]: kept += 1
        lines.append(traces.step_line(
            vocab_size, [*drafted[:kept], bisect_right(rows[kept], rng.random())], target, drafted, draft))
    return lines


def in_rows(seed, n, how):
    "Draw samples of five prompts; return (samples, laws)."
    rng = np.random.default_rng([seed, 1])
    laws = {f"prompt {i}": rng.dirichlet(np.ones(64)) for i in range(5)}
    return [{name: [how(x) for x in rng.choice(64, n, p=law).tolist()] for name, law in laws.items()}
            for _ in range(2)], laws


def text(x): return f"{x//16}{x//4%4}{x%4}"


def of_samples(seed):
    drawn, laws = in_rows(seed, 4_000, int)
    return audit.samples(drawn[0], laws)


def of_texts(seed):
    drawn, _ = in_rows(seed, 1_000, text)
    return audit.two_sample(*drawn)


def step_door(rule, **options):
    return lambda seed: audit.sampler(
        Step(rule or ("token", "block", "match")[seed % 3]), rule=rule, seed=seed, **options)


def engine_door(how, **declared): return lambda seed: audit.engine(Engine(how), seed=seed, **declared)


def server_door(shape, baseline=None):
    def door(seed):
        with_it = {"baseline": FakeServer(baseline, salt=-seed % 2**31, speculate=False)} if baseline else {}
        return server.audit(FakeServer(shape, salt=seed), [PROMPT], seed=seed, logprobs=4, **with_it)
    return door


DRAFTS = "same", "cold", "greedy", "top two", "reduced vocabulary", "adapts", "learns", "lookup"
DECLARED = {"same": "same", "cold": Engine("cold").law, "greedy": "greedy",
            "top two": Engine("top two").law, "lookup": "lookup"}
DOORS = {
    "step, no rule": (step_door(None), CHEAP),
    "step, token rule": (step_door("token"), CHEAP),
    "step, block rule": (step_door("block"), CHEAP),
    "step, uniforms": (lambda seed: audit.sampler(
        with_uniforms(Step("token")), uniforms=True, rule="token", seed=seed), DEAR),
    "step, batches": (lambda seed: audit.sampler(batched, batch=True, rule="token", seed=seed), DEAR),
    **{f"engine, {how}": (engine_door(how), CHEAP) for how in DRAFTS},
    **{f"engine, {how}, declared": (engine_door(how, draft_law=law), CHEAP)
       for how, law in DECLARED.items()},
    **{f"engine, {how}, reproducible": (engine_door(how, reproducible=True), CHEAP)
       for how in ("same",)},
    "engine, together": (lambda seed: audit.engine(Engine("same"), many=together, seed=seed), CHEAP),
    **{f"trace, {rule or 'no rule'}": (lambda seed, rule=rule: traces.audit(
        recorded(seed, rule), seed=seed), CHEAP) for rule in (None, "token")},
    **{f"server, {shape}": (server_door(shape), CHEAP)
       for shape in SHAPES if shape not in (*WRONG_LAWS, "mute", "some")},
    **{f"server, {a} against {b}": (server_door(a, b), CHEAP)
       for a, b in (("ids", "ids"), ("mute", "mute"), ("mute", "ids"), ("ids", "mute"),
                    ("one entry", "ids"), ("alike", "alike"), ("hidden", "ids"), ("some", "ids"))},
    "samples": (of_samples, CHEAP), "texts of two systems": (of_texts, CHEAP),
    **{f"transformers, {kind}": (lambda seed, kind=kind: hf_audit.audit_generate(kind, seed=seed), DEAR)
       for kind in hf_audit.SETTINGS},
    "control: step": (lambda seed: audit.sampler(Step("token", wrong=True), seed=seed), 20),
    "control: engine": (lambda seed: audit.engine(Engine("same", wrong=True), seed=seed), 20)}


def evidence(result):
    "Return the largest evidence for a bias and for a breach at any look, as powers of ten."
    found, m = [], max(result.n_planned or 0, len(result.hypotheses))
    for contract in (False, True):
        checks = [c for c in result.hypotheses if (c.kind in audit.CONTRACT) == contract]
        paths = [[e for _, e in c.path] for c in checks if c.path]
        looks = [*zip(*paths)] if paths else []
        looks.append([c.log_e for c in checks])
        sums = [log_mean_e(e) + log(len(e)/m) for e in looks if len(e)]
        found.append(max(sums, default=-inf)/log(10))
    return [round(x, 3) if isfinite(x) else str(x) for x in found]


def record(door, i):
    "Run one audit."
    began, clock, seed = time.perf_counter(), time.process_time(), SEED + crc32(door.encode())%10**5*1000 + i
    result = DOORS[door][0](seed)
    certain = sorted({c.kind for c in result.checks if not c.passed and c.log_e is None})
    power = result.detectable_tv
    return {"door": door, "seed": seed, "bias": (e := evidence(result))[0], "breach": e[1],
            "certain": certain, "outcome": result.outcome, "could_not": result.could_not,
            "power": power and round(power, 4), "n": sum(c.n for c in result.hypotheses),
            "cpu": round(time.process_time() - clock, 2),
            "seconds": round(time.perf_counter() - began, 2)}


def limit(k, n, level=.05):
    "Return the one-sided upper confidence limit of a proportion (Clopper-Pearson)."
    return float(betaincinv(k + 1, n - k, 1 - level)) if k < n else 1.


def alarms(records, level):
    "Count the audits that would have raised an alarm at a level."
    bar = -log10(level) - 1e-9
    return sum(bool(r["certain"]) or max(float(r["bias"]), float(r["breach"])) >= bar for r in records)


def table(records):
    "Yield lines: alarms at each level, with limits."
    yield f"{'door':<36}{'audits':>7}" + "".join(f"{f'at {a:g}':>18}" for a in LEVELS) + "  undecided"
    groups = [(door, [r for r in records if r["door"] == door]) for door in DOORS]
    right = [r for r in records if not r["door"].startswith("control")]
    for door, rows in [*groups, ("all right subjects", right)]:
        if not rows: continue
        cells = [(k := alarms(rows, a), limit(k, len(rows))) for a in LEVELS]
        yield (f"{door:<36}{len(rows):>7}" + "".join(f"{k:>9} (<{x:.4f})" for k, x in cells)
               + f"{sum(r['outcome'] in ('undecided', 'could not') for r in rows):>11}")


def load(): return json.loads(OUT.read_text()) if OUT.exists() else []


def save(records):
    "Write the records, one a line, beside the file, and move it into place."
    part = OUT.with_name(OUT.name + ".part")
    part.write_text("[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n")
    os.replace(part, OUT)


def main():
    ask = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    ask.add_argument("--minutes", type=float, default=inf)
    ask.add_argument("--door", nargs="*", default=[""], help="words that a door's name holds")
    ask.add_argument("--list", action="store_true")
    ask.add_argument("--show", action="store_true")
    options = ask.parse_args()
    records, until = load(), time.monotonic() + 60*options.minutes
    doors = [d for d in DOORS if any(word in d for word in options.door)]
    if options.list: print("\n".join(f"{d:<40} {DOORS[d][1]}" for d in doors))
    while not options.list and not options.show and time.monotonic() < until:
        done = {d: sum(r["door"] == d for r in records) for d in doors}
        door = min(doors, key=lambda d: done[d]/DOORS[d][1])
        if done[door] >= DOORS[door][1]: break
        found = record(door, done[door])
        records.append(found)
        save(records)
        if found["outcome"] not in ("lossless", "undecided") and "control" not in door: print(found, flush=True)
    if not options.list: print("\n".join(table(records)))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
