"""Intervals of what a regression explains, and of its coefficients, where only chosen moments are noisy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from bcdp.statistics.regression.least_squares import Centred, Noise, stretched, unshrunk
from bcdp.statistics.regression.variance_explained import Explained

NOBODY = np.zeros(1, dtype=bool)


def test_a_variance_that_alone_is_noisy_has_the_exact_interval() -> None:
    """A share `b^2 / (a v)` with b and v known holds what the interval of `a` holds, to the resolution of the draws.

    Coefficients of one length, whatever the variance of a draw, would end it a third above the estimate.
    """
    a, slope, variance, error = 0.2, 0.06, 0.15, 0.06
    draws = np.zeros((999, 1))
    noise = error * norm.ppf((np.arange(999) + 0.5) / 999)
    found = Centred(np.array([[a]]), np.array([slope]), np.array(variance), np.zeros(2))
    deviations = Centred(noise[:, None, None], draws, draws[:, 0], np.zeros((999, 2)))
    again = Centred(found.matrix + deviations.matrix, found.slope + draws, variance + draws[:, 0], np.zeros((999, 2)))
    told = Explained(found, deviations, Noise.of(found, again, 0.1), 0.95).share(NOBODY)
    reach = norm.ppf(0.975) * error
    low, high = (slope**2 / (variance * (a + side)) for side in (reach, -reach))
    share = slope**2 / (variance * a)
    assert told.value == pytest.approx(share, rel=0.01)
    assert (told.low, told.high) == pytest.approx((low, high), rel=0.05)
    assert high > 1.5 * 4 / 3 * share


def test_a_coefficient_differs_by_its_noise_and_by_that_of_its_denominator() -> None:
    """Exactly, for the nearest coefficients with any value of a combination of them: `s = X + s Y`."""
    rng = np.random.default_rng(1)
    for size in (1, 2, 5):
        factors = rng.normal(size=(size, 3 * size))
        matrix, slope = factors @ factors.T, rng.normal(size=size)
        noise = 0.1 * rng.normal(size=(size, size))
        noise += noise.T
        combination, beside = rng.normal(size=size), 0.7
        theta = np.linalg.solve(matrix, slope)
        turned = np.linalg.solve(matrix, combination)
        nearest = theta - beside * turned / (combination @ turned)  # another population, whose answers could be these
        error = slope - (matrix - noise) @ nearest
        found = Centred(matrix, slope, np.array(1.0), np.zeros(size + 1))
        again = Centred(matrix[None] + noise, slope[None] + error, np.ones(1), np.zeros((1, size + 1)))
        raw, (drawn,) = unshrunk(found, again, None)  # type: ignore[misc]
        np.testing.assert_allclose(raw, theta)
        ((below,),) = stretched(matrix, noise[None], combination[None])
        assert combination @ (drawn - raw) + beside * below == pytest.approx(beside)
