"""The detection matrix: every bug of the zoo against every check.

    python benchmarks/detection.py [--out FILE] [ID ...]

Each bug, and each right rule, is audited as a step (`audit.sampler`, if it is a
bug of a rule) and as an engine (`audit.engine`), with seed 0, and put to seven
statistics that other projects publish. What is right of the engine's drafts and
seeds is declared, so that a breach can be seen. A tenth of the default budget
comes first; where it shows no bias, the default budget follows, but for bugs of
which the zoo says that the audit's inputs do not show them. The outcome is kept in the audit's words: lossless, biased, breached, undecided, could not.
Results go to benchmarks/results/detection.json, bug by bug, so that a run can
be resumed. Takes about ten minutes on one idle core.
"""
import json
import sys
import time
from pathlib import Path

import numpy as np

from specdec_nb import audit
from specdec_nb.block_rule import block_rule
from specdec_nb.other_tests import OTHER_TESTS, pass_rate
from specdec_nb.rules import sample_match_rule, token_rule
from specdec_nb.zoo import BUGS, Bug, Tabulated, loop_of, step_of

OUT = Path(__file__).parent/"results"/"detection.json"
RIGHT = {"token rule": token_rule, "block rule": block_rule,
         "sample match": sample_match_rule}


def of(result):
    """Keep what the page draws of an audit."""
    failed = {}
    for check in result.failures: failed.setdefault(check.kind, []).append(check.case)
    return {"failed": failed, "could_not": result.could_not, "faulty": result.faulty,
            "outcome": result.outcome, "exit_code": result.exit_code}


def first_bias(run, *budgets):
    """Audit with growing budgets until a bias shows."""
    for n in budgets:
        result = run(n)
        if result.biased or result.could_not: break
    return of(result) | {"budget": n}


def measure(name, bug, rule, declared):
    """Return all results of one bug or right rule."""
    found = {"name": bug.name, "room": bug.room}
    more = bug.in_battery
    if rule:
        fn = audit.as_sampler(rule) if bug.id in ("Z31", "Z35") else Tabulated(rule)
        def step(declared): return first_bias(
            lambda n: audit.sampler(fn, rule=declared, subject=name, n=n),
            2_000, *[20_000]*more)
        found["sampler"] = step(declared)
        if found["sampler"]["outcome"] == "breached":
            found["undeclared"] = step(None)  # the law of the text alone
    gamma = 4 if bug.room == "several drafts" else 2
    found["engine"] = first_bias(
        lambda n: audit.engine(bug.engine(gamma), many=bug.many(), subject=name, n=n,
                               draft_law="unknown" if bug.batch else "same",
                               reproducible=True),
        400, *[4_000]*more)
    found["other"] = {}
    for test in OTHER_TESTS.values():
        n_laws = 1 if test.name == "chi2 wide" else 3
        rate, tv = pass_rate(test, rule, np.random.default_rng(0), 120//n_laws, n_laws)
        found["other"][test.name] = {"passes": rate, "tv": tv}
    return found


def main(wanted, out=OUT):
    if wanted[:1] == ["--out"]: out, wanted = Path(wanted[1]), wanted[2:]
    todo = {id: (bug, bug.rule, "block" if bug.room == "block" else "token")
            for id, bug in sorted(BUGS.items())}
    for name, rule in RIGHT.items():
        step = step_of(rule)
        bug = Bug(name, name, "right", "", "", (), "", None, step, rule,
                  lambda step=step: lambda: step, None, loop_of)
        declared = {"token rule": "token", "block rule": "block"}.get(name)
        todo[name] = bug, rule, declared
    results = json.loads(out.read_text()) if out.exists() else {}
    for name, args in todo.items():
        if name in results and name not in wanted or wanted and name not in wanted: continue
        start = time.monotonic()
        results[name] = measure(name, *args)
        results[name]["seconds"] = round(time.monotonic() - start, 1)
        out.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
        print(name, results[name]["seconds"], results[name].get("sampler", {}).get("failed"),
              results[name]["engine"]["failed"],
              {k: round(v["passes"], 2) for k, v in results[name]["other"].items()}, flush=True)


if __name__ == "__main__": main(sys.argv[1:])
