"""Decoded values become estimates: within their range, with an interval that holds what chance leaves possible.

An interval holds the values from which the estimate is no farther than chance takes it at that value (theory.md,
section 4.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.statistics.shared.decoded_values import Decoded
from bcdp.statistics.shared.linear_form import LinearForm, RatioForm
from bcdp.statistics.shared.ratios import difference_interval, width
from bcdp.statistics.shared.special import stdtrit

Array = npt.NDArray[np.float64]

_HIDDEN = ("collection", "linear", "ratios")  # not part of what is reported


@dataclass(frozen=True)
class Estimate:
    """An estimate in own units: `value` lies within its range and its interval, `raw` is the unbiased one behind it.

    The standard error is 0 only where a feature has a single value. With fewer than two answers nothing is known: the
    interval is the whole range and the standard error infinite. `rule` says how values that are missing were counted,
    where the policy has a rule for them; how many there were, answers do not reveal. `collection` names the tally
    that it was computed from. Estimates of two collections, of different people, may be subtracted. Estimates of one
    collection may be added and subtracted where both are linear in the answers: means, frequencies, shares, cells.
    """

    value: float
    se: float
    low: float
    high: float
    answers: int
    raw: float
    rule: str | None = None
    collection: str = field(default="", compare=False, repr=False)
    linear: LinearForm | None = field(default=None, compare=False, repr=False)
    ratios: tuple[tuple[float, RatioForm], ...] = field(default=(), compare=False, repr=False)  # with their signs
    moved: float | None = None  # how far fake reports could have shifted it, where their number is assumed

    def to_dict(self) -> dict[str, Any]:
        """The estimate in plain JSON; what is not finite is null, and a rule is named where there is one."""
        document = {key: value for key, value in finite(vars(self)).items() if key not in _HIDDEN}
        if self.moved is None:
            del document["moved"]
        document = {key: value.to_dict() if isinstance(value, Estimate) else value for key, value in document.items()}
        if self.open_people is not None:
            document["open_people"] = self.open_people
        return {key: value for key, value in document.items() if key != "rule" or value is not None}

    @property
    def open_people(self) -> int | None:
        """The equivalent open sample size: at most how many openly asked people would have the same standard error.

        Exact for shares; for a number it would be reached if everybody were at one of its bounds. None for ratios, and
        where the standard error is 0 or not known.
        """
        return None if self.linear is None else self.linear.open_people(self.value, self.se)

    def if_fakes(self, fakes: int) -> Estimate:
        """The same with an interval that holds even if so many reports are fake, where that is known."""
        if self.ratios:
            return self._ratios_if_fakes(fakes)
        honest = None if self.linear is None else self.linear.honest_range(fakes)
        if self.linear is None or honest is None or not math.isfinite(self.raw):
            return self
        (first, last), down, up = self.linear.span, -honest.least, honest.largest
        least = width(self.linear.confidence) * honest.error
        low = max(first, self.value - max(honest.growth * (self.value - self.low), least) - down)
        high = min(last, self.value + max(honest.growth * (self.high - self.value), least) + up)
        return replace(self, low=low, high=high, moved=min(max(down, up), last - first))

    def _ratios_if_fakes(self, fakes: int) -> Estimate:
        """The same for a ratio, or a difference of two, whose intervals hold together."""
        confidence = 1 - (1 - self.ratios[0][1].top.confidence) / len(self.ratios)
        shifts = [(sign, form.if_fakes(fakes, confidence)) for sign, form in self.ratios]
        if not math.isfinite(self.raw):
            return self
        least = largest = low = high = 0.0
        for sign, shift in shifts:
            if shift is None:
                return self
            first, last, start, end = shift if sign > 0 else (-shift[1], -shift[0], -shift[3], -shift[2])
            least, largest, low, high = least + first, largest + last, low + start, high + end
        moved = max(self.value - least, largest - self.value, 0.0)
        return replace(self, low=min(low, self.low), high=max(high, self.high), moved=moved)

    def __add__(self, other: object) -> Estimate:
        """The sum of two estimates of one collection."""
        if other == 0:  # where `sum` starts
            return self
        return self._with(other, 1.0) if isinstance(other, Estimate) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: object) -> Estimate:
        """The difference of two estimates, of one collection or of two that different people answered.

        >>> one = Estimate(0.5, 0.03, 0.4, 0.6, 100, 0.5, collection="1")
        >>> two = Estimate(0.3, 0.04, 0.2, 0.4, 100, 0.3, collection="2")
        >>> found = one - two
        >>> round(found.value, 6), round(found.se, 6), round(found.low, 6), round(found.high, 6)
        (0.2, 0.05, 0.058579, 0.341421)
        """
        if not isinstance(other, Estimate):
            return NotImplemented
        if not self.collection or self.collection == other.collection:
            return self._with(other, -1.0)
        low, high = difference_interval((self.value, self.low, self.high), (other.value, other.low, other.high))
        moved = shifted((1.0, self), (-1.0, other))
        if moved is not None or not (math.isfinite(self.value) and math.isfinite(other.value)):
            low, high = self.low - other.high, self.high - other.low
        error = math.hypot(self.se, other.se)
        answers, raw, rule = self.answers + other.answers, self.raw - other.raw, _rules(self, other)
        return Estimate(
            self.value - other.value, error, low, high=high, answers=answers, raw=raw, rule=rule, moved=moved
        )

    def _with(self, other: Estimate, sign: float) -> Estimate:
        """The sum with another estimate of the same collection times a sign, by the covariance of both."""
        linear = None
        if self.collection == other.collection and self.linear is not None and other.linear is not None:
            linear = self.linear.combined(other.linear, sign)
        error = math.nan if linear is None else linear.standard_error()
        if linear is None or math.isnan(error):
            raise refuse(
                "sum" if sign > 0 else "difference",
                "two estimates whose covariance is not known",
                "two means, frequencies, shares or cells of one collection, or a difference of two collections of "
                "different people; the differences between groups are in `groups`",
            )
        raw = self.raw + sign * other.raw
        value = min(max(raw + linear.correction(), linear.span[0]), linear.span[1])
        low, high = linear.interval(value, error)
        return Estimate(
            value, error, low, high=high, answers=max(self.answers, other.answers), raw=raw, rule=_rules(self, other),
            collection=self.collection, linear=linear,
        )  # fmt: skip


def shifted(*parts: tuple[float, Estimate]) -> float | None:
    """How far fake reports could have shifted a sum of factors times estimates of different people; None if unknown.

    Their shifts add up, as they are not random.
    """
    moved = [abs(factor) * part.moved for factor, part in parts if part.moved is not None]
    return sum(moved) if moved and len(moved) == len(parts) else None


def _rules(*estimates: Estimate) -> str | None:
    """How missing values were counted, in all of these."""
    return "; ".join(dict.fromkeys(each.rule for each in estimates if each.rule)) or None


def finite(values: dict[str, Any]) -> dict[str, Any]:
    """The values for JSON: null for numbers that are not finite."""
    unknown = {name for name, value in values.items() if isinstance(value, float) and not math.isfinite(value)}
    return {name: None if name in unknown else value for name, value in values.items()}


def bounded(decoded: Decoded, low: float, confidence: float) -> tuple[Array, Array, Array, Array]:
    """The values moved into the range from `low` to 1, standard errors, and the ends of the intervals.

    Into the range means nearer to everything there, so that no interval loses anything by it. The standard error is the
    one at the middle of the interval of one standard error: all answers alike are not certainty.
    """
    if np.isnan(decoded.value).any():
        return (
            decoded.value,
            np.full_like(decoded.value, math.inf),
            np.full_like(decoded.value, low),
            np.ones_like(decoded.value),
        )
    value = np.clip(decoded.value, low, 1.0)
    degrees = np.full_like(value, math.inf)
    np.divide(decoded.variance(value) ** 2, decoded.doubt, out=degrees, where=decoded.doubt > 0)
    width = -np.asarray(stdtrit(degrees, (1 - confidence) / 2), dtype=np.float64)
    middle, half = decoded.near(value, width)
    errors = np.sqrt(decoded.variance(np.clip(decoded.near(value, 1.0)[0], low, 1.0)))
    return value, errors, np.clip(middle - half, low, value), np.clip(middle + half, value, 1.0)


def confined(
    raw: Array, reach: Array | tuple[Array, Array], span: tuple[float, float], value: Array
) -> tuple[Array, Array]:
    """The ends of intervals of quantities within a range, for unbiased values and how far intervals reach from them.

    A value outside the range is moved to its end first, which is nearer to everything inside: no interval loses
    anything by it, and none is empty. Each also contains the `value` that is reported.

    >>> confined(np.array([-0.3, 0.5]), np.array([0.2, 0.2]), (0.0, 1.0), np.array([0.0, 0.5]))
    (array([0. , 0.3]), array([0.2, 0.7]))
    """
    down, up = reach if isinstance(reach, tuple) else (reach, reach)
    centre = np.clip(raw, *span)
    low, high = np.clip(centre - down, *span), np.clip(centre + up, *span)
    return np.minimum(low, value), np.maximum(high, value)


def on_simplex(values: Array) -> Array:
    """The nearest frequencies that are at least 0 and sum to 1."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.maximum(values - shift, 0.0))
