"""Bayesian Coordinate Differential Privacy: every feature of a record gets its own guarantee.

A policy becomes a plan, a plan turns records into reports, reports become counts, counts become estimates:

>>> import bcdp
>>> policy = bcdp.Policy(epsilon=2, correlation=0.05, features={
...     "smoker": {"type": "binary", "delta": 0.2}, "age": {"type": "numeric", "bounds": [0, 100]}})
>>> plan = bcdp.make_plan(policy)
>>> reports = bcdp.privatize(plan, {"smoker": [0, 1, 1], "age": [31, 64, None]})
>>> bcdp.estimate(bcdp.Tally(plan).add(reports)).people
3
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bcdp.device import privatize
    from bcdp.errors import InputError
    from bcdp.estimates import Estimates, estimate
    from bcdp.ledger import Ledger, Release
    from bcdp.memory import Device
    from bcdp.plan import Plan
    from bcdp.planning import make_plan
    from bcdp.policy import Policy
    from bcdp.regressor import SurveyRegressor
    from bcdp.tally import Tally

__version__ = "0.1.0"

_ROOMS = {
    "Device": "bcdp.memory",
    "Estimates": "bcdp.estimates",
    "InputError": "bcdp.errors",
    "Ledger": "bcdp.ledger",
    "Plan": "bcdp.plan",
    "Policy": "bcdp.policy",
    "Release": "bcdp.ledger",
    "SurveyRegressor": "bcdp.regressor",
    "Tally": "bcdp.tally",
    "estimate": "bcdp.estimates",
    "make_plan": "bcdp.planning",
    "privatize": "bcdp.device",
}

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


def __getattr__(name: str) -> Any:
    """A public name, from the room that holds it; rooms are opened only when they are needed."""
    if name in _ROOMS:
        return getattr(import_module(_ROOMS[name]), name)
    raise AttributeError(f"module 'bcdp' has no attribute '{name}'")
