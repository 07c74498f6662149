"""Panels: what a whole history costs, when devices answer, and what is estimated of every wave (theory.md, 4.23)."""

from __future__ import annotations

import json
import math
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from bcdp import Device, InputError, Plan, Policy, Tally, make_plan, privatize
from bcdp.cli.app import main
from bcdp.estimates.panel import estimate_panel
from bcdp.exact import TOTAL
from bcdp.plan import certify
from bcdp.plan.ledger import Ledger, release_of
from bcdp.plan.panel import wave_plans, wave_shares
from bcdp.randomizers import Dense
from bcdp_device import Device as Standalone
from bcdp_device import read_plan
from bcdp_device.answering import drawn_menu
from bcdp_device.panels import Calendar
from support.helpers import random_table
from support.ledger_priors import TOLERANCE
from support.panel_priors import KINDS, of_ledger, of_panel, random_panel

FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "delta": 0.5},
    "region": {"type": "categorical", "values": ["a", "b", "c"]},
    "age": {"type": "numeric", "bounds": [0, 100]},
}
PANEL = {"waves": 3, "every": "month", "start": "2027-01-15"}
TASKS = [{"mean": ["smoker", "age"]}, {"frequency": ["region"]}, {"change": ["smoker", "region"]}]
DAYS = [date(2027, 1, 20), date(2027, 2, 20), date(2027, 3, 20)]


def policy(**changed: Any) -> Policy:
    return Policy(**{"epsilon": 1, "correlation": 0.1, "features": FEATURES, "panel": PANEL, **changed})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(policy(tasks=TASKS))


def test_no_level_is_below_the_worst_prior_over_histories() -> None:
    """`benchmarks/sweeps/panels.py` has 300 of them. The level is attained, so a smaller one would be seen."""
    rng, found = np.random.default_rng(3), []
    for number in range(16):
        panel = random_panel(rng, 2 + number % 2)
        found += [*of_panel(panel), *(of_ledger(rng, panel, random_panel(rng)) if number < 6 else ())]
    assert [each for each in found if each.worst > each.stated + TOLERANCE] == []
    attained = [each for each in found if each.kind == "panel" and each.worst > each.stated - 1e-6]
    assert len(attained) > 24


def built(tables: list[Any], question: dict[str, Any], wave: int, q: float, features: Any) -> dict[str, Any]:
    """A panel of two waves with one question."""
    return {
        "mechanism": "survey",
        "collection": {"epsilon": 20.0, "features": features, "panel": {**PANEL, "waves": 2}},
        "correlation": {"kind": "per feature", "default": q, "named": {}, "source": "test"},
        "tables": tables,
        "questions": [{**question, "table": 0}],
        "menus": [{"weight": TOTAL, "questions": [0], "wave": wave}],
    }


def test_the_level_of_one_wave_would_be_too_low(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example after Theorem 4: histories that agree in the wave and differ elsewhere count, too."""
    first = [TOTAL // 10, 4 * TOTAL // 10, 4 * TOTAL // 10, *[2 * TOTAL // 10] * 3]
    table = Dense(np.array([[weight, TOTAL - weight] for weight in first]))
    document = built([table.to_dict()], {"features": ["x", "u"], "levels": [2, 3]}, 1, 0.9, KINDS)
    found = next(each for each in of_panel(Plan.certified(document)) if each.kind == "panel")
    assert found.worst == pytest.approx(found.stated, abs=1e-6)
    assert found.stated == pytest.approx(math.log(3.7), abs=1e-3)  # (.1 x .1 + .9 x .4) / (.1 x .1 + .9 x .1)
    monkeypatch.setattr(Policy, "shares_inputs", lambda self, name: self.features[name].shares_inputs)
    assert Plan.certified(document).certificate.features["x"].certified < found.worst - 0.5


def test_a_panel_costs_what_one_of_its_waves_costs(plan: Plan) -> None:
    once = make_plan(policy(panel=None, tasks=TASKS[:2]))
    assert plan.certificate.epsilon <= 1
    assert certify(plan).delta["smoker"] <= 0.5
    longer = make_plan(policy(tasks=TASKS[:2], panel={**PANEL, "waves": 40}))
    assert longer.certificate.features == once.certificate.features
    assert longer.certificate.objective == pytest.approx(once.certificate.objective, rel=1e-4)
    release = Ledger().add(release_of(longer))
    assert release.epsilon == longer.certificate.epsilon


def test_menus_have_waves_and_each_wave_has_its_share(plan: Plan) -> None:
    shares = wave_shares(plan)
    assert sum(shares.values()) == 1
    assert shares[1] < shares[2] == pytest.approx(shares[3])  # nothing changes before the second wave
    assert {question.since for question in plan.questions} == {None, 1, 2}
    for wave, part in wave_plans(plan).items():
        assert sum(menu.weight for menu in part.menus) == TOTAL
        assert {menu.wave for menu in part.menus} == {wave}
        changed = [plan.questions[index].since for menu in part.menus for index in menu.questions]
        assert {since for since in changed if since} <= {wave - 1}


def test_a_plan_without_waves_is_as_it_was() -> None:
    document = json.loads(make_plan(policy(panel=None, tasks=TASKS[:2])).text)
    assert "panel" not in document["collection"]
    assert all(menu.keys() == {"weight", "questions"} for menu in document["menus"])
    assert all("since" not in question for question in document["questions"])


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"panel": {"waves": 12, "every": "month"}}, "panel.start: got nothing; accepted: the first day"),
        ({"panel": {**PANEL, "waves": 1}}, "panel.waves"),
        ({"panel": {**PANEL, "every": "months"}}, "panel.every"),
        ({"panel": {**PANEL, "start": "2027-01-31"}}, "panel"),
        ({"panel": {**PANEL, "start": "2027-02-30"}}, "panel"),
        ({"panel": {**PANEL, "late": 7}}, "panel.late: got an unknown key"),
        ({"counts": {"people": 10_000, "epsilon": 1}}, "panel"),
        ({"correlation": {"pilot": "people.csv"}}, "panel"),
        ({"correlation": {"pairs": {"smoker": {"age": 0.1}}}}, "panel"),
        ({"features": {**FEATURES, "often": {"type": "binary", "asked_if": {"smoker": 1}}}}, "panel"),
        ({"features": {**FEATURES, "media": {"type": "multiple", "values": ["tv", "web"]}}}, "panel"),
        ({"tasks": [{"change": ["age"]}]}, "tasks[0].change"),
        ({"tasks": [{"change": ["smoker"]}], "panel": None}, "tasks: got 'change'"),
    ],
)
def test_what_no_panel_is_proved_for_is_refused(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError) as refused:
        policy(**changed)
    assert named in str(refused.value)
    assert "accepted: " in str(refused.value)


def test_a_cascade_has_no_waves() -> None:
    with pytest.raises(InputError, match="panel: got '3 waves'; accepted: the mechanism survey"):
        make_plan(policy(mechanism="cascade", features={"smoker": {"type": "binary"}}))


def test_waves_follow_each_other_without_gaps() -> None:
    for every in ("day", "week", "month", "year"):
        for start in (date(2023, 12, 28), date(2024, 2, 28), date(2027, 1, 1)):
            calendar = Calendar(5, every, start)  # type: ignore[arg-type]
            day, last = start - timedelta(40), calendar.last_day(5)
            while day <= last + timedelta(40):
                wave = calendar.wave_on(day)
                assert (wave == 0) == (day < start)
                assert (wave == 6) == (day > last)
                if 1 <= wave <= 5:
                    assert calendar.first_day(wave) <= day <= calendar.last_day(wave)
                day += timedelta(1 if every != "year" else 13)


# ---- devices ----


def records(first: int) -> list[dict[str, Any]]:
    return [{"smoker": first, "region": "a", "age": 40}, {"smoker": 1, "region": "c", "age": 40},
            {"smoker": 0, "region": "b", "age": 41}]  # fmt: skip


def test_a_device_answers_in_its_wave_and_never_twice(plan: Plan) -> None:
    read, seen = read_plan(plan.text), set()
    for _ in range(60):
        memory: dict[str, Any] = {}
        device = Standalone(memory)
        periods = device.panel_periods(read)
        assert [period.first.day for period in periods] == [15] * len(periods)
        reports = [device.panel_answer(read, record, day=day) for record, day in zip(records(1), DAYS, strict=True)]
        sent = [report for report in reports if report is not None]
        wave = read.waves[sent[0]["menu"]]
        assert wave == periods[-1].wave
        assert all(report == sent[0] for report in sent)
        assert reports[: wave - 1] == [None] * (wave - 1)
        kept = json.dumps(memory)
        for day in (date(2000, 1, 1), date(2027, 1, 1), DAYS[wave - 1], date(2050, 1, 1)):  # whatever the clock says
            assert Standalone(memory).panel_answer(read, records(0)[0], day=day) == sent[0]
        assert json.dumps(memory) == kept
        seen.add((wave, len(periods)))
    assert {(1, 1), (2, 1), (3, 1), (2, 2), (3, 2)} == seen


def test_a_missed_wave_is_never_answered(plan: Plan) -> None:
    read = read_plan(plan.text)
    for _ in range(20):
        memory: dict[str, Any] = {}
        device = Standalone(memory)
        last = device.panel_periods(read)[-1]
        before, after = last.first - timedelta(1), last.last + timedelta(1)
        for day in (before, after, date(2040, 1, 1)):
            if len(device.panel_periods(read)) == 1:
                assert device.panel_answer(read, records(1)[0], day=day) is None
        assert plan.id not in memory


def test_an_earlier_value_that_was_never_given_cannot_change(plan: Plan) -> None:
    """Somebody who misses the first of two waves gives no answer about a change."""
    read, found = read_plan(plan.text), 0
    for _ in range(80):
        device = Standalone({})
        _earlier, *later = device.panel_periods(read)
        if later:
            found += 1
            assert device.panel_answer(read, records(1)[2], day=later[0].first) is None
    assert found > 10


def test_a_device_does_not_keep_the_earlier_value(plan: Plan) -> None:
    """Between two waves it has a symbol for every later value, and both earlier values may have the same ones."""
    read, found = read_plan(plan.text), (set[int](), set[int]())
    for number in range(200):
        memory: dict[str, Any] = {}
        device = Standalone(memory)
        periods = device.panel_periods(read)
        if len(periods) == 2:
            record = records(number % 2)[0]
            assert device.panel_answer(read, record, day=periods[0].first) is None
            part = memory[f"{plan.id} panel"]
            question = read.menus[drawn_menu(read, part["word"])][0]
            if question.features == ("smoker",):
                assert part.keys() == {"word", "0", "1"}
                found[number % 2].add(part["0"])
    assert found[0] & found[1]


def test_a_refused_record_does_not_draw_the_wave_again(plan: Plan, tmp_path: Any) -> None:
    """Else the menu would depend on the history. Of 20 people asked three times each, all keep what was drawn first."""
    unreadable = {"smoker": "x", "region": "zz", "age": "?"}
    refused = []
    for number in range(20):
        memory, kept = tmp_path / f"{number}.json", set()
        for _ in range(3):
            try:
                Device(memory, ledger=tmp_path / f"ledger{number}.json").panel_answer(plan, unreadable, day=DAYS[0])
            except InputError as error:
                refused.append(str(error))
            kept.add(memory.read_text("utf-8"))
        assert len(kept) == 1
    assert refused  # a wave that is not the drawn one looks at no record
    assert not any("ledger" in said for said in refused)


def test_answers_about_a_change_have_the_tables_distribution() -> None:
    """A device that forgets which value came first, or reuses one word for both, would be seen: 1e-9."""
    once = make_plan(policy(features={"smoker": {"type": "binary"}}, tasks=[{"change": ["smoker"]}],
                            panel={**PANEL, "waves": 2}, correlation=0.0))  # fmt: skip
    read, people = read_plan(once.text), 4000
    (question,) = [question for question in once.questions if question.since == 1]
    table = once.tables[question.table].dense().weights / TOTAL
    for before, now in ((0, 1), (1, 0)):
        counts = np.zeros(table.shape[1])
        for _ in range(people):
            device = Standalone({})
            device.panel_answer(read, {"smoker": before}, day=date(2027, 1, 20))
            report = device.panel_answer(read, {"smoker": now}, day=date(2027, 2, 20))
            counts[report["answer"]] += 1 if report else 0
        expected = people * table[2 * before + now]
        assert (np.abs(counts - expected) < 6.2 * np.sqrt(expected)).all()


def test_the_ledger_enters_a_panel_once_by_the_menu_that_was_drawn(plan: Plan, tmp_path: Any) -> None:
    device = Device(tmp_path / "answers.json", tmp_path / "ledger.json")
    device.panel_periods(plan)
    spent = Ledger.load(tmp_path / "ledger.json").epsilon
    assert 0 < spent <= plan.certificate.epsilon
    for day in DAYS:
        device.panel_answer(plan, records(1)[0], day=day)
    assert Ledger.load(tmp_path / "ledger.json").epsilon == spent
    (tmp_path / "answers.json").unlink()
    with pytest.raises(InputError, match="its answer is lost"):
        Device(tmp_path / "answers.json", tmp_path / "ledger.json").panel_periods(plan)


def test_a_ticket_assigns_the_wave() -> None:
    assigned = make_plan(policy(menu_from="ticket"))
    read = read_plan(assigned.text)
    waves = {ticket: Standalone({}).panel_periods(read, ticket)[-1].wave for ticket in "abcdefgh"}
    assert waves == {ticket: Standalone({}).panel_periods(read, ticket)[-1].wave for ticket in "abcdefgh"}
    assert len(set(waves.values())) > 1
    device = Standalone({})
    device.panel_periods(read, "a")
    with pytest.raises(InputError, match="another one"):
        device.panel_periods(read, next(ticket for ticket in "bcdefgh" if waves[ticket] != waves["a"]))
    with pytest.raises(InputError, match="ticket"):
        device.panel_periods(read)


def test_other_verbs_say_what_to_do_with_a_panel(plan: Plan) -> None:
    with pytest.raises(InputError, match="panel_answer"):
        Device({}).answer(plan, records(1)[0])
    with pytest.raises(InputError, match="panel_answer"):
        Standalone({}).answer(read_plan(plan.text), records(1)[0])
    with pytest.raises(InputError, match="a plan with waves"):
        Device({}).panel_answer(make_plan(policy(panel=None)), records(1)[0])
    with pytest.raises(InputError, match="values of both waves"):
        privatize(plan, {name: [record[name] for record in records(1) * 40] for name in FEATURES})


# ---- estimates ----


def test_every_wave_is_estimated_by_itself() -> None:
    """Three waves in which nothing changes but the people; 9 standard errors are never exceeded by chance."""
    planned = make_plan(policy(epsilon=4, features={"smoker": {"type": "binary"}}))
    people = 60_000
    tally = Tally(planned).add(privatize(planned, {"smoker": [1, 0, 0, 0] * (people // 4)}))
    found = estimate_panel(tally, enrolled=2 * people)
    assert list(found.waves) == [1, 2, 3]
    for estimates in found.waves.values():
        assert abs(estimates.means["smoker"].value - 0.25) < 9 * estimates.means["smoker"].se
    (trend,) = found.trends
    assert abs(trend.slope.value) < 9 * trend.slope.se
    assert trend.all_people.se == pytest.approx(found.waves[1].means["smoker"].se / math.sqrt(3), rel=0.05)
    assert [round(each.nonresponse or 0, 1) for each in found.answered.values()] == [0.5, 0.5, 0.5]
    assert json.loads(json.dumps(found.to_dict()))["answered"][0]["wave"] == 1


def test_nonresponse_in_a_wave_raises_no_alarm_and_another_menu_does(plan: Plan) -> None:
    counts = [[number, 0, int(40_000 * menu.weight / TOTAL)] for number, menu in enumerate(plan.menus)]
    thinned = [[menu, 0, count // 5 if plan.menus[menu].wave == 2 else count] for menu, _, count in counts]
    skewed = [[menu, 0, count // 5 if menu == 0 else count] for menu, _, count in counts]
    alarms = {}
    for name, rows in (("thinned", thinned), ("skewed", skewed)):
        document = {"plan": plan.id, "people": sum(row[2] for row in rows), "counts": rows}
        alarms[name] = Tally.from_dict(document, plan).checks()["menus"].alarm
    assert alarms == {"thinned": False, "skewed": True}


def changed_counts(planned: Plan, people: int, moved: float, rng: np.random.Generator) -> Tally:
    """The tally of a panel in which a share of the people, a third of them smokers, changes in every wave."""
    histories = [rng.random(people) < 1 / 3]
    for _ in range(2):
        histories.append(histories[-1] ^ (rng.random(people) < moved))
    menus = rng.choice(len(planned.menus), people, p=[menu.weight / TOTAL for menu in planned.menus])
    rows = []
    for number, menu in enumerate(planned.menus):
        (question,) = [planned.questions[index] for index in menu.questions]
        now = histories[(menu.wave or 0) - 1][menus == number].astype(int)
        before = histories[(question.since or 1) - 1][menus == number].astype(int)
        table = planned.tables[question.table].dense().weights / TOTAL
        inputs = now if question.since is None else 2 * before + now
        drawn = (rng.random(len(inputs))[:, None] > table[inputs].cumsum(axis=1)).sum(axis=1)
        rows += [[number, symbol, int((drawn == symbol).sum())] for symbol in range(table.shape[1])]
    rows = [row for row in rows if row[2]]
    return Tally.from_dict({"plan": planned.id, "people": people, "counts": rows}, planned)


def test_changes_are_estimated_without_bias() -> None:
    planned = make_plan(policy(epsilon=3, features={"smoker": {"type": "binary"}},
                               tasks=[{"mean": ["smoker"]}, {"change": ["smoker"]}]))  # fmt: skip
    found = estimate_panel(changed_counts(planned, 200_000, 0.2, np.random.default_rng(1)))
    assert not math.isfinite(found.waves[1].changes["smoker"].changed.raw)
    for wave in (2, 3):
        change = found.waves[wave].changes["smoker"]
        assert abs(change.changed.raw - 0.2) < 7 * change.changed.se
        assert change.changed.se < 0.02
        total = sum(cell.value for row in change.cells for cell in row)
        assert total == pytest.approx(1)
        assert change.to_dict()["changed"]["value"] == change.changed.value
    names = [trend.row.name for trend in found.trends]
    assert names[0] == "smoker"
    assert "smoker: changed" in names


def test_the_trend_of_a_panel_from_the_command_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    planned = make_plan(policy(features={"smoker": {"type": "binary"}}))
    planned.save(tmp_path / "plan.json")
    Tally(planned).add(privatize(planned, {"smoker": [1, 0] * 3000})).save(tmp_path / "tally.json")
    arguments = [str(tmp_path / "plan.json"), str(tmp_path / "tally.json")]
    assert main(["trend", *arguments, "--enrolled", "8000", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["waves"]) == len(shown["answered"]) == 3
    assert main(["trend", *arguments, "--enrolled", "100"]) == 2
    assert "accepted: a whole number of at least 6000" in capsys.readouterr().err
    assert main(["verify", arguments[0]]) == 0
    assert "A panel of 3 waves, one every month from 2027-01-15 on" in " ".join(capsys.readouterr().out.split())


def test_random_tables_about_changes_are_certified_by_their_ratio() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        table = random_table(rng, 4)
        question = {"features": ["x"], "levels": [2, 2], "kind": "change", "since": 1}
        document = built([table.to_dict()], question, 2, 1.0, {"x": {"type": "binary"}})
        if table.ratio < math.inf:
            assert Plan.certified(document).certificate.features["x"].certified == pytest.approx(table.level)
