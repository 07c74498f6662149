"""The store for many writers: PostgreSQL, one statement and one commit for each group of requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import psycopg

from bcdp.collector.store import Store
from bcdp.collector.upload import ANSWER_BITS

_SESSION = "SET synchronous_commit = on; SET statement_timeout = '60s'"
_SCHEMA = """
SELECT pg_advisory_xact_lock(hashtext('bcdp collector'));
CREATE TABLE IF NOT EXISTS collection (plan text NOT NULL);
CREATE TABLE IF NOT EXISTS reports (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) <= 64), menu integer NOT NULL, answer integer NOT NULL
);
"""
_INSERT = """
INSERT INTO reports SELECT * FROM unnest(%s::text[], %s::int4[], %s::int4[]) ON CONFLICT DO NOTHING RETURNING id
"""


class PostgresStore(Store):
    """Reports in a PostgreSQL database, committed on its disk before every acknowledgement."""

    failures = (psycopg.Error, OSError)

    def __init__(self, url: str, plan_id: str) -> None:
        super().__init__(plan_id)
        self._url = url

    def _connect(self) -> psycopg.Connection[Any]:
        connection = psycopg.connect(self._url, autocommit=True, connect_timeout=5)
        connection.execute(_SESSION)
        with connection.transaction():
            connection.execute(_SCHEMA)
            empty = "SELECT %s::text WHERE NOT EXISTS (SELECT 1 FROM collection)"
            connection.execute(f"INSERT INTO collection {empty}", (self._plan_id,))
        return connection

    def _read_plan(self, connection: psycopg.Connection[Any]) -> str:
        row = connection.execute("SELECT plan FROM collection").fetchone()
        assert row is not None
        return str(row[0])

    def _insert(self, connection: psycopg.Connection[Any], answers: Mapping[str, int]) -> Set[str]:
        menus = [packed >> ANSWER_BITS for packed in answers.values()]
        numbers = [packed & (2**ANSWER_BITS - 1) for packed in answers.values()]
        new = connection.execute(_INSERT, (list(answers), menus, numbers)).fetchall()
        return {row[0] for row in new}

    def _group(self, connection: psycopg.Connection[Any]) -> list[tuple[int, int, int]]:
        return connection.execute("SELECT menu, answer, count(*) FROM reports GROUP BY menu, answer").fetchall()

    def batches(self, rows: int) -> Iterator[list[tuple[int, int]]]:
        self.check()
        with self._connection.transaction(), self._connection.cursor("export") as cursor:
            self._connection.execute("SET LOCAL statement_timeout = 0")
            cursor.execute("SELECT menu, answer FROM reports ORDER BY id")
            while batch := cursor.fetchmany(rows):
                yield batch

    def _reason(self, error: Exception) -> str:
        full = isinstance(error, psycopg.errors.DiskFull)
        return "the store is full" if full else "the store cannot be used now"
