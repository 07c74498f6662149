"""Sends a report: to the collector, or sealed to the relay if the plan names one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from random import SystemRandom
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from bcdp.errors import expect, refuse
from bcdp.plan import A_PLAN, Plan

_SECONDS = 30.0
_MOST_BYTES = 2**20
_REPORTS = "/v1/reports"
_HOST = "collector.invalid"  # a sealed request has to name one, and the collector that opens it needs none


class NotTakenError(Exception):
    """A report that was not taken: the HTTP status, and why. The same may be sent again after 408, 429, 502 or 503."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"{status}: {why}")
        self.status = status


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
    bcdp.errors.InputError: collector: got None; accepted: the collector's address, as the plan names no relay
    """
    expect("plan", plan, Plan, A_PLAN)
    body = json.dumps({"plan": plan.id, "reports": [{"id": identity, **report}]}).encode()
    relay = plan.policy.relay
    if relay is not None:
        status, content = _through(relay.url, relay.key, body)
    elif collector is None:
        raise refuse("collector", collector, "the collector's address, as the plan names no relay")
    else:
        status, content = _post(collector.rstrip("/") + _REPORTS, body, "application/json")
    answer = _read(content)
    if status == 202 and relay is not None:
        return _kept(answer)
    if status != 200:
        raise NotTakenError(status, str(answer.get("detail", answer.get("title", "no reason was given"))))
    return _receipt(answer)


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
    bcdp.errors.InputError: collector: got None; accepted: the collector's address, as the plan names no relay
    """
    order = list(messages.items())
    SystemRandom().shuffle(order)
    totals: Counter[str] = Counter()
    for identity, report in order:
        totals.update(send(plan, report, identity))
    return dict(totals)


def _kept(answer: Mapping[str, Any]) -> dict[str, int]:
    """A mixing relay's word that it keeps the one message until it is delivered."""
    if answer.keys() == {"kept"} and type(answer["kept"]) is int and answer["kept"] == 1:
        return {"kept": 1}
    raise NotTakenError(502, "what answered is not the relay: perhaps the network asks to sign in first")


def _receipt(answer: Mapping[str, Any]) -> dict[str, int]:
    """How many reports, of one, were new and known: a network that asks people to sign in answers 200, too."""
    accepted, duplicate = answer.get("accepted"), answer.get("duplicate")
    if type(accepted) is int and type(duplicate) is int and {accepted, duplicate} == {0, 1}:
        return {"accepted": accepted, "duplicate": duplicate}
    raise NotTakenError(502, "what answered is not the collector: perhaps the network asks to sign in first")


@lru_cache(maxsize=64)
def _sealed(key: str, body: bytes) -> tuple[bytes, Callable[[bytes], bytes]]:
    """A report as a message, the same if it is sent again: a mixing relay knows a message by its bytes."""
    from bcdp import sealing

    fields = {"content-type": "application/json"}
    request = sealing.HttpRequest("POST", "https", _HOST, _REPORTS, fields, body)
    return sealing.seal(key, sealing.write_request(request))


def _through(url: str, key: str, body: bytes) -> tuple[int, bytes]:
    from bcdp import sealing

    sealed, open_answer = _sealed(key, body)
    status, content = _post(url, sealed, sealing.REQUEST_TYPE)
    if status != 200:
        return status, content  # of the relay, or of a collector that could not open it
    try:
        answer = sealing.read_response(open_answer(content))
    except (sealing.SealError, sealing.MalformedError) as error:
        raise NotTakenError(502, f"the relay's answer is not the collector's ({error})") from None
    return answer.status, answer.content


class _Stay(HTTPRedirectHandler):
    """Follows no redirection: what was addressed to one host goes to no other."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


def _post(url: str, body: bytes, kind: str) -> tuple[int, bytes]:
    if not url.startswith(("http://", "https://")):
        raise refuse("collector", url, "an address that begins with https:// or http://")
    request = Request(url, body, {"content-type": kind, "user-agent": "bcdp"})
    try:
        with build_opener(_Stay).open(request, timeout=_SECONDS) as answer:
            return answer.status, answer.read(_MOST_BYTES)
    except HTTPError as error:
        with error:
            return error.code, error.read(_MOST_BYTES)


def _read(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    return document if isinstance(document, dict) else {}
