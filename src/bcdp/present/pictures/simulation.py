"""The picture of a simulation: for each task the errors with the most people, and how they fall with the number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bcdp.compare.trials import Point
from bcdp.present import palette
from bcdp.present.pictures.canvas import new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = {
    "survey": (palette.GREEN, "v", "-"),
    "paper": (palette.BLUE, "^", "-."),
    "uniform LDP": (palette.INK, "D", ":"),
    "without data": (palette.GREY, "X", "--"),
}
_MOST_TASKS = 16


def draw_simulation(rows: Sequence[Point], path: Path) -> None:
    """Draws one line of panels for each task, at most 16: bars of medians with quartiles, and curves in the people.

    >>> from bcdp import Policy
    >>> from bcdp.compare.simulation import simulate
    >>> policy = Policy(epsilon=2, features={"smoker": {"type": "binary"}})
    >>> draw_simulation(simulate(policy, {"smoker": [0, 1]}, users=640, trials=1), Path("simulation.png"))
    """
    tasks = list(dict.fromkeys(row.panel for row in rows))[:_MOST_TASKS]
    people = max(row.n for row in rows)
    figure = new_figure(9, 2.3 * len(tasks) + 0.9)
    axes = figure.subplots(len(tasks), 2, squeeze=False, width_ratios=(1, 1.4))
    figure.suptitle(f"Errors in own units: median and quartiles of {rows[0].trials:,} trials", fontsize=11)
    for task, (bars, curves) in zip(tasks, axes, strict=True):
        own = [row for row in rows if row.panel == task]
        _bars(bars, [row for row in own if row.n == people])
        bars.set_title(f"{task}, {people:,} people", loc="left", fontsize=9)
        _curves(curves, own)
    axes[-1, 1].set_xlabel("people")
    legends = [drawn.get_legend_handles_labels() for drawn in axes[:, 1]]
    shown = {label: handle for handles, labels in legends for handle, label in zip(handles, labels, strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=len(shown), frameon=False)
    save(figure, path, dpi=130)


def _bars(drawn: Axes, rows: Sequence[Point]) -> None:
    names = [row.curve for row in rows]
    reach = [[row.median - row.q25 for row in rows], [row.q75 - row.median for row in rows]]
    colours = [_STYLES[name][0] for name in names]
    drawn.barh(names, [row.median for row in rows], xerr=reach, color=colours, alpha=0.75, height=0.65)
    drawn.invert_yaxis()
    drawn.set_xlim(left=0)
    drawn.spines[["right", "top"]].set_visible(False)


def _curves(drawn: Axes, rows: Sequence[Point]) -> None:
    drawn.set(xscale="log", yscale="log")
    for name in dict.fromkeys(row.curve for row in rows):
        own = [row for row in rows if row.curve == name]
        colour, marker, dash = _STYLES[name]
        reach = [[row.median - row.q25 for row in own], [row.q75 - row.median for row in own]]
        drawn.errorbar(
            [row.n for row in own], [row.median for row in own], yerr=reach, label=name, color=colour, marker=marker,
            linestyle=dash, markersize=4, linewidth=1.3, elinewidth=0.9,
        )  # fmt: skip
    drawn.grid(which="major", color=palette.GRID, linewidth=0.8)
    drawn.set_axisbelow(True)
