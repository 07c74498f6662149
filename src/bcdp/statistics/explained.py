"""How much of the outcome's variance the features explain, with an interval, and whether they help at all.

What noise alone adds to the share is as large as what weak features explain, and the share cannot be below 0. So an
interval holds the shares under which the observed result is no rarity (docs/theory.md, section 4.4): for each share,
the collection is imagined again with coefficients that explain as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bcdp.statistics.least_squares import Centred, Coefficient, Noise
from bcdp.statistics.special import ndtri

Array = npt.NDArray[np.float64]
Columns = npt.NDArray[np.bool_]

_STEPS = 14  # of halving: shares to four digits


def seen_to_help(found: Centred, deviations: Centred, noise: Noise, chance: float) -> bool:
    """Whether features that explain nothing would hardly ever, by this chance, seem to explain so much.

    Each feature counts by what it could tell if all explained together what the policy guesses: the noise of one that
    is hardly asked does not hide what the others explain.
    """
    weights = help_weights(noise.slope, noise)
    ours = float(weights @ found.slope**2)
    noises = np.square(deviations.slope) @ weights
    return bool((1 + (noises >= ours).sum()) / (1 + len(noises)) <= chance)


def help_weights(slope: Array, noise: Noise) -> Array:
    """How much the square of each slope counts, given the variances of the slopes."""
    guess = noise.guess * noise.variance / len(noise.scale)
    return np.asarray(np.where(noise.varies, guess / (guess + slope / noise.scale), 0.0) / noise.scale)


class Explained:
    """The share of the variance that all columns explain, or that some of them add to the others."""

    def __init__(self, found: Centred, deviations: Centred, noise: Noise, confidence: float) -> None:
        """`deviations` is what noise may have added, drawn many times."""
        varies = np.outer(noise.varies, noise.varies) | np.eye(len(noise.scale), dtype=bool)
        self._noise, self._confidence = noise, confidence
        self._slope = np.where(noise.varies, found.slope, 0.0)
        self._matrix = noise.plausible(np.where(varies, found.matrix, 0.0))
        self._matrices = noise.plausible(self._matrix + np.where(varies, deviations.matrix, 0.0))
        self._deviations = np.where(noise.varies, deviations.slope, 0.0)
        self._variances = np.maximum(noise.variance + deviations.variance, noise.variance / 2)
        mean, covariance = noise.posterior(found)
        rng = np.random.default_rng(len(mean))  # protects nobody, and gives everybody the same interval
        drawn = rng.standard_normal((len(self._deviations), len(mean))) @ np.linalg.cholesky(covariance).T
        self._slopes = np.where(noise.varies, mean + drawn, 0.0) @ self._matrix

    def share(self, base: Columns) -> Coefficient:
        """What the columns add to what the `base` explains, as a share of the variance.

        The coefficients of an imagined collection have a direction as likely as the answers leave it.
        """
        variance, added = self._noise.variance, _Added(self._matrix, base)
        if not self._noise.varies[~base].any():
            return Coefficient(0.0, math.inf, 0.0, 1.0)
        within = self._slopes[:, base] @ np.linalg.inv(self._matrix[np.ix_(base, base)]) @ self._matrix[base]
        beyond = self._slopes - within
        direction = beyond / np.sqrt(np.maximum(added(beyond) / variance, 1e-30))[:, None]
        many = _Added(self._matrices, base)

        def imagined(share: float) -> Array:
            return np.sort(many(within + math.sqrt(share) * direction + self._deviations) / self._variances)

        return _unified(float(added(self._slope)) / variance, imagined, 1 - self._confidence)


def _unified(ours: float, imagined: Callable[[float], Array], outside: float) -> Coefficient:
    """The interval of all shares under which the observed result is not among the unlikeliest.

    Results are ordered by how much less likely than under the best share they are (Feldman and Cousins 1998), so that
    the interval is never empty, and one-sided where nothing stands out. The value is the share whose
    median result was observed.
    """
    nothing = imagined(0.0)

    def rarity(drawn: Array, found: Array) -> Array:
        return np.asarray(_score(drawn, found) ** 2 - np.minimum(_score(nothing, found), 0.0) ** 2)

    def accepted(share: float) -> bool:
        drawn = imagined(share)
        return bool(rarity(drawn, np.array(ours)) <= np.quantile(rarity(drawn, drawn), 1 - outside))

    value = _halved(0.0, 1.0, lambda share: bool(np.median(imagined(share)) < ours))
    low = 0.0 if accepted(0.0) else _halved(0.0, value, lambda share: not accepted(share))
    return Coefficient(value, float(imagined(value).std()), low, _halved(value, 1.0, accepted))


def _score(drawn: Array, found: Array) -> Array:
    """Where results stand among those drawn, in rising order, as a normal deviate."""
    return np.asarray(ndtri((np.searchsorted(drawn, found) + 0.5) / (len(drawn) + 1)))


def _halved(low: float, high: float, below: Callable[[float], bool]) -> float:
    """The end of where something holds, from `low` on."""
    if not below(low):
        return low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return high


class _Added:
    """What columns add to a base, for one matrix or many; the inverses are computed once."""

    def __init__(self, matrix: Array, base: Columns) -> None:
        self._base, self._all = base, np.asarray(np.linalg.inv(matrix), dtype=np.float64)
        self._part = np.asarray(np.linalg.inv(matrix[..., base, :][..., :, base]), dtype=np.float64)

    def __call__(self, slope: Array) -> Array:
        part = slope[..., self._base]
        return np.asarray(_length(self._all, slope) - _length(self._part, part))


def _length(matrix: Array, vector: Array) -> Array:
    return np.asarray(((matrix @ vector[..., None])[..., 0] * vector).sum(axis=-1))
