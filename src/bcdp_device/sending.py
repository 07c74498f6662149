"""Sends a report: to the collector, or sealed to the relay if the plan names one."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from random import SystemRandom
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from bcdp_device.errors import refuse
from bcdp_device.plan import Plan

_SECONDS = 30.0
_MOST_BYTES = 2**20
_REPORTS = "/v1/reports"
_HOST = "collector.invalid"  # a sealed request has to name one, and the collector that opens it needs none
_LATER = (408, 429, 502, 503)  # with these the same report may be sent again
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 300.0  # seconds


class NotTakenError(Exception):
    """A report that was not taken: the HTTP status, and why. The same may be sent again after 408, 429, 502 or 503."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"{status}: {why}")
        self.status = status


class RelayAddress(Protocol):
    """Where sealed reports go, and the collector's public key."""

    @property
    def url(self) -> str: ...

    @property
    def key(self) -> str: ...


def send_report(
    plan_id: str, relay: RelayAddress | None, report: Mapping[str, int], identity: str, collector: str | None = None
) -> dict[str, int]:
    """Sends a report under an id, to be kept and used again for the same report; gives how many were new and known.

    A plan that names a relay is answered through it, whatever `collector` is; else `collector` is its address. A relay
    that mixes answers `{"kept": 1}`: it has the report and will deliver it in a batch. The report counts as sent.
    """
    body = json.dumps({"plan": plan_id, "reports": [{"id": identity, **report}]}).encode()
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


def send_all(
    messages: Mapping[str, Mapping[str, int]],
    send_one: Callable[[Mapping[str, int], str], Mapping[str, int]],
    attempts: int = 1,
    wait: Callable[[float], object] = time.sleep,
) -> dict[str, int]:
    """Sends messages, each under its own id, in an order by chance, and adds up what was answered.

    What fails for a reason that may pass is tried again, with pauses that double and vary by chance. Whatever two
    messages of one person share links them, so that an id has to be random.
    """
    order = list(messages.items())
    chance = SystemRandom()
    chance.shuffle(order)
    totals: Counter[str] = Counter()
    for identity, report in order:
        for attempt in range(1, attempts + 1):
            try:
                totals.update(send_one(report, identity))
                break
            except (NotTakenError, URLError, TimeoutError, ConnectionError) as error:
                passing = not isinstance(error, NotTakenError) or error.status in _LATER
                if attempt == attempts or not passing:
                    raise
                wait(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 1)) * chance.uniform(0.5, 1.5))
    return dict(totals)


def send(
    plan: Plan, messages: Mapping[str, Mapping[str, int]], collector: str | None = None, attempts: int = 5
) -> dict[str, int]:
    """Sends the reports of one person, each under a random id that is kept and used again for the same report.

    Through the relay if the plan names one, else to `collector`. What fails for a reason that may pass is tried again.
    Gives how many were new and known, or that a mixing relay keeps them.
    """
    return send_all(
        messages,
        lambda report, identity: send_report(plan.id, plan.relay, report, identity, collector),
        attempts,
    )


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
    from bcdp_device import sealing

    fields = {"content-type": "application/json"}
    request = sealing.HttpRequest("POST", "https", _HOST, _REPORTS, fields, body)
    return sealing.seal(key, sealing.write_request(request))


def _through(url: str, key: str, body: bytes) -> tuple[int, bytes]:
    from bcdp_device import sealing

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
