"""Conditions as footnotes: stated once, and named by a letter wherever they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase

from bcdp.present.promise import NOTHING_ASSUMED


class Footnotes:
    """Conditions in the order in which they were first named, each with its letter.

    >>> notes = Footnotes()
    >>> notes.letter("if it rains"), notes.letter("if it rains"), notes.letter(NOTHING_ASSUMED)
    ('a', 'a', None)
    """

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def letter(self, condition: str) -> str | None:
        """The letter of a condition; None where nothing is assumed."""
        if condition == NOTHING_ASSUMED:
            return None
        return self._letters.setdefault(condition, _letters(len(self._letters)))

    @property
    def conditions(self) -> Mapping[str, str]:
        """The conditions that were named, by letter."""
        return {letter: condition for condition, letter in self._letters.items()}


def _letters(number: int) -> str:
    """a to z, aa, ab and so on, as lists with letters count."""
    first, last = divmod(number, len(ascii_lowercase))
    return (_letters(first - 1) if first else "") + ascii_lowercase[last]
