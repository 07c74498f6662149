"""Plans for tables, groups and distributions against exact priors: no claim may be exceeded.

    python benchmarks/sweeps/table_pairs.py [PLANS [PRIORS]]

Each plan, as the planner makes it, every second one for a table of three features, meets so many random priors; its q
is computed from each. A value that is missing is distinguished from the one that it is coded as, and numbers lie on
eighths, several of them in one step. The exit code is 1 if a claim is exceeded.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "statistics"))

from test_two_way_tables import planned

from support import helpers
from support.steps import fine
from support.table_priors import untrue_of_tables


def main(plans: int = 200, priors: int = 100) -> int:
    """0 if every claim holds."""
    helpers.sizes_of = fine
    rng, untrue, done = np.random.default_rng(17), 0, 0
    for number in range(1, plans + 1):
        tasks = [{"table": ["a", "b", "x"]}] if number % 2 == 0 else []
        found = untrue_of_tables(planned(rng, tasks), rng, priors)
        untrue, done = untrue + sum(map(bool, found)), done + len(found)
        if number % 10 == 0 or number == plans:
            print(f"{number} plans, {done:,} exact priors: {untrue} with a claim below the truth", flush=True)
    return int(untrue > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
