"""Blocks to verify, as a model might leave them behind."""
import numpy as np

GAMMA = 5


class Pool:
    """Blocks of float32 rows, many enough to come from memory and not from a cache."""

    def __init__(self, vocab_size, batch, gamma=GAMMA, megabytes=96, seed=0, noise=None):
        rng = np.random.default_rng(seed)
        size = 4*vocab_size*(2*gamma + 1)
        blocks = max(batch, min(20_000//vocab_size + 8, 512), round(megabytes*2**20/size))
        blocks = -(-blocks//batch)*batch
        noise = (1 if vocab_size <= 8 else .6) if noise is None else noise
        self.vocab_size, self.batch, self.gamma = vocab_size, batch, gamma
        self.logits = np.empty((blocks, gamma + 1, vocab_size), np.float32)
        self.draft_logits = np.empty((blocks, gamma, vocab_size), np.float32)
        self.target, self.draft = np.empty_like(self.logits), np.empty_like(self.draft_logits)
        self.tokens = np.empty((blocks, gamma), np.int64)
        for b in range(blocks):
            self.logits[b] = rng.normal(0, 3, (gamma + 1, vocab_size))
            self.draft_logits[b] = self.logits[b, :-1] + rng.normal(0, noise, (gamma, vocab_size))
            self.target[b] = law(self.logits[b])
            self.draft[b] = law(self.draft_logits[b])
            steps = self.draft[b].cumsum(axis=1, dtype=float)
            goal = rng.random((gamma, 1))*steps[:, -1:]
            self.tokens[b] = (steps > goal).argmax(axis=1)
        self.uniforms = rng.random((blocks, gamma + 1))
        self.extra = rng.random((blocks, 64))
        self.count = blocks//batch

    def __call__(self, number):
        """Return batch `number`, counted round and round: target, draft, tokens, uniforms."""
        part = self.part(number)
        return self.target[part], self.draft[part], self.tokens[part], self.uniforms[part]

    def part(self, number):
        """Return the slice of batch `number`."""
        start = number % self.count*self.batch
        return slice(start, start + self.batch)


def law(logits):
    """Softmax in float32."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights/weights.sum(axis=-1, keepdims=True)
