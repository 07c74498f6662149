"""Ledgers of several plans at length: `python benchmarks/sweeps/ledgers.py`.

For 200 random pairs and triples of plans every statement of a ledger is compared with the exact worst prior on its
condition, a linear program. The exit code is 1 if a statement is below it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.ledger_priors import TOLERANCE, Compared, compared, random_plan

GROUPS = 200


def main() -> int:
    """0 if no statement is too low."""
    rng, found = np.random.default_rng(32), list[Compared]()
    for number in range(1, GROUPS + 1):
        found += compared(rng, [random_plan(rng) for _ in range(2 + number % 2)])
        if number % 20 == 0:
            print(f"{number} groups: {_summary(found)}", flush=True)
    return int(any(one.worst > one.stated + TOLERANCE for one in found))


def _summary(found: list[Compared]) -> str:
    low = sum(one.worst > one.stated + TOLERANCE for one in found)
    kinds = {kind: [one for one in found if one.kind == kind] for kind in ("plans", "person")}
    attained = {kind: sum(one.worst > 0.99 * one.stated for one in some) for kind, some in kinds.items()}
    added = sum(one.worst > one.deltas + TOLERANCE for one in kinds["plans"])
    return (
        f"{len(found):,} comparisons, {low} statements below the worst prior; within 1% of it: "
        f"{attained['plans']} on a plan's condition, {attained['person']} on the person's; "
        f"sums of deltas below it: {added}"
    )


if __name__ == "__main__":
    sys.exit(main())
