"""What the counts of several messages of each person reveal: each message is mixed and counted by itself.

Nothing links the messages of one person, so their counts are independent given everybody's records, and what they
reveal about a record composes. About a feature the message that asks for it reveals most, and the others reveal it as
far as it is associated with what they ask (theory.md, section 4.19, Theorems 18 and 19).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bcdp.correlation import Correlation
from bcdp.notions.composed_counts import ExcessGrid, composed_excess
from bcdp.notions.privacy_blanket import Excess
from bcdp.plan.certificate import menu_bounds
from bcdp.plan.document import Plan
from bcdp.plan.messages import linked_menus
from bcdp.plan.structure import asked_features
from bcdp.plan.worst_prior import Within


@dataclass(frozen=True)
class MessageCounts:
    """The excess of each message's counts, of all together, and which message asks for each feature."""

    single: Sequence[Excess]
    record: Excess
    asking: Mapping[str, int]
    bounds: Mapping[str, Within]

    @classmethod
    def of(cls, plan: Plan, single: Sequence[ExcessGrid], correlation: Correlation) -> MessageCounts:
        """From the excess of each message alone."""
        asking = {name: number for number, menu in enumerate(plan.menus) for name in asked_features(plan, menu)}
        bounds = menu_bounds(plan, linked_menus(plan)[0], correlation)
        return cls([grid.excess_at for grid in single], composed_excess(single), asking, bounds)

    def feature(self, name: str, whole: float) -> Excess:
        """The excess between two values of a feature, where that of the record is taken at the factor `whole`."""
        number, outside = self.asking.get(name), self.record(whole)

        def excess_at(factor: float) -> float:
            own = own_factor(factor, whole, self.bounds[name])
            if number is None or own < 1:
                return outside if own >= 1 else 1.0
            return max(outside, self.single[number](own))

        return excess_at


def own_factor(factor: float, whole: float, within: Within) -> float:
    """By which factor the own message may move the odds, if all messages do by `whole` and that makes `factor`.

    Theorem 8 solved for the budget, rounded down: `factor = own (own + most (whole - own)) / (own + least (whole -
    own))`. Below 1 if there is none.

    >>> round(own_factor(1.5, 2.0, Within(0.25)), 6), own_factor(1.5, 2.0, Within(1.0))
    (1.333333, 0.0)
    """
    most, least = map(float, within.masses[0])
    if most == 0:
        return factor
    if most == 1:
        return 0.0
    linear, constant = most * whole - factor * (1 - least), factor * least * whole
    root = math.sqrt(linear * linear + 4 * (1 - most) * constant)
    own = 2 * constant / (linear + root) if linear > 0 else (root - linear) / (2 * (1 - most))
    return own * (1 - 1e-12)
