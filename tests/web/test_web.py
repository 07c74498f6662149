"""The pages in a real browser, from a real collector: a person's visit, the device's randomness, the dashboard."""

from __future__ import annotations

import json
import math
import time
import urllib.request
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from playwright.sync_api import Browser, expect
from scipy.stats import chisquare

from bcdp import Plan, Policy, Tally, estimate, make_plan
from bcdp.exact import TOTAL
from bcdp.present.promise import operator_says, promises
from bcdp.present.published_counts import VOID, counts_promises
from bcdp.randomizers import binary, response
from support.web_pages import (
    POLICY,
    TOKEN,
    Visit,
    ask,
    assert_readable,
    begin,
    enter,
    fill,
    go_on,
    send,
    shown_plan,
    would_send,
)
from support.web_reviews import review

pytestmark = pytest.mark.slow


def test_a_person_sees_what_is_sent_sends_it_and_is_remembered(visit: Visit, plan: Plan) -> None:
    page = visit.open()
    fill(page)
    assert visit.sent() == []
    ask(page)
    expect(page.get_by_role("heading", name="This, and nothing else, leaves your device")).to_be_focused()
    shown = would_send(page)
    page.locator("#conditions > summary").click()
    row = page.locator("#conditions").get_by_role("row", name="Yearly income")
    assert f"at most {math.ceil(math.exp(0.2) * 100) / 100} times" in row.inner_text()
    assert visit.sent() == []
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_have_text("Your answer was received. Thank you!")
    assert visit.sent() == [shown]
    message = json.loads(shown)
    assert message["plan"] == plan.id
    assert message["reports"][0].keys() == {"id", "menu", "answer"}
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("An answer to this survey was sent from this browser.")
    expect(page.locator("#body")).to_have_text("")  # somebody else may be reading
    expect(page.get_by_role("button")).to_have_text(["I am another person: start again"])
    assert not any("menu" in value for value in visit.kept().values())
    assert all(request.url.startswith(visit.server + "/") for request in visit.requests)
    assert all("41000" not in value for value in visit.kept().values())
    assert visit.complaints == []


def test_a_lost_message_is_sent_again_and_counts_once(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    ask(page)
    page.route("**/v1/reports", lambda route: route.abort())
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_contain_text("could not be sent")
    page.reload()  # not sent yet, and the same answer again
    expect(page.get_by_role("status")).to_contain_text("was prepared in this browser and has not been sent")
    expect(page.locator("#body")).to_have_text("")
    page.get_by_role("button", name="It is mine").click()
    expect(page.get_by_role("status")).to_contain_text("has not been sent yet")
    page.unroute("**/v1/reports")
    assert send(page) == {"accepted": 1, "duplicate": 0}
    expect(page.get_by_role("status")).to_contain_text("was received")
    assert len(visit.sent()) == 2
    assert len(set(visit.sent())) == 1


def test_a_changed_plan_is_told(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    ask(page)
    page.route("**/v1/reports", lambda route: route.fulfill(status=409, json={"detail": "another plan"}))
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_contain_text("this survey has changed")


def test_an_invitations_ticket_is_the_reports_id(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    ask(page)
    random = json.loads(would_send(page))["reports"][0]
    visit.open("/#ticket=abc.DEF_1-2")
    page.reload()  # the link came after the answer was made
    page.get_by_role("button", name="It is mine").click()
    expect(page.locator("#preview")).to_be_visible()
    shown = would_send(page)
    assert json.loads(shown)["reports"] == [{**random, "id": "abc.DEF_1-2"}]
    assert send(page) == {"accepted": 1, "duplicate": 0}
    expect(page.get_by_role("status")).to_contain_text("was received")
    assert visit.sent() == [shown]


def test_a_plan_that_promises_too_much_is_not_answered(visit: Visit, plan: Plan) -> None:
    lie = plan.text.replace(f'"epsilon":{plan.certificate.epsilon!r}', '"epsilon":0.5', 1)
    assert lie != plan.text
    visit.page.route("**/v1/plan", lambda route: route.fulfill(status=200, body=lie))
    page = visit.open()
    expect(page.get_by_role("status")).to_contain_text("does not answer this survey: certificate.epsilon")
    expect(page.locator("form")).to_be_hidden()
    assert visit.kept() == {}


def test_a_persons_own_limit_stops_the_device(visit: Visit) -> None:
    """At the first screen, and at the review as well."""
    page = visit.open()
    fill(page)
    review(page)
    page.get_by_text("My own limits").click()
    limit = page.get_by_label("any one answer")
    limit.fill("1.22")
    page.get_by_role("button", name="Show me").click()
    expect(page.locator("#limit-error")).to_have_text("This survey tells more than your limits allow.")
    expect(page.locator("#preview")).to_be_hidden()
    assert not any("report" in key for key in visit.kept())
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.locator("#start").click()
    expect(page.locator("#limit-error")).to_have_text("This survey tells more than your limits allow.")
    limit.fill("0.5")
    page.locator("#start").click()
    expect(page.locator("#limit-error")).to_contain_text("is not a factor")
    expect(page.locator("#form")).to_be_hidden()
    page.reload()
    expect(limit).to_have_value("0.5")  # remembered, and still no limit, so it is shown
    limit.fill("20")
    fill(page)
    ask(page)
    expect(page.locator("#preview")).to_be_visible()


LIE = "nothing assumed: q = 1”, checked by your device"


def lying(plan: Plan) -> Plan:
    """A plan that rests on q = 0, whatever its words say."""
    document = {key: part for key, part in json.loads(plan.text).items() if key != "certificate"}
    document["correlation"] |= {"default": 0.0, "source": LIE}
    return Plan.certified(document)


def test_the_condition_beside_send_it_comes_from_numbers(visit: Visit, plan: Plan) -> None:
    page = shown_plan(visit, lying(plan))
    fill(page)
    ask(page)
    page.locator("#conditions > summary").click()
    rows = page.locator("#guarantees tbody tr")
    expect(rows).to_have_count(len(plan.policy.features) + 1)
    smoker = page.locator("#guarantees").get_by_role("row", name="Do you smoke?")
    expect(smoker).to_contain_text("a guess at 50% becomes at most")
    expect(smoker).to_contain_text("if the other answers do not move with it at all (q = 0)")
    expect(smoker).to_contain_text("times with nothing assumed")
    for row in rows.all():
        assert "if the other answers" in row.inner_text() or "with nothing assumed" in row.inner_text()
    assert page.locator("body").inner_text().count("q = 1") == 1
    said = LIE.replace("”", '"')  # it cannot leave its quotation marks
    expect(
        page.locator("#guarantees").get_by_text(f"the operator says and nobody has checked: “{said}”.")
    ).to_be_visible()
    expect(page.locator(".good:visible")).to_have_count(0)


def high(epsilon: float) -> Plan:
    """One answer of which the truth is told with odds of almost e^epsilon."""
    return make_plan(Policy(epsilon=epsilon, features={"smoker": {"type": "binary"}}))


def test_at_epsilon_20_nothing_is_green_and_nothing_is_answered(visit: Visit) -> None:
    page = shown_plan(visit, high(20))
    expect(page.get_by_role("status")).to_contain_text("does not answer this survey")
    expect(page.get_by_role("status")).to_contain_text("at most 100.0%")
    page.locator("#start").click()
    expect(page.locator("#form")).to_be_hidden()
    expect(page.locator(".note.good:visible")).to_have_count(0)
    assert visit.kept() == {}
    limit = page.get_by_label("all answers together")
    expect(limit).to_be_visible()
    expect(limit).to_have_accessible_description("If left empty: 54.60 times, an epsilon of 4. This survey tells more "
                                                 "than your limits allow.")  # fmt: skip
    limit.fill("500000000")  # a person may decide otherwise, and the page is still not reassuring
    limit.blur()
    expect(page.locator("#checked")).to_contain_text("at most 100 times in 100")
    expect(page.locator(".note.good:visible")).to_have_count(0)
    begin(page)
    page.get_by_label("yes").check()
    ask(page)
    page.route("**/v1/reports", lambda route: route.fulfill(status=200, json={"accepted": 1, "duplicate": 0}))
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_contain_text("was received")
    expect(page.locator(".note.good:visible")).to_have_count(0)
    assert visit.kept()["bcdp.limit-epsilon"] == "500000000"
    assert "500000000" not in "".join(visit.sent())


def test_a_limit_holds_for_an_answer_that_was_kept(visit: Visit) -> None:
    page = shown_plan(visit, high(3))
    begin(page)
    page.get_by_label("yes").check()
    ask(page)
    page.get_by_text("My own limits").click()
    page.get_by_label("all answers together").fill("2")
    page.get_by_role("button", name="Send it").click()
    expect(page.locator("#limit-error")).to_have_text("This survey tells more than your limits allow.")
    expect(page.get_by_role("status")).to_contain_text("does not answer this survey")
    assert visit.sent() == []


@pytest.mark.parametrize(("epsilon", "calm", "green"), [
    (2.19, "", True), (2.21, "", False), (2.21, "95", True), (1.0, "60", False), (1.0, "none", False),
])  # fmt: skip
def test_green_depends_on_what_a_guess_can_become(visit: Visit, epsilon: float, calm: str, green: bool) -> None:
    """Odds of 9, that is 90%, are 2.197 nats."""
    page = shown_plan(visit, high(epsilon))
    page.get_by_text("My own limits").click()
    limit = page.get_by_label("Green only if")
    limit.fill(calm)
    limit.blur()
    expect(page.locator("#verified")).to_contain_text("About all your answers together")
    expect(page.locator("#checked.good")).to_have_count(int(green))


def test_a_limit_of_the_factor_that_is_shown_is_kept(visit: Visit, plan: Plan) -> None:
    """The same rule rounds what is shown and what is entered; a hundredth less is refused."""
    page = visit.open()
    told = page.locator("#promise tbody tr").last.locator("td").first.text_content() or ""
    factor = float(told.removeprefix("at most ").partition(" ")[0])
    page.get_by_text("My own limits").click()
    limit = page.get_by_label("all answers together")
    for entered, kept in ((f"{factor:.2f}", True), (f"{factor - 0.01:.2f}", False)):
        limit.fill(entered)
        limit.blur()
        expect(page.locator("#limit-error:visible")).to_have_count(0 if kept else 1)


def test_mistakes_are_tied_to_their_fields(visit: Visit) -> None:
    page = visit.open()
    begin(page)
    age = page.get_by_label("age", exact=True)
    age.fill("17 or so")
    expect(page.locator("#questions .error")).to_have_count(0)
    age.press("Tab")
    expect(age).to_have_attribute("aria-invalid", "true")  # shown when it is left
    go_on(page)
    expect(age).to_be_focused()
    expect(age).to_have_accessible_description("From 18 to 100. “17 or so” is not a number from 18 to 100.")
    expect(age).to_have_attribute("required", "")  # no rule for whoever leaves it out
    age.fill("18")
    expect(age).to_have_accessible_description("From 18 to 100. Read as 18.")
    expect(page.locator("#questions .error")).to_have_count(0)
    go_on(page)
    income = page.get_by_label("Yearly income")
    assert income.get_attribute("required") is None
    expect(income).to_have_accessible_description("Before tax. From 0 to 200,000. May be left empty: counts as 0.")
    go_on(page)  # may be left out
    page.get_by_role("group", name="Do you smoke?").get_by_label("yes").check()
    go_on(page)
    group = page.get_by_role("group", name="region")
    go_on(page)
    expect(group).to_have_accessible_description("Please choose one.")
    expect(group.get_by_label("north")).to_be_focused()
    expect(group.get_by_label("east")).to_have_attribute("required", "")
    group.get_by_label("east").check()
    go_on(page)
    expect(page.get_by_label("Your town")).to_have_attribute("required", "")
    go_on(page)
    expect(page.get_by_label("Your town")).to_have_accessible_description("Please choose one.")
    assert visit.kept() == {}


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_every_state_of_the_survey_is_readable(browser: Browser, server: str, width: int) -> None:
    visit = Visit(browser, server, width)
    page = visit.open()
    expect(page.locator("#start")).to_be_visible()
    for summary in page.locator("summary:visible").all():
        summary.click()
    assert_readable(page)
    begin(page)
    assert_readable(page)
    go_on(page)
    assert_readable(page)  # with a mistake
    page.go_back()
    fill(page)
    review(page)
    assert_readable(page)
    page.get_by_role("button", name="Show me").click()
    expect(page.locator("#preview")).to_be_visible()
    assert_readable(page)
    assert page.evaluate("document.documentElement.lang") == "en"
    visit.context.close()


def test_questions_come_in_the_policy_s_order(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    review(page)
    text = page.locator("#entered").inner_text()
    places = [text.index(feature.get("label", name)) for name, feature in POLICY["features"].items()]
    assert places == sorted(places)


def test_the_device_behind_the_form_refuses_what_the_form_must_ask_for(visit: Visit, plan: Plan) -> None:
    script = """async ([text, record]) => {
      const { answer, parsePlan } = await import("/bcdp.js");
      const plan = await parsePlan(text);
      try { return Object.keys(answer(plan, record)); } catch (error) { return error.message; }
    }"""
    record = {"age": 44, "income": 41000, "smoker": "yes", "region": "east", "town": "town 3"}
    page = visit.open()
    for name in record:
        found = page.evaluate(script, [plan.text, {**record, name: None}])
        assert found == ["menu", "answer"] if name == "income" else found.startswith(f"{name}: got no value; accepted:")


def test_a_keyboard_is_enough(visit: Visit) -> None:
    page = visit.open()
    expect(page.locator("#start")).to_be_visible()

    def press(name: str) -> None:
        while not page.get_by_role("button", name=name).evaluate("node => node === document.activeElement"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")

    press("Start")
    for number, keys in enumerate(
        (["4", "4", "Enter"], ["5", "Enter"], ["Space", "Enter"], ["ArrowRight", "Enter"], ["t"])
    ):
        expect(page.get_by_role("heading", name=f"{number + 1} of 5")).to_be_focused()
        page.keyboard.press("Tab")  # nothing is between the heading and the question
        for key in keys:
            page.keyboard.press(key)
    for name in ("Review my answers", "Show me", "Send it"):
        press(name)
    expect(page.get_by_role("status")).to_have_text("Your answer was received. Thank you!")


ANSWERS = """async ({ text, records, times }) => {
  const { answer, parsePlan } = await import("/bcdp.js");
  const plan = await parsePlan(text);
  const reports = [];
  for (let i = 0; i < times; i += 1) for (const record of records) reports.push(Object.values(answer(plan, record)));
  return JSON.stringify(reports);
}"""


def answered(visit: Visit, plan: Plan, records: list[dict[str, Any]], times: int = 1) -> np.ndarray:
    """Menu and answer of each record, by the page's own device and randomness."""
    reports = visit.open().evaluate(ANSWERS, {"text": plan.text, "records": records, "times": times})
    return np.array(json.loads(reports), dtype=np.uint32)


def small_plan(budget: float) -> Plan:
    document: dict[str, Any] = {
        "mechanism": "survey",
        "collection": {
            "epsilon": 20.0,
            "features": {"bit": {"type": "binary"}, "kind": {"type": "categorical", "values": list("abcde")}},
        },
        "correlation": {"kind": "per feature", "default": 0.1, "named": {}, "source": "assumed"},
        "tables": [binary(budget).to_dict(), response(5, budget).to_dict()],
        "questions": [
            {"features": ["bit"], "levels": [2], "table": 0},
            {"features": ["kind"], "levels": [5], "table": 1},
        ],
        "menus": [
            {"weight": TOTAL // 10 * 3, "questions": [0]},
            {"weight": TOTAL // 10 * 5, "questions": [1]},
            {"weight": TOTAL - TOTAL // 10 * 8, "questions": [0, 1]},
        ],
        "certificate": {
            "epsilon": 20.0,
            "features": {name: {"asked": 20.0, "certified": 20.0, "c": 20.0} for name in ("bit", "kind")},
            "objective": None,
            "optimality_gap": None,
        },
    }
    plan = Plan.build(document)
    plan.verify()
    return plan


def misfit(plan: Plan, levels: list[int], reports: np.ndarray) -> float:
    """The p-value of all reports (menu, answer) against what the plan's integers say for input levels."""
    expected, counted = [], []
    for number, menu in enumerate(plan.menus):
        chances = np.array([menu.weight / TOTAL])
        for index in menu.questions:
            question = plan.questions[index]
            row = plan.tables[question.table].row(levels[index]) / TOTAL
            chances = np.multiply.outer(chances, row).ravel()
        expected.append(chances)
        counted.append(np.bincount(reports[reports[:, 0] == number, 1], minlength=len(chances)))
    observed = np.concatenate(counted)
    return float(chisquare(observed, np.concatenate(expected) * observed.sum()).pvalue)


def test_the_browsers_randomness_is_the_plans(visit: Visit) -> None:
    """False alarm 1e-9; a device with a budget 10% too high, or one that prefers a menu, is found."""
    honest, generous = small_plan(1.0), small_plan(1.1)
    record = [{"bit": 1, "kind": "c"}]
    reports = answered(visit, honest, record, 100_000)
    assert misfit(honest, [1, 2], reports) > 1e-9
    assert misfit(honest, [1, 2], answered(visit, generous, record, 100_000)) < 1e-9
    biased = np.concatenate([reports, reports[reports[:, 0] == 0][:4000]])
    assert misfit(honest, [1, 2], biased) < 1e-9


def test_two_thousand_people_in_the_browser_give_the_truth(visit: Visit) -> None:
    """Every interval of level 1 - 1e-10 holds the truth (false alarm 1e-9); devices that answer the opposite do not."""
    policy = Policy(
        epsilon=4,
        features={
            "bit": {"type": "binary"},
            "number": {"type": "numeric", "bounds": [-10, 30]},
            "kind": {"type": "categorical", "values": ["a", "b", "c"]},
        },
    )
    plan = make_plan(policy)
    records = [{"bit": int(i % 10 < 8), "number": 10.0 + i % 20, "kind": "aaaab"[i % 5]} for i in range(2000)]
    opposite = [{"bit": 1 - r["bit"], "number": 20 - r["number"], "kind": "c"} for r in records]
    truth = [0.8, 19.5, 0.8, 0.2, 0.0]

    def covered(given: list[dict[str, Any]]) -> list[bool]:
        reports = answered(visit, plan, given)
        tally = Tally(plan).add(pa.table({"menu": reports[:, 0], "answer": reports[:, 1]}))
        found = estimate(tally, level=1 - 1e-10)
        parts = [found.means["bit"], found.means["number"], *found.frequencies["kind"].values()]
        return [part.low <= value <= part.high for part, value in zip(parts, truth, strict=True)]

    assert covered(records) == [True] * 5
    assert covered(opposite)[:3] == [False] * 3


def upload(server: str, plan: Plan, reports: list[dict[str, Any]]) -> None:
    body = json.dumps({"plan": plan.id, "reports": reports}).encode()
    request = urllib.request.Request(f"{server}/v1/reports", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()


def test_the_dashboard_shows_estimates_live_and_forgets_the_token(visit: Visit, plan: Plan) -> None:
    visit.page.clock.install()
    page = visit.open("/dashboard")
    enter(page, "not the token")
    expect(page.get_by_role("status")).to_have_text("This is not the operator's token.")
    expect(page.locator("#results")).to_be_hidden()
    enter(page, TOKEN)
    expect(page.get_by_role("tab", name="Certificate")).to_be_visible()

    def people() -> int:
        return int(page.locator("#people").inner_text().replace("–", "0"))

    before = people()
    upload(visit.server, plan, [{"id": f"live-{i}", "menu": 0, "answer": 0} for i in range(3)])
    for _ in range(100):  # the collector shows the same estimates for a while
        if people() >= before + 3:
            break
        time.sleep(0.1)
        page.clock.run_for(5_000)
    assert people() >= before + 3
    expect(page.get_by_role("heading", name="Yearly income")).to_be_visible()
    expect(page.get_by_role("row", name="town 11")).to_be_visible()
    page.get_by_role("tab", name="Certificate").click()
    certificate = page.get_by_role("table", name="By how much whoever sees a report can raise the odds")
    expect(certificate.get_by_role("row", name="Do you smoke?")).to_contain_text(
        "if the other answers move by at most q"
    )
    note = (
        "Yearly income: missing counted as 0. Devices apply this before they answer: answers do not tell how many were"
    )
    expect(page.locator("#estimates > p").first).to_have_text(f"{note} missing.")
    assert visit.kept() == {}
    assert TOKEN not in page.content()
    assert TOKEN not in page.url
    assert all(TOKEN not in request.url for request in visit.requests)
    assert page.locator("#token").input_value() == ""
    page.reload()
    expect(page.get_by_label("The operator's token")).to_be_visible()
    expect(page.locator("#results")).to_be_hidden()
    assert [line for line in visit.complaints if "401" not in line] == []


def test_a_token_in_the_address_is_used_and_taken_out_of_it(visit: Visit) -> None:
    """The studio opens the dashboard so: neither the address bar nor the history keeps it, and no server is sent it."""
    page = visit.open(f"/dashboard#token={TOKEN}")
    expect(page.locator("#results")).to_be_visible()
    assert TOKEN not in page.url
    assert not any(TOKEN in request.url for request in visit.requests)
    page.go_back()
    page.go_forward()
    assert TOKEN not in page.url
    assert all(TOKEN not in value for value in visit.kept().values())


@pytest.mark.parametrize(("counts", "words"), [
    ([498, 502], "Menus, answers and repeated reports raise no alarm."),
    ([400, 600], "Alarm: menus are not drawn as often as the plan says"),
])  # fmt: skip
def test_the_dashboard_tells_when_menus_are_not_drawn_as_planned(
    visit: Visit, plan: Plan, counts: list[int], words: str
) -> None:
    document: dict[str, Any] = {
        "people": sum(counts),
        "waiting": False,
        "refresh": 100,
        "estimates": {"level": 0.95},
        "sections": [section.to_dict() for section in estimate(Tally(plan)).sections()],  # all are null
        "note": None,
        "checks": {"alarm": "Alarm" in words, "said": words, "fakes": "1% fakes"},
        "menus": [{"expected": 0.5, "count": count, "step": 10, "asks": ["smoker", "age"]} for count in counts],
        "epsilon": 2.0,
        "certificate": plan.certificate.model_dump(mode="json"),
        "promises": [{"name": name, **promise.to_dict()} for name, promise in promises(plan).items()],
        "counts": [promise.to_dict() for promise in counts_promises(plan, promises(plan), 10_000)],
        "counts_said": VOID,
        "operator_says": operator_says(plan),
        "features": {name: {"label": name, "type": "binary"} for name in POLICY["features"]},
    }
    number = {"value": 1.5, "se": 0.25, "low": 1.0, "high": 2.0, "answers": None, "possible": [None, None]}
    grid = [["no", "yes"], ["north", "a region with a long name", "west"]]
    cells = [
        {"name": f"{a}, {b}", "label": f"smoker = {a}, region = {b}", "value": 0.3 - 0.05 * number, "se": 0.01,
         "low": 0.28 - 0.05 * number, "high": 0.32 - 0.05 * number, "answers": None, "possible": [0, 1]}
        for number, (a, b) in enumerate((a, b) for a in grid[0] for b in grid[1])
    ]  # fmt: skip
    document["sections"].append(
        {
            **{"subject": "smoker x region", "heads": ["values", "share"], "drawn": "grid", "title": "", "note": ""},
            **{"interval": "", "remarks": [], "told": [cell["name"] for cell in cells], "rows": cells, "grid": grid},
        }
    )
    document["sections"].append(
        {
            **{"subject": "income by least squares", "heads": ["", "coefficient"], "drawn": "points", "title": ""},
            **{"interval": ", unshrunk", "remarks": ["A remark."], "note": "", "told": ["smoker"]},
            "rows": [{"name": "smoker", "label": "income: smoker", **number}],
        }
    )
    visit.page.route("**/v1/estimates", lambda route: route.fulfill(status=200, json=document))
    page = visit.open("/dashboard")
    enter(page, TOKEN)
    expect(page.get_by_role("status")).to_contain_text(words)
    regression = page.get_by_role("table", name="income by least squares")
    expect(regression.get_by_role("row", name="income: smoker")).to_have_text("income: smoker1.501.00 to 2.00")
    expect(page.locator("svg .cell")).to_have_count(6)
    expect(page.locator("svg:has(.cell) text").first).to_have_text("30.0%")
    assert_readable(page)
    page.get_by_role("tab", name="Certificate").click()
    told = page.get_by_role("table", name="By how much whoever sees only the counts")
    expect(told.get_by_role("row", name="all answers together")).to_contain_text("except with one chance in a million")
    assert_readable(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert_readable(page)
    assert visit.complaints == []
