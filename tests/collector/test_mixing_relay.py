"""A mixing relay and its collector on loopback: batches, refusals, the end, kills, full disks, hostile requests."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Route, expect

from bcdp import InputError
from bcdp.collector import Settings
from bcdp.collector.ohttp.mixing import MESSAGE_BYTES
from bcdp.collector.storage.messages import mark_of
from bcdp.device import Device, NotTakenError, send
from support.collector_fixtures import TOKEN, Postgres, new_database, run_sql, stored
from support.helpers import small_disk
from support.local_http import http_client, local
from support.mixing import (
    SEALED,
    Batches,
    Collection,
    MixingProcess,
    attack_relay,
    kill_relay_under_load,
    mixing,
    split,
    wait_until,
)
from support.web_pages import ask, begin, go_on

pytestmark = pytest.mark.slow

BATCH = {"content-type": "application/octet-stream"}
ANSWERS_TOO_EARLY = """
import asyncio
from bcdp.collector.storage.group_commit import Writer
add, tasks = Writer.add, set()
async def early(self, messages):
    tasks.add(asyncio.ensure_future(add(self, messages)))
    return 1
Writer.add = early
"""


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection(tmp_path)


def options(folder: Path, least: int, *more: str) -> list[str]:
    return ["--mix", str(least), "--store", str(folder / "relay.db"), "--rate", "0", *more]


def totals(waiting: int, accepted: int = 0, duplicate: int = 0, refused: int = 0) -> dict[str, int]:
    counted = {"accepted": accepted, "duplicate": duplicate, "refused": refused}
    return {"waiting": waiting, "drawn": 0, **counted, "deleted": 0}


def files(folder: Path) -> bytes:
    """All that is on disk; a file that is settled meanwhile is gone."""
    found = b""
    for path in folder.glob("relay.db*"):
        with suppress(FileNotFoundError):
            found += path.read_bytes()
    return found


def in_seconds(seconds: float) -> str:
    return datetime.fromtimestamp(time.time() + seconds, UTC).isoformat()


def fill(relay: MixingProcess, messages: list[bytes]) -> None:
    with http_client() as client:
        for message in messages:
            answer = client.post(relay.url, content=message, headers=SEALED)
            assert (answer.status_code, answer.json()) == (202, {"kept": 1})


def quiet(batches: Batches, sizes: list[int], seconds: float = 2.5) -> None:
    """Over several due times nothing more is sent."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        assert batches.sizes == sizes
        time.sleep(0.05)


def test_a_batch_is_never_smaller_than_stated(collection: Collection, tmp_path: Path) -> None:
    """Not when it is due, not after a restart, not when the relay stops; one message more and it is sent."""
    batches, messages = Batches(), list(collection.messages(41).values())
    given = options(tmp_path, 20, "--every", "1s")
    with batches.running() as to:
        with mixing(tmp_path, to, *given) as relay:
            fill(relay, messages[:19])
            fill(relay, messages[:19])  # sent again, each is there once
            quiet(batches, [])
            assert relay.stop() in (0, -15)
        assert batches.sizes == []
        with mixing(tmp_path, to, *given) as relay:
            quiet(batches, [])
            relay.kill()
        with mixing(tmp_path, to, *given) as relay:
            fill(relay, messages[19:20])
            wait_until(lambda: batches.sizes == [20])
            fill(relay, messages[:39])  # twenty of them were forwarded before
            quiet(batches, [20])
            fill(relay, messages[39:])
            wait_until(lambda: batches.sizes == [20, 21])
            wait_until(lambda: relay.totals() == totals(0, 41))
            wait_until(lambda: not any(message[100:116] in files(tmp_path) for message in messages))  # while it runs
    assert [set(split(body)) for body in batches.received] == [set(messages[:20]), set(messages[20:])]
    known = {"host", "accept", "accept-encoding", "connection", "user-agent", "content-type", "content-length"}
    assert all(head.keys() == known for head in batches.heads)


def test_messages_in_postgresql(collection: Collection, postgres: Postgres, tmp_path: Path) -> None:
    """Kept over a kill, each once, delivered in a batch and reported; the order of rows is not that of arrival."""
    batches, messages = Batches(), list(collection.messages(40).values())
    url = new_database(postgres)
    given = ["--mix", "40", "--store", url, "--rate", "0", "--every", "1s"]
    with batches.running() as to:
        with mixing(tmp_path, to, *given) as relay:
            fill(relay, messages[:30])
            fill(relay, messages[:30])
            assert relay.totals() == totals(30)
            relay.kill()
        with mixing(tmp_path, to, *given) as relay:
            fill(relay, messages[30:])
            wait_until(lambda: relay.totals() == totals(0, 40))
            fill(relay, messages)  # forwarded before
            assert relay.totals() == totals(0, 40)
    assert [sorted(split(body)) for body in batches.received] == [sorted(messages)]
    marks = [row[0] for row in run_sql(url, "SELECT mark FROM forwarded ORDER BY ctid")]
    assert marks == sorted(map(mark_of, messages))


def test_everything_at_the_end(collection: Collection, tmp_path: Path) -> None:
    batches, messages = Batches(), list(collection.messages(30).values())
    with batches.running() as to, mixing(tmp_path, to, *options(tmp_path, 5, "--until", in_seconds(6))) as relay:
        fill(relay, messages)
        assert batches.sizes == []
        wait_until(lambda: relay.post(messages[0]).status_code == 410)
        wait_until(lambda: batches.sizes == [30])
        assert relay.post(messages[0]).json() == {"detail": "the collection has ended"}
    assert set(split(batches.received[0])) == set(messages)


@pytest.mark.parametrize("at_end", ["keep", "delete"])
def test_too_few_at_the_end_are_kept_or_deleted_and_never_sent(
    collection: Collection, tmp_path: Path, at_end: str
) -> None:
    batches, messages = Batches(), list(collection.messages(4).values())
    given = options(tmp_path, 5, "--every", "1s", "--until", in_seconds(6), "--at-end", at_end)
    kept = totals(4, 0, 0, 0)
    deleted = kept | {"waiting": 0, "deleted": 4}
    with batches.running() as to:
        with mixing(tmp_path, to, *given) as relay:
            fill(relay, messages)
            assert relay.totals() == kept
            wait_until(lambda: relay.post(messages[0]).status_code == 410)
            if at_end == "delete":
                wait_until(lambda: relay.totals() == deleted)
                # the totals change in the store before the line is written
                wait_until(lambda: '"event": "deleted", "messages": 4, "needed": 5' in relay.log.read_text())
            assert relay.stop() in (0, -15)
        with mixing(tmp_path, to, *given) as relay:
            quiet(batches, [], 1.5)
            assert relay.totals() == (deleted if at_end == "delete" else kept)
    left = files(tmp_path)
    assert [message[100:116] in left for message in messages] == [at_end == "keep"] * 4


def test_only_the_collectors_receipt_ends_a_delivery(collection: Collection, tmp_path: Path) -> None:
    """The same batch, in the same order, until the answer accounts for every message; also after a kill."""
    batches, messages = Batches(), list(collection.messages(5).values())
    given = options(tmp_path, 5, "--every", "1s")
    soon = "import bcdp.collector.ohttp.mixing_relay as relay; relay._RETRY_SECONDS = 0.05"
    with batches.running() as to:
        batches.status = 503
        with mixing(tmp_path, to, *given, first=soon) as relay:
            fill(relay, messages)
            wait_until(lambda: len(batches.received) > 2)
            assert '"cause": "the collector answered 503"' in relay.log.read_text()
            relay.kill()
        batches.status, tried = 200, len(batches.received)
        batches.answer = lambda n: {"accepted": n - 1, "duplicate": 0, "refused": 0}
        with mixing(tmp_path, to, *given, first=soon) as relay:
            wait_until(lambda: len(batches.received) > tried + 2)
            assert relay.totals()["drawn"] == 5
            batches.answer = lambda n: {"accepted": n + 1, "duplicate": -1, "refused": 0}
            time.sleep(0.3)
            assert relay.totals()["drawn"] == 5
            batches.answer = lambda n: {"accepted": 2, "duplicate": 2, "refused": 1}
            wait_until(lambda: relay.totals()["drawn"] == 0)
            assert relay.totals() == totals(0, 2, 2, 1)
    assert len(set(batches.received)) == 1


def test_batches_are_counted_and_refusals_reported(collection: Collection, tmp_path: Path) -> None:
    """What cannot be opened or read is reported as a number; the rest of the batch counts, each id once."""
    good = collection.messages(12)
    again = collection.sealed((next(iter(good)), 0, 1))  # sealed anew: another message, the same id
    bad = [
        bytes(MESSAGE_BYTES),
        next(iter(good.values()))[:-1] + b"\0",
        collection.sealed(("a", 0, 0), ("b", 0, 0)),  # two reports in one message
        collection.sealed(("c", 10**6, 0)),
        collection.sealed_body(b"no JSON"),
        collection.sealed(("d", 0, 0), path="/v1/estimates"),
        collection.sealed(("e", 0, 0), method="PUT"),
    ]
    given = options(tmp_path, 20, "--every", "1s")
    with collection.serving(20) as server, mixing(tmp_path, f"{server.url}/v1/batch", *given) as relay:
        for length in (0, 1, MESSAGE_BYTES - 1, MESSAGE_BYTES + 1, MESSAGE_BYTES + 512):
            refused = relay.post(bytes(length))
            assert (refused.status_code, refused.json()) == (422, {"detail": "accepted: one sealed report, 567 bytes"})
        fill(relay, [*good.values(), again, *bad])
        wait_until(lambda: relay.totals()["waiting"] + relay.totals()["drawn"] == 0)
        assert relay.totals() == totals(0, 12, 1, 7)
        assert server.people() == 12
        assert stored(collection.store).holds(collection.plan, good)
        assert '"refused": 7' in relay.log.read_text()
        unknown = local.get(f"{relay.url}metrics", headers={"authorization": "Bearer no"})
        assert unknown.status_code == 401


def test_a_collector_of_batches_takes_nothing_else(collection: Collection) -> None:
    messages = list(collection.messages(20).values())
    with collection.serving(20) as server:
        to = f"{server.url}/v1/batch"
        for body in (b"", messages[0], b"".join(messages[:19]), b"".join(messages)[:-1], b"".join(messages) + b"x"):
            answer = local.post(to, content=body, headers=BATCH)
            assert answer.status_code == 422
            assert "accepted: at least 20 sealed messages of 567 bytes each" in answer.json()["detail"]
        gateway = f"{server.url}/.well-known/ohttp-gateway"
        assert local.post(gateway, content=messages[0], headers=SEALED).status_code == 405
        assert local.get(gateway).content == collection.key.published
        assert local.post(to, content=b"".join(messages), headers=SEALED).status_code == 415
        with http_client("127.0.0.2") as stranger:
            assert stranger.post(to, content=b"".join(messages), headers=BATCH).status_code == 403
        assert stored(collection.store).marks == set()
        counted = local.post(to, content=b"".join(messages), headers=BATCH)
        assert counted.json() == {"accepted": 20, "duplicate": 0, "refused": 0}
        again = local.post(to, content=b"".join(messages), headers=BATCH)  # after a kill, say
        assert again.json() == {"accepted": 0, "duplicate": 20, "refused": 0}
        nothing = local.post(to, content=bytes(20 * MESSAGE_BYTES), headers=BATCH)  # or the relay would wait for ever
        assert nothing.json() == {"accepted": 0, "duplicate": 0, "refused": 20}
        described = local.get(f"{server.url}/openapi.json").json()["paths"]
        assert {"post"} == described["/v1/batch"].keys()
        assert {"get"} == described["/.well-known/ohttp-gateway"].keys()
    key = (collection.folder / "gateway.key").read_bytes()
    with pytest.raises(InputError, match="relays"):
        Settings(collection.plan, "reports.db", TOKEN, gateway_key=key, batch_at_least=20)


def test_what_a_device_concludes(collection: Collection, tmp_path: Path) -> None:
    """The relay's word that it keeps the message is enough; sent again by the same device, it is the same message."""
    report = Device({}).answer(collection.plan, {"smoker": 1, "region": "c"})
    batches = Batches()
    given = options(tmp_path, 2, "--every", "1s")
    with batches.running() as to, mixing(tmp_path, to, *given, port=collection.port) as relay:
        assert send(collection.plan, report, "me") == {"kept": 1}
        assert send(collection.plan, report, "me") == {"kept": 1}
        quiet(batches, [])
        assert relay.totals()["waiting"] == 1
        assert send(collection.plan, report, "another") == {"kept": 1}
        wait_until(lambda: batches.sizes == [2])
    with pytest.raises(OSError, match="refused"):
        send(collection.plan, report, "me")


@pytest.mark.parametrize("portal", [b"<html>", b"{}", b'{"kept": 2}', b'{"kept": true}', b'{"kept": 1, "more": 1}'])
def test_only_the_relays_word_is_an_acknowledgement(collection: Collection, portal: bytes) -> None:
    class Portal(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(202)
            self.send_header("Content-Length", str(len(portal)))
            self.end_headers()
            self.wfile.write(portal)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", collection.port), Portal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(NotTakenError) as refused:
            send(collection.plan, {"menu": 0, "answer": 0}, "me")
        server.shutdown()
    assert refused.value.status == 502  # so that it is sent again


def test_the_survey_page_takes_the_relays_word(collection: Collection, tmp_path: Path, browser: Browser) -> None:
    """The page says that the answer was received; sent again after an answer that got lost, it is the same message."""
    given = options(tmp_path, 20, "--every", "1s")
    with (
        collection.serving(20) as server,
        mixing(tmp_path, f"{server.url}/v1/batch", *given, port=collection.port) as relay,
    ):
        context = browser.new_context()
        page = context.new_page()
        bodies = list[bytes | None]()

        def lose_the_first(route: Route) -> None:
            bodies.append(route.request.post_data_buffer)
            if len(bodies) == 1:
                route.fetch()
                route.abort()
            else:
                route.continue_()

        page.route(relay.url, lose_the_first)
        page.goto(server.url)
        begin(page)
        page.get_by_label("no", exact=True).check()
        go_on(page)
        page.get_by_label("region", exact=True).select_option("c")
        ask(page)
        page.locator("#send").click()
        expect(page.locator("#status")).to_contain_text("It could not be sent")
        page.locator("#send").click()
        expect(page.locator("#status")).to_have_text("Your answer was received. Thank you!")
        assert len(bodies) == 2
        assert bodies[0] == bodies[1]
        assert relay.totals() == totals(1)
        context.close()


def test_kill_loses_and_doubles_nothing(tmp_path: Path) -> None:
    outcome = kill_relay_under_load(tmp_path, kills=5)
    assert outcome.acknowledged > 100
    assert (outcome.lost, outcome.doubled) == (0, 0)
    assert outcome.counted > 100
    assert outcome.totals["refused"] == outcome.totals["deleted"] == 0
    assert min(outcome.batches) >= 20


def test_kill_notices_a_relay_that_answers_too_early(tmp_path: Path) -> None:
    """The test above has power: acknowledging before the commit loses messages."""
    assert kill_relay_under_load(tmp_path, kills=8, first=ANSWERS_TOO_EARLY).lost > 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "small", "3m") as folder:
        yield folder


def test_a_full_disk_is_reported_and_loses_nothing(collection: Collection, tmp_path: Path, disk: Path) -> None:
    batches, filler = Batches(), disk / "filler"
    acknowledged: set[bytes] = set()
    with batches.running() as to, mixing(tmp_path, to, *options(disk, 10, "--until", in_seconds(3600))) as relay:
        assert local.get(f"{relay.url}healthz").status_code == 200
        filler.write_bytes(bytes(2 * 10**6))

        def post() -> httpx.Response:
            message = secrets.token_bytes(MESSAGE_BYTES)
            answer = relay.post(message)
            if answer.status_code == 202:
                acknowledged.add(message)
            return answer

        answer = next(answer for answer in (post() for _ in range(10_000)) if answer.status_code != 202)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert answer.json() == {"detail": "nothing was stored: the store is full"}
        health = local.get(f"{relay.url}healthz")
        assert (health.status_code, health.json()) == (503, {"detail": "the store is full"})
        filler.unlink()
        assert post().status_code == 202
        assert local.get(f"{relay.url}healthz").status_code == 200
        assert relay.totals()["waiting"] == len(acknowledged)
    rows = run_sql(str(disk / "relay.db"), "SELECT sealed FROM waiting")
    assert {row[0] for row in rows} == acknowledged


def test_hostile_requests_to_the_relay(collection: Collection, tmp_path: Path) -> None:
    given = options(tmp_path, 20, "--every", "1s")
    with collection.serving(20) as server, mixing(tmp_path, f"{server.url}/v1/batch", *given) as relay:
        statuses = attack_relay(relay, collection, 3000, seed=1)
        assert not [status for status in statuses if status >= 500], statuses
        assert {202, 204, 400, 401, 404, 405, 413, 415, 422} <= statuses.keys()
        fill(relay, list(collection.messages(40).values()))
        wait_until(lambda: (now := relay.totals())["drawn"] == 0 and now["waiting"] < 20)
        assert 20 <= server.people() == relay.totals()["accepted"] <= 41  # and the one message of somebody
