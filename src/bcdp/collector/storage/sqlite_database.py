"""A database in an SQLite file: WAL mode, synchronised to the disk before every acknowledgement, and settled.

Whatever SQLite writes is in the folder of the store: nothing goes to the system's temporary folder, which may be on
another disk, too small, or not there at all.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import ClassVar
from urllib.parse import quote

from bcdp.collector.storage.store import SCHEMA, DamagedStoreError, Database, StoreError, Tables, check_tables
from bcdp.files import lock

_PATIENCE = 30.0  # seconds to wait for another writer
_ROOM = 2**24  # bytes, as long as the write-ahead log becomes before it is emptied
_COLUMNS = "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"
_creating = threading.Lock()


class SqliteDatabase(Database):
    """A file that only its owner may read; the one row of the table `state` says whether it is settled."""

    failures = (sqlite3.Error, OSError)
    state: str
    tables: ClassVar[Tables]
    _path: str

    def _connect(self) -> sqlite3.Connection:
        with _creating:
            if self._read_only:
                return self._connect_to_read()
            if not os.path.exists(self._path):  # never opened here again: closing it would undo SQLite's own locks
                os.close(_open_private(self._path, os.O_RDWR))
            return sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)

    def _connect_to_read(self) -> sqlite3.Connection:
        """A connection to what is there: for its log SQLite needs a folder to write to, or the log's index."""
        path, options = os.path.abspath(self._path), "mode=rw"  # which, unlike `ro`, leaves no files behind
        if not os.access(path, os.W_OK) or not os.access(os.path.dirname(path), os.W_OK):
            log = os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0
            if log and not os.path.exists(f"{path}-shm"):
                raise StoreError("the snapshot has a write-ahead log; copy its files to a folder that can be written")
            options = "mode=ro" if log else "mode=ro&immutable=1"
        return sqlite3.connect(f"file:{quote(path)}?{options}", uri=True, timeout=_PATIENCE, isolation_level=None)

    def _check_tables(self, connection: sqlite3.Connection) -> None:
        (stated,) = connection.execute("PRAGMA user_version").fetchone()
        rows = connection.execute(_COLUMNS).fetchall()
        present = {table: {column for owner, column in rows if owner == table} for table, _ in rows}
        check_tables(stated, present, self.tables)

    def _begin(self, connection: sqlite3.Connection, schema: str) -> None:
        """Begins a transaction in which the tables are there."""
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        self._empty_log(connection)
        connection.execute("BEGIN IMMEDIATE")
        for statement in schema.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _rewrite(self, connection: sqlite3.Connection) -> None:
        with self._turn():
            if not connection.execute(f"SELECT settled FROM {self.state}").fetchone()[0]:
                self._replace(connection)
                connection.execute(f"UPDATE {self.state} SET settled = 1")
            connection.execute("PRAGMA busy_timeout = 500")  # others wait meanwhile, and a backup may take long
            if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise StoreError("others are reading the store")
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")

    def _replace(self, connection: sqlite3.Connection) -> None:
        """Replaces the content, in one transaction, by a copy in which every table has the order of its key.

        `VACUUM` alone would do the same through a file in the system's temporary folder.
        """
        path = f"{self._path}.settling"
        with suppress(FileNotFoundError):
            os.unlink(path)  # of a process that was killed
        os.close(_open_private(path, os.O_RDWR))
        try:
            connection.execute("VACUUM INTO ?", (path,))
            with closing(sqlite3.connect(path)) as copy:
                copy.backup(connection, progress=_give_up_after(time.monotonic() + _PATIENCE), sleep=0.05)
        finally:
            os.unlink(path)

    def _empty_log(self, connection: sqlite3.Connection) -> None:
        """Empties the write-ahead log if nobody reads it: after a full disk, what room there is may be needed for that.

        A commit would take the room instead, and the next one find the disk full again.
        """
        connection.execute("PRAGMA busy_timeout = 0")
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One worker at a time, woken when it may write; SQLite alone would sleep and look again."""
        with open(f"{self._path}.lock", "ab", opener=_open_private) as file:
            lock(file)
            yield

    def _write_nothing(self, connection: sqlite3.Connection) -> None:
        if shutil.disk_usage(os.path.dirname(os.path.abspath(self._path))).free < _ROOM:  # one row fits into any gap
            raise StoreError("the store is full")
        with self._turn():
            connection.execute(f"UPDATE {self.state} SET settled = settled")

    def _refusal(self, error: Exception) -> StoreError:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return DamagedStoreError("the store is damaged")
        full = name == "SQLITE_FULL" or getattr(error, "errno", 0) == errno.ENOSPC
        return StoreError("the store is full" if full else "the store cannot be used now")


def _give_up_after(end: float) -> Callable[[int, int, int], None]:
    """For a copy that would else wait for another program's transaction as long as that lasts."""

    def progress(status: int, remaining: int, total: int) -> None:
        if status != sqlite3.SQLITE_DONE and time.monotonic() > end:
            raise StoreError("others are writing to the store")

    return progress


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT, 0o600)
