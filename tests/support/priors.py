"""Priors within q and odds: the worst one by linear programming, and exact ones beside random plans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag
from scipy.optimize import linprog

from bcdp.correlation import Listed
from bcdp.plan import Certified, Plan, certify
from support.enumeration import below_truth
from support.helpers import Array, asked_sets, random_document, rounding, sizes_of

CellQuestion = npt.NDArray[np.int64]


Case = tuple[Array, Array, float, float]  # numerators and denominators of one output, q and odds


def worst_by_program(up: Array, down: Array, q: float, odds: float) -> float:
    """The largest `sum P up / sum Q down` over all laws P and Q within the bounds, as a linear program."""
    return worst_by_programs([(up, down, q, odds)])[0]


def worst_by_programs(cases: Sequence[Case]) -> list[float]:
    """The same of many outputs in one program, whose parts do not touch each other."""
    goals, least, equal = zip(*(_program(*case) for case in cases), strict=True)
    limits = np.tile([1.0, 0.0, 0.0], len(cases))
    rows = block_diag(*least)
    found = linprog(np.concatenate(goals), rows, np.zeros(len(rows)), block_diag(*equal), limits, method="highs")
    assert found.success, found.message
    ends = np.cumsum([len(goal) for goal in goals])[:-1]
    return [float(-goal @ part) for goal, part in zip(goals, np.split(found.x, ends), strict=True)]


def _program(up: Array, down: Array, q: float, odds: float) -> tuple[Array, Array, Array]:
    """What is minimised, what is at most 0, and what is 1, 0 and 0.

    Both laws are scaled so that the denominator is 1; `scale` is their mass.
    """
    size = len(up)
    one, none = np.eye(size), np.zeros((size, size))
    column, row = np.zeros((size, 1)), np.zeros(size)
    rows = [np.hstack([one, -one, -one, column])]  # P - Q <= apart
    if odds < math.inf:
        rows += [np.hstack([one, -odds * one, none, column]), np.hstack([-odds * one, one, none, column])]
    least = np.vstack([*rows, np.concatenate([row, row, np.ones(size), [-q]])])  # apart sums to at most q
    equal = np.array(
        [
            np.concatenate([row, down, row, [0.0]]),
            np.concatenate([np.ones(size), row, row, [-1.0]]),
            np.concatenate([row, np.ones(size), row, [-1.0]]),
        ]
    )
    return np.concatenate([-up, row, row, [0.0]]), least, equal


def random_bounds(rng: np.random.Generator) -> tuple[float, float]:
    """A q and odds of every size, 1 and no limit among them; in half of all cases both bind."""
    odds = float(
        rng.choice(
            [1.0, 1.001 + rng.random() / 10, 1.001 + rng.exponential(2.0), 50.0, math.inf], p=[0.1, 0.2, 0.5, 0.1, 0.1]
        )
    )
    reach = 1.0 if math.isinf(odds) else (odds - 1) / (odds + 1)
    q = float(rng.choice([reach * rng.random(), rng.random(), 0.0, 1.0], p=[0.6, 0.2, 0.1, 0.1]))
    return (q if q > 1e-3 else 0.0), odds  # solvers are exact to 1e-7 only


def plan_and_prior(rng: np.random.Generator) -> tuple[Plan, CellQuestion]:
    """A random plan that states exactly the q and the odds of a random prior, whose weights are whole numbers."""
    document = random_document(rng)
    draft = Plan.build(document)
    prior = whole_prior(rng, sizes_of(draft))
    names = list(draft.policy.features)
    sets = {(name, asked - {name}) for name in names for asked in asked_sets(draft)}
    found = {(name, others): bounds_of(prior, names, name, others) for name, others in sets if others}
    rows = sorted((name, sorted(others), up(q), up(odds)) for (name, others), (q, odds) in found.items())
    document["correlation"] = {
        "kind": "listed",
        "source": "test",
        "bounds": [[name, others, q] for name, others, q, _ in rows if rng.random() < 0.95],
        "odds": [[name, others, odds] for name, others, _, odds in rows if rng.random() < 0.95],
    }
    return Plan.build(document), prior


def whole_prior(rng: np.random.Generator, sizes: tuple[int, ...]) -> CellQuestion:
    """Weights of at least 1: independent features, or nearly so, a rare cell that tells much, or any."""
    independent = np.ones(sizes, dtype=np.int64)
    for axis, size in enumerate(sizes):
        independent *= rng.integers(1, 6, size).reshape([size if k == axis else 1 for k in range(len(sizes))])
    kind = rng.random()
    if kind < 0.05:
        return independent
    if kind < 0.2:
        return 8 * independent + rng.integers(0, 8, sizes)
    if kind < 0.5:
        rare = 20 * independent
        rare[tuple(rng.integers(size) for size in sizes)] = int(rng.integers(1, 400))
        return rare
    return rng.integers(1, int(rng.choice([3, 10, 60])), sizes)


def bounds_of(prior: CellQuestion, names: list[str], name: str, others: frozenset[str]) -> tuple[Fraction, Fraction]:
    """The exact q and odds of a prior for one feature and a set of others."""
    kept = [axis for axis, other in enumerate(names) if other == name or other in others]
    table = prior.sum(axis=tuple(axis for axis in range(prior.ndim) if axis not in kept))
    table = np.moveaxis(table, kept.index(names.index(name)), 0)
    weights = table.reshape(len(table), -1)
    masses = weights.sum(axis=1)
    common = weights * (math.lcm(*masses.tolist()) // masses)[:, None]  # every row has the same sum
    assert common.sum() < 2**62
    apart = np.abs(common[:, None] - common[None, :]).sum(axis=2).max()
    q = Fraction(int(apart), 2 * int(common[0].sum()))
    most, least = common.max(axis=0).tolist(), common.min(axis=0).tolist()
    return q, max(map(Fraction, most, least))


def up(number: Fraction) -> float:
    """The least double that is not below a number."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def untrue_claims(plan: Plan, claims: Certified, prior: CellQuestion) -> list[str]:
    """The features whose claim is below what the reports tell under a prior, in whole numbers."""
    return [
        name for name, ratio in told(plan, prior).items() if below_truth(claims.delta[name], ratio.as_integer_ratio())
    ]


def told(plan: Plan, prior: CellQuestion) -> dict[str, Fraction]:
    """How many times a report moves the odds of a guess about each feature, exactly."""
    worst = dict.fromkeys(plan.policy.features, Fraction(1))
    for menu in plan.menus:
        chances: Any = np.ones((prior.size, 1), dtype=object)
        for number in menu.questions:
            one = _chances(plan, number)
            chances = (chances[:, :, None] * one[:, None, :]).reshape(prior.size, -1)
        for axis, name in enumerate(worst):
            values = np.indices(prior.shape)[axis].ravel()
            mine = [np.where(values == a, prior.ravel(), 0).astype(object) for a in range(prior.shape[axis])]
            common = math.lcm(*(int(law.sum()) for law in mine))
            given = np.stack([law @ chances * (common // int(law.sum())) for law in mine])
            for most, least in {*zip(given.max(axis=0).tolist(), given.min(axis=0).tolist(), strict=True)}:
                if most * worst[name].denominator > least * worst[name].numerator:
                    worst[name] = Fraction(most, least) if least else Fraction(10**400)
    return worst


def _chances(plan: Plan, number: int) -> Any:
    """The weights of the symbols of a question at every record, doubled for each feature: numbers may be half way."""
    question, names, sizes = plan.questions[number], list(plan.policy.features), sizes_of(plan)
    weights = plan.tables[question.table].dense().weights.astype(object).reshape(*question.levels, -1)
    for axis, (name, levels) in enumerate(zip(question.features, question.levels, strict=True)):
        matrix = (2 * rounding(sizes[names.index(name)], levels)).astype(np.int64).astype(object)
        weights = np.moveaxis(np.tensordot(matrix, weights, axes=(1, axis)), 0, axis)
    places = np.indices(sizes).reshape(len(sizes), -1)
    return weights[tuple(places[names.index(name)] for name in question.features)]


def binds(plan: Plan, claims: Certified) -> bool:
    """Whether some level needs both q and odds: either alone gives at least a thousandth more."""
    model = plan.correlation_model
    assert isinstance(model, Listed)
    without = [Listed(model.bounds, "q alone"), Listed({}, "odds alone", listed_odds=model.listed_odds)]
    alone = [certify(plan, one).delta for one in without]
    return any(1.001 * level < min(other[name] for other in alone) for name, level in claims.delta.items())
