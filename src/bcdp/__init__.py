"""Bayesian Coordinate Differential Privacy: every feature of a record gets its own guarantee.

A policy becomes a plan, a plan turns records into reports, reports become counts, counts become estimates:

>>> import bcdp
>>> policy = bcdp.Policy(epsilon=2, correlation=0.05, features={
...     "smoker": {"type": "binary", "delta": 0.2}, "age": {"type": "numeric", "bounds": [0, 100]}})
>>> plan = bcdp.make_plan(policy)
>>> reports = bcdp.privatize(plan, {"smoker": [0, 1, 1], "age": [31, 64, 25]})
>>> bcdp.estimate(bcdp.Tally(plan).add(reports)).people
3
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bcdp.device import Device, privatize
    from bcdp.errors import InputError
    from bcdp.estimates import Estimates, estimate, estimate_by
    from bcdp.estimates.regressor import SurveyRegressor
    from bcdp.mechanisms import make_plan
    from bcdp.plan import Plan
    from bcdp.plan.ledger import Ledger, Release
    from bcdp.policy import Policy
    from bcdp.present.notebook import as_html
    from bcdp.tally import Tally

__version__ = "0.1.0"

_PACKAGES = {
    "Device": "bcdp.device",
    "Estimates": "bcdp.estimates",
    "InputError": "bcdp.errors",
    "Ledger": "bcdp.plan.ledger",
    "Plan": "bcdp.plan",
    "Policy": "bcdp.policy",
    "Release": "bcdp.plan.ledger",
    "SurveyRegressor": "bcdp.estimates.regressor",
    "Tally": "bcdp.tally",
    "as_html": "bcdp.present.notebook",
    "estimate": "bcdp.estimates",
    "estimate_by": "bcdp.estimates",
    "make_plan": "bcdp.mechanisms",
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
    "as_html",
    "estimate",
    "estimate_by",
    "make_plan",
    "privatize",
]


if not TYPE_CHECKING:  # type checkers know the names above, and no others

    def __getattr__(name: str) -> Any:
        """Import a public name from its package on first use, so that `import bcdp` stays fast."""
        if name in _PACKAGES:
            return getattr(import_module(_PACKAGES[name]), name)
        raise AttributeError(f"module 'bcdp' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
