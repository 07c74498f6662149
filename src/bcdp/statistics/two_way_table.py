"""Two-way tables: how often each pair of values occurs, how strongly two features are associated, and whether at
all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field, StrictBool, ValidationInfo, field_validator

from bcdp.policy import Feature, MultipleFeature, Policy
from bcdp.policy.base_feature import Values
from bcdp.policy.field_checks import Accepts, Writable, expected
from bcdp.policy.names import TablePair
from bcdp.statistics.shared.association import Association, Independence, associations, departures, independence
from bcdp.statistics.shared.cell_targets import TableAxis, TableCells
from bcdp.statistics.shared.interval import Estimate, confined, on_simplex
from bcdp.statistics.shared.joint_targets import Interaction, interaction
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

Array = npt.NDArray[np.float64]
Pair = tuple[str, str]

MOST_CELLS = 1024
_PROJECTIONS = 2000


@dataclass(frozen=True)
class TableEstimate:
    """The share of every pair of values, row by row, with what follows from them."""

    values: tuple[tuple[Any, ...], tuple[Any, ...]]
    cells: tuple[tuple[Estimate, ...], ...]
    association: Mapping[str, Association]
    independence: Independence

    def to_dict(self) -> dict[str, Any]:
        """The table in plain JSON."""
        cells = [
            {"values": [row, column], **cell.to_dict()}
            for row, estimates in zip(self.values[0], self.cells, strict=True)
            for column, cell in zip(self.values[1], estimates, strict=True)
        ]
        association = {name: estimates.to_dict() for name, estimates in self.association.items()}
        return {"cells": cells, "association": association, "independence": self.independence.to_dict()}


class TwoWayTable(Statistic):
    """How often each pair of values of two features occurs; numbers by their ranges, lists item by item."""

    kind: ClassVar[str] = "table"
    form: ClassVar[str] = "{table: [name, name]}"
    key: ClassVar[str] = "tables"
    features: TablePair = Field(alias="table")
    items: Annotated[
        dict[Writable, Annotated[Values, Accepts("a list of different items")]] | None,
        Accepts("{list: [items]}, the items of a list to tick that are wanted", inside=True),
    ] = None
    shrink: Annotated[StrictBool | None, Accepts("true or false")] = None  # towards independence, unless false
    weight: Weight = 1.0

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

    @property
    def pair(self) -> Pair:
        """The two features: rows, then columns."""
        return self.features[0], self.features[1]

    def _by_cells(self, policy: Policy) -> list[TableCells]:
        """The tables that are asked cell by cell: of lists one for each item; none of features by themselves."""
        if not any(is_linked(policy, name) for name in self.features):
            return []
        first, second = (list(self._axes(policy, name)) for name in self.features)
        return [TableCells(axes) for axes in product(first, second)]

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
        # the squared errors of all cells together: those of the margins, spread over the other feature, and the rest
        target = interaction_of(policy, self.pair)
        rows, columns = (cell_count(policy, name) for name in target.features)
        signs = [0.5 if size == 1 else 1.0 for size in target.sizes(policy)]
        yield target.margins[0], signs[0] / columns
        yield target.margins[1], signs[1] / rows
        yield target, signs[0] * signs[1]

    def scale(self, policy: Policy, target: Target, budget: float) -> float:
        # the mean over the cells, on the [-1, 1] scale: of two by two cells, as it stands
        cells = self._by_cells(policy)
        if cells:
            return 4 / cells[0].size(policy) / len(cells)
        return 4 / math.prod(cell_count(policy, name) for name in self.features)

    def estimate(self, decoder: Decoder, confidence: float) -> dict[Pair, TableEstimate]:
        shrink = self.shrink is not False
        cells = self._by_cells(decoder.policy)
        if not cells:
            return {self.pair: _table(decoder, self.pair, confidence, shrink=shrink)}
        return {_names_of(decoder.policy, each): _table_of_cells(decoder, each, confidence, shrink) for each in cells}

    @classmethod
    def document(cls, estimates: Mapping[Pair, TableEstimate]) -> dict[str, Any]:
        return {cls.key: [{"features": list(pair), **table.to_dict()} for pair, table in estimates.items()]}

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[Pair, TableEstimate]) -> Iterator[Section]:
        for pair, table in estimates.items():
            first_label, second_label = (_label(policy, name) for name in pair)
            rows = tuple(
                Row(
                    f"{a}, {b}",
                    f"{first_label} = {a}, {second_label} = {b}",
                    cell,
                    (0.0, 1.0),
                    (pair, (a, b)),
                    raw=cell.raw,
                )
                for a, row_estimates in zip(table.values[0], table.cells, strict=True)
                for b, cell in zip(table.values[1], row_estimates, strict=True)
            )
            heads = ("values", "share")
            title = f"{first_label} x {second_label}, from {table.cells[0][0].answers:,} answers"
            notes = (
                *(row_estimates.sentence for row_estimates in table.association.values()),
                table.independence.sentence,
            )
            yield Section(
                f"{first_label} x {second_label}", heads, rows, "grid", title, remarks=notes, grid=table.values
            )

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
        subject = f"table of {self.features[0]} and {self.features[1]}"
        return [expected_error(subject, "the share of a cell", error, scale, {"table": list(self.features)})]

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        cells = self._by_cells(policy)
        return [_goal_of_cells(policy, each, data) for each in cells] or [_goal(policy, self.pair, data)]


def is_linked(policy: Policy, name: str) -> bool:
    """Whether a feature is in a block, or a list to tick: its cells are asked by one question about its block."""
    return name in policy.blocks or isinstance(policy.features[name], MultipleFeature)


def _names_of(policy: Policy, cells: TableCells) -> Pair:
    """The two features as estimates name them."""
    return cells.axes[0].name(policy), cells.axes[1].name(policy)


def _label(policy: Policy, name: str) -> str:
    """What a feature, or an item of a list, is called."""
    if name in policy.features:
        return policy.features[name].label
    lists = [own for own in policy.features if name.startswith(f"{own}: ")]
    return f"{policy.features[lists[0]].label}: {name.removeprefix(lists[0] + ': ')}" if lists else name


def cuts_of(policy: Policy, name: str) -> tuple[float, ...] | None:
    """Where the ranges of a number begin, by which it enters a table; None for what has values."""
    return policy.features[name].cuts or None


def interaction_of(policy: Policy, pair: Pair) -> Interaction:
    """What a table has beyond its margins."""
    return interaction(policy, {name: cuts_of(policy, name) for name in pair})


def table_values(feature: Feature) -> tuple[Any, ...]:
    """The values of a feature as a table has them: its ranges, in words, for a number."""
    return feature.range_words or feature.categories


def cell_count(policy: Policy, name: str) -> int:
    """How many rows or columns a feature makes."""
    return len(table_values(policy.features[name]))


def spread_of(size: int) -> Array:
    """What is left of a margin without its average, from the numbers that stand for it: a sign is two shares."""
    return np.array([[-0.5], [0.5]]) if size == 1 else np.eye(size)


def cells_of(policy: Policy, target: Interaction, rows: str) -> tuple[Array, Array]:
    """All cells as a straight line in the values of both margins and the rest: its constant and its slopes.

    TableCells stand row by row, the values of the feature `rows` being the rows.
    """
    row_spread, column_spread = (spread_of(size) for size in target.sizes(policy))
    ones = [np.ones((len(spread), 1)) / len(spread) for spread in (row_spread, column_spread)]
    slopes = np.hstack(
        [np.kron(row_spread, ones[1]), np.kron(ones[0], column_spread), np.kron(row_spread, column_spread)]
    )
    middle = np.concatenate(
        [np.full(s.shape[1], 1 / len(s) if s.shape[1] > 1 else 0.0) for s in (row_spread, column_spread)]
    )
    constant = 1 / (len(row_spread) * len(column_spread)) - slopes[:, : len(middle)] @ middle
    numbers = np.arange(len(constant)).reshape(len(row_spread), len(column_spread))
    order = (numbers if target.features[0] == rows else numbers.T).ravel()
    return constant[order], slopes[order]


def _table(decoder: Decoder, pair: Pair, confidence: float, *, shrink: bool) -> TableEstimate:
    policy = decoder.policy
    target = interaction_of(policy, pair)
    wanted = (*target.margins, target)
    constant, slopes = cells_of(policy, target, pair[0])
    values = (table_values(policy.features[pair[0]]), table_values(policy.features[pair[1]]))
    return _estimated(_Lines(decoder, wanted, constant, slopes), pair, values, confidence, shrink)


def _table_of_cells(decoder: Decoder, cells: TableCells, confidence: float, shrink: bool) -> TableEstimate:
    policy, size = decoder.policy, cells.size(decoder.policy)
    values = (cells.axes[0].rows(policy), cells.axes[1].rows(policy))
    lines = _Lines(decoder, (cells,), np.zeros(size), np.eye(size))
    return _estimated(lines, (cells.features[0], cells.features[1]), values, confidence, shrink)


class _Lines(NamedTuple):
    """All cells of a table, row by row, as straight lines in the values of some targets."""

    decoder: Decoder
    wanted: tuple[Target, ...]
    constant: Array
    slopes: Array


def _estimated(
    lines: _Lines, pair: Pair, values: tuple[tuple[Any, ...], tuple[Any, ...]], confidence: float, shrink: bool
) -> TableEstimate:
    decoder, wanted, constant, slopes = lines
    policy, shape = decoder.policy, (len(values[0]), len(values[1]))
    joint = decoder.together(wanted)
    raw, covariance = np.full(len(constant), math.nan), np.full((len(constant), len(constant)), math.nan)
    if joint is not None:
        raw, covariance = constant + slopes @ joint.value, slopes @ joint.covariance @ slopes.T
    rule = "; ".join(f"{name}: {rule}" for name in pair if (rule := policy.features[name].rule)) or None
    known = bool(np.isfinite(raw).all())
    inside, errors = raw, np.full(len(raw), math.inf)
    low, high = np.zeros(len(raw)), np.ones(len(raw))
    if known:
        inside = nearest_table(raw.reshape(shape)).ravel()
        errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        if shrink:
            inside = shrunk(inside.reshape(shape), raw.reshape(shape), covariance).ravel()
        low, high = confined(raw, width(confidence) * errors, (0.0, 1.0), inside)
    answers = 0 if joint is None else joint.answers[-1]
    unbiased = raw if joint is None else constant + slopes @ joint.raw
    numbers = np.column_stack([inside, errors, low, high, unbiased]).tolist()
    parts = np.split(slopes, np.cumsum([part.size(policy) for part in wanted])[:-1], axis=1)
    cells = [
        Estimate(
            value, se, start, high=end, answers=answers, raw=exact, rule=rule,
            linear=LinearForm(decoder, confidence, dict(zip(wanted, factors, strict=True)), (0.0, 1.0)),
        )
        for (value, se, start, end, exact), *factors in zip(numbers, *parts, strict=True)
    ]  # fmt: skip
    rows = tuple(tuple(cells[start : start + shape[1]]) for start in range(0, len(cells), shape[1]))
    measures = associations(raw.reshape(shape), covariance, inside.reshape(shape), confidence) if known else {}
    return TableEstimate(values, rows, measures, independence(raw.reshape(shape), covariance))


def nearest_table(raw: Array) -> Array:
    """The nearest table of shares that are at least 0, whose margins are the nearest possible to those of `raw`.

    Alternating projections (Dykstra) on the margins and on what is at least 0; the last step is on the latter, and the
    margins are met to about 1e-9. Margins agree with the frequencies that are given for each feature.

    >>> nearest_table(np.array([[0.5, -0.1], [0.2, 0.4]])).round(3).tolist()
    [[0.4, 0.0], [0.3, 0.3]]
    """
    rows, columns = on_simplex(raw.sum(axis=1)), on_simplex(raw.sum(axis=0))
    size, table, held = raw.shape, raw, np.zeros_like(raw)
    for _ in range(_PROJECTIONS):
        deficits = rows[:, None] - table.sum(axis=1, keepdims=True), columns[None] - table.sum(axis=0, keepdims=True)
        excess = float(deficits[0].sum()) / table.size
        fitted = table + deficits[0] / size[1] + deficits[1] / size[0] - excess
        if float(fitted.min()) >= -1e-12:
            return np.asarray(np.maximum(fitted, 0.0))
        table = np.maximum(fitted + held, 0.0)
        held = fitted + held - table
    return table


def shrunk(table: Array, raw: Array, covariance: Array) -> Array:
    """The table moved towards independence as far as chance explains its departures: James and Stein's factor.

    Margins stay as they are, and shares at least 0. Of fewer than three departures none is known to help.
    """
    degrees = (table.shape[0] - 1) * (table.shape[1] - 1)
    if degrees < 3:
        return table
    departure = raw - np.outer(raw.sum(axis=1), raw.sum(axis=0))
    noise = float(np.trace(departures(raw, covariance)[1]))
    kept = max(0.0, 1 - (1 - 2 / degrees) * noise / max(float((departure**2).sum()), 1e-300))
    independent = np.outer(table.sum(axis=1), table.sum(axis=0))
    return np.asarray(independent + kept * (table - independent))


def _goal(policy: Policy, pair: Pair, data: Means) -> Goal:
    target = interaction_of(policy, pair)
    constant, slopes = cells_of(policy, target, pair[0])
    shape = (cell_count(policy, pair[0]), cell_count(policy, pair[1]))
    return _goal_of((*target.margins, target), pair, shape, (constant, slopes), data)


def _goal_of_cells(policy: Policy, cells: TableCells, data: Means) -> Goal:
    size = cells.size(policy)
    return _goal_of((cells,), _names_of(policy, cells), cells.shape(policy), (np.zeros(size), np.eye(size)), data)


def _goal_of(
    wanted: tuple[Target, ...], pair: Pair, shape: tuple[int, int], lines: tuple[Array, Array], data: Means
) -> Goal:
    constant, slopes = lines
    size = len(constant)

    def solved(means: Means) -> Array:
        if not all(target in means for target in wanted):
            return np.full(size, np.nan)
        cells = constant + slopes @ np.concatenate([means[target] for target in wanted])
        return nearest_table(cells.reshape(shape)).ravel() if np.isfinite(cells).all() else cells

    return Goal(
        f"table of {pair[0]} and {pair[1]}",
        lambda estimates: np.array([cell.value for row in estimates[pair].cells for cell in row]),
        solved,
        solved(data),
        np.eye(size) / size,
        np.full(size, 1 / size),
    )
