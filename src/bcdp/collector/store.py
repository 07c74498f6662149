"""Where reports are kept: each id once, with its menu and answer, in SQLite or PostgreSQL.

A store belongs to one plan. It is used by one thread at a time, connects when first used, and again after an error, so
that a database that was stopped or a disk that was full is used again when it can be.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from typing import Any, TypeVar

from bcdp.errors import InputError, refuse

T = TypeVar("T")


class StoreError(Exception):
    """The store cannot be used now; nothing of what was asked has been acknowledged."""


class Store(ABC):
    """Reports of one plan: `add` them, `count` them, stream them with `batches`."""

    failures: tuple[type[Exception], ...]  # what the database's library raises

    def __init__(self, plan_id: str) -> None:
        self._plan_id = plan_id
        self._connection: Any = None

    def add(self, answers: Mapping[str, int]) -> Set[str]:
        """The ids that were already there; the others are stored, durably and in one transaction.

        An answer is the menu times 2^32 plus the answer's number. The first answer of an id stays.
        """
        ordered = dict(sorted(answers.items()))  # by id: fewer pages, and two writers never wait for each other
        return answers.keys() - self._use(lambda connection: self._insert(connection, ordered))

    def counts(self) -> list[tuple[int, int, int]]:
        """Rows of menu, answer and how many reports gave it."""
        return self._use(self._group)

    def check(self) -> None:
        """Raises `StoreError` if the store cannot be read."""
        self._use(self._read_plan)

    @abstractmethod
    def batches(self, rows: int) -> Iterator[list[tuple[int, int]]]:
        """Every report's menu and answer, ordered by id, so that their order tells nothing of when they came."""

    def close(self) -> None:
        """Gives the connection back; what was not committed is undone."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*self.failures):
                connection.close()

    def _use(self, work: Callable[[Any], T]) -> T:
        try:
            if self._connection is None:
                self._connection = self._connect()
                self._check_plan(self._read_plan(self._connection))
            return work(self._connection)
        except self.failures as error:
            self.close()
            raise StoreError(self._reason(error)) from error
        except BaseException:
            self.close()
            raise

    def _check_plan(self, found: str) -> None:
        if found != self._plan_id:
            raise StoreError(f"the store holds reports of another plan ({found[:12]}..)")

    @abstractmethod
    def _connect(self) -> Any:
        """A connection to the database, in which the tables exist."""

    @abstractmethod
    def _read_plan(self, connection: Any) -> str: ...

    @abstractmethod
    def _insert(self, connection: Any, answers: Mapping[str, int]) -> Set[str]:
        """The ids that were inserted, because they were not there."""

    @abstractmethod
    def _group(self, connection: Any) -> list[tuple[int, int, int]]: ...

    @abstractmethod
    def _reason(self, error: Exception) -> str:
        """What to tell the outside about an error, without the database's name or address."""


def open_store(url: str, plan_id: str) -> Store:
    """The store at `postgresql://...` or in an SQLite file (`sqlite:///path` or a path), for one plan."""
    if url.startswith(("postgresql://", "postgres://")):
        if importlib.util.find_spec("psycopg") is None:
            raise InputError("--store: PostgreSQL needs the package psycopg; accepted: pip install 'bcdp[serve]'")
        from bcdp.collector.postgres import PostgresStore

        return PostgresStore(url, plan_id)
    path = url.removeprefix("sqlite:///")
    if not path or "://" in path:
        raise refuse("--store", url.split("@")[-1], "a file's path, sqlite:///path or postgresql://host/database")
    from bcdp.collector.sqlite import SqliteStore

    return SqliteStore(path, plan_id)
