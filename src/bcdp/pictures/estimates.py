"""Pictures of results: every estimate in its own units, with its interval, readable in grey."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcdp.comparison import Errors
from bcdp.errors import refuse
from bcdp.estimates import Estimates
from bcdp.plan import Plan
from bcdp.wording import number, unit_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BARS = 40


def draw_estimates(plan: Plan, found: Estimates, path: str | Path) -> None:
    """Saves a PNG: each mean on the range of its feature, and the frequencies of each categorical feature."""
    import matplotlib.pyplot as plt

    figure = estimate_figure(plan, found)
    figure.savefig(path, dpi=160)
    plt.close(figure)


def estimate_figure(plan: Plan, found: Estimates, truth: Mapping[str, Any] | None = None) -> Figure:
    """A figure of all means and frequencies with their intervals, and crosses at the truth where it is known."""
    import matplotlib.pyplot as plt

    if not found.means and not found.frequencies:
        raise refuse("estimates", "none", "estimates of at least one mean or frequency")
    bars = {name: min(len(table), _MOST_BARS) for name, table in found.frequencies.items()}
    heights = [0.75] * len(found.means) + [0.9 + 0.22 * count for count in bars.values()]
    figure, grid = plt.subplots(
        len(heights), 1, figsize=(7, sum(heights) + 0.8), height_ratios=heights, squeeze=False, layout="constrained"
    )
    crosses = "" if truth is None else ", x marks the truth"
    figure.suptitle(f"{found.people:,} reports, {100 * found.level:g}% intervals{crosses}", fontsize=11)
    axes = list(grid[:, 0])
    for name, mean in found.means.items():
        panel = axes.pop(0)
        feature = plan.policy.features[name]
        low, high = unit_range(feature)
        panel.hlines(0, low, high, color="0.8", linewidth=1)
        panel.hlines(0, mean.low, mean.high, color="black", linewidth=3)
        panel.plot([mean.value], [0], "o", color="black", markerfacecolor="white", markersize=7)
        if truth is not None:
            panel.plot([truth[name]], [0], "x", color="black", markersize=9)
        panel.set(xlim=(low, high), ylim=(-1, 1), yticks=[])
        panel.set_title(_said(feature.label, mean.value, mean.se), loc="left", fontsize=9)
        panel.spines[["left", "right", "top"]].set_visible(False)
    for name, table in found.frequencies.items():
        panel = axes.pop(0)
        shown = sorted(table.items(), key=lambda item: -item[1].value)[: bars[name]]
        places = range(len(shown))
        panel.barh(places, [e.value for _, e in shown], color="0.75", edgecolor="0.3", height=0.7)
        panel.hlines(places, [e.low for _, e in shown], [e.high for _, e in shown], color="black", linewidth=2)
        if truth is not None:
            panel.plot([truth[name][value] for value, _ in shown], places, "x", color="black", markersize=8)
        panel.set_yticks(places, [str(value) for value, _ in shown])
        panel.invert_yaxis()
        panel.set(xlim=(0, None), xlabel="frequency")
        rest = f" (the {len(shown)} most frequent of {len(table)})" if len(shown) < len(table) else ""
        panel.set_title(plan.policy.features[name].label + rest, loc="left", fontsize=9)
        panel.spines[["right", "top"]].set_visible(False)
    return figure


def _said(label: str, value: float, error: float) -> str:
    return (
        f"{label}: {number(value)} (standard error {number(error)})" if value == value else f"{label}: nobody was asked"
    )


def error_figure(plan: Plan, errors: Mapping[str, Errors]) -> Figure:
    """A figure of how many people each mechanism needs for the precision that the plan reaches with one."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    names = list(errors)
    figure, panel = plt.subplots(figsize=(7, 0.55 * len(names) + 1.4), layout="constrained")
    needed = {
        "this plan": [1.0 for _ in names],
        "the paper's mechanism, best level": [errors[name].paper / errors[name].plan for name in names],
        "uniform LDP": [errors[name].uniform / errors[name].plan for name in names],
    }
    for offset, ((label, ratios), shade) in enumerate(zip(needed.items(), ("0.15", "0.55", "0.85"), strict=True)):
        places = [place + 0.26 * (offset - 1) for place in range(len(names))]
        panel.barh(places, ratios, height=0.24, color=shade, edgecolor="0.2", label=label)
    panel.set_yticks(range(len(names)), [plan.policy.features[name].label for name in names])
    panel.invert_yaxis()
    panel.set(xscale="log", xlabel="people needed for the same precision, as a multiple of this plan's")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter("{x:g}")
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    panel.spines[["right", "top"]].set_visible(False)
    return figure
