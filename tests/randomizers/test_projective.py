"""Answers that are hyperplanes: levels of every small geometry, accuracy for many values, sampling in all devices."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.answering.compiled import drawn_hyperplane
from bcdp.randomizers import Projective, categorical, hadamard, projective
from bcdp.randomizers.categorical import subset_moment
from bcdp.randomizers.projective import count, holds, incident_sums, numbered
from bcdp_device.verify.geometry import drawn_hyperplane as drawn_by_device
from bcdp_device.verify.geometry import overlap_ends

FIELDS = (2, 3, 5, 7, 11, 13)
MOST = 2000
SMALL = [(g, t) for g in FIELDS for t in range(2, 12) if count(g, t) <= MOST]
LARGE = [  # of a million values, and of ten thousand
    *(projective(1_000_000, budget) for budget in (0.7, 1.9, 4.2)),
    projective(10_000, 3.0),
    Projective(levels=2**20, field=127, dimension=4, high=40_000, low=1500),
]
PUBLISHED = {1.0: 37_750, 2.0: 7_330, 3.0: 2_215, 4.0: 765}  # n x error for 10,000 values, by the budget


def incidence(field: int, dimension: int) -> Any:
    """Which point (row) is on which hyperplane, by vectors that are listed one by one."""
    vectors = [v for v in itertools.product(range(field), repeat=dimension) if any(v) and next(filter(None, v)) == 1]
    planes = np.array(vectors)
    return planes[:, ::-1] @ planes.T % field == 0


@pytest.mark.parametrize(("field", "dimension"), SMALL)
def test_every_small_geometry(field: int, dimension: int) -> None:
    """Rows with equal sums, the exact level from all weights, and any two points on equally many hyperplanes."""
    met, points = incidence(field, dimension), count(field, dimension)
    ratio, held = Fraction(field**2 + 1, field), count(field, dimension - 1)
    low = math.floor(TOTAL / (held * ratio + points - held))
    table = Projective(levels=points, field=field, dimension=dimension, high=math.floor(low * ratio), low=low)
    for point in range(0, points, 1 + points // 50):
        assert np.array_equal(holds(field, dimension, point, np.arange(points)), met[point])
    weights = np.where(met, table.high, table.low)
    assert (weights.sum(axis=1) == TOTAL - table.silence).all()
    ratios = {Fraction(int(most), int(least)) for most, least in zip(weights.max(0), weights.min(0), strict=True)}
    assert ratios == {table.ratio}
    shared = met[: min(points, 300)].astype(np.int32) @ met[: min(points, 300)].T.astype(np.int32)
    assert set(shared[~np.eye(len(shared), dtype=bool)].tolist()) == {count(field, dimension - 2)}
    values = np.random.default_rng(points).normal(size=points)
    assert np.allclose(incident_sums(field, dimension, values), met @ values)


@pytest.mark.parametrize(("field", "dimension"), [shape for shape in SMALL if count(*shape) <= 200])
def test_every_hyperplane_has_its_place_among_those_that_hold_a_point(field: int, dimension: int) -> None:
    met, points = incidence(field, dimension), count(field, dimension)
    for point, holding in itertools.product(range(points), (True, False)):
        planes = np.flatnonzero(met[point] == holding)
        index = np.arange(len(planes))
        found = numbered(field, dimension, np.full(len(index), point), index, np.full(len(index), holding))
        assert np.array_equal(np.sort(found), planes)


@pytest.mark.parametrize("table", LARGE, ids=lambda table: f"{table.levels}-{table.field}-{table.dimension}")
def test_all_devices_draw_the_same_hyperplane_which_holds_the_point_or_not(table: Projective) -> None:
    """At the ends of intervals and at random: reference, compiled kernel and second device."""
    rng, likely = np.random.default_rng(table.field), table.through * table.high
    ends = [0, likely - 1, likely, TOTAL - table.silence - 1, TOTAL - 1, table.high - 1, table.high, likely + table.low]
    words = np.array([*ends, *rng.integers(0, TOTAL, 400).tolist()], dtype=np.uint32)
    inputs = np.array([0, table.levels - 1, 1, *rng.integers(0, table.levels, len(words) - 3).tolist()])
    drawn, numbers = table.sample(inputs, words), table.to_dict()
    for given, word, symbol in zip(inputs.tolist(), words.tolist(), drawn.tolist(), strict=True):
        kernel = drawn_hyperplane(
            table.field, table.dimension, (table.high, table.low), np.int64(given), np.int64(word)
        )
        assert symbol == int(kernel) == drawn_by_device(numbers, given, word)
        if symbol < table.hyperplanes:
            assert holds(table.field, table.dimension, given, np.array([symbol]))[0] == (word < likely)
        else:
            assert word >= TOTAL - table.silence


@pytest.mark.parametrize(("budget", "known"), PUBLISHED.items())
def test_ten_thousand_values_are_as_accurate_as_is_known_to_be_possible(budget: float, known: float) -> None:
    """By formula, and by 20 simulated collections: their mean squared error has a relative deviation below 1%."""
    table = categorical(10_000, budget)
    assert isinstance(table, Projective)
    assert table.level <= budget
    assert table.second_moment <= known
    assert known < hadamard(10_000, budget).second_moment
    rng, people, collections = np.random.default_rng(5), 20_000, 20
    errors = []
    for _ in range(collections):
        inputs = rng.integers(0, 10_000, people)
        drawn = table.sample(inputs, rng.integers(0, TOTAL, people, dtype=np.uint32))
        found = table.frequencies(np.bincount(drawn, minlength=table.symbols))
        true = np.bincount(inputs, minlength=10_000) / people
        errors.append(people * float(((found - true) ** 2).sum()))
    assert np.mean(errors) == pytest.approx(table.second_moment, rel=0.06)  # 6 standard deviations
    assert np.mean(errors) < 1.06 * known


@pytest.mark.parametrize("levels", [50, 100, 300, 1000])
def test_some_hundreds_of_values_cost_little_more_than_all_subsets(levels: int) -> None:
    for budget in (0.3, 1.0, 2.0, 3.0, 4.0):
        best = min(float(subset_moment(levels, size, np.array(budget))) for size in range(1, levels // 2 + 1))
        assert categorical(levels, budget).second_moment <= 1.09 * best


def test_rows_overlap_as_their_weights_say() -> None:
    for table in (Projective(levels=7, field=3, dimension=3, high=3**18, low=2**27), projective(40, 1.3)):
        weights = table.dense().weights.astype(np.float64)
        products = (weights / np.append(np.full(table.hyperplanes, table.low), table.silence or 1)) @ weights.T / TOTAL
        most, least = table.overlaps
        assert products.diagonal() == pytest.approx(np.full(table.levels, most))
        assert products.min() == pytest.approx(least)
        assert overlap_ends(table.to_dict()) == (most, least)


def test_a_million_values_are_decoded_without_a_table() -> None:
    """Unbiased where everybody has one value; nothing of size values x answers fits in memory."""
    table = projective(1_000_000, 3.0)
    truth, people = 765_432, 200_000
    rng = np.random.default_rng(11)
    drawn = table.sample(np.full(people, truth), rng.integers(0, TOTAL, people, dtype=np.uint32))
    found = table.frequencies(np.bincount(drawn, minlength=table.symbols))
    deviation = math.sqrt(table.second_moment / table.levels / people)
    assert len(found) == 1_000_000
    assert int(found.argmax()) == truth
    assert found[truth] == pytest.approx(1, abs=7 * deviation * 20)
    others = np.delete(found, truth)
    assert abs(others.mean()) < 7 * deviation / math.sqrt(len(others)) + 1e-4
    assert np.abs(others).max() < 8 * deviation * 3
