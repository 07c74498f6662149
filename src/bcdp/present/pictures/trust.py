"""The picture of whom to trust: what answers are worth against the number of people, for three kinds of trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bcdp.present import palette
from bcdp.present.pictures.canvas import new_figure, save
from bcdp.present.trust_choices import ASSUMPTIONS, TrustChoice

_STYLES: dict[str, dict[str, Any]] = {  # what is nearly the same is drawn inside each other
    "collector": {"color": palette.BLUE, "marker": "o", "linestyle": "-.", "markersize": 11, "fillstyle": "none"},
    "relay": {"color": palette.GREEN, "marker": "o", "linestyle": "-", "markersize": 5},
    "device": {"color": palette.INK, "marker": "D", "linestyle": ":", "markersize": 5},
}


def draw_trust(choices: Mapping[int, Sequence[TrustChoice]], name: str, path: Path) -> None:
    """Draws the worth for a feature over the numbers of people; a dashed line is where answers are worth open ones.

    >>> from bcdp import Policy
    >>> from bcdp.present.trust_choices import trust_choices
    >>> policy = Policy(epsilon=1, features={"ill": {"type": "binary"}})
    >>> draw_trust({people: trust_choices(policy, people) for people in (1_000, 10_000)}, "ill", Path("trust.png"))
    """
    figure = new_figure(5.2, 3.6)
    axes = figure.subplots()
    people = sorted(choices)
    axes.plot(people, people, color=palette.GREY, linestyle="--", linewidth=1, label="asked openly")
    for trust, style in _STYLES.items():
        own = [(n, one.open_people[name]) for n in people for one in choices[n] if one.trust == trust]
        xs, ys = zip(*own, strict=True)
        axes.plot(xs, ys, linewidth=1.5, label=f"trust: {ASSUMPTIONS[trust]}", **style)
    axes.set(xscale="log", yscale="log", xlabel="people who answer", ylabel="worth in openly asked people")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(which="major", color=palette.GRID, linewidth=0.8)
    axes.spines[["right", "top"]].set_visible(False)
    axes.legend(loc="upper left", fontsize=7.5, frameon=False)
    save(figure, path, dpi=160)
