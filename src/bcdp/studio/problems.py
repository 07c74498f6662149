"""The problems of a policy, each at its field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bcdp.errors import InputError
from bcdp.policy import Policy

_PART = re.compile(r"'((?:[^'\\]|\\.)*)'|\[(\d+)\]|([^.\[\]']+)")


def problems_in(text: str) -> list[dict[str, Any]]:
    """The sentences of a refusal, each with the keys that lead to its field.

    >>> problems_in("features.age.bounds: got [5, 1]; accepted: two finite numbers, low < high")[0]["path"]
    ['features', 'age', 'bounds']
    """
    return [_problem(line) for line in text.splitlines()]


def _problem(line: str) -> dict[str, Any]:
    where, separator, rest = line.partition(": got ")
    if not separator:
        return {"path": [], "sentence": line}
    path = [int(number) if number else quoted or plain for quoted, number, plain in _PART.findall(where)]
    return {"path": path, "sentence": f"got {rest}"}


def problems_of(document: object) -> list[dict[str, Any]]:
    """What is wrong with a policy; nothing if it can be planned as far as its words say."""
    try:
        Policy.parse(document if isinstance(document, Mapping) else None)
    except InputError as error:
        return problems_in(str(error))
    return []
