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

WIDTH = 4.8  # inches of a picture on a page: text of 8 points stays readable on a telephone
DPI = 180


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, its size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(f"pictures need matplotlib, which is not installed; accepted: {install('plot')}") from None
    return Figure(figsize=(width, height), layout="constrained")


def panels_figure(panels: Sequence[tuple[float, Callable[[Axes], None]]], title: str) -> Figure:
    """Panels one below the other: the height of each in inches, and how it is drawn."""
    heights = [height for height, _ in panels]
    figure = new_figure(WIDTH, sum(heights) + 0.5)
    figure.suptitle(title, fontsize=9)
    for (_, draw), panel in zip(
        panels, figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0], strict=True
    ):
        draw(panel)
    return figure


def save(figure: Figure, file: str | Path | Any, dpi: int = DPI) -> None:
    """Writes a PNG to a path or a binary file.

    >>> from matplotlib.figure import Figure
    >>> save(Figure(), "empty.png")
    """
    find_letters(figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # told once, above
        figure.savefig(file, format="png", dpi=dpi)


def short(text: str, longest: int = 32) -> str:
    """A label that leaves room for what it labels."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
