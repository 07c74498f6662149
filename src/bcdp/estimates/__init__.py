"""What follows from the counts: estimates with intervals, in the features' own units."""

from bcdp.estimates.by import estimate_by
from bcdp.estimates.results import Estimates, estimate
from bcdp.statistics import Estimate, on_simplex

__all__ = ["Estimate", "Estimates", "estimate", "estimate_by", "on_simplex"]
