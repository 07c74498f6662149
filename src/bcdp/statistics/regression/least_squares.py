"""Least squares from moments that noise has blurred: what is plausible, and how far to shrink.

Moments are on the [-1, 1] scale. How uncertain they are follows from drawing the counts again; how far to shrink the
coefficients follows from the noise, which the plan knows: nothing here looks at records. With an intercept the moments
are centred, so that "explains nothing" means predicting the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics.regression.design_matrix import Design, Moments
from bcdp.statistics.regression.quadratic_on_ball import minimise_on_ball
from bcdp.statistics.shared.interval import finite

Array = npt.NDArray[np.float64]

_LEAST_SHARE = (
    0.02  # of the variance, or a fifth of the policy's guess: what the features are taken to explain at least
)
_STANDS_OUT = 3  # standard errors
_DOUBTFUL = 0.025  # of the draws with an indefinite matrix leave the coefficients unknown
_LEAST_CORRELATION = 0.1  # that two features are thought to have by chance
_SEEN = 2  # standard errors: a correlation that stands out by more is not typical
_LEAST_EIGENVALUE = 0.1  # of a plausible correlation matrix


@dataclass(frozen=True)
class Coefficient:
    """A number in own units: `value` is shrunk towards 0 as the noise asks, the interval belongs to the unshrunk one.

    Where the answers do not determine it, the standard error and, without a `radius`, the interval are infinite.
    """

    value: float
    se: float
    low: float
    high: float
    moved: float | None = None  # how far fake reports could have shifted the unshrunk one, if their number is assumed

    def to_dict(self) -> dict[str, float | None]:
        """The number in plain JSON; what is not finite is null."""
        return finite({name: part for name, part in vars(self).items() if name != "moved" or part is not None})


@dataclass(frozen=True)
class Centred:
    """The features' matrix, their products with the outcome, the outcome's variance, and all means (0 if uncentred)."""

    matrix: Array
    slope: Array
    variance: Array
    mean: Array

    @property
    def known(self) -> bool:
        """Whether every moment was answered."""
        return bool(np.isfinite(self.matrix).all() and np.isfinite(self.slope).all() and np.isfinite(self.variance))

    def deviations(self) -> Centred:
        """Of draws, how far each is from their mean."""
        parts = (self.matrix, self.slope, self.variance, self.mean)
        return Centred(*(part - part.mean(axis=0) for part in parts))


def centred(raw_moments: Moments, intercept: bool) -> Centred:
    mean = raw_moments.mean if intercept else np.zeros_like(raw_moments.mean)
    second = raw_moments.second - mean[..., :, None] * mean[..., None, :]
    return Centred(second[..., :-1, :-1], second[..., :-1, -1], second[..., -1, -1], mean)


def with_constant(moments: Centred, theta: Array) -> Array:
    """The coefficients, the constant that goes with them, and 1."""
    constant = moments.mean[..., -1] - (theta * moments.mean[..., :-1]).sum(axis=-1)
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
    variance: float  # the outcome's, likewise
    varies: npt.NDArray[np.bool_]  # which features are seen to vary; the rest is left out of what follows
    kept: Array  # how much of each entry of the matrix is kept: correlations are as large as they are seen to be
    signal: float  # an unbiased estimate of what the features explain, if they are uncorrelated
    margin: float  # what that would hardly reach if they explained nothing: three standard errors
    guess: float  # the share that the policy guesses the features to explain

    @classmethod
    def of(cls, estimated: Centred, redrawn: Centred, guess: float) -> Noise:
        matrix = redrawn.matrix.var(axis=0)
        own, error = np.diag(estimated.matrix), np.sqrt(np.diag(matrix))
        varies, scale = seen_to_vary(own, error)
        variance = max(float(estimated.variance), float(redrawn.variance.std()), 1e-6)
        slope = redrawn.slope.var(axis=0)
        each = np.where(varies, slope / scale, 0.0)
        signal = float(np.where(varies, estimated.slope**2 / scale, 0.0).sum() - each.sum())
        margin = _STANDS_OUT * math.sqrt(2 * float((each**2).sum()))
        if each.sum() >= variance:  # whatever stands out of more noise than there is to explain is noise too
            signal = min(signal, 0.0)
        kept = _kept(estimated.matrix, matrix, scale)
        return cls(
            slope, matrix, scale, variance=variance, varies=varies, kept=kept, signal=signal, margin=margin, guess=guess
        )

    @property
    def explained(self) -> float:
        """The part of the outcome's variance that the features are taken to explain: what stands out of the noise."""
        least = min(_LEAST_SHARE, self.guess / 5) * self.variance
        return min(max(self.signal - self.margin, least), self.variance)

    def plausible(self, matrix: Array) -> Array:
        """The matrix, or many, as a covariance matrix may be: correlations shrunk by their noise, all positive."""
        root = np.sqrt(np.outer(self.scale, self.scale))
        values, basis = np.linalg.eigh(matrix * self.kept / root)
        lifted = basis * np.maximum(values, _LEAST_EIGENVALUE)[..., None, :]
        return np.asarray(lifted @ np.swapaxes(basis, -1, -2) * root)

    def posterior(self, estimated: Centred, explained: float | None = None) -> tuple[Array, Array]:
        """Mean and covariance of the coefficients on the [-1, 1] scale, as far as the noise lets them be known.

        The slopes are the matrix times the coefficients plus noise of known variance, and the coefficients are taken to
        explain so much of the variance: if nothing else is said, no more than stands out of the noise. That is stable
        even where noise has made the matrix indefinite, and the mean is least squares where there is none.
        """
        each = (self.explained if explained is None else explained) / (len(self.scale) * self.scale)
        matrix = self.plausible(estimated.matrix)
        weighted = matrix / np.maximum(self.slope + self.matrix @ each, 1e-300)[None, :]
        covariance = np.linalg.inv(weighted @ matrix + np.diag(1 / each))
        return np.asarray(covariance @ weighted @ estimated.slope), np.asarray((covariance + covariance.T) / 2)

    def drawn(self, estimated: Centred, draws: int, explained: float | None = None) -> Array:
        """Coefficients as likely as the noise leaves them, one row for each draw."""
        mean, covariance = self.posterior(estimated, explained)
        rng = np.random.default_rng(len(mean))  # protects nobody, and gives everybody the same intervals and advice
        return np.asarray(mean + rng.standard_normal((draws, len(mean))) @ np.linalg.cholesky(covariance).T)


def seen_to_vary(own: Array, error: Array) -> tuple[npt.NDArray[np.bool_], Array]:
    """Which features are seen to vary, and their variances kept above their noise, for one collection or for many."""
    varies = own > _STANDS_OUT * error
    varies |= ~varies.any(axis=-1, keepdims=True)  # too few people to see any feature vary: all of them count
    return varies, np.maximum(own, np.maximum(error, 1e-6))


def _kept(matrix: Array, noise: Array, scale: Array) -> Array:
    """How much of each entry to keep: correlations are as large as they typically are, or as they are seen to be."""
    bound = np.outer(scale, scale)
    squares, noise = matrix**2 / bound, noise / bound
    off_diagonal = ~np.eye(len(scale), dtype=bool)
    typical = max(float((squares - noise)[off_diagonal].mean()) if len(scale) > 1 else 0.0, _LEAST_CORRELATION**2)
    likely = np.maximum(typical, squares - _SEEN**2 * noise)
    return np.where(off_diagonal, likely / (likely + noise), 1.0)


def shrunk(estimated: Centred, noise: Noise, ridge: float | None, radius: float | None) -> Array:
    """The coefficients on the [-1, 1] scale, as stable as the noise asks; a `ridge` in the policy takes its place."""
    if ridge is not None:
        return solve(estimated.matrix + ridge * np.eye(len(estimated.slope)), estimated.slope, radius)
    mean, covariance = noise.posterior(estimated)
    if radius is None or np.linalg.norm(mean) <= radius:
        return mean
    precision = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    return solve(precision, precision @ mean, radius)


def solve(matrix: Array, slope: Array, radius: float | None) -> Array:
    """The minimiser over the ball, or over everything once the matrix is moved to a positive semidefinite one."""
    if radius is not None:
        return minimise_on_ball((matrix + matrix.T) / 2, slope, radius)
    values, basis = np.linalg.eigh((matrix + matrix.T) / 2)
    inverse = np.where(values > 1e-12 * max(float(values.max()), 1e-300), 1 / np.where(values > 0, values, 1.0), 0.0)
    return np.asarray(basis @ (inverse * (basis.T @ slope)))


def determined(matrix: Array, deviations: Array) -> bool:
    """Whether a matrix, and nearly every one that noise would make of it, is positive definite."""
    if np.linalg.eigvalsh(matrix)[0] <= 0:
        return False
    return bool(np.mean(np.linalg.eigvalsh(matrix + deviations)[:, 0] <= 0) <= _DOUBTFUL)


def unshrunk(estimated: Centred, redrawn: Centred, ridge: float | None) -> tuple[Array, Array | None]:
    """Least squares (with the policy's ridge) for the counts, and for each drawn again; None if not determined.

    What was drawn again enters by its first-order effect, which has no tails where a draw's matrix is near singular.
    """
    penalty = (ridge or 0.0) * np.eye(len(estimated.slope))
    if not determined(estimated.matrix + penalty, redrawn.matrix - estimated.matrix):
        return np.zeros_like(estimated.slope), None
    inverse = np.linalg.inv(estimated.matrix + penalty)
    raw = np.asarray(inverse @ estimated.slope)
    return raw, raw + (redrawn.slope - estimated.slope - (redrawn.matrix - estimated.matrix) @ raw) @ inverse


def stretched(matrix: Array, deviations: Array, contrasts: Array) -> Array:
    """By which part the denominators of some combinations of coefficients differ in each draw, shape (draws, rows).

    A combination `w` of least squares has the denominator `1 / (w' A^-1 w)`: for one column, its variance given the
    others.
    """
    turned = np.linalg.solve(matrix, contrasts.T)
    parts = ((deviations @ turned) * turned).sum(axis=-2)
    return np.asarray(parts / np.maximum((contrasts.T * turned).sum(axis=0), 1e-300))


def own_scale(policy: Policy, feature: str) -> tuple[float, float]:
    """Slope and constant from a feature's own units (0 and 1 for values) to the [-1, 1] scale."""
    low, high = policy.features[feature].span
    return 2 / (high - low), -1 - 2 * low / (high - low)


def own_scales(policy: Policy, design: Design) -> tuple[Array, Array]:
    """The matrix and the constants that take the columns of a design from own units to the [-1, 1] scale.

    Where two features interact, `(k u + c)(m v + d) = k m u v + k d u + c m v + c d`: their own columns are there too.
    """
    slopes, constants = np.zeros((len(design), len(design))), np.zeros(len(design))
    for i, column in enumerate(design):
        slopes[i, i], constants[i] = k, c = own_scale(policy, column.feature)
        if column.other is not None:
            m, d = own_scale(policy, column.other.feature)
            slopes[i, i], constants[i] = k * m, c * d
            slopes[i, design.index(replace(column, other=None))] = k * d
            slopes[i, design.index(column.other)] = c * m
    return slopes, constants


def own_units(policy: Policy, design: Design) -> Array:
    """The matrix that takes (coefficients, constant, 1) to (coefficients, intercept) in own units."""
    slopes, constants = own_scales(policy, design)
    result = np.zeros((len(design), len(design) + 1))
    result[:-1, :-2] = slopes[:-1, :-1].T
    result[-1] = [*constants[:-1], 1.0, -constants[-1]]
    return np.asarray(result / slopes[-1, -1])
