"""The HTTP contract, against real servers with both stores."""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.cli import main
from bcdp.collector import make_tickets, open_store
from bcdp.collector.rounding import rounded, rounded_count
from bcdp.collector.storage.report_marks import Marker
from support.collector_fixtures import TOKEN, Server, run_sql, serving, stored, upload
from support.local_http import http_client, local

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]
OPERATOR = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def shared(collection: Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for tests that leave nothing behind."""
    folder = tmp_path_factory.mktemp("shared")
    with serving(folder, collection[1], str(folder / "reports.db"), "--rate", "0") as running:
        yield running


@pytest.fixture
def server(collection: Collection, store_url: str, tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, collection[1], store_url, "--rate", "0") as running:
        yield running


def send(server: Server, plan: Plan, reports: list[tuple[str, int, int]]) -> httpx.Response:
    return local.post(f"{server.url}/v1/reports", json=upload(plan, reports))


def people_reports(plan: Plan, people: int) -> list[tuple[str, int, int]]:
    """What the devices of this many different people send."""
    rng = np.random.default_rng(7)
    table = {
        "smoker": rng.random(people) < 0.3,
        "income": rng.uniform(0, 200000, people),
        "region": rng.choice(["north", "south", "east", "west"], people),
    }
    reports = privatize(plan, table)
    menus, answers = (reports.column(name).to_pylist() for name in ("menu", "answer"))
    return [(secrets.token_hex(16), menu, answer) for menu, answer in zip(menus, answers, strict=True)]


def test_reports_are_stored_once_and_estimated(server: Server, collection: Collection, store_url: str) -> None:
    """Sent in batches, singly, again and with another answer: the first answer of each id is counted, once."""
    plan = collection[0]
    reports = people_reports(plan, 1200)
    answers = [send(server, plan, reports[:1000]), *(send(server, plan, [report]) for report in reports[1000:1010])]
    answers += [send(server, plan, reports[1010:])]
    assert [answer.json()["accepted"] for answer in answers] == [1000] + 10 * [1] + [190]
    changed = [(identity, 0, 1 - answer if answer < 2 else 0) for identity, _, answer in reports[:50]]
    assert send(server, plan, [*changed, ("new", 0, 0), ("new", 0, 1)]).json() == {"accepted": 1, "duplicate": 51}
    expected = {identity: (menu, answer) for identity, menu, answer in [*reports, ("new", 0, 0)]}
    kept = stored(store_url)
    assert kept.counts == Counter(expected.values())
    assert kept.holds(plan, expected)

    document = local.get(f"{server.url}/v1/estimates", headers=OPERATOR).json()
    tally = Tally(plan).add({name: [row[n] for row in expected.values()] for n, name in enumerate(["menu", "answer"])})
    assert document["people"] == 1201
    assert document["estimates"] == rounded(json.loads(json.dumps(estimate(tally).to_dict())))
    assert [menu["count"] for menu in document["menus"]] == [
        rounded_count(sum(row[0] == number for row in expected.values()))[0] for number in range(len(plan.menus))
    ]
    assert sum(menu["expected"] for menu in document["menus"]) == 1.0
    assert document["certificate"] == json.loads(plan.text)["certificate"]
    assert document["features"]["smoker"] == {"label": "Do you smoke?", "type": "binary"}
    assert document["features"]["income"] == {"label": "income", "type": "numeric", "bounds": [0, 200000]}


def test_tables_and_distributions_are_counted_and_shown(tmp_path: Path) -> None:
    """In the order of the policy's tasks: what the operator sees is what is estimated from the same reports."""
    features: dict[str, Any] = {
        "smoker": {"type": "binary"},
        "income": {"type": "numeric", "bounds": [0, 200_000], "ranges": [50_000, 100_000]},
        "region": {"type": "categorical", "values": ["north", "south", "east", "west"]},
    }
    tasks: list[dict[str, Any]] = [
        {"distribution": ["income"], "bins": 16},
        {"table": ["smoker", "region"]},
        {"mean": ["income"], "by": "smoker"},
        {"mean": ["smoker"]},
    ]
    plan = make_plan(Policy(epsilon=2, features=features, correlation=0.1, tasks=tasks))
    plan.save(tmp_path / "plan.json")
    reports = people_reports(plan, 300)
    with serving(tmp_path, tmp_path / "plan.json", f"sqlite:///{tmp_path / 'reports.db'}", "--rate", "0") as server:
        assert send(server, plan, reports).json() == {"accepted": 300, "duplicate": 0}
        document = local.get(f"{server.url}/v1/estimates", headers=OPERATOR, timeout=120).json()
    counted = Tally(plan).add({"menu": [menu for _, menu, _ in reports], "answer": [answer for *_, answer in reports]})
    assert document["estimates"] == rounded(json.loads(json.dumps(estimate(counted).to_dict())))
    kinds = [section["drawn"] for section in document["sections"]]
    assert kinds.index("curve") < kinds.index("grid") < kinds.index("dots") < len(kinds) - 1
    assert document["sections"][-1]["subject"] == "Means"
    (table,) = (section for section in document["sections"] if section["drawn"] == "grid")
    assert len(table["rows"]) == 8
    assert table["grid"] == [[0, 1], ["north", "south", "east", "west"]]


def test_a_request_is_stored_whole_or_refused_whole(shared: Server, collection: Collection) -> None:
    plan = collection[0]
    good = ("a", 0, 0)
    refused = {
        409: [{**upload(plan, [good]), "plan": "0" * 64}],
        422: [
            upload(plan, [good, ("b", len(plan.menus), 0)]),
            upload(plan, [good, ("b", 0, int(np.prod(plan.symbols[0])))]),
            upload(plan, [good, ("b", 0, -1)]),
            upload(plan, [good, ("b", 0, 2**64)]),
            upload(plan, [good, ("", 0, 0)]),
            upload(plan, [good, ("x" * 65, 0, 0)]),
            upload(plan, [good, ("a b", 0, 0)]),
            upload(plan, [good, ("a\0b", 0, 0)]),
            upload(plan, [good, ("å", 0, 0)]),
            upload(plan, [("a", True, 0)]),  # type: ignore[list-item]
            upload(plan, [("a", 0.0, 0)]),  # type: ignore[list-item]
            upload(plan, [("a", "0", 0)]),  # type: ignore[list-item]
            upload(plan, [(None, 0, 0)]),  # type: ignore[list-item]
            upload(plan, []),
            {"plan": plan.id},
            {**upload(plan, [good]), "more": 1},
            {"plan": plan.id, "reports": [{"id": "a", "menu": 0, "answer": 0, "more": 0}]},
            {"plan": plan.id, "reports": {"id": "a", "menu": 0, "answer": 0}},
            [],
        ],
    }
    for status, bodies in refused.items():
        for body in bodies:  # type: ignore[attr-defined]
            answer = local.post(f"{shared.url}/v1/reports", json=body)
            assert answer.status_code == status, (body, answer.text)
            assert list(answer.json()) == ["detail"]
    assert shared.people() == 0


def test_bodies_that_are_not_json_or_too_large(shared: Server, collection: Collection) -> None:
    plan = collection[0]
    url = f"{shared.url}/v1/reports"
    body = json.dumps(upload(plan, [("a", 0, 0)])).encode()
    typed = {"content-type": "application/json"}
    assert local.post(url, content=body, headers={"content-type": "text/plain"}).status_code == 415
    assert local.post(url, content=body[:-1], headers=typed).status_code == 422
    assert local.post(url, content=b"\xff" + body, headers=typed).status_code == 422
    assert local.post(url, content=b"[" * 100_000, headers=typed).status_code == 422
    large = body + b" " * 2**20
    assert local.post(url, content=large, headers=typed).status_code == 413
    assert local.post(url, content=iter([large]), headers=typed).status_code == 413  # its length is not stated
    many = upload(plan, [(str(n), 0, 0) for n in range(10_001)])
    assert local.post(url, json=many).status_code == 422
    other = json.dumps({**upload(plan, []), "plan": ""}).encode()
    assert (
        local.post(url, content=other, headers={"content-type": "application/json; charset=utf-8"}).status_code == 409
    )


def test_the_plan_and_pages(shared: Server, collection: Collection) -> None:
    plan = collection[0]
    answer = local.get(f"{shared.url}/v1/plan")
    assert answer.text == plan.text
    assert answer.headers["etag"] == f'W/"{plan.id}"'  # weak, because it is sent compressed
    assert local.get(f"{shared.url}/v1/plan", headers={"if-none-match": f'"{plan.id}"'}).status_code == 304
    folder = Path(sys.modules["bcdp"].__file__ or "").parent / "web"
    for path, name in {"/": "survey.html", "/dashboard": "dashboard.html"}.items():
        page = local.get(shared.url + path)
        assert re.sub(' integrity="[^"]+"', "", page.text) == (folder / name).read_text("utf-8")
        assert page.headers["content-type"].startswith("text/html")
    for path in ("/bcdp.js", "/survey.js"):  # bundled: tests/web/test_served_pages.py
        assert local.get(shared.url + path).headers["content-type"].startswith("text/javascript")
    assert local.get(f"{shared.url}/__init__.py").status_code == 404
    assert local.get(f"{shared.url}/../collector/app.py").status_code == 404
    assert local.get(f"{shared.url}/v1/reports").status_code == 405
    for path in ("/", "/v1/plan", "/v1/estimates", "/nothing"):
        headers = local.get(shared.url + path).headers
        assert headers["content-security-policy"] == (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_only_the_operator_sees_estimates(shared: Server) -> None:
    url = f"{shared.url}/v1/estimates"
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN}, {"authorization": "Basic eDp5"}):
        answer = local.get(url, headers=headers)
        assert answer.status_code == 401
        assert "people" not in answer.text
    assert local.get(f"{url}?token={TOKEN}").status_code == 401
    answer = local.get(url, headers=OPERATOR)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json()["estimates"]["means"]["smoker"]["value"] is None  # nobody has answered yet


def test_nothing_about_the_sender_is_kept(
    collection: Collection, store_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Neither the store's files nor the log hold the address, the headers or the id of a sender.

    That the search can find what is there is shown with the mark of the report's id.
    """
    plan, path = collection
    sender, agent, identity = "127.0.0.57", secrets.token_hex(12), secrets.token_hex(12)
    with (
        serving(tmp_path, path, store_url, "--rate", "5") as server,
        http_client(sender) as client,
    ):
        headers = {"user-agent": agent, "x-forwarded-for": agent, "cookie": f"a={agent}"}
        body = upload(plan, [(identity, 0, 1)])
        assert client.post(f"{server.url}/v1/reports?{agent}", json=body, headers=headers).is_success
        client.post(f"{server.url}/{agent}/{identity}", json={**body, "plan": agent}, headers=headers)
        client.post(f"{server.url}/v1/reports", json={**body, "plan": agent}, headers=headers)
        assert server.stop() in (0, -15)
        log = server.log.read_bytes()
    if store_url.startswith("postgresql"):
        folder = request.getfixturevalue("postgres").folder / "data"
        kept = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file() and "conf" not in file.name)
    else:
        kept = b"".join(file.read_bytes() for file in Path(store_url).parent.glob("reports.db*"))
    assert Marker(plan.id, None)(identity) in kept
    assert not [secret for secret in (sender, agent, identity) if secret.encode() in kept]
    assert b'"status": 409' in log
    for secret in (sender, agent, identity, TOKEN):
        assert secret.encode() not in log


def test_an_address_has_a_rate(collection: Collection, tmp_path: Path) -> None:
    """Ten seconds' worth at once, then 429; others are served meanwhile, and X-Forwarded-For is not believed."""
    plan, path = collection
    url = str(tmp_path / "reports.db")
    with serving(tmp_path, path, url, "--rate", "0.01") as server:
        batch = upload(plan, [(str(n), 0, 0) for n in range(100)])
        assert local.post(f"{server.url}/v1/reports", json=batch).is_success
        for number in range(3):
            headers = {"x-forwarded-for": f"10.0.0.{number}"}
            answer = local.post(f"{server.url}/v1/reports", json=batch, headers=headers)
            assert answer.status_code == 429
            assert int(answer.headers["retry-after"]) > 100
        with http_client("127.0.0.9") as other:
            assert other.post(f"{server.url}/v1/reports", json=batch).json() == {"accepted": 0, "duplicate": 100}


def test_a_trusted_proxy_names_the_address(collection: Collection, tmp_path: Path) -> None:
    plan, path = collection
    options = ("--rate", "0.01", "--proxies", "127.0.0.1")
    with serving(tmp_path, path, str(tmp_path / "reports.db"), *options) as server:
        body = upload(plan, [("a", 0, 0)])
        for number in range(3):
            for attempt in (200, 429):
                headers = {"x-forwarded-for": f"10.0.0.{number}"}
                assert local.post(f"{server.url}/v1/reports", json=body, headers=headers).status_code == attempt


def test_tickets_are_good_once(collection: Collection, tmp_path: Path) -> None:
    plan, path = collection
    key = tmp_path / "key"
    key.write_bytes(secrets.token_bytes(32))
    (ticket,) = make_tickets(key.read_bytes(), plan.id, 1)
    (foreign,) = make_tickets(key.read_bytes(), "0" * 64, 1)
    (forged,) = make_tickets(secrets.token_bytes(32), plan.id, 1)
    with serving(tmp_path, path, str(tmp_path / "reports.db"), "--tickets-key", str(key)) as server:
        for identity in (foreign, forged, ticket[:-1], "a." + ticket.partition(".")[2], "a"):
            assert send(server, plan, [(identity, 0, 0)]).status_code == 422
        assert send(server, plan, [(ticket, 0, 1)]).json() == {"accepted": 1, "duplicate": 0}
        assert send(server, plan, [(ticket, 0, 0)]).json() == {"accepted": 0, "duplicate": 1}
    kept = stored(str(tmp_path / "reports.db"))
    assert kept.counts == {(0, 1): 1}
    assert kept.marks == {Marker(plan.id, key.read_bytes())(ticket)}
    assert not kept.holds(plan, [ticket])  # nobody without the key finds it


def test_several_workers_and_their_end(collection: Collection, store_url: str, tmp_path: Path) -> None:
    """Two processes take overlapping reports at once; a stop under load loses nothing that was acknowledged.

    The workers end when they are told to, and also when the process that supervises them is killed.
    """
    plan, path = collection
    with serving(tmp_path, path, store_url, "--rate", "0", "--workers", "2") as server:
        names = [secrets.token_hex(8) for _ in range(400)]

        def work(turn: int) -> int:
            with http_client() as client:
                order = names if turn % 2 else names[::-1]  # in both directions: no order may block
                batches = [order[start : start + 100] for start in range(0, 400, 100)]
                bodies = [upload(plan, [(name, 0, 0) for name in batch]) for batch in batches]
                return sum(client.post(f"{server.url}/v1/reports", json=body).json()["accepted"] for body in bodies)

        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(work, range(6))) == 400
        text = local.get(f"{server.url}/metrics", headers=OPERATOR).text
        counted = {name: int(n) for name, n in re.findall(r"^bcdp_reports_(\w+)_total (\d+)$", text, re.MULTILINE)}
        assert counted == {"accepted": 400, "duplicate": 2000}

        acknowledged: list[str] = []
        end = server.process.kill if store_url.startswith("postgresql") else server.process.terminate

        def press(_: int) -> None:
            with http_client() as client:
                while True:
                    name = secrets.token_hex(8)
                    try:
                        answer = client.post(f"{server.url}/v1/reports", json=upload(plan, [(name, 0, 0)]))
                    except httpx.TransportError:
                        return
                    if answer.is_success:
                        acknowledged.append(name)
                        if len(acknowledged) == 100:
                            end()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(press, range(4)))
        server.process.wait(timeout=40)
    assert len(acknowledged) >= 100
    assert stored(store_url).holds(plan, acknowledged)


def test_export_is_a_tally_without_ids_or_order(
    collection: Collection, store_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same file whatever order the reports came in, and what their tally would be."""
    plan, path = collection
    reports, mark = people_reports(plan, 700), Marker(plan.id, None)
    store, output = open_store(store_url, plan.id), tmp_path / "tally.json"
    for part in (reports[400:], reports[:400][::-1]):
        given = {mark(identity): (menu, answer) for identity, menu, answer in part}
        assert store.add(given) == given.keys()
    store.close()
    assert main(["export", str(path), "--store", store_url, "-o", str(output), "--json"]) == 0
    shown = {"plan": plan.id, "tally": str(output), "people": 700, "counts": None}  # of so few nothing is said
    assert json.loads(capsys.readouterr().out) == shown
    direct = {"menu": [menu for _, menu, _ in reports], "answer": [answer for *_, answer in reports]}
    assert output.read_text() == json.dumps(Tally(plan).add(direct).to_dict())
    assert main(["export", str(path), "--store", store_url, "-o", str(tmp_path / "reports.parquet")]) == 2
    assert "a name that ends in .json" in capsys.readouterr().err


def test_a_store_belongs_to_one_plan(
    collection: Collection, store_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(store_url, "0" * 64)
    store.check()
    store.close()
    assert main(["serve", str(collection[1]), "--store", store_url]) == 2
    assert "reports of another plan" in capsys.readouterr().err
    assert main(["export", str(collection[1]), "--store", store_url, "-o", str(tmp_path / "no.json")]) == 2
    assert not (tmp_path / "no.json").exists()


def test_a_store_of_an_earlier_version_is_refused(
    collection: Collection, store_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It kept each report with its id; nothing is added to it, and what it holds stays as it is."""
    run_sql(store_url, "CREATE TABLE reports (id TEXT PRIMARY KEY, menu INTEGER, answer INTEGER)")
    assert main(["serve", str(collection[1]), "--store", store_url]) == 2
    error = capsys.readouterr().err
    assert "earlier version" in error
    assert "accepted: a store of this plan, or an empty one" in error
    run_sql(store_url, "CREATE TABLE collection (plan TEXT)")  # none was made


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--store", "mysql://somewhere"], "--store"),
        (["--store", "/nowhere/reports.db"], "--store"),
        (["--store", "postgresql://127.0.0.1:1/none"], "--store"),
        (["--token-file", "/nowhere"], "--token-file"),
        (["--tickets-key", "/nowhere"], "--tickets-key"),
    ],
)
def test_bad_options_are_told_in_one_line(
    collection: Collection, options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = [] if "--store" in options else ["--store", str(tmp_path / "reports.db")]
    assert main(["serve", str(collection[1]), *store, *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert told in error


def test_tickets_command(collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "key"
    key.write_bytes(bytes(31))
    assert main(["tickets", str(collection[1]), "3", "--key-file", str(key)]) == 2
    key.write_bytes(bytes(range(32)))
    capsys.readouterr()
    assert main(["tickets", str(collection[1]), "3", "--key-file", str(key)]) == 0
    assert len(set(capsys.readouterr().out.split())) == 3
