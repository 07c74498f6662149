"""The designs of the literature as plans: Warner's randomized response, and forced response."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from bcdp.errors import refuse
from bcdp.exact import TOTAL, log_up
from bcdp.plan import Plan
from bcdp.randomizers import Dense


def warner(truth: float, name: str = "sensitive", values: Sequence[Any] | None = None) -> Plan:
    """Warner (1965): with the chance `truth` one answers the question, and else its opposite.

    >>> warner(0.75).certificate.epsilon  # log 3
    1.0986122886681098
    """
    if not 0.5 < truth < 1:
        raise refuse("truth", truth, "a chance above 1/2 and below 1")
    return _plan(name, values, truth, 1 - truth)


def forced_response(truth: float, yes: float, name: str = "sensitive", values: Sequence[Any] | None = None) -> Plan:
    """Forced response (Boruch 1971): the truth with the chance `truth`, "yes" with the chance `yes`, else "no".

    >>> plan = forced_response(2 / 3, 1 / 6)
    >>> round(plan.certificate.epsilon, 6)  # log 5
    1.609438
    """
    if not (truth > 0 and yes > 0 and truth + yes < 1):
        raise refuse("truth and yes", (truth, yes), "chances above 0 that sum to less than 1: else an answer tells all")
    return _plan(name, values, truth + yes, yes)


def _plan(name: str, values: Sequence[Any] | None, yes_if_yes: float, yes_if_no: float) -> Plan:
    """The plan of one question to everybody, "yes" with these chances out of 2^32; it promises what its table keeps."""
    rows = [[TOTAL - weight, weight] for weight in (round(chance * TOTAL) for chance in (yes_if_no, yes_if_yes))]
    ratios = [Fraction(high, low) for high, low in zip(*rows, strict=True)]
    level = max(log_up(max(ratio, 1 / ratio)) for ratio in ratios)
    feature = {"type": "binary", **({} if values is None else {"values": list(values)})}
    return Plan.certified(
        {
            "mechanism": "survey",
            "collection": {"epsilon": level, "features": {name: feature}, "order": [name]},
            "correlation": {"kind": "per feature", "default": 1.0, "named": {}, "source": "nothing assumed (q = 1)"},
            "tables": [Dense(np.array(rows, dtype=np.int64)).to_dict()],
            "questions": [{"features": [name], "levels": [2], "table": 0}],
            "menus": [{"weight": TOTAL, "questions": [0]}],
        }
    )
