"""The embedded store: one file, in WAL mode, synchronised to the disk before every acknowledgement."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from bcdp.collector.marks import MARK_BYTES
from bcdp.collector.store import Answers, Store, StoreError, refuse_earlier
from bcdp.files import lock

_PATIENCE = 30.0  # seconds to wait for another writer
_creating = threading.Lock()
_SCHEMA = """
CREATE TABLE IF NOT EXISTS collection (plan TEXT NOT NULL, settled INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS answered (mark BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counts (
  menu INTEGER NOT NULL, answer INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (menu, answer)
) WITHOUT ROWID;
"""
_MARKS = f"""
INSERT INTO answered
WITH RECURSIVE place (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n + 1 < :marks)
SELECT substr(:together, n * {MARK_BYTES} + 1, {MARK_BYTES}) FROM place WHERE true
ON CONFLICT DO NOTHING RETURNING mark
"""
_COUNTS = "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count"


class SqliteStore(Store):
    """A collection in an SQLite file that only its owner may read."""

    failures = (sqlite3.Error, OSError)

    def __init__(self, path: str, plan_id: str) -> None:
        super().__init__(plan_id)
        self._path = path

    def _connect(self) -> sqlite3.Connection:
        with _creating:
            if not os.path.exists(self._path):  # never opened here again: closing it would undo SQLite's own locks
                os.close(_open_private(self._path, os.O_RDWR))
            return sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        connection.execute("BEGIN IMMEDIATE")
        refuse_earlier(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'reports'").fetchone())
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
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

    def _rewrite(self, connection: sqlite3.Connection) -> None:
        with self._turn():
            if not connection.execute("SELECT settled FROM collection").fetchone()[0]:
                connection.execute("VACUUM")  # copies every table in the order of its key
                connection.execute("UPDATE collection SET settled = 1")
            connection.execute("PRAGMA busy_timeout = 500")  # others wait meanwhile, and a backup may take long
            if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise StoreError("others are reading the store")
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One worker at a time, woken when it may write; SQLite alone would sleep and look again."""
        with open(f"{self._path}.lock", "ab", opener=_open_private) as file:
            lock(file)
            yield

    def _reason(self, error: Exception) -> str:
        full = getattr(error, "sqlite_errorname", "") == "SQLITE_FULL" or getattr(error, "errno", 0) == errno.ENOSPC
        return "the store is full" if full else "the store cannot be used now"


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT, 0o600)
