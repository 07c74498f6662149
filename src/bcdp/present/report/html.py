"""Parts of a self-contained page: pictures are inside it, nothing is fetched."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from bcdp.present.palette import root_style
from bcdp.present.pictures import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0; }
main { max-width: 52rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { margin-top: 2.6rem; font-size: 1.25rem; }
h3 { margin: 1.6rem 0 0.4rem; font-size: 1rem; }
.wide { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; overflow-wrap: normal; }
th, td { text-align: right; padding: 0.35rem 0.7rem; border-bottom: 1px solid var(--line); }
td { white-space: nowrap; } td.words { white-space: normal; min-width: 9rem; } .words { text-align: left; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; min-width: 7.5rem; }
thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; font-weight: 600; }
img { display: block; width: 100%; max-width: 28rem; height: auto; margin: 0.8rem 0; }
.quiet { color: var(--soft); font-size: 0.92rem; } li { margin: 0.35rem 0; }
.key { font-size: 1.1rem; border-left: 4px solid var(--accent); padding-left: 0.9rem; }
code { font-size: 0.88rem; background: var(--ground); padding: 0.1rem 0.3rem; }
@media (max-width: 40rem) {
  thead { display: none; } table, tbody, tr, td { display: block; width: auto; }
  tr { border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
  td, td.words { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: 0.1rem 0; }
  td::before { content: attr(data-label); color: var(--soft); white-space: normal; text-align: left; }
  td:first-child { font-weight: 600; } td:first-child::before { content: none; }
}
@media print { body { background: var(--paper); } h2 { break-after: avoid; } tr, img { break-inside: avoid; } }
"""


class Html(str):
    """Text that is HTML already. Whatever is not of this type is escaped where it enters a page."""

    __slots__ = ()


def joined(parts: Iterable[str]) -> Html:
    """Parts of a page one after the other, each escaped unless it is HTML already.

    >>> joined(["a < b, ", bold("c > d")])
    'a &lt; b, <b>c &gt; d</b>'
    """
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def bold(text: str) -> Html:
    return Html(f"<b>{joined([text])}</b>")


def code(text: str) -> Html:
    return Html(f"<code>{joined([text])}</code>")


def page(title: str, parts: Iterable[Html]) -> Html:
    """The whole document."""
    return Html(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{root_style()}{_STYLE}</style></head>"
        f"<body><main><h1>{escape(title)}</h1>{joined(parts)}</main></body></html>\n"
    )


def section(head: str, *parts: Html) -> Html:
    """A part of the page under its own head."""
    return Html(f"<section><h2>{escape(head)}</h2>{joined(parts)}</section>")


def heading(text: str) -> Html:
    return Html(f"<h3>{escape(text)}</h3>")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[int] = ()) -> Html:
    """A table; the columns numbered in `words` hold text and may break."""
    kinds = [' class="words"' if number in words else "" for number in range(len(columns))]
    opened = [f'<td{kind} data-label="{escape(column)}">' for kind, column in zip(kinds, columns, strict=True)]
    tags = ["th" if column else "td" for column in columns]  # an empty one heads nothing
    heads = zip(tags, kinds, columns, strict=True)
    head = "".join(f"<{tag}{kind}>{escape(column)}</{tag}>" for tag, kind, column in heads)
    lines = ("".join(f"{start}{joined([cell])}</td>" for start, cell in zip(opened, row, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return Html(f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>')


def paragraph(*parts: str, kind: str = "") -> Html:
    return Html(f'<p class="{kind}">{joined(parts)}</p>' if kind else f"<p>{joined(parts)}</p>")


def listing(lines: Iterable[str]) -> Html:
    return Html(f"<ul>{''.join(f'<li>{joined([line])}</li>' for line in lines)}</ul>")


def picture(figure: Figure, words: str) -> Html:
    """A figure inside the page, and what it shows for those who cannot see it."""
    buffer = io.BytesIO()
    save(figure, buffer)
    content = base64.b64encode(buffer.getvalue()).decode()
    return Html(f'<img alt="{escape(words)}" src="data:image/png;base64,{content}">')
