"""The picture of a trend: every number over the times of its waves, with intervals, and the line of its slope."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from bcdp.estimates.waves import Trend, WaveEstimates
from bcdp.present import palette
from bcdp.present.pictures.canvas import head, panels_figure, short
from bcdp.present.words import interval, measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 24  # numbers; tables show the others
_HEIGHT = 1.5  # inches


def trend_figure(estimates: WaveEstimates) -> Figure:
    """A panel for each number: the waves as dots with bars, and the line of least squares through them.

    >>> from bcdp import Policy, Tally, make_plan, privatize
    >>> from bcdp.estimates.waves import estimate_waves
    >>> plan = make_plan(Policy(epsilon=2, features={"smoker": {"type": "binary"}}))
    >>> waves = {year: Tally(plan).add(privatize(plan, {"smoker": [0, 1] * year})) for year in (2024, 2026)}
    >>> len(trend_figure(estimate_waves(waves)).axes)
    1
    """
    trends = [trend for trend in estimates.trends if trend.section.drawn != "curve"]
    shown = trends[:_MOST]
    rest = f", {_MOST} of {len(trends)} numbers" if len(shown) < len(trends) else ""
    title = f"{len(estimates.waves)} waves of different people, {100 * estimates.together.level:g}% intervals{rest}"
    return panels_figure([(_HEIGHT, _panel(trend)) for trend in shown], title)


def _panel(trend: Trend) -> Callable[[Axes], None]:
    def draw(panel: Axes) -> None:
        times, numbers = list(trend.waves), list(trend.waves.values())
        panel.vlines(times, [n.low for n in numbers], [n.high for n in numbers], color=palette.INK, linewidth=2)
        panel.plot(times, [n.value for n in numbers], "o", color=palette.INK, markerfacecolor=palette.PAPER)
        ends, middle = (times[0], times[-1]), math.fsum(times) / len(times)
        line = [trend.all_waves.value + trend.slope.value * (time - middle) for time in ends]
        panel.plot(ends, line, color=palette.SOFT, linewidth=1.2, linestyle="--", zorder=0)
        label = f"slope {measured(trend.slope.value, trend.slope.se)} ({interval(trend.slope)})"
        head(panel, f"{short(trend.row.label, 52)}\n{label}")
        panel.set_xticks(times, [f"{time:.10g}" for time in times])
        panel.locator_params(axis="y", nbins=4)
        panel.margins(x=0.05, y=0.15)
        panel.tick_params(labelsize=8)
        panel.grid(axis="y", color=palette.GRID, linewidth=0.6)
        panel.set_axisbelow(True)
        panel.spines[["left", "right", "top"]].set_visible(False)

    return draw
