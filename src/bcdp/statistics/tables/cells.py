"""The cells of tables of two or three features: computed from targets, moved to the nearest population, shrunk.

Arrays of cells have an axis for each feature.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.policy import Feature, Policy
from bcdp.statistics.shared.interval import on_simplex
from bcdp.statistics.shared.joint_targets import Interaction, interaction, margin_of
from bcdp.statistics.shared.target import Target
from bcdp.statistics.tables.association import departures

Array = npt.NDArray[np.float64]

_PROJECTIONS = 2000
_FEWEST_DEPARTURES = 3


def cuts_of(policy: Policy, name: str) -> tuple[float, ...] | None:
    """Where the ranges of a number begin, by which it enters a table; None for what has values."""
    return policy.features[name].cuts or None


def table_values(feature: Feature) -> tuple[Any, ...]:
    """The values of a feature as a table has them: its ranges, in words, for a number."""
    return feature.range_words or tuple(feature.categories)


def cell_count(policy: Policy, name: str) -> int:
    """How many rows or columns a feature makes."""
    return len(table_values(policy.features[name]))


def spread_of(size: int) -> Array:
    """What is left of a margin without its average, from the numbers that stand for it: a sign is two shares."""
    return np.array([[-0.5], [0.5]]) if size == 1 else np.eye(size)


def parts_of(policy: Policy, names: Sequence[str]) -> tuple[Target, ...]:
    """The targets that the cells of a table follow from: its margins, then what two features share, then three."""
    ordered = sorted(names, key=list(policy.features).index)
    groups = (some for size in range(1, len(names) + 1) for some in itertools.combinations(ordered, size))
    return tuple(
        margin_of(some[0], cuts_of(policy, some[0]))
        if len(some) == 1
        else interaction(policy, {name: cuts_of(policy, name) for name in some})
        for some in groups
    )


def error_weights(policy: Policy, names: Sequence[str]) -> Iterator[tuple[Target, float]]:
    """How often the squared error of each part counts in that of all cells: spread over the features it lacks."""
    for part in parts_of(policy, names):
        weight = 1.0
        for name in names:
            present = name in part.features
            weight *= (0.5 if _size(policy, name) == 1 else 1.0) if present else 1 / cell_count(policy, name)
        yield part, weight


def cells_of(policy: Policy, names: Sequence[str]) -> tuple[Array, Array]:
    """All cells as a straight line in the values of the table's parts: the constant and the slopes.

    Cells are in the order of `names`, the values of the last changing fastest. A part without its average is spread
    evenly over the features that it lacks.
    """
    ordered = sorted(names, key=list(policy.features).index)
    shape = tuple(cell_count(policy, name) for name in ordered)
    constant, slopes = np.full(math.prod(shape), 1 / math.prod(shape)), []
    for part in parts_of(policy, names):
        factors = [
            spread_of(_size(policy, name)) if name in part.features else np.full((size, 1), 1 / size)
            for name, size in zip(ordered, shape, strict=True)
        ]
        slopes.append(reduce(np.kron, factors))
        if not isinstance(part, Interaction) and slopes[-1].shape[1] > 1:  # a margin has its average
            constant -= slopes[-1].sum(axis=1) / slopes[-1].shape[1]
    numbers = np.arange(len(constant)).reshape(shape)
    order = numbers.transpose([ordered.index(name) for name in names]).ravel()
    return constant[order], np.hstack(slopes)[order]


def _size(policy: Policy, name: str) -> int:
    """How many numbers stand for a feature by itself."""
    return margin_of(name, cuts_of(policy, name)).size(policy)


def margins_of(cells: Array) -> list[Array]:
    """The share of each value of each feature."""
    axes = range(cells.ndim)
    return [cells.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]


def nearest_table(raw: Array, margins: Sequence[Array | None] = ()) -> Array:
    """The nearest table of shares that are at least 0, whose margins are those given, or the nearest to those of `raw`.

    Alternating projections (Dykstra) on the margins and on what is at least 0; the last step is on the latter, and the
    margins are met to about 1e-9. Margins agree with the frequencies that are given for each feature.

    >>> nearest_table(np.array([[0.5, -0.1], [0.2, 0.4]])).round(3).tolist()
    [[0.4, 0.0], [0.3, 0.3]]
    """
    given = margins or (None,) * raw.ndim
    wanted = [on_simplex(own) if margin is None else margin for own, margin in zip(margins_of(raw), given, strict=True)]
    table, held = raw, np.zeros_like(raw)
    for _ in range(_PROJECTIONS):
        fitted = table - (raw.ndim - 1) * (1 - table.sum()) / raw.size
        for axis, (aim, margin) in enumerate(zip(wanted, margins_of(table), strict=True)):
            fitted = fitted + _along(aim - margin, axis, raw.ndim) * len(aim) / raw.size
        if float(fitted.min()) >= -1e-12:
            return np.asarray(np.maximum(fitted, 0.0))
        table = np.maximum(fitted + held, 0.0)
        held = fitted + held - table
    return table


def _along(values: Array, axis: int, axes: int) -> Array:
    """One value for each place along an axis, to be broadcast over the others."""
    return values.reshape([-1 if other == axis else 1 for other in range(axes)])


def independent(cells: Array) -> Array:
    """The table with the same margins whose features are independent."""
    return np.asarray(reduce(np.multiply.outer, margins_of(cells)))


def shrunk(table: Array, raw: Array, covariance: Array) -> Array:
    """The table moved towards independence as far as chance explains its departures: James and Stein's factor.

    Margins stay as they are, and shares at least 0. Of fewer than three departures none is known to help.
    """
    degrees = table.size - 1 - sum(size - 1 for size in table.shape)
    if degrees < _FEWEST_DEPARTURES:
        return table
    noise = float(np.trace(departures(raw, covariance)[1])) if raw.ndim == 2 else departure_noise(raw, covariance)
    kept = max(0.0, 1 - (1 - 2 / degrees) * noise / max(float(((raw - independent(raw)) ** 2).sum()), 1e-300))
    return np.asarray(independent(table) + kept * (table - independent(table)))


def departure_noise(cells: Array, covariance: Array) -> float:
    """The variance of all departures from independence together, to first order.

    >>> round(departure_noise(np.full((2, 2, 2), 1 / 8), (np.eye(8) - 1 / 8) * 1e-4), 10)
    0.0004
    """
    margins, slope = margins_of(cells), np.eye(cells.size)
    for axis, margin in enumerate(margins):
        others = [each for other, each in enumerate(margins) if other != axis]
        rest = np.expand_dims(reduce(np.multiply.outer, others), axis)
        for value in range(len(margin)):
            at_value = np.zeros(len(margin))
            at_value[value] = 1.0
            inside = np.broadcast_to(_along(at_value, axis, cells.ndim), cells.shape).ravel()
            slope -= np.outer((_along(at_value, axis, cells.ndim) * rest).ravel(), inside)
    return float(np.trace(slope @ covariance @ slope.T))
