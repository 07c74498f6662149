"""Every channel is unbiased far from 0, has the variance it states, and keeps its level on the integers."""

import math
from decimal import Context, Decimal
from itertools import pairwise

import numpy as np
import pytest

from bcdp.errors import InputError
from bcdp.mechanisms.cascade import DuchiL2, Laplace, OneBit, duchi, duchi_radius
from bcdp.mechanisms.cascade.bits import RESOLUTION, TOTAL, bit_level, keep_weight, randomized_signs, tilt
from bcdp.mechanisms.cascade.channels import laplace_table
from bcdp.randomness import KeyedDraws, RecordWords, SimulatedDraws
from support.cascade_channels import CHANNELS, Doubled, Overconfident, bernstein, corner

pytestmark = pytest.mark.slow

DIMENSIONS = [1, 2, 10, 1000]
EXACT = Context(prec=60)


def duchi_bias(channel, m, share=1.0, budget=1.5, people=50_000, seed=1):
    """The bias along the record, in units of what the right channel shows with probability at most 1e-9."""
    v = share * corner(m)
    along = corner(m) / math.sqrt(m)
    draws = SimulatedDraws(np.random.default_rng(seed))
    sizes = [min(people, 2_000_000 // m)] * (people // min(people, 2_000_000 // m))
    keep = keep_weight(budget)
    total = sum((channel.release(np.tile(v, (size, 1)), keep, draws) @ along).sum() for size in sizes)
    radius = duchi_radius(m, budget, math.sqrt(m))
    allowed = bernstein(sum(sizes), radius**2 / m, radius + math.sqrt(m))
    return abs(total / sum(sizes) - v @ along) / allowed


@pytest.mark.parametrize("m", DIMENSIONS)
def test_duchi_is_unbiased_far_from_zero(m):
    """False alarm 1e-9 (Bernstein); the doubled constant and a keep weight for a budget 10% too high both fail."""
    assert duchi_bias(DuchiL2(), m) <= 1
    assert duchi_bias(Doubled(), m, people=10_000) > 1
    assert duchi_bias(Overconfident(), m) > 1


@pytest.mark.parametrize("m", [1, 2, 10])
def test_duchi_is_unbiased_inside_the_ball(m):
    """False alarm 1e-9 (Bernstein); the doubled constant fails."""
    assert duchi_bias(DuchiL2(), m, share=0.5) <= 1
    assert duchi_bias(Doubled(), m, share=0.5) > 1


def largest_value(channel, m, keep):
    """The largest number that the channel can report."""
    if isinstance(channel, OneBit):
        return TOTAL / (TOTAL // m) / tilt(keep)
    table = laplace_table(bit_level(keep) / m)
    return np.abs(table.decode(np.linspace(-1, 1, table.levels))).max()


@pytest.mark.parametrize("channel", [OneBit(), Laplace()])
@pytest.mark.parametrize(("m", "people"), [(1, 40_000), (3, 100_000), (10, 400_000)])
def test_other_channels_are_unbiased(channel, m, people):
    """False alarm 1e-9 over the coordinates (Bernstein); a channel whose values are 10% too small fails."""
    keep = keep_weight(3.0)
    x = np.linspace(-0.9, 0.8, m)
    released = channel.release(np.tile(x, (people, 1)), keep, SimulatedDraws(np.random.default_rng(2)))
    bound = largest_value(channel, m, keep) + 1
    allowed = bernstein(people, channel.variance(m, keep), bound, 1e-9 / m)
    assert np.abs(released.mean(axis=0) - x).max() <= allowed
    assert np.abs(0.9 * released.mean(axis=0) - x).max() > allowed


def covariance_gap(channel, people=100_000):
    """The largest entry of |covariance - ((B^2/m) I - v v^T)| in units allowed at a false alarm of 1e-9."""
    m, budget = 3, 1.0
    v = np.array([0.9, -0.7, 0.2])
    released = channel.release(np.tile(v, (people, 1)), keep_weight(budget), SimulatedDraws(np.random.default_rng(3)))
    radius = duchi_radius(m, budget, math.sqrt(m))
    stated = radius**2 / m * np.eye(m) - np.outer(v, v)
    log = math.log(2 * 18 / 1e-9)  # Hoeffding for 9 products and, counted twice for their product, 3 means
    mean_error = radius * math.sqrt(2 * log / people)
    allowed = radius**2 * math.sqrt(2 * log / people) + 2 * mean_error + mean_error**2
    mean = released.mean(axis=0)
    found = released.T @ released / people - np.outer(mean, mean)
    return np.abs(found - stated).max() / allowed


def test_duchi_covariance():
    """False alarm 1e-9 (Hoeffding); the doubled constant fails."""
    assert covariance_gap(DuchiL2()) <= 1
    assert covariance_gap(Doubled()) > 1


def test_duchi_radius_is_half_of_the_printed_one_and_does_not_overflow():
    for m in DIMENSIONS[:3]:
        gamma = math.gamma((m + 1) / 2) / math.gamma(m / 2 + 1)
        printed = math.sqrt(math.pi) * m * 2.0 * gamma / math.tanh(0.5)
        assert duchi_radius(m, 1.0, 2.0) == pytest.approx(printed / 2, rel=1e-8)
    # Wallis: Gamma((m+1)/2) / Gamma(m/2) is sqrt(m/2) (1 - 1/(4m) + O(1/m^2))
    expected = math.sqrt(math.pi * 10_000 / 2) * (1 - 1 / 40_000) / math.tanh(0.5)
    assert duchi_radius(10_000, 1.0, 1.0) == pytest.approx(expected, rel=1e-8)
    assert np.isfinite(duchi(np.ones(10_000), 1.0, 100.0)).all()


BUDGETS = [RESOLUTION, 1e-8, 1e-4, 0.1, 0.2, 1.0, 2.0, 5.3, 22.0, 22.2, 36.7, 40.0, 700.0]


def within(high, low, budget):
    """Whether `high / low <= e^budget`, decided with 60 digits."""
    return EXACT.divide(Decimal(high), Decimal(low)) <= EXACT.exp(Decimal(budget))


def test_the_bit_keeps_its_budget_exactly_and_wastes_nothing():
    """By integers and 60 digits; a keep weight for a budget 10% too high fails, and so does one more unit."""
    for budget in [*BUDGETS, *np.random.default_rng(4).uniform(0, 23, 300)]:
        keep = keep_weight(float(budget))
        assert TOTAL // 2 <= keep < TOTAL
        assert within(keep, TOTAL - keep, float(budget))
        assert keep == TOTAL - 1 or not within(keep + 1, TOTAL - keep - 1, float(budget))
        assert EXACT.ln(EXACT.divide(Decimal(keep), Decimal(TOTAL - keep))) <= Decimal(bit_level(keep))
        assert bit_level(keep) <= budget
    assert not within(keep_weight(1.1), TOTAL - keep_weight(1.1), 1.0)
    assert TOTAL - keep_weight(700.0) == 1


def test_exactly_keep_of_the_words_keep_the_sign():
    keep = keep_weight(2.0)
    words = np.array([0, keep - 1, keep, TOTAL - 1], dtype=np.uint32)  # the rule is a threshold: its two ends suffice
    assert randomized_signs(np.ones(4), keep, words).tolist() == [1, 1, -1, -1]
    assert tilt(keep) == pytest.approx(math.tanh(1.0), abs=2**-31)


class Script:
    """Draws that are written down beforehand."""

    def __init__(self, normals, words):
        self._normals, self._words = np.asarray(normals, dtype=float), np.asarray(words, dtype=np.uint32)

    def normals(self, people, count):
        return np.tile(self._normals, (people, 1))[:, :count].copy()

    def words(self, people, count):
        return np.tile(self._words, (people, 1))[:, :count]


def test_only_the_randomized_bit_of_duchi_depends_on_the_record():
    """For a fixed direction every record gives `+-B U`, and both signs with weights keep and 2^32 - keep."""
    keep, direction = keep_weight(1.0), np.array([0.3, -2.0, 0.7])
    along = duchi_radius(3, 1.0, math.sqrt(3)) * direction / np.linalg.norm(direction)
    for record in [np.zeros(3), np.ones(3), -np.ones(3), np.array([1e-300, 0, 0]), np.array([-0.2, 1, 0.1])]:
        for rounding in [0, TOTAL // 2, TOTAL - 1]:
            outputs = [
                DuchiL2().release(record[None], keep, Script(direction, [rounding, word]))[0]
                for word in (0, keep - 1, keep, TOTAL - 1)
            ]
            signs = [float(np.sign(out @ along)) for out in outputs]
            assert signs in ([1, 1, -1, -1], [-1, -1, 1, 1])
            for sign, out in zip(signs, outputs, strict=True):
                np.testing.assert_allclose(out, sign * along, rtol=1e-14)


@pytest.mark.parametrize("budget", [1e-6, 0.01, 0.3, 0.7, 2.0, 5.0, 16.0, 21.0, 30.0, 600.0])
def test_laplace_table_is_exact(budget):
    """Rows, level and unbiasedness by enumeration; the table of a budget 10% larger breaks the level."""
    table = laplace_table(math.nextafter(budget, 0))
    weights, lattice = table.weights, np.linspace(-1, 1, table.levels)
    assert (weights.sum(axis=1) == TOTAL).all()
    assert weights.min() >= 1
    for column in weights.T.tolist():
        assert within(max(column), min(column), budget)
    values = table.decode(lattice)
    scale = np.abs(values).max()
    np.testing.assert_allclose(weights / TOTAL @ values, lattice, atol=1e-8 + 1e-12 * scale)
    keep = keep_weight(budget)
    assert Laplace().level(1, keep) <= budget
    if budget < 10:  # where weights out of 2^32 come close to any budget
        second_moment = (weights / TOTAL @ values**2).max()
        assert Laplace().variance(1, keep) == pytest.approx(second_moment, rel=max(1e-5, 2**-28 / budget))
    if budget < 20:
        larger = laplace_table(1.1 * budget).weights
        assert not all(within(max(column), min(column), budget) for column in larger.T.tolist())


def test_laplace_is_geometric_and_beats_plain_laplace_noise():
    table = laplace_table(4.0)
    values = table.decode(np.linspace(-1, 1, table.levels))
    np.testing.assert_allclose(values[1:-1], np.linspace(-1, 1, table.levels)[1:-1], atol=1e-5)
    inner = table.weights[5, 5:9] / table.weights[5, 5]
    np.testing.assert_allclose(inner, np.exp(-np.arange(4) * 4.0 / (table.levels - 1)), rtol=1e-5)
    middle = table.levels // 2
    assert (table.weights / TOTAL @ values**2)[middle] < 2 * (2 / 4.0) ** 2


def test_laplace_splits_its_budget_over_the_features():
    keep = keep_weight(2.1)
    assert Laplace().level(7, keep) <= 2.1
    assert Laplace().level(7, keep) == pytest.approx(2.1, abs=1e-6)
    assert Laplace().variance(7, keep) == pytest.approx(Laplace().variance(1, keep_weight(0.3)), rel=1e-6)


def test_one_bit_reports_one_coordinate_and_corrects_the_share_of_each():
    m, keep = 5, keep_weight(2.0)
    x = np.array([[1.0, -1.0, 1.0, -1.0, 1.0]])
    first = [-(-j * TOTAL // m) for j in range(m + 1)]
    for j in range(m):
        for word in (first[j], first[j + 1] - 1):
            out = OneBit().release(x, keep, Script([], [word, 5, 0]))[0]
            expected = np.zeros(m)
            expected[j] = x[0, j] * TOTAL / (first[j + 1] - first[j]) / tilt(keep)
            assert out.tolist() == expected.tolist()
    second_moment = max(TOTAL / (b - a) for a, b in pairwise(first)) / tilt(keep) ** 2
    assert OneBit().variance(m, keep) == pytest.approx(second_moment, rel=1e-15)


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("m", [1, 4])
def test_channels_never_exceed_the_level_of_their_bit_and_say_when_it_is_too_small(channel, m):
    for budget in [1e-6, 0.1, 1.0, 10.0, 100.0, 700.0]:
        keep = keep_weight(budget)
        assert 0 < channel.level(m, keep) <= bit_level(keep) <= budget
        assert channel.variance(m, keep) >= 1
    assert channel.variance(m, TOTAL // 2) == math.inf
    for keep in (TOTAL // 2, TOTAL // 2 - 1, TOTAL, 0, -1, 2.0**31 + 5, True):
        with pytest.raises(InputError, match=r"^keep: got .*accepted: a whole number from 2147483649 to 4294967295"):
            channel.release(np.zeros((1, m)), keep, SimulatedDraws(np.random.default_rng(0)))


def test_laplace_refuses_a_weight_too_small_to_be_divided():
    keep = TOTAL // 2 + 2
    assert Laplace().variance(2, keep) == math.inf
    with pytest.raises(InputError, match=r"^keep: got 2147483650; accepted: a weight that leaves each of 2 features"):
        Laplace().release(np.zeros((1, 2)), keep, SimulatedDraws(np.random.default_rng(0)))


@pytest.mark.parametrize("channel", CHANNELS)
def test_equal_keys_and_ids_give_equal_answers(channel):
    key = bytes(range(32))
    x = np.random.default_rng(5).uniform(-1, 1, (6, 3))

    def released(rows):
        return channel.release(x[rows], keep_weight(1.0), KeyedDraws(RecordWords(key, rows)))

    np.testing.assert_array_equal(released(np.arange(6))[[4, 1]], released(np.array([4, 1])))


def test_duchi_keeps_the_shape_and_refuses_what_is_outside():
    rng = np.random.default_rng(6)
    assert duchi([0.1, 0.2], 1.0, 1.0, rng).shape == (2,)
    assert duchi([[0.1, 0.2]] * 3, 1.0, 1.0, rng).shape == (3, 2)
    for bad in ([1.0, 1.0], [math.nan, 0.0], [math.inf, 0.0], [], [[[0.0]]], ["a", "b"], np.empty((0, 2))):
        with pytest.raises(InputError, match=r"^v: got .*accepted: vectors"):
            duchi(bad, 1.0, 1.0, rng)
    for alpha in (0.0, -1.0, math.nan, math.inf, 1e-12, 701.0):
        with pytest.raises(InputError, match=r"^alpha: got .*accepted: a number"):
            duchi([0.1], alpha, 1.0, rng)
    for r in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match=r"^r: got .*accepted: a number above 0"):
            duchi([0.0], 1.0, r, rng)
    with pytest.raises(InputError, match=r"^rng: got 7; accepted: None"):
        duchi([0.0], 1.0, 1.0, 7)
