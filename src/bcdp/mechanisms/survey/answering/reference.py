"""What a person's device does: draw a menu, answer its questions through the plan's tables, always send.

The menu is drawn before anything is looked at, every report has the same shape, and every random choice reads the next
32-bit word of the record: word 0 draws the menu; then, for each question of the menu, one word per feature (to round a
number at random; other features, and numbers that enter by steps, ignore theirs) and one word for the table. Where no
answer is a value of its own, it is the last input, and a number is rounded to the others.

In a block a follow-up that is not asked has its last digit. The input is the number of the combination of digits among
those that can occur.

A question of kind "product" has the same words, and the first of them rounds its one number `v` at random; the word of
a second feature is not used. With binary features worth `2 code - 1`, categorical ones 1 where the code is the
question's category and -1 elsewhere, and numbers as they are: `v = x y`, or `v = 2 (x x) - 1` for a single feature.

A question of kind "change" reads one word for each value that its feature may have now, and nothing else: that of the
value that it has draws the symbol.

If every menu is a message of its own, none is drawn: all of them are answered one after the other, with the words that
one menu with all their questions would read.

The draw does not depend on the record (theory.md, Theorem 2). A number is rounded at random to an input of the
table, which needs no exactness (Theorem 4); menus and symbols are chosen by integers out of 2^32.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bcdp.exact import Words
from bcdp.plan import Plan
from bcdp.plan.messages import sends_all
from bcdp.questions import input_of
from bcdp.randomizers.intervals import Intervals
from bcdp.randomness import RecordWords
from bcdp.records.encoding import Codes


def answers(
    plan: Plan, codes: Mapping[str, Codes], words: RecordWords, assigned: Words | None = None
) -> tuple[Words, Words]:
    """The menu and the answer of each record: a function of the plan, the codes and the words, nothing else.

    If every menu is a message of its own: those of all records for the first menu, then for the next. Menus that were
    `assigned` are not drawn; the first word is not used then.
    """
    if sends_all(plan):
        return _all_answers(plan, codes, words)
    drawing = _drawing(tuple(menu.weight for menu in plan.menus))
    menus = drawing.find(np.array(0), words.column(0)) if assigned is None else assigned
    order = np.argsort(menus.astype(np.min_scalar_type(len(plan.menus))), kind="stable")
    edges = np.cumsum(np.bincount(menus, minlength=len(plan.menus)))
    result = np.zeros(len(words), dtype=np.uint32)
    for menu, start, end in zip(plan.menus, [0, *edges], edges, strict=False):
        if start < end:
            rows = order[start:end]
            result[rows], _ = _answer_menu(plan, menu.questions, codes, (rows, words.take(rows), 1))
    return menus, result


def _all_answers(plan: Plan, codes: Mapping[str, Codes], words: RecordWords) -> tuple[Words, Words]:
    rows, position, answered = np.arange(len(words)), 1, []
    for menu in plan.menus:
        answer, position = _answer_menu(plan, menu.questions, codes, (rows, words, position))
        answered.append(answer)
    return np.repeat(np.arange(len(plan.menus), dtype=np.uint32), len(words)), np.concatenate(answered)


@lru_cache(maxsize=16)
def _drawing(weights: tuple[int, ...]) -> Intervals:
    return Intervals(np.array([weights], dtype=np.int64))


def _answer_menu(
    plan: Plan,
    questions: tuple[int, ...],
    codes: Mapping[str, Codes],
    read: tuple[npt.NDArray[np.intp], RecordWords, int],
) -> tuple[Words, int]:
    """The answers of some records, with their words from a position on, and the position after them."""
    rows, words, position = read
    answer = np.zeros(len(rows), dtype=np.uint32)  # a plan has fewer than 2^32 answers
    for number in questions:
        question = plan.questions[number]
        table = plan.tables[question.table]
        held = {name: codes[name].take(rows) for name in question.rules.reads(question) if name in codes}
        given = input_of(question.coordinates(plan.policy, held), words, position, question.ranks(plan.policy))
        position += question.rules.words(question)
        symbol = table.sample(given, question.rules.table_words(question, held, words, position))
        answer = answer * np.uint32(table.symbols) + symbol
    return answer, position
