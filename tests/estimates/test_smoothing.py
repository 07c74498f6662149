"""Waves smoothed over time: the bias is the largest possible, the interval holds with it, and the bound is needed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import norm

from bcdp import InputError, Policy, Tally, make_plan, privatize
from bcdp.estimates.smoothing import Smoother, biased_width, smoothers
from bcdp.estimates.waves import estimate_waves, smooth
from bcdp.statistics import Estimate

series = st.lists(st.tuples(st.floats(0.3, 3.0), st.floats(0.01, 0.5)), min_size=2, max_size=9)


def slopes_of(times: np.ndarray) -> np.ndarray:
    """The change of slope at each inner wave, written out."""
    rows = np.zeros((len(times) - 2, len(times)))
    for row in range(len(rows)):
        before, after = times[row + 1] - times[row], times[row + 2] - times[row + 1]
        rows[row, row : row + 3] = 1 / before, -1 / before - 1 / after, 1 / after
    return rows


@settings(max_examples=12, deadline=None)
@given(series, st.floats(0.001, 0.3))
def test_the_bias_is_the_largest_of_a_linear_program(waves: list[tuple[float, float]], bend: float) -> None:
    """Over all truths that bend no more; the two lines that no bend moves are left as they are."""
    times = np.cumsum([gap for gap, _ in waves])
    rows, fixed = slopes_of(times), [(0, 0), (0, 0), *[(None, None)] * (len(times) - 2)]  # lines add nothing
    bounds = np.full(2 * len(rows), bend)
    for wave, smoother in enumerate(smoothers(times.tolist(), [error for _, error in waves], bend, 0.95)):
        weights = smoother.weights - np.eye(len(times))[wave]
        assert abs(weights.sum()) < 1e-6
        assert abs(weights @ times) < 1e-6 * times[-1]
        worst = linprog(-weights, np.vstack([rows, -rows]), bounds, bounds=fixed)
        largest = -worst.fun if len(rows) else 0.0
        assert smoother.bias == pytest.approx(largest, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_an_interval_with_the_largest_bias_holds_exactly_as_often_as_stated(ratio: float, confidence: float) -> None:
    reach = biased_width(ratio, confidence)
    assert norm.cdf(reach - ratio) - norm.cdf(-reach - ratio) == pytest.approx(confidence, abs=1e-9)
    unbiased = norm.ppf((1 + confidence) / 2)  # which would not do
    assert ratio == 0 or norm.cdf(unbiased - ratio) - norm.cdf(-unbiased - ratio) < confidence - 1e-4


def test_intervals_are_no_longer_than_those_of_single_waves() -> None:
    times, errors = list(range(12)), [0.05] * 12

    def half(smoother: Smoother) -> float:
        error = 0.05 * float(np.linalg.norm(smoother.weights))
        return error * biased_width(smoother.bias / error, 0.95)

    halves = {bend: [*map(half, smoothers(times, errors, bend, 0.95))] for bend in (0.0, 0.001, 0.01, 0.1, 10.0)}
    alone = biased_width(0.0, 0.95) * 0.05
    for narrow, wide in zip(list(halves.values())[:-1], list(halves.values())[1:], strict=True):
        assert all(a <= b * (1 + 1e-9) for a, b in zip(narrow, wide, strict=True))
    assert max(halves[10.0]) <= alone * (1 + 1e-9)
    assert halves[0.001][6] < 0.5 * alone  # what smoothing is for


def test_without_bends_it_is_the_line_of_weighted_least_squares() -> None:
    times, values = np.array([2019.0, 2020.0, 2022.0, 2023.0]), np.array([0.2, 0.5, 0.3, 0.4])
    errors = np.array([0.02, 0.05, 0.03, 0.04])
    waves = {
        float(at): Estimate(
            float(v), float(se), float(v - 2 * se), float(v + 2 * se), 100, float(v), collection=str(at)
        )
        for at, v, se in zip(times, values, errors, strict=True)
    }
    line = np.polyval(np.polyfit(times, values, 1, w=1 / errors), times)
    assert [each.value for each in smooth(waves, 0.0).values()] == pytest.approx(line.tolist(), rel=1e-9)
    assert [each.value for each in smooth(waves, 1e6).values()] == pytest.approx(values.tolist(), rel=1e-9)


def test_estimates_of_waves_are_smoothed() -> None:
    """The truth bends by .02 at one wave; an interval misses it by more than 6.5 standard errors once in 10^10."""
    plan = make_plan(Policy(epsilon=4, features={"smoker": {"type": "binary"}, "region": {"type": "binary"}}))
    shares = [0.30, 0.32, 0.34, 0.38, 0.42]
    tallies = {
        at: Tally(plan).add(privatize(plan, {"smoker": np.arange(4000) < 4000 * share, "region": np.arange(4000) % 2}))
        for at, share in enumerate(shares)
    }
    smoker, region = estimate_waves(tallies, bends={"smoker": 0.02}).trends
    assert not region.smoothed
    for at, number in smoker.smoothed.items():
        assert abs(number.value - shares[int(at)]) < 6.5 * number.se + (number.high - number.low)
        assert number.se < smoker.waves[at].se
    document = smoker.to_dict()
    assert [each["at"] for each in document["smoothed"]] == list(range(5))
    json.dumps(document)
    wrong = {
        "age": (1.0, "bends: got 'age'; accepted: one of smoker, region"),
        "smoker": (-1.0, "bends.smoker: got -1.0"),
    }
    for name, (bend, said) in wrong.items():
        with pytest.raises(InputError, match=said):
            list(estimate_waves(tallies, bends={name: bend}).trends)
