"""Panels: the same people over several waves, each of them asked in one (theory.md, section 4.23).

Every menu has a wave, and a device draws one menu for the whole panel. What is asked in a wave is a plan of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from bcdp.errors import refuse
from bcdp.exact import TOTAL
from bcdp.plan.document import Plan
from bcdp.plan.menu import Menu
from bcdp_device.panels import Calendar


def calendar_of(plan: Plan) -> Calendar:
    """When the waves of a panel begin and end; a plan without waves is refused.

    >>> from bcdp import Policy, make_plan
    >>> calendar_of(make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}})))
    Traceback (most recent call last):
    ...
    bcdp_device.errors.InputError: plan.panel: got None; accepted: a plan with waves
    """
    if plan.policy.panel is None:
        raise refuse("plan.panel", None, "a plan with waves")
    return plan.policy.panel.calendar


def menus_by_wave(plan: Plan) -> dict[int, tuple[int, ...]]:
    """The numbers of the menus of each wave."""
    waves = range(1, calendar_of(plan).waves + 1)
    return {wave: tuple(number for number, menu in enumerate(plan.menus) if menu.wave == wave) for wave in waves}


def wave_shares(plan: Plan) -> dict[int, float]:
    """The share of the people who are asked in each wave.

    >>> from bcdp import Policy, make_plan
    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary"}}, panel={"waves": 4, "every": "month",
    ...     "start": "2027-01-01"})
    >>> wave_shares(make_plan(policy))
    {1: 0.25, 2: 0.25, 3: 0.25, 4: 0.25}
    """
    return {
        wave: sum(plan.menus[number].weight for number in numbers) / TOTAL
        for wave, numbers in menus_by_wave(plan).items()
    }


def wave_plans(plan: Plan) -> Mapping[int, Plan]:
    """For each wave the plan of those who are asked in it; what such a plan claims means nothing.

    A wave in which nothing is asked is left out.
    """
    return plan.derived(_wave_plans)


def _wave_plans(plan: Plan) -> dict[int, Plan]:
    plans = {}
    for wave, numbers in menus_by_wave(plan).items():
        menus = [plan.menus[number] for number in numbers]
        if menus:
            plans[wave] = plan.model_copy(update={"menus": _drawn_alone(menus)})
            vars(plans[wave]).update(policy=plan.policy, correlation_model=plan.correlation_model, tables=plan.tables)
    return plans


def _drawn_alone(menus: list[Menu]) -> tuple[Menu, ...]:
    """The menus with weights in the same proportions that sum to 2^32, but for rounding."""
    total = sum(menu.weight for menu in menus)
    weights = [max(1, menu.weight * TOTAL // total) for menu in menus]
    weights[weights.index(max(weights))] += TOTAL - sum(weights)
    return tuple(menu.model_copy(update={"weight": weight}) for menu, weight in zip(menus, weights, strict=True))
