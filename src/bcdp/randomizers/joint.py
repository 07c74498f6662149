"""One randomized response about several features at once (theory.md, 4.1)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.exact import Floats, check_whole
from bcdp.randomizers.categorical import response
from bcdp.randomizers.response import Response

MOST_JOINT_INPUTS = 4096


def joint(sizes: tuple[int, ...], budget: float) -> Response:
    """Randomized response over all combinations of the features' values, within the budget.

    The combination `(x_1, .., x_d)` is input `(.. (x_1 sizes[1] + x_2) ..) sizes[d-1] + x_d`: the first feature is the
    most significant digit.

    >>> joint((2, 2), 2.0).decode(marginal_target((2, 2), 0, [-1, 1])).round(3)
    array([-1.626, -1.626,  1.626,  1.626])
    """
    return response(_combinations(sizes), budget)


def marginal_target(sizes: tuple[int, ...], feature: int, values: npt.ArrayLike) -> Floats:
    """The target over all combinations that depends on one feature only, shape (combinations,) or (combinations, t).

    `values` holds what each of the feature's values is worth: shape (sizes[feature],), or (sizes[feature], t) for
    several targets at once, as the identity does for frequencies.

    >>> marginal_target((2, 3), 0, [-1, 1]).tolist()
    [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]
    """
    combinations = _combinations(sizes)
    check_whole("feature", feature, 0, len(sizes) - 1)
    worth = np.asarray(values, dtype=np.float64)
    if worth.ndim not in (1, 2) or len(worth) != sizes[feature]:
        raise refuse("values", f"an array of shape {worth.shape}", f"one value for each of {sizes[feature]} values")
    return worth[np.unravel_index(np.arange(combinations), sizes)[feature]]


def _combinations(sizes: tuple[int, ...]) -> int:
    for size in sizes:
        check_whole("sizes", size, 2, MOST_JOINT_INPUTS)
    combinations = math.prod(sizes)
    if not sizes or combinations > MOST_JOINT_INPUTS:
        raise refuse("sizes", sizes, f"at least one feature, and at most {MOST_JOINT_INPUTS} combinations")
    return combinations
