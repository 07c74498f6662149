"""The second assumption at length: `python benchmarks/sweeps/odds.py [count] [seed]`, 20,000 of each.

Random tables under random q and odds have the ratio that a linear program finds, no random kernel exceeds the theorem
(theory.md, Theorems 8 and 9), two independent responses reach it, and no exact prior exceeds the certificate of a
plan that states its q and odds. The exit code is 1 if that is not so.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "notions"))
from test_odds import differences, tight_differences

from bcdp.plan import certify
from support.priors import binds, plan_and_prior, untrue_claims

EVERY = 5  # plan is looked at whether it needs both numbers
EXACT = 1e-12  # relative: programs of this size end at corners


def main() -> None:
    """Prints the largest difference, how many are above what is certified, and how many need both numbers."""
    count, seed = (int(given) for given in (*sys.argv[1:], "20000", "1")[:2])
    started, rng = time.monotonic(), np.random.default_rng(seed)
    certificate, theorem = zip(*differences(count, seed), strict=True)
    largest, above = max(map(abs, certificate)), sum(difference > EXACT for difference in theorem)
    print(f"{count:,} tables: certificate and program differ by at most {largest:.1e}", flush=True)
    print(f"{count:,} kernels: {above} above the theorem", flush=True)
    apart = max(map(abs, tight_differences(count, seed)))
    print(f"{count:,} pairs of responses: theorem and program differ by at most {apart:.1e}", flush=True)
    untrue = both = alone = 0
    for number in range(count):
        plan, prior = plan_and_prior(rng)
        claims = certify(plan)
        untrue += bool(untrue_claims(plan, claims, prior))
        both += number % EVERY == 0 and binds(plan, claims)
        alone += any(most == 1 for *_, most in plan.correlation["odds"])
    print(
        f"{count:,} plans with exact priors: {untrue} with a claim below the truth; {both:,} of {count // EVERY:,} "
        f"need both q and odds, {alone:,} of all state odds of exactly 1; {time.monotonic() - started:.0f} s"
    )
    if max(largest, apart) > EXACT or above or untrue or both < count // EVERY / 2:
        sys.exit(1)


if __name__ == "__main__":
    main()
