"""Tables of two or three features: how often their values occur together, how strongly two features are associated,
and whether at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, StrictBool, ValidationInfo, field_validator

from bcdp.policy import MultipleFeature, Policy
from bcdp.policy.base_feature import Values
from bcdp.policy.field_checks import Accepts, Writable, expected
from bcdp.policy.names import TwoOrThree
from bcdp.statistics.shared.cell_targets import TableAxis, TableCells
from bcdp.statistics.shared.interval import Estimate, confined
from bcdp.statistics.shared.linear_form import LinearForm
from bcdp.statistics.shared.protocol import (
    Decoder,
    Expected,
    Goal,
    Means,
    Prospect,
    Statistic,
    Weight,
    expected_error,
    scale_of_shares,
)
from bcdp.statistics.shared.ratios import width
from bcdp.statistics.shared.rows import Row, Section
from bcdp.statistics.shared.target import Codes, Target
from bcdp.statistics.tables.association import Association, Independence, associations, independence
from bcdp.statistics.tables.cells import (
    cell_count,
    cells_of,
    cuts_of,
    error_weights,
    nearest_table,
    parts_of,
    shrunk,
    table_values,
)

Array = npt.NDArray[np.float64]
_Cell = TypeVar("_Cell")
Pair = tuple[str, str]
Triple = tuple[str, str, str]

MOST_CELLS = 1024


@dataclass(frozen=True)
class TableEstimate:
    """The share of every pair of values, row by row, with what follows from them."""

    values: tuple[tuple[Any, ...], tuple[Any, ...]]
    cells: tuple[tuple[Estimate, ...], ...]
    association: Mapping[str, Association]
    independence: Independence

    @property
    def every(self) -> Iterator[Estimate]:
        """All cells, one after the other."""
        return (cell for row in self.cells for cell in row)

    def to_dict(self) -> dict[str, Any]:
        """The table in plain JSON."""
        every = zip(product(*self.values), self.every, strict=True)
        cells = [{"values": list(values), **cell.to_dict()} for values, cell in every]
        association = {name: estimates.to_dict() for name, estimates in self.association.items()}
        return {"cells": cells, "association": association, "independence": self.independence.to_dict()}


@dataclass(frozen=True)
class ThreeWayEstimate:
    """The share of every three values, the last feature's changing fastest."""

    values: tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]
    cells: tuple[tuple[tuple[Estimate, ...], ...], ...]

    @property
    def every(self) -> Iterator[Estimate]:
        """All cells, one after the other."""
        return (cell for layer in self.cells for row in layer for cell in row)

    def to_dict(self) -> dict[str, Any]:
        """The table in plain JSON."""
        cells = zip(product(*self.values), self.every, strict=True)
        return {"cells": [{"values": list(values), **cell.to_dict()} for values, cell in cells]}


class ContingencyTable(Statistic):
    """How often the values of two or three features occur together; numbers by their ranges, lists item by item."""

    kind: ClassVar[str] = "table"
    form: ClassVar[str] = "{table: [name, name]}"  # or three names
    key: ClassVar[str] = "tables"
    features: TwoOrThree = Field(alias="table")
    items: Annotated[
        dict[Writable, Annotated[Values, Accepts("a list of different items")]] | None,
        Accepts("{list: [items]}, the items of a list to tick that are wanted", inside=True),
    ] = None
    shrink: Annotated[StrictBool | None, Accepts("true or false")] = None  # towards independence, unless false
    weight: Weight = 1.0

    @field_validator("features")
    @classmethod
    def _varied(cls, features: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        known = (info.context or {}).get("values", {})
        if any(len(known.get(name, (0, 1))) < 2 for name in features):
            raise expected("features of at least two values")
        return features

    @field_validator("items")
    @classmethod
    def _listed(cls, items: dict[str, Any] | None, info: ValidationInfo) -> dict[str, Any] | None:
        known = (info.context or {}).get("values")
        for name, wanted in (items or {}).items():
            if name not in info.data.get("features", ()):
                raise expected("items of the lists of this table")
            unknown = [item for item in wanted if known is not None and item not in known.get(name, ())]
            if not wanted or unknown:
                raise expected(f"some of the items of {name}")
        return items

    def _by_cells(self, policy: Policy) -> list[TableCells]:
        """The tables that are asked cell by cell: of lists one for each item; none of features by themselves."""
        if not any(is_linked(policy, name) for name in self.features):
            return []
        return [TableCells(axes) for axes in product(*(list(self._axes(policy, name)) for name in self.features))]

    def _axes(self, policy: Policy, name: str) -> Iterator[TableAxis]:
        feature = policy.features[name]
        if not isinstance(feature, MultipleFeature):
            yield TableAxis(name, cuts=cuts_of(policy, name))
            return
        wanted = (self.items or {}).get(name, feature.values)
        yield from (TableAxis(name, item) for item, value in enumerate(feature.values) if value in wanted)

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        cells = self._by_cells(policy)
        if cells:
            yield from ((target, 1.0) for target in cells)
            return
        yield from error_weights(policy, self.features)

    def scale(self, policy: Policy, target: Target, budget: float) -> float:
        # the mean over the cells, on the [-1, 1] scale: of two by two cells, as it stands
        cells = self._by_cells(policy)
        if cells:
            return 4 / cells[0].size(policy) / len(cells)
        return 4 / math.prod(cell_count(policy, name) for name in self.features)

    def estimate(self, decoder: Decoder, confidence: float) -> dict[tuple[str, ...], TableEstimate | ThreeWayEstimate]:
        shrink = self.shrink is not False
        return {
            lines.names: lines.estimate(decoder, confidence, shrink=shrink) for lines in self._tables(decoder.policy)
        }

    @classmethod
    def document(cls, estimates: Mapping[tuple[str, ...], TableEstimate | ThreeWayEstimate]) -> dict[str, Any]:
        return {cls.key: [{"features": list(names), **table.to_dict()} for names, table in estimates.items()]}

    @classmethod
    def sections(
        cls, policy: Policy, estimates: Mapping[tuple[str, ...], TableEstimate | ThreeWayEstimate]
    ) -> Iterator[Section]:
        for names, table in estimates.items():
            if isinstance(table, TableEstimate):
                notes = (*(each.sentence for each in table.association.values()), table.independence.sentence)
                yield _section(policy, names, (), table.values, table.cells, notes)
                continue
            for value, layer in zip(table.values[0], table.cells, strict=True):
                yield _section(policy, names, (value,), (table.values[1], table.values[2]), layer)

    def expected(self, prospect: Prospect, people: int, records: Codes | None = None) -> Sequence[Expected]:
        if records is not None:
            return ()  # anybody who has data simulates
        policy, errors = prospect.policy, prospect.errors
        total = sum(weight * errors[target] for target, weight in self.targets(policy))
        by_cells = self._by_cells(policy)
        cells = (
            sum(each.size(policy) for each in by_cells)
            if by_cells
            else math.prod(cell_count(policy, name) for name in self.features)
        )
        error, scale = math.sqrt(total / people / cells), scale_of_shares(cells)
        subject = f"table of {_listed(self.features)}"
        return [expected_error(subject, "the share of a cell", error, scale, {"table": list(self.features)})]

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [lines.goal(data) for lines in self._tables(policy)]

    def _tables(self, policy: Policy) -> list[_Lines]:
        """Its tables: of lists one for each item."""
        cells = self._by_cells(policy)
        return [_Lines.of_cells(policy, each) for each in cells] or [_Lines.of_parts(policy, self.features)]


def is_linked(policy: Policy, name: str) -> bool:
    """Whether a feature is in a block, or a list to tick: its cells are asked by one question about its block."""
    return name in policy.blocks or isinstance(policy.features[name], MultipleFeature)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _label(policy: Policy, name: str) -> str:
    """What a feature, or an item of a list, is called."""
    if name in policy.features:
        return policy.features[name].label
    lists = [own for own in policy.features if name.startswith(f"{own}: ")]
    return f"{policy.features[lists[0]].label}: {name.removeprefix(lists[0] + ': ')}" if lists else name


def _section(
    policy: Policy,
    names: tuple[str, ...],
    fixed: tuple[Any, ...],
    grid: tuple[tuple[Any, ...], tuple[Any, ...]],
    cells: tuple[tuple[Estimate, ...], ...],
    notes: tuple[str, ...] = (),
) -> Section:
    """The rows of a table of two features; of three, of those people whose first feature has a `fixed` value."""
    labels = [_label(policy, name) for name in names]

    def row(values: tuple[Any, ...], cell: Estimate) -> Row:
        label = ", ".join(f"{label} = {value}" for label, value in zip(labels, values, strict=True))
        key = (names, values)
        return Row(", ".join(map(str, values[len(fixed) :])), label, cell, (0.0, 1.0), key, raw=cell.raw)

    every = zip(product(*grid), (cell for line in cells for cell in line), strict=True)
    rows = tuple(row((*fixed, *values), cell) for values, cell in every)
    at = ", ".join(f"{label} = {value}" for label, value in zip(labels, fixed, strict=False))
    subject = f"{at}: " * bool(at) + " x ".join(labels[len(fixed) :])
    title = f"{subject}, from {cells[0][0].answers:,} answers"
    return Section(subject, ("values", "share"), rows, "grid", title, remarks=notes, grid=grid)


@dataclass(frozen=True)
class _Lines:
    """All cells of a table, the last feature's values changing fastest, as straight lines in the values of targets."""

    policy: Policy
    names: tuple[str, ...]
    features: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    wanted: tuple[Target, ...]
    constant: Array
    slopes: Array

    @classmethod
    def of_parts(cls, policy: Policy, names: tuple[str, ...]) -> _Lines:
        """Those of features by themselves: from margins and interactions."""
        values = tuple(table_values(policy.features[name]) for name in names)
        constant, slopes = cells_of(policy, names)
        return cls(
            policy,
            names,
            features=names,
            values=values,
            wanted=parts_of(policy, names),
            constant=constant,
            slopes=slopes,
        )

    @classmethod
    def of_cells(cls, policy: Policy, cells: TableCells) -> _Lines:
        """Those that are asked as they are."""
        names, values = zip(*((axis.name(policy), axis.rows(policy)) for axis in cells.axes), strict=True)
        size = cells.size(policy)
        return cls(
            policy, names, features=cells.features, values=values, wanted=(cells,), constant=np.zeros(size),
            slopes=np.eye(size),
        )  # fmt: skip

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each feature has."""
        return tuple(map(len, self.values))

    def estimate(self, decoder: Decoder, confidence: float, *, shrink: bool) -> TableEstimate | ThreeWayEstimate:
        """The table, its interval at a cell holding what is unbiased there."""
        joint, size = decoder.together(self.wanted), len(self.constant)
        raw, covariance = np.full(size, math.nan), np.full((size, size), math.nan)
        if joint is not None:
            raw, covariance = self.constant + self.slopes @ joint.value, self.slopes @ joint.covariance @ self.slopes.T
        rules = ((name, self.policy.features[name].rule) for name in self.features)
        rule = "; ".join(f"{name}: {rule}" for name, rule in rules if rule) or None
        known, table = bool(np.isfinite(raw).all()), raw.reshape(self.shape)
        inside, errors, low, high = raw, np.full(size, math.inf), np.zeros(size), np.ones(size)
        if known:
            nearest = nearest_table(table)
            inside = (shrunk(nearest, table, covariance) if shrink else nearest).ravel()
            errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
            low, high = confined(raw, width(confidence) * errors, (0.0, 1.0), inside)
        answers = 0 if joint is None else joint.answers[-1]
        unbiased = raw if joint is None else self.constant + self.slopes @ joint.raw
        numbers = np.column_stack([inside, errors, low, high, unbiased]).tolist()
        ends = np.cumsum([part.size(self.policy) for part in self.wanted])[:-1]
        cells = [
            Estimate(
                value, se, start, high=end, answers=answers, raw=exact, rule=rule,
                linear=LinearForm(decoder, confidence, dict(zip(self.wanted, factors, strict=True)), (0.0, 1.0)),
            )
            for (value, se, start, end, exact), *factors in zip(
                numbers, *np.split(self.slopes, ends, axis=1), strict=True
            )
        ]  # fmt: skip
        lines = _in_lines(cells, self.shape[-1])
        if len(self.values) == 3:
            return ThreeWayEstimate(self.values, _in_lines(lines, self.shape[1]))
        first, second = self.values
        measures = associations(table, covariance, inside.reshape(self.shape), confidence) if known else {}
        return TableEstimate((first, second), lines, measures, independence(table, covariance))

    def goal(self, data: Means) -> Goal:
        """The cells, for a simulation."""
        size = len(self.constant)

        def solved(means: Means) -> Array:
            if not all(target in means for target in self.wanted):
                return np.full(size, np.nan)
            cells = self.constant + self.slopes @ np.concatenate([means[target] for target in self.wanted])
            return nearest_table(cells.reshape(self.shape)).ravel() if np.isfinite(cells).all() else cells

        def reported(tables: Mapping[tuple[str, ...], TableEstimate | ThreeWayEstimate]) -> Array:
            return np.array([cell.value for cell in tables[self.names].every])

        equally = np.full(size, 1 / size)
        return Goal(f"table of {_listed(self.names)}", reported, solved, solved(data), np.diag(equally), equally)


def _in_lines(cells: Sequence[_Cell], length: int) -> tuple[tuple[_Cell, ...], ...]:
    return tuple(tuple(cells[start : start + length]) for start in range(0, len(cells), length))
