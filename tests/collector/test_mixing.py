"""The rule of a mixing relay and its store: sizes, order and due times, and what the file tells."""

from __future__ import annotations

import itertools
import random
import secrets
from collections import Counter
from pathlib import Path

import pytest
from scipy.stats import chi2

from bcdp import InputError
from bcdp.cli import main
from bcdp.collector import StoreError
from bcdp.collector.ohttp import mixing
from bcdp.collector.ohttp.mixing import MESSAGE_BYTES, MOST_MESSAGES, Mixing, read_period, read_time, sizes
from bcdp.collector.ohttp.mixing_relay import MixingSettings
from bcdp.collector.settings import Quotas
from bcdp.collector.storage.messages import MessageStore, Receipt, mark_of, open_messages
from support.collector_fixtures import run_sql
from support.mixing import Collection

TO = "https://survey.example.org/v1/batch"


def opened(url: Path | str, least: int = 2, to: str = TO) -> MessageStore:
    return open_messages(str(url), to, least, 0)


def test_no_batch_is_smaller_than_stated_and_none_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enumerated with a small usual size, so that every way of cutting occurs."""
    monkeypatch.setattr(mixing, "_USUAL", 5)
    for least, waiting in itertools.product(range(2, 13), range(80)):
        cut = sizes(waiting, least)
        assert sum(cut) == (waiting if waiting >= least else 0)
        assert all(least <= size < 2 * max(least, 5) for size in cut)
    assert Quotas().waiting >= MOST_MESSAGES  # the collector's queue has room for any batch


def uniform(orders: Counter[tuple[bytes, ...]], possible: int) -> float:
    """The probability that uniform draws differ as much from each other."""
    expected = sum(orders.values()) / possible
    counts = [*orders.values(), *[0] * (possible - len(orders))]
    return float(chi2.sf(sum((count - expected) ** 2 / expected for count in counts), possible - 1))


def test_every_order_is_as_likely_as_the_others() -> None:
    """All 24 orders of four messages; a uniform shuffle fails with a probability of 1e-9, a poor one always."""
    marks = [bytes([number]) for number in range(4)]
    drawn = Counter(tuple(mixing.shuffled_parts(marks, 2)[0]) for _ in range(24_000))
    assert uniform(drawn, 24) > 1e-9
    rng = random.Random(1)
    turned = Counter(tuple(marks[at:] + marks[:at]) for at in (rng.randrange(4) for _ in range(24_000)))
    assert uniform(turned, 24) < 1e-9


def test_the_order_does_not_come_from_a_seed() -> None:
    marks = [bytes([number]) for number in range(200)]
    random.seed(1)
    first = mixing.shuffled_parts(marks, 2)
    random.seed(1)
    assert mixing.shuffled_parts(marks, 2) != first


def test_due_times_are_multiples_of_the_period() -> None:
    rule = Mixing(5, read_period("24h"), read_time("2027-03-31T18:00Z"))
    assert rule.due(10.5 * 86400) == 10 * 86400 == rule.due(10 * 86400)
    assert not rule.ended(read_time("2027-03-31T19:59:59+02:00"))
    assert rule.ended(read_time("2027-03-31T20:00:00+02:00"))
    assert Mixing(5, None, 1.0).due(1e9) == 0
    assert [read_period(text) for text in ("90s", "15m", "7d", "end")] == [90, 900, 604_800, None]


@pytest.mark.parametrize("text", ["", "24", "h", "0h", "-1h", "1.5h", "24H", "1w", "nan", "9999999s", "1h "])
def test_other_periods_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="every"):
        read_period(text)


@pytest.mark.parametrize("text", ["", "tomorrow", "2027-03-31", "2027-03-31T18:00", "1e9"])
def test_times_without_a_zone_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="until"):
        read_time(text)


def test_rules_that_cannot_be_kept_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for least in (-1, 0, 1, 100_001):
        with pytest.raises(InputError, match="mix"):
            Mixing(least, 60)
    with pytest.raises(InputError, match="until"):
        Mixing(5, None)
    with pytest.raises(InputError, match="at_end"):
        Mixing(5, 60, at_end="delete")
    for to in ("https://a.example/.well-known/ohttp-gateway", "a.example/v1/batch", "ftp://a.example/v1/batch"):
        with pytest.raises(InputError, match="/v1/batch"):
            MixingSettings(to, Mixing(5, 60), "relay.db")
    with pytest.raises(InputError, match="token"):
        MixingSettings(TO, Mixing(5, 60), "relay.db", token="short")
    assert main(["relay", "--to", "https://a.example/.well-known/ohttp-gateway", "--every", "24h"]) == 2
    assert "--mix" in capsys.readouterr().err
    store = opened(tmp_path / "relay.db", least=50)
    store.check()
    store.close()
    assert main(["relay", "--to", TO, "--mix", "49", "--every", "1h", "--store", str(tmp_path / "relay.db")]) == 2
    assert "batches of at least 50" in capsys.readouterr().err


def test_every_report_is_sealed_at_the_length_that_relays_take(tmp_path: Path) -> None:
    """The shortest and the longest id, menu, answer and group that a collector reads."""
    collection = Collection(tmp_path)
    short = collection.sealed(("a", 0, 0))
    long = b'{"plan": "%s", "reports": [{"id": "%s", "menu": %d, "answer": %d, "group": %d}]}'
    body = long % (b"f" * 64, b"x" * 64, 2**31 - 1, 2**31 - 1, 2**31 - 1)
    assert len(short) == len(collection.sealed_body(body)) == MESSAGE_BYTES


def test_a_message_is_kept_once_also_after_it_was_drawn(store_url: str) -> None:
    store = opened(store_url)
    messages = [secrets.token_bytes(MESSAGE_BYTES) for _ in range(6)]
    values = {mark_of(message): message for message in messages}
    assert store.add(values) == values.keys()
    assert store.add(values) == set()
    marks = list(values)
    store.draw(60, [marks[:2], marks[3:1:-1]])
    assert store.add(values) == set()
    assert sorted(store.waiting()) == sorted(marks[4:])
    assert store.due() == 60
    assert store.batch() == (0, messages[0] + messages[1])
    assert store.batch() == (0, messages[0] + messages[1])  # until it is confirmed
    store.delivered(0, Receipt(1, 1, 0))
    store.delivered(0, Receipt(1, 1, 0))  # by another process: counted once
    assert store.batch() == (1, messages[3] + messages[2])
    store.delivered(1, Receipt(0, 0, 2))
    assert store.batch() is None
    assert store.add(values) == set()
    store.delete_waiting(store.waiting())
    assert tuple(vars(store.totals()).values()) == (0, 0, 1, 1, 2, 2)
    with pytest.raises(StoreError):  # a second process that draws the same messages
        store.draw(120, [marks[:2]])
    store.close()


def test_a_store_belongs_to_one_collector_and_one_promise(store_url: str) -> None:
    for least in (50, 51):  # larger batches keep the promise
        store = opened(store_url, least)
        store.check()
        store.close()
    with pytest.raises(StoreError, match="at least 50"):
        opened(store_url, least=49).check()
    with pytest.raises(StoreError, match="another collector"):
        opened(store_url, 50, "https://other.example.org/v1/batch").check()


def test_what_a_settled_relay_holds_decides_its_bytes(tmp_path: Path) -> None:
    """The same messages in another order and other groups: the same file, but for SQLite's own count of changes."""
    messages = [secrets.token_bytes(MESSAGE_BYTES) for _ in range(200)]
    contents = []
    for name, group, order in (("a", 1, messages), ("b", 7, messages[::-1]), ("c", 200, sorted(messages))):
        store = opened(tmp_path / f"{name}.db")
        for start in range(0, len(order), group):
            store.add({mark_of(message): message for message in order[start : start + group]})
        store.settle()
        assert (tmp_path / f"{name}.db-wal").stat().st_size == 0
        store.close()
        data = bytearray((tmp_path / f"{name}.db").read_bytes())
        data[24:28] = data[40:44] = data[92:96] = bytes(4)
        contents.append(bytes(data))
    assert contents[0] == contents[1] == contents[2]


def test_what_was_delivered_leaves_no_bytes(tmp_path: Path) -> None:
    store = opened(tmp_path / "relay.db")
    messages = [secrets.token_bytes(MESSAGE_BYTES) for _ in range(50)]
    store.add({mark_of(message): message for message in messages})
    store.draw(60, [[mark_of(message) for message in messages]])
    store.delivered(0, Receipt(50, 0, 0))
    store.settle()
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(message[100:116] in files for message in messages)
    assert all(mark_of(message) in files for message in messages)  # the files were looked at
    assert run_sql(str(tmp_path / "relay.db"), "SELECT count(*) FROM forwarded") == [(50,)]
    store.close()
