"""`verify` has one contract and several paths, chosen by sizes: each of them is held to it.

Every refusal and every edge is run for batches and vocabularies on both sides of every
threshold, for laws and logits, and for the dense path, which NumPy takes if it is told to.
The readable rules decide what is right. Deterministic: the seeds are fixed and the
comparison is equality.
"""
from functools import cache, partial

import array_api_compat.numpy
import numpy as np
import pytest
import test_batch as page

from specdec_nb.batch import verify
from specdec_nb.chance import Injected
from specdec_nb.rules import token_rule

BATCHES, SIZES = (1, 2, 3, 4, 5, 8, 9, 12, 20), (2, 6, 300, 1023, 1024, 2000)
GAMMA, TOP = 3, 1 - 2**-53
NAN, INF = np.nan, np.inf


def dense(*args, **options):
    "The path of the other libraries, on NumPy."
    with np.errstate(all="ignore"):
        return verify(*args, xp=array_api_compat.numpy, **options)


@cache
def batch(rule, size, n, sharp=True):
    "Columns of `case`: rows, tokens, uniforms, lengths and the readable verdicts."
    rng = np.random.default_rng([60, size, n])
    made = [page.case(rng, page.RULE[rule], size, GAMMA, sharp) for _ in range(n)]
    return tuple(map(np.array, zip(*made)))


def ways(target, draft, kind):
    "How one can hand over the same laws."
    with np.errstate(divide="ignore"): scores = np.log(target), np.log(draft)
    yield (target.astype(kind), draft.astype(kind)), {}
    yield (3*target.astype(kind), 5*draft.astype(kind)), {"normalise": True}
    yield tuple(x.astype(kind) + kind(2) for x in scores), {"logits": True}


@pytest.mark.parametrize("rule", page.RULE)
@pytest.mark.parametrize("size", SIZES)
def test_every_path_gives_the_readable_verdict(rule, size):
    for n in BATCHES:
        for kind in (np.float64, np.float32):
            for sharp in (True, False):
                target, draft, tokens, uniforms, lengths, kept, emitted = batch(
                    rule, size, n, sharp)
                for rows, how in ways(target, draft, kind):
                    if how and sharp: continue  # rounding may move what stands on an edge
                    if how: uniforms = np.clip(uniforms, 1e-4, 1 - 1e-4)
                    for call in (verify, dense):
                        if call is dense and sharp and rule == "block": continue
                        got = call(*rows, tokens, uniforms, rule, lengths=lengths, **how)
                        if not how: assert got.n_accepted.tolist() == kept.tolist()
                        wanted = verify(target, draft, tokens, uniforms, rule,
                                        lengths=lengths).tokens
                        assert got.tokens.tolist() == wanted.tolist(), (n, kind, how)
                        if not how: assert got.tokens.tolist() == emitted.tolist()


def poisons(rule, how, vocab_size):
    "Rows that are no laws: (name, whether of the draft, function that spoils a row)."
    def put(value, where=slice(None)):
        def spoil(row, token):
            row = row.copy()
            row[where if where != "other" else (token + 1) % vocab_size] = value
            return row
        return spoil
    for value in (NAN, INF):
        yield f"{value}", False, put(value)
        yield f"one {value}", False, put(value, "other")
    if how.get("logits"): yield "-inf", False, put(-INF)
    else:
        yield "zero", False, put(0.)
        yield "negative", False, put(-.25)
    if rule == "greedy": return  # the draft's laws are not used
    for value in (NAN, INF, -INF if how.get("logits") else 0., -.25):
        if value != -.25 or not how.get("logits"): yield f"draft {value}", True, put(value)
    for value in (NAN, INF): yield f"draft one {value}", True, put(value, "other")


@pytest.mark.parametrize("rule", page.RULE)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.filterwarnings("error")
def test_every_path_refuses_what_is_no_law(rule, size):
    for n in BATCHES:
        for kind in (np.float64, np.float32):
            target, draft, tokens, uniforms, lengths, kept, _ = batch(rule, size, n)
            s = n - 1
            for rows, how in ways(target, draft, kind):
                at = int(verify(*rows, tokens, uniforms, rule, lengths=lengths,
                                **how).n_accepted[s])
                for name, of_draft, spoil in poisons(rule, how, size):
                    if of_draft and at == lengths[s]: continue  # no draft row is needed
                    bad = [x.copy() for x in rows]
                    token = tokens[s, at] if at < lengths[s] else 0
                    bad[of_draft][s, at] = spoil(bad[of_draft][s, at], token)
                    try: got = verify(*bad, tokens, uniforms, rule, lengths=lengths, **how)
                    except ValueError as error:
                        assert str(error).split(":")[0] in ("rows", "logits", "tokens", "target")
                    else:  # such a row has moved a block's coin, and is not drawn from
                        assert rule == "block" and name in ("zero", "negative"), (name, n, how)
                        assert got.n_accepted[s] != at
                        continue
                    if rule == "greedy" and name in ("zero", "negative"): continue
                    got = dense(*bad, tokens, uniforms, rule, lengths=lengths, **how)
                    assert got.tokens[s, got.n_accepted[s]] == -1, (name, n, how)


@pytest.mark.parametrize("size", SIZES)
def test_every_path_refuses_what_is_out_of_range(size):
    for n in BATCHES:
        for rule in page.RULE:
            target, draft, tokens, uniforms, lengths, *_ = batch(rule, size, n)
            for where, values in (("tokens", (size, -1)), ("uniforms", (1., -.1, NAN, INF))):
                for value in values:
                    arrays = {"tokens": tokens.copy(), "uniforms": uniforms.copy()}
                    arrays[where][n - 1, 1] = value
                    with pytest.raises(ValueError, match=where):
                        verify(target, draft, rule=rule, **arrays)
                    with pytest.raises(ValueError, match=where):
                        verify(target, draft, rule=rule, normalise=True, **arrays)


@pytest.mark.parametrize("size", SIZES)
def test_rounding_falls_back_on_the_last_positive_entry(size):
    tiny = 5e-324  # .9 of two such steps is rounded up to both of them
    for n in BATCHES:
        row = np.zeros(size)
        row[0] = row[max(size - 3, 1)] = tiny
        target, u = np.zeros((n, 1, size)) + row, np.full((n, 1), .9)
        none = np.zeros((n, 0), int)
        for rule in ("token", "block"):
            for call in (verify, dense):
                got = call(target, target[:, :0], none, u, rule)
                assert got.tokens.tolist() == [[max(size - 3, 1)]]*n
            for u_last in (0., TOP):  # and the edges of the last draw
                wide = np.where(target > 0, .5, 0)
                got = verify(wide, wide[:, :0], none, u*0 + u_last, rule).tokens
                assert got.tolist() == [[max(size - 3, 1) if u_last else 0]]*n


def test_vocabularies_of_two_sizes_on_every_path():
    rng = np.random.default_rng(61)
    for n in BATCHES:
        for size, more in ((4, 2), (4, -1), (1030, 7), (1030, -10)):
            target, draft = (rng.dirichlet(np.ones(v), (n, k))
                             for v, k in ((size, 4), (size + more, 3)))
            tokens, uniforms = rng.integers(size + more, size=(n, 3)), rng.random((n, 4))
            both = max(size, size + more)
            q, p = (np.concatenate([x, np.zeros((*x.shape[:2], both - x.shape[2]))], 2)
                    for x in (target, draft))
            for how in ({}, {"normalise": True}):
                got = verify(target, draft, tokens, uniforms, **how)
                for s, k in enumerate(got.n_accepted):
                    asked = Injected([*uniforms[s, :min(k + 1, 3)], uniforms[s, -1]])
                    said = token_rule(q[s], p[s], tokens[s], asked)
                    assert (k, got.tokens[s, k]) == said
            if more < 0:
                tokens[n - 1, 0] = size - 1  # the draft has no such token
                for how in ({}, {"normalise": True}):
                    with pytest.raises(ValueError, match="tokens"):
                        verify(target, draft, tokens, uniforms, **how)


def test_long_numbers_keep_their_digits_and_other_things_are_refused():
    row = np.array([.5, .5 + 2**-40, 0], np.longdouble)
    u = np.array([[.5 - 2**-45]])
    for n in (1, 12):
        for how in ({}, {"normalise": True}):
            got = verify(np.array([[row]]*n), None, np.zeros((n, 0), int), u.repeat(n, 0), **how)
            expected = 1 if u[0, 0]*float(row.sum()) >= .5 else 0
            assert got.tokens.tolist() == [[expected]]*n
    target, tokens, uniforms = np.full((2, 2, 3), 1/3), np.zeros((2, 1), int), np.zeros((2, 2))
    for name, value in (("draft", .5), ("uniforms", None), ("uniforms", "x"),
                        ("uniforms", np.full((2, 2), "0.5")), ("target", target + 0j),
                        ("target", target.astype(object)),
                        ("draft", target[:, :1].astype("S"))):
        args = dict(target=target, draft=target[:, :1], tokens=tokens, uniforms=uniforms)
        with pytest.raises(ValueError, match=name): verify(**args | {name: value})


@pytest.mark.parametrize("size", SIZES)
def test_one_hot_drafts_and_mixed_numbers_on_every_path(size):
    rng = np.random.default_rng([62, size])
    for n in BATCHES:
        for rule in ("token", "block"):
            target, draft, tokens, uniforms, lengths, kept, emitted = map(np.array, zip(*(
                page.case(rng, page.RULE[rule], size, GAMMA, one_hot=True) for _ in range(n))))
            for call in (verify, dense):
                for rows in (None, draft, draft.astype(np.float32), draft.astype(int)):
                    for kind in (np.float64, np.float32, np.float16):
                        got = call(target.astype(kind), rows, tokens, uniforms, rule,
                                   lengths=lengths)
                        assert got.tokens.tolist() == emitted.tolist()
            target, draft, tokens, uniforms, lengths, kept, emitted = batch(rule, size, n)
            for kinds in ((np.float32, np.float64), (np.float64, np.float32),
                          (np.float16, np.float64)):
                got = verify(target.astype(kinds[0]), draft.astype(kinds[1]), tokens,
                             uniforms, rule, lengths=lengths)
                assert got.tokens.tolist() == emitted.tolist()
