"""Plans whose every menu is a message of its own: everybody answers all menus, and nothing links the messages.

A menu of weight 2^32 is drawn with certainty. So several menus of that weight are not alternatives: a device answers
each of them and sends each answer by itself, through a relay that mixes. Each feature is asked in one menu at most:
whoever links a person's messages sees the answers to one large menu (theory.md, section 4.19).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bcdp.exact import TOTAL

if TYPE_CHECKING:
    from bcdp.plan.document import Plan
    from bcdp.plan.menu import Menu
    from bcdp.policy import Policy
    from bcdp.statistics import Target

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


def wanted_targets(policy: Policy) -> set[Target]:
    """All that a policy's tasks give weight to."""
    return {target for task in policy.tasks for target, weight in task.targets(policy) if weight * task.weight > 0}


def why_one_message(policy: Policy) -> str | None:
    """What a policy wants that a message for each feature cannot answer, in words; None if there is nothing.

    >>> from bcdp import Policy
    >>> features = {"a": {"type": "binary"}, "b": {"type": "binary"}}
    >>> why_one_message(Policy(epsilon=1, features=features, tasks=[{"table": ["a", "b"]}]))
    'a and b are wanted together'
    """
    if policy.blocks:
        return "questions depend on the answers to others"
    asked = [target.features for target in wanted_targets(policy)]
    together = sorted(names for names in asked if len(names) > 1)
    if together:
        return f"{' and '.join(together[0])} are wanted together"
    twice = sorted(names[0] for names, times in Counter(asked).items() if times > 1)
    if twice:
        return f"more than one thing is wanted of {twice[0]}"
    if len(asked) < 2:
        return "one feature is wanted"
    return f"{len(asked)} features are wanted, more than {MOST_MESSAGES}" if len(asked) > MOST_MESSAGES else None
