"""The store for many writers: PostgreSQL, one statement and one commit for each group of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from bcdp.collector.storage.postgres_database import PostgresDatabase
from bcdp.collector.storage.report_marks import MARK_BYTES
from bcdp.collector.storage.store import TABLES, Answers, Store

if TYPE_CHECKING:
    import psycopg

_NAME = "bcdp collector"
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


class PostgresStore(PostgresDatabase, Store):
    """A collection in a PostgreSQL database, committed on its disk before every acknowledgement."""

    name, state, given = _NAME, "collection", "%s"
    keys: ClassVar = {"answered": "mark", "counts": "menu, answer"}
    tables = TABLES

    def __init__(self, url: str, plan_id: str, read_only: bool = False) -> None:
        super().__init__(plan_id, read_only)
        self._url = url

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        with connection.transaction():
            connection.execute(_SCHEMA)
            empty = "SELECT %s::text, true WHERE NOT EXISTS (SELECT 1 FROM collection)"
            connection.execute(f"INSERT INTO collection {empty}", (self._plan_id,))
            self._number(connection)

    def _insert(self, connection: psycopg.Connection[Any], marks: list[bytes], answers: Answers) -> set[bytes]:
        menus, numbers = zip(*(answers[mark] for mark in marks), strict=True)
        given = (b"".join(marks), list(menus), list(numbers))
        row = connection.execute(_INSERT, given, binary=True).fetchone()
        new = row[0] or b"" if row else b""
        return {new[start : start + MARK_BYTES] for start in range(0, len(new), MARK_BYTES)}
