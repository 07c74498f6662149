"""What answers tell when people count by weights: of each target a weighted mean of decoded answers, with its variance.

A person's weight depends on open values alone. The variance is that of the linearised mean over everybody, asked or
not: what an answer adds, less what the margins already explain of it (docs/theory.md, section 4.11).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.mechanisms.survey.decoding import Counts, SurveyDecoder
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.statistics import Decoded, Means, Single, Target
from bcdp.statistics.decoded import Together, unknown
from bcdp.statistics.weighting import Weighting

Array = npt.NDArray[np.float64]
Axes = Mapping[int, Mapping[int, Array]]  # by menu and axis: what each symbol adds to all values


class WeightedDecoder:
    """The weighted counts of a survey as statistics see them."""

    def __init__(self, plan: Plan, groups: list[list[Counts]], weighting: Weighting) -> None:
        """`groups`: of each group of open values that occurs, the counts of every menu."""
        self._plan, self._groups, self._weighting = plan, groups, weighting
        self._sizes = np.array([sum(int(counts.sum()) for counts in menus) for menus in groups], dtype=np.float64)
        self.people = int(self._sizes.sum())
        self._weights = weighting.weights(self._sizes)
        self._decoder = SurveyDecoder(plan, self.people, self._weighted)
        self._strata = np.bincount(weighting.strata, self._sizes)  # their people
        if len(self._strata) > 1 and self._strata.min() < 2:
            raise refuse("strata", "one with a single report", "at least two reports in each, or strata put together")

    @property
    def policy(self) -> Policy:
        """The policy of the plan that was answered."""
        return self._plan.policy

    def _weighted(self, menu: int) -> Array:
        total = sum(weight * menus[menu] for weight, menus in zip(self._weights, self._groups, strict=True))
        return np.asarray(total, dtype=np.float64)

    def means(self, targets: Collection[Target]) -> Means:
        """The weighted values of several targets, shape (size,)."""
        return self._decoder.means(targets)

    def decode(self, target: Target) -> Decoded:
        """The weighted values of a target and their variances."""
        found = self.together([target])
        if np.isnan(found.value).any():
            return unknown(target.size(self.policy), found.answers[0])
        variance, answers = np.diag(found.covariance).copy(), found.answers[0]
        nothing = np.zeros_like(variance)
        return Decoded(found.value, variance, nothing, 0.0, variance**2 / max(answers - 1, 1), answers)

    def together(self, targets: Collection[Target]) -> Together:
        """The weighted values of several targets, one after the other, and their covariances."""
        value, added, answers = self._added(list(targets))
        size, own = len(value), self._weighting.strata
        sums, squares = np.zeros((len(self._groups), size)), np.zeros((size, size))
        grown = self._strata / np.maximum(self._strata - 1, 1)
        for place, (weight, menus) in enumerate(zip(self._weights, self._groups, strict=True)):
            for menu, axes in added.items():
                total, square = _moments(menus[menu], axes)
                sums[place] += weight * total
                squares += weight**2 * grown[own[place]] * square
        means = sums / (self._sizes * self._weights)[:, None]  # of what each person of a group adds, before weights
        fitted = self._weighting.fitted(self._sizes, means) * self._weights[:, None]
        each, left = grown[own, None], sums - self._sizes[:, None] * fitted
        rest = np.zeros((len(grown), size))
        np.add.at(rest, own, left)
        crossed = (each * left).T @ fitted + fitted.T @ (each * sums)
        covariance = squares - crossed - (rest * (grown / self._strata)[:, None]).T @ rest
        covariance[np.isnan(value)] = covariance[:, np.isnan(value)] = math.nan
        return Together(value, covariance, tuple(answers))

    def _added(self, targets: list[Target]) -> tuple[Array, Axes, list[int]]:
        """The values, what every symbol adds to them (before weights, and less the value), and the answers of each."""
        means, ways = self.means(targets), self._decoder.ways
        ends = np.cumsum([0, *(target.size(self.policy) for target in targets)])
        value = np.full(ends[-1], math.nan)
        added: dict[int, dict[int, Array]] = defaultdict(dict)
        answers = []
        for target, start, end in zip(targets, ends, ends[1:], strict=False):
            found = ways.of(target)
            answers.append(sum(int(self._asked(menu)) for way in found for menu, _ in way.places))
            if self._decoder.is_certain(target):
                value[start:end], answers[-1] = 1.0, self.people
            elif answers[-1] >= 2:
                weighed = ways.answered(found, self._weighted)
                total = sum(
                    float(counts.sum()) / way.reading.second_moment for way, counts in zip(found, weighed, strict=True)
                )
                value[start:end] = means[target]
                for way in found:
                    each = (way.reading.decoded - means[target]) / way.reading.second_moment / total
                    for menu, axis in way.places:
                        whole = added[menu].setdefault(axis, np.zeros((len(each), ends[-1])))
                        whole[:, start:end] += each.reshape(len(each), -1)
        return value, added, answers

    def _asked(self, menu: int) -> int:
        return sum(int(menus[menu].sum()) for menus in self._groups)

    def design_effects(self) -> dict[str, float]:
        """Of each feature that is asked the largest of its values' design effects."""
        found = {name: self._design_effect(Single(name)) for name in self.policy.features}
        return {name: float(np.nanmax(each)) for name, each in found.items() if np.isfinite(each).any()}

    def _design_effect(self, target: Target) -> Array:
        """Each variance over that of as many answers that all count alike."""
        found = self.together([target])
        ways, answers = self._decoder.ways, found.answers[0]
        asked = ways.of(target)
        weighed = ways.answered(asked, self._weighted)
        total, spread = 0.0, np.zeros_like(found.value)
        for way, counts in zip(asked, weighed, strict=True):
            square = np.square(way.reading.decoded.reshape(len(counts), -1) - found.value)
            total += float(counts.sum()) / way.reading.second_moment
            spread += counts @ square / way.reading.second_moment
        alike = spread / total / max(answers - 1, 1) if total else np.full_like(found.value, math.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.diag(found.covariance) / alike)

    def bootstrap(self, targets: Collection[Target], draws: int) -> Means:
        """The values of several targets in collections drawn again within strata, weights made anew."""
        shapes = [counts.shape for counts in self._groups[0]]
        flat = np.stack([np.concatenate([counts.ravel() for counts in menus]) for menus in self._groups])
        rng = np.random.default_rng([crc32(flat.tobytes()), draws])
        strata = [np.flatnonzero(self._weighting.strata == number) for number in range(len(self._strata))]
        again = np.empty((draws, flat.shape[1]))
        for draw in range(draws):
            counts = np.empty_like(flat)
            for own in strata:
                people = flat[own].sum()
                counts[own] = rng.multinomial(people, flat[own].ravel() / people).reshape(len(own), -1)
            again[draw] = self._weighting.weights(counts.sum(axis=1).astype(np.float64)) @ counts
        starts = np.cumsum([0, *(math.prod(shape) for shape in shapes)])
        return self._decoder.means_of(
            targets,
            lambda menu: again[:, starts[menu] : starts[menu + 1]].reshape(draws, *shapes[menu]),
        )


def _moments(counts: Counts, axes: Mapping[int, Array]) -> tuple[Array, Array]:
    """The sum over the answers to one menu of what each adds, and of its square."""

    def seen(*kept: int) -> Counts:
        return np.asarray(counts.sum(axis=tuple(axis for axis in range(counts.ndim) if axis not in kept)))

    size = next(iter(axes.values())).shape[1]
    total, square = np.zeros(size), np.zeros((size, size))
    for axis, each in axes.items():
        total += seen(axis) @ each
    for (one, first), (two, second) in itertools.product(axes.items(), repeat=2):
        if one == two:
            square += first.T @ (seen(one)[:, None] * first)
        else:
            both = seen(one, two)
            square += first.T @ (both if one < two else both.T) @ second
    return total, square
