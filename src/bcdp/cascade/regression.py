"""Least squares from two private copies of each record, and the exact minimiser of an indefinite quadratic on a ball.

The two copies make the products unbiased; their noise makes the quadratic indefinite, so a convex solver will not do
(docs/theory.md, section 3, erratum 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.cascade.channels import DUCHI, Channel
from bcdp.cascade.checks import (
    Array,
    Randomness,
    as_draws,
    check_budgets,
    check_number,
    check_records,
    numbers,
)
from bcdp.cascade.mechanism import mean_mechanism
from bcdp.errors import refuse

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

    It solves `(A + mu I) theta = b` for the one `mu >= 0` that makes `A + mu I` positive semidefinite and, unless mu
    is 0, puts theta on the sphere. In the hard case b has no part in the lowest eigenspace and such a part is added.

    >>> trust_region([[-2.0, 0.0], [0.0, 1.0]], [0.0, 0.0], radius=3.0)
    array([3., 0.])
    """
    matrix = _square("A", A)
    accepted = f"{len(matrix)} finite numbers, one for each row of A"
    vector = numbers("b", b, accepted)
    if vector.shape != (len(matrix),) or not np.all(np.isfinite(vector)):
        raise refuse("b", b, accepted)
    radius = check_number("radius", radius, 0, open_low=True)
    eigenvalues, basis = np.linalg.eigh(matrix)
    slope = basis.T @ vector / radius  # in units of the radius, so that the ball is the unit ball
    scale = max(np.abs(eigenvalues).max(), np.abs(slope).max())
    if scale == 0:
        return np.zeros(len(matrix))
    return radius * basis @ _unit_ball_minimiser(eigenvalues / scale, slope / scale)


def _unit_ball_minimiser(eigenvalues: Array, slope: Array) -> Array:
    """The same in the eigenbasis, with ascending eigenvalues; `shift` is mu plus the lowest of them."""
    gaps = eigenvalues - eigenvalues[0]  # exactly 0 for the lowest: small shifts keep their digits

    def point(shift: float) -> Array:
        return np.asarray(np.divide(slope, gaps + shift, out=np.zeros_like(slope), where=slope != 0))

    low = max(float(eigenvalues[0]), 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        lowest = point(low)
        length = float(np.linalg.norm(lowest))
        if length <= 1:
            if eigenvalues[0] < 0:  # the hard case
                lowest[0] += math.sqrt(1 - length**2)
            return lowest
        high = low + float(np.linalg.norm(slope))
        # The length decreases in the shift, so halving finds the root to the last bit.
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if np.linalg.norm(point(middle)) > 1 else (low, middle)
    boundary = point(high)
    return boundary / np.linalg.norm(boundary)


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
    channel: Channel = DUCHI,
) -> LeastSquares:
    """Private coefficients of feature `target` on the others, in the l2 ball of `radius`: c-CDP and (max c)-LDP.

    Two copies with half of each budget compose to `c` (docs/theory.md, section 2).

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
