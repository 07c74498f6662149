"""Numbers and promises in words, the same wherever a person reads them."""

from __future__ import annotations

import math
from typing import Protocol

from bcdp.policy import Feature, NumericFeature


class Interval(Protocol):
    """An estimate of any kind."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def se(self) -> float: ...


def number(value: float, digits: int = 4) -> str:
    """A number to read: so many significant digits, at least all of a whole number, a dash where there is none.

    >>> number(0.123456), number(41712.3), number(float("nan")), number(0.123456, 2), number(123.4, 2)
    ('0.1235', '41,712', '-', '0.12', '123')
    """
    if not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 10 ** min(digits, 4) - 0.5 else f"{value:.{digits}g}"


def odds(level: float) -> str:
    """The factor by which a level lets the odds of a guess move, rounded up to two decimals.

    >>> odds(0.2), odds(0.0)
    ('1.23', '1.00')
    """
    return f"{_up(math.exp(level), 2):.2f}" if level < 700 else "any"


def sure(level: float, before: float = 0.5) -> str:
    """How probable a guess of some probability can become under a level, rounded up to a tenth of a percent.

    >>> sure(0.2), sure(0.2, before=0.01)
    ('55.0%', '1.3%')
    """
    after = 1 / (1 + (1 - before) / before * math.exp(-level))
    return f"{_up(100 * after, 1):.1f}%"


def _up(value: float, decimals: int) -> float:
    """Rounded up as claims are, but for what is itself a rounding error."""
    scale = 10.0**decimals
    return math.ceil(value * scale - 1e-7) / scale


def measured(value: float, error: float) -> str:
    """A number to read beside its standard error: as many decimals as show two digits of the error.

    >>> measured(30.46123, 0.0869), measured(0.3772, 0.011), measured(41712.3, 234.0)
    ('30.461', '0.377', '41,712')
    """
    if not (math.isfinite(value) and math.isfinite(error)) or error <= 0:
        return number(value)
    return f"{value:,.{max(0, 1 - math.floor(math.log10(error)))}f}"


def interval(estimate: Interval) -> str:
    """An interval to read, as precise as its standard error."""
    return f"{measured(estimate.low, estimate.se)} to {measured(estimate.high, estimate.se)}"


def share_of(feature: Feature) -> str:
    """What the mean of a feature is the mean of: its label, and for a binary feature with words the one that counts.

    >>> from bcdp.policy import Policy
    >>> share_of(Policy(epsilon=1, features={"x": {"type": "binary", "values": ["no", "yes"]}}).features["x"])
    'x = yes'
    """
    return f"{feature.label} = {feature.values[1]}" if feature.type == "binary" and feature.values else feature.label


def unit_range(feature: Feature) -> tuple[float, float]:
    """The range of a feature's mean in its own units: its bounds, or 0 to 1 for the share of the second value."""
    return feature.bounds if isinstance(feature, NumericFeature) else (0.0, 1.0)
