"""The picture of a leak: what protecting features one by one reveals about a sensitive one, against a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bcdp.compare.leak import Leak
from bcdp.present import palette
from bcdp.present.pictures.canvas import new_figure, save


def draw_leak(leaks: Sequence[Leak], path: str | Path) -> None:
    """Saves a PNG: the exact level of the sensitive feature over the correlation, against the level promised.

    >>> from bcdp.compare.leak import leak
    >>> draw_leak([leak(q, delta=(0.2, 2.0)) for q in (0.0, 0.1)], "leak.png")
    """
    figure = new_figure(5.8, 4.2)
    axes = figure.subplots()
    q = [measured.q for measured in leaks]
    axes.plot(
        q,
        [measured.separate for measured in leaks],
        "s-",
        color=palette.VERMILION,
        label="each feature on its own (exact)",
    )
    axes.plot(q, [measured.planned for measured in leaks], "o-", color=palette.BLUE, label="bcdp plan (exact)")
    axes.plot(q, [measured.asked for measured in leaks], "--", color=palette.INK, label="promised $\\delta_1$")
    axes.set(
        xlabel="correlation q of the paper's prior",
        ylabel="level of the sensitive feature (nats)",
        yscale="log",
        ylim=(0.1, 20),
    )
    axes.legend(frameon=False)
    axes.grid(color=palette.GRID)
    save(figure, path)
