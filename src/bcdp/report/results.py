"""What was learned, and what the guarantee costs in accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from bcdp.comparison import Errors, openly, standard_error
from bcdp.estimates import Estimate, Estimates
from bcdp.experiments import Row
from bcdp.experiments.simulation import PAPER, SURVEY, UNIFORM
from bcdp.pictures import Truth, estimate_figure, gain_figure
from bcdp.plan import Plan
from bcdp.regression import RegressionEstimate
from bcdp.report.html import paragraph, picture, section, table
from bcdp.wording import interval, measured, number, share_of


def learned(plan: Plan, found: Estimates, truth: Truth | None) -> str:
    """The estimates as a picture and a table, beside the truth where it is known."""
    features = plan.policy.features
    rows = []
    for name, mean in found.means.items():
        rows.append(_cells(escape(share_of(features[name])), mean, None if truth is None else truth[name]))
    for name, shares in found.frequencies.items():
        for value, share in shares.items():
            known = None if truth is None else truth[name][value]
            rows.append(_cells(escape(f"{features[name].label} = {value}"), share, known))
    columns = ["", "estimate", f"{100 * found.level:g}% interval", "answers", *(["truth"] if truth is not None else [])]
    parts = [table(columns, rows)] if rows else []
    return section(
        "What was learned",
        picture(estimate_figure(plan, found, truth), "each estimate in its own units, with its interval"),
        *parts,
        *(_regression(fitted, found.level) for fitted in found.regressions),
        paragraph(
            "A mean of a feature with two values is the share of the second. Each interval is for the population that "
            "the people were drawn from, and counts the noise that protects them.",
            "quiet",
        ),
    )


def _cells(name: str, estimate: Estimate, truth: float | None) -> list[str]:
    cells = [name, measured(estimate.value, estimate.se), interval(estimate), f"{estimate.answers:,}"]
    return cells if truth is None else [*cells, measured(truth, estimate.se)]


def _regression(fitted: RegressionEstimate, level: float) -> str:
    numbers = {"intercept": fitted.intercept, **fitted.coefficients}
    rows = [[escape(name), measured(c.value, c.se), interval(c)] for name, c in numbers.items()]
    return (
        f"<h3>{escape(fitted.target)} by least squares</h3>"
        + table(["", "coefficient", f"{100 * level:g}% interval, unshrunk"], rows)
        + paragraph(escape(fitted.remark), "quiet")
    )


def accuracy(plan: Plan, errors: Mapping[str, Errors], users: int, simulated: Sequence[Row]) -> str:
    """The errors to expect and, where collections were simulated, those that were seen."""
    rows = []
    for name, error in errors.items():
        kinds = (openly(plan.policy.features[name]), error.plan, error.uniform, error.paper)
        each = [standard_error(plan.policy, name, e, users) for e in kinds]
        times = [f"&times; {number(e / error.plan, 2)}" for e in (error.uniform, error.paper)]
        if 0 < error.plan < math.inf:
            rows.append([escape(plan.policy.features[name].label), *(number(e, 3) for e in each), *times])
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
            "Uniform LDP protects every feature like the most sensitive one, by the same kind of survey at its best. "
            "The paper's mechanism is the one that introduced these guarantees, run at its best level. Asked openly is "
            "the most that chance alone leaves when everybody tells the truth to everybody. Of a feature with several "
            "values a typical share is told.",
            "quiet",
        ),
        _simulated(simulated) if simulated else "",
    )


def _simulated(rows: Sequence[Row]) -> str:
    people = max(row.n for row in rows)
    seen = {(row.panel, row.curve): row.mean for row in rows if row.n == people}
    panels = list(dict.fromkeys(panel for panel, _ in seen))
    lines = [
        [escape(panel), *(number(seen[panel, curve], 3) for curve in (SURVEY, UNIFORM, PAPER))] for panel in panels
    ]
    return (
        "<h3>Seen in simulated collections</h3>"
        + paragraph(
            f"{rows[0].trials} times, {people:,} people were drawn from the data and answered in each of the ways. "
            "The average error, in own units:"
        )
        + table(["", "this plan", "uniform LDP", "the paper's mechanism"], lines)
    )
