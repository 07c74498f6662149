"""Conditions as footnotes: stated once, and named by a letter wherever they are needed."""

from __future__ import annotations

from string import ascii_lowercase

from bcdp.present.promise import NOTHING_ASSUMED
from bcdp.present.report.html import Html, joined


class Footnotes:
    """The conditions that a page names, in the order in which they were first named.

    >>> notes = Footnotes()
    >>> notes.cell("if it rains"), notes.cell("if it rains"), notes.cell(NOTHING_ASSUMED)
    ('<a class="note" href="#condition-a">a</a>', '<a class="note" href="#condition-a">a</a>', 'nothing assumed')
    """

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def cell(self, condition: str) -> Html:
        """What stands for a condition in a table."""
        if condition == NOTHING_ASSUMED:
            return Html("nothing assumed")
        letter = self._letters.setdefault(condition, _letters(len(self._letters)))
        return Html(f'<a class="note" href="#condition-{letter}">{letter}</a>')

    def words(self, condition: str) -> Html:
        """What stands for a condition in a sentence."""
        if condition == NOTHING_ASSUMED:
            return joined([condition])
        return joined(["on condition ", self.cell(condition)])

    def listed(self) -> Html:
        """The conditions themselves; nothing where there are none."""
        items = (f'<li id="condition-{letter}">{joined([text])}.</li>' for text, letter in self._letters.items())
        return Html(f'<ol class="notes">{"".join(items)}</ol>') if self._letters else Html()


def _letters(number: int) -> str:
    """a to z, aa, ab and so on, as lists with letters count."""
    first, last = divmod(number, len(ascii_lowercase))
    return (_letters(first - 1) if first else "") + ascii_lowercase[last]
