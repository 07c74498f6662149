"""Logistic regression from means and second moments: what they reveal about it, and where they do not reveal enough.

The coefficients solve `cov(x_i, y) = cov(x_i, chance)`, where the log odds of the chance are the index `a + b.x`. For
each feature in turn its own distribution is known as far as moments reveal it, and what the other features add to
the index, the rest, is taken as normal, about a straight line in the feature, with one variance (theory.md, section
4.4). Moments
are those of the [-1, 1] scale, the target's too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.polynomial.hermite_e import hermegauss

from bcdp.policy import Policy
from bcdp.statistics.regression.design_matrix import Design
from bcdp.statistics.regression.least_squares import Centred, own_scales
from bcdp.statistics.shared.special import expit, logit

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_NORMAL, _NORMAL_WEIGHTS = hermegauss(12)
_NORMAL_WEIGHTS = _NORMAL_WEIGHTS / _NORMAL_WEIGHTS.sum()
_BETA_NODES = 8
_RAREST = 1e-6
_STEPS, _CONSTANT_STEPS, _SMALL = 30, 12, 1e-5
_DRIFT = 0.3  # by which the log of the rest's variance may rise or fall with a standard deviation of a feature
_FARTHEST = 2.0  # the standard deviation of an index, but for one feature whose distribution is known
_SURE = 1.96  # standard errors: the upper limit of how far features may move the log odds
_DOUBTFUL = 0.25  # standard deviations of the index: what a coefficient may move by that at most


@dataclass(frozen=True)
class IndexFeature:
    """One feature of the index: its columns, and those of the others."""

    own: Places
    others: Places
    number: bool


def parts_of(policy: Policy, design: Design) -> tuple[IndexFeature, ...]:
    """The features of a design, each with all of its columns."""
    names = np.array([column.feature for column in design[:-1]])
    return tuple(
        IndexFeature(np.flatnonzero(names == name), np.flatnonzero(names != name), policy.features[name].is_number)
        for name in dict.fromkeys(names.tolist())
    )


class LogitMoments:
    """The moments of one collection, or of many drawn again, and each feature's distribution as far as they reveal
    it.
    """

    def __init__(self, parts: tuple[IndexFeature, ...], estimated: Centred) -> None:
        self.matrix = estimated.matrix
        self.slope = estimated.slope / 2  # with the target as 0 and 1
        self.mean = estimated.mean[..., :-1]
        self.chance = np.clip((1 + estimated.mean[..., -1]) / 2, _RAREST, 1 - _RAREST)
        laws = [_number(self, part) if part.number else _values(self, part) for part in parts]
        self._laws = [(part, *law, _inverse(*law)) for part, law in zip(parts, laws, strict=True)]

    def told_by(self, beta: Array, drift: float = 0.0) -> tuple[Array, Array]:
        """The covariances of the columns with the chances that coefficients make, and the constant, at the means.

        The constant is the one that each feature's distribution asks for by itself, on average over the features.
        """
        covariance, constants = np.zeros(np.broadcast_shapes(beta.shape, self.slope.shape)), []
        for part, points, weights, inverse in self._laws:
            rest = beta[..., part.others]
            cross = self.matrix[..., part.own, :][..., part.others]
            along = _times(inverse, _times(cross, rest))  # what the others add, by a step of the feature's columns
            index = _times(points, beta[..., part.own] + along)
            spread = _length(self.matrix[..., part.others, :][..., part.others], rest)
            spread = np.maximum(spread - (along * _times(cross, rest)).sum(axis=-1), 0.0)
            scale = np.sqrt(np.maximum((weights * index**2).sum(axis=-1), 1e-30))
            bent = np.exp(drift * np.clip(index / scale[..., None], -5, 5))
            bent = bent * (spread / np.maximum((weights * bent).sum(axis=-1), 1e-30))[..., None]
            around = index[..., None] + np.sqrt(np.maximum(bent, 0.0))[..., None] * _NORMAL
            constant, chances = _constant(around, weights, self.chance)
            covariance[..., part.own] = ((weights * chances)[..., None] * points).sum(axis=-2)
            constants.append(constant)
        return covariance, np.mean(constants, axis=0)

    def solve(self) -> Array | None:
        """The coefficients (for one collection) by Newton's method; None if nothing solves the equations."""
        beta = self.first_order()
        for _ in range(_STEPS):
            residual = self.slope - self.told_by(beta)[0]
            step = np.asarray(np.linalg.lstsq(self.slopes(beta), residual, rcond=None)[0], dtype=np.float64)
            length = math.sqrt(max(float(_length(self.matrix, step)), 0.0))
            beta = beta + step / max(1.0, length)
            if length < 1e-7:
                return np.asarray(beta)
        return None

    def slopes(self, beta: Array) -> Array:
        """How the covariances change with the coefficients: column by column, by small steps to either side."""
        steps = _SMALL * np.eye(len(beta))
        either = self.told_by(beta + steps)[0] - self.told_by(beta - steps)[0]
        return np.asarray(either.T / (2 * _SMALL))

    def first_order(self) -> Array:
        """Least squares over the variance that it leaves: exact for features that are normal given the target."""
        line = np.linalg.lstsq(self.matrix, 2 * self.slope, rcond=None)[0]
        variance = 4 * float(self.chance * (1 - self.chance))
        return np.asarray(line * per_slope(variance, 2 * float(self.slope @ line) / variance))

    def with_constant(self, beta: Array) -> Array:
        """The coefficients, the constant that goes with them, and 1."""
        constant = self.told_by(beta)[1] - (beta * self.mean).sum(axis=-1)
        return np.concatenate([beta, constant[..., None], np.ones((*constant.shape, 1))], axis=-1)


@dataclass(frozen=True)
class Logit:
    """The coefficients, constant and 1: for the counts, and for each drawn again.

    `shifts` is how far the variance of the rest moves them, feature by feature. `refused` says why the moments do not
    reveal a logistic regression; then nothing but the shrunk coefficients is known.
    """

    middle: Array
    again: Array | None
    shifts: Array
    refused: str | None = None


def logit_of(parts: tuple[IndexFeature, ...], estimated: Centred) -> Array:
    """The coefficients, constant and 1; to first order where nothing solves the equations."""
    people = LogitMoments(parts, estimated)
    solved = people.solve()
    return people.with_constant(people.first_order() if solved is None else solved)


def logistic(parts: tuple[IndexFeature, ...], estimated: Centred, redrawn: Centred) -> Logit:
    """The logistic regression of moments that determine least squares.

    What was drawn again enters by its first-order effect, as in least squares, and so does the variance of the rest.
    """
    people = LogitMoments(parts, estimated)
    beta = people.solve()
    if beta is None:
        return _refused(estimated, "no logistic regression has such means and products")
    slopes, drawn = people.slopes(beta), LogitMoments(parts, redrawn)
    each = beta + np.linalg.solve(slopes, (drawn.slope - drawn.told_by(beta)[0]).T).T
    shifts = _shifts(parts, people, beta, slopes)
    reach, error = np.abs(shifts).sum(axis=0), each.std(axis=0)
    scale = np.sqrt(np.diag(estimated.matrix))
    index = math.sqrt(float(_length(estimated.matrix, beta)))
    turned = _times(estimated.matrix, beta)
    along = (each - beta) @ turned + _length(redrawn.matrix - estimated.matrix, beta) / 2
    largest = index + _SURE * float(along.std()) / max(index, 1e-12)
    if largest > _FARTHEST and (len(parts) > 1 or parts[0].number):
        return _refused(
            estimated,
            f"the features may move them by {largest:.1f} on average, which means and products tell up to "
            f"{_FARTHEST:g}",
        )
    if ((reach > error) & (reach * scale > _DOUBTFUL * index)).any():
        return _refused(
            estimated, "they depend on combinations of features, of which means and products tell too little here"
        )
    middle = people.with_constant(beta)
    return Logit(middle, drawn.with_constant(each), people.with_constant(beta + shifts) - middle)


def _shifts(parts: tuple[IndexFeature, ...], people: LogitMoments, beta: Array, slopes: Array) -> Array:
    """How far the coefficients move, to first order, if the variance of the rest rises or falls with each feature."""
    bent = np.array([people.told_by(beta, drift)[0] - people.slope for drift in (-_DRIFT, _DRIFT)])
    shifts = []
    for part in parts:
        only = np.zeros_like(bent)
        only[:, part.own] = bent[:, part.own]
        either = np.linalg.solve(slopes, only.T).T
        shifts.append(either[np.argmax(_length(people.matrix, either))])
    return np.array(shifts)


def _refused(estimated: Centred, why: str) -> Logit:
    nothing = np.zeros(len(estimated.slope) + 2)
    return Logit(
        nothing, None, nothing[None], f"The log odds are not told: {why}. Leave out the link for least squares."
    )


def per_slope(variance: float, share: float) -> float:
    """The log odds for a slope of least squares, to first order in the share that it explains of the variance."""
    return 2 / (variance * (1 - min(share, 0.9)))


def log_odds_units(policy: Policy, design: Design) -> Array:
    """The matrix that takes (coefficients, constant, 1) to (coefficients, intercept) in the features' own units."""
    slopes, constants = own_scales(policy, design)
    result = np.zeros((len(design), len(design) + 1))
    result[:-1, :-2] = slopes[:-1, :-1].T
    result[-1] = [*constants[:-1], 1.0, 0.0]
    return result


def _values(people: LogitMoments, part: IndexFeature) -> tuple[Array, Array]:
    """The points of a feature with values, about their mean, and their shares; the last is the reference."""
    share = np.clip((1 + people.mean[..., part.own]) / 2, _RAREST, 1 - _RAREST)
    rest = np.maximum(1 - share.sum(axis=-1, keepdims=True), _RAREST)
    weights = np.concatenate([share, rest], axis=-1)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    signs = np.vstack([2 * np.eye(len(part.own)) - 1, -np.ones(len(part.own))])
    return signs - (weights @ signs)[..., None, :], weights


def _number(people: LogitMoments, part: IndexFeature) -> tuple[Array, Array]:
    """The points of a number: of the beta distribution between its bounds with its mean and variance (Golub and
    Welsch 1969).
    """
    mean = np.clip(people.mean[..., part.own[0]], -1 + _RAREST, 1 - _RAREST)
    variance = np.maximum(people.matrix[..., part.own[0], part.own[0]], _RAREST)
    size = np.clip((1 - mean**2) / variance - 1, 0.02, 1e4)[..., None]
    up, down = (1 + mean[..., None]) / 2 * size - 1, (1 - mean[..., None]) / 2 * size - 1
    step, total = np.arange(_BETA_NODES), up + down
    diagonal = np.where(
        step == 0, (up - down) / (total + 2), (up**2 - down**2) / _nonzero((2 * step + total) * (2 * step + total + 2))
    )
    step = step[1:]
    inside = (step + total) / _nonzero(2 * step + total - 1)  # 1 at the first step, where it may be 0 / 0
    inside = np.where(step == 1, 1.0, inside)
    beta_variance = 4 * step * (step + up) * (step + down) * inside / ((2 * step + total) ** 2 * (2 * step + total + 1))
    jacobi = np.zeros((*mean.shape, _BETA_NODES, _BETA_NODES))
    node = np.arange(_BETA_NODES)
    jacobi[..., node, node] = diagonal
    jacobi[..., node[1:], node[:-1]] = jacobi[..., node[:-1], node[1:]] = np.sqrt(np.maximum(beta_variance, 0.0))
    points, basis = np.linalg.eigh(jacobi)
    return (points - mean[..., None])[..., None], basis[..., 0, :] ** 2


def _nonzero(numbers: Array) -> Array:
    return np.where(np.abs(numbers) < 1e-12, 1e-12, numbers)


def _inverse(points: Array, weights: Array) -> Array:
    """Of the matrix that a distribution has."""
    return np.asarray(np.linalg.inv(np.swapaxes(points, -1, -2) @ (weights[..., None] * points)))


def _constant(around: Array, weights: Array, chance: Array) -> tuple[Array, Array]:
    """The constant for which the chances are right on average, and the chance at each point of a feature."""
    constant = np.broadcast_to(logit(chance), around.shape[:-2]).copy()
    for _ in range(_CONSTANT_STEPS):
        each = expit(constant[..., None, None] + around)
        steepness = (weights * ((each * (1 - each)) @ _NORMAL_WEIGHTS)).sum(axis=-1)
        residual = chance - (weights * (each @ _NORMAL_WEIGHTS)).sum(axis=-1)
        constant += np.clip(residual / np.maximum(steepness, 1e-12), -1.0, 1.0)
    return constant, expit(constant[..., None, None] + around) @ _NORMAL_WEIGHTS


def _times(matrix: Array, vector: Array) -> Array:
    return np.asarray((matrix @ vector[..., None])[..., 0])


def _length(matrix: Array, vector: Array) -> Array:
    return np.asarray((_times(matrix, vector) * vector).sum(axis=-1))
