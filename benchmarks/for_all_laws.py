"""Measure how large a proof for all laws can be (see nbs/24_for_all_laws).

Each proof runs in a process of its own, which gets 120 seconds of processor
time for everything: running the program on unknown numbers, then the solver.
Nothing is random. It takes up to 25 minutes. From the root of the repository:

    python benchmarks/for_all_laws.py > benchmarks/for_all_laws.txt
"""
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT = 120
TOKEN, BLOCK = "one token is right", "a block is right, gamma = "
RESAMPLING = ["right iff p = alpha q", "bias <= 1/4", "bias <= alpha(1 - alpha)"]
PROOFS = [*[(TOKEN, V) for V in (2, 3, 4, 5, 6)],
          *[(BLOCK + str(gamma), V) for gamma, V in ((1, 2), (2, 2), (3, 2), (1, 3), (2, 3))],
          *[(claim, V) for claim in RESAMPLING for V in (2, 3, 4)]]


def prove(claim, vocab_size):
    "Run one proof; print its size and time so far, then the time at its end."
    sys.path[:0] = [str(ROOT), str(ROOT/"tests")]
    import test_for_all_laws as page
    once = page.counterexample
    page.counterexample = lambda facts, claim, split=(): once(facts, claim, split, 100*LIMIT)

    def report(space, everywhere):
        print(len(everywhere), len(space.asked), f"{time.process_time():.1f}", flush=True)

    if claim == TOKEN:
        space, _, _, everywhere = page.explored(page.speculative_token, vocab_size)
        report(space, everywhere)
        page.is_right_everywhere(page.speculative_token, vocab_size)
    elif claim.startswith(BLOCK):
        gamma = int(claim.removeprefix(BLOCK))
        space, _, _, everywhere = page.explored_block(page.token_rule, gamma, vocab_size)
        report(space, everywhere)
        page.block_is_right_everywhere(page.token_rule, gamma, vocab_size)
    else:
        space, _, _, everywhere = page.explored(page.resample_from_target, vocab_size)
        report(space, everywhere)
        facts, split, claims = page.resampling_claims(vocab_size)
        assert page.counterexample(facts, claims[claim], split) is None
    print(f"{time.process_time():.1f}", flush=True)


def main():
    print(f"{'':28}{'V':>3}{'regions':>9}{'questions':>11}{'program':>11}{'with proof':>12}")
    for claim, vocab_size in PROOFS:
        done = subprocess.run(
            [sys.executable, __file__, claim, str(vocab_size)], capture_output=True, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5)))
        words, over = done.stdout.split(), f"> {LIMIT} s"
        if done.returncode > 0 and not (words and "gave up" in done.stderr):
            sys.exit(done.stderr)
        regions, questions, program = words[:3] if words else ("", "", "")
        program = f"{program} s" if program else over
        proof = f"{words[3]} s" if len(words) == 4 else over if done.returncode < 0 else "gave up"
        print(f"{claim:28}{vocab_size:>3}{regions:>9}{questions:>11}{program:>11}{proof:>12}",
              flush=True)


if __name__ == "__main__":
    if sys.argv[1:]: prove(sys.argv[1], int(sys.argv[2]))
    else: main()
