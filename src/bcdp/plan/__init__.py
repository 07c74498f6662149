"""The plan: a public document that any device can execute and check."""

from bcdp.plan.certificate import (
    Certified,
    certify,
    certify_menu,
    joint_delta,
    menu_delta,
    mixture_delta,
    shares_levels,
)
from bcdp.plan.document import Certificate, Channel, FeatureCertificate, Menu, Plan, Question, collection_of

__all__ = [
    "Certificate",
    "Certified",
    "Channel",
    "FeatureCertificate",
    "Menu",
    "Plan",
    "Question",
    "certify",
    "certify_menu",
    "collection_of",
    "joint_delta",
    "menu_delta",
    "mixture_delta",
    "shares_levels",
]
