"""The least value of a quadratic over a ball, exactly, also where noise has made it indefinite (Proposition 7)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def minimise_on_ball(matrix: Array, slope: Array, radius: float) -> Array:
    """The global minimiser of `theta' A theta / 2 - b' theta` over the l2 ball, A symmetric and possibly indefinite.

    It solves `(A + mu I) theta = b` for the one `mu >= 0` that makes `A + mu I` positive semidefinite and, unless mu
    is 0, puts theta on the sphere. In the hard case b has no part in the lowest eigenspace and such a part is added.
    """
    eigenvalues, basis = np.linalg.eigh(matrix)
    turned = basis.T @ slope / radius  # in units of the radius, so that the ball is the unit ball
    scale = max(np.abs(eigenvalues).max(), np.abs(turned).max())
    if scale == 0:
        return np.zeros(len(matrix))
    return np.asarray(radius * basis @ _unit_ball_minimiser(eigenvalues / scale, turned / scale))


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
