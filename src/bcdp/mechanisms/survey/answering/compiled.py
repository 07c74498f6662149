"""The answers and the counts of many records in one pass each, compiled by numba.

`program` makes the arrays; `answering` and the tables say what is computed from them. Every number is computed here as
it is there, operation by operation, so that reports are the same bit by bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bcdp.mechanisms.survey.answering.bit_parallel import AT_ONCE, MOST_MENUS, answer_lanes, compiled, fetch_ahead
from bcdp.mechanisms.survey.answering.compiled_plan import BITS, DENSE, NUMBER, PRODUCT, PROJECTIVE, RESPONSE, WAVES

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

_SOME = 1024  # records whose numbers fit in the fastest cache


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
        answered = (bits[row[menu], i >> np.uint64(6)] ^ swapped[menu]) >> (i & np.uint64(63))
        answers[i] = np.uint32(answered ^ np.uint64(first[i, np.uint64(2)] >= keep[menu])) & np.uint32(1)


@compiled
def order_records(drawn: Any, menus: Any, starts: Any, order: Any, positions: Any) -> None:
    """The records by menu, so that the processor can foresee what is done next, and where each one's later words are.

    `starts` has a 0 for each menu, and one more; it is left with where each menu's records end.
    """
    used = 0
    for i in range(len(drawn)):
        positions[i] = used
        used += menus.fours[drawn[i]]
        starts[drawn[i] + 1] += 1
    for menu in range(len(starts) - 1):
        starts[menu + 1] += starts[menu]
    for i in range(len(drawn)):
        order[starts[drawn[i]]] = i
        starts[drawn[i]] += 1


@compiled
def answer_menus(
    first: Any,
    following: Any,
    order: Any,
    ends: Any,
    positions: Any,
    menus: Any,
    questions: Any,
    tables: Any,
    columns: Any,
    answers: Any,
) -> None:
    """The answer of each record to its menu, whatever that asks: menu by menu, some records at a time.

    `order` has the records by menu and `ends` where each menu's end there, as `order_records` leaves it.
    """
    numbers, given, words = np.empty(_SOME), np.empty(_SOME, dtype=np.int64), np.empty(_SOME, dtype=np.uint32)
    answer = np.empty(_SOME, dtype=np.int64)
    begin = 0
    for menu in range(len(ends) - 1):
        for start in range(begin, ends[menu], _SOME):
            rows = order[start : min(start + _SOME, ends[menu])]
            answer[:] = 0
            position = 1
            for k in range(menus.start[menu], menus.start[menu + 1]):
                question = menus.asked[k]
                _input(
                    question,
                    rows,
                    first,
                    following=following,
                    positions=positions,
                    position=position,
                    questions=questions,
                    columns=columns,
                    numbers=numbers,
                    words=words,
                    given=given,
                )
                position += questions.start[question + 1] - questions.start[question] + 1
                _words(rows, first, following, positions, position - 1, words)
                _symbols(tables, questions.table[question], given, words, len(rows), answer)
            for t in range(len(rows)):
                answers[rows[t]] = answer[t]
        begin = ends[menu]


@compiled
def _words(rows: Any, first: Any, following: Any, positions: Any, position: Any, words: Any) -> None:
    """The words of some records at a position."""
    if position < 4:
        for t in range(len(rows)):
            words[t] = first[rows[t], position]
    else:
        for t in range(len(rows)):
            words[t] = following[positions[rows[t]] + (position >> 2) - 1, position & 3]


@compiled
def _input(
    question: Any,
    rows: Any,
    first: Any,
    following: Any,
    positions: Any,
    position: Any,
    questions: Any,
    columns: Any,
    numbers: Any,
    words: Any,
    given: Any,
) -> None:
    """What some records give to the table of a question: `answering` says how."""
    begin, end = questions.start[question], questions.start[question + 1]
    if questions.kind[question] == PRODUCT:
        numbers[:] = 1
        for p in range(begin, end):
            _multiply(columns, questions.column[p], questions.category[p], rows, numbers)
        if end - begin == 1:
            for t in range(len(rows)):
                numbers[t] = 2 * (numbers[t] * numbers[t]) - 1
        given[:] = 0
        _words(rows, first, following, positions, position, words)
        _add_rounded(numbers, questions.inputs[begin], words, len(rows), given)
        return
    given[:] = 0
    for p in range(begin, end):
        column, inputs = questions.column[p], questions.inputs[p]
        if columns.form[column] != NUMBER:
            _add_codes(columns, column, inputs, rows, given)
            continue
        numbers[:] = 1
        _multiply(columns, column, -1, rows, numbers)
        cuts = questions.cuts[questions.cuts_start[p] : questions.cuts_start[p + 1]]
        if len(cuts):
            _add_steps(numbers, inputs, cuts, len(rows), given)
        else:
            _words(rows, first, following, positions, position + p - begin, words)
            _add_rounded(numbers, inputs, words, len(rows), given)


@compiled
def _add_codes(columns: Any, column: Any, inputs: Any, rows: Any, given: Any) -> None:
    """Makes the code of a feature the next digit of what is given."""
    row, codes, start = columns.row[column], columns.codes, columns.codes_start[column]
    if columns.form[column] == BITS:
        bits = columns.bits[row]
        for t in range(len(rows)):
            bit = (bits[rows[t] >> np.uint32(6)] >> np.uint64(rows[t] & np.uint32(63))) & np.uint64(1)
            given[t] = given[t] * inputs + codes[start + np.int64(bit)]
    else:
        digits = columns.whole[row]
        for t in range(len(rows)):
            given[t] = given[t] * inputs + codes[start + digits[rows[t]]]


@compiled
def _add_steps(numbers: Any, inputs: Any, cuts: Any, size: Any, given: Any) -> None:
    """Makes the step of each number between cuts the next digit of what is given: `records.encoding.step_of`."""
    for t in range(size):
        step = np.int64(0)
        for k in range(len(cuts)):
            step += np.int64(cuts[k] <= numbers[t])
        given[t] = given[t] * inputs + step


@compiled
def _add_rounded(numbers: Any, inputs: Any, words: Any, size: Any, given: Any) -> None:
    """Makes a number rounded at random the next digit of what is given: `questions.Coordinate.rounded`."""
    for t in range(size):
        level = (numbers[t] + 1) / 2 * (inputs - 1)
        below = min(np.floor(level), inputs - 2.0)
        given[t] = given[t] * inputs + np.int64(below) + np.int64(words[t] < (level - below) * 4294967296.0)


@compiled
def _multiply(columns: Any, column: Any, category: Any, rows: Any, numbers: Any) -> None:
    """Multiplies numbers by what a feature is worth: `policy.encoding` of a number, else 1 or -1."""
    if columns.form[column] == NUMBER:
        low, high, missing = columns.low[column], columns.high[column], columns.missing[column]
        stored = columns.numbers[columns.row[column]]
        for t in range(len(rows)):
            value = missing if np.isnan(stored[rows[t]]) else stored[rows[t]]
            value = (min(max(value, low), high) - low) / (high - low) * 2 - 1
            numbers[t] *= min(max(value, -1.0), 1.0)
        return
    code = np.zeros(len(rows), dtype=np.int64)
    _add_codes(columns, column, 0, rows, code)
    for t in range(len(rows)):
        numbers[t] *= 2.0 * (code[t] if category < 0 else np.int64(code[t] == category)) - 1


@compiled
def _symbols(tables: Any, table: Any, given: Any, words: Any, size: Any, answer: Any) -> None:
    """Makes the symbol that a table gives the next digit of each answer: `sample` of its family."""
    symbols, keep, other, shift = tables.symbols[table], tables.keep[table], tables.other[table], tables.shift[table]
    if tables.family[table] == RESPONSE:
        for t in range(size):
            word = np.int64(words[t])
            index = np.uint32(max(word, keep) - keep) // np.uint32(other)
            lie = np.int64(index) + np.int64(np.int64(index) >= given[t])
            answer[t] = answer[t] * symbols + (given[t] if word < keep else lie)
    elif tables.family[table] == DENSE:
        ends, guide = tables.ends[tables.ends_start[table] :], tables.guide[tables.guide_start[table] :]
        for t in range(size):
            word = np.int64(words[t])
            symbol = np.int64(guide[(given[t] << (32 - shift)) + (word >> shift)])
            while word >= ends[given[t] * symbols + symbol]:  # from the first interval that the word's first bits allow
                symbol += 1
            answer[t] = answer[t] * symbols + symbol
    elif tables.family[table] == WAVES:
        waves = tables.waves[keep:other]
        for t in range(size):
            answer[t] = answer[t] * symbols + _waved(waves, given[t], np.int64(words[t]), symbols)
    elif tables.family[table] == PROJECTIVE:
        field, dimension, high, low = tables.waves[keep, :4]
        for t in range(size):
            held = drawn_hyperplane(field, dimension, (high, low), given[t], np.int64(words[t]))
            answer[t] = answer[t] * symbols + held
    else:
        for t in range(size):
            word = np.int64(words[t])
            row = word >> shift
            odd = row & given[t]  # below 2^14
            odd ^= odd >> 8
            odd ^= odd >> 4
            odd ^= odd >> 2
            odd ^= odd >> 1
            symbol = 2 * row + ((odd & 1) ^ np.int64((word & ((1 << shift) - 1)) >= keep))
            answer[t] = answer[t] * symbols + symbol


@compiled
def drawn_hyperplane(field: Any, dimension: Any, weights: Any, given: Any, word: Any) -> Any:
    """`Projective.sample` of one input and word."""
    high, low = weights
    planes = (field**dimension - 1) // (field - 1)
    through = (planes - 1) // field
    likely = through * high
    holding = word < likely
    index = word // high if holding else (word - likely) // low
    if not holding and index >= planes - through:
        return planes
    pivot, below = 0, 0  # the place of the point's last coordinate that is not 0, and the points before those
    while given >= below * field + 1:
        below = below * field + 1
        pivot += 1
    ways = field ** (dimension - 1 - pivot)
    after = (ways - 1) // (field - 1)
    simple = after if holding else ways
    if index < simple:
        return index if holding else after + index
    direction, follows = (index - simple) // ways, (index - simple) % ways
    first = direction if holding else direction // (field - 1)
    product = 0 if holding else direction % (field - 1) + 1
    code, top = first, 1  # of the hyperplane's coordinates before that place, the first that is not 0 added
    while code >= top:
        code -= top
        top *= field
    code += top
    power, own = field ** max(pivot - 1, 0), given - below
    while code and power:
        product -= code % field * (own // power % field)
        code //= field
        power //= field
    return after * field + 1 + (first * field + product % field) * ways + follows


@compiled
def _waved(waves: Any, given: Any, word: Any, symbols: Any) -> Any:
    """`Waves.sample` of one input and word."""
    for k in range(len(waves)):
        begin, end, symbol, answers, step, width, high, low = waves[k]
        if word < end:
            offset = word - begin
            likely = width * high
            symbol_offset = offset // high if offset < likely else width + (offset - likely) // low
            return symbol + (symbol_offset - step * given) % answers
    return symbols - 1


@compiled
def count_pairs(menus: Any, answers: Any, height: Any, width: Any, cells: Any, counts: Any) -> Any:
    """How often each pair of cells of a rectangle, menu by answer, is that of two reports; whether all are inside.

    In each block a report of the first half is counted with one of the second: half as many counts, in a table that
    fits in the fastest cache. `cells` is room for half a block. A last odd report is not counted.
    """
    size = np.uint32(height * width)
    for start in range(0, len(menus) - 1, 2 * len(cells)):
        half = min(len(cells), (len(menus) - start) // 2)
        some_menus, some_answers = menus[start : start + 2 * half], answers[start : start + 2 * half]
        outside = np.uint32(0)
        for i in range(half):
            first, second = some_menus[i], some_menus[i + half]
            one_answer, other_answer = some_answers[i], some_answers[i + half]
            outside |= np.uint32(max(first, second) >= height) | np.uint32(max(one_answer, other_answer) >= width)
            cells[i] = (first * width + one_answer) * size + second * width + other_answer
        if outside:
            return False
        for group in range(0, half - 7, 8):
            following = np.uint64(start + 2 * half + 2 * group)  # the next block comes nearer while this one is counted
            fetch_ahead(menus, following)
            fetch_ahead(answers, following)
            for i in range(group, group + 8, 2):  # into two tables: a count need not wait for the one before it
                counts[0, cells[i]] += 1
                counts[1, cells[i + 1]] += 1
        for i in range(half // 8 * 8, half):
            counts[0, cells[i]] += 1
    return True


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
