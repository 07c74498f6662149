"""What a mixing relay keeps: sealed messages that wait, batches drawn from them, and marks of what was drawn.

A message's mark is a hash of its bytes, so that one sent again is kept once. The place of a message in the file is its
mark's or, in a batch, the one that chance gave it: once the store is settled, nothing in it depends on who sent a
message, when, or after whom.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from bcdp.collector.storage.report_marks import MARK_BYTES
from bcdp.collector.storage.sqlite_file import SqliteFile
from bcdp.collector.storage.store import StoreError, Tables

_SCHEMA = """
CREATE TABLE IF NOT EXISTS mixing (
  gateway TEXT NOT NULL, least INTEGER NOT NULL, due INTEGER NOT NULL, settled INTEGER NOT NULL,
  accepted INTEGER NOT NULL, duplicate INTEGER NOT NULL, refused INTEGER NOT NULL, deleted INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS waiting (mark BLOB PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batch (
  part INTEGER NOT NULL, place INTEGER NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (part, place)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS forwarded (mark BLOB PRIMARY KEY) WITHOUT ROWID
"""
_ADD = """
INSERT INTO waiting SELECT :mark, :sealed WHERE NOT EXISTS (SELECT 1 FROM forwarded WHERE mark = :mark)
ON CONFLICT DO NOTHING
"""
_DELIVERED = """
UPDATE mixing SET settled = 0, accepted = accepted + :accepted, duplicate = duplicate + :duplicate,
  refused = refused + :refused
"""
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


class MessageStore(SqliteFile):
    """An SQLite file for one gateway and one smallest batch; `due` is the last due time before it is first used."""

    state = "mixing"
    tables: ClassVar[Tables] = {
        "mixing": {"gateway", "least", "due", "settled", "accepted", "duplicate", "refused", "deleted"},
        "waiting": {"mark", "sealed"},
        "batch": {"part", "place", "sealed"},
        "forwarded": {"mark"},
    }

    def __init__(self, path: str, gateway: str, least: int, due: int) -> None:
        super().__init__()
        self._path, self._gateway, self._least, self._due = path, gateway, least, due

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
        return self._use(lambda connection: [row[0] for row in connection.execute("SELECT mark FROM waiting")])

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

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA secure_delete = ON")
        self._begin(connection, _SCHEMA)
        first = "SELECT ?, ?, ?, 1, 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM mixing)"
        connection.execute(f"INSERT INTO mixing {first}", (self._gateway, self._least, self._due))
        connection.execute("COMMIT")

    def _verify(self, connection: sqlite3.Connection) -> None:
        gateway, least = connection.execute("SELECT gateway, least FROM mixing").fetchone()
        if gateway != self._gateway:
            raise StoreError("the store holds messages for another collector")
        if least > self._least:
            raise StoreError(f"the store holds messages that were taken for batches of at least {least}")

    def _insert(self, connection: sqlite3.Connection, values: Mapping[bytes, bytes]) -> set[bytes]:
        with self._turn():
            connection.execute("BEGIN IMMEDIATE")
            rows = ({"mark": mark, "sealed": values[mark]} for mark in sorted(values))
            new = {row["mark"] for row in rows if connection.execute(_ADD, row).rowcount}
            connection.execute("UPDATE mixing SET settled = 0 WHERE settled")
            connection.execute("COMMIT")
        return new

    def _draw(self, connection: sqlite3.Connection, due: int, parts: Sequence[Sequence[bytes]]) -> None:
        with self._turn():
            connection.execute("BEGIN IMMEDIATE")
            for number, marks in enumerate(parts):
                rows = [(number, place, mark) for place, mark in enumerate(marks)]
                connection.executemany("INSERT INTO batch SELECT ?, ?, sealed FROM waiting WHERE mark = ?", rows)
                keys = [(mark,) for mark in sorted(marks)]
                connection.executemany("INSERT INTO forwarded VALUES (?)", keys)
                connection.executemany("DELETE FROM waiting WHERE mark = ?", keys)
            connection.execute("UPDATE mixing SET due = ?, settled = settled AND ?", (due, not parts))
            connection.execute("COMMIT")

    def _read_batch(self, connection: sqlite3.Connection) -> tuple[int, bytes] | None:
        (part,) = connection.execute("SELECT min(part) FROM batch").fetchone()
        if part is None:
            return None
        rows = connection.execute("SELECT sealed FROM batch WHERE part = ? ORDER BY place", (part,))
        return part, b"".join(row[0] for row in rows)

    def _forget(self, connection: sqlite3.Connection, part: int, receipt: Receipt) -> None:
        with self._turn():
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("DELETE FROM batch WHERE part = ?", (part,)).rowcount:
                connection.execute(_DELIVERED, msgspec.structs.asdict(receipt))
            connection.execute("COMMIT")

    def _delete(self, connection: sqlite3.Connection, marks: Sequence[bytes]) -> None:
        with self._turn():
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("DELETE FROM waiting WHERE mark = ?", [(mark,) for mark in marks])
            connection.execute("UPDATE mixing SET settled = 0, deleted = deleted + ?", (len(marks),))
            connection.execute("COMMIT")
