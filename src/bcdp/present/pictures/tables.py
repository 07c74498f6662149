"""Pictures of two-way tables, as heat maps with intervals, and of groups, as dots with bars on one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bcdp.present import palette
from bcdp.present.pictures.canvas import head, short
from bcdp.present.words import number
from bcdp.statistics import Row, Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Draw = Callable[["Axes"], None]
Truth = Mapping[Any, Any]

_MOST_WRITTEN = 8  # columns, so that numbers in cells stay readable
_MOST_INTERVALS = 4  # columns: beyond, a cell has room for its number alone
_LETTERS = 48  # of all column heads together
_CELL = 0.42  # inches of a line of cells
_LINE = 0.24  # of a dot


def grid_panel(section: Section, truth: Truth | None) -> tuple[float, Draw]:
    """A table as a heat map, darker for more: height in inches, and how it is drawn."""
    rows, columns = section.grid
    shape = (len(rows), len(columns))

    def draw(panel: Axes) -> None:
        values = np.array([row.number.value for row in section.rows], dtype=float).reshape(shape)
        top = max(float(np.nanmax(values)) if np.isfinite(values).any() else 0.0, 1e-9)
        panel.imshow(np.nan_to_num(values), cmap="Greys", vmin=0.0, vmax=1.15 * top, aspect="auto")
        panel.set_xticks(
            range(shape[1]), [short(str(value), max(5, _LETTERS // shape[1])) for value in columns], fontsize=7
        )
        panel.set_yticks(range(shape[0]), [short(str(value), 14) for value in rows], fontsize=7)
        panel.xaxis.tick_top()
        for cell in np.ndindex(*shape) if shape[1] <= _MOST_WRITTEN else ():
            ink = palette.PAPER if values[cell] > 0.6 * top else palette.INK
            panel.text(
                cell[1],
                cell[0],
                _cell(section.rows[cell[0] * shape[1] + cell[1]], truth, shape[1] <= _MOST_INTERVALS),
                ha="center",
                va="center",
                fontsize=7,
                color=ink,
            )
        head(panel, f"{short(section.subject, 52)}\npercent of all people")

    return 0.6 + _CELL * shape[0] * (1.35 if truth else 1.0), draw


def _cell(row: Row, truth: Truth | None, with_interval: bool) -> str:
    estimate, known = row.number, row.truth(truth)
    if math.isnan(estimate.value):
        return "not asked"
    between = f"\n{_percent(estimate.low)}–{_percent(estimate.high)}" if with_interval else ""
    label = f"{_percent(estimate.value)}{between}"
    return label if known is None else f"{label}\nx {_percent(known)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def dots_panel(section: Section, truth: Truth | None) -> tuple[float, Draw]:
    """Groups as dots with bars on the line that all of them share; their differences are written, not drawn."""
    groups = [row for row in section.rows if not isinstance(row.key[-1], tuple)]

    def draw(panel: Axes) -> None:
        for position, row in enumerate(groups):
            estimate, known = row.number, row.truth(truth)
            if math.isnan(estimate.value):
                panel.text(
                    0.5, position, "nobody was asked", fontsize=7, va="center", transform=panel.get_yaxis_transform()
                )
                continue
            panel.hlines(position, estimate.low, estimate.high, color=palette.INK, linewidth=2)
            panel.plot(
                [estimate.value], [position], "o", color=palette.INK, markerfacecolor=palette.PAPER, markersize=6
            )
            if known is not None:
                panel.plot([known], [position], "x", color=palette.INK, markersize=8)
        panel.set_yticks(range(len(groups)), [f"{short(row.name, 14)}  {_told(row)}" for row in groups], fontsize=7)
        panel.set_ylim(len(groups) - 0.5, -0.5)
        panel.grid(axis="x", color=palette.GRID, linewidth=0.8)
        panel.set_axisbelow(True)
        head(panel, short(section.subject, 52))

    return 0.6 + _LINE * len(groups), draw


def _told(row: Row) -> str:
    return "" if math.isnan(row.number.value) else number(row.number.value, 4)
