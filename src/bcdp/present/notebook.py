"""What a notebook shows of a plan, a tally and estimates: tables with small pictures, in plain HTML."""

from __future__ import annotations

import math
from functools import singledispatch

from bcdp.estimates import Estimates
from bcdp.plan import Plan
from bcdp.present import palette
from bcdp.present.promise import promise_of_all, promises
from bcdp.present.report.html import Html, bold, joined, paragraph, table
from bcdp.present.words import interval, measured, missing_note, odds, posterior_at_most
from bcdp.statistics import Row
from bcdp.tally import Tally

_WIDTH, _HEIGHT = 160, 14  # of a row's picture, in pixels


@singledispatch
def as_html(shown: object) -> Html:
    """What a notebook shows of an object.

    >>> from bcdp import Policy, make_plan
    >>> "50% becomes" in as_html(make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}})))
    True
    """
    raise TypeError(f"nothing is known of how to show an object of type {type(shown).__name__}")


@as_html.register
def _(plan: Plan) -> Html:
    every = [*promises(plan).values(), promise_of_all(plan)]
    rows = [
        [one.label, f"× {odds(one.level)}", posterior_at_most(one.level), one.condition, f"× {odds(one.nothing)}"]
        for one in every
    ]
    columns = ["a guess about", "odds move by at most", "50% becomes at most", "on condition", "with nothing assumed"]
    return joined([paragraph(bold("Plan"), f" {plan.id[:12]}.. ({plan.mechanism})"), table(columns, rows, words=(3,))])


@as_html.register
def _(tally: Tally) -> Html:
    return paragraph(bold("Tally"), f" of plan {tally.plan.id[:12]}..: {tally.people:,} people")


@as_html.register
def _(found: Estimates) -> Html:
    parts = [paragraph(bold(f"{found.people:,} people"), f", intervals of {100 * found.level:g}%")]
    for section in found.sections():
        rows = [[row.label, measured(row.number.value, row.number.se), interval(row.number), _line(row)]
                for row in section.rows]  # fmt: skip
        parts.append(table([section.subject, section.heads[1], f"interval{section.interval}", ""], rows))
        parts.extend(paragraph(remark, kind="quiet") for remark in section.remarks)
    if note := missing_note({feature.label: feature.rule for feature in found.policy.features.values()}):
        parts.append(paragraph(note, kind="quiet"))
    return joined(parts)


def _line(row: Row) -> Html:
    """A row's interval as a bar, and its value as a dot, on the range that is possible."""
    low, high = row.possible
    ends = [row.number.low, row.number.value, row.number.high]
    if not all(map(math.isfinite, (low, high, *ends))) or high <= low:
        return Html()
    left, dot, right = (4 + (_WIDTH - 8) * (min(max(end, low), high) - low) / (high - low) for end in ends)
    middle = _HEIGHT / 2
    return Html(
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="interval between the ends of the range">'
        f'<line x1="4" x2="{_WIDTH - 4}" y1="{middle}" y2="{middle}" stroke="{palette.LINE}"/>'
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}" stroke="{palette.ACCENT}" '
        f'stroke-width="5"/><circle cx="{dot:.1f}" cy="{middle}" r="3.5" fill="{palette.INK}"/></svg>'
    )
