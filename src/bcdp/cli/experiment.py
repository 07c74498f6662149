"""`bcdp experiment`: the paper's figure and the comparisons, each as a CSV and a picture."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bcdp.cli.options import AsJson
from bcdp.cli.output import make_folder, progress, show, show_json, table

if TYPE_CHECKING:
    from rich.table import Table

    from bcdp.compare import Experiment, Point


def experiment(
    name: Annotated[str, typer.Argument(metavar="NAME", help="mean, dimension, fraction or regression.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for NAME.csv and NAME.png.")],
    trials: Annotated[int | None, typer.Option(metavar="N", help="Trials at each point; by default its own.")] = None,
    people: Annotated[
        int | None, typer.Option("--n", metavar="N", help="People in a trial (regression: at most); default: its own.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="S", help="A seed in place of the fixed one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate the paper's experiment or a comparison; writes a table and a picture.

    mean        the paper's figure: ten means as the correlation q grows
    dimension   the same from 5 to 100 features, a fifth of them sensitive
    fraction    the same from no sensitive feature to all of them
    regression  least squares from a thousand people to a million

    Every simulated person sends a report through the real code.
    The seed is fixed: the same command gives the same numbers anywhere.

    Examples:

        bcdp experiment mean -o figures
        bcdp experiment regression -o figures --trials 10 --n 100000
    """
    from bcdp.compare import SEED, find, run, write_csv
    from bcdp.present.pictures import draw_experiment

    chosen = find(name)
    make_folder("--output", output)
    table_file, picture_file = output / f"{name}.csv", output / f"{name}.png"
    started = time.monotonic()
    with progress(name, total=1.0) as advance:
        rows = run(name, trials, people, SEED if seed is None else seed, os.cpu_count() or 1, advance)
    write_csv(rows, table_file)
    draw_experiment(chosen, rows, picture_file)
    seconds = round(time.monotonic() - started, 1)
    if as_json:
        files = {"table": str(table_file), "picture": str(picture_file)}
        show_json({"experiment": name, **files, "seconds": seconds, "rows": [asdict(row) for row in rows]})
    else:
        show(*_tables(chosen, rows), f"{table_file} and {picture_file} written in {seconds} s")


def _tables(experiment: Experiment, rows: Sequence[Point]) -> Iterator[str | Table]:
    """One table of medians for each panel: a line for each point, a column for each curve."""
    for panel in dict.fromkeys(row.panel for row in rows):
        own = [row for row in rows if row.panel == panel]
        curves = list(dict.fromkeys(row.curve for row in own))
        medians = {(row.x, row.curve): row.predicted if row.median != row.median else row.median for row in own}
        lines = [[f"{x:,.10g}", *(medians[x, curve] for curve in curves)] for x in dict.fromkeys(row.x for row in own)]
        yield f"{panel}: {experiment.y_labels[panel]}, median of {own[0].trials:,} trials"
        yield table([experiment.x_label, *curves], lines)
        yield ""
