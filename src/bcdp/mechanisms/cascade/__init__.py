"""The paper's mechanism: the Duchi channel, nested channels for means, budgets, and two-copy least squares.

Nested channels with budgets c are c_i-CDP in each feature and (max c)-LDP (theory.md, Proposition 6), and
unbiased (Proposition 5); what the others reveal about a feature is Theorem 1.
"""

from bcdp.mechanisms.cascade.allocation import Budgets, budgets, certify, level_budgets, theorem_budgets
from bcdp.mechanisms.cascade.channels import ChannelFamily, DuchiL2, Laplace, OneBit, duchi, duchi_radius
from bcdp.mechanisms.cascade.mechanism import (
    MeanEstimate,
    OpenChannel,
    corollary_bound,
    estimate_mean,
    mean_mechanism,
    open_channels,
    paper_bound,
    predicted_error,
)
from bcdp.mechanisms.cascade.regression import (
    LeastSquares,
    least_squares,
    minimise_quadratic,
    ridge_loss,
    trust_region,
)

Channel = ChannelFamily  # its former name

__all__ = [
    "Budgets",
    "ChannelFamily",
    "DuchiL2",
    "Laplace",
    "LeastSquares",
    "MeanEstimate",
    "OneBit",
    "OpenChannel",
    "budgets",
    "certify",
    "corollary_bound",
    "duchi",
    "duchi_radius",
    "estimate_mean",
    "least_squares",
    "level_budgets",
    "mean_mechanism",
    "minimise_quadratic",
    "open_channels",
    "paper_bound",
    "predicted_error",
    "ridge_loss",
    "theorem_budgets",
    "trust_region",
]
