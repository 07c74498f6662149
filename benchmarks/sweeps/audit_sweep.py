"""100,000 random pairs of a plan and a prior, audited exactly: `python benchmarks/sweeps/audit_sweep.py [pairs]`.

Each plan is certified for the prior's own q and enumerated for that prior; the certificates are those of the device's
check, which shares no code with the planner. Some priors of the tests make q as small as 0 and as large as 1.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from bcdp.audit import audit_plan, population_of, verify_limits
from bcdp.plan import Plan
from support.helpers import exact_q, listed, random_document, random_prior, sizes_of

PRIORS = 20  # for each plan


def sweep(seed: int) -> tuple[int, float]:
    """The violations among the priors of one random plan, and the largest part of a delta that a prior used."""
    rng = np.random.default_rng([seed, 2024])
    document = random_document(rng)
    plan = Plan.build(document)
    names, broken, used = list(plan.policy.features), 0, 0.0
    for _ in range(PRIORS):
        prior = random_prior(rng, sizes_of(plan))
        document["correlation"] = listed(exact_q(plan, prior))
        claims, found = verify_limits(document), audit_plan(plan, population_of(names, prior))
        pairs = [(found.epsilon.measured, claims.epsilon)]
        pairs += [(found.c[name].measured, claims.c[name]) for name in names]
        pairs += [(found.delta[name].measured, claims.delta[name]) for name in names]
        broken += any(measured > claimed for measured, claimed in pairs)
        used = max(used, *(m / c for m, c in pairs[-len(names) :] if 0 < c < np.inf), 0.0)
    return broken, used


def main() -> None:
    """Prints the number of pairs, of violations, and how close the closest came."""
    plans = int(sys.argv[1] if len(sys.argv) > 1 else 100_000) // PRIORS
    started = time.monotonic()
    with multiprocessing.Pool(os.cpu_count()) as pool:
        results = pool.map(sweep, range(plans), chunksize=50)
    print(
        f"{plans * PRIORS:,} pairs: {sum(broken for broken, _ in results)} violations, "
        f"largest measured / certified delta {max(used for _, used in results):.9f}, "
        f"{time.monotonic() - started:.0f} s"
    )


if __name__ == "__main__":
    main()
