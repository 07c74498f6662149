"""What a collection of so many people would reveal about a regression: before anybody is asked, and after too few were.

The collection is imagined many times, with the noise that the plan's tables make and coefficients that explain a given
share of the variance; noise falls as one over the square root of the number of people.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bcdp.statistics.regression.least_squares import Centred, Noise, seen_to_vary, shrunk
from bcdp.statistics.regression.variance_explained import help_weights

Array = npt.NDArray[np.float64]

SEEN = 0.9  # of the collections of the advised size show that the features help
_MOST_PEOPLE = 1e12
_COLLECTIONS = 200  # that are imagined one by one
_LIKELY, _FEW = 20, 100  # matrices that answers leave likely, and draws of noise for each
_CAUTION = 1.4  # noise of the counts and of drawing them again, together


@dataclass(frozen=True, eq=False)
class Outlook:
    """A population that is assumed, and the noise of a collection of `people`, drawn many times.

    `matrix` is that of the features. Of the coefficients the direction counts, one row for each draw; their length
    follows from the share.
    """

    matrix: Array
    deviations: Centred
    noise: Noise
    people: int
    share: float
    directions: Array

    @cached_property
    def _thetas(self) -> Array:
        """Coefficients that explain the share, one row for each draw."""
        gain = ((self.directions @ self.matrix) * self.directions).sum(axis=1, keepdims=True)
        return np.asarray(self.directions * np.sqrt(self.share * self.noise.variance / np.maximum(gain, 1e-300)))

    @cached_property
    def _slopes(self) -> Array:
        """The features' products with the outcome if they explain the share, one row for each draw."""
        return np.asarray(self._thetas @ self.matrix)

    def chance(self, people: float, outside: float = 0.025) -> float:
        """The chance that so many people show that the features help.

        Each collection judges by what it sees: by the features that it sees to vary, and by their variances in it.
        """
        part = self.people / people
        error = np.sqrt(part * np.diag(self.noise.matrix))
        own = np.diag(self.matrix) + math.sqrt(part) * np.diagonal(self.deviations.matrix, axis1=1, axis2=2)
        varies, scale = seen_to_vary(own, error)
        judged = replace(self.noise, scale=scale.T, varies=varies.T)
        weights = help_weights(part * self.noise.slope[:, None], judged)  # one column for each collection
        noises = math.sqrt(part) * self.deviations.slope
        seen = (np.square(self._slopes + noises) * weights.T).sum(axis=1)
        return float(np.mean(seen > np.quantile(np.square(noises) @ weights, 1 - outside, axis=0)))

    def lost(self, people: float) -> float:
        """The share of the variance that the shrunk predictions lose to the best ones, on average.

        Each collection shrinks as it is found to need it.
        """
        root, drawn = math.sqrt(self.people / people), self.deviations
        noises = Centred(root * drawn.matrix, root * drawn.slope, root * drawn.variance, root * drawn.mean)
        lost = []
        for theta, matrix, slope, variance in zip(
            self._thetas[:_COLLECTIONS], noises.matrix, noises.slope, noises.variance, strict=False
        ):
            matrix_seen, slope_seen = self.matrix + matrix, self.matrix @ theta + slope
            estimated = Centred(matrix_seen, slope_seen, self.noise.variance + variance, noises.mean)
            error = shrunk(estimated, Noise.of(estimated, noises, self.noise.guess), None, None) - theta
            lost.append(error @ self.matrix @ error)
        return float(np.mean(lost) / self.noise.variance)

    def errors(self, people: float) -> Array:
        """The noise of the coefficients with so many people, one row for each draw, on the [-1, 1] scale."""
        blurred = self.deviations.slope - (self.deviations.matrix @ self._thetas[..., None])[..., 0]
        return np.asarray(math.sqrt(self.people / people) * np.linalg.solve(self.matrix, blurred.T).T)

    def determined(self, people: float) -> bool:
        """Whether so many people determine the coefficients: the features' matrix stands out of its noise."""
        noise = _CAUTION * math.sqrt(self.people / people) * self.deviations.matrix
        return bool(np.mean(np.linalg.eigvalsh(self.matrix + noise)[:, 0] <= 0) <= 0.025)

    def enough_to_show(self, chance: float = SEEN) -> int | None:
        """About how many people it takes to see, with this chance, that the features help."""
        return _fewest(lambda people: self.chance(people) >= chance)

    def enough_to_determine(self) -> int | None:
        """About how many people it takes to determine the coefficients."""
        return _fewest(self.determined)

    def likely_to_determine(self) -> tuple[int | None, int | None]:
        """Between how many people that is with a chance of about 80%: the features' matrix is itself estimated."""
        every = (self.deviations.matrix, self.deviations.slope, self.deviations.variance, self.deviations.mean)
        few = replace(self, deviations=Centred(*(part[:_FEW] for part in every)))
        likely = [
            replace(few, matrix=self.noise.plausible(self.matrix + off)).enough_to_determine()
            for off in self.deviations.matrix[-_LIKELY:]
        ]
        rising = sorted(math.inf if people is None else people for people in likely)
        low, high = rising[_LIKELY // 10], rising[-1 - _LIKELY // 10]
        return (int(low) if math.isfinite(low) else None, int(high) if math.isfinite(high) else None)


def any_direction(matrix: Array, draws: int) -> Array:
    """Coefficients of which every direction is as likely, in units of what they explain."""
    rng = np.random.default_rng(len(matrix))
    root = np.linalg.cholesky(matrix)
    return np.asarray(np.linalg.solve(root.T, rng.standard_normal((len(matrix), draws))).T)


def _fewest(enough: Callable[[float], bool]) -> int | None:
    """The fewest people that are enough, rounded up to two digits; None if no number is."""
    low, high = 1.0, math.log(_MOST_PEOPLE)
    if not enough(_MOST_PEOPLE):
        return None
    while high - low > 0.02:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(math.exp(middle)) else (middle, high)
    return rounded_up(math.exp(high))


def rounded_up(people: float) -> int:
    """A number of people to two digits."""
    digits: int = 10 ** max(int(math.log10(max(people, 10.0))) - 1, 0)
    return math.ceil(people / digits) * digits
