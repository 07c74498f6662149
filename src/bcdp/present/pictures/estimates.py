"""The picture of a collection: every estimate in its own units, with its interval, and the truth where it is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bcdp.errors import refuse
from bcdp.estimates import Estimates
from bcdp.plan import Plan
from bcdp.present import palette
from bcdp.present.pictures.canvas import head, panels_figure, short
from bcdp.present.pictures.tables import dots_panel, grid_panel
from bcdp.present.words import measured, number
from bcdp.statistics import Row, Section
from bcdp.statistics.shared.rows import AnyEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Truth = Mapping[Any, Any]  # the mean of a feature, the frequency of each of its values, of two features a table

_MOST_BARS = 40
_LINE = 0.85  # inches for one number on its axis


def estimate_figure(plan: Plan, estimates: Estimates, truth: Truth | None = None) -> Figure:
    """A figure of all means, frequencies and coefficients with their intervals, and crosses at the truth if known.

    >>> from bcdp import Policy, Tally, estimate, make_plan, privatize
    >>> from bcdp.present.pictures import save
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> found = estimate(Tally(plan).add(privatize(plan, {"smoker": [0, 1, 1]})))
    >>> save(estimate_figure(plan, found, truth={"smoker": 2 / 3}), "estimates.png")
    """
    return sections_figure(estimates.sections(), estimates.people, estimates.level, truth)


def sections_figure(sections: Iterable[Section], people: int, level: float, truth: Truth | None = None) -> Figure:
    """A figure of sections, one below the other; `level` is the confidence of their intervals.

    >>> from bcdp.statistics import Estimate
    >>> row = Row("smoker", "Smokes", Estimate(0.3, 0.1, 0.1, 0.5, 20, 0.3), (0.0, 1.0))
    >>> len(sections_figure([Section("Means", ("feature", "mean"), (row,))], 20, 0.95).axes)
    1
    """
    panels: list[tuple[float, Callable[[Axes], None]]] = []
    for section in sections:
        if section.drawn in _PANELS:
            panels.append(_PANELS[section.drawn](section, truth))
        else:
            panels += [(_LINE, _point(row, row.truth(truth))) for row in section.rows]
    if not panels:
        raise refuse("estimates", "none", "estimates of at least one mean, frequency or coefficient")
    crosses = ", x marks the truth" if truth else ""
    figure = panels_figure(panels, f"{people:,} reports, {100 * level:g}% intervals{crosses}")
    for panel in figure.axes:
        panel.tick_params(labelsize=8)
        panel.spines[["left", "right", "top"]].set_visible(False)
    return figure


def _point(row: Row, truth: float | None) -> Callable[[Axes], None]:
    def draw(panel: Axes) -> None:
        estimate, bounded = row.number, all(map(math.isfinite, row.possible))
        _dot(panel, estimate, row.possible, truth)
        label = "nobody was asked" if math.isnan(estimate.value) else measured(estimate.value, estimate.se)
        bounds = f"   (possible: {number(row.possible[0])} to {number(row.possible[1])})" if bounded else ""
        if not bounded:
            panel.axvline(0, color=palette.SOFT, linewidth=0.8, linestyle=":")
        head(panel, f"{short(row.label, 52)}\n{label}{bounds}")

    return draw


def _dot(panel: Axes, estimate: AnyEstimate, possible: tuple[float, float], truth: float | None) -> None:
    """A number and its interval in the middle of an axis about twice as wide, within what is possible."""
    shown = [x for x in (estimate.low, estimate.value, estimate.high, truth) if x is not None and math.isfinite(x)] or [
        0.0
    ]
    margin = (max(shown) - min(shown)) / 2 or abs(shown[0]) / 2 or 1.0
    low, high = max(min(shown) - margin, possible[0]), min(max(shown) + margin, possible[1])
    panel.hlines(0, max(estimate.low, low), min(estimate.high, high), color=palette.INK, linewidth=3)
    panel.plot([estimate.value], [0], "o", color=palette.INK, markerfacecolor=palette.PAPER, markersize=7)
    if truth is not None:
        panel.plot([truth], [0], "x", color=palette.INK, markersize=9, clip_on=False)
    panel.set(xlim=(low, high), ylim=(-1, 1), yticks=[])
    panel.locator_params(axis="x", nbins=6)


def _known(
    positions: Sequence[float], rows: Sequence[Row], truth: Truth | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Where the truth of a row is known, and what it is."""
    known = [(at, true) for at, row in zip(positions, rows, strict=True) if (true := row.truth(truth)) is not None]
    return tuple(at for at, _ in known), tuple(true for _, true in known)


def _bars(section: Section, truth: Truth | None) -> tuple[float, Callable[[Axes], None]]:
    def draw(panel: Axes) -> None:
        shown = sorted(section.rows, key=lambda row: -row.number.value)[:_MOST_BARS]
        positions, numbers = range(len(shown)), [row.number for row in shown]
        panel.barh(positions, [n.value for n in numbers], color=palette.BAR, edgecolor=palette.SOFT, height=0.7)
        panel.hlines(positions, [n.low for n in numbers], [n.high for n in numbers], color=palette.INK, linewidth=2)
        panel.plot(*reversed(_known(positions, shown, truth)), "x", color=palette.INK, markersize=8)
        panel.set_yticks(positions, [short(row.name, 20) for row in shown])
        panel.invert_yaxis()
        panel.set_xlim(0, None)
        rest = f"\n(the {len(shown)} most frequent of {len(section.rows)})" if len(shown) < len(section.rows) else ""
        head(panel, f"{short(section.subject, 40)}: share of each {section.heads[0]}{rest}")

    return 0.6 + 0.22 * min(len(section.rows), _MOST_BARS), draw


def _curve(section: Section, truth: Truth | None) -> tuple[float, Callable[[Axes], None]]:
    def draw(panel: Axes) -> None:
        (start, end), (least, most) = section.ends, section.rows[0].possible
        edges = [start, *section.places, end]
        low, value, high = (
            [least, *(getattr(row.number, name) for row in section.rows), most] for name in ("low", "value", "high")
        )
        panel.fill_between(edges, low, high, color=palette.BAR, edgecolor=palette.SOFT, linewidth=0.6)
        panel.plot(edges, value, color=palette.INK, linewidth=1.4)
        panel.plot(*_known(section.places, section.rows, truth), "x", color=palette.INK, markersize=3)
        panel.set(xlim=(start, end), ylim=(least, most))
        panel.locator_params(axis="x", nbins=6)
        panel.grid(axis="y", color=palette.SOFT, linewidth=0.3)
        head(panel, f"{short(section.subject, 52)}\n{section.interval.removeprefix(', ')} band")

    return 2.2, draw


_PANELS = {
    "bars": _bars,
    "grid": grid_panel,
    "dots": dots_panel,
    "curve": _curve,
}  # for all rows
