"""What a person's device does: draw a menu, answer its questions through the plan's tables, always send.

The menu is drawn before anything is looked at, every report has the same shape, and every random choice reads the next
32-bit word of the record: word 0 draws the menu; then, for each question of the menu, one word per feature (to round a
number at random; other features ignore theirs) and one word for the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.cascade.device import release
from bcdp.encoding import Codes, as_arrow, encode
from bcdp.errors import InputError, refuse
from bcdp.plan import Plan, Question
from bcdp.randomness import RecordWords, Words
from bcdp.tables import TOTAL

PLAN_KEY = b"bcdp.plan"


def privatize(plan: Plan, table: Any, key: bytes | None = None, ids: Any = None) -> pa.Table:
    """The reports of a batch of records, one row each: `menu` and `answer`, or `estimate` for a cascade plan.

    With a `key` and `ids` (a column's name, or one id per record) the same records give the same reports again; without
    them the randomness is fresh. An id stands for one record: its values must not change between two runs, because two
    answers made with the same words can be compared. Arrow tables, pandas, polars and mappings of columns are read
    alike.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> privatize(plan, {"smoker": [True, False, None]}).column_names
    ['menu', 'answer']
    """
    plan.verify()
    records = as_arrow(table)
    codes = encode(plan.policy, records)
    words = RecordWords(key, _ids(records, key, ids), plan.id)
    if plan.mechanism == "cascade":
        estimates = release(plan, codes, words)
        flat = pa.array(estimates.reshape(-1))
        columns = {"estimate": pa.FixedSizeListArray.from_arrays(flat, estimates.shape[1])}
    else:
        menu, answer = answers(plan, codes, words)
        columns = {"menu": pa.array(menu), "answer": pa.array(answer)}
    return pa.table(columns).replace_schema_metadata({PLAN_KEY: plan.id.encode()})


def _ids(records: pa.Table, key: bytes | None, ids: Any) -> Any:
    if ids is None:
        if key is not None:
            raise refuse("ids", None, "a column's name or one id per record, because a key repeats answers by id")
        return range(len(records))
    if isinstance(ids, str):
        if ids not in records.column_names:
            raise refuse("ids", ids, f"one of the columns {', '.join(records.column_names)}")
        ids = records.column(ids)
    if len(ids) != len(records):
        raise refuse("ids", f"{len(ids)} ids", f"one for each of the {len(records)} records")
    if isinstance(ids, pa.Array | pa.ChunkedArray):
        if ids.null_count:
            raise refuse("ids", f"{ids.null_count} missing values", "an id for every record")
        ids = ids.to_numpy(zero_copy_only=False) if pa.types.is_integer(ids.type) else ids.to_pylist()
    distinct = len(np.unique(ids)) if isinstance(ids, np.ndarray) else len(set(ids))
    if distinct < len(ids):
        raise refuse("ids", f"{distinct} different ids for {len(ids)} records", "a different id for each record")
    return ids


def answers(plan: Plan, codes: Mapping[str, Codes], words: RecordWords) -> tuple[Words, Words]:
    """The menu and the answer of each record: a function of the plan, the codes and the words, nothing else."""
    ends = np.cumsum([menu.weight for menu in plan.menus], dtype=np.uint64)
    menus = np.searchsorted(ends, words.column(0), side="right").astype(np.uint32)
    order = np.argsort(menus.astype(np.min_scalar_type(len(plan.menus))), kind="stable")
    edges = np.searchsorted(menus[order], np.arange(len(plan.menus) + 1))
    result = np.zeros(len(words), dtype=np.uint32)
    for number, menu in enumerate(plan.menus):
        rows = order[edges[number] : edges[number + 1]]
        if len(rows):
            result[rows] = _answer_menu(plan, menu.questions, codes, rows, words.take(rows))
    return menus, result


def _answer_menu(
    plan: Plan, questions: tuple[int, ...], codes: Mapping[str, Codes], rows: npt.NDArray[np.intp], words: RecordWords
) -> npt.NDArray[np.uint64]:
    position = 1
    answer = np.zeros(len(rows), dtype=np.uint64)
    for number in questions:
        question = plan.questions[number]
        table = plan.tables[question.table]
        level = _level(question, codes, rows, words, position)
        position += len(question.features) + 1
        symbol = table.sample(level, words.column(position - 1))
        answer = answer * np.uint64(table.symbols) + symbol
    return answer


def _level(
    question: Question, codes: Mapping[str, Codes], rows: npt.NDArray[np.intp], words: RecordWords, position: int
) -> npt.NDArray[np.int64]:
    level = np.zeros(len(rows), dtype=np.int64)
    for offset, (name, size) in enumerate(zip(question.features, question.levels, strict=True)):
        code = codes[name][rows]
        digit = code if code.dtype.kind == "i" else round_at_random(code, size, words.column(position + offset))
        level = level * size + digit
    return level


def round_at_random(value: npt.NDArray[np.float64], levels: int, words: Words) -> npt.NDArray[np.int64]:
    """A number in [-1, 1] as one of its two neighbouring levels, right on average."""
    place = (value + 1) / 2 * (levels - 1)
    below = np.minimum(np.floor(place), levels - 2)
    return (below + (words < (place - below) * 2.0**32)).astype(np.int64)


class Device:
    """One person's device: answers each plan once and remembers the answer, because a second one would tell more.

    `memory` is a mapping or the path of a JSON file that keeps the answers by plan id.
    """

    def __init__(self, memory: MutableMapping[str, dict[str, int]] | str | Path) -> None:
        self._path = Path(memory) if isinstance(memory, str | Path) else None
        self._memory = memory if not isinstance(memory, str | Path) else self._read(Path(memory))

    @staticmethod
    def _read(path: Path) -> dict[str, dict[str, int]]:
        if not path.exists():
            return {}
        try:
            kept = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"memory: {path} cannot be read ({error}); accepted: a file written by a device") from None
        reports = kept.values() if isinstance(kept, dict) else [kept]
        if not all(
            isinstance(report, dict)
            and report.keys() == {"menu", "answer"}
            and all(type(number) is int and 0 <= number < TOTAL for number in report.values())
            for report in reports
        ):
            raise refuse("memory", str(path), "a file written by a device")
        return dict(kept)

    def answer(self, plan: Plan, record: Mapping[str, Any]) -> dict[str, int]:
        """The report `{"menu": .., "answer": ..}` for a record: the first one again, if there was one."""
        if plan.mechanism != "survey":
            raise refuse("plan.mechanism", plan.mechanism, "survey; a cascade report is made by privatize()")
        if plan.id not in self._memory:
            reports = privatize(plan, {name: [record.get(name)] for name in plan.policy.features})
            self._memory[plan.id] = {name: reports.column(name)[0].as_py() for name in ("menu", "answer")}
            if self._path is not None:
                # whole or not at all: half a file would be refused, a lost one would answer again
                draft = self._path.with_name(self._path.name + ".new")
                draft.write_text(json.dumps(self._memory), encoding="utf-8")
                draft.replace(self._path)
        return dict(self._memory[plan.id])
