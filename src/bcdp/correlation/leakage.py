"""The leakage matrix: how much an answer about one feature tells about each other one, in nats."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bcdp.correlation.models import Correlation
from bcdp.notions import bcdp_from
from bcdp.plan import mixture_delta
from bcdp.policy import Policy
from bcdp.tables import binary, categorical

Array = npt.NDArray[np.float64]

_MOST_NUMBERS = 12  # features: beyond, the cells of the picture are too small to write in


def leakage(policy: Policy, correlation: Correlation, budgets: Mapping[str, float]) -> Array:
    """For each feature (row), its level in nats under a question about each feature (column) at that one's budget.

    By inequality (*) of docs/theory.md, section 2, or exactly where the laws are known (section 4.5).

    >>> policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "b": {"type": "binary"}}, correlation=0)
    >>> from bcdp.correlation import PerFeature
    >>> leakage(policy, PerFeature(0.5, {}), {"a": 1.0, "b": 0.0}).round(3).tolist()
    [[1.0, 0.0], [0.62, 0.0]]
    """
    names = list(policy.features)
    return np.array([[_told(correlation, i, j, budgets[j]) for j in names] for i in names])


def _told(correlation: Correlation, name: str, asked: str, budget: float) -> float:
    if name == asked:
        return budget
    level = float(bcdp_from(0.0, budget, correlation.q(name, {asked})))
    laws = correlation.laws(name, asked)
    if laws is None or budget == 0:
        return level
    values = laws.shape[1]
    return min(level, mixture_delta(binary(budget) if values == 2 else categorical(values, budget), laws))


def draw_leakage(policy: Policy, limits: Array, leaks: Array, limited_by: Mapping[str, str], path: str | Path) -> None:
    """Saves a PNG of two heat maps, readable in grey: the limits on q of each pair, and the leakage matrix.

    `limited_by[j]` is the feature whose demand limits questions about j; that cell of the leakage matrix gets a frame.
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    order, names = list(policy.features), [feature.label for feature in policy.features.values()]
    size = 2.6 + 0.42 * len(names)
    figure, panels = plt.subplots(1, 2, figsize=(2 * size, size + 0.4), layout="constrained")
    titles = (
        "q: how far the column's law moves with the row",
        "nats told about the row by a question on the column (framed: what limits it)",
    )
    for panel, matrix, title in zip(panels, (limits, leaks), titles, strict=True):
        top = float(max(matrix.max(), 1e-9))
        panel.imshow(matrix, cmap="Greys", vmin=0.0, vmax=top)
        panel.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor", fontsize=8)
        panel.set_yticks(range(len(names)), names, fontsize=8)
        panel.set_title(title, fontsize=9)
        blank = matrix is limits
        for (row, column), value in np.ndenumerate(matrix) if len(names) <= _MOST_NUMBERS else ():
            if blank and row == column:
                continue
            ink = "white" if value > 0.55 * top else "black"
            panel.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7, color=ink)
    for asked, by in limited_by.items():
        if by in order:
            corner = (order.index(asked) - 0.5, order.index(by) - 0.5)
            panels[1].add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="black", linewidth=2))
    figure.savefig(path, dpi=130)
    plt.close(figure)
