"""The store for many writers: PostgreSQL, one statement and one commit for each group of requests."""

from __future__ import annotations

import logging
from typing import Any

from bcdp.collector.storage.report_marks import MARK_BYTES
from bcdp.collector.storage.store import SCHEMA, TABLES, Answers, DamagedStoreError, Store, StoreError, check_tables
from bcdp.errors import InputError, install

try:
    import psycopg
except ImportError:
    raise InputError(f"--store: PostgreSQL needs the package psycopg; accepted: {install('serve')}") from None

log = logging.getLogger("bcdp.collector")

_NAME = "bcdp collector"
_SESSION = "SET synchronous_commit = on; SET statement_timeout = '60s'"
_SCHEMA = f"""
SELECT pg_advisory_xact_lock(hashtext('{_NAME}'));
CREATE TABLE IF NOT EXISTS collection (plan text NOT NULL, settled boolean NOT NULL);
CREATE TABLE IF NOT EXISTS answered (mark bytea PRIMARY KEY);
CREATE TABLE IF NOT EXISTS counts (
  menu integer NOT NULL, answer integer NOT NULL, count bigint NOT NULL, PRIMARY KEY (menu, answer)
);
CREATE TABLE IF NOT EXISTS shown (people bigint NOT NULL, counts bytea NOT NULL);
INSERT INTO shown SELECT 0, '' WHERE NOT EXISTS (SELECT 1 FROM shown);
"""
# All marks are inserted before the first count is changed, and both in order, so that no two writers block each other.
# The marks go and come back as one value: an array of them takes three times the processor time.
_INSERT = f"""
WITH given AS (
  SELECT substring(%s::bytea FROM {MARK_BYTES} * place::int - {MARK_BYTES - 1} FOR {MARK_BYTES}) AS mark, menu, answer
  FROM unnest(%s::int4[], %s::int4[]) WITH ORDINALITY AS report (menu, answer, place)
),
new AS (INSERT INTO answered SELECT mark FROM given ON CONFLICT DO NOTHING RETURNING mark),
counted AS (
  INSERT INTO counts SELECT menu, answer, count(*) FROM given JOIN new USING (mark) GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (menu, answer) DO UPDATE SET count = counts.count + excluded.count
),
unsettled AS (UPDATE collection SET settled = false WHERE settled)
SELECT string_agg(mark, '') FROM new
"""
_NUMBERED = "bcdp schema "
_STATED = "SELECT obj_description(to_regclass('collection'), 'pg_class')"
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
LOCK TABLE answered, counts, collection IN ACCESS EXCLUSIVE MODE
"""
_REFILL = """
CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM {table};
TRUNCATE {table};
INSERT INTO {table} SELECT * FROM kept ORDER BY {key};
DROP TABLE kept
"""


class PostgresStore(Store):
    """A collection in a PostgreSQL database, committed on its disk before every acknowledgement."""

    failures = (psycopg.Error, OSError)
    given = "%s"

    def __init__(self, url: str, plan_id: str, read_only: bool = False) -> None:
        super().__init__(plan_id, read_only)
        self._url = url
        self._told = False

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self._url, autocommit=True, connect_timeout=5, application_name=_NAME)

    def _check_tables(self, connection: psycopg.Connection[Any]) -> None:
        stated = (connection.execute(_STATED).fetchone() or (None,))[0]
        rows = connection.execute(_COLUMNS).fetchall()
        found = {table: {column for owner, column in rows if owner == table} for table, _ in rows}
        number = str(stated or "").removeprefix(_NUMBERED)
        check_tables(int(number) if number.isdecimal() else 0, found, TABLES)

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(_SESSION)
        with connection.transaction():
            connection.execute(_SCHEMA)
            empty = "SELECT %s::text, true WHERE NOT EXISTS (SELECT 1 FROM collection)"
            connection.execute(f"INSERT INTO collection {empty}", (self._plan_id,))
            if connection.execute(_STATED).fetchone() == (None,):
                connection.execute(f"COMMENT ON TABLE collection IS '{_NUMBERED}{SCHEMA}'")

    def _insert(self, connection: psycopg.Connection[Any], marks: list[bytes], answers: Answers) -> set[bytes]:
        menus, numbers = zip(*(answers[mark] for mark in marks), strict=True)
        given = (b"".join(marks), list(menus), list(numbers))
        row = connection.execute(_INSERT, given, binary=True).fetchone()
        new = row[0] or b"" if row else b""
        return {new[start : start + MARK_BYTES] for start in range(0, len(new), MARK_BYTES)}

    def _rewrite(self, connection: psycopg.Connection[Any]) -> None:
        """Fills the tables again: every row gets the same transaction's number, and its place by its content.

        A reader that began before would then see empty tables, so it waits for a dump that is running.
        """
        self._let_others_end(connection)
        with connection.transaction():
            connection.execute(_LOCK)
            if connection.execute("SELECT settled FROM collection").fetchone() == (True,):
                return
            self._let_others_end(connection)
            connection.execute(_REFILL.format(table="answered", key="mark"))
            connection.execute(_REFILL.format(table="counts", key="menu, answer"))
            connection.execute("TRUNCATE collection")
            connection.execute("INSERT INTO collection VALUES (%s, true)", (self._plan_id,))
        self._end_log(connection)

    def _let_others_end(self, connection: psycopg.Connection[Any]) -> None:
        if connection.execute(_OTHERS, (_NAME,)).fetchone() == (True,):
            raise StoreError("others are reading the store")

    def _end_log(self, connection: psycopg.Connection[Any]) -> None:
        """Lets the server drop the write-ahead log of what was rewritten, where the collector has that right."""
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
        if isinstance(error, (psycopg.errors.DataCorrupted, psycopg.errors.IndexCorrupted)):
            return DamagedStoreError("the store is damaged")
        full = isinstance(error, psycopg.errors.DiskFull)
        return StoreError("the store is full" if full else "the store cannot be used now")
