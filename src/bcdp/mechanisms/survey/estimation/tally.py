"""The counts of a survey: how often each answer to each menu was given."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.errors import refuse
from bcdp.mechanisms.survey.answering.batches import REPORT, kernel_once_worth
from bcdp.mechanisms.survey.estimation.decoder import SurveyDecoder
from bcdp.mechanisms.survey.estimation.report_checks import report_checks
from bcdp.mechanisms.survey.estimation.weighted_decoder import WeightedDecoder
from bcdp.plan import Plan
from bcdp.plan.messages import sends_all
from bcdp.plan.panel import menus_by_wave, wave_plans
from bcdp.records.encoding import as_arrow
from bcdp.records.open_groups import whole_column
from bcdp.statistics.shared.weighting import Weighting
from bcdp.tally import FORMAT, LARGEST_COUNT, Check, Tally, smallest

_BLOCK = 2**17  # rows that fit in the processor's cache
_LARGEST_RECTANGLE = 2**16
_MOST_PAIRED = 100
_MOST_IN_TURNS = 2**12  # cells of which there are four tables, all in the fastest cache

CellQuestion = npt.NDArray[Any]  # integers of any size


class SurveyTally(Tally):
    """How often each answer to each menu was given."""

    groups = ("menu", "answer")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        sizes = np.array([math.prod(digits) for digits in plan.symbols], dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        self._counts = np.zeros(int(self._starts[-1]), dtype=np.int64)
        # the counts as a rectangle, menu by answer: its corners that no answer can reach are checked after counting
        reachable = np.arange(sizes.max()) < sizes[:, None] if len(sizes) * sizes.max() <= _LARGEST_RECTANGLE else None
        self._reachable = reachable

    @property
    def people(self) -> int:  # type: ignore[override]
        """How many people's reports were counted; of several messages each, those of the menu with most of them."""
        if sends_all(self.plan):
            return int(np.add.reduceat(self._counts, self._starts[:-1]).max())
        return int(self._counts.sum())

    def decoder(self) -> SurveyDecoder:
        return SurveyDecoder(self.plan, self.people, self.counts)

    def checks(self) -> dict[str, Check]:
        if self.plan.policy.panel is None or len({menu.wave for menu in self.plan.menus}) == 1:
            return report_checks(self.plan, self.people, self.counts)
        each = [(f"wave {wave}, ", tally.checks()) for wave, tally in self.waves().items()]
        return smallest(each)

    def waves(self) -> dict[int, Tally]:
        tallies: dict[int, Tally] = {}
        numbers = menus_by_wave(self.plan)
        for wave, plan in wave_plans(self.plan).items():
            tallies[wave] = tally = SurveyTally(plan)
            tally._counts = np.concatenate([self.counts(menu).ravel() for menu in numbers[wave]])
        return tallies

    def weighted(self, weighting: Weighting, parts: Sequence[Tally]) -> WeightedDecoder:
        menus = range(len(self.plan.menus))
        groups = [[part.counts(menu) for menu in menus] for part in parts if isinstance(part, SurveyTally)]
        return WeightedDecoder(self.plan, groups, weighting)

    def counts(self, menu: int) -> npt.NDArray[np.int64]:
        """The counts of one menu, one axis for each of its questions."""
        return self._counts[self._starts[menu] : self._starts[menu + 1]].reshape(self.plan.symbols[menu])

    def add(self, reports: Any) -> SurveyTally:
        """Counts a batch of reports, all of them or, if any is refused, none; gives the tally itself.

        With a column `count` a row stands for so many reports, as a `GROUP BY menu, answer` gives them.
        """
        table = as_arrow(reports)
        self._check_plan(table)
        names = set(table.column_names)
        if absent := [
            name for name in ("menu", "answer") if name not in names
        ]:  # names of people's columns are not reported
            raise refuse("reports", f"no column {' and no column '.join(absent)}", "columns menu and answer")
        reports = pa.table({name: whole_column(table, name) for name in self.groups})
        if "count" in names:
            menu, answer = (column.to_numpy() for column in reports.columns)
            count = whole_column(table, "count").to_numpy()
            if len(count) and not 0 <= int(count.min()) <= int(count.max()) < LARGEST_COUNT:
                wrong = int(count.min()) if int(count.min()) < 0 else int(count.max())
                raise refuse("reports.count", wrong, "whole numbers from 0 to 2^53")
            self._counts = self._counts + self._summed(menu, answer, count.astype(np.int64))
        else:
            compiled = kernel_once_worth(REPORT * len(reports))
            most = max(_BLOCK, len(self._counts)) if compiled is None else max(1, len(reports))
            counts = (self._counted(compiled, *part) for part in _parts(reports, most))
            self._counts = sum(counts, self._counts)
        return self

    def _counted(self, kernel: ModuleType | None, menu: CellQuestion, answer: CellQuestion) -> CellQuestion:
        """How often each cell occurs."""
        reachable = self._reachable
        compiled = kernel if menu.dtype == answer.dtype == np.uint32 else None
        if compiled is not None and (reachable is None or reachable.size > _MOST_PAIRED):
            each = np.zeros((4 if len(self._counts) <= _MOST_IN_TURNS else 1, len(self._counts)), dtype=np.int64)
            if not compiled.count_cells(menu, answer, self._starts, each):
                self._cells(menu, answer)
            return np.asarray(each.sum(axis=0))
        if reachable is None:
            return np.bincount(self._cells(menu, answer), minlength=len(self._counts))
        height, width = reachable.shape
        if compiled is not None:
            pairs = np.zeros((2, reachable.size**2), dtype=np.int64)
            buffer = np.empty(_BLOCK // 8, dtype=np.uint16)
            last = slice(len(menu) // 2 * 2, None)
            inside = compiled.count_pairs(menu, answer, np.uint32(height), np.uint32(width), buffer, pairs)
            if not (inside and _within(menu[last], height) and _within(answer[last], width)):
                self._cells(menu, answer)
            counts = _of_both(pairs.sum(axis=0), menu[last] * np.uint32(width) + answer[last], reachable.size)
        else:
            if not (_within(menu, height) and _within(answer, width)):
                self._cells(menu, answer)
            cells = menu.astype(np.uint32, copy=False) * np.uint32(width) + answer.astype(np.uint32, copy=False)
            counts = _occurrences(cells, reachable.size)
        by_menu = counts.reshape(reachable.shape)
        if by_menu[~reachable].any():
            self._cells(menu, answer)
        return np.asarray(by_menu[reachable])

    def _summed(self, menu: CellQuestion, answer: CellQuestion, count: CellQuestion) -> CellQuestion:
        total = np.zeros_like(self._counts)
        np.add.at(total, self._cells(menu, answer), count)
        return total

    def _cells(self, menu: CellQuestion, answer: CellQuestion) -> npt.NDArray[np.int64]:
        """The place of each report among the counts; an impossible report is refused."""
        if not _within(menu, len(self.plan.menus)):
            worst = int(menu.min()) if int(menu.min()) < 0 else int(menu.max())
            raise refuse("reports.menu", worst, f"numbers from 0 to {len(self.plan.menus) - 1}")
        sizes = np.diff(self._starts)
        wrong = np.flatnonzero((answer < 0) | (answer >= sizes[menu]))
        if len(wrong):
            row = int(wrong[0])
            allowed = f"numbers from 0 to {int(sizes[menu[row]]) - 1} for menu {int(menu[row])}"
            raise refuse("reports.answer", int(answer[row]), allowed)
        return np.asarray(self._starts[menu] + answer.astype(np.int64))

    def _arrays(self) -> list[npt.NDArray[Any]]:
        return [self._counts]

    def _state(self, arrays: list[npt.NDArray[Any]]) -> None:
        (self._counts,) = arrays

    def rows(self) -> list[list[int]]:
        cells = np.flatnonzero(self._counts)
        menu = np.searchsorted(self._starts, cells, side="right") - 1
        rows: list[list[int]] = np.stack([menu, cells - self._starts[menu], self._counts[cells]], axis=1).tolist()
        return rows

    def to_dict(self) -> dict[str, Any]:
        return {"format": FORMAT, "plan": self.plan.id, "people": self.people, "counts": self.rows()}

    def _read(self, document: dict[str, Any]) -> None:
        rows = document.get("counts")
        complete = isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == 3 and all(type(n) is int and 0 <= n < LARGEST_COUNT for n in row)
            for row in rows
        )
        if not complete:
            raise refuse(
                "tally.counts", "something else", "rows of menu, answer and count, whole numbers from 0 to 2^53"
            )
        numbers = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self._counts = self._summed(numbers[:, 0], numbers[:, 1], numbers[:, 2])
        if document.get("people") != self.people:
            raise refuse("tally.people", document.get("people"), f"{self.people}, the sum of the counts")


def _occurrences(cells: npt.NDArray[np.uint32], size: int) -> npt.NDArray[np.int64]:
    """How often each number below `size` occurs; where there are few, two at a time, which takes half the steps."""
    if size > _MOST_PAIRED:
        return np.bincount(cells, minlength=size)
    half = len(cells) // 2
    pairs = np.bincount(cells[:half] * np.uint32(size) + cells[half : 2 * half], minlength=size**2)
    return _of_both(pairs, cells[2 * half :], size)


def _of_both(pairs: CellQuestion, last: npt.NDArray[np.uint32], size: int) -> npt.NDArray[np.int64]:
    """How often each number occurs in pairs that are counted, and in what is left of them."""
    table = pairs.reshape(size, size)
    return np.asarray(table.sum(axis=0) + table.sum(axis=1) + np.bincount(last, minlength=size))


def _within(numbers: CellQuestion, end: int) -> bool:
    return len(numbers) == 0 or 0 <= int(numbers.min()) <= int(numbers.max()) < end


def _parts(reports: pa.Table, size: int) -> Iterator[list[CellQuestion]]:
    """The columns, at most so many rows of them at a time; not copied, unless they come in much smaller pieces."""
    pieces = max(column.num_chunks for column in reports.columns)
    table = reports if 2 * len(reports) >= pieces * size else reports.combine_chunks()
    for batch in table.to_batches(size):
        yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]
