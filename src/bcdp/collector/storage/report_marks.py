"""What is kept of a report's id: a mark, by which the id is known again if it is sent again.

A mark is a keyed hash. It hides what an id may say (the time, in many kinds of ids), and its order says nothing of the
ids' order. The key is derived from the plan's id and, where people are invited, from the key of their tickets: without
that key nobody can tell which tickets a store has seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

V = TypeVar("V")
MARK_BYTES = 16  # two of 10^9 ids have the same mark with a probability below 10^-20


@dataclass(frozen=True)
class Marked(Generic[V]):
    """What goes on from a request to the store: values, each under a mark."""

    marks: Sequence[bytes]
    values: Sequence[V]

    def __len__(self) -> int:
        return len(self.marks)


class Marker:
    """Makes the marks of one collection.

    >>> mark = Marker("a plan's id", None)
    >>> len(mark("a report's id")), mark("a report's id") == mark("another id")
    (16, False)
    """

    def __init__(self, plan_id: str, tickets_key: bytes | None) -> None:
        secret = b"bcdp mark\n" + plan_id.encode() + b"\n" + (tickets_key or b"")
        self._key = hashlib.blake2b(secret, digest_size=32).digest()

    def __call__(self, identity: str) -> bytes:
        """The mark of an id."""
        return hashlib.blake2b(self._key + identity.encode(), digest_size=MARK_BYTES).digest()
