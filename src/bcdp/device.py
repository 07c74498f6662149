"""What a person's device does: draw a menu, answer its questions through the plan's tables, always send.

The menu is drawn before anything is looked at, every report has the same shape, and every random choice reads the next
32-bit word of the record: word 0 draws the menu; then, for each question of the menu, one word per feature (to round a
number at random; other features ignore theirs) and one word for the table.

A question of kind "product" has the same words, and the first of them rounds its one number `v` at random; the word of
a second feature is not used. With binary features worth `2 code - 1`, categorical ones 1 where the code is the
question's category and -1 elsewhere, and numbers as they are: `v = x y`, or `v = 2 (x x) - 1` for a single feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.cascade.device import release
from bcdp.encoding import Codes, as_arrow, encode
from bcdp.errors import refuse
from bcdp.plan import Plan, Question
from bcdp.randomness import RecordWords, Words, as_ids, check_key, fresh_key
from bcdp.tables.intervals import Intervals

PLAN_KEY = b"bcdp.plan"


def privatize(plan: Plan, table: Any, key: bytes | None = None, ids: Any = None) -> pa.Table:
    """The reports of a batch of records, one row each: `menu` and `answer`, or `estimate` for a cascade plan.

    With a `key` and `ids` (a column's name, or one id per record) the same records give the same reports again; without
    them the randomness is fresh. An id stands for one record: its values must not change between two runs, because two
    answers made with the same words can be compared. The ids 7 and "7" are one, "007" is another. Arrow tables, pandas,
    polars and mappings of columns are read alike.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> privatize(plan, {"smoker": [True, False, None]}).column_names
    ['menu', 'answer']
    """
    plan.verify()
    records = as_arrow(table)
    secret = fresh_key() if key is None else check_key(key)
    identities = _ids(records, key, ids)
    if plan.mechanism == "cascade":
        estimates = release(plan, encode(plan.policy, records), RecordWords(secret, identities, plan.id))
        flat = pa.array(estimates.reshape(-1))
        columns = {"estimate": pa.FixedSizeListArray.from_arrays(flat, estimates.shape[1])}
    else:
        menu, answer = (np.empty(len(records), dtype=np.uint32) for _ in range(2))
        for part in _blocks(len(records), len(plan.menus)):
            codes = encode(plan.policy, records[part])
            menu[part], answer[part] = answers(plan, codes, RecordWords(secret, identities[part], plan.id))
        columns = {"menu": pa.array(menu), "answer": pa.array(answer)}
    return pa.table(columns).replace_schema_metadata({PLAN_KEY: plan.id.encode()})


def _blocks(people: int, menus: int) -> Iterator[slice]:
    """Parts small enough for the processor's cache, and large enough that every menu has work for the arrays."""
    size = min(max(2**17, menus * 2**11), 2**20)
    return (slice(start, min(start + size, people)) for start in range(0, max(people, 1), size))


def _ids(records: pa.Table, key: bytes | None, ids: Any) -> Any:
    if ids is None:
        if key is not None:
            raise refuse("ids", None, "a column's name or one id per record, because a key repeats answers by id")
        return np.arange(len(records))
    if isinstance(ids, str):
        if ids not in records.column_names:
            raise refuse("ids", ids, f"one of the columns {', '.join(records.column_names)}")
        ids = records.column(ids)
    if len(ids) != len(records):
        raise refuse("ids", f"{len(ids)} ids", f"one for each of the {len(records)} records")
    known = as_ids(ids)
    if (distinct := _distinct(known)) < len(known):
        raise refuse("ids", f"{distinct} different ids for {len(known)} records", "a different id for each record")
    return known


def _distinct(ids: npt.NDArray[Any] | pa.Array) -> int:
    if isinstance(ids, pa.Array):
        return len(ids.unique())
    ordered = ids if np.all(ids[1:] > ids[:-1]) else np.sort(ids)
    return len(ids) - int(np.count_nonzero(ordered[1:] == ordered[:-1]))


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
        level = _level(question, codes, rows, words, position)
        position += len(question.features) + 1
        symbol = table.sample(level, words.column(position - 1))
        answer = answer * np.uint32(table.symbols) + symbol
    return answer


def _level(
    question: Question, codes: Mapping[str, Codes], rows: npt.NDArray[np.intp], words: RecordWords, position: int
) -> npt.NDArray[np.signedinteger]:
    if question.kind == "product":
        return round_at_random(_product(question, codes, rows), question.levels[0], words.column(position))
    level = np.zeros(len(rows), dtype=np.int32)
    for offset, (name, size) in enumerate(zip(question.features, question.levels, strict=True)):
        code = codes[name].take(rows)
        digit = code if code.dtype.kind == "i" else round_at_random(code, size, words.column(position + offset))
        level = level * np.int32(size) + digit if offset else digit.astype(np.int32)
    return level


def _product(question: Question, codes: Mapping[str, Codes], rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """The number in [-1, 1] that a product question is about."""
    factors = [
        worth(codes[name][rows], category)
        for name, category in zip(question.features, question.categories, strict=True)
    ]
    return factors[0] * factors[1] if len(factors) == 2 else 2 * (factors[0] * factors[0]) - 1


def worth(code: Codes, category: int | None) -> npt.NDArray[np.float64]:
    """A feature on the [-1, 1] scale: a number as it is, two values as signs, one category against the others."""
    if code.dtype.kind == "f":
        return code
    return 2.0 * (code if category is None else code == category) - 1


def round_at_random(value: npt.NDArray[np.float64], levels: int, words: Words) -> npt.NDArray[np.int64]:
    """A number in [-1, 1] as one of its two neighbouring levels, right on average."""
    place = (value + 1) / 2 * (levels - 1)
    below = np.minimum(np.floor(place), levels - 2)
    return (below + (words < (place - below) * 2.0**32)).astype(np.int64)
