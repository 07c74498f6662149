"""Reports become counts: exact, mergeable, independent of how many people answered.

A survey is counted by menu and answer; a cascade by the number, the sum and the products of its estimates.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bcdp.cascade.device import largest_estimates
from bcdp.device import PLAN_KEY
from bcdp.encoding import as_arrow
from bcdp.errors import InputError, refuse
from bcdp.files import read_text, told_of
from bcdp.plan import Plan

SPARK_KEY = b"org.apache.spark.sql.parquet.row.metadata"
_BLOCK = 2**17  # rows that fit in the processor's cache
_LARGEST_RECTANGLE = 2**16
_MOST_PAIRED = 100
_LARGEST_COUNT = 2**53  # beyond it, whole numbers are not exact in JSON

Whole = npt.NDArray[Any]  # integers of any size


class Tally:
    """The counts of one plan's reports: `add` reports, add tallies with `+`, `save` and `load`.

    `Tally(plan)` is a `SurveyTally` or a `CascadeTally`, as the plan's mechanism asks.

    >>> from bcdp import Policy, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> monday, tuesday = (Tally(plan).add(privatize(plan, {"smoker": [0, 1, 1]})) for _ in range(2))
    >>> (monday + tuesday).people
    6
    """

    plan: Plan
    people: int

    def __new__(cls, plan: Plan) -> Tally:
        return super().__new__(cls if cls is not Tally else SurveyTally if plan.mechanism == "survey" else CascadeTally)

    def add(self, reports: Any) -> Tally:
        """Counts a batch of reports, all of them or, if any is refused, none; gives the tally itself."""
        raise NotImplementedError

    def _check_plan(self, table: pa.Table) -> None:
        made_for = _stated_plan(table.schema.metadata or {})
        if made_for is not None and made_for != self.plan.id.encode():
            raise refuse(
                "reports",
                f"plan {made_for.decode('ascii', 'replace')[:12]}..",
                f"reports of plan {self.plan.id[:12]}..",
            )

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if other.plan.id != self.plan.id:
            raise refuse("tally", f"plan {other.plan.id[:12]}..", f"a tally of the same plan {self.plan.id[:12]}..")
        total = Tally(self.plan)
        total._state([mine + theirs for mine, theirs in zip(self._arrays(), other._arrays(), strict=True)])
        return total

    def _arrays(self) -> list[npt.NDArray[Any]]:
        raise NotImplementedError

    def _state(self, arrays: list[npt.NDArray[Any]]) -> None:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The tally in plain JSON."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Writes the tally as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), allow_nan=False), encoding="utf-8")

    @staticmethod
    def load(path: str | Path, plan: Plan) -> Tally:
        """The tally in a file, for the plan that it counts."""
        accepted = "a file written by `bcdp tally`"
        text = read_text(Path(path), accepted)
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"{path}: cannot be read (it is not JSON); accepted: {accepted}") from None
        with told_of(Path(path)):
            return Tally.from_dict(document, plan)

    @staticmethod
    def from_dict(document: Any, plan: Plan) -> Tally:
        """The tally that `to_dict` describes, for the plan that it counts."""
        found = document.get("plan") if isinstance(document, dict) else None
        if not isinstance(found, str):
            raise refuse("tally.plan", "no plan's id", "a tally written by `bcdp tally`")
        if found != plan.id:
            raise refuse("tally.plan", f"{found[:12]}..", f"the plan's id {plan.id[:12]}..")
        tally = Tally(plan)
        tally._read(document)
        return tally

    def _read(self, document: dict[str, Any]) -> None:
        raise NotImplementedError


class SurveyTally(Tally):
    """How often each answer to each menu was given."""

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
        """How many reports were counted."""
        return int(self._counts.sum())

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
        if not {"menu", "answer"} <= names:
            raise refuse("reports", f"columns {', '.join(table.column_names)}", "columns menu and answer")
        menu, answer = (_whole_numbers(table, name) for name in ("menu", "answer"))
        if "count" in names:
            count = _whole_numbers(table, "count")
            if len(count) and not 0 <= int(count.min()) <= int(count.max()) < _LARGEST_COUNT:
                wrong = int(count.min()) if int(count.min()) < 0 else int(count.max())
                raise refuse("reports.count", wrong, "whole numbers from 0 to 2^53")
            self._counts = self._counts + self._summed(menu, answer, count.astype(np.int64))
        else:
            size = max(_BLOCK, len(self._counts))
            parts = (slice(start, start + size) for start in range(0, len(menu), size))
            counts = (self._counted(menu[part], answer[part]) for part in parts)
            self._counts = sum(counts, self._counts)
        return self

    def _counted(self, menu: Whole, answer: Whole) -> Whole:
        """How often each cell occurs."""
        reachable = self._reachable
        if reachable is None:
            return np.bincount(self._cells(menu, answer), minlength=len(self._counts))
        width = reachable.shape[1]
        if not (_within(menu, len(reachable)) and _within(answer, width)):
            self._cells(menu, answer)
        cells = menu.astype(np.uint32, copy=False) * np.uint32(width) + answer.astype(np.uint32, copy=False)
        counts = _occurrences(cells, reachable.size).reshape(reachable.shape)
        if counts[~reachable].any():
            self._cells(menu, answer)
        return counts[reachable]

    def _summed(self, menu: Whole, answer: Whole, count: Whole) -> Whole:
        total = np.zeros_like(self._counts)
        np.add.at(total, self._cells(menu, answer), count)
        return total

    def _cells(self, menu: Whole, answer: Whole) -> npt.NDArray[np.int64]:
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

    def to_dict(self) -> dict[str, Any]:
        cells = np.flatnonzero(self._counts)
        menu = np.searchsorted(self._starts, cells, side="right") - 1
        rows = np.stack([menu, cells - self._starts[menu], self._counts[cells]], axis=1)
        return {"plan": self.plan.id, "people": self.people, "counts": rows.tolist()}

    def _read(self, document: dict[str, Any]) -> None:
        rows = document.get("counts")
        whole = isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == 3 and all(type(n) is int and 0 <= n < _LARGEST_COUNT for n in row)
            for row in rows
        )
        if not whole:
            raise refuse("tally.counts", rows, "rows of menu, answer and count")
        numbers = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self._counts = self._summed(numbers[:, 0], numbers[:, 1], numbers[:, 2])
        if document.get("people") != self.people:
            raise refuse("tally.people", document.get("people"), f"{self.people}, the sum of the counts")


class CascadeTally(Tally):
    """The number of reports, the sum of their estimates and the sum of all products of two coordinates."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._largest = largest_estimates(plan)
        size = len(self._largest)
        self._people, self.sum, self.products = np.zeros(1, dtype=np.int64), np.zeros(size), np.zeros((size, size))

    @property
    def people(self) -> int:  # type: ignore[override]
        """How many reports were counted."""
        return int(self._people[0])

    def add(self, reports: Any) -> CascadeTally:
        """Sums a batch of reports, all of them or, if any is refused, none; gives the tally itself."""
        table = as_arrow(reports)
        self._check_plan(table)
        if "estimate" not in table.column_names:
            raise refuse("reports", f"columns {', '.join(table.column_names)}", "a column estimate")
        column = table.column("estimate").combine_chunks()
        size, kind = len(self.sum), column.type
        if not _are_lists(column, size) or column.null_count:
            raise refuse("reports.estimate", f"{kind} with {column.null_count} missing", f"lists of {size} numbers")
        estimates = np.asarray(column.flatten(), dtype=np.float64).reshape(-1, size)
        possible = np.abs(estimates) <= self._largest
        if not np.all(np.where(np.isnan(self._largest), np.isnan(estimates), possible)):
            raise refuse(
                "reports.estimate", "values that no device sends", f"at most {self._largest.round(3).tolist()}"
            )
        self._people = self._people + len(estimates)
        self.sum, self.products = self.sum + estimates.sum(axis=0), self.products + estimates.T @ estimates
        return self

    def _arrays(self) -> list[npt.NDArray[Any]]:
        return [self._people, self.sum, self.products]

    def _state(self, arrays: list[npt.NDArray[Any]]) -> None:
        self._people, self.sum, self.products = arrays

    def to_dict(self) -> dict[str, Any]:
        total, products = (_without_nan(array) for array in (self.sum, self.products))
        return {"plan": self.plan.id, "people": self.people, "sum": total, "products": products}

    def _read(self, document: dict[str, Any]) -> None:
        people = document.get("people")
        if type(people) is not int or not 0 <= people < _LARGEST_COUNT:
            raise refuse("tally.people", people, "a whole number of people")
        self._people = np.array([people])
        hidden = np.isnan(self._largest) & (people > 0)
        self.sum = _numbers(document, "sum", hidden)
        self.products = _numbers(document, "products", hidden | hidden[:, None])


def _numbers(document: dict[str, Any], name: str, hidden: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    try:
        array = np.array(document.get(name), dtype=np.float64)  # null becomes NaN
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != hidden.shape or not np.array_equal(np.isnan(array), hidden) or np.any(np.isinf(array)):
        accepted = f"numbers of shape {hidden.shape}, null only for features that are not released"
        raise refuse(f"tally.{name}", document.get(name), accepted)
    return array


def _are_lists(column: pa.Array, size: int) -> bool:
    kind = column.type
    lists = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind)
    if not lists or not pa.types.is_floating(kind.value_type):
        return False
    return bool(pc.all(pc.equal(pc.list_value_length(column), size), min_count=0).as_py())


def _without_nan(array: npt.NDArray[np.float64]) -> Any:
    plain = array.astype(object)
    plain[np.isnan(array)] = None  # a feature that is not released
    return plain.tolist()


def _occurrences(cells: npt.NDArray[np.uint32], size: int) -> npt.NDArray[np.int64]:
    """How often each number below `size` occurs; where there are few, two at a time, which takes half the steps."""
    if size > _MOST_PAIRED:
        return np.bincount(cells, minlength=size)
    half = len(cells) // 2
    pairs = np.bincount(cells[:half] * np.uint32(size) + cells[half : 2 * half], minlength=size**2).reshape(size, size)
    return np.asarray(pairs.sum(axis=0) + pairs.sum(axis=1) + np.bincount(cells[2 * half :], minlength=size))


def _within(numbers: Whole, end: int) -> bool:
    return len(numbers) == 0 or 0 <= int(numbers.min()) <= int(numbers.max()) < end


def _whole_numbers(table: pa.Table, name: str) -> Whole:
    column = table.column(name)
    if pa.types.is_decimal(column.type) and column.type.scale == 0:  # as some warehouses write whole numbers
        column = column.cast(pa.int64())
    if not pa.types.is_integer(column.type) or column.null_count:
        raise refuse(
            f"reports.{name}", f"type {column.type} with {column.null_count} missing", "whole numbers, none missing"
        )
    return np.asarray(column.to_numpy())


def _stated_plan(metadata: Mapping[bytes, bytes]) -> bytes | None:
    """The id of the plan that reports were made for, where they say it; Spark says it of the column `menu`."""
    if PLAN_KEY in metadata or SPARK_KEY not in metadata:
        return metadata.get(PLAN_KEY)
    try:
        fields = json.loads(metadata[SPARK_KEY])["fields"]
        stated = [field["metadata"].get(PLAN_KEY.decode()) for field in fields if field["name"] in ("menu", "estimate")]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return str(stated[0]).encode() if stated and stated[0] is not None else None
