"""The error to expect on one's own data: the whole collection, many times, against the paper and uniform LDP.

The data stand for the population. In each trial people are drawn from them with replacement and answer through the code
that devices run; errors are against the data's own means, frequencies and least squares, in own units. All mechanisms
keep the same promises, and estimates of all of them are moved into the possible range. Uniform LDP is for each task the
better of two surveys, by the mean error over the trials (see `baselines`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.compare.baselines import uniform_plans
from bcdp.compare.curves import BATCH
from bcdp.compare.trials import Point, run_trials, summarise
from bcdp.correlation import Correlation, correlation_of
from bcdp.device import answers
from bcdp.errors import InputError, refuse
from bcdp.estimates import Estimates, estimate
from bcdp.mechanisms.cascade import mean_mechanism
from bcdp.mechanisms.cascade.decoding import means_from_moments
from bcdp.mechanisms.cascade.plans import coordinate_budgets, coordinate_values
from bcdp.mechanisms.planning import make_plan
from bcdp.plan import GROUP, Plan
from bcdp.policy import Policy
from bcdp.questions.change import unchanged
from bcdp.randomness import RecordWords
from bcdp.records.encoding import Codes, as_arrow, encode
from bcdp.records.open_groups import Groups, group_numbers
from bcdp.statistics import Goal, Means, Role, Target
from bcdp.tally import Tally

Array = npt.NDArray[np.float64]

SURVEY, PAPER, UNIFORM, NOTHING = "survey", "paper", "uniform LDP", "without data"
CURVES = (SURVEY, PAPER, UNIFORM, NOTHING)
_EVENLY = "uniform LDP, all equally often"  # its twin, of which only the better of the two is reported
_SIMULATED = (SURVEY, PAPER, UNIFORM, _EVENLY, NOTHING)
_SIZES = (64, 16, 4, 1)  # the number of people divided by these
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
    plan: Plan | None = None,
) -> list[Point]:
    """The errors of every task in own units, one row for each task (`panel`), mechanism and number of people.

    A mean counts its absolute error, frequencies the root of their mean squared error, a regression the root mean
    squared distance of its predictions to those of least squares on the data themselves. `plan` is the survey's, if it
    was made already.

    >>> policy = Policy(epsilon=2, features={"ill": {"type": "binary", "delta": 0.5}, "old": {"type": "binary"}})
    >>> rows = simulate(policy, {"ill": [0, 0, 1], "old": [0, 1, 1]}, users=640, trials=2)
    >>> sorted({row.panel for row in rows}), sorted({row.n for row in rows})
    (['mean of ill', 'mean of old'], [10, 40, 160, 640])
    """
    for name, number, least in (("users", users, _FEWEST), ("trials", trials, 1)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise refuse(name, number, f"a whole number of at least {least}")
    records = as_arrow(table)
    codes, groups = encode(policy, records), group_numbers(policy, records)
    if len(next(iter(codes.values()))) == 0:
        raise InputError("data: there are no records; accepted: at least one, to draw people from")
    model = correlation_of(policy) if correlation is None else correlation
    if plan is None:
        plan = make_plan(policy.model_copy(update={"mechanism": "survey"}), model)
    texts = (plan.text, *(uniform.text for uniform in uniform_plans(policy)))
    paper = tuple(coordinate_budgets(policy, model).tolist())
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "codes.npy"
        with data.open("wb") as file:
            for name in plan.policy.features:
                np.save(file, codes[name])
            np.save(file, groups)
        sizes = sorted({max(users // part, _FEWEST) for part in _SIZES})
        scenarios = [SimulationScenario(texts, paper, str(data), people) for people in sizes]
        errors = run_trials(scenarios, trials, seed, workers, advance)
        return _better_uniform(summarise("simulate", scenarios, errors))


def _better_uniform(rows: list[Point]) -> list[Point]:
    """The rows without those of the worse uniform survey, for each task and number of people."""
    twins = {(row.panel, row.n): row for row in rows if row.curve == _EVENLY}
    better = {panel: replace(row, curve=UNIFORM) for panel, row in twins.items()}
    return [
        min(row, better[row.panel, row.n], key=lambda candidate: candidate.mean) if row.curve == UNIFORM else row
        for row in rows
        if row.curve != _EVENLY
    ]


@dataclass(frozen=True)
class SimulationScenario:
    """So many people drawn from the data, who answer in each of the ways."""

    plans: tuple[str, ...]  # the survey's text, which any process can read, and both of uniform LDP, if possible
    paper: tuple[float, ...]  # the paper's budget of each coordinate
    data: str  # a file with the codes of the records
    people: int

    curves = _SIMULATED

    @property
    def x(self) -> float:
        return self.people

    @property
    def features(self) -> int:
        return len(self.paper)

    @property
    def panels(self) -> tuple[str, ...]:
        return tuple(goal.name for _, goal in _world(self.plans, self.data).goals)

    def predicted(self) -> Array:
        """NaN for each panel and curve: no formula is known."""
        return np.full((len(self.panels), len(_SIMULATED)), np.nan)

    def trial(self, seed: Sequence[int]) -> Array:
        """The error of each task and mechanism in one trial."""
        world = _world(self.plans, self.data)
        drawn = np.random.default_rng([*seed, 0]).integers(0, world.records.shape[0], self.people)
        secret = np.random.default_rng([*seed, 1]).bytes(32)  # words differ with the plan
        ours, *others = (world.survey(plan, drawn, secret) for plan in world.plans)
        surveys: list[Estimates | None] = [ours, *others] if others else [ours, None, None]
        paper = world.cascade(drawn, np.random.default_rng([*seed, 2]), np.array(self.paper))
        rows = []
        for key, goal in world.goals:
            own, *uniform = (_surveyed(goal, key, estimates) for estimates in surveys)
            rows.append([own, goal.error(goal.solved(paper)), *uniform, goal.nothing])
        return np.array(rows)


def _surveyed(goal: Goal, key: str, estimates: Estimates | None) -> float:
    """The error of a survey; of the answer without data, if nobody could be asked."""
    return goal.error(goal.blind if estimates is None else goal.of(estimates.results[key]))


class _World:
    """The data as the mechanisms see them, and what the tasks want to know of them."""

    def __init__(self, plans: tuple[Plan, ...], codes: dict[str, Codes], groups: Groups) -> None:
        self.plans, self._codes, self._groups, policy = plans, codes, groups, plans[0].policy
        self.records = coordinate_values(policy, codes)
        people = len(self.records)
        self._targets = {target for task in policy.tasks for target, _ in task.targets(policy)}
        data = {target: _mean_of(policy, target, codes, people) for target in self._targets}
        self.goals = [(task.key, goal) for task in policy.tasks for goal in task.goals(policy, data)]
        self._copies = 1 if all(target.role is Role.FEATURE for target in self._targets) else 2

    def _means(self, mean: Array, second: Array) -> Means:
        policy = self.plans[0].policy
        unknown = {target: np.full(target.size(policy), np.nan) for target in self._targets}
        return {**unknown, **means_from_moments(policy, self._targets, mean, second)}

    def survey(self, plan: Plan, drawn: npt.NDArray[np.int64], key: bytes) -> Estimates:
        """What a survey estimates from these people."""
        tally = Tally(plan)
        for start in range(0, len(drawn), BATCH):
            rows = drawn[start : start + BATCH]
            words = RecordWords(key, np.arange(start, start + len(rows)), plan.id)
            codes = unchanged(plan.questions, {name: code[rows] for name, code in self._codes.items()})
            menu, answer = answers(plan, codes, words)
            sent = {GROUP: self._groups[rows]} if plan.policy.open else {}
            tally.add({"menu": menu, "answer": answer, **sent})
        return estimate(tally)

    def cascade(self, drawn: npt.NDArray[np.int64], rng: np.random.Generator, c: Array) -> Means:
        """The means from the paper's reports: one copy for means, two with half of the budgets for products."""
        budget = c / self._copies
        size = len(budget)
        mean, second = np.zeros(size), np.zeros((size, size))
        for start in range(0, len(drawn), BATCH):
            records = self.records[drawn[start : start + BATCH]]
            copies = [mean_mechanism(records, budget, rng) for _ in range(self._copies)]
            mean += sum(copy.sum(axis=0) for copy in copies) / self._copies
            second += copies[0].T @ copies[-1]
        second = second / len(drawn)
        return self._means(mean / len(drawn), (second + second.T) / 2)


def _mean_of(policy: Policy, target: Target, codes: dict[str, Codes], people: int) -> Array:
    """What a target is in the data."""
    total = np.zeros(target.size(policy))
    for start in range(0, people, BATCH):
        total += target.of(policy, {name: codes[name][start : start + BATCH] for name in target.features}).sum(axis=0)
    return total / people


@lru_cache(maxsize=1)
def _world(plans: tuple[str, ...], data: str) -> _World:
    parsed = tuple(map(Plan.parse, plans))
    with Path(data).open("rb") as file:
        codes = {name: np.load(file) for name in parsed[0].policy.features}
        groups = np.load(file)
    return _World(parsed, codes, groups)
