"""Panels at length, by exhaustion: `python benchmarks/sweeps/panels.py [300] [seed]`.

For random panels of two or three waves, and such a panel with a plan that is answered in one of its waves, every level
is compared with the exact worst prior over all histories of values, a linear program. The exit code is 1 if one is
below it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.ledger_priors import TOLERANCE
from support.panel_priors import Compared, of_ledger, of_panel, random_panel

EVERY = 50


def main() -> int:
    """0 if no level is below the truth."""
    count, seed = (int(given) for given in (*sys.argv[1:], "300", "1")[:2])
    rng, found = np.random.default_rng(seed), list[Compared]()
    for number in range(1, count + 1):
        plan = random_panel(rng, 2 + number % 2)
        found += [*of_panel(plan), *of_ledger(rng, plan, random_panel(rng))]
        if number % EVERY == 0 or number == count:
            print(f"{number} panels", *(f"  {line}" for line in _summary(found)), sep="\n", flush=True)
    return int(any(one.worst > one.stated + TOLERANCE for one in found))


def _summary(found: Sequence[Compared]) -> list[str]:
    lines = []
    for kind in dict.fromkeys(one.kind for one in found):
        some = [one for one in found if one.kind == kind]
        low = sum(one.worst > one.stated + TOLERANCE for one in some)
        near = sum(one.worst > 0.99 * one.stated for one in some)
        lines.append(f"{kind}: {len(some):,} compared, {low} below the worst prior, {near} within 1% of it")
    return lines


if __name__ == "__main__":
    sys.exit(main())
