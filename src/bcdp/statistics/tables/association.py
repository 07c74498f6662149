"""How strongly two features are associated, and whether at all, from the cells of a table and how these vary
together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.interval import finite
from bcdp.statistics.shared.ratios import difference_interval, product_moments, ratio_interval, width
from bcdp.statistics.shared.special import chdtrc

Array = npt.NDArray[np.float64]

_DRAWS = 2000
_SMALLEST = 1e-9  # of a margin, so that nothing is divided by 0


@dataclass(frozen=True)
class Association:
    """A number that says how strongly two features are associated, with its interval."""

    name: str
    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """In plain JSON; what is not finite is null."""
        return finite({"value": self.value, "low": self.low, "high": self.high})

    @property
    def sentence(self) -> str:
        """To read."""
        ends = [f"{end:.3g}" if math.isfinite(end) else "no limit" for end in (self.low, self.high)]
        value = f"{self.value:.3g}" if math.isfinite(self.value) else "not determined"
        return f"{self.name} {value} ({ends[0]} to {ends[1]})"


@dataclass(frozen=True)
class Independence:
    """A test whether two features are independent: how surprising the table would be if they were."""

    statistic: float
    degrees: int
    p: float

    def to_dict(self) -> dict[str, Any]:
        """In plain JSON; what is not finite is null."""
        return finite({"statistic": self.statistic, "degrees": self.degrees, "p": self.p})

    @property
    def sentence(self) -> str:
        """To read."""
        if not math.isfinite(self.p):
            return "too few answers to test independence"
        p_value = f"p = {self.p:.3f}" if self.p >= 0.001 else "p below 0.001"
        return (
            f"test of independence: chi-squared {self.statistic:.2f} with {self.degrees} degrees of freedom, {p_value}"
        )


def departures(cells: Array, covariance: Array) -> tuple[Array, Array]:
    """`P(a, b) - P(a) P(b)` without bias, and its covariance; the margins are estimated from the same answers."""
    size = cells.size
    row_spread, column_spread = (
        np.kron(np.eye(cells.shape[0]), np.ones((1, cells.shape[1]))),
        np.tile(np.eye(cells.shape[1]), cells.shape[0]),
    )
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    cross = row_spread @ covariance @ column_spread.T
    value = cells - np.outer(rows, columns) + cross
    slope = np.eye(size)
    for number, (a, b) in enumerate(np.ndindex(*cells.shape)):
        slope[number] -= columns[b] * row_spread[a] + rows[a] * column_spread[b]
    # products of two errors, which matter where the margins themselves are hardly known
    spread = np.kron(row_spread @ covariance @ row_spread.T, column_spread @ covariance @ column_spread.T) + np.einsum(
        "ad,cb->abcd", cross, cross
    ).reshape(size, size)
    return value.ravel(), slope @ covariance @ slope.T + spread


def independence(cells: Array, covariance: Array) -> Independence:
    """Wald's test: the departures from independence, measured by how far chance takes them (theory.md, 4.7).

    >>> independence(np.full((2, 2), 0.25), np.eye(4) * 1e-4).p > 0.5
    True
    """
    degrees = (cells.shape[0] - 1) * (cells.shape[1] - 1)
    if not np.isfinite(cells).all():
        return Independence(math.nan, degrees, math.nan)
    value, spread = departures(cells, covariance)
    contrast = np.kron(_contrasts(cells.shape[0]), _contrasts(cells.shape[1]))
    within = contrast @ spread @ contrast.T
    statistic = float((contrast @ value) @ np.linalg.pinv(within, hermitian=True) @ (contrast @ value))
    return Independence(statistic, degrees, float(chdtrc(degrees, statistic)))


def _contrasts(size: int) -> Array:
    """Rows that span what sums to 0, of length 1 and at right angles."""
    basis = np.linalg.qr(np.hstack([np.ones((size, 1)), np.eye(size)[:, 1:]]))[0]
    return np.asarray(basis[:, 1:].T)


def associations(cells: Array, covariance: Array, table: Array, confidence: float) -> dict[str, Association]:
    """Cramer's V and, of two features with two values each, the difference of shares and the odds ratio.

    Values are those of the `table` that is reported, intervals those of the unbiased `cells`.
    """
    measures = {"cramers_v": _cramers_v(cells, covariance, table, confidence)}
    if cells.shape == (2, 2):
        measures["difference"] = _difference(cells.ravel(), covariance, confidence)
        measures["odds_ratio"] = _odds_ratio(cells.ravel(), covariance, table.ravel(), confidence)
    return measures


def _cramers_v(cells: Array, covariance: Array, table: Array, confidence: float) -> Association:
    """The root of the mean squared contingency over its largest value.

    The interval holds the strengths at which the observed squares are no surprise, if the departures have the observed
    direction.
    """
    rows, columns = (np.maximum(cells.sum(axis=axis), _SMALLEST) for axis in (1, 0))
    value, spread = departures(cells, covariance)
    scale = 1 / np.sqrt(np.outer(rows, columns).ravel() * (min(cells.shape) - 1))
    scaled, within = value * scale, spread * np.outer(scale, scale)
    squares = float(scaled @ scaled)
    roots, vectors = np.linalg.eigh(within)
    noise = np.random.default_rng(0).standard_normal((_DRAWS, len(roots))) * np.sqrt(np.maximum(roots, 0.0)) @ vectors.T
    direction = scaled / (math.sqrt(squares) or 1.0)
    along, length = 2 * noise @ direction, (noise**2).sum(axis=1)

    def reached(share: float) -> float:
        """The strength at which so many squares would be smaller than those observed."""
        low, high = 0.0, 1.0
        if float(np.quantile(length, share)) >= squares:
            return 0.0
        if float(np.quantile(1 + along + length, share)) <= squares:
            return 1.0
        for _ in range(40):
            middle = (low + high) / 2
            smaller = float(np.quantile(middle**2 + middle * along + length, share)) < squares
            low, high = (middle, high) if smaller else (low, middle)
        return (low + high) / 2

    least, most = reached((1 + confidence) / 2), reached((1 - confidence) / 2)
    margins = [np.maximum(table.sum(axis=axis), _SMALLEST) for axis in (1, 0)]
    expected = np.outer(*margins)
    strength = math.sqrt(float(((table - expected) ** 2 / expected).sum()) / (min(cells.shape) - 1))
    return Association("Cramer's V", min(max(strength, least), most, 1.0), least, most)


def _difference(cells: Array, covariance: Array, confidence: float) -> Association:
    """The share of the second column among the second row's people, less that among the first row's."""
    z, ends, slopes = width(confidence), [], []
    for row in (1, 0):
        both = np.array([[0.0, 0, 0, 0], [0, 0, 0, 0]])
        both[0, 2 * row + 1] = both[1, 2 * row] = both[1, 2 * row + 1] = 1
        top, bottom = (float(number) for number in both @ cells)
        low, high = ratio_interval(top, bottom, both @ covariance @ both.T, z)
        share = top / bottom if bottom > _SMALLEST else 0.5
        inside = min(max(share, 0.0), 1.0)
        ends.append((inside, min(max(low, 0.0), inside), max(min(high, 1.0), inside)))
        slopes.append((both[0] - share * both[1]) / max(bottom, _SMALLEST))
    variances = [float(slope @ covariance @ slope) for slope in slopes]
    scale = math.sqrt(variances[0] * variances[1])
    correlation = min(max(float(slopes[0] @ covariance @ slopes[1]) / scale, -1.0), 1.0) if scale > 0 else 0.0
    low, high = difference_interval(ends[0], ends[1], correlation)
    return Association("difference of shares", ends[0][0] - ends[1][0], max(low, -1.0), min(high, 1.0))


def _odds_ratio(cells: Array, covariance: Array, table: Array, confidence: float) -> Association:
    """`P(1, 1) P(0, 0) / (P(0, 1) P(1, 0))`: no limit where the denominator may be due to chance."""
    (top, rise), (bottom, fall) = (product_moments(cells, covariance, corners) for corners in ((3, 0), (1, 2)))
    slopes = np.array([rise, fall])
    low, high = ratio_interval(top, bottom, slopes @ covariance @ slopes.T, width(confidence))
    if high < 0:
        low, high = 0.0, math.inf
    odds, against = float(table[3] * table[0]), float(table[1] * table[2])
    value = odds / against if against > 0 else math.nan
    known = value if math.isfinite(value) else 1.0
    return Association("odds ratio", value, min(max(low, 0.0), known), max(high, known))
