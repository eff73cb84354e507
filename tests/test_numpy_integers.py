"""Integers of NumPy overflow; no public function lets them into a fraction.

`np.int8(100) + np.int8(100)` is -56. Whatever a caller passes as a number must give what the
same number gives as an int of Python, and no Fraction that comes back may hold NumPy's.
"""
from dataclasses import fields, is_dataclass
from fractions import Fraction

import numpy as np
import pytest

from specdec_nb import (block_rule, chance, coupling, dist, estimate, lossy, multidraft, oracle,
                        registry, rules, shapes, shared, systems, testing, theory, warps)

KINDS = (np.int8, np.uint8, np.int16, np.int64, np.uint64)


def thirds(kind): return [Fraction(kind(100), kind(120)), Fraction(kind(20), kind(120))]
def halves(kind): return [Fraction(kind(60), kind(120)), Fraction(kind(60), kind(120))]
def part(kind): return Fraction(kind(99), kind(100))
def coins(kind): return lambda c: [c.coin(part(kind)) for _ in range(3)].count(True)


CALLS = {
    "law": lambda kind: testing.law(kind(100), kind(90), kind(70)),
    "as_law": lambda kind: dist.as_law(thirds(kind)),
    "overlap": lambda kind: dist.overlap(thirds(kind), halves(kind)),
    "tv": lambda kind: dist.tv(thirds(kind), halves(kind)),
    "residual": lambda kind: dist.residual(thirds(kind), halves(kind)),
    "kl": lambda kind: dist.kl(thirds(kind), halves(kind)),
    "acceptance_rate": lambda kind: coupling.acceptance_rate(thirds(kind), halves(kind)),
    "coupling_law": lambda kind: coupling.coupling_law(thirds(kind), halves(kind)),
    "law_of": lambda kind: chance.law_of(coins(kind)),
    "coin": lambda kind: chance.law_of(lambda c: (c.coin(kind(1)), c.coin(part(kind)))),
    "inverse_cdf": lambda kind: chance.Injected([part(kind)]).draw(thirds(kind)),
    "heat": lambda kind: warps.heat(thirds(kind), Fraction(kind(1), kind(9))),
    "temperature": lambda kind: warps.Warp(temperature=kind(2))(thirds(kind)),
    "top_p": lambda kind: warps.Warp(top_p=part(kind), top_k=kind(1))(thirds(kind)),
    "min_p": lambda kind: warps.Warp(min_p=part(kind), ban=[kind(1)])(thirds(kind)),
    "token_rule": lambda kind: chance.law_of(rules.block(
        rules.token_rule, lambda c: thirds(kind), lambda c: halves(kind), kind(2))),
    "block_rule": lambda kind: chance.law_of(rules.block(
        block_rule.block_rule, lambda c: thirds(kind), lambda c: halves(kind), kind(2))),
    "continued_law": lambda kind: rules.continued_law(
        rules.token_rule, lambda c: thirds(kind), lambda c: halves(kind), kind(1), kind(3), kind(2)),
    "oracle": lambda kind: [a.tolist() for a in oracle.block_law(
        oracle.tabulate(lambda c: thirds(kind), kind(2)),
        oracle.tabulate(lambda c: halves(kind), kind(1)))],
    "dyadic": lambda kind: oracle.dyadic([.3, .7], kind(20)),
    "recursive_acceptance": lambda kind: multidraft.recursive_acceptance(
        thirds(kind), halves(kind), kind(3)),
    "kseq_acceptance": lambda kind: multidraft.kseq_acceptance(
        thirds(kind), halves(kind), kind(3), 2),
    "match_rate": lambda kind: shared.match_rate(thirds(kind), halves(kind)),
    "list_match_rate": lambda kind: shared.list_match_rate(thirds(kind), halves(kind), kind(3)),
    "list_match_bound": lambda kind: shared.list_match_bound(thirds(kind), halves(kind), kind(120)),
    "race_law": lambda kind: shared.race_law(thirds(kind), halves(kind)),
    "races": lambda kind: rules.autoregressive(
        lambda c: halves(kind), kind(9))(shared.Races(kind(3), kind(120))),
    "lenient": lambda kind: lossy.price(lossy.lenient_rule(part(kind)), thirds(kind), halves(kind)),
    "scaled": lambda kind: lossy.emitted_law(
        lossy.lenient_rule(part(kind), "scaled"), thirds(kind), halves(kind)),
    "typical": lambda kind: lossy.emitted_law(
        lossy.typical_rule(part(kind), part(kind)), thirds(kind), halves(kind)),
    "threshold": lambda kind: lossy.price(
        lossy.threshold_rule(part(kind), "ratio"), thirds(kind), halves(kind)),
    "cascade": lambda kind: lossy.price(
        registry.deferring_rule(part(kind)), thirds(kind), halves(kind)),
    "sequence_bound": lambda kind: lossy.sequence_bound(part(kind), kind(20)),
    "best_tree": lambda kind: shapes.best_tree(thirds(kind), kind(120)),
    "tree_value": lambda kind: shapes.tree_value(np.arange(-1, 40, dtype=kind), thirds(kind))
        if kind not in (np.uint8, np.uint64) else shapes.tree_value(range(-1, 40), thirds(kind)),
    "confident_tree": lambda kind: shapes.confident_tree(
        lambda c: thirds(kind), kind(2), kind(3), kind(9)).parents,
    "expected_tokens": lambda kind: theory.expected_tokens(part(kind), kind(100)),
    "speedup": lambda kind: theory.speedup(.5, kind(100), kind(2)),
    "operations_factor": lambda kind: theory.operations_factor(.5, kind(120), kind(2)),
    "best_gamma": lambda kind: theory.best_gamma(part(kind), Fraction(kind(1), kind(100))),
    "alpha_floor": lambda kind: estimate.alpha_floor(kind(2)),
    "alpha_from_trace": lambda kind: estimate.alpha_from_trace(
        np.full(60, 4, kind), np.full(60, 3, kind)),
    "survival_from_trace": lambda kind: estimate.survival_from_trace(
        np.full(60, 4, kind), np.full(60, 3, kind)),
    "best_gamma_on_curve": lambda kind: systems.best_gamma_on_curve(
        [Fraction(1, 2)]*9, kind(1), {kind(1): kind(1), kind(100): kind(100)}),
    "plan": lambda kind: str(systems.plan(alpha=.5, cost=kind(2))),
}


def numbers(value):
    """Yield every number inside a result."""
    if isinstance(value, dict): parts = [*value.keys(), *value.values()]
    elif isinstance(value, np.ndarray): parts = value.ravel().tolist()
    elif isinstance(value, (list, tuple, set, frozenset)): parts = value
    elif is_dataclass(value): parts = [getattr(value, f.name) for f in fields(value)]
    else: parts = ()
    for part_ in parts: yield from numbers(part_)
    if isinstance(value, (int, float, Fraction)): yield value


@pytest.mark.parametrize("name", CALLS)
def test_numpys_integers_count_as_pythons(name):
    right = CALLS[name](int)
    for kind in KINDS:
        found = CALLS[name](kind)
        same = (np.array_equal(found, right) if isinstance(right, np.ndarray) else found == right)
        assert same, (kind, found, right)
        for x in numbers(found):
            if isinstance(x, Fraction):
                assert {type(x.numerator), type(x.denominator)} == {int}, (kind, x)


def test_the_integers_do_overflow():
    """The planted fault: what the callers above would compute without a conversion."""
    with np.errstate(over="ignore"):
        assert Fraction(np.int8(100), np.int8(1)) + Fraction(np.int8(100), np.int8(1)) != 200
