"""The counts of a cascade: the number of reports, the sum of their estimates and of all products of two coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bcdp.errors import refuse
from bcdp.mechanisms.cascade.decoding import CascadeDecoder
from bcdp.mechanisms.cascade.plans import largest_estimates
from bcdp.plan import Plan
from bcdp.records.encoding import as_arrow
from bcdp.tally import FORMAT, LARGEST_COUNT, Tally


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

    def decoder(self) -> CascadeDecoder:
        return CascadeDecoder(self.plan, self.people, self.sum, self.products)

    def add(self, reports: Any) -> CascadeTally:
        """Sums a batch of reports, all of them or, if any is refused, none; gives the tally itself."""
        table = as_arrow(reports)
        self._check_plan(table)
        if "estimate" not in table.column_names:
            raise refuse("reports", "no column estimate", "a column estimate")
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
        return {"format": FORMAT, "plan": self.plan.id, "people": self.people, "sum": total, "products": products}

    def _read(self, document: dict[str, Any]) -> None:
        people = document.get("people")
        if type(people) is not int or not 0 <= people < LARGEST_COUNT:
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
