"""What can go wrong on the survey page, each in a real browser: told in words, with a way on, and nothing lost."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from bcdp import Plan, Policy, make_plan
from bcdp.exact import TOTAL
from bcdp.plan import menu_of_ticket
from bcdp.plan.ledger import release_of
from bcdp.randomizers import binary
from support.npm_packages import npm_packages
from support.web_pages import Visit, ask, assert_readable, begin, fill, go_on, send, shown_plan, would_send
from support.web_reviews import FULL, review

pytestmark = pytest.mark.slow


# ------------------------------------------------------------------------------------------------------------- the form


def test_no_click_is_lost_when_a_mistake_was_mended(visit: Visit) -> None:
    """The button stands where it was pressed until it is let go, though the field is left in between."""
    page = visit.open()
    begin(page)
    age = page.get_by_label("age", exact=True)
    age.fill("x")
    button = page.get_by_role("button", name="Next")
    button.click()
    expect(page.locator("#questions .error")).to_have_text("“x” is not a number from 18 to 100.")
    age.fill("71")
    expect(page.locator("#questions .error")).to_have_count(0)
    before = button.bounding_box()
    assert before is not None
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + 3)  # at its edge
    page.mouse.down()
    page.wait_for_timeout(100)
    assert button.bounding_box() == before
    page.mouse.up()
    expect(page.get_by_label("Yearly income")).to_be_visible()


def test_enter_makes_no_answer(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    page.locator("#next").press("Enter")
    expect(page.get_by_role("heading", name="Your answers, as this page read them")).to_be_focused()
    page.keyboard.press("Enter")  # a key that is held repeats
    expect(page.locator("#entered")).to_contain_text("41,000 (41 thousand)")
    expect(page.locator("#preview")).to_be_hidden()
    assert visit.kept() == {}
    page.get_by_role("button", name="Change: age").click()
    expect(page.get_by_label("age", exact=True)).to_have_value("44")
    page.get_by_label("age", exact=True).press("Enter")  # and back, without all the questions between
    expect(page.locator("#entered")).to_contain_text("41,000 (41 thousand)")
    assert visit.kept() == {}


OPTIONAL = {
    "smoker": {"type": "binary", "missing": 0, "label": "Do you smoke?"},
    "county": {"type": "categorical", "values": [f"county {i}" for i in range(12)], "missing": "county 3"},
    "town": {"type": "categorical", "values": [f"town {i}" for i in range(400)], "missing": "town 7"},
}


def test_there_is_a_way_back_to_no_answer(visit: Visit) -> None:
    page = shown_plan(visit, make_plan(Policy(epsilon=1, features=OPTIONAL)))
    begin(page)
    group = page.get_by_role("group", name="Do you smoke?")
    none = group.get_by_label("No answer (counts as no)")
    expect(none).not_to_be_checked()
    group.get_by_label("yes").check()
    none.check()
    go_on(page)
    page.get_by_label("county").select_option("county 5")
    page.get_by_label("county").select_option("No answer")
    go_on(page)
    review(page)
    assert page.locator("#entered dd").all_inner_texts() == ["No answer"] * 3


def test_a_long_list_is_searched(visit: Visit) -> None:
    page = shown_plan(visit, make_plan(Policy(epsilon=1, features={"town": {**OPTIONAL["town"], "missing": None}})))
    begin(page)
    towns = page.get_by_role("listbox", name="town")
    expect(page.get_by_text("200 more: type a part of the word")).to_be_visible()
    page.get_by_label("Search in this list").fill("WN 39")
    expect(towns.get_by_role("option")).to_have_text(["town 39", *(f"town {i}" for i in range(390, 400))])
    towns.select_option("town 397")
    page.get_by_label("Search in this list").fill("none of them")
    expect(towns.get_by_role("option")).to_have_text(["town 397"])  # what was chosen stays
    review(page)
    expect(page.locator("#entered dd")).to_have_text("town 397")


def test_a_survey_of_many_questions_draws_one_of_them(visit: Visit) -> None:
    """Of 60 questions with a list of 10,000 values, and of the list as much as can be looked at."""
    features = {f"q{n}": {"type": "binary", "missing": 0} for n in range(59)}
    values = [f"town {n}" for n in range(10_000)]
    page = shown_plan(
        visit, make_plan(Policy(epsilon=2, features={"town": {"type": "categorical", "values": values}, **features}))
    )
    count = "document.querySelectorAll('#questions *').length"
    begin(page)
    assert 200 < page.evaluate(count) < 250
    page.get_by_label("Search in this list").fill("town 9999")
    page.get_by_role("listbox").select_option("town 9999")
    go_on(page)
    assert 0 < page.evaluate(count) < 30
    expect(page.locator("#progress-title")).to_have_text("2 of 60")


def numbers(visit: Visit, language: str) -> Page:
    features = {"income": {"type": "numeric", "bounds": [0, 200_000]}, "years": {"type": "numeric", "bounds": [0, 100]}}
    visit.page.add_init_script(f"localStorage.setItem('bcdp.language', '{language}')")
    page = shown_plan(visit, make_plan(Policy(epsilon=1, features=features)))
    begin(page)
    return page


@pytest.mark.parametrize(("language", "typed", "read"), [
    ("en", "41,000", "41,000 (41 thousand)"), ("de", "41.000", "41.000 (41 Tausend)"), ("fr", "41 000,5", "41 000,5"),
    ("es", "٤١٠٠٠", "41.000 (41 mil)"), ("ar", "٤١٬٠٠٠", "41,000"), ("en", "€41,000", "41,000 (41 thousand)"),
    ("de", "200.000 € oder mehr", "200.000 (200 Tausend)"), ("en", "200,000+", "200,000 (200 thousand)"),
])  # fmt: skip
def test_typed_numbers_are_shown_back(visit: Visit, language: str, typed: str, read: str) -> None:
    page = numbers(visit, language)
    page.get_by_label("income").fill(typed)
    expect(page.locator(".remark").first).to_contain_text(read.replace("\u00a0", "\u202f"))
    go_on(page)
    page.get_by_label("years").fill("44")
    review(page)
    expect(page.locator("#entered dd").first).to_contain_text(read)


def test_what_may_be_two_numbers_is_asked(visit: Visit) -> None:
    page = numbers(visit, "en")
    income = page.get_by_label("income")
    income.fill("41.000")
    expect(page.get_by_text("“41.000” may mean two numbers. Which one do you mean?")).to_be_visible()
    go_on(page)
    expect(income).to_be_focused()
    page.get_by_role("button", name="41,000 (41 thousand)").click()
    expect(page.get_by_text("Read as 41,000 (41 thousand).")).to_be_visible()
    go_on(page)
    page.get_by_label("years").fill("44.000")  # only one of its readings is an age
    review(page)
    assert page.locator("#entered dd").all_inner_texts() == ["41,000 (41 thousand)", "44"]
    page.get_by_role("button", name="Change: income").click()
    for refused in ("0x10", "1e5", "many", "50,000 or more"):
        income.fill(refused)
        income.blur()
        expect(page.get_by_text(f"“{refused}” is not a number from 0 to 200,000.")).to_be_visible()


# ------------------------------------------------------------------------------------------------------------- failures


def answering(status: int, **headers: str) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=status, headers=headers, body="{}")


def silent(route: Route) -> None:
    """Never answers."""


@pytest.mark.parametrize(("path", "does", "words"), [
    ("**/v1/plan", answering(503), "the server has no plan for it (status 503). Please come back later."),
    ("**/v1/plan", answering(429, **{"retry-after": "7"}), "Please wait 7 seconds."),
    ("**/v1/plan", lambda route: route.abort(), "the server cannot be reached. Please look whether you are connected."),
    ("**/v1/plan", lambda route: route.fulfill(body="x" * (4 * 2**20 + 1)), "its plan is too large for a page."),
    ("**/v1/plan", lambda route: route.fulfill(body="{}"), "plan: got"),
    ("**/worker.js", lambda route: route.abort(), "the server cannot be reached."),
    ("**/survey.js", lambda route: route.abort(), "A part of this page did not arrive."),
    ("**/survey.js", lambda route: route.fulfill(body="const = 1", content_type="text/javascript"), "did not arrive"),
])  # fmt: skip
def test_a_page_that_cannot_start_says_why(visit: Visit, path: str, does: Callable[[Route], None], words: str) -> None:
    visit.page.route(path, does)
    page = visit.open()
    expect(page.get_by_role("status")).to_contain_text(words)
    expect(page.locator("#intro")).to_be_hidden()
    page.unroute(path)
    page.get_by_role("button", name="Reload the page").click()
    expect(page.locator("#start")).to_be_visible()


def test_an_old_browser_is_told(visit: Visit) -> None:
    visit.page.add_init_script("delete Object.hasOwn")
    expect(visit.open().get_by_role("status")).to_contain_text("This browser is too old for this survey.")


@pytest.mark.parametrize(("path", "seconds", "words"), [
    ("**/v1/plan", 21, "the server did not answer in time."), ("**/worker.js", 31, "takes too long on this device."),
    ("**/survey.js", 21, "A part of this page did not arrive."),
])  # fmt: skip
def test_nothing_is_waited_for_without_end(visit: Visit, path: str, seconds: int, words: str) -> None:
    visit.page.clock.install()
    visit.page.route(path, silent)
    visit.page.goto(visit.server, wait_until="commit")
    expect(visit.page.get_by_role("status")).to_contain_text("…")
    for _ in range(seconds):
        visit.page.clock.run_for(1000)
        visit.page.wait_for_timeout(10)
    expect(visit.page.get_by_role("status")).to_contain_text(words)
    visit.page.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize(("does", "words", "wait"), [
    (answering(429, **{"retry-after": "6"}), "Please wait 6 seconds. You may try again", 6),
    (answering(409), "this survey has changed meanwhile. Reload the page", 0),
    (lambda route: route.abort(), "the server cannot be reached.", 0),
    (lambda route: route.fulfill(status=422, json={"detail": "no ticket"}), "the server refused it (“no ticket”).", 0),
    (lambda route: route.fulfill(body="<html>Welcome to our Wi-Fi</html>"), "what answered was not the collector.", 0),
    (lambda route: route.fulfill(json={"accepted": 0, "duplicate": 0}), "what answered was not the collector.", 0),
])  # fmt: skip
def test_a_message_that_is_not_taken_can_be_sent_again(
    visit: Visit, does: Callable[[Route], None], words: str, wait: int
) -> None:
    visit.page.clock.install()
    page = visit.open()
    fill(page)
    ask(page)
    page.route("**/v1/reports", does)
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_contain_text(words)
    again = page.get_by_role("button", name="Try again")
    if wait:
        page.clock.run_for((wait - 1) * 1000)
        expect(again).to_be_disabled()
    page.clock.run_for(1001)
    page.unroute("**/v1/reports")
    again.click()
    expect(page.get_by_role("status")).to_have_text("Your answer was received. Thank you!")
    assert len(set(visit.sent())) == 1


def test_a_full_storage_makes_no_answer_and_loses_none(visit: Visit) -> None:
    page = visit.open()
    page.evaluate(FULL.replace("WHICH", "/report/"))
    fill(page)
    review(page)
    page.get_by_role("button", name="Show me").click()
    expect(page.get_by_role("status")).to_contain_text("this browser's storage is full")
    assert not any("report" in key for key in visit.kept())
    expect(page.locator("#entered")).to_contain_text("41,000 (41 thousand)")  # and can be sent when there is room
    page.evaluate("() => { Storage.prototype.setItem = window.roomy; }")
    page.get_by_role("button", name="Show me").click()
    expect(page.locator("#preview")).to_be_visible()
    page.evaluate(FULL.replace("WHICH", "/./"))  # full from now on
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_contain_text(
        "Your answer was received. Thank you! This browser's storage is full"
    )


# ------------------------------------------------------------------------------------------- shared devices and tickets


def test_another_person_starts_anew_and_sees_nothing(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    ask(page)
    first = would_send(page)
    page.reload()  # made, and not sent
    expect(page.locator("#gate")).to_be_visible()
    assert json.loads(first)["reports"][0]["id"] not in page.content()
    page.get_by_role("button", name="I am another person").click()
    begin(page)
    expect(page.get_by_label("age", exact=True)).to_have_value("")
    page.go_back()
    assert not any("report" in key or key == "bcdp.ledger" for key in visit.kept())
    fill(page)
    ask(page)
    assert json.loads(would_send(page))["reports"][0]["id"] != json.loads(first)["reports"][0]["id"]
    send(page)


def test_a_ticket_that_was_used_elsewhere_is_told(visit: Visit) -> None:
    page = visit.open("/#ticket=used.elsewhere")
    fill(page)
    ask(page)
    page.route("**/v1/reports", lambda route: route.fulfill(json={"accepted": 0, "duplicate": 1}))
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_contain_text("This invitation had been used before")
    expect(page.locator(".note.good:visible")).to_have_count(0)


def test_a_repetition_of_ones_own_is_no_other_use(visit: Visit) -> None:
    """The connection failed after the collector had taken the message."""
    page = visit.open("/#ticket=mine.1")
    fill(page)
    ask(page)

    def lost(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/v1/reports", lost)
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_contain_text("could not be sent")
    page.unroute("**/v1/reports")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("status")).to_have_text("This answer had already been received: it counts once.")


def test_without_a_ticket_nothing_is_filled_in(visit: Visit, plan: Plan) -> None:
    invited = {"bcdp-tickets": "required"}
    visit.page.route("**/v1/plan", lambda route: route.fulfill(body=plan.text, headers=invited))
    page = visit.open()
    expect(page.get_by_role("status")).to_contain_text("This survey is by invitation, and this address has none.")
    expect(page.locator("#intro")).to_be_hidden()
    page.goto(f"{visit.server}/#ticket=a.b")
    page.reload()
    expect(page.locator("#start")).to_be_visible()


def test_a_ticket_assigns_the_menu_and_names_the_report(visit: Visit) -> None:
    features = {"smoker": {"type": "binary"}, "driver": {"type": "binary"}}
    plan = make_plan(Policy(epsilon=1, features=features, menu_from="ticket"))
    assert len(plan.menus) > 1
    visit.page.route("**/v1/plan", lambda route: route.fulfill(body=plan.text, headers={"bcdp-tickets": "required"}))
    drawn = set()
    for ticket in ("a.1", "a.2", "a.3", "a.4", "a.5", "a.6"):
        visit.open(f"/#ticket={ticket}")
        page = visit.page
        page.evaluate("localStorage.clear()")
        page.reload()
        yes_to(page, "smoker", "driver")
        ask(page)
        (report,) = json.loads(would_send(page))["reports"]
        assert report["id"] == ticket
        assert report["menu"] == menu_of_ticket(plan, ticket)
        drawn.add(report["menu"])
    assert len(drawn) > 1
    assert visit.complaints == []


def yes_to(page: Page, *questions: str) -> None:
    begin(page)
    for number, question in enumerate(questions):
        if number:
            go_on(page)
        page.get_by_role("group", name=question).get_by_label("yes").check()


# ---------------------------------------------------------------------------------------------------------- the ledger


def one(epsilon: float, label: str) -> Plan:
    return make_plan(Policy(epsilon=epsilon, features={"smoker": {"type": "binary", "label": label}}))


def test_surveys_of_a_site_add_up(visit: Visit) -> None:
    page = shown_plan(visit, one(1.0, "first"))
    yes_to(page, "first")
    ask(page)
    page.unroute_all()
    page = shown_plan(visit, one(1.0, "second"))
    expect(page.locator("#hint-total")).to_contain_text("With this survey it would be 7.39 times.")  # e^2
    page.get_by_text("My own limits").click()
    total = page.get_by_label("All surveys that this browser has answered")
    total.fill("7")
    page.locator("#start").click()
    expect(page.locator("#limit-error")).to_have_text("This survey tells more than your limits allow.")
    expect(page.locator("#form")).to_be_hidden()
    total.fill("7.4")
    yes_to(page, "second")
    ask(page)
    assert [row["epsilon"] for row in json.loads(visit.kept()["bcdp.ledger"])] == pytest.approx([1, 1], abs=1e-6)


def unequal() -> Plan:
    """A plan whose two menus reveal differently much, each about its own feature."""
    features = {name: {"type": "binary"} for name in ("calm", "wild")}
    document = {
        **{"bcdp": 1, "mechanism": "survey", "channels": [], "collection": {"epsilon": 3.0, "features": features}},
        "correlation": {"kind": "per feature", "source": "a guess", "default": 0.25, "named": {}},
        "tables": [binary(0.5).to_dict(), binary(3.0).to_dict()],
        "questions": [{"features": [name], "levels": [2], "table": n} for n, name in enumerate(features)],
        "menus": [{"weight": TOTAL // 2, "questions": [n]} for n in range(2)],
    }
    return Plan.certified(document)


@pytest.mark.parametrize("menu", [0, 1])
def test_the_ledger_has_the_release_of_the_menu_that_was_drawn(visit: Visit, menu: int) -> None:
    """As Python's ledger counts it; rows of earlier versions, which have an epsilon alone, count by that and stay."""
    plan, first = unequal(), 0 if menu == 0 else TOTAL // 2
    visit.context.add_init_script('localStorage.setItem(\'bcdp.ledger\', \'[{"plan":"before","epsilon":0.25}]\')')
    page = visit.page
    page.route(
        "**/worker.js", lambda route: route.fulfill(response=(it := route.fetch()), body=drawing(first) + it.text())
    )
    shown_plan(visit, plan)
    hint = page.locator("#hint-total")
    expect(hint).to_contain_text(
        f"it would be {rounded_up(0.25 + plan.certificate.epsilon)} times."
    )  # the largest menu
    yes_to(page, "calm", "wild")
    ask(page)
    release = release_of(plan, menu=menu)
    before, row = json.loads(visit.kept()["bcdp.ledger"])
    assert before == {"plan": "before", "epsilon": 0.25}
    levels = {"c": dict(release.c), "delta": dict(release.delta)}
    assert row == {"plan": plan.id, "epsilon": release.epsilon, "open": [], **levels}
    expect(hint).to_contain_text(f"it would be {rounded_up(0.25 + release.epsilon)} times.")
    page.get_by_text("My own limits").click()
    total = page.get_by_label("All surveys that this browser has answered")
    factor = math.exp(0.25 + release.epsilon)
    total.fill(f"{factor - 0.05:.2f}")
    page.get_by_role("button", name="Send it").click()
    expect(page.locator("#limit-error")).to_have_text("This survey tells more than your limits allow.")
    total.fill(f"{factor + 0.05:.2f}")
    expect(page.locator("#limit-error")).to_be_hidden()


def rounded_up(level: float) -> str:
    """The factor of a level, in hundredths."""
    return f"{math.ceil(100 * math.exp(level)) / 100:.2f}"


def drawing(word: int) -> str:
    """A script in front of the device's: the first random word, which draws the menu, is this one."""
    return (
        "const random = crypto.getRandomValues.bind(crypto);"
        "crypto.getRandomValues = (words) => {"
        f"random(words); if (words instanceof Uint32Array) words[0] = {word}; return words; }};\n"
    )


def test_two_tabs_do_not_race(visit: Visit) -> None:
    """While one tab holds the lock the other makes no answer; then it finds what the first has kept."""
    other = visit.context.new_page()
    for page in (visit.page, other):
        page.goto(visit.server)
        fill(page)
        review(page)
    other.evaluate(
        "() => new Promise((held) => void navigator.locks.request('bcdp', () => new Promise((free) => {"
        "window.free = free; held(); })))"
    )
    visit.page.get_by_role("button", name="Show me").click()
    visit.page.wait_for_timeout(300)
    expect(visit.page.locator("#preview")).to_be_hidden()
    assert not any("report" in key for key in visit.kept())
    other.evaluate("window.free()")
    expect(visit.page.locator("#preview")).to_be_visible()
    other.get_by_role("button", name="Show me").click()
    expect(other.locator("#body")).to_have_text(would_send(visit.page))


# ------------------------------------------------------------------------------------------- languages and appearances

SURVEY = {
    "title": "How we sleep",
    "titles": {"de": "Wie wir schlafen", "ar": "كيف ننام"},
    "purpose": "To learn how much people sleep. Nobody will ever know what you answered!",
    "organiser": "Institute of Sleep",
    "contact": "sleep@example.org",
    "minutes": 2,
}
TOLD: dict[str, Any] = {
    "hours": {"type": "numeric", "bounds": [0, 16], "label": "Hours of sleep", "labels": {"de": "Stunden Schlaf"}},
    "snores": {
        **{"type": "binary", "missing": 0, "label": "Do you snore?", "labels": {"de": "Schnarchen Sie?"}},
        "value_labels": {"de": ["nie", "ja, manchmal"]},
    },
    "bed": {
        "type": "categorical",
        "values": [f"Donaudampfschifffahrtsgesellschaftskapitänsmütze {i}" for i in range(4)],
    },
}


@pytest.fixture(scope="module")
def told() -> Plan:
    return make_plan(Policy(epsilon=2, correlation=0.05, features=TOLD, survey=SURVEY))


def test_the_page_speaks_german(visit: Visit, told: Plan) -> None:
    page = shown_plan(visit, told)
    expect(page.get_by_role("heading", level=1)).to_have_text("How we sleep")
    page.get_by_label("Language").select_option("Deutsch")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("heading", level=1)).to_have_text("Wie wir schlafen")
    page.get_by_role("button", name="Beginnen").click()
    page.get_by_label("Stunden Schlaf").fill("7,5")
    page.get_by_role("button", name="Weiter").click()
    page.get_by_role("group", name="Schnarchen Sie?").get_by_label("ja, manchmal").check()
    page.get_by_role("button", name="Weiter").click()
    page.get_by_role("group", name="bed").get_by_label("mütze 2").check()
    page.get_by_role("button", name="Meine Antworten ansehen").click()
    expect(page.locator("#entered")).to_contain_text("7,5")
    page.get_by_role("button", name="Zeigen, was gesendet würde").click()
    expect(page.locator("#guarantees")).to_contain_text("eine Vermutung mit 50 % wird höchstens")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "de")  # remembered


def test_what_the_organiser_says_is_told_apart(visit: Visit, told: Plan) -> None:
    """Title and organiser head the page; all other free text is folded, as theirs, apart from what the device says."""
    page = shown_plan(visit, told)
    expect(page.get_by_role("heading", level=1)).to_have_text("How we sleep")
    about = page.locator("#about")
    expect(about.get_by_text("Nobody will ever know")).to_be_hidden()
    about.get_by_text("In the organiser's words, which nobody has checked").click()
    expect(about.get_by_text("Nobody will ever know")).to_be_visible()
    page.locator("#promise summary").click()
    assert page.locator("body").inner_text().count("Nobody will ever know") == 1


def states(page: Page, hold: Callable[[str], None]) -> None:
    """Walks through the page's states."""
    expect(page.locator("#start")).to_be_visible()
    for summary in page.locator("summary:visible").all():
        summary.click()
    hold("intro")
    begin(page)
    page.locator("#feature-0").fill("x")
    go_on(page)
    hold("question")
    page.locator("#feature-0").fill("7")
    go_on(page)
    go_on(page)
    page.locator("#feature-2-1").check()
    review(page)
    hold("review")
    page.locator("#show").click()
    expect(page.locator("#preview")).to_be_visible()
    for summary in page.locator("#preview summary").all():
        summary.click()
    hold("preview")
    page.route("**/v1/reports", lambda route: route.abort())
    page.locator("#send").click()
    expect(page.locator(".note.bad")).to_be_visible()
    hold("failed")
    page.unroute("**/v1/reports")
    page.reload()
    expect(page.locator("#gate")).to_be_visible()
    hold("gate")
    page.locator("#mine").click()
    expect(page.locator("#preview")).to_be_visible()
    page.route("**/v1/reports", lambda route: route.fulfill(json={"accepted": 1, "duplicate": 0}))
    page.locator("#send").click()
    expect(page.locator("#thanks")).to_be_visible()
    hold("sent")


@pytest.mark.parametrize(("width", "scheme", "language"), [
    (320, "light", "en"), (390, "dark", "de"), (768, "light", "ar"), (1280, "dark", "en"), (320, "dark", "ar"),
    (1280, "light", "fr"), (390, "light", "es"),
])  # fmt: skip
def test_every_state_has_no_barrier(
    browser: Browser, server: str, told: Plan, width: int, scheme: Any, language: str
) -> None:
    """Axe finds no violation, text has contrast, nothing is wider than the screen."""
    axe = (npm_packages() / "axe-core" / "axe.min.js").read_text("utf-8")
    looked = Visit(browser, server, width)
    looked.page.emulate_media(color_scheme=scheme)
    looked.page.add_init_script(f"localStorage.setItem('bcdp.language', '{language}')")
    page = shown_plan(looked, told)
    expect(page.locator("html")).to_have_attribute("dir", "rtl" if language == "ar" else "ltr")
    seen = []

    def hold(state: str) -> None:
        seen.append(state)
        found = page.evaluate(f"async () => {{ {axe}; return (await axe.run()).violations; }}")
        assert [(state, each["id"], each["nodes"][0]["html"]) for each in found] == []
        assert_readable(page)

    states(page, hold)
    assert len(seen) == 7
    looked.context.close()


def test_the_first_form_needs_few_requests_and_little_data(visit: Visit) -> None:
    sizes = {}
    visit.page.on("response", lambda response: sizes.update({response.url: response}))
    expect(visit.open().locator("#start")).to_be_visible()
    sent = {url.removeprefix(visit.server): int(r.header_value("content-length") or 0) for url, r in sizes.items()}
    assert len(sent) <= 8, sent  # the page, its style, its icon, three scripts and the plan
    assert sum(size for url, size in sent.items() if url != "/v1/plan") < 65_000


# ---------------------------------------------------------------------------------------------------- a hostile server


def test_a_plan_that_takes_long_to_check_does_not_hold_the_page(visit: Visit) -> None:
    """Within all caps of form, and more than a page waits for: the page answers all the while."""
    features = {f"f{i}": {"type": "binary"} for i in range(400)}
    names = list(features)
    asked = [{"features": names[i : i + 2], "levels": [2, 2], "table": i // 2} for i in range(0, 400, 2)]
    weights = [[2**30 + i, 2**30 - i, 2**30, 2**30] for i in range(1, 201)]
    tables = [{"family": "dense", "weights": [w, w[::-1], [w[1], w[0], *w[2:]], [2**30] * 4]} for w in weights]
    weight = 2**32 // 200
    document = {
        "bcdp": 1,
        "mechanism": "survey",
        "channels": [],
        "collection": {"epsilon": 20.0, "features": features, "order": names},
        "correlation": {"kind": "per feature", "default": 0.1, "named": {}, "source": "x"},
        "tables": tables,
        "questions": asked,
        "menus": [{"questions": [i], "weight": weight + (2**32 - 200 * weight) * (i == 0)} for i in range(200)],
        "certificate": {
            **{"epsilon": 20.0, "objective": None, "optimality_gap": None},
            "features": {name: {"asked": 20.0, "certified": 20.0, "c": 20.0} for name in names},
        },
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    visit.page.add_init_script(
        "let last = performance.now(); window.longest = 0; setInterval(() => { const now = performance.now();"
        "window.longest = Math.max(window.longest, now - last); last = now; }, 20);"
    )
    visit.page.route("**/v1/plan", lambda route: route.fulfill(body=text))
    page = visit.open()
    expect(page.get_by_role("status")).not_to_contain_text("…", timeout=45_000)
    assert page.evaluate("window.longest") < 5000
    assert "takes too long" in page.get_by_role("status").inner_text() or page.locator("#start").is_visible()


def test_the_page_works_below_a_path(visit: Visit) -> None:
    """Behind a proxy that has it at /deep/down/: every address is relative."""

    def proxied(route: Route) -> None:
        path = route.request.url.split("/deep/down")[1]
        route.fulfill(response=route.fetch(url=visit.server + path))

    visit.page.route("**/deep/down/**", proxied)
    page = visit.open("/deep/down/")
    fill(page)
    ask(page)
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_have_text("Your answer was received. Thank you!")
    assert all("/deep/down/" in request.url for request in visit.requests)
