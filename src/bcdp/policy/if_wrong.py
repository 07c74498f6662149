"""A second demand: what is still promised where q and odds are larger than they were assumed to be."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from bcdp.policy.field_checks import Accepts, Number, Record

LARGEST_MULTIPLE = 1000.0


class Assumed(NamedTuple):
    """How far others may move with a feature: in total variation, and by which factor in odds."""

    q: float
    odds: float


class IfWrong(Record):
    """At `times` the stated q and odds - 1, a feature's level is at most `delta` times the level demanded of it.

    >>> IfWrong(times=2, delta=1.5).moved(0.05, 3.0)
    Assumed(q=0.1, odds=5.0)
    """

    times: Annotated[
        Number, Field(gt=1, le=LARGEST_MULTIPLE), Accepts(f"a number above 1 and at most {LARGEST_MULTIPLE:g}")
    ]
    delta: Annotated[
        Number,
        Field(ge=1, le=LARGEST_MULTIPLE),
        Accepts(f"a number from 1 to {LARGEST_MULTIPLE:g}, times delta"),
    ]

    def moved(self, q: float, odds: float) -> Assumed:
        """The larger bounds, in the operations of every reader of a plan."""
        return Assumed(min(1.0, self.times * q), 1 + self.times * (odds - 1))

    def level(self, delta: float) -> float:
        """The level that is still demanded of a feature of this delta."""
        return self.delta * delta
