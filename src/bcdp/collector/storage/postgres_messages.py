"""The messages of a mixing relay in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from bcdp.collector.storage.messages import MessageStore, Receipt
from bcdp.collector.storage.postgres_database import PostgresDatabase

if TYPE_CHECKING:
    import psycopg

_NAME = "bcdp relay"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS mixing (
  gateway text NOT NULL, least integer NOT NULL, due bigint NOT NULL, settled boolean NOT NULL,
  accepted bigint NOT NULL, duplicate bigint NOT NULL, refused bigint NOT NULL, deleted bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS waiting (mark bytea PRIMARY KEY, sealed bytea NOT NULL);
CREATE TABLE IF NOT EXISTS batch (
  part integer NOT NULL, place integer NOT NULL, sealed bytea NOT NULL, PRIMARY KEY (part, place)
);
CREATE TABLE IF NOT EXISTS forwarded (mark bytea PRIMARY KEY);
"""
_TURN = f"SELECT pg_advisory_xact_lock(hashtext('{_NAME}'))"
_ADD = """
WITH given AS (SELECT * FROM unnest(%s::bytea[], %s::bytea[]) AS message (mark, sealed)),
unsettled AS (UPDATE mixing SET settled = false WHERE settled)
INSERT INTO waiting SELECT mark, sealed FROM given WHERE NOT EXISTS (SELECT FROM forwarded f WHERE f.mark = given.mark)
ON CONFLICT DO NOTHING RETURNING mark
"""
_MOVE = """
INSERT INTO batch SELECT %s, place - 1, sealed
FROM unnest(%s::bytea[]) WITH ORDINALITY AS drawn (mark, place) JOIN waiting USING (mark)
"""
_DELIVERED = """
UPDATE mixing SET settled = false, accepted = accepted + %(accepted)s, duplicate = duplicate + %(duplicate)s,
  refused = refused + %(refused)s
"""


class PostgresMessages(PostgresDatabase, MessageStore):
    """Messages in a database of their own, on its disk before every acknowledgement."""

    name = _NAME
    keys: ClassVar = {"waiting": "mark", "batch": "part, place", "forwarded": "mark"}

    def __init__(self, url: str, gateway: str, least: int, due: int) -> None:
        super().__init__(url, gateway, least, due)
        self._url = url

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        with self._turn(connection):
            connection.execute(_SCHEMA)
            first = "SELECT %s, %s, %s, true, 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM mixing)"
            connection.execute(f"INSERT INTO mixing {first}", (self._gateway, self._least, self._due))
            self._number(connection)

    def _insert(self, connection: psycopg.Connection[Any], values: Mapping[bytes, bytes]) -> set[bytes]:
        marks = sorted(values)
        with self._turn(connection):
            return {row[0] for row in connection.execute(_ADD, (marks, [values[mark] for mark in marks]))}

    def _draw(self, connection: psycopg.Connection[Any], due: int, parts: Sequence[Sequence[bytes]]) -> None:
        with self._turn(connection):
            for number, marks in enumerate(parts):
                connection.execute(_MOVE, (number, list(marks)))
                connection.execute("INSERT INTO forwarded SELECT unnest(%s::bytea[])", (sorted(marks),))
                connection.execute("DELETE FROM waiting WHERE mark = ANY(%s)", (sorted(marks),))
            connection.execute("UPDATE mixing SET due = %s, settled = settled AND %s", (due, not parts))

    def _forget(self, connection: psycopg.Connection[Any], part: int, receipt: Receipt) -> None:
        with self._turn(connection):
            if connection.execute("DELETE FROM batch WHERE part = %s", (part,)).rowcount:
                connection.execute(_DELIVERED, msgspec.structs.asdict(receipt))

    def _delete(self, connection: psycopg.Connection[Any], marks: Sequence[bytes]) -> None:
        with self._turn(connection):
            connection.execute("DELETE FROM waiting WHERE mark = ANY(%s)", (list(marks),))
            connection.execute("UPDATE mixing SET settled = false, deleted = deleted + %s", (len(marks),))

    @contextmanager
    def _turn(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """A transaction that runs while no other does: a message sent again while it is drawn is kept once."""
        with connection.transaction():
            connection.execute(_TURN)
            yield
