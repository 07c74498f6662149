"""Numbers with as many digits as their errors support: further digits say nothing of the population.

They would reveal single reports, though, to anybody who compares two documents.
"""

from __future__ import annotations

import math
from typing import Any

_ENDS = ("value", "low", "high", "raw")
_DIGITS = 3  # of a number whose error is not known


def rounded(document: Any) -> Any:
    """A document of estimates, each rounded to two digits of its standard error, and counts by `rounded_count`.

    >>> rounded({"value": 0.51522, "se": 0.0207, "low": 0.47457, "high": 0.55577, "answers": 1175})
    {'value': 0.515, 'se': 0.021, 'low': 0.475, 'high': 0.556, 'answers': 1180}
    """
    if isinstance(document, list | tuple):
        return [rounded(part) for part in document]
    if not isinstance(document, dict):
        return document
    result = {key: rounded(part) for key, part in document.items()}
    if isinstance(result.get("answers"), int):
        result["answers"] = rounded_count(result["answers"])[0]
    if {"value", "low", "high"} <= result.keys():
        error = _error(result)
        for key in (end for end in _ENDS if isinstance(result.get(end), float)):
            result[key] = _at(result[key], error)
        if isinstance(result.get("se"), float):
            result["se"] = _significant(result["se"], 2)
    if {"statistic", "p"} <= result.keys():  # of a test
        result |= {
            key: _significant(result[key], _DIGITS) for key in ("statistic", "p") if isinstance(result[key], float)
        }
    return result


def rounded_count(count: int) -> tuple[int, int]:
    """A count of answers to the leading digit of its standard error, at most its root, and the step that it is in.

    >>> rounded_count(1077), rounded_count(80)
    ((1080, 10), (80, 1))
    """
    step = 10 ** (len(str(math.isqrt(count))) - 1)
    return step * round(count / step), step


def _error(estimate: dict[str, Any]) -> float:
    """Its standard error; where it states none, a quarter of its interval."""
    error, low, high = (estimate.get(key) for key in ("se", "low", "high"))
    if error is None and low is not None and high is not None:
        error = (high - low) / 4
    return float(error or 0.0)


def _at(number: float, error: float) -> float:
    """A number to two digits of its error."""
    if error <= 0:
        return _significant(number, _DIGITS)
    return round(number, 1 - math.floor(math.log10(error))) + 0.0


def _significant(number: float, digits: int) -> float:
    return float(f"{number:.{digits}g}")
