"""The body of `POST /v1/reports`: decoded strictly, and every number checked against the plan."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Annotated

import msgspec

from bcdp.collector.http.errors import RefusalError
from bcdp.collector.limits.invitations import is_ticket
from bcdp.collector.settings import Settings
from bcdp.collector.storage.report_marks import Marked, Marker
from bcdp.collector.waves import open_waves, today
from bcdp.plan import menu_of_ticket

_ID_CHARACTERS = re.compile(r"[A-Za-z0-9._~-]*")
ID_PATTERN = "^[A-Za-z0-9._~-]{1,64}$"


class Report(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One report as a device sends it."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    menu: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
    answer: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class OpenReport(Report, frozen=True, gc=False, forbid_unknown_fields=True):
    """One report under a plan with open features: `group` is the number of their values."""

    group: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class Upload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request's reports and the plan they answer."""

    plan: Annotated[str, msgspec.Meta(max_length=64)]
    reports: list[Report]


class OpenUpload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request's reports and the plan they answer, where the plan has open features."""

    plan: Annotated[str, msgspec.Meta(max_length=64)]
    reports: list[OpenReport]


Reports = Marked[tuple[int, int]]  # under the mark of each report's id, its menu (of its group) and its answer


class Reader:
    """Reads uploads for one plan: a body becomes reports or a refusal. No id goes any further."""

    def __init__(self, settings: Settings, today: Callable[[], date] = today) -> None:
        self._late, self._today = settings.late_days, today
        self._panel = settings.plan if settings.plan.policy.panel is not None else None
        self._plan_id = settings.plan.id
        self._sizes = [math.prod(digits) for digits in settings.plan.symbols]
        self._most = settings.quotas.reports
        self._key = settings.tickets_key
        self._assigned = settings.plan if settings.plan.policy.menu_from == "ticket" else None
        self._mark = Marker(settings.plan.id, settings.tickets_key)
        self._groups = len(settings.plan.policy.groups)
        self._keys = 4 if settings.plan.policy.open else 3  # of a report
        self._decode: Callable[[bytes], Upload | OpenUpload] = (
            msgspec.json.Decoder(OpenUpload).decode if self._keys == 4 else msgspec.json.Decoder(Upload).decode
        )

    def read(self, body: bytes) -> Reports:
        """The reports in a body, all of them well formed and possible under the plan."""
        try:
            upload = self._decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RefusalError(422, f"malformed: {error}") from None
        if upload.plan != self._plan_id:
            raise RefusalError(409, f"the reports are for another plan; this collection's is {self._plan_id}")
        reports = upload.reports
        if not 1 <= len(reports) <= self._most:
            raise RefusalError(422, f"reports: got {len(reports)}; accepted: from 1 to {self._most} in one request")
        if not _ID_CHARACTERS.fullmatch("".join([report.id for report in reports])):
            raise RefusalError(422, "reports.id: accepted: letters, digits and . _ ~ -")
        # no value that is accepted holds a colon, so each follows a key
        if body.count(b":") != 2 + self._keys * len(reports):
            raise RefusalError(422, "malformed: a key is there twice")
        sizes = self._sizes
        if not all(report.menu < len(sizes) and report.answer < sizes[report.menu] for report in reports):
            raise RefusalError(422, "reports: a menu or an answer is not in the plan")
        if self._key is not None and not all(is_ticket(self._key, self._plan_id, r.id) for r in reports):
            raise RefusalError(422, "reports.id: accepted: an invitation's ticket")
        if self._assigned is not None and not all(menu_of_ticket(self._assigned, r.id) == r.menu for r in reports):
            raise RefusalError(422, "reports.menu: accepted: the menu of the report's ticket")
        self._check_waves([report.menu for report in reports])
        marks = [self._mark(report.id) for report in reports]
        if self._keys == 3:
            return Reports(marks, [(report.menu, report.answer) for report in reports])
        opened = [(report, report.group) for report in reports if isinstance(report, OpenReport)]
        if not all(group < self._groups for _, group in opened):
            raise RefusalError(422, "reports.group: not in the plan")
        # the store counts by menu and answer: of each group it holds the menus one after the other
        return Reports(marks, [(group * len(sizes) + report.menu, report.answer) for report, group in opened])

    def _check_waves(self, menus: Iterable[int]) -> None:
        """Refuses reports of a panel's wave that has not begun, or ended longer ago than reports may take."""
        if self._panel is None:
            return
        accepted = open_waves(self._panel, self._today(), self._late)
        if not {self._panel.menus[menu].wave for menu in menus} <= set(accepted):
            listed = " or ".join(map(str, accepted)) or "none, because no wave is open"
            raise RefusalError(409, f"reports.menu: of a wave that is not open; accepted: wave {listed}")
