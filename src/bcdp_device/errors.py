"""The one error that a person sees: what was given, and what would be accepted."""

from __future__ import annotations


class InputError(ValueError):
    """Input that cannot be used; the message names the field, its value and what is accepted.

    What is wrong with people's records is said without their values; `row` is the record's number in its table, from 1.

    >>> from bcdp_device import read_plan
    >>> try:
    ...     read_plan("{}")
    ... except InputError as mistake:
    ...     print(mistake)
    bcdp: got None; accepted: the version of the plan's format, 1
    """

    row: int | None = None


def refuse(name: str, value: object, accepted: str) -> InputError:
    """An `InputError` in the house's form, to be raised.

    >>> refuse("delta", -1, "a number of at least 0")
    InputError('delta: got -1; accepted: a number of at least 0')
    """
    shown = repr(value)
    if len(shown) > 200:
        shown = shown[:197] + "..."
    return InputError(f"{name}: got {shown}; accepted: {accepted}")
