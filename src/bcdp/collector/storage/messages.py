"""What a mixing relay keeps: sealed messages that wait, batches drawn from them, and marks of what was drawn.

A message's mark is a hash of its bytes, so that one sent again is kept once. The place of a message in the store is its
mark's or, in a batch, the one that chance gave it: once the store is settled, nothing in it depends on who sent a
message, when, or after whom.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import msgspec

from bcdp.collector.storage.report_marks import MARK_BYTES
from bcdp.collector.storage.store import Database, StoreError, Tables, location_of

MESSAGE_STORES = {  # by the scheme of its URL
    "sqlite": "bcdp.collector.storage.sqlite_messages.SqliteMessages",
    "postgresql": "bcdp.collector.storage.postgres_messages.PostgresMessages",
    "postgres": "bcdp.collector.storage.postgres_messages.PostgresMessages",
}
_TOTALS = """
SELECT (SELECT count(*) FROM waiting), (SELECT count(*) FROM batch), accepted, duplicate, refused, deleted FROM mixing
"""


def mark_of(sealed: bytes) -> bytes:
    """The mark of a sealed message."""
    return hashlib.blake2b(sealed, digest_size=MARK_BYTES).digest()


class Receipt(msgspec.Struct, frozen=True):
    """What the collector did with the messages of a batch."""

    accepted: int
    duplicate: int
    refused: int


@dataclass(frozen=True)
class Totals:
    """Where every message is that was ever acknowledged: kept, delivered with this result, or deleted at the end."""

    waiting: int
    drawn: int
    accepted: int
    duplicate: int
    refused: int
    deleted: int


class MessageStore(Database):
    """Messages for one gateway and one smallest batch; `due` is the last due time before it is first used."""

    state = "mixing"
    tables: ClassVar[Tables] = {
        "mixing": {"gateway", "least", "due", "settled", "accepted", "duplicate", "refused", "deleted"},
        "waiting": {"mark", "sealed"},
        "batch": {"part", "place", "sealed"},
        "forwarded": {"mark"},
    }

    def __init__(self, location: str, gateway: str, least: int, due: int) -> None:
        super().__init__()
        self._location, self._gateway, self._least, self._due = location, gateway, least, due

    def add(self, values: Mapping[bytes, bytes]) -> set[bytes]:
        """The marks of messages that are new; now they wait. One that waits or was drawn before is not kept again."""
        return self._use(lambda connection: self._insert(connection, values))

    def due(self) -> int:
        """The last due time at which the waiting messages were counted."""
        return int(self._use(lambda connection: connection.execute("SELECT due FROM mixing").fetchone())[0])

    def draw(self, due: int, parts: Sequence[Sequence[bytes]]) -> None:
        """Moves messages, by their marks, from those that wait to batches, in this order; notes the due time."""
        self._use(lambda connection: self._draw(connection, due, parts))

    def waiting(self) -> list[bytes]:
        """The marks of the messages that wait, in their own order."""
        statement = "SELECT mark FROM waiting ORDER BY mark"
        return self._use(lambda connection: [row[0] for row in connection.execute(statement)])

    def batch(self) -> tuple[int, bytes] | None:
        """The next batch's number and its messages, one after the other; None if there is none to deliver."""
        return self._use(self._read_batch)

    def delivered(self, part: int, receipt: Receipt) -> None:
        """Forgets a batch that the collector has, and adds its receipt to the totals."""
        self._use(lambda connection: self._forget(connection, part, receipt))

    def delete_waiting(self, marks: Sequence[bytes]) -> None:
        """Deletes messages that can no longer be part of a batch, and adds their number to the totals."""
        self._use(lambda connection: self._delete(connection, marks))

    def totals(self) -> Totals:
        """Where all acknowledged messages are."""
        return Totals(*self._use(lambda connection: connection.execute(_TOTALS).fetchone()))

    def _verify(self, connection: Any) -> None:
        gateway, least = connection.execute("SELECT gateway, least FROM mixing").fetchone()
        if gateway != self._gateway:
            raise StoreError("the store holds messages for another collector")
        if least > self._least:
            raise StoreError(f"the store holds messages that were taken for batches of at least {least}")

    def _read_batch(self, connection: Any) -> tuple[int, bytes] | None:
        (part,) = connection.execute("SELECT min(part) FROM batch").fetchone()
        if part is None:
            return None
        rows = connection.execute(f"SELECT sealed FROM batch WHERE part = {int(part)} ORDER BY place")
        return part, b"".join(row[0] for row in rows)

    @abstractmethod
    def _insert(self, connection: Any, values: Mapping[bytes, bytes]) -> set[bytes]: ...

    @abstractmethod
    def _draw(self, connection: Any, due: int, parts: Sequence[Sequence[bytes]]) -> None: ...

    @abstractmethod
    def _forget(self, connection: Any, part: int, receipt: Receipt) -> None: ...

    @abstractmethod
    def _delete(self, connection: Any, marks: Sequence[bytes]) -> None: ...


def open_messages(url: str, gateway: str, least: int, due: int) -> MessageStore:
    """The messages at `postgresql://...` or in an SQLite file (`sqlite:///path` or a path)."""
    scheme, location = location_of(url)
    module, _, name = MESSAGE_STORES[scheme].rpartition(".")
    store: Callable[[str, str, int, int], MessageStore] = getattr(import_module(module), name)
    return store(location, gateway, least, due)
