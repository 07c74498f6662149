"""What relay and collector can link, each alone: within a batch, nothing better than chance.

The examiner of the collector has its files, its log, the memory of its process and the batch as it came; the examiner
of the relay has its files and its log. Both know the order in which people sent. A source that tells nothing is taken
for one that does with a probability of at most 1e-9 over all sources of one examination.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import pytest

from bcdp.collector.storage.messages import mark_of
from bcdp.collector.storage.report_marks import Marker
from support.collector_fixtures import run_sql
from support.collector_forensics import (
    FALSE_ALARM,
    Places,
    links_told,
    newest_first,
    order_told,
    raw_places,
)
from support.local_http import http_client
from support.mixing import SEALED, Batches, Collection, mixing, split, wait_until
from support.system import require

pytestmark = pytest.mark.slow

PEOPLE = 240
CELLS = 2
UNSETTLED = "import bcdp.collector.storage.group_commit as writer; writer._UNSETTLED_SECONDS = 1e6"
IN_ORDER = "import random; random.SystemRandom.shuffle = lambda self, order: order.sort()"


def memory_of(process: int) -> bytes:
    """All that a process has in memory and may write to."""
    maps = Path(f"/proc/{process}/maps")
    require(sys.platform == "linux" and maps.exists(), "Linux, for the memory of a process")
    parts = list[bytes]()
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in maps.read_text().splitlines():
            extent, rights = line.split()[:2]
            if rights.startswith("rw"):
                start, end = (int(number, 16) for number in extent.split("-"))
                memory.seek(start)
                try:
                    parts.append(memory.read(end - start))
                except OSError:  # such as what belongs to the kernel
                    continue
    return b"\0".join(parts)


def places_in(name: str, data: bytes, tokens: list[bytes]) -> dict[str, Places]:
    """Where each token of 16 bytes is, read from the start, from the end, and from the end of each page."""
    first, last = raw_places(data, tokens)
    found = {f"first in {name}": first, f"last in {name}": last, f"pages of {name}": newest_first(first, 4096)}
    return {source: places for source, places in found.items() if places}


def telling(sources: dict[str, Places], tokens: list[bytes], others: int = 0) -> list[str]:
    """The sources that tell the order in which these tokens came."""
    level = FALSE_ALARM / (len(sources) + others)
    return [name for name, places in sources.items() if order_told(places, tokens) < level]


def files_in(folder: Path, pattern: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob(pattern) if path.stat().st_size}


def send_all(url: str, messages: list[bytes]) -> None:
    """One after the other, each in a commit of its own, from addresses of their own."""
    for number, message in enumerate(messages):
        address = f"127.0.{1 + number // 200}.{1 + number % 200}"
        with http_client(address) as client:
            assert client.post(url, content=message, headers=SEALED).status_code == 202


def test_the_collector_cannot_link_a_report_to_a_sender_a_time_or_a_place(tmp_path: Path) -> None:
    """Everything the collector's machine has after a batch, while it runs and after it: files, log, memory."""
    collection = Collection(tmp_path)
    names = [secrets.token_hex(8) for _ in range(PEOPLE)]  # 16 bytes each
    answers = {name.encode(): (0, secrets.randbelow(CELLS)) for name in names}
    messages = [collection.sealed((name.decode(), *answer)) for name, answer in answers.items()]
    mark = Marker(collection.plan.id, None)
    tokens = {
        "ids": [name.encode() for name in names],
        "marks": [mark(name) for name in names],
        "ciphers": [message[100:116] for message in messages],
    }
    given = ["--mix", str(PEOPLE), "--every", "1s", "--store", str(tmp_path / "relay.db"), "--rate", "0"]
    with collection.serving(PEOPLE) as server, mixing(tmp_path, f"{server.url}/v1/batch", *given) as relay:
        send_all(relay.url, messages)
        wait_until(lambda: relay.totals()["accepted"] == PEOPLE)
        seen = files_in(tmp_path, "reports.db*") | {"log": server.log.read_bytes()}
        seen |= {"memory": memory_of(server.process.pid)}
        assert server.stop() in (0, -15)
    seen |= {f"{name} later": data for name, data in files_in(tmp_path, "reports.db*").items()}
    sources: dict[str, Places] = {}
    for kind, wanted in tokens.items():
        for name, data in seen.items():
            found = places_in(name, data, wanted)
            sources |= {f"{kind}: {source}": places for source, places in found.items()}
            assert telling(found, wanted, others=100) == [], kind
    assert len(sources) <= 100
    assert {"marks: first in memory", "marks: first in reports.db later"} <= sources.keys()  # there is much to see
    for network in (b"127.0.1.", b"127.0.2."):  # of everybody who sent, see `send_all`
        assert [name for name, data in seen.items() if network in data] == []


@pytest.mark.parametrize("first", ["", IN_ORDER], ids=["as it is", "sorted"])
def test_the_place_in_a_batch_says_nothing_of_order_or_answer(tmp_path: Path, first: str) -> None:
    """Neither the order of arrival nor, read off it, anybody's answer; an order by content is noticed."""
    collection, batches = Collection(tmp_path), Batches()
    answers = {secrets.token_hex(8): (0, secrets.randbelow(CELLS)) for _ in range(PEOPLE)}
    messages = [collection.sealed((name, *answer)) for name, answer in answers.items()]
    if first:
        messages.sort(key=mark_of)
    given = ["--mix", str(PEOPLE), "--every", "1s", "--store", str(tmp_path / "relay.db"), "--rate", "0"]
    with batches.running() as to, mixing(tmp_path, to, *given, first=first) as relay:
        send_all(relay.url, messages)
        wait_until(lambda: batches.sizes == [PEOPLE])
    arrived = split(batches.received[0])
    assert sorted(arrived) == sorted(messages)
    places = {message: float(place) for place, message in enumerate(arrived)}
    told = order_told(places, messages)
    truth = dict(zip(messages, answers.values(), strict=True))
    guesses = {sent: truth[there] for sent, there in zip(messages, arrived, strict=True)}
    linked = links_told(guesses, truth, CELLS)
    assert (told < FALSE_ALARM / 2, linked < FALSE_ALARM / 2) == (bool(first), bool(first))


def test_the_relays_store_tells_no_order(tmp_path: Path) -> None:
    """Not of what waits, of a batch that was drawn, or of marks that remain; before it is settled, its log does."""
    collection, batches = Collection(tmp_path), Batches()
    batches.status = 503  # what is drawn stays in the store
    messages = list(collection.messages(2 * PEOPLE).values())
    ciphers, marks = [message[100:116] for message in messages], [mark_of(message) for message in messages]
    given = ["--mix", str(PEOPLE), "--every", "1s", "--store", str(tmp_path / "relay.db"), "--rate", "0"]
    with batches.running() as to, mixing(tmp_path, to, *given, first=UNSETTLED) as relay:
        send_all(relay.url, messages[:PEOPLE])
        wait_until(lambda: relay.totals()["drawn"] == PEOPLE)
        send_all(relay.url, messages[PEOPLE:])
        before = places_in("log", (tmp_path / "relay.db-wal").read_bytes(), ciphers[PEOPLE:])
        assert telling(before, ciphers[PEOPLE:])  # the examination has power
        assert relay.stop() in (0, -15)
        logged = relay.log.read_bytes()
    found = files_in(tmp_path, "relay.db*") | {"log": logged}
    assert run_sql(str(tmp_path / "relay.db"), "SELECT count(*) FROM batch") == [(PEOPLE,)]
    for part in (slice(None, PEOPLE), slice(PEOPLE, None)):  # that one of them is a batch shows which came first
        for tokens in (ciphers[part], marks[part]):
            sources: dict[str, Places] = {}
            for name, data in found.items():
                sources |= places_in(name, data, tokens)
            assert telling(sources, tokens, others=20) == []
            assert len(sources["first in relay.db"]) == PEOPLE
    assert b"127.0." not in b"".join(found.values()).replace(to.encode(), b"").replace(
        b'"host": "127.0.0.1"', b""
    ).replace(relay.url.encode(), b"")


def test_the_documents_name_every_column_of_the_relay(tmp_path: Path) -> None:
    """The table of what a relay keeps is its schema."""
    import re

    from bcdp.collector.storage.messages import open_messages
    from support.paths import ROOT

    page = (ROOT / "docs/guide/mixing-relay.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (`.*?`) \|", page, re.MULTILINE)
    documented = {(table, column) for table, columns in rows for column in re.findall(r"`(\w+)`", columns)}
    store = open_messages(str(tmp_path / "relay.db"), "https://a.example/v1/batch", 2, 0)
    store.check()
    store.close()
    columns = "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"
    assert documented == set(run_sql(str(tmp_path / "relay.db"), columns))
