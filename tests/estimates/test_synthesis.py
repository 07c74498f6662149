"""Synthetic records: within the published intervals, and of nothing but the estimates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.cli import main
from bcdp.estimates import Estimates, synthesis
from bcdp.estimates.synthesis import synthesize

FEATURES: dict[str, Any] = {
    "a": {"type": "binary", "delta": 0.5},
    "b": {"type": "categorical", "values": ["u", "v", "w"]},
    "x": {"type": "numeric", "bounds": [0, 100], "ranges": [30, 60]},
    "y": {"type": "numeric", "bounds": [0, 9]},
    "z": {"type": "binary"},
}
TASKS: list[dict[str, Any]] = [
    {"table": ["a", "b"]}, {"table": ["x", "b"]}, {"mean": ["y"], "by": "b"}, {"distribution": ["y"], "bins": 16},
    {"table": ["a", "b", "z"]}, {"mean": ["a", "y", "x"]},
]  # fmt: skip


def collected(people: int, seed: int) -> tuple[Plan, Tally]:
    """A collection of people whose answers depend on each other."""
    rng = np.random.default_rng(seed)
    a = rng.random(people) < 0.3
    b = np.array(["u", "v", "w"])[np.minimum((rng.random(people) * 2 + a).astype(int), 2)]
    records = {
        "a": a.astype(int), "b": b, "x": np.clip(rng.normal(50 + 10 * (b == "w"), 20, people), 0, 100),
        "y": rng.beta(2, 4, people) * 9, "z": (rng.random(people) < np.where(a, 0.7, 0.2)).astype(int),
    }  # fmt: skip
    plan = make_plan(Policy(epsilon=3, correlation=0.2, features=FEATURES, tasks=TASKS))
    return plan, Tally(plan).add(privatize(plan, records, key=bytes(range(32)), ids=range(people)))


@pytest.fixture(scope="module")
def estimates() -> Estimates:
    return estimate(collected(20_000, 1)[1])


def test_records_lie_within_the_published_intervals(estimates: Estimates) -> None:
    """All of them; without the search, most are missed."""
    made = synthesize(estimates, 5000, seed=3)
    assert [each.name for each in made.outside] == []
    assert len(made.agreements) == 3 + 6 + 9 + 12 + 16 + 3
    assert made.left_out == ()


def test_without_the_search_intervals_are_missed(estimates: Estimates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "_STEP", 0.0)
    made = synthesize(estimates, 5000, seed=3)
    assert len(made.outside) > len(made.agreements) / 3


def test_agreements_are_those_of_the_records(estimates: Estimates) -> None:
    """Counted again from the values themselves."""
    made = synthesize(estimates, 2000, seed=4)
    columns = {name: np.array(made.records[name].to_pylist()) for name in FEATURES}
    stated = {each.name: each.synthetic for each in made.agreements}
    assert stated["mean of a"] == pytest.approx(columns["a"].mean())
    assert stated["mean of y"] == pytest.approx(columns["y"].mean(), abs=0.02)
    assert stated["mean of y where b = w"] == pytest.approx(columns["y"][columns["b"] == "w"].mean(), abs=0.04)
    cell = (columns["a"] == 1) & (columns["b"] == "v") & (columns["z"] == 0)
    assert stated["cell (1, 1, 0) of a x b x z"] == pytest.approx(cell.mean())
    assert stated["cell (2, 0) of x x b"] == pytest.approx(((columns["x"] >= 60) & (columns["b"] == "u")).mean())
    assert stated["bin 1 of y"] == pytest.approx((columns["y"] < 9 / 16).mean())
    assert columns["x"].min() >= 0
    assert columns["x"].max() <= 100


def test_a_seed_gives_the_same_records_and_another_does_not(estimates: Estimates) -> None:
    first, again, other = (synthesize(estimates, 300, seed=seed).records for seed in (5, 5, 6))
    assert first.equals(again)
    assert not first.equals(other)


def test_what_cannot_be_matched_is_named() -> None:
    features = {
        "media": {"type": "multiple", "values": ["tv", "web"]},
        "ill": {"type": "binary"},
        "weight": {"type": "numeric", "bounds": [0, 9]},
    }
    tasks = [
        {"frequency": ["media"]},
        {"mean": ["ill", "weight"]},
        {"regression": {"target": "weight", "features": ["ill"]}},
    ]
    plan = make_plan(Policy(epsilon=3, features=features, tasks=tasks))
    tally = Tally(plan).add(privatize(plan, {"media": [["tv"]] * 500, "ill": [0, 1] * 250, "weight": [3] * 500}))
    made = synthesize(estimate(tally), 500)
    assert made.records.column_names == ["ill", "weight"]
    assert [reason.partition(":")[0] for reason in made.left_out] == ["media", "the regression of weight"]


@pytest.mark.parametrize("people", [0, 1.5, 100_001])
def test_numbers_of_records_are_checked(estimates: Estimates, people: Any) -> None:
    with pytest.raises(InputError, match=r"people: got .* accepted: a whole number from 1 to 100,000"):
        synthesize(estimates, people)


def test_the_command_says_what_the_file_agrees_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, tally = collected(3000, 2)
    plan.save(tmp_path / "plan.json")
    tally.save(tmp_path / "tally.json")
    output = tmp_path / "people.csv"
    arguments = [str(tmp_path / "plan.json"), str(tmp_path / "tally.json"), "-n", "400", "-o", str(output)]
    assert main(["synthesize", *arguments]) == 0
    assert "Inference uses the estimates" in capsys.readouterr().out
    assert len(pyarrow.csv.read_csv(output)) == 400
    stated = json.loads((tmp_path / "people.csv.json").read_text("utf-8"))
    assert {"mean of a", "bin 3 of y"} <= {each["name"] for each in stated["agreements"]}
