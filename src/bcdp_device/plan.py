"""A plan that a device may answer: read, and verified by the second implementation of the certificate."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from bcdp_device.errors import InputError, refuse
from bcdp_device.panels import Calendar
from bcdp_device.verify import Verdict, read
from bcdp_device.verify.collection import Feature
from bcdp_device.verify.correlation import Correlation
from bcdp_device.verify.levels import Levels, survey_levels
from bcdp_device.verify.questions import Menu, linked, sends_all


@dataclass(frozen=True)
class Relay:
    """Where sealed reports go, and the collector's public key, as the plan states them."""

    url: str
    key: str


@dataclass(frozen=True)
class Plan:
    """A survey's plan whose claims are true; `levels` are computed from its tables, not read from its claims."""

    id: str
    levels: Verdict
    features: Mapping[str, Feature]
    open: Mapping[str, Feature]
    menus: tuple[Menu, ...]
    weights: tuple[int, ...]  # how many of the 2^32 words draw each menu
    several: bool  # whether every menu is a message of its own
    by_ticket: bool  # whether a ticket assigns the menu
    relay: Relay | None
    correlation: Correlation
    panel: Calendar | None = None
    waves: tuple[int, ...] = ()  # in a panel, the wave of each menu

    def levels_of(self, menu: int) -> Levels:
        """The levels of the answers to one menu; of all together if each is a message of its own."""
        asked = linked(self.menus) if self.several else self.menus[menu]
        return survey_levels([asked], self.features, self.correlation)


def read_plan(text: str) -> Plan:
    """The plan in a text, as `bcdp plan` wrote it; refused if it claims more than its tables keep.

    >>> read_plan("{}")
    Traceback (most recent call last):
    ...
    bcdp_device.errors.InputError: bcdp: got None; accepted: the version of the plan's format, 1
    """
    reading = read(text)
    if reading.verdict.objections:
        raise InputError(f"plan: {'; '.join(reading.verdict.objections)}; accepted: a plan whose claims are true")
    document, collection = reading.document, reading.collection
    if document["mechanism"] != "survey":
        raise refuse("mechanism", document["mechanism"], "survey: this device answers no other")
    relay = document["collection"].get("relay")
    return Plan(
        hashlib.sha256(text.encode()).hexdigest(),
        reading.verdict,
        collection.features,
        collection.open,
        menus=tuple(reading.menus),
        weights=tuple(menu["weight"] for menu in document["menus"]),
        several=sends_all(document),
        by_ticket=document["collection"].get("menu_from") == "ticket",
        relay=None if relay is None else Relay(relay["url"], relay["key"]),
        correlation=reading.correlation,
        panel=reading.panel,
        waves=tuple(reading.waves),
    )
