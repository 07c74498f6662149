"""The colours of whatever a person looks at: those of the pages' style sheet, where each stands once."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_COLOUR = re.compile(r"--([a-z-]+): (#[0-9a-f]{6});")


@cache
def colours() -> dict[str, str]:
    """Each colour by its name in web/page.css: those of its first rule, which are for light pages."""
    light, _, _ = files("bcdp").joinpath("web", "page.css").read_text("utf-8").partition("}")
    return dict(_COLOUR.findall(light))


def root_style() -> str:
    """The colours as a page that stands alone states them: all rules of web/page.css before the first about a tag."""
    return files("bcdp").joinpath("web", "page.css").read_text("utf-8").partition("\n* {")[0]


def __getattr__(name: str) -> str:
    """`palette.INK` is the colour `--ink`."""
    colour = colours().get(name.lower().replace("_", "-"))
    if colour is None:
        raise AttributeError(f"module 'bcdp.present.palette' has no attribute '{name}'")
    return colour
