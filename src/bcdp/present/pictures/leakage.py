"""Heat maps of what features, and questions about them, say of each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL
from bcdp.plan import Menu, Plan, certify_menu
from bcdp.policy import Policy
from bcdp.present import palette
from bcdp.present.pictures.canvas import WIDTH, new_figure, save, short
from bcdp.present.words import number, odds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

_MOST_NUMBERS = 12  # features: beyond, the cells are too small to write in
_MOST_MENUS = 20


def leakage_figure(plan: Plan) -> Figure | None:
    """A figure of the factor by which the answers to each menu (row) move the odds of each feature (column).

    None for plans without menus, or with too many features to write in the numbers.

    >>> from bcdp import Policy, make_plan
    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "open": {"type": "binary"}})
    >>> plan = make_plan(policy)
    >>> from bcdp.present.pictures import save
    >>> save(leakage_figure(plan), "told.png")
    """
    features = plan.policy.features
    menus = sorted(plan.menus, key=lambda menu: -menu.weight)[:_MOST_MENUS]
    if not menus or len(features) > _MOST_NUMBERS:
        return None
    levels = np.array([[*certify_menu(plan, menu, plan.correlation_model).delta.values()] for menu in menus])
    figure = new_figure(WIDTH, 1.2 + 0.45 * len(menus))
    panel = figure.subplots()
    spaced = np.full((2 * len(menus), len(features)), math.nan)  # each line of numbers below its words
    spaced[1::2] = levels
    _heat_map(panel, spaced, (), [short(name, 16) for name in features], odds)
    for position, menu in enumerate(menus):
        panel.text(-0.45, 2 * position, _asks(plan, menu), va="center", fontsize=8)
    panel.set_yticks([])
    panel.spines[:].set_visible(False)
    panel.set_xlabel("what the answers tell about", fontsize=8)
    rest = f",\nthe {_MOST_MENUS} most frequent of {len(plan.menus)} menus" if len(plan.menus) > _MOST_MENUS else ""
    figure.suptitle(f"share of devices, and what they are asked{rest}", fontsize=8)
    return figure


def _asks(plan: Plan, menu: Menu) -> str:
    """How often a menu is drawn and what it asks; the features of a joint question stand together."""
    questions = [plan.questions[number].features for number in menu.questions]
    words = ", ".join(" \u00d7 ".join(names) for names in questions)
    return f"{number(100 * menu.weight / TOTAL, 2)}%  {short(words, 46)}"


def draw_pairs(policy: Policy, limits: Array, leaks: Array, limited_by: Mapping[str, str], path: str | Path) -> None:
    """Saves a PNG of two heat maps: the limits on q of each pair, and the leakage matrix in nats.

    `limited_by[j]` is the feature whose demand limits questions about j; that cell of the leakage matrix gets a frame.

    >>> from bcdp import Policy
    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "open": {"type": "binary"}})
    >>> q, leaks = np.array([[0, 0.1], [0.2, 0]]), np.array([[0.2, 0.1], [0.1, 1]])
    >>> draw_pairs(policy, q, leaks, {"open": "smoker"}, "pairs.png")
    """
    order, labels = list(policy.features), [short(feature.label) for feature in policy.features.values()]
    size = 2.6 + 0.42 * len(labels)
    figure = new_figure(2 * size, size + 0.4)
    pairs, told_by = figure.subplots(1, 2)
    between = limits.astype(float)
    np.fill_diagonal(between, math.nan)
    _heat_map(pairs, between, labels, labels, "{:.2f}".format)
    _heat_map(told_by, leaks, labels, labels, "{:.2f}".format)
    pairs.set_title("q: how far the chances of the column\nmove with the row", fontsize=9)
    told_by.set_title("nats that a question on the column tells about the row\n(framed: what limits it)", fontsize=9)
    for asked, by in limited_by.items():
        if by in order:
            _frame(told_by, order.index(by), order.index(asked))
    save(figure, path)


def _heat_map(
    panel: Axes, matrix: Array, rows: Sequence[str], columns: Sequence[str], write: Callable[[float], str]
) -> None:
    """Darker is more; blank where there is no number."""
    top = max(float(np.nanmax(matrix, initial=0.0)), 1e-9)
    panel.imshow(matrix, cmap="Greys", vmin=0.0, vmax=top, aspect="auto")
    panel.set_xticks(range(len(columns)), columns, rotation=55, ha="right", rotation_mode="anchor", fontsize=8)
    panel.set_yticks(range(len(rows)), rows, fontsize=8)
    for (row, column), value in np.ndenumerate(matrix) if len(columns) <= _MOST_NUMBERS else ():
        if not math.isnan(value):
            ink = palette.PAPER if value > 0.55 * top else palette.INK
            panel.text(column, row, write(value), ha="center", va="center", fontsize=8, color=ink)


def _frame(panel: Axes, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    panel.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=palette.INK, linewidth=2))
