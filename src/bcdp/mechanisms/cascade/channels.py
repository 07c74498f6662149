"""Three LDP channels for vectors in the box [-1, 1]^m: unbiased, exact as they run, one row per person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.exact import TOTAL, check_whole, round_rows
from bcdp.mechanisms.cascade.bits import RESOLUTION, bit_level, keep_weight, randomized_signs, rounded_signs, tilt
from bcdp.mechanisms.cascade.checks import LARGEST_BUDGET, Array, Randomness, as_draws, check_number, numbers
from bcdp.randomizers.dense import Dense
from bcdp.randomness import Draws

FAIR = TOTAL // 2  # the weight of a coin that says nothing


class ChannelFamily(Protocol):
    """An unbiased LDP release of a vector in [-1, 1]^m, as private as a bit that is kept with weight `keep`."""

    def release(self, x: Array, keep: int, draws: Draws) -> Array:
        """Unbiased estimates of `x`, shape (people, m), from one release."""

    def variance(self, m: int, keep: int) -> float:
        """The largest second moment of one released coordinate over the box; infinite if `keep` is too small."""

    def level(self, m: int, keep: int) -> float:
        """The LDP level of the integers as they run, rounded up; never above `bit_level(keep)`."""


def _check_keep(keep: int) -> None:
    check_whole("keep", keep, FAIR + 1, TOTAL - 1)


def duchi_radius(m: int, alpha: float, r: float) -> float:
    """The norm `B` of the Duchi channel's output that makes it unbiased (theory.md, section 3, erratum 1).

    >>> round(duchi_radius(1, 100.0, 1.0), 6)  # one coordinate and hardly any privacy: its sign, nearly
    1.0
    """
    return _radius(m, keep_weight(alpha), r)


def _radius(m: int, keep: int, r: float) -> float:
    """`r / (tilt E|<U, e>|)`, U uniform on the unit sphere of R^m; in logarithms: Gamma overflows near m = 340."""
    return r / tilt(keep) * math.sqrt(math.pi) * math.exp(math.lgamma((m + 1) / 2) - math.lgamma(m / 2))


def _duchi(v: Array, keep: int, r: float, draws: Draws) -> Array:
    people, m = v.shape
    # The direction comes first and knows nothing of the data; all that depends on `v` is one bit.
    direction = draws.normals(people, m)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    words = draws.words(people, 2)
    side = np.where(np.einsum("ij,ij->i", v, direction) >= 0, 1.0, -1.0)
    share = np.minimum(np.linalg.norm(v, axis=1) / r, 1.0)  # 0 for v = 0: a fair coin, whatever the side
    bit = randomized_signs(side * rounded_signs(share, words[:, 0]), keep, words[:, 1])
    direction *= (_radius(m, keep, r) * bit)[:, None]
    return direction


def duchi(v: npt.ArrayLike, alpha: float, r: float, rng: Randomness = None) -> Array:
    """Unbiased `alpha`-LDP estimates of vectors in the l2 ball of radius `r`, in the shape (n, m) or (m,) of `v`.

    Each is a uniform direction times `B` times one bit; covariance `(B^2 / m) I - v v^T` (theory.md, section 3).

    >>> z = duchi([3.0, 4.0], alpha=1.0, r=5.0)
    >>> bool(np.isclose(np.linalg.norm(z), duchi_radius(2, 1.0, 5.0)))
    True
    """
    if not RESOLUTION <= check_number("alpha", alpha, 0) <= LARGEST_BUDGET:
        raise refuse("alpha", alpha, f"a number from {RESOLUTION:.3g} to {LARGEST_BUDGET:g}")
    check_number("r", r, 0, open_low=True)
    accepted = f"vectors of finite numbers, of shape (m,) or (n, m), with norm at most r = {r:g}"
    vectors = numbers("v", v, accepted)
    if vectors.ndim not in (1, 2) or vectors.size == 0:
        raise refuse("v", f"shape {vectors.shape}", accepted)
    rows = np.atleast_2d(vectors)
    norms = np.linalg.norm(rows, axis=1)
    outside = ~(norms <= r * (1 + 1e-12))  # true for NaN
    if outside.any():
        raise refuse("v", f"norm {norms[outside][0]:g}", accepted)
    return _duchi(rows, keep_weight(alpha), r, as_draws(rng, len(rows))).reshape(vectors.shape)


@dataclass(frozen=True)
class DuchiL2:
    """The channel of Duchi, Jordan and Wainwright for the l2 ball around the box; `variance` is exact at every x."""

    def release(self, x: Array, keep: int, draws: Draws) -> Array:
        _check_keep(keep)
        return _duchi(x, keep, math.sqrt(x.shape[1]), draws)

    def variance(self, m: int, keep: int) -> float:
        return _radius(m, keep, math.sqrt(m)) ** 2 / m if keep > FAIR else math.inf

    def level(self, m: int, keep: int) -> float:
        return bit_level(keep)


DUCHI = DuchiL2()  # the paper's channel, where none is named


@dataclass(frozen=True)
class OneBit:
    """One bit about one coordinate, which is drawn uniformly and independently of the data; `variance` is exact."""

    def release(self, x: Array, keep: int, draws: Draws) -> Array:
        _check_keep(keep)
        people, m = x.shape
        words = draws.words(people, 3)
        person, chosen = np.arange(people), (words[:, 0].astype(np.int64) * m) >> 32
        signs = randomized_signs(rounded_signs(x[person, chosen], words[:, 1]), keep, words[:, 2])
        # Multiply-shift favours some coordinates by one word in 2^32: dividing by the exact share removes the bias.
        first_words = -(-np.arange(m + 1) * TOTAL // m)
        released = np.zeros(x.shape)
        released[person, chosen] = signs * (TOTAL / np.diff(first_words))[chosen] / tilt(keep)
        return released

    def variance(self, m: int, keep: int) -> float:
        return TOTAL / (TOTAL // m) / tilt(keep) ** 2 if keep > FAIR else math.inf

    def level(self, m: int, keep: int) -> float:
        return bit_level(keep)


@lru_cache(maxsize=1024)
def laplace_table(budget: float) -> Dense:
    """Two-sided geometric noise on a lattice in [-1, 1], tails folded into its ends, as integers of level <= `budget`.

    The steps are a quarter to a half of the noise's scale up to a budget of 16, and 1/32 beyond.
    """
    steps = max(1, min(2 * math.floor(2 * budget), 64))
    decay = math.exp(-budget / steps)
    step = np.arange(steps + 1)
    chances = decay ** np.abs(step[:, None] - step[None, :]) / (1 + decay)
    chances[:, 1:-1] *= 1 - decay
    return Dense(round_rows(chances, budget))


@dataclass(frozen=True)
class Laplace:
    """Laplace noise on each feature, the level split equally; geometric on a lattice, so that it is exact as it runs.

    Noisy values beyond the data's range are merged into its ends and decoded as their mean, which keeps the estimate
    unbiased and its variance below plain Laplace noise's. `variance` is the maximum over x, reached at a lattice point.
    """

    def release(self, x: Array, keep: int, draws: Draws) -> Array:
        _check_keep(keep)
        people, m = x.shape
        share = _share(keep, m)
        if share < RESOLUTION:
            raise refuse("keep", keep, f"a weight that leaves each of {m} features a level of {RESOLUTION:.3g}")
        table = laplace_table(share)
        words = draws.words(people, 2 * m)
        position = (x + 1) / 2 * (table.levels - 1)
        below = np.floor(position)
        inputs = (below + (words[:, :m] < (position - below) * TOTAL)).astype(np.int64)
        return table.decode(np.linspace(-1, 1, table.levels))[table.sample(inputs, words[:, m:])]

    def variance(self, m: int, keep: int) -> float:
        if _share(keep, m) < RESOLUTION:
            return math.inf
        table = laplace_table(_share(keep, m))
        return float(table.second_moments(np.linspace(-1, 1, table.levels)).max())

    def level(self, m: int, keep: int) -> float:
        return min(m * laplace_table(_share(keep, m)).level, bit_level(keep))


def _share(keep: int, m: int) -> float:
    """An equal share of the level, rounded down twice (`bit_level` is rounded up): m shares never exceed it."""
    return math.nextafter(math.nextafter(bit_level(keep), 0.0) / m, 0.0)
