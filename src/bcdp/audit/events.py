"""Which event about the output separates two hypotheses about the record best: looked for, not yet believed.

Outputs fall into cells: single symbols, or bins of a projection of vectors. Cells sorted by their likelihood ratio make
every good test (Neyman and Pearson), and the event is the first so many of them. What comes out here was chosen for
looking good, so it has to be judged on other runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.special import ndtri

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Outputs = npt.NDArray[Any]  # whole numbers, or rows of floats

MOST_VECTOR_PAIRS = 12
MOST_COORDINATES = 8
_BINS = 32
_HUGE = 1e100
_BATCH_CELLS = 2**20


class Cells(Protocol):
    """A partition of the outputs."""

    @property
    def size(self) -> int:
        """How many cells there are, what was never seen before apart."""

    def of(self, outputs: Outputs) -> Integers:
        """The cell of each output, from 0 to `size`; `size` is for what was never seen before."""


@dataclass(frozen=True)
class Symbols:
    """Every output that was seen is a cell of its own."""

    known: Integers

    @property
    def size(self) -> int:
        return len(self.known)

    def of(self, outputs: Outputs) -> Integers:
        position = np.minimum(np.searchsorted(self.known, outputs), len(self.known) - 1)
        return np.where(self.known[position] == outputs, position, len(self.known))


@dataclass(frozen=True)
class Bins:
    """Intervals of a linear projection."""

    direction: Array
    edges: Array

    @property
    def size(self) -> int:
        return len(self.edges) + 1

    def of(self, outputs: Outputs) -> Integers:
        return np.asarray(np.searchsorted(self.edges, outputs @ self.direction, side="right"))


@dataclass(frozen=True)
class Choice:
    """Two hypotheses, the likelier one first, and an event: the `accepted` cells of the highest likelihood ratio."""

    hypotheses: tuple[int, int]
    cells: Cells
    rank: Integers
    accepted: int
    promise: float

    def ranks(self, outputs: Outputs) -> Integers:
        """The place of each output's cell in the order of likelihood ratios; the event is a place below `accepted`."""
        return np.append(self.rank, self.cells.size)[self.cells.of(outputs)]


def observed(outputs: npt.NDArray[Any]) -> Outputs:
    """The outputs as whole numbers, or as rows of finite floats with their length and whether they were finite."""
    if outputs.ndim == 1 and outputs.dtype.kind in "iu":
        return outputs.astype(np.int64)
    rows = outputs.reshape(len(outputs), -1).astype(np.float64)
    strange = ~np.isfinite(rows).all(axis=1, keepdims=True)
    finite = np.clip(np.nan_to_num(rows), -_HUGE, _HUGE)
    return np.concatenate([finite, np.linalg.norm(finite, axis=1, keepdims=True), strange], axis=1)


def choose(hypotheses: Integers, outputs: Outputs, pairs: Sequence[tuple[int, int]], risk: float) -> Choice | None:
    """The pair of hypotheses and the event with the best prospects of a high limit at this risk, if there are any."""
    present, row = np.unique(hypotheses, return_inverse=True)
    positions = {int(value): number for number, value in enumerate(present)}
    possible = [(a, b) for a, b in pairs if a in positions and b in positions]
    choices: list[Choice] = []
    if outputs.ndim == 1:
        symbols = Symbols(np.unique(outputs))
        counts = _counts(row, len(present), symbols.of(outputs), symbols.size)
        step = max(1, _BATCH_CELLS // symbols.size)
        for part in (possible[start : start + step] for start in range(0, len(possible), step)):
            sides = np.array([[positions[a], positions[b]] for a, b in part])
            choices.append(_best_event(part, symbols, counts[sides[:, 0]], counts[sides[:, 1]], risk))
    else:
        for a, b in _apart(outputs, row, positions, possible):
            either = (hypotheses == a) | (hypotheses == b)
            side, seen = (hypotheses[either] == b).astype(np.int64), outputs[either]
            for direction in _directions(seen, side):
                bins = Bins(direction, _edges(seen @ direction))
                counts = _counts(side, 2, bins.of(seen), bins.size)
                choices.append(_best_event([(a, b), (b, a)], bins, counts, counts[::-1], risk))
    return max(choices, key=lambda choice: choice.promise, default=None)


def _counts(row: Integers, rows: int, cell: Integers, cells: int) -> Integers:
    return np.bincount(row * cells + cell, minlength=rows * cells).reshape(rows, cells)


def _best_event(
    pairs: Sequence[tuple[int, int]], cells: Cells, likelier: Integers, other: Integers, risk: float
) -> Choice:
    """The pair, and its first so many cells sorted by likelihood ratio, with the highest estimated limit.

    `likelier` and `other` count the cells under the two hypotheses, a row for each pair.
    """
    totals = likelier.sum(axis=1, keepdims=True), other.sum(axis=1, keepdims=True)
    # half a count more on both sides keeps a cell that was seen once from looking like a proof
    order = np.argsort(-((likelier + 0.5) / totals[0]) / ((other + 0.5) / totals[1]), axis=1, kind="stable")
    low, high = (
        _wilson(np.take_along_axis(counts, order, axis=1).cumsum(axis=1), total, sign * float(ndtri(1 - risk / 2)))
        for counts, total, sign in ((likelier, totals[0], -1), (other, totals[1], 1))
    )
    with np.errstate(divide="ignore"):
        promise = np.log(np.maximum(low, 0.0)) - np.log(high)
    best, last = (int(index) for index in np.unravel_index(promise.argmax(), promise.shape))
    return Choice(pairs[best], cells, np.argsort(order[best]), last + 1, float(promise[best, last]))


def _wilson(hits: Integers, runs: Integers, z: float) -> Array:
    """Wilson's limit of a rate: quick and nearly right, which is enough to choose by."""
    rate, square = hits / runs, z * z / runs
    return np.asarray(
        (rate + square / 2 + np.copysign(1, z) * np.sqrt(square * (rate * (1 - rate) + square / 4))) / (1 + square)
    )


def _apart(
    outputs: Array, row: Integers, positions: dict[int, int], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The few pairs, in one order each, whose mean outputs lie farthest apart for their spread."""
    totals = np.bincount(row)
    means = np.stack([np.bincount(row, weights=column) / totals for column in outputs.T], axis=1)
    spread = outputs.std(axis=0)
    scaled = means / np.where(spread > 0, spread, 1.0)
    once = [(a, b) for a, b in pairs if a < b]
    return sorted(once, key=lambda pair: -float(np.abs(scaled[positions[pair[0]]] - scaled[positions[pair[1]]]).max()))[
        :MOST_VECTOR_PAIRS
    ]


def _directions(outputs: Array, side: Integers) -> list[Array]:
    """Projections to look at: Fisher's linear discriminant, and the first and the last coordinates."""
    width = outputs.shape[1]
    centred = outputs - outputs.mean(axis=0)
    spread = centred.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    normal = centred / scale
    covariance = normal.T @ normal / len(normal) + 1e-6 * np.eye(width)
    gap = normal[side == 0].mean(axis=0) - normal[side == 1].mean(axis=0)
    coordinates = [*range(min(width - 2, MOST_COORDINATES)), width - 2, width - 1]
    return [np.linalg.solve(covariance, gap) / scale, *np.eye(width)[coordinates]]


def _edges(scores: Array) -> Array:
    """Edges between bins that hold about equally many of the scores."""
    return np.unique(np.quantile(scores, np.arange(1, _BINS) / _BINS))
