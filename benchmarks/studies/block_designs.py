"""`make nightly`: tables that are designed for what is wanted, next to the best of all by an independent program.

A scale of five values: mean score, top two, cumulative shares and frequencies, each alone and all four together. A list
to tick with one strict item: item shares, next to separate features as well. The program is semidefinite, over all
extreme columns, solved by Clarabel, which shares no code with the design.
"""

from __future__ import annotations

import math
import sys
from itertools import product
from typing import Any

import clarabel
import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

from bcdp import Plan, Policy, make_plan
from bcdp.mechanisms.survey.estimation.decoder import information

Array = npt.NDArray[np.float64]

VALUES = ["very bad", "bad", "fair", "good", "very good"]
SCALE: dict[str, tuple[dict[str, Any], Array]] = {  # of each task what it wants at every value
    "mean": ({"mean": ["x"]}, np.linspace(0, 1, 5)[:, None]),
    "top two": ({"share": {"x": VALUES[3:]}}, np.array([[0.0], [0], [0], [1], [1]])),
    "cumulative": ({"share": {"x": "cumulative"}}, (np.arange(5)[:, None] <= np.arange(4)).astype(float)),
    "frequencies": ({"frequency": ["x"]}, np.eye(5)),
}
LISTS = [(3, 2), (3, 3), (4, 2), (4, 4), (5, 2), (6, 2), (8, 3)]  # items, and how many may be ticked
STRICT, OTHERS = 0.2, 1.0
MOST_ENUMERATED = 12  # sets on one side of the strict item, of which all subsets are columns


def least_criterion(criterion: Array, columns: Array) -> float:
    """The least `tr(C M^-1)` over how often columns are used: `M = sum_f mu_f f f^t / mean(f)`, `sum_f mu_f f = 1`.

    `tr(X)` is least for a positive semidefinite matrix `[[M, R], [R^t, X]]` with `C = R R^t`.
    """
    size, count = columns.shape
    values, vectors = np.linalg.eigh(criterion)
    root = vectors[:, values > 1e-10] * np.sqrt(values[values > 1e-10])
    rank = root.shape[1]
    whole = size + rank
    pairs = [(i, j) for j in range(whole) for i in range(j + 1)]  # the upper triangle, column by column
    free = [(i, j) for j in range(rank) for i in range(j + 1)]
    scaled = columns / np.sqrt(columns.mean(axis=0))
    cone, start = np.zeros((len(pairs), count + len(free))), np.zeros(len(pairs))
    for row, (i, j) in enumerate(pairs):
        factor = 1.0 if i == j else np.sqrt(2)
        if j < size:
            cone[row, :count] = -factor * scaled[i] * scaled[j]
        elif i < size:
            start[row] = factor * root[i, j - size]
        else:
            cone[row, count + free.index((i - size, j - size))] = -factor
    rows = np.hstack([columns, np.zeros((size, len(free)))])
    positive = np.hstack([-np.eye(count), np.zeros((count, len(free)))])
    costs = np.concatenate([np.zeros(count), [float(i == j) for i, j in free]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(size), clarabel.NonnegativeConeT(count), clarabel.PSDTriangleConeT(whole)]
    variables = len(costs)
    solver = clarabel.DefaultSolver(
        csc_array((variables, variables)),
        costs,
        csc_array(np.vstack([rows, positive, cone])),
        np.concatenate([np.ones(size), np.zeros(count), start]),
        cones,
        settings,
    )
    solved = solver.solve()
    assert str(solved.status) in ("Solved", "AlmostSolved"), solved.status
    return float(solved.obj_val)


def criterion_of(plan: Plan, criterion: Array) -> float:
    """`tr(C M^-1)` of the table of a plan that asks one question."""
    (table,) = (each.dense().weights / 2.0**32 for each in plan.tables)
    informed = (table / table.mean(axis=0)) @ table.T
    return float(np.trace(criterion @ np.linalg.pinv(informed, hermitian=True)))


def two_valued(size: int, budget: float) -> Array:
    """All columns of 1 and `e^budget`: these are the extreme ones where any two inputs may differ by the budget."""
    sets = np.array(list(product([0.0, 1.0], repeat=size)))[:-1]
    return np.exp(budget * sets).T


def scale_gaps(budget: float) -> tuple[dict[str, tuple[float, float]], float]:
    """For each task of the scale alone n times the variance, ours and the best; of all four the ratio of criteria."""

    def plan_of(*tasks: dict[str, Any]) -> Plan:
        return make_plan(
            Policy(epsilon=budget, features={"x": {"type": "ordinal", "values": VALUES}}, tasks=list(tasks))
        )

    columns, alone = two_valued(5, budget), {}
    for name, (task, numbers) in SCALE.items():
        known = float((numbers.mean(axis=0) ** 2).sum())
        each = criterion_of(plan_of(task), numbers @ numbers.T / 5), least_criterion(numbers @ numbers.T / 5, columns)
        alone[name] = (each[0] * 5 - known, each[1] * 5 - known)
    plan = plan_of(*(task for task, _ in SCALE.values()))
    criterion = np.zeros((5, 5))
    for task in plan.policy.tasks:
        for target, weight in task.targets(plan.policy):
            numbers = target.at(plan.policy, plan.questions[0])
            criterion += weight * task.scale(plan.policy, target, budget) * numbers @ numbers.T
    return alone, criterion_of(plan, criterion) / least_criterion(criterion, columns)


def list_policy(items: int, most: int, strict: bool = True) -> Policy:
    """A list with a strict item."""
    values = [f"i{number}" for number in range(items)]
    own: dict[str, Any] = {"items": {"i0": {"delta": STRICT}}} if strict else {}
    media = {"type": "multiple", "values": values, "at_most": most, "delta": OTHERS, **own}
    return Policy(epsilon=OTHERS, features={"media": media}, tasks=[{"frequency": ["media"]}])


def list_gap(items: int, most: int) -> tuple[float, float, float, float]:
    """n times the sum of variances, sets equally likely: of the items' shares and none of these, ours and the best.

    Then of the items' shares alone, ours and those of separate features.
    """
    plan = make_plan(list_policy(items, most))
    sets = plan.policy.features["media"].sets
    ticked = np.array([[float(item in each) for item in range(items)] for each in sets])
    wanted = np.column_stack([ticked, ticked.sum(axis=1) == 0])  # and of none of these
    first = ticked[:, 0] > 0
    inside = [np.flatnonzero(~first), np.flatnonzero(first)]
    # the extreme columns: of one side of the strict item all are equal, and the other differ by twice its delta
    columns = [np.ones(len(sets)), *(np.exp(STRICT * side) for side in (first, ~first))]
    criterion, known = wanted @ wanted.T / len(sets), float((wanted.mean(axis=0) ** 2).sum())
    ours, best = criterion_of(plan, criterion) * len(sets) - known, math.nan
    if max(map(len, inside)) <= MOST_ENUMERATED:
        for side in inside:
            for high in product([0.0, 1.0], repeat=len(side)):
                column = np.ones(len(sets))
                column[side] = np.exp(STRICT * (2 * np.array(high) - 1))
                columns.append(column)
        best = least_criterion(criterion, np.array(columns).T) * len(sets) - known
    of_items = criterion_of(plan, ticked @ ticked.T) - float((ticked.mean(axis=0) ** 2).sum())
    return ours, best, of_items, separate(items, ticked)


def separate(items: int, ticked: Array) -> float:
    """The same of the items as features of their own, of which nothing is assumed either; each share counts equally."""
    features = {f"i{number}": {"type": "binary", "delta": OTHERS if number else STRICT} for number in range(items)}
    policy = Policy(epsilon=OTHERS, features=features, tasks=[{"frequency": [*features]}], correlation=1.0)
    informed = information(make_plan(policy))
    return float(sum(1 / (4 * info) for info in informed.values()) - ((ticked.mean(axis=0) - 0.5) ** 2).sum())


def main() -> None:
    """Prints errors next to the best; ends with 1 if one is missed by more than it should be."""
    wrong = False
    for budget in (0.5, 1.0, 2.0, 3.0):
        alone, together = scale_gaps(budget)
        texts = [f"{name} {ours:.4g} (best {best:.4g})" for name, (ours, best) in alone.items()]
        print(f"five values, b = {budget:g}: {', '.join(texts)}; together {together - 1:+.2%}", flush=True)
        wrong |= together > 1.03 or any(ours > 1.02 * best for ours, best in alone.values())
    for items, most in LISTS:
        ours, best, of_items, apart = list_gap(items, most)
        print(
            f"{items} items, at most {most}, one at {STRICT}: {ours:.4g} (best {best:.4g}); items alone {of_items:.4g} "
            f"(separate {apart:.4g})",
            flush=True,
        )
        wrong |= ours > 1.03 * best
    if wrong:
        sys.exit("a table is further from the best than it should be")


if __name__ == "__main__":
    main()
