"""The messages of a mixing relay in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import msgspec

from bcdp.collector.storage.messages import MessageStore, Receipt
from bcdp.collector.storage.sqlite_database import SqliteDatabase

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


class SqliteMessages(SqliteDatabase, MessageStore):
    """A file of messages on a local disk."""

    def __init__(self, path: str, gateway: str, least: int, due: int) -> None:
        super().__init__(path, gateway, least, due)
        self._path = path

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA secure_delete = ON")
        self._begin(connection, _SCHEMA)
        first = "SELECT ?, ?, ?, 1, 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM mixing)"
        connection.execute(f"INSERT INTO mixing {first}", (self._gateway, self._least, self._due))
        connection.execute("COMMIT")

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
