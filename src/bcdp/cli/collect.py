"""`bcdp privatize`, `bcdp tally` and `bcdp estimate`: from records to reports to counts to estimates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bcdp.cli.counts import counts_lines, published
from bcdp.cli.options import AsJson, PlanFile
from bcdp.cli.output import PIPED_WIDTH, check_output, progress, remark, same_file, show, show_json, table
from bcdp.cli.records import unusual_lines
from bcdp.errors import InputError, refuse
from bcdp.present.check_sentences import check_lines
from bcdp.present.words import interval, measured, missing_note, strip

if TYPE_CHECKING:
    from bcdp.estimates import Estimates
    from bcdp.plan import Plan
    from bcdp.statistics import Section
    from bcdp.tally import Tally

Engine = Annotated[
    Literal["local", "spark"], typer.Option(help="This machine's cores, or Spark: Parquet files and tables.")
]

_CURVE = "The shares below every edge: --json, -o FILE, or drawn by --plot FILE."
_REPORTS = (".parquet", ".arrow", ".feather", ".csv")


def privatize(
    plan: PlanFile,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Records: a Parquet, CSV or Arrow file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The reports to write: .parquet, .arrow or .csv.")
    ],
    key_file: Annotated[
        Path | None, typer.Option(metavar="F", help="32 secret random bytes; with them a rerun repeats its answers.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(metavar="C", help="The column that identifies a record, needed with a key.")
    ] = None,
    engine: Engine = "local",
    as_json: AsJson = False,
) -> None:
    """Do what devices do, for a file: turn records into reports that may leave.

    The plan is verified first. Without a key the randomness is fresh and forgotten; with a key and an id column the
    same record gives the same report again, so that a retried job releases nothing new. Records are read in batches:
    memory does not grow with the file. An id stands for one record; a repeated id is refused where a batch shows it.
    Prints on stderr how many values were missing or outside the bounds, for the person who holds the records.

    Examples:

        bcdp privatize plan.json people.csv -o reports.parquet
        head -c 32 /dev/urandom > key
        bcdp privatize plan.json p.csv -o r.parquet --key-file key --id-column id
    """
    from bcdp.engines import engine_named
    from bcdp.plan import Plan

    runner = engine_named(engine)
    check_output("--output", None if runner.WRITES_FOLDER else output, plan, data, key_file, ending=_REPORTS)
    loaded = Plan.load(plan)
    key = _read_key(key_file)
    if (key is None) != (id_column is None):
        raise refuse("--id-column", id_column, "a key file and an id column together, or neither")
    unusual = Counter[tuple[str, str]]()
    with progress("privatize", total=runner.row_count(data)) as advance:
        people = runner.privatize_file(loaded, data, output, key, id_column, advance=advance, watch=unusual.update)
    remark(*unusual_lines(loaded.policy, unusual, people))
    if as_json:
        show_json({"plan": loaded.id, "reports": str(output), "people": people})
    else:
        show(f"{output} written: {people:,} reports for plan {loaded.id[:12]}..")


def _read_key(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"--key-file: {path} cannot be read ({error.strerror}); accepted: 32 random bytes") from None


def tally(
    plan: PlanFile,
    reports: Annotated[
        list[Path],
        typer.Argument(metavar="REPORTS", help="Reports, rows of menu, answer and count, or tallies."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The tally to write, as JSON.")],
    publish: Annotated[
        bool, typer.Option("--publish", help="Write a tally to publish, and refuse a second one of nearly the same.")
    ] = False,
    only_added: Annotated[
        bool, typer.Option("--only-added", help="Nobody published before was deleted, corrected or moved since.")
    ] = False,
    engine: Engine = "local",
    as_json: AsJson = False,
) -> None:
    """Count reports. The counts are all that estimates need, however many people there are.

    Every report must be in one of the files only: the same file twice is refused, but a tally does not say which
    reports it has counted. What is published is noted in published.json in the tally's folder: counts of at least 1,000
    people, and another time only counts that contain the last ones and at least 1,000 people more.

    Examples:

        bcdp tally plan.json monday.parquet tuesday.parquet -o tally.json
        bcdp tally plan.json grouped.csv -o tally.json  # menu, answer, count
        bcdp tally plan.json all.parquet -o public.json --publish
    """
    from bcdp.files import written_whole
    from bcdp.plan import Plan

    check_output("--output", output, plan, *reports, ending=".json")
    loaded = Plan.load(plan)
    if only_added and not publish:
        raise refuse("--only-added", True, "--publish too")
    counted = count(loaded, reports, engine)
    promised = published(counted, output, only_added) if publish else []
    if not publish:
        with written_whole(output) as draft:
            counted.save(draft)
    if as_json:
        from bcdp.present.published_counts import counts_document

        document: dict[str, Any] = {"plan": counted.plan.id, "tally": str(output), "people": counted.people}
        document["checks"] = {key: check.to_dict() for key, check in counted.checks().items()}
        show_json(document | ({"counts": counts_document(promised)} if publish else {}))
    else:
        counts = counts_lines(loaded, promised)
        show(f"{output} written: {counted.people:,} reports counted", *check_lines(counted.checks()), *counts)


def check_distinct(paths: list[Path]) -> None:
    """Refuses a file that is given twice, under whatever names: its reports would count twice."""
    for number, path in enumerate(paths):
        if any(path == other or same_file(path, other) for other in paths[:number]):
            raise refuse("REPORTS", f"{path} again", "each file once, because every report counts once")


def count(plan: Plan, paths: list[Path], engine: str = "local") -> Tally:
    """The counts of report files, rows of counts and tallies together, with a progress bar."""
    from bcdp.engines import engine_named

    check_distinct(paths)
    runner = engine_named(engine)
    rows = [runner.row_count(path) for path in paths if path.suffix != ".json"]
    total = sum(known) if len(known := [number for number in rows if number is not None]) == len(rows) else None
    with progress("tally", total=total) as advance:
        return runner.tally_files(plan, paths, advance)


def estimate(
    plan: PlanFile,
    tally: Annotated[list[Path], typer.Argument(metavar="TALLY_OR_REPORTS", help="A tally, or report files.")],
    level: Annotated[float, typer.Option(metavar="P", help="Confidence of the intervals.")] = 0.95,
    weights: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A CSV: open features, and people (of the population) or weight; several."),
    ] = None,
    strata: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An open feature whose numbers of people the design fixed; several."),
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Tell everything by this open feature.")] = None,
    liars: Annotated[
        float, typer.Option(metavar="B", help="The share of reports that may be fake: intervals allow for them.")
    ] = 0.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="A table to write: .csv, .parquet or .html.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the estimates as a PNG.")] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate means, frequencies and regressions with intervals, in the features' own units.

    With `--weights` people count by weights that depend on open features: one file with a column `people` is a margin
    of the population, to which the answers are post-stratified; several are raked; a column `weight` is the design's.
    `--strata` names what people were sampled by, so many of each: then chance chose people within each stratum only.
    `--liars 0.01` allows for 1% fake reports: how far they could have shifted each estimate, and intervals that hold.
    By an open feature every estimate is told for each of its values, which are different people, and the differences.

    Examples:

        bcdp estimate plan.json tally.json --plot estimates.png
        bcdp estimate plan.json tally.json --by region -o regions.csv
        bcdp estimate plan.json tally.json --weights region.csv --weights age.csv
        bcdp estimate plan.json tally.json --liars 0.01
    """
    from bcdp.estimates import estimate as from_tally
    from bcdp.estimates import estimate_by
    from bcdp.plan import Plan
    from bcdp.present.tidy_tables import ENDINGS, tidy, write_tidy

    check_output("--plot", plot, plan, *tally, ending=".png")
    check_output("--output", output, plan, *tally, *(weights or ()), ending=ENDINGS)
    loaded = Plan.load(plan)
    counted = count(loaded, tally)
    if by is not None:
        if plot is not None or weights or strata:
            raise refuse("--by", by, "no --plot, --weights or --strata next to it")
        groups = estimate_by(counted, by, level, liars=liars)
        if output is not None:
            write_tidy(tidy(groups, by), output, level)
        show_by(groups, by, level, as_json)
        return
    estimates = from_tally(counted, level, weights or (), strata or (), liars=liars)
    if output is not None:
        write_tidy(tidy(estimates), output, level)
    if plot is not None:
        from bcdp.present.pictures import estimate_figure, save

        save(estimate_figure(loaded, estimates), plot)
    if as_json:
        show_json(estimates.to_dict())
    else:
        note = missing_note({name: feature.rule for name, feature in loaded.policy.features.items()})
        show(*estimate_tables(estimates), *(["", note] if note else []), *([f"{plot} drawn"] if plot else []))


def show_by(groups: Mapping[Any, Estimates], name: str, level: float, as_json: bool) -> None:
    """The estimates of each value of an open feature, and the differences between them."""
    from bcdp.estimates.by import by_document, differences

    if as_json:
        show_json(by_document(name, groups))
        return
    parts: list[Any] = []
    for value, estimates in groups.items():
        parts += [f"{name} = {value}: ", *estimate_tables(estimates), ""]
    rows = [
        [f"{minuend} less {subtrahend}", about, row, measured(number.value, number.se), number.se, interval(number)]
        for (minuend, subtrahend), about, row, number in differences(groups)
    ]
    heads = [name, "about", "", "difference", "std. error", f"{100 * level:g}% interval"]
    show(*parts, "Differences between groups, which are different people", table(heads, rows))


def estimate_tables(estimates: Estimates) -> list[Any]:
    parts: list[Any] = [f"{estimates.people:,} reports"]
    if estimates.design_effects:
        effects = ", ".join(f"{name} {effect:.3g}" for name, effect in estimates.design_effects.items())
        parts.append(f"weighted; design effect: {effects}")
    for section in estimates.sections():
        if section.drawn == "curve":
            parts.append(_CURVE)
            continue
        parts += ["", *([section.title] if section.title else []), section_table(section, estimates.level)]
        parts += [line for remark in section.remarks for line in wrap(remark, PIPED_WIDTH)]
    rows = [row for section in estimates.sections() for row in section.rows]
    if any(row.open_people is not None for row in rows):
        parts += ["", "worth: how many openly asked people, at most, would have the same standard error"]
    if estimates.liars:
        share = f"{100 * estimates.liars:g}%"
        parts += [
            "",
            f"fakes: how far {share} fake reports could have shifted it; intervals hold with up to {share}",
        ]
    if estimates.liars and any(row.moved is None for row in rows):
        parts.append("Rows without that number do not allow for fake reports.")
    hint = [] if estimates.liars or not estimates.checks else ["--liars 0.01 shows what 1% of fake reports could do."]
    checked = [line for sentence in check_lines(estimates.checks) for line in wrap(sentence, PIPED_WIDTH)]
    return [*parts, *checked, *hint]


def _counted(people: int | None) -> str:
    return "" if people is None else f"{people:,}"


def section_table(section: Section, confidence: float) -> Any:
    """The rows of a section as a table to show."""
    projected = any(row.raw is not None for row in section.rows)
    counted = not section.title and any(row.answers is not None for row in section.rows)
    share = f"{100 * confidence:g}% interval{section.interval}"
    pictured = section.drawn == "curve"
    valued = not pictured and any(row.open_people is not None for row in section.rows)
    head = [*section.heads, *["unprojected"] * projected, "std. error", share]
    shifted = any(row.moved is not None for row in section.rows)
    head += [*["answers"] * counted, *["worth"] * valued, *["fakes"] * shifted]
    rows = []
    for row in section.told:
        value, se = measured(row.number.value, row.number.se), row.number.se
        raw = [measured(row.raw, se)] if projected and row.raw is not None else []
        cells = [row.name, value, *raw, se, interval(row.number), *([_counted(row.answers)] if counted else [])]
        cells += [_counted(row.open_people)] if valued else []
        cells += ["" if row.moved is None else measured(row.moved, se)] if shifted else []
        rows.append([*cells, *([strip(row.number, row.possible)] if pictured else [])])
    return table([*head, *[""] * pictured], rows)
