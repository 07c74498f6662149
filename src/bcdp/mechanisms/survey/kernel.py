"""The answers and the counts of many records in one pass each, compiled by numba.

`program` makes the arrays; `answering` and the tables say what is computed from them. Every number is computed here as
it is there, operation by operation, so that reports are the same bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from bcdp.mechanisms.survey.program import BITS, DENSE, NUMBER, PRODUCT, RESPONSE


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Machine code, kept on the disk for the next run where there is a place for it."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)


def _inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A part of the functions that call it: as a function of its own it would count references to every array."""
    return njit(inline="always")(function)


@_compiled
def draw_menus(first: Any, tables: Any, drawn: Any) -> None:
    """The menu that each record draws by its first word."""
    for i in range(len(first)):
        drawn[i] = _interval(tables, 0, 0, np.int64(first[i, 0]))


@_compiled
def answer_bits(first: Any, drawn: Any, answering: Any, bits: Any, answers: Any) -> None:
    """The answer of each record to its menu, where all menus ask for one bit and keep or flip it."""
    for i in range(len(drawn)):
        menu = drawn[i]
        at = i + answering.skipped[menu]
        bit = (bits[answering.row[menu], at >> 3] >> (at & 7)) & 1
        answers[i] = bit ^ answering.swapped[menu] ^ (first[i, 2] >= answering.keep[menu])


@_compiled
def answer_menus(
    first: Any, following: Any, drawn: Any, menus: Any, questions: Any, tables: Any, columns: Any, answers: Any
) -> None:
    """The answer of each record to its menu, whatever that asks."""
    used = 0
    for i in range(len(drawn)):
        menu = np.int64(drawn[i])
        position, answer = 1, 0
        for k in range(menus.start[menu], menus.start[menu + 1]):
            question = menus.asked[k]
            begin, end = questions.start[question], questions.start[question + 1]
            level, product = 0, 1.0
            for p in range(begin, end):
                column, levels = questions.column[p], questions.levels[p]
                if columns.form[column] == NUMBER:
                    value = _scaled(columns, column, i)
                    word = _word(first, following, i, used, position + p - begin)
                    code = _rounded(value, levels, word)
                else:
                    code = _code(columns, column, i)
                    category = questions.category[p]
                    value = 2.0 * (code if category < 0 else np.int64(code == category)) - 1
                level = level * levels + code
                product *= value
            if questions.kind[question] == PRODUCT:
                if end - begin == 1:
                    product = 2 * (product * product) - 1
                level = _rounded(product, questions.levels[begin], _word(first, following, i, used, position))
            position += end - begin + 1
            table = questions.table[question]
            word = _word(first, following, i, used, position - 1)
            answer = answer * tables.symbols[table] + _symbol(tables, table, level, word)
        answers[i] = answer
        used += menus.fours[menu]


@_inlined
def _word(first: Any, following: Any, i: Any, used: Any, position: Any) -> Any:
    if position < 4:
        return np.int64(first[i, position])
    return np.int64(following[used + (position >> 2) - 1, position & 3])


@_inlined
def _interval(tables: Any, table: Any, row: Any, word: Any) -> Any:
    """The interval of a row that a word falls into, searched for from the first one that its first bits allow."""
    shift = tables.shift[table]
    interval = np.int64(tables.guide[tables.guide_start[table] + (row << (32 - shift)) + (word >> shift)])
    start = tables.ends_start[table] + row * tables.symbols[table]
    while word >= tables.ends[start + interval]:
        interval += 1
    return interval


@_inlined
def _symbol(tables: Any, table: Any, level: Any, word: Any) -> Any:
    """`Table.sample` of one level and word."""
    family, keep = tables.family[table], tables.keep[table]
    if family == RESPONSE:
        if tables.symbols[table] == 2:
            return level ^ np.int64(word >= keep)
        if word < keep:
            return level
        other = (word - keep) // tables.other[table]
        return other + np.int64(other >= level)
    if family == DENSE:
        return _interval(tables, table, level, word)
    shift = tables.shift[table]
    row = word >> shift
    odd = row & level  # below 2^14
    odd ^= odd >> 8
    odd ^= odd >> 4
    odd ^= odd >> 2
    odd ^= odd >> 1
    return 2 * row + ((odd & 1) ^ np.int64((word & ((1 << shift) - 1)) >= keep))


@_inlined
def _code(columns: Any, column: Any, i: Any) -> Any:
    """The code of a value, which is stored as a bit or as a whole number."""
    row = columns.row[column]
    if columns.form[column] == BITS:
        at = i + columns.skipped[column]
        number = np.int64((columns.bits[row, at >> 3] >> (at & 7)) & 1)
    else:
        number = np.int64(columns.whole[row, i])
    return np.int64(columns.codes[columns.codes_start[column] + number])


@_inlined
def _scaled(columns: Any, column: Any, i: Any) -> Any:
    """`policy.encoding` of one number."""
    low, high = columns.low[column], columns.high[column]
    value = columns.numbers[columns.row[column], i]
    if np.isnan(value):
        value = columns.missing[column]
    value = (min(max(value, low), high) - low) / (high - low) * 2 - 1
    return min(max(value, -1.0), 1.0)


@_inlined
def _rounded(value: Any, levels: Any, word: Any) -> Any:
    """`answering.round_at_random` of one number."""
    place = (value + 1) / 2 * (levels - 1)
    below = min(np.floor(place), levels - 2.0)
    return np.int64(below) + np.int64(word < (place - below) * 4294967296.0)


@_compiled
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


@_compiled
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


@_compiled
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
