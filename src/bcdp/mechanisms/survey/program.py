"""A plan as arrays of numbers, for the compiled kernel: what to ask, which table answers, where the values lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bcdp.plan import Plan, Question
from bcdp.policy import Policy
from bcdp.policy.stored import Stored, scale

BITS, WHOLE, NUMBER = 0, 1, 2  # forms of a column
VALUES, PRODUCT = 0, 1  # kinds of a question
RESPONSE, DENSE, HADAMARD = 0, 1, 2  # families of a table
_FAMILIES = {"response": RESPONSE, "dense": DENSE, "hadamard": HADAMARD}
_KINDS = {"values": VALUES, "product": PRODUCT}
_QUESTION_KEYS = {"features", "levels", "table", "kind", "categories"}
_GUIDE_CELLS = 2**15  # of one table: its guide stays in the fastest cache
_WORD_BITS = 32

Array = npt.NDArray[Any]


class Menus(NamedTuple):
    """For each menu where its questions start among those asked, and the fours of words it needs after the first."""

    start: Array
    fours: Array
    asked: Array


class Bits(NamedTuple):
    """For each menu the row that has its bit, the bits to skip there, whether 0 means 1, below what the bit is kept."""

    row: Array
    skipped: Array
    swapped: Array
    keep: Array


class Questions(NamedTuple):
    """For each question kind, table and where its features start; for each of these column, inputs and category."""

    kind: Array
    table: Array
    start: Array
    column: Array
    inputs: Array
    category: Array


class Tables(NamedTuple):
    """For each table its numbers; for those written out where their ends of intervals start, with a guide to them.

    The first table is the draw of a menu.
    """

    ends: Array
    guide: Array
    family: Array
    symbols: Array
    keep: Array
    other: Array
    shift: Array
    ends_start: Array
    guide_start: Array


class Columns(NamedTuple):
    """For each feature asked how and where its values lie, where its codes start, and its scale."""

    codes: Array
    bits: Array
    whole: Array
    numbers: Array
    form: Array
    row: Array
    skipped: Array
    codes_start: Array
    low: Array
    high: Array
    missing: Array


@dataclass(frozen=True)
class Program:
    """What all records of a plan share."""

    features: tuple[str, ...]  # those that are asked, in the order of the columns
    menus: Menus
    questions: Questions
    tables: Tables


def program_of(plan: Plan) -> Program | None:
    """The program of a plan; None if the kernel does not know one of its questions or tables."""
    documents = [table.to_dict() for table in plan.tables]
    numbers = (feature for feature in plan.policy.features.values() if feature.is_number)
    if any(feature.own for feature in numbers) or not all(map(_is_known, plan.questions)):
        return None
    if not {document["family"] for document in documents} <= set(_FAMILIES):
        return None
    features = tuple(dict.fromkeys(name for question in plan.questions for name in question.features))
    drawing = {"family": "dense", "weights": [[menu.weight for menu in plan.menus]]}
    return Program(features, _menus(plan), _questions(plan, features), _tables([drawing, *documents]))


def _is_known(question: Question) -> bool:
    """Whether the kernel knows all that a question says."""
    fields = type(question).model_fields
    other = (name for name in fields if name not in _QUESTION_KEYS)
    return question.kind in _KINDS and all(getattr(question, name) == fields[name].default for name in other)


def _starts(lists: Iterable[Sized]) -> Array:
    return np.cumsum([0, *map(len, lists)], dtype=np.int64)


def _columns(rows: Sequence[tuple[float, ...]], kind: npt.DTypeLike) -> Iterator[Array]:
    return (np.array(column, dtype=kind) for column in zip(*rows, strict=True))


def _menus(plan: Plan) -> Menus:
    numbers = [menu.questions for menu in plan.menus]
    words = [1 + sum(len(plan.questions[k].features) + 1 for k in asked) for asked in numbers]
    asked = np.array([number for asked in numbers for number in asked])
    return Menus(_starts(numbers), (np.array(words) - 1) // 4, asked)


def _questions(plan: Plan, features: tuple[str, ...]) -> Questions:
    places = {name: place for place, name in enumerate(features)}
    parts = [
        (places[name], size, -1 if category is None else category)
        for question in plan.questions
        for name, size, category in zip(
            question.features,
            question.levels if len(question.levels) > 1 else question.levels * len(question.features),
            question.categories or (None,) * len(question.features),
            strict=True,
        )
    ]
    return Questions(
        np.array([_KINDS[question.kind] for question in plan.questions]),
        np.array([question.table + 1 for question in plan.questions]),
        _starts(question.features for question in plan.questions),
        *_columns(parts, np.int64),
    )


def _tables(documents: list[dict[str, Any]]) -> Tables:
    ends, guides, rows = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)], []
    for document in documents:
        family, symbols, keep, other, shift = _FAMILIES[document["family"]], 0, 0, 1, 0
        places = sum(map(len, ends)), sum(map(len, guides))
        if family == DENSE:
            lines = np.asarray(document["weights"], dtype=np.int64).cumsum(axis=1)
            bits = max(0, min(12, (_GUIDE_CELLS // len(lines)).bit_length() - 1))
            symbols, shift = lines.shape[1], _WORD_BITS - bits
            first = np.arange(2**bits, dtype=np.int64) << shift
            ends.append(lines.ravel())
            guides += [np.searchsorted(line, first, side="right").astype(np.int32) for line in lines]
        elif family == RESPONSE:
            symbols, keep, other = document["levels"], document["keep"], document["other"]
        else:
            symbols, keep, shift = (
                2 * document["order"],
                document["keep"],
                _WORD_BITS + 1 - document["order"].bit_length(),
            )
        rows.append((family, symbols, keep, other, shift, *places))
    return Tables(np.concatenate(ends), np.concatenate(guides), *_columns(rows, np.int64))


class Room:
    """Place for the values of a block of records, of the features that a program asks."""

    def __init__(self, program: Program, policy: Policy, values: Mapping[str, Stored], block: int) -> None:
        found = [values[name] for name in program.features]
        forms = [NUMBER if v.codes is None else WHOLE if v.skipped is None else BITS for v in found]
        codes = [np.empty(0, dtype=np.int16) if v.codes is None else v.codes for v in found]
        scales = [scale(policy.features[name]) for name in program.features]
        self.columns = Columns(
            np.concatenate(codes),
            np.zeros((forms.count(BITS), block // 8 + 1), dtype=np.uint8),
            np.zeros((forms.count(WHOLE), block), dtype=np.int32),
            np.zeros((forms.count(NUMBER), block)),
            np.array(forms),
            np.array([forms[:place].count(form) for place, form in enumerate(forms)]),
            np.array([v.skipped or 0 for v in found]),
            _starts(codes)[:-1] - np.array([v.low for v in found]),
            *_columns(scales, np.float64),
        )
        places = (self.columns.bits, self.columns.whole, self.columns.numbers)
        rows = (places[form][row] for form, row in zip(forms, self.columns.row, strict=True))
        self.bits = _bits(program, self.columns)
        self._copies = [(row, v.values, v.skipped) for row, v in zip(rows, found, strict=True)]

    def fill(self, start: int, stop: int) -> None:
        """Copies the values of the records of a block, of which the first has a number that 8 divides."""
        for room, values, skipped in self._copies:
            part = values[start:stop] if skipped is None else values[start // 8 : (stop + skipped + 7) // 8]
            room[: len(part)] = part


def _bits(program: Program, columns: Columns) -> Bits | None:
    """How menus are answered that all ask for one bit by randomized response; None if some ask otherwise."""
    menus, questions, tables = program.menus, program.questions, program.tables
    if len(menus.asked) > len(menus.start) - 1 or len(questions.column) > len(questions.kind) or len(columns.numbers):
        return None
    column, table = questions.column[menus.asked], questions.table[menus.asked]
    if len(columns.whole) or (tables.family[table] != RESPONSE).any() or (tables.symbols[table] != 2).any():
        return None
    low = columns.codes[columns.codes_start[column]]
    return Bits(
        columns.row[column], columns.skipped[column], low.astype(np.uint8), tables.keep[table].astype(np.uint32)
    )
