"""How much of the outcome's variance the features explain, with an interval, and whether they help at all.

What noise alone adds to the share is as large as what weak features explain, and the share cannot be below 0. So an
interval holds the shares under which the observed result is no rarity (theory.md, section 4.4): for each share,
the collection is imagined again with coefficients that explain as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bcdp.statistics.regression.least_squares import Centred, Coefficient, Noise
from bcdp.statistics.shared.special import ndtri

Array = npt.NDArray[np.float64]
Columns = npt.NDArray[np.bool_]

_STEPS = 14  # of halving: shares to four digits
_LEAST_PART = 0.05  # of what coefficients explain under the matrix found, under any that noise may hide
_NEARLY_CONSTANT = 0.05  # the standard error of a variance, at most 1, that is not above it


def seen_to_help(estimated: Centred, deviations: Centred, noise: Noise, chance: float) -> bool:
    """Whether features that explain nothing would hardly ever, by this chance, seem to explain so much.

    Each feature counts by what it could reveal if all explained together what the policy guesses: the noise of one that
    is hardly asked does not hide what the others explain.
    """
    weights = help_weights(noise.slope, noise)
    ours = float(weights @ estimated.slope**2)
    noises = np.square(deviations.slope) @ weights
    return bool((1 + (noises >= ours).sum()) / (1 + len(noises)) <= chance)


def help_weights(slope: Array, noise: Noise) -> Array:
    """How much the square of each slope counts, given the variances of the slopes."""
    guess = noise.guess * noise.variance / len(noise.scale)
    return np.asarray(np.where(noise.varies, guess / (guess + slope / noise.scale), 0.0) / noise.scale)


class Explained:
    """The share of the variance that all columns explain, or that some of them add to the others.

    Columns that are seen to be nearly constant are left out: by a variance that is noise, what they explain could be
    anything. Where the noise is too large to see even that, it is in the interval.
    """

    def __init__(self, estimated: Centred, deviations: Centred, noise: Noise, confidence: float) -> None:
        """`deviations` is what noise may have added, drawn many times."""
        varies = (np.diag(estimated.matrix) >= noise.scale) | (noise.scale > _NEARLY_CONSTANT)
        self._varies = varies | (not varies.any())
        both = np.outer(self._varies, self._varies) | np.eye(len(varies), dtype=bool)
        self._outside, self._found, self._noise = 1 - confidence, estimated, noise
        self._slope, self._slopes = (np.where(self._varies, part.slope, 0.0) for part in (estimated, deviations))
        self._matrix = noise.plausible(np.where(both, estimated.matrix, 0.0))
        self._matrices = np.where(both, deviations.matrix * np.sqrt(noise.kept), 0.0)  # what shrinking leaves of them
        self._variances = noise.variance + deviations.variance

    def share(self, base: Columns) -> Coefficient:
        """What the columns add to what the `base` explains, as a share of the variance.

        The interval holds all shares under which the observed result is not among the unlikeliest. Results are ordered
        by how much less likely than under the best share they are (Feldman and Cousins 1998), so that it is never
        empty. It begins at 0 where nothing stands out. The value is the share whose median result was observed.
        """
        if not self._varies[~base].any():
            return Coefficient(0.0, math.inf, 0.0, 1.0)
        within = np.zeros_like(self._matrix)
        within[np.ix_(base, base)] = np.linalg.inv(self._matrix[np.ix_(base, base)])
        beyond = np.asarray(np.linalg.inv(self._matrix) - within)
        ours = float(_square(beyond, self._slope))

        def drawn(share: float) -> tuple[Array, Array, Array]:
            nothing, imagined = self._imagined(share, within, beyond)
            return nothing, imagined, imagined - share * self._variances

        def more(share: float) -> float:
            return ours - share * self._noise.variance

        def accepted(share: float) -> bool:
            nothing, imagined, scores = drawn(share)
            nothing, ordered = np.sort(nothing), np.sort(scores)
            rarity = _score(ordered, scores) ** 2 - np.minimum(_score(nothing, imagined), 0.0) ** 2
            mine = _score(ordered, more(share)) ** 2 - np.minimum(_score(nothing, ours), 0.0) ** 2
            return bool(mine <= np.quantile(rarity, 1 - self._outside))

        value = _halved(0.0, 1.0, lambda share: bool(np.median(drawn(share)[2]) < more(share)))
        seen = ours > np.quantile(drawn(0.0)[0], 1 - self._outside / 2)
        low = _halved(0.0, value, lambda share: not accepted(share)) if seen else 0.0
        error = float(drawn(value)[2].std()) / self._noise.variance
        return Coefficient(value, error, low, _halved(value, 1.0, accepted))

    def _imagined(self, share: float, within: Array, beyond: Array) -> tuple[Array, Array]:
        """What collections would find explained if the columns added nothing, and if they added the share.

        One entry for each draw of the noise. The coefficients have a direction as likely as the answers leave it if the
        columns explain so much, and a length by which they explain it under the features' matrix of that draw.
        """
        explained = max(share * self._noise.variance, self._noise.explained)
        thetas = np.where(self._varies, self._noise.drawn(self._found, len(self._slopes), explained), 0.0)
        alone = thetas @ self._matrix @ within  # the coefficients of the base without the others
        unit = thetas - alone
        unit /= np.sqrt(np.maximum(_square(self._matrix, unit), 1e-300))[:, None]
        noise, turned = self._slopes - _times(self._matrices, alone), _times(self._matrices, unit)
        turn = (turned * unit).sum(axis=-1)
        length = np.sqrt(share * self._noise.variance / np.maximum(1 - turn - _square(within, turned), _LEAST_PART))
        nothing = _square(beyond, noise)
        linear = 2 * (noise * (unit - turned @ beyond)).sum(axis=-1)
        return nothing, nothing + length * linear + length**2 * (1 - 2 * turn + _square(beyond, turned))


def _score(drawn: Array, observed: Array | float) -> Array:
    """Where results stand among those drawn, in rising order, as a normal deviate."""
    return np.asarray(ndtri((np.searchsorted(drawn, observed) + 0.5) / (len(drawn) + 1)))


def _halved(low: float, high: float, below: Callable[[float], bool]) -> float:
    """The end of where something holds, from `low` on."""
    if not below(low):
        return low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return high


def _times(matrices: Array, vectors: Array) -> Array:
    return np.asarray((matrices @ vectors[..., None])[..., 0])


def _square(matrix: Array, vector: Array) -> Array:
    return np.asarray(((vector @ matrix) * vector).sum(axis=-1))
