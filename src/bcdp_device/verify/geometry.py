"""Projective geometries over a prime field: which hyperplane a word draws, and the weights of every hyperplane.

A hyperplane's number counts the vectors whose first coordinate that is not 0 is 1, short ones first; a point has the
coordinates of the hyperplane of its number, in reverse order. A point is on a hyperplane if their product is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from bcdp_device.errors import refuse
from bcdp_device.verify.values import whole

TOTAL = 2**32
LARGEST_FIELD = 127
MOST_HYPERPLANES = 2**23
MOST_POINTS = 2**20
MOST_DIMENSIONS = 24


def space(field: int, dimension: int) -> int:
    """How many points, and hyperplanes, a space of this dimension has."""
    return sum(field**power for power in range(dimension))


def read_projective(path: str, stated: Mapping[str, Any]) -> tuple[int, int]:
    """How many levels and symbols the table has, every number of it checked."""
    levels = whole(f"{path}.levels", stated["levels"], 2, MOST_POINTS)
    field = whole(f"{path}.field", stated["field"], 2, LARGEST_FIELD)
    if any(field % other == 0 for other in range(2, field)):
        raise refuse(f"{path}.field", field, "a prime number")
    dimension = whole(f"{path}.dimension", stated["dimension"], 2, MOST_DIMENSIONS)
    planes, through = space(field, dimension), space(field, dimension - 1)
    if not levels <= planes <= MOST_HYPERPLANES:
        raise refuse(f"{path}.dimension", dimension, f"one with {levels} to {MOST_HYPERPLANES} hyperplanes")
    low = whole(f"{path}.low", stated["low"], 1, TOTAL)
    high = whole(f"{path}.high", stated["high"], low, TOTAL)
    if through * high + (planes - through) * low > TOTAL:
        raise refuse(f"{path}.high", high, f"weights of which each input has at most {TOTAL} in all")
    return levels, planes + 1


def projective_columns(stated: Mapping[str, Any]) -> Iterator[tuple[int, ...]]:
    """The weights of every symbol over all levels; the last one is silence."""
    field, dimension, high, low = (stated[key] for key in ("field", "dimension", "high", "low"))
    points = [list(reversed(vector(field, dimension, number))) for number in range(stated["levels"])]
    for number in range(space(field, dimension)):
        plane = vector(field, dimension, number)
        products = (sum(a * b for a, b in zip(point, plane)) for point in points)
        yield tuple(low if product % field else high for product in products)
    planes, through = space(field, dimension), space(field, dimension - 1)
    yield (TOTAL - through * high - (planes - through) * low,) * len(points)


def overlap_ends(stated: Mapping[str, Any]) -> tuple[float, float]:
    """`sum_y W(x,y) W(x',y) / w(y)` of a row with itself, and of two rows: hyperplanes through both, one or neither."""
    field, dimension, high, low = (stated[key] for key in ("field", "dimension", "high", "low"))
    planes, through, both = (space(field, dimension - less) for less in range(3))
    silence = TOTAL - through * high - (planes - through) * low
    same = Fraction(through * high**2, low) + (planes - through) * low + silence
    different = (
        Fraction(both * high**2, low) + 2 * (through - both) * high + (planes - 2 * through + both) * low + silence
    )
    return float(same / TOTAL), float(different / TOTAL)


def vector(field: int, dimension: int, number: int) -> list[int]:
    """The coordinates of a hyperplane."""
    length = 0
    while number >= field**length:
        number -= field**length
        length += 1
    digits = [number // field**power % field for power in reversed(range(length))]
    return [0] * (dimension - 1 - length) + [1] + digits


def drawn_hyperplane(stated: Mapping[str, Any], entered: int, word: int) -> int:
    """The symbol that a word draws: first come those of the input's hyperplanes, then all others, then silence."""
    field, dimension, high, low = (stated[key] for key in ("field", "dimension", "high", "low"))
    planes, through = space(field, dimension), space(field, dimension - 1)
    point = list(reversed(vector(field, dimension, entered)))
    if word < through * high:
        return _numbered(field, point, word // high, holding=True)
    index = (word - through * high) // low
    return _numbered(field, point, index, holding=False) if index < planes - through else planes


def _numbered(field: int, point: Sequence[int], index: int, holding: bool) -> int:
    """The hyperplane with an index among those that hold the point, or among those that do not.

    The point's last coordinate that is not 0 is 1. First come hyperplanes whose coordinates before it are all 0: of
    those that hold the point it is 0 too, of the others 1. Then, for each direction of these coordinates and each value
    of the product with the point, those with any coordinates after it.
    """
    pivot = max(axis for axis, coordinate in enumerate(point) if coordinate)
    after = len(point) - 1 - pivot
    ways = field**after
    simple = space(field, after) if holding else ways
    if index < simple:
        return index if holding else space(field, after) + index
    direction, follows = divmod(index - simple, ways)
    first, product = (direction, 0) if holding else (direction // (field - 1), direction % (field - 1) + 1)
    begun = vector(field, pivot, first)
    at = (product - sum(a * b for a, b in zip(point, begun))) % field
    return int(space(field, after + 1) + (first * field + at) * ways + follows)
