"""The embedded store of a collection: one SQLite file."""

from __future__ import annotations

import sqlite3
from collections import Counter

from bcdp.collector.storage.report_marks import MARK_BYTES
from bcdp.collector.storage.sqlite_database import SqliteDatabase
from bcdp.collector.storage.store import TABLES, Answers, Store

_SCHEMA = """
CREATE TABLE IF NOT EXISTS collection (plan TEXT NOT NULL, settled INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS answered (mark BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counts (
  menu INTEGER NOT NULL, answer INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (menu, answer)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shown (people INTEGER NOT NULL, counts BLOB NOT NULL);
INSERT INTO shown SELECT 0, x'' WHERE NOT EXISTS (SELECT 1 FROM shown)
"""
_MARKS = f"""
INSERT INTO answered
WITH RECURSIVE place (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n + 1 < :marks)
SELECT substr(:together, n * {MARK_BYTES} + 1, {MARK_BYTES}) FROM place WHERE true
ON CONFLICT DO NOTHING RETURNING mark
"""
_COUNTS = "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count"


class SqliteStore(SqliteDatabase, Store):
    """A collection in an SQLite file that only its owner may read."""

    state, tables = "collection", TABLES

    def __init__(self, path: str, plan_id: str, read_only: bool = False) -> None:
        Store.__init__(self, plan_id, read_only)
        self._path = path

    def _prepare(self, connection: sqlite3.Connection) -> None:
        self._begin(connection, _SCHEMA)
        empty = "SELECT ?, 1 WHERE NOT EXISTS (SELECT 1 FROM collection)"
        connection.execute(f"INSERT INTO collection {empty}", (self._plan_id,))
        connection.execute("COMMIT")

    def _insert(self, connection: sqlite3.Connection, marks: list[bytes], answers: Answers) -> set[bytes]:
        given = {"marks": len(marks), "together": b"".join(marks)}
        with self._turn():
            connection.execute("BEGIN IMMEDIATE")
            # one statement for all rows: the interpreter's lock is free for other requests while it runs
            new = {row[0] for row in connection.execute(_MARKS, given).fetchall()}
            counted = Counter(map(answers.__getitem__, new))
            connection.executemany(_COUNTS, [(*answer, count) for answer, count in counted.items()])
            connection.execute("UPDATE collection SET settled = 0 WHERE settled")
            connection.execute("COMMIT")
        return new
