"""Text that people read as it is: nothing in it that cannot be seen, or that turns other letters round."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bcdp.errors import refuse

VISIBLE = "text without invisible characters and without those that turn others round"
_JOINING = "\u0620-\u0dff\u1000-\u109f\u1780-\u18af"  # scripts from Arabic to Sinhala, Burmese, Khmer, Mongolian
# Control characters but the end of a line; what Unicode calls default ignorable: zero-width, marks and overrides of
# direction, variation selectors, tags; separators and annotations; joiners that are not between two letters that join.
_HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    f"\U000e0000-\U000e0fff]|[\u200c\u200d](?![{_JOINING}])|(?:^|[^{_JOINING}])[\u200c\u200d]"
)


def is_visible(text: str) -> bool:
    """Whether a person sees all of a text, in the order in which it is written.

    >>> is_visible("résumé, می\u200cخواهم"), is_visible("no\u200b"), is_visible("\u202eon"), is_visible("n\u200co")
    (True, False, False, False)
    """
    return _HIDDEN.search(text) is None


def check_visible(path: str, document: Any) -> None:
    """Refuses a document that has such a text anywhere, among its keys too."""
    if isinstance(document, str) and not is_visible(document):
        raise refuse(path, document, VISIBLE)
    if isinstance(document, Mapping):
        check_visible(path, list(document))
        for key, value in document.items():
            check_visible(f"{path}.{key}", value)
    elif isinstance(document, list | tuple):
        for entry in document:
            check_visible(path, entry)
