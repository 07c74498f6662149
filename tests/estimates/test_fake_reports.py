"""Fake reports: no attack shifts an estimate farther than stated, the strongest reaches it, intervals still hold."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.cli import main
from bcdp.estimates import Estimates, estimate_by
from bcdp.estimates.waves import estimate_waves
from bcdp.present.fake_shifts import fake_shifts
from bcdp.statistics import Estimate

FEATURES: dict[str, Any] = {
    "ill": {"type": "binary", "delta": 0.4},
    "age": {"type": "numeric", "bounds": [0, 100]},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
}
TASKS = [{"mean": ["ill", "age"]}, {"frequency": ["region"]}, {"table": ["ill", "region"]}]
PEOPLE, FAKES = 3_000, 60


def plans() -> list[Plan]:
    documents = [
        {"epsilon": 2, "correlation": 0.2, "features": FEATURES, "tasks": TASKS},
        {"epsilon": 1, "features": {"ill": FEATURES["ill"], "age": FEATURES["age"]}},
        {"epsilon": 4, "correlation": 0.1, "features": FEATURES},
    ]
    return [make_plan(Policy(**document)) for document in documents]


def people(rng: np.random.Generator, plan: Plan, size: int) -> dict[str, Any]:
    records = {
        "ill": rng.random(size) < 0.2,
        "age": rng.uniform(10, 90, size),
        "region": rng.choice(["north", "south", "east"], size, p=[0.6, 0.3, 0.1]),
    }
    return {name: records[name] for name in plan.policy.features}


def linear_estimates(estimates: Estimates) -> dict[str, Estimate]:
    cells = {
        f"{pair} {number}": cell
        for pair, table in estimates.tables.items()
        for number, cell in enumerate(cell for row in table.cells for cell in row)
    }
    shares = {f"{name} {value}": share for name, each in estimates.frequencies.items() for value, share in each.items()}
    return {**estimates.means, **shares, **cells}


def attacked(plan: Plan, honest: Any, menu: int, answer: int, fakes: int) -> Tally:
    counts = {"menu": [menu], "answer": [answer], "count": [fakes]}
    return Tally(plan).add(honest).add({name: np.array(column) for name, column in counts.items()})


def test_no_attack_exceeds_the_bound_and_the_strongest_reaches_it() -> None:
    rng = np.random.default_rng(5)
    attacks = 0
    for plan in plans():
        reports = privatize(plan, people(rng, plan, PEOPLE))
        honest = linear_estimates(estimate(Tally(plan).add(reports)))
        reached = dict.fromkeys(honest, 0.0)
        for menu, symbols in enumerate(plan.symbols):
            answers = int(np.prod(symbols))
            for answer in range(answers) if answers <= 40 else rng.integers(answers, size=40):
                tally = attacked(plan, reports, menu, int(answer), FAKES)
                found = linear_estimates(estimate(tally, liars=FAKES / (PEOPLE + FAKES)))
                attacks += 1
                for name, number in found.items():
                    assert number.moved is not None
                    assert number.linear is not None
                    shift = number.raw - honest[name].raw
                    assert abs(shift) <= number.moved * (1 + 1e-9), (name, menu, answer)
                    bound = number.linear.honest_range(FAKES)
                    assert bound is not None
                    reached[name] = max(reached[name], shift / -bound.least, -shift / bound.largest)
                    slack = 0.1 * honest[name].se  # an interval by the tables is not quite that by the answers' spread
                    assert number.low <= honest[name].low + slack, (name, menu, answer)
                    assert number.high >= honest[name].high - slack, (name, menu, answer)
        singles = [share for name, share in reached.items() if "(" not in name]
        assert min(singles) > 0.95  # of a table each part is bounded by itself, and all at once are not reached
    assert attacks > 40


def test_fake_reports_shift_more_than_their_share() -> None:
    """One report in fifty would shift a mean of plain answers by a fiftieth of the range: here it is far more."""
    plan = plans()[0]
    tally = Tally(plan).add(privatize(plan, people(np.random.default_rng(6), plan, PEOPLE)))
    ill = estimate(tally, liars=0.02).means["ill"]
    assert isinstance(ill, Estimate)
    assert ill.moved is not None
    assert ill.moved > 0.1


def test_intervals_hold_under_the_worst_attack() -> None:
    """120 collections with 4% fakes at the answer that shifts most; of plain intervals hardly any holds the truth.

    The honest ones hold it with 95% or more each: fewer than 90 would be a chance below 1e-12.
    """
    plan, rng = plans()[0], np.random.default_rng(7)
    reports = privatize(plan, people(rng, plan, PEOPLE))
    way = max(
        ((menu, answer) for menu, symbols in enumerate(plan.symbols) for answer in range(int(np.prod(symbols)))),
        key=lambda attack: estimate(attacked(plan, reports, *attack, fakes=FAKES)).means["ill"].raw,
    )
    held = plain = 0
    for _ in range(120):
        tally = attacked(plan, privatize(plan, people(rng, plan, PEOPLE)), *way, fakes=2 * FAKES)
        with_fakes, without = (estimate(tally, liars=share).means["ill"] for share in (0.04, 0.0))
        held += with_fakes.low <= 0.2 <= with_fakes.high
        plain += without.low <= 0.2 <= without.high
    assert held >= 90
    assert plain < 60


def test_the_bound_of_a_plan_covers_what_any_population_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    plan = plans()[0]
    shifts = fake_shifts(plan, 0.02)
    tally = Tally(plan).add(privatize(plan, people(np.random.default_rng(8), plan, 50_000)))
    found = linear_estimates(estimate(tally, liars=0.02))
    assert shifts["ill"] > 0.9 * found["ill"].moved  # type: ignore[operator]
    assert shifts["age"] > 0.9 * found["age"].moved  # type: ignore[operator]
    policy = tmp_path / "policy.yaml"
    policy.write_text(plan.policy.to_yaml())
    assert main(["plan", str(policy), "--liars", "0.02", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fakes"]["shifts"]["ill"] == pytest.approx(shifts["ill"], rel=1e-6)


def test_without_fakes_nothing_changes_and_half_is_too_many() -> None:
    plan = plans()[1]
    tally = Tally(plan).add(privatize(plan, people(np.random.default_rng(9), plan, 300)))
    assert estimate(tally).to_dict() == estimate(tally, liars=0.0).to_dict()
    assert "moved" not in estimate(tally).means["ill"].to_dict()
    with pytest.raises(InputError, match=r"liars: got 0.5; accepted: a number of at least 0 and below 0.5"):
        estimate(tally, liars=0.5)
    few = estimate(tally, liars=0.45).means["ill"]
    assert (few.low, few.high) == (0.0, 1.0)


def test_an_attack_on_one_group_or_wave_is_allowed_for() -> None:
    """All fakes of the collection are in one small group: its interval holds the honest value, differences too."""
    features = {"ill": FEATURES["ill"], "site": {"type": "open", "values": ["a", "b"]}}
    plan = make_plan(Policy(epsilon=2, features=features))
    rng = np.random.default_rng(10)
    site = np.where(np.arange(PEOPLE) < 500, "b", "a")
    reports = privatize(plan, {"ill": rng.random(PEOPLE) < 0.2, "site": site})
    rows = {"menu": [0], "answer": [1], "group": [1], "count": [FAKES]}
    fakes = {name: np.array(column) for name, column in rows.items()}
    tally = Tally(plan).add(reports).add(fakes)
    honest = estimate_by(Tally(plan).add(reports), "site")
    share = FAKES / (PEOPLE + FAKES)
    allowing = estimate_by(tally, "site", liars=share)
    small = {name: allowing[name].means["ill"] for name in "ab"}
    assert small["b"].moved is not None
    assert small["a"].moved is not None
    shift = small["b"].raw - honest["b"].means["ill"].raw
    assert 0.9 * small["b"].moved < shift <= small["b"].moved * (1 + 1e-9)
    assert small["b"].moved > 3 * small["a"].moved  # a sixth of the people, and the same number of fakes
    difference = small["b"] - small["a"]
    assert difference.moved == pytest.approx(small["a"].moved + small["b"].moved)
    assert difference.low <= honest["b"].means["ill"].raw - honest["a"].means["ill"].raw <= difference.high
    waves = estimate_waves({1: tally.group(site="a").whole, 2: tally.group(site="b").whole}, liars=share)
    (trend,) = waves.trends
    assert trend.slope.moved == pytest.approx(difference.moved)
    assert trend.slope.low == pytest.approx(difference.low)
    plain = estimate_waves({1: tally.group(site="a").whole, 2: tally.group(site="b").whole})
    assert next(iter(plain.trends)).slope.moved is None


def test_ratios_allow_for_fakes() -> None:
    """Means by group, their differences, and shares among those who answered: every fake report of a plan."""
    features = {
        "ill": {"type": "binary", "missing": "own"},
        "old": {"type": "binary"},
        "region": {"type": "categorical", "values": ["north", "south"]},
    }
    tasks = [{"frequency": ["ill"]}, {"mean": ["old"], "by": "region"}]
    plan = make_plan(Policy(epsilon=3, features=features, tasks=tasks))
    rng = np.random.default_rng(11)
    size, fakes = 6_000, 60
    records = {
        "ill": [[None, 0, 1][code] for code in rng.choice(3, size, p=[0.2, 0.5, 0.3])],
        "old": rng.random(size) < 0.4,
        "region": rng.choice(["north", "south"], size),
    }
    reports = privatize(plan, records)

    def ratios(estimates: Estimates) -> dict[str, Estimate]:
        groups = estimates.groups["old", "region"]
        among = {
            f"among {value}": share.among
            for value, share in estimates.frequencies["ill"].items()
            if value != "no answer"
        }  # type: ignore[union-attr]
        return {**groups.values, "difference": groups.differences["north", "south"], **among}

    honest, attacks = ratios(estimate(Tally(plan).add(reports))), 0
    reached = dict.fromkeys(honest, 0.0)
    for menu, symbols in enumerate(plan.symbols):
        for answer in range(int(np.prod(symbols))):
            attacks += 1
            allowing = ratios(estimate(attacked(plan, reports, menu, answer, fakes), liars=fakes / (size + fakes)))
            for name, number in allowing.items():
                assert number.moved is not None, name
                assert number.low <= honest[name].value <= number.high, (name, menu, answer)
                shift = abs(number.value - honest[name].value)
                assert shift <= number.moved * (1 + 1e-9), (name, menu, answer)
                reached[name] = max(reached[name], shift / number.moved)
    assert attacks > 10
    assert min(reached.values()) > 0.2  # both parts of a ratio are bounded by themselves
