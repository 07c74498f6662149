"""What a notebook shows of a policy, a plan, a tally and estimates: tables with small pictures, in plain HTML."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import singledispatch

from bcdp.estimates import Estimates
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.present import palette
from bcdp.present.promise import promise_of_all, promises
from bcdp.present.report.html import Html, bold, joined, paragraph, table
from bcdp.present.words import interval, measured, missing_note, odds, posterior_at_most, some
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
def _(policy: Policy) -> Html:
    possible = {
        name: "{:g} to {:g}".format(*feature.span) if feature.is_number else _values(feature.categories)
        for name, feature in policy.features.items()
    }
    rows = [[name, f.label, f.type, possible[name], f"{f.delta:g}"] for name, f in policy.features.items()]
    rows += [[name, f.label, f.type, _values(f.values), "sent unprotected"] for name, f in policy.open.items()]
    tasks = ", ".join(dict.fromkeys(task.kind for task in policy.tasks))
    stated = json.dumps(policy.to_dict()["correlation"], ensure_ascii=False)
    return joined(
        [
            paragraph(bold("Policy"), f" (epsilon {policy.epsilon:g}, {policy.mechanism}); tasks: {tasks}"),
            table(["feature", "label", "type", "possible", "delta"], rows, words=(1, 3)),
            paragraph(f"correlation: {stated}", kind="quiet"),
        ]
    )


def _values(values: Iterable[object]) -> str:
    return some([str(value) for value in values])


@as_html.register
def _(plan: Plan) -> Html:
    every = [*promises(plan).values(), promise_of_all(plan)]
    rows = [
        [
            section.label,
            f"× {odds(section.level)}",
            posterior_at_most(section.level),
            section.condition,
            f"× {odds(section.nothing)}",
        ]
        for section in every
    ]
    columns = ["a guess about", "odds move by at most", "50% becomes at most", "on condition", "with nothing assumed"]
    return joined([paragraph(bold("Plan"), f" {plan.id[:12]}.. ({plan.mechanism})"), table(columns, rows, words=(3,))])


@as_html.register
def _(tally: Tally) -> Html:
    return paragraph(bold("Tally"), f" of plan {tally.plan.id[:12]}..: {tally.people:,} people")


@as_html.register
def _(estimates: Estimates) -> Html:
    parts = [paragraph(bold(f"{estimates.people:,} people"), f", intervals of {100 * estimates.level:g}%")]
    for section in estimates.sections():
        rows = [[row.label, measured(row.number.value, row.number.se), interval(row.number), _line(row)]
                for row in section.rows]  # fmt: skip
        parts.append(table([section.subject, section.heads[1], f"interval{section.interval}", ""], rows))
        parts.extend(paragraph(remark, kind="quiet") for remark in section.remarks)
    if note := missing_note({feature.label: feature.rule for feature in estimates.policy.features.values()}):
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
