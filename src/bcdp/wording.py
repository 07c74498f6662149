"""Numbers and promises in words, the same wherever a person reads them."""

from __future__ import annotations

import math

from bcdp.policy import Feature, NumericFeature


def number(value: float) -> str:
    """A number to read: four significant digits, whole above ten thousand, a dash where there is none.

    >>> number(0.123456), number(41712.3), number(float("nan"))
    ('0.1235', '41,712', '-')
    """
    if not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def odds(level: float) -> str:
    """The factor by which a level lets the odds of a guess move, rounded up to three digits.

    >>> odds(0.2), odds(0.0)
    ('1.23', '1.00')
    """
    return f"{math.ceil(math.exp(level) * 100 - 1e-7) / 100:.2f}" if level < 700 else "any"


def promise(name: str, level: float) -> str:
    """What a certified delta says, in one sentence.

    >>> promise("income", 0.2)
    'whoever sees a report can raise the odds of a guess about income by a factor of at most 1.23'
    """
    return f"whoever sees a report can raise the odds of a guess about {name} by a factor of at most {odds(level)}"


def unit_range(feature: Feature) -> tuple[float, float]:
    """The range of a feature's mean in its own units: its bounds, or 0 to 1 for the share of the second value."""
    return feature.bounds if isinstance(feature, NumericFeature) else (0.0, 1.0)
