"""The embedded store: one file, in WAL mode, synchronised to the disk before every acknowledgement."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Set
from contextlib import closing, contextmanager

import msgspec

from bcdp.collector.store import Store
from bcdp.collector.upload import ANSWER_BITS

_PATIENCE = 30.0  # seconds to wait for another writer
_creating = threading.Lock()
_SCHEMA = """
CREATE TABLE IF NOT EXISTS collection (plan TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS reports (
  id TEXT PRIMARY KEY CHECK (length(id) <= 64), menu INTEGER NOT NULL, answer INTEGER NOT NULL
) WITHOUT ROWID;
"""
_INSERT = f"""
INSERT INTO reports SELECT key, value >> {ANSWER_BITS}, value & {2**ANSWER_BITS - 1} FROM json_each(?) WHERE true
ON CONFLICT DO NOTHING RETURNING id
"""


class SqliteStore(Store):
    """Reports in an SQLite file that only its owner may read."""

    failures = (sqlite3.Error, OSError)

    def __init__(self, path: str, plan_id: str) -> None:
        super().__init__(plan_id)
        self._path = path

    def _connect(self) -> sqlite3.Connection:
        with _creating:
            if not os.path.exists(self._path):  # never opened here again: closing it would undo SQLite's own locks
                os.close(_open_private(self._path, os.O_RDWR))
            connection = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        empty = "SELECT ? WHERE NOT EXISTS (SELECT 1 FROM collection)"
        connection.execute(f"INSERT INTO collection {empty}", (self._plan_id,))
        connection.execute("COMMIT")
        return connection

    def _read_plan(self, connection: sqlite3.Connection) -> str:
        return str(connection.execute("SELECT plan FROM collection").fetchone()[0])

    def _insert(self, connection: sqlite3.Connection, answers: Mapping[str, int]) -> Set[str]:
        text = msgspec.json.encode(answers).decode()
        with self._turn():
            connection.execute("BEGIN IMMEDIATE")
            # one statement for all rows: the interpreter's lock is free for other requests while it runs
            new = connection.execute(_INSERT, (text,)).fetchall()
            connection.execute("COMMIT")
        return {row[0] for row in new}

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One worker at a time, woken when it may write; SQLite alone would sleep and look again."""
        with open(f"{self._path}.lock", "ab", opener=_open_private) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _group(self, connection: sqlite3.Connection) -> list[tuple[int, int, int]]:
        return connection.execute("SELECT menu, answer, count(*) FROM reports GROUP BY menu, answer").fetchall()

    def batches(self, rows: int) -> Iterator[list[tuple[int, int]]]:
        self.check()
        with closing(self._connection.cursor()) as cursor:
            cursor.execute("SELECT menu, answer FROM reports ORDER BY id")
            while batch := cursor.fetchmany(rows):
                yield batch

    def _reason(self, error: Exception) -> str:
        full = getattr(error, "sqlite_errorname", "") == "SQLITE_FULL" or getattr(error, "errno", 0) == errno.ENOSPC
        return "the store is full" if full else "the store cannot be used now"


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT, 0o600)
