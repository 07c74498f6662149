"""A plan of several messages on the survey page: each is sealed and sent by itself, and only once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from bcdp import Plan
from bcdp.plan.ledger import release_of
from bcdp.randomizers import response
from bcdp_device.sealing import GatewayKey, read_request
from support.helpers import per_feature
from support.message_counts import in_messages
from support.web_pages import Visit, ask, begin, go_on, shown_plan, would_send

pytestmark = pytest.mark.slow
NAMES = ("smoker", "drinker", "driver")


def plan_of_messages(relay: str, key: GatewayKey) -> Plan:
    """Three yes or no questions, each in a message of its own."""
    features = {name: {"type": "binary", "delta": 4.0} for name in NAMES}
    asked = [((name,), (2,), response(2, 1.2)) for name in NAMES]
    stated = {"url": relay, "key": key.configuration}
    return in_messages(features, asked, [[0], [1], [2]], per_feature(0.05), relay=stated)


def test_every_message_is_sealed_and_sent_by_itself(visit: Visit, tmp_path: Path) -> None:
    """The second of three fails, and trying again sends the two that the relay has not kept."""
    key = GatewayKey.make(tmp_path / "key")
    plan = plan_of_messages(f"{visit.server}/relay/", key)
    sealed: list[bytes] = []

    def keep(route: Route) -> None:
        sealed.append(route.request.post_data_buffer or b"")
        if len(sealed) == 2:
            route.abort()
        else:
            route.fulfill(status=202, json={"kept": 1})

    visit.page.route("**/relay/", keep)
    page = shown_plan(visit, plan)
    begin(page)
    for number in range(len(NAMES)):
        if number:
            go_on(page)
        page.get_by_label("yes").check()
    ask(page)
    expect(page.locator("#hints li").first).to_contain_text("sends 3 separate messages")
    expect(page.locator("#hints li")).to_have_count(4)
    shown = [json.loads(line) for line in would_send(page).splitlines()]
    reports = [message["reports"][0] for message in shown]
    assert [report["menu"] for report in reports] == [0, 1, 2]
    assert len({report["id"] for report in reports}) == 3
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_contain_text("could not be sent")
    assert not any(key.startswith("bcdp.sent") for key in visit.kept())
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("status")).to_have_text("Your answer was received. Thank you!")
    opened = [json.loads(read_request(key.open(body)[0]).content) for body in sealed]
    assert {len(body) for body in sealed} == {567}
    assert len(opened) == 4
    assert sorted((opened[0], *opened[2:]), key=lambda message: message["reports"][0]["menu"]) == shown
    assert opened[1] in opened[2:]
    assert visit.sent() == [str(request.post_data) for request in visit.requests if request.url.endswith("/relay/")]
    (row,) = json.loads(visit.kept()["bcdp.ledger"])
    assert row["epsilon"] == release_of(plan).epsilon  # of all messages together
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("An answer to this survey was sent from this browser.")
