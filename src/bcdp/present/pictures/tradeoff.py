"""The picture of a trade-off: what a test about a feature may find out, and what it does."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bcdp.notions import TradeOff, allowed
from bcdp.present import palette
from bcdp.present.pictures.canvas import new_figure, save


def draw_trade_off(
    curve: TradeOff,
    delta: float,
    path: str | Path,
    feature: str = "the feature",
    measured: TradeOff | None = None,
) -> None:
    """Saves a PNG: the best tests' curve, the region that `delta` forbids, and measured points where there are some.

    >>> from bcdp.notions import trade_off
    >>> curve = trade_off([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], feature=0, event=[0], against=[1])
    >>> draw_trade_off(curve, delta=curve.level, path="tests.png", feature="smoker")
    """
    figure = new_figure(5.2, 4.6)
    axes = figure.subplots()
    alarm = np.linspace(0, 1, 400)
    axes.fill_between(
        alarm, 0, allowed(delta, alarm), color=palette.GRID, label=f"impossible under $\\delta$ = {delta:.3g}"
    )
    axes.plot(alarm, allowed(delta, alarm), color=palette.SOFT, linewidth=1.2)
    axes.plot([0, 1], [1, 0], ":", color=palette.SOFT, label="guessing blindly")
    best = f"best tests (level {curve.level:.3g})"
    axes.plot(curve.alpha, curve.beta, "o-", color=palette.INK, markersize=3.5, label=best)
    if measured is not None:
        axes.plot(measured.alpha, measured.beta, "x", color=palette.BAD, markersize=6, label="measured")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="false alarms (rate)", ylabel="missed detections (rate)")
    axes.set_title(f"What a test can find out about {feature}")
    axes.legend(loc="upper right", frameon=False)
    save(figure, path)
