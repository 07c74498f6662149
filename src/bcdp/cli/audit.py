"""`bcdp audit`: what a plan reveals about people, computed instead of believed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bcdp.cli.options import AsJson, PlanFile
from bcdp.cli.output import finer_lines, show, show_json, table, working
from bcdp.errors import refuse

if TYPE_CHECKING:
    from bcdp.audit import Measured, PlanAudit, Population
    from bcdp.plan import Plan

VIOLATED = 1


def audit(
    plan: PlanFile,
    prior: Annotated[
        Path | None, typer.Option(metavar="P", help="A CSV: a column for each feature, last its probability.")
    ] = None,
    data: Annotated[Path | None, typer.Option(metavar="D", help="Records, taken as the whole population.")] = None,
    group: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Of the people with this open value.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(metavar="N", min=1000, help="Also run the device N times, and measure at 99.9%.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute exactly what a plan's reports reveal about one population, next to what the plan certifies.

    Every menu is enumerated for the population of a prior or of a data file, and the most telling answer about each
    feature is named. The exit code is 1 if anything exceeds its certificate: a false claim, or a population whose
    features depend on each other more than the plan assumes. Where a promise is about the range that a number is in,
    so is its audit; what finer guesses learn is shown next to it. With open features a promise is about each group of
    their values by itself, and so is the audit: `--group` names it, once for every open feature.

    Examples:

        bcdp audit plan.json --prior prior.csv
        bcdp audit plan.json --data people.parquet --runs 1000000
    """
    from bcdp.audit import audit_plan, population_from_file, population_from_prior

    source = prior or data
    if source is None or (prior and data):
        raise refuse("--prior and --data", "both" if source else "neither", "one of them: whom the audit is about")
    loaded = _read(plan)
    with working("auditing") as tell:
        whose = _named(group or [])
        population = (
            population_from_prior(loaded, prior, whose) if prior else population_from_file(loaded, source, whose)
        )
        tell("enumerating")
        audited = audit_plan(loaded, population)
        measured = None
        if runs is not None:
            tell(f"running the device {runs:,} times")
            measured = _run(loaded, population, runs)
    claims = loaded.certificate
    alarms = measured.alarms(
        claims.epsilon,
        {name: claim.c for name, claim in claims.features.items()},
        {name: claim.certified for name, claim in claims.features.items()},
    ) if measured else ()  # fmt: skip
    kept = audited.kept and not alarms
    if as_json:
        show_json(_document(loaded, audited, measured, kept))
    else:
        _show(loaded, audited, measured, alarms, kept)
    if not kept:
        raise typer.Exit(VIOLATED)


def _named(values: list[str]) -> dict[str, str]:
    """Open values by the names of their features."""
    pairs = [value.partition("=") for value in values]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise refuse("--group", wrong[0], "NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _run(plan: Plan, population: Population, runs: int) -> Measured:
    """What the device as it runs refutes: once more by ranges, where a delta is about these.

    Records that are alike in the ranges of their numbers are too unlike to measure c by them.
    """
    from bcdp.audit import audit_mechanism, device_mechanism, in_ranges

    if not plan.correlation_model.ranges:
        return audit_mechanism(device_mechanism(plan, population), population, runs)
    records, ranges = (
        audit_mechanism(device_mechanism(plan, known), known, runs, confidence=0.9995)  # together 0.999
        for known in (population, in_ranges(plan, population))
    )
    return replace(records, delta=ranges.delta)


def _read(path: Path) -> Plan:
    """The plan with whatever it claims: an audit is there to find false claims, so only the form is insisted on."""
    from bcdp.audit import verify_limits
    from bcdp.files import read_text
    from bcdp.plan import Plan

    text = read_text(path, "a file written by `bcdp plan`")
    verify_limits(text)
    return Plan.build(json.loads(text))


def _document(plan: Plan, audited: PlanAudit, measured: Measured | None, kept: bool) -> dict[str, Any]:
    features: dict[str, dict[str, Any]] = {}
    for name, level in audited.delta.items():
        c = audited.c[name]
        features[name] = {
            "certified": level.certified,
            "measured": level.measured,
            "c": {"certified": c.certified, "measured": c.measured},
            "worst": audited.words[name],
        }
        if name in audited.finer:
            features[name] |= {"ranges": plan.correlation_model.ranges[name], "finer": audited.finer[name]}
        if measured is not None:
            features[name]["device"] = measured.delta[name].below
    epsilon: dict[str, Any] = {"certified": audited.epsilon.certified, "measured": audited.epsilon.measured}
    if measured is not None:
        epsilon["device"] = measured.epsilon.below
    return {"plan": plan.id, "kept": kept, "epsilon": epsilon, "features": features}


def _show(plan: Plan, audited: PlanAudit, measured: Measured | None, alarms: tuple[str, ...], kept: bool) -> None:
    from bcdp.present.promise import conditions, promises

    lines: list[list[object]] = [["epsilon", audited.epsilon.certified, audited.epsilon.measured]]
    lines += [[f"c {name}", level.certified, level.measured] for name, level in audited.c.items()]
    lines += [[f"delta {name}", level.certified, level.measured] for name, level in audited.delta.items()]
    columns = ["level", "certified", "exact"]
    if measured is not None:
        limits = [measured.epsilon, *measured.c.values(), *measured.delta.values()]
        lines = [[*line, limit.below] for line, limit in zip(lines, limits, strict=True)]
        columns.append("device, at least")
    levels = {"epsilon": audited.epsilon, **{f"c {n}": v for n, v in audited.c.items()}}
    levels |= {f"delta {n}": v for n, v in audited.delta.items()}
    broken = [
        f"{name} is {level.measured:.4g}, above the certified {level.certified:.4g}"
        for name, level in levels.items()
        if not level.kept
    ]
    show(
        table(columns, lines),
        "",
        "epsilon and c are certified with nothing assumed, delta on a condition:",
        *conditions(promises(plan)),
        "",
        *audited.words.values(),
        "",
        *broken,
        *(f"the device as it runs: {alarm}" for alarm in alarms),
        *finer_lines(plan, audited.finer, "for this population"),
        "every claim holds for this population" if kept else "the certificate does NOT hold for this population",
    )
