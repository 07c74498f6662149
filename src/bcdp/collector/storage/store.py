"""Where a collection is kept: which ids have answered, and how often each answer was given, in SQLite or PostgreSQL.

The two are kept apart, and `settle` writes both again in the order of their contents, so that what a store holds
reveals neither who gave which answer nor when. A store belongs to one plan. It is used by one thread at a time,
connects when
first used, and again after an error, so that a database that was stopped or a disk that was full is used again when it
can be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse

T = TypeVar("T")
Answers = Mapping[bytes, tuple[int, int]]  # of each mark, the menu and the answer
Tables = Mapping[str, Set[str]]  # the columns of each table
SCHEMA = 1  # of all tables of a store; none is stated by versions before 0.2, which have the same
TABLES = {
    "collection": {"plan", "settled"},
    "answered": {"mark"},
    "counts": {"menu", "answer", "count"},
    "shown": {"people", "counts"},
}
_EARLIER = {"id", "menu", "answer"}
_GO_ON = "export it with the version that wrote it (`bcdp export`), and begin an empty store"
STORES = {  # the scheme of its URL, and its class, which takes the URL (or the file's path) and the plan's id
    "sqlite": "bcdp.collector.storage.sqlite_reports.SqliteStore",
    "postgresql": "bcdp.collector.storage.postgres_reports.PostgresStore",
    "postgres": "bcdp.collector.storage.postgres_reports.PostgresStore",
}


class StoreError(Exception):
    """The store cannot be used now; nothing of what was asked has been acknowledged."""


class DamagedStoreError(StoreError):
    """The store's content is damaged: trying again does not help, somebody has to restore a backup."""


class Database(ABC):
    """A connection that is opened when first used, and again after an error."""

    failures: tuple[type[Exception], ...]  # what the database's library raises

    def __init__(self, read_only: bool = False) -> None:
        self._connection: Any = None
        self._read_only = read_only

    def settle(self) -> None:
        """Writes the store again, in the order of what it holds, unless nothing was added since that was last done.

        Until then its files still reveal the order of arrival, and what came alone.
        """
        self._use(self._rewrite)

    def check(self) -> None:
        """Raises `StoreError` if the store cannot be read, or is another one's."""
        self._use(self._verify)

    def probe(self) -> None:
        """Raises `StoreError` unless something could be written durably."""
        self._use(self._write_nothing)

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
                self._check_tables(self._connection)
                if not self._read_only:
                    self._prepare(self._connection)
                self._verify(self._connection)
            return work(self._connection)
        except self.failures as error:
            self.close()
            raise self._refusal(error) from error
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _connect(self) -> Any: ...

    @abstractmethod
    def _check_tables(self, connection: Any) -> None:
        """Raises `StoreError` if the database holds other tables of these names, or those of another version."""

    @abstractmethod
    def _prepare(self, connection: Any) -> None:
        """Makes the tables where there are none."""

    @abstractmethod
    def _verify(self, connection: Any) -> None:
        """Raises `StoreError` if the store is another one's."""

    @abstractmethod
    def _rewrite(self, connection: Any) -> None: ...

    @abstractmethod
    def _write_nothing(self, connection: Any) -> None:
        """Commits a change that changes nothing."""

    @abstractmethod
    def _refusal(self, error: Exception) -> StoreError:
        """What to tell the outside about an error, without the database's name or address."""


class Store(Database):
    """What one plan's reports leave behind: `add` reports, read the `counts`, `settle` now and then."""

    given = "?"  # how its statements mark a value

    def __init__(self, plan_id: str, read_only: bool = False) -> None:
        super().__init__(read_only)
        self._plan_id = plan_id

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

    def shown(self) -> tuple[int, bytes]:
        """How many people the operator's last document counts, at first none, and its counts, sealed."""
        people, counts = self._use(lambda connection: connection.execute("SELECT people, counts FROM shown").fetchone())
        return int(people), bytes(counts)

    def show(self, before: int, people: int, counts: bytes) -> bool:
        """Whether these counts are now those of the operator's last document: not if it is another than `before`."""
        statement = f"UPDATE shown SET people = {self.given}, counts = {self.given} WHERE people = {self.given}"
        values = (people, counts, before)
        return bool(self._use(lambda connection: connection.execute(statement, values).rowcount == 1))

    def _verify(self, connection: Any) -> None:
        (stated,) = connection.execute("SELECT plan FROM collection").fetchone()
        if stated != self._plan_id:
            raise StoreError(f"the store holds reports of another plan ({stated[:12]}..)")

    @abstractmethod
    def _insert(self, connection: Any, marks: list[bytes], answers: Answers) -> set[bytes]:
        """Inserts marks in this order, and counts the answers of those that were not there, which it returns."""

    def _read_counts(self, connection: Any) -> list[tuple[int, int, int]]:
        rows: list[tuple[int, int, int]] = connection.execute("SELECT menu, answer, count FROM counts").fetchall()
        return rows


def check_tables(stated: int, present: Tables, expected: Tables) -> None:
    """Refuses tables of another version, which `stated` numbers, and tables of something else with the same names."""
    if stated > SCHEMA:
        raise StoreError(f"the store has schema {stated}, this version of bcdp knows {SCHEMA}; {_GO_ON}")
    if present.get("reports") == _EARLIER and "collection" not in present:
        raise StoreError(
            f"the store was written by an earlier version of bcdp, which kept each report with its id; {_GO_ON}"
        )
    for table, columns in expected.items():
        if table in present and present[table] != columns:
            raise StoreError(f"the database has a table {table} of something else; give the store one of its own")


def location_of(url: str) -> tuple[str, str]:
    """The scheme of a store, and its URL or the path of its file."""
    scheme = url.partition("://")[0] if "://" in url else "sqlite"
    location = url.removeprefix("sqlite:///")
    if scheme not in STORES or not location or (scheme == "sqlite" and "://" in location):
        raise refuse("--store", url.split("@")[-1], "a file's path, sqlite:///path or postgresql://host/database")
    return scheme, location


def open_store(url: str, plan_id: str, read_only: bool = False) -> Store:
    """The store at `postgresql://...` or in an SQLite file (`sqlite:///path` or a path), for one plan.

    What is only read may be a snapshot that cannot be written.
    """
    scheme, location = location_of(url)
    module, _, name = STORES[scheme].rpartition(".")
    store: Callable[[str, str, bool], Store] = getattr(import_module(module), name)
    return store(location, plan_id, read_only)
