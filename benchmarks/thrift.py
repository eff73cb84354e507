"""Time, in counted units, a drafter that chooses its length against fixed lengths.

    python benchmarks/thrift.py [--seeds 20]

The pair of n-gram models writes 1,200 letters for each seed: with fixed draft lengths, and with
`ThriftyDrafter` for several costs of a draft. A pass counts 1 and a draft its cost. Results go
to benchmarks/results/thrift.json, one row of rates for each seed; seeds that are there already
are not run again. The page "Drafting as far as it pays" draws them. A few minutes.
"""
import argparse
import json
from pathlib import Path

import numpy as np

from specdec_nb.chance import Sampled
from specdec_nb.decode import generate
from specdec_nb.drafters import ModelDrafter
from specdec_nb.models import embedded_pair
from specdec_nb.thrift import ThriftyDrafter

OUT = Path(__file__).parent/"results"/"thrift.json"
COSTS, LENGTHS, LETTERS = (.05, .1, .2, .4, .8), (1, 2, 4, 8), 1200


def rate(trace, cost):
    "Tokens per unit of time, a pass being 1 and a draft `cost`."
    return trace.n_tokens/sum(1 + s.n_drafted*cost for s in trace.steps)


def one_seed(seed):
    "Rates by cost: of each fixed length, and of the drafter that chooses."
    target, small = embedded_pair(6, 4)

    def written(drafter, gamma, which):
        rng = np.random.default_rng([2026, seed, which])  # another text for each
        return generate(target, list(b"The value of "), draft=drafter, gamma=gamma,
                        max_tokens=LETTERS, chance=Sampled(rng)).run().trace

    fixed = [written(ModelDrafter(small), gamma, k) for k, gamma in enumerate(LENGTHS)]
    chosen = [written(ThriftyDrafter(small, cost), 16, 10 + k) for k, cost in enumerate(COSTS)]
    return {"fixed": [[round(rate(t, c), 4) for t in fixed] for c in COSTS],
            "chosen": [round(rate(t, c), 4) for t, c in zip(chosen, COSTS)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    data = json.loads(OUT.read_text()) if OUT.exists() else {
        "costs": COSTS, "lengths": LENGTHS, "letters": LETTERS, "seeds": {}}
    for seed in range(parser.parse_args().seeds):
        if str(seed) in data["seeds"]: continue
        data["seeds"][str(seed)] = one_seed(seed)
        OUT.write_text(json.dumps(data) + "\n")


if __name__ == "__main__": main()
