"""What a table reveals about a feature that it does not ask, where the distributions of its input are known."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bcdp.exact import NEARLY, log_up
from bcdp.randomizers.protocol import Table

Array = npt.NDArray[np.float64]


def mixture_delta(table: Table, laws: Array) -> float:
    """The level of a feature given whose values the table's input is distributed by mixtures of the rows of `laws`.

    By Lemma 1 the worst mixtures are single rows (theory.md, section 4.5). Doubles find the symbols that may be
    the worst, and these are computed exactly.

    >>> from bcdp.randomizers import binary
    >>> table = binary(2.0)
    >>> mixture_delta(table, np.eye(2)) <= 2.0, mixture_delta(table, np.array([[0.5, 0.5], [0.5, 0.5]]))
    (True, 0.0)
    """
    weights = table.dense().weights
    chances = laws @ weights.astype(np.float64)
    most, least = chances.max(axis=0), chances.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rough = np.where(most > 0, most / least, 0.0)
    columns = np.unique(weights[:, rough >= rough.max() * NEARLY], axis=1).T.tolist()
    exact = [[Fraction(share) for share in law] for law in laws.tolist()]
    return log_up(max(_spread(exact, column) for column in columns))


def _spread(laws: list[list[Fraction]], column: list[int]) -> Fraction | float:
    """The largest chance of a symbol over its smallest; a distribution need not quite sum to 1."""
    chances = [sum(p * weight for p, weight in zip(law, column, strict=True)) / sum(law) for law in laws]
    return Fraction(max(chances)) / min(chances) if min(chances) else math.inf
