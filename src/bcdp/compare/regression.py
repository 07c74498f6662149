"""Least squares on nine correlated signs and a label: from two private copies of each record, or from a survey.

The joint distribution of the ten features is a table of 2^10 probabilities: records are drawn from it, each
feature's q and the true second moments are computed from it. Errors are against the population.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from bcdp.compare.curves import Array, Curve, Method, simulate
from bcdp.compare.survey import SurveyLeastSquares, survey_of
from bcdp.mechanisms.cascade import LeastSquares, budgets, least_squares, minimise_quadratic, ridge_loss
from bcdp.mechanisms.planning import make_plan
from bcdp.notions import dobrushin
from bcdp.policy import Policy
from bcdp.statistics import Target
from bcdp.statistics.regression.design_matrix import expanded, target_of
from bcdp.statistics.regression.statistic import Regression

THETA = np.array([0.15, *[0.1] * 6, 0.05, 0.05])
ALL_EQUAL = 0.05  # the probability that one coin decides all nine features
FEATURES = len(THETA) + 1  # the label is the last
RADIUS = 1.0
DELTA, EPSILON = (0.2, 0.2, *[2.0] * (FEATURES - 2)), 2.0
FROBENIUS, RISK = "second moments", "excess risk"
PEOPLE = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


@dataclass(frozen=True, eq=False)
class TruePopulation:
    """The possible records (1024 x 10) and their probabilities, each feature's exact q, and the second moments."""

    records: Array
    probabilities: Array
    q: Array
    second_moments: Array

    def draw(self, people: int, rng: np.random.Generator) -> Array:
        """Independent records of the population."""
        return np.asarray(self.records[rng.choice(len(self.records), size=people, p=self.probabilities)])


@lru_cache(maxsize=1)
def population() -> TruePopulation:
    """Nine signs, all equal with probability 0.05, else independent; the label is 1 with chance (1 + z.theta) / 2."""
    shape = (2,) * FEATURES
    records: Array = 2.0 * np.indices(shape).reshape(FEATURES, -1).T.astype(np.float64) - 1
    z, label = records[:, :-1], records[:, -1]
    equal = np.abs(z.sum(axis=1)) == len(THETA)
    probabilities = (ALL_EQUAL * equal / 2 + (1 - ALL_EQUAL) / 2 ** len(THETA)) * (1 + label * (z @ THETA)) / 2
    q = np.array([dobrushin(probabilities.reshape(shape), feature) for feature in range(FEATURES)])
    return TruePopulation(records, probabilities, q, records.T @ (probabilities[:, None] * records))


@dataclass(frozen=True)
class TwoCopies:
    """The paper's estimator: products of two private copies, each with half of the budgets."""

    budgets: tuple[float, ...]

    def tally(self, records: Array, rng: np.random.Generator) -> Array:
        return least_squares(records, self.budgets, rng, RADIUS).second_moments * len(records)

    def estimate(self, tally: Array, people: int) -> LeastSquares:
        moments = tally / people
        return LeastSquares(minimise_quadratic(moments, ridge_loss(-1, 0.0), RADIUS), moments)


@dataclass(frozen=True)
class PredictZero:
    """No data at all: every coefficient is 0."""

    def tally(self, records: Array, rng: np.random.Generator) -> Array:
        return np.zeros(())

    def estimate(self, tally: Array, people: int) -> LeastSquares:
        return LeastSquares(np.zeros(len(THETA)), np.full((FEATURES, FEATURES), np.nan))


def corrected(q: Array) -> Method:
    """The paper's theorem with zeta = (1 + q) / 2 for the largest q but the label's; every feature is certified."""
    return Method(TwoCopies(tuple(budgets(DELTA, EPSILON, q, zeta=(1 + q[:-1].max()) / 2).c.tolist())))


def best_level(q: Array) -> Method:
    """The LDP level with the least predicted error of the means."""
    return Method(TwoCopies(tuple(budgets(DELTA, EPSILON, q).c.tolist())))


def one_level(q: Array) -> Method:
    """The smallest demand for every feature."""
    return Method(TwoCopies((min(DELTA),) * FEATURES))


def survey(q: Array) -> Method:
    """Products of two features, by themselves or in joint questions (theory.md, section 4.4)."""
    policy = survey_of(DELTA, EPSILON, q.tolist(), {"intercept": False, "radius": RADIUS})
    return Method(SurveyLeastSquares(make_plan(policy).text))


class EqualMoments(Regression):
    """A regression whose design minimises the Frobenius error of all second moments, as if every entry counted alike.

    Without an intercept and for signs, which is all that the experiment has.
    """

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        for first, second in combinations(self.regression.designs(policy)[0], 2):
            for monomial in expanded(policy, first, second):
                yield target_of(monomial), 2.0


def alike_moments(policy: Policy) -> Policy:
    """The policy whose regression counts all second moments alike."""
    (task,) = policy.tasks
    assert isinstance(task, Regression)
    return policy.model_copy(update={"tasks": (EqualMoments(regression=task.regression),)})


def equal_moments(q: Array) -> Method:
    """The survey whose questions are chosen for all second moments alike."""
    policy = survey_of(DELTA, EPSILON, q.tolist(), {"intercept": False, "radius": RADIUS})
    return Method(SurveyLeastSquares(make_plan(alike_moments(policy)).text))


def predict_zero(q: Array) -> Method:
    """What must be beaten to be of use."""
    return Method(PredictZero())


CURVES = (
    Curve("paper, corrected", corrected),
    Curve("paper, best level", best_level),
    Curve("min-delta LDP", one_level),
    Curve("survey", survey),
    Curve("survey, all moments alike", equal_moments),
    Curve("predicting 0", predict_zero),
)


@dataclass(frozen=True)
class RegressionScenario:
    """One point of the picture: so many people, and the prepared methods of all curves."""

    people: int
    curves: tuple[str, ...]
    methods: tuple[Method, ...]

    panels = (FROBENIUS, RISK)
    features = FEATURES

    @property
    def x(self) -> float:
        return self.people

    def predicted(self) -> Array:
        """NaN for each panel and curve: no formula is known."""
        return np.full((len(self.panels), len(self.curves)), np.nan)

    def trial(self, seed: Sequence[int]) -> Array:
        """The Frobenius error and the excess risk of each curve in one trial."""
        true = population()
        mechanisms = [method.mechanism for method in self.methods if method.mechanism is not None]
        errors = simulate(mechanisms, true.draw, self.people, seed)
        fits: list[LeastSquares] = [errors[mechanism] for mechanism in mechanisms]
        frobenius = [np.linalg.norm(fit.second_moments - true.second_moments) for fit in fits]
        return np.array([frobenius, [excess_risk(fit.theta) for fit in fits]])


def excess_risk(theta: Array) -> float:
    """How much more half of the mean squared error is with `theta` than with the best coefficients."""
    error = theta - THETA
    return float(error @ population().second_moments[:-1, :-1] @ error / 2)


def over_people(largest: int) -> list[RegressionScenario]:
    """From a thousand people to the largest number, which ends the sweep."""
    q = population().q
    methods = tuple(curve.prepare(q) for curve in CURVES)
    sizes = [*(people for people in PEOPLE if people < largest), largest]
    return [RegressionScenario(people, tuple(curve.name for curve in CURVES), methods) for people in sizes]
