"""Counts become estimates: means, frequencies and regressions in the features' own units (docs/theory.md, 4.3).

Of those who were asked a question, the decoded answers are averaged; where a feature is asked in several ways, the
averages are weighted by what each way was designed to tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.cascade.device import coordinates
from bcdp.errors import refuse
from bcdp.plan import Plan, Question
from bcdp.policy import FrequencyTask, MeanTask, NumericFeature, RegressionTask
from bcdp.regression import RegressionEstimate, fit
from bcdp.survey.decoding import is_frequency, second_moment, target, targets
from bcdp.tally import CascadeTally, SurveyTally, Tally

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """An estimate in the feature's own units: `value` lies within its range, `raw` is the unbiased one behind it.

    With fewer than two answers nothing is known: the interval is the whole range and the standard error infinite.
    """

    value: float
    se: float
    low: float
    high: float
    answers: int
    raw: float

    def to_dict(self) -> dict[str, float | int | None]:
        return {name: number if math.isfinite(number) else None for name, number in vars(self).items()}


@dataclass(frozen=True)
class Estimates:
    """Everything that the plan's tasks ask for; `people` is the number of reports.

    `regression` is that of the first such task; all of them are in `regressions`. Only surveys have them.
    """

    people: int
    level: float
    means: Mapping[str, Estimate]
    frequencies: Mapping[str, Mapping[Any, Estimate]]
    regressions: tuple[RegressionEstimate, ...] = ()

    @property
    def regression(self) -> RegressionEstimate | None:
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
    """Unbiased values on the planning scale with their variances: one for a mean, one per category for frequencies."""

    value: Array
    variance: Array
    answers: int


def estimate(tally: Tally, level: float = 0.95) -> Estimates:
    """The estimates of all that the plan's tasks name, with intervals of the given level.

    The intervals are for the population that the people were drawn from.
    """
    if not isinstance(level, float) or not 0 < level < 1:
        raise refuse("level", level, "a number above 0 and below 1")
    plan = tally.plan
    width = NormalDist().inv_cdf((1 + level) / 2)
    raws = {name: _raw(tally, name) for name in plan.policy.features}
    means, frequencies = {}, {}
    for task in plan.policy.tasks:
        for name in task.features if isinstance(task, MeanTask | FrequencyTask) else ():
            if isinstance(task, MeanTask):
                means[name] = _mean(plan, name, raws[name], width)
            else:
                frequencies[name] = _frequencies(plan, name, raws[name], width)
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
        return _Raw(np.ones(1), np.zeros(1), tally.people)  # a single value is known without asking
    asked: dict[tuple[int, tuple[int, ...], int], npt.NDArray[np.int64]] = {}
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
    total, value, variance = 0.0, np.zeros(size), np.zeros(size)
    for key, counts in asked.items():
        people = int(counts.sum())
        if people < 2:
            continue
        weight = people / second_moment(plan, question_of[key], name)
        mean, spread = _decoded(plan, question_of[key], name, counts)
        total, value, variance = total + weight, value + weight * mean, variance + weight**2 * spread
    answers = sum(int(counts.sum()) for counts in asked.values())
    if total == 0:
        return _Raw(np.full(size, math.nan), np.full(size, math.inf), answers)
    return _Raw(value / total, variance / total**2, answers)


def _decoded(plan: Plan, question: Question, name: str, counts: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    """The mean of the decoded answers and the variance of that mean."""
    table = plan.tables[question.table]
    if len(question.features) == 1 and is_frequency(plan, name):
        return table.frequencies(counts)
    wanted = target(plan, question, name).reshape(table.levels, -1)
    decoded = table.decode(wanted)
    people = int(counts.sum())
    mean: Array = counts @ decoded / people
    # a few equal answers have no spread of their own, but the randomizer's is known
    least = np.array([np.min(table.second_moments(column) - column**2) for column in wanted.T])
    spread: Array = np.maximum(counts @ decoded**2 / people - mean**2, np.maximum(least, 0.0))
    return mean, spread / (people - 1)


def _from_moments(tally: CascadeTally, name: str) -> _Raw:
    mine = [i for i, owner in enumerate(coordinates(tally.plan.policy)) if owner == name]
    people = tally.people
    if people < 2 or np.any(np.isnan(tally.sum[mine])):
        return _Raw(np.full(len(mine), math.nan), np.full(len(mine), math.inf), people)
    mean = tally.sum[mine] / people
    variance = np.maximum(np.diag(tally.products)[mine] / people - mean**2, 0.0) / (people - 1)
    if is_frequency(tally.plan, name):
        return _Raw((mean + 1) / 2, variance / 4, people)
    return _Raw(mean, variance, people)


def _mean(plan: Plan, name: str, raw: _Raw, width: float) -> Estimate:
    feature = plan.policy.features[name]
    low, high = feature.bounds if isinstance(feature, NumericFeature) else (0.0, 1.0)
    scale = (high - low) / 2
    return _estimate(
        low + (float(raw.value[0]) + 1) * scale, math.sqrt(raw.variance[0]) * scale, raw.answers, low, high, width
    )


def _frequencies(plan: Plan, name: str, raw: _Raw, width: float) -> dict[Any, Estimate]:
    feature = plan.policy.features[name]
    assert not isinstance(feature, NumericFeature), "the policy allows frequencies of values only"
    if feature.type == "binary":
        share, error = (raw.value[0] + 1) / 2, math.sqrt(raw.variance[0]) / 2
        values, errors = np.array([1 - share, share]), np.array([error, error])
    else:
        values, errors = raw.value, np.sqrt(raw.variance)
    inside = on_simplex(values) if np.all(np.isfinite(values)) else values
    result = {}
    for category, value, error, kept in zip(feature.values or (0, 1), values, errors, inside, strict=True):
        rough = _estimate(float(value), float(error), raw.answers, 0.0, 1.0, width)
        result[category] = Estimate(float(kept), rough.se, rough.low, rough.high, rough.answers, rough.raw)
    return result


def _estimate(raw: float, se: float, answers: int, low: float, high: float, width: float) -> Estimate:
    if not math.isfinite(se):
        return Estimate(math.nan, math.inf, low, high, answers, math.nan)
    value, start, end = (min(max(x, low), high) for x in (raw, raw - width * se, raw + width * se))
    return Estimate(value, se, start, end, answers, raw)


def on_simplex(values: Array) -> Array:
    """The nearest frequencies that are at least 0 and sum to 1."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.maximum(values - shift, 0.0))
