"""Estimates as drawings that need no script: a dot and its interval on a scale, a curve within its band.

Colours are those of the page, so that they follow its scheme. What is drawn also differs in shape: a dot is an
estimate, a bar its interval, a cross the truth. Positions are in percent of the width, which nothing can distort.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bcdp.present.report.html import Html
from bcdp.present.words import in_unit, number
from bcdp.statistics import Row, Section

_NICE = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_HEIGHT, _AXIS = 26, 20  # pixels of a row, and of the numbers below its scale
_WIDE, _HIGH, _LEFT, _BELOW = 360, 190, 42, 26  # of a curve, and its margins


@dataclass(frozen=True)
class Scale:
    """From where to where a drawing goes, and whether in percent."""

    low: float
    high: float
    percent: bool

    def at(self, value: float) -> float:
        """Where a value stands, from 0 to 100."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def written(self, value: float) -> str:
        """A value as the axis names it."""
        return f"{100 * value:g}%" if self.percent else number(value)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Both ends, and what is in the middle."""
        return self.low, (self.low + self.high) / 2, self.high


def scales_of(section: Section, truths: Sequence[float | None]) -> list[Scale]:
    """A scale for each row of a section: the same for all rows of one variable.

    Bars start at 0 and end above the largest; what has no bounds has a scale around 0; anything else its whole range.
    """
    shares = section.drawn in ("bars", "grid")
    variables = [
        (row.possible, row.percent, number if math.isinf(row.possible[1]) else None)  # coefficients have a unit each
        for number, row in enumerate(section.rows)
    ]
    shown: dict[object, list[float]] = {}
    for variable, row, truth in zip(variables, section.rows, truths, strict=True):
        ends = (row.number.low, row.number.high, row.number.value, truth)
        shown.setdefault(variable, []).extend(end for end in ends if end is not None and math.isfinite(end))
    return [_scale(*variable[:2], shown[variable], shares) for variable in variables]


def _scale(possible: tuple[float, float], percent: bool, ends: Sequence[float], shares: bool) -> Scale:
    low, high = possible
    if shares:
        return Scale(0.0, min(_nice(max(ends, default=1.0)), 1.0), percent)
    if math.isfinite(low) and math.isfinite(high):
        return Scale(low, high, percent)
    most = _nice(max(map(abs, ends), default=1.0))
    return Scale(-most, most, percent)


def _nice(value: float) -> float:
    """The least round number that is no less.

    >>> _nice(0.41), _nice(0.0), _nice(1720.0)
    (0.5, 1.0, 2000.0)
    """
    if value <= 0:
        return 1.0
    power = float(f"1e{math.floor(math.log10(value))}")
    return next((nice * power for nice in _NICE if nice * power >= value * (1 - 1e-12)), 10 * power)


def dot(row: Row, scale: Scale, truth: float | None, *, axis: bool) -> Html:
    """An estimate and its interval on a scale, whose numbers stand below if it is the last row that has it."""
    middle, estimate = _HEIGHT / 2, row.number
    parts = [f'<line class="scale" x1="0%" x2="100%" y1="{middle}" y2="{middle}"/>']
    if scale.low < 0 < scale.high:
        parts.append(f'<line class="scale" x1="{scale.at(0)}%" x2="{scale.at(0)}%" y1="3" y2="{_HEIGHT - 3}"/>')
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        low, high = scale.at(estimate.low), scale.at(estimate.high)
        width = max(high - low, 0.5)
        parts.append(f'<rect class="interval" x="{low}%" y="{middle - 6}" width="{width:g}%" height="12" rx="2"/>')
    if math.isfinite(estimate.value):
        parts.append(f'<circle class="dot" cx="{scale.at(estimate.value)}%" cy="{middle}" r="4"/>')
    if truth is not None:
        parts.append(
            f'<svg class="truth" x="{scale.at(truth)}%" y="{middle}" overflow="visible">'
            '<path d="M-5 -5 5 5M-5 5 5 -5"/></svg>'
        )
    if axis:
        parts += _axis(scale)
    height = _HEIGHT + _AXIS * axis
    words = f"{in_unit(estimate.value, estimate.se, row.percent)} on a scale from {_ends(scale)}"
    return Html(f'<svg class="dots" role="img" aria-label="{escape(words)}" height="{height}">{"".join(parts)}</svg>')


def _ends(scale: Scale) -> str:
    return f"{scale.written(scale.low)} to {scale.written(scale.high)}"


def _axis(scale: Scale) -> list[str]:
    ticks = zip(scale.ticks, ("start", "middle", "end"), strict=True)
    return [
        f'<text x="{scale.at(tick):g}%" y="{_HEIGHT + 12}" text-anchor="{anchor}">{escape(scale.written(tick))}</text>'
        for tick, anchor in ticks
    ]


def curve(section: Section, truths: Sequence[float | None]) -> Html:
    """The shares below each edge within their band, as steps would show them: lines from edge to edge."""
    across = Scale(*section.ends, percent=False)
    up = Scale(0.0, 1.0, percent=True)

    def point(edge: float, share: float) -> str:
        x = _LEFT + (_WIDE - _LEFT - 8) * across.at(edge) / 100
        return f"{x:.1f} {8 + (_HIGH - _BELOW - 8) * (1 - up.at(share) / 100):.1f}"

    start, end = section.ends
    edges = [start, *section.places, end]
    low, value, high = (
        [0.0, *(_known(getattr(row.number, name)) for row in section.rows), 1.0] for name in ("low", "value", "high")
    )
    above = [point(edge, share) for edge, share in zip(edges, high, strict=True)]
    below = [point(edge, share) for edge, share in zip(edges, low, strict=True)]
    middle = [point(edge, share) for edge, share in zip(edges, value, strict=True)]
    marks = [
        f'<path transform="translate({point(edge, truth)})" d="M-3 -3 3 3M-3 3 3 -3"/>'
        for edge, truth in zip(section.places, truths, strict=True)
        if truth is not None
    ]
    grid = [
        _level(point(start, share), point(end, share), f"{100 * share:g}%") for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    named = zip(across.ticks, ("start", "middle", "end"), strict=True)
    axis = [
        f'<text x="{point(tick, 0).split()[0]}" y="{_HIGH - 8}" text-anchor="{anchor}">{across.written(tick)}</text>'
        for tick, anchor in named
    ]
    words = f"{section.subject}: rises from 0% at {across.written(start)} to 100% at {across.written(end)}"
    return Html(
        f'<svg class="curve" role="img" aria-label="{escape(words)}" viewBox="0 0 {_WIDE} {_HIGH}">{"".join(grid)}'
        f'<path class="band" d="M{"L".join([*above, *reversed(below)])}Z"/><path class="line" d="M{"L".join(middle)}"/>'
        f'<g class="truth">{"".join(marks)}</g>{"".join(axis)}</svg>'
    )


def _known(share: float) -> float:
    return share if math.isfinite(share) else 0.0


def _level(left: str, right: str, words: str) -> str:
    y = float(left.split()[1])
    line = f'<path class="scale" d="M{left}L{right}"/>'
    return f'{line}<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{words}</text>'
