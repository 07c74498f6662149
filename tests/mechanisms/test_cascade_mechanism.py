"""The cascade: few channels, unbiased estimates, and the error that it predicts."""

import math
from fractions import Fraction

import numpy as np
import pytest

from bcdp.errors import InputError
from bcdp.mechanisms.cascade import (
    DuchiL2,
    OneBit,
    budgets,
    corollary_bound,
    estimate_mean,
    mean_mechanism,
    open_channels,
    paper_bound,
    predicted_error,
    theorem_budgets,
)
from bcdp.mechanisms.cascade.bits import TOTAL, bit_level, keep_weight
from bcdp.randomness import SimulatedDraws
from support.cascade_channels import CHANNELS, Doubled, Overconfident, bernstein, corner

pytestmark = pytest.mark.slow

PAPER = {"delta": [0.2, 0.2, *[2.0] * 8], "epsilon": 2.0}


def two_groups(d):
    """Budgets of the paper's kind: a fifth of the features at 0.5, the others at 1.5; one feature has 1.5."""
    return np.where(np.arange(d) % 5 == 1, 0.5, 1.5)


def cascade_moments(c):
    """Along the corner: the variance bound and the largest size of one report, from channel shares and radii."""
    c = np.asarray(c)
    channels = open_channels(c)
    precision = sum(np.isin(np.arange(c.size), ch.features) / ch.variance for ch in channels)
    variance = bound = 0.0
    for ch in channels:
        share = np.linalg.norm(1 / ch.variance / precision[ch.features]) / math.sqrt(c.size)
        variance += ch.variance * share**2
        bound += math.sqrt(ch.features.size * ch.variance) * share  # the length B of the channel's vector
    return variance, bound + math.sqrt(c.size)


def cascade_bias(channel, d, people):
    """The bias along the record, in units of what the right cascade shows with probability at most 1e-9."""
    c, v = two_groups(d), corner(d)
    rng, block = np.random.default_rng(7), min(people, 2_000_000 // d)
    along = v / math.sqrt(d)
    total = sum((mean_mechanism(np.tile(v, (block, 1)), c, rng, channel) @ along).sum() for _ in range(people // block))
    return abs(total / people - v @ along) / bernstein(people, *cascade_moments(c))


@pytest.mark.parametrize(("d", "people"), [(1, 50_000), (2, 50_000), (10, 50_000), (1000, 4_000)])
def test_the_cascade_is_unbiased_far_from_zero(d, people):
    """False alarm 1e-9 (Bernstein); the doubled constant fails."""
    assert cascade_bias(DuchiL2(), d, people) <= 1
    assert cascade_bias(Doubled(), d, people) > 1


@pytest.mark.parametrize("d", [1, 2, 10])
def test_the_cascade_shows_a_budget_ten_percent_too_high(d):
    """The same statistic (false alarm 1e-9) with a keep weight for 1.1 times each budget fails."""
    assert cascade_bias(DuchiL2(), d, 100_000) <= 1
    assert cascade_bias(Overconfident(), d, 100_000) > 1


def test_only_distinct_levels_open_a_channel():
    channels = open_channels([2.0, 0.2, 2.0, 0.0, 0.2, 0.7])
    assert [ch.features.tolist() for ch in channels] == [[0, 1, 2, 4, 5], [0, 2, 5], [0, 2]]
    levels = [bit_level(ch.keep) for ch in channels]
    np.testing.assert_allclose(levels, [0.2, 0.5, 1.3], rtol=1e-8)
    assert all(level <= step for level, step in zip(levels, [0.2, 0.5, 1.3], strict=True))
    assert len(open_channels(two_groups(1000))) == 2
    assert open_channels([0.0, 1e-12]) == []
    assert len(open_channels([0.3, 0.3 + 1e-15])) == 1


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_feature_never_spends_more_than_its_budget(channel):
    """The certified levels of a feature's channels add up to at most c_i, in exact arithmetic."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        c = np.round(rng.uniform(0, 3, 6), int(rng.integers(1, 16)))
        spent = [Fraction(0)] * c.size
        for ch in open_channels(c, channel):
            for i in ch.features:
                spent[i] += Fraction(channel.level(ch.features.size, ch.keep))
        assert all(used <= Fraction(float(limit)) for used, limit in zip(spent, c, strict=True))
        # a channel given 10% more than its step would break the promise
        larger = [(ch, keep_weight(1.1 * bit_level(ch.keep))) for ch in open_channels(c, channel)]
        assert sum(channel.level(ch.features.size, keep) for ch, keep in larger) > c.max()


def test_equal_budgets_are_one_plain_channel():
    x = np.random.default_rng(9).uniform(-1, 1, (5, 4))
    alone = DuchiL2().release(x, keep_weight(0.7), SimulatedDraws(np.random.default_rng(1)))
    np.testing.assert_allclose(mean_mechanism(x, [0.7] * 4, np.random.default_rng(1)), alone, rtol=1e-14)


def test_weights_are_the_papers_up_to_the_exact_constant():
    """For small steps w_k = step^2 / m, with pi (Gamma((m+1)/2) / Gamma(m/2))^2, about pi m / 2, in place of m."""
    channels = open_channels([0.01, 0.01, 0.03, 0.03, 0.03, 0.06])
    constants = [math.pi * (math.gamma((m + 1) / 2) / math.gamma(m / 2)) ** 2 for m in (6, 4, 1)]
    papers = [step**2 / constant for step, constant in zip((0.01, 0.02, 0.03), constants, strict=True)]
    np.testing.assert_allclose([1 / ch.variance / w for ch, w in zip(channels, papers, strict=True)], 0.25, rtol=1e-3)


def test_a_feature_without_budget_has_no_estimate():
    reports = mean_mechanism(np.zeros((3, 3)), [0.0, 1.0, 0.5], np.random.default_rng(0))
    assert np.isnan(reports[:, 0]).all()
    assert np.isfinite(reports[:, 1:]).all()
    assert predicted_error([0.0, 1.0], 10)[0] == math.inf
    estimate = estimate_mean(reports, project=True)
    assert np.isnan(estimate.value[0])
    assert np.abs(estimate.value[1:]).max() <= 1


def test_estimate_mean_by_hand():
    estimate = estimate_mean([[0.0, 4.0], [2.0, 4.0], [4.0, 4.0]])
    assert estimate.value.tolist() == [2, 4]
    np.testing.assert_allclose(estimate.standard_error, [2 / math.sqrt(3), 0])
    assert estimate_mean([[0.0, 4.0], [2.0, 4.0]], project=True).value.tolist() == [1, 1]
    assert np.isnan(estimate_mean([[1.0]]).standard_error).all()


def by_hand(low, high, n=10_000):
    """The total error with `low` for 2 of 10 features and `high` for 8, from Propositions 5 and 6 of theory.md."""

    def precision(m, level):
        kappa = math.pi * (math.gamma((m + 1) / 2) / math.gamma(m / 2)) ** 2
        return np.tanh(level / 2) ** 2 / kappa

    wide, narrow = precision(10, low), precision(8, np.subtract(high, low))
    return (2 / wide + 8 / (wide + narrow)) / n


@pytest.mark.parametrize("q", [0.01, 0.12, 0.45])
def test_expected_error_in_the_papers_setting(q):
    """The theorem's budgets as printed, and the best of a fine grid of levels with (*) solved for the budget."""
    high = min(2.0, math.log((math.exp((1 + q) / 2 * 0.2) + q - 1) / q))
    theorem = by_hand(0.2 - math.log(1 - q + q * math.exp(high)), high)
    heuristic = theorem_budgets(**PAPER, q=q, zeta=(1 + q) / 2)
    assert predicted_error(heuristic.c, 10_000).sum() == pytest.approx(theorem, rel=1e-6)
    levels = np.linspace(0.2, min(2.0, math.log(1 + math.expm1(0.2) / q)), 100_001)[:-1]
    best = by_hand(np.log((math.exp(0.2) - q * np.exp(levels)) / (1 - q)), levels).min()
    assert predicted_error(budgets(**PAPER, q=q).c, 10_000).sum() == pytest.approx(best, rel=1e-6)
    assert predicted_error([0.2] * 10, 10_000).sum() == pytest.approx(by_hand(0.2, 0.2), rel=1e-6)


def squared_error_gap(released_with, predicted_with, people=100_000):
    """|mean of |report - x|^2 - n times the predicted error|, in units allowed at a false alarm of 1e-9.

    Reports are independent and unbiased, so n times the expected squared error of their mean is the mean of these.
    """
    c = np.asarray(predicted_with)
    channels = open_channels(c)
    precision = sum(np.isin(np.arange(10), ch.features) / ch.variance for ch in channels)
    squares = sum(
        np.isin(np.arange(10), ch.features) / ch.variance**2 for ch in channels
    )  # what x^2 = 1 takes off the second moment: the squared shares
    expected = (1 / precision - squares / precision**2).sum()
    assert expected == pytest.approx(predicted_error(c, 1).sum(), rel=1e-2)
    rng = np.random.default_rng(10)
    x = np.where(rng.random((people, 10)) < 0.5, -1.0, 1.0)
    found = ((mean_mechanism(x, released_with, rng) - x) ** 2).sum(axis=1)
    size = sum(
        math.sqrt(ch.features.size * ch.variance) * (1 / ch.variance / precision[ch.features]).max() for ch in channels
    )
    most = (size + math.sqrt(10)) ** 2
    return abs(found.mean() - expected) / bernstein(people, expected * most, most)


@pytest.mark.parametrize("q", [0.01, 0.12, 0.45])
def test_a_simulation_agrees_with_the_expected_error(q):
    """False alarm 1e-9 (Bernstein) per allocation; budgets released 10% too high fail."""
    for c in (theorem_budgets(**PAPER, q=q, zeta=(1 + q) / 2).c, budgets(**PAPER, q=q).c):
        assert squared_error_gap(c, c) <= 1
        assert squared_error_gap(1.1 * c, c) > 1


def test_the_heuristic_zeta_loses_to_the_baseline():
    """The numbers of theory.md, section 3, erratum 2: worse than min-delta from q = 0.0859 on."""
    baseline = predicted_error([0.2] * 10, 1).sum()

    def heuristic(q):
        return predicted_error(theorem_budgets(**PAPER, q=q, zeta=(1 + q) / 2).c, 1).sum()

    assert heuristic(0.05) < baseline
    assert heuristic(0.0858) < baseline < heuristic(0.086)
    assert heuristic(0.5) / baseline == pytest.approx(3.6, abs=0.05)
    assert heuristic(0.9) / baseline == pytest.approx(80, abs=0.5)
    for q in (0.1, 0.2, 0.5, 0.9):
        assert heuristic(q) > baseline
        assert predicted_error(budgets(**PAPER, q=q).c, 1).sum() <= baseline


def test_the_papers_bound_fails_for_large_budgets():
    """Erratum 6: the bound tends to 0, the error to d (kappa_d - 1) / n, so no constant saves it."""
    d, n = 10, 1000
    kappa = math.pi * (math.gamma((d + 1) / 2) / math.gamma(d / 2)) ** 2
    ratios = []
    for epsilon in (1.0, 10.0, 100.0, 700.0):
        error = predicted_error([epsilon] * d, n).sum() - d / n  # at records of -1 and 1
        assert error >= d * (kappa - 1) / n
        ratios.append(error / paper_bound([epsilon] * d, n))
    assert ratios[0] < 10
    assert ratios[-1] > 10_000
    assert predicted_error([700.0] * d, n).sum() == pytest.approx(d * kappa / n, rel=1e-8)


def test_paper_bound_by_hand():
    assert paper_bound([3.0, 1.0], 100) == pytest.approx((1 / (1 / 2) + 1 / (1 / 2 + 4)) / 100)
    assert paper_bound([1.0, 1.0, 1.0], 100) == pytest.approx(3 * 3 / 100)
    assert paper_bound([0.0, 1.0], 100) == 2
    assert paper_bound([1e-3] * 5, 10) == 5


def test_corollary_bound_by_hand():
    delta, epsilon, k, d, n = 0.2, 2.0, 2, 10, 10**6
    low = corollary_bound(delta, epsilon, k, d, 0.0, n)
    assert low == pytest.approx((10 * 2 / 0.04 + 64 / 4) / n)
    at_one = corollary_bound(delta, epsilon, k, d, 1.0, n)
    assert at_one == pytest.approx((500 + 64 / (0.8 * 0.04)) / n)
    assert low < corollary_bound(delta, epsilon, k, d, 0.3, n) < at_one
    assert corollary_bound(delta, epsilon, k, d, 1.0, 1) == d
    for bad in ({"epsilon": 0.3}, {"k": 10}, {"q": 1.1}, {"delta": 0.0}, {"n": 0}):
        arguments = {"delta": delta, "epsilon": epsilon, "k": k, "d": d, "q": 0.3, "n": n} | bad
        with pytest.raises(InputError, match=rf"^{next(iter(bad))}: got"):
            corollary_bound(**arguments)


def test_predicted_error_of_one_bit():
    second_moment = TOTAL / (TOTAL // 10) / math.tanh(0.1) ** 2
    assert predicted_error([0.2] * 10, 100, OneBit())[0] == pytest.approx(second_moment / 100, rel=1e-6)


@pytest.mark.parametrize("channel", CHANNELS)
def test_every_channel_runs_in_the_cascade_with_real_randomness(channel):
    x = np.tile(corner(6), (8, 1))
    first, second = (mean_mechanism(x, [0.2, 1.0, 1.0, 2.0, 2.0, 2.0], None, channel) for _ in range(2))
    assert np.isfinite(first).all()
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("x", [[[1.1]], [[math.nan]], [[math.inf]], [0.0], np.empty((0, 1)), [["a"]]])
def test_records_outside_the_box_are_refused(x):
    with pytest.raises(InputError, match=r"^x: got .*accepted: an array of shape \(people, features\)"):
        mean_mechanism(x, [1.0])


@pytest.mark.parametrize("c", [[-0.1, 1], [math.nan, 1], [math.inf, 1], [1.0], [[1.0, 1.0]], 1.0, ["a", "b"]])
def test_bad_budgets_are_refused(c):
    with pytest.raises(InputError, match=r"^c: got .*accepted: 2 numbers, one for each feature, from 0 to 700"):
        mean_mechanism(np.zeros((1, 2)), c)


def test_other_bad_input_is_refused():
    for n in (0, -1, 1.5, True):
        with pytest.raises(InputError, match=r"^n: got .*accepted: a whole number of people"):
            predicted_error([1.0], n)
    with pytest.raises(InputError, match=r"^reports: got"):
        estimate_mean(np.empty((0, 3)))
    with pytest.raises(InputError, match=r"^rng: got"):
        mean_mechanism([[0.0]], [1.0], "seed")
