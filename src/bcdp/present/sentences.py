"""The English sentences of promises: written once, in a script of the browser's device, which Python reads too."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files


@cache
def _catalogue() -> dict[str, str]:
    text = files("bcdp").joinpath("web", "device", "wording", "sentences.js").read_text("utf-8")
    sentences: dict[str, str] = json.loads(text.partition("export const SENTENCES = ")[2].rstrip().removesuffix(";"))
    return sentences


def sentence(key: str, **parts: str) -> str:
    """A sentence of web/device/wording/sentences.js with these parts in place of what is in braces.

    >>> sentence("left", nothing="at most 3 times")
    'at most 3 times with nothing assumed'
    """
    return _catalogue()[key].format(**parts)
