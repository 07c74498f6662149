"""A database in an SQLite file: WAL mode, synchronised to the disk before every acknowledgement, and settled."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bcdp.collector.storage.store import Database, StoreError
from bcdp.files import lock

_PATIENCE = 30.0  # seconds to wait for another writer
_creating = threading.Lock()


class SqliteFile(Database):
    """A file that only its owner may read; the one row of the table `state` says whether it is settled."""

    failures = (sqlite3.Error, OSError)
    state: str
    _path: str

    def _connect(self) -> sqlite3.Connection:
        with _creating:
            if not os.path.exists(self._path):  # never opened here again: closing it would undo SQLite's own locks
                os.close(_open_private(self._path, os.O_RDWR))
            return sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)

    def _begin(self, connection: sqlite3.Connection, schema: str) -> None:
        """Begins a transaction in which the tables are there."""
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        connection.execute("BEGIN IMMEDIATE")
        for statement in schema.split(";"):
            connection.execute(statement)

    def _rewrite(self, connection: sqlite3.Connection) -> None:
        with self._turn():
            if not connection.execute(f"SELECT settled FROM {self.state}").fetchone()[0]:
                connection.execute("VACUUM")  # copies every table in the order of its key
                connection.execute(f"UPDATE {self.state} SET settled = 1")
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
