"""The collector of a panel: waves open and close, late reports count, others are refused, the operator sees waves."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from bcdp import Plan, Policy, Tally, make_plan, privatize
from bcdp.collector import Settings
from bcdp.collector.dashboard import operator_document
from bcdp.collector.http.errors import RefusalError
from bcdp.collector.http.report_body import Reader
from bcdp.collector.waves import expected_shares, waves_document

TOKEN = "only-the-operator-knows"
LATE = 3


@pytest.fixture(scope="module")
def plan() -> Plan:
    panel = {"waves": 3, "every": "week", "start": "2027-01-04"}
    return make_plan(Policy(epsilon=2, features={"smoker": {"type": "binary"}}, panel=panel))


def body(plan: Plan, *menus: int) -> bytes:
    reports = [{"id": f"r{number}", "menu": menu, "answer": 0} for number, menu in enumerate(menus)]
    return json.dumps({"plan": plan.id, "reports": reports}).encode()


def test_a_wave_is_open_from_its_first_day_until_some_days_after_its_last(plan: Plan, tmp_path: Path) -> None:
    settings = Settings(plan, str(tmp_path / "reports.db"), TOKEN, late_days=LATE)
    for days in range(-3, 30):
        day = date(2027, 1, 4) + timedelta(days)
        reader = Reader(settings, lambda day=day: day)  # type: ignore[misc]
        for number, menu in enumerate(plan.menus):
            first = 7 * ((menu.wave or 0) - 1)
            if first <= days < first + 7 + LATE:
                assert len(reader.read(body(plan, number))) == 1
            else:
                with pytest.raises(RefusalError, match=r"of a wave that is not open; accepted: wave") as refused:
                    reader.read(body(plan, number))
                assert refused.value.status == 409


def test_one_report_of_another_wave_refuses_the_request(plan: Plan, tmp_path: Path) -> None:
    reader = Reader(Settings(plan, str(tmp_path / "reports.db"), TOKEN), lambda: date(2027, 1, 5))
    menus = {menu.wave: number for number, menu in enumerate(plan.menus)}
    with pytest.raises(RefusalError, match="accepted: wave 1"):
        reader.read(body(plan, menus[1], menus[2]))


def counted(plan: Plan, people: int) -> Tally:
    return Tally(plan).add(privatize(plan, {"smoker": [1, 0, 0] * (people // 3)}))


def test_the_operator_sees_waves_and_who_did_not_answer(plan: Plan) -> None:
    tally = counted(plan, 6000)
    document: dict[str, Any] = waves_document(tally, 12_000, date(2027, 1, 20), LATE)
    assert [wave["state"] for wave in document["waves"]] == ["over", "open", "open"]
    assert [(wave["first"], wave["last"]) for wave in document["waves"]][1] == ("2027-01-11", "2027-01-17")
    assert document["waves"][0]["nonresponse"] == pytest.approx(0.5, abs=0.06)
    assert [wave["nonresponse"] for wave in document["waves"][1:]] == [None, None]
    (trend,) = document["trends"]
    assert [wave["wave"] for wave in trend["waves"]] == [1, 2, 3]
    assert trend["slope"]["low"] <= trend["slope"]["value"] <= trend["slope"]["high"]
    json.dumps(operator_document(tally) | document, allow_nan=False)


def test_before_the_second_wave_there_is_no_trend(plan: Plan) -> None:
    rows = [row for row in counted(plan, 3000).to_dict()["counts"] if plan.menus[row[0]].wave == 1]
    tally = Tally.from_dict({"plan": plan.id, "people": sum(row[2] for row in rows), "counts": rows}, plan)
    document = waves_document(tally, None, date(2027, 1, 5), LATE)
    assert document["trends"] == []
    assert [wave["state"] for wave in document["waves"]] == ["open", "later", "later"]
    assert sum(expected_shares(tally)) == pytest.approx(1)
    alarms = [check.alarm for check in tally.checks().values()]
    assert alarms == [False] * 3  # that nobody was asked in later waves is no sign of fakes


def test_a_plan_without_waves_has_none() -> None:
    once = make_plan(Policy(epsilon=2, features={"smoker": {"type": "binary"}}))
    assert waves_document(Tally(once), 100, date(2027, 1, 5), LATE) == {}
    assert expected_shares(Tally(once)) == [1.0]
