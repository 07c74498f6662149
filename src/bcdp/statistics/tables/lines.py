"""Tables as they are estimated: their cells as straight lines in the values of targets, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics.one_population import axis_shares
from bcdp.statistics.shared.cell_targets import TableAxis, TableCells
from bcdp.statistics.shared.decoded_values import JointEstimate
from bcdp.statistics.shared.interval import Estimate, confined
from bcdp.statistics.shared.linear_form import LinearForm
from bcdp.statistics.shared.protocol import (
    Decoder,
    Goal,
    Means,
)
from bcdp.statistics.shared.ratios import width
from bcdp.statistics.shared.target import Target
from bcdp.statistics.tables.association import Association, Independence, associations, independence
from bcdp.statistics.tables.cells import (
    cells_of,
    cuts_of,
    nearest_table,
    parts_of,
    shrunk,
    table_values,
)

Array = npt.NDArray[np.float64]
_Cell = TypeVar("_Cell")


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


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return f"{', '.join(names[:-1])} and {names[-1]}"


@dataclass(frozen=True)
class CellLines:
    """All cells of a table, the last feature's values changing fastest, as straight lines in the values of targets."""

    policy: Policy
    names: tuple[str, ...]
    features: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    axes: tuple[TableAxis, ...]
    wanted: tuple[Target, ...]
    constant: Array
    slopes: Array

    @classmethod
    def of_parts(cls, policy: Policy, names: tuple[str, ...]) -> CellLines:
        """Those of features by themselves: from margins and interactions."""
        values = tuple(table_values(policy.features[name]) for name in names)
        constant, slopes = cells_of(policy, names)
        return cls(
            policy,
            names,
            features=names,
            values=values,
            axes=tuple(TableAxis(name, cuts=cuts_of(policy, name)) for name in names),
            wanted=parts_of(policy, names),
            constant=constant,
            slopes=slopes,
        )

    @classmethod
    def of_cells(cls, policy: Policy, cells: TableCells) -> CellLines:
        """Those that are asked as they are."""
        names, values = zip(*((axis.name(policy), axis.rows(policy)) for axis in cells.axes), strict=True)
        size = cells.size(policy)
        return cls(
            policy, names, features=cells.features, values=values, axes=cells.axes, wanted=(cells,),
            constant=np.zeros(size), slopes=np.eye(size),
        )  # fmt: skip

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each feature has."""
        return tuple(map(len, self.values))

    def _moments(self, joint: JointEstimate | None) -> tuple[Array, Array]:
        """The cells and their covariance, as answers reveal them."""
        size = len(self.constant)
        if joint is None:
            return np.full(size, math.nan), np.full((size, size), math.nan)
        return self.constant + self.slopes @ joint.value, self.slopes @ joint.covariance @ self.slopes.T

    def nearest(self, decoder: Decoder, *, shrink: bool) -> Array:
        """The cells of the nearest table with the margins that are reported, shrunk if wanted; NaN if not known."""
        raw, covariance = self._moments(decoder.together(self.wanted))
        table = raw.reshape(self.shape)
        if not np.isfinite(raw).all():
            return table
        nearest = nearest_table(table, [axis_shares(decoder, axis) for axis in self.axes])
        return shrunk(nearest, table, covariance) if shrink else nearest

    def estimate(self, decoder: Decoder, confidence: float, published: Array) -> TableEstimate | ThreeWayEstimate:
        """The table, its interval at a cell holding what is unbiased there."""
        joint, size = decoder.together(self.wanted), len(self.constant)
        raw, covariance = self._moments(joint)
        rules = ((name, self.policy.features[name].rule) for name in self.features)
        rule = "; ".join(f"{name}: {rule}" for name, rule in rules if rule) or None
        known, table = bool(np.isfinite(raw).all()), raw.reshape(self.shape)
        inside, errors, low, high = raw, np.full(size, math.inf), np.zeros(size), np.ones(size)
        if known:
            inside = published.ravel()
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
        return Goal(f"table of {listed(self.names)}", reported, solved, solved(data), np.diag(equally), equally)


def _in_lines(cells: Sequence[_Cell], length: int) -> tuple[tuple[_Cell, ...], ...]:
    return tuple(tuple(cells[start : start + length]) for start in range(0, len(cells), length))
