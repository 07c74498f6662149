"""`bcdp simulate`: errors in own units that agree with what the plan foretells, the same treatment for everybody."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcdp import InputError, Plan, Policy, make_plan
from bcdp.cli.app import main
from bcdp.compare.baselines import compare, standard_error, uniform_plans
from bcdp.compare.simulation import NOTHING, PAPER, SURVEY, UNIFORM, simulate
from bcdp.compare.trials import Point
from bcdp.correlation import correlation_of
from bcdp.present.pictures import draw_simulation

pytestmark = pytest.mark.slow

FEATURES: dict[str, Any] = {
    "ill": {"type": "binary", "delta": 0.3},
    "age": {"type": "numeric", "bounds": [0, 100]},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
}
TASKS = [{"mean": ["ill", "age"]}, {"frequency": ["region"]}, {"regression": {"target": "age", "features": ["ill"]}}]
DATA = {"ill": [0, 1] * 50, "age": [20.0, 80.0] * 50, "region": ["north", "south"] * 50}


def policy(**changes: Any) -> Policy:
    return Policy(**{"epsilon": 2, "features": FEATURES, "tasks": TASKS, "correlation": 0.1, **changes})


@pytest.fixture(scope="module")
def rows() -> list[Point]:
    return simulate(policy(), DATA, users=6_400, trials=6)


def of(rows: list[Point], panel: str, curve: str, people: int) -> Point:
    (found,) = [row for row in rows if (row.panel, row.curve, row.n) == (panel, curve, people)]
    return found


def test_every_task_mechanism_and_size_has_a_row(rows: list[Point]) -> None:
    panels = ["mean of ill", "mean of age", "frequencies of region", "regression of age"]
    assert list(dict.fromkeys(row.panel for row in rows)) == panels
    for panel in panels:
        curves = {row.curve for row in rows if row.panel == panel}
        assert curves == {SURVEY, PAPER, UNIFORM, NOTHING}
    assert sorted({row.n for row in rows}) == [100, 400, 1600, 6400]
    assert all(row.q25 <= row.median <= row.q75 and row.trials == 6 for row in rows)


def test_baselines_are_moved_into_the_range_too(rows: list[Point]) -> None:
    """No estimate leaves its range, so no error exceeds the farthest bound; predicting the mean is off by 30."""
    for row in rows:
        largest = {"mean of ill": 0.5, "mean of age": 50.0, "frequencies of region": 1.0}.get(row.panel, math.inf)
        assert row.q75 <= largest
    assert of(rows, "regression of age", NOTHING, 6_400).median == pytest.approx(30.0)
    assert of(rows, "mean of ill", NOTHING, 6_400).median == 0.0  # the truth is 1/2, which anybody may guess


def test_a_small_share_is_told_beside_the_error_of_answering_zero() -> None:
    """Two of a hundred are ill: a clipped estimate of 0 has an error of 0.02, and so has no estimate at all."""
    found = simulate(policy(tasks=[{"mean": ["ill"]}]), {**DATA, "ill": [0] * 98 + [1] * 2}, users=100, trials=2)
    assert of(found, "mean of ill", NOTHING, 100).median == pytest.approx(0.02)


def test_errors_are_what_the_plan_foretells() -> None:
    """200 trials: the root mean square is within 25% of the plan's standard error, over five standard errors wide.

    The squared error of one mean is that of a normal number, so that its average over 200 trials has a standard error
    of 10%; an error twice as large is noticed. The seed is fixed.
    """
    wanted = policy(tasks=[{"mean": ["ill", "age"]}])
    found = simulate(wanted, DATA, users=4_000, trials=200)
    plan = make_plan(wanted)
    errors = compare(plan, correlation_of(wanted))
    for name in ("ill", "age"):
        expected = standard_error(wanted, name, errors[name].plan, 4_000) * math.sqrt(2 / math.pi)
        row = of(found, f"mean of {name}", SURVEY, 4_000)
        assert row.mean == pytest.approx(expected, rel=0.25)
        assert 2 * row.mean != pytest.approx(expected, rel=0.25)
    assert of(found, "mean of age", SURVEY, 4_000).mean < of(found, "mean of age", UNIFORM, 4_000).mean


def test_uniform_ldp_is_the_better_of_two_surveys(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = policy(tasks=[{"mean": ["ill", "age"]}, {"frequency": ["region"], "weight": 20}])
    designed, even = uniform_plans(wanted)

    def errors(*pair: Plan) -> dict[str, float]:
        monkeypatch.setattr("bcdp.compare.simulation.uniform_plans", lambda policy: pair)
        found = simulate(wanted, DATA, users=1_000, trials=20)
        assert {row.curve for row in found} == {SURVEY, PAPER, UNIFORM, NOTHING}
        return {row.panel: row.mean for row in found if row.curve == UNIFORM and row.n == 1_000}

    one, other, both = errors(designed, designed), errors(even, even), errors(designed, even)
    assert both == {panel: min(one[panel], other[panel]) for panel in one}
    assert both not in (one, other)


def test_results_do_not_depend_on_the_number_of_workers(rows: list[Point]) -> None:
    again = simulate(policy(), DATA, users=6_400, trials=6, workers=2)
    assert [row.median for row in again] == [row.median for row in rows]


def test_a_feature_that_may_not_be_asked_is_guessed() -> None:
    """With delta 0 nothing is released by anybody: the error is that of guessing the middle of the range."""
    features = {"secret": {"type": "binary", "delta": 0.0}, "open": {"type": "binary"}}
    found = simulate(Policy(epsilon=1, features=features, correlation=0), {"secret": [1, 1], "open": [0, 1]}, 100, 2)
    guessed = [row for row in found if row.panel == "mean of secret"]
    assert {row.median for row in guessed if row.curve != NOTHING} == {0.5}
    assert {row.median for row in guessed if row.curve == NOTHING} == {0.0}  # the upper bound is the truth here


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"users": 9}, "users: got 9; accepted: a whole number of at least 10"),
        ({"trials": 0}, "trials: got 0; accepted: a whole number of at least 1"),
        ({"table": {"ill": [], "age": [], "region": []}}, "there are no records"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError) as caught:
        simulate(**{"policy": policy(), "table": DATA, "users": 100, "trials": 1, **arguments})
    assert named in str(caught.value)


def test_the_command_writes_a_table_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "policy.yaml").write_text(policy().to_yaml())
    lines = ["ill,age,region", *(f"{i},{a},{r}" for i, a, r in zip(*DATA.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    arguments = ["simulate", str(tmp_path / "policy.yaml"), str(tmp_path / "people.csv"), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--users", "640", "--trials", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["users"], document["trials"]) == (640, 2)
    with (tmp_path / "out" / "simulation.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(document["rows"])
    assert (tmp_path / "out" / "simulation.png").read_bytes().startswith(b"\x89PNG")
    assert main([*arguments, "--users", "640", "--trials", "1"]) == 0
    assert "regression of age" in capsys.readouterr().out
    assert main([*arguments, "--users", "3"]) == 2


def test_the_picture_draws_what_there_is(rows: list[Point], tmp_path: Path) -> None:
    draw_simulation(rows, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_simulated_data_stand_for_the_population() -> None:
    """One value for everybody: the truth is that value, and the survey's error falls with the number of people."""
    found = simulate(policy(tasks=[{"mean": ["age"]}]), {k: v[:1] for k, v in DATA.items()}, users=64_000, trials=8)
    medians = [of(found, "mean of age", SURVEY, n).median for n in (1_000, 64_000)]
    assert medians[1] < medians[0]
    assert np.isfinite(medians).all()


def test_open_features_are_sent_along_and_change_no_error(tmp_path: Path) -> None:
    """Whoever is in a group answers as without it, so that errors are those which the plan foretells."""
    features = {"ill": FEATURES["ill"], "site": {"type": "open", "values": ["a", "b"]}}
    stated = {"epsilon": 2, "features": features, "tasks": [{"mean": ["ill"]}]}
    data = {"ill": DATA["ill"], "site": ["a", "b", "b", "a"] * 25}
    found = simulate(Policy(**stated), data, users=3_200, trials=40)
    plain = simulate(Policy(**{**stated, "features": {"ill": FEATURES["ill"]}}), {"ill": DATA["ill"]}, 3_200, 40)
    assert [(row.panel, row.curve, row.n) for row in found] == [(row.panel, row.curve, row.n) for row in plain]
    policy = Policy(**stated)
    error = standard_error(policy, "ill", compare(make_plan(policy), correlation_of(policy))["ill"].plan, 3_200)
    assert of(found, "mean of ill", SURVEY, 3_200).mean < 2 * error  # its mean is 0.8 of it
    assert of(found, "mean of ill", NOTHING, 3_200).mean == of(plain, "mean of ill", NOTHING, 3_200).mean
    path = tmp_path / "policy.yaml"
    path.write_text(policy.to_yaml())
    with (tmp_path / "data.csv").open("w") as file:
        csv.writer(file).writerows([["ill", "site"], *zip(*data.values(), strict=True)])
    options = ["--users", "100", "--trials", "1", "-o", str(tmp_path / "out")]
    assert main(["simulate", str(path), str(tmp_path / "data.csv"), *options]) == 0
