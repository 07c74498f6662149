"""Bayesian Coordinate Differential Privacy: every feature of a record gets its own guarantee.

A policy becomes a plan, a plan turns records into reports, reports become counts, counts become estimates.
"""

from bcdp.device import Device, privatize
from bcdp.errors import InputError
from bcdp.estimate import Estimates, estimate
from bcdp.ledger import Ledger, Release
from bcdp.plan import Plan
from bcdp.planning import make_plan
from bcdp.policy import Policy
from bcdp.regression.regressor import SurveyRegressor
from bcdp.tally import Tally

__all__ = [
    "Device",
    "Estimates",
    "InputError",
    "Ledger",
    "Plan",
    "Policy",
    "Release",
    "SurveyRegressor",
    "Tally",
    "estimate",
    "make_plan",
    "privatize",
]
__version__ = "0.1.0"
