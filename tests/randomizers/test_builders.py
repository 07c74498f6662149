"""What the builders promise about error: the best family, the numeric program, joint answers, planning curves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.randomizers import (
    Response,
    Table,
    binary,
    binary_information,
    categorical,
    categorical_information,
    hadamard,
    joint,
    joint_information,
    marginal_target,
    numeric,
    numeric_information,
    numeric_values,
    response,
    subset,
)


def one_bit_moment(budget: float) -> float:
    return 1 / math.tanh(budget / 2) ** 2


def numeric_moments(budget: float) -> np.ndarray:
    table = numeric(budget)
    return table.second_moments(numeric_values(table.levels))


def least_average(budget: float, levels: int = 17, symbols: int = 41) -> float:
    """The linear program of theory.md, section 4.2, with equally spaced decode values: `W(x, y)`, then `M_y`."""
    decoded = np.linspace(-1.6, 1.6, symbols) / math.tanh(budget / 2)
    each, symbol = np.eye(levels), np.eye(symbols)
    none, weights = np.zeros((levels, symbols)), np.eye(levels * symbols)
    ceilings = np.tile(symbol, (levels, 1))
    squares = np.hstack([np.kron(each, decoded**2), none])
    found = linprog(
        np.append(np.tile(decoded**2, levels) / levels, np.zeros(symbols)),
        np.vstack([np.hstack([weights, -ceilings]), np.hstack([-weights, math.exp(-budget) * ceilings]), squares]),
        np.append(np.zeros(2 * levels * symbols), np.full(levels, 1.1 * one_bit_moment(budget))),
        np.vstack([np.hstack([np.kron(each, row), none]) for row in (np.ones(symbols), decoded)]),
        np.append(np.ones(levels), np.linspace(-1, 1, levels)),
    )
    return float(found.fun)


@pytest.mark.parametrize("budget", [1.0, 2.0, 3.0])
def test_numeric_tables_reach_the_least_average(budget: float) -> None:
    """One randomized bit is 8%, 44% and 88% above it."""
    assert numeric(budget).levels == 17
    assert numeric_moments(budget).mean() <= 1.005 * least_average(budget) < one_bit_moment(budget) / 1.07


@pytest.mark.parametrize("budget", [0.05, 0.3, 0.31, 0.5, 0.83, 1.0, 1.7, 2.0, 3.342, 3.49, 5.0, 9.0, 16.0, 40.0])
def test_numeric_tables_bound_their_worst_level_and_their_bias(budget: float) -> None:
    table = numeric(budget)
    values = numeric_values(table.levels)
    moments = numeric_moments(budget)
    assert moments.max() <= 1.1 * one_bit_moment(budget) * (1 + 1e-7)
    assert moments.mean() <= one_bit_moment(budget) * (1 + 1e-7)
    decoded = table.decode(values)
    for level, value in enumerate(values):
        assert abs(math.fsum(table.row(level) / TOTAL * decoded) - value) <= 1e-8


def test_between_levels_second_moments_are_the_straight_line() -> None:
    """A value rounded at random between neighbours is answered by a mixture of their rows, and both moments mix."""
    table = numeric(2.0)
    values = numeric_values(table.levels)
    decoded, moments = table.decode(values), table.second_moments(values)
    for number in (-0.99, -0.3, 0.06, 0.5, 0.87):
        lower = int((number + 1) * 8)
        upward = (number - values[lower]) / (values[lower + 1] - values[lower])
        law = ((1 - upward) * table.row(lower) + upward * table.row(lower + 1)) / TOTAL
        assert law @ decoded == pytest.approx(number, abs=1e-8)
        assert law @ decoded**2 == pytest.approx(np.interp(number, values, moments))


def test_numeric_tables_treat_a_number_and_its_negative_alike() -> None:
    for budget in (0.5, 2.0, 4.0):
        moments = numeric_moments(budget)
        assert np.allclose(moments, moments[::-1], rtol=1e-6)


@pytest.mark.parametrize("levels", [2, 3, 5, 8, 12, 17, 40, 300])
def test_the_best_family_is_best(levels: int) -> None:
    for budget in (0.1, 0.5, 1.0, 2.0, 4.0, 7.0):
        rivals: list[Table] = [response(levels, budget), hadamard(levels, budget)]
        sizes = [size for size in range(2, levels) if levels * math.comb(levels, size) <= 4096]
        rivals += [subset(levels, size, budget) for size in sizes]
        best = categorical(levels, budget).second_moment
        assert best <= min(rival.second_moment for rival in rivals) * (1 + 1e-5)


def test_each_family_has_its_place() -> None:
    families = {type(categorical(levels, budget)).__name__ for levels, budget in [(4, 3.0), (8, 0.5), (1000, 1.0)]}
    assert families == {"Response", "Dense", "Projective"}


def test_subset_selection_says_more_than_chance_about_its_level() -> None:
    """Each weight of one input is one of two values, up to the few units that make rows sum to 2^32."""
    table = subset(5, 2, 1.0)
    chosen = list(itertools.combinations(range(5), 2))
    high = math.e * TOTAL / (4 * math.e + 6)
    for level in range(5):
        for symbol, members in enumerate(chosen):
            ideal = high if level in members else high / math.e
            assert abs(table.row(level)[symbol] - ideal) < 10


def test_joint_answers_decode_each_feature() -> None:
    sizes = (2, 3, 4)
    table = joint(sizes, 1.5)
    assert isinstance(table, Response)
    assert table.levels == 24
    cells = list(itertools.product(*map(range, sizes)))  # row-major: the first feature is the most significant
    for feature, size in enumerate(sizes):
        values = np.random.default_rng(feature).normal(size=size)
        target = marginal_target(sizes, feature, values)
        assert np.array_equal(target, [values[cell[feature]] for cell in cells])
        indicators = marginal_target(sizes, feature, np.eye(size))
        assert indicators.shape == (24, size)
        assert np.array_equal(indicators.argmax(axis=1), [cell[feature] for cell in cells])
        decoded = table.decode(target)
        for level in range(24):
            assert table.row(level) @ decoded / TOTAL == pytest.approx(target[level])


@pytest.mark.parametrize("features", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("budget", [0.2, 1.342, 3.0, 6.0])
def test_joint_information_is_that_of_the_integer_table(features: int, budget: float) -> None:
    sizes = (2,) * features
    table = joint(sizes, budget)
    stated = ((math.exp(budget) - 1) / (math.exp(budget) + 2**features - 1)) ** 2
    assert joint_information(features, budget) == pytest.approx(stated, rel=1e-12)
    for feature in range(features):
        moments = table.second_moments(marginal_target(sizes, feature, [-1, 1]))
        assert np.allclose(1 / moments, stated, rtol=1e-4)


def test_two_binary_features_beat_one_from_the_stated_crossover() -> None:
    crossover = math.log(1 + 2 * math.sqrt(2))
    below, above = crossover - 1e-6, crossover + 1e-6
    assert 2 * joint_information(2, below) < binary_information(below)
    assert 2 * joint_information(2, above) > binary_information(above)


@pytest.mark.parametrize("sizes", [(), (1, 2), (2.0,), (64, 65), (True, 2)])
def test_sizes_that_cannot_be_joined_are_refused(sizes) -> None:
    with pytest.raises(InputError, match="sizes"):
        joint(sizes, 1.0)


def test_marginal_targets_refuse_what_does_not_fit() -> None:
    with pytest.raises(InputError, match="feature"):
        marginal_target((2, 3), 2, [0, 1])
    with pytest.raises(InputError, match="values"):
        marginal_target((2, 3), 1, [0, 1])


def test_binary_information_is_that_of_the_integer_table() -> None:
    budgets = np.array([0.01, 0.5, 1.0, 4.0])
    tables = [binary(budget).second_moments([-1, 1])[0] for budget in budgets]
    assert np.allclose(binary_information(budgets), 1 / np.array(tables), rtol=1e-5)
    assert binary_information(0.0) == 0.0


def test_numeric_information_is_a_close_underestimate() -> None:
    budgets = np.array([0.02, 0.37, 0.55, 0.75, 0.81, 0.87, 1.07, 1.4, 1.8, 2.27, 2.85, 3.15, 3.8, 4.7, 5.3, 6.9, 8.2])
    reached = np.array([1 / numeric_moments(float(budget)).mean() for budget in budgets])
    planned = numeric_information(budgets)
    assert (planned <= reached * (1 + 1e-6)).all()
    assert (planned >= 0.99 * reached).all()
    fine = np.linspace(0.0, 15.0, 2000)
    assert (np.diff(numeric_information(fine)) >= 0).all()
    assert (numeric_information(fine) >= binary_information(fine)).all()


@pytest.mark.parametrize("levels", [2, 3, 6, 14, 16, 20, 200, 10_000])
def test_categorical_information_is_that_of_the_integer_table(levels: int) -> None:
    budgets = np.array([0.3, 1.0, 2.0, 5.0])
    reached = [1 / categorical(levels, float(budget)).second_moment for budget in budgets]
    assert np.allclose(categorical_information(levels, budgets), reached, rtol=1e-3)
    assert categorical_information(levels, 0.0) == 0.0
    assert np.isfinite(categorical_information(levels, 700.0))
