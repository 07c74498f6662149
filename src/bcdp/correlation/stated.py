"""What was measured, as numbers that a policy may state."""

from __future__ import annotations

import math
from collections.abc import Mapping

_UP_TO = 0.99  # a q that is more says nothing
_WORTH_STATING = 100.0  # odds that are more say next to nothing


def stated_numbers(q: Mapping[str, float], guide: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """For a policy: the limits on q, and the odds of the guide as a person would state them, rounded up.

    >>> stated_numbers({"smoker": 0.1234, "age": 1.0}, {"smoker": 2.31, "age": 2000.0})
    {'smoker': {'q': 0.13, 'odds': 2.4}}
    """
    stated = {name: {"q": _up(q[name], 100)} if q[name] <= _UP_TO else {} for name in q}
    for name, odds in guide.items():
        stated[name] |= {"odds": _up(odds, 10)} if odds < _WORTH_STATING else {}
    return {name: numbers for name, numbers in stated.items() if numbers}


def _up(number: float, parts: int) -> float:
    return math.ceil(number * parts) / parts
