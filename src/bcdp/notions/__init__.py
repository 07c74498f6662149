"""The four notions of privacy, exactly: LDP, BDP, CDP and BCDP, how they relate, and what they mean for a test.

Each level is reached at single outputs and single values (theory.md, Proposition 1), so finite mechanisms are
enumerated. What eps and c promise under q is Theorem 1, under odds Theorem 8, for a test Proposition 3.
"""

from bcdp.notions.levels import Levels, conditional_kernel, dobrushin, largest_ratio, levels, odds, total_variation
from bcdp.notions.privacy_blanket import CountsLevel, Surplus, counts_factor, counts_odds, excess
from bcdp.notions.relations import (
    bcdp_from,
    bcdp_from_cdp,
    bcdp_from_cdp_and_ldp,
    bcdp_from_ldp,
    bdp_from_ldp,
    budgets_from,
    cdp_from_ldp,
    ldp_from_bdp,
    ldp_from_cdp,
    ldp_limit,
    linear_constraint,
    scale_budgets,
    scale_budgets_linearly,
)
from bcdp.notions.tradeoff import TradeOff, allowed, trade_off

__all__ = [
    "CountsLevel",
    "Levels",
    "Surplus",
    "TradeOff",
    "allowed",
    "bcdp_from",
    "bcdp_from_cdp",
    "bcdp_from_cdp_and_ldp",
    "bcdp_from_ldp",
    "bdp_from_ldp",
    "budgets_from",
    "cdp_from_ldp",
    "conditional_kernel",
    "counts_factor",
    "counts_odds",
    "dobrushin",
    "excess",
    "largest_ratio",
    "ldp_from_bdp",
    "ldp_from_cdp",
    "ldp_limit",
    "levels",
    "linear_constraint",
    "odds",
    "scale_budgets",
    "scale_budgets_linearly",
    "total_variation",
    "trade_off",
]
