"""A survey with every type of question: follow-ups appear when they are asked, and nothing tells whether they are."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from bcdp import Plan, Policy, make_plan
from support.npm_packages import npm_packages
from support.web_pages import Visit, begin, go_on, shown_plan, would_send

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def questionnaire() -> Plan:
    features = {
        "region": {"type": "open", "values": ["north", "south"], "label": "Region"},
        "age": {"type": "numeric", "bounds": [0, 100], "label": "Age"},
        "drugs": {"type": "binary", "values": ["no", "yes"], "delta": 0.5, "label": "Drugs, ever"},
        "often": {"type": "ordinal", "values": ["monthly", "weekly", "daily"], "label": "How often",
                  "asked_if": {"drugs": "yes"}, "delta": 0.8},
        "spent": {"type": "numeric", "bounds": [0, 500], "label": "Spent per week",
                  "asked_if": {"often": ["weekly", "daily"]}},
        "media": {"type": "multiple", "values": ["tv", "radio", "print", "web"], "at_most": 2, "delta": 1.0,
                  "items": {"tv": {"delta": 0.5}}, "label": "Media used"},
        "born": {"type": "date", "from": "1940-01-01", "to": "2010-12-31", "unit": "months", "label": "Born in"},
        "moved": {"type": "date", "from": "2000-01-01", "to": "2020-12-31", "missing": "own", "label": "Moved on"},
        "since": {"type": "date", "from": "1990", "to": "2020", "unit": "years", "label": "Employed since"},
        "party": {"type": "categorical", "values": ["red", "blue", "green"], "missing": "own", "label": "Party"},
    }  # fmt: skip
    return make_plan(Policy(epsilon=2, features=features, correlation=0.1))


def choose(page: Page, question: str, answer: str) -> None:
    page.get_by_role("group", name=question).get_by_label(answer, exact=True).check()


def to_drugs(page: Page) -> None:
    """To the third question, which has follow-ups."""
    begin(page)
    choose(page, "Region", "south")
    go_on(page)
    page.get_by_label("Age", exact=True).fill("41")
    go_on(page)


def violations(page: Page) -> list[object]:
    axe = (npm_packages() / "axe-core" / "axe.min.js").read_text("utf-8")
    found: list[object] = page.evaluate(f"async () => {{ {axe}; return (await axe.run()).violations; }}")
    return found


def test_follow_ups_appear_when_they_are_asked(visit: Visit, questionnaire: Plan) -> None:
    page = shown_plan(visit, questionnaire)
    often, spent = page.get_by_role("group", name="How often"), page.get_by_label("Spent per week")
    to_drugs(page)
    expect(often).to_be_hidden()
    choose(page, "Drugs, ever", "yes")
    expect(often).to_be_visible()
    expect(spent).to_be_hidden()
    choose(page, "How often", "weekly")
    expect(spent).to_be_visible()
    choose(page, "Drugs, ever", "no")  # what a follow-up depends on is hidden, and so is the follow-up
    expect(often).to_be_hidden()
    expect(spent).to_be_hidden()
    choose(page, "Drugs, ever", "yes")
    expect(spent).to_be_visible()  # nothing that was entered is lost
    assert not violations(page)


@pytest.mark.parametrize(("width", "rows"), [(1280, 1), (390, 3)])
def test_a_scale_is_one_row_on_wide_screens_and_a_list_on_phones(
    visit: Visit, questionnaire: Plan, width: int, rows: int
) -> None:
    page = shown_plan(visit, questionnaire)
    page.set_viewport_size({"width": width, "height": 900})
    to_drugs(page)
    choose(page, "Drugs, ever", "yes")
    buttons = page.get_by_role("group", name="How often").get_by_role("radio").all()
    tops = {round(box["y"]) for button in buttons if (box := button.bounding_box())}
    assert (len(buttons), len(tops)) == (3, rows)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not violations(page)


@pytest.fixture(scope="module")
def scales() -> Plan:
    scale = {"type": "ordinal", "values": ["disagree", "neither", "agree"]}
    features = {
        "sure": {"type": "binary", "values": ["no", "yes"], "label": "Used it"},
        **{f"s{number}": {**scale, "label": f"Statement {number}"} for number in range(3)},
        "s3": {**scale, "label": "Statement 3", "asked_if": {"sure": "yes"}},
        "other": {"type": "ordinal", "values": ["low", "high"], "label": "Another scale"},
    }
    return make_plan(Policy(epsilon=2, features=features, correlation=0.1))


@pytest.mark.parametrize(("width", "columns"), [(1280, 3), (390, 1)])
def test_questions_with_one_scale_are_a_grid_on_wide_screens(
    visit: Visit, scales: Plan, width: int, columns: int
) -> None:
    page = shown_plan(visit, scales)
    page.set_viewport_size({"width": width, "height": 900})
    begin(page)
    choose(page, "Used it", "no")
    go_on(page)
    expect(page.locator(".grid .field:visible")).to_have_count(3)
    page.go_back()
    choose(page, "Used it", "yes")
    go_on(page)
    rows = page.locator(".grid .field:visible")
    expect(rows).to_have_count(4)
    boxes = [[button.bounding_box() for button in row.get_by_role("radio").all()] for row in rows.all()]
    lefts = {round(box["x"]) for row in boxes for box in row if box}
    assert len(lefts) == columns  # of one scale the buttons are below each other
    assert page.locator(".heads").is_visible() == (width > 1000)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("group", name="Statement 1").get_by_label("disagree").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("group", name="Statement 1").get_by_label("neither")).to_be_checked()
    assert not violations(page)


@pytest.mark.parametrize("drugs", ["no", "yes"])
def test_every_question_is_answered_and_sent(visit: Visit, questionnaire: Plan, drugs: str) -> None:
    page = shown_plan(visit, questionnaire)
    to_drugs(page)
    choose(page, "Drugs, ever", "yes")
    choose(page, "How often", "weekly")
    page.get_by_label("Spent per week").fill("30")
    choose(page, "Drugs, ever", drugs)
    go_on(page)
    media = page.get_by_role("group", name="Media used")
    media.get_by_label("None of these").check()
    for item in ("tv", "radio", "print"):
        media.get_by_label(item, exact=True).check()
    expect(media.get_by_label("None of these")).not_to_be_checked()
    go_on(page)
    expect(media.locator(".remark")).to_have_text("Choose at most 2.")
    media.get_by_label("radio", exact=True).uncheck()
    go_on(page)
    page.get_by_label("Born in").fill("1974-05")
    go_on(page)
    page.get_by_label("Moved on").fill("2031-02-03")
    go_on(page)
    page.get_by_label("Employed since").fill("19")
    go_on(page)
    expect(page.locator(".field", has=page.get_by_label("Employed since")).locator(".remark")).to_have_text(
        "\u201c19\u201d is not a date from 1990 to 2020."
    )
    page.get_by_label("Employed since").fill("2001")
    go_on(page)
    choose(page, "Party", "blue")
    page.get_by_role("button", name="Review my answers").click()
    entered = page.locator("#entered")
    expect(entered).to_contain_text("Drugs, ever")
    expect(entered).to_contain_text("tv, print")
    expect(entered).to_contain_text("May 1974")
    expect(entered).to_contain_text("February 3, 2031, which counts as December 31, 2020")
    assert ("weekly" in entered.inner_text()) == (drugs == "yes")  # a question that is not asked is not answered
    assert not violations(page)
    page.get_by_role("button", name="Show me").click()
    expect(page.locator("#preview")).to_be_visible()
    (report,) = json.loads(would_send(page))["reports"]
    assert report.keys() == {"id", "menu", "answer", "group"}
    assert not violations(page)


def test_no_answer_is_a_choice_like_the_others(visit: Visit) -> None:
    features = {
        "party": {"type": "categorical", "values": ["red", "blue", "green"], "missing": "own", "label": "Party"}
    }
    page = shown_plan(visit, make_plan(Policy(epsilon=1, features=features)))
    begin(page)
    for language, words in {"en": "Prefer not to say", "de": "Keine Angabe", "fr": "Je préfère ne pas répondre",
                            "es": "Prefiero no responder", "ar": "أفضّل عدم الإجابة"}.items():  # fmt: skip
        page.locator("#language").select_option(language)
        choice = page.get_by_role("group", name="Party").get_by_label(words, exact=True)
        choice.check()
        expect(choice).to_be_checked()
    assert not violations(page)


def test_a_follow_up_without_an_answer_is_missed_only_where_it_is_asked(visit: Visit, questionnaire: Plan) -> None:
    page = shown_plan(visit, questionnaire)
    to_drugs(page)
    choose(page, "Drugs, ever", "yes")
    go_on(page)
    expect(page.locator("#look")).not_to_be_empty()
    choose(page, "Drugs, ever", "no")
    expect(page.locator("#look")).to_be_empty()
    go_on(page)
    expect(page.get_by_role("group", name="Media used")).to_be_visible()
