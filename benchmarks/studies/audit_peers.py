"""Audits other libraries' randomized response at their stated level: `python benchmarks/studies/audit_peers.py [runs]`.

The libraries are installed into an environment of their own (bench-output/peers), which needs a package index. Each
runs as a black box: records go in through one file and its outputs come back through another.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np

from bcdp.audit import audit_mechanism, population_of
from bcdp.randomizers import binary

HOME = Path(__file__).parents[2] / "bench-output" / "peers"
PACKAGES = ("opendp==0.16.0", "multi-freq-ldpy==0.2.5")
BUDGET = 1.0

SCRIPTS = {
    "OpenDP 0.16.0, make_randomized_response_bool": """
import math
import opendp.prelude as dp
dp.enable_features("contrib")
answer = dp.m.make_randomized_response_bool(prob=1 / (1 + math.exp(-budget)))
""",
    "multi-freq-ldpy 0.2.5, GRR_Client": """
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
answer = lambda value: GRR_Client(int(value), 2, budget)
""",
}
FRAME = """
import sys
import numpy as np
source, target, budget = sys.argv[1], sys.argv[2], float(sys.argv[3])
{library}
np.save(target, np.array([int(answer(bool(value))) for value in np.load(source)]))
"""


def install() -> None:
    """The libraries, into their environment, unless they are there."""
    if not HOME.exists():
        venv.create(HOME, with_pip=True)
        subprocess.run([HOME / "bin" / "pip", "install", "--quiet", *PACKAGES], check=True)


def peer(library: str) -> Any:
    """A library's randomized response as a mechanism."""

    def mechanism(records: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "records.npy", Path(folder) / "outputs.npy"
            np.save(source, records[:, 0])
            arguments = [str(source), str(target), str(BUDGET)]
            subprocess.run([HOME / "bin" / "python", "-c", FRAME.format(library=library), *arguments], check=True)
            return np.load(target)

    return mechanism


def ours(records: Any) -> Any:
    """This package's table, with fresh words from the operating system's generator."""
    words = np.frombuffer(np.random.default_rng().bytes(4 * len(records)), dtype=np.uint32)
    return binary(BUDGET).sample(records[:, 0], words).astype(np.int64)


def main() -> None:
    """Prints the limit found for each library, and whether it refutes the stated level and one that is too low."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40_000
    install()
    mechanisms = {name: peer(library) for name, library in SCRIPTS.items()} | {"bcdp, binary(1.0)": ours}
    for name, mechanism in mechanisms.items():
        started = time.monotonic()
        found = audit_mechanism(mechanism, population_of(["x"], [0.5, 0.5]), runs).epsilon.below
        print(
            f"{name}: at least {found:.3f} nats, stated {BUDGET:g}; refutes the stated level: {found > BUDGET}, "
            f"refutes {0.8 * BUDGET:g}: {found > 0.8 * BUDGET}; {runs:,} runs, {time.monotonic() - started:.0f} s"
        )


if __name__ == "__main__":
    main()
