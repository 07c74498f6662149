"""Plans whose every menu is a message of its own: everybody answers all menus, and nothing links the messages.

A menu of weight 2^32 is drawn with certainty. So several menus of that weight are not alternatives: a device answers
each of them and sends each answer by itself, through a relay that mixes. Each feature is asked in one menu at most:
whoever links a person's messages sees the answers to one large menu (theory.md, section 4.19).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bcdp.exact import TOTAL

if TYPE_CHECKING:
    from bcdp.plan.document import Menu, Plan

MOST_MESSAGES = 32  # of one person: what readers compose


def sends_all(plan: Plan) -> bool:
    """Whether a device answers every menu, each in a message of its own.

    >>> from bcdp import Policy, make_plan
    >>> sends_all(make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}})))
    False
    """
    return len(plan.menus) > 1 and all(menu.weight == TOTAL for menu in plan.menus)


def messages_each(plan: Plan) -> int:
    """How many messages one person sends."""
    return len(plan.menus) if sends_all(plan) else 1


def linked_menus(plan: Plan) -> tuple[Menu, ...]:
    """What one person may answer together: one of the menus, or all of them as one."""
    if not sends_all(plan):
        return plan.menus
    questions = tuple(number for menu in plan.menus for number in menu.questions)
    return (plan.menus[0].model_copy(update={"questions": questions}),)


def linked_plan(plan: Plan) -> Plan:
    """The plan as it is for somebody who can link the messages of one person: with one menu in place of several."""
    return plan.model_copy(update={"menus": linked_menus(plan)}) if sends_all(plan) else plan


def message_plans(plan: Plan) -> tuple[Plan, ...]:
    """For each message the plan that asks only what it answers; what such a plan claims means nothing."""
    plans = tuple(plan.model_copy(update={"menus": (menu,)}) for menu in plan.menus)
    for each in plans:
        vars(each).update(policy=plan.policy, correlation_model=plan.correlation_model, tables=plan.tables)
    return plans
