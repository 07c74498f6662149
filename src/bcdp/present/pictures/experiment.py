"""The picture of an experiment: one panel for each kind of error, readable in grey."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from bcdp.compare.catalogue import Experiment
from bcdp.compare.curves import Array
from bcdp.compare.trials import Point
from bcdp.present import palette
from bcdp.present.pictures.canvas import new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Style = tuple[str, str, Literal["-", "--", "-.", ":"]]

# Colours of different lightness that people who confuse red and green can distinguish, with a marker and a dash each.
_STYLES: dict[str, Style] = {
    "paper, as published": (palette.VERMILION, "o", "-"),
    "paper, corrected": (palette.ORANGE, "s", "--"),
    "paper, best level": (palette.BLUE, "^", "-."),
    "min-delta LDP": (palette.INK, "D", ":"),
    "survey": (palette.GREEN, "v", "-"),
    "survey, all moments alike": (palette.SKY, "P", "--"),
    "survey, odds 2": (palette.SKY, "P", "--"),
    "survey, odds 1.5": (palette.INK, "*", "-."),
    "predicting 0": (palette.GREY, "X", ":"),
    "proved lower bound": (palette.PINK, "", "--"),
}
_OTHERS: tuple[Style, ...] = ((palette.YELLOW, "h", "-"), (palette.PINK, "P", "--"), (palette.SKY, "*", "-."))
_DODGE = 0.006  # of the axis between the bars of neighbouring curves, which would hide each other


def draw_experiment(experiment: Experiment, rows: Sequence[Point], path: Path) -> None:
    """Draws medians with quartiles for every curve and panel, and the exact expectation as a thin line where known.

    >>> from bcdp.compare import find, run
    >>> draw_experiment(find("regression"), run("regression", trials=1, people=2000), Path("regression.png"))
    """
    panels = list(dict.fromkeys(row.panel for row in rows))
    curves = list(dict.fromkeys(row.curve for row in rows))
    figure = new_figure(5.6 * len(panels), 5.2)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for panel, drawn in zip(panels, axes, strict=True):
        drawn.set(title=panel, xlabel=experiment.x_label, ylabel=experiment.y_labels[panel], yscale="log")
        if experiment.logarithmic_x:
            drawn.set_xscale("log")
        _draw_panel(drawn, [row for row in rows if row.panel == panel], curves)
        for axis in (drawn.xaxis, drawn.yaxis):
            if axis.get_scale() == "log":
                _plain_ticks(axis)
        drawn.grid(which="major", color=palette.GRID, linewidth=0.8)
        drawn.set_axisbelow(True)
    sizes = {row.n for row in rows}
    people = f"; {sizes.pop():,} people" if len(sizes) == 1 else ""
    figure.suptitle(f"{experiment.title}{people}; median and quartiles of {rows[0].trials:,} trials", fontsize=11)
    shown = {label: handle for drawn in axes for handle, label in zip(*drawn.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=min(len(shown), 5), frameon=False)
    buffer = io.BytesIO()
    save(figure, buffer, dpi=160)
    from PIL import Image  # matplotlib brings it

    # A palette of 128 colours makes the file three times smaller, and nobody sees it.
    Image.open(buffer).convert("RGB").quantize(128).save(path, optimize=True)


def _plain_ticks(axis: Axis) -> None:
    """Numbers as people write them on a logarithmic axis, at 1, 2 and 5 if it is short."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axis.set_minor_formatter(NullFormatter())


def _draw_panel(drawn: Axes, rows: Sequence[Point], curves: Sequence[str]) -> None:
    others = iter(_OTHERS * len(curves))
    for number, curve in enumerate(curves):
        colour, marker, dash = _STYLES.get(curve) or next(others)
        own = [row for row in rows if row.curve == curve]
        if not own:
            continue
        x = np.array([row.x for row in own])
        if math.isnan(own[0].median):  # known, not simulated
            drawn.plot(x, [row.predicted for row in own], color=colour, linestyle=dash, linewidth=1.6, label=curve)
            continue
        median = [row.median for row in own]
        bars = [[row.median - row.q25 for row in own], [row.q75 - row.median for row in own]]
        drawn.errorbar(
            _aside(x, (number - (len(curves) - 1) / 2) * _DODGE, drawn.get_xscale() == "log"),
            median,
            yerr=bars,
            label=curve,
            color=colour,
            marker=marker,
            linestyle=dash,
            markersize=5,
            linewidth=1.4,
            elinewidth=1,
        )
        if not math.isnan(own[0].predicted):
            exact = [row.predicted for row in own]
            drawn.plot(x, exact, color=palette.SOFT, linewidth=0.8, zorder=1, label="exact expected error")


def _aside(x: Array, share: float, logarithmic: bool) -> Array:
    """The places moved aside by a share of the axis."""
    if logarithmic:
        return np.asarray(x * (x.max() / x.min()) ** share)
    return np.asarray(x + share * (x.max() - x.min()))
