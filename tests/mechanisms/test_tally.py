"""Counts: exact, the same however the reports are divided, all of a batch or none of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcdp import InputError, Plan, Policy, Tally, make_plan, privatize
from bcdp.mechanisms.cascade.plans import coordinates, largest_estimates
from bcdp.mechanisms.cascade.tally import CascadeTally
from bcdp.mechanisms.survey.estimation.tally import SurveyTally

KEY = bytes(range(32))
repeatable = settings(derandomize=True, deadline=None, max_examples=60)


def plan_of(mechanism: str, epsilon: float = 3.0, **deltas: float) -> Plan:
    features: dict[str, Any] = {
        "bit": {"type": "binary", "delta": 1.0},
        "number": {"type": "numeric", "bounds": [0, 10]},
        "kind": {"type": "categorical", "values": ["a", "b", "c"]},
    }
    for name, delta in deltas.items():
        features[name] = {**features[name], "delta": delta}
    correlation = 0.0 if 0.0 in deltas.values() else 0.02
    return make_plan(Policy(epsilon=epsilon, features=features, correlation=correlation, mechanism=mechanism))


SURVEY, CASCADE, HIDDEN = plan_of("survey"), plan_of("cascade"), plan_of("cascade", number=0.0)
PLANS = {"survey": SURVEY, "cascade": CASCADE, "hidden": HIDDEN}
OTHERS = {"survey": plan_of("survey", 2.5), "cascade": plan_of("cascade", 2.5), "hidden": CASCADE}
SIZES = [int(np.prod(digits)) for digits in SURVEY.symbols]
reports_of_survey = st.lists(
    st.integers(0, len(SIZES) - 1).flatmap(lambda menu: st.tuples(st.just(menu), st.integers(0, SIZES[menu] - 1))),
    max_size=30,
)
batches = st.lists(reports_of_survey, min_size=3, max_size=3)


def table(rows: list[tuple[int, int]]) -> pa.Table:
    return pa.table(
        {
            "menu": pa.array([menu for menu, _ in rows], pa.uint32()),
            "answer": pa.array([answer for _, answer in rows], pa.uint32()),
        }
    )


def made(plan: Plan, size: int = 400) -> pa.Table:
    generator = np.random.default_rng(8)
    records = {
        "bit": generator.integers(0, 2, size),
        "number": generator.uniform(0, 10, size),
        "kind": np.array(["a", "b", "c"])[generator.integers(0, 3, size)],
    }
    return privatize(plan, records, KEY, range(size))


def cells(tally: Tally) -> list[list[int]]:
    assert isinstance(tally, SurveyTally)
    return [tally.counts(menu).ravel().tolist() for menu in range(len(SIZES))]


def test_a_tally_is_of_its_plans_kind() -> None:
    assert isinstance(Tally(SURVEY), SurveyTally)
    assert isinstance(Tally(CASCADE), CascadeTally)


@repeatable
@given(reports_of_survey)
def test_counts_are_counted_one_by_one(rows: list[tuple[int, int]]) -> None:
    tally = Tally(SURVEY).add(table(rows))
    expected = [[rows.count((menu, answer)) for answer in range(size)] for menu, size in enumerate(SIZES)]
    assert cells(tally) == expected
    assert tally.people == len(rows)
    assert isinstance(tally, SurveyTally)
    for menu, digits in enumerate(SURVEY.symbols):
        assert tally.counts(menu).shape == digits


@repeatable
@given(batches)
def test_however_the_reports_are_divided_the_counts_are_the_same(parts: list[list[tuple[int, int]]]) -> None:
    first, second, third = (Tally(SURVEY).add(table(part)) for part in parts)
    at_once = Tally(SURVEY).add(table([row for part in parts for row in part]))
    for tally in (
        (first + second) + third,
        first + (second + third),
        third + second + first,
        Tally(SURVEY).add(table(parts[0])).add(table(parts[1])).add(table(parts[2])),
    ):
        assert cells(tally) == cells(at_once)
        assert tally.people == at_once.people
    assert cells(first) == cells(Tally(SURVEY).add(table(parts[0]))), "a sum leaves its parts alone"
    assert cells(at_once + Tally(SURVEY)) == cells(at_once)


@pytest.mark.parametrize("name", ["cascade", "hidden"])
def test_a_cascades_moments_are_the_same_however_they_are_added(name: str) -> None:
    plan, reports = PLANS[name], made(PLANS[name])
    estimates = np.array(reports["estimate"].to_pylist(), dtype=np.float64)
    whole = Tally(plan).add(reports)
    first, second, third = (Tally(plan).add(part) for part in (reports[:1], reports[1:150], reports[150:]))
    for tally in (whole, (first + second) + third, third + (second + first), Tally(plan) + whole):
        assert isinstance(tally, CascadeTally)
        assert tally.people == 400
        np.testing.assert_allclose(tally.sum, estimates.sum(axis=0), rtol=1e-10, atol=1e-8)
        np.testing.assert_allclose(tally.products, estimates.T @ estimates, rtol=1e-10, atol=1e-7)
    hidden = [owner == "number" and name == "hidden" for owner in coordinates(plan.policy)]
    assert isinstance(whole, CascadeTally)
    assert np.isnan(whole.sum).tolist() == hidden


@pytest.mark.parametrize("name", PLANS)
def test_nothing_is_counted_of_nothing(name: str) -> None:
    plan = PLANS[name]
    empty = Tally(plan).add(made(plan).slice(0, 0))
    assert empty.people == 0
    assert empty.to_dict() == Tally(plan).to_dict() == (empty + empty).to_dict()


@pytest.mark.parametrize("name", PLANS)
def test_reports_are_read_from_anything(name: str) -> None:
    plan, reports = PLANS[name], made(PLANS[name], 50)
    expected = Tally(plan).add(reports).to_dict()
    for same in (reports.to_batches()[0], pl.DataFrame(reports), pa.concat_tables([reports[:7], reports[7:]])):
        assert Tally(plan).add(same).to_dict() == expected
    if plan is SURVEY:
        for same in (reports.to_pydict(), pd.DataFrame(reports.to_pydict()), reports.append_column("id", [range(50)])):
            assert Tally(plan).add(same).to_dict() == expected


@pytest.mark.parametrize("name", PLANS)
def test_reports_and_tallies_of_another_plan_are_refused(name: str, tmp_path: Path) -> None:
    plan, other = PLANS[name], OTHERS[name]
    tally = Tally(plan).add(made(plan))
    before = tally.to_dict()
    with pytest.raises(
        InputError, match=f"reports: got 'plan {other.id[:12]}..'; accepted: reports of plan {plan.id[:12]}"
    ):
        tally.add(made(other))
    with pytest.raises(InputError, match=f"tally: got 'plan {other.id[:12]}..'; accepted: a tally of the same plan"):
        _ = tally + Tally(other)
    with pytest.raises(TypeError):
        _ = tally + 1  # type: ignore[operator]
    Tally(other).save(tmp_path / "tally.json")
    with pytest.raises(
        InputError, match=f"tally.plan: got '{other.id[:12]}..'; accepted: the plan's id {plan.id[:12]}"
    ):
        Tally.load(tmp_path / "tally.json", plan)
    assert tally.to_dict() == before


GOOD = {"menu": [0, 0], "answer": [0, 1]}


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        ({"menu": [0, len(SIZES)], "answer": [0, 0]}, f"reports.menu: got {len(SIZES)}; accepted: numbers from 0 to"),
        ({"menu": [-1, 0], "answer": [0, 0]}, "reports.menu: got -1; accepted: numbers from 0 to"),
        ({"menu": [0, 0], "answer": [0, SIZES[0]]}, f"reports.answer: got {SIZES[0]}; accepted: numbers from 0 to"),
        ({"menu": [0, 0], "answer": [0, -1]}, "reports.answer: got -1; accepted: numbers from 0 to"),
        ({"menu": [0, 0], "answer": np.array([0, 2**63], dtype=np.uint64)}, "reports.answer: got"),
        ({"menu": np.array([0, 2**64 - 1], dtype=np.uint64), "answer": [0, 0]}, "reports.menu: got"),
        ({"menu": [0, None], "answer": [0, 0]}, "reports.menu: got 'type int64 with 1 missing'; accepted: whole"),
        ({"menu": [0.0, 0.0], "answer": [0, 0]}, "reports.menu: got 'type double with 0 missing'; accepted: whole"),
        ({"menu": ["0", "0"], "answer": [0, 0]}, "reports.menu: got 'type string"),
        ({"menu": [True, False], "answer": [0, 0]}, "reports.menu: got 'type bool"),
        ({"menu": [0, 0]}, "reports: got 'no column answer'; accepted: columns menu and answer"),
        ({"estimate": [0, 0]}, "reports: got 'no column menu and no column answer'; accepted: columns menu and answer"),
        (7, "table: int cannot be read"),
    ],
)  # fmt: skip
def test_bad_reports_are_refused_and_nothing_of_them_is_counted(reports: Any, message: str) -> None:
    tally = Tally(SURVEY).add(GOOD)
    before = tally.to_dict()
    with pytest.raises(InputError, match=message):
        tally.add(reports)
    assert tally.to_dict() == before


def _lists(rows: list[Any], kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"estimate": pa.array(rows, kind or pa.list_(pa.float64(), 5))})


LARGEST = largest_estimates(CASCADE).tolist()


@pytest.mark.parametrize(
    "reports",
    [
        _lists([[0.0] * 5, [0.0] * 4 + [float("nan")]]),
        _lists([[float("nan")] * 5, [0.0] * 5]),
        _lists([[0.0] * 5, [float("inf")] + [0.0] * 4]),
        _lists([[0.0] * 5, [None] + [0.0] * 4]),
        _lists([[0.0] * 5, None]),
        _lists([[LARGEST[0] * 1.001, 0.0, 0.0, 0.0, 0.0]]),
        _lists([[0.0, 0.0, 0.0, 0.0, -1e300]]),
        _lists([[0.0] * 5, [0.0] * 4], pa.list_(pa.float64())),
        _lists([[0.0] * 4], pa.list_(pa.float64(), 4)),
        _lists([["0"] * 5], pa.list_(pa.string(), 5)),
        pa.table({"estimate": [0.0, 1.0]}),
        pa.table({"menu": [0]}),
    ],
)
def test_bad_reports_of_a_cascade_are_refused_and_nothing_of_them_is_counted(reports: pa.Table) -> None:
    tally = Tally(CASCADE).add(made(CASCADE, 20))
    before = tally.to_dict()
    with pytest.raises(InputError, match="reports"):
        tally.add(reports)
    assert tally.to_dict() == before


def test_a_feature_that_is_not_released_stays_so() -> None:
    column = coordinates(HIDDEN.policy).index("number")
    row = made(HIDDEN, 1)["estimate"].to_pylist()[0]
    assert [value != value for value in row] == [place == column for place in range(5)]
    row[column] = 0.5
    with pytest.raises(InputError, match=r"reports.estimate"):
        Tally(HIDDEN).add(_lists([row]))


def test_every_report_of_a_device_is_accepted_up_to_the_largest() -> None:
    """The bound is reached: with a direction along one axis all of a channel's length is in one coordinate."""
    reports = np.abs(np.array(made(CASCADE, 20_000)["estimate"].to_pylist()))
    assert np.all(reports <= LARGEST)
    assert np.all(reports.max(axis=0) > 0.5 * np.array(LARGEST))


@pytest.mark.parametrize("name", PLANS)
def test_a_file_holds_all_of_a_tally(name: str, tmp_path: Path) -> None:
    plan, path = PLANS[name], tmp_path / "tally.json"
    for reports in (made(plan), made(plan, 0)):
        tally = Tally(plan).add(reports)
        tally.save(path)
        loaded = Tally.load(path, plan)
        assert loaded.to_dict() == tally.to_dict()
        assert loaded.people == len(reports)
        assert (loaded + tally).people == 2 * len(reports)
        assert json.loads(path.read_text())["plan"] == plan.id


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"plan": 7}', "[" * 100_000])
def test_what_is_no_tally_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "tally.json").write_text(text)
    with pytest.raises(InputError, match="tally"):
        Tally.load(tmp_path / "tally.json", SURVEY)


def test_a_missing_or_unreadable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "bytes"):
        with pytest.raises(InputError, match="cannot be read"):
            Tally.load(path, SURVEY)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("survey", {"counts": None}),
        ("survey", {"counts": [[0, 0]]}),
        ("survey", {"counts": [[0, 0, -1]]}),
        ("survey", {"counts": [[0, 0, 1.5]]}),
        ("survey", {"counts": [[0, 0, True]]}),
        ("survey", {"counts": [[0, 0, 2**60]]}),
        ("survey", {"counts": [[99, 0, 400]]}),
        ("survey", {"counts": [[0, 10**6, 400]]}),
        ("survey", {"counts": []}),
        ("survey", {"people": 399}),
        ("survey", {"people": None}),
        ("cascade", {"people": -1}),
        ("cascade", {"people": 1.5}),
        ("cascade", {"people": "400"}),
        ("cascade", {"sum": None}),
        ("cascade", {"sum": [0.0] * 4}),
        ("cascade", {"sum": [0.0] * 4 + [None]}),
        ("cascade", {"sum": [0.0] * 4 + ["a"]}),
        ("cascade", {"sum": [0.0] * 4 + [float("inf")]}),
        ("cascade", {"products": [[0.0] * 5] * 4}),
        ("cascade", {"products": [[0.0] * 4 + [float("nan")]] * 5}),
        ("hidden", {"sum": [0.0] * 5}),
        ("hidden", {"products": [[0.0] * 5] * 5}),
    ],
)
def test_a_damaged_tally_is_refused(name: str, change: dict[str, Any], tmp_path: Path) -> None:
    plan, path = PLANS[name], tmp_path / "tally.json"
    path.write_text(json.dumps(Tally(plan).add(made(plan)).to_dict() | change))
    with pytest.raises(InputError, match=r"tally\.|reports\."):
        Tally.load(path, plan)
