"""What answers reveal when people count by weights: of each target a weighted mean of decoded answers, with its
variance.

A person's weight depends on open values alone. The variance is that of the linearised mean over everybody, asked or
not: what an answer adds, less what the margins already explain of it (theory.md, section 4.11).
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.mechanisms.survey.estimation.decoder import SurveyDecoder
from bcdp.mechanisms.survey.estimation.fake_reports import Weighted, honest_range
from bcdp.mechanisms.survey.estimation.readings import Asked, Counts, marginals
from bcdp.plan import Plan
from bcdp.plan.messages import sends_all
from bcdp.policy import Policy
from bcdp.statistics import Decoded, Means, Target, headline
from bcdp.statistics.shared.decoded_values import JointEstimate, unknown
from bcdp.statistics.shared.linear_form import HonestRange
from bcdp.statistics.shared.weighting import Weighting

Array = npt.NDArray[np.float64]


class WeightedDecoder:
    """The weighted counts of a survey as statistics see them."""

    def __init__(self, plan: Plan, groups: list[list[Counts]], weighting: Weighting) -> None:
        """`groups`: of each group of open values that occurs, the counts of every menu."""
        self._plan, self._groups, self._weighting = plan, groups, weighting
        people = max if sends_all(plan) else sum  # of several messages each, those of the menu with most of them
        self._sizes = np.array([people(int(counts.sum()) for counts in menus) for menus in groups], dtype=np.float64)
        self.people = int(self._sizes.sum())
        self._reports = [sum(int(counts.sum()) for counts in each) for each in zip(*groups, strict=True)]
        self._weights = weighting.weights(self._sizes)
        self._totals = [  # of each menu, people as they count
            np.tensordot(self._weights, np.stack(each).astype(np.float64), axes=1) for each in zip(*groups, strict=True)
        ]
        self._decoder = SurveyDecoder(plan, self.people, self._totals.__getitem__)
        self._strata = np.bincount(weighting.strata, self._sizes)  # their people
        if len(self._strata) > 1 and self._strata.min() < 2:
            raise refuse("strata", "one with a single report", "at least two reports in each, or strata put together")

    @property
    def policy(self) -> Policy:
        """The policy of the plan that was answered."""
        return self._plan.policy

    def means(self, targets: Collection[Target]) -> Means:
        """The weighted values of several targets, shape (size,)."""
        return self._decoder.means(targets)

    def decode(self, target: Target) -> Decoded:
        """The weighted values of a target and their variances."""
        joint = self.together([target])
        if np.isnan(joint.value).any():
            return unknown(target.size(self.policy), joint.answers[0])
        variance, answers = np.diag(joint.covariance).copy(), joint.answers[0]
        nothing = np.zeros_like(variance)
        return Decoded(joint.value, variance, nothing, 0.0, variance**2 / max(answers - 1, 1), answers)

    def honest_range(self, target: Target, factors: Array, fakes: int) -> HonestRange | None:
        """What a linear function of a target may be if so many reports are fake; of several margins that is not known.

        A fake report may name the group whose people count most.
        """
        raised = self._weighting.raised(self._sizes, fakes)
        if raised is None:
            return None
        cells = self._weighting.cells
        groups = [
            Weighted(menus.__getitem__, *each)
            for menus, *each in zip(self._groups, self._weights.tolist(), cells.tolist(), raised.tolist(), strict=True)
        ]
        return honest_range(self._decoder.ways, groups, target, factors, fakes)

    def together(self, targets: Collection[Target]) -> JointEstimate:
        """The weighted values of several targets, one after the other, and their covariances."""
        value, asked, answers = self._told(targets)
        size, own = len(value), self._weighting.strata
        sums, squares = np.zeros((len(self._groups), size)), np.zeros((size, size))
        grown = self._strata / np.maximum(self._strata - 1, 1)
        for added in self._decoder.ways.adding(asked, value):
            for group, (weight, menus) in enumerate(zip(self._weights, self._groups, strict=True)):
                total, square = added.moments(marginals(menus[added.menu]))
                sums[group, added.places] += weight * total
                squares[np.ix_(added.places, added.places)] += weight**2 * grown[own[group]] * square
        means = sums / (self._sizes * self._weights)[:, None]  # of what each person of a group adds, before weights
        fitted = self._weighting.fitted(self._sizes, means) * self._weights[:, None]
        each, left = grown[own, None], sums - self._sizes[:, None] * fitted
        rest = np.zeros((len(grown), size))
        np.add.at(rest, own, left)
        crossed = (each * left).T @ fitted + fitted.T @ (each * sums)
        covariance = squares - crossed - (rest * (grown / self._strata)[:, None]).T @ rest
        covariance[np.isnan(value)] = covariance[:, np.isnan(value)] = math.nan
        return JointEstimate(value, covariance, tuple(answers), self._decoder.ways.messages(targets))

    def _told(self, targets: Collection[Target]) -> tuple[Array, list[Asked], list[int]]:
        """The values, how each target was asked, in people as they count, and the answers of each."""
        people = [float(counts.sum()) for counts in self._totals]
        values, asked, answers = list[Array](), list[Asked](), list[int]()
        for target in targets:
            certain, size = self._decoder.ways.is_certain(target), target.size(self.policy)
            ways = [] if certain else self._decoder.ways.of(target)
            answers.append(self.people if certain else int(sum(way.asked(self._reports) for way in ways)))
            asked.append(Asked(size, {way: way.asked(people) for way in ways} if answers[-1] >= 2 else {}))
            values.append(np.ones(size) if certain else asked[-1].value(self._totals.__getitem__))
        return np.concatenate(values), asked, answers

    def design_effects(self) -> dict[str, float]:
        """Of each feature that is asked the largest of its values' design effects."""
        effects = {name: self._design_effect(headline(self.policy, name)) for name in self.policy.features}
        return {name: float(np.nanmax(each)) for name, each in effects.items() if np.isfinite(each).any()}

    def _design_effect(self, target: Target) -> Array:
        """Each variance over that of as many answers that all count equally."""
        joint = self.together([target])
        total, spread, answers = 0.0, np.zeros_like(joint.value), joint.answers[0]
        for way in self._decoder.ways.of(target):
            counts = way.answered(self._totals.__getitem__)
            square = np.square(way.reading.decoded.reshape(len(counts), -1) - joint.value)
            total += float(counts.sum()) / way.reading.second_moment
            spread += counts @ square / way.reading.second_moment
        unweighted = spread / total / max(answers - 1, 1) if total else np.full_like(joint.value, math.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.diag(joint.covariance) / unweighted)
