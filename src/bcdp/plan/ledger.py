"""What answering a plan costs, as a row of a ledger; the ledger itself is the device's (`bcdp_device.ledger`)."""

from __future__ import annotations

from bcdp.errors import expect, refuse
from bcdp.plan import A_PLAN, Plan
from bcdp.plan.certificate import certify_menu, largest_budgets
from bcdp.plan.messages import linked_menus
from bcdp_device.ledger import Ledger, Limits, Release, Statement, largest_pairs

__all__ = ["Ledger", "Limits", "Release", "Statement", "release_of"]


def release_of(plan: Plan, date: str = "", name: str = "", menu: int | None = None) -> Release:
    """What answering a plan once costs, by its certificate, which is verified first.

    With the `menu` that was drawn it costs what the answers to this menu reveal: the draw itself reveals nothing.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> release_of(plan, menu=0).epsilon <= release_of(plan).epsilon
    True
    """
    expect("plan", plan, Plan, A_PLAN)
    plan.verify()
    named, sent = name or plan.id[:12], tuple(plan.policy.open)
    if menu is not None:
        menus = linked_menus(plan)
        if not 0 <= menu < len(menus):
            raise refuse("menu", menu, f"the number of one of the plan's {len(menus)} menus, from 0")
        drawn = certify_menu(plan, menus[menu], plan.correlation_model)
        return Release(named, drawn.epsilon, drawn.c, plan.id, date, delta=drawn.delta, open=sent)
    claims = plan.certificate
    return Release(
        named,
        claims.epsilon,
        {feature: claim.c for feature, claim in claims.features.items()},
        plan=plan.id,
        date=date,
        delta={feature: claim.certified for feature, claim in claims.features.items()},
        menus={feature: largest_pairs(pairs) for feature, pairs in largest_budgets(plan).items()},
        open=sent,
    )
