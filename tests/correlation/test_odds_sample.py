"""Odds from samples: limits that hold as often as they say, trees, first waves, and the guide that is no limit."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Collection

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from bcdp.correlation import Estimated, FinitePrior, Tree, estimate_correlation
from bcdp.correlation.fitted_odds import fitted_odds
from bcdp.correlation.limits import event_intervals, odds_between, odds_limit
from bcdp.correlation.pilot import odds_guide
from bcdp.correlation.private_sample import correlation_from_wave
from bcdp.mechanisms.planning import make_plan
from bcdp.notions import largest_ratio
from bcdp.policy import Policy
from support.helpers import Array, full_kernel, random_prior, tally_of
from support.pilot_samples import FALSE_ALARM, SAMPLES, drawn, policy_of, random_tree, samples_of

Limit = Callable[[Array, float, bool], float]


def observed(counts: Array, failure: float, whole: bool) -> float:
    """Broken by design: no margin."""
    seen = counts[counts.sum(axis=1) > 0]
    return largest_ratio(seen / seen.sum(axis=1, keepdims=True))


def of_two_values(counts: Array, failure: float, whole: bool) -> float:
    """Broken by design: the third value is not looked at."""
    return odds_limit(counts[:2], failure, whole)


def by_two_cells(counts: Array, failure: float, whole: bool) -> float:
    """What a pilot takes for two cells: the two limits that bound q."""
    low, high = event_intervals(counts, failure)
    return odds_between(low[:, 1].min(), high[:, 1].max())


@functools.cache
def largest_failure(limit: Limit, values: int, cells: int, whole: bool) -> float:
    """The exact probability with which a 95% limit is exceeded, at the worst of a grid of laws without zeros."""
    people = {(2, 2): 30, (2, 3): 8, (3, 2): 9}[values, cells]
    outcomes = samples_of(people, cells)
    laws = np.array([law for law in samples_of(10, cells) if min(law) > 0]) / 10
    chances = np.array([multinomial(people, law).pmf(outcomes) for law in laws])
    tables = np.array([limit(np.array(rows, dtype=float), 0.05, whole)
                       for rows in itertools.product(outcomes, repeat=values)])  # fmt: skip
    worst = 0.0
    for chosen in itertools.combinations_with_replacement(range(len(laws)), values):
        exceeded = (largest_ratio(laws[list(chosen)]) > tables * (1 + 1e-12)).astype(float)
        for law in chosen[::-1]:
            exceeded = exceeded.reshape(-1, len(outcomes)) @ chances[law]
        worst = max(worst, float(exceeded[0]))
    return worst


@pytest.mark.parametrize(
    ("limit", "values", "cells", "whole"),
    [
        *((odds_limit, values, cells, whole) for values, cells in ((2, 2), (2, 3), (3, 2)) for whole in (True, False)),
        (by_two_cells, 2, 2, True),
        (by_two_cells, 3, 2, True),
    ],
)
def test_limits_on_odds_fail_with_at_most_their_probability(limit: Limit, values: int, cells: int, whole: bool) -> None:
    """By enumeration of every sample; without a margin, or without the third value, the same check fails."""
    assert largest_failure(limit, values, cells, whole) <= 0.05 < largest_failure(observed, values, cells, whole)
    if values > 2 and whole:
        assert largest_failure(of_two_values, values, cells, whole) > 0.05


def test_shares_of_people_have_limits_of_their_own() -> None:
    """Numbers shared out between three levels, 1,000 samples; the observed ratio fails the check."""
    rng, failed, naive = np.random.default_rng(3), 0, 0
    places = np.linspace(0, 2, 9)
    shares = np.maximum(0.0, 1 - np.abs(places[:, None] - np.arange(3)))  # of each number at each level
    for _ in range(SAMPLES // 2):
        laws = rng.dirichlet(np.full(9, rng.choice([1.0, 5.0])), size=2)
        people = rng.integers(20, 400, size=2)
        counts = np.stack([rng.multinomial(n, law) @ shares for n, law in zip(people, laws, strict=True)])
        truth = largest_ratio(laws @ shares)
        failed += truth > odds_limit(counts, 0.05, integers=False)
        naive += truth > observed(counts, 0.05, False)
    assert failed <= binom.isf(FALSE_ALARM, SAMPLES // 2, 0.05) < naive


def test_rare_cells_are_wide_and_unseen_ones_have_no_limit() -> None:
    common, rare, unseen = np.full((2, 3), 1000.0), np.array([[1000, 1000, 3], [1000, 1000, 3]]), np.zeros((2, 3))
    unseen[:, :2] = 1000
    assert 1 < odds_limit(common, 0.05, True) < 1.3 < 5 < odds_limit(rare.astype(float), 0.05, True) < math.inf
    assert odds_limit(unseen, 0.05, True) == odds_limit(np.array([[0.0, 0.0], [5.0, 5.0]]), 0.05, True) == math.inf
    assert odds_limit(np.array([[5.0], [3.0]]), 0.05, True) == 1.0  # one cell tells nothing


def test_limits_close_in_on_the_truth() -> None:
    counts = np.array([[0.5, 0.3, 0.2], [0.4, 0.2, 0.4]])
    few, many = (odds_limit(n * counts, 0.05, True) - 2.0 for n in (10_000, 1_000_000))
    assert 0 < many < few / 9


def table_of(sample: dict[str, Array], i: str, j: str, sizes: tuple[int, int]) -> Array:
    """How many records have each value of one feature and of another."""
    counts = np.zeros(sizes)
    np.add.at(counts, (sample[i].astype(int), sample[j].astype(int)), 1.0)
    return counts


def measured(policy: Policy, sample: dict[str, Array]) -> Estimated:
    """What a plan takes from a sample."""
    found = estimate_correlation(policy, sample)
    assert isinstance(found, Estimated)
    assert len(found.pair_odds) == 6
    assert all(odds >= 1 for odds in found.pair_odds.values())
    return found


def sample_failures(model: Callable[[Policy, dict[str, Array]], Estimated], samples: int) -> int:
    """In how many samples of three features any limit, of q or of odds, is below the truth."""
    rng, failed = np.random.default_rng(4), 0
    for _ in range(samples):
        prior = random_prior(rng, (2, 3, 2))
        prior = 0.9 * prior + 0.1 / prior.size  # odds are finite
        truth = FinitePrior(("x0", "x1", "x2"), prior, "truth")
        found = model(policy_of((2, 3, 2)), drawn(rng, prior, int(rng.integers(50, 3000))))
        failed += any(
            truth.q(i, {j}) > found.q(i, {j}) + 1e-9 or truth.odds(i, {j}) > found.odds(i, {j}) + 1e-9
            for i, j in itertools.permutations(truth.names, 2)
        )
    return failed


def test_limits_on_q_and_odds_of_a_sample_hold_together() -> None:
    """400 samples; the observed ratios in place of limits are caught."""

    def without_margin(policy: Policy, sample: dict[str, Array]) -> Estimated:
        found = measured(policy, sample)
        sizes = {"x0": 2, "x1": 3, "x2": 2}
        seen = {(i, j): observed(table_of(sample, i, j, (sizes[i], sizes[j])), 0.05, True) for i, j in found.pair_odds}
        return Estimated(found.limits, {}, {}, (), "", pair_odds=seen)

    most = int(binom.isf(FALSE_ALARM, 400, 0.05))
    assert sample_failures(measured, 400) <= most < sample_failures(without_margin, 400)


def test_two_cells_cost_no_further_failure() -> None:
    """Two-valued features get odds from the limits of q, so those stay what they are; a third value is one more."""
    rng = np.random.default_rng(5)
    sample = drawn(rng, np.full((2, 2), 0.25), 4000)
    found = estimate_correlation(policy_of((2, 2)), sample)
    low, high = event_intervals(table_of(sample, "x0", "x1", (2, 2)), 0.05 / 2 / 2)
    assert found.odds("x0", {"x1"}) == odds_between(low[:, 1].min(), high[:, 1].max())
    assert found.q("x0", {"x1"}) <= (high[:, None, 1] - low[None, :, 1])[~np.eye(2, dtype=bool)].max()


def test_numbers_that_are_told_have_odds_at_the_levels_of_their_tables() -> None:
    """Whole years leave some cells of a range empty, and no level of the tables."""
    rng = np.random.default_rng(6)
    age, ill = rng.integers(20, 37, 60_000), rng.integers(0, 2, 60_000)
    features = {"ill": {"type": "binary"}, "age": {"type": "numeric", "bounds": [20, 36], "ranges": [27.5]}}
    found, tree = (
        estimate_correlation(Policy(epsilon=1, features=features), {"ill": ill, "age": age}, model=model)
        for model in ("pairs", "tree")
    )
    assert 1 < found.odds("ill", {"age"}) < 1.5
    assert tree.odds("ill", {"age"}) == math.inf  # what lies beyond a number may depend on its range
    assert 1 < found.odds("age", {"ill"}) < 1.2
    assert found.odds("ill", {"age", "other"}) == math.inf


# -- trees ------------------------------------------------------------------------------------------------------------


class Loudest(Tree):
    """Broken by design: of several branches, only the loudest is counted."""

    def odds(self, feature: str, others: Collection[str]) -> float:
        return max(self.pairs.odds(feature, {other}) for other in others)


def exceeded(kind: type[Tree]) -> int:
    """How many true odds, over every feature and set of 60 random trees, are above the model's."""
    rng, above = np.random.default_rng(7), 0
    for _ in range(60):
        prior = random_tree(rng, 4)
        truth = FinitePrior(tuple(f"x{i}" for i in range(4)), prior, "truth")
        pairs = {(i, j): truth.odds(i, {j}) for i, j in itertools.permutations(truth.names, 2)}
        model = kind(Estimated({name: {} for name in truth.names}, {}, {}, (), "", pair_odds=pairs), "")
        for i in truth.names:
            rest = [name for name in truth.names if name != i]
            for others in (set(s) for r in (1, 2, 3) for s in itertools.combinations(rest, r)):
                above += truth.odds(i, others) > model.odds(i, others) * (1 + 1e-9)
    return above


def test_in_any_tree_odds_multiply_over_the_branches() -> None:
    assert exceeded(Tree) == 0
    assert exceeded(Loudest) > 100


# -- a first wave -----------------------------------------------------------------------------------------------------


def test_odds_of_a_wave_hold_as_often_as_they_say() -> None:
    """300 waves of 20,000 people at 90%, one feature of three values; odds of 1.05 in place of limits are caught."""
    rng = np.random.default_rng(8)
    features = {"x0": {"type": "binary"}, "x1": {"type": "categorical", "values": [0, 1, 2]}}
    plan = make_plan(Policy(epsilon=4.0, features=features, correlation=1))
    kernel, failed, naive, finite = full_kernel(plan), 0, 0, 0
    for _ in range(300):
        prior = rng.dirichlet(np.full(6, 8.0)).reshape(2, 3)
        found = correlation_from_wave(tally_of(plan, rng.multinomial(20_000, np.tensordot(prior, kernel, axes=2))), 0.9)
        truth = FinitePrior(("x0", "x1"), prior, "truth")
        pairs = (("x0", "x1"), ("x1", "x0"))
        failed += any(truth.odds(i, {j}) > found.odds(i, {j}) for i, j in pairs)
        naive += any(truth.odds(i, {j}) > 1.05 for i, j in pairs)
        finite += all(found.odds(i, {j}) < math.inf for i, j in pairs)
    assert failed <= binom.isf(FALSE_ALARM, 300, 0.1) < naive
    assert finite > 200


# -- the guide --------------------------------------------------------------------------------------------------------


def test_the_guide_finds_the_odds_of_a_logistic_population() -> None:
    """Each of three features moves the odds by its factor, all together by the product; more records come nearer."""
    rng = np.random.default_rng(9)
    n, effects = 400_000, np.log([2.0, 1.5, 1.2])
    others = rng.integers(0, 2, (3, n))
    score = effects @ (others - 0.5)
    given = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.int64)
    found = fitted_odds(given, 2, [(other, 2) for other in others])
    assert found == pytest.approx(np.exp(effects.sum() / 2), rel=0.02)


def test_the_guide_stays_finite_and_knows_when_to_be_silent() -> None:
    policy = policy_of((2, 2))
    copies = {"x0": np.array([0, 1] * 500), "x1": np.array([0, 1] * 500)}
    assert 50 < odds_guide(policy, copies)["x0"] < 1e6
    one_value = {"x0": np.zeros(100, dtype=int), "x1": np.array([0, 1] * 50)}
    assert odds_guide(policy, one_value)["x0"] == 1.0
    many = policy_of((2, 300))
    assert odds_guide(many, {"x0": np.array([0, 1]), "x1": np.array([0, 299])}) == {}
