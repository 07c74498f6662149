"""What was learned, and what the guarantee costs in accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bcdp.compare import Point
from bcdp.compare.baselines import NO_REGRESSION, Errors, standard_error
from bcdp.compare.simulation import PAPER, SURVEY, UNIFORM
from bcdp.estimates import Estimates
from bcdp.plan import Plan
from bcdp.present.check_sentences import check_lines
from bcdp.present.fake_shifts import fake_shifts
from bcdp.present.pictures import Truth, estimate_figure, gain_figure
from bcdp.present.report.html import Html, heading, joined, paragraph, picture, section, table
from bcdp.present.words import interval, measured, missing_note, number
from bcdp.statistics import Row, Section, error_without_privacy


def learned(plan: Plan, estimates: Estimates, truth: Truth | None) -> Html:
    """The estimates as a picture and a table, with the truth where it is known."""
    sections = list(estimates.sections())
    counted = [row for each in sections for row in each.rows if row.answers is not None]
    fakes = [f"{100 * estimates.liars:g}% fakes shift it by up to"] if estimates.liars else []
    rows = [_cells(row, row.truth(truth)) + [_shift(row)] * len(fakes) for row in counted]
    columns = [
        "",
        "estimate",
        f"{100 * estimates.level:g}% interval",
        "answers",
        *(["truth"] if truth is not None else []),
        *fakes,
    ]
    parts = [table(columns, rows)] if rows else []
    note = missing_note({feature.label: feature.rule for feature in plan.policy.features.values()})
    return section(
        "What was learned",
        picture(estimate_figure(plan, estimates, truth), "each estimate in its own units, with its interval"),
        *parts,
        *(_apart(each, estimates.level, truth, fakes) for each in sections if not set(each.rows) & set(counted)),
        *([paragraph(note, kind="quiet")] if note else []),
        paragraph(" ".join(check_lines(estimates.checks)), kind="quiet"),
        paragraph(
            "A mean of a feature with two values is the share of the second. Each interval is for the population that "
            f"the people were drawn from, and counts the noise that protects them; {_misses(estimates.level)}.",
            kind="quiet",
        ),
    )


def _cells(row: Row, truth: float | None) -> list[str]:
    estimate = row.number
    cells = [row.label, measured(estimate.value, estimate.se), interval(estimate), f"{row.answers:,}"]
    return cells if truth is None else [*cells, measured(truth, estimate.se)]


def _misses(confidence: float) -> str:
    return f"about {100 * (1 - confidence):.2g} of 100 such intervals miss the truth"


def _shift(row: Row) -> str:
    """How far fakes could have shifted an estimate."""
    if row.moved is None:
        return "not bounded here"
    return measured(row.moved, row.number.se) if math.isfinite(row.moved) else "any amount"


def _apart(section: Section, confidence: float, truth: Truth | None, fakes: Sequence[str]) -> Html:
    """A section that no single question answers, as a table of its own."""
    known = [row.truth(truth) for row in section.told]
    columns = ["", section.heads[1], f"{100 * confidence:g}% interval{section.interval}"]
    rows = [[row.name, measured(row.number.value, row.number.se), interval(row.number)] for row in section.told]
    if any(true is not None for true in known):
        columns.append("truth")
        for cells, true, row in zip(rows, known, section.told, strict=True):
            cells.append("" if true is None else measured(true, row.number.se))
    if fakes:
        columns += fakes
        for cells, row in zip(rows, section.told, strict=True):
            cells.append(_shift(row))
    return joined(
        [
            heading(section.subject),
            table(columns, rows),
            *(paragraph(remark, kind="quiet") for remark in section.remarks),
        ]
    )


def fakes(plan: Plan, liars: float) -> Html:
    """How far so many fake reports could shift estimates, in any population; nothing where none are assumed."""
    shifts = fake_shifts(plan, liars) if liars else {}
    if not shifts:
        return Html()
    rows = [[plan.policy.features[name].label, number(shift)] for name, shift in shifts.items()]
    return section(
        "What fake reports could do",
        paragraph(f"If {100 * liars:g}% of many reports are fake, each estimate shifts by at most, in its own units:"),
        table(["feature", "shift"], rows),
        paragraph(
            "Whoever sends a fake report chooses its menu, unless tickets assign it, and its answer.", kind="quiet"
        ),
    )


def accuracy(plan: Plan, errors: Mapping[str, Errors], users: int, simulated: Sequence[Point]) -> Html:
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
            f"{f' (a dash: {NO_REGRESSION})' * unable}. 'Asked openly' is "
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
