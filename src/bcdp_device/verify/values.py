"""The values of a plan's document, one by one: each is what its place may hold, or the document is refused."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from bcdp_device.errors import refuse

T = TypeVar("T")
LARGEST = sys.float_info.max
UNFILLED = "FILL"  # what an unfinished policy has in place of a word


def mapping(path: str, value: Any, required: Collection[str] | None = None, optional: Collection[str] = ()) -> Any:
    """The value itself, if it is an object with exactly the required keys (None: any) and perhaps optional ones."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise refuse(path, type(value).__name__, "an object")
    if required is not None and not set(required) <= set(value) <= {*required, *optional}:
        raise refuse(path, sorted(value), f"the keys {', '.join(required)}{', perhaps '.join(('', *optional))}")
    return value


def sequence(path: str, value: Any, least: int = 0) -> Sequence[Any]:
    """The value itself, if it is a list of at least so many entries."""
    if not isinstance(value, (list, tuple)) or len(value) < least:
        raise refuse(path, value, f"a list of at least {least} entries")
    return value


def text(path: str, value: Any) -> str:
    """The value itself, if it is text that a file can hold."""
    if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise refuse(path, value, "text, without half a surrogate pair")
    return value


def word(path: str, value: Any, least: int = 0) -> str:
    """The value itself, if it is text of at least so many letters that is not left to be filled in."""
    if len(text(path, value)) < least or value == UNFILLED:
        raise refuse(path, value, f"text of at least {least} letters, not {UNFILLED}")
    return str(value)


_CONTROLS = "\x00-\x09\x0b-\x1f\x7f-\x9f"  # a line may end
_IGNORABLE = (  # by Unicode: of no width, of direction, selectors of variants, tags; and separators and annotations
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(f"[{_CONTROLS}{_IGNORABLE}]")
_BOUND = re.compile(
    "(?<=[\u0620-\u0dff\u1000-\u109f\u1780-\u18af])[\u200c\u200d](?=[\u0620-\u0dff\u1000-\u109f\u1780-\u18af])"
)
_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
LONGEST_TEXT = 2000


def check_seen(path: str, value: Any) -> None:
    """Refuses a document with a text, or a key, of which a person would not see all, or not in its order.

    Joiners are seen by what they do between two letters of a script that joins letters, and nowhere else.
    """
    pending = [(path, value)]  # tasks may be nested deeper than functions may call themselves
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            rest = _BOUND.sub("", text(path, value))
            if _UNSEEN.search(rest) or "\u200c" in rest or "\u200d" in rest:
                raise refuse(path, value, "text without invisible letters, and without such that turn others round")
        elif isinstance(value, Mapping):
            inside = [part for key in value for part in ((path, key), (f"{path}.{key}", value[key]))]
            pending += inside[::-1]
        elif isinstance(value, (list, tuple)):
            pending += [(path, entry) for entry in value[::-1]]


def shown(path: str, value: Any) -> str:
    """The value itself, if it is a text for people that is not too long."""
    if len(word(path, value, 1)) > LONGEST_TEXT:
        raise refuse(path, value, f"text of 1 to {LONGEST_TEXT} letters")
    return str(value)


def languages(path: str, value: Any) -> Mapping[str, Any]:
    """The value itself, if it is an object with an entry for at least one language."""
    if not mapping(path, value) or not all(_LANGUAGE.fullmatch(key) for key in value):
        raise refuse(path, sorted(value), "the codes of languages, such as de or pt-BR")
    return dict(value)


def translations(path: str, value: Any) -> None:
    """Refuses what is neither null nor a text in each of some languages."""
    for language, text_ in languages(path, value).items() if value is not None else ():
        shown(f"{path}.{language}", text_)


def names(path: str, value: Any, known: Collection[str], least: int = 1) -> tuple[str, ...]:
    """The value as names, if it is a list of different ones that are known."""
    given = tuple(sequence(path, value, least))
    if not all(isinstance(name, str) and name in known for name in given) or len(set(given)) < len(given):
        raise refuse(path, value, f"different names among {', '.join(known)}")
    return given


def whole(path: str, value: Any, least: int, most: int) -> int:
    """The value itself, if it is a whole number within these bounds."""
    if type(value) is not int or not least <= value <= most:
        raise refuse(path, value, f"a whole number from {least} to {most}")
    return value


def number(path: str, value: Any, least: float = -math.inf) -> float:
    """The value as a float, if it is a finite number of at least so much."""
    finite = type(value) in (int, float) and abs(value) <= LARGEST  # no comparison rounds a whole number
    if not finite or value < least:
        raise refuse(path, value, "a finite number" + f" of at least {least:g}" * (least > -math.inf))
    return float(value)


def neighbours(values: Sequence[T]) -> Iterator[tuple[T, T]]:
    """Each value with the one after it."""
    return zip(values, values[1:])


def rising(path: str, value: Any, low: float, high: float) -> tuple[float, ...]:
    """The value as floats, if it is a list of numbers between these two, each above the one before it."""
    numbers = tuple(number(path, entry) for entry in sequence(path, value, 1))
    ends = (low, *numbers, high)
    if not all(previous < following for previous, following in neighbours(ends)):
        raise refuse(path, value, f"rising numbers above {low:g} and below {high:g}")
    return numbers


def share(path: str, value: Any) -> Fraction:
    """The value exactly, if it is a number from 0 to 1."""
    if not number(path, value, 0) <= 1:
        raise refuse(path, value, "a number from 0 to 1")
    return Fraction(value)


def at_least_1(path: str, value: Any) -> Fraction:
    """The value exactly, if it is a finite number of at least 1."""
    number(path, value, 1)
    return Fraction(value)
