"""The studio's editor in a real browser: open features, lists with commas, a reload, and awkward names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, expect

from bcdp import Policy
from support.studio_pages import SECONDS, Visit, saved
from support.studio_server import Studio

pytestmark = pytest.mark.slow

YES = {"type": "binary", "values": ["no", "yes"]}
OPEN: dict[str, Any] = {
    "epsilon": 1,
    "features": {
        "smoker": {**YES, "delta": 0.3},
        "site": {"type": "open", "values": ["a", "b"]},
        "town": {"type": "categorical", "values": ["Paris, Texas", "Rome"]},
    },
    "correlation": {"odds": 3, "q": 0.2},
}


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


def begin(visit: Visit, policy: dict[str, Any]) -> None:
    content = {"name": "policy.yaml", "mimeType": "text/yaml", "buffer": json.dumps(policy).encode()}
    visit.page.get_by_label("A file of yours").set_input_files([content])  # type: ignore[list-item]
    visit.ready()


def policy_of(visit: Visit) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(saved(visit.page, "policy.yaml"))
    return found


def test_there_is_no_editor_before_there_is_a_policy(visit: Visit) -> None:
    expect(visit.page.get_by_role("button", name="A survey about pay")).to_be_visible()
    for words in ("What is asked", "How well, and for how many", "What you want to know"):
        expect(visit.page.get_by_text(words, exact=True)).to_be_hidden()


def test_open_features_are_planned_and_never_promised_anything(visit: Visit) -> None:
    page = visit.page
    begin(visit, OPEN)
    row = page.locator("#features tbody tr").nth(1)
    expect(row).to_contain_text("Sent as it is, not protected.")
    expect(page.get_by_label("Kind of feature 2")).to_have_value("open")
    expect(page.get_by_role("slider", name="Protection of site")).to_have_count(0)
    for shown in ("#learned tbody th", "#promises tbody th", "#menus thead th"):
        assert "site" not in page.locator(shown).all_inner_texts()
    expect(page.locator("#promises")).to_contain_text("site: Sent as it is, not protected.")
    expect(page.locator("#promises tbody").first).to_contain_text("site")  # conditions hold within its groups
    assert page.locator("#menus tbody tr").first.locator("td").count() == 2
    assert "site" not in page.locator("#curve-feature option").all_inner_texts()
    expect(page.locator("#tasks")).not_to_contain_text("site:")
    assert Policy.parse(policy_of(visit)).open.keys() == {"site"}
    page.get_by_label("Kind of feature 1").select_option("open")
    visit.ready()
    assert Policy.parse(policy_of(visit)).features.keys() == {"town"}
    page.get_by_label("Kind of feature 2").select_option("categorical")
    visit.ready()
    assert Policy.parse(policy_of(visit)).features.keys() == {"site", "town"}


def test_values_with_commas_stay_whole(visit: Visit) -> None:
    page = visit.page
    begin(visit, OPEN)
    values = page.get_by_label("Values of feature 3")
    expect(values).to_have_value('"Paris, Texas", Rome')
    values.fill('"Paris, Texas", Rome, Oslo')
    values.press("Tab")
    visit.ready()
    assert policy_of(visit)["features"]["town"]["values"] == ["Paris, Texas", "Rome", "Oslo"]


def test_a_reload_keeps_what_was_edited(visit: Visit) -> None:
    page = visit.page
    begin(visit, OPEN)
    name = page.get_by_label("Name of feature 1", exact=True)
    name.fill("smokes")
    name.press("Tab")
    visit.ready()
    page.reload()
    visit.ready()
    expect(page.get_by_label("Name of feature 1", exact=True)).to_have_value("smokes")
    assert list(policy_of(visit)["features"]) == ["smokes", "site", "town"]


def test_it_works_where_storage_is_blocked(browser: Browser, studio: Studio) -> None:
    visit = Visit(browser, "about:blank")
    blocked = (
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('', 'SecurityError') } })"
    )
    visit.page.add_init_script(blocked)
    visit.page.goto(studio.address)
    begin(visit, OPEN)
    assert visit.complaints == []
    visit.context.close()


def test_a_feature_named_weight_takes_no_table_with_it(visit: Visit) -> None:
    features = {"weight": YES, "a": YES, "b": YES}
    tasks = [{"mean": ["weight", "a"]}, {"table": ["a", "b"], "weight": 2.0}]
    begin(visit, {"epsilon": 1, "features": features, "tasks": tasks})
    visit.page.get_by_role("button", name="Remove weight").click()
    visit.ready()
    assert policy_of(visit)["tasks"] == [{"mean": ["a"]}, {"table": ["a", "b"], "weight": 2.0}]


def test_tasks_of_little_use_are_marked(visit: Visit) -> None:
    begin(visit, {"epsilon": 0.3, "features": {"a": YES, "b": YES}, "tasks": [{"table": ["a", "b"]}]})
    marked = visit.page.locator("#learned .note.warn", has_text="table of a and b: of little use")
    expect(marked).to_contain_text("with 10,000 people; about")


def text_of(visit: Visit) -> Any:
    """The field with the whole policy, opened."""
    if not visit.page.locator("#whole").evaluate("(node) => node.open"):
        visit.page.get_by_text("The whole policy as text").click()
    return visit.page.get_by_label("The policy as text")


def test_it_starts_from_nothing_and_the_start_folds_away(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="A blank survey").click()
    visit.ready()
    expect(page.get_by_role("button", name="A blank survey")).to_be_hidden()
    page.get_by_text("Start anew").click()
    expect(page.get_by_role("button", name="A survey about pay")).to_be_visible()
    assert list(policy_of(visit)["features"]) == ["question 1"]


def test_more_protection_is_to_the_right_and_agrees_with_the_certificate(visit: Visit) -> None:
    begin(visit, {"epsilon": 2, "correlation": 1, "features": {"ill": {"type": "binary", "delta": 0.2},
                                                               "old": {"type": "binary"}}})  # fmt: skip
    place = visit.page.get_by_role("slider", name="Protection of ill")
    strict, loose = (
        int(visit.page.get_by_role("slider", name=f"Protection of {n}").input_value()) for n in ("ill", "old")
    )
    assert (loose, strict > 40) == (0, True)
    before = visit.page.get_by_role("table", name="By how much whoever sees a report").get_by_role("row", name="ill")
    assert before.inner_text().count("55.0%") == 1
    expect(place).to_have_attribute("aria-valuetext", re.compile("at most 55.0%"))


def test_the_text_and_the_fields_stay_in_step(visit: Visit) -> None:
    """What has no field is edited as text; a mistake is named, and changes nothing."""
    page = visit.page
    begin(visit, OPEN)
    text = text_of(visit)
    expect(text).to_have_value(re.compile("smoker"))
    changed = {**yaml.safe_load(text.input_value()), "liars": 2}
    text.fill(yaml.safe_dump(changed, sort_keys=False))
    text.press("Tab")
    expect(page.locator("#text-problems .note")).to_contain_text("liars")
    assert page.locator("body").get_attribute("data-state") == "ready"  # nothing was planned
    assert "liars" not in policy_of(visit)
    changed = {**OPEN, "features": {**OPEN["features"], "smoker": {**OPEN["features"]["smoker"], "missing": "own",
                                                                   "help": "Any tobacco."}}}  # fmt: skip
    text.fill(yaml.safe_dump(changed, sort_keys=False))
    text.press("Tab")
    page.wait_for_selector("body[data-state=planning]", state="attached")
    visit.ready()
    expect(page.locator("#text-problems .note")).to_have_count(0)
    assert policy_of(visit)["features"]["smoker"]["missing"] == "own"
    name = page.get_by_label("Name of feature 1", exact=True)
    name.fill("smokes")
    name.press("Tab")
    visit.ready()
    expect(text_of(visit)).to_have_value(re.compile("smokes:"))
    page.reload()
    visit.ready()
    assert policy_of(visit)["features"]["smokes"]["help"] == "Any tobacco."
