"""The picture of a collection: every estimate in its own units, with its interval, and the truth where it is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bcdp.errors import refuse
from bcdp.estimates import Estimate, Estimates
from bcdp.pictures.canvas import WIDTH, new_figure, short
from bcdp.plan import Plan
from bcdp.policy import Feature
from bcdp.regression import Coefficient
from bcdp.wording import measured, number, share_of, unit_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Truth = Mapping[str, Any]  # the mean of a feature, or the frequency of each of its values

_MOST_BARS = 40
_LINE = 0.72  # inches for one number on its axis


def estimate_figure(plan: Plan, found: Estimates, truth: Truth | None = None) -> Figure:
    """A figure of all means, frequencies and coefficients with their intervals, and crosses at the truth if known.

    >>> from bcdp import Policy, Tally, estimate, make_plan, privatize
    >>> from bcdp.pictures import save
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> found = estimate(Tally(plan).add(privatize(plan, {"smoker": [0, 1, 1]})))
    >>> save(estimate_figure(plan, found, truth={"smoker": 2 / 3}), "estimates.png")
    """
    features, known = plan.policy.features, truth or {}
    panels: list[tuple[float, Callable[[Axes], None]]] = []
    for name, mean in found.means.items():
        panels.append((_LINE, _mean(features[name], mean, known.get(name))))
    for name, shares in found.frequencies.items():
        panels.append(
            (0.6 + 0.22 * min(len(shares), _MOST_BARS), _frequencies(features[name], shares, known.get(name)))
        )
    for fitted in found.regressions:
        for name, coefficient in {"intercept": fitted.intercept, **fitted.coefficients}.items():
            panels.append((_LINE, _coefficient(f"{fitted.target}: {name}", coefficient)))
    if not panels:
        raise refuse("estimates", "none", "estimates of at least one mean, frequency or coefficient")
    heights = [height for height, _ in panels]
    figure = new_figure(WIDTH, sum(heights) + 0.5)
    grid = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)
    crosses = ", x marks the truth" if known else ""
    figure.suptitle(f"{found.people:,} reports, {100 * found.level:g}% intervals{crosses}", fontsize=9)
    for (_, draw), panel in zip(panels, grid[:, 0], strict=True):
        draw(panel)
        panel.tick_params(labelsize=8)
        panel.spines[["left", "right", "top"]].set_visible(False)
    return figure


def _mean(feature: Feature, mean: Estimate, truth: float | None) -> Callable[[Axes], None]:
    def draw(panel: Axes) -> None:
        possible = unit_range(feature)
        _dot(panel, mean, possible, truth)
        said = "nobody was asked" if math.isnan(mean.value) else measured(mean.value, mean.se)
        bounds = f"   (possible: {number(possible[0])} to {number(possible[1])})"
        panel.set_title(f"{short(share_of(feature), 40)}: {said}{bounds}", loc="left", fontsize=8)

    return draw


def _coefficient(title: str, coefficient: Coefficient) -> Callable[[Axes], None]:
    def draw(panel: Axes) -> None:
        _dot(panel, coefficient, (-math.inf, math.inf), None)
        panel.axvline(0, color="0.6", linewidth=0.8, linestyle=":")
        panel.set_title(f"{short(title, 50)}: {measured(coefficient.value, coefficient.se)}", loc="left", fontsize=8)

    return draw


def _dot(panel: Axes, found: Estimate | Coefficient, possible: tuple[float, float], truth: float | None) -> None:
    """A number and its interval in the middle of an axis about twice as wide, within what is possible."""
    shown = [x for x in (found.low, found.value, found.high, truth) if x is not None and math.isfinite(x)] or [0.0]
    margin = (max(shown) - min(shown)) / 2 or abs(shown[0]) / 2 or 1.0
    low, high = max(min(shown) - margin, possible[0]), min(max(shown) + margin, possible[1])
    panel.hlines(0, max(found.low, low), min(found.high, high), color="black", linewidth=3)
    panel.plot([found.value], [0], "o", color="black", markerfacecolor="white", markersize=7)
    if truth is not None:
        panel.plot([truth], [0], "x", color="black", markersize=9)
    panel.set(xlim=(low, high), ylim=(-1, 1), yticks=[])
    panel.locator_params(axis="x", nbins=6)


def _frequencies(
    feature: Feature, shares: Mapping[Any, Estimate], truth: Mapping[Any, float] | None
) -> Callable[[Axes], None]:
    def draw(panel: Axes) -> None:
        shown = sorted(shares.items(), key=lambda item: -item[1].value)[:_MOST_BARS]
        places = range(len(shown))
        panel.barh(places, [e.value for _, e in shown], color="0.78", edgecolor="0.3", height=0.7)
        panel.hlines(places, [e.low for _, e in shown], [e.high for _, e in shown], color="black", linewidth=2)
        if truth is not None:
            panel.plot([truth[value] for value, _ in shown], places, "x", color="black", markersize=8)
        panel.set_yticks(places, [short(str(value)) for value, _ in shown])
        panel.invert_yaxis()
        panel.set_xlim(0, None)
        rest = f" (the {len(shown)} most frequent of {len(shares)})" if len(shown) < len(shares) else ""
        panel.set_title(f"{short(feature.label, 40)}: share of each value{rest}", loc="left", fontsize=8)

    return draw
