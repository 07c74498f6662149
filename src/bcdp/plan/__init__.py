"""The plan: a public document that any device can execute and check.

Its levels are the largest over the menus (theory.md, Theorem 2), each the exact worst case over all priors within
the stated bounds (Theorems 3, 4, 6, 8 and 9). Over several plans eps and c add up and delta does not (section 2).
"""

from bcdp.plan.certificate import (
    Certified,
    Parts,
    certify,
    certify_menu,
    guessed_parts,
    joint_delta,
    menu_delta,
    shares_inputs,
)
from bcdp.plan.claims import Certificate, CountsClaim, FeatureCertificate
from bcdp.plan.document import (
    A_PLAN,
    PLAN_KEY,
    Channel,
    Plan,
    collection_of,
)
from bcdp.plan.mechanism import GROUP, check_menus, mechanism_of, report_schema
from bcdp.plan.menu import Menu
from bcdp.plan.second_demand import demands_if_wrong, levels_if_wrong
from bcdp.plan.ticket_menus import menu_of_ticket
from bcdp.plan.worst_prior import Within
from bcdp.questions import Question

__all__ = [
    "A_PLAN",
    "GROUP",
    "PLAN_KEY",
    "Certificate",
    "Certified",
    "Channel",
    "CountsClaim",
    "FeatureCertificate",
    "Menu",
    "Parts",
    "Plan",
    "Question",
    "Within",
    "certify",
    "certify_menu",
    "check_menus",
    "collection_of",
    "demands_if_wrong",
    "guessed_parts",
    "joint_delta",
    "levels_if_wrong",
    "mechanism_of",
    "menu_delta",
    "menu_of_ticket",
    "report_schema",
    "shares_inputs",
]
