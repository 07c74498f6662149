"""`bcdp report` and `bcdp demo`: one page to open, for your own collection or for a real data set."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from bcdp.cli.collect import PlanFile, count
from bcdp.cli.options import AsJson
from bcdp.cli.output import show, show_json, table, working
from bcdp.errors import refuse


def report(
    plan: PlanFile,
    tally: Annotated[
        list[Path] | None, typer.Argument(metavar="[TALLY_OR_REPORTS...]", help="What was collected.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")] = Path(
        "report.html"
    ),
    users: Annotated[
        int, typer.Option(metavar="N", min=1, help="People to expect, while there are no reports.")
    ] = 10_000,
    level: Annotated[float, typer.Option(metavar="P", help="Of the intervals.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Write a page that explains a collection: what it protects, what was learned, what that cost.

    Examples:

        bcdp report plan.json -o before.html --users 50000
        bcdp report plan.json tally.json -o report.html
    """
    from bcdp.comparison import compare
    from bcdp.estimates import estimate
    from bcdp.files import written_whole
    from bcdp.plan import Plan
    from bcdp.report import write_report

    made = Plan.load(plan)
    counted = count(made, tally) if tally else None
    if counted is not None and counted.people == 0:
        raise refuse("tally", "no reports", "at least one report")
    people = users if counted is None else counted.people
    with written_whole(output) as draft:
        found = None if counted is None else estimate(counted, level)
        write_report(draft, made, compare(made, made.correlation_model), people, found)
    if as_json:
        show_json({"plan": made.id, "report": str(output), "people": people})
    else:
        show(f"{output} written; open it in a browser")


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for all files.")] = Path(
        "demo-output"
    ),
    as_json: AsJson = False,
) -> None:
    """Run everything on real data: 254,654 women, two features that are nobody's business, one page to open.

    Example:

        bcdp demo
    """
    from bcdp.comparison import compare, standard_error
    from bcdp.demo import POLICY, fertility, truth
    from bcdp.device import privatize
    from bcdp.estimates import estimate
    from bcdp.planning import make_plan
    from bcdp.policy import Policy
    from bcdp.report import write_report
    from bcdp.tally import Tally
    from bcdp.wording import number, odds

    def say(*parts: str | Table) -> None:
        if not as_json:
            show(*parts)

    started = time.monotonic()
    output.mkdir(parents=True, exist_ok=True)
    (output / "policy.yaml").write_text(POLICY, encoding="utf-8")
    women = fertility()
    say(f"1. The policy, {output / 'policy.yaml'}, says what is asked and how sensitive each answer is.")
    with working("planning") as tell:
        plan = make_plan(Policy.load(output / "policy.yaml"), progress=tell)
    plan.save(output / "plan.json")
    labels = {name: feature.label for name, feature in plan.policy.features.items()}
    claims = plan.certificate.features
    say(
        "",
        "2. The plan decides what each device is asked, and proves what that protects. Whoever sees a report can raise",
        "   the odds of a guess about a feature by at most this factor:",
        table(["feature", "odds"], [[labels[name], odds(claim.certified)] for name, claim in claims.items()]),
    )
    with working("privatizing"):
        reports = privatize(plan, women)
    first = ", ".join(f"({row['menu']}, {row['answer']})" for row in reports.slice(0, 3).to_pylist())
    say("", f"3. {len(women):,} devices answer. All that left the first three, as (menu, answer): {first}")
    tally = Tally(plan).add(reports)
    tally.save(output / "tally.json")
    found, known, errors = estimate(tally), truth(women), compare(plan, plan.correlation_model)
    rows = [
        [labels[name], m.value, f"{number(m.low)} to {number(m.high)}", known[name]] for name, m in found.means.items()
    ]
    for name, shares in found.frequencies.items():
        true = known[name]
        assert isinstance(true, dict)
        rows += [
            [f"{labels[name]}: {word}", e.value, f"{number(e.low)} to {number(e.high)}", true[word]]
            for word, e in shares.items()
        ]
    say(
        "",
        "4. The server counts answers and estimates, beside what an untouched copy would have told:",
        table(["", "estimate", "95% interval", "truth"], rows),
        "",
        "5. Standard errors at the same guarantee:",
        table(
            ["", "this plan", "the paper", "uniform LDP"],
            [
                [
                    labels[name],
                    *(
                        standard_error(plan.policy, name, e, len(women))
                        for e in (error.plan, error.paper, error.uniform)
                    ),
                ]
                for name, error in errors.items()
            ],
        ),
    )
    page = output / "report.html"
    write_report(page, plan, errors, len(women), found, known, "254,654 women, and what stays theirs")
    seconds = round(time.monotonic() - started, 1)
    if as_json:
        show_json({"report": str(page), "plan": plan.id, "people": len(women), "seconds": seconds, **found.to_dict()})
    else:
        show("", f"Done in {seconds} s. Open {page}")
