"""The values of a feature as a plan states them: a list, or whole numbers from one to another; scores and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bcdp_device.errors import refuse
from bcdp_device.verify.lists import MOST_ITEMS
from bcdp_device.verify.values import languages, mapping, neighbours, number, sequence, shown, whole, word

LARGEST_WHOLE = 2**53 - 1
MOST_VALUES = 2**20  # whole numbers from one to another
MOST_LISTED = 100_000
SIZES = {
    "binary": (2, 2),
    "categorical": (1, MOST_LISTED),
    "ordinal": (2, 100),
    "multiple": (2, MOST_ITEMS),
    "open": (1, 10_000),
}


def read_values(path: str, kind: str, stated: Any) -> Sequence[Any]:
    """The values as a list, or as a range where they are too many whole numbers."""
    least, most = SIZES[kind]
    if isinstance(stated, Mapping) and kind in ("categorical", "ordinal"):
        ends = sequence(f"{path}.integers", mapping(path, stated, ("integers",))["integers"], 2)
        first, last = (whole(f"{path}.integers", end, -LARGEST_WHOLE, LARGEST_WHOLE) for end in ends[:2])
        if len(ends) > 2 or not 1 <= last - first < (most if kind == "ordinal" else MOST_VALUES):
            raise refuse(path, stated, "two whole numbers, the first below the last, and not too many between them")
        between = range(first, last + 1)
        return between if len(between) > most else tuple(between)
    values = tuple(sequence(path, stated, least))
    for value in values:
        if type(value) is int:
            whole(path, value, -LARGEST_WHOLE, LARGEST_WHOLE)
        elif not isinstance(value, bool):
            word(path, value, 1)
    spelled = {str(value).lower() if isinstance(value, bool) else str(value) for value in values}
    different = len(spelled) == len(set(values)) == len(values)  # 1 is "1" in a file, and equal to true
    if not different or len(values) > most:
        raise refuse(path, stated, f"{least} to {most} different values")
    return values


def check_scores(path: str, stated: Any, size: int) -> None:
    """Refuses what is not one rising number for each value."""
    scores = [number(path, score) for score in sequence(path, stated)]
    rising = all(low < high for low, high in neighbours(scores))
    if len(scores) != size or not rising or scores[-1] - scores[0] == float("inf"):
        raise refuse(path, stated, f"{size} rising numbers, one for each value")


def check_value_labels(path: str, stated: Any, size: int) -> None:
    """Refuses what is not, in each of some languages, one text for each value."""
    for language, listed in languages(path, stated).items():
        texts = [shown(f"{path}.{language}", text) for text in sequence(f"{path}.{language}", listed)]
        if not len(set(texts)) == len(texts) == size:
            raise refuse(f"{path}.{language}", listed, f"{size} different texts, one for each value")
