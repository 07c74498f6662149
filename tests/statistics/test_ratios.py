"""Intervals of differences of two ratios whose denominators may be 0: they cover, and are no wider than need be."""

from __future__ import annotations

import numpy as np
import pytest

from bcdp.statistics.shared.ratios import profile_interval

Z = 1.959964
DRAWS = 1_500


@pytest.mark.parametrize("clear", [1.5, 3.0, 6.0])  # standard errors that the second denominator is from 0
def test_differences_of_ratios_cover(clear: float) -> None:
    """Of 1,500 intervals of 95% at least 91.4% hold, and at most 4.9% miss to one side (2.5% and 6 standard errors).

    With 95% that fails with a chance below 1e-9. Intervals of half the length must miss more.
    """
    rng = np.random.default_rng(int(10 * clear))
    truth, bottoms = np.array([0.3, -0.4]), np.array([0.7, 0.3])
    error = bottoms[1] / clear
    covariance = error**2 * (np.eye(4) + 0.3 * (np.eye(4)[[2, 3, 0, 1]] + np.eye(4)[[1, 0, 3, 2]]))
    means = np.concatenate([truth * bottoms, bottoms])
    drawn = rng.multivariate_normal(means, covariance, size=DRAWS)
    ends = np.array([profile_interval(each[:2], each[2:], covariance, Z) for each in drawn])
    difference = truth[0] - truth[1]
    low, high = (ends[:, 0] > difference).mean(), (ends[:, 1] < difference).mean()
    assert low + high < 0.086
    assert max(low, high) < 0.049
    half = (ends[:, 1] - ends[:, 0]) / 4
    middle = ends.mean(axis=1)
    if clear > 2:  # else most are the whole range
        assert (np.abs(middle - difference) > half).mean() > 0.086
    assert ends.min() >= -2
    assert ends.max() <= 2


def test_clear_ratios_have_their_normal_interval() -> None:
    """To a grid's width: a difference with denominators 100 standard errors from 0."""
    covariance = np.diag([4e-4, 1e-4, 1e-6, 1e-6])
    low, high = profile_interval(np.array([0.1, -0.2]), np.array([1.0, 1.0]), covariance, Z)
    reach = Z * np.sqrt(5e-4)
    assert low == pytest.approx(0.3 - reach, abs=0.02)
    assert high == pytest.approx(0.3 + reach, abs=0.02)
