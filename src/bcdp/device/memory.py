"""One person's device over time: each plan is answered once, and a ledger keeps what all of them cost together."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from bcdp.errors import InputError, expect, refuse
from bcdp.files import locked
from bcdp.mechanisms.survey.answering.reference import answers
from bcdp.plan import A_PLAN, GROUP, Plan, check_menus, menu_of_ticket
from bcdp.plan.ledger import Ledger, release_of
from bcdp.plan.messages import sends_all
from bcdp.randomness import RecordWords
from bcdp.records.encoding import as_arrow, encode
from bcdp.records.open_groups import group_of
from bcdp_device import read_plan
from bcdp_device.device import MAX_EPSILON, Period
from bcdp_device.device import Device as PanelDevice
from bcdp_device.memory import Memory, Report, Reports
from bcdp_device.plan import Plan as PanelPlan


class Device:
    """One person's device: answers each plan once and remembers the answer, because a second one would reveal more.

    `memory` is a mapping or the path of a JSON file that keeps the answers by plan id; several programs may share a
    file. A plan whose epsilon is above `max_epsilon` is not answered. With the path of a `ledger` the device refuses a
    plan that exceeds the person's limits there, before anything is drawn, and enters what it answers.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> device = Device("answers.json")
    >>> device.answer(plan, {"smoker": 1}) == device.answer(plan, {"smoker": 1})
    True
    """

    def __init__(
        self, memory: Reports | str | Path, ledger: str | Path | None = None, max_epsilon: float = MAX_EPSILON
    ) -> None:
        if not max_epsilon >= 0:
            raise refuse("max_epsilon", max_epsilon, "a number of at least 0")
        self._max_epsilon = max_epsilon
        self._ledger = None if ledger is None else Path(ledger).resolve()
        self._memory = Memory(memory)
        if self._ledger is not None and self._ledger == self._memory.path:
            raise refuse("ledger", str(ledger), "another file than the memory's")
        self._panels = PanelDevice(memory, ledger, max_epsilon)

    def answer(self, plan: Plan, record: Mapping[str, Any], ticket: str | None = None) -> dict[str, int]:
        """The report `{"menu": .., "answer": ..}` for a record: the first one again, if there was one.

        With open features it has one more number, `group`, which reveals the open values as they are. Under a plan with
        `menu_from: ticket` the invitation's ticket, which is also the id to send the report with, chooses the menu. A
        plan of several messages is refused: `messages` gives them.
        """
        expect("plan", plan, Plan, A_PLAN)
        if sends_all(plan):
            raise refuse("plan.menus", f"{len(plan.menus)} messages", "a plan of one message; messages() gives several")
        menu = _menu_of(plan, ticket)
        (report,) = self._messages(plan, record, menu)
        if menu not in (None, report["menu"]):
            raise InputError("ticket: got another one; accepted: the ticket that this plan was answered with")
        return report

    def messages(self, plan: Plan, record: Mapping[str, Any]) -> list[Report]:
        """The reports for a record, each to be sent in a message of its own: those of the first time, if there was one.

        They are one for each menu if the plan sends all of them, and else the one of `answer`.
        """
        expect("plan", plan, Plan, A_PLAN)
        return self._messages(plan, record, None) if sends_all(plan) else [self.answer(plan, record)]

    def panel_periods(self, plan: Plan, ticket: str | None = None) -> list[Period]:
        """When this device is asked in a panel: in one wave, or in two for a question about change.

        The first call draws it, and enters the menu in the ledger. It is kept, whatever happens later.

        >>> from bcdp import Policy, make_plan
        >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary"}}, panel={"waves": 4, "every": "month",
        ...     "start": "2027-01-01"})
        >>> [period] = Device("panel.json").panel_periods(make_plan(policy))
        >>> period.wave in (1, 2, 3, 4), period.first.day
        (True, 1)
        """
        return self._panels.panel_periods(plan.derived(_panel_plan), ticket)

    def panel_answer(
        self, plan: Plan, record: Mapping[str, Any], ticket: str | None = None, day: date | None = None
    ) -> Report | None:
        """The report of this device if its wave is now, the same ever after; None if nothing is to be sent today.

        In the earlier wave of a question about change it draws the answer for every later value. `day` is that of the
        device's clock, in UTC, unless stated. Whatever the clock says, there is never a second answer.
        """
        expect("record", record, Mapping, "a mapping of features to values")
        return self._panels.panel_answer(plan.derived(_panel_plan), record, ticket, day)

    def _messages(self, plan: Plan, record: Mapping[str, Any], assigned: int | None) -> list[Report]:
        """What this device has answered, perhaps just now; where a ticket assigns the menu, that one."""
        expect("record", record, Mapping, "a mapping of features to values")
        if plan.policy.panel is not None:
            raise refuse("plan.panel", f"{plan.policy.panel.waves} waves", "panel_answer(), which answers in its wave")
        check_menus(plan, "; privatize() gives the reports of a cascade")
        plan.verify()
        if plan.certificate.epsilon > self._max_epsilon:
            limit = f"at most {self._max_epsilon:g}, this device's limit; Device(.., max_epsilon=..) sets another"
            raise refuse("plan.certificate.epsilon", plan.certificate.epsilon, limit)
        with self._memory.reports() as known:
            if plan.id not in known:
                known.setdefault(plan.id, self._first(plan, record, assigned))
            kept = known[plan.id]
            return [dict(report) for report in (kept if isinstance(kept, list) else [kept])]

    def _first(self, plan: Plan, record: Mapping[str, Any], assigned: int | None) -> Report | list[Report]:
        """New reports; a record that is refused costs nothing, and what was charged and never sent reveals nothing."""
        group = {GROUP: group_of(plan.policy, record)} if plan.policy.open else {}
        codes = encode(plan.policy, as_arrow({name: [record.get(name)] for name in plan.policy.features}))
        if self._ledger is not None:
            _charge(self._ledger, plan)
        chosen = None if assigned is None else np.array([assigned], dtype=np.uint32)
        words = RecordWords(None, [0], plan.id)
        menus, answered = (column.tolist() for column in answers(plan, codes, words, chosen))
        reports = [{"menu": menu, "answer": answer, **group} for menu, answer in zip(menus, answered, strict=True)]
        if self._ledger is not None:
            _enter_drawn(self._ledger, plan, 0 if sends_all(plan) else menus[0])
        return reports if sends_all(plan) else reports[0]


def _panel_plan(plan: Plan) -> PanelPlan:
    """The plan as the standalone device reads it, which computes every level again."""
    return read_plan(plan.text)


def _menu_of(plan: Plan, ticket: str | None) -> int | None:
    """The menu that a ticket assigns, if the plan says so; else None."""
    if plan.policy.menu_from == "device":
        return None
    if ticket is None:
        raise refuse("ticket", None, "the ticket of an invitation, because the plan assigns menus by ticket")
    return menu_of_ticket(plan, ticket)


def _charge(path: Path, plan: Plan) -> None:
    """Enters a plan by its largest menu, before any is drawn: what would exceed the limits is refused for all menus."""
    with locked(path):
        spent = Ledger.load(path)
        if spent.holds(plan.id):
            raise InputError(
                f"ledger: {path} holds plan {plan.id[:12]}.., but its answer is lost; "
                "accepted: a plan not answered yet, because a second answer would tell more"
            )
        spent.add(release_of(plan)).save(path)


def _enter_drawn(path: Path, plan: Plan, menu: int) -> None:
    """Enters what the menu that was drawn costs in place of the largest; refusals then depend on menus alone."""
    with locked(path):
        Ledger.load(path).drew(release_of(plan, menu=menu)).save(path)
