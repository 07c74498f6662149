"""The picture of what a plan gains: how many people the alternatives need for the same precision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bcdp.compare.baselines import Errors
from bcdp.plan import Plan
from bcdp.present import palette
from bcdp.present.pictures.canvas import WIDTH, new_figure, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def gain_figure(plan: Plan, errors: Mapping[str, Errors]) -> Figure:
    """A figure of how many people each mechanism needs for the precision that the plan reaches with one.

    >>> from bcdp import Policy, make_plan
    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "open": {"type": "binary"}})
    >>> plan = make_plan(policy)
    >>> from bcdp.compare.baselines import compare
    >>> from bcdp.present.pictures import save
    >>> save(gain_figure(plan, compare(plan, plan.correlation_model)), "gain.png")
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    names = [name for name, error in errors.items() if 0 < error.plan < math.inf]
    figure = new_figure(WIDTH, 0.44 * len(names) + 0.9)
    panel = figure.subplots()
    needed = {
        "uniform LDP": ("D", palette.INK, [errors[name].uniform / errors[name].plan for name in names]),
        "the paper's mechanism": ("^", palette.SOFT, [errors[name].paper / errors[name].plan for name in names]),
    }
    panel.axvline(1, color=palette.INK, linewidth=1.2)
    for offset, (label, (marker, shade, ratios)) in zip((-0.14, 0.14), needed.items(), strict=True):
        if not any(map(math.isfinite, ratios)):
            continue  # it cannot do what the plan does
        positions = [position + offset for position in range(len(names))]
        panel.hlines(positions, 1, ratios, color=palette.LINE, linewidth=1)
        panel.plot(ratios, positions, marker, color=shade, markersize=5, label=label)
    for position, name in enumerate(names):
        label = short(plan.policy.features[name].label, 48)
        panel.annotate(label, (1, position - 0.3), xytext=(3, 0), textcoords="offset points", fontsize=8, va="bottom")
    known = [ratio for *_, ratios in needed.values() for ratio in ratios if math.isfinite(ratio)]
    least, most = min(known, default=1.0), max(known, default=1.0)
    panel.set(
        xscale="log", xlim=(min(0.9, 0.87 * least), max(2.0, 1.15 * most)), ylim=(len(names) - 0.5, -0.7), yticks=[]
    )
    panel.set_xlabel("people needed for the same precision, this plan = 1", fontsize=8)
    panel.tick_params(labelsize=8)
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter("{x:g}")
    panel.xaxis.set_minor_formatter(NullFormatter())
    figure.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=2)
    panel.spines[["left", "right", "top"]].set_visible(False)
    return figure
