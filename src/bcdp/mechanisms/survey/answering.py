"""What a person's device does: draw a menu, answer its questions through the plan's tables, always send.

The menu is drawn before anything is looked at, every report has the same shape, and every random choice reads the next
32-bit word of the record: word 0 draws the menu; then, for each question of the menu, one word per feature (to round a
number at random; other features, and numbers that enter by steps, ignore theirs) and one word for the table. Where no
answer is a value of its own, it is the last input, and a number is rounded to the others.

A question of kind "product" has the same words, and the first of them rounds its one number `v` at random; the word of
a second feature is not used. With binary features worth `2 code - 1`, categorical ones 1 where the code is the
question's category and -1 elsewhere, and numbers as they are: `v = x y`, or `v = 2 (x x) - 1` for a single feature.

The draw does not depend on the record (docs/theory.md, Theorem 2). A number is rounded at random to an input of the
table, which needs no exactness (Theorem 4); menus and symbols are chosen by integers out of 2^32.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bcdp.exact import Words
from bcdp.plan import Plan, Question
from bcdp.policy import Policy
from bcdp.policy.encoding import Codes, step_of
from bcdp.randomness import RecordWords
from bcdp.statistics.target import product_of
from bcdp.tables.intervals import Intervals


def answers(plan: Plan, codes: Mapping[str, Codes], words: RecordWords) -> tuple[Words, Words]:
    """The menu and the answer of each record: a function of the plan, the codes and the words, nothing else."""
    menus = _drawing(tuple(menu.weight for menu in plan.menus)).find(np.array(0), words.column(0))
    order = np.argsort(menus.astype(np.min_scalar_type(len(plan.menus))), kind="stable")
    edges = np.cumsum(np.bincount(menus, minlength=len(plan.menus)))
    result = np.zeros(len(words), dtype=np.uint32)
    for menu, start, end in zip(plan.menus, [0, *edges], edges, strict=False):
        if start < end:
            rows = order[start:end]
            result[rows] = _answer_menu(plan, menu.questions, codes, rows, words.take(rows))
    return menus, result


@lru_cache(maxsize=16)
def _drawing(weights: tuple[int, ...]) -> Intervals:
    return Intervals(np.array([weights], dtype=np.int64))


def _answer_menu(
    plan: Plan, questions: tuple[int, ...], codes: Mapping[str, Codes], rows: npt.NDArray[np.intp], words: RecordWords
) -> Words:
    position = 1
    answer = np.zeros(len(rows), dtype=np.uint32)  # a plan has fewer than 2^32 answers
    for number in questions:
        question = plan.questions[number]
        table = plan.tables[question.table]
        given = _input(plan.policy, question, codes, rows, words, position)
        position += len(question.features) + 1
        symbol = table.sample(given, words.column(position - 1))
        answer = answer * np.uint32(table.symbols) + symbol
    return answer


def _input(
    policy: Policy,
    question: Question,
    codes: Mapping[str, Codes],
    rows: npt.NDArray[np.intp],
    words: RecordWords,
    position: int,
) -> npt.NDArray[np.signedinteger]:
    if question.kind == "product":
        held = {name: codes[name][rows] for name in question.features}
        number = product_of(policy, question.features, question.categories, held)
        return round_at_random(number, question.levels[0], words.column(position))
    given = np.zeros(len(rows), dtype=np.int32)
    for offset, (name, size) in enumerate(zip(question.features, question.levels, strict=True)):
        code, cuts, feature = codes[name].take(rows), question.cuts_of(name), policy.features[name]
        if cuts is not None:
            digit = step_of(feature, cuts, code)
        elif code.dtype.kind == "i":
            digit = code
        else:
            digit = round_at_random(np.minimum(code, 1.0), size - feature.own, words.column(position + offset))
            digit = np.where(code > 1, size - 1, digit) if feature.own else digit  # the last input is no answer
        given = given * np.int32(size) + digit if offset else digit.astype(np.int32)
    return given


def round_at_random(value: npt.NDArray[np.float64], levels: int, words: Words) -> npt.NDArray[np.int64]:
    """A number in [-1, 1] as one of its two neighbouring inputs, right on average."""
    place = (value + 1) / 2 * (levels - 1)
    below = np.minimum(np.floor(place), levels - 2)
    return (below + (words < (place - below) * 2.0**32)).astype(np.int64)
