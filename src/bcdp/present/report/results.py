"""What was learned, and what the guarantee costs in accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bcdp.compare import Point
from bcdp.compare.baselines import NO_PAPER, Errors, standard_error
from bcdp.compare.simulation import PAPER, SURVEY, UNIFORM
from bcdp.estimates import Estimates
from bcdp.plan import Plan
from bcdp.present.check_sentences import check_lines
from bcdp.present.fake_shifts import fake_shifts
from bcdp.present.pictures import Truth, gain_figure
from bcdp.present.report.charts import curve, dot, scales_of
from bcdp.present.report.html import (
    NOTHING,
    Html,
    PageSection,
    folded,
    heading,
    joined,
    paragraph,
    picture,
    section,
    table,
)
from bcdp.present.words import in_unit, interval_in_unit, missing_note, number
from bcdp.statistics import Row, Section, error_without_privacy


def learned(plan: Plan, estimates: Estimates, truth: Truth | None) -> PageSection:
    """The estimates, each drawn on the scale of its variable next to its numbers, with the truth where it is known."""
    note = missing_note({feature.label: feature.rule for feature in plan.policy.features.values()})
    parts = [_shown(each, estimates, truth) for each in estimates.sections() if each.rows]
    return section(
        "What was learned",
        paragraph(_key(parts, estimates.level, truth), kind="quiet"),
        *parts,
        *([paragraph(note, kind="quiet")] if note else []),
        paragraph(" ".join(check_lines(estimates.checks)), kind="quiet"),
        paragraph(
            "A mean of a feature with two values is the share of the second. Each interval is for the population that "
            f"the people were drawn from, and counts the noise that protects them; {_misses(estimates.level)}. The "
            "equivalent open sample is how many openly asked people would have the same standard error.",
            kind="quiet",
        ),
    )


def alarms(estimates: Estimates | None) -> list[str]:
    """What makes the numbers doubtful, which stands above them."""
    checks = {} if estimates is None else estimates.checks
    return [" ".join(check_lines(checks))] if any(check.alarm for check in checks.values()) else []


def _key(parts: Sequence[Html], level: float, truth: Truth | None) -> str:
    """How to read the drawings."""
    marks = f"Dots are estimates and bars their {100 * level:g}% intervals"
    return f"{marks}{', crosses the truth' * (truth is not None)}." if parts else "Nothing was estimated."


def _shown(each: Section, estimates: Estimates, truth: Truth | None) -> Html:
    """A section of the estimates: its rows as a table with drawings; of a curve the curve, and the table folded."""
    head = heading(each.subject)
    remarks = [paragraph(remark, kind="quiet") for remark in each.remarks]
    if each.drawn == "curve":
        numbers = folded("The numbers of the curve", _table(each, estimates, truth, drawn=False))
        return joined([head, curve(each, [row.truth(truth) for row in each.rows]), numbers, *remarks])
    return joined([head, _table(each, estimates, truth, drawn=True), *remarks])


def _table(each: Section, estimates: Estimates, truth: Truth | None, *, drawn: bool) -> Html:
    rows = each.told
    truths = [row.truth(truth) for row in rows]
    columns: dict[str, list[str]] = {each.heads[0]: [_name(each, row) for row in rows]}
    if drawn:
        columns["on the scale of the variable"] = _drawings(each, truths)
    columns[each.heads[1]] = [in_unit(row.number.value, row.number.se, row.percent) for row in rows]
    columns[f"{100 * estimates.level:g}% interval{each.interval}"] = [
        interval_in_unit(row.number, row.percent) for row in rows
    ]
    if any(true is not None for true in truths):
        columns["truth"] = [
            "" if true is None else in_unit(true, row.number.se, row.percent)
            for row, true in zip(rows, truths, strict=True)
        ]
    for name, counts in (("answers", [row.answers for row in rows]),
                         ("equivalent open sample", [row.open_people for row in rows])):  # fmt: skip
        if any(count is not None for count in counts):
            columns[name] = ["" if count is None else f"{count:,}" for count in counts]
    if estimates.liars:
        columns[f"{100 * estimates.liars:g}% fakes shift it by up to"] = [_shift(row) for row in rows]
    return table(list(columns), zip(*columns.values(), strict=True), kind="drawn" if drawn else "")


def _name(each: Section, row: Row) -> str:
    """What a row is about: in a section about several variables its label, else the value or group alone."""
    return row.name if each.drawn != "points" or each.heads[0] == "quantile" else row.label


def _drawings(each: Section, truths: Sequence[float | None]) -> list[str]:
    """The dots, with the numbers of a scale below the last row that has it."""
    scales = scales_of(each, truths)
    following = [*scales[1:], None]
    drawn = zip(each.rows, scales, following, truths, strict=True)
    return [dot(row, scale, true, axis=scale != after) for row, scale, after, true in drawn]


def _misses(confidence: float) -> str:
    return f"about {100 * (1 - confidence):.2g} of 100 such intervals miss the truth"


def _shift(row: Row) -> str:
    """How far fakes could have shifted an estimate."""
    if row.moved is None:
        return "not bounded here"
    return in_unit(row.moved, row.number.se, row.percent) if math.isfinite(row.moved) else "any amount"


def fakes(plan: Plan, liars: float) -> PageSection:
    """How far so many fake reports could shift estimates, in any population; nothing where none are assumed."""
    shifts = fake_shifts(plan, liars) if liars else {}
    if not shifts:
        return NOTHING
    rows = [[plan.policy.features[name].label, number(shift)] for name, shift in shifts.items()]
    return section(
        "What fake reports could do",
        paragraph(f"If {100 * liars:g}% of many reports are fake, each estimate shifts by at most, in its own units:"),
        table(["feature", "shift"], rows),
        paragraph(
            "Whoever sends a fake report chooses its menu, unless tickets assign it, and its answer.", kind="quiet"
        ),
    )


def accuracy(plan: Plan, errors: Mapping[str, Errors], users: int, simulated: Sequence[Point]) -> PageSection:
    """The errors to expect and, where collections were simulated, those that were seen."""
    rows = []
    for name, error in errors.items():
        kinds = (error_without_privacy(plan.policy.features[name]), error.plan, error.uniform, error.paper)
        each = [standard_error(plan.policy, name, e, users) for e in kinds]
        times = [f"× {number(e / error.plan, 2)}" for e in (error.uniform, error.paper)]
        if 0 < error.plan < math.inf:
            rows.append([plan.policy.features[name].label, *(number(e, 3) for e in each), *times])
    unable = any(math.isnan(error.paper) for error in errors.values())
    columns = ["standard error", "asked openly", "this plan", "uniform LDP", "the paper's mechanism",
               "people for uniform LDP", "people for the paper's"]  # fmt: skip
    return section(
        "How much accuracy was gained",
        paragraph(
            f"The standard errors to expect at most for {users:,} people, in each feature's own units, at the same "
            "guarantee; and how many times as many people an alternative needs for the same precision."
        ),
        picture(gain_figure(plan, errors), "people needed for the same precision, by feature and mechanism"),
        table(columns, rows),
        paragraph(
            "Uniform LDP protects every feature like the most sensitive one; of two such surveys, the one of least "
            "total error and the one that asks every feature equally often, the better is shown for each feature. "
            "The paper's mechanism is the one that introduced these guarantees, run at its best level"
            f"{f' (a dash: {NO_PAPER})' * unable}. 'Asked openly' is "
            "the largest error that chance alone leaves when everybody tells the truth. For a feature with several "
            "values a typical share is shown.",
            kind="quiet",
        ),
        _simulated(simulated) if simulated else Html(),
    )


def _simulated(rows: Sequence[Point]) -> Html:
    people = max(row.n for row in rows)
    seen = {(row.panel, row.curve): row.mean for row in rows if row.n == people}
    panels = list(dict.fromkeys(panel for panel, _ in seen))
    lines = [[panel, *(number(seen[panel, curve], 3) for curve in (SURVEY, UNIFORM, PAPER))] for panel in panels]
    sentence = (
        f"{rows[0].trials} times, {people:,} people were drawn from the data and answered in each of the ways. "
        "The average error, in own units:"
    )
    columns = ["", "this plan", "uniform LDP", "the paper's mechanism"]
    return joined([heading("Seen in simulated collections"), paragraph(sentence), table(columns, lines)])
