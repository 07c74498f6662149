"""How long `bcdp` takes to start, as ratios to importing typer alone: `python benchmarks/speed/startup.py [RUNS]`.

Processor time, because the clock also counts what else the machine does; the least of runs that alternate, after one
that writes the bytecode.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BCDP = str(Path(sys.executable).with_name("bcdp"))
LIMIT = 1.5  # of the first two
STARTS = {
    "import typer": [sys.executable, "-c", "import typer"],
    "bcdp --version": [BCDP, "--version"],
    "bcdp --help": [BCDP, "--help"],
    "import bcdp": [sys.executable, "-c", "import bcdp"],
    "bcdp.Policy": [sys.executable, "-c", "import bcdp; bcdp.Policy"],
    "bcdp.Plan": [sys.executable, "-c", "import bcdp; bcdp.Plan"],
    "bcdp.make_plan": [sys.executable, "-c", "import bcdp; bcdp.make_plan"],
    "import scipy.optimize": [sys.executable, "-c", "import scipy.optimize"],
}


def seconds(command: list[str]) -> float:
    """Of the processor, for one run."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    process.returncode = status
    return used.ru_utime + used.ru_stime


def ratios(runs: int, names: list[str] | None = None) -> dict[str, float]:
    """What each start takes, in times what importing typer takes."""
    chosen = [*STARTS] if names is None else names
    measured: dict[str, list[float]] = {name: [] for name in chosen}
    for number in range(runs + 1):
        for name in chosen:
            took = seconds(STARTS[name])
            if number:
                measured[name].append(took)
    least = {name: min(times) for name, times in measured.items()}
    return {name: took / least["import typer"] for name, took in least.items()}


if __name__ == "__main__":
    found = ratios(int(sys.argv[1]) if sys.argv[1:] else 10)
    for name, ratio in found.items():
        print(f"{name:22} {ratio:6.2f}")
    if worst := [name for name in ("bcdp --version", "bcdp --help") if found[name] > LIMIT]:
        sys.exit(f"more than {LIMIT} times importing typer: {', '.join(worst)}")
