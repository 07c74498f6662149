"""The second demand of a policy, `if_wrong`: levels at a multiple of the stated q and odds - 1 (theory.md, 4.26).

Both demands are about the same tables, and each has the exact certificate of section 4 under its own bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from bcdp.correlation.exceeded import Exceeded
from bcdp.errors import refuse
from bcdp.plan.mechanism import mechanism_of
from bcdp.policy.base_feature import IfWrong

if TYPE_CHECKING:
    from bcdp.plan.document import Plan


def demands_if_wrong(plan: Plan) -> dict[str, IfWrong]:
    """The features that state a second demand."""
    stated = ((name, feature.if_wrong) for name, feature in plan.policy.features.items())
    return {name: demand for name, demand in stated if demand is not None}


def levels_if_wrong(plan: Plan) -> Mapping[str, float]:
    """The level of each feature with a second demand, under the bounds of that demand."""
    named = demands_if_wrong(plan)
    if not named:
        return {}
    delta = mechanism_of(plan).largest_levels(plan, Exceeded(plan.correlation_model, named)).delta
    return {name: delta[name] for name in named}


def check_if_wrong(plan: Plan, keep: Callable[[str, float, float, float], None]) -> None:
    """Refuses claims about second demands that are missing, not true, or above what was asked."""
    named, true = demands_if_wrong(plan), plan.derived(levels_if_wrong)
    for name, claim in plan.certificate.features.items():
        if (claim.if_wrong is None) != (name not in named):
            accepted = "a level where the feature states if_wrong, no such key elsewhere"
            raise refuse(f"certificate.features.{name}.if_wrong", claim.if_wrong, accepted)
    for path, name, claimed, asked in _claims(plan, named):
        keep(path, true[name], claimed, asked)


def _claims(plan: Plan, named: Mapping[str, IfWrong]) -> Iterator[tuple[str, str, float, float]]:
    for name, demand in named.items():
        claimed, delta = plan.certificate.features[name].if_wrong, plan.policy.features[name].delta
        if claimed is not None:
            yield f"features.{name}.if_wrong", name, claimed, demand.level(delta)
