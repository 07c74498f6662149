"""How correlated the features are: for a feature and a set of others, a bound on what the feature's value says of them.

A correlation model answers two questions. `q(feature, others)`: an upper bound on the total-variation distance between
the distributions of the `others` given two values of `feature`. `odds(feature, others)`: how many times knowing the
`others` could move the odds of a guess about `feature`. It is an assumption of the person who plans, so the plan
records it.
Where it comes from: stated numbers, a known prior, a pilot sample (correlation.md). Bounds hold for every set of
others and whatever is computed from it (theory.md, Proposition 2), known distributions by Lemma 3, numbers that were
seen through one rounding by Lemma 4, numbers that were seen by ranges by Theorem 6.
"""

from bcdp.correlation.documents import correlation_from_dict
from bcdp.correlation.estimated import Estimated, Tree
from bcdp.correlation.from_policy import correlation_of
from bcdp.correlation.models import (
    Correlation,
    Listed,
    PerFeature,
    Stronger,
    pairwise,
    product_q,
    unrounded_odds,
    unrounded_q,
)
from bcdp.correlation.pilot import estimate_correlation, read_pilot
from bcdp.correlation.prior import FinitePrior

__all__ = [
    "Correlation",
    "Estimated",
    "FinitePrior",
    "Listed",
    "PerFeature",
    "Stronger",
    "Tree",
    "correlation_from_dict",
    "correlation_of",
    "estimate_correlation",
    "pairwise",
    "product_q",
    "read_pilot",
    "unrounded_odds",
    "unrounded_q",
]
