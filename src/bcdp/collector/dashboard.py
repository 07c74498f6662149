"""What the operator sees: estimates, how often each menu was drawn, and the certificate."""

from __future__ import annotations

import asyncio
import json
import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bcdp.collector.http.errors import RETRY, RefusalError
from bcdp.collector.menu_drift import menu_counts, menu_metrics
from bcdp.collector.rounding import rounded, rounded_count
from bcdp.collector.settings import Settings
from bcdp.collector.shown_counts import ShownCounts
from bcdp.collector.storage.store import Store, StoreError
from bcdp.collector.waves import expected_shares, today, waves_document
from bcdp.compare.baselines import is_mean
from bcdp.estimates import estimate
from bcdp.plan import Menu, Plan
from bcdp.present.check_sentences import check_lines
from bcdp.present.fake_shifts import fake_lines, fake_shifts
from bcdp.present.plan_summary import own_errors
from bcdp.present.promise import operator_says, promise_of_all, promises
from bcdp.present.published_counts import counts_promises, least_people, void
from bcdp.present.words import missing_note
from bcdp.statistics import Section
from bcdp.tally import Tally

_SHARE_OF_FAKES = 0.01  # for which the page says how far they could shift estimates
_SHARE = 10  # estimates are shown for at least this many times as long as they took to compute


class OperatorDocument:
    """The operator's document, computed at most once at a time and shown for a while."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings, self._store = settings, store
        self._shown = ShownCounts(settings.plan, store, settings.token, settings.refresh)
        self._thread = ThreadPoolExecutor(1, "estimates")
        self._one = asyncio.Lock()
        self._until, self._document = 0.0, b""
        self._lines: list[str] = []

    async def document(self) -> bytes:
        """The document as JSON, read anew at most every second or ten times what it takes to compute."""
        async with self._one:
            began = time.monotonic()
            if began >= self._until:
                loop = asyncio.get_running_loop()
                try:
                    self._document = await loop.run_in_executor(self._thread, self._compute)
                except StoreError as error:
                    raise RefusalError(503, str(error), RETRY) from None
                ended = time.monotonic()
                self._until = ended + max(self._settings.quotas.shown_seconds, _SHARE * (ended - began))
        return self._document

    async def metrics(self) -> list[str]:
        """What the document says of people and menus, as lines of Prometheus' text format; none without a store."""
        try:
            await self.document()
        except RefusalError:
            return []
        return self._lines

    def _compute(self) -> bytes:
        tally = self._shown.tally()
        self._lines = menu_metrics(tally or Tally(self._settings.plan))
        counted, settings = tally or Tally(self._settings.plan), self._settings
        document = operator_document(counted, settings.planned)
        document |= waves_document(counted, settings.planned, today(), settings.late_days)
        rule = {"waiting": tally is None or tally.people == 0, "refresh": self._settings.refresh}
        return json.dumps(document | rule, allow_nan=False).encode()

    def close(self) -> None:
        """Waits for what is being computed and closes the store."""
        self._thread.shutdown()
        self._store.close()


def operator_document(tally: Tally, planned: int | None = None) -> dict[str, Any]:
    """Estimates, menus expected and counted, the certificate in numbers and words, the labels, as plain JSON.

    Estimates and counts have the digits that their errors support; the count of a menu is one of its `step`.
    The `note` reveals the rules by which missing values were counted; it is null where there is none.
    """
    plan = tally.plan
    estimates, promised = estimate(tally), promises(plan)
    sections = list(estimates.sections())
    drawn = [rounded_count(count) for count in menu_counts(tally)]
    return {
        "plan": plan.id,
        "title": None if plan.policy.survey is None else plan.policy.survey.title,
        "people": tally.people,
        "planned": planned,
        "precision": [] if planned is None else _precision(plan, sections, planned),
        "estimates": rounded(estimates.to_dict()),
        "note": missing_note({feature.label: feature.rule for feature in plan.policy.features.values()}),
        "sections": [rounded(section.to_dict()) for section in sections],
        "checks": {
            "alarm": any(check.alarm for check in estimates.checks.values()),
            "said": " ".join(check_lines(estimates.checks)),
            "fakes": " ".join(fake_lines(fake_shifts(plan, _SHARE_OF_FAKES), _SHARE_OF_FAKES)).strip(),
        },
        "menus": [
            {"expected": expected, "count": count, "step": step, "asks": _asks(plan, menu)}
            for menu, expected, (count, step) in zip(plan.menus, expected_shares(tally), drawn, strict=True)
        ],
        "epsilon": plan.policy.epsilon,
        "certificate": plan.certificate.model_dump(mode="json"),
        "promises": [
            *({"name": name, **promise.to_dict()} for name, promise in promised.items()),
            {"name": None, **promise_of_all(plan).to_dict()},
        ],
        "counts": [promise.to_dict() for promise in counts_promises(plan, promised, least_people(plan, tally.people))],
        "counts_said": void(plan),
        "operator_says": operator_says(plan),
        "features": {
            name: feature.model_dump(mode="json", include={"label", "type", "bounds"})
            for name, feature in plan.policy.features.items()
        },
    }


def _precision(plan: Plan, sections: list[Section], planned: int) -> list[dict[str, Any]]:
    """For each feature two standard errors, as they are and as the planned people will make them at worst."""
    rows = [row for section in sections for row in section.rows if row.key]
    errors = {
        name: [rounded(row.to_dict())["se"] for row in rows if row.key[0] == name] for name in plan.policy.features
    }
    targets = own_errors(plan, planned)

    def partial(name: str) -> bool:
        """Whether a mean is about some of the people only: how many these are, no plan knows."""
        feature = plan.policy.features[name]
        return is_mean(plan.policy, name) and (feature.follows or feature.own)

    return [
        {
            "name": name,
            "now": None if not errors[name] or None in errors[name] else 2 * max(errors[name]),
            "target": 2 * targets[name] if math.isfinite(targets[name]) and not partial(name) else None,
        }
        for name in plan.policy.features
    ]


def _asks(plan: Plan, menu: Menu) -> list[str]:
    """The labels of the features that a menu asks."""
    names = (name for number in menu.questions for name in plan.questions[number].features)
    return [plan.policy.features[name].label for name in names]
