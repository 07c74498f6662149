"""What the channels of a cascade protect, and the form that they must have.

A channel's answer depends on the record through one bit that is kept with weight `keep` out of 2^32, so it moves the
odds between two records by at most keep / (2^32 - keep), and channels are drawn independently: ratios multiply
(theory.md, Proposition 6). What the others reveal about a feature is bounded by Theorems 1 and 8.
"""

from __future__ import annotations

from fractions import Fraction

from bcdp.correlation import Correlation
from bcdp.errors import refuse
from bcdp.exact import TOTAL, log_up
from bcdp.mechanisms.cascade.checks import check_complete
from bcdp.plan import Certified, Plan, Within
from bcdp.plan.certificate import independent_delta, ratio_product, unrounded
from bcdp.plan.structure import check_names


def levels(plan: Plan, correlation: Correlation) -> list[Certified]:
    """The levels of the one report that there is."""
    names = tuple(plan.policy.features)
    ratios = [Fraction(channel.keep, TOTAL - channel.keep) for channel in plan.channels]
    covering = {name: tuple(i for i, channel in enumerate(plan.channels) if name in channel.features) for name in names}
    own = {name: ratio_product(tuple(ratios[i] for i in covering[name])) for name in names}
    ratio = ratio_product(tuple(ratios))
    (stated,) = bounds(plan, correlation)
    delta = {name: independent_delta(own[name], ratio / own[name], stated[name]) for name in names}
    return [Certified(log_up(ratio), {name: log_up(own[name]) for name in names}, delta)]


def bounds(plan: Plan, correlation: Correlation) -> list[dict[str, Within]]:
    """For each feature, how far all the others may move with it: channels read numbers as they are."""
    names = frozenset(plan.policy.features)
    return [{name: unrounded(correlation, name, names - {name}) for name in plan.policy.features}]


def check_form(plan: Plan) -> None:
    """Channels are nested, and each reveals something."""
    check_complete(plan.policy)
    if not plan.channels or plan.menus or plan.questions or plan.tables_:
        raise refuse("channels", len(plan.channels), "at least one channel and no menus in a cascade plan")
    covered = tuple(plan.policy.features)
    for number, channel in enumerate(plan.channels):
        check_names(f"channels.{number}", channel.features, plan.policy.features)
        if channel.keep == TOTAL // 2:  # its output would be divided by 0 (theory.md, section 3, erratum 3)
            raise refuse(f"channels.{number}.keep", channel.keep, f"a weight above 2^31 = {TOTAL // 2}, a fair coin's")
        if not set(channel.features) <= set(covered):
            nested = f"nested channels: some of {', '.join(covered)}, which channel {number - 1} covers"
            raise refuse(f"channels.{number}.features", channel.features, nested)
        covered = channel.features
