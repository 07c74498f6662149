"""The collector's parts on their own: group commit, rates, tickets, counters."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from bcdp import Plan, Policy, make_plan
from bcdp.cli.serve import _warn_of_small_batches
from bcdp.collector import Settings, Store, StoreError, make_tickets, open_store
from bcdp.collector.dashboard import OperatorDocument
from bcdp.collector.http.errors import RefusalError
from bcdp.collector.http.report_body import Reports
from bcdp.collector.limits.connections import ConnectionLimits
from bcdp.collector.limits.invitations import is_ticket
from bcdp.collector.limits.rates import Rates, network_of
from bcdp.collector.metrics import ACCEPTED, Counters
from bcdp.collector.settings import Quotas
from bcdp.collector.storage.group_commit import Writer
from bcdp.collector.storage.store import STORES, Answers
from bcdp.errors import InputError
from bcdp.plan.messages import messages_each
from support.collector_fixtures import TOKEN

pytestmark = pytest.mark.slow


class Slow(Store):
    """A store in memory that commits when told to, and fails when told to."""

    failures = (OSError,)

    def __init__(self) -> None:
        super().__init__("plan")
        self.may_commit, self.began = threading.Event(), threading.Event()
        self.commits: list[Answers] = []
        self.fails = False
        self.settled: list[int] = []  # after how many commits

    def add(self, answers: Answers) -> set[bytes]:
        self.began.set()
        assert self.may_commit.wait(10)
        if self.fails:
            raise StoreError("the store is full")
        known = {mark for commit in self.commits for mark in commit}
        self.commits.append({mark: answers[mark] for mark in answers.keys() - known})
        return set(self.commits[-1])

    def settle(self) -> None:
        self.settled.append(len(self.commits))

    _connect = _check_tables = _prepare = _insert = _rewrite = _write_nothing = _refusal = None  # type: ignore[assignment]


def one(name: str, answer: int = 0) -> Reports:
    return Reports([name.encode()], [(0, answer)])


def with_writer(store: Slow, work: Any, most_waiting: int = 1000) -> None:
    async def run() -> None:
        writer = Writer(store, Counters(), most_waiting)
        running = asyncio.create_task(writer.run())
        try:
            await work(writer)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            writer.close()

    asyncio.run(run())


def test_requests_share_commits_and_are_answered_after_them() -> None:
    store = Slow()

    async def work(writer: Writer) -> None:
        first = asyncio.create_task(writer.add(one("first")))
        await asyncio.to_thread(store.began.wait, 10)
        names = [f"r{n % 40}" for n in range(50)]  # ten of them twice, with another answer
        others = [asyncio.create_task(writer.add(one(name, n))) for n, name in enumerate(names)]
        again = asyncio.create_task(writer.add(Reports([b"first", b"last", b"last"], [(0, 0), (0, 5), (0, 6)])))
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in [first, *others, again])
        store.may_commit.set()
        assert await first == 1
        assert await asyncio.gather(*others) == [1] * 40 + [0] * 10
        assert await again == 1
        assert [len(commit) for commit in store.commits] == [1, 41]
        assert all(store.commits[1][f"r{n}".encode()] == (0, n) for n in range(40))  # the first answer stays
        assert store.commits[1][b"last"] == (0, 5)

    with_writer(store, work)


def test_a_failed_commit_acknowledges_nobody() -> None:
    store = Slow()
    store.fails = True
    store.may_commit.set()

    async def work(writer: Writer) -> None:
        refused = await asyncio.gather(*(writer.add(one(str(n))) for n in range(5)), return_exceptions=True)
        assert [error.status for error in refused if isinstance(error, RefusalError)] == 5 * [503]
        store.fails = False
        assert await writer.add(one("0")) == 1

    with_writer(store, work)


def test_what_waits_is_bounded_and_a_caller_may_leave() -> None:
    store = Slow()

    async def work(writer: Writer) -> None:
        first = asyncio.create_task(writer.add(one("first")))
        await asyncio.to_thread(store.began.wait, 10)
        second = asyncio.create_task(writer.add(Reports([str(n).encode() for n in range(10)], [(0, 0)] * 10)))
        await asyncio.sleep(0)
        with pytest.raises(RefusalError) as refused:
            await writer.add(one("more"))
        assert refused.value.status == 503
        second.cancel()
        store.may_commit.set()
        assert await first == 1
        assert await writer.add(one("more")) == 1

    with_writer(store, work, most_waiting=10)


def test_a_store_is_settled_at_the_start_when_due_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a commit, not at once but when the time has come; not again while nothing is added."""
    monkeypatch.setattr("bcdp.collector.storage.group_commit._UNSETTLED_SECONDS", 0.5)
    monkeypatch.setattr("bcdp.collector.storage.group_commit._SHARE", 0)
    store = Slow()
    store.may_commit.set()

    async def until(settled: list[int]) -> None:
        for _ in range(1000):
            if store.settled == settled:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(store.settled)

    async def work(writer: Writer) -> None:
        await until([0])
        for name in "ab":
            await writer.add(one(name))
        assert store.settled == [0]
        await until([0, 2])
        await asyncio.sleep(1)  # nothing is added
        assert store.settled == [0, 2]
        await writer.add(one("c"))

    with_writer(store, work)
    assert store.settled == [0, 2, 3]


def test_a_store_that_cannot_be_settled_still_takes_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Slow()
    store.may_commit.set()

    def fail() -> None:
        raise StoreError("others are reading the store")

    monkeypatch.setattr(store, "settle", fail)

    async def work(writer: Writer) -> None:
        assert await writer.add(one("a")) == 1

    with_writer(store, work)


def test_rates_refill_with_time() -> None:
    rates = Rates(2.0)  # 20 at once, then 2 a second
    for _ in range(20):
        rates.admit("a", 0.0)
    with pytest.raises(RefusalError) as refused:
        rates.admit("a", 0.0)
    assert refused.value.headers == {"retry-after": "1"}
    rates.admit("b", 0.0)
    rates.admit("a", 0.5)
    rates.charge("a", 100, 0.5)  # a batch may overdraw once
    with pytest.raises(RefusalError):
        rates.admit("a", 50.0)
    rates.admit("a", 51.0)
    rates.admit("a", 1e6)  # idle time earns no more than 20
    rates.charge("a", 19, 1e6)
    with pytest.raises(RefusalError):
        rates.admit("a", 1e6)


def test_addresses_are_read_from_in_turns(collection: tuple[Plan, Path]) -> None:
    """One that sends little waits for few of those that send much; nothing is lost, doubled or out of order."""

    async def run() -> None:
        door, read = ConnectionLimits(Quotas(), Counters(), False), list[tuple[str, int]]()

        def send(address: str, number: int) -> None:
            if door.may_read(address, lambda: read.append((address, number))):
                read.append((address, number))

        for repeat in range(2):  # and again, after a pause
            for number in range(200):
                send("one", number)
                send("two", number)
            send("honest", repeat)
            while len(read) < 401 * (repeat + 1):
                await asyncio.sleep(0)
        assert len(read) == len(set(read)) + 400 == 802
        for address in ("one", "two"):
            assert [number for name, number in read if name == address] == [*range(200), *range(200)]
        assert max(read.index(("honest", 0)), read.index(("honest", 1)) - 401) < 50

    asyncio.run(run())


def test_one_subscriber_is_one_network() -> None:
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::9") == "2001:db8:1:2::/64"
    assert network_of("192.0.2.1") == "192.0.2.1"
    assert network_of("not:an:address") == "not:an:address"


def test_rates_forget_the_oldest_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bcdp.collector.limits.rates._ADDRESSES", 100)
    rates = Rates(1.0)
    for number in range(1000):
        rates.admit(str(number), 0.0)
    assert len(rates._budgets) == 100


def test_tickets_are_bound_to_key_and_plan() -> None:
    key, other = bytes(range(32)), bytes(range(1, 33))
    tickets = make_tickets(key, "plan", 1000)
    assert len(set(tickets)) == 1000
    assert {len(ticket) for ticket in tickets} == {45}
    for ticket in tickets[:20]:
        assert is_ticket(key, "plan", ticket)
        assert not is_ticket(other, "plan", ticket)
        assert not is_ticket(key, "other", ticket)
        for place in (0, 10, 30, 44):
            changed = ticket[:place] + ("A" if ticket[place] != "A" else "Q") + ticket[place + 1 :]
            assert not is_ticket(key, "plan", changed)
    assert not is_ticket(key, "plan", "")
    with pytest.raises(InputError):
        make_tickets(bytes(31), "plan", 1)
    with pytest.raises(InputError):
        make_tickets(key, "plan", 0)


def test_counters_are_totals() -> None:
    counters = Counters()
    counters.add(ACCEPTED, 3)
    counters.claim()
    counters.add(ACCEPTED, 4)
    counters.add(200)
    assert "bcdp_reports_accepted_total 7\n" in counters.text(1, [])
    assert 'bcdp_requests_total{status="200"} 1\n' in counters.text(1, [])


def test_settings_are_checked(collection: tuple[Plan, Path]) -> None:
    plan = collection[0]
    for token in ("short", "x" * 15 + "é", "x" * 20 + " y"):
        with pytest.raises(InputError, match="token"):
            Settings(plan, "reports.db", token)
    with pytest.raises(InputError, match="tickets_key"):
        Settings(plan, "reports.db", TOKEN, b"short")
    cascade = make_plan(Policy(epsilon=1, features={"a": {"type": "binary"}}, mechanism="cascade"))
    with pytest.raises(InputError, match="cascade"):
        Settings(cascade, "reports.db", TOKEN)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("reports.db", ["SqliteStore", "reports.db"]),
        ("sqlite:////folder/reports.db", ["SqliteStore", "/folder/reports.db"]),
        ("postgres://host/name", ["PostgresStore", "postgres://host/name"]),
        ("postgresql://host/name", ["PostgresStore", "postgresql://host/name"]),
        ("added://host/name", ["SqliteStore", "added://host/name"]),
    ],
)
def test_a_store_is_opened_by_the_scheme_of_its_url(
    url: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STORES, "added", STORES["sqlite"])
    store = open_store(url, "plan")
    assert type(store).__name__ == expected[0]
    assert expected[1] in map(str, vars(store).values())


def test_other_urls_of_stores_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("", "sqlite:///", "sqlite://reports.db", "sqlite:///a://b", "added://name:secret@host/name"):
        with pytest.raises(InputError, match=r"^--store: got .*; accepted: a file's path, sqlite:///path or") as error:
            open_store(url, "plan")
        assert "secret" not in str(error.value)
    for module in ("postgres_reports", "postgres_database"):
        monkeypatch.delitem(sys.modules, f"bcdp.collector.storage.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"^--store: PostgreSQL needs the package psycopg; accepted: .*serve"):
        open_store("postgresql://host/name", "plan")


def test_two_writers_of_one_store(store_url: str) -> None:
    """Two connections that add the same ids in opposite order at once: each id is new to exactly one of them."""
    stores = [open_store(store_url, "plan") for _ in range(2)]
    stores[0].check()  # as `bcdp serve` does before its workers start
    names = [n.to_bytes(16) for n in range(500)]
    new: list[int] = [0, 0]

    def work(turn: int) -> None:
        for start in range(0, 500, 50):
            batch = (names if turn else names[::-1])[start : start + 50]
            new[turn] += len(stores[turn].add(dict.fromkeys(batch, (0, turn))))

    threads = [threading.Thread(target=work, args=(turn,)) for turn in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = stores[0].counts()
    assert sum(new) == 500
    assert dict(zip(counts["answer"], counts["count"], strict=True)) == {
        turn: count for turn, count in enumerate(new) if count
    }
    for store in stores:
        store.close()


class Clock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    perf_counter = monotonic


def test_settling_takes_a_thousandth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that took 2 seconds is settled again 2,000 seconds later, one that took none after 10."""
    clock, store = Clock(), Slow()
    store.may_commit.set()
    monkeypatch.setattr("bcdp.collector.storage.group_commit.time", clock)
    took = 2.0
    settle = store.settle

    def slowly() -> None:
        clock.now += took
        settle()

    monkeypatch.setattr(store, "settle", slowly)

    async def work(writer: Writer) -> None:
        for expected in (2000.0, 10.0):
            for _ in range(200):
                if writer._rest == expected and writer._settle_at is None:
                    break
                await asyncio.sleep(0.01)
            nonlocal took
            took = 0.0
            await writer.add(one(str(expected)))
            assert writer._settle_at == clock.now + expected
            clock.now += expected
            await writer.add(one(f"{expected} again"))  # wakes it

    with_writer(store, work)


def test_estimates_are_shown_for_ten_times_as_long_as_they_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(Policy(epsilon=1, features={"a": {"type": "binary"}}))
    settings = Settings(plan, str(tmp_path / "reports.db"), TOKEN)
    clock = Clock()
    monkeypatch.setattr("bcdp.collector.dashboard.time", clock)
    document = OperatorDocument(settings, open_store(settings.store, plan.id))
    computed: list[float] = []

    def compute() -> bytes:
        computed.append(clock.now)
        clock.now += 3.0
        return b"{}"

    monkeypatch.setattr(document, "_compute", compute)

    async def work() -> None:
        for pause in (0.0, 29.5, 1.0):
            clock.now += pause
            await document.document()

    asyncio.run(work())
    document.close()
    assert computed == [1000.0, 1033.5]


def test_a_collector_that_takes_smaller_batches_than_promised_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    features = {name: {"type": "binary"} for name in ("a", "b", "c", "d")}
    key = f"7b0020{'09af' * 16}000400010001"
    policy = Policy(
        epsilon=12, features=features, trust="relay", relay={"url": "https://relay.example.org/", "key": key},
        counts={"epsilon": 1, "people": 5_000},
    )  # fmt: skip
    plan = make_plan(policy)
    assert messages_each(plan) == 4
    for least, said in ((None, "is not stated"), (5_000, "is 5,000"), (19_999, "is 19,999")):
        _warn_of_small_batches(plan, least)
        error = capsys.readouterr().err
        assert "at least 20,000 messages" in error
        assert said in error
    _warn_of_small_batches(plan, 20_000)
    _warn_of_small_batches(make_plan(Policy(epsilon=1, features=features)), None)
    assert capsys.readouterr().err == ""
