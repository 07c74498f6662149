"""Frequencies of a feature with many values, next to other libraries at the same level, in one run.

    python benchmarks/studies/many_values_rivals.py [VALUES [PEOPLE]]

Every library answers for the same people, whose values are uniform. Shown is n times the summed squared error of
unbiased estimates: libraries that move theirs to the simplex are read from their clients' answers, by their own
probabilities. Rivals: subset selection and unary encoding of multi-freq-ldpy, Hadamard response of pure-ldp, in an
environment of their own, which needs a package index; and Hadamard bits of this package. Rates are people and values a
second of one core.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np

from bcdp.exact import TOTAL
from bcdp.randomizers import Table, categorical, hadamard

HOME = Path(__file__).parents[2] / "bench-output" / "many-values-peers"
NEEDED = ("scipy", "scikit-learn<1.6", "statsmodels", "xxhash", "setuptools<80")  # what the second imports
PACKAGES = ("multi-freq-ldpy==0.2.5", "pure-ldp==1.2.0", *NEEDED)
COLLECTIONS = 10  # whose errors are averaged
BUDGETS = (1.0, 2.0, 3.0, 4.0)
PEER = """
import json, math, sys, time
import numpy as np
collections, values, budget = np.load(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
people, results = collections.shape[1], {}

def subset(codes):
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    SS_Client(0, values, budget)
    start, counts = time.process_time(), np.zeros(values)
    for code in codes:
        counts[SS_Client(int(code), values, budget)] += 1
    size = int(max(1, np.rint(values / (math.exp(budget) + 1))))
    hit = size * math.exp(budget) / (size * math.exp(budget) + values - size)
    return counts, hit, (size - hit) / (values - 1), time.process_time() - start

def unary(codes):
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
    UE_Client(0, values, budget)
    start, counts = time.process_time(), np.zeros(values)
    for code in codes:
        counts += UE_Client(int(code), values, budget)
    return counts, 0.5, 1 / (math.exp(budget) + 1), time.process_time() - start

def hadamard(codes):
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
    start = time.process_time()
    server = HadamardResponseServer(budget, values, index_mapper=int)
    client = HadamardResponseClient(budget, values, server.get_hash_funcs(), index_mapper=int)
    for code in codes:
        server.aggregate(client.privatise(int(code)))
    counts = np.array(server.estimate_all(range(values), suppress_warnings=True, normalization=0))
    return counts, 1, 0, time.process_time() - start

def of(name, oracle):
    try:
        errors, seconds = [], 0
        for codes in collections:
            counts, hit, miss, spent = oracle(codes)
            true = np.bincount(codes, minlength=values) / people
            errors.append(people * float((((counts / people - miss) / (hit - miss) - true) ** 2).sum()))
            seconds += spent
        results[name] = {"error": float(np.mean(errors)), "rate": collections.size / seconds}
    except Exception as error:
        results[name] = {"failed": repr(error)[:200]}

of("multi-freq-ldpy, subset selection", subset)
of("multi-freq-ldpy, unary encoding", unary)
of("pure-ldp, Hadamard response", hadamard)
print(json.dumps(results))
"""


def install() -> None:
    """The libraries, into their environment, unless they are there."""
    if not HOME.exists():
        venv.create(HOME, with_pip=True)
        subprocess.run([HOME / "bin" / "pip", "install", "--quiet", *PACKAGES], check=True)


def rivals(codes: Any, values: int, budget: float) -> dict[str, Any]:
    """Error and rate of each rival, or what went wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "codes.npy"
        np.save(source, codes)
        arguments = [HOME / "bin" / "python", "-c", PEER, str(source), str(values), str(budget)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    return dict(json.loads(done.stdout)) if done.returncode == 0 else {"rivals": {"failed": done.stderr[-200:]}}


def ours(table: Table, collections: Any) -> dict[str, float]:
    """The same for a table: the device's rate, and how long decoding takes."""
    rng, errors, drawing, decoding = np.random.default_rng(1), [], 0.0, 0.0
    for codes in collections:
        words = rng.integers(0, TOTAL, len(codes), dtype=np.uint32)
        start = time.process_time()
        counts = np.bincount(table.sample(codes, words), minlength=table.symbols)
        drawn = time.process_time()
        shares = table.frequencies(counts)
        decoding, drawing = decoding + time.process_time() - drawn, drawing + drawn - start
        true = np.bincount(codes, minlength=table.levels) / len(codes)
        errors.append(len(codes) * float(((shares - true) ** 2).sum()))
    rate, seconds = collections.size / max(drawing, 1e-9), decoding / len(collections)
    return {"error": float(np.mean(errors)), "rate": rate, "decoding": seconds, "formula": table.second_moment}


def main(values: int = 1000, people: int = 5000) -> None:
    """Prints a row for each budget and library."""
    install()
    codes = np.random.default_rng(0).integers(0, values, (COLLECTIONS, people))
    print(f"{values} values, {people} people, uniform: n x error, clients a second")
    for budget in BUDGETS:
        rows = {"this package": ours(categorical(values, budget), codes)}
        rows |= {"this package, Hadamard bits": ours(hadamard(values, budget), codes)} | rivals(codes, values, budget)
        best = min(row["error"] for name, row in rows.items() if "error" in row and not name.startswith("this package"))
        for name, row in rows.items():
            print(f"{budget:g}  {name:36}", {key: float(f"{number:.4g}") if isinstance(number, float) else number
                                              for key, number in row.items()}, flush=True)  # fmt: skip
        print(f"{budget:g}  {rows['this package']['error'] / best:.3f} of the best rival's error", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
