"""A plan as arrays of numbers, for the compiled kernel: what to ask, which table answers, where the values lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bcdp.plan import Plan, Question
from bcdp.policy import MultipleFeature, Policy
from bcdp.randomizers.projective import count
from bcdp.records.columnar import Stored, scale
from bcdp.records.encoding import coded_numbers

BITS, WHOLE, NUMBER = 0, 1, 2  # forms of a column
VALUES, PRODUCT = 0, 1  # kinds of a question
RESPONSE, DENSE, HADAMARD, WAVES, PROJECTIVE = 0, 1, 2, 3, 4  # families of a table
_FAMILIES = {"response": RESPONSE, "dense": DENSE, "hadamard": HADAMARD, "waves": WAVES, "projective": PROJECTIVE}
_KINDS = {"values": VALUES, "product": PRODUCT}
_QUESTION_KEYS = {"features", "levels", "table", "kind", "categories", "cuts"}
_GUIDE_CELLS = 2**15  # of one table: its guide stays in the fastest cache
_WORD_BITS = 32
_WORD_OF_BITS = 64  # records whose bits stand in one number
_NONE, _ONES = np.uint64(0), np.uint64(2**64 - 1)

Array = npt.NDArray[Any]


class Menus(NamedTuple):
    """For each menu where its questions start among those asked, and the fours of words it needs after the first."""

    start: Array
    fours: Array
    asked: Array


class Bits(NamedTuple):
    """For each menu where its interval of words ends, the row that has its bit, all ones where 0 means 1, the weight.

    The last menu's interval has no end that a word could reach.
    """

    ends: Array
    row: Array
    swapped: Array
    keep: Array


class Questions(NamedTuple):
    """For each question kind, table and where its features start; for each of these column, inputs, category, cuts."""

    kind: Array
    table: Array
    start: Array
    cuts: Array
    cuts_start: Array
    column: Array
    inputs: Array
    category: Array


class Tables(NamedTuple):
    """For each table its numbers; for those written out where their ends of intervals start, with a guide to them.

    For waves `keep` and `other` are the first of its rows and the one after the last: where its words begin and end,
    its first symbol, and its five numbers. The row of a geometry, at `keep`, is its field, its dimension and its
    weights. The first table is the draw of a menu.
    """

    ends: Array
    guide: Array
    waves: Array
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
    if any(isinstance(feature, MultipleFeature) for feature in plan.policy.features.values()):
        return None
    if plan.policy.blocks or any(feature.own for feature in numbers) or not all(map(_is_known, plan.questions)):
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
    columns = {name: column for column, name in enumerate(features)}
    parts = [
        (columns[name], size, -1 if category is None else category)
        for question in plan.questions
        for name, size, category in zip(
            question.features,
            question.levels if len(question.levels) > 1 else question.levels * len(question.features),
            question.categories or (None,) * len(question.features),
            strict=True,
        )
    ]
    cuts = [
        np.empty(0) if (at := question.cuts_of(name)) is None else coded_numbers(plan.policy.features[name], at)
        for question in plan.questions
        for name in question.features
    ]
    return Questions(
        np.array([_KINDS[question.kind] for question in plan.questions]),
        np.array([question.table + 1 for question in plan.questions]),
        _starts(question.features for question in plan.questions),
        np.concatenate([np.empty(0), *cuts]),
        _starts(cuts),
        *_columns(parts, np.int64),
    )


def _tables(documents: list[dict[str, Any]]) -> Tables:
    ends, guides, rows = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)], []
    waves = [np.empty((0, 8), dtype=np.int64)]
    for document in documents:
        family, symbols, keep, other, shift = _FAMILIES[document["family"]], 0, 0, 1, 0
        lengths = sum(map(len, ends)), sum(map(len, guides))
        if family == DENSE:
            lines = np.asarray(document["weights"], dtype=np.int64).cumsum(axis=1)
            bits = max(0, min(12, (_GUIDE_CELLS // len(lines)).bit_length() - 1))
            symbols, shift = lines.shape[1], _WORD_BITS - bits
            first = np.arange(2**bits, dtype=np.int64) << shift
            ends.append(lines.ravel())
            guides += [np.searchsorted(line, first, side="right").astype(np.int32) for line in lines]
        elif family == RESPONSE:
            symbols, keep, other = document["levels"], document["keep"], document["other"]
        elif family == WAVES:
            keep, numbers = sum(map(len, waves)), np.array(document["waves"], dtype=np.int64)
            answers, _, width, high, low = numbers.T
            words, symbols = width * high + (answers - width) * low, int(answers.sum()) + 1
            last = words.cumsum()
            waves.append(np.column_stack([last - words, last, answers.cumsum() - answers, numbers]))
            other = keep + len(numbers)
        elif family == PROJECTIVE:
            keep, own = sum(map(len, waves)), [document[key] for key in ("field", "dimension", "high", "low")]
            symbols = count(own[0], own[1]) + 1
            waves.append(np.array([[*own, 0, 0, 0, 0]], dtype=np.int64))
        else:
            symbols, keep, shift = (
                2 * document["order"],
                document["keep"],
                _WORD_BITS + 1 - document["order"].bit_length(),
            )
        rows.append((family, symbols, keep, other, shift, *lengths))
    return Tables(np.concatenate(ends), np.concatenate(guides), np.concatenate(waves), *_columns(rows, np.int64))


class ColumnBuffers:
    """Memory for the values of a block of records, of the features that a program asks."""

    def __init__(self, program: Program, policy: Policy, values: Mapping[str, Stored], block: int) -> None:
        arrays = [values[name] for name in program.features]
        forms = [NUMBER if v.codes is None else WHOLE if v.skipped is None else BITS for v in arrays]
        codes = [np.empty(0, dtype=np.int32) if v.codes is None else v.codes for v in arrays]
        scales = [scale(policy.features[name]) for name in program.features]
        self.columns = Columns(
            codes=np.concatenate(codes),
            bits=np.zeros((forms.count(BITS), block // _WORD_OF_BITS + 1), dtype=np.uint64),
            whole=np.zeros((forms.count(WHOLE), block), dtype=np.int32),
            numbers=np.zeros((forms.count(NUMBER), block)),
            form=np.array(forms),
            row=np.array([forms[:number].count(form) for number, form in enumerate(forms)]),
            codes_start=_starts(codes)[:-1] - np.array([v.low for v in arrays]),
            **dict(zip(("low", "high", "missing"), _columns(scales, np.float64), strict=True)),
        )
        buffers = (self.columns.bits.view(np.uint8), self.columns.whole, self.columns.numbers)
        rows = (buffers[form][row] for form, row in zip(forms, self.columns.row, strict=True))
        self.bits = _bits(program, self.columns)
        self._copies = [(row, v.values, v.skipped) for row, v in zip(rows, arrays, strict=True)]

    def fill(self, start: int, stop: int) -> None:
        """Copies the values of the records of a block, of which the first has a number that 8 divides."""
        for buffer, values, skipped in self._copies:
            if skipped is None:
                buffer[: stop - start] = values[start:stop]
                continue
            part = values[start // 8 : (stop + skipped + 7) // 8]
            buffer[: len(part)] = part
            if skipped:
                buffer[:-1] = (buffer[:-1] >> skipped) | (buffer[1:] << (8 - skipped))


def _bits(program: Program, columns: Columns) -> Bits | None:
    """How menus are answered that all ask for one bit by randomized response; None if some ask otherwise."""
    menus, questions, tables = program.menus, program.questions, program.tables
    if len(menus.asked) > len(menus.start) - 1 or len(questions.column) > len(questions.kind) or len(columns.numbers):
        return None
    column, table = questions.column[menus.asked], questions.table[menus.asked]
    if len(columns.whole) or (tables.family[table] != RESPONSE).any() or (tables.symbols[table] != 2).any():
        return None
    low = columns.codes[columns.codes_start[column]]
    ends = tables.ends[: len(menus.asked)].astype(np.uint32)
    return Bits(ends, columns.row[column], np.where(low, _ONES, _NONE), tables.keep[table].astype(np.uint32))
