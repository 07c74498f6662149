"""The operator's dashboard: how far the collection is, digits as in the report, long lists folded, files to take."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, Response, expect

from bcdp import Plan, Policy, Tally, make_plan, privatize
from bcdp.collector.dashboard import operator_document
from bcdp.present.plan_summary import follow_up_words, own_errors
from bcdp.present.report import write_report
from bcdp.present.words import measured
from support.npm_packages import npm_packages
from support.web_pages import TOKEN, Visit, enter


@pytest.fixture(scope="module")
def asked() -> Plan:
    """A plan with a long list."""
    survey = {"title": "Towns", "purpose": "p", "organiser": "o", "contact": "c"}
    features = {"age": {"type": "numeric", "bounds": [0, 100]}, "ill": {"type": "binary", "values": ["no", "yes"]},
                "town": {"type": "categorical", "values": [f"town {n}" for n in range(30)]}}  # fmt: skip
    return make_plan(Policy(epsilon=2, features=features, survey=survey))


def document(asked: Plan, people: int, planned: int | None = 4000) -> dict[str, Any]:
    records = {"age": [20.0, 70.0] * (people // 2), "ill": ["no", "yes"] * (people // 2)}
    reports = privatize(asked, {**records, "town": ["town 3", "town 5"] * (people // 2)})
    tally: Any = Tally(asked).add(reports)
    found: dict[str, Any] = json.loads(json.dumps(operator_document(tally, planned)))
    return found | {"waiting": False, "refresh": 100}


def opened(visit: Visit, *documents: dict[str, Any]) -> Page:
    """The dashboard, which is told one document after the other, the last again and again."""
    told = list(documents)
    visit.page.clock.install()
    visit.page.route("**/v1/estimates", lambda route: route.fulfill(json=told.pop(0) if len(told) > 1 else told[0]))
    page = visit.open("/dashboard")
    enter(page, TOKEN)
    expect(page.get_by_role("tab", name="Certificate")).to_be_visible()
    return page


def wait(page: Page, done: Callable[[], bool]) -> None:
    """Lets the page's clock go on until something is done; the page asks again every few seconds of it."""
    for _ in range(200):
        if done():
            return
        page.clock.run_for(1_000)
        page.wait_for_timeout(20)
    pytest.fail("the page did not ask again")


def test_it_says_how_far_the_collection_is_and_when_to_stop(visit: Visit, asked: Plan) -> None:
    page = opened(visit, document(asked, 1000))
    expect(page.locator("#figures")).to_contain_text("1,000 people answered of 4,000 planned")
    expect(page.get_by_role("heading", level=1)).to_have_text("Towns")
    page.get_by_role("tab", name="Progress").click()
    progress = page.locator("#progress")
    expect(progress).to_contain_text("25% of the people who were planned.")
    expect(progress).to_contain_text("To stop when a number looks good makes it look better than it is")
    expect(page.get_by_role("progressbar", name="People so far")).to_have_attribute("value", "1000")


def test_a_mean_among_those_asked_has_no_target() -> None:
    """Its width depends on how many are asked, which no plan knows; one that is about all people has a target."""
    features = {"drugs": {"type": "binary", "values": ["no", "yes"]},
                "spent": {"type": "numeric", "bounds": [0, 100], "asked_if": {"drugs": "yes"}}}  # fmt: skip
    plan = make_plan(Policy(epsilon=2, features=features))
    told = {one["name"]: one["target"] for one in operator_document(Tally(plan), 4000)["precision"]}
    assert told == {"drugs": 2 * own_errors(plan, 4000)["drugs"], "spent": None}
    assert "divide its standard error by their share" in " ".join(follow_up_words(plan))
    assert follow_up_words(make_plan(Policy(epsilon=2, features={"drugs": features["drugs"]}))) == []


def test_the_target_is_a_width_beside_what_it_is_now(visit: Visit, asked: Plan) -> None:
    """The target is that of `bcdp plan` for the people who were planned, what it is now that of the estimates."""
    found = document(asked, 1000)
    errors = own_errors(asked, 4000)
    told = {one["name"]: one for one in found["precision"]}
    assert {name: one["target"] for name, one in told.items()} == {name: 2 * errors[name] for name in errors}
    rows = [row for section in found["sections"] for row in section["rows"]]
    assert told["age"]["now"] == 2 * next(row["se"] for row in rows if row["name"] == "age")
    assert told["town"]["now"] == 2 * max(row["se"] for row in rows if row["name"].startswith("town"))
    page = opened(visit, found)
    age = page.locator(".question", has=page.get_by_role("heading", name="age"))
    expect(age).to_contain_text(f"± {told['age']['now']:.2g} now, ± {told['age']['target']:.2g} with 4,000 people")
    page.get_by_role("tab", name="Progress").click()
    shown = page.locator("#progress").get_by_role("row", name="age").locator("td").all_inner_texts()
    assert [float(text.removeprefix("± ")) for text in shown] == [
        float(f"{told['age'][key]:.2g}") for key in ("now", "target")
    ]
    expect(page.locator("#progress").get_by_role("row", name="ill")).to_contain_text("points")


def test_days_are_noted_by_the_browser_once_enough_people_came(visit: Visit, asked: Plan) -> None:
    """The collector tells no times, and this page sends none."""
    page = opened(visit, document(asked, 900), document(asked, 1200))
    expect(page.get_by_text("By day")).to_have_count(0)
    wait(page, lambda: page.locator("#people").inner_text() == "1,200")
    page.get_by_role("tab", name="Progress").click()
    page.get_by_text("By day").click()
    expect(page.locator("#progress details tbody td").first).to_have_text("1,200")
    kept: dict[str, str] = page.evaluate("({ ...localStorage })")
    assert list(kept) == [f"bcdp.days.{asked.id}"]
    assert [people for _, people in json.loads(kept[f"bcdp.days.{asked.id}"])] == [1200]


def test_nothing_hinders_anybody_on_the_dashboard_and_the_report(visit: Visit, asked: Plan, tmp_path: Path) -> None:
    """No violation of axe, and nothing wider than the screen, on a phone and on a desk, by day and by night."""
    axe = (npm_packages() / "axe-core" / "axe.min.js").read_text("utf-8")
    check = f"async () => {{ {axe}; return (await axe.run()).violations.map((v) => [v.id, v.nodes[0].html]); }}"
    page = opened(visit, document(asked, 1200))
    page.get_by_role("tab", name="Progress").click()
    page.get_by_text("By day").click()
    write_report(tmp_path / "report.html", asked, users=1200)
    report = visit.context.new_page()
    report.set_content((tmp_path / "report.html").read_text("utf-8"))
    for width, scheme in ((390, "dark"), (1280, "light")):
        for shown in (page, report):
            shown.set_viewport_size({"width": width, "height": 900})
            shown.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            assert shown.evaluate(check) == []
            assert shown.evaluate("document.documentElement.scrollWidth") <= width
        for tab in ("Results", "Checks", "Certificate", "Progress"):
            page.get_by_role("tab", name=tab).click()
            assert page.evaluate(check) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_tabs_follow_the_keyboard_and_the_first_result_is_on_the_first_screen(visit: Visit, asked: Plan) -> None:
    page = opened(visit, document(asked, 1000))
    page.set_viewport_size({"width": 390, "height": 844})
    first = page.locator(".question").first.bounding_box()
    assert first
    assert first["y"] + first["height"] <= 844
    page.get_by_role("tab", name="Results").focus()
    steps = (
        ("ArrowRight", "Progress"),
        ("End", "Certificate"),
        ("ArrowRight", "Results"),
        ("ArrowLeft", "Certificate"),
    )
    for key, name in steps:
        page.keyboard.press(key)
        tab = page.get_by_role("tab", name=name)
        expect(tab).to_be_focused()
        expect(tab).to_have_attribute("aria-selected", "true")
        expect(page.locator(f"#panel-{name.lower()}")).to_be_visible()
        expect(page.locator(".panel:visible")).to_have_count(1)


def test_an_alarm_stands_above_the_results(visit: Visit, asked: Plan) -> None:
    found = document(asked, 1000)
    found["checks"] = {**found["checks"], "alarm": True, "said": "Alarm: menus are not drawn as often as planned."}
    page = opened(visit, found)
    expect(page.get_by_role("status")).to_have_text("Alarm: menus are not drawn as often as planned.")
    expect(page.get_by_role("status")).to_have_class("note bad")


def test_without_a_number_of_people_it_warns_all_the_same(visit: Visit, asked: Plan) -> None:
    page = opened(visit, document(asked, 1000, planned=None))
    expect(page.locator("#progress")).to_contain_text("stop there")
    expect(page.get_by_role("progressbar")).to_have_count(0)


def test_numbers_have_the_digits_of_the_report(visit: Visit, asked: Plan) -> None:
    found = document(asked, 1000)
    page = opened(visit, found)
    age, ill = found["sections"][0]["rows"]
    for row, unit, sign in ((age, 1, ""), (ill, 100, "%")):  # a number in its unit, a share in percent
        card = page.locator(".question", has=page.get_by_role("heading", name=row["label"]))
        value, low, high = (measured(unit * row[end], unit * row["se"]) + sign for end in ("value", "low", "high"))
        expect(card.locator(".value")).to_have_text(value)
        expect(card).to_contain_text(f"95% interval {low} to {high}")
    assert ill["label"] == "ill = yes"  # the value that the share is of


def test_long_lists_are_folded_and_stay_as_they_were_opened(visit: Visit, asked: Plan) -> None:
    first = document(asked, 1000)
    page = opened(visit, first, first, document(asked, 1200))
    shown = page.locator("#estimates .folded > table tbody tr")
    expect(shown).to_have_count(12)
    expect(page.locator("#estimates details table")).to_be_hidden()
    names = shown.locator("th").all_inner_texts()
    assert {"town 3", "town 5"} <= set(names)  # the largest, in the order of the list
    assert names == sorted(names, key=lambda name: int(name.split()[1]))
    page.get_by_text("All 30 of town").click()
    expect(page.locator("#estimates details").get_by_role("row", name="town 29")).to_be_visible()
    page.locator("#estimates table").first.evaluate("(node) => (node.dataset.seen = 'yes')")
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    wait(page, lambda: len(answers) == 1)
    expect(page.locator("[data-seen]")).to_have_count(1)  # nothing new, so nothing moves
    wait(page, lambda: page.locator("#people").inner_text() == "1,200")
    expect(page.locator("#estimates details").get_by_role("row", name="town 29")).to_be_visible()


def test_estimates_are_saved_in_three_forms(visit: Visit, asked: Plan) -> None:
    found = document(asked, 1000)
    page = opened(visit, found)

    def saved(button: str) -> str:
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        path: Path = download.value.path()
        return path.read_text("utf-8")

    assert json.loads(saved("Save as JSON")) == found
    rows = list(csv.DictReader(io.StringIO(saved("Save as CSV"))))
    told = [row for section in found["sections"] for row in section["rows"]]
    assert [(row["label"], float(row["value"])) for row in rows] == [(row["label"], row["value"]) for row in told]
    picture = ElementTree.fromstring(saved("Save a picture"))
    words = [node.text for node in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert words[0] == "Towns"
    assert {"age", "ill = yes"} <= set(words)


def test_it_works_below_a_path(visit: Visit) -> None:
    """Behind a proxy that serves the collector below a path, nothing is asked for outside of it."""
    page = visit.page
    page.route(
        "**/below/**", lambda route: route.fulfill(response=route.fetch(url=route.request.url.replace("/below", "")))
    )
    visit.open("/below/dashboard")
    enter(page, TOKEN)
    expect(page.get_by_role("tab", name="Certificate")).to_be_visible()
    assert {request.url for request in visit.requests if "/below/" not in request.url} == set()
    assert visit.complaints == []


def test_a_request_that_failed_is_forgotten_with_the_next(visit: Visit, asked: Plan) -> None:
    """Also where the results have not changed since."""
    found, answers = document(asked, 1000), ["good", "bad", "good"]
    page = visit.page
    page.clock.install()

    def answer(route: Any) -> None:
        kind = answers.pop(0) if len(answers) > 1 else answers[0]
        route.fulfill(json=found) if kind == "good" else route.fulfill(status=503, json={"detail": "not now"})

    page.route("**/v1/estimates", answer)
    visit.open("/dashboard")
    enter(page, TOKEN)
    good = found["checks"]["said"]
    expect(page.get_by_role("status")).to_have_text(good)
    expect(page.get_by_text("If 1% of the reports are fake, they can shift")).to_have_count(1)
    wait(page, lambda: "could not be read (status 503)" in page.get_by_role("status").inner_text())
    wait(page, lambda: page.get_by_role("status").inner_text() == good)


def test_it_works_where_storage_is_blocked(visit: Visit, asked: Plan) -> None:
    blocked = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError') } })"
    visit.page.add_init_script(blocked)
    page = opened(visit, document(asked, 1200))
    expect(page.locator("#estimates")).to_contain_text("ill = yes")
    expect(page.get_by_text("By day")).to_have_count(1)
    assert visit.complaints == []


def test_it_says_when_results_come(visit: Visit, asked: Plan) -> None:
    waiting = document(asked, 0) | {"waiting": True, "refresh": 250}
    page = opened(visit, waiting, waiting, document(asked, 1000))
    expect(page.get_by_role("status")).to_have_text("Results are shown when at least 250 people more have answered.")
    expect(page.locator("#people")).to_have_text("–")
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect(page.locator("#estimates table")).to_have_count(0)
    wait(page, lambda: page.locator("#people").inner_text() == "1,000")
    expect(page.locator("#estimates")).to_contain_text("New results come after at least 100 people more")
