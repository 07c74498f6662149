"""The trust-region step is the global minimum, and two private copies give unbiased second moments."""

import math

import numpy as np
import pytest

from bcdp.errors import InputError
from bcdp.mechanisms.cascade import (
    DuchiL2,
    OneBit,
    least_squares,
    minimise_quadratic,
    ridge_loss,
    trust_region,
)
from bcdp.mechanisms.cascade.bits import keep_weight
from support.cascade_channels import bernstein

pytestmark = pytest.mark.slow


def value(A, b, theta):
    return np.einsum("...i,ij,...j->...", theta, A, theta) / 2 - theta @ b


def brute_force(A, b, radius, rng):
    """The smallest value found by projected gradient descent from many random starts, and on a random cloud."""
    cloud = rng.standard_normal((2_000, len(b)))
    cloud *= radius * rng.random((2_000, 1)) ** (1 / len(b)) / np.linalg.norm(cloud, axis=1, keepdims=True)
    theta = cloud[:40]
    step = 1 / np.abs(np.linalg.eigvalsh(A)).max()
    for _ in range(2_000):
        theta = theta - step * (theta @ A - b)
        theta = theta / np.maximum(np.linalg.norm(theta, axis=1, keepdims=True) / radius, 1)
    return min(value(A, b, cloud).min(), value(A, b, theta).min())


def certificate(A, b, radius, theta):
    """Necessary and sufficient: (A + mu I) theta = b, A + mu I >= 0, mu >= 0, and |theta| = radius unless mu = 0."""
    scale = np.abs(np.linalg.eigvalsh(A)).max() + np.linalg.norm(b) / radius
    length = np.linalg.norm(theta)
    assert length <= radius * (1 + 1e-12)
    mu = max(0.0, theta @ (b - A @ theta) / length**2) if length > radius * (1 - 1e-9) else 0.0
    np.testing.assert_allclose((A + mu * np.eye(len(b))) @ theta, b, atol=1e-7 * scale * radius)
    assert np.linalg.eigvalsh(A)[0] + mu >= -1e-7 * scale


def random_problem(rng, d, kind):
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    eigenvalues = np.sort(rng.standard_normal(d))
    slope = rng.standard_normal(d)
    if kind == "definite":
        eigenvalues = np.abs(eigenvalues) + 0.1
    if kind == "hard":
        eigenvalues[0] = -abs(eigenvalues[0]) - 1
        slope[0], slope[1:] = 0.0, 0.1 * slope[1:]
    if kind == "repeated":
        eigenvalues[:2] = -1.5
        slope[:2], slope[2:] = 0.0, 0.1 * slope[2:]
    A = basis @ np.diag(np.sort(eigenvalues)) @ basis.T
    return (A + A.T) / 2, basis @ slope


@pytest.mark.parametrize("kind", ["indefinite", "definite", "hard", "repeated"])
def test_trust_region_against_brute_force(kind):
    rng = np.random.default_rng(13)
    for d in (2, 3, 5):
        for radius in (0.3, 1.0, 10.0):
            A, b = random_problem(rng, d, kind)
            theta = trust_region(A, b, radius)
            certificate(A, b, radius, theta)
            assert value(A, b, theta) <= brute_force(A, b, radius, rng) + 1e-9 * radius**2


def test_a_convex_solver_would_be_wrong():
    """The stationary point of an indefinite quadratic is a saddle: the step must not return it."""
    A, b = np.diag([1.0, -1.0]), np.array([0.1, 0.1])
    theta = trust_region(A, b, 1.0)
    assert value(A, b, theta) < value(A, b, np.linalg.solve(A, b)) - 0.1


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1.0, 1e8, 1e150])
def test_trust_region_does_not_depend_on_the_scale(scale):
    rng = np.random.default_rng(14)
    for kind in ("indefinite", "definite", "hard"):
        A, b = random_problem(rng, 4, kind)
        if kind == "hard":
            b = np.zeros(4)
        first, scaled = trust_region(A, b, 2.0), trust_region(scale * A, scale * b, 2.0)
        np.testing.assert_allclose(np.abs(scaled), np.abs(first), rtol=1e-6)


def test_trust_region_corner_cases():
    assert trust_region(np.zeros((2, 2)), [0.0, 0.0], 1.0).tolist() == [0, 0]
    np.testing.assert_allclose(trust_region(np.zeros((2, 2)), [3.0, 4.0], 1.0), [0.6, 0.8])
    np.testing.assert_allclose(trust_region([[2.0]], [1.0], 1.0), [0.5])
    np.testing.assert_allclose(trust_region([[2.0]], [5.0], 1.0), [1.0])
    np.testing.assert_allclose(np.abs(trust_region([[-2.0]], [0.0], 3.0)), [3.0])
    np.testing.assert_allclose(trust_region(np.diag([0.0, 1.0]), [0.0, 0.5], 1.0), [0.0, 0.5])
    nearly_hard = trust_region(np.diag([-1.0, 1.0]), [1e-18, 0.5], 1.0)
    np.testing.assert_allclose(nearly_hard, [math.sqrt(1 - 0.0625), 0.25])


@pytest.mark.parametrize(
    ("name", "A", "b", "radius"),
    [
        ("A", [[1.0, 2.0], [0.0, 1.0]], [0.0, 0.0], 1.0),
        ("A", [[math.nan]], [0.0], 1.0),
        ("A", [1.0], [0.0], 1.0),
        ("b", [[1.0]], [math.inf], 1.0),
        ("b", [[1.0]], [1.0, 2.0], 1.0),
        ("radius", [[1.0]], [1.0], 0.0),
        ("radius", [[1.0]], [1.0], math.nan),
    ],
)
def test_trust_region_refuses(name, A, b, radius):
    with pytest.raises(InputError, match=rf"^{name}: got .*; accepted: "):
        trust_region(A, b, radius)


def test_ridge_is_an_instance_of_a_quadratic_loss():
    """Against the closed form on exact second moments, with the target in any place."""
    rng = np.random.default_rng(15)
    x = rng.standard_normal((50, 4))
    moments = x.T @ x / 50
    for target in (0, 2, -1):
        z, y = np.delete(x, target, axis=1), x[:, target]
        expected = np.linalg.solve(z.T @ z / 50 + 0.3 * np.eye(3), z.T @ y / 50)
        np.testing.assert_allclose(minimise_quadratic(moments, ridge_loss(target, 0.3), 100.0), expected, rtol=1e-9)


def test_another_quadratic_loss_of_the_record():
    """The leading direction: minimise -theta' M theta / 2, which no convex solver accepts."""
    rng = np.random.default_rng(16)
    x = rng.standard_normal((50, 3)) * [3.0, 1.0, 0.5]
    moments = x.T @ x / 50
    theta = minimise_quadratic(moments, lambda second: (-second, np.zeros(3)), 1.0)
    assert abs(theta @ np.linalg.eigh(moments)[1][:, -1]) == pytest.approx(1)


class OneCopy:
    """A broken release: both copies come from the same randomness, so that noise is squared."""

    def __init__(self, channel):
        self.channel, self.kept = channel, {}

    def release(self, x, keep, draws):
        return self.kept.setdefault(keep, self.channel.release(x, keep, draws))

    def variance(self, m, keep):
        return self.channel.variance(m, keep)

    def level(self, m, keep):
        return self.channel.level(m, keep)


@pytest.mark.parametrize("channel", [DuchiL2(), OneBit()])
def test_second_moments_are_unbiased(channel):
    """False alarm 1e-9 (Bernstein, 9 entries); one copy used twice fails."""
    people, budget = 200_000, 4.0
    record = np.array([0.9, -0.8, 0.5])
    x = np.tile(record, (people, 1))
    second_moment = channel.variance(3, keep_weight(budget / 2))
    largest = 3 * second_moment  # |report|^2 is 3 times a coordinate's second moment, for both channels
    allowed = bernstein(people, second_moment**2, largest + 1, 1e-9 / 9)

    def gap(used):
        fit = least_squares(x, [budget] * 3, np.random.default_rng(17), radius=1.0, channel=used)
        assert np.array_equal(fit.second_moments, fit.second_moments.T)
        return np.abs(fit.second_moments - np.outer(record, record)).max()

    assert gap(channel) <= allowed
    assert gap(OneCopy(channel)) > allowed


def test_two_copies_spend_half_of_each_budget():
    spent = []

    class Watched(DuchiL2):
        def release(self, x, keep, draws):
            spent.append((x.shape[1], self.level(x.shape[1], keep)))
            return super().release(x, keep, draws)

    least_squares(np.zeros((2, 3)), [0.4, 2.0, 2.0], np.random.default_rng(0), channel=Watched())
    assert [features for features, _ in spent] == [3, 2, 3, 2]
    assert sum(level for features, level in spent if features == 3) <= 0.4
    assert 2.0 - 1e-6 < sum(level for _, level in spent) <= 2.0


def test_least_squares_recovers_a_strong_relation():
    """y = 0.6 z_1 - 0.3 z_2 with a large budget; the seed is fixed, the tolerance 8 standard errors of a moment."""
    rng = np.random.default_rng(18)
    z = rng.choice([-1.0, 1.0], (200_000, 2))
    x = np.column_stack([z, z @ [0.6, -0.3]])
    fit = least_squares(x, [20.0] * 3, rng, radius=2.0)
    entry_error = DuchiL2().variance(3, keep_weight(10.0)) / math.sqrt(len(x))
    np.testing.assert_allclose(fit.theta, [0.6, -0.3], atol=8 * entry_error)
    shrunk = least_squares(x, [20.0] * 3, rng, radius=0.1)
    assert np.linalg.norm(shrunk.theta) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("x", {"x": [[0.0]], "c": [1.0]}),
        ("x", {"x": [[2.0, 0.0]]}),
        ("x", {"x": np.empty((0, 2))}),
        ("c", {"c": [0.0, 1.0]}),
        ("c", {"c": [1.0]}),
        ("c", {"c": [-1.0, 1.0]}),
        ("target", {"target": 2}),
        ("target", {"target": 0.5}),
        ("ridge", {"ridge": -1.0}),
        ("radius", {"radius": 0.0}),
    ],
)
def test_least_squares_refuses(name, arguments):
    arguments = {"x": np.zeros((4, 2)), "c": [1.0, 1.0]} | arguments
    with pytest.raises(InputError, match=rf"^{name}: got .*; accepted: "):
        least_squares(**arguments)
