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

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
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

_ROOMS = {
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


def __getattr__(name: str) -> Any:
    """A public name, from the room that holds it; rooms are opened only when they are needed."""
    if name in _ROOMS:
        return getattr(import_module(_ROOMS[name]), name)
    raise AttributeError(f"module 'bcdp' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


# Rooms that have moved: their old names still open them.
_MOVED = {
    "bcdp.cascade": "bcdp.mechanisms.cascade",
    "bcdp.comparison": "bcdp.compare.baselines",
    "bcdp.demo": "bcdp.compare.fertility",
    "bcdp.encoding": "bcdp.policy.encoding",
    "bcdp.experiments": "bcdp.compare",
    "bcdp.leakage": "bcdp.correlation.leakage",
    "bcdp.ledger": "bcdp.plan.ledger",
    "bcdp.memory": "bcdp.device.memory",
    "bcdp.pictures": "bcdp.present.pictures",
    "bcdp.planning": "bcdp.mechanisms",
    "bcdp.regression": "bcdp.statistics.regression",
    "bcdp.regressor": "bcdp.estimates.regressor",
    "bcdp.report": "bcdp.present.report",
    "bcdp.skeleton": "bcdp.policy.skeleton",
    "bcdp.survey": "bcdp.mechanisms.survey",
    "bcdp.wave": "bcdp.correlation.private_sample",
    "bcdp.wording": "bcdp.present.words",
}


class _OldNames:
    """Finds a moved room, or a part of one, under its old name: the module itself, not a copy.

    A finder and loader by its methods: the classes of `importlib.abc` take as long to import as all else here.
    """

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        room, _, part = name.removeprefix("bcdp.").partition(".")
        if not name.startswith("bcdp.") or f"bcdp.{room}" not in _MOVED:
            return None
        moved = import_module(f"{_MOVED[f'bcdp.{room}']}.{part}".rstrip("."))
        return ModuleSpec(name, self, loader_state=moved)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module: ModuleType = spec.loader_state
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = module.__spec__ and module.__spec__.loader_state  # the import system wrote the old name there


sys.meta_path.insert(0, _OldNames())  # before the finder that would read the parts of a moved room again
