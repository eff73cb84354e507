"""Time a real model with and without drafts, and beside transformers.

    python benchmarks/real_models.py                 all parts, about 50 minutes
    python benchmarks/real_models.py --quick         all parts, under 8 minutes
    python benchmarks/real_models.py --part law      one part: peers, kinds, law
    python benchmarks/real_models.py --json FILE     keep the results (parts are merged)
    python benchmarks/real_models.py --clock cpu     ratios from CPU time: for a busy machine

Needs the extras [models] and [fast] and the weights (specdec-nb models install smollm2); where
PyTorch and transformers are absent their columns are left out. One thread. All candidates take
turns on one prompt, in a new order each time. A rate is tokens a second after the first pass,
because with transformers the first one reads the prompt (for our models it was read before; a
drafter that is a model reads it there). Tokens per pass counts all passes.

peers   SmolLM2 at temperature 0 on eight prompts: our NumPy model, the same with packed weights,
        our loop over the transformers network, and transformers' own generation.
kinds   Three of the prompts at temperatures 0, 0.6 and 1 with three drafters, NumPy.
law     Temperature 1: two tokens through a partition by the target's law; planted errors.
"""
import argparse
import datetime
import gc
import json
import os
import platform
import random
import sys
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                 "NUMBA_NUM_THREADS"): os.environ[variable] = "1"

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1]))
from harness import interval, median  # noqa: E402
from specdec_nb.chance import Sampled  # noqa: E402
from specdec_nb.decode import Trace, generate  # noqa: E402
from specdec_nb.drafters import Draft, ModelDrafter  # noqa: E402
from specdec_nb.fewrows import pack  # noqa: E402
from specdec_nb.llama import Llama, load  # noqa: E402
from specdec_nb.lookup import ContextNGram, PromptLookup, early_exit, one_hots  # noqa: E402
from specdec_nb.reality import (chi_square_p, is_loop, predicted_speed_up,  # noqa: E402
                                predicted_tokens, two_token_cells, verify_curve)
from specdec_nb.rules import OneToken, greedy_rule, in_turn, token_rule  # noqa: E402
from specdec_nb.systems import plan  # noqa: E402
from specdec_nb.warps import Warp  # noqa: E402

CODE = """def area(width, height):
    return width * height

def perimeter(width, height):
    return 2 * (width + height)

def volume(width, height, depth):
    return width * height * depth
"""
LIGHTHOUSE = ("The old lighthouse stood at the end of the pier. Every evening the keeper climbed "
              "the stairs and lit the lamp. Ships far out at sea saw the light and knew that "
              "they were close to home.")
PROMPTS = {  # declared before any was timed; all are shown
    "add docstrings": f"Add a docstring to each function and return the whole program.\n\n{CODE}",
    "rename variable": f"Rename width to w everywhere and return the whole program.\n\n{CODE}",
    "correct spelling": "Correct the spelling and return the text: "
                        + LIGHTHOUSE.replace("stairs", "stares").replace("knew", "new"),
    "repeat": f"Repeat the following text word for word: {LIGHTHOUSE}",
    "summarise": f"Summarise the following text in one sentence: {LIGHTHOUSE}",
    "list": f"Make a list of the things that the following text mentions: {LIGHTHOUSE}",
    "question": "Why is the sky blue?",
    "story": "Write a short story about a lighthouse keeper."}
KINDS = {"code to edit": "add docstrings", "text to correct": "correct spelling", "story": "story"}
GAMMA = {"lookup": 7, "ngram": 3, "exit": 1}  # drafted tokens
EXIT = 20  # layers of 30
TIE = 1e-3  # scores closer than this may change places with the order of additions
SIZES = (1, 2, 3, 4, 5, 6, 7, 8)


def say(*words): print(*words, flush=True)


class Run:
    """What one generation did, and when: times of each pass, wall and CPU."""
    def __init__(self): self.marks, self.emitted, self.trace, self.parts = [], [], None, {}

    def mark(self, tokens=()):
        self.marks.append((perf_counter(), process_time()))
        if self.marks[1:]: self.emitted.append(tuple(tokens))

    @property
    def tokens(self): return tuple(x for step in self.emitted for x in step)

    def rate(self, clock):
        """Return tokens a second after the first pass, or None if there was only one."""
        n, seconds = sum(map(len, self.emitted[1:])), self.marks[-1][clock] - self.marks[1][clock]
        return n/seconds if n else None


def timed(run, owner, name, key):
    """Let a method of one object add its CPU time to run.parts."""
    call = getattr(owner, name)

    def wrapped(*args, **kwargs):
        start = process_time()
        try: return call(*args, **kwargs)
        finally: run.parts[key] = run.parts.get(key, 0) + process_time() - start
    setattr(owner, name, wrapped)
    return lambda: owner.__dict__.pop(name, None)


def ours(model, drafter, gamma, context, n, stop, rule=greedy_rule, warp=None, seed=0):
    """Generate with our loop; the CPU time of its parts is kept, first pass apart."""
    run = Run()
    model.rows(context)  # read once for all candidates with this model
    made = generate(model, context, draft=drafter, gamma=gamma, rule=rule, warp=warp, stop=stop,
                    max_tokens=n, chance=Sampled(np.random.default_rng(seed)))
    run.mark()
    run.mark(made.step().emitted)
    undo = [timed(run, model, "rows", "verify"), timed(run, model, "_scores", "scores")]
    if drafter is not None: undo.append(timed(run, drafter, "propose", "draft"))
    rule, run.parts["rule"] = made.rule, 0

    def judged(*args):
        start = process_time()
        verdict = rule(*args)
        run.parts["rule"] += process_time() - start
        return verdict
    made.rule = judged
    while not made.done: run.mark(made.step().emitted)
    for f in undo: f()
    run.parts["all"] = run.marks[-1][1] - run.marks[1][1]
    run.trace = made.trace
    return run


def theirs(network, context, n, stop, **kwargs):
    """Generate with transformers; a streamer tells when a pass was done."""
    import torch
    run = Run()

    class Streamer:
        def put(self, tokens):
            if run.marks: run.mark(tokens.reshape(-1).tolist())
            else: run.mark()
        def end(self): pass
    ids = torch.tensor([context])
    with torch.inference_mode():
        network.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=n,
                         do_sample=False, eos_token_id=list(stop), pad_token_id=stop[0],
                         streamer=Streamer(), **kwargs)
    return run


class TheirLookup:
    """The drafter of transformers' prompt lookup, in our loop."""
    def __init__(self, vocab_size, gamma, stop):
        import torch
        from transformers.generation.candidate_generator import PromptLookupCandidateGenerator
        self.vocab_size, self.torch = vocab_size, torch
        self.make = lambda longest: PromptLookupCandidateGenerator(
            torch.tensor(stop), num_output_tokens=gamma, max_matching_ngram_size=2,
            max_length=longest)

    def propose(self, context, gamma, chance):
        ids = self.torch.tensor([context])
        found, _ = self.make(len(context) + 10**6).get_candidates(ids)
        tokens = tuple(found[0, len(context):].tolist())[:gamma]
        return Draft(tokens, one_hots(tokens, self.vocab_size))


def drafters(model):
    """Make our drafters for a target: functions without arguments."""
    V = model.vocab_size
    return {"lookup": lambda: PromptLookup(V), "ngram": lambda: ContextNGram(V),
            "exit": lambda: early_exit(model, EXIT)}


def curve_of(args, model, sizes=SIZES):
    """Measure the cost of passes with the clock that was asked for."""
    return verify_curve(model, sizes, repeats=args.repeats,
                        clock=(perf_counter, process_time)[args.clock])


def drafted_seconds(drafter, gamma, context):
    """Measure what a drafted token costs, for drafters without a model."""
    chance, times = Sampled(np.random.default_rng(0)), []
    for _ in range(9):
        start = perf_counter()
        for _ in range(5): drafter.propose(context, gamma, chance)
        times.append((perf_counter() - start)/5/gamma)
    return min(times)


def machine(quick, clock):
    """Describe where and how this was measured."""
    name = next((line.partition(":")[2].strip() for line in open("/proc/cpuinfo")
                 if line.startswith("model name")), platform.processor()) \
        if Path("/proc/cpuinfo").exists() else platform.processor()
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    for package in ("torch", "transformers", "llvmlite"):
        if find_spec(package): versions[package] = __import__(package).__version__
    return {"cpu": name, "cores": os.cpu_count(), "threads": 1, **versions, "quick": quick,
            "clock": clock, "date": datetime.date.today().isoformat()}


def spread(values):
    """Return median, low, high and whether these enclose it with 95 % or are a mere range."""
    values = [v for v in values if v is not None]
    if not values: return None
    low, high = interval(values)
    exact = low > 0 and high < float("inf")
    if not exact: low, high = min(values), max(values)
    return {"median": round(median(values), 4), "low": round(low, 4), "high": round(high, 4),
            "n": len(values), "interval": exact}


def outside(run, kind):
    """Return the CPU seconds of a run that were spent in no model."""
    draft = run.parts.get("draft", 0) if kind == "exit" else 0
    return run.parts["all"] - run.parts.get("verify", 0) - draft


def later(trace):
    """Leave out the first pass, which reads the prompt."""
    return Trace(trace.steps[1:])


def prediction(trace, curve, draft_seconds, gamma):
    """Predict the gain of a run from costs and its trace: by ratio, and by the planner."""
    trace = later(trace)
    if not trace.steps: return {}
    found = {"predicted": round(predicted_speed_up(trace, curve, draft_seconds), 4)}
    if any(s.n_drafted for s in trace.steps):
        try: told = plan(trace=trace, cost=draft_seconds/curve[1], verify_cost=curve,
                         max_gamma=gamma)
        except ValueError: return found
        row = told.rows[-1]
        found |= {"advice": told.gamma, "planned": round(float(row.speedup), 4),
                  "planned_at": row.gamma}
    return found


def first_difference(model, context, text, other):
    """Say whether two greedy texts agree, or how close the scores are where they part."""
    for i, (x, y) in enumerate(zip(text, other)):
        if x != y:
            model.rollback(0)
            z = model.logits((*context, *text[:i]))[-1]
            return {"at": i, "gap": float(abs(z[x] - z[y]))}
    return None


def peers(args, model, tokenizer):
    """Compare programs at temperature 0."""
    n, V, stop = args.tokens, model.vocab_size, tokenizer.stop
    packed, targets = pack(model.first_layers(model.config.n_layers)), {"numpy": model}
    targets["packed"] = packed
    network = None
    if find_spec("torch") and find_spec("transformers"):
        import logging
        import torch
        from specdec_nb.adapters import Transformers, as_transformers
        torch.set_num_threads(1)
        logging.getLogger("transformers").setLevel(logging.ERROR)
        network = as_transformers(model)
        targets["loop"] = Transformers(network)
        settings = network.generation_config  # of its early exit: the length is fixed
        settings.num_assistant_tokens, settings.num_assistant_tokens_schedule = GAMMA["exit"], \
            "constant"
        settings.assistant_confidence_threshold = 0.
    curves = {name: curve_of(args, target) for name, target in targets.items()}
    for name, curve in curves.items():
        say(f"{name:8}", "  ".join(f"{k}: {1000*s:.1f}" for k, s in curve.items()), "ms")
    context = tokenizer.chat(PROMPTS["add docstrings"])
    cost = {kind: drafted_seconds(drafters(model)[kind](), GAMMA[kind], context)
            for kind in ("lookup", "ngram")}
    cost["exit"] = curve_of(args, model.first_layers(EXIT), (1,))[1]
    cost["their lookup"] = cost["lookup"]

    candidates = {}  # (family, drafter) -> function of (context, n)
    for family, target in targets.items():
        kinds = {"plain": lambda: None} | drafters(model)
        if family != "numpy": del kinds["exit"]
        if family == "loop":
            kinds["their lookup"] = lambda: TheirLookup(V, GAMMA["lookup"], stop)
            del kinds["ngram"]
        for kind, make in kinds.items():
            def candidate(context, n, target=target, make=make, kind=kind):
                gamma = GAMMA.get(kind.removeprefix("their "), 0)
                return ours(target, make(), gamma, context, n, stop)
            candidates[family, kind] = candidate
    if network is not None:
        candidates["transformers", "plain"] = lambda c, n: theirs(network, c, n, stop)
        candidates["transformers", "lookup"] = lambda c, n: theirs(
            network, c, n, stop, prompt_lookup_num_tokens=GAMMA["lookup"])
        candidates["transformers", "exit"] = lambda c, n: theirs(
            network, c, min(n, args.exit_tokens), stop, assistant_early_exit=EXIT)
    minor = {("numpy", "ngram"), ("numpy", "exit"), ("packed", "ngram"),
             ("transformers", "exit")}  # once is enough: they lose
    if args.quick: minor |= {who for who in candidates if who[0] in ("loop", "transformers")}

    runs, shuffle, end = {}, random.Random(0), perf_counter() + 60*args.minutes
    for round_ in range(args.rounds):
        names = list(PROMPTS)
        shuffle.shuffle(names)
        for name in names:
            if round_ and perf_counter() > end: break
            context, order = tokenizer.chat(PROMPTS[name]), list(candidates)
            shuffle.shuffle(order)
            for who in order:
                if round_ and who in minor: continue
                if who == ("transformers", "exit") and name not in ("add docstrings", "story"):
                    continue
                gc.collect()
                runs.setdefault((name, *who), {})[round_] = candidates[who](context, n)
            plain = runs[name, "numpy", "plain"][round_].rate(args.clock)
            say(f"round {round_ + 1}  {name:17} load {os.getloadavg()[0]:.1f}  numpy plain "
                f"{plain or 0:.1f} tokens/s")

    rows, texts = [], {}
    for name in PROMPTS:
        context, first = tokenizer.chat(PROMPTS[name]), runs[name, "numpy", "plain"][0]
        texts[name] = {"prompt": PROMPTS[name], "answer": tokenizer.decode(first.tokens),
                       "tokens": len(first.tokens), "ended": first.tokens[-1] in stop,
                       "loop": is_loop(first.tokens), "context": len(context)}
        for (family, kind) in candidates:
            found = runs.get((name, family, kind))
            if found is None: continue
            base, run = runs[name, family, "plain"], found[0]
            def ratios(below): return [
                r.rate(args.clock)/below[i].rate(args.clock) for i, r in found.items()
                if r.rate(args.clock) and below[i].rate(args.clock)]
            row = {"prompt": name, "family": family, "drafter": kind,
                   "tokens": len(run.tokens), "passes": len(run.emitted),
                   "tokens_per_pass": round(len(run.tokens)/len(run.emitted), 4),
                   "rate": spread([r.rate(args.clock) for r in found.values()]),
                   "speed_up": spread(ratios(base)) if kind != "plain" else None,
                   "to_numpy_plain": spread(ratios(runs[name, "numpy", "plain"])),
                   "differs": first_difference(model, context, first.tokens, run.tokens)}
            if run.trace is not None:
                last = list(found.values())[-1]
                if last.parts["all"]:
                    row["outside"] = round(outside(last, kind)/last.parts["all"], 5)
                    row["parts"] = {k: round(v/last.parts["all"], 5)
                                    for k, v in last.parts.items() if k != "all"}
                if kind != "plain":
                    row |= prediction(run.trace, curves[family], cost[kind],
                                      GAMMA[kind.removeprefix("their ")])
                    row["steps"] = [[s.n_drafted, s.n_tested, s.n_accepted, len(s.emitted)]
                                    for s in run.trace.steps]
            rows.append(row)
    result = {"prompts": texts, "rows": rows, "n": n, "gamma": GAMMA, "exit": EXIT,
              "drafted_ms": {k: round(1000*v, 4) for k, v in cost.items()},
              "curves_ms": {k: {str(i): round(1000*s, 3) for i, s in c.items()}
                            for k, c in curves.items()}}
    result["aims"] = aims(result)
    return result


def aims(result):
    """Hold the rows against what was asked for."""
    rows = {(r["prompt"], r["family"], r["drafter"]): r for r in result["rows"]}
    def of(family, kind): return [r for (_, f, k), r in rows.items() if (f, k) == (family, kind)]
    told = {}
    drafted = [r for r in result["rows"] if r.get("speed_up") and "planned" in r]
    def called(rows):
        wrong = [{k: r[k] for k in ("prompt", "family", "drafter", "predicted", "speed_up")}
                 for r in rows if (r["predicted"] > 1) != (r["speed_up"]["median"] > 1)]
        return {"cases": len(rows), "wrong": wrong}
    told["win or loss called"] = called(
        [r for r in drafted if not .95 <= r["speed_up"]["median"] <= 1.05])
    told["the same, all of three runs or more outside"] = called(
        [r for r in drafted if r["speed_up"]["n"] >= 3
         and (r["speed_up"]["low"] > 1.05 or r["speed_up"]["high"] < .95)])
    told["outside the models, plain"] = max(r["outside"] for f in ("numpy", "packed")
                                            for r in of(f, "plain") if "outside" in r)
    told["outside the models, lookup"] = max(r["outside"] for f in ("numpy", "packed")
                                             for r in of(f, "lookup") if "outside" in r)
    told["add docstrings"] = {f: rows["add docstrings", f, "lookup"]["speed_up"]
                              for f in ("numpy", "packed", "loop", "transformers")
                              if ("add docstrings", f, "lookup") in rows}
    if of("transformers", "plain"):
        for family in ("numpy", "packed"):
            told[f"{family} plain / transformers plain"] = spread(
                [rows[p, family, "plain"]["rate"]["median"]
                 / rows[p, "transformers", "plain"]["rate"]["median"] for p in PROMPTS
                 if rows[p, family, "plain"]["rate"]
                 and rows[p, "transformers", "plain"]["rate"]])
        told["tokens per pass, behind with their drafter"] = [
            p for p in PROMPTS if rows[p, "loop", "their lookup"]["tokens_per_pass"]
            < rows[p, "transformers", "lookup"]["tokens_per_pass"] - 1e-9]
        told["tokens per pass, behind with our drafter"] = [
            p for p in PROMPTS if rows[p, "numpy", "lookup"]["tokens_per_pass"]
            < rows[p, "transformers", "lookup"]["tokens_per_pass"] - 1e-9]
    return told


def kinds(args, model, tokenizer):
    """Compare predictions with the clock at three temperatures."""
    curve = curve_of(args, model)
    costs = {"exit": curve_of(args, model.first_layers(EXIT), (1,))[1]}
    stop, end, rows = tokenizer.stop, perf_counter() + 60*args.minutes/3, {}
    for round_ in range(args.rounds):
        for kind, prompt in KINDS.items():
            context = tokenizer.chat(PROMPTS[prompt])
            for temperature in (0, .6, 1):
                if round_ and perf_counter() > end: continue
                warp, who = Warp(temperature=temperature), {"plain": None, **drafters(model)}
                order, rates = list(who), {}
                random.Random(round_).shuffle(order)
                for name in order:
                    drafter = who[name] and who[name]()
                    if isinstance(drafter, ModelDrafter): drafter.warp = warp
                    elif drafter is not None and name not in costs:
                        costs[name] = drafted_seconds(drafter, GAMMA[name], context)
                    run = ours(model, drafter, GAMMA.get(name, 0), context, args.tokens, stop,
                               token_rule, warp, round_)
                    rates[name] = run.rate(args.clock)
                    row = rows.setdefault((kind, temperature, name), {
                        "steps": [], "ratios": [], "loops": 0, "all": 0., "outside": 0.})
                    row["steps"] += run.trace.steps[1:]
                    row["all"] += run.parts["all"]
                    row["outside"] += outside(run, name)
                    row["loops"] += is_loop(run.tokens)
                for name in who:
                    if name != "plain" and rates[name] and rates["plain"]:
                        rows[kind, temperature, name]["ratios"].append(
                            rates[name]/rates["plain"])
        say(f"round {round_ + 1}  load {os.getloadavg()[0]:.1f}")
    found = []
    for (kind, temperature, name), row in rows.items():
        if name == "plain" or not row["steps"]: continue
        trace, gamma = Trace(row["steps"]), GAMMA[name]
        alone, places = predicted_tokens(trace)
        told = {"kind": kind, "temperature": temperature, "drafter": name, "gamma": gamma,
                "passes": trace.n_steps, "alpha": trace.acceptance_per_test,
                "alone": round(alone, 4), "places": round(places, 4),
                "tokens_per_pass": round(trace.tokens_per_step, 4),
                "predicted": round(predicted_speed_up(trace, curve, costs[name]), 4),
                "measured": spread(row["ratios"]), "loops": row["loops"],
                "outside": round(row["outside"]/row["all"], 5) if row["all"] else None}
        if trace.acceptance_per_test is not None:
            told["positions"] = [
                {"tests": p.tests, "acceptance": [round(x, 4) for x in p.acceptance],
                 "survival": [round(x, 4) for x in p.survival]}
                for p in trace.places() if p.tests]
            try: told["advice"] = plan(trace=trace, cost=costs[name]/curve[1],
                                       verify_cost=curve, max_gamma=gamma).gamma
            except ValueError: pass
        found.append(told)
    return {"rows": found, "n": args.tokens, "curve_ms": {
        str(i): round(1000*s, 3) for i, s in curve.items()},
        "drafted_ms": {k: round(1000*v, 4) for k, v in costs.items()}}


def replaced_from_target(target, draft, tokens, chance):
    """Wrong on purpose: a rejected token is replaced by a draw from the target."""
    def step(q, p, x, chance):
        kept = chance.coin(min(1, q[x]/p[x]))
        return OneToken(x if kept else chance.draw(q), kept)
    return in_turn(step, lambda row, chance: chance.draw(row), target, draft, tokens, chance)


def wrong_cache(model, shift):
    """Wrong on purpose: a reader of the same weights whose new keys go to another place."""
    def place(self, n):
        start = max(len(self) + shift, 0) if len(self) > 4 else len(self)
        return start, start + n
    twin = model.first_layers(model.config.n_layers)
    kind = type("Wrong", (Llama,), {"_place": place})
    return kind(twin.config, twin.layers, twin.norm, twin.unembed, twin.embed)


def law(args, model, tokenizer):
    """Check the law at temperature 1, and the cache by acceptance."""
    context, n, result = tokenizer.chat(PROMPTS["story"]), args.texts, {"n": args.texts}
    probabilities, cell = two_token_cells(model, context, 6, 3)
    result["law"] = [round(float(x), 6) for x in probabilities]
    sharper = Warp(temperature=.4)  # the drafter: the target itself, sharpened
    for name, rule, layers in [("plain", token_rule, 0), ("speculative", token_rule, 30),
                               ("replaced from target", replaced_from_target, 30)]:
        rng, counts = np.random.default_rng(74), np.zeros(len(probabilities), int)
        drafter = early_exit(model, layers, sharper) if layers else None
        steps = []
        for _ in range(n):
            made = generate(model, context, draft=drafter, gamma=1, max_tokens=2, rule=rule,
                            chance=Sampled(rng)).run()
            counts[cell(*made.tokens)] += 1
            steps += made.trace.steps
        result[name] = {"counts": counts.tolist(), "p": chi_square_p(counts, probabilities),
                        "alpha": Trace(steps).acceptance_per_test}
        say(f"{name:21} n = {n}  p = {result[name]['p']:.3g}  alpha {result[name]['alpha']}")
    result["acceptance"] = {}
    for name, shift in [("right", 0), ("one token short", -1), ("trimmed too far", -2)]:
        draft, tested, accepted = ModelDrafter(wrong_cache(model, shift)), 0, 0
        for seed in range(args.seeds):
            made = generate(model, context, draft=draft, gamma=3, max_tokens=16,
                            chance=Sampled(np.random.default_rng(seed))).run()
            tested += sum(s.n_tested for s in made.trace.steps)
            accepted += sum(s.n_accepted for s in made.trace.steps)
        result["acceptance"][name] = {"tested": tested, "accepted": accepted}
        say(f"a drafter with the target's laws, cache {name}: {accepted} of {tested} accepted")
    return result


def main():
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--part", choices=("peers", "kinds", "law"), action="append")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--tokens", type=int, help="longest answer")
    parser.add_argument("--rounds", type=int, help="most rounds")
    parser.add_argument("--minutes", type=float, help="begin no round of `peers` after this")
    args = parser.parse_args()
    def default(name, quick, full):
        if getattr(args, name, None) is None: setattr(args, name, quick if args.quick else full)
    default("tokens", 32, 64)
    default("rounds", 2, 6)
    default("minutes", 4.5, 30)
    args.repeats, args.exit_tokens = (3, 8) if args.quick else (7, 16)
    args.texts, args.seeds = (150, 2) if args.quick else (1000, 6)
    clock, args.clock = args.clock, ("wall", "cpu").index(args.clock)
    model, tokenizer = load()
    result = {}
    if args.json and args.json.exists(): result = json.loads(args.json.read_text())
    for name in args.part or ("peers", "kinds", "law"):
        say(f"== {name}")
        before, start = os.getloadavg(), perf_counter()
        found = {"peers": peers, "kinds": kinds, "law": law}[name](args, model, tokenizer)
        result[name] = {"machine": machine(args.quick, clock) | {
            "load": [round(before[0], 2), round(os.getloadavg()[0], 2)],
            "minutes": round((perf_counter() - start)/60, 2)}} | found
        if name == "peers": say(json.dumps(found["aims"], indent=1))
        if args.json:
            args.json.parent.mkdir(parents=True, exist_ok=True)
            args.json.write_text(json.dumps(result, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__": main()
