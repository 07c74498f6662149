"""Fake reports and what is not linear: quantiles, coefficients, weighted estimates; and what no estimator can undo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.estimates import Estimates
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.readings import Ways
from bcdp.present.fake_shifts import fake_shifts
from bcdp.present.report.page import report_page
from bcdp.statistics import Single

FEATURES: dict[str, Any] = {
    "ill": {"type": "binary"},
    "age": {"type": "numeric", "bounds": [0, 100]},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
    "arm": {"type": "open", "values": ["a", "b"]},
}
MODEL = {"target": "age", "features": ["ill", "region"]}
TASKS = [
    {"mean": ["ill"]},
    {"distribution": ["age"], "bins": 16, "quantiles": [0.1, 0.5, 0.9]},
    {"regression": MODEL},
]
PEOPLE, FAKES = 20_000, 100
SHARE = FAKES / (PEOPLE + FAKES)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Policy(epsilon=4, features=FEATURES, tasks=TASKS))


@pytest.fixture(scope="module")
def reports(plan: Plan) -> Any:
    rng = np.random.default_rng(1)
    ill, region = rng.random(PEOPLE) < 0.3, rng.choice(["north", "south", "east"], PEOPLE)
    age = np.clip(40 + 20 * ill + 10 * (region == "south") + 10 * rng.standard_normal(PEOPLE), 0, 100)
    arm = rng.choice(["a", "b"], PEOPLE, p=[0.9, 0.1])
    return privatize(plan, {"ill": ill, "age": age, "region": region, "arm": arm})


def attacks(plan: Plan, seed: int) -> list[tuple[int, int]]:
    """A report of each menu: all fakes are alike."""
    rng = np.random.default_rng(seed)
    return [(menu, int(rng.integers(int(np.prod(symbols))))) for menu, symbols in enumerate(plan.symbols)]


def attacked(plan: Plan, reports: Any, attack: tuple[int, int], group: int) -> Tally:
    menu, answer = attack
    fakes = {"menu": [menu], "answer": [answer], "group": [group], "count": [FAKES]}
    return Tally(plan).add(reports).add({name: np.array(column) for name, column in fakes.items()})


def numbers(estimates: Estimates) -> dict[str, tuple[float, float, float, float | None]]:
    """Of everything that is bounded, what the bound is about, the interval and the bound."""
    distribution, regression = estimates.distributions["age"], estimates.regression
    assert regression is not None
    assert regression.equations is not None
    each = {f"quantile {share}": (number.value, number) for share, number in distribution.quantiles.items()}
    each["mean of bins"] = distribution.mean.raw, distribution.mean
    each["ill"] = estimates.means["ill"].raw, estimates.means["ill"]
    coefficients = [*regression.coefficients.items(), ("intercept", regression.intercept)]
    unshrunk = regression.equations.coefficients.tolist()
    each |= {
        f"coefficient {name}": (value, number) for value, (name, number) in zip(unshrunk, coefficients, strict=True)
    }
    return {name: (value, number.low, number.high, number.moved) for name, (value, number) in each.items()}


@pytest.mark.parametrize(
    "options",
    [{}, {"weights": {"arm": ["a", "b"], "people": [50, 50]}}, {"weights": {"arm": ["a", "b"], "weight": [1, 3]}}],
    ids=["unweighted", "post-stratified", "design weights"],
)
def test_no_attack_exceeds_the_bound(plan: Plan, reports: Any, options: dict[str, Any]) -> None:
    """Where people are weighted, all fakes are in the small group, whose people count most."""
    honest = numbers(estimate(Tally(plan).add(reports), **options))
    reached = dict.fromkeys(honest, 0.0)
    for attack in attacks(plan, 2):
        after = numbers(estimate(attacked(plan, reports, attack, 1), liars=SHARE, **options))
        for name, (value, low, high, moved) in after.items():
            assert moved is not None
            shift = abs(value - honest[name][0])
            assert shift <= moved * (1 + 1e-9), (name, attack)
            assert low <= honest[name][0] <= high, (name, attack)
            reached[name] = max(reached[name], shift / moved)
    assert reached["ill"] > 0.3
    assert max(share for name, share in reached.items() if "quantile" in name) > 0.2
    assert options or max(share for name, share in reached.items() if "coefficient" in name) > 0.1


def test_a_bound_without_the_weights_would_be_exceeded(plan: Plan, reports: Any) -> None:
    """Fakes in a group whose people count five times as much shift more than an unweighted estimate allows."""
    table = {"arm": ["a", "b"], "people": [50, 50]}
    before = estimate(Tally(plan).add(reports), weights=table).means["ill"].raw
    unweighted, shifts = [], []
    for attack in attacks(plan, 2):
        tally = attacked(plan, reports, attack, 1)
        unweighted.append(estimate(tally, liars=SHARE).means["ill"].moved)
        shifts.append(abs(estimate(tally, weights=table).means["ill"].raw - before))
    assert max(shifts) > 1.5 * max(unweighted)


def test_raking_and_log_odds_say_that_nothing_is_bounded(plan: Plan, reports: Any) -> None:
    margins = [{"arm": ["a", "b"], "people": [50, 50]}, {"arm": ["a", "b"], "people": [50, 50]}]
    raked = estimate(Tally(plan).add(reports), liars=SHARE, weights=margins)
    assert raked.means["ill"].moved is None
    assert raked.regression is not None
    assert "do not allow for fake reports" in raked.regression.remark
    many = estimate(Tally(plan).add(reports), liars=0.2).regression
    assert many is not None
    assert many.coefficients["ill"].moved == np.inf
    assert many.coefficients["ill"].low == -np.inf
    assert "by any amount" in many.remark
    assert many.to_dict()["coefficients"]["ill"]["moved"] is None


def test_no_estimator_undoes_the_shift() -> None:
    """Two populations and two attacks with the same distribution of reports, farther apart than the estimate shifts.

    So no rule that drops or weights reports errs by less in both.
    """
    plan, share = make_plan(Policy(epsilon=1, features={"ill": {"type": "binary"}})), 0.02
    (way,) = plan.derived(Ways).of(Single("ill"))
    rows = np.stack([way.reading.table.row(code) for code in (0, 1)]) / TOTAL
    gap = share / (1 - share) / (np.abs(rows[1] - rows[0]).sum() / 2)
    mixtures = [(1 - theta) * rows[0] + theta * rows[1] for theta in (0.5 - gap / 2, 0.5 + gap / 2)]
    both = np.maximum(*mixtures) * (1 - share)  # what either attack fills up to
    fakes = [(both - (1 - share) * mixture) / share for mixture in mixtures]
    for fake in fakes:
        assert fake.min() >= -1e-12
        assert fake.sum() == pytest.approx(1)
    at_half = fake_shifts(plan, share)["ill"] * (1 / np.tanh(0.5)) / (1 / np.tanh(0.5) + 1)  # the worst is at 0 or 1
    assert gap / 2 >= at_half


def test_the_report_shows_what_fakes_could_do(plan: Plan, reports: Any) -> None:
    allowing = estimate(Tally(plan).add(reports), liars=SHARE)
    page = report_page(plan, PEOPLE, allowing, liars=SHARE)
    assert "What fake reports could do" in page
    assert "fakes shift it by up to" in page
    assert page.count("not bounded here") == 3  # the shares of variance explained, of all features and of each
    plain = report_page(plan, PEOPLE, estimate(Tally(plan).add(reports)))
    assert "fakes shift" not in plain
    assert "What fake reports" not in plain
