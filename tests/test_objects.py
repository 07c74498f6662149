"""Policies, plans, tallies and estimates are objects as Python people expect them: pickled, copied, compared, shown."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import polars
import pytest

import bcdp
from bcdp import Estimates, Plan, Policy, Tally, estimate, make_plan, privatize

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
    assert frame.loc["smoker", "value"] == FOUND.means["smoker"].value
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
