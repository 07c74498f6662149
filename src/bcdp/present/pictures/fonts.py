"""Letters that the usual font lacks, such as Chinese ones, are drawn with another font of this machine."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INVISIBLE = {"Cc", "Cf", "Zs", "Mn"}  # kinds of characters; marks are drawn with the letter that they belong to
_SHOWN = 12  # letters that a note names


def find_letters(figure: Figure) -> None:
    """Gives texts a second font where the first one lacks their letters; one note names what no font has."""
    from matplotlib import font_manager
    from matplotlib.text import Text

    texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and not text.get_text().isascii()]
    if not texts:
        return
    usual = font_manager.findfont(texts[0].get_fontproperties())
    wanted = {letter for text in texts for letter in text.get_text() if unicodedata.category(letter) not in _INVISIBLE}
    if not (lacking := wanted - _letters(usual)):
        return
    families = []
    for path in _covering(lacking, font_manager.findSystemFonts()):
        font_manager.fontManager.addfont(path)
        families.append(font_manager.get_font(path).family_name)
        lacking -= _letters(path)
    for text in texts:
        text.set_fontfamily([*text.get_fontfamily(), *families])
    if lacking:
        named = "".join(sorted(lacking)[:_SHOWN]) + "..." * (len(lacking) > _SHOWN)
        warnings.warn(
            f"no font of this machine has the letters {named}, which the picture shows as boxes; accepted: a font that "
            "has them, such as Noto Sans",
            stacklevel=3,
        )


def _covering(letters: set[str], paths: Iterable[str]) -> list[str]:
    """Fonts that have the letters together, as far as any has them: each time the one with the most of them."""
    fonts = {path: letters & _letters(path) for path in sorted(paths)}
    chosen, left = list[str](), set(letters)
    while best := max(
        (path for path in fonts if fonts[path] & left), key=lambda path: len(fonts[path] & left), default=None
    ):
        chosen.append(best)
        left -= fonts[best]
    return chosen


@lru_cache(maxsize=1024)
def _letters(path: str) -> frozenset[str]:
    """What a font file can draw; nothing, if it cannot be read."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):
        return frozenset()
