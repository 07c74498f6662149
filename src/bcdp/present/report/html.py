"""Parts of a self-contained page: pictures are inside it, nothing is fetched."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from bcdp.present.palette import root_style
from bcdp.present.pictures import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = "\n" + files("bcdp.present.report").joinpath("report.css").read_text("utf-8")


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


def page(title: str, parts: Iterable[Html], groups: Iterable[PageGroup]) -> Html:
    """The whole document: what stands above, a table of contents, and the groups that it lists."""
    filled = [group for group in groups if group.sections]
    contents = Html(f'<nav aria-label="Contents"><ul>{joined(map(_entry, filled))}</ul></nav>')
    body = joined([contents, *(group.body for group in filled)])
    return Html(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{root_style()}{_STYLE}</style></head>"
        f"<body><main><h1>{escape(title)}</h1>{joined(parts)}{body}</main></body></html>\n"
    )


@dataclass(frozen=True)
class PageSection:
    """A part of the page under a head of its own; without a body it is left out."""

    head: str
    body: Html

    @property
    def id(self) -> str:
        """What links to it name."""
        return "-".join(re.findall(r"[a-z0-9]+", self.head.lower())) or "section"


NOTHING = PageSection("", Html())


@dataclass(frozen=True)
class PageGroup:
    """Sections that the table of contents lists together."""

    head: str
    listed: tuple[PageSection, ...]

    @property
    def id(self) -> str:
        """What links to it name: no section's id has this form."""
        return f"part-{self.head.lower()}"

    @property
    def sections(self) -> tuple[PageSection, ...]:
        """Those that are not empty."""
        return tuple(part for part in self.listed if part.body)

    @property
    def body(self) -> Html:
        """The group as it stands on the page."""
        parts = (f'<section id="{part.id}"><h3>{escape(part.head)}</h3>{part.body}</section>' for part in self.sections)
        return Html(f'<section class="part" id="{self.id}"><h2>{escape(self.head)}</h2>{"".join(parts)}</section>')


def _entry(group: PageGroup) -> Html:
    entries = "".join(f'<li><a href="#{part.id}">{escape(part.head)}</a></li>' for part in group.sections)
    return Html(f'<li><a href="#{group.id}">{escape(group.head)}</a><ul>{entries}</ul></li>')


def section(head: str, *parts: Html) -> PageSection:
    """A part of the page under its own head."""
    return PageSection(head, joined(parts))


def heading(text: str) -> Html:
    return Html(f"<h4>{escape(text)}</h4>")


def folded(summary: str, *parts: Html) -> Html:
    """What is shown on demand, and always on paper."""
    return Html(f"<details><summary>{escape(summary)}</summary>{joined(parts)}</details>")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[int] = (), kind: str = "") -> Html:
    """A table; the columns numbered in `words` hold text and may break. `kind` is a class of the style sheet."""
    kinds = [' class="words"' if number in words else "" for number in range(len(columns))]
    opened = [f'<td{kind} data-label="{escape(column)}">' for kind, column in zip(kinds, columns, strict=True)]
    tags = ["th" if column else "td" for column in columns]  # an empty one heads nothing
    heads = zip(tags, kinds, columns, strict=True)
    head = "".join(f"<{tag}{kind}>{escape(column)}</{tag}>" for tag, kind, column in heads)
    lines = ("".join(f"{start}{joined([cell])}</td>" for start, cell in zip(opened, row, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    drawn = f' class="{kind}"' if kind else ""
    return Html(f'<div class="wide"><table{drawn}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>')


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
