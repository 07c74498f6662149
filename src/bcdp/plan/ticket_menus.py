"""The menu that belongs to a ticket, where a plan says so: a public function that device and collector compute alike.

Nobody who sends a report can choose its menu then (theory.md, 4.21). Every level of a report is the largest over menus,
so how a menu is chosen changes none of them, as long as it does not depend on the record (Theorem 2).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from itertools import accumulate

from bcdp.plan.document import Plan


def menu_of_ticket(plan: Plan, ticket: str) -> int:
    """The menu that the first 32 bits of the SHA-256 of the plan's id and the ticket draw.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}, menu_from="ticket"))
    >>> menu_of_ticket(plan, "any text")  # the only one
    0
    """
    digest = hashlib.sha256(f"bcdp menu\n{plan.id}\n{ticket}".encode()).digest()
    return bisect_right(plan.derived(_ends), int.from_bytes(digest[:4], "big"))


def _ends(plan: Plan) -> list[int]:
    return list(accumulate(menu.weight for menu in plan.menus))
