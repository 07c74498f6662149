"""Pictures of results: every estimate in its own units, with its interval, readable in grey."""

from __future__ import annotations

from pathlib import Path

from bcdp.errors import refuse
from bcdp.estimate import Estimates
from bcdp.plan import Plan
from bcdp.policy import NumericFeature

_MOST_BARS = 40


def draw_estimates(plan: Plan, found: Estimates, path: str | Path) -> None:
    """Saves a PNG: each mean on the range of its feature, and the frequencies of each categorical feature."""
    import matplotlib.pyplot as plt

    if not found.means and not found.frequencies:
        raise refuse("estimates", "none", "estimates of at least one mean or frequency")
    bars = {name: min(len(table), _MOST_BARS) for name, table in found.frequencies.items()}
    heights = [0.75] * len(found.means) + [0.9 + 0.22 * count for count in bars.values()]
    figure, grid = plt.subplots(
        len(heights), 1, figsize=(7, sum(heights) + 0.8), height_ratios=heights, squeeze=False, layout="constrained"
    )
    figure.suptitle(f"{found.people:,} reports, {100 * found.level:g}% intervals")
    axes = list(grid[:, 0])
    for name, mean in found.means.items():
        panel = axes.pop(0)
        feature = plan.policy.features[name]
        low, high = feature.bounds if isinstance(feature, NumericFeature) else (0.0, 1.0)
        panel.hlines(0, low, high, color="0.8", linewidth=1)
        panel.hlines(0, mean.low, mean.high, color="black", linewidth=3)
        panel.plot([mean.value], [0], "o", color="black", markerfacecolor="white", markersize=7)
        panel.set(xlim=(low, high), ylim=(-1, 1), yticks=[])
        panel.set_title(_said(feature.label, mean.value, mean.se), loc="left", fontsize=9)
        panel.spines[["left", "right", "top"]].set_visible(False)
    for name, table in found.frequencies.items():
        panel = axes.pop(0)
        shown = sorted(table.items(), key=lambda item: -item[1].value)[: bars[name]]
        places = range(len(shown))
        panel.barh(places, [e.value for _, e in shown], color="0.75", edgecolor="0.3", height=0.7)
        panel.hlines(places, [e.low for _, e in shown], [e.high for _, e in shown], color="black", linewidth=2)
        panel.set_yticks(places, [str(value) for value, _ in shown])
        panel.invert_yaxis()
        panel.set(xlim=(0, None), xlabel="frequency")
        rest = f" (the {len(shown)} most frequent of {len(table)})" if len(shown) < len(table) else ""
        panel.set_title(plan.policy.features[name].label + rest, loc="left", fontsize=9)
        panel.spines[["right", "top"]].set_visible(False)
    figure.savefig(path, dpi=160)
    plt.close(figure)


def _said(label: str, value: float, error: float) -> str:
    return f"{label}: {value:.4g} (standard error {error:.2g})" if value == value else f"{label}: nobody was asked"
