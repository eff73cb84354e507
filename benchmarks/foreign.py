"""Audit verifiers that other packages contain, each in a throw-away environment.

    python benchmarks/foreign.py --uv uv                    # all of them
    python benchmarks/foreign.py --only flashspec --n 2000  # one, more quickly

Needs `uv`. For each package an environment is made in a temporary folder, the
stated version is installed there, the audit runs in it, and the folder is
removed. `--base FOLDER` names the site-packages of an environment that has
torch, transformers, numpy and scipy: the packages are then installed without
their dependencies and find these there, which saves minutes and gigabytes.

Nothing of the packages is copied. Their functions are called as they are, with
rows of probabilities from `specdec_nb.audit.battery`; where a package wants
models, it gets objects that answer with such rows. The table is what was seen
in this run of these versions on these inputs; it is no judgement of a project.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    what: str # what it is, in our words
    probes: tuple = () # names of functions below
    reason: str = "" # why there is nothing to run
    needs: tuple = () # requirements beside --base
    python: str = "" # if it asks for a newer Python than this one


PACKAGES = (
    Package("transformers", "5.24.0", "library of models; assisted generation",
            ("transformers_sampling", "transformers_assisted", "transformers_lookup",
             "transformers_zero")),
    Package("flashspec", "0.3.1", "speculative decoding for transformers models",
            ("flashspec_step", "flashspec_asm"), needs=("pydantic", "flashspec-asm-kernel==0.1.2")),
    Package("economize", "0.3.2", "decoding techniques for transformers models",
            ("economize_verify", "economize_batch")),
    Package("specdec", "0.2.0", "a draft and a target of transformers", ("specdec_verify",)),
    Package("mini-infer", "0.2.5", "a small inference engine", ("mini_infer_step",),
            needs=("fastapi", "typer", "uvicorn", "pydantic")),
    Package("naive-speculate", "0.1.0", "speculative decoding, written plainly",
            ("naive_speculate_sampling", "naive_speculate_vocabulary"), python="3.14"),
    Package("sequential-speculative-decoding", "0.1.1", "three verification rules",
            ("seqspec_standard", "seqspec_naive", "seqspec_capped", "seqspec_capped_first")),
    Package("speculative-decoding", "0.2.0", "research code with models of its own",
            ("lucidrains",), needs=("beartype", "einops")),
    Package("rotalabs-accel", "1.1.1", "kernels, and speculative decoding", ("rotalabs_verify",)),
    Package("core-deepinfer", "0.1.0", "an inference loop in NumPy, greedy", ("deepinfer_greedy",)),
    Package("uarc", "0.3.0", "a runtime; greedy speculation", ("uarc_greedy",)),
    Package("dejavuu", "0.2.0", "drafting by retrieval", ("dejavuu_sampler",), python="3.13",
            needs=("loguru",)),
    Package("inferris-lite", "0.1.0", "teaching models of a server",
            reason="whether a draft is accepted is read from a script; no tokens are compared"),
    Package("specstream", "1.0.0", "speculative streams on a base model",
            reason="one token a pass is emitted from the base model; its tree only feeds statistics"),
    Package("flashmap", "0.1.0", "drafting by flow maps",
            reason="the rule is part of a model's method that needs trained weights"),
    Package("autodraft-sd", "1.1.1", "target and draft on two machines",
            reason="needs bitsandbytes, a GPU library and trained weights"),
    Package("hexonit-llm", "0.1.0", "a front end", reason="hands everything to llama.cpp or vLLM"),
    Package("drafters", "0.0.1", "data types for drafts", reason="contains no verifier"),
    Package("octane-sd", "0.1.0", "announced runtime", reason="`serve` raises NotImplementedError"),
)


# What runs inside the environment of a package. Each probe returns an Audit.

def _numpy():
    import numpy
    return numpy


def _seed(rng):
    import torch
    torch.manual_seed(int(rng.integers(2**62)))
    return torch


def _log(torch, rows):
    "Logits whose softmax is the rows."
    return torch.log(torch.tensor(_numpy().array(rows, "float32")))


def _cases():
    "The battery without its largest cases: these run in minutes."
    from specdec_nb import audit
    return tuple(c for c in audit.battery() if c.vocab_size**(c.gamma + 1) <= 600)


def _sampler(step, name, n):
    from specdec_nb import audit
    return audit.sampler(step, n=n, subject=name, cases=_cases())


def _engine(generate, name, n, cases=None):
    from specdec_nb import audit
    return audit.engine(generate, n=max(2, n//2), subject=name, cases=cases)


def _cut(tokens, n, stop):
    "Cut a text at its length and after a stop token."
    tokens = list(tokens)[:n]
    return next((tokens[:i + 1] for i, x in enumerate(tokens) if x in stop), tokens)


class Logits:
    "A table model that answers like a transformers model, from place `first` on."
    device, dtype, config = "cpu", None, SimpleNamespace(vocab_size=None)

    def __init__(self, model, first=0): self.model, self.first = model, first

    def rows(self, ids):
        import torch
        numpy, tokens = _numpy(), ids[0].tolist()
        size = self.model.vocab_size
        known = [self.model(tuple(tokens[:i + 1])) if i >= self.first else numpy.full(size, 1/size)
                 for i in range(len(tokens))]
        with numpy.errstate(divide="ignore"):
            return torch.tensor(numpy.log(numpy.array(known, "float32")))[None]

    def __call__(self, ids, *_, **__): return SimpleNamespace(logits=self.rows(ids))


def _by_steps(step):
    "A whole engine from a function that makes one step of one to several tokens."
    def generate(target, draft, prompt, max_tokens, stop, seed):
        import torch
        torch.manual_seed(seed)
        text = list(prompt)
        while len(text) < len(prompt) + max_tokens and not {*text[len(prompt):]} & {*stop}:
            text += step(target, draft, text)
        return _cut(text[len(prompt):], max_tokens, stop)
    return generate


def flashspec_step(n):
    rejection = import_module("flashspec.sampling.rejection")
    rejection._ASM_AVAILABLE = False

    def step(target, draft, tokens, rng):
        torch = _seed(rng)
        found = rejection.rejection_step(torch.tensor([list(map(int, tokens))]),
                                         _log(torch, draft)[None], _log(torch, target)[None])
        n_accepted, token = found[0].tolist()
        return [*tokens[:n_accepted], token]
    return _sampler(step, "flashspec.sampling.rejection.rejection_step, PyTorch residual", n)


def flashspec_asm(n):
    rejection = import_module("flashspec.sampling.rejection")
    if rejection.active_residual_backend() != "asm":
        return f"the kernel is not used here: {rejection.residual_backend_status()['reason']}"

    def step(target, draft, tokens, rng):
        torch = _seed(rng)
        found = rejection.rejection_step(torch.tensor([list(map(int, tokens))]),
                                         _log(torch, draft)[None], _log(torch, target)[None])
        n_accepted, token = found[0].tolist()
        return [*tokens[:n_accepted], token]
    return _sampler(step, "the same, residual by flashspec-asm-kernel 0.1.2", n)


def economize_verify(n):
    verifiers = import_module("economize.decoding.verifiers")
    selectors = import_module("economize.decoding.selectors")
    config = import_module("economize.decoding.config")
    verifier = verifiers.RejectionVerifier(config.DecodeConfig(verifier="rejection"))
    selector = selectors.TopPSampler()

    def step(target, draft, tokens, rng):
        torch, tokens = _seed(rng), list(map(int, tokens))
        selector.generator_for("cpu").manual_seed(int(rng.integers(2**62)))
        n_accepted, token = verifier.verify(
            _log(torch, target), tokens, torch.tensor(_numpy().array(draft, "float32")), selector,
            torch.tensor([0, *tokens]), 1)
        return [*tokens[:n_accepted], token]
    return _sampler(step, "RejectionVerifier.verify", n)


def economize_batch(n):
    verifiers = import_module("economize.decoding.verifiers")
    selectors = import_module("economize.decoding.selectors")
    config = import_module("economize.decoding.config")
    protocols = import_module("economize.decoding.protocols")
    verifier = verifiers.RejectionVerifier(config.DecodeConfig(verifier="rejection"))
    selector = selectors.TopPSampler()

    def step(target, draft, tokens, rng):
        torch, tokens = _seed(rng), list(map(int, tokens))
        selector.generator_for("cpu").manual_seed(int(rng.integers(2**62)))
        drafted = protocols.Draft(torch.tensor([tokens]), [len(tokens)],
                                  probs=torch.tensor(_numpy().array(draft, "float32"))[None])
        n_accepted, token = verifier.verify_batch(
            _log(torch, target)[None], drafted, selector, torch.tensor([[0, *tokens]]), [1])
        return [*tokens[:int(n_accepted[0])], int(token[0])]
    return _sampler(step, "RejectionVerifier.verify_batch", n)


def specdec_verify(n):
    decoder = import_module("specdec.decoder").SpecDecoder
    ours = object.__new__(decoder)
    ours.device = "cpu"

    def step(target, draft, tokens, rng):
        torch = _seed(rng)
        ours.big_model = lambda ids: SimpleNamespace(logits=_log(torch, target)[None])
        rows = torch.tensor(_numpy().array(draft, "float32"))
        return ours.verify(torch.tensor([[0]]), list(map(int, tokens)), [row[None] for row in rows])
    return _sampler(step, "SpecDecoder.verify", n)


def mini_infer_step(n):
    speculative_step = import_module("mini_infer.speculative.verifier").speculative_step

    def step(target, draft, text):
        import torch
        at = len(text) - 1
        big, small = Logits(target, at), Logits(draft, at)
        return speculative_step(lambda ids: (big.rows(ids), None),
                                lambda ids: (Logits(draft, ids.shape[1] - 1).rows(ids), None),
                                torch.tensor([text]), 3, 1.)[0]
    return _engine(_by_steps(step), "speculative_step at temperature 1", n)


def _seqspec(function, n, cases=None, remark=""):
    module, name = function
    rule = getattr(import_module(f"seqspecdecod.{module}"), name)

    def step(target, draft, text):
        import torch
        ids = torch.tensor([text])
        small = lambda ids: SimpleNamespace(logits=Logits(draft, ids.shape[1] - 1).rows(ids))
        found = rule(small, Logits(target, len(text) - 1), ids, gamma=3,
                     draft_temperature=1., target_temperature=1.)[0]
        return found[0, len(text):].tolist()
    return _engine(_by_steps(step), name + remark, n, cases)


def seqspec_standard(n): return _seqspec(("standard_sd", "standard_speculative_step"), n)


def seqspec_naive(n): return _seqspec(("naive_hsd", "naive_hsd_step"), n)


def seqspec_capped(n):
    from specdec_nb import audit
    return _seqspec(("capped_hsd", "capped_hsd_step"), n,
                    tuple(c for c in audit.engine_battery() if c.name != "zeros"),
                    " (without the case of rows with zeros, where it raises RuntimeError)")


def seqspec_capped_first(n):
    "The first token alone, on rows chosen by reading the rule."
    from specdec_nb import audit
    import torch
    rule, numpy = import_module("seqspecdecod.capped_hsd").capped_hsd_step, _numpy()
    torch.manual_seed(0)
    draft = {1: numpy.array([.8, .2]), 2: numpy.array([.3, .7])}

    class Table:
        vocab_size = 2
        def __init__(self, row): self.row = row
        def __call__(self, context): return self.row(context)
    big = Logits(Table(lambda context: numpy.array([.5, .5])))
    small = Logits(Table(lambda context: draft.get(len(context), draft[2])))
    first = [int(rule(small, big, torch.tensor([[0]]), gamma=2, draft_temperature=1.,
                      target_temperature=1.)[0][0, 1]) for _ in range(10*n)]
    return audit.samples({"first token": first}, {"first token": [.5, .5]},
                         subject="capped_hsd_step, gamma 2, first token; target rows (1/2, 1/2), "
                                 "draft rows (4/5, 1/5), (3/10, 7/10)")


def _naive_utils():
    found = next(p for base in sys.path for p in Path(base).glob("naive_speculate/speculate/utils.py"))
    spec = util.spec_from_file_location("naive_utils", found)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def naive_speculate_vocabulary(n):
    "A large vocabulary and a small residual, with the coin made to reject."
    import torch
    module, size, n = _naive_utils(), 151_936, 1000
    target, draft = torch.zeros(2, size), torch.zeros(1, size)
    target[:, 0], target[:, 1], draft[0, 0], draft[0, 1] = .499, .501, .5, .5
    torch.manual_seed(0)
    real, torch.rand = torch.rand, lambda *shape, **_: torch.full(shape, .9999)
    try: found = [int(module.speculative_sampling(target, draft, torch.tensor([0]))[1])
                  for _ in range(n)]
    finally: torch.rand = real
    outside = sum(token > 1 for token in found)
    return {"subject": "the same, vocabulary 151,936, target (.499, .501, 0, ...), draft (.5, .5, "
                       "0, ...), token 0 rejected",
            "observation": f"{outside} of {n} replacements have target probability 0 (here 0.2 % "
                           "of the tests of token 0 are rejections)"}


def naive_speculate_sampling(n):
    module = _naive_utils()

    def step(target, draft, tokens, rng):
        torch = _seed(rng)
        rows = [torch.tensor(_numpy().array(r, "float32")) for r in (target, draft)]
        n_accepted, token = module.speculative_sampling(*rows, torch.tensor(list(map(int, tokens))))
        return [*tokens[:int(n_accepted)], int(token)]
    return _sampler(step, "speculate.utils.speculative_sampling", n)


def lucidrains(n):
    run = import_module("speculative_decoding.speculative_decoding").speculative_decoding

    def generate(target, draft, prompt, max_tokens, stop, seed):
        import torch
        torch.manual_seed(seed)

        def net(model, last_only):
            def call(ids, seq_start_pos=None, cache=None, return_cache=True):
                first = ids.shape[1] - 1 if last_only else max(0, len(prompt) - 1)
                return Logits(model, first).rows(ids), (torch.zeros(1, 1, ids.shape[1], 1), None)
            return call
        found, _ = run(net(target, False), net(draft, True), torch.tensor([list(prompt)]),
                       len(prompt) + max_tokens, gamma=3, filter_thres=0.)
        return _cut(found[0].tolist(), max_tokens, stop)
    return _engine(generate, "speculative_decoding, filter_thres=0", n)


def rotalabs_verify(n):
    core = import_module("rotalabs_accel.speculative.core")

    def step(target, draft, tokens, rng):
        torch = _seed(rng)
        ids = torch.tensor(list(map(int, tokens)))
        probs = torch.tensor([float(row[x]) for row, x in zip(draft, tokens)])
        model = lambda *_, **__: SimpleNamespace(logits=_log(torch, target)[None],
                                                 past_key_values=None)
        return core.verify_tokens(model, torch.tensor([[0]]), ids, probs, None,
                                  temperature=1., top_p=1)[0].tolist()
    return _sampler(step, "speculative.core.verify_tokens, top_p=1 (with top_p=1.0 it raises "
                    "TypeError once all drafts are accepted)", n)


def _greedy_cases():
    "Tables whose rows are certain, so that the argmax is the only right token."
    numpy = _numpy()
    from specdec_nb.audit import Case, StateModel
    rng, cases = numpy.random.default_rng(7), []
    for size, length in ((3, 6), (5, 9)):
        rows = [numpy.eye(size, dtype=int)[rng.integers(size, size=(4, 3))] for _ in range(2)]
        agree = rng.random((4, 3)) < .6
        rows[1][agree] = rows[0][agree]
        cases.append(Case(f"greedy, {size} tokens", length - 1, size, *map(StateModel, rows),
                          "certain rows", prompt=(1, 0)))
    return tuple(cases)


def deepinfer_greedy(n):
    generate_speculative = import_module("core_deepinfer.speculative").generate_speculative
    numpy = _numpy()

    class Table:
        def __init__(self, model): self.model, self.vocab_size = model, model.vocab_size
        def tokens(self, prompt): return tuple(prompt)
        def prefill(self, prompt):
            rows = [self.model(tuple(prompt[:i + 1])) for i in range(len(prompt))]
            return SimpleNamespace(logits=numpy.array(rows), state=tuple(prompt))
        def step(self, state, token): return self.prefill((*state, token))

    def generate(target, draft, prompt, max_tokens, stop, seed):
        return generate_speculative(Table(target), Table(draft), tuple(prompt),
                                    max_tokens=max_tokens, draft_width=3).tokens
    return _engine(generate, "speculative.generate_speculative", min(n, 200), _greedy_cases())


def uarc_greedy(n):
    engine = import_module("uarc.scheduling.eads_engine").EADSSpeculativeEngine

    class Cache(list):
        def crop(self, length): del self[length:]

    class Table(Logits):
        def eval(self): return self
        def __call__(self, ids, past_key_values=None, use_cache=True):
            import torch
            cache = Cache() if past_key_values is None else past_key_values
            start = len(cache)
            cache += ids[0].tolist()
            start = max(start, len(cache) - 1) if self.first else start
            rows = Logits(self.model, start).rows(torch.tensor([[*cache]]))[:, start:]
            return SimpleNamespace(logits=rows, past_key_values=cache)

    def generate(target, draft, prompt, max_tokens, stop, seed):
        import torch
        found = engine(Table(target), Table(draft, 1)).generate(torch.tensor([list(prompt)]), max_tokens)
        return found[0, len(prompt):].tolist()
    return _engine(generate, "EADSSpeculativeEngine.generate", min(n, 200), _greedy_cases())


def dejavuu_sampler(n):
    engine = import_module("dejavuu.core.engine")
    sampling = import_module("dejavuu.core.sampling")
    verifier = import_module("dejavuu.core.verifier")
    drafters = import_module("dejavuu.drafters")
    numpy = _numpy()

    class Table(verifier.Verifier):
        def __init__(self, model): self.model = model
        def empty_kv(self): return ()
        def rollback_kv(self, kv, committed): return kv[:committed]
        def forward(self, token_ids, past, past_len, position_ids=None, attn_bias=None):
            text = (*past, *token_ids)
            with numpy.errstate(divide="ignore"):
                rows = numpy.log([self.model(text[:past_len + i + 1]) for i in range(len(token_ids))])
            return rows, text, None

    def generate(target, draft, prompt, max_tokens, stop, seed):
        found = engine.generate(Table(target), list(prompt), max_tokens, drafters.PLD(),
                                sampler=sampling.Sampler(seed=seed))
        return _cut(found.tokens, max_tokens, stop)
    return _engine(generate, "core.engine.generate with prompt lookup and a Sampler", n)


def transformers_sampling(n):
    from specdec_nb import hf_audit
    return hf_audit.audit_sampling(n=n, cases=_cases())


def transformers_assisted(n):
    from specdec_nb import hf_audit
    return hf_audit.audit_generate("assistant", n=max(2, n//3))


def transformers_lookup(n):
    from specdec_nb import hf_audit
    return hf_audit.audit_generate("prompt lookup", n=max(2, n//3))


def transformers_zero(n):
    "What the rule does when the uniform number is 0, which torch draws once in 2**24."
    import torch
    from specdec_nb import hf_audit
    real, torch.rand_like = torch.rand_like, torch.zeros_like
    try: found = hf_audit.sampling_step([[0., 1.], [.5, .5]], [[.5, .5]], [0],
                                        _numpy().random.default_rng(0))
    finally: torch.rand_like = real
    return {"subject": "_speculative_sampling, uniform number 0",
            "observation": f"target row (0, 1), draft row (1/2, 1/2), drafted token 0: emitted "
                           f"{found}; the comparison of the uniform number with the ratio "
                           "includes equality"}


def summary(audit):
    "Keep what a reader needs of an Audit."
    numpy = _numpy()
    worst = sorted(audit.failures, key=lambda c: (
        c.log_e is not None, len(c.observed or ()) > 12, -(c.log_e or 0)))[:3]
    rows = []
    for check in worst:
        row = {"case": check.case, "kind": check.kind, "n": check.n, "note": check.note,
               "log10_e": None if check.log_e is None else str(round(check.log_e/numpy.log(10), 1)),
               "tv_at_least": None if check.tv is None else round(check.tv, 4)}
        if check.observed and len(check.observed) <= 12 and check.expected:
            total = sum(check.observed)
            row |= {"observed": [round(x/total, 4) for x in check.observed],
                    "expected": [round(x, 4) for x in check.expected]}
        rows.append(row)
    power = audit.detectable_tv
    law = [c.n for c in audit.checks if c.kind == "joint law" and c.case != "all together"]
    return {"subject": audit.subject, "outcome": audit.outcome,
            **({"reason": audit.could_not} if audit.outcome == "could not" else {}),
            "alpha": audit.alpha, "seed": audit.seed, "seconds": round(audit.seconds, 1),
            "checks": len(audit.checks), "failed": len(audit.failures), "worst": rows,
            "n": max(law, default=0), # blocks or texts of each input
            "detectable_tv": None if power is None else round(power, 4)}


def probe(name, n):
    "Run one probe in this environment and print its result as JSON."
    import warnings
    warnings.simplefilter("ignore")
    try:
        found = globals()[name](n)
        if isinstance(found, str): found = {"subject": name, "reason": found}
        elif not isinstance(found, dict): found = summary(found)
    except Exception as error:
        found = {"subject": name, "reason": f"{type(error).__name__}: {error}"[:300]}
    print("RESULT " + json.dumps(found))


# What runs outside.

def environment(package, folder, options):
    "Make an environment with one package; return its Python."
    run = lambda *words: subprocess.run([*map(str, words)], check=True, capture_output=True,
                                        text=True)
    run(options.uv, "venv", "-q", "--python", sys.executable, folder)
    python = folder/"bin"/"python"
    site = next(folder.glob("lib/python*/site-packages"))
    install = [options.uv, "pip", "install", "-q", "--python", python]
    pinned = f"{package.name}=={package.version}"
    if options.base:
        (site/"base.pth").write_text(f"{Path(options.base).resolve()}\n")
        if package.needs: run(*install, *package.needs)
        install.append("--no-deps")
    else: run(*install, "numpy", "scipy", "torch", "transformers", *package.needs)
    if package.python: # a newer Python is asked for: the wheel is unpacked, not installed
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--python-version",
            package.python, "--only-binary=:all:", "-d", folder/"wheel", pinned)
        import zipfile
        wheel, = (folder/"wheel").glob("*.whl")
        zipfile.ZipFile(wheel).extractall(site)
    elif not (options.base and package.name == "transformers"): run(*install, pinned)
    return python


def audited(package, options):
    "Audit one package in an environment of its own."
    row = {"name": package.name, "version": package.version, "what": package.what,
           "n": options.n}
    if not package.probes: return row | {"reason": package.reason, "results": []}
    with tempfile.TemporaryDirectory() as folder:
        try: python = environment(package, Path(folder)/"venv", options)
        except subprocess.CalledProcessError as error:
            last = (error.stderr or "").strip().splitlines()[-1:] or ["?"]
            return row | {"reason": f"cannot be installed here: {last[0][:200]}", "results": []}
        results = []
        for name in package.probes:
            done = subprocess.run(
                [python, __file__, "--probe", name, "--n", str(options.n)], capture_output=True,
                text=True, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)})
            lines = [x for x in done.stdout.splitlines() if x.startswith("RESULT ")]
            results.append(json.loads(lines[-1][7:]) if lines else {
                "subject": name, "reason": (done.stderr.strip().splitlines() or ["?"])[-1][:300]})
            print(f"{package.name} {package.version}: {name}: "
                  f"{next(results[-1][k] for k in ('reason', 'outcome', 'observation') if k in results[-1])}", flush=True)
    if package.python:
        row["remark"] = (f"asks for Python {package.python}; its files were run under "
                         f"{platform.python_version()}")
    return row | {"results": results}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="names of packages")
    parser.add_argument("--n", type=int, default=1500,
                        help="blocks for each case; half as many texts, of generate a third")
    parser.add_argument("--base", help="site-packages with torch, transformers, numpy, scipy")
    parser.add_argument("--uv", default="uv", help="the uv program")
    parser.add_argument("--out", default=ROOT/"benchmarks"/"results"/"foreign.json", type=Path)
    parser.add_argument("--probe", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe: return probe(options.probe, options.n)
    kept = {}
    if options.out.exists():
        kept = {row["name"]: row for row in json.loads(options.out.read_text())["packages"]}
    for package in PACKAGES:
        if options.only and package.name not in options.only: continue
        kept[package.name] = audited(package, options)
        order = [p.name for p in PACKAGES if p.name in kept]
        options.out.write_text(json.dumps(
            {"date": time.strftime("%Y-%m-%d"), "python": platform.python_version(),
             "packages": [kept[name] for name in order]}, indent=1) + "\n")


if __name__ == "__main__": main()
