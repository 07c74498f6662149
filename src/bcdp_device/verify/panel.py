"""Panels: in which wave each menu is answered, and what a plan with waves may not have (theory.md, section 4.23)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bcdp_device.dates import read_date
from bcdp_device.errors import refuse
from bcdp_device.panels import EVERY, FEWEST_WAVES, LAST_YEAR, LATEST_DAY, MOST_WAVES, Calendar
from bcdp_device.verify.collection import Feature
from bcdp_device.verify.values import mapping, sequence, text, whole


def read_panel(collection: Mapping[str, Any], features: Mapping[str, Feature]) -> Calendar:
    """When the waves are, if the rest of the collection may be asked over waves."""
    stated = mapping("collection.panel", collection["panel"], ("waves", "every", "start"))
    waves = whole("collection.panel.waves", stated["waves"], FEWEST_WAVES, MOST_WAVES)
    every, start = stated["every"], read_date(text("collection.panel.start", stated["start"]))
    if not isinstance(every, str) or every not in EVERY:
        raise refuse("collection.panel.every", every, ", ".join(EVERY))
    if start is None or start.year > LAST_YEAR or (start.day > LATEST_DAY and every in ("month", "year")):
        raise refuse("collection.panel.start", stated["start"], f"a date; of months and years, up to day {LATEST_DAY}")
    if "trust" in collection or any(feature.sets or feature.condition for feature in features.values()):
        raise refuse("collection.panel", stated, "no such key with trust, counts, follow-ups or lists to tick")
    return Calendar(waves, every, start)


def repeated(features: Mapping[str, Feature]) -> dict[str, Feature]:
    """The features of a panel: a value is a history, and two histories may agree in the wave that is asked."""
    return {name: replace(feature, repeated=True) for name, feature in features.items()}


def read_waves(document: Mapping[str, Any], panel: Calendar | None) -> list[int]:
    """The wave of every menu of a panel; none without one.

    A question about change is asked alone, in a wave after the one since which it asks.
    """
    if panel is None:
        if any("wave" in menu for menu in document["menus"]) or any("since" in q for q in document["questions"]):
            raise refuse("menus", "waves", "none without a panel")
        return []
    if mapping("correlation", document["correlation"]).get("kind") != "per feature":
        raise refuse("correlation.kind", document["correlation"], "'per feature' in a panel")
    waves = []
    for number, menu in enumerate(sequence("menus", document["menus"], 1)):
        path = f"menus.{number}"
        wave = whole(f"{path}.wave", menu.get("wave"), 1, panel.waves)
        since = [document["questions"][asked]["since"] for asked in menu["questions"] if _changes(document, asked)]
        if since and (len(menu["questions"]) > 1 or since[0] >= wave):
            raise refuse(f"{path}.questions", menu["questions"], "a question about change alone, since an earlier wave")
        waves.append(wave)
    return waves


def _changes(document: Mapping[str, Any], number: int) -> bool:
    return "since" in document["questions"][number]
