"""`bcdp demo`: all of it on a real data set, ending in a page to open."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bcdp.cli.options import AsJson
from bcdp.cli.output import (
    make_folder,
    progress,
    promise_cells,
    promise_columns,
    promise_words,
    show,
    show_json,
    table,
    working,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from bcdp.audit import PlanAudit
    from bcdp.compare import Point
    from bcdp.compare.fertility import Truth
    from bcdp.estimates import Estimates
    from bcdp.plan import Plan

_PEOPLE, _TRIALS = 100_000, 100  # of the simulated collections


@dataclass(frozen=True)
class _Step:
    """Says what is done next, and with which command anybody can do it again; silent for who wants JSON."""

    folder: Path
    silent: bool

    def say(self, *parts: str | Table) -> None:
        if not self.silent:
            show(*parts)

    def starts(self, title: str, command: str, *words: str) -> None:
        files = command.replace("@", f"{self.folder}{os.sep}")
        self.say("", title, *([f"   $ bcdp {files}"] if command else []), *(f"   {line}" for line in words))


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for all files.")] = Path("demo"),
    as_json: AsJson = False,
) -> None:
    """Run everything on real data: 254,654 women, two features that are nobody's business, one page to open.

    Every step shows the command that does it, and leaves its files in DIR.

    Example:

        bcdp demo
    """
    from bcdp.compare.baselines import compare
    from bcdp.compare.fertility import fertility, truth
    from bcdp.present.pictures import gain_figure, save
    from bcdp.present.report import write_report

    started, step = time.monotonic(), _Step(output, as_json)
    make_folder("--output", output)
    women = fertility()
    plan = _planned(step, women)
    estimates = _collected(step, plan, women, truth(women))
    audited = _audited(step, plan, women)
    simulated = _simulated(step, plan, women)
    page = output / "report.html"
    step.starts("6. A page explains all of it.", "report @plan.json @tally.json --audit @women.parquet -o @report.html")
    title = "254,654 women, and what stays theirs"
    write_report(
        page, plan, len(women), estimates, truth=truth(women), audited=audited, simulated=simulated, title=title
    )
    save(gain_figure(plan, compare(plan, plan.correlation_model)), output / "gain.png")
    seconds = round(time.monotonic() - started, 1)
    step.say("", f"Done in {seconds} s. Open {page}")
    if as_json:
        show_json(
            {"report": str(page), "plan": plan.id, "people": len(women), "seconds": seconds, **estimates.to_dict()}
        )


def _planned(step: _Step, women: pa.Table) -> Plan:
    from pyarrow import parquet

    from bcdp.compare.fertility import POLICY
    from bcdp.mechanisms.planning import make_plan
    from bcdp.policy import Policy
    from bcdp.present.promise import conditions, promises

    (step.folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    parquet.write_table(women, step.folder / "women.parquet")
    step.starts(
        "1. A policy says what is asked and how sensitive each answer is; a plan decides what each device is asked.",
        f"plan @policy.yaml -o @plan.json --users {len(women)}",
        "The plan proves how far a report can move the odds of a guess about each feature, on the condition below:",
    )
    with working("planning") as tell:
        plan = make_plan(Policy.load(step.folder / "policy.yaml"), progress=tell)
    plan.save(step.folder / "plan.json")
    promised = promises(plan)
    rows = [[p.label, plan.policy.features[name].delta, *promise_cells(p)] for name, p in promised.items()]
    step.say(table(["feature", "delta asked", *promise_columns(promised)], rows))
    step.say(
        *(f"   {line}" for line in (*conditions({p.label: p for p in promised.values()}), *promise_words(promised)))
    )
    return plan


def _collected(step: _Step, plan: Plan, women: pa.Table, known: Truth) -> Estimates:
    from pyarrow import parquet

    from bcdp.device import privatize
    from bcdp.estimates import estimate
    from bcdp.present.words import interval, measured
    from bcdp.tally import Tally

    step.starts(
        f"2. {len(women):,} devices answer. Two small numbers leave each: which menu chance drew, and the answer.",
        "privatize @plan.json @women.parquet -o @reports.parquet",
    )
    with working("privatizing"):
        reports = privatize(plan, women)
        parquet.write_table(reports, step.folder / "reports.parquet")
    first = ", ".join(f"({row['menu']}, {row['answer']})" for row in reports.slice(0, 3).to_pylist())
    step.say(f"   The first three reports: {first}")
    step.starts(
        "3. The server counts reports and estimates; the truth of the data is shown for comparison.",
        "tally @plan.json @reports.parquet -o @tally.json; bcdp estimate @plan.json @tally.json",
        "Each interval holds the truth in 95 of 100 collections: about one in twenty misses it.",
    )
    tally = Tally(plan).add(reports)
    tally.save(step.folder / "tally.json")
    estimates = estimate(tally)
    rows = []
    for row in (row for section in estimates.sections() for row in section.told):
        true, error = row.truth(known), row.number.se
        rows.append([row.label, measured(row.number.value, error), interval(row.number)])
        rows[-1].append("" if true is None else measured(true, error))
    step.say(table(["", "estimate", "95% interval", "truth"], rows))
    return estimates


def _audited(step: _Step, plan: Plan, women: pa.Table) -> PlanAudit:
    from bcdp.audit import audit_plan, population_from_records

    step.starts(
        "4. An audit computes what the answers really reveal about these women, next to what was certified (in nats).",
        "audit @plan.json --data @women.parquet",
    )
    with working("auditing"):
        audited = audit_plan(plan, population_from_records(plan, [women]))
    rows = [
        [plan.policy.features[name].label, level.certified, level.measured] for name, level in audited.delta.items()
    ]
    step.say(table(["feature", "certified", "measured"], [*rows, ["the whole record", *_both(audited)]]))
    return audited


def _both(audited: PlanAudit) -> tuple[float, float]:
    return audited.epsilon.certified, audited.epsilon.measured


def _simulated(step: _Step, plan: Plan, women: pa.Table) -> list[Point]:
    from bcdp.compare import write_csv
    from bcdp.compare.simulation import PAPER, SURVEY, UNIFORM, simulate
    from bcdp.policy import Policy
    from bcdp.present.pictures import draw_simulation

    step.starts(
        f"5. Is it worth it? {_TRIALS} collections of {_PEOPLE:,} women, simulated in three ways, same guarantee.",
        f"simulate @policy.yaml @women.parquet --users {_PEOPLE} --trials {_TRIALS} -o @simulation",
        "The average error of each estimate:",
    )
    with progress("simulating", total=1.0) as advance:
        policy = Policy.load(step.folder / "policy.yaml")
        rows = simulate(policy, women, _PEOPLE, _TRIALS, workers=os.cpu_count() or 1, advance=advance)
    folder = step.folder / "simulation"
    folder.mkdir(exist_ok=True)
    write_csv(rows, folder / "simulation.csv")
    draw_simulation(rows, folder / "simulation.png")
    seen = {(row.panel, row.curve): row.mean for row in rows if row.n == _PEOPLE}
    panels = dict.fromkeys(panel for panel, _ in seen)
    lines = [[panel, *(seen[panel, curve] for curve in (SURVEY, UNIFORM, PAPER))] for panel in panels]
    step.say(table(["", "this plan", "uniform LDP", "the paper"], lines))
    return rows
