"""Served models without a network: a client that answers itself.

Eight tokens, a law that depends on the last token, and a drafter that proposes
what followed the last token before (prompt lookup). `FakeServer` takes the
place of `specdec_nb.server.Client`; what it answers has the form of a server's
JSON, so reading it is part of what is tried. SHAPES are the ways in which real
servers write log-probabilities; in each of them the *tokens* are right, unless
`lenience` is more than 1.

    from fake_servers import FakeServer, PROMPT
    audit(FakeServer("hidden", salt=3), [PROMPT], n=100, logprobs=4)
    audit(FakeServer("mute", salt=3), [PROMPT], baseline=FakeServer(salt=4, speculate=False))
"""
import numpy as np

from specdec_nb.server import Client

V = 8
TABLE = np.random.default_rng(5).dirichlet([.8]*V, V)
STEPS = TABLE.cumsum(axis=1)
PROMPT = [1, 2, 3, 1, 2, 3, 1, 2]
SHAPES = {
    "ids": "a list of entries with ids at every token",
    "strings": "parallel lists, tokens named by strings",
    "alike": "parallel lists, three of eight tokens print alike",
    "entries": "a list of entries without ids, three of eight strings alike",
    "shows emitted": "the emitted token is added to its list",
    "hidden": "an empty list at the tokens that speculation brought",
    "one entry": "a list of one certain entry at the tokens that speculation brought",
    "all certain": "a list of one certain entry at every token",
    "shifted": "at the tokens that speculation brought, the law of the place before",
    "rounded": "log-probabilities of three decimals",
    "some": "log-probabilities with every other answer",
    "mute": "no log-probabilities"}
WRONG_LAWS = ("all certain", "shifted") # the lists say what no token was drawn from


class FakeServer(Client):
    """A client that needs no server."""

    def __init__(self, shape="ids", salt=0, speculate=True, lenience=1., tokenizes=True):
        if shape not in SHAPES: raise ValueError(f"shape: expected one of {[*SHAPES]}, got {shape!r}")
        super().__init__(f"http://fake-{shape.replace(' ', '-')}", max_requests=10**9)
        self.shape, self.salt, self.speculate = shape, salt, speculate
        self.lenience, self.tokenizes = lenience, tokenizes

    def speak(self, context, n, rng):
        "Return [(token, the token before, whether speculation brought it)]."
        out, context, before = [], list(context), {}
        for x, y in zip(context, context[1:]): before[x] = y
        for i in range(n):
            last, guess = context[-1], before.get(context[-1]) if self.speculate and i else None
            kept = guess is not None and rng.random() < self.lenience*TABLE[last, guess]
            if kept: token = guess
            else:
                steps = STEPS[last] if guess is None else np.where(
                    np.arange(V) == guess, 0, TABLE[last]).cumsum()
                token = int(steps.searchsorted(rng.random()*steps[-1], side="right"))
            out.append((token, last, guess is not None))
            before[last] = token
            context.append(token)
        return out

    def name(self, token):
        return "\ufffd" if self.shape in ("alike", "entries") and token >= V - 3 else str(token)

    def list_of(self, token, law_after, drafted, k):
        "Return [(token, log-probability)] as the server shows it; None where it hides it."
        certain = self.shape == "all certain" or self.shape == "one entry" and drafted
        if certain: return [(token, 0.)]
        if self.shape == "hidden" and drafted: return []
        law = np.log(TABLE[law_after])
        if self.shape == "rounded": law = law.round(3)
        best = np.argsort(-law)[:k].tolist()
        if self.shape == "shows emitted" and token not in best: best.append(token)
        return [(x, float(law[x])) for x in best]

    def post(self, path, body):
        self.n_requests += 1
        if path == "/tokenize":
            return {"tokens": [int(c) for c in body["content"]]} if self.tokenizes else {}
        prompt, k = body["prompt"], body.get("logprobs", 0)
        if isinstance(prompt, str): prompt = [int(c) for c in prompt]
        rng = np.random.default_rng([77, self.salt, body.get("seed", 0)])
        said = self.speak(prompt, body["max_tokens"], rng)
        tokens = [token for token, _, _ in said]
        shown = None
        if k and self.shape != "mute" and not (self.shape == "some" and self.n_requests % 2):
            lists, before = [], prompt[-2] if len(prompt) > 1 else prompt[-1]
            for token, last, drafted in said:
                late = self.shape == "shifted" and drafted
                lists.append(self.list_of(token, before if late else last, drafted, k))
                before = last
            if self.shape in ("strings", "alike"):
                shown = {"tokens": [self.name(t) for t in tokens],
                         "top_logprobs": [{self.name(t): p for t, p in top} for top in lists]}
            else:
                entry = (lambda t, p: {"token": self.name(t), "logprob": p}) \
                    if self.shape == "entries" else (
                    lambda t, p: {"id": t, "token": self.name(t), "logprob": p})
                shown = {"content": [entry(t, 0.) | {"top_logprobs": [entry(*x) for x in top]}
                                     for t, top in zip(tokens, lists)]}
        return {"choices": [{"text": "".join(map(str, tokens)),
                             "finish_reason": "length", "logprobs": shown}]}
