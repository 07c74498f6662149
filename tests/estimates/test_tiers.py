"""Tiers: each tells of its own people, all together as strata, and pooled only where chance chose the tier."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from bcdp import InputError, Plan, Policy, Tally, make_plan, privatize
from bcdp.cli.app import main, program
from bcdp.estimates.power import imagined, precision
from bcdp.estimates.tiers import Tiered, estimate_tiers, make_tiers
from bcdp.present.promise import promises
from support.helpers import loaded
from support.paths import ROOT

COVERAGE = loaded(ROOT / "benchmarks" / "studies" / "practice_coverage.py")
POLICY = Policy(epsilon=2, features={"smoker": {"type": "binary"}})
PLANS = make_tiers(POLICY, {"strict": {"smoker": 0.2}, "usual": {"smoker": 2}})
SHARES = {"strict": 0.3, "usual": 0.7}


def drawn(rng: np.random.Generator, plan: Plan, people: int, share: float) -> Tally:
    """A tally of people of whom such a share smoke, drawn by its counts."""
    ideal: Any = imagined(plan, {"smoker": share}).whole
    counts = rng.multinomial(people, ideal.counts(0) / ideal.people)
    size = len(counts)
    return Tally(plan).add({"menu": [0] * size, "answer": list(range(size)), "group": [0] * size, "count": counts})


def collected(rng: np.random.Generator, people: int, smoke: dict[str, float], **how: Any) -> Tiered:
    chosen = dict(zip(SHARES, rng.multinomial(people, list(SHARES.values())).tolist(), strict=True))
    return estimate_tiers({name: drawn(rng, plan, chosen[name], smoke[name]) for name, plan in PLANS.items()}, **how)


def test_the_error_of_strata_is_a_third_of_that_of_the_strictest_for_all() -> None:
    """Shares of .3 and .7, deltas of .2 and 2, on the [-1, 1] scale: at most 32, against 100.6."""
    errors = {name: 4 * precision(plan)[0].error for name, plan in PLANS.items()}
    assert 100.5 < errors["strict"] < 100.8
    assert sum(share * errors[name] for name, share in SHARES.items()) <= 32
    found = collected(np.random.default_rng(1), 10**7, {"strict": 0.5, "usual": 0.5})
    assert 4 * found.stratified["smoker",].se ** 2 * 10**7 <= 32


def test_strata_are_unbiased_under_selection_and_pooling_is_not() -> None:
    """Those who choose the strict tier smoke by .1 more often; the mean of 200 collections, six standard errors."""
    rng, truth = np.random.default_rng(2), 0.3 * 0.35 + 0.7 * 0.25
    found = [collected(rng, 50_000, {"strict": 0.35, "usual": 0.25}, drawn=True) for _ in range(200)]
    means = np.array([one.stratified["smoker",].raw for one in found])
    pooled = np.array([one.pooled["smoker",].raw for one in found if one.pooled])
    assert abs(means.mean() - truth) < 6.5 * means.std() / 200**0.5
    assert abs(pooled.mean() - truth) > 6.5 * pooled.std() / 200**0.5
    predicted = np.mean([one.stratified["smoker",].se for one in found])
    assert 0.75 < means.std() / predicted < 1.35  # the spread of 200 has a relative error of 5%


def test_what_a_choice_gives_away_is_estimated() -> None:
    """Shares of .35 and .25: the odds differ by (.35/.65)/(.25/.75) = 1.615, with errors of 6.5 standard errors."""
    found = collected(np.random.default_rng(12), 10**7, {"strict": 0.35, "usual": 0.25})
    assert found.choice_odds["smoker",] == pytest.approx((0.35 / 0.65) / (0.25 / 0.75), abs=0.06)
    assert found.to_dict()["choice"] == [{"name": ["smoker"], "odds": found.choice_odds["smoker",]}]
    nobody = Tiered(found.tiers, {}, None)
    assert nobody.choice_odds == {}


def test_tiers_that_were_drawn_may_be_pooled_and_gain() -> None:
    found = collected(np.random.default_rng(3), 10**6, {"strict": 0.3, "usual": 0.3}, drawn=True)
    assert found.pooled is not None
    pooled, strata = found.pooled["smoker",], found.stratified["smoker",]
    assert abs(pooled.value - 0.3) < 6.5 * pooled.se
    assert pooled.se < 0.35 * strata.se
    best = 1 / sum(1 / one.means["smoker"].se ** 2 for one in found.tiers.values())
    assert pooled.se**2 == pytest.approx(best, rel=0.01)


def test_a_tier_is_open_in_its_plan_and_every_promise_says_so() -> None:
    two = {"smoker": {"type": "binary"}, "drinker": {"type": "binary"}}
    plans = make_tiers(Policy(epsilon=2, correlation=0.1, features=two), {"a": {"smoker": 0.2}, "b": {"smoker": 0.5}})
    for name, plan in plans.items():
        assert plan.policy.open["tier"].values == (name,)
        assert promises(plan)["smoker"].condition.endswith("among people with the same “Level of protection”")
    reports = privatize(plans["a"], {"smoker": [0, 1], "drinker": [1, 1], "tier": ["a", "a"]})
    with pytest.raises(InputError, match="not listed"):
        privatize(plans["a"], {"smoker": [0], "drinker": [1], "tier": ["b"]})
    with pytest.raises(InputError, match="reports of plan"):
        Tally(plans["b"]).add(reports)


def test_frequencies_are_averaged_too() -> None:
    features = {"kind": {"type": "categorical", "values": ["x", "y", "z"]}}
    plans = make_tiers(Policy(epsilon=3, features=features), {"low": {"kind": 0.5}, "high": {}})
    rng = np.random.default_rng(4)
    tallies = {
        name: Tally(plan).add(privatize(plan, {"kind": rng.choice(list("xyz"), size, p=law), "tier": [name] * size}))
        for (name, plan), size, law in zip(
            plans.items(), (30_000, 10_000), ([0.2, 0.3, 0.5], [0.6, 0.2, 0.2]), strict=True
        )
    }
    found = estimate_tiers(tallies, drawn=True)
    for value, share in (("x", 0.3), ("y", 0.275), ("z", 0.425)):
        told = found.stratified["kind", value]
        assert abs(told.raw - share) < 6.5 * told.se
        assert 0 <= told.low <= told.value <= told.high <= 1


@pytest.mark.parametrize("kind", list(COVERAGE.KINDS))
def test_intervals_hold_the_truth_as_often_as_they_say(kind: str) -> None:
    """Of 400 intervals at 95% fewer than 87% hold it once in 10^9 runs; intervals half as long, 67%."""
    found = list(itertools.islice(COVERAGE.KINDS[kind](np.random.default_rng(1), 400), 400))
    assert len(found) == 400
    assert np.mean([one.low <= truth <= one.high for one, truth in found]) > 0.87
    assert np.mean([abs(one.value - truth) <= (one.high - one.low) / 4 for one, truth in found]) < 0.8


def run(*words: object) -> Result:
    given = [str(word) for word in words]
    return CliRunner().invoke(program(given), given, catch_exceptions=False)


def test_the_command_tells_tiers_side_by_side(tmp_path: Path) -> None:
    """Pooled only where it is stated that chance chose."""
    rng = np.random.default_rng(5)
    tallies = {name: drawn(rng, plan, 20_000, 0.3) for name, plan in PLANS.items()}
    for name, tally in tallies.items():
        tally.plan.save(tmp_path / f"{name}.json")
        tally.save(tmp_path / f"{name}-tally.json")
    given = [f"{tmp_path / name}.json={tmp_path / name}-tally.json" for name in PLANS]
    done = run("tiers", *given, "-o", tmp_path / "t.csv", "--plot", tmp_path / "t.png")
    assert done.exit_code == 0, done.output
    assert "all, as strata" in done.output
    assert "pooled" not in done.output
    lines = list(csv.DictReader((tmp_path / "t.csv").read_text("utf-8").splitlines()))
    assert [(line["tier"], line["name"]) for line in lines] == [
        (tier, "smoker") for tier in ("strict", "usual", "all, as strata")
    ]
    found = estimate_tiers(tallies, drawn=True)
    assert float(lines[2]["value"]) == found.stratified["smoker",].value
    assert (tmp_path / "t.png").read_bytes()[:4] == b"\x89PNG"
    stated = run("tiers", *given, "--drawn")
    assert "all, pooled" in stated.output
    assert "chance alone chose" in stated.output
    document = json.loads(run("tiers", *given, "--drawn", "--json").output)
    assert document["stratified"] == [{"name": ["smoker"], **found.stratified["smoker",].to_dict()}]
    assert document["pooled"][0]["value"] == pytest.approx(found.pooled["smoker",].value if found.pooled else None)
    assert json.loads(run("tiers", *given, "--json").output)["pooled"] == []


def test_what_the_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(5)
    plan, tally, other = tmp_path / "strict.json", tmp_path / "tally.json", tmp_path / "other"
    other.mkdir()
    PLANS["strict"].save(plan)
    PLANS["usual"].save(other / "strict.json")
    drawn(rng, PLANS["strict"], 100, 0.5).save(tally)
    drawn(rng, PLANS["usual"], 100, 0.5).save(other / "tally.json")
    for words, said in (
        ([f"{plan}"], "PLAN=FILE"),
        ([f"{plan}={tally}"], "at least two tiers"),
        ([f"{plan}={tally}", f"{other / 'strict.json'}={tally}"], "each file once"),
        ([f"{plan}={tally}", f"{other / 'strict.json'}={other / 'tally.json'}"], "different names"),
    ):
        assert main(["tiers", *words]) == 2
        assert said in capsys.readouterr().err


def test_what_are_no_tiers_is_refused() -> None:
    for tiers, said in (
        ({"one": {}}, "at least two"),
        ({"one": {}, "two": {"else": 0.1}}, "features: smoker"),
    ):
        with pytest.raises(InputError, match=said):
            make_tiers(POLICY, tiers)
    named = Policy(epsilon=2, features={"smoker": {"type": "binary"}, "tier": {"type": "binary"}})
    with pytest.raises(InputError, match="another name"):
        make_tiers(named, {"a": {}, "b": {}})
    rng = np.random.default_rng(0)
    one = drawn(rng, PLANS["strict"], 100, 0.5)
    with pytest.raises(InputError, match="at least two tiers"):
        estimate_tiers({"strict": one})
    other = make_plan(Policy(epsilon=1, features={"x": {"type": "binary"}}))
    with pytest.raises(InputError, match="tiers of one policy"):
        estimate_tiers({"strict": one, "x": Tally(other).add(privatize(other, {"x": [0, 1, 1]}))})
    told = Policy(epsilon=2, features={"smoker": {"type": "binary", "values": ["never", "ever"]}})
    reworded = make_tiers(told, {"a": {}, "b": {}})["a"]
    with pytest.raises(InputError, match=r"tallies\.b: got 'a plan that asks something else'"):
        estimate_tiers({"strict": one, "b": drawn(rng, reworded, 100, 0.5)})
