"""n times the error of two-way tables as designed, beside the best that was found by hand: two-way-tables.md has both.

python benchmarks/studies/two_way_tables.py
"""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

from bcdp import Plan, Policy, make_plan
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.statistics import Single

QS = (0.0, 0.05, 0.2, 1.0)
BEST = {
    (2, 2): (66.9, 104.7, 123.2, 145.8),
    (2, 5): (126.8, 240.7, 340.9, 442.3),
    (5, 5): (802, 1644, 1692, 2298),
    (4, 10): (1127, 2260, 2462, 3767),
}
SIX = (1595, 3052, 6009, 20322)


def feature(size: int, delta: float) -> dict[str, Any]:
    """A feature with so many values."""
    kind = {"type": "binary"} if size == 2 else {"type": "categorical", "values": [f"v{i}" for i in range(size)]}
    return {**kind, "delta": delta}


def error(plan: Plan) -> float:
    """n times the squared errors of all cells at the uniform law, without what chance leaves openly."""
    policy, told = plan.policy, information(plan)
    total = 0.0
    for target, weight in (pair for task in policy.tasks for pair in task.targets(policy)):
        openly = 1 / target.size(policy) if isinstance(target, Single) and target.size(policy) > 1 else 0.0
        total += weight * (1 / told[target] - openly)
    return total


def main() -> None:
    """Prints the table of docs/guide/two-way-tables.md."""
    for sizes, best in BEST.items():
        features = {"a": feature(sizes[0], 0.2), "b": feature(sizes[1], 2.0)}
        for q, known in zip(QS, best, strict=True):
            plan = make_plan(Policy(epsilon=2, correlation=q, features=features, tasks=[{"table": ["a", "b"]}]))
            found = error(plan)
            print(f"{sizes[0]} x {sizes[1]}, q = {q}: {found:.1f}, best found {known}, {found / known:.3f}", flush=True)
    names = [f"x{i}" for i in range(6)]
    features = {name: feature(2, 0.2 if i < 2 else 2.0) for i, name in enumerate(names)}
    tasks = [{"table": list(pair)} for pair in combinations(names, 2)]
    for q, known in zip(QS, SIX, strict=True):
        found = error(make_plan(Policy(epsilon=2, correlation=q, features=features, tasks=tasks)))
        print(f"six binary features, q = {q}: {found:.0f}, best found {known}, {found / known:.3f}", flush=True)
    twenty()


def twenty() -> None:
    """Prints how long all 190 tables of twenty features take to plan, in processor time, and the gap."""
    features = {f"b{i}": feature(2, 0.3 if i < 3 else 2.0) for i in range(10)}
    features |= {f"c{i}": feature(4, 0.3 if i < 2 else 2.0) for i in range(10)}
    tasks = [{"table": list(pair)} for pair in combinations(features, 2)]
    for q in QS:
        begun = time.process_time()
        plan = make_plan(Policy(epsilon=2, correlation=q, features=features, tasks=tasks))
        seconds, size = time.process_time() - begun, len(plan.text) // 1000
        gap = plan.certificate.optimality_gap
        print(f"190 tables, q = {q}: {seconds:.0f} s, gap {gap:.4f}, {len(plan.menus)} menus, {size} KB", flush=True)


if __name__ == "__main__":
    main()
