"""The error to expect on one's own data: the whole collection, many times, against the paper and uniform LDP.

The data stand for the population. In each trial people are drawn from them with replacement and answer through the code
that devices run; errors are against the data's own means, frequencies and least squares, in own units. All mechanisms
keep the same promises, and estimates of all of them are moved into the possible range.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.cascade import mean_mechanism
from bcdp.cascade.device import coordinate_values, coordinates
from bcdp.comparison import paper_budgets, uniform_plan
from bcdp.correlation import Correlation, correlation_of
from bcdp.device import answers
from bcdp.encoding import Codes, as_arrow, encode
from bcdp.errors import InputError, refuse
from bcdp.estimates import Estimates, estimate, on_simplex
from bcdp.experiments.curves import BATCH
from bcdp.experiments.results import Row, run_trials, summarise
from bcdp.plan import Plan
from bcdp.planning import make_plan
from bcdp.policy import MeanTask, Policy, Regression, RegressionTask
from bcdp.randomness import RecordWords
from bcdp.regression.fit import centred, own_scale, own_units, solve
from bcdp.regression.moments import Moments
from bcdp.survey.moments import Column, columns
from bcdp.tally import Tally

Array = npt.NDArray[np.float64]

SURVEY, PAPER, UNIFORM, NOTHING = "survey", "paper", "uniform LDP", "without data"
CURVES = (SURVEY, PAPER, UNIFORM, NOTHING)
_SIZES = (64, 16, 4, 1)  # the number of people divided by these
_PAPER_RADIUS = 1.0  # the ball of the paper's least squares, where the policy states none
_FEWEST = 10


def simulate(
    policy: Policy,
    table: Any,
    users: int,
    trials: int,
    correlation: Correlation | None = None,
    seed: int = 0,
    workers: int = 1,
    advance: Callable[[float], None] = lambda share: None,
) -> list[Row]:
    """The errors of every task in own units, one row for each task (`panel`), mechanism and number of people.

    A mean counts its absolute error, frequencies the root of their mean squared error, a regression the root mean
    squared distance of its predictions to those of least squares on the data themselves.

    >>> policy = Policy(epsilon=2, features={"ill": {"type": "binary", "delta": 0.5}, "old": {"type": "binary"}})
    >>> rows = simulate(policy, {"ill": [0, 0, 1], "old": [0, 1, 1]}, users=640, trials=2)
    >>> sorted({row.panel for row in rows}), sorted({row.n for row in rows})
    (['mean of ill', 'mean of old'], [10, 40, 160, 640])
    """
    for name, number, least in (("users", users, _FEWEST), ("trials", trials, 1)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise refuse(name, number, f"a whole number of at least {least}")
    codes = encode(policy, as_arrow(table))
    if len(next(iter(codes.values()))) == 0:
        raise InputError("data: there are no records; accepted: at least one, to draw people from")
    model = correlation_of(policy) if correlation is None else correlation
    plan = make_plan(policy.model_copy(update={"mechanism": "survey"}), model)
    alike = uniform_plan(policy)
    texts = plan.text, None if alike is None else alike.text
    paper = tuple(paper_budgets(policy, model).tolist())
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "codes.npy"
        with data.open("wb") as file:
            for name in plan.policy.features:
                np.save(file, codes[name])
        sizes = sorted({max(users // part, _FEWEST) for part in _SIZES})
        scenarios = [SimulationScenario(texts, paper, str(data), people) for people in sizes]
        errors = run_trials(scenarios, trials, seed, workers, advance)
        return summarise("simulate", scenarios, errors)


@dataclass(frozen=True)
class SimulationScenario:
    """So many people drawn from the data, who answer in each of the ways."""

    plans: tuple[str, str | None]  # the survey's text, which any process can read, and uniform LDP's, if possible
    paper: tuple[float, ...]  # the paper's budget of each coordinate
    data: str  # a file with the codes of the records
    people: int

    curves = CURVES

    @property
    def x(self) -> float:
        return self.people

    @property
    def features(self) -> int:
        return len(self.paper)

    @property
    def panels(self) -> tuple[str, ...]:
        return tuple(goal.name for goal in _world(self.plans, self.data).goals)

    def predicted(self) -> Array:
        """NaN for each panel and curve: no formula is known."""
        return np.full((len(self.panels), len(CURVES)), np.nan)

    def trial(self, seed: Sequence[int]) -> Array:
        """The error of each task and mechanism in one trial."""
        world = _world(self.plans, self.data)
        drawn = np.random.default_rng([*seed, 0]).integers(0, world.records.shape[0], self.people)
        key = np.random.default_rng([*seed, 1]).bytes(32)  # words differ with the plan
        ours, alike = (world.survey(plan, drawn, key) for plan in world.plans)
        paper = world.cascade(drawn, np.random.default_rng([*seed, 2]), np.array(self.paper))
        return np.array(
            [
                [goal.surveyed(ours), goal.error(goal.solved(paper)), goal.surveyed(alike), goal.nothing]
                for goal in world.goals
            ]
        )


@dataclass(frozen=True, eq=False)
class _Goal:
    """One task, or one feature of it: its true answer in own units, and the matrix that weighs a deviation from it."""

    name: str
    of: Callable[[Estimates], Array]  # the survey's answer
    solved: Callable[[Moments], Array]  # the answer from the moments of all coordinates, NaN where not released
    truth: Array
    metric: Array
    blind: Array  # the answer without data, which stands in where nothing was released
    guesses: tuple[Array, ...] = ()  # other answers without data: where a mean is small, so is the error of 0

    def error(self, answer: Array) -> float:
        """The length of the deviation."""
        beside = (answer if np.isfinite(answer).all() else self.blind) - self.truth
        return math.sqrt(max(float(beside @ self.metric @ beside), 0.0))

    def surveyed(self, found: Estimates | None) -> float:
        """The error of a survey; of the answer without data, if nobody could be asked."""
        return self.error(self.blind if found is None else self.of(found))

    @property
    def nothing(self) -> float:
        """The least error of an answer without data; of predicting the mean for everybody, for a regression."""
        return min(map(self.error, (self.blind, *self.guesses)))


def _mean_goal(policy: Policy, name: str, data: Moments) -> _Goal:
    place = coordinates(policy).index(name)
    slope, constant = own_scale(policy, Column(name))

    def solved(moments: Moments) -> Array:
        return (np.clip(moments.mean[[place]], -1, 1) - constant) / slope

    low, middle, high = (np.array([(place - constant) / slope]) for place in (-1, 0, 1))

    def surveyed(found: Estimates) -> Array:
        return np.array([found.means[name].value])

    return _Goal(f"mean of {name}", surveyed, solved, solved(data), np.eye(1), middle, (low, high))


def _frequency_goal(policy: Policy, name: str, data: Moments) -> _Goal:
    places = [place for place, owner in enumerate(coordinates(policy)) if owner == name]

    def solved(moments: Moments) -> Array:
        shares = (moments.mean[places] + 1) / 2
        if not np.isfinite(shares).all():
            return shares
        return on_simplex(shares if policy.features[name].type == "categorical" else np.append(1 - shares, shares))

    truth = solved(data)
    return _Goal(
        f"frequencies of {name}",
        lambda e: np.array([share.value for share in e.frequencies[name].values()]),
        solved,
        truth,
        np.eye(len(truth)) / len(truth),
        np.full(len(truth), 1 / len(truth)),
    )


def _regression_goal(policy: Policy, regression: Regression, number: int, data: Moments) -> _Goal:
    design = columns(policy, regression)
    owners = coordinates(policy)
    places = [owners.index(column.feature) + (column.category or 0) for column in design]
    to_own = own_units(policy, design)

    def fitted(moments: Moments, radius: float | None) -> Array:
        if not np.isfinite(moments.second[np.ix_(places, places)]).all():
            return np.full(len(design), np.nan)
        middle = centred(Moments(moments.mean[places], moments.second[np.ix_(places, places)]), regression.intercept)
        ridge = (regression.ridge or 0.0) * np.eye(len(design) - 1)
        theta = solve(middle.matrix + ridge, middle.slope, radius)
        return np.asarray(to_own @ [*theta, middle.mean[-1] - theta @ middle.mean[:-1], 1.0])

    def surveyed(found: Estimates) -> Array:
        one = found.regressions[number]
        return np.array([*(c.value for c in one.coefficients.values()), one.intercept.value])

    slopes, constants = np.array([own_scale(policy, column) for column in design]).T
    own = np.append((data.mean[places] - constants) / slopes, 1.0)
    second = np.outer(own, own)  # of the columns in own units and the constant 1
    spread = data.second[np.ix_(places, places)] - np.outer(data.mean[places], data.mean[places])
    second[:-1, :-1] += spread / np.outer(slopes, slopes)
    kept = [*range(len(design) - 1), len(design)]
    return _Goal(
        f"regression of {regression.target}",
        surveyed,
        lambda moments: fitted(moments, regression.radius or _PAPER_RADIUS),
        fitted(data, regression.radius),
        second[np.ix_(kept, kept)],
        np.append(np.zeros(len(design) - 1), own[-2]),
    )


class _World:
    """The data as the mechanisms see them, and what the tasks want to know of them."""

    def __init__(self, plans: tuple[Plan, Plan | None], codes: dict[str, Codes]) -> None:
        self.plans, self._codes, policy = plans, codes, plans[0].policy
        self.records = coordinate_values(policy, codes)
        people = len(self.records)
        data = Moments(self.records.mean(axis=0), self.records.T @ self.records / people)
        self.goals: list[_Goal] = []
        regressions = 0
        for task in policy.tasks:
            if isinstance(task, RegressionTask):
                self.goals.append(_regression_goal(policy, task.regression, regressions, data))
                regressions += 1
                continue
            goal = _mean_goal if isinstance(task, MeanTask) else _frequency_goal
            self.goals += [goal(policy, name, data) for name in task.features]
        self._copies = 2 if regressions else 1

    def survey(self, plan: Plan | None, drawn: npt.NDArray[np.int64], key: bytes) -> Estimates | None:
        """What a survey estimates from these people."""
        if plan is None:
            return None
        tally = Tally(plan)
        for start in range(0, len(drawn), BATCH):
            rows = drawn[start : start + BATCH]
            words = RecordWords(key, np.arange(start, start + len(rows)), plan.id)
            menu, answer = answers(plan, {name: code[rows] for name, code in self._codes.items()}, words)
            tally.add({"menu": menu, "answer": answer})
        return estimate(tally)

    def cascade(self, drawn: npt.NDArray[np.int64], rng: np.random.Generator, c: Array) -> Moments:
        """The moments from the paper's reports: one copy for means, two with half of the budgets for products."""
        budget = c / self._copies
        size = len(budget)
        mean, second = np.zeros(size), np.zeros((size, size))
        for start in range(0, len(drawn), BATCH):
            records = self.records[drawn[start : start + BATCH]]
            copies = [mean_mechanism(records, budget, rng) for _ in range(self._copies)]
            mean += sum(copy.sum(axis=0) for copy in copies) / self._copies
            second += copies[0].T @ copies[-1]
        second = second / len(drawn)
        return Moments(mean / len(drawn), (second + second.T) / 2)


@lru_cache(maxsize=1)
def _world(plans: tuple[str, str | None], data: str) -> _World:
    survey, alike = plans
    made = Plan.parse(survey)
    with Path(data).open("rb") as file:
        codes = {name: np.load(file) for name in made.policy.features}
    return _World((made, None if alike is None else Plan.parse(alike)), codes)
