"""The survey as a mechanism of the experiments: signs as binary features, answered through the code of devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bcdp.cascade import LeastSquares
from bcdp.device import answers
from bcdp.estimates import estimate
from bcdp.experiments.curves import Array
from bcdp.plan import Plan
from bcdp.planning import make_plan
from bcdp.policy import Policy
from bcdp.randomness import RecordWords
from bcdp.regression.moments import moments
from bcdp.survey import information, lower_bound
from bcdp.tally import SurveyTally, Tally


@dataclass(frozen=True)
class Survey:
    """A survey by its plan's text; the estimate is its tally."""

    text: str

    @property
    def plan(self) -> Plan:
        return _plan(self.text)

    def tally(self, records: Array, rng: np.random.Generator) -> Array:
        """The counts of all menus, one after the other."""
        words = RecordWords(rng.bytes(32), np.arange(len(records)), self.plan.id)
        codes = {name: (records[:, place] > 0).astype(np.int64) for place, name in enumerate(self.plan.policy.features)}
        menu, answer = answers(self.plan, codes, words)
        counted = SurveyTally(self.plan).add({"menu": menu, "answer": answer})
        return np.concatenate([counted.counts(number).ravel() for number in range(len(self.plan.menus))])

    def counted(self, tally: Array) -> SurveyTally:
        """The tally that these counts are."""
        rows, start = [], 0
        for menu, digits in enumerate(self.plan.symbols):
            size = int(np.prod(digits))
            rows += [[menu, answer, int(tally[start + answer])] for answer in range(size)]
            start += size
        document = {"plan": self.plan.id, "people": int(tally.sum()), "counts": rows}
        found = Tally.from_dict(document, self.plan)
        assert isinstance(found, SurveyTally)
        return found


@dataclass(frozen=True)
class SurveyMeans(Survey):
    """The means of all features, not projected; 0 where nobody was asked."""

    def estimate(self, tally: Array, people: int) -> Array:
        means = estimate(self.counted(tally)).means
        return np.nan_to_num([2 * means[name].raw - 1 for name in self.plan.policy.features])


@dataclass(frozen=True)
class SurveyLeastSquares(Survey):
    """The coefficients of the last feature on the others, shrunk as the noise asks, and the second moments."""

    def estimate(self, tally: Array, people: int) -> LeastSquares:
        counted = self.counted(tally)
        found = estimate(counted).regression
        assert found is not None
        theta = np.array([coefficient.value for coefficient in found.coefficients.values()])  # the same for all signs
        return LeastSquares(theta, moments(counted, found.design, means=False).second)


def survey_of(
    delta: Sequence[float], epsilon: float, q: float | Sequence[float], regression: dict[str, Any] | None = None
) -> Policy:
    """The policy of signs with these demands, for their means or for a regression of the last on the others."""
    names = [f"x{place}" for place in range(len(delta))]
    features = {name: {"type": "binary", "delta": level} for name, level in zip(names, delta, strict=True)}
    correlation = q if isinstance(q, float | int) else dict(zip(names, map(float, q), strict=True))
    tasks: list[dict[str, Any]] = [{"mean": names}]
    if regression is not None:
        tasks = [{"regression": {"target": names[-1], "features": names[:-1], **regression}}]
    return Policy(epsilon=epsilon, features=features, correlation=correlation, tasks=tasks)


@lru_cache(maxsize=64)
def means_plan(delta: tuple[float, ...], epsilon: float, q: float) -> Plan:
    """The survey of the means of signs."""
    return make_plan(survey_of(delta, epsilon, q))


def survey_error(plan: Plan, people: int) -> float:
    """The expected squared error against the sample's mean, summed over features, for records of fair signs.

    The plan's error counts the sample's own, 1 / people for each feature, which is none here.
    """
    return sum(1 / told - 1 for told in information(plan).values()) / people


def bound_on_error(plan: Plan, people: int) -> float:
    """What no mechanism is known to beat (docs/theory.md, section 5), against the sample's mean likewise."""
    found = lower_bound(plan.policy, plan.correlation_model, plan)
    least = found.closed_form if found.numerical is None else found.numerical
    return (least - len(plan.policy.features)) / people


@lru_cache(maxsize=64)
def _plan(text: str) -> Plan:
    return Plan.parse(text)
