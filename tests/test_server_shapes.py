"""A served model in every shape of log-probabilities: right tokens are never called biased."""
import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]/"benchmarks"))
from fake_servers import PROMPT, SHAPES, WRONG_LAWS, FakeServer  # noqa: E402

from specdec_nb.server import Client, Contexts, apart, audit, contexts_power  # noqa: E402
from specdec_nb.traces import Row  # noqa: E402

SILENT = ("some", "mute") # no law at every token


def asked(shape, n=150, **how):
    return audit(FakeServer(shape, salt=3, **how), [PROMPT], n=n, max_tokens=6, logprobs=4, detect=.45)


class Canned(Client):
    "Answers with what it was given, in turn."
    def __init__(self, *answers):
        super().__init__("http://canned", retries=0)
        self.answers = answers

    def post(self, path, body):
        self.n_requests += 1
        return self.answers[self.n_requests % len(self.answers)]


def answer(*entries, text="x"):
    "An answer of one place for each (token, its list)."
    return {"choices": [{"text": text, "logprobs": {"content": [
        {"id": token, "token": str(token), "top_logprobs": [
            {"id": t, "token": str(t), "logprob": p} for t, p in law.items()]}
        for token, law in entries]}}]}


@pytest.mark.parametrize("shape", SHAPES)
def test_right_tokens_are_never_biased(shape):
    found = asked(shape)
    if shape in SILENT: assert found.outcome == "could not" and "baseline" in found.could_not
    elif shape in WRONG_LAWS:
        assert found.outcome == "breached" and found.exit_code == 3
        assert {c.kind for c in found.failures} == {"reported law"}
    else: assert found.outcome == "lossless" and found.n_planned == 5


@pytest.mark.parametrize("shape", [s for s in SHAPES if s not in (*SILENT, *WRONG_LAWS)])
def test_a_lenient_server_is_found(shape):
    found = asked(shape, 300, lenience=2.)
    assert found.outcome == ("breached" if shape in ("strings", "alike", "entries") else "biased")
    if found.outcome == "breached": # such lists cannot be asked for again
        assert "give a baseline" in found.failures[0].note and not found.biased


@pytest.mark.parametrize("k", range(1, 9))
def test_tokens_that_print_alike_are_one_outcome(k):
    for shape in ("alike", "entries"):
        found = audit(FakeServer(shape, salt=k), [PROMPT], n=60, max_tokens=6, logprobs=k)
        assert not found.faulty and found.log_e < math.log(100)


@pytest.mark.parametrize("baseline", SHAPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_two_servers_are_compared_by_what_both_give(shape, baseline):
    plain = FakeServer(baseline, salt=99, speculate=False)
    found = audit(FakeServer(shape, salt=3), [PROMPT], baseline=plain, n=50, max_tokens=3, logprobs=4)
    assert not found.faulty and found.log_e < math.log(100), found
    ids = [s not in ("strings", "alike", "entries", *SILENT) for s in (shape, baseline)]
    tokens = all(ids) or shape == baseline == "strings"
    assert ("tokens compared" in found.checks[-1].note) == tokens
    assert found.n_planned == 2*(3 + 1), "hypotheses do not depend on what came"


def test_with_a_baseline_the_texts_decide():
    plain = lambda: FakeServer("mute", salt=99, speculate=False)  # noqa: E731
    for shape in ("all certain", "shifted", "one entry"):
        both = dict(n=300, max_tokens=3, logprobs=4, detect=.45)
        right = audit(FakeServer(shape, salt=3), [PROMPT], baseline=plain(), **both)
        assert right.outcome == "lossless"
    wrong = audit(FakeServer("all certain", salt=3, lenience=2.), [PROMPT], baseline=plain(),
                  n=1000, max_tokens=3)
    assert wrong.outcome == "biased"


def test_impossible_tokens_against_honest_lists_are_a_bias():
    half = {1: math.log(.5), 2: math.log(.5)}
    honest = audit(Canned(answer((9, half))), [PROMPT], n=60, max_tokens=1)
    assert honest.outcome == "biased" and "by context" in {c.case for c in honest.failures}
    # a token in a thousand may be rounding of the list: no certain sign
    tokens = [*map(int, np.random.default_rng(0).integers(1, 3, 200)), 9]
    rare = audit(Canned(*[answer((t, half)) for t in tokens]), [PROMPT], n=201, max_tokens=1)
    assert not rare.faulty


def test_a_certain_token_is_a_law_like_any_other():
    for n in (1, 2, 60):
        found = audit(Canned(answer((1, {1: 0.}))), [PROMPT], n=n, max_tokens=1)
        assert not found.faulty and found.outcome == "undecided"
    assert audit(Canned(answer((1, {1: -1e9, 2: 0.}))), [PROMPT], n=60, max_tokens=1).biased


def test_what_was_collected_is_judged_when_an_answer_is_broken():
    fine = answer((1, {1: math.log(.5), 2: math.log(.5)}))
    for bad in (answer((1, {1: float("nan")})), answer((1, {1: 3.})), {"choices": []}):
        found = audit(Canned(*[fine]*7, bad), [PROMPT], n=50, max_tokens=1)
        assert found.outcome == "undecided" and "cut short after 6 of 50 requests" in found.cut_short
        assert next(c for c in found.checks if c.case == "first token").n == 6
    lie = audit(Canned(answer((1, {1: math.log(.8), 2: math.log(.8)}))), [PROMPT], n=50, max_tokens=1)
    assert lie.outcome == "could not" and "sum to 1.6" in lie.could_not


def test_the_default_number_reaches_what_it_promises():
    found = audit(FakeServer("ids", salt=8), [PROMPT], max_tokens=4, logprobs=4)
    assert found.outcome == "lossless" and found.detectable_tv <= .2
    few = audit(FakeServer("ids", salt=8), [PROMPT], max_tokens=4, logprobs=4, n=30)
    assert few.outcome == "undecided" and few.exit_code == 2


def test_lists_are_told_apart_by_what_they_must_differ():
    law = lambda *p: {i: math.log(x) for i, x in enumerate(p) if x}  # noqa: E731
    assert apart({1: 0.}, {2: 0.}) == 1 and apart({1: 0.}, {1: 0.}) == 0
    assert abs(apart(law(.5, .5), law(.2, .8)) - .3) < 1e-12
    assert abs(apart(law(.5, .2), law(.5, 0., .2)) - 0.) < 1e-12, "the rest may hold the other"
    rng = np.random.default_rng(0)
    for _ in range(50): # a lower bound, whatever is listed
        p, q = rng.dirichlet(np.ones(6), 2)
        lists = [{i: math.log(x[i]) for i in np.argsort(-x)[:3]} for x in (p, q)]
        assert apart(*lists) <= abs(p - q).sum()/2 + 1e-12


@pytest.mark.parametrize("contexts, visits", [(500, 3), (10, 150)])
def test_the_power_by_context_is_that_of_the_statistic_that_decides(contexts, visits):
    # 40 audits with the bias that is stated, in halves of a random order; at least 30 must see it:
    # if 9 of 10 do, 29 or fewer have probability 0.0015
    rng, level, ids = np.random.default_rng(visits), 2e-7, np.arange(5)
    laws = rng.dirichlet(np.ones(5), contexts)
    bias, seen = contexts_power([visits]*contexts, laws, level), 0
    assert .05 < bias < .5
    for _ in range(40):
        evidence = Contexts()
        for c, law in enumerate(laws):
            order = rng.permutation(5)
            half, mass = np.zeros(5, bool), 0.
            for x in order:
                if mass + law[x] <= .5: half[x], mass = True, mass + law[x]
            wrong = np.where(half, law*(1 + bias/mass), law*(1 - bias/(1 - mass))) if mass else law
            for x in rng.choice(5, visits, p=wrong): evidence.add(c, int(x), Row(law, ids))
        seen += evidence.log_e >= -math.log(level)
    assert seen >= 30, seen


def test_contexts_that_are_met_once_promise_nothing():
    assert contexts_power([1]*500, [np.full(5, .2)]*500, 1e-6) is None
    once = Contexts()
    for i in range(500): once.add(i, i % 5, Row(np.full(5, .2), np.arange(5)))
    assert once.log_e == 0 and once.check(1e-6).detectable_tv is None and once.check(1e-6).n == 0
    assert contexts_power([2], [np.array([1., 0.])], 1e-6) is None, "nothing can be moved"
