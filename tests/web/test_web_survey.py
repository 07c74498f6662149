"""One answer for each browser and plan, whatever its tabs do; and what was entered is neither lost nor misread."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from bcdp import Plan, Policy, make_plan
from bcdp.present.batch_promise import batch_promise
from bcdp.present.words import odds
from support.paths import ROOT
from support.sweeps import some_of
from support.web_pages import Visit, ask, begin, fill, go_on, shown_plan, would_send
from support.web_reviews import FULL, LANGUAGES, review

pytestmark = pytest.mark.slow

RECEIVED = "Your answer was received. Thank you!"
SENT = "An answer to this survey was sent from this browser."
NO_LOCKS = "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })"


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def ids_of(messages: list[str]) -> set[str]:
    return {json.loads(message)["reports"][0]["id"] for message in messages}


def second_tab(visit: Visit) -> Page:
    """Another tab of the same browser; what it sends is recorded with the rest."""
    other = visit.context.new_page()
    other.set_default_timeout(20_000)
    other.on("request", lambda request: visit.requests.append(request))
    other.on("pageerror", lambda error: visit.complaints.append(str(error)))
    other.goto(visit.server)
    return other


# ------------------------------------------------------------------------------------------------ one answer, many tabs


def to_form(page: Page) -> None:
    fill(page)


def to_review(page: Page) -> None:
    fill(page)
    review(page)


def press_on(page: Page) -> None:
    """Presses whatever leads towards sending, as far as the page offers it."""
    for name in ("Review my answers", "Show me what would be sent", "It is mine", "Send it"):
        button = page.get_by_role("button", name=name)
        if button.is_visible():
            button.click()
            page.wait_for_timeout(150)


@pytest.mark.parametrize(
    ("reach", "locks"), some_of([(to_form, True), (to_review, True), (to_form, False), (to_review, False)], 3)
)
def test_a_second_tab_releases_no_second_answer(visit: Visit, reach: Callable[[Page], None], locks: bool) -> None:
    if not locks:
        visit.context.add_init_script(NO_LOCKS)
    first = visit.open()
    other = second_tab(visit)
    reach(other)
    fill(first)
    ask(first)
    press(first, "Send it")
    expect(first.get_by_role("status")).to_have_text(RECEIVED)
    press_on(other)
    expect(other.get_by_role("status")).to_contain_text(SENT)
    assert len(visit.sent()) == 1
    assert len(json.loads(visit.kept()["bcdp.ledger"])) == 1
    assert not any(key.startswith("bcdp.report") for key in visit.kept())
    assert visit.complaints == []


def test_a_tab_that_sends_while_a_report_is_drawn_is_noticed(visit: Visit, plan: Plan) -> None:
    """Where there are no locks, what another tab has done is read again before anything is kept."""
    visit.context.add_init_script(NO_LOCKS)
    visit.context.add_init_script(
        "const ask = Worker.prototype.postMessage; Worker.prototype.postMessage = function (message) {"
        f"if (message.ask === 'draw') localStorage.setItem('bcdp.sent.{plan.id}', 'yes'); ask.call(this, message); }};"
    )
    page = visit.open()
    fill(page)
    review(page)
    press(page, "Show me")
    expect(page.get_by_role("status")).to_contain_text(SENT)
    assert not any(key.startswith("bcdp.report") for key in visit.kept())


def test_two_tabs_that_show_one_report_send_it_once(visit: Visit) -> None:
    """Neither hears that somebody else has used the invitation."""
    first = visit.open("/#ticket=mine.2")
    fill(first)
    ask(first)
    other = second_tab(visit)
    other.goto(f"{visit.server}/#ticket=mine.2")
    other.reload()
    press(other, "It is mine")
    expect(other.locator("#preview")).to_be_visible()
    first.get_by_role("button", name="Send it").dispatch_event("click")
    other.get_by_role("button", name="Send it").dispatch_event("click")
    expect(first.get_by_role("status")).to_have_text(RECEIVED)
    expect(other.get_by_role("status")).to_contain_text(SENT)
    assert len(visit.sent()) == 1


def test_a_report_of_the_person_before_cannot_be_sent_any_more(visit: Visit) -> None:
    """What another person draws in a second tab replaces what the first tab shows: one report leaves."""
    first = visit.open()
    fill(first)
    ask(first)
    other = second_tab(visit)
    press(other, "I am another person")
    fill(other)
    ask(other)
    press(first, "Send it")
    expect(first.get_by_role("status")).to_contain_text("was prepared in this browser and has not been sent")
    assert visit.sent() == []
    press(other, "Send it")
    expect(other.get_by_role("status")).to_have_text(RECEIVED)
    assert len(ids_of(visit.sent())) == 1


def test_a_report_that_cannot_be_counted_is_not_kept(visit: Visit) -> None:
    page = visit.open()
    page.evaluate(FULL.replace("WHICH", "/ledger/"))
    fill(page)
    ask_without_room(page)
    assert not any("report" in key or "ledger" in key for key in visit.kept())


def ask_without_room(page: Page) -> None:
    press(page, "Review")
    press(page, "Show me")
    expect(page.get_by_role("status")).to_contain_text("this browser's storage is full")


def one(epsilon: float, label: str) -> Plan:
    return make_plan(Policy(epsilon=epsilon, features={"smoker": {"type": "binary", "label": label}}))


def test_a_limit_that_another_tab_has_spent_holds(visit: Visit) -> None:
    """The form was filled in while there was enough; before the answer is drawn, another survey is answered."""
    page = shown_plan(visit, one(1.0, "first"))
    page.get_by_text("My own limits").click()
    page.get_by_label("All surveys that this browser has answered").fill("3")
    begin(page)
    page.get_by_label("yes").check()
    review(page)
    rows = [{"plan": "another", "epsilon": 1.0}]
    page.evaluate("(rows) => localStorage.setItem('bcdp.ledger', JSON.stringify(rows))", rows)
    press(page, "Show me")
    expect(page.locator("#limit-error")).to_have_text("This survey tells more than your limits allow.")
    expect(page.locator("#preview")).to_be_hidden()
    assert not any("report" in key for key in visit.kept())


@pytest.mark.parametrize("corrupt", [
    "{", "{}", "null", '[{"plan":"a"}]', '[{"plan":"a","epsilon":null}]', '[{"plan":"a","epsilon":-9}]', "[null]",
])  # fmt: skip
def test_a_ledger_that_cannot_be_read_may_have_been_anything(visit: Visit, corrupt: str) -> None:
    page = shown_plan(visit, one(1.0, "first"))
    page.evaluate("(text) => localStorage.setItem('bcdp.ledger', text)", corrupt)
    page.reload()
    page.get_by_text("My own limits").click()
    total = page.get_by_label("All surveys that this browser has answered")
    total.fill("1000000")
    press(page, "Start")
    expect(page.locator("#limit-error")).to_have_text("This survey tells more than your limits allow.")
    total.fill("")
    begin(page)
    page.get_by_label("yes").check()
    ask(page)  # without such a limit it is answered, and what was unknown stays so
    page.unroute_all()
    page = shown_plan(visit, one(1.0, "second"))
    expect(page.locator("#hint-total")).to_contain_text("1,000,000,000,000.00 times")


@pytest.mark.parametrize("locks", [True, False])
def test_the_device_is_asked_two_things_at_once(visit: Visit, locks: bool) -> None:
    if not locks:
        visit.context.add_init_script(NO_LOCKS)
    page = visit.open()
    fill(page)
    ask(page)
    shown = would_send(page)
    page.reload()
    page.get_by_role("button", name="It is mine").dblclick()
    expect(page.locator("#body")).to_have_text(shown)
    expect(page.locator("#hints li")).not_to_have_count(0)
    assert visit.complaints == []


# -------------------------------------------------------------------------------------------- the plan of an invitation


def test_an_invitation_names_the_plan_that_may_be_answered(visit: Visit, plan: Plan) -> None:
    other = "0" * 64
    page = visit.open(f"/#plan={other}&ticket=a.b")
    expect(page.get_by_role("status")).to_contain_text("This is another plan than your invitation names.")
    expect(page.locator("#intro")).to_be_hidden()
    page.get_by_label("Language").select_option("Deutsch")
    expect(page.get_by_role("status")).to_contain_text("Das ist ein anderer Plan")
    expect(page.locator("#intro")).to_be_hidden()
    page.get_by_label("Sprache").select_option("English")
    page.evaluate("(id) => { location.hash = `plan=${id}`; }", plan.id.upper())
    fill(page)
    ask(page)
    shown = page.locator("#plan-id").text_content() or ""
    assert shown.split() == [plan.id[place : place + 4] for place in range(0, 64, 4)]
    page.evaluate("(id) => { location.hash = `plan=${id}`; }", other)  # at any step
    expect(page.get_by_role("status")).to_contain_text("This is another plan than your invitation names.")
    expect(page.locator("#send")).to_be_hidden()
    assert visit.sent() == []


# ----------------------------------------------------------------------------------------------- what was entered stays


ANSWERED = ["44", "41,000 (41 thousand)", "yes", "east", "town 3"]


def entered(page: Page) -> list[str]:
    return page.locator("#entered dd").all_inner_texts()


def test_another_language_keeps_what_was_entered(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    page.go_back()
    expect(page.get_by_role("group", name="region").get_by_label("east")).to_be_checked()
    for _ in range(2):
        press(page, "Back")
    income = page.get_by_label("Yearly income")
    income.fill("41.000")
    page.get_by_role("button", name="41,000 (41 thousand)").click()
    page.get_by_label("Language").select_option("Deutsch")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(income).to_have_value("41.000")
    expect(page.locator(".remark", has_text="41.000 (41 Tausend)")).to_be_visible()  # as it was read before
    for _ in range(4):
        go_on(page)
    assert entered(page) == ["44", "41.000 (41 Tausend)", "yes", "east", "town 3"]
    page.get_by_label("Sprache").select_option("English")
    expect(page.get_by_role("heading", name="Your answers, as this page read them")).to_be_visible()
    assert entered(page) == ANSWERED
    press(page, "Show me")
    expect(page.locator("#preview")).to_be_visible()
    shown = would_send(page)
    page.get_by_label("Language").select_option("Français")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator("#body")).to_have_text(shown)
    page.get_by_role("button", name="Envoyer").click()
    expect(page.locator("#status")).to_have_text("Votre réponse est bien arrivée. Merci !")
    page.get_by_label("Langue").select_option("English")
    expect(page.locator("#status")).to_have_text(RECEIVED)
    assert visit.sent() == [shown]


def test_the_browsers_way_back_leads_through_the_form(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    review(page)
    assert entered(page) == ANSWERED
    for question in ("Your town", "region", "Do you smoke?", "Yearly income", "age"):
        page.go_back()
        expect(page.locator("#questions")).to_contain_text(question)
    page.go_back()
    expect(page.locator("#intro")).to_be_visible()
    for _ in range(6):
        page.go_forward()
    expect(page.locator("#review")).to_be_visible()
    assert entered(page) == ANSWERED
    page.get_by_role("button", name="Change: Do you smoke?").click()
    page.get_by_role("group", name="Do you smoke?").get_by_label("no").check()
    press(page, "Review")  # one change, and back to the review
    assert entered(page) == [*ANSWERED[:2], "no", *ANSWERED[3:]]
    press(page, "Show me")
    expect(page.locator("#preview")).to_be_visible()
    page.go_back()
    expect(page.locator("#preview")).to_be_visible()  # what was drawn is not entered again
    for part in ("#questions", "#entered"):
        expect(page.locator(part)).to_be_empty()


def test_the_page_asks_before_answers_are_lost(visit: Visit) -> None:
    """They are in its memory alone: not in the storages, which browsers write to disk."""
    page = visit.open()
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.evaluate("location.reload()")
    begin(page)
    assert asked == []  # nothing is entered yet
    page.get_by_label("age", exact=True).press_sequentially("44")
    page.evaluate("() => { location.reload(); }")
    page.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    expect(page.get_by_label("age", exact=True)).to_have_value("44")
    go_on(page)
    assert visit.kept() == {}
    page.remove_listener("dialog", stay)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.locator("#intro")).to_be_visible()  # no question is skipped
    begin(page)
    expect(page.get_by_label("age", exact=True)).to_have_value("")
    page.go_back()
    fill(page)
    ask(page)  # from here on the report is kept
    page.reload()
    expect(page.locator("#gate")).to_be_visible()
    assert all("44" not in value for key, value in visit.kept().items() if "report" not in key and "ledger" not in key)


def test_what_the_person_wants_kept_is_there_after_a_reload_and_gone_with_the_answer(visit: Visit, plan: Plan) -> None:
    page = visit.open()
    fill(page)
    keep = page.get_by_label("Keep what I enter on this device")
    expect(keep).not_to_be_checked()
    assert visit.kept() == {}
    keep.check()
    page.reload()  # nothing is asked: a dialog would be dismissed, and stop it
    expect(page.get_by_label("Your town")).to_have_value("3")
    expect(keep).to_be_checked()
    other = second_tab(visit)
    expect(other.get_by_role("button", name="Continue")).to_be_visible()  # in a new tab at the beginning
    press(other, "Continue")
    assert entered(other) == ANSWERED
    keep.uncheck()
    assert visit.kept() == {}
    keep.check()
    ask(page)
    assert f"bcdp.draft.{plan.id}" not in visit.kept()
    assert not any("41000" in value for value in visit.kept().values())
    assert visit.complaints == []


def test_what_cannot_be_kept_is_told_and_stays_in_the_page(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    page.evaluate(FULL.replace("WHICH", "/draft/"))
    keep = page.get_by_label("Keep what I enter on this device")
    keep.click()
    expect(page.locator("#keep-note")).to_contain_text("It cannot be kept: this browser's storage is full")
    expect(keep).not_to_be_checked()
    review(page)
    assert entered(page) == ANSWERED


def test_without_a_network_only_the_sending_fails(visit: Visit) -> None:
    page = visit.open()
    expect(page.locator("#start")).to_be_visible()
    visit.context.set_offline(True)
    fill(page)
    ask(page)
    press(page, "Send it")
    expect(page.get_by_role("status")).to_contain_text("the server cannot be reached")
    visit.context.set_offline(False)
    press(page, "Try again")
    expect(page.get_by_role("status")).to_have_text(RECEIVED)


def test_enlarged_to_200_percent_everything_is_there(visit: Visit) -> None:
    """A laptop's screen of 1280 by 720 has 640 by 360 then: what has the focus is not behind the foot."""
    page = visit.page
    page.set_viewport_size({"width": 640, "height": 360})
    visit.open()
    begin(page)
    page.get_by_label("age", exact=True).fill("44")
    for label in ("income", "smoke", "region"):
        go_on(page)
        expect(page.locator("#questions")).to_contain_text(label)
        if label != "income":
            radio = page.get_by_role("radio").last
            radio.focus()
            page.keyboard.press("Space")
            covered = radio.evaluate(
                "node => { const box = node.getBoundingClientRect(); return "
                "document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) !== node; }"
            )
            assert not covered
    assert page.evaluate("document.documentElement.scrollWidth") <= 640


@pytest.mark.parametrize(("how", "words"), [
    (f"({FULL.replace('WHICH', '/./')})()", "this browser's storage is full"),
    ("Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })",
     "this browser is set to remember nothing"),
])  # fmt: skip
def test_a_storage_that_takes_nothing_is_told_before_the_form(visit: Visit, how: str, words: str) -> None:
    visit.page.add_init_script(how)
    page = visit.open()
    expect(page.get_by_role("status")).to_contain_text(words)
    expect(page.locator("#intro")).to_be_hidden()


# ---------------------------------------------------------------------------------------------------------- mistakes


def test_mistakes_that_are_mended_are_counted_down(visit: Visit) -> None:
    """In a section of several questions; a single one says it itself."""
    scale = {"type": "ordinal", "values": ["low", "high"]}
    page = shown_plan(visit, make_plan(Policy(epsilon=1, features=dict.fromkeys(("first", "second", "third"), scale))))
    begin(page)
    press(page, "Review")
    look = page.locator("#look")
    expect(look).to_have_text("3 answers need another look: please see what is written there.")
    page.get_by_role("group", name="first").get_by_label("low").check()
    expect(look).to_contain_text("2 answers")
    page.get_by_role("group", name="second").get_by_label("low").check()
    expect(look).to_contain_text("One answer needs")
    page.get_by_role("group", name="third").get_by_label("high").check()
    expect(look).to_have_text("")


def test_no_mistake_is_shown_while_a_number_is_begun(visit: Visit) -> None:
    page = visit.open()
    begin(page)
    age = page.get_by_label("age", exact=True)
    page.evaluate(
        "() => { window.errors = 0; new MutationObserver(() => { window.errors += document.querySelectorAll("
        "'#questions .error').length; }).observe(document.querySelector('#questions'), { subtree: true, "
        "childList: true, attributes: true, characterData: true }); }"
    )
    age.press_sequentially("44.5")  # "4" is below the bounds, and "44." no number
    expect(page.get_by_text("Read as 44.5.")).to_be_visible()
    age.fill("100 or mo")
    assert page.evaluate("window.errors") == 0
    age.press_sequentially("re")
    expect(page.get_by_text("Read as 100.")).to_be_visible()
    age.fill("44 years")
    age.blur()
    expect(page.get_by_text("“44 years” is not a number from 18 to 100.")).to_be_visible()


def test_a_number_beyond_its_bounds_counts_as_the_nearer_bound(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    review(page)
    page.get_by_role("button", name="Change: age").click()
    page.get_by_label("age", exact=True).fill("7")
    expect(page.get_by_text("Read as 7, which counts as 18.")).to_be_visible()
    review(page)
    page.get_by_role("button", name="Change: Yearly income").click()
    page.get_by_label("Yearly income").fill("250,000")
    review(page)
    assert entered(page)[:2] == [
        "7, which counts as 18",
        "250,000 (250 thousand), which counts as 200,000 (200 thousand)",
    ]
    press(page, "Show me")
    expect(page.locator("#preview")).to_be_visible()


OWN = {
    "ill": {"type": "categorical", "values": ["flu", "cold"], "missing": "own", "label": "Illness"},
    "town": {"type": "categorical", "values": [f"town {i}" for i in range(40)], "missing": "own"},
    "weight": {"type": "numeric", "bounds": [0, 200], "missing": "own"},
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_chosen_for_the_person(visit: Visit, language: str) -> None:
    visit.page.add_init_script(f"localStorage.setItem('bcdp.language', '{language}')")
    page = shown_plan(visit, make_plan(Policy(epsilon=1, features=OWN)))
    begin(page)
    expect(page.get_by_role("radio")).to_have_count(3)
    expect(page.locator("input:checked")).to_have_count(0)
    said = page.locator("#feature-0-hint").inner_text()
    if language == "en":
        assert said == "You may leave this blank. A blank is protected like any other answer."
    assert said.count(".") == 2
    for _ in OWN:
        go_on(page)  # a blank is an answer
    expect(page.locator("#review")).to_be_visible()


# ------------------------------------------------------------------------------------------------------------ text

SHOUT = "<img src=x onerror=document.title='in'><b>bold</b>"


def test_no_text_of_a_plan_becomes_part_of_the_page(visit: Visit) -> None:
    survey = dict.fromkeys(("title", "purpose", "organiser", "contact"), SHOUT)
    features = {
        "a": {"type": "categorical", "values": [SHOUT, "y"], "label": SHOUT, "help": SHOUT, "missing": SHOUT},
        "b": {"type": "categorical", "values": [SHOUT, *map(str, range(40))], "label": f"{SHOUT} b"},
        "c": {"type": "open", "values": [SHOUT, "other"], "label": f"{SHOUT} c"},
    }
    page = shown_plan(visit, make_plan(Policy(epsilon=1, features=features, survey=survey)))
    begin(page)
    page.locator("#feature-0-0").check()
    go_on(page)
    go_on(page)
    page.get_by_role("listbox").select_option("0")
    review(page)
    expect(page.locator("#entered dd").first).to_have_text(SHOUT)
    press(page, "Show me")
    expect(page.locator("#hints")).to_contain_text("<b>bold</b>")
    assert page.locator("img, b").count() == 0
    assert page.title() == SHOUT
    assert visit.complaints == []


RTL = "كم عمرك؟"


def test_the_main_promise_comes_first_and_names_both_organisations(visit: Visit) -> None:
    """With what is left if the two work together."""
    plan = Plan.parse(json.loads((ROOT / "vectors" / "batch.json").read_text("utf-8"))["plan"])
    page = shown_plan(visit, plan)
    page.locator("#promise summary").click()
    tables = page.locator("#promise table")
    expect(tables).to_have_count(2)
    main = tables.first
    promise = batch_promise(plan)
    assert promise is not None
    expect(main.locator("caption")).to_contain_text("shuffled batches of at least 10,000")
    for row, counted in zip(main.locator("tbody tr").all(), promise.counted, strict=True):
        expect(row.locator("td").nth(0)).to_have_text(f"at most {odds(counted.level)} times")
        expect(row.locator("td").nth(1)).to_have_text(counted.condition)
    said = page.locator("#promise").inner_text()
    assert "relay.example.org" in said
    assert "9,500 people" in said
    assert said.index("If the two work together") < said.index("By how much whoever sees a report")
    assert visit.complaints == []


def test_text_of_another_direction_keeps_to_itself(visit: Visit) -> None:
    """Around a label from right to left the words of a sentence stay in the order in which they are written."""
    features = {"age": {"type": "open", "values": ["١٨-٢٩ سنة", "other"], "label": RTL}, "x": {"type": "binary"}}
    page = shown_plan(visit, make_plan(Policy(epsilon=1, features=features)))
    begin(page)
    page.locator("#feature-0-0").check()
    go_on(page)
    page.get_by_role("group", name="x").get_by_label("yes").check()
    ask(page)
    page.locator("#message summary").click()
    sentence = page.locator("#hints li", has_text="not protected")
    expect(sentence).to_have_text(f"“\u2068{RTL}\u2069” is sent as it is, not protected: \u2068١٨-٢٩ سنة\u2069.")
    places = page.evaluate(
        """(node) => { const text = node.firstChild; const at = (part) => { const range = document.createRange();
        const from = text.data.indexOf(part); range.setStart(text, from); range.setEnd(text, from + part.length);
        return range.getBoundingClientRect().x; }; return [at("“"), at("”"), at("is sent"), at("protected:")]; }""",
        sentence.element_handle(),
    )
    assert places == sorted(places)


# ------------------------------------------------------------------------------------------------------------ receipts


@pytest.mark.parametrize(
    "portal", ["<html>Welcome</html>", "{}", '{"accepted": 1}', '{"accepted": "1", "duplicate": 0}']
)
def test_a_page_of_the_network_is_no_receipt(visit: Visit, portal: str) -> None:
    """What was kept stays until the collector says that it has it."""
    page = visit.open()
    fill(page)
    ask(page)

    def answered(route: Route) -> None:
        route.fulfill(status=200, body=portal, content_type="text/html")

    page.route("**/v1/reports", answered)
    press(page, "Send it")
    expect(page.get_by_role("status")).to_contain_text("what answered was not the collector.")
    assert any(key.startswith("bcdp.report") for key in visit.kept())
    assert not any(key.startswith("bcdp.sent") for key in visit.kept())
    page.unroute("**/v1/reports")
    press(page, "Try again")
    expect(page.get_by_role("status")).to_have_text(RECEIVED)
