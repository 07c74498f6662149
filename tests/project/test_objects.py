"""Policies, plans, tallies and estimates are objects as Python people expect them: pickled, copied, compared, shown."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import bcdp
from bcdp import Estimates, InputError, Plan, Policy, SurveyRegressor, Tally, estimate, make_plan, privatize

POLICY = Policy(
    epsilon=2,
    correlation=0.1,
    features={
        "smoker": {"type": "binary", "delta": 0.5},
        "income": {"type": "numeric", "bounds": [0, 1000], "missing": 0, "label": "income <b>in</b> euros"},
        "region": {"type": "categorical", "values": ["north", "south", "west"]},
    },
)
PLAN = make_plan(POLICY)
PEOPLE = {"smoker": [0, 1] * 300, "income": [100.0, 900.0] * 300, "region": ["north", "south", "west"] * 200}
TALLY = Tally(PLAN).add(privatize(PLAN, PEOPLE))
FOUND = estimate(TALLY)
OBJECTS = [POLICY, PLAN, TALLY, FOUND]


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_a_copy_is_equal_and_another(thing: object) -> None:
    for made in (pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)):
        assert made == thing
        assert made is not thing
        assert type(made) is type(thing)


def test_a_copy_of_a_tally_counts_for_itself() -> None:
    other = copy.copy(TALLY)
    other.add(privatize(PLAN, PEOPLE))
    assert other != TALLY
    assert (TALLY.people, other.people) == (600, 1200)


def test_a_tally_of_a_cascade_is_copied_to_the_last_bit() -> None:
    plan = make_plan(Policy(epsilon=2, features={"a": {"type": "binary"}}, mechanism="cascade"))
    tally = Tally(plan).add(privatize(plan, {"a": [0, 1, 1] * 50}))
    assert pickle.loads(pickle.dumps(tally)) == tally


def test_pickles_are_read_by_another_process(tmp_path: Path) -> None:
    (tmp_path / "things").write_bytes(pickle.dumps(OBJECTS))
    program = (
        "import pickle, sys; policy, plan, tally, found = pickle.load(open(sys.argv[1], 'rb')); "
        "print(plan.id, tally.people, found.means['smoker'].value, policy.epsilon)"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "things"], capture_output=True, check=True)
    assert done.stdout.decode().split() == [PLAN.id, "600", str(FOUND.means["smoker"].value), "2.0"]


def test_estimates_become_tidy_frames() -> None:
    table = FOUND.to_arrow()
    frame = FOUND.to_pandas().set_index("label")
    assert table.column_names == ["about", "name", "label", "value", "se", "low", "high", "answers"]
    assert table.num_rows == 5  # two means, three shares
    assert frame.loc["smoker = 1", "value"] == FOUND.means["smoker"].value
    assert frame.loc["region = north", "high"] == FOUND.frequencies["region"]["north"].high
    assert FOUND.to_polars().equals(polars.from_arrow(table))


def test_the_public_names_are_listed_and_nothing_else() -> None:
    assert set(dir(bcdp)) == {*bcdp.__all__, "__version__"}
    assert all(hasattr(bcdp, name) for name in dir(bcdp))


def test_what_a_notebook_shows() -> None:
    plan, tally, found = (thing._repr_html_() for thing in (PLAN, TALLY, FOUND))
    assert "percentage points" in plan  # the condition stands beside the promise
    assert "600 people" in tally
    assert found.count("<svg") == 5
    assert "missing counted as 0" in found
    assert "<b>in</b>" not in plan + found  # labels are text
    assert "&lt;b&gt;in" in found


def test_representations_are_short() -> None:
    assert repr(PLAN) == f"<Plan {PLAN.id[:12]}..: survey of 3 features>"
    assert repr(TALLY) == f"<Tally of plan {PLAN.id[:12]}..: 600 people>"


def test_types_are_those_of_the_public_api() -> None:
    assert [type(thing) for thing in (POLICY, PLAN, FOUND)] == [Policy, Plan, Estimates]


WAYS: dict[str, Callable[[Path, str], Any]] = {
    "a text": lambda path, mode: str(path),
    "a path": lambda path, mode: path,
    "an open file": lambda path, mode: path.open(mode, encoding="utf-8"),
    "an open file of bytes": lambda path, mode: path.open(f"{mode}b"),
}


@pytest.mark.parametrize("way", WAYS)
def test_paths_and_open_files_are_alike(way: str, tmp_path: Path) -> None:
    def opened(name: str, mode: str) -> Any:
        return WAYS[way](tmp_path / name, mode)

    for name, thing in (("plan.json", PLAN), ("tally.json", TALLY)):
        target = opened(name, "w")
        thing.save(target)
        if hasattr(target, "close"):
            target.close()
    (tmp_path / "policy.yaml").write_text("\ufeff" + POLICY.to_yaml(), "utf-8")
    found = [(Policy.load, "policy.yaml", POLICY), (Plan.load, "plan.json", PLAN)]
    for load, name, thing in [*found, (lambda source: Tally.load(source, PLAN), "tally.json", TALLY)]:
        source = opened(name, "r")
        assert load(source) == thing
        if hasattr(source, "close"):
            source.close()


def test_a_policy_in_an_open_file_finds_what_it_names_beside_it(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "policy.yaml").write_text(
        POLICY.to_yaml().replace("correlation: 0.1", "correlation: {prior: p.csv}")
    )
    with (tmp_path / "there" / "policy.yaml").open() as file:
        assert Policy.load(file) == Policy.load(tmp_path / "there" / "policy.yaml")


def test_memory_is_a_file_too_and_other_things_are_refused_in_words() -> None:
    held = io.StringIO()
    PLAN.save(held)
    assert Plan.load(io.StringIO(held.getvalue())) == PLAN
    with pytest.raises(InputError, match=r"^file: cannot be read \(it is not JSON\)"):
        Tally.load(io.BytesIO(b"{"), PLAN)
    for load in (Policy.load, Plan.load, lambda source: Tally.load(source, PLAN), PLAN.save, TALLY.save):
        with pytest.raises(InputError, match=r"path: got 'a value of type int'; accepted: a path, or an open file"):
            load(5)  # type: ignore[arg-type]


def test_tables_are_read_whatever_holds_them(tmp_path: Path) -> None:
    """Frames that are not computed yet, lists of records, and files by their paths: with one key the same reports."""
    key, ids = bytes(range(32)), [*range(600)]
    expected = privatize(PLAN, PEOPLE, key, ids)
    records = [dict(zip(PEOPLE, row, strict=True)) for row in zip(*PEOPLE.values(), strict=True)]
    table = pa.table(PEOPLE)
    parquet.write_table(table, tmp_path / "people.parquet")
    csv.write_csv(table, tmp_path / "people.csv")
    paths = [tmp_path / "people.parquet", str(tmp_path / "people.csv")]
    for people in (polars.DataFrame(PEOPLE).lazy(), records, tuple(records), *paths):
        assert privatize(PLAN, people, key, ids) == expected


def test_a_record_without_a_key_of_the_list_lacks_the_value() -> None:
    with pytest.raises(InputError, match="column 'smoker': 1 of 2 records have no value"):
        privatize(PLAN, [{"smoker": 0, "income": 3, "region": "west"}, {"income": 3, "region": "west"}])
    with pytest.raises(InputError, match="table: got no column 'smoker'"):
        privatize(PLAN, [{"income": 3, "region": "west"}])
    with pytest.raises(InputError, match=r"there is no such file"):
        privatize(PLAN, "nowhere.csv")


def test_a_regressor_is_pickled_copied_and_compared() -> None:
    tasks = [{"regression": {"target": "income", "features": ["smoker"]}}]
    model = SurveyRegressor(Policy(**{**POLICY.to_dict(), "tasks": tasks}))
    columns = {name: PEOPLE[name] for name in ("smoker", "region")}
    fitted = copy.copy(model).fit(columns, PEOPLE["income"])
    for regressor in (model, fitted):
        for made in (pickle.loads(pickle.dumps(regressor)), copy.copy(regressor), copy.deepcopy(regressor)):
            assert made == regressor
            assert made is not regressor
    assert model != fitted
    assert model != SurveyRegressor(POLICY)
    assert list(pickle.loads(pickle.dumps(fitted)).predict(columns)) == list(fitted.predict(columns))


@pytest.mark.parametrize(
    "correlation",
    [
        1.0,
        0.05,
        {"odds": 2},
        {"q": 0.1, "odds": 3.5},
        {"region": 0.3, "income": {"q": 0.2, "odds": 2}, "default": 0.1},
        {"smoker": {"q": 0.1}, "default": {"odds": 2.0}},
        {"smoker": {"odds": 1.5}, "income": 0.1, "region": 1.0},
    ],
)
def test_the_policy_of_a_plan_written_down_makes_the_same_plan(correlation: Any, tmp_path: Path) -> None:
    features = {
        "smoker": {"type": "binary", "delta": 0.3},
        "income": {"type": "binary"},
        "region": {"type": "categorical", "values": ["a", "b", "c"]},
    }
    plan = make_plan(Policy(epsilon=1, features=features, correlation=correlation))
    plan.save(tmp_path / "plan.json")
    policy = Plan.load(tmp_path / "plan.json").policy
    (tmp_path / "policy.yaml").write_text(policy.to_yaml(), encoding="utf-8")
    assert make_plan(Policy.load(tmp_path / "policy.yaml")).id == make_plan(policy).id == plan.id


def test_a_measured_correlation_cannot_be_written_down_and_has_to_be_filled_in(tmp_path: Path) -> None:
    features = {"a": {"type": "binary", "delta": 0.2}, "b": {"type": "binary"}}
    sample = tmp_path / "sample.csv"
    sample.write_text("a,b\n" + "0,0\n0,1\n1,0\n1,1\n" * 500)
    plan = make_plan(Policy(epsilon=1, features=features, correlation={"pilot": str(sample)}))
    text = plan.policy.to_yaml()
    assert "# correlation: estimated from 2,000 records of sample.csv" in text
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="correlation: got 'FILL'"):
        Policy.load(tmp_path / "policy.yaml")
    (tmp_path / "policy.yaml").write_text(text.replace("FILL", "{pilot: sample.csv}"), encoding="utf-8")
    assert make_plan(Policy.load(tmp_path / "policy.yaml")).id == plan.id


def test_a_notebook_shows_a_policy() -> None:
    features = {
        "income": {"type": "numeric", "bounds": [0, 100], "delta": 0.2, "label": "<b>pay</b>"},
        "region": {"type": "open", "values": ["north", "south"]},
    }
    shown = Policy(epsilon=1, features=features, correlation=0.05)._repr_html_()
    for text in ("epsilon 1", "income", "0 to 100", "0.2", "north, south", "sent unprotected", "correlation: 0.05"):
        assert text in shown
    assert "<b>pay" not in shown


def test_weights_may_be_one_table_of_any_kind(tmp_path: Path) -> None:
    features = {"ill": {"type": "binary"}, "arm": {"type": "open", "values": ["a", "b"]}}
    plan = make_plan(Policy(epsilon=2, features=features))
    people = {"ill": [0, 1] * 500, "arm": ["a"] * 600 + ["b"] * 400}
    tally = Tally(plan).add(privatize(plan, people))
    columns = {"arm": ["a", "b"], "people": [30, 10]}
    pd.DataFrame(columns).to_csv(tmp_path / "known.csv", index=False)
    expected = estimate(tally, weights=[columns]).to_dict()
    frame = pd.DataFrame(columns)
    for weights in (frame, [frame], pa.table(columns), columns, tmp_path / "known.csv", str(tmp_path / "known.csv")):
        assert estimate(tally, weights=weights).to_dict() == expected
    assert expected["design_effects"] != {}
    assert "design_effects" not in estimate(tally).to_dict()
