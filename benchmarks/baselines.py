"""What `verify` is compared with: the least that must be read, and the usual ways.

Written for this suite, except the peers, which are installed, never copied.
"""
import importlib.util
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SEED = HERE.parents[1]/"shared"/"seed"/"speculative_seed.py"


def read_once(target, draft, tokens, uniforms):
    """Toss the coins and read, once, the rows that decide: nothing is drawn.

    The dot product is the fastest way in NumPy to touch every entry.
    """
    (batch, gamma), b = tokens.shape, np.arange(len(tokens))[:, None]
    places = np.arange(gamma)
    fails = ~(uniforms[:, :gamma] < target[b, places, tokens]/draft[b, places, tokens])
    n = np.where(fails.any(axis=1), fails.argmax(axis=1), gamma)
    total = 0.
    for s, place in enumerate(n.tolist()):
        row = target[s, place]
        total += np.dot(row, draft[s, place] if place < gamma else row)
    return n, total


def textbook(target, draft, tokens, uniforms, rng=np.random.default_rng(0)):
    """Verify as textbooks write it: a law in float64, and `Generator.choice`."""
    def draw(weights):
        law = weights.astype(float)  # choice wants sums that are right in float64
        return rng.choice(len(law), p=law/law.sum())
    out = []
    for q, p, x in zip(target, draft, tokens):
        for i, token in enumerate(x):
            if rng.random() < min(1, q[i, token]/p[i, token]): continue
            out.append((i, draw(np.maximum(q[i] - p[i], 0))))
            break
        else: out.append((len(x), draw(q[-1])))
    return out


def lean_loop(target, draft, tokens, uniforms):
    """Verify as the textbook does, but with a cumulative sum of the last row alone."""
    out = []
    for q, p, x, u in zip(target, draft, tokens, uniforms.tolist()):
        for i, token in enumerate(x):
            if u[i] < q[i, token]/p[i, token]: continue
            weights = np.maximum(q[i] - p[i], 0)
            break
        else: i, weights = len(x), q[-1]
        steps = weights.cumsum()
        out.append((i, int(steps.searchsorted(u[-1]*steps[-1], side="right"))))
    return out


def seed_program():
    """Load the program that this project grew from, or None."""
    if not SEED.exists(): return None
    spec = importlib.util.spec_from_file_location("speculative_seed", SEED)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seed_verify(seed, target, draft, tokens, rng):
    """Verify lists with the functions of the seed program."""
    out = []
    for q, p, x in zip(target, draft, tokens):
        for i, token in enumerate(x):
            ratio = q[i][token]/p[i][token] if p[i][token] > 0 else float("inf")
            if rng.random() < min(1.0, ratio): continue
            out.append((i, seed.sample(seed.residual(q[i], p[i]), rng)))
            break
        else: out.append((len(x), seed.sample(q[-1], rng)))
    return out


def install(folder):
    """Install the peers: transformers and torch here, vLLM's wheel into `folder`."""
    def pip(*words): subprocess.run([sys.executable, "-m", "pip", *words], check=False)
    if importlib.util.find_spec("torch") is None: pip("install", "-q", "torch==2.13.0")
    if importlib.util.find_spec("transformers") is None:
        pip("install", "-q", "transformers==5.24.0")
    if not list(folder.glob("vllm-*.whl")):
        pip("download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(folder),
            "vllm==0.8.5")


def transformers_core():
    """Return transformers' rule on laws and on logits, or None if it is not installed."""
    if not all(map(importlib.util.find_spec, ("torch", "transformers"))): return None
    import torch
    from transformers.generation.utils import _speculative_sampling
    torch.set_num_threads(1)

    class Laws(torch.Tensor):
        """Rows that are laws already, so that softmax has nothing to do."""
        def softmax(self, dim=None, dtype=None): return self.as_subclass(torch.Tensor)

    def on_logits(target, draft, tokens):
        for b in range(len(tokens)):
            _speculative_sampling(tokens[b:b + 1], draft[b:b + 1], tokens.shape[1],
                                  target[b:b + 1])

    def on_laws(target, draft, tokens):
        on_logits(target.as_subclass(Laws), draft.as_subclass(Laws), tokens)
    return on_laws, on_logits


def vllm_sampler(folder):
    """Return vLLM 0.8.5's PyTorch rejection sampler, or None.

    Its wheel is not installed, for that would bring CUDA; two modules are taken from it, and
    what they import for logging and kernels we do not use is left empty.
    """
    wheels = list(folder.glob("vllm-*.whl"))
    if not wheels or importlib.util.find_spec("torch") is None: return None
    import torch
    torch.set_num_threads(1)
    names = ["spec_decode_base_sampler", "rejection_sampler"]
    package = "vllm.model_executor.layers."
    for name in ("vllm", "vllm.model_executor", "vllm.model_executor.layers", "vllm.envs",
                 "vllm.logger", "vllm.platforms"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["vllm"].envs = sys.modules["vllm.envs"]
    sys.modules["vllm.envs"].VLLM_USE_FLASHINFER_SAMPLER = False
    sys.modules["vllm.logger"].init_logger = __import__("logging").getLogger
    platform = types.SimpleNamespace(is_cuda=lambda: False, device_type="cpu",
                                     simple_compile_backend="eager")
    sys.modules["vllm.platforms"].current_platform = platform
    with zipfile.ZipFile(wheels[0]) as wheel:
        for name in names:
            module = types.ModuleType(package + name)
            sys.modules[package + name] = module
            source = wheel.read(f"vllm/model_executor/layers/{name}.py").decode()
            path = folder/f"{name}.py"
            path.write_text(source)
            exec(compile(source, str(path), "exec"), module.__dict__)
    sampler = module.RejectionSampler()
    sampler.init_tensors(device="cpu", device_type="cpu")

    def run(target, draft, tokens, bonus=torch.zeros(1, 1, dtype=torch.int64)):
        # the bonus token is the caller's work there, and is not counted
        return sampler(target, bonus.expand(len(tokens), 1), draft, tokens)
    return run


def transport(target, draft):
    """Return the best acceptance with two drafts by linear programming (HiGHS).

    Variables: how much of each drafted pair {i, j} goes to i, and how much to j.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array
    size = len(target)
    i, j = np.triu_indices(size)
    mass = draft[i]*draft[j]*np.where(i == j, 1, 2)
    pairs = np.arange(len(i))
    rows = np.concatenate([pairs, pairs, len(i) + i, len(i) + j])
    columns = np.concatenate([pairs, len(i) + pairs]*2)
    bound = csr_array((np.ones(len(rows)), (rows, columns)))
    result = linprog(-np.ones(2*len(i)), A_ub=bound, b_ub=np.concatenate([mass, target]),
                     method="highs")
    return -result.fun
