"""`make nightly`: the certificate of 200 random blocks against the worst joint prior by a linear program.

Views of follow-ups, nested ones, numbers, missing values; with a question about a feature outside, q and odds. Then 200
questions about a block, or a list to tick, and a feature outside jointly.
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
from support.block_plans import random_crossed_plan, random_plan, worst_by_feature

BLOCKS = 200
SETTINGS = [(0.0, None), (0.05, None), (0.3, None), (0.8, None), (1.0, None), (0.3, 2.0), (0.8, 3.0), (1.0, 5.0)]
EQUAL = 1e-7  # relative to the level: what a linear program in doubles leaves open


def compared(seed: int) -> tuple[int, int, float]:
    """How many features of a random block there are, of how many the program reaches the level, the largest excess."""
    rng = np.random.default_rng([seed % BLOCKS, 34 + seed // BLOCKS])
    q, odds = SETTINGS[seed % len(SETTINGS)]
    plan = random_plan(rng, q, odds) if seed < BLOCKS else random_crossed_plan(rng, q, odds)
    verdict = verify_limits(plan.model_dump(mode="json", by_alias=True) | {"certificate": _claims(plan)})
    assert (verdict.delta, verdict.c) == (plan.levels.delta, plan.levels.c)
    certified = plan.levels.delta | {f"{name}.{item}": delta for (name, item), (_, delta) in plan.levels.items.items()}
    excess = [math.log(ratio) - certified[name] for name, ratio in worst_by_feature(plan, q, odds).items()]
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
        results = pool.map(compared, range(2 * BLOCKS), chunksize=5)
    features, equal, excess = (list(column) for column in zip(*results, strict=True))
    print(
        f"{2 * BLOCKS} blocks, {sum(features)} features: {sum(equal)} levels reached by a prior, largest excess "
        f"{max(excess):.1e} nats, {time.monotonic() - started:.0f} s"
    )
    if max(excess) > EQUAL:
        sys.exit("a prior exceeds the certificate")


if __name__ == "__main__":
    main()
