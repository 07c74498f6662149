"""Single-use invitations: a person with a ticket may send one report, and its id is the ticket.

A ticket is a random number and its code under the operator's key, bound to the plan. Nothing is stored when tickets are
made; a used one is recognised because the store keeps each id once.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

from bcdp.errors import refuse
from bcdp.randomness import check_random

_BYTES = 16


def make_tickets(key: bytes, plan_id: str, count: int) -> list[str]:
    """New tickets of 45 characters each, as many as asked, for one plan under the operator's key (32 bytes or more).

    >>> key = secrets.token_bytes(32)  # keep yours secret
    >>> ticket, = make_tickets(key, "a plan's id", 1)
    >>> is_ticket(key, "a plan's id", ticket), is_ticket(key, "another plan's id", ticket)
    (True, False)
    """
    check_random("key", key)
    if count < 1:
        raise refuse("count", count, "a whole number of at least 1")
    numbers = (_text(secrets.token_bytes(_BYTES)) for _ in range(count))
    return [f"{number}.{_code(key, plan_id, number)}" for number in numbers]


def is_ticket(key: bytes, plan_id: str, candidate: str) -> bool:
    """Whether the operator issued this ticket for this plan."""
    number, _, code = candidate.partition(".")
    return hmac.compare_digest(_code(key, plan_id, number).encode(), code.encode())


def _code(key: bytes, plan_id: str, number: str) -> str:
    return _text(hmac.digest(key, f"bcdp ticket\n{plan_id}\n{number}".encode(), hashlib.sha256)[:_BYTES])


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
