"""`make nightly`: how plans for many different demands compare with a search that narrows nothing.

`python benchmarks/sweeps/many_demands.py [family ...]` writes a row for each policy: `n` times the error of its design,
that of the design found by growing every group by every feature, and the processor time of both. The exit code is 1
if the first is more than 0.3% above the second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bcdp import Policy
from bcdp.correlation import correlation_of
from bcdp.mechanisms.survey.design.column_generation import design
from bcdp.mechanisms.survey.design.joint.candidates import Growth, ShapeOffers
from bcdp.mechanisms.survey.design.planner import Setting

EVERYTHING = 1000  # more than there are features
FULL = Growth(seeds=2, candidates=EVERYTHING, still_tried=EVERYTHING)
MOST_LOST = 0.003


def binary(deltas: Any, epsilon: float = 2.0, correlation: Any = 0.1) -> Policy:
    """Yes-or-no features of these demands."""
    return policy(deltas, lambda number: {"type": "binary"}, epsilon, correlation)


def policy(deltas: Any, kind: Callable[[int], dict[str, Any]], epsilon: float = 2.0, correlation: Any = 0.1) -> Policy:
    """Features of these demands."""
    features = {f"x{number}": {**kind(number), "delta": round(float(delta), 4)} for number, delta in enumerate(deltas)}
    return Policy(epsilon=epsilon, features=features, correlation=correlation)


def evenly(count: int) -> Any:
    """Demands at equal distances."""
    return np.linspace(0.2, 1.5, count)


def third_has_four_values(number: int) -> dict[str, Any]:
    """Every third feature has four values, all others two."""
    return {"type": "categorical", "values": list("abcd")} if number % 3 == 0 else {"type": "binary"}


FAMILIES: dict[str, dict[str, Policy]] = {
    "even": {f"{count} at equal distances": binary(evenly(count)) for count in (14, 16, 20, 30, 40)},
    "random": {f"{n} at random": binary(np.random.default_rng(n).uniform(0.1, 2, n)) for n in (16, 20, 30, 40)},
    "strict": {f"{count}, q = .05, epsilon 1": binary(evenly(count), 1.0, 0.05) for count in (20, 40)},
    "kinds": {f"{count}, two and four values": policy(evenly(count), third_has_four_values) for count in (16, 30)},
    "odds": {f"{count}, odds 3": binary(evenly(count), correlation={"q": 0.1, "odds": 3}) for count in (16, 20)},
}


def found(asked: Policy, growths: tuple[Growth, ...] = ()) -> tuple[float, float]:
    """`n` times the error of the design, as the design weighs it, and the processor time that it took."""
    started = time.process_time()
    setting = Setting.of(asked, correlation_of(asked))
    offers = ShapeOffers(setting.classes, setting.epsilon, setting.outside, growths)
    objective = design(setting.classes, setting.total, further=offers).objective
    return objective, time.process_time() - started


def main(families: list[str]) -> int:
    """0 if no plan is much worse than the full search's."""
    print("| demands | design | full search | ratio | seconds | of the full search |\n|---|" + "---:|" * 5)
    worst = 0.0
    for family in families or FAMILIES:
        for name, asked in FAMILIES[family].items():
            (ours, seconds), (full, longer) = found(asked), found(asked, (FULL,))
            worst = max(worst, ours / full)
            line = f"| {name} | {ours:.1f} | {full:.1f} | {ours / full:.4f} | {seconds:.1f} | {longer:.1f} |"
            print(line, flush=True)
    return int(worst > 1 + MOST_LOST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
