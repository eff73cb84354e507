"""What is documented as a probability lies in [0, 1], for every law that the package accepts.

Laws of floats may miss the sum 1 by 1.5e-8, and sums of floats round; a rate of 1.00000001
would make a survival, an interval or a plan impossible further on.
"""
import numpy as np
import pytest

from specdec_nb import chance, coupling, dist, multidraft, shared

OFF = 1.4e-8


def pairs(n_seeds=40):
    """Laws in floats that are nearly equal, heavy, light, one-hot, disjoint or sparse."""
    rng = np.random.default_rng(1)
    for _ in range(n_seeds):
        size = int(rng.integers(1, 6))
        q, p = rng.dirichlet(np.full(size, .3), 2)
        near = q*(1 + 1e-8*rng.uniform(-1, 1, size))
        ends = np.eye(size)[0], np.eye(size)[-1]
        yield from ((q, p), (q, q), (q, near), (near, q), ends)
        for scale in (1 + OFF, 1 - OFF):
            yield from ((q*scale, q*scale), (q*scale, p*scale), (ends[0]*scale, ends[1]*scale),
                        (ends[0]*scale, ends[0]*scale))


RATES = {
    "tv": dist.tv, "acceptance_rate": coupling.acceptance_rate,
    "law_distance": lambda q, p: chance.law_distance(dict(enumerate(q)), dict(enumerate(p))),
    "match_rate": shared.match_rate}
for k in (1, 2, 5):
    RATES |= {
        f"list_match_rate {k}": lambda q, p, k=k: shared.list_match_rate(q, p, k),
        f"list_match_bound {k}": lambda q, p, k=k: shared.list_match_bound(q, p, k),
        f"recursive_acceptance {k}": lambda q, p, k=k: multidraft.recursive_acceptance(q, p, k),
        f"kseq_acceptance {k}": lambda q, p, k=k: multidraft.kseq_acceptance(q, p, k, 1.),
        f"optimal_acceptance {k}": lambda q, p, k=k: multidraft.optimal_acceptance(q, p, k)}


@pytest.mark.parametrize("name", RATES)
def test_a_probability_is_one(name):
    for q, p in pairs(): assert 0 <= RATES[name](q, p) <= 1, (q, p)


def test_a_divergence_is_not_negative():
    for q, p in pairs(): assert dist.kl(q, p) >= 0
