"""Levels and budgets of integer tables, against rational arithmetic that shares nothing with the code."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcdp.errors import InputError
from bcdp.exact import TOTAL, exp_down, log_up
from bcdp.randomizers import Dense, binary, categorical, hadamard, numeric, response, subset

repeatable = settings(derandomize=True, deadline=None, max_examples=100)
budgets = st.one_of(
    st.just(0.0),
    st.floats(1e-12, 1e-3),
    st.floats(1e-3, 6.0),
    st.floats(6.0, 40.0),
)


def exponential(power: float) -> tuple[Fraction, Fraction]:
    """Rational bounds of `exp(power)` for powers from 0 to 45: its Taylor sum, without and with its tail."""
    exact, term, total, count = Fraction(power), Fraction(1), Fraction(1), 0
    while count < 2 * power + 2 or term > Fraction(1, 10**40) * total:
        count += 1
        # terms are rounded down to 300 bits, which keeps the sum a lower bound and the numbers short
        term = Fraction(math.floor(term * exact / count * 2**300), 2**300)
        total += term
    return total, total + 2 * term + Fraction(count, 2**250)


def brute_force_ratio(rows: list[list[int]]) -> Fraction | float:
    """The largest ratio over all pairs of inputs and all symbols, one by one."""
    worst: Fraction | float = Fraction(1)
    for symbol in range(len(rows[0])):
        for one in rows:
            for other in rows:
                if one[symbol] > 0:
                    worst = max(worst, Fraction(one[symbol], other[symbol]) if other[symbol] else math.inf)
    return worst


def random_rows(generator: np.random.Generator, levels: int, symbols: int) -> list[list[int]]:
    cuts = np.sort(generator.integers(0, TOTAL + 1, (levels, symbols - 1)), axis=1)
    return np.diff(cuts, axis=1, prepend=0, append=TOTAL).tolist()


@repeatable
@given(st.integers(1, 2**40), st.integers(1, 2**40))
def test_log_up_is_never_below_the_logarithm_and_within_1e12_of_it(most: int, least: int) -> None:
    ratio = Fraction(max(most, least), min(most, least))
    level = log_up(ratio)
    assert exponential(level)[0] >= ratio
    if level > 1e-12:
        assert exponential(level - 1e-12)[1] <= ratio


def test_log_up_at_its_ends() -> None:
    assert log_up(Fraction(1)) == 0.0
    assert log_up(math.inf) == math.inf
    assert 0 < log_up(Fraction(2**80 + 1, 2**80)) < 1e-12
    assert log_up(Fraction(1, 3)) == pytest.approx(-math.log(3), abs=1e-12)
    for bad in (Fraction(0), -1.0, math.nan):
        with pytest.raises(InputError, match="ratio"):
            log_up(bad)


@repeatable
@given(budgets)
def test_exp_down_is_a_close_lower_bound(budget: float) -> None:
    low, high = exponential(budget)
    assert exp_down(budget) <= high
    assert exp_down(budget) >= low * (1 - Fraction(1, 10**30))


@pytest.mark.parametrize(("levels", "symbols"), [(2, 2), (3, 5), (6, 3), (1, 4)])
def test_ratio_of_any_table_is_the_brute_force_maximum(levels: int, symbols: int) -> None:
    generator = np.random.default_rng(levels * 10 + symbols)
    for _ in range(20):
        rows = random_rows(generator, levels, symbols)
        assert Dense(rows).ratio == brute_force_ratio(rows)


def test_a_symbol_that_one_input_never_gives_is_an_infinite_level() -> None:
    assert Dense([[TOTAL, 0], [TOTAL - 1, 1]]).level == math.inf
    assert Dense([[TOTAL, 0], [TOTAL, 0]]).level == 0.0  # never given by anyone: it says nothing


@pytest.mark.parametrize("table", [response(3, 1.3), response(7, 0.01), hadamard(5, 2.0), hadamard(8, 0.3)])
def test_closed_form_ratios_are_those_of_the_written_out_table(table) -> None:
    assert table.ratio == brute_force_ratio(table.dense().weights.tolist())


@repeatable
@given(st.integers(2, 10_000), budgets)
def test_response_keeps_its_budget_and_wastes_no_integer(levels: int, budget: float) -> None:
    low, high = exponential(budget)
    try:
        table = response(levels, budget)
    except InputError:
        # refused only when even the flattest table with `keep >= other` is above the budget
        other = TOTAL // levels
        assert Fraction(TOTAL - (levels - 1) * other, other) > low
        return
    assert table.ratio <= low
    assert table.level <= budget
    if table.other > 1:
        assert Fraction(table.keep + levels - 1, table.other - 1) > high * (1 - Fraction(1, 10**30))


@repeatable
@given(st.integers(2, 10_000), budgets)
def test_hadamard_keeps_its_budget_and_wastes_no_integer(levels: int, budget: float) -> None:
    low, high = exponential(budget)
    table = hadamard(levels, budget)
    assert table.ratio <= low
    assert table.level <= budget
    if table.flip > 1:
        assert Fraction(table.keep + 1, table.flip - 1) > high * (1 - Fraction(1, 10**30))


@repeatable
@given(st.data(), budgets)
def test_subset_selection_keeps_its_budget(data: st.DataObject, budget: float) -> None:
    levels = data.draw(st.integers(2, 9))
    size = data.draw(st.integers(1, levels - 1))
    try:
        table = subset(levels, size, budget)
    except InputError:
        assert budget < 1e-5  # too small to be told in integers
        return
    assert table.ratio <= exponential(budget)[0]
    unit = table.symbols * math.exp(budget) / TOTAL  # what one word is worth, relative to the smallest weight
    assert table.level > budget - (table.symbols + 4) * unit


@repeatable
@given(st.floats(0.0, 40.0))
def test_numeric_tables_keep_their_budget(budget: float) -> None:
    table = numeric(budget)
    assert table.ratio <= exponential(budget)[0]
    assert table.level >= min(budget, 15.9) * 0.999 - 1e-9


@pytest.mark.parametrize("levels", [2, 3, 4, 6, 14, 100, 10_000])
@pytest.mark.parametrize("budget", [0.0, 1e-9, 0.7, 5.0])
def test_the_best_family_keeps_the_budget(levels: int, budget: float) -> None:
    assert categorical(levels, budget).ratio <= exponential(budget)[0]


@pytest.mark.parametrize("build", [binary, lambda b: response(5, b), lambda b: subset(6, 2, b), numeric])
def test_no_budget_makes_the_answer_always_truthful(build) -> None:
    for budget in (23.0, 36.8, 40.0, 700.0):
        table = build(budget)
        assert min(int(table.row(level).min()) for level in range(table.levels)) >= 1
        assert table.level < 23


def test_a_budget_of_zero_gives_an_answer_that_says_nothing() -> None:
    for table in (binary(0), response(4, 0), hadamard(9, 0), numeric(0), categorical(3, 0.0)):
        assert table.ratio == 1
        assert table.level == 0.0
        assert table.second_moment == math.inf
        with pytest.raises(InputError, match="unbiased"):
            table.decode(np.arange(table.levels))
    with pytest.raises(InputError, match="budget"):
        response(3, 0)  # 3 does not divide 2^32


def test_the_exact_level_catches_broken_tables() -> None:
    """A budget 10% too high, and the usual float threshold, are both seen; the latter for many random budgets."""
    generator = np.random.default_rng(7)
    caught = 0
    for budget in generator.uniform(0.05, 8.0, 300):
        assert binary(budget).level <= budget
        assert binary(1.1 * budget).level > budget
        assert response(9, 1.1 * budget).level > budget
        assert hadamard(9, 1.1 * budget).level > budget
        keep = round(TOTAL / (1 + math.exp(-budget)))
        caught += Dense([[keep, TOTAL - keep], [TOTAL - keep, keep]]).level > budget
    assert caught > 60
    assert all(numeric(1.1 * budget).level > budget for budget in (0.1, 0.5, 1.0, 2.0, 4.0, 8.0))
    truthful = round(TOTAL / (1 + math.exp(-36.8)))
    assert Dense([[truthful, TOTAL - truthful], [TOTAL - truthful, truthful]]).level == math.inf


@pytest.mark.parametrize("budget", [-1.0, math.nan, math.inf, True, "1", None])
def test_budgets_that_are_none_are_refused(budget) -> None:
    for build in (binary, lambda b: subset(4, 2, b), lambda b: hadamard(4, b), lambda b: categorical(4, b), numeric):
        with pytest.raises(InputError, match="budget"):
            build(budget)


@pytest.mark.parametrize("levels", [1, 0, 2**20 + 1, 2.0, True])
def test_numbers_of_levels_that_cannot_be_asked_are_refused(levels) -> None:
    for build in (response, categorical):
        with pytest.raises(InputError, match="levels"):
            build(levels, 1.0)


def test_subsets_that_are_too_many_are_refused() -> None:
    with pytest.raises(InputError, match="size"):
        subset(30, 15, 1.0)
    with pytest.raises(InputError, match="size"):
        subset(5, 5, 1.0)
