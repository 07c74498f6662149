"""Where a collection is kept: which ids have answered, and how often each answer was given, in SQLite or PostgreSQL.

The two are kept apart, and `settle` writes both again in the order of their contents, so that what a store holds tells
neither who gave which answer nor when. A store belongs to one plan. It is used by one thread at a time, connects when
first used, and again after an error, so that a database that was stopped or a disk that was full is used again when it
can be.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError, install, refuse

T = TypeVar("T")
Answers = Mapping[bytes, tuple[int, int]]  # of each mark, the menu and the answer


class StoreError(Exception):
    """The store cannot be used now; nothing of what was asked has been acknowledged."""


class Store(ABC):
    """What one plan's reports leave behind: `add` reports, read the `counts`, `settle` now and then."""

    failures: tuple[type[Exception], ...]  # what the database's library raises

    def __init__(self, plan_id: str) -> None:
        self._plan_id = plan_id
        self._connection: Any = None

    def add(self, answers: Answers) -> set[bytes]:
        """The marks that were not there yet; now they are, and their answers counted, in one transaction.

        The first answer under a mark is counted. Nobody can tell later whether another one differs from it.
        """
        marks = sorted(answers)  # fewer pages, and two writers never wait for each other
        return self._use(lambda connection: self._insert(connection, marks, answers))

    def counts(self) -> dict[str, npt.NDArray[np.int64]]:
        """How many reports gave each answer to each menu, as a tally takes it: columns menu, answer and count."""
        rows = np.array(self._use(self._read_counts), dtype=np.int64).reshape(-1, 3)
        return dict(zip(("menu", "answer", "count"), rows.T, strict=True))

    def settle(self) -> None:
        """Writes the store again, in the order of what it holds, unless nothing was added since that was last done.

        Until then its files still tell in which order reports came, and the answers of those that came alone.
        """
        self._use(self._rewrite)

    def check(self) -> None:
        """Raises `StoreError` if the store cannot be read."""
        self._use(self._read_plan)

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
                self._prepare(self._connection)
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
    def _connect(self) -> Any: ...

    @abstractmethod
    def _prepare(self, connection: Any) -> None:
        """Makes the tables where there are none."""

    def _read_plan(self, connection: Any) -> str:
        return str(connection.execute("SELECT plan FROM collection").fetchone()[0])

    @abstractmethod
    def _insert(self, connection: Any, marks: list[bytes], answers: Answers) -> set[bytes]:
        """Inserts marks in this order, and counts the answers of those that were not there, which it returns."""

    def _read_counts(self, connection: Any) -> list[tuple[int, int, int]]:
        rows: list[tuple[int, int, int]] = connection.execute("SELECT menu, answer, count FROM counts").fetchall()
        return rows

    @abstractmethod
    def _rewrite(self, connection: Any) -> None: ...

    @abstractmethod
    def _reason(self, error: Exception) -> str:
        """What to tell the outside about an error, without the database's name or address."""


def refuse_earlier(found: object) -> None:
    """Refuses a store in which a version before this one kept each report with its id."""
    if found:
        raise StoreError("the store was written by an earlier version of bcdp, which kept each report with its id")


def open_store(url: str, plan_id: str) -> Store:
    """The store at `postgresql://...` or in an SQLite file (`sqlite:///path` or a path), for one plan."""
    if url.startswith(("postgresql://", "postgres://")):
        if importlib.util.find_spec("psycopg") is None:
            raise InputError(f"--store: PostgreSQL needs the package psycopg; accepted: {install('serve')}")
        from bcdp.collector.postgres import PostgresStore

        return PostgresStore(url, plan_id)
    path = url.removeprefix("sqlite:///")
    if not path or "://" in path:
        raise refuse("--store", url.split("@")[-1], "a file's path, sqlite:///path or postgresql://host/database")
    from bcdp.collector.sqlite import SqliteStore

    return SqliteStore(path, plan_id)
