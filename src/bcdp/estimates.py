"""Counts become estimates: means, frequencies and regressions in the features' own units (docs/theory.md, 4.3).

Of those who were asked a question, the decoded answers are averaged; where a feature is asked in several ways, the
averages are weighted by what each way was designed to tell. An interval holds the values from which the estimate is no
farther than chance takes it at that value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from bcdp.cascade.device import coordinates, plan_channels
from bcdp.cascade.mechanism import least_variances
from bcdp.errors import refuse
from bcdp.plan import Plan, Question
from bcdp.policy import FrequencyTask, MeanTask, NumericFeature, RegressionTask
from bcdp.regression import RegressionEstimate, fit
from bcdp.survey.decoding import is_frequency, second_moment, target, targets
from bcdp.tally import CascadeTally, SurveyTally, Tally

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Estimate:
    """An estimate in own units: `value` lies within its range and its interval, `raw` is the unbiased one behind it.

    The standard error is 0 only where a feature has a single value. With fewer than two answers nothing is known: the
    interval is the whole range and the standard error infinite.
    """

    value: float
    se: float
    low: float
    high: float
    answers: int
    raw: float

    def to_dict(self) -> dict[str, float | int | None]:
        """The estimate in plain JSON; what is not finite is null."""
        return {name: number if math.isfinite(number) else None for name, number in vars(self).items()}


@dataclass(frozen=True)
class Estimates:
    """Everything that the plan's tasks ask for; `people` is the number of reports.

    `regression` is that of the first such task; all of them are in `regressions`. Only surveys have them.

    >>> from bcdp import Policy, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=2, features={"region": {"type": "categorical", "values": ["north", "south"]}}))
    >>> found = estimate(Tally(plan).add(privatize(plan, {"region": ["north"] * 30 + ["south"] * 10})))
    >>> list(found.frequencies["region"]), found.means
    (['north', 'south'], {})
    """

    people: int
    level: float
    means: Mapping[str, Estimate]
    frequencies: Mapping[str, Mapping[Any, Estimate]]
    regressions: tuple[RegressionEstimate, ...] = ()

    @property
    def regression(self) -> RegressionEstimate | None:
        """The first regression that the policy asks for; None if it asks for none."""
        return self.regressions[0] if self.regressions else None

    def to_dict(self) -> dict[str, Any]:
        """The estimates in plain JSON; what is not finite is null."""
        return {
            "people": self.people,
            "level": self.level,
            "means": {name: mean.to_dict() for name, mean in self.means.items()},
            "frequencies": {
                name: {str(value): estimate.to_dict() for value, estimate in table.items()}
                for name, table in self.frequencies.items()
            },
            **({"regression": self.regression.to_dict()} if self.regression else {}),
            **({"regressions": [one.to_dict() for one in self.regressions]} if len(self.regressions) > 1 else {}),
        }


@dataclass(frozen=True)
class _Raw:
    """Unbiased values on the planning scale: one for a mean, one per category for frequencies.

    The variance of each depends on its own truth x: `constant + slope x - square x^2`. What of it was estimated leaves
    a `doubt`, half of the variance of that estimate; the tables tell the rest.
    """

    value: Array
    constant: Array
    slope: Array
    square: float
    doubt: Array
    answers: int

    def variance(self, truth: Array) -> Array:
        return np.maximum(self.constant + self.slope * truth - self.square * truth**2, 0.0)

    def near(self, value: Array, width: Array | float) -> tuple[Array, Array]:
        """Middle and half length of the interval of truths within `width` of their own standard errors of a value.

        Its ends solve `(value - truth)^2 = width^2 variance(truth)`: Wilson's limits where answers are binomial.
        """
        scale = 1 + width**2 * self.square
        beside = width**2 * (self.slope**2 / 4 + self.constant * self.square)
        return (value + width**2 * self.slope / 2) / scale, width * np.sqrt(self.variance(value) + beside) / scale

    def shares(self) -> _Raw:
        """A mean on the [-1, 1] scale as the frequencies of the two values."""
        side = np.array([-1.0, 1.0])
        constant = (self.constant - side * self.slope - self.square) / 4
        slope = side * self.slope / 2 + self.square
        return _Raw((1 + side * self.value) / 2, constant, slope, self.square, self.doubt / 16, self.answers)


def estimate(tally: Tally, level: float = 0.95) -> Estimates:
    """The estimates of all that the plan's tasks name, with intervals of the given level.

    The intervals are for the population that the people were drawn from.

    >>> from bcdp import Policy, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=2, features={"age": {"type": "numeric", "bounds": [0, 100]}}))
    >>> age = estimate(Tally(plan).add(privatize(plan, {"age": [30, 40] * 500}))).means["age"]
    >>> 0 <= age.low <= age.value <= age.high <= 100
    True
    """
    if not isinstance(level, float) or not 0 < level < 1:
        raise refuse("level", level, "a number above 0 and below 1")
    plan = tally.plan
    raws = {name: _raw(tally, name) for name in plan.policy.features}
    means, frequencies = {}, {}
    for task in plan.policy.tasks:
        for name in task.features if isinstance(task, MeanTask | FrequencyTask) else ():
            if isinstance(task, MeanTask):
                means[name] = _mean(plan, name, raws[name], level)
            else:
                frequencies[name] = _frequencies(plan, name, raws[name], level)
    regressions = [task.regression for task in plan.policy.tasks if isinstance(task, RegressionTask)]
    fitted = tuple(fit(tally, one, level) for one in regressions) if isinstance(tally, SurveyTally) else ()
    return Estimates(tally.people, level, means, frequencies, fitted)


def _raw(tally: Tally, name: str) -> _Raw:
    if isinstance(tally, CascadeTally):
        return _from_moments(tally, name)
    assert isinstance(tally, SurveyTally)
    return _from_counts(tally, name)


def _from_counts(tally: SurveyTally, name: str) -> _Raw:
    plan = tally.plan
    feature = plan.policy.features[name]
    size = len(feature.values) if feature.type == "categorical" else 1
    if is_frequency(plan, name) and size == 1:
        return _Raw(np.ones(1), np.zeros(1), np.zeros(1), 0.0, np.zeros(1), tally.people)  # known without asking
    asked: dict[tuple[int, tuple[int, ...], int], Counts] = {}
    question_of = {}
    for number, menu in enumerate(plan.menus):
        for axis, index in enumerate(menu.questions):
            question = plan.questions[index]
            if name not in targets(question):
                continue
            counts = tally.counts(number)
            marginal = counts.sum(axis=tuple(a for a in range(counts.ndim) if a != axis))
            key = (question.table, question.levels, question.features.index(name))
            asked[key] = asked.get(key, 0) + marginal
            question_of[key] = question
    answers = sum(int(counts.sum()) for counts in asked.values())
    enough = [(question_of[key], counts) for key, counts in asked.items() if counts.sum() >= 2]
    if not enough:
        return _unknown(size, answers)
    weights = np.array([counts.sum() / second_moment(plan, question, name) for question, counts in enough])
    return _combined([_decoded(plan, *way, name) for way in enough], weights / weights.sum(), answers)


def _unknown(size: int, answers: int) -> _Raw:
    nothing = np.full(size, math.nan)
    return _Raw(nothing, nothing, nothing, math.nan, nothing, answers)


def _combined(ways: list[_Raw], weights: Array, answers: int) -> _Raw:
    """The average of what several ways of asking tell, with weights that sum to 1."""

    def total(name: str, power: int) -> Array:
        return np.asarray(np.tensordot(weights**power, np.array([getattr(way, name) for way in ways]), axes=1))

    constant, slope, square = (total(name, 2) for name in ("constant", "slope", "square"))
    return _Raw(total("value", 1), constant, slope, float(square), total("doubt", 4), answers)


def _decoded(plan: Plan, question: Question, counts: Counts, name: str) -> _Raw:
    """What one way of asking tells: the mean of the decoded answers."""
    table, people = plan.tables[question.table], int(counts.sum())
    if len(question.features) == 1 and is_frequency(plan, name):
        return _two_valued(table.frequencies(counts), 0.0, *table.indicator_moments(), people)
    wanted = target(plan, question, name).reshape(table.levels, -1)
    decoded = table.decode(wanted)
    mean: Array = counts @ decoded / people
    squares = np.stack([table.second_moments(column) for column in wanted.T], axis=1)
    low = float(wanted.min())
    if np.isin(wanted, (low, 1.0)).all():
        at_one, at_low = (np.where(wanted == end, squares, 0.0).max(axis=0) for end in (1.0, low))
        return _two_valued(mean, low, at_one, at_low, people)
    # a few equal answers have no spread of their own, but the randomizer's is known
    least = (squares - wanted**2).min(axis=0)
    return _estimated(mean, np.maximum(counts @ decoded**2 / people - mean**2, least), people)


def _two_valued(mean: Array, low: float, at_one: Array, at_low: Array, people: int) -> _Raw:
    """The mean of answers about two values, `low` and 1: their second moments at each tell the variance."""
    slope = (at_one - at_low) / (1 - low)
    return _Raw(mean, (at_low - low * slope) / people, slope / people, 1 / people, np.zeros_like(mean), people)


def _estimated(mean: Array, spread: Array, people: int) -> _Raw:
    """The mean of answers whose own spread tells the variance."""
    variance = np.maximum(spread, 0.0) / (people - 1)
    return _Raw(mean, variance, np.zeros_like(mean), 0.0, variance**2 / (people - 1), people)


def _from_moments(tally: CascadeTally, name: str) -> _Raw:
    plan, people = tally.plan, tally.people
    owners = coordinates(plan.policy)
    mine = [i for i, owner in enumerate(owners) if owner == name]
    if people < 2 or np.any(np.isnan(tally.sum[mine])):
        return _unknown(len(mine), people)
    mean = tally.sum[mine] / people
    least = least_variances(plan_channels(plan), len(owners))[mine]
    if is_frequency(plan, name):
        return _two_valued((mean + 1) / 2, 0.0, least / 4 + 1, least / 4, people)
    if plan.policy.features[name].type == "binary":
        return _two_valued(mean, -1.0, least + 1, least + 1, people)
    return _estimated(mean, np.maximum(np.diag(tally.products)[mine] / people - mean**2, least), people)


def _mean(plan: Plan, name: str, raw: _Raw, level: float) -> Estimate:
    feature = plan.policy.features[name]
    low, high = feature.bounds if isinstance(feature, NumericFeature) else (0.0, 1.0)
    scale = (high - low) / 2
    value, se, start, end = (float(number[0]) for number in _bounded(raw, -1.0, level))
    value, start, end = (min(max(low + (x + 1) * scale, low), high) for x in (value, start, end))
    return Estimate(value, se * scale, start, end, raw.answers, low + (float(raw.value[0]) + 1) * scale)


def _frequencies(plan: Plan, name: str, raw: _Raw, level: float) -> dict[Any, Estimate]:
    feature = plan.policy.features[name]
    assert not isinstance(feature, NumericFeature), "the policy allows frequencies of values only"
    shares = raw.shares() if feature.type == "binary" else raw
    _, errors, low, high = _bounded(shares, 0.0, level)
    inside = on_simplex(shares.value) if np.all(np.isfinite(shares.value)) else shares.value
    low, high = np.fmin(low, inside), np.fmax(high, inside)
    rows = np.column_stack([inside, errors, low, high, shares.value]).tolist()
    return {
        category: Estimate(value, se, start, end, raw.answers, exact)
        for category, (value, se, start, end, exact) in zip(feature.values or (0, 1), rows, strict=True)
    }


def _bounded(raw: _Raw, low: float, level: float) -> tuple[Array, Array, Array, Array]:
    """The values moved into the range from `low` to 1, standard errors, and the ends of the intervals.

    Into the range means nearer to everything there, so that no interval loses anything by it. The standard error is the
    one at the middle of the interval of one standard error: all answers alike are not certainty.
    """
    if np.isnan(raw.value).any():
        return raw.value, np.full_like(raw.value, math.inf), np.full_like(raw.value, low), np.ones_like(raw.value)
    value = np.clip(raw.value, low, 1.0)
    degrees = np.full_like(value, math.inf)
    np.divide(raw.variance(value) ** 2, raw.doubt, out=degrees, where=raw.doubt > 0)
    width = -np.asarray(stdtrit(degrees, (1 - level) / 2), dtype=np.float64)
    middle, half = raw.near(value, width)
    errors = np.sqrt(raw.variance(np.clip(raw.near(value, 1.0)[0], low, 1.0)))
    return value, errors, np.clip(middle - half, low, value), np.clip(middle + half, value, 1.0)


def on_simplex(values: Array) -> Array:
    """The nearest frequencies that are at least 0 and sum to 1."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.maximum(values - shift, 0.0))
