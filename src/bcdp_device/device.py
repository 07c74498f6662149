"""One person's device: it verifies a plan, answers it once, and refuses what the person's ledger does not allow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bcdp_device.answering import Report, answers, drawn_menu, menu_word, random_words
from bcdp_device.errors import InputError, refuse
from bcdp_device.files import locked
from bcdp_device.ledger import Ledger, Release, largest_pairs
from bcdp_device.memory import Memory, Reports
from bcdp_device.plan import Plan

MAX_EPSILON = 4.0  # of a plan that a device answers if nobody set its limit: beyond, a guess at 50% could become 98.3%


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
        if plan.levels.epsilon > self._max_epsilon:
            limit = f"at most {self._max_epsilon:g}, this device's limit; Device(.., max_epsilon=..) sets another"
            raise refuse("epsilon", plan.levels.epsilon, limit)
        words = random_words(plan)
        if plan.by_ticket:
            if ticket is None:
                raise refuse("ticket", ticket, "the ticket of an invitation, because the plan assigns menus by ticket")
            words[0] = menu_word(plan, ticket)
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
