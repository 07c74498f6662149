"""Tables of two or three features: how often their values occur together, how strongly two features are associated,
and whether at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, StrictBool, ValidationInfo, field_validator

from bcdp.policy import MultipleFeature, Policy
from bcdp.policy.base_feature import Values
from bcdp.policy.field_checks import Accepts, Writable, expected
from bcdp.policy.names import TwoOrThree
from bcdp.statistics.shared.cell_targets import TableAxis, TableCells
from bcdp.statistics.shared.interval import Estimate
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
from bcdp.statistics.shared.rows import Row, Section
from bcdp.statistics.shared.target import Codes, Target
from bcdp.statistics.tables.cells import (
    cell_count,
    cuts_of,
    error_weights,
    margins_of,
)
from bcdp.statistics.tables.lines import CellLines, TableEstimate, ThreeWayEstimate, listed
from bcdp.statistics.tables.pairs import Axes, largest_share, towards_independence, with_pairs

Array = npt.NDArray[np.float64]
Pair = tuple[str, str]
Triple = tuple[str, str, str]

MOST_CELLS = 1024


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
    def listed(cls, items: dict[str, Any] | None, info: ValidationInfo) -> dict[str, Any] | None:
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
        return {
            lines.names: lines.estimate(decoder, confidence, self._published(decoder, lines))
            for lines in self._tables(decoder.policy)
        }

    def _published(self, decoder: Decoder, lines: CellLines) -> Array:
        """The cells that are reported: of three features, such that sums are the tables of two that are reported."""
        cells = lines.nearest(decoder, shrink=self.shrink is not False)
        if not np.isfinite(cells).all():
            return cells
        if cells.ndim == 2:
            return towards_independence(cells, _share_kept(decoder))
        pairs = _pairs_inside(decoder, lines.names)
        share = _share_kept(decoder) if pairs else 1.0
        return with_pairs(cells, {axes: towards_independence(pair, share) for axes, pair in pairs.items()})

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
        subject = f"table of {listed(self.features)}"
        return [expected_error(subject, "the share of a cell", error, scale, {"table": list(self.features)})]

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [lines.goal(data) for lines in self._tables(policy)]

    def _tables(self, policy: Policy) -> list[CellLines]:
        """Its tables: of lists one for each item."""
        cells = self._by_cells(policy)
        return [CellLines.of_cells(policy, each) for each in cells] or [CellLines.of_parts(policy, self.features)]


def _pairs_inside(decoder: Decoder, names: tuple[str, ...]) -> dict[Axes, Array]:
    """The tables of two of three features that are wanted as well, the nearest to what answers reveal."""
    pairs: dict[Axes, Array] = {}
    for task in decoder.policy.tasks:
        if not isinstance(task, ContingencyTable) or len(task.features) != 2:
            continue
        for lines in task._tables(decoder.policy):
            if names.count(lines.names[0]) and names.count(lines.names[1]):
                cells = lines.nearest(decoder, shrink=task.shrink is not False)
                first, second = map(names.index, lines.names)
                if np.isfinite(cells).all():
                    pairs[min(first, second), max(first, second)] = cells if first < second else cells.T
    return pairs


def _share_kept(decoder: Decoder) -> float:
    """How much of the departures from independence of tables of two is reported: what those of three can have."""
    share = 1.0
    for task in decoder.policy.tasks:
        if isinstance(task, ContingencyTable) and len(task.features) == 3:
            for lines in task._tables(decoder.policy):
                pairs = _pairs_inside(decoder, lines.names)
                if len(pairs) == 3:
                    margins = [*margins_of(pairs[0, 1]), margins_of(pairs[0, 2])[1]]
                    share = min(share, largest_share(margins, pairs))
    return share


def published_pair(decoder: Decoder, names: Pair) -> Array | None:
    """The table of two features as it is reported, if it is wanted."""
    for task in decoder.policy.tasks:
        if isinstance(task, ContingencyTable) and set(task.features) == set(names):
            for lines in task._tables(decoder.policy):
                if set(lines.names) == set(names):
                    cells = task._published(decoder, lines)
                    return cells if lines.names == names else cells.T
    return None


def is_linked(policy: Policy, name: str) -> bool:
    """Whether a feature is in a block, or a list to tick: its cells are asked by one question about its block."""
    return name in policy.blocks or isinstance(policy.features[name], MultipleFeature)


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
