"""One person's device: it verifies a plan, answers it once, and refuses what the person's ledger does not allow."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from bcdp_device.answering import Report, answers, drawn_menu, later_symbols, menu_word, random_words
from bcdp_device.errors import InputError, refuse
from bcdp_device.files import locked
from bcdp_device.ledger import Ledger, Release, largest_pairs
from bcdp_device.memory import Memory, Reports, part_key
from bcdp_device.panels import Calendar
from bcdp_device.plan import Plan

MAX_EPSILON = 4.0  # of a plan that a device answers if nobody set its limit: beyond, a guess at 50% could become 98.3%


class Period(NamedTuple):
    """A wave in which a person is asked, with its first and last day."""

    wave: int
    first: date
    last: date


class Device:
    """One person's device: answers each plan once and remembers the answer, because a second one would reveal more.

    `memory` is a mapping or the path of a JSON file that keeps the answers by plan id; several programs may share a
    file. A plan whose epsilon is above `max_epsilon` is not answered. With the path of a `ledger` the device refuses a
    plan that exceeds the person's limits there, whichever menu is drawn, and enters what it answers.
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

    def answer(self, plan: Plan, record: Mapping[str, Any], ticket: str | None = None) -> Report:
        """The report for a record: the first one again, if there was one. `messages` gives those of other plans."""
        if plan.several:
            raise refuse("plan.menus", f"{len(plan.menus)} messages", "a plan of one message; messages() gives several")
        return self.messages(plan, record, ticket)[0]

    def messages(self, plan: Plan, record: Mapping[str, Any], ticket: str | None = None) -> list[Report]:
        """The reports for a record, each to be sent in a message of its own: those of the first time, if there was one.

        Where the plan assigns menus by ticket, the ticket of the invitation is needed, and is the id to send with.
        """
        if plan.panel is not None:
            raise refuse("plan.panel", f"{plan.panel.waves} waves", "panel_answer(), which answers in the drawn wave")
        self._within_limit(plan)
        words = _drawing_words(plan, ticket)
        with self._memory.reports() as known:
            if plan.id not in known:
                drawn = answers(plan, record, words)  # a record that is refused costs nothing
                self._enter(plan, drawn[0]["menu"])
                known[plan.id] = drawn if plan.several else drawn[0]
            kept = known[plan.id]
        reports = [dict(report) for report in (kept if isinstance(kept, list) else [kept])]
        if plan.by_ticket and reports[0]["menu"] != drawn_menu(plan, words[0]):
            raise InputError("ticket: got another one; accepted: the ticket that this plan was answered with")
        return reports

    def panel_periods(self, plan: Plan, ticket: str | None = None) -> list[Period]:
        """When this device is asked in a panel: in one wave, or in two for a question about change.

        The first call draws it, and enters the menu in the ledger. It is kept, whatever happens later.
        """
        calendar = _calendar(plan)
        with self._memory.reports() as known:
            menu = drawn_menu(plan, self._part(plan, known, ticket)["word"])
        waves = [wave for wave in (plan.menus[menu][0].since, plan.waves[menu]) if wave is not None]
        return [Period(wave, calendar.first_day(wave), calendar.last_day(wave)) for wave in waves]

    def panel_answer(
        self, plan: Plan, record: Mapping[str, Any], ticket: str | None = None, day: date | None = None
    ) -> Report | None:
        """The report of this device if its wave is now, the same ever after; None if nothing is to be sent today.

        In the earlier wave of a question about change it draws the answer for every later value. `day` is that of the
        device's clock, in UTC, unless stated. Whatever the clock says, there is never a second answer.
        """
        calendar, today = _calendar(plan), datetime.now(timezone.utc).date() if day is None else day
        wave = calendar.wave_on(today)
        with self._memory.reports() as known:
            part = self._part(plan, known, ticket)
            if plan.id in known:
                return dict(_single(known, plan.id))
            words = [part["word"], *random_words(plan)[1:]]
            menu = drawn_menu(plan, part["word"])
            question = plan.menus[menu][0]
            if wave == question.since and len(part) == 1:
                symbols = later_symbols(plan, question, record, words[1:])
                known[part_key(plan.id)] = part | {str(now): symbol for now, symbol in enumerate(symbols)}
            if wave != plan.waves[menu] or (question.since is not None and len(part) == 1):
                return None
            (report,) = answers(plan, record, words, [part[str(now)] for now in range(len(part) - 1)])
            known[plan.id] = report
            known[part_key(plan.id)] = {"word": part["word"]}  # of an earlier value nothing is left
            return dict(report)

    def _part(self, plan: Plan, known: Reports, ticket: str | None) -> Report:
        """What this device keeps of its part in a panel, drawn and entered in the ledger on the first call."""
        self._within_limit(plan)
        words = _drawing_words(plan, ticket)
        key = part_key(plan.id)
        if key not in known:
            self._enter(plan, drawn_menu(plan, words[0]))
            known[key] = {"word": words[0]}
        part = _single(known, key)
        if plan.by_ticket and part["word"] != words[0]:
            raise InputError("ticket: got another one; accepted: the ticket that this device takes part with")
        return part

    def _within_limit(self, plan: Plan) -> None:
        if plan.levels.epsilon > self._max_epsilon:
            limit = f"at most {self._max_epsilon:g}, this device's limit; Device(.., max_epsilon=..) sets another"
            raise refuse("epsilon", plan.levels.epsilon, limit)

    def _enter(self, plan: Plan, menu: int) -> None:
        """Refuses by the plan's largest menu, whichever was drawn, and enters the drawn one: depends on menus alone."""
        if self._ledger is None:
            return
        with locked(self._ledger):
            spent = Ledger.load(self._ledger)
            if spent.holds(plan.id):
                raise InputError(
                    f"ledger: {self._ledger} holds plan {plan.id[:12]}.., but its answer is lost; "
                    "accepted: a plan not answered yet, because a second answer would tell more"
                )
            spent.add(release_of(plan)).drew(release_of(plan, menu)).save(self._ledger)


def _single(known: Reports, key: str) -> Report:
    kept = known[key]
    assert isinstance(kept, dict)
    return kept


def _calendar(plan: Plan) -> Calendar:
    if plan.panel is None:
        raise refuse("plan.panel", None, "a plan with waves; answer() gives the report of any other")
    return plan.panel


def _drawing_words(plan: Plan, ticket: str | None) -> list[int]:
    """Fresh words, the first of them that of the ticket if it assigns the menu."""
    words = random_words(plan)
    if plan.by_ticket:
        if ticket is None:
            raise refuse("ticket", ticket, "the ticket of an invitation, because the plan assigns menus by ticket")
        words[0] = menu_word(plan, ticket)
    return words


def release_of(plan: Plan, menu: int | None = None) -> Release:
    """What answering a plan costs: the largest over its menus, or that of the `menu` that was drawn."""
    sent = tuple(plan.open)
    if menu is not None:
        drawn = plan.levels_of(menu)
        return Release(plan.id[:12], drawn.epsilon, drawn.c, plan.id, delta=drawn.delta, open=sent)
    levels = [plan.levels_of(number) for number in range(1 if plan.several else len(plan.menus))]
    return Release(
        plan.id[:12],
        plan.levels.epsilon,
        plan.levels.c,
        plan.id,
        delta=plan.levels.delta,
        menus={name: largest_pairs((menu.c[name], menu.epsilon) for menu in levels) for name in plan.features},
        open=sent,
    )
