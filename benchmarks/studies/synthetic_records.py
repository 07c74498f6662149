"""How many published intervals synthetic records lie within: `python synthetic_records.py [collections] [records]`.

The collections are those of `tests/estimates/test_synthesis.py`: five features, two tables of two, one of three, a
distribution, means by group. The exit code is 1 if any collection misses more than one interval in twenty.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "estimates"))

from test_synthesis import collected

from bcdp import estimate
from bcdp.estimates.synthesis import synthesize


def main(collections: int = 200, records: int = 5_000) -> int:
    """0 if records agree with the estimates."""
    missed, count, complete, worst = 0, 0, 0, 0.0
    for number in range(collections):
        synthesis = synthesize(estimate(collected(20_000, number)[1]), records, seed=number)
        outside, every = len(synthesis.outside), len(synthesis.agreements)
        missed, count, complete = missed + outside, count + every, complete + (outside == 0)
        worst = max(worst, outside / every)
        if (number + 1) % 20 == 0 or number + 1 == collections:
            inside = 100 * (1 - missed / count)
            print(
                f"{number + 1} collections: {inside:.3f}% of {count:,} intervals, all of them in {complete}", flush=True
            )
    return int(worst > 0.05)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
