"""The report of a record: a function of the plan, the record and random words, in plain integers.

Word 0 draws the menu. Then every question of the menu reads one word for each of its features (to round a number at
random; other features ignore theirs) and one for its table. The number of a product is rounded with its first word. A
question about change reads one word for each value that its feature may have now: that of its value draws the symbol.
If every menu is a message of its own, none is drawn, and words are read as by one menu with all questions.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from bcdp_device.errors import refuse
from bcdp_device.plan import Plan
from bcdp_device.records import Code, code_of, codes_of, group_of
from bcdp_device.verify.geometry import drawn_hyperplane
from bcdp_device.verify.questions import TOTAL, Question, Table, linked

Report = dict[str, int]


def random_words(plan: Plan) -> list[int]:
    """Fresh words of 32 bits from the operating system, as many as the longest menu reads."""
    menus = [linked(plan.menus)] if plan.several else plan.menus
    needed = 1 + max(sum(question.words for question in menu) for menu in menus)
    drawn = secrets.token_bytes(4 * needed)
    return [int.from_bytes(drawn[start : start + 4], "big") for start in range(0, len(drawn), 4)]


def menu_word(plan: Plan, ticket: str) -> int:
    """The word that draws the menu of a ticket, where the plan assigns menus by ticket."""
    return int.from_bytes(hashlib.sha256(f"bcdp menu\n{plan.id}\n{ticket}".encode()).digest()[:4], "big")


def drawn_menu(plan: Plan, word: int) -> int:
    """The menu that a word draws: each has as many of the 2^32 words as its weight."""
    return bisect_right(list(accumulate(plan.weights)), word)


def answers(
    plan: Plan, record: Mapping[str, Any], words: Sequence[int], symbols: Sequence[int] | None = None
) -> list[Report]:
    """One report, or one for each menu if the plan sends all of them.

    To a question about change the answer is one of the `symbols` that the earlier wave drew, that of the value now.
    """
    group = {"group": group_of(plan, record)} if plan.open else {}
    codes = codes_of(plan, record)
    drawn = range(len(plan.menus)) if plan.several else [drawn_menu(plan, words[0])]
    reports, position = [], 1
    for menu in drawn:
        answer = 0
        for question in plan.menus[menu]:
            own = words[position : position + question.words]
            position += question.words
            if question.since is None:
                symbol = sample(question.table, _input(plan, question, codes, own), own[-1])
            elif symbols is None:
                raise refuse("symbols", symbols, "those of the earlier wave, for a question about change")
            else:
                symbol = symbols[int(codes[question.features[0]])]
            answer = answer * question.table.symbols + symbol
        reports.append({"menu": menu, "answer": answer, **group})
    return reports


def later_symbols(plan: Plan, question: Question, earlier: Mapping[str, Any], words: Sequence[int]) -> list[int]:
    """The symbol of a question about change for each value that its feature may have later, each drawn by its own word.

    All that a device has to keep of the earlier value: which of them is sent depends on the later one.
    """
    name, size = question.features[0], question.levels[1]
    before = int(code_of(name, plan.features[name], earlier.get(name)))
    return [sample(question.table, before * size + now, words[now]) for now in range(size)]


def _input(plan: Plan, question: Question, codes: Mapping[str, Code], words: Sequence[int]) -> int:
    """The number of the table's row."""
    if question.product:
        return _rounded(_product(plan, question, codes), question.levels[0], words[0])
    digits = tuple(
        _digit(plan, question, name, codes[name], (size, word))
        for name, size, word in zip(question.features, question.levels, words)
    )
    if question.possible:
        return question.possible.index(digits)
    number = 0
    for digit, size in zip(digits, question.levels):
        number = number * size + digit
    return number


def _digit(plan: Plan, question: Question, name: str, code: Code, read: tuple[int, int]) -> int:
    number, (size, word) = plan.features[name].number, read
    if number is None:
        return int(code)
    if name in question.cuts:
        step = sum(number.code(cut) <= code for cut in question.cuts[name])
        return step + int(code) - 1 if code > 1 else step
    rounded = size - question.extras[name]
    return rounded + int(code) - 2 if code > 1 else _rounded(code, rounded, word)  # no answer, or not applicable


def _product(plan: Plan, question: Question, codes: Mapping[str, Code]) -> float:
    """The number from -1 to 1 that a product is about: values are worth -1 or 1, numbers what they are."""
    worth: list[float] = []
    for name, category in zip(question.features, question.categories):
        code = codes[name]
        if plan.features[name].number is not None:
            worth.append(code)
        else:
            worth.append(2.0 * (code if category is None else code == category) - 1)
    return 2 * (worth[0] * worth[0]) - 1 if len(worth) == 1 else worth[0] * worth[1]


def _rounded(value: float, inputs: int, word: int) -> int:
    """A number from -1 to 1 as one of its two neighbouring inputs, right on average."""
    scaled = (value + 1) / 2 * (inputs - 1)
    below = min(math.floor(scaled), inputs - 2)
    return below + (word < (scaled - below) * TOTAL)


def sample(table: Table, entered: int, word: int) -> int:
    """The symbol that a word sends an input to: each symbol has as many of the 2^32 words as its weight."""
    numbers = table.numbers
    if table.family == "dense":
        return bisect_right(list(accumulate(numbers["weights"][entered])), word)
    if table.family == "response":
        if word < numbers["keep"]:
            return entered
        other = (word - numbers["keep"]) // numbers["other"]
        return int(other + (other >= entered))
    if table.family == "hadamard":
        row, rest = divmod(word, TOTAL // int(numbers["order"]))
        return 2 * row + (bin(row & entered).count("1") + (rest >= int(numbers["keep"]))) % 2
    if table.family == "waves":
        return _waves(numbers["waves"], entered, word)
    if table.family == "projective":
        return drawn_hyperplane(numbers, entered, word)
    raise refuse("table.family", table.family, "dense, response, hadamard, waves or projective")


def _waves(waves: Sequence[Sequence[int]], entered: int, word: int) -> int:
    first = 0
    for size, step, width, high, low in waves:
        likely = width * high
        words = likely + (size - width) * low
        if word < words:
            offset = word // high if word < likely else width + (word - likely) // low
            return first + (offset - step * entered) % size
        word -= words
        first += size
    return first  # silence
