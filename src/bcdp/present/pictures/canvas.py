"""Where every picture starts and ends: matplotlib if it is there, PNG files and the styles that all of them share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcdp.errors import InputError, install
from bcdp.present.pictures.fonts import find_letters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 3.5  # inches of a picture on a page: as wide as a telephone, where text of 8 points is 11 pixels high
DPI = 240


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, its size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(f"pictures need matplotlib, which is not installed; accepted: {install('plot')}") from None
    return Figure(figsize=(width, height), layout="constrained")


def panels_figure(panels: Sequence[tuple[float, Callable[[Axes], None]]], title: str) -> Figure:
    """Panels one below the other, each as wide as its own words allow: its height in inches, and how it is drawn."""
    heights = [height for height, _ in panels]
    figure = new_figure(WIDTH, sum(heights) + 0.5)
    figure.suptitle(title, fontsize=8)
    subfigures = figure.subfigures(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
    for (_, draw), subfigure in zip(panels, subfigures, strict=True):
        draw(subfigure.subplots())
    return figure


def head(panel: Axes, text: str) -> None:
    """The words above a panel, from the picture's left edge on."""
    panel.figure.suptitle(text, x=0.02, ha="left", fontsize=8)


def save(figure: Figure, file: str | Path | Any, dpi: int = DPI) -> None:
    """Writes a PNG to a path or a binary file.

    >>> from matplotlib.figure import Figure
    >>> save(Figure(), "empty.png")
    """
    find_letters(figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # reported once, above
        figure.savefig(file, format="png", dpi=dpi)


def short(text: str, longest: int = 32) -> str:
    """A label that leaves room for what it labels."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
