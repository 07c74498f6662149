"""Means of binary features: the paper's mechanism in three versions, one level for all, and the survey.

Records are independent uniform signs, as in the paper. Errors are against the mean of the records that were drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bcdp.compare.curves import Array, Curve, Method, simulate
from bcdp.compare.survey import SurveyMeans, means_plan, proved_error, survey_error
from bcdp.mechanisms.cascade import budgets, mean_mechanism, open_channels, predicted_error

PROJECTED, UNPROJECTED = "projected onto [-1, 1]", "not projected"


@dataclass(frozen=True)
class MeanSetting:
    """What is demanded of a mechanism: the levels in nats, the correlation `q`, and how many people answer."""

    delta: tuple[float, ...]
    epsilon: float
    q: float
    people: int


@dataclass(frozen=True)
class Cascade:
    """The paper's nested Duchi channels with these budgets; the estimate is the mean of the reports."""

    budgets: tuple[float, ...]

    def tally(self, records: Array, rng: np.random.Generator) -> Array:
        return np.asarray(mean_mechanism(records, self.budgets, rng).sum(axis=0))

    def estimate(self, tally: Array, people: int) -> Array:
        return tally / people


@dataclass(frozen=True)
class SampleMean:
    """No privacy: the mean of the records, which the others estimate."""

    def tally(self, records: Array, rng: np.random.Generator) -> Array:
        return np.asarray(records.sum(axis=0))

    def estimate(self, tally: Array, people: int) -> Array:
        return tally / people


def expected_error(c: Sequence[float], people: int) -> float:
    """The exact expected squared error against the sample's mean, summed over features, for records of signs.

    A channel's covariance is `(B^2/m) I - v v^T` (theory.md, section 3), so each square 1 of a record comes off
    each channel's second moment, with the square of the weight that the channel has in the estimate.
    """
    moments = predicted_error(c, 1)
    squared_weights = np.zeros_like(moments)
    for opened in open_channels(c):
        squared_weights[opened.features] += 1 / opened.variance**2
    return float((moments - squared_weights * moments**2).sum() / people)


def _cascade(c: Array, people: int) -> Method:
    return Method(Cascade(tuple(c.tolist())), expected_error(c.tolist(), people))


def corrected(setting: MeanSetting) -> Method:
    """The paper's theorem with its heuristic zeta = (1 + q) / 2, and an unbiased channel."""
    chosen = budgets(setting.delta, setting.epsilon, setting.q, zeta=(1 + setting.q) / 2)
    return _cascade(chosen.c, setting.people)


def published(setting: MeanSetting) -> Method:
    """The same with the channel as printed, whose output is exactly twice the unbiased one (section 3, erratum 1).

    Twice a zero-mean error, and in addition a bias as large as the sample's mean, whose expected square is
    1 / people for each feature.
    """
    unbiased = corrected(setting)
    assert unbiased.predicted is not None
    return Method(unbiased.mechanism, 4 * unbiased.predicted + len(setting.delta) / setting.people, factor=2.0)


def best_level(setting: MeanSetting) -> Method:
    """The cascade at the LDP level with the least predicted error (section 3, erratum 2)."""
    return _cascade(budgets(setting.delta, setting.epsilon, setting.q).c, setting.people)


def one_level(setting: MeanSetting) -> Method:
    """One Duchi channel for the whole record at the smallest demand, which is what plain LDP would do."""
    level = min(*setting.delta, setting.epsilon)
    return _cascade(np.full(len(setting.delta), level), setting.people)


def survey(setting: MeanSetting, odds: float | None = None) -> Method:
    """Few questions to each person, chosen by optimal design (section 4); `odds`: what is assumed besides `q`."""
    plan = means_plan(setting.delta, setting.epsilon, setting.q, odds)
    return Method(SurveyMeans(plan.text), survey_error(plan, setting.people))


def bound(setting: MeanSetting) -> Method:
    """What no mechanism can beat (section 5, Theorem 7), in the paper's settings."""
    return Method(None, proved_error(setting.delta, setting.epsilon, setting.q, setting.people))


CURVES = (
    Curve("paper, as published", published),
    Curve("paper, corrected", corrected),
    Curve("paper, best level", best_level),
    Curve("min-delta LDP", one_level),
    Curve("survey", survey),
)
LIMITS = (
    Curve("survey, odds 2", partial(survey, odds=2.0)),
    Curve("survey, odds 1.5", partial(survey, odds=1.5)),
    Curve("proved lower bound", bound),
)


def signs(people: int, features: int, rng: np.random.Generator) -> Array:
    """Independent uniform signs."""
    return 2 * rng.integers(0, 2, (people, features), dtype=np.int8).astype(np.float64) - 1


@dataclass(frozen=True)
class MeanScenario:
    """One point of a picture about means: its place `x`, the setting and the prepared methods of all curves."""

    x: float
    people: int
    features: int
    curves: tuple[str, ...]
    methods: tuple[Method, ...]

    panels = (PROJECTED, UNPROJECTED)

    def predicted(self) -> Array:
        """The expected error for each panel and curve; NaN where there is no formula, as under the projection."""
        exact = [np.nan if method.predicted is None else method.predicted for method in self.methods]
        return np.array([[np.nan] * len(exact), exact])

    def trial(self, seed: Sequence[int]) -> Array:
        """The squared error of each panel and curve in one trial, summed over features."""
        truth = SampleMean()
        mechanisms = [truth, *(method.mechanism for method in self.methods if method.mechanism is not None)]
        errors = simulate(mechanisms, lambda count, rng: signs(count, self.features, rng), self.people, seed)
        unknown = np.full(self.features, np.nan)
        estimates = np.array([unknown if m.mechanism is None else m.factor * errors[m.mechanism] for m in self.methods])
        both = np.array([np.clip(estimates, -1, 1), estimates])
        return np.asarray(((both - errors[truth]) ** 2).sum(axis=-1))


def scenario(x: float, setting: MeanSetting, limits: tuple[Curve[MeanSetting], ...] = ()) -> MeanScenario:
    """The point at `x`, with every curve's mechanism prepared for the setting."""
    drawn = (*CURVES, *limits)
    return MeanScenario(
        x,
        setting.people,
        len(setting.delta),
        tuple(curve.name for curve in drawn),
        tuple(curve.prepare(setting) for curve in drawn),
    )


SENSITIVE, EPSILON = 0.2, 2.0
PAPER_Q: tuple[float, ...] = tuple(np.linspace(0.01, 1, 10).round(2).tolist())
CORRELATION = 0.05  # where nothing else is said


def demands(sensitive: int, features: int) -> tuple[float, ...]:
    """Demands of 0.2 for the first features and of epsilon = 2 for the others."""
    return (SENSITIVE,) * sensitive + (EPSILON,) * (features - sensitive)


def over_correlation(people: int) -> list[MeanScenario]:
    """The paper's figure: ten features, two of them sensitive, q from 0.01 to 1."""
    return [scenario(q, MeanSetting(demands(2, 10), EPSILON, q, people), LIMITS) for q in PAPER_Q]


def over_dimension(people: int) -> list[MeanScenario]:
    """From 5 to 100 features, a fifth of them sensitive."""
    return [
        scenario(d, MeanSetting(demands(d // 5, d), EPSILON, CORRELATION, people)) for d in (5, 10, 20, 35, 60, 100)
    ]


def over_fraction(people: int) -> list[MeanScenario]:
    """Ten features, from none sensitive to all."""
    return [scenario(k / 10, MeanSetting(demands(k, 10), EPSILON, CORRELATION, people)) for k in range(11)]
