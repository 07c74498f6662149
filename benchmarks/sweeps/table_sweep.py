"""Random policies that ask for two-way tables: no plan may be worse than the best mix of obvious questions.

Obvious are: one feature alone; two features as one, a subset of all cells named, any size; two independent answers
in one menu. Their errors are worked out here from (*) and the tables' probabilities, before rounding to integers;
their shares are the best ones. All subsets of the cells are too many for a plan: the second number of each policy is
against the same mix with the subsets that a plan has room for.

python benchmarks/sweeps/table_sweep.py [POLICIES]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp import Plan, Policy
from bcdp.correlation import Correlation, correlation_of
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.mechanisms.survey.design.joint.cell_questions import best_whole
from bcdp.mechanisms.survey.design.joint.subset_families import SubsetFamily
from bcdp.mechanisms.survey.design.planner import plan_survey
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.randomizers import categorical_information
from bcdp.randomizers.categorical import subset_moment
from bcdp.statistics import Interaction, Target

Array = npt.NDArray[np.float64]
_TOTALS, _STEPS = 24, 4000


def random_policy(rng: np.random.Generator, most_values: int) -> Policy:
    """Two or three features, some of them sensitive, and one or all of their tables."""
    epsilon = float(rng.choice([0.5, 1.0, 2.0, 3.0]))
    features: dict[str, Any] = {}
    for name in "abc"[: rng.integers(2, 4)]:
        size = int(rng.integers(2, most_values + 1))
        kind = {"type": "binary"} if size == 2 else {"type": "categorical", "values": [f"v{i}" for i in range(size)]}
        features[name] = {**kind, "delta": epsilon * float(rng.choice([0.1, 0.3, 1.0]))}
    pairs = list(combinations(features, 2))
    tasks: list[dict[str, Any]] = [{"table": list(pair)} for pair in (pairs if rng.random() < 0.3 else pairs[:1])]
    if rng.random() < 0.3:
        tasks.append({"frequency": ["a"], "weight": float(rng.choice([0.3, 1.0, 3.0]))})
    correlation = {name: float(rng.choice([0.0, 0.02, 0.1, 0.3, 1.0])) for name in features}
    return Policy(epsilon=epsilon, features=features, tasks=tasks, correlation=correlation)


class Obvious:
    """The obvious questions of a policy, as rows of what each tells about each target."""

    def __init__(self, policy: Policy, targets: list[Target]) -> None:
        self.policy, self.targets = policy, targets
        self.sizes = {name: len(feature.categories) for name, feature in policy.features.items()}
        self.delta = {name: min(feature.delta, policy.epsilon) for name, feature in policy.features.items()}
        self.q = {name: policy.correlation.of(name) for name in policy.features}  # type: ignore[union-attr]

    def rows(self, wholes: Iterator[Array]) -> Array:
        """What each question tells, those about all cells given."""
        return np.array([*self._single(), *wholes, *self._independent()])

    def _row(self, told: dict[Any, float]) -> Array:
        keys = [target.features if isinstance(target, Interaction) else target.features[0] for target in self.targets]
        return np.array([told.get(key, 0.0) for key in keys])

    def limit(self, asked: tuple[str, ...]) -> float:
        """The largest budget that the features left out allow."""
        limits = [
            max(math.log1p(math.expm1(self.delta[name]) / self.q[name]), self.delta[name])
            for name in self.sizes
            if name not in asked and self.q[name] > 0
        ]
        return min([self.policy.epsilon, *limits])

    def _single(self) -> Iterator[Array]:
        for name in self.sizes:
            yield self._row({name: self._alone(name, min(self.delta[name], self.limit((name,))))})

    def _alone(self, name: str, budget: float) -> float:
        size = self.sizes[name]
        return math.tanh(budget / 2) ** 2 if size == 2 else float(categorical_information(size, budget))

    def subsets(self) -> Iterator[Array]:
        """Questions about all cells that name one of all subsets of a size."""
        for pair, budget in self._pairs():
            cells = math.prod(self.sizes[name] for name in pair)
            for size in range(1, cells // 2 + 1):
                moment = float(subset_moment(cells, size, np.array(budget)))
                contrast = (cells - 1) / (cells * moment - 1)  # squared: 1 if the answer is always the true cell
                yield self._told(pair, (contrast, contrast, contrast))

    def tables(self) -> Iterator[Array]:
        """Questions about all cells as plans have them."""
        for pair, budget in self._pairs():
            one, two = (
                SubsetFamily(Kind("binary" if self.sizes[name] == 2 else "categorical", self.sizes[name]))
                for name in pair
            )
            hits = best_whole((one, two), budget - 1e-9).hits
            yield self._told(pair, (hits[0] ** 2, hits[1] ** 2, hits[2] ** 2))

    def _pairs(self) -> Iterator[tuple[tuple[str, str], float]]:
        for pair in combinations(self.sizes, 2):
            yield pair, min(*(self.delta[name] for name in pair), self.limit(pair))

    def _told(self, pair: tuple[str, str], contrasts: tuple[float, float, float]) -> Array:
        own = dict(zip(pair, contrasts, strict=False))
        parts = {name: own[name] / (self._truth(name) + own[name] * self._average(name)) for name in pair}
        return self._row({**parts, pair: contrasts[2] / math.prod(self._truth(name) for name in pair)})

    def _truth(self, name: str) -> float:
        """The second moment of the indicators without their average, or of a sign, if the answer is the truth."""
        return 1.0 if self.sizes[name] == 2 else 1 - 1 / self.sizes[name]

    def _average(self, name: str) -> float:
        return 0.0 if self.sizes[name] == 2 else 1 / self.sizes[name]

    def _independent(self) -> Iterator[Array]:
        for pair in combinations(self.sizes, 2):
            for total in np.linspace(0, self.limit(pair), _TOTALS + 1)[1:]:
                caps = [self._cap(name, float(total)) for name in pair]
                if min(caps) < 0:
                    continue
                for one in np.linspace(0, min(caps[0], float(total)), 9):
                    budgets = (float(one), min(caps[1], float(total - one)))
                    if min(budgets) <= 1e-6:
                        continue
                    own = {name: self._alone(name, budget) for name, budget in zip(pair, budgets, strict=True)}
                    both = math.prod(1 / (1 / own[name] - self._average(name)) for name in pair)
                    yield self._row({**own, pair: both})

    def _cap(self, name: str, total: float) -> float:
        """The largest budget of a feature in a menu of this total; negative where the menu breaks its demand."""
        delta, q = self.delta[name], self.q[name]
        if delta >= total:
            return total
        left = math.exp(delta) - q * math.exp(total)
        return math.log(left / (1 - q)) if q < 1 and left > 0 else -1.0


def best_mix(rows: Array, weights: Array) -> float:
    """The least weighted sum of errors over all shares of the questions: multiplicative steps, to a gap of 1e-4."""
    shares = np.full(len(rows), 1 / len(rows))
    for _ in range(_STEPS):
        told = shares @ rows
        worth = rows @ (weights / told**2)
        objective = float((weights / told).sum())
        if worth.max() <= objective * (1 + 1e-4):
            break
        shares = shares * np.sqrt(worth)
        shares /= shares.sum()
    return objective


def ratios(policy: Policy, plan: Callable[[Policy, Correlation], Plan] = plan_survey) -> tuple[float, float]:
    """The weighted error of the plan, over that of the best mix of obvious questions: of all subsets, of tables."""
    weights: dict[Target, float] = {}
    obvious = Obvious(policy, [])
    for task in policy.tasks:
        for target, weight in task.targets(policy):
            names = target.features
            budget = min(min(obvious.delta[name], obvious.limit((name,))) for name in names)
            weights[target] = weights.get(target, 0.0) + task.weight * weight * task.scale(policy, target, budget)
    obvious.targets = list(weights)
    worth = np.array(list(weights.values()))
    told = information(plan(policy, correlation_of(policy)))
    ours = sum(weight / told[target] for target, weight in weights.items())
    return ours / best_mix(obvious.rows(obvious.subsets()), worth), ours / best_mix(
        obvious.rows(obvious.tables()), worth
    )


def main(policies: int = 200) -> None:
    """Prints the worst ratios, and how they are distributed."""
    rng = np.random.default_rng(17)
    found = []
    for number in range(policies):
        policy = random_policy(rng, 6)
        found.append(ratios(policy))
        if max(found[-1]) > 1.0002:
            print(f"policy {number}: {found[-1]} {policy.model_dump_json()}", flush=True)
    for name, column in zip(("all subsets", "subsets of a plan"), np.transpose(found), strict=True):
        quantiles = np.quantile(column, [0, 0.25, 0.5, 0.75, 1])
        print(f"{policies} policies, {name}: error over the best obvious mix, least to largest:", quantiles.round(4))
    if np.max(found) > 1.0025 or np.max(found, axis=0)[1] > 1.0002:
        sys.exit("a plan is worse than a mix of obvious questions")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
