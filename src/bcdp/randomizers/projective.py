"""Hyperplanes of a projective geometry: the answer for very many inputs at any budget (theory.md, 4.25).

Projective geometry response (Feldman, Nelson, Nguyen and Talwar 2022). Inputs are points of PG(t-1, g), answers its
hyperplanes. A hyperplane is likelier from its own points than from all others, always by the same factor. Nothing of
size inputs times answers is stored: which points and hyperplanes meet is arithmetic on their numbers.

Hyperplane y has the coordinates 0, .., 0, 1, e_1, .., e_u, where `y = P(u) + (e_1 .. e_u in base g)` and
`P(n) = (g^n - 1) / (g - 1)`. Point x has those of hyperplane x in reverse order. So point x is on hyperplane y if and
only if point y is on hyperplane x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError, refuse
from bcdp.exact import MOST_CELLS, TOTAL, Floats, Integers, Words, check_whole, exp_down, log_up
from bcdp.randomizers.dense import Dense, written_out
from bcdp.randomizers.protocol import (
    Symbols,
    alike,
    check_counts,
    check_input,
    check_inputs,
    check_target,
    undecodable,
)

LARGEST_FIELD = 127  # beyond a budget of log(126) = 4.8, randomized response is as good
MOST_HYPERPLANES = 2**23
MOST_POINTS = 2**20  # inputs
_WRITTEN_OUT = 1024  # inputs up to which tables stay small enough to be audited weight by weight
_ROOM = 32  # hyperplanes for each input, beyond


@dataclass(frozen=True)
class Projective:
    """A random hyperplane: each that holds the point of the true input has `high` words, each other one `low`.

    Order of sampling: the words of the `r` hyperplanes through the point come first, then those of the others, then
    silence, the last symbol, which has the words that are left at every input. `numbered` has the order in each part.

    >>> table = Projective(levels=5, field=2, dimension=3, high=2**30, low=2**28)
    >>> table.symbols, table.row(0).tolist().count(2**30), table.ratio
    (8, 3, Fraction(4, 1))
    """

    levels: int
    field: int
    dimension: int
    high: int
    low: int

    def __post_init__(self) -> None:
        check_whole("levels", self.levels, 2, MOST_POINTS)
        check_whole("field", self.field, 2, LARGEST_FIELD)
        if not is_prime(self.field):
            raise refuse("field", self.field, f"a prime of at most {LARGEST_FIELD}")
        check_whole("dimension", self.dimension, 2, MOST_HYPERPLANES.bit_length())
        if not self.levels <= self.hyperplanes <= MOST_HYPERPLANES:
            raise refuse("dimension", self.dimension, f"one with {self.levels} to {MOST_HYPERPLANES} hyperplanes")
        check_whole("low", self.low, 1, TOTAL)
        check_whole("high", self.high, self.low, TOTAL)
        if self.silence < 0:
            raise InputError(
                f"high: the hyperplanes have {TOTAL - self.silence} words; accepted: at most {TOTAL} in all"
            )

    @property
    def hyperplanes(self) -> int:
        """How many hyperplanes there are, and points."""
        return count(self.field, self.dimension)

    @property
    def through(self) -> int:
        """How many hyperplanes hold a point."""
        return count(self.field, self.dimension - 1)

    @property
    def silence(self) -> int:
        """How many words say nothing."""
        return TOTAL - self.through * self.high - (self.hyperplanes - self.through) * self.low

    @property
    def symbols(self) -> int:
        return self.hyperplanes + 1

    @property
    def ratio(self) -> Fraction:
        # some hyperplane holds the first point and not the second
        return Fraction(self.high, self.low)

    @property
    def level(self) -> float:
        return log_up(self.ratio)

    @property
    def second_moment(self) -> float:
        if self.high == self.low:
            return math.inf
        miss, contrast = self._chances
        own = (miss + contrast) * (1 - 2 * miss) + miss**2
        return (own + (self.levels - 1) * miss * (1 - miss)) / contrast**2

    @property
    def overlaps(self) -> tuple[float, float]:
        high, low, silence = self.high, self.low, self.silence
        both = count(self.field, self.dimension - 2)  # hyperplanes through two points
        either, neither = self.through - both, self.hyperplanes - 2 * self.through + both
        same = Fraction(self.through * high**2, low) + (self.hyperplanes - self.through) * low + silence
        different = Fraction(both * high**2, low) + 2 * either * high + neither * low + silence
        return float(same / TOTAL), float(different / TOTAL)

    @property
    def largest_weights(self) -> Integers:
        return np.append(np.full(self.hyperplanes, self.high), self.silence)

    def row(self, given: int) -> Integers:
        held = holds(self.field, self.dimension, check_input(self, given), np.arange(self.hyperplanes))
        return np.append(np.where(held, self.high, self.low), self.silence).astype(np.int64)

    def dense(self) -> Dense:
        return written_out(self)

    def sample(self, inputs: npt.NDArray[Any], words: Words) -> Symbols:
        check_inputs(self, inputs, words)
        word, likely = words.astype(np.int64), self.through * self.high
        holding = word < likely
        index = np.where(holding, word // self.high, (word - likely) // self.low)
        silent = word >= TOTAL - self.silence
        symbol = numbered(self.field, self.dimension, inputs.astype(np.int64), np.where(silent, 0, index), holding)
        return np.where(silent, self.hyperplanes, symbol).astype(np.uint32)

    def decode(self, target: npt.ArrayLike) -> Floats:
        values = check_target(self, target)
        columns = values.reshape(self.levels, -1)
        decoded = np.stack([self._decoded(column) for column in columns.T], axis=1)
        return decoded.reshape((self.symbols, *values.shape[1:]))

    def frequencies(self, counts: npt.ArrayLike) -> Floats:
        checked, total = check_counts(self, counts)
        miss, contrast = self._decodable_chances()
        held = np.rint(incident_sums(self.field, self.dimension, checked[:-1].astype(np.float64)))
        return np.asarray((held[: self.levels] / total - miss) / contrast)

    def indicator_moments(self) -> tuple[Floats, Floats]:
        return alike(self)

    def second_moments(self, target: npt.ArrayLike) -> Floats:
        squares = self._decoded(check_target(self, target, dimensions=(1,))) ** 2
        held = incident_sums(self.field, self.dimension, squares[:-1])[: self.levels]
        rest = self.low * squares[:-1].sum() + self.silence * squares[-1]
        return np.asarray(((self.high - self.low) * held + rest) / TOTAL)

    def to_dict(self) -> dict[str, Any]:
        own = ("levels", "field", "dimension", "high", "low")
        return {"family": "projective", **{name: getattr(self, name) for name in own}}

    @property
    def _chances(self) -> tuple[float, float]:
        """The probability that the answer holds a given other input, and by how much likelier it holds the true one."""
        both = count(self.field, self.dimension - 2)
        miss = both * self.high + (self.through - both) * self.low
        return miss / TOTAL, (self.through - both) * (self.high - self.low) / TOTAL

    def _decodable_chances(self) -> tuple[float, float]:
        if self.high == self.low:
            raise undecodable(self)
        return self._chances

    def _decoded(self, values: Floats) -> Floats:
        miss, contrast = self._decodable_chances()
        points = np.zeros(self.hyperplanes)
        points[: self.levels] = values
        held = np.append(incident_sums(self.field, self.dimension, points), 0.0)
        return np.asarray((held - miss * values.sum()) / contrast)


def count(field: int, dimension: int) -> int:
    """`P(n)`: how many points a space of this dimension has over the field.

    >>> count(3, 3), count(3, 0)
    (13, 0)
    """
    return int((field**dimension - 1) // (field - 1))


def is_prime(number: int) -> bool:
    """Whether nothing between 1 and the number divides it."""
    return number > 1 and all(number % other for other in range(2, math.isqrt(number) + 1))


def numbered(field: int, dimension: int, points: Integers, index: Integers, holding: npt.NDArray[np.bool_]) -> Integers:
    """The hyperplane of a given index among those that hold a point, or else among those that do not.

    Of point x with `P(s) <= x < P(s+1)` the last coordinate that is not 0 is number s, and is 1. A hyperplane is its
    first s coordinates, the one there, and the rest. If the first are 0, the one there is 0 or 1. Else they are the
    n-th of `P(s)`, and the one there is what makes the product with the point as wanted.
    """
    powers = np.array([field**n for n in range(dimension + 1)])
    spaces = np.array([count(field, n) for n in range(dimension + 1)])
    pivot = np.searchsorted(spaces, points, side="right") - 1
    rest = powers[dimension - 1 - pivot]  # how many ways to go on after coordinate s
    simple = spaces[dimension - 1 - pivot]
    later = np.where(holding, index - simple, index - rest)  # among those whose first coordinates are not all 0
    position, follows = later // rest, later % rest
    first = np.where(holding, position, position // (field - 1))
    product = np.where(holding, 0, position % (field - 1) + 1)
    at = (product - _inner(field, dimension, (points, pivot), np.where(later < 0, 0, first))) % field
    general = spaces[dimension - pivot] + (first * field + at) * rest + follows
    begun_with_0 = np.where(holding, index, simple + index)
    return np.asarray(np.where(later < 0, begun_with_0, general))


def _inner(field: int, dimension: int, points: tuple[Integers, Integers], first: Integers) -> Integers:
    """The product of the first s coordinates of points with those of a hyperplane, which have number `first`."""
    powers = np.array([field**n for n in range(dimension + 1)])
    spaces = np.array([count(field, n) for n in range(dimension + 1)])
    numbers, pivot = points
    own = numbers - spaces[pivot]
    length = np.searchsorted(spaces, first, side="right") - 1
    code = first - spaces[length] + powers[length]
    total = np.zeros_like(first)
    for position in range(dimension - 1):
        coordinate = own // powers[np.maximum(pivot - 1 - position, 0)] % field
        total += np.where(position < pivot, code // powers[position] % field * coordinate, 0)
    return total


def holds(field: int, dimension: int, point: int, hyperplanes: Integers) -> npt.NDArray[np.bool_]:
    """Which hyperplanes hold a point: their product is 0."""
    spaces = [count(field, n) for n in range(dimension + 1)]
    lengths = np.searchsorted(spaces, hyperplanes, side="right") - 1
    codes = hyperplanes - np.array(spaces)[lengths] + np.array([field**n for n in range(dimension + 1)])[lengths]
    pivot = int(np.searchsorted(spaces, point, side="right")) - 1
    own = point - spaces[pivot] + field**pivot  # its coordinates from the first on, the last of them 1
    total = np.zeros_like(codes)
    for position in range(dimension):
        total += codes // field ** (dimension - 1 - position) % field * (own // field**position % field)
    return np.asarray(total % field == 0)


def incident_sums(field: int, dimension: int, values: Floats) -> Floats:
    """For each point the sum of the values of the hyperplanes that hold it, in n log n steps.

    Hyperplanes whose first coordinate is 1 are all vectors of the others. Their sums by the product with these others
    are inverse transforms, along the multiples of a point, of the Fourier transform over the field. The hyperplanes
    whose first coordinate is 0 are those of the space of one dimension less.

    >>> incident_sums(3, 2, np.array([1.0, 10.0, 100.0, 1000.0])).round(6).tolist()
    [1.0, 10.0, 1000.0, 100.0]
    """
    if dimension == 1:
        return np.zeros(1)  # no hyperplane of a point holds it
    below = count(field, dimension - 1)
    smaller = incident_sums(field, dimension - 1, values[:below])
    transform = np.fft.fftn(values[below:].reshape((field,) * (dimension - 1))).ravel()
    result = np.empty(len(values))
    result[0] = values[:below].sum()  # the point 1, 0, .., 0
    multiples = [_multiples(field, dimension - 1, factor) for factor in range(field)]
    for pivot in range(dimension - 1):
        start, size = count(field, pivot), field**pivot
        position = field ** (dimension - 2 - pivot)
        along = np.stack(
            [transform[position * factor + codes[pivot]] for factor, codes in enumerate(multiples)], axis=1
        )  # at each multiple of the point's other coordinates
        by_product = np.fft.ifft(along, axis=1).real[:, (-np.arange(field)) % field]  # the product is minus the first
        block = by_product + smaller[start : start + size, None]
        result[count(field, pivot + 1) : count(field, pivot + 2)] = block.ravel()
    return result


def _multiples(field: int, dimension: int, factor: int) -> list[Integers]:
    """For each length the vectors of so many first coordinates, times a factor, as places in an array of the space."""
    codes = [np.zeros(1, dtype=np.int64)]
    for length in range(dimension - 1):
        digit = factor * np.arange(field) % field * field ** (dimension - 1 - length)
        codes.append((digit[:, None] + codes[-1]).ravel())
    return codes


def projective(levels: int, budget: float, most: int = MOST_HYPERPLANES) -> Projective:
    """The geometry of least second moment within the budget; refused where integers cannot express it.

    It has at most so many hyperplanes.

    >>> table = projective(10_000, 2.0)
    >>> table.level <= 2.0, table.field, table.dimension
    (True, 7, 6)
    """
    check_whole("levels", levels, 2, MOST_POINTS)
    shapes = [shape for shape in geometries(levels) if count(*shape) <= most]
    if not shapes:
        raise refuse("most", most, f"as many hyperplanes as hold {levels} points")
    field, dimension = min(shapes, key=lambda shape: _ideal_moment(levels, budget, *shape))
    total, held = count(field, dimension), count(field, dimension - 1)
    bound = exp_down(budget)
    low = math.floor(TOTAL / (held * bound + total - held))
    high = math.floor(low * bound)
    if low < 1:
        raise refuse("budget", budget, "one that integer weights can keep")
    return Projective(levels=levels, field=field, dimension=dimension, high=high, low=low)


@lru_cache(maxsize=4096)
def geometries(levels: int) -> tuple[tuple[int, int], ...]:
    """The fields and dimensions with at least so many points and not too many hyperplanes, each field's smallest."""
    most = MOST_CELLS // levels - 1 if levels <= _WRITTEN_OUT else min(MOST_HYPERPLANES, _ROOM * levels)
    shapes = []
    for field in filter(is_prime, range(2, LARGEST_FIELD + 1)):
        dimension = next(n for n in range(2, 25) if count(field, n) >= levels)
        if count(field, dimension) <= most:
            shapes.append((field, dimension))
    return tuple(shapes)


def projective_moment(levels: int, budget: Floats) -> Floats:
    """The least total second moment over the geometries at each budget, before rounding."""
    moments = [_ideal_moment(levels, budget, *shape) for shape in geometries(levels)]
    return np.asarray(np.minimum.reduce(moments))


def _ideal_moment(levels: int, budget: Any, field: int, dimension: int) -> Any:
    total, held, both = (count(field, dimension - n) for n in range(3))
    ratio = np.exp(budget)
    words = held * ratio + total - held
    hit, miss = held * ratio / words, (both * ratio + held - both) / words
    own = hit * (1 - miss) ** 2 + (1 - hit) * miss**2
    with np.errstate(divide="ignore"):
        return (own + (levels - 1) * miss * (1 - miss)) / (hit - miss) ** 2
