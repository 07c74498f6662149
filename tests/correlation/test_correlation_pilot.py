"""Pilot samples, trees and first waves: limits that hold as often as they say, and samples that are no good."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, multinomial

from bcdp.compare.leak import paper_prior
from bcdp.correlation import Estimated, FinitePrior, PerFeature, Tree, correlation_of, estimate_correlation
from bcdp.correlation.limits import distance_limit, event_intervals, observed_distance
from bcdp.correlation.pilot import STEPS
from bcdp.correlation.private_sample import correlation_from_wave
from bcdp.errors import InputError
from bcdp.mechanisms.planning import make_plan
from bcdp.mechanisms.survey.estimation.tally import SurveyTally
from bcdp.notions import total_variation
from bcdp.policy import Policy
from bcdp.randomizers import numeric
from bcdp.tally import Tally
from support.helpers import Array, brute_distance, full_kernel, paper_policy, random_prior, tally_of
from support.pilot_samples import FALSE_ALARM, SAMPLES, drawn, policy_of, random_tree, samples_of

pytestmark = pytest.mark.slow


# -- how often a limit fails ------------------------------------------------------------------------------------------


def failures(limit: Callable[[Array], float]) -> int:
    """In how many of 2,000 samples, each from another random prior, the true distance is above its 95% limit."""
    rng, failed = np.random.default_rng(0), 0
    for _ in range(SAMPLES):
        values, cells, people = int(rng.integers(2, 4)), int(rng.integers(2, 5)), int(rng.integers(10, 400))
        laws = rng.dirichlet(np.full(cells, rng.choice([0.3, 1.0, 5.0])), size=values)
        if rng.random() < 0.3:
            laws[:] = laws[0]
        share = rng.dirichlet(np.full(values, 3.0))
        counts = np.stack(
            [rng.multinomial(n, law) for n, law in zip(rng.multinomial(people, share), laws, strict=True)]
        )
        failed += bool(total_variation(laws).max() > limit(counts.astype(float)) + 1e-12)
    return failed


MOST_FAILURES = int(binom.isf(FALSE_ALARM, SAMPLES, 0.05))


@pytest.mark.parametrize("whole", [True, False])
def test_limits_fail_at_most_as_often_as_they_say(whole: bool) -> None:
    """At most 5% of 2,000; a method that failed exactly 5% of the time would raise an alarm with probability 1e-9."""
    assert failures(lambda counts: distance_limit(counts, 0.05, whole)) <= MOST_FAILURES


def test_the_check_of_limits_has_power() -> None:
    """The distance observed, with no margin, fails it."""
    assert failures(observed_distance) > MOST_FAILURES


@functools.cache
def largest_failure(limit: Callable[[Array, float, bool], float], values: int, cells: int, whole: bool) -> float:
    """The exact probability with which a 95% limit is exceeded, at the worst of a grid of laws.

    Of each of the `values` there are as many people as this test can enumerate.
    """
    people = {(2, 2): 30, (2, 3): 8, (3, 2): 9}[values, cells]
    outcomes = samples_of(people, cells)
    laws = np.array(samples_of(10, cells)) / 10
    chances = np.array([multinomial(people, law).pmf(outcomes) for law in laws])
    tables = np.array([limit(np.array(rows, dtype=float), 0.05, whole)
                       for rows in itertools.product(outcomes, repeat=values)])  # fmt: skip
    worst = 0.0
    for chosen in itertools.combinations_with_replacement(range(len(laws)), values):
        exceeded = (total_variation(laws[list(chosen)]).max() > tables + 1e-12).astype(float)
        for law in chosen[::-1]:
            exceeded = exceeded.reshape(-1, len(outcomes)) @ chances[law]
        worst = max(worst, float(exceeded[0]))
    return worst


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("values", "cells"), [(2, 2), (2, 3), (3, 2)])
def test_limits_fail_with_at_most_their_probability(values: int, cells: int, whole: bool) -> None:
    """By enumeration of every sample. A limit for the first two values only, though with its margin, is caught."""
    assert largest_failure(distance_limit, values, cells, whole) <= 0.05
    if values > 2:
        assert largest_failure(of_two_values, values, cells, whole) > 0.2
    assert largest_failure(of_half_the_margin, values, cells, whole) > 0.05


def of_two_values(counts: Array, failure: float, whole: bool) -> float:
    return distance_limit(counts[:2], failure, whole)


def of_half_the_margin(counts: Array, failure: float, whole: bool) -> float:
    seen = observed_distance(counts)
    return seen + (distance_limit(counts, failure, whole) - seen) / 2


def outside(failure: float, ends: Callable[[Array, float], tuple[Array, Array]]) -> float:
    """The exact probability, at the worst of a grid of laws, that a law given one of three values is not enclosed."""
    people, shares = 9, np.linspace(0, 1, 21)
    chances = binom.pmf(np.arange(people + 1), people, shares[:, None])
    tables = [ends(np.array([[people - k, k] for k in seen], dtype=float), failure)
              for seen in np.ndindex(*[people + 1] * 3)]  # fmt: skip
    low, high = (np.array([table[end].tolist() for table in tables]) for end in (0, 1))
    worst = 0.0
    for laws in itertools.combinations_with_replacement(range(len(shares)), 3):
        missed = (low > shares[laws[0]] + 1e-12) | (high < shares[laws[-1]] - 1e-12)
        chance = functools.reduce(
            lambda kept, law: kept.reshape(-1, people + 1) @ chances[law], laws[::-1], missed * 1.0
        )
        worst = max(worst, float(chance[0]))
    return worst


def test_laws_are_enclosed_with_their_probability() -> None:
    """The two ends of a plan's laws, by enumeration of every sample; those of one value alone are caught."""

    def ends(counts: Array, failure: float) -> tuple[Array, Array]:
        low, high = event_intervals(counts, failure)
        return low[:, 1].min(), high[:, 1].max()

    def first(counts: Array, failure: float) -> tuple[Array, Array]:
        low, high = event_intervals(counts, failure)
        return low[0, 1], high[0, 1]

    assert outside(0.05, ends) <= 0.05 < outside(0.05, first)


def test_the_number_of_cells_and_values_costs_no_margin() -> None:
    """The limit is at the one worst event, whichever that is: no union over events or pairs of values is paid for."""
    for values, cells in ((2, 20), (5, 20), (2, 500)):
        counts = np.full((values, cells), 1000.0)
        people = 1000.0 * cells
        assert distance_limit(counts, 0.05, False) == pytest.approx(np.sqrt(np.log(20) / people))


def test_all_limits_of_a_sample_hold_together() -> None:
    """Pairs, whole sets and laws of 500 samples of three features; the alarm is false with probability 1e-9 at most."""
    rng, failed = np.random.default_rng(1), 0
    for _ in range(500):
        prior = random_prior(rng, (2, 3, 2))
        truth = FinitePrior(("x0", "x1", "x2"), prior, "truth")
        found = estimate_correlation(policy_of((2, 3, 2)), drawn(rng, prior, int(rng.integers(20, 2000))))
        assert isinstance(found, Estimated)
        wrong = any(
            truth.q(i, others) > found.q(i, others) + 1e-9
            for i in found.limits
            for others in (set(c) for r in (1, 2) for c in itertools.combinations(set(found.limits) - {i}, r))
        )
        for pair, ends in found.hulls.items():
            exact = truth.laws(*pair)
            assert exact is not None
            wrong |= exact[:, 1].min() < ends[0, 1] - 1e-9 or exact[:, 1].max() > ends[1, 1] + 1e-9
        failed += wrong
    assert failed <= binom.isf(FALSE_ALARM, 500, 0.05)


def test_the_margin_falls_as_the_root_of_the_sample() -> None:
    """A hundred times the people, a tenth of the margin."""
    for counts in (np.array([[60.0, 40.0], [45.0, 55.0]]), np.full((3, 20), 20.0), np.full((2, 512), 4.0)):
        few, many = (distance_limit(n * counts, 0.05, True) - observed_distance(counts) for n in (10, 1000))
        assert 9 < few / many < 11


def test_a_sample_is_worth_five_times_the_error() -> None:
    """20,000 records of the paper's prior at q = 0.05, against no assumption."""
    rng = np.random.default_rng(2)
    sample = drawn(rng, paper_prior(10, 0.05), 20_000)
    policy = paper_policy(0.05)
    found = estimate_correlation(policy, sample)
    informed, blind = (make_plan(policy, model).certificate.objective for model in (found, PerFeature(1.0, {})))
    assert informed is not None
    assert blind is not None
    assert blind > 5 * informed
    assert all(0.05 < found.q(i, {j}) < 0.12 for i, j in itertools.permutations(policy.features, 2))


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_numbers_are_told_at_the_levels_of_their_tables() -> None:
    assert numeric(2.0).levels == STEPS + 1
    assert numeric(0.1).levels == 2


def test_a_number_that_moves_within_its_bin_is_seen() -> None:
    """At the low end of every bin if a = 0, at the high end if a = 1: in bins alone there is nothing to see."""
    rng = np.random.default_rng(3)
    n = 40_000
    a, low = rng.integers(0, 2, n), rng.integers(0, 4, n) * 25.0
    policy = Policy(
        epsilon=1, features={"a": {"type": "binary"}, "x": {"type": "numeric", "bounds": [0, 100]}}, correlation=1
    )
    found = estimate_correlation(policy, {"a": a, "x": low + np.where(a == 1, 24.99, 0.01)})
    assert found.q("a", {"x"}) > 0.99
    assert found.q("x", {"a"}) < 0.05  # the four bins of x, on the other hand, say nothing about a


def test_limits_cover_what_tables_ask_about_numbers() -> None:
    """The answers of a table about x, given a, are never farther apart than the limit says."""
    rng = np.random.default_rng(4)
    n = 50_000
    a = rng.integers(0, 2, n)
    x = np.clip(rng.normal(0.2 * a, 0.4, n), -1, 1)
    policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "x": {"type": "numeric", "bounds": [-1, 1]}})
    limit = estimate_correlation(policy, {"a": a, "x": x}).q("a", {"x"})
    place = (x + 1) * 8
    level = np.minimum(place.astype(int), 15)
    rows = numeric(3.0).dense().weights / 2**32
    answers = rows[level] * (level + 1 - place)[:, None] + rows[level + 1] * (place - level)[:, None]
    moved = np.abs(answers[a == 0].mean(axis=0) - answers[a == 1].mean(axis=0)).sum() / 2
    assert 0.1 < moved < limit < 0.35


# -- trees ------------------------------------------------------------------------------------------------------------


def tree_of(prior: Array, kind: type[Tree] = Tree) -> Tree:
    """The tree model with the true distances of pairs in place of limits."""
    exact = {
        f"x{i}": {frozenset({f"x{j}"}): brute_distance(prior, i, (j,)) for j in range(prior.ndim) if j != i}
        for i in range(prior.ndim)
    }
    return kind(Estimated(exact, {}, {}, (), ""), "")


class Loudest(Tree):
    """Broken by design: of several branches, only the loudest is counted."""

    def q(self, feature: str, others: Collection[str]) -> float:
        return max(self.pairs.q(feature, {other}) for other in others)


def exceeded(kind: type[Tree]) -> int:
    """How many true distances, over every feature and set of 80 random trees, are above the model's."""
    rng, above = np.random.default_rng(5), 0
    for _ in range(80):
        prior = random_tree(rng, 5)
        model = tree_of(prior, kind)
        for i in range(5):
            rest = [j for j in range(5) if j != i]
            for others in (s for r in (1, 2, 4) for s in itertools.combinations(rest, r)):
                above += brute_distance(prior, i, others) > model.q(f"x{i}", {f"x{j}" for j in others}) + 1e-9
    return above


def test_in_any_tree_the_strongest_pairs_bound_every_set() -> None:
    assert exceeded(Tree) == 0
    assert exceeded(Loudest) > 100


def test_a_tree_is_named_as_an_assumption() -> None:
    sample = drawn(np.random.default_rng(6), np.full((2,) * 5, 1 / 32), 20_000)
    found = estimate_correlation(policy_of((2,) * 5), sample, model="tree")
    assert isinstance(found, Tree)
    plan = make_plan(policy_of((2,) * 5, correlation=1), found)
    assert "ASSUMING" in plan.correlation["source"]


def test_a_value_that_the_sample_lacks_is_not_screened_off() -> None:
    """Who is sick takes the drug, but nobody in the sample is sick: nothing bounds what the drug tells, tree or not."""
    features = {name: {"type": "binary"} for name in ("sex", "sick", "drug")}
    sample = {"sex": [0, 1] * 500, "sick": [0] * 1000, "drug": [0] * 999 + [1]}
    found = estimate_correlation(Policy(epsilon=1, features=features), sample, model="tree")
    assert found.q("sick", {"drug"}) == found.q("sick", {"drug", "sex"}) == 1.0


# -- a first wave -----------------------------------------------------------------------------------------------------


def wave(prior: Array, people: int, **features: dict[str, Any]) -> SurveyTally:
    """The tally of a wave in which every answer was given as often as is expected."""
    plan = make_plan(Policy(epsilon=4.0, features=features, correlation=1))
    chances = np.tensordot(prior, full_kernel(plan), axes=prior.ndim)
    return tally_of(plan, np.round(people * chances).astype(np.int64))


def test_a_wave_without_noise_shows_the_distance() -> None:
    """Joint questions over four bits: unbiased, and with limits that close in on the truth."""
    prior = random_prior(np.random.default_rng(9), (2, 2, 2, 2))
    features = {f"x{i}": {"type": "binary"} for i in range(4)}
    near, far = (correlation_from_wave(wave(prior, people, **features)) for people in (10**9, 10**6))
    for i, j in itertools.permutations(range(4), 2):
        pair, exact = (f"x{i}", f"x{j}"), brute_distance(prior, i, (j,))
        assert near.observed[pair] == pytest.approx(exact, abs=1e-4)
        assert exact - 1e-4 <= near.q(pair[0], {pair[1]}) <= far.q(pair[0], {pair[1]}) + 1e-4
    assert near.q("x0", {"x1"}) < brute_distance(prior, 0, (1,)) + 0.1
    assert near.q("x0", {"x1", "x2"}) == 1.0  # pairs say nothing of larger sets


def test_waves_fail_at_most_as_often_as_they_say() -> None:
    """400 waves of 2,000 people at 90%; the observed distance in place of the limit fails the same check."""
    rng = np.random.default_rng(8)
    features = {f"x{i}": {"type": "binary"} for i in range(2)}
    plan = make_plan(Policy(epsilon=4.0, features=features, correlation=1))
    kernel, failed, naive = full_kernel(plan), 0, 0
    for _ in range(400):
        prior = rng.dirichlet(np.full(4, 2.0)).reshape(2, 2)
        found = correlation_from_wave(tally_of(plan, rng.multinomial(2000, np.tensordot(prior, kernel, axes=2))), 0.9)
        exact = brute_distance(prior, 0, (1,))
        failed += exact > found.q("x0", {"x1"})
        naive += exact > found.observed["x0", "x1"]
    assert failed <= binom.isf(FALSE_ALARM, 400, 0.1) < naive


def test_what_a_wave_does_not_ask_together_stays_unknown() -> None:
    features = {"a": {"type": "binary", "delta": 0.3}, "b": {"type": "binary", "delta": 0.3},
                "x": {"type": "numeric", "bounds": [0, 1]}}  # fmt: skip
    plan = make_plan(Policy(epsilon=1.0, features=features, correlation=1))
    found = correlation_from_wave(Tally(plan))
    assert [found.q(i, {j}) for i, j in itertools.permutations(features, 2)] == [1.0] * 6
    assert "asked together with no other" in found.notes[0]
    cascade = make_plan(Policy(epsilon=1.0, features=features, correlation=1, mechanism="cascade"))
    with pytest.raises(InputError, match=r"tally: .*accepted: the tally of a survey"):
        correlation_from_wave(Tally(cascade))
    with pytest.raises(InputError, match="confidence"):
        correlation_from_wave(Tally(plan), 1.0)


# -- samples that are no good -----------------------------------------------------------------------------------------

MIXED = Policy(
    epsilon=1.0,
    features={
        "sick": {"type": "binary"},
        "town": {"type": "categorical", "values": ["A", "B", "C"]},
        "age": {"type": "numeric", "bounds": [0, 100]},
    },
)


def mixed(people: int, **columns: Any) -> dict[str, Any]:
    rng = np.random.default_rng(9)
    usual = {"sick": rng.integers(0, 2, people), "town": rng.choice(list("ABC"), people),
             "age": rng.uniform(0, 100, people)}  # fmt: skip
    return usual | columns


def test_a_constant_feature_is_unknown_as_given_and_harmless_as_told() -> None:
    found = estimate_correlation(MIXED, mixed(5000, sick=[0] * 5000))
    assert found.q("sick", {"town"}) == 1.0
    assert found.q("town", {"sick"}) < 0.02
    assert "sick: 1 of its 2 values do not occur in the sample, so its q is 1" in found.notes


def test_one_row_says_nothing() -> None:
    found = estimate_correlation(MIXED, mixed(1))
    assert {found.q(i, {j}) for i, j in itertools.permutations(MIXED.features, 2)} == {1.0}
    assert found.laws("town", "sick") is None
    assert [note.partition(":")[0] for note in found.notes] == ["sick", "town", "age"]


def test_missing_values_without_a_rule_are_refused_as_devices_do() -> None:
    gaps = mixed(2000)
    holes = pd.array(gaps["sick"], dtype="Int64")
    holes[:1000] = None
    with pytest.raises(InputError, match=r"column 'sick': 1,000 of 2,000 records have no value; .*`missing: VALUE`"):
        estimate_correlation(MIXED, {**gaps, "sick": holes})


def test_a_value_that_the_policy_does_not_know_is_refused() -> None:
    with pytest.raises(InputError, match=r"column 'town': got .*; accepted: 'A', 'B', 'C'"):
        estimate_correlation(MIXED, mixed(3, town=["A", "B", "D"]))


def test_ten_thousand_categories() -> None:
    """As given nothing can be said of them, as told hardly anything; the others are not worse off for it."""
    rng = np.random.default_rng(10)
    policy = policy_of((10_000, 10_000, 2, 2))
    sample = {f"x{i}": rng.integers(0, size, 5000) for i, size in enumerate((10_000, 10_000, 2, 2))}
    found = estimate_correlation(policy, sample)
    assert found.q("x0", {"x2"}) == found.q("x0", {"x1"}) == found.q("x2", {"x0", "x1", "x3"}) == 1.0
    assert 0.7 < found.q("x2", {"x0"}) < 1.0
    assert found.q("x2", {"x3"}) < 0.08


def test_pilot_files(tmp_path: Path) -> None:
    """A policy names the file; what cannot be read, or is empty, is explained."""
    frame = pd.DataFrame(mixed(3000))
    frame.to_csv(tmp_path / "s.csv", index=False)
    frame.to_parquet(tmp_path / "s.parquet")
    frame.head(0).to_parquet(tmp_path / "empty.parquet")

    def model(**stated: Any) -> Any:
        return correlation_of(Policy.parse(MIXED.to_dict() | {"correlation": stated}))

    from_csv, from_parquet = (
        model(pilot=str(tmp_path / f"s.{ending}"), confidence=0.9) for ending in ("csv", "parquet")
    )
    assert from_csv.limits == from_parquet.limits
    assert from_csv.source.startswith("estimated from 3,000 records of s.csv: limits that hold together with 0.9")
    assert isinstance(model(pilot=str(tmp_path / "s.csv"), model="tree"), Tree)
    with pytest.raises(InputError, match=r"correlation\.pilot: got 'empty.parquet without rows'; accepted"):
        model(pilot=str(tmp_path / "empty.parquet"))
    with pytest.raises(InputError, match="no such file"):
        model(pilot=str(tmp_path / "missing.csv"))
    frame.drop(columns="age").to_csv(tmp_path / "less.csv", index=False)
    with pytest.raises(InputError, match="no column 'age'"):
        model(pilot=str(tmp_path / "less.csv"))
    with pytest.raises(InputError, match=r"correlation\.model: got 'forest'; accepted: pairs or tree"):
        model(pilot=str(tmp_path / "s.csv"), model="forest")
