"""Sends reports of a plan, by the device's own code (`bcdp_device.sending`)."""

from __future__ import annotations

from collections.abc import Mapping

from bcdp.errors import expect
from bcdp.plan import A_PLAN, Plan
from bcdp_device.sending import NotTakenError, send_all, send_report

__all__ = ["NotTakenError", "send", "send_messages"]


def send(plan: Plan, report: Mapping[str, int], identity: str, collector: str | None = None) -> dict[str, int]:
    """Sends a report under an id, to be kept and used again for the same report; gives how many were new and known.

    A plan that names a relay is answered through it, whatever `collector` is; else `collector` is its address. A relay
    that mixes answers `{"kept": 1}`: it has the report and will deliver it in a batch. The report counts as sent.

    >>> from bcdp import Device, Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> report = Device("answers.json").answer(plan, {"smoker": 1})
    >>> send(plan, report, "a-random-id")
    Traceback (most recent call last):
    ...
    bcdp_device.errors.InputError: collector: got None; accepted: the collector's address, as the plan names no relay
    """
    expect("plan", plan, Plan, A_PLAN)
    return send_report(plan.id, plan.policy.relay, report, identity, collector)


def send_messages(plan: Plan, messages: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Sends the messages of one person, each under an id of its own, through the plan's relay, in an order by chance.

    Gives the sums of what `send` gives. If one of them fails, all may be sent again with the same ids. An id has to be
    random: whatever two messages share links them.

    >>> from secrets import token_hex
    >>> from bcdp import Device, Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> reports = Device("answers.json").messages(plan, {"smoker": 1})
    >>> send_messages(plan, {token_hex(16): report for report in reports})
    Traceback (most recent call last):
    ...
    bcdp_device.errors.InputError: collector: got None; accepted: the collector's address, as the plan names no relay
    """
    return send_all(messages, lambda report, identity: send(plan, report, identity))
