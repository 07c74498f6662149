"""The answers and the counts of many records in one pass each, compiled by numba.

`program` makes the arrays; `answering` and the tables say what is computed from them. Every number is computed here as
it is there, operation by operation, so that reports are the same bit by bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bcdp.mechanisms.survey.lanes import AT_ONCE, MOST_MENUS, answer_lanes, compiled
from bcdp.mechanisms.survey.program import BITS, DENSE, NUMBER, PRODUCT, RESPONSE

__all__ = [
    "AT_ONCE",
    "MOST_MENUS",
    "answer_bits",
    "answer_lanes",
    "answer_menus",
    "count_cells",
    "count_pairs",
    "draw_menus",
    "order_records",
]


@compiled
def draw_menus(first: Any, tables: Any, drawn: Any) -> None:
    """The menu that each record draws by its first word; the draw is the first table."""
    guide, ends, shift = tables.guide, tables.ends, tables.shift[0]
    for i in range(len(first)):
        word = np.int64(first[i, 0])
        menu = np.int64(guide[word >> shift])
        while word >= ends[menu]:
            menu += 1
        drawn[i] = menu


@compiled
def answer_bits(first: Any, drawn: Any, asked: Any, bits: Any, start: Any, answers: Any) -> None:
    """The answer of each record from one on to its menu, where all menus ask for one bit and keep or flip it."""
    row, keep, swapped = asked.row, asked.keep, asked.swapped
    for i in range(np.uint64(start), np.uint64(len(drawn))):
        menu = drawn[i]
        told = (bits[row[menu], i >> np.uint64(6)] ^ swapped[menu]) >> (i & np.uint64(63))
        answers[i] = np.uint32(told ^ np.uint64(first[i, np.uint64(2)] >= keep[menu])) & np.uint32(1)


@compiled
def order_records(drawn: Any, menus: Any, starts: Any, order: Any, places: Any) -> None:
    """The records by menu, so that the processor can foresee what is done next, and where each one's later words are.

    `starts` has a 0 for each menu, and one more.
    """
    used = 0
    for i in range(len(drawn)):
        places[i] = used
        used += menus.fours[drawn[i]]
        starts[drawn[i] + 1] += 1
    for menu in range(len(starts) - 1):
        starts[menu + 1] += starts[menu]
    for i in range(len(drawn)):
        order[starts[drawn[i]]] = i
        starts[drawn[i]] += 1


# Arrays are not handed to functions in what follows: numba would count references to each of them for every record.


@compiled
def answer_menus(
    first: Any,
    following: Any,
    drawn: Any,
    order: Any,
    places: Any,
    menus: Any,
    questions: Any,
    tables: Any,
    columns: Any,
    answers: Any,
) -> None:
    """The answer of each record to its menu, whatever that asks; record after record in the given order."""
    menu_start, asked = menus.start, menus.asked
    kind, table_of, part_start = questions.kind, questions.table, questions.start
    column_of, inputs_of, category_of = questions.column, questions.inputs, questions.category
    ends, guide, family, symbols = tables.ends, tables.guide, tables.family, tables.symbols
    keeps, others, shifts = tables.keep, tables.other, tables.shift
    ends_start, guide_start = tables.ends_start, tables.guide_start
    codes, bits, whole, numbers = columns.codes, columns.bits, columns.whole, columns.numbers
    form, row_of, codes_start = columns.form, columns.row, columns.codes_start
    lows, highs, missing = columns.low, columns.high, columns.missing
    for turn in range(len(order)):
        i = np.int64(order[turn])
        menu, used = np.int64(drawn[i]), np.int64(places[i])
        position, answer = 1, 0
        for k in range(menu_start[menu], menu_start[menu + 1]):
            question = asked[k]
            begin, end = part_start[question], part_start[question + 1]
            is_product = kind[question] == PRODUCT
            given, product = 0, 1.0
            for p in range(begin, end):
                column, row = column_of[p], row_of[column_of[p]]
                if form[column] == NUMBER:
                    value = _scaled(numbers[row, i], lows[column], highs[column], missing[column])
                    code = np.int64(0)
                    if not is_product:
                        w = position + p - begin
                        word = np.int64(first[i, w] if w < 4 else following[used + (w >> 2) - 1, w & 3])
                        code = _rounded(value, inputs_of[p], word)
                else:
                    if form[column] == BITS:
                        number = np.int64((bits[row, i >> 6] >> np.uint64(i & 63)) & np.uint64(1))
                    else:
                        number = np.int64(whole[row, i])
                    code = np.int64(codes[codes_start[column] + number])
                    value = 2.0 * (code if category_of[p] < 0 else np.int64(code == category_of[p])) - 1
                given = given * inputs_of[p] + code
                product *= value
            if is_product:
                if end - begin == 1:
                    product = 2 * (product * product) - 1
                word = np.int64(
                    first[i, position] if position < 4 else following[used + (position >> 2) - 1, position & 3]
                )
                given = _rounded(product, inputs_of[begin], word)
            w = position + end - begin
            word = np.int64(first[i, w] if w < 4 else following[used + (w >> 2) - 1, w & 3])
            position = w + 1
            table = table_of[question]
            if family[table] == RESPONSE:
                symbol = _responded(given, word, keeps[table], others[table])
            elif family[table] == DENSE:
                shift = shifts[table]
                symbol = np.int64(guide[guide_start[table] + (given << (32 - shift)) + (word >> shift)])
                start = ends_start[table] + given * symbols[table]
                while word >= ends[start + symbol]:  # from the first interval that the word's first bits allow
                    symbol += 1
            else:
                symbol = _transformed(given, word, keeps[table], shifts[table])
            answer = answer * symbols[table] + symbol
        answers[i] = answer


@compiled
def _responded(given: Any, word: Any, keep: Any, other: Any) -> Any:
    """`Response.sample` of one input and word."""
    if word < keep:
        return given
    index = (word - keep) // other
    return index + np.int64(index >= given)


@compiled
def _transformed(given: Any, word: Any, keep: Any, shift: Any) -> Any:
    """`Hadamard.sample` of one input and word."""
    row = word >> shift
    odd = row & given  # below 2^14
    odd ^= odd >> 8
    odd ^= odd >> 4
    odd ^= odd >> 2
    odd ^= odd >> 1
    return 2 * row + ((odd & 1) ^ np.int64((word & ((1 << shift) - 1)) >= keep))


@compiled
def _scaled(number: Any, low: Any, high: Any, missing: Any) -> Any:
    """`policy.encoding` of one number."""
    value = missing if np.isnan(number) else number
    value = (min(max(value, low), high) - low) / (high - low) * 2 - 1
    return min(max(value, -1.0), 1.0)


@compiled
def _rounded(value: Any, inputs: Any, word: Any) -> Any:
    """`answering.round_at_random` of one number."""
    place = (value + 1) / 2 * (inputs - 1)
    below = min(np.floor(place), inputs - 2.0)
    return np.int64(below) + np.int64(word < (place - below) * 4294967296.0)


@compiled
def _count_block(menus: Any, answers: Any, height: Any, width: Any, cells: Any, counts: Any) -> Any:
    half, size, outside = len(menus) // 2, np.uint32(height * width), np.uint32(0)
    for i in range(half):
        one, other, one_answer, other_answer = menus[i], menus[i + half], answers[i], answers[i + half]
        outside |= np.uint32(max(one, other) >= height) | np.uint32(max(one_answer, other_answer) >= width)
        cells[i] = (one * width + one_answer) * size + other * width + other_answer
    if outside:
        return False
    for i in range(0, half - 1, 2):  # into two tables: a count need not wait for the one before it
        counts[0, cells[i]] += 1
        counts[1, cells[i + 1]] += 1
    if half % 2:
        counts[0, cells[half - 1]] += 1
    return True


@compiled
def count_pairs(menus: Any, answers: Any, height: Any, width: Any, cells: Any, counts: Any) -> Any:
    """How often each pair of cells of a rectangle, menu by answer, is that of two reports; whether all are inside.

    In each block a report of the first half is counted with one of the second: half as many counts, in a table that
    fits in the fastest cache. `cells` is room for half a block. A last odd report is not counted.
    """
    inside = True
    for start in range(0, len(menus), 2 * len(cells)):
        end = start + 2 * len(cells)
        inside &= _count_block(menus[start:end], answers[start:end], height, width, cells, counts)
    return inside


@compiled
def count_cells(menus: Any, answers: Any, starts: Any, counts: Any) -> Any:
    """How often each answer to each menu is given, those of menu m from `starts[m]` on; whether all can be given.

    Counts stand in several tables in turn, of which there are a power of 2.
    """
    turns = len(counts) - 1
    for i in range(len(menus)):
        menu = np.int64(menus[i])
        if menu >= len(starts) - 1:
            return False
        cell = starts[menu] + np.int64(answers[i])
        if cell >= starts[menu + 1]:
            return False
        counts[i & turns, cell] += 1
    return True
