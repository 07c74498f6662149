"""`make nightly`: the certificate of random questions about blocks against the worst joint prior by a linear program.

200 blocks with views of follow-ups, nested ones, numbers, missing values, and a question about a feature outside; 200
questions about a block, or a list to tick, and a feature outside jointly; both with q and odds as assumed. Then 200 of
either kind with bounds as a sample measures them: q and odds of each feature, between ranges of numbers, which are seen
rounded or in steps where they are among the others.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from bcdp import Plan
from bcdp.audit import verify_limits
from support.block_plans import random_crossed_plan, random_measured_plan, random_plan
from support.block_priors import worst_by_feature

BLOCKS = 200
SETTINGS = [(0.0, None), (0.05, None), (0.3, None), (0.8, None), (1.0, None), (0.3, 2.0), (0.8, 3.0), (1.0, 5.0)]
DRAWN = [random_plan, random_crossed_plan, random_measured_plan]
KINDS = ["blocks", "blocks with others", "measured bounds"]
EQUAL = 1e-7  # relative to the level: what a linear program in doubles leaves open


def compared(seed: int) -> tuple[int, int, float]:
    """How many features of a random block there are, of how many the program reaches the level, the largest excess."""
    rng = np.random.default_rng([seed % BLOCKS, 34 + seed // BLOCKS])
    q, odds = SETTINGS[seed % len(SETTINGS)]
    plan = DRAWN[seed // BLOCKS](rng, q, odds)
    verdict = verify_limits(plan.model_dump(mode="json", by_alias=True) | {"certificate": _claims(plan)})
    assert (verdict.delta, verdict.c) == (plan.levels.delta, plan.levels.c)
    certified = plan.levels.delta | {f"{name}.{item}": delta for (name, item), (_, delta) in plan.levels.items.items()}
    excess = [math.log(ratio) - certified[name] for name, ratio in worst_by_feature(plan).items()]
    return len(excess), sum(abs(more) < EQUAL for more in excess), max(excess)


def _claims(plan: Plan) -> dict[str, object]:
    levels = plan.levels
    items: dict[str, dict[str, object]] = {}
    for (name, item), (c, delta) in levels.items.items():
        asked = plan.policy.features[name].items[item].delta
        items.setdefault(name, {})[item] = {"asked": asked, "certified": delta, "c": c}
    return {
        "epsilon": levels.epsilon,
        "features": {
            name: {"asked": 20.0, "certified": delta, "c": levels.c[name]}
            | ({"items": items[name]} if name in items else {})
            for name, delta in levels.delta.items()
        },
        "objective": None,
        "optimality_gap": None,
    }


def main() -> None:
    """Prints how many levels were compared, how many are reached, and by how much one is exceeded."""
    started = time.monotonic()
    with multiprocessing.Pool(os.cpu_count()) as pool:
        results = pool.map(compared, range(len(DRAWN) * BLOCKS), chunksize=5)
    for number, kind in enumerate(KINDS):
        features, equal, excess = zip(*results[number * BLOCKS : (number + 1) * BLOCKS], strict=True)
        print(f"{kind}: {sum(features)} features, {sum(equal)} levels reached, largest excess {max(excess):.1e} nats")
    print(f"{time.monotonic() - started:.0f} s")
    if max(excess for *_, excess in results) > EQUAL:
        sys.exit("a prior exceeds the certificate")


if __name__ == "__main__":
    main()
