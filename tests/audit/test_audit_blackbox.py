"""Audits of black boxes: they find what is wrong, stay silent about what is right, and their limits are exact.

Every draw here has a fixed seed, so no test can fail by chance; what a test would do with other seeds is stated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from bcdp import InputError, Plan
from bcdp.audit import audit_mean, audit_mechanism, audit_plan, device_mechanism, population_of
from bcdp.audit.blackbox import _limit
from bcdp.audit.limits import log_ratio_below, mean_limits, rate_above, rate_below
from bcdp.exact import TOTAL
from bcdp.mechanisms.cascade import duchi, duchi_radius
from bcdp.notions import TradeOff
from bcdp.notions.tradeoff import allowed
from bcdp.present.pictures import draw_trade_off
from bcdp.randomizers import binary
from support.helpers import full_kernel, random_document, random_prior, sizes_of, survey

pytestmark = pytest.mark.slow

FAIR = population_of(["x"], [0.5, 0.5])


def response(budget: float, rng: np.random.Generator) -> Callable[[Any], Any]:
    """Randomized response about the first feature."""
    keep = 1 / (1 + math.exp(-budget))
    return lambda records: records[:, 0] ^ (rng.random(len(records)) >= keep)


@pytest.mark.parametrize("runs", [1, 7, 60])
@pytest.mark.parametrize("risk", [0.05, 0.001])
def test_limits_of_a_rate_are_exact(runs: int, risk: float) -> None:
    """For every rate, the outcomes whose limit is on the wrong side have together at most the stated probability."""
    hits = np.arange(runs + 1)
    for rate in np.linspace(0, 1, 101):
        chance = binom.pmf(hits, runs, rate)
        assert chance[rate_below(hits, runs, risk) > rate].sum() <= risk * (1 + 1e-9)
        assert chance[rate_above(hits, runs, risk) < rate].sum() <= risk * (1 + 1e-9)


def test_a_normal_approximation_would_not_be() -> None:
    hits, runs, rate = np.arange(61), 60, 0.01
    share = hits / runs
    approximate = share + 3.09 * np.sqrt(share * (1 - share) / runs)  # for a risk of 0.001
    assert binom.pmf(hits, runs, rate)[approximate < rate].sum() > 0.5


def test_the_limit_of_a_ratio_is_exact() -> None:
    """All pairs of outcomes of 25 and 40 runs, several pairs of rates: wrong with at most the stated probability."""
    first, second = np.arange(26)[:, None], np.arange(41)[None, :]
    below = log_ratio_below(first, 25, second, 40, 0.05)
    for p in (0.02, 0.3, 0.8, 1.0):
        for r in (0.02, 0.3, 0.8, 1.0):
            chance = binom.pmf(first, 25, p) * binom.pmf(second, 40, r)
            assert chance[below > math.log(p / r)].sum() <= 0.05


def test_limits_of_a_mean_cover_it() -> None:
    """Signs with several means, 400 of them, every outcome enumerated: outside with at most the stated probability."""
    for rate in (0.0, 0.001, 0.3, 0.5, 0.99):
        outside = 0.0
        for hits, chance in enumerate(binom.pmf(np.arange(401), 400, rate)):
            values = np.repeat([1.0, -1.0], [hits, 400 - hits])
            low, high = mean_limits(values, 1.0, 0.01)
            outside += chance * (not low <= 2 * rate - 1 <= high)
        assert outside <= 0.01


def test_a_budget_ten_percent_above_its_claim_is_found() -> None:
    """Ten million runs at confidence 0.999; a limit has a deviation of about 0.0015, and the excess is 0.1."""
    for budget, found in ((1.0, False), (1.1, True)):
        measured = audit_mechanism(response(budget, np.random.default_rng(5)), FAIR, 10**7, rng=6)
        alarms = measured.alarms(epsilon=1.0, c={"x": 1.0}, delta={"x": 1.0})
        assert bool(alarms) == found
        for limit in (measured.epsilon, measured.c["x"], measured.delta["x"]):
            assert budget - 0.03 < limit.below <= budget


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_a_doubled_or_halved_constant_is_found(factor: float) -> None:
    """The Duchi channel, its B as printed in the paper (twice too large), right, and half as large."""
    rng, bound = np.random.default_rng(8), factor * duchi_radius(5, 1.0, 2.0)
    found = audit_mean(lambda x: factor * duchi(x, 1.0, 2.0, rng), np.full(5, 0.4), bound, 100_000)
    assert found.unbiased == (factor == 1.0)
    assert found.low < factor < found.high


def test_at_the_origin_a_wrong_constant_cannot_be_seen_and_is_not_asked_for() -> None:
    with pytest.raises(InputError, match="record"):
        audit_mean(lambda x: 2 * x, [0.0, 0.0], 1.0, 100)
    with pytest.raises(InputError, match="bound"):
        audit_mean(lambda x: 2 * x, [1.0, 0.0], 1.0, 100)


def test_a_menu_that_depends_on_a_sensitive_feature_is_found() -> None:
    """The device asks smokers the second question twice as often: no answer is worse than claimed, the menu is."""
    plan = Plan.build(
        survey(
            {"smoker": {"type": "binary", "delta": 20.0}, "y": {"type": "binary", "delta": 20.0}},
            [binary(0.2).to_dict()],
            [{"features": ["smoker"], "levels": [2], "table": 0}, {"features": ["y"], "levels": [2], "table": 0}],
            [{"weight": TOTAL // 2, "questions": [0]}, {"weight": TOTAL // 2, "questions": [1]}],
        )
    )
    population = population_of(["smoker", "y"], [[0.25, 0.25], [0.25, 0.25]])
    claims = {name: level.measured + 1e-9 for name, level in audit_plan(plan, population).delta.items()}
    honest = device_mechanism(plan, population)
    rng = np.random.default_rng(9)

    def biased(records: Any) -> Any:
        reports = honest(records)
        again = (records[:, 0] == 1) & (reports < 2) & (rng.random(len(records)) < 1 / 3)
        return np.where(again, 2 + (records[:, 1] ^ (rng.random(len(records)) < 0.45)), reports)

    # fresh keys cannot be seeded: the excess of 0.2 is fifteen deviations of its limit, missed with less than 1e-9,
    # and the honest device alarms in at most one of a thousand runs, so judge that one exactly
    assert audit_mechanism(biased, population, 200_000, rng=10).alarms(delta=claims) != ()
    assert claims["smoker"] < 0.2 + 1e-8


def test_clamping_and_adding_uniform_noise_is_not_private() -> None:
    """A 'piecewise' mechanism as often published: outputs of -1 and of 1 have nothing in common."""
    rng = np.random.default_rng(11)

    def clamped(records: Any) -> Any:
        return np.clip(2.0 * records[:, 0] - 1, -1, 1) + rng.uniform(-0.5, 0.5, len(records))

    measured = audit_mechanism(clamped, FAIR, 100_000, rng=12)
    assert measured.alarms(epsilon=5.0, delta={"x": 5.0}) != ()


def correct(rng: np.random.Generator) -> tuple[Callable[[Any], Any], Any, dict[str, float], float]:
    """A mechanism with its population and its exact delta and epsilon: random plans' kernels, sampled."""
    while True:
        plan = Plan.build(random_document(rng))
        prior = random_prior(rng, sizes_of(plan))
        population = population_of(list(plan.policy.features), prior)
        exact = audit_plan(plan, population)
        if math.isfinite(exact.epsilon.measured):
            break
    ends = full_kernel(plan).cumsum(axis=-1)

    def sampled(records: Any) -> Any:
        rows = ends[tuple(records.T)]
        return (rng.random(len(records))[:, None] >= rows[:, :-1]).sum(axis=1)

    return sampled, population, {n: level.measured + 1e-9 for n, level in exact.delta.items()}, exact.epsilon.measured


def test_a_thousand_audits_of_correct_mechanisms() -> None:
    """At confidence 0.999, 12 or more alarms in 1,000 audits would have probability below 1e-9."""
    assert binom.sf(11, 1000, 0.001) < 1e-9
    rng, alarms = np.random.default_rng(13), 0
    for number in range(1000):
        if number % 8 == 0:
            mechanism, population, delta, epsilon = correct(rng)
        measured = audit_mechanism(mechanism, population, 2000, 0.999, rng)
        alarms += bool(measured.alarms(epsilon=epsilon + 1e-9, delta=delta))
    assert alarms <= 11


def test_judging_the_runs_by_which_one_chose_would_alarm() -> None:
    """The same with one half for both, 200 audits of outputs that tell nothing: far more alarms than promised."""
    rng, alarms = np.random.default_rng(14), [0, 0]
    for _ in range(200):
        hypotheses, outputs = rng.integers(0, 2, size=(2, 600)), rng.integers(0, 200, size=(2, 600))
        for place, judged in enumerate((1, 0)):
            limit = _limit((hypotheses[0], outputs[0]), (hypotheses[judged], outputs[judged]), [(0, 1), (1, 0)], 0.05)
            alarms[place] += limit.below > 0
    assert binom.sf(alarms[0] - 1, 200, 0.05) > 1e-9
    assert binom.sf(alarms[1] - 1, 200, 0.05) < 1e-9


@pytest.mark.parametrize(("budget", "found"), [(1.0, False), (1.3, True)])
def test_vectors_are_told_apart_by_a_projection(budget: float, found: bool) -> None:
    rng, names = np.random.default_rng(15), ["a", "b", "c"]
    population = population_of(names, np.full((2, 2, 2), 1 / 8))
    measured = audit_mechanism(lambda x: duchi(2.0 * x - 1, budget, math.sqrt(3), rng), population, 200_000, rng=16)
    assert bool(measured.alarms(epsilon=1.0)) == found
    assert measured.epsilon.below > 0.75 * budget


def test_an_output_that_is_no_number_is_an_event_too() -> None:
    """A formula that breaks for one value tells it; the event is seen by nothing but its strangeness."""
    rng = np.random.default_rng(17)

    def broken(records: Any) -> Any:
        return np.where((records[:, 0] == 1) & (rng.random(len(records)) < 0.1), math.nan, rng.random(len(records)))

    assert audit_mechanism(broken, FAIR, 100_000, rng=18).epsilon.below > 4


def test_c_is_about_one_feature_and_the_others_held() -> None:
    """A bit about y only: c of x is 0, delta of x is that of y because they are equal, and c of x cannot be tried."""
    rng = np.random.default_rng(19)
    mechanism = response(1.0, rng)
    both = population_of(["y", "x"], [[0.25, 0.25], [0.25, 0.25]])
    measured = audit_mechanism(mechanism, both, 100_000, rng=20)
    assert measured.c["y"].below > 0.8
    assert measured.c["x"].below == 0
    assert measured.delta["x"].below == 0
    tied = audit_mechanism(mechanism, population_of(["y", "x"], [[0.5, 0], [0, 0.5]]), 100_000, rng=21)
    assert tied.delta["x"].below > 0.8
    assert tied.c["x"].hypotheses is None


def test_the_tests_behind_a_limit_can_be_drawn(tmp_path: Path) -> None:
    """Measured error rates lie on the exact curve, within 0.02: more than 6 deviations of 25,000 runs, 1e-9."""
    measured = audit_mechanism(response(1.0, np.random.default_rng(22)), FAIR, 200_000, rng=23).delta["x"]
    assert measured.tests is not None
    assert np.abs(measured.tests.beta - allowed(1.0, measured.tests.alpha)).max() < 0.02
    keep = 1 / (1 + math.exp(-1))
    exact = TradeOff(np.array([0, 1 - keep, 1]), np.array([1, 1 - keep, 0]), 1.0)
    draw_trade_off(exact, 1.0, tmp_path / "picture.png", "x", measured=measured.tests)
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_bad_input_is_named() -> None:
    for runs in (0, 2.5):
        with pytest.raises(InputError, match="runs"):
            audit_mechanism(lambda x: x[:, 0], FAIR, runs)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="confidence"):
        audit_mechanism(lambda x: x[:, 0], FAIR, 100, 1.0)
    for outputs in (np.zeros(3), np.array(["a"] * 50)):
        with pytest.raises(InputError, match="mechanism"):
            audit_mechanism(lambda x, outputs=outputs: outputs, FAIR, 100)
    with pytest.raises(InputError, match="prior"):
        population_of(["x"], [0.5, 0.6])
