"""The survey as a mechanism of the experiments: signs as binary features, answered through the code of devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from bcdp.compare.bound import Bound, problem_of
from bcdp.compare.curves import Array
from bcdp.device import answers
from bcdp.estimates import estimate
from bcdp.mechanisms.cascade import LeastSquares
from bcdp.mechanisms.planning import make_plan
from bcdp.mechanisms.survey import information
from bcdp.mechanisms.survey.estimation.tally import SurveyTally
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.randomness import RecordWords
from bcdp.statistics.regression.design_matrix import moment_targets, moments
from bcdp.tally import Tally

PROOFS = Path(__file__).parent / "bound" / "proofs"


@dataclass(frozen=True)
class SimulatedSurvey:
    """A survey by its plan's text; the estimate is its tally."""

    text: str

    @property
    def plan(self) -> Plan:
        return _plan(self.text)

    def tally(self, records: Array, rng: np.random.Generator) -> Array:
        """The counts of all menus, one after the other."""
        words = RecordWords(rng.bytes(32), np.arange(len(records)), self.plan.id)
        codes = {
            name: (records[:, column] > 0).astype(np.int64) for column, name in enumerate(self.plan.policy.features)
        }
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
        return cast("SurveyTally", Tally.from_dict(document, self.plan))


@dataclass(frozen=True)
class SurveyMeans(SimulatedSurvey):
    """The means of all features, not projected; 0 where nobody was asked."""

    def estimate(self, tally: Array, people: int) -> Array:
        means = estimate(self.counted(tally)).means
        raw: Array = np.array([2 * means[name].raw - 1 for name in self.plan.policy.features])
        return np.nan_to_num(raw)


@dataclass(frozen=True)
class SurveyLeastSquares(SimulatedSurvey):
    """The coefficients of the last feature on the others, shrunk as the noise asks, and the second moments."""

    def estimate(self, tally: Array, people: int) -> LeastSquares:
        counted = self.counted(tally)
        regression = estimate(counted).regression
        assert regression is not None
        theta = np.array(
            [coefficient.value for coefficient in regression.coefficients.values()]
        )  # the same for all signs
        policy = self.plan.policy
        means = counted.decoder().means(moment_targets(policy, regression.design, intercept=False))
        return LeastSquares(theta, moments(policy, regression.design, means).second)


def survey_of(
    delta: Sequence[float], epsilon: float, q: float | Sequence[float], regression: dict[str, Any] | None = None
) -> Policy:
    """The policy of signs with these demands, for their means or for a regression of the last on the others."""
    names = [f"x{number}" for number in range(len(delta))]
    features = {name: {"type": "binary", "delta": level} for name, level in zip(names, delta, strict=True)}
    correlation = q if isinstance(q, float | int) else dict(zip(names, map(float, q), strict=True))
    tasks: list[dict[str, Any]] = [{"mean": names}]
    if regression is not None:
        tasks = [{"regression": {"target": names[-1], "features": names[:-1], **regression}}]
    return Policy(epsilon=epsilon, features=features, correlation=correlation, tasks=tasks)


@lru_cache(maxsize=64)
def means_plan(delta: tuple[float, ...], epsilon: float, q: float, odds: float | None = None) -> Plan:
    """The survey of the means of signs, with odds assumed in addition to `q` or not."""
    policy = survey_of(delta, epsilon, q)
    if odds is not None:
        policy = Policy(**{**policy.to_dict(), "correlation": {"q": q, "odds": odds}})
    return make_plan(policy)


def survey_error(plan: Plan, people: int) -> float:
    """The expected squared error against the sample's mean, summed over features, for records of fair signs.

    The plan's error counts the sample's own, 1 / people for each feature, which is none here.
    """
    return sum(1 / information_of_target - 1 for information_of_target in information(plan).values()) / people


def proved_error(delta: tuple[float, ...], epsilon: float, q: float, people: int) -> float | None:
    """What no mechanism can beat, against the sample's mean too; None where the package has no proof."""
    file = PROOFS / proof_name(q)
    proved = Bound.load(file) if file.is_file() else None
    if proved is None or proved.problem != problem_of(survey_of(delta, epsilon, q)):
        return None
    return (proved.least - len(delta)) / people


def proof_name(q: float) -> str:
    """The name of the file with the proof for a point of the paper's figure."""
    return f"paper-{q:g}.json"


@lru_cache(maxsize=64)
def _plan(text: str) -> Plan:
    return Plan.parse(text)
