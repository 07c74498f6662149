"""`bcdp trend` and `bcdp tiers`: estimates of several collections of different people, each and together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bcdp.cli.collect import check_distinct, count, section_table
from bcdp.cli.options import AsJson, PlanFile
from bcdp.cli.output import check_output, show, show_json, table
from bcdp.errors import refuse
from bcdp.present.words import interval, measured, missing_note

if TYPE_CHECKING:
    from bcdp.estimates.panel import Answered
    from bcdp.estimates.tiers import Tiered
    from bcdp.estimates.waves import Trend, WaveEstimates
    from bcdp.statistics import Estimate

_MOST_WAVES = 5  # whose values stand in a table; of more the first and the last

TidyFile = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="A table to write: .csv, .parquet or .html.")
]
Picture = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it as a PNG.")]


def trend(
    plan: PlanFile,
    waves: Annotated[
        list[str], typer.Argument(metavar="TIME=TALLY_OR_REPORTS", help="Each wave's files, with its time.")
    ],
    over: Annotated[
        str | None, typer.Option(metavar="NAME", help="An open feature with the times; then give files without times.")
    ] = None,
    weights: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Weights of every wave, as in bcdp estimate.")
    ] = None,
    level: Annotated[float, typer.Option(metavar="P", help="Confidence of the intervals.")] = 0.95,
    liars: Annotated[
        float, typer.Option(metavar="B", help="The share of all reports that may be fake, even all in one wave.")
    ] = 0.0,
    bend: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=B", help="Smooth this number: its slope changes by at most B at any wave."),
    ] = None,
    enrolled: Annotated[
        int | None, typer.Option(metavar="N", help="Of a panel, how many people take part: shows who did not answer.")
    ] = None,
    output: TidyFile = None,
    plot: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Report the trend over several waves of one plan, collected from different people, or of a panel.

    A panel's plan has its waves in its menus: give its files without times.

    The slope is that of the line of least squares through the waves, for one unit of the times, in own units. Two
    pooled estimates are reported: one weights people equally, which is right if nothing changed between the waves, and
    one weights waves equally, the average over the times. Nobody may have answered in two waves, which counts cannot
    show. Another plan, a file that is given twice and counts that come twice are refused.

    With --bend, other waves help to know each wave. The intervals hold if the stated bound does.

    Examples:

        bcdp trend plan.json 2021=first.json 2023=second.json 2024=third.json
        bcdp trend plan.json tally.json --over year --plot trend.png
        bcdp trend panel.json tally.json --enrolled 5000 --bend smoker=0.01
    """
    from bcdp.estimates.panel import PanelEstimates, estimate_panel
    from bcdp.estimates.waves import estimate_waves
    from bcdp.plan import Plan
    from bcdp.present.tidy_tables import ENDINGS, tidy_parts, write_tidy

    undated = over is not None or not any("=" in given for given in waves)  # files of all waves together
    timed = [] if undated else [_timed(given) for given in waves]
    files = [path for _, path in timed] or [Path(given) for given in waves]
    check_output("--plot", plot, plan, *files, ending=".png")
    check_output("--output", output, plan, *files, *(weights or ()), ending=ENDINGS)
    loaded = Plan.load(plan)
    is_panel = undated and over is None
    if is_panel and loaded.policy.panel is None:
        _timed(waves[0])
    check_distinct(files)
    bends = dict(map(_bend, bend or ()))
    options: dict[str, Any] = {"liars": liars, "bends": bends}
    estimates: WaveEstimates
    if is_panel:
        estimates = estimate_panel(count(loaded, files), level, weights or (), enrolled=enrolled, **options)
    elif over is None:
        times = dict.fromkeys(time for time, _ in timed)
        tallies = {time: count(loaded, [path for other, path in timed if other == time]) for time in times}
        estimates = estimate_waves(tallies, level, weights or (), **options)
    else:
        parts = count(loaded, files).by(over)
        tallies = {_time("--over", value): part for value, part in parts.items() if part.people}
        estimates = estimate_waves(tallies, level, weights or (), **options)
    if output is not None:
        write_tidy(tidy_parts(estimates.parts(), "wave"), output, level)
    if plot is not None:
        from bcdp.present.pictures import save, trend_figure

        save(trend_figure(estimates), plot)
    if as_json:
        show_json({"plan": loaded.id, **estimates.to_dict()})
        return
    note = missing_note({name: feature.rule for name, feature in loaded.policy.features.items()})
    answered = _answered_table(estimates.answered) if isinstance(estimates, PanelEstimates) else []
    show(*_trend_tables(estimates), *answered, *(["", note] if note else []), *([f"{plot} drawn"] if plot else []))


def _answered_table(answered: Mapping[int, Answered]) -> list[Any]:
    """How many answered in each wave of a panel, and who did not where it is known how many take part."""
    rows = [
        [str(wave), f"{each.people:,}", *([] if each.nonresponse is None else [f"{100 * each.nonresponse:.1f}%"])]
        for wave, each in answered.items()
    ]
    heads = ["wave", "reports", *["nonresponse"] * (len(rows[0]) > 2)]
    return ["", "Each person was asked in one wave, which chance chose", table(heads, rows)]


def _bend(given: str) -> tuple[str, float]:
    name, _, bound = given.rpartition("=")
    try:
        return name, float(bound)
    except ValueError:
        raise refuse("--bend", given, "NAME=B, a number's name and how much its slope may change at a wave") from None


def _timed(given: str) -> tuple[float, Path]:
    time, equals, path = given.partition("=")
    if not (equals and path):
        raise refuse("WAVES", given, "TIME=FILE, the time a number such as 2024; or --over an open feature")
    return _time("WAVES", time), Path(path)


def _time(option: str, value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        raise refuse(option, value, "times that are numbers, such as 2024 or 2024.5") from None


def _trend_tables(estimates: WaveEstimates) -> list[Any]:
    """The trends of each section, and then all waves together."""
    from bcdp.estimates.waves import ALL_PEOPLE, ALL_WAVES

    share = f"{100 * estimates.together.level:g}% interval"
    times = (
        list(estimates.waves) if len(estimates.waves) <= _MOST_WAVES else [min(estimates.waves), max(estimates.waves)]
    )
    head = [*(f"{time:.10g}" for time in times), "slope", "std. error", share]
    listed = list(estimates.trends)
    trends = [
        [trend.row.name, *(_value(trend.waves[time]) for time in times), _value(trend.slope), trend.slope.se,
         interval(trend.slope)]
        for trend in listed
    ]  # fmt: skip
    together = [
        [
            trend.row.name,
            *(cell for number in (trend.all_people, trend.all_waves) for cell in (_value(number), interval(number))),
        ]
        for trend in listed
    ]
    sections = [trend.section.subject for trend in listed]
    return [
        f"{len(estimates.waves)} waves, {estimates.together.people:,} reports",
        "assumed: different people, nobody answered in two waves",
        *_by_section(sections, head, trends),
        "",
        "All waves together",
        *_by_section(sections, [ALL_PEOPLE, share, ALL_WAVES, share], together),
        *(part for trend in listed if trend.smoothed for part in _smoothed(trend, estimates.bends, share)),
    ]


def _smoothed(trend: Trend, bends: Mapping[str, float], share: str) -> Iterable[Any]:
    """Every wave of a number that was smoothed, next to the wave by itself."""
    rows = [
        [f"{time:.10g}", _value(number), interval(number), _value(trend.waves[time]), interval(trend.waves[time])]
        for time, number in trend.smoothed.items()
    ]
    condition = f"smoothed; assumed: at no wave does its slope change by more than {bends[trend.row.name]:g}"
    return "", f"{trend.row.name}, {condition}", table(["wave", "smoothed", share, "by itself", share], rows)


def _value(number: Estimate) -> str:
    return measured(number.value, number.se)


def _by_section(sections: list[str], head: list[str], rows: list[list[Any]]) -> Iterable[Any]:
    for subject in dict.fromkeys(sections):
        own = [row for section, row in zip(sections, rows, strict=True) if section == subject]
        yield from ("", table([subject, *head], own))


def tiers(
    tallies: Annotated[
        list[str],
        typer.Argument(metavar="PLAN=TALLY_OR_REPORTS", help="Each tier's plan, with what was collected by it."),
    ],
    drawn: Annotated[
        bool,
        typer.Option("--drawn", help="State that chance alone chose each person's tier: pool by precision too."),
    ] = False,
    level: Annotated[float, typer.Option(metavar="P", help="Confidence of the intervals.")] = 0.95,
    output: TidyFile = None,
    plot: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Estimate for people who chose among several plans of one policy, tier by tier and all together.

    All together, tiers are strata: each describes its own people, with their number as its weight. That is unbiased
    whatever made people choose. Only if chance chose, all describe the same people, and precise tiers may weigh more.

    Examples:

        bcdp tiers strict.json=strict-tally.json usual.json=usual-tally.json
        bcdp tiers strict.json=a.parquet usual.json=b.parquet --drawn -o tiers.csv
    """
    from bcdp.estimates.tiers import estimate_tiers
    from bcdp.plan import Plan
    from bcdp.present.tidy_tables import ENDINGS, tidy_parts, write_tidy

    named = [_of_plan(given) for given in tallies]
    files = [path for _, path in named]
    check_output("--plot", plot, *dict(named), *files, ending=".png")
    check_output("--output", output, *dict(named), *files, ending=ENDINGS)
    check_distinct(files)
    counted = {}
    for plan in dict(named):
        if plan.stem in counted:
            raise refuse("TALLIES", str(plan), "plans whose files have different names, which name the tiers")
        counted[plan.stem] = count(Plan.load(plan), [path for other, path in named if other == plan])
    estimates = estimate_tiers(counted, level, drawn)
    if output is not None:
        write_tidy(tidy_parts(estimates.parts(), "tier"), output, level)
    if plot is not None:
        from bcdp.present.pictures import save, sections_figure

        save(sections_figure(estimates.sections(), _people(estimates), level), plot)
    if as_json:
        show_json(estimates.to_dict())
        return
    parts: list[Any] = [f"{_people(estimates):,} reports in {len(estimates.tiers)} tiers"]
    if drawn:
        parts.append("stated, for the pooled ones: chance alone chose each person's tier")
    for section in estimates.sections():
        parts += ["", section_table(section, level)]
    if not drawn:
        parts += ["", _choice_said(estimates)]
    show(*parts, *([f"{plot} drawn"] if plot else []))


def _choice_said(tiered: Tiered) -> str:
    """That a choice is an answer, and the largest factor by which it moves odds, as far as it can be estimated."""
    sentence = "Which tier a person chose is sent as it is: the choice is an answer, and no promise covers it."
    if not tiered.choice_odds:
        return sentence
    key, odds = max(tiered.choice_odds.items(), key=lambda pair: pair[1])
    return (
        f"{sentence} By these estimates the odds of {' = '.join(key)} differ between tiers by a factor of {odds:.2f}."
    )


def _people(tiered: Tiered) -> int:
    return sum(estimates.people for estimates in tiered.tiers.values())


def _of_plan(given: str) -> tuple[Path, Path]:
    plan, equals, path = given.partition("=")
    if not (equals and plan and path):
        raise refuse("TALLIES", given, "PLAN=FILE, what was collected by this plan")
    return Path(plan), Path(path)
