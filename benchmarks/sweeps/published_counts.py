"""What counts tell, against enumeration: `python published_counts.py [plans] [seed]`, 500 small plans.

For each plan all tallies of 3 to 8 people, priors within its q and odds, and four populations of others; then two
fifths as many plans that ask numbers by ranges together with others; then the levels that 500 other plans claim of
batches with fakes and two open groups; then the same for 500 plans of several messages. Prints the largest share of a
bound that was reached, after every 50 plans; the exit code is 1 if one was exceeded.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.message_counts import claims_used as message_claims_used
from support.message_counts import message_cases
from support.published_counts import cases, claims_used, ranged_cases, shares_used

Drawn = TypeVar("Drawn")


def main() -> int:
    count, seed = (int(given) for given in (*sys.argv[1:], "500", "1")[:2])
    rng = np.random.default_rng(seed)
    bounds = max(compared(rng, cases(rng, count)), compared(rng, ranged_cases(rng, 2 * count // 5)))
    claims = compared(rng, cases(rng, count), claims_used)
    return max(bounds, claims, compared(rng, message_cases(rng, count), message_claims_used))


def compared(
    rng: np.random.Generator,
    every: Iterator[Drawn],
    compare: Callable[[np.random.Generator, Drawn, int], list[float]] = shares_used,  # type: ignore[assignment]
) -> int:
    """Whether a bound was exceeded, or a claim about a batch."""
    started, used = time.monotonic(), [0.0]
    for number, case in enumerate(every, start=1):
        used.extend(compare(rng, case, 2))
        if number % 50 == 0:
            above = sum(share > 1 for share in used)
            told = f"{number:,} plans, {len(used) - 1:,} comparisons: {above} above what is proved"
            print(f"{told}, the closest at {max(used):.4f} of it; {time.monotonic() - started:.0f} s", flush=True)
    return int(max(used) > 1)


if __name__ == "__main__":
    sys.exit(main())
