"""Tables of three features whose sums over one feature are the tables of two that are published as well."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bcdp.statistics.tables.cells import independent, margins_of

Array = npt.NDArray[np.float64]
Axes = tuple[int, int]

_ROUNDS, _CLOSE = 500, 1e-10
_LITTLE = 1e-7  # of the table of largest entropy, so that no share that has to grow is 0
_STEP = 0.9  # by which departures of pairs are made smaller until there is a table of three


def largest_share(margins: list[Array], pairs: Mapping[Axes, Array]) -> float:
    """How much of the departures from independence of three tables of two a table of three can have together.

    Of two tables there always is one. Of three, the less they depart from independence, the surer.

    >>> same, other = np.eye(2) / 2, (1 - np.eye(2)) / 2
    >>> half = [np.full(2, 0.5)] * 3
    >>> largest_share(half, {(0, 1): same, (0, 2): same, (1, 2): same})
    1.0
    >>> 0.3 < largest_share(half, {(0, 1): same, (0, 2): same, (1, 2): other}) < 0.34  # at most a third
    True
    """
    share = 1.0
    while len(pairs) == 3 and share > _CLOSE:
        kept = {axes: towards_independence(pair, share) for axes, pair in pairs.items()}
        if _fitted(margins, kept) is not None:
            return share
        share *= _STEP
    return share if len(pairs) < 3 else 0.0


def towards_independence(pair: Array, share: float) -> Array:
    """A table of two features with so much of its departures from independence."""
    return pair if share == 1 else independent(pair) + share * (pair - independent(pair))


def with_pairs(table: Array, pairs: Mapping[Axes, Array]) -> Array:
    """A table of three features with the sums over one feature that are given, near to the one that is.

    Departures are replaced by those given; shares below 0 are moved to the nearest table that has none (Dykstra), whose
    sums iterative proportional fitting makes exact.

    >>> pair = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> with_pairs(np.full((2, 2, 2), 1 / 8), {(0, 1): pair}).sum(axis=2).round(9).tolist()
    [[0.4, 0.1], [0.1, 0.4]]
    """
    margins, wanted = margins_of(table), table
    for axes, pair in pairs.items():
        shape = [-1 if axis == _other(axes) else 1 for axis in range(3)]
        gap = np.expand_dims(pair - table.sum(axis=_other(axes)), _other(axes))
        wanted = wanted + gap * margins[_other(axes)].reshape(shape)
    base = _fitted(margins, pairs)
    if base is None or wanted.min() >= -_CLOSE:
        return np.asarray(np.maximum(wanted, 0.0))
    near = _fitted(margins, pairs, _nearest(wanted, pairs) + _LITTLE * base)
    return base if near is None else near


def _nearest(table: Array, pairs: Mapping[Axes, Array]) -> Array:
    """The nearest table with these sums and no share below 0, by alternating projections."""
    held = np.zeros_like(table)
    for _ in range(_ROUNDS):
        fitted = table
        for axes, pair in pairs.items():
            gap = pair - fitted.sum(axis=_other(axes))
            fitted = fitted + np.expand_dims(gap, _other(axes)) / table.shape[_other(axes)]
        table = np.maximum(fitted + held, 0.0)
        held = fitted + held - table
        if float(np.abs(table - fitted).max()) < _CLOSE:
            break
    return table


def _other(axes: Axes) -> int:
    """The axis that a table of two lacks."""
    return 3 - sum(axes)


def _fitted(margins: list[Array], pairs: Mapping[Axes, Array], start: Array | None = None) -> Array | None:
    """The table with these sums nearest to another, by iterative proportional fitting; None if they are not met.

    Without another the one of the largest entropy.
    """
    table = np.einsum("a,b,c->abc", *margins) if start is None else start
    for _ in range(_ROUNDS):
        off = 0.0
        for axes, pair in pairs.items():
            now = table.sum(axis=_other(axes))
            off = max(off, float(np.abs(now - pair).max()))
            factor = np.divide(pair, now, out=np.zeros_like(pair), where=now > 0)
            table = table * np.expand_dims(factor, _other(axes))
        if off < _CLOSE:
            return np.asarray(table)
    return None
