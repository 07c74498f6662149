"""Least squares from moments that noise has blurred: what stands out of the noise, and how far to shrink.

Moments are on the [-1, 1] scale. How uncertain they are is found by drawing the counts again; how far to shrink the
coefficients follows from the noise, which the plan knows: nothing here looks at records. With an intercept the moments
are centred, so that "explains nothing" means predicting the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics.columns import Column, Design, Moments
from bcdp.statistics.interval import finite
from bcdp.statistics.quadratic import minimise_on_ball

Array = npt.NDArray[np.float64]

_LEAST_SHARE = 0.02  # of the variance: what features that are worth asking for are taken to explain at least
_SHOWN_SHARE = 0.1  # of the variance: what the number of people to collect is told for
_STANDS_OUT = 3  # standard errors
_DOUBTFUL = 0.025  # of the draws with an indefinite matrix leave the coefficients unknown


@dataclass(frozen=True)
class Coefficient:
    """A number in own units: `value` is shrunk towards 0 as the noise asks, the interval belongs to the unshrunk one.

    Where the answers do not determine it, the standard error and, without a `radius`, the interval are infinite.
    """

    value: float
    se: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """The number in plain JSON; what is not finite is null."""
        return finite(vars(self))


@dataclass(frozen=True)
class Centred:
    """The features' matrix, their products with the target, the target's variance, and all means (0 if uncentred)."""

    matrix: Array
    slope: Array
    variance: Array
    mean: Array

    @property
    def known(self) -> bool:
        """Whether every moment was answered."""
        return bool(np.isfinite(self.matrix).all() and np.isfinite(self.slope).all() and np.isfinite(self.variance))


def centred(found: Moments, intercept: bool) -> Centred:
    mean = found.mean if intercept else np.zeros_like(found.mean)
    second = found.second - mean[..., :, None] * mean[..., None, :]
    return Centred(second[..., :-1, :-1], second[..., :-1, -1], second[..., -1, -1], mean)


def with_constant(found: Centred, theta: Array) -> Array:
    """The coefficients, the constant that goes with them, and 1."""
    constant = found.mean[..., -1] - (theta * found.mean[..., :-1]).sum(axis=-1)
    return np.concatenate([theta, constant[..., None], np.ones((*theta.shape[:-1], 1))], axis=-1)


@dataclass(frozen=True)
class Noise:
    """What is known of the noise: variances of the slopes and of the matrix, and how much signal stands out of it.

    A feature whose variance does not stand out of its own noise counts as constant: by a variance that is noise, what
    it explains could be anything.
    """

    slope: Array
    matrix: Array
    scale: Array  # each feature's variance, kept above its own noise
    variance: float  # the target's, likewise
    varies: npt.NDArray[np.bool_]  # which features are seen to vary; the rest is left out of what follows
    signal: float  # an unbiased estimate of what the features explain, if they are uncorrelated
    margin: float  # what that would hardly reach if they explained nothing: three standard errors
    total: float  # the noise in it

    @classmethod
    def of(cls, found: Centred, again: Centred) -> Noise:
        matrix = again.matrix.var(axis=0)
        own, error = np.diag(found.matrix), np.sqrt(np.diag(matrix))
        varies = own > _STANDS_OUT * error
        varies |= not varies.any()  # too few people to see any feature vary: all of them count
        scale = np.maximum(own, np.maximum(error, 1e-6))
        variance = max(float(found.variance), float(again.variance.std()), 1e-6)
        slope = again.slope.var(axis=0)
        each = np.where(varies, slope / scale, 0.0)
        signal = float(np.where(varies, found.slope**2 / scale, 0.0).sum() - each.sum())
        margin = _STANDS_OUT * math.sqrt(2 * float((each**2).sum()))
        return cls(slope, matrix, scale, variance, varies, signal, margin, float(each.sum()))

    @property
    def explained(self) -> float:
        """The part of the target's variance that the features are taken to explain: what stands out of the noise.

        Where the noise is larger than all there is to explain, whatever stands out of it is noise too.
        """
        seen = self.signal - self.margin if self.total < self.variance else 0.0
        return min(max(seen, _LEAST_SHARE * self.variance), self.variance)

    def remark(self, people: int, names: list[str]) -> str:
        """Whether the answers show that the features explain anything, and else how many people would."""
        constant = [name for name, varies in zip(names, self.varies, strict=True) if not varies]
        left_out = f" Not counted, as they are not seen to vary: {', '.join(constant)}." if constant else ""
        if self.signal > self.margin:
            return f"The answers show that the features help to predict the target.{left_out}"
        enough = people * self.margin / (_SHOWN_SHARE * self.variance)
        digits = 10 ** max(int(math.log10(max(enough, 10.0))) - 1, 0)
        share = f"features that explain {100 * _SHOWN_SHARE:g}% of the variance"
        rest = f"{share} would have stood out."
        if enough > people:
            rest = f"collect about {math.ceil(enough / digits) * digits:,} people to show {share}."
        return f"The answers cannot tell this from predicting the mean for everybody; {rest}{left_out}"


def shrunk(found: Centred, noise: Noise, ridge: float | None, radius: float | None) -> Array:
    """The coefficients on the [-1, 1] scale, as stable as the noise asks; a `ridge` in the policy takes its place.

    The slopes are the matrix times the coefficients plus noise of known variance, and the coefficients are taken to
    explain no more than stands out of the noise. The posterior mean under these two is stable even where noise has
    made the matrix indefinite, and is least squares where there is none. The matrix is shrunk too, because the entries
    of a covariance are bounded by the variances.
    """
    size = len(found.slope)
    if ridge is not None:
        return solve(found.matrix + ridge * np.eye(size), found.slope, radius)
    each = noise.explained / (size * noise.scale)  # the variance of each coefficient
    errors = noise.slope + noise.matrix @ each
    bound = np.outer(noise.scale, noise.scale)
    matrix = found.matrix * bound / (bound + noise.matrix)
    weighted = matrix / np.maximum(errors, 1e-300)[None, :]
    return solve(weighted @ matrix + np.diag(1 / each), weighted @ found.slope, radius)


def solve(matrix: Array, slope: Array, radius: float | None) -> Array:
    """The minimiser over the ball, or over everything once the matrix is made positive semidefinite."""
    if radius is not None:
        return minimise_on_ball((matrix + matrix.T) / 2, slope, radius)
    values, basis = np.linalg.eigh((matrix + matrix.T) / 2)
    inverse = np.where(values > 1e-12 * max(float(values.max()), 1e-300), 1 / np.where(values > 0, values, 1.0), 0.0)
    return np.asarray(basis @ (inverse * (basis.T @ slope)))


def unshrunk(found: Centred, again: Centred, ridge: float | None) -> tuple[Array, Array | None]:
    """Least squares (with the policy's ridge) for the counts, and for each drawn again; None if not determined.

    What was drawn again enters by its first-order effect, which has no tails where a draw's matrix is near singular.
    """
    penalty = (ridge or 0.0) * np.eye(len(found.slope))
    lowest = np.linalg.eigvalsh(again.matrix + penalty)[:, 0]
    if np.mean(lowest <= 0) > _DOUBTFUL or np.linalg.eigvalsh(found.matrix + penalty)[0] <= 0:
        return np.zeros_like(found.slope), None
    inverse = np.linalg.inv(found.matrix + penalty)
    raw = np.asarray(inverse @ found.slope)
    return raw, raw + (again.slope - found.slope - (again.matrix - found.matrix) @ raw) @ inverse


def explained_share(
    found: Centred, again: Centred, raw: Array, each: Array | None, noise: Noise, width: float
) -> Coefficient:
    """The share of the target's variance that least squares explains, from 0 to 1, corrected for the noise."""
    if each is None:
        standing_out = max(noise.signal - noise.margin, 0.0)
        return Coefficient(min(standing_out / noise.variance, 1.0), math.inf, 0.0, 1.0)
    beside = each - raw
    bias = float(np.einsum("di,ij,dj->d", beside, found.matrix, beside).mean())
    share = (_gain(found, raw) - bias) / noise.variance
    error = float((_gain(again, raw) / np.maximum(again.variance, noise.variance / 2)).std())
    value, low, high = np.clip([share, share - width * error, share + width * error], 0.0, 1.0).tolist()
    return Coefficient(value, error, low, high)


def _gain(found: Centred, theta: Array) -> Array:
    """How much less than the target's variance the mean squared error of these coefficients is."""
    return np.asarray(2 * found.slope @ theta - (found.matrix @ theta) @ theta)


def own_scale(policy: Policy, column: Column) -> tuple[float, float]:
    """Slope and constant from a column's own units (0 and 1 for values) to the [-1, 1] scale."""
    low, high = policy.features[column.feature].span
    return 2 / (high - low), -1 - 2 * low / (high - low)


def own_units(policy: Policy, design: Design) -> Array:
    """The matrix that takes (coefficients, constant, 1) to (coefficients, intercept) in own units."""
    scales = np.array([own_scale(policy, column) for column in design])
    slopes, constants = scales[:-1].T
    target_slope, target_constant = scales[-1]
    result = np.zeros((len(design), len(design) + 1))
    result[:-1, :-2] = np.diag(slopes)
    result[-1] = [*constants, 1.0, -target_constant]
    return np.asarray(result / target_slope)
