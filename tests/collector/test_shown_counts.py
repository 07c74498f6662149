"""What the operator's token can learn by asking again and again: never what fewer people than stated answered."""

from __future__ import annotations

import json
import random
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bcdp import Plan, Tally, estimate, privatize
from bcdp.collector import open_store
from bcdp.collector.dashboard import operator_document
from bcdp.collector.metrics import ACCEPTED, COMMIT_MICROSECONDS, COMMITS, DUPLICATE, Counters
from bcdp.collector.rounding import rounded, rounded_count
from bcdp.collector.shown_counts import ShownCounts
from bcdp.collector.storage.store import Store
from support.collector_fixtures import TOKEN, serving, small_plan, upload
from support.local_http import local

pytestmark = pytest.mark.slow

REFRESH = 20


@pytest.fixture(scope="module")
def plan() -> Plan:
    return small_plan()


def answers(plan: Plan, people: int) -> list[tuple[int, int]]:
    smoker = [number % 3 == 0 for number in range(people)]
    records: dict[str, Any] = {"smoker": smoker, "income": [1000.0 * (number % 50) for number in range(people)]}
    columns = {name: records.get(name, ["north"] * people) for name in plan.policy.features}
    reports = privatize(plan, columns)
    return [*zip(reports["menu"].to_pylist(), reports["answer"].to_pylist(), strict=True)]


def add(store: Store, number: int, answer: tuple[int, int]) -> None:
    store.add({number.to_bytes(16, "big"): answer})


def test_two_different_documents_are_so_many_people_apart(plan: Plan, store_url: str) -> None:
    """One report at a time, after each a look at one of two workers, which are now and then started again."""
    chance = random.Random(1)
    stores = [open_store(store_url, plan.id) for _ in range(3)]
    workers = [ShownCounts(plan, store, TOKEN, REFRESH) for store in stores[:2]]
    seen: list[Tally | None] = []
    for number, answer in enumerate(answers(plan, 150)):
        add(stores[2], number, answer)
        place = chance.randrange(2)
        if chance.random() < 0.1:
            workers[place] = ShownCounts(plan, stores[place], TOKEN, REFRESH)
        seen.append(workers[place].tally())
    for store in stores:
        store.close()
    shown = [tally for tally in seen if tally is not None]
    assert seen[: REFRESH - 1] == [None] * (REFRESH - 1)
    different = [shown[0], *(two for one, two in pairwise(shown) if one != two)]
    people = [tally.people for tally in different]
    assert people == list(range(REFRESH, 150, REFRESH))


def test_another_token_waits_for_so_many_people_more(plan: Plan, tmp_path: Path) -> None:
    """It cannot open what was shown before, which may be fewer people ago; where nobody came since, it is the same."""
    store = open_store(str(tmp_path / "reports.db"), plan.id)
    given = answers(plan, 2 * REFRESH + 5)
    for number, answer in enumerate(given[:REFRESH]):
        add(store, number, answer)
    first = ShownCounts(plan, store, TOKEN, REFRESH).tally()
    assert ShownCounts(plan, store, "another-token-of-theirs", REFRESH).tally() == first
    for number, answer in enumerate(given[REFRESH:], REFRESH):
        add(store, number, answer)
        tally = ShownCounts(plan, store, f"token-number-{number:09}", REFRESH).tally()
        assert (tally is None) == (number + 1 != 2 * REFRESH)
    store.close()


def test_the_store_alone_does_not_tell_what_was_shown(plan: Plan, tmp_path: Path) -> None:
    """The same counts shown twice are kept as other bytes of one length, and none of them is a count."""
    sealed = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        store = open_store(str(tmp_path / folder / "reports.db"), plan.id)
        for number in range(1000):
            add(store, number, (0, 0))
        ShownCounts(plan, store, TOKEN, REFRESH).tally()
        people, counts = store.shown()
        assert people == 1000
        assert (1000).to_bytes(8, "little") not in counts
        sealed.append(counts)
        store.close()
    assert sealed[0] != sealed[1]
    assert len(sealed[0]) == len(sealed[1])


def test_metrics_tell_no_single_report() -> None:
    counters, seen = Counters(), list[str]()
    for _ in range(3 * REFRESH):
        for column, amount in ((ACCEPTED, 1), (DUPLICATE, 2), (COMMITS, 1), (COMMIT_MICROSECONDS, 777), (200, 3)):
            counters.add(column, amount)
        seen.append(counters.text(REFRESH, []))
    assert len(set(seen)) == 4
    assert list(dict.fromkeys(seen)) == [seen[0], *seen[REFRESH - 1 :: REFRESH]]
    counters.add(503)  # what goes wrong is told at once
    assert 'status="503"} 1' in counters.text(REFRESH, [])


def test_what_the_token_sees_of_a_service(plan: Plan, tmp_path: Path) -> None:
    """Two workers and a restart: no answer to the token differs from the last one before enough people came."""
    plan.save(tmp_path / "plan.json")
    given, headers = answers(plan, 230), {"authorization": f"Bearer {TOKEN}"}
    options = (tmp_path, tmp_path / "plan.json", str(tmp_path / "reports.db"), "--refresh", "100", "--workers", "2")
    seen: list[tuple[int, str, str]] = []

    def look(url: str, people: int) -> float:
        began = time.monotonic()
        for path in ("v1/estimates", "metrics"):
            text = local.get(f"{url}/{path}", headers=headers, timeout=60).text
            live = re.compile(r'.*status="[45].*\n|# .*\n')  # errors, and words
            seen.append((people, path, live.sub("", text)))
        return time.monotonic() - began

    sent, longest = 0, 0.0
    for upto in ((1, 60, 101, 102, 150), (150, 199, 202, 203, 230)):
        with serving(*options) as server:
            for people in upto:
                if given[sent:people]:
                    rows = [(f"r{number}", *given[number]) for number in range(sent, people)]
                    assert local.post(f"{server.url}/v1/reports", json=upload(plan, rows)).is_success
                    sent = people
                time.sleep(1.1 + 11 * longest)  # a worker shows the same for a second, and ten times what it computed
                longest = max(look(server.url, people) for _ in range(4))  # so that both workers answer
            assert server.stop() in (0, -15)
    estimates = [json.loads(text) for text in {text for _, path, text in seen if path == "v1/estimates"}]
    people = sorted(document["people"] for document in estimates)
    assert people[:2] == [0, 101]
    assert len(people) == 3
    assert people[2] - people[1] >= 100
    assert {document["people"] for document in estimates if document["waiting"]} == {0}
    totals = {re.search(r"accepted_total (\d+)", text)[1] for _, path, text in seen if path == "metrics"}  # type: ignore[index]
    assert totals == {"0", "101"}  # counted from each start on
    shown = {(re.search(r"bcdp_people (\d+)", text)[1], text) for _, path, text in seen if path == "metrics"}  # type: ignore[index]
    assert {int(number) for number, _ in shown} == {0, *people[1:]}  # the same as the dashboard
    assert len(shown) == 4  # at the start, at 101, after the restart, at 202


def test_numbers_have_the_digits_that_their_errors_support(plan: Plan) -> None:
    """At most a twentieth of a standard error from the estimate; a count at most half of its own."""
    reports = answers(plan, 3000)
    columns = zip(*reports, strict=True)
    tally = Tally(plan).add(dict(zip(("menu", "answer"), map(list, columns), strict=True)))
    exact, told = estimate(tally).to_dict()["means"], operator_document(tally)["estimates"]["means"]  # type: ignore[arg-type]
    for name, found in exact.items():
        for key in ("value", "low", "high"):
            assert abs(told[name][key] - found[key]) <= found["se"] / 20 * (1 + 1e-9)
            assert len(str(told[name][key]).replace(".", "").lstrip("-0")) <= 7
        assert told[name]["se"] == float(f"{found['se']:.2g}")
    for count in range(5000):
        near, step = rounded_count(count)
        assert near % step == 0
        assert abs(near - count) <= step / 2 <= max(count**0.5, 1) / 2


def test_what_has_no_error_keeps_its_digits() -> None:
    document = {"edges": [0.0, 0.3125, 12.3456789], "level": 0.95, "people": 12345, "values": {"low": 0.123456}}
    assert rounded(document) == document
    nothing = {"value": None, "se": None, "low": None, "high": None, "answers": 0}
    assert rounded(nothing) == nothing
