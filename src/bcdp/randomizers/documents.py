"""Tables as plain JSON, read back with every number checked."""

from __future__ import annotations

from typing import Any

from bcdp.errors import InputError, refuse
from bcdp.randomizers.dense import Dense
from bcdp.randomizers.hadamard import Hadamard
from bcdp.randomizers.projective import Projective
from bcdp.randomizers.protocol import Table
from bcdp.randomizers.response import Response
from bcdp.randomizers.waves import Waves

_FIELDS = {
    "dense": {"weights"},
    "response": {"levels", "keep", "other"},
    "hadamard": {"levels", "order", "keep"},
    "waves": {"levels", "waves"},
    "projective": {"levels", "field", "dimension", "high", "low"},
}
_CLASSES: dict[str, type[Response | Hadamard | Waves | Projective]] = {
    "response": Response,
    "hadamard": Hadamard,
    "waves": Waves,
    "projective": Projective,
}


def table_from_dict(document: Any) -> Table:
    """The table that `to_dict` wrote; anything that is not a complete and valid table is refused.

    >>> table_from_dict({"family": "response", "levels": 2, "keep": 3 * 2**30, "other": 2**30}).ratio
    Fraction(3, 1)
    """
    if not isinstance(document, dict):
        raise refuse("table", document, "an object with a family")
    family = document.get("family")
    if not isinstance(family, str) or family not in _FIELDS:
        raise refuse("family", family, "one of " + ", ".join(_FIELDS))
    fields = {name: value for name, value in document.items() if name != "family"}
    if set(fields) != _FIELDS[family]:
        given = ", ".join(sorted(map(str, fields)))
        raise InputError(
            f"table: a {family} table with the fields {given or 'none'}; "
            f"accepted: exactly {', '.join(sorted(_FIELDS[family]))}"
        )
    if family in _CLASSES:
        return _CLASSES[family](**fields)
    _check_rows(fields["weights"])
    return Dense(fields["weights"])


def _check_rows(rows: Any) -> None:
    """Refuses what an array would silently convert: bools, floats, and rows of different lengths."""
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        raise refuse("weights", rows, "a list of rows, each a list of integers")
    if any(len(row) != len(rows[0]) for row in rows):
        raise refuse("weights", rows, "rows of one length")
    for row in rows:
        for weight in row:
            if type(weight) is not int:
                raise refuse("weights", weight, "integers only")
