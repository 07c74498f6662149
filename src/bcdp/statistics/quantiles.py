"""The shares below the edges of a number's bins, in rising order, and its quantiles; also if some reports are fake."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from bcdp.statistics.shared.decoded_values import JointEstimate
from bcdp.statistics.shared.interval import confined, finite
from bcdp.statistics.shared.joint_targets import Below
from bcdp.statistics.shared.protocol import Array, Decoder
from bcdp.statistics.shared.ratios import width

_DRAWS = 20_000  # of the largest deviation, for a simultaneous band


@dataclass(frozen=True)
class SharesBelow:
    """The shares below all edges, the outer ones included: in rising order, and what is behind them."""

    value: Array
    se: Array
    low: Array
    high: Array
    raw: Array

    @property
    def inner(self) -> tuple[Array, ...]:
        return tuple(column[1:-1] for column in (self.value, self.se, self.low, self.high, self.raw))


@dataclass(frozen=True)
class _FakeBand:
    """The least and the most that may be below all edges by honest reports, and by chance as well."""

    least: Array
    most: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class FakeBands:
    """What the shares below the edges of a number may be if some reports are fake (theory.md, section 4.18)."""

    decoder: Decoder
    target: Below
    joint: JointEstimate
    confidence: float
    together: bool
    known: dict[int, _FakeBand | None] = field(default_factory=dict)  # by the number of fakes

    @property
    def edges(self) -> Array:
        """All edges, the outer ones included."""
        span = self.decoder.policy.features[self.target.feature].span
        return np.array([span[0], *self.target.cuts, span[1]])

    def of(self, fakes: int) -> _FakeBand | None:
        """The band for so many fakes; None where it is not known."""
        if fakes not in self.known:
            self.known[fakes] = self._computed(fakes)
        return self.known[fakes]

    def _computed(self, fakes: int) -> _FakeBand | None:
        joint = self.joint
        ranges = [self.decoder.honest_range(self.target, row, fakes) for row in np.eye(len(joint.value))]
        known = [honest for honest in ranges if honest is not None]
        if len(known) < len(ranges):
            return None
        least, most, growth, error = np.array(known).T
        se = np.sqrt(np.maximum(np.diag(joint.covariance), 0.0))
        reach = np.nan_to_num(_reach(joint, self.confidence, self.together) * np.maximum(growth * se, error), nan=1.0)
        least, most = np.clip(least, 0.0, 1.0), np.clip(most, 0.0, 1.0)
        low, high = _rising_ends(np.clip(least - reach, 0.0, 1.0), np.clip(most + reach, 0.0, 1.0), self.together)
        least, most = monotone(least), monotone(most)
        low, high = np.minimum(low, least), np.maximum(high, most)
        return _FakeBand(*(ended(part) for part in (least, most, low, high)))


def _reach(joint: JointEstimate, confidence: float, together: bool) -> float:
    """How many standard errors an interval reaches."""
    return _largest_deviation(joint.covariance, confidence) if together else width(confidence)


def _rising_ends(low: Array, high: Array, together: bool) -> tuple[Array, Array]:
    """The ends of intervals such that they rise: of a band that holds everywhere, only what can rise is left."""
    if together:
        return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    return monotone(low), monotone(high)


def shares_below(joint: JointEstimate, confidence: float, together: bool) -> SharesBelow:
    """The shares below the edges with their intervals."""
    centre, se = joint.value, np.sqrt(np.maximum(np.diag(joint.covariance), 0.0))
    if np.isnan(centre).any():
        parts = (np.full(len(centre), part) for part in (np.nan, np.inf, 0.0, 1.0, np.nan))
        return SharesBelow(*map(ended, parts))
    value = monotone(centre)
    low, high = confined(centre, _reach(joint, confidence, together) * se, (0.0, 1.0), value)
    low, high = _rising_ends(low, high, together)
    low, high = np.minimum(low, value), np.maximum(high, value)
    return SharesBelow(*(ended(part) for part in (value, se, low, high, joint.raw)))


def ended(inner: Array) -> Array:
    """With the outer edges, below which nobody and everybody is."""
    return np.concatenate([[0.0], inner, [1.0]])


def monotone(raw: Array) -> Array:
    """The nearest shares that rise, between 0 and 1."""
    from scipy.optimize import isotonic_regression  # slow to import, and needed here only

    if np.isnan(raw).any():
        return raw
    return np.clip(isotonic_regression(raw).x, 0.0, 1.0)


def _largest_deviation(covariance: Array, confidence: float) -> float:
    """With this probability, no share is off by more standard errors than that; drawn with a fixed seed."""
    error = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(error, error))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = np.random.default_rng(0).standard_normal((_DRAWS, len(error))) @ root.T
    return float(np.quantile(np.abs(drawn).max(axis=1), confidence))


@dataclass(frozen=True)
class Quantile:
    """A number in own units that so many people are below, and an interval of whole bins that holds it."""

    share: float
    value: float
    low: float
    high: float
    moved: float | None = None  # how far fake reports could have shifted it, where their number is assumed
    bands: FakeBands | None = field(default=None, compare=False, repr=False)

    @property
    def se(self) -> float:
        """Not known: an interval of a quantile is no multiple of a standard error."""
        return float("nan")

    def if_fakes(self, fakes: int) -> Quantile:
        """The same with an interval that holds even if so many reports are fake, where that is known.

        The more people are below every edge, the smaller is the quantile.
        """
        band = None if self.bands is None or math.isnan(self.value) else self.bands.of(fakes)
        if self.bands is None or band is None:
            return self
        edges = self.bands.edges
        least, largest = (_crossing(shares, edges, self.share) for shares in (band.most, band.least))
        low, high = _possible(band.low, band.high, edges, self.share)
        return replace(
            self,
            low=min(low, least, self.low),
            high=max(high, largest, self.high),
            moved=max(self.value - least, largest - self.value, 0.0),
        )

    def to_dict(self) -> dict[str, float | None]:
        """The quantile in plain JSON."""
        moved = {} if self.moved is None else {"moved": self.moved}
        return finite({"value": self.value, "low": self.low, "high": self.high, **moved})


def quantile(below: SharesBelow, edges: Array, share: float) -> Quantile:
    """Where the shares, straight between edges, reach the one wanted; the interval has all bins not excluded.

    A bin is excluded if surely too many are below its start, or too few below its end: each of the two happens to the
    quantile's own bin with half of the allowed error probability (theory.md, section 4.9).
    """
    if np.isnan(below.value).any():
        return Quantile(share, float("nan"), float(edges[0]), float(edges[-1]))
    value = _crossing(below.value, edges, share)
    low, high = _possible(below.low, below.high, edges, share)
    return Quantile(share, value, min(low, value), max(high, value))


def _crossing(shares: Array, edges: Array, share: float) -> float:
    """Where rising shares below all edges, straight between them, reach the one wanted."""
    end = int(np.searchsorted(shares[1:-1], share)) + 1  # the first edge that so many are below
    start, rise = shares[end - 1], shares[end] - shares[end - 1]
    part = min((share - start) / rise, 1.0) if rise > 0 else 1.0
    return float(edges[end - 1] + (edges[end] - edges[end - 1]) * part)


def _possible(low: Array, high: Array, edges: Array, share: float) -> tuple[float, float]:
    """The ends of all bins that may have the quantile: at least the one where shares between both ends reach it."""
    possible = np.flatnonzero((low[:-1] <= share) & (high[1:] >= share))
    return float(edges[possible[0]]), float(edges[possible[-1] + 1])
