"""Lists to tick: the plan's error next to PrivSet's, exactly, for the same items and the same people.

    python benchmarks/studies/tick_rivals.py

PrivSet (Wang and others, INFOCOM 2018) pads every set to the most items that may be ticked, and answers with k of the
items and dummies: each of the subsets that share an element with the padded set is e^epsilon times as likely as each of
the others. An item is decoded by whether it is in the answer. Both errors are exact: n times the sum of the variances
of all item shares, each item ticked by one in ten, sets that are too large left out.
"""

from __future__ import annotations

from math import comb, exp

import numpy as np

from bcdp import Plan, Policy, make_plan
from bcdp.policy import MultipleFeature

SHARE = 0.1
CASES = [(8, 3), (12, 2)]


def population(feature: MultipleFeature) -> tuple[np.ndarray, np.ndarray]:
    """Which items each set has, and how many people have it."""
    items = len(feature.values)
    ticked = np.array([[item in each for item in range(items)] for each in feature.sets], dtype=float)
    shares = np.array([SHARE ** len(each) * (1 - SHARE) ** (items - len(each)) for each in feature.sets])
    return ticked, shares / shares.sum()


def plan_error(plan: Plan) -> float:
    """By enumeration of the plan's integer table."""
    feature = plan.policy.features["list"]
    assert isinstance(feature, MultipleFeature)
    ticked, shares = population(feature)
    decoded = plan.tables[0].decode(ticked)
    answers = shares @ (plan.tables[0].dense().weights / 2.0**32)
    return float(answers @ (decoded**2).sum(axis=1) - ((shares @ ticked) ** 2).sum())


def privset_error(items: int, most: int, epsilon: float, size: int, ticked_share: float) -> float:
    """By the chances that an item that is ticked, or is not, is among the `size` of the answer."""
    pool, factor = items + most, exp(epsilon)
    total = comb(pool - most, size) + factor * (comb(pool, size) - comb(pool - most, size))
    apart = comb(pool - most - 1, size - 1)  # answers with the item that share nothing with the set
    hit = factor * comb(pool - 1, size - 1) / total
    miss = (apart + factor * (comb(pool - 1, size - 1) - apart)) / total
    chance = ticked_share * hit + (1 - ticked_share) * miss
    return items * chance * (1 - chance) / (hit - miss) ** 2


def main() -> None:
    print("items  most  epsilon    plan  PrivSet   k  people PrivSet needs")
    for items, most in CASES:
        for epsilon in (1.0, 2.0, 3.0):
            values = [f"item {item}" for item in range(items)]
            feature = {"type": "multiple", "values": values, "at_most": most}
            plan = make_plan(Policy(epsilon=epsilon, features={"list": feature}))
            declared = plan.policy.features["list"]
            assert isinstance(declared, MultipleFeature)
            ticked, shares = population(declared)
            share = float((shares @ ticked)[0])  # that of all items, as they are alike
            error, size = min((privset_error(items, most, epsilon, size, share), size) for size in range(1, items + 1))
            ours = plan_error(plan)
            print(f"{items:5}  {most:4}  {epsilon:7g}  {ours:6.2f}  {error:7.2f}  {size:2}  {error / ours:.3f}")


if __name__ == "__main__":
    main()
