"""A relay that mixes and its collector on loopback: nothing that the collector has links a report to its sender."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from bcdp import Device
from bcdp.collector.storage.report_marks import Marker
from bcdp.device import send_messages
from bcdp.randomizers import response
from bcdp_device.sealing import GatewayKey, read_request
from support.collector_fixtures import run_sql
from support.helpers import per_feature
from support.local_http import http_client, local
from support.message_counts import in_messages
from support.mixing import SEALED, Batches, Collection, mixing, split, wait_until

pytestmark = pytest.mark.slow

PEOPLE = 240
MOST_RANKED = 6.2  # standard deviations of a rank correlation: chance alone goes beyond once in 10^9
MOST_NEIGHBOURS = 17  # people who come next to each other again: about Poisson of mean 2, more once in 10^10
IN_ORDER = """
import bcdp.collector.ohttp.mixing_relay as relay
seen, mark_of = [], relay.mark_of
relay.mark_of = lambda sealed: seen.append(mark_of(sealed)) or seen[-1]
relay.shuffled_parts = lambda marks, least: [sorted(marks, key=seen.index)] if len(marks) >= least else []
"""


@contextmanager
def passing_on(batches: Batches, collector: str) -> Iterator[str]:
    """Between relay and collector: keeps every batch that the collector gets, and gives its answer back."""
    received = batches.received

    def answer(_: int) -> dict[str, int]:
        sent = local.post(collector, content=received[-1], headers={"content-type": "application/octet-stream"})
        counts: dict[str, int] = sent.raise_for_status().json()
        return counts

    batches.answer = answer
    with batches.running() as address:
        yield address


def linked(order: list[int]) -> bool:
    """Whether places in a list give the order of arrival away to one of two scripts, which rank or pair people."""
    n, places = len(order), np.array(order)
    ranked = abs(np.corrcoef(np.arange(n), places)[0, 1]) * math.sqrt(n - 1)
    neighbours = int((np.abs(np.diff(places)) == 1).sum())
    return bool(ranked > MOST_RANKED or neighbours > MOST_NEIGHBOURS)


def collected(folder: Path, first: str = "") -> tuple[bool, bool, list[str], bytes]:
    """Whether the batch and the collector's disk are linked, the senders, and all bytes that the collector has."""
    collection, batches = Collection(folder), Batches()
    sealed = collection.messages(PEOPLE)
    senders = [f"127.0.1.{1 + number % 250}" for number in range(PEOPLE)]
    names = list(sealed)
    with collection.serving(PEOPLE) as server, passing_on(batches, f"{server.url}/v1/batch") as to:
        given = ["--mix", str(PEOPLE), "--every", "1s", "--store", str(folder / "relay.db"), "--rate", "0"]
        with mixing(folder, to, *given, first=first) as relay:
            for sender, message in zip(senders, sealed.values(), strict=True):
                with http_client(sender) as client:
                    assert client.post(relay.url, content=message, headers=SEALED).status_code == 202
            wait_until(lambda: relay.totals()["accepted"] == PEOPLE)
    arrival = {message: number for number, message in enumerate(sealed.values())}
    batch = [arrival[message] for message in split(batches.received[0])]
    assert sorted(batch) == list(range(PEOPLE))
    disk = b"".join(path.read_bytes() for path in sorted(folder.glob("reports.db*")))
    marker = Marker(collection.plan.id, None)
    places = [disk.index(marker(name)) for name in names]
    log = b"".join(path.read_bytes() for path in folder.glob("*.log") if not path.name.startswith("relay"))
    heads = json.dumps(batches.heads).encode()
    assert sum(row[0] for row in run_sql(collection.store, "SELECT count FROM counts")) == PEOPLE
    return linked(batch), linked(list(np.argsort(np.argsort(places)))), senders, disk + log + heads


def test_nothing_links_a_report_to_its_sender(tmp_path: Path) -> None:
    """The batch, the disk, the log and the heads of requests; scripts that rank them do as well as chance."""
    batch, disk, senders, everything = collected(tmp_path)
    assert not batch
    assert not disk
    assert not any(sender.encode() in everything for sender in senders)


def test_a_relay_that_keeps_the_order_is_found_out(tmp_path: Path) -> None:
    batch, disk, _, _ = collected(tmp_path, IN_ORDER)
    assert batch
    assert not disk  # where the order is that of marks


SENDERS, MESSAGES = 80, 3
MOST_PAIRED = 21  # of 160 guesses which of 80 messages is the same person's: chance alone has more once in 10^13


class SeveralMessages(Collection):
    """A collection whose devices send three messages each."""

    def __post_init__(self) -> None:
        self.key = GatewayKey.make(self.folder / "gateway.key")
        features = {name: {"type": "binary", "delta": 20.0} for name in "abc"}
        relay = {"url": f"http://127.0.0.1:{self.port}/", "key": self.key.configuration}
        asked = [((name,), (2,), response(2, 2.0)) for name in features]
        self.plan = in_messages(features, asked, [[0], [1], [2]], per_feature(0.1), relay=relay)
        self.path, self.store = self.folder / "plan.json", str(self.folder / "reports.db")
        self.plan.save(self.path)


def paired(menus: list[int], people: list[int]) -> int:
    """How often a script is right that takes the nearest message of the next menu for the same person's."""
    places, owners, right = np.arange(len(menus)), np.array(people), 0
    for place, (menu, person) in enumerate(zip(menus, people, strict=True)):
        others = places[np.array(menus) == menu + 1]
        if len(others):
            right += int(owners[others[np.argmin(np.abs(others - place))]] == person)
    return right


def messages_paired(folder: Path, first: str = "") -> tuple[int, int]:
    """In how many cases messages of one person are paired by their place in the batch, and on the collector's disk."""
    collection, batches, owners = SeveralMessages(folder), Batches(), dict[str, tuple[int, int]]()
    total = SENDERS * MESSAGES
    with collection.serving(total) as server, passing_on(batches, f"{server.url}/v1/batch") as to:
        given = ["--mix", str(total), "--every", "1s", "--store", str(folder / "relay.db"), "--rate", "0"]
        with mixing(folder, to, *given, port=collection.port, first=first) as relay:
            for person in range(SENDERS):
                answered = Device({}, max_epsilon=20).messages(collection.plan, dict.fromkeys("abc", person % 2))
                reports = {secrets.token_hex(16): report for report in answered}
                owners |= {name: (report["menu"], person) for name, report in reports.items()}
                assert send_messages(collection.plan, reports) == {"kept": MESSAGES}
            wait_until(lambda: relay.totals()["accepted"] == total)
    opened = [json.loads(read_request(collection.key.open(sealed)[0]).content) for sealed in split(batches.received[0])]
    names = [message["reports"][0]["id"] for message in opened]
    assert sorted(names) == sorted(owners)
    assert [len(message["reports"]) for message in opened] == [1] * total
    disk = b"".join(path.read_bytes() for path in sorted(folder.glob("reports.db*")))
    marker = Marker(collection.plan.id, None)
    stored = sorted(owners, key=lambda name: disk.index(marker(name)))
    counts = run_sql(collection.store, "SELECT sum(count) FROM counts GROUP BY menu")
    assert [row[0] for row in counts] == [SENDERS] * MESSAGES
    in_batch, on_disk = (paired(*zip(*(owners[name] for name in order), strict=True)) for order in (names, stored))  # type: ignore[arg-type]
    return in_batch, on_disk


def test_nothing_links_the_messages_of_one_person(tmp_path: Path) -> None:
    in_batch, on_disk = messages_paired(tmp_path)
    assert in_batch <= MOST_PAIRED
    assert on_disk <= MOST_PAIRED


def test_messages_that_arrive_together_are_linked_by_a_relay_that_keeps_the_order(tmp_path: Path) -> None:
    in_batch, on_disk = messages_paired(tmp_path, IN_ORDER)
    assert in_batch > MOST_PAIRED
    assert on_disk <= MOST_PAIRED
