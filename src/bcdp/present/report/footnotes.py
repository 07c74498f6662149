"""Footnotes of the page: a letter that leads to its condition, and the list of conditions."""

from __future__ import annotations

from bcdp.present.footnotes import Footnotes
from bcdp.present.promise import NOTHING_ASSUMED
from bcdp.present.report.html import Html, joined


class LinkedFootnotes(Footnotes):
    """Footnotes whose letters are links.

    >>> LinkedFootnotes().cell("if it rains"), LinkedFootnotes().cell(NOTHING_ASSUMED)
    ('<a class="note" href="#condition-a">a</a>', 'nothing assumed')
    """

    def cell(self, condition: str) -> Html:
        """What stands for a condition in a table."""
        letter = self.letter(condition)
        if letter is None:
            return Html("nothing assumed")
        return Html(f'<a class="note" href="#condition-{letter}">{letter}</a>')

    def words(self, condition: str) -> Html:
        """What stands for a condition in a sentence."""
        if condition == NOTHING_ASSUMED:
            return joined([condition])
        return joined(["on condition ", self.cell(condition)])

    def listed(self) -> Html:
        """The conditions themselves; nothing where there are none."""
        items = (f'<li id="condition-{letter}">{joined([text])}.</li>' for letter, text in self.conditions.items())
        return Html(f'<ol class="notes">{"".join(items)}</ol>') if self.conditions else Html()
