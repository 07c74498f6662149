"""`bcdp privatize`, `bcdp tally` and `bcdp estimate`: from records to reports to counts to estimates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bcdp.cli.options import AsJson
from bcdp.cli.output import progress, show, show_json, table, working
from bcdp.errors import InputError, refuse

if TYPE_CHECKING:
    from bcdp.estimates import Estimates
    from bcdp.plan import Plan
    from bcdp.tally import Tally

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, written by bcdp plan.")]
Engine = Annotated[
    Literal["local", "spark"], typer.Option(help="This machine's cores, or Spark: Parquet files and tables.")
]


def privatize(
    plan: PlanFile,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Records: a Parquet, CSV or Arrow file.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The reports to write, as Parquet.")],
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

    Examples:

        bcdp privatize plan.json people.csv -o reports.parquet
        head -c 32 /dev/urandom > key
        bcdp privatize plan.json people.parquet -o reports.parquet --key-file key --id-column id
    """
    from bcdp.plan import Plan

    made = Plan.load(plan)
    key = _read_key(key_file)
    if (key is None) != (id_column is None):
        raise refuse("--id-column", id_column, "a key file and an id column together, or neither")
    if engine == "spark":
        from bcdp.engines import spark

        with working("privatize with Spark"):
            people = spark.privatize_files(made, data, output, key, id_column)
    else:
        from bcdp.engines import local
        from bcdp.files import row_count

        with progress("privatize", total=row_count(data)) as advance:
            people = local.privatize_file(made, data, output, key, id_column, advance)
    if as_json:
        show_json({"plan": made.id, "reports": str(output), "people": people})
    else:
        show(f"{output} written: {people:,} reports for plan {made.id[:12]}..")


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
        typer.Argument(metavar="REPORTS...", help="Reports, or rows of menu, answer and count; tallies may be among."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The tally to write, as JSON.")],
    engine: Engine = "local",
    as_json: AsJson = False,
) -> None:
    """Count reports. The counts are all that estimates need, however many people there are.

    Examples:

        bcdp tally plan.json monday.parquet tuesday.parquet -o tally.json
        bcdp tally plan.json grouped.csv -o tally.json    # columns menu, answer, count from any SQL database
    """
    from bcdp.files import written_whole
    from bcdp.plan import Plan

    made = Plan.load(plan)
    if engine == "spark":
        from bcdp.engines import spark

        with working("tally with Spark"):
            counted = spark.tally_files(made, reports)
    else:
        counted = count(made, reports)
    with written_whole(output) as draft:
        counted.save(draft)
    if as_json:
        show_json({"plan": counted.plan.id, "tally": str(output), "people": counted.people})
    else:
        show(f"{output} written: {counted.people:,} reports counted")


def count(made: Plan, paths: list[Path]) -> Tally:
    """The counts of report files, rows of counts and tallies together, with a bar for who watches."""
    from bcdp.engines.local import tally_files
    from bcdp.files import row_count

    known = [row_count(path) for path in paths if path.suffix != ".json"]
    total = sum(rows for rows in known if rows is not None) if None not in known else None
    with progress("tally", total=total) as advance:
        return tally_files(made, paths, advance)


def estimate(
    plan: PlanFile,
    tally: Annotated[list[Path], typer.Argument(metavar="TALLY_OR_REPORTS...", help="A tally, or report files.")],
    level: Annotated[float, typer.Option(metavar="P", help="Of the intervals.")] = 0.95,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the estimates as a PNG.")] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate means, frequencies and regressions with intervals, in the features' own units.

    Example:

        bcdp estimate plan.json tally.json --plot estimates.png
    """
    from bcdp.estimates import estimate as from_tally
    from bcdp.plan import Plan

    made = Plan.load(plan)
    found = from_tally(count(made, tally), level)
    if plot is not None:
        from bcdp.pictures import draw_estimates

        draw_estimates(made, found, plot)
    if as_json:
        show_json(found.to_dict())
    else:
        show(*_estimate_tables(found), *([f"{plot} drawn"] if plot else []))


def _estimate_tables(found: Estimates) -> list[Any]:
    share = f"{100 * found.level:g}% interval"
    parts: list[Any] = [f"{found.people:,} reports"]
    if found.means:
        rows = [[name, m.value, m.se, f"{m.low:.5g} to {m.high:.5g}", m.answers] for name, m in found.means.items()]
        parts += ["", table(["feature", "mean", "std. error", share, "answers"], rows)]
    for name, categories in found.frequencies.items():
        rows = [[str(v), e.value, e.raw, e.se, f"{e.low:.4f} to {e.high:.4f}"] for v, e in categories.items()]
        answers = next(iter(categories.values())).answers
        parts += ["", f"{name}, from {answers:,} answers"]
        parts += [table(["value", "frequency", "unprojected", "std. error", share], rows)]
    for fitted in found.regressions:
        numbers = {"intercept": fitted.intercept, **fitted.coefficients}
        rows = [[name, c.value, c.se, f"{c.low:.5g} to {c.high:.5g}"] for name, c in numbers.items()]
        explained = fitted.explained
        parts += ["", f"{fitted.target} by least squares: coefficients in own units, shrunk as the noise asks"]
        parts += [table(["", "coefficient", "std. error", f"{share}, unshrunk"], rows)]
        parts += [f"share of variance explained: {explained.value:.3f} ({explained.low:.3f} to {explained.high:.3f})"]
        parts += [fitted.remark]
    return parts
