"""Least squares from two private copies of each record, and the exact minimiser of an indefinite quadratic on a ball.

The two copies make the products unbiased; their noise makes the quadratic indefinite, so a convex solver will not do
(theory.md, section 3, erratum 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.mechanisms.cascade.channels import DUCHI, ChannelFamily
from bcdp.mechanisms.cascade.checks import (
    Array,
    Randomness,
    as_draws,
    check_budgets,
    check_number,
    check_records,
    numbers,
)
from bcdp.mechanisms.cascade.mechanism import mean_mechanism
from bcdp.statistics.regression.quadratic_on_ball import minimise_on_ball

Quadratic = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The coefficients `theta` (features other than the target, in order) and the private second moments (d x d)."""

    theta: Array
    second_moments: Array


def _square(name: str, value: npt.ArrayLike) -> Array:
    accepted = "a symmetric matrix of finite numbers"
    matrix = numbers(name, value, accepted)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise refuse(name, f"shape {matrix.shape}", accepted)
    if not np.all(np.isfinite(matrix)) or np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
        raise refuse(name, value, accepted)
    return matrix


def trust_region(A: npt.ArrayLike, b: npt.ArrayLike, radius: float) -> Array:
    """The global minimiser of `theta' A theta / 2 - b' theta` over the l2 ball, A symmetric and possibly indefinite.

    >>> trust_region([[-2.0, 0.0], [0.0, 1.0]], [0.0, 0.0], radius=3.0)
    array([3., 0.])
    """
    matrix = _square("A", A)
    accepted = f"{len(matrix)} finite numbers, one for each row of A"
    vector = numbers("b", b, accepted)
    if vector.shape != (len(matrix),) or not np.all(np.isfinite(vector)):
        raise refuse("b", b, accepted)
    radius = check_number("radius", radius, 0, open_low=True)
    return minimise_on_ball(matrix, vector, radius)


def minimise_quadratic(second_moments: npt.ArrayLike, build: Callable[[Array], Quadratic], radius: float) -> Array:
    """The parameter in the l2 ball that minimises a loss quadratic in the record, from the record's second moments.

    `build(second_moments)` returns the `(A, b)` of the loss `theta' A theta / 2 - b' theta`.

    >>> minimise_quadratic([[1.0, 0.5], [0.5, 1.0]], ridge_loss(target=1, ridge=0.0), radius=2.0)
    array([0.5])
    """
    return trust_region(*build(_square("second_moments", second_moments)), radius)


def ridge_loss(target: int, ridge: float) -> Callable[[Array], Quadratic]:
    """How second moments give the loss of predicting `target` from the other features, plus `ridge / 2 |theta|^2`.

    >>> matrix, vector = ridge_loss(target=1, ridge=0.5)(np.array([[1.0, 0.25], [0.25, 1.0]]))
    >>> matrix.tolist(), vector.tolist()
    ([[1.5]], [0.25])
    """
    check_number("ridge", ridge, 0)

    def build(second_moments: Array) -> Quadratic:
        others = np.delete(np.arange(len(second_moments)), target)
        return (
            second_moments[np.ix_(others, others)] + ridge * np.eye(others.size),
            second_moments[others, target],
        )

    return build


def least_squares(
    x: npt.ArrayLike,
    c: npt.ArrayLike,
    rng: Randomness = None,
    radius: float = 1.0,
    ridge: float = 0.0,
    target: int = -1,
    channel: ChannelFamily = DUCHI,
) -> LeastSquares:
    """Private coefficients of feature `target` on the others, in the l2 ball of `radius`: c-CDP and (max c)-LDP.

    Two copies with half of each budget compose to `c` (theory.md, section 2).

    >>> fit = least_squares([[0.5, 0.5], [-1.0, -1.0]] * 10, c=[1.0, 2.0], radius=1.0)
    >>> fit.theta.shape, fit.second_moments.shape
    ((1,), (2, 2))
    """
    records = check_records(x)
    people, features = records.shape
    budgets = check_budgets(c, features)
    if features < 2:
        raise refuse("x", f"shape {records.shape}", "at least two features: a target and one to predict it from")
    if isinstance(target, bool) or not isinstance(target, int) or not -features <= target < features:
        raise refuse("target", target, f"the index of a feature, from {-features} to {features - 1}")
    build = ridge_loss(target, ridge)
    check_number("radius", radius, 0, open_low=True)
    draws = as_draws(rng, people)
    first, second = (mean_mechanism(records, budgets / 2, draws, channel) for _ in range(2))
    if np.isnan(first[0]).any():
        raise refuse("c", c, "a budget above 0 for every feature: one that is not released has no second moments")
    products = first.T @ second / people
    second_moments = (products + products.T) / 2
    return LeastSquares(minimise_quadratic(second_moments, build, radius), second_moments)
