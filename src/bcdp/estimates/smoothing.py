"""Waves smoothed over time, under a stated bound on how much the slope changes from wave to wave (theory.md, 4.14).

A penalty on bends alone would leave a bias of unknown size. With the bound the largest bias is known, and the
penalty is the one with the shortest interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.special import ndtr, ndtri

Array = npt.NDArray[np.float64]

_PENALTIES = np.logspace(-4, 8, 49)  # next to none at all, for variances with a mean of 1


class Smoother(NamedTuple):
    """How the waves are weighted for the value of one of them, and the largest bias of that."""

    weights: Array
    bias: float


def smoothers(times: Sequence[float], errors: Sequence[float], bend: float, confidence: float) -> Iterator[Smoother]:
    """For each wave the weights with the shortest interval, among those of penalized least squares.

    `errors` are the standard errors of the waves. Between two waves the truth is taken as a line, and at no wave does
    its slope change by more than `bend`.

    >>> line, *_ = smoothers([0.0, 1.0, 2.0], [0.1, 0.1, 0.1], 0.0, 0.95)
    >>> [round(float(weight), 6) for weight in line.weights], line.bias
    ([0.833333, 0.333333, -0.166667], 0.0)
    """
    at, variances = np.array(times), np.square(errors)
    bends = _bends(at)
    unpenalized, line = np.eye(len(at)), _fitted(np.vander(at - at.mean(), 2), 1 / variances)
    candidates = [unpenalized, line, *(_penalized(bends, variances, penalty) for penalty in _PENALTIES)]
    hinges = np.maximum(at[:, None] - at[None, 1:-1], 0.0)  # what a bend of 1 at an inner wave adds to each wave
    for wave in range(len(at)):
        possible = [
            Smoother(weights[wave], bend * float(np.abs(weights[wave] @ hinges - hinges[wave]).sum()))
            for weights in candidates
        ]
        yield min(possible, key=lambda smoother: _half_length(smoother, variances, confidence))


def biased_width(ratio: float, confidence: float) -> float:
    """How many standard errors an interval reaches to either side, for a bias of at most so many standard errors.

    It is the quantile of the size of a normal variable with that mean and variance 1.

    >>> round(biased_width(0.0, 0.95), 4), round(biased_width(1.0, 0.95), 4)
    (1.96, 2.6461)
    """
    low, high = ratio, ratio + float(ndtri((1 + confidence) / 2))
    for _ in range(60):
        middle = (low + high) / 2
        inside = float(ndtr(middle - ratio) - ndtr(-middle - ratio))
        low, high = (middle, high) if inside < confidence else (low, middle)
    return high


def _half_length(smoother: Smoother, variances: Array, confidence: float) -> float:
    error = math.sqrt(float(np.square(smoother.weights) @ variances))
    return error * biased_width(smoother.bias / error, confidence)


def _bends(times: Array) -> Array:
    """The changes of slope at the inner waves, as a matrix: straight lines have none."""
    gaps = np.diff(times)
    slopes = (np.eye(len(times))[1:] - np.eye(len(times))[:-1]) / gaps[:, None]
    return np.asarray(slopes[1:] - slopes[:-1])


def _fitted(columns: Array, precisions: Array) -> Array:
    weighted = columns.T * precisions
    return np.asarray(columns @ np.linalg.solve(weighted @ columns, weighted))


def _penalized(bends: Array, variances: Array, penalty: float) -> Array:
    """What least squares with a penalty on squared bends makes of the waves; `I - V B' (B V B' + 1/p)^-1 B`."""
    scale = float(np.mean(np.square(bends).sum(axis=1))) if len(bends) else 1.0
    inner = bends @ (variances[:, None] * bends.T) + np.eye(len(bends)) * variances.mean() * scale / penalty
    return np.asarray(np.eye(len(variances)) - variances[:, None] * bends.T @ np.linalg.solve(inner, bends))
