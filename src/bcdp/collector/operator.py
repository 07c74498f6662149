"""What the operator sees: estimates, how often each menu was drawn, and the certificate."""

from __future__ import annotations

import asyncio
import json
import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np

from bcdp.collector.refusal import RefusalError
from bcdp.collector.store import Store, StoreError
from bcdp.estimates import estimate
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.tally import SurveyTally
from bcdp.plan import GROUP, Menu, Plan
from bcdp.present.counts import VOID, counts_promises, least_people
from bcdp.present.planned import own_errors
from bcdp.present.promise import operator_says, promise_of_all, promises
from bcdp.present.words import missing_note
from bcdp.statistics import Section
from bcdp.tally import Tally

_SHARE = 10  # estimates are shown for at least this many times as long as they took to compute


class OperatorDocument:
    """The operator's document, computed at most once at a time and shown for a while."""

    def __init__(self, plan: Plan, store: Store, shown_seconds: float, planned: int | None = None) -> None:
        self._plan, self._store, self._shown_seconds, self._planned = plan, store, shown_seconds, planned
        self._thread = ThreadPoolExecutor(1, "estimates")
        self._one = asyncio.Lock()
        self._until, self._document = 0.0, b""

    async def document(self) -> bytes:
        """The document as JSON, not older than a second or ten times what it takes to compute."""
        async with self._one:
            began = time.monotonic()
            if began >= self._until:
                loop = asyncio.get_running_loop()
                try:
                    self._document = await loop.run_in_executor(self._thread, self._compute)
                except StoreError as error:
                    raise RefusalError(503, str(error), {"retry-after": "5"}) from None
                ended = time.monotonic()
                self._until = ended + max(self._shown_seconds, _SHARE * (ended - began))
        return self._document

    def _compute(self) -> bytes:
        tally = tally_of(self._plan, self._store)
        return json.dumps(operator_document(tally, self._planned), allow_nan=False).encode()

    def close(self) -> None:
        """Waits for what is being computed and closes the store."""
        self._thread.shutdown()
        self._store.close()


def tally_of(plan: Plan, store: Store) -> Tally:
    """The tally of what a store counts; with open features it holds the menus of each group one after the other."""
    counts: dict[str, Any] = store.counts()
    if plan.policy.open:
        counts[GROUP], counts["menu"] = np.divmod(counts["menu"], len(plan.menus))
    return Tally(plan).add(counts)


def operator_document(tally: Tally, planned: int | None = None) -> dict[str, Any]:
    """Estimates, menus expected and counted, the certificate in numbers and words, the labels, as plain JSON.

    The `note` tells the rules by which missing values were counted; it is null where there is none.
    """
    plan = tally.plan
    found, promised = estimate(tally), promises(plan)
    sections = list(found.sections())
    whole = cast("SurveyTally", tally.whole)
    drawn = [int(whole.counts(number).sum()) for number in range(len(plan.menus))]
    return {
        "plan": plan.id,
        "title": None if plan.policy.survey is None else plan.policy.survey.title,
        "people": tally.people,
        "planned": planned,
        "precision": [] if planned is None else _precision(plan, sections, planned),
        "estimates": found.to_dict(),
        "note": missing_note({feature.label: feature.rule for feature in plan.policy.features.values()}),
        "sections": [section.to_dict() for section in sections],
        "menus": [
            {"expected": menu.weight / TOTAL, "count": count, "asks": _asks(plan, menu)}
            for menu, count in zip(plan.menus, drawn, strict=True)
        ],
        "epsilon": plan.policy.epsilon,
        "certificate": plan.certificate.model_dump(mode="json"),
        "promises": [
            *({"name": name, **promise.to_dict()} for name, promise in promised.items()),
            {"name": None, **promise_of_all(plan).to_dict()},
        ],
        "counts": [promise.to_dict() for promise in counts_promises(plan, promised, least_people(plan, tally.people))],
        "counts_said": VOID,
        "operator_says": operator_says(plan),
        "features": {
            name: feature.model_dump(mode="json", include={"label", "type", "bounds"})
            for name, feature in plan.policy.features.items()
        },
    }


def _precision(plan: Plan, sections: list[Section], planned: int) -> list[dict[str, Any]]:
    """For each feature two standard errors, as they are and as the planned people will make them at worst."""
    rows = [row for section in sections for row in section.rows if row.key]
    told = {name: [row.to_dict()["se"] for row in rows if row.key[0] == name] for name in plan.policy.features}
    targets = own_errors(plan, planned)
    return [
        {
            "name": name,
            "now": None if not told[name] or None in told[name] else 2 * max(told[name]),
            "target": 2 * targets[name] if math.isfinite(targets[name]) else None,
        }
        for name in plan.policy.features
    ]


def _asks(plan: Plan, menu: Menu) -> list[str]:
    """The labels of the features that a menu asks."""
    names = (name for number in menu.questions for name in plan.questions[number].features)
    return [plan.policy.features[name].label for name in names]
