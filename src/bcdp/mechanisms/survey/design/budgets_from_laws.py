"""Budgets of single questions where the distributions of what is asked are known (theory.md, section 4.5)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.randomizers import categorical, mixture_delta

Array = npt.NDArray[np.float64]

_HALVINGS = 40


def exact_limit(laws: Array, demand: float, most: float) -> float:
    """The largest budget up to `most` of a question about a feature with these distributions that keeps the demand
    of another.

    >>> laws = np.array([[0.575, 0.425], [0.425, 0.575]])  # means of -0.15 and 0.15
    >>> round(exact_limit(laws, 0.2, 2.0), 3)
    1.601
    """
    return _two_valued(laws, demand, most) if laws.shape[1] == 2 else _by_halving(laws, demand, most)


def _two_valued(laws: Array, demand: float, most: float) -> float:
    """The contrast `t` solved from `1 + tM <= D (1 + tm)` and `1 - tm <= D (1 - tM)`."""
    means = laws @ np.array([-1.0, 1.0])
    low, high, odds = float(means.min()), float(means.max()), math.exp(demand)
    contrast = math.tanh(most / 2)
    for slope in (high - odds * low, odds * high - low):
        if slope > 0:
            contrast = min(contrast, (odds - 1) / slope)
    return most if contrast >= math.tanh(most / 2) else 2 * math.atanh(contrast)


def _by_halving(laws: Array, demand: float, most: float) -> float:
    """The leak of the table that would be asked, followed from below; a budget that is returned keeps the demand."""
    values = laws.shape[1]
    if mixture_delta(categorical(values, most), laws) <= demand:
        return most
    kept, broken = 0.0, most
    for _ in range(_HALVINGS):
        budget = (kept + broken) / 2
        if mixture_delta(categorical(values, budget), laws) <= demand:
            kept = budget
        else:
            broken = budget
    return kept
