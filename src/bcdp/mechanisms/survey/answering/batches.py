"""The reports of many records at once: by the compiled kernel where numba is installed, the same bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.errors import InputError
from bcdp.exact import Words
from bcdp.mechanisms.survey.answering.compiled_plan import ColumnBuffers, Program, program_of
from bcdp.mechanisms.survey.answering.reference import answers
from bcdp.plan import Plan
from bcdp.plan.messages import sends_all
from bcdp.randomness import RecordWords, room_for
from bcdp.records.columnar import stored
from bcdp.records.encoding import encode, encoded_blocks

RECORD, REPORT = 2.0**-24, 2.0**-28  # what compiled code saves with one, if loading it costs 1
BLOCK = 2**16  # records whose words and values fit in the processor's cache


@lru_cache(maxsize=1)
def kernel() -> ModuleType | None:
    """The compiled kernel, or None without the extra `fast`."""
    try:
        from bcdp.mechanisms.survey.answering import compiled as kernel
    except ImportError:
        return None
    return kernel


class _Saved:
    """What compiled code would have saved, or has, in this process."""

    total = 0.0


def kernel_once_worth(saved: float) -> ModuleType | None:
    """The compiled kernel, as soon as it would have saved as much as loading it costs, half a second; until then None.

    So nothing takes more than twice as long as it would for somebody who knew how much there is to do.
    """
    _Saved.total += saved
    return kernel() if _Saved.total >= 1 else None


class _Same:
    """A plan that is compared by its id."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __hash__(self) -> int:
        return hash(self.plan.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.plan.id == other.plan.id


@lru_cache(maxsize=8)
def _program(same: _Same) -> Program | None:
    return program_of(same.plan)


def reports(plan: Plan, records: pa.Table, words: Callable[[slice], RecordWords]) -> tuple[Words, Words]:
    """The menu and the answer of each record; `words` gives the words of a part of the records.

    If every menu is a message of its own: the answers of all records to the first menu, then to the next.
    """
    if sends_all(plan):
        return _messages(plan, records, words)
    menus, answered = _column(len(records)), _column(len(records))
    compiled = kernel_once_worth(RECORD * len(records))
    program = None if compiled is None else _program(_Same(plan))
    if compiled is None or program is None:
        # large enough that every menu has work for the arrays
        for part, codes in encoded_blocks(plan.policy, records, min(max(2 * BLOCK, len(plan.menus) * 2**11), 2**20)):
            menus[part], answered[part] = answers(plan, codes, words(part))
        return menus, answered
    done, scratch = 0, room_for(min(BLOCK, len(records)))
    for batch in records.to_batches():
        try:
            values = stored(plan.policy, pa.Table.from_batches([batch]))
        except InputError:
            encode(plan.policy, records)  # names the record's row among all of them
            raise
        buffers = ColumnBuffers(program, plan.policy, values, BLOCK)
        for start in range(0, len(batch), BLOCK):
            stop = min(start + BLOCK, len(batch))
            part = slice(done + start, done + stop)
            buffers.fill(start, stop)
            _answer(compiled, program, buffers, words(part), scratch, menus=menus[part], answered=answered[part])
        done += len(batch)
    return menus, answered


def _messages(plan: Plan, records: pa.Table, words: Callable[[slice], RecordWords]) -> tuple[Words, Words]:
    answered = np.empty((len(plan.menus), len(records)), dtype=np.uint32)
    for part, codes in encoded_blocks(plan.policy, records, 2 * BLOCK):
        answered[:, part] = answers(plan, codes, words(part))[1].reshape(len(plan.menus), -1)
    return np.repeat(np.arange(len(plan.menus), dtype=np.uint32), len(records)), answered.ravel()


def _column(size: int) -> Words:
    """Place for a column of reports, from Arrow, which keeps what is given back: the system would clear it again."""
    return np.frombuffer(pa.allocate_buffer(4 * size + 4), dtype=np.uint32)[:size]


def _answer(
    compiled: ModuleType,
    program: Program,
    buffers: ColumnBuffers,
    words: RecordWords,
    scratch: npt.NDArray[np.uint8],
    menus: Words,
    answered: Words,
) -> None:
    first = words.first(scratch)
    if buffers.bits is not None:
        complete = len(menus) // compiled.AT_ONCE * compiled.AT_ONCE
        done = complete if len(buffers.bits.keep) <= compiled.MOST_MENUS else 0
        if done:
            compiled.answer_lanes(first, buffers.bits, buffers.columns.bits, menus[:done], answered[:done])
        if done < len(menus):
            compiled.draw_menus(first[done:], program.tables, menus[done:])
            compiled.answer_bits(first, menus, buffers.bits, buffers.columns.bits, done, answered)
        return
    compiled.draw_menus(first, program.tables, menus)
    order, positions = np.empty((2, len(menus)), dtype=np.uint32)
    ends = np.zeros(len(program.menus.fours) + 1, dtype=np.int64)
    compiled.order_records(menus, program.menus, ends, order, positions)
    following = words.following(program.menus.fours.take(menus)) if program.menus.fours.any() else first
    parts = (program.menus, program.questions, program.tables, buffers.columns)
    compiled.answer_menus(first, following, order, ends, positions, *parts, answered)
