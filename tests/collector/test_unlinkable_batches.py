"""A relay that mixes and its collector on loopback: nothing that the collector has links a report to its sender."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from bcdp.collector.storage.report_marks import Marker
from support.collector_fixtures import run_sql
from support.local_http import http_client, local
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
