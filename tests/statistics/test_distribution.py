"""Distributions: what the waves tell, shares and quantiles with intervals that hold, and everywhere a plan goes."""

from __future__ import annotations

import json
import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.stats import binom

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.audit import audit_plan, population_from_records, verify_limits
from bcdp.compare.simulation import simulate
from bcdp.correlation import estimate_correlation
from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.plan import certify
from bcdp.present.pictures import estimate_figure
from bcdp.randomizers import steps, steps_information, waves
from bcdp.records.encoding import as_arrow, encode
from bcdp.statistics import Below, Single
from support.helpers import (
    exact_q,
    exceeded,
    full_kernel,
    listed,
    random_document,
    random_prior,
    with_steps,
    with_waves,
)
from support.steps import fine, on_eighths  # noqa: F401

pytestmark = pytest.mark.slow

KEY = bytes(range(3, 99, 3))
X = {"type": "numeric", "bounds": [0, 52]}


def policy(**changes) -> Policy:
    stated = {"epsilon": 2, "features": {"x": X}, "tasks": [{"distribution": ["x"], "bins": 16}]}
    return Policy(**(stated | changes))


@lru_cache
def plan_of(band: str = "pointwise") -> Plan:
    return make_plan(policy(tasks=[{"distribution": ["x"], "bins": 16, "band": band, "quantiles": [0.1, 0.5, 0.9]}]))


EDGES = (0.5, *range(3, 39, 3), 48, 51.5)


@lru_cache
def plan_with_edges() -> Plan:
    return make_plan(policy(tasks=[{"distribution": ["x"], "edges": EDGES, "quantiles": [0.1, 0.5, 0.9]}]))


@pytest.mark.parametrize(("budget", "found"), [(0.2, 217.0), (1.0, 8.29), (2.0, 1.79), (4.0, 0.357)])
def test_32_bins_reach_the_variances_of_the_best_shares_of_waves(budget: float, found: float) -> None:
    """The integer tables themselves, all people uniform over the bins, second moments less squared means."""
    table, below = waves(32, budget), steps(32)
    second = np.array([table.second_moments(column).mean() for column in below.T])
    variance = float((second - below.mean(axis=0) ** 2).mean())
    assert table.level <= budget
    assert variance == pytest.approx(found, rel=0.03)
    assert float(steps_information(32, budget)) == pytest.approx(1 / second.sum(), rel=0.015)


@pytest.mark.parametrize("bins", [16, 20, 33])
def test_any_number_of_bins_keeps_its_budget_and_falls_with_it(bins: int) -> None:
    tables = [waves(bins, budget) for budget in (0.01, 0.5, 3.0)]
    assert [table.level <= budget for table, budget in zip(tables, (0.01, 0.5, 3.0), strict=True)] == [True] * 3
    moments = [table.second_moments(steps(bins)[:, bins // 2]).mean() for table in tables]
    assert moments == sorted(moments, reverse=True)


def expected_tally(plan: Plan, shares: np.ndarray, people: int) -> tuple[Tally, np.ndarray]:
    """Nearly the counts that so many people with these shares of bins give on average; one feature, one menu."""
    table = plan.tables[plan.questions[plan.menus[0].questions[0]].table]
    law = shares @ np.stack([table.row(level) for level in range(table.levels)]) / TOTAL
    counts = np.rint(people * law).astype(np.int64)
    return Tally(plan).add({"menu": np.zeros(len(law), np.int64), "answer": np.arange(len(law)), "count": counts}), law


def test_at_the_expected_counts_the_estimate_is_the_truth() -> None:
    shares = np.random.default_rng(1).dirichlet(np.ones(16))
    tally, _ = expected_tally(plan_of(), shares, 10**12)
    found = estimate(tally).distributions["x"]
    assert [share.value for share in found.cdf] == pytest.approx(np.cumsum(shares)[:-1], abs=1e-6)
    assert [share.raw for share in found.histogram] == pytest.approx(shares, abs=1e-6)
    assert found.mean.value == pytest.approx(52 * (shares @ (np.arange(16) + 0.5)) / 16, abs=1e-5)
    assert found.mean.high - found.mean.low == pytest.approx(52 / 16, rel=0.01)  # noise is gone, the bins are not
    for share, quantile in found.quantiles.items():
        own = int(np.searchsorted(np.cumsum(shares), share))  # the bin that the quantile is in
        assert quantile.low == pytest.approx(52 * own / 16)
        assert quantile.high == pytest.approx(52 * (own + 1) / 16)
        assert quantile.low <= quantile.value <= quantile.high


def test_with_stated_edges_too() -> None:
    """And everything is in the units of the bins as they are: an atom at 0 is the first."""
    shares = np.random.default_rng(2).dirichlet(np.ones(16))
    ends = np.array([0, *EDGES, 52.0])
    tally, _ = expected_tally(plan_with_edges(), shares, 10**12)
    found = estimate(tally).distributions["x"]
    assert found.edges == tuple(ends)
    assert [share.value for share in found.cdf] == pytest.approx(np.cumsum(shares)[:-1], abs=1e-6)
    assert found.mean.value == pytest.approx(shares @ (ends[1:] + ends[:-1]) / 2, abs=1e-4)
    assert found.mean.high - found.mean.low == pytest.approx(48 - 36, rel=0.01)  # the widest bin
    for share, quantile in found.quantiles.items():
        own = int(np.searchsorted(np.cumsum(shares), share))
        assert (quantile.low, quantile.high) == (ends[own], ends[own + 1])
        assert quantile.low <= quantile.value <= quantile.high


def collections(plan: Plan, shares: np.ndarray, people: int, count: int, seed: int) -> list:
    """So many collections of people with these shares, answers drawn from the law that the tables give them."""
    _, law = expected_tally(plan, shares, people)
    drawn = np.random.default_rng(seed).multinomial(people, law / law.sum(), size=count)
    menu, answer = np.zeros(len(law), np.int64), np.arange(len(law))
    return [
        estimate(Tally(plan).add({"menu": menu, "answer": answer, "count": counts})).distributions["x"]
        for counts in drawn
    ]


ATOMS = np.array([0.3, 0, 0, 0.01, 0.04, 0.1, 0.05, 0.05, 0.1, 0.02, 0, 0, 0.03, 0.1, 0, 0.2])


def surely_not(hits: int, trials: int, chance: float) -> bool:
    """Whether so many hits have a probability of at most 1e-9 on either side."""
    return bool(min(binom.cdf(hits, trials, chance), binom.sf(hits - 1, trials, chance)) < 1e-9 / 40)


def test_pointwise_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """False alarms: below 1e-9 over all edges. Intervals of 0.7 times the length fail, as they should."""
    truth, trials = np.cumsum(ATOMS), 1500
    found = collections(plan_of(), ATOMS, 4000, trials, 2)
    raw, se = (np.array([[getattr(share, name) for share in one.cdf] for one in found]) for name in ("raw", "se"))
    hits = (np.abs(raw - truth[:-1]) <= 1.959964 * se).sum(axis=0)
    short = (np.abs(raw - truth[:-1]) <= 0.7 * 1.959964 * se).sum(axis=0)
    assert not any(surely_not(int(count), trials, 0.95) for count in hits)
    assert all(surely_not(int(count), trials, 0.95) for count in short)
    inside = np.array([[s.low <= t <= s.high for s, t in zip(one.cdf, truth[:-1], strict=True)] for one in found])
    assert (inside.sum(axis=0) >= hits).all()
    bars = np.array([[s.low <= t <= s.high for s, t in zip(one.histogram, ATOMS, strict=True)] for one in found])
    assert all(binom.cdf(int(count), trials, 0.95) > 1e-9 / 16 for count in bars.sum(axis=0))
    for share in (0.1, 0.5, 0.9):  # whichever number of its bin the quantile is
        own = int(np.searchsorted(truth, share)) * 52 / 16
        held = sum(one.quantiles[share].low <= own and one.quantiles[share].high >= own + 52 / 16 for one in found)
        assert binom.cdf(held, trials, 0.95) > 1e-9 / 3


def test_a_simultaneous_band_holds_everywhere_at_once_and_a_pointwise_one_does_not() -> None:
    truth, trials = np.cumsum(ATOMS)[:-1], 200

    def together(band: str, seed: int) -> int:
        found = collections(plan_of(band), ATOMS, 4000, trials, seed)
        return sum(all(s.low <= t <= s.high for s, t in zip(one.cdf, truth, strict=True)) for one in found)

    assert binom.cdf(together("simultaneous", 3), trials, 0.95) > 1e-9
    assert binom.cdf(together("pointwise", 4), trials, 0.95) < 1e-9


def test_a_number_at_an_edge_is_in_the_bin_that_begins_there() -> None:
    target = Below("x", policy().features["x"].equal_cuts(16))
    codes = encode(policy(), as_arrow({"x": [0, 3.25, 3.2499, 52, 60]}))
    assert target.of(policy(), codes).sum(axis=1).tolist() == [15, 14, 15, 0, 0]


@pytest.mark.parametrize("plan", [plan_of(), plan_with_edges()], ids=["equal", "stated"])
def test_a_device_answers_and_the_shares_come_back(plan: Plan) -> None:
    people = np.repeat([0.0, 10, 30, 52], [30_000, 30_000, 20_000, 20_000])
    found = estimate(Tally(plan).add(privatize(plan, {"x": people}, key=KEY, ids=range(100_000))))
    truth = [(people < edge).mean() for edge in found.distributions["x"].edges[1:-1]]
    for share, true in zip(found.distributions["x"].cdf, truth, strict=True):
        assert abs(share.raw - true) <= 7 * share.se  # 15 edges: a false alarm in 4e-11
        assert share.se < 0.01
    mean, ends = found.distributions["x"].mean, np.array(found.distributions["x"].edges)
    middles = (ends[1:] + ends[:-1]) / 2
    assert abs(mean.raw - middles[np.searchsorted(ends, people, "right").clip(1, 16) - 1].mean()) <= 7 * mean.se


def test_with_nobody_asked_nothing_is_known() -> None:
    found = estimate(Tally(plan_of())).distributions["x"]
    assert (found.cdf[0].low, found.cdf[0].high, found.cdf[0].se) == (0.0, 1.0, math.inf)
    assert (found.quantiles[0.5].low, found.quantiles[0.5].high) == (0.0, 52.0)
    assert (found.mean.low, found.mean.high) == (0.0, 52.0)
    assert found.to_dict()["cdf"][0]["value"] is None


def untrue_of_waves(rng: np.random.Generator) -> list[str]:
    """The claims that an exact prior exceeds, of a random survey through waves, numbers in steps and rounded."""
    while True:
        document = with_waves(rng, with_steps(rng, random_document(rng)))
        draft = Plan.build(document)
        if len(draft.policy.features) <= 3 and any(table["family"] == "waves" for table in document["tables"]):
            break
    prior = random_prior(rng, fine(draft))
    plan = Plan.build({**json.loads(draft.text), "correlation": listed(exact_q(draft, prior))})
    return exceeded(certify(plan), prior, full_kernel(plan))


MIXED = {
    "x": {**X, "delta": 1.0, "missing": 0},
    "ill": {"type": "binary", "delta": 0.4},
    "kind": {"type": "categorical", "values": ["a", "b", "c"]},
}
TASKS = [{"distribution": ["x"], "bins": 20}, {"mean": ["x", "ill"]}, {"frequency": ["kind"]}]


@lru_cache
def mixed() -> Plan:
    return make_plan(Policy(epsilon=2, features=MIXED, correlation=0.1, tasks=TASKS))


def test_a_distribution_beside_other_tasks_keeps_every_demand_and_tells_all() -> None:
    plan = mixed()
    told = information(plan)
    assert certify(plan).delta["ill"] <= 0.4
    assert certify(plan).delta["x"] <= 1.0
    target = Below("x", plan.policy.features["x"].equal_cuts(20))
    assert all(told[one] > 0 for one in (target, Single("x"), Single("ill"), Single("kind")))
    assert plan.certificate.optimality_gap < 1.05
    assert verify_limits(plan.text).objections == ()
    beside = [menu for menu in plan.menus if any(plan.questions[k].cuts for k in menu.questions)]
    assert any(len(menu.questions) > 1 for menu in beside)


@pytest.mark.usefixtures("on_eighths")
def test_no_prior_within_q_exceeds_the_certificate_of_waves() -> None:
    rng = np.random.default_rng(41)
    assert [untrue_of_waves(rng) for _ in range(60)] == [[]] * 60


def test_what_counts_more_is_asked_of_more_people() -> None:
    def told(weight: float) -> float:
        tasks = [{"distribution": ["x"], "bins": 16, "weight": weight}, {"mean": ["y"]}]
        features = {"x": X, "y": {**X}}
        return information(make_plan(policy(features=features, tasks=tasks)))[Single("y")]

    assert told(4.0) < told(1.0) < told(0.25)


def test_two_distributions_of_one_number_are_refused() -> None:
    """Estimates go by the number's name: of two, one would be lost. Two numbers may differ in their bins."""
    tasks = [{"distribution": ["x"], "bins": 16}, {"mean": ["x"]}, {"distribution": ["x"], "bins": 20}]
    with pytest.raises(InputError, match=r"^tasks: got .*; accepted: one task with the distribution of x, "):
        policy(tasks=tasks)
    tasks[-1]["distribution"] = ["y"]
    plan = make_plan(policy(features={"x": X, "y": X}, tasks=tasks))
    assert {(16,), (20,)} <= {question.levels for question in plan.questions}


def test_a_sample_that_knows_no_bins_lets_nothing_be_told_by_them() -> None:
    """What is measured of rounded numbers says nothing of bins: the demand of `ill` is kept as with q = 1."""
    rng = np.random.default_rng(5)
    ill = rng.random(3000) < 0.3
    sample = {"x": np.where(ill, rng.integers(0, 40, 3000), rng.integers(5, 53, 3000)), "ill": ill.astype(int)}
    features = {"x": X, "ill": {"type": "binary", "delta": 0.4}}
    tasks = [{"distribution": ["x"], "bins": 16}, {"mean": ["ill"]}]
    stated = policy(features=features, tasks=tasks)
    plan = make_plan(stated, estimate_correlation(stated, sample))
    assert certify(plan).delta["ill"] <= 0.4


def test_the_audit_finds_no_more_than_was_certified() -> None:
    """Nothing is assumed, so that any people will do: here x tells `ill` almost surely."""
    plan = make_plan(Policy(epsilon=2, features=MIXED, correlation=1.0, tasks=TASKS))
    rng = np.random.default_rng(6)
    ill = rng.integers(0, 2, 300)
    kind = np.array(list("abc"))[rng.integers(0, 3, 300)]
    people = as_arrow({"x": rng.integers(0, 53, 300) * ill, "ill": ill, "kind": kind})
    audited = audit_plan(plan, population_from_records(plan, [people]))
    assert audited.epsilon.measured <= audited.epsilon.certified
    for level in audited.delta.values():
        assert 0 < level.measured <= level.certified


def test_simulation_measures_its_error_beside_the_others() -> None:
    rng = np.random.default_rng(7)
    people = {"x": rng.gamma(3, 6, 500), "y": rng.integers(0, 2, 500)}
    stated = Policy(epsilon=2, features={"x": X, "y": {"type": "binary"}},
                    tasks=[{"distribution": ["x"], "bins": 16}, {"mean": ["y"]}])  # fmt: skip
    rows = simulate(stated, people, users=6400, trials=2)
    seen = {(row.panel, row.curve): row.mean for row in rows if row.n == 6400}
    assert seen["distribution of x", "survey"] < seen["distribution of x", "without data"]
    assert seen["distribution of x", "paper"] == seen["distribution of x", "without data"]  # which it cannot tell


def test_json_rows_and_pictures_show_it_without_knowing_it() -> None:
    plan = plan_of("simultaneous")
    found = estimate(expected_tally(plan, ATOMS, 10_000)[0])
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))["distributions"]["x"]
    assert set(document) >= {"edges", "cdf", "histogram", "quantiles"}
    assert (len(document["edges"]), len(document["cdf"]), len(document["histogram"])) == (17, 15, 16)
    assert set(document["quantiles"]) == {"0.1", "0.5", "0.9"}
    points, curve = found.sections()
    assert [row.name for row in points.rows] == ["10%", "50%", "90%", "mean"]
    assert (curve.drawn, curve.places, curve.ends) == ("curve", tuple(document["edges"][1:-1]), (0.0, 52.0))
    lows, highs = zip(*((row.number.low, row.number.high) for row in curve.rows), strict=True)
    assert (list(lows), list(highs)) == (sorted(lows), sorted(highs))
    assert len(estimate_figure(plan, found).axes) == 5


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"distribution": ["ill"]}, "numeric"),
        ({"distribution": ["x"], "bins": 15}, "16 to 256"),
        ({"distribution": ["x"], "bins": 32.0}, "16 to 256"),
        ({"distribution": ["x"], "bins": 16, "edges": EDGES}, "beside bins"),
        ({"distribution": ["x"], "edges": EDGES[:14]}, "15 to 255"),
        ({"distribution": ["x"], "edges": EDGES[::-1]}, "rising"),
        ({"distribution": ["x"], "edges": [*EDGES, 52]}, "above 0 and below 52, the bounds of x"),
        ({"distribution": ["x"], "edges": None}, "15 to 255"),
        ({"distribution": ["x"], "quantiles": [0.5, 0.2]}, "rising"),
        ({"distribution": ["x"], "quantiles": [0, 0.2]}, "rising"),
        ({"distribution": ["x"], "quantiles": []}, "rising"),
        ({"distribution": ["x"], "band": "both"}, "pointwise or simultaneous"),
        ({"distribution": ["x"], "quantile": [0.5]}, "quantile"),
    ],
)
def test_mistakes_in_a_task_are_told(task, message: str) -> None:
    features = {"x": X, "ill": {"type": "binary"}}
    with pytest.raises(InputError, match=message):
        Policy(epsilon=1, features=features, tasks=[task])


def test_the_paper_has_none() -> None:
    with pytest.raises(InputError, match="got 'distribution'; accepted: means and frequencies"):
        make_plan(policy(mechanism="cascade"))


def test_pointwise_intervals_never_fall() -> None:
    plan = make_plan(
        Policy(epsilon=1, features={"x": {"type": "numeric", "bounds": [0, 1]}}, tasks=[{"distribution": ["x"]}])
    )
    x = np.random.default_rng(0).beta(2, 5, 300)
    shares = estimate(Tally(plan).add(privatize(plan, {"x": x}))).distributions["x"].cdf
    for part in ("low", "value", "high"):
        ends = [getattr(share, part) for share in shares]
        assert ends == sorted(ends)
    assert all(share.high > share.low for share in shares)
