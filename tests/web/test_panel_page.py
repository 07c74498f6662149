"""A panel on the pages: asked in the drawn wave and in no other, and waves on the dashboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate

import pytest
from playwright.sync_api import Browser, expect

from bcdp import Plan, Policy, make_plan
from support.web_pages import TOKEN, Visit, ask, begin, enter, send, server

pytestmark = pytest.mark.slow
__all__ = ["server"]  # a fixture of this file's plan


@pytest.fixture(scope="module")
def plan() -> Plan:
    """The first of three yearly waves is this year."""
    year = datetime.now(UTC).year
    panel = {"waves": 3, "every": "year", "start": f"{year}-01-01"}
    features = {"smoker": {"type": "binary", "values": ["no", "yes"], "label": "Do you smoke?"}}
    return make_plan(
        Policy(epsilon=2, features=features, panel=panel, tasks=[{"mean": ["smoker"]}, {"change": ["smoker"]}])
    )


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    visit = Visit(browser, server)
    yield visit
    visit.context.close()


def with_menu(visit: Visit, plan: Plan, wave: int, since: int | None) -> None:
    """Opens the page in a browser that has drawn a menu of this wave."""
    ends = list(accumulate(menu.weight for menu in plan.menus))
    number = next(
        number for number, menu in enumerate(plan.menus)
        if menu.wave == wave and plan.questions[menu.questions[0]].since == since
    )  # fmt: skip
    visit.page.add_init_script(
        f"if (!localStorage.getItem('bcdp.panel.{plan.id}')) "
        f"localStorage.setItem('bcdp.panel.{plan.id}', '{{\"word\":{ends[number] - 1}}}')"
    )
    visit.open()


def smoke(visit: Visit, answer: str) -> None:
    begin(visit.page)
    visit.page.get_by_role("group", name="Do you smoke?").get_by_label(answer).check()


def test_a_person_of_this_wave_answers_once(visit: Visit, plan: Plan) -> None:
    with_menu(visit, plan, 1, None)
    smoke(visit, "yes")
    ask(visit.page)
    assert send(visit.page) == {"accepted": 1, "duplicate": 0}
    (sent,) = visit.sent()
    (report,) = json.loads(sent)["reports"]
    assert plan.menus[report["menu"]].wave == 1
    visit.open()
    expect(visit.page.locator("#status")).to_contain_text("was sent from this browser")
    assert visit.complaints == []


def test_a_person_of_a_later_wave_is_told_when(visit: Visit, plan: Plan) -> None:
    with_menu(visit, plan, 2, None)
    year = datetime.now(UTC).year + 1
    expect(visit.page.locator("#status")).to_contain_text(f"Yours is from January 1, {year} to December 31, {year}")
    expect(visit.page.locator("#intro")).to_be_hidden()
    assert visit.sent() == []
    visit.page.get_by_label("Language").select_option("de")
    expect(visit.page.locator("#status")).to_contain_text(f"Ihrer ist vom 1. Januar {year} bis zum 31. Dezember {year}")
    assert visit.complaints == []


def test_of_an_earlier_value_only_random_answers_are_kept(visit: Visit, plan: Plan) -> None:
    with_menu(visit, plan, 2, 1)
    smoke(visit, "yes")
    visit.page.get_by_role("button", name="Review my answers").click()
    visit.page.get_by_role("button", name="Show me what would be sent").click()
    expect(visit.page.locator("#status")).to_contain_text("Nothing was sent today.")
    assert visit.sent() == []
    part = json.loads(visit.kept()[f"bcdp.panel.{plan.id}"])
    assert part.keys() == {"word", "symbols"}
    assert len(part["symbols"]) == 2
    assert f"bcdp.report.{plan.id}" not in visit.kept()
    visit.open()
    expect(visit.page.locator("#status")).to_contain_text("Please come back then.")
    assert visit.complaints == []


def test_a_new_browser_draws_a_wave_and_keeps_it(browser: Browser, server: str, plan: Plan) -> None:
    visit = Visit(browser, server)
    visit.open()
    while f"bcdp.panel.{plan.id}" not in visit.kept():
        visit.page.wait_for_timeout(50)
    kept = visit.kept()[f"bcdp.panel.{plan.id}"]
    (spent,) = json.loads(visit.kept()["bcdp.ledger"])
    assert spent["plan"] == plan.id
    assert 0 < spent["epsilon"] <= plan.certificate.epsilon
    visit.open()
    expect(visit.page.locator("#status")).not_to_have_text("")
    assert visit.kept()[f"bcdp.panel.{plan.id}"] == kept
    visit.context.close()


def test_the_dashboard_shows_the_waves(browser: Browser, server: str) -> None:
    visit = Visit(browser, server)
    page = visit.open("/dashboard")
    enter(page, TOKEN)
    waves = page.locator("#waves")
    expect(waves.get_by_role("heading", name="Waves")).to_be_visible()
    expect(waves.get_by_role("row")).to_have_count(4)
    expect(waves).to_contain_text("open")
    expect(waves).to_contain_text("later")
    assert visit.complaints == []
    visit.context.close()
