"""A database in PostgreSQL: on its disk before every acknowledgement, and settled by filling its tables again."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from bcdp.collector.storage.store import SCHEMA, DamagedStoreError, Database, StoreError, Tables, check_tables
from bcdp.errors import InputError, install

try:
    import psycopg
except ImportError:
    raise InputError(f"--store: PostgreSQL needs the package psycopg; accepted: {install('serve')}") from None

log = logging.getLogger("bcdp.collector")

_NUMBERED = "bcdp schema "  # what the comment on the table `state` begins with; then the number
_SESSION = "SET synchronous_commit = on; SET statement_timeout = '60s'"
_STATED = "SELECT obj_description(to_regclass('{state}'), 'pg_class')"
_COLUMNS = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
_OTHERS = """
SELECT EXISTS (
  SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'virtualxid' AND datname = current_database() AND application_name <> %s
)
"""
# In a writer's own order, and with less patience than PostgreSQL has with transactions that block each other.
_LOCK = """
SET LOCAL statement_timeout = 0;
SET LOCAL lock_timeout = '500ms';
LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE
"""
_REFILL = """
CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM {table};
TRUNCATE {table};
INSERT INTO {table} SELECT * FROM kept ORDER BY {key};
DROP TABLE kept
"""


class PostgresDatabase(Database):
    """A database whose table `state` has one row, with `settled`; `keys` are its other tables, each with its order."""

    failures = (psycopg.Error, OSError)
    name: str  # by which its own connections are known
    state: str
    keys: ClassVar[dict[str, str]]
    tables: ClassVar[Tables]
    _url: str
    _told = False

    def _connect(self) -> psycopg.Connection[Any]:
        connection = psycopg.connect(self._url, autocommit=True, connect_timeout=5, application_name=self.name)
        connection.execute(_SESSION)
        return connection

    def _check_tables(self, connection: psycopg.Connection[Any]) -> None:
        stated = (connection.execute(_STATED.format(state=self.state)).fetchone() or (None,))[0]
        rows = connection.execute(_COLUMNS).fetchall()
        columns = {table: {column for owner, column in rows if owner == table} for table, _ in rows}
        number = str(stated or "").removeprefix(_NUMBERED)
        check_tables(int(number) if number.isdecimal() else 0, columns, self.tables)

    def _number(self, connection: psycopg.Connection[Any]) -> None:
        """States the schema's number, once."""
        if connection.execute(_STATED.format(state=self.state)).fetchone() == (None,):
            connection.execute(f"COMMENT ON TABLE {self.state} IS '{_NUMBERED}{SCHEMA}'")

    def _rewrite(self, connection: psycopg.Connection[Any]) -> None:
        """Fills the tables again: every row gets the same transaction's number, and its place by its content.

        A reader that began before would then see empty tables, so it waits for a dump that is running.
        """
        self._let_others_end(connection)
        with connection.transaction():
            connection.execute(_LOCK.format(tables=", ".join([*self.keys, self.state])))
            if connection.execute(f"SELECT settled FROM {self.state}").fetchone() == (True,):
                return
            self._let_others_end(connection)
            connection.execute(f"UPDATE {self.state} SET settled = true")
            for table, key in (self.keys | {self.state: "settled"}).items():
                connection.execute(_REFILL.format(table=table, key=key))
        self._end_log(connection)

    def _let_others_end(self, connection: psycopg.Connection[Any]) -> None:
        if connection.execute(_OTHERS, (self.name,)).fetchone() == (True,):
            raise StoreError("others are reading the store")

    def _end_log(self, connection: psycopg.Connection[Any]) -> None:
        """Lets the server drop the write-ahead log of what was rewritten, where the owner has that right."""
        try:
            connection.execute("SELECT pg_switch_wal()")
            connection.execute("CHECKPOINT")
        except psycopg.errors.InsufficientPrivilege:
            if not self._told:
                log.warning("the database's write-ahead log still tells the order of reports; see docs/guide/deploy.md")
            self._told = True

    def _write_nothing(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute("SELECT pg_current_xact_id()")  # takes a number, so that the commit is written

    def _refusal(self, error: Exception) -> StoreError:
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.IndexCorrupted):
            return DamagedStoreError("the store is damaged")
        full = isinstance(error, psycopg.errors.DiskFull)
        return StoreError("the store is full" if full else "the store cannot be used now")
