"""The one error that a person sees: what was given, and what would be accepted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bcdp_device.errors import InputError, refuse

__all__ = ["IncompleteError", "InputError", "accepted", "expect", "install", "refuse"]

_KINDS = {
    "int": "a whole number, such as 50000",
    "float": "a number, such as 0.5",
    "finite": "a finite number",
    "bool": "true or false",
    "string": "text",
    "list": "a list",
    "tuple": "a list",
    "dict": "a mapping",
    "model": "a mapping",
    "missing": "a value for this key",
    "extra": "no such key",
}
_LIMITS = {"ge": "of at least", "gt": "above", "le": "of at most", "lt": "below"}


class IncompleteError(InputError):
    """Records without a value of a feature whose policy has no `missing` rule."""


def install(extra: str) -> str:
    """How to install what an extra brings. (On the package index `bcdp` is another project.)

    >>> install("plot")
    "pip install 'bcdp-privacy[plot]'"
    """
    return f"pip install 'bcdp-privacy[{extra}]'"


def expect(name: str, value: object, kind: type, accepted: str) -> None:
    """Refuses an argument of another kind by the name of its type: what it holds, perhaps people's data, is not shown.

    >>> expect("policy", {"epsilon": 1}, str, "text")
    Traceback (most recent call last):
    ...
    bcdp_device.errors.InputError: policy: got an object of type dict; accepted: text
    """
    if not isinstance(value, kind):
        raise InputError(f"{name}: got an object of type {type(value).__name__}; accepted: {accepted}")


def accepted(mistake: Mapping[str, Any]) -> str:
    """What one of pydantic's errors says would be accepted, in the house's words.

    >>> accepted({"type": "greater_than_equal", "msg": "Input should be greater than or equal to 1", "ctx": {"ge": 1}})
    'a number of at least 1'
    """
    limits = [f"a number {_LIMITS[key]} {limit}" for key, limit in mistake.get("ctx", {}).items() if key in _LIMITS]
    kind = _KINDS.get(mistake["type"].partition("_")[0])
    own = re.sub(r"^(Input should be|Value error, .* is not) (a valid )?|\.$", "", mistake["msg"])
    return next(iter(limits), kind or own)
