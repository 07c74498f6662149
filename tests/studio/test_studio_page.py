"""The studio in a real browser: from nothing to a collection and its estimates without a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from bcdp import Plan, Policy
from bcdp.present.fake_shifts import fake_shifts
from bcdp.present.promise import promises
from bcdp.studio import load_templates
from support.npm_packages import npm_packages
from support.studio_pages import SECONDS, Visit, saved
from support.studio_server import Studio, as_csv, records
from support.web_pages import ask, begin, go_on

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _patience() -> Iterator[None]:
    expect.set_options(timeout=SECONDS)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    running = Studio(tmp_path_factory.mktemp("studio"))
    yield running
    running.end()


@pytest.fixture
def visit(browser: Browser, studio: Studio) -> Iterator[Visit]:
    visit = Visit(browser, studio.address)
    yield visit
    assert visit.complaints == []
    visit.context.close()


def slide(page: Page, label: str, place: int) -> None:
    """Moves a slider as a hand does: it tells where it is, then that it was let go."""
    page.get_by_role("slider", name=label).evaluate(
        """(node, place) => { node.value = place; node.dispatchEvent(new Event("input", { bubbles: true }));
        node.dispatchEvent(new Event("change", { bubbles: true })); }""",
        place,
    )


def dropped(name: str) -> Any:
    return {"name": name, "mimeType": "text/csv", "buffer": as_csv(records())}


def test_from_nothing_to_estimates_without_a_terminal(visit: Visit, studio: Studio, tmp_path: Path) -> None:
    page = visit.start("A survey about pay")
    learned = page.locator("#learned")
    expect(learned).to_contain_text("100,000 ±")
    before = learned.inner_text()
    condition = "if your assumption below holds"
    expect(page.locator("#features .slide", has_text="0.4: a guess")).to_contain_text(condition)
    slide(page, "Protection of salary", 0)
    page.wait_for_selector("body[data-state=planning]", state="attached")
    visit.ready()
    assert learned.inner_text() != before
    (tmp_path / "policy.yaml").write_text(saved(page, "policy.yaml"))
    policy = Policy.load(tmp_path / "policy.yaml")
    assert policy.features["salary"].delta == policy.epsilon == 2
    plan = Plan.parse(saved(page, "plan.json"))
    assert plan.policy.features == policy.features
    told = [promise.told for promise in promises(plan).values()]
    assert page.locator("#promises tbody tr td:nth-child(2)").all_inner_texts()[: len(told)] == told
    assert "What is promised" in saved(page, "The report page")

    page.get_by_role("button", name="See it as people will").click()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="The page as people will see it").click()
    preview = opened.value
    begin(preview)
    expect(preview.get_by_label("Your yearly pay before tax")).to_be_visible()
    preview.close()

    page.get_by_role("button", name="Collect now").click()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Where people answer").click()
    survey = opened.value
    begin(survey)
    survey.get_by_label("Your yearly pay before tax").fill("41000")
    go_on(survey)
    for question, choice in (("Did you get a bonus", "yes"), ("Are you looking", "no")):
        survey.get_by_role("group", name=question).get_by_label(choice).check()
        go_on(survey)
    survey.get_by_label("Years in this profession").fill("7")
    go_on(survey)
    survey.get_by_role("group", name="Where do you work").get_by_label("sales").check()
    ask(survey)
    survey.get_by_role("button", name="Send it").click()
    expect(survey.get_by_role("status")).to_contain_text("Your answer was received")

    with page.expect_popup() as opened:
        page.get_by_role("link", name="Your dashboard").click()
    dashboard = opened.value
    expect(dashboard.get_by_role("status")).to_contain_text("when at least 100 people more have answered")
    expect(dashboard.locator("#certificate")).to_contain_text("Your yearly pay before tax")
    assert "token" not in dashboard.url
    elsewhere = [url for url in visit.requests if not re.match(r"(http://127\.0\.0\.1:\d+/|blob:http://127)", url)]
    assert elsewhere == []


def test_people_rescale_at_once_and_the_planner_confirms(visit: Visit) -> None:
    page = visit.start("A survey about pay")
    slider = page.get_by_role("slider", name="People who will answer")
    visit.page.route("**/api/numbers", lambda route: None)  # the planner says nothing
    slide(page, "People who will answer", 60)
    expect(page.locator("#learned caption")).to_contain_text("With 100,000 people")
    scaled = page.locator("#learned tbody").inner_text()
    visit.page.unroute_all(behavior="ignoreErrors")
    expect(slider).to_have_attribute("aria-valuetext", "100,000 people")
    slide(page, "People who will answer", 40)
    slide(page, "People who will answer", 60)
    visit.ready()
    assert page.locator("#learned tbody").inner_text() == scaled
    expect(page.locator("#commands")).to_contain_text("--users 100000")
    expect(page.locator("#counts")).to_contain_text("It holds for one tally, seen without single reports")


def test_fake_reports_are_bounded_for_a_stated_share(visit: Visit) -> None:
    """The numbers are those of `bcdp plan --liars`; another share changes them without a new plan."""
    page = visit.start("A survey about pay")
    section, plan = page.locator("#fakes"), Plan.parse(saved(page, "plan.json"))
    planned = [url for url in visit.requests if url.endswith("/api/plan")]
    for share, words in ((0.01, "1%"), (0.05, "5%")):
        page.get_by_label("Share of fake reports").select_option(words)
        expect(section.locator("caption")).to_contain_text(f"If {words} of the reports are fake")
        shown = dict(row.split("\t") for row in section.locator("tbody").inner_text().split("\n"))
        shifts = fake_shifts(plan, share)
        assert list(shown) == list(shifts)
        assert float(shown["salary"].replace(",", "")) == pytest.approx(shifts["salary"], rel=0.05)
        assert float(shown["bonus"].split(" points")[0]) == pytest.approx(100 * shifts["bonus"], rel=0.05)
    assert [url for url in visit.requests if url.endswith("/api/plan")] == planned


def test_changes_are_undone_and_problems_stand_at_their_fields(visit: Visit) -> None:
    page = visit.start("A survey about pay")
    name = page.get_by_label("Name of feature 1", exact=True)
    name.fill("pay")
    name.press("Tab")
    expect(page.get_by_role("slider", name="Protection of pay")).to_be_visible()
    expect(page.locator("#tasks")).to_contain_text("pay: mean")
    least = page.get_by_label("Least value of feature 1")
    least.fill("500000")
    least.press("Tab")
    expect(page.locator("#features .problem").first).to_contain_text("two finite numbers, low < high")
    expect(least).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Name of feature 1", exact=True)).to_have_value("salary")
    visit.ready()
    expect(page.locator(".problem")).to_have_count(0)
    page.get_by_role("button", name="Remove bonus").click()
    page.get_by_role("button", name="Add a feature").click()
    expect(page.locator("#tasks")).to_contain_text("question 5: share")
    page.get_by_label("Kind of feature 5").select_option("numeric")
    expect(page.locator("#features .problem").first).to_contain_text("in place of FILL")


def test_a_promise_that_the_browser_does_not_confirm_is_not_shown(visit: Visit) -> None:
    """The server claims a smaller level than the tables keep."""

    def cheat(route: Any) -> None:
        answer = route.fetch(timeout=SECONDS)
        found = re.sub(r'(\\"certified\\":)0\.\d+', r"\g<1>0.01", answer.text(), count=1)
        assert found != answer.text()
        route.fulfill(response=answer, body=found)

    visit.page.route("**/api/plan", cheat)
    page = visit.page
    page.get_by_role("button", name="A survey about pay").click()
    expect(page.get_by_role("status").first).to_contain_text("does not confirm")
    expect(page.locator("#promises")).to_be_empty()
    expect(page.locator("#out")).to_be_hidden()
    assert page.locator("body[data-state=ready]").count() == 0


def test_a_file_of_records_gives_its_columns(visit: Visit) -> None:
    page = visit.page
    page.get_by_label("A file of yours").set_input_files([dropped("people.csv")])
    expect(page.get_by_label("Name of feature 2", exact=True)).to_have_value("age")
    expect(page.locator("#features .problem").first).to_contain_text("in place of FILL")
    for place in (1, 2):
        for end, value in (("Least", "0"), ("Greatest", "100")):
            page.get_by_label(f"{end} value of feature {place}").fill(value)
            page.get_by_label(f"{end} value of feature {place}").press("Tab")
    visit.ready()
    sample = [dropped("sample.csv")]
    page.get_by_label("A sample or a prior, to measure").set_input_files(sample)
    # 200 records bound nothing about all other features together, and no guide takes the place of a limit
    expect(page.locator("#measured")).to_contain_text("No number for all other features together holds in these 200")
    visit.ready()
    expect(page.locator("#measured")).to_contain_text("{pilot: FILE}")  # still there next to the plan
    page.get_by_label("Check a file of records").set_input_files(sample)
    expect(page.locator("#checked")).to_contain_text("200 records; the file can be used as it is.")


def test_tables_and_distributions_have_their_cost_too(visit: Visit) -> None:
    page = visit.start("How a product is used")
    rows = page.locator("#learned tbody tr")
    told = rows.all_inner_texts()
    assert any(row.startswith("table of crashed and version, each cell") for row in told)
    assert any(row.startswith("distribution of minutes, below each edge") for row in told)
    assert all("times the people" in row for row in told)


def test_trade_offs_are_drawn_and_ways_out_computed(visit: Visit) -> None:
    page = visit.start("A survey about pay")
    slide(page, "People who will answer", 15)
    visit.ready()
    warning = page.locator(".note.warn").first
    expect(warning).to_contain_text("of little use with 560 people")
    warning.get_by_role("button", name="What would make it useful?").click()
    expect(warning.locator("li").first).to_contain_text("people, for ±")
    page.locator("#curve-axis").select_option("people")
    expect(page.locator("#curve svg")).to_be_visible()
    expect(page.locator("#curve .said")).to_contain_text("of little use below")
    page.locator("#curve-axis").select_option("odds")
    expect(page.locator("#curve .point").nth(2)).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_hinders_anybody(browser: Browser, studio: Studio, width: int, scheme: str) -> None:
    """No violation of axe, and nothing wider than the screen."""
    axe = (npm_packages() / "axe-core" / "axe.min.js").read_text("utf-8")
    visit = Visit(browser, studio.address, width, scheme)
    page = visit.page
    check = f"async () => {{ {axe}; return (await axe.run()).violations.map((v) => [v.id, v.nodes[0].html]); }}"
    assert page.evaluate(check) == []
    visit.start(load_templates()[0].title)
    expect(page.locator("#curve svg")).to_be_visible()
    assert page.evaluate(check) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".seen").evaluate("(node) => node.scrollWidth <= node.clientWidth")
    visit.context.close()
