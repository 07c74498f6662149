"""`bcdp correlate`: from a sample, or a first private wave, to q, odds and what an answer reveals about others."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bcdp.cli.options import AsJson
from bcdp.cli.output import check_output, remark, show, show_json, table, working
from bcdp.cli.records import unusual_lines

if TYPE_CHECKING:
    from bcdp.correlation import Estimated, Tree
    from bcdp.policy import Policy

_WIDEST = 18  # features whose matrix fits on a line
_STRONGEST = 12


def correlate(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="A policy, or the plan (.json) of a first wave.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Sample: Parquet, CSV or Arrow; or the wave's tally.")],
    confidence: Annotated[float, typer.Option(metavar="C", help="Confidence that all limits hold together.")] = 0.95,
    model: Annotated[
        Literal["pairs", "tree"], typer.Option(help="tree: assume that the features form a tree, whichever it is.")
    ] = "pairs",
    budget: Annotated[
        float | None, typer.Option(metavar="B", min=0, help="Budget of every question; by default the largest allowed.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw both matrices as a PNG.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The pairs as CSV, for {pairs: FILE}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate how much the features say of each other, with limits that hold together.

    The sample is treated as public: take volunteers, older public data, or a first wave collected with q = 1. Shows q
    and odds of each feature, of each pair, and how many nats a question about one feature reveals about every other;
    ends with lines for the policy: the sample or the pairs as a file, and numbers only if they hold on the sample
    itself. The odds against all others together that a model fits are a guide, and no limit.

    Example:

        bcdp correlate policy.yaml volunteers.csv -o pairs.csv --plot pairs.png
    """
    import numpy as np

    from bcdp.correlation.from_policy import write_pairs
    from bcdp.correlation.leakage import leakage
    from bcdp.files import written_whole
    from bcdp.mechanisms.survey.design.budget_limits import binding
    from bcdp.present.pictures import draw_pairs

    check_output("--output", output, policy, data, ending=".csv")
    check_output("--plot", plot, policy, data, ending=".png")
    with working("estimating"):
        stated, estimated, guide, holding = _estimated(policy, data, confidence, model)
        names = list(stated.features)
        bindings = {name: binding(stated, estimated, name) for name in names}
        budgets = {name: bindings[name].budget if budget is None else budget for name in names}
        leaks = leakage(stated, estimated, budgets)
    outside = {name: stated.outside(name, frozenset(names)) for name in names}
    limits = np.array([[estimated.q(i, {j}) if i != j else 0.0 for j in names] for i in names])
    if output is not None:
        with written_whole(output) as draft:
            write_pairs(draft, stated, estimated)
    if plot is not None:
        limited = {name: bound.by for name, bound in bindings.items() if bound.by is not None}
        draw_pairs(stated, limits, leaks, limited, plot)
    document = {
        "source": estimated.source,
        "confidence": confidence,
        "q": {name: estimated.q(name, outside[name]) for name in names},
        "odds_guide": guide,
        "stated": holding,
        "pairs": {
            i: {
                j: {
                    "observed": estimated.observed.get((i, j)),
                    "limit": estimated.q(i, {j}),
                    "odds_limit": _finite(estimated.odds(i, {j})),
                }
                for j in names
                if j in outside[i]
            }
            for i in names
        },
        "budgets": budgets,
        "leakage": {i: dict(zip(names, row, strict=True)) for i, row in zip(names, leaks.tolist(), strict=True)},
        "largest_budgets": {name: bound.budget for name, bound in bindings.items()},
        "limited_by": {name: bound.by or "epsilon" for name, bound in bindings.items()},
        "ranges": dict(estimated.ranges),
        "notes": list(estimated.notes),
    }
    if as_json:
        show_json(document)
    else:
        files = {"pilot": None if policy.suffix == ".json" else data, "pairs": output}
        written = [f"{path} written" for path in (output, plot) if path is not None]
        _show(document, written, {kind: path for kind, path in files.items() if path is not None})


def _finite(odds: float) -> float | None:
    return odds if odds < math.inf else None


def _estimated(
    policy: Path, data: Path, confidence: float, model: Any
) -> tuple[Policy, Estimated | Tree, dict[str, float], dict[str, dict[str, float]]]:
    """The policy, the limits, the odds that a model fits against all others, and numbers that a policy may state."""
    from bcdp.correlation import estimate_correlation, read_pilot
    from bcdp.correlation.pilot import odds_guide
    from bcdp.correlation.private_sample import correlation_from_wave
    from bcdp.correlation.stated import holding_numbers, stated_numbers
    from bcdp.errors import refuse
    from bcdp.files import naming_file
    from bcdp.plan import Plan
    from bcdp.policy import Policy
    from bcdp.records.encoding import unusual
    from bcdp.tally import Tally

    if policy.suffix != ".json":
        stated = Policy.load(policy)
        sample = read_pilot(data, stated)
        with naming_file(data):
            estimated = estimate_correlation(stated, sample, confidence, model, data.name)
        remark(*unusual_lines(stated, unusual(stated, sample), len(sample)))
        return stated, estimated, odds_guide(stated, sample), holding_numbers(stated, sample, estimated, confidence)
    if model != "pairs":
        raise refuse("--model", model, "pairs, for a wave")
    plan = Plan.load(policy)
    limits, names = correlation_from_wave(Tally.load(data, plan), confidence), frozenset(plan.policy.features)
    return plan.policy, limits, {}, stated_numbers({name: limits.q(name, names - {name}) for name in names}, {})


def _show(document: dict[str, Any], written: list[str], files: dict[str, Path]) -> None:
    names = list(document["q"])
    guide = document["odds_guide"]
    pairs = [(cell["limit"], i, j, cell) for i, row in document["pairs"].items() for j, cell in row.items()]
    strongest = [
        [f"{i} -> {j}", cell["observed"], limit, cell["odds_limit"]]
        for limit, i, j, cell in sorted(pairs, key=lambda pair: pair[:3], reverse=True)[:_STRONGEST]
    ]
    limited = [
        f"{name} is limited to {document['largest_budgets'][name]:.3g} by {by}"
        for name, by in document["limited_by"].items()
        if by not in (name, "epsilon")
    ]
    parts: list[Any] = [
        f"Correlation {document['source']}",
        "",
        "All others together. q: a limit on how far their law moves with the feature. odds: by how much they move the",
        "odds of a guess about it, as a logistic model fits them; a guide, no proof",
        table(
            ["feature", "q, limit", "odds, guide", "budget alone"],
            [[name, document["q"][name], guide.get(name, "-"), document["budgets"][name]] for name in names],
        ),
        *document["notes"],
        "",
        "The strongest pairs. q: how far the law of the second moves with the first. odds: by how much the second",
        "moves the odds of a guess about the first",
        table(
            ["pair", "q, observed", "q, limit", "odds, limit"],
            [[pair, *("-" if x is None else x for x in row)] for pair, *row in strongest],
        ),
    ]
    if len(names) <= _WIDEST:
        pairs_of = document["pairs"]  # none of features that depend on each other by design
        limits = [[pairs_of[i][j]["limit"] if j in pairs_of[i] else None for j in names] for i in names]
        leaks = [[document["leakage"][i][j] for j in names] for i in names]
        parts += ["", "q of pairs, limits: how far the column's law moves with the row", _matrix(names, limits)]
        parts += ["", "Leakage in nats: what a question about the column reveals about the row", _matrix(names, leaks)]
    show(*parts, "", *limited, *written, "", *_lines(document["stated"], guide, files))


def _lines(stated: dict[str, dict[str, float]], guide: dict[str, float], files: dict[str, Path]) -> list[str]:
    """What may be written into a policy: a file first, as it keeps most of the gain, then numbers that hold."""
    from yaml import dump

    from bcdp.policy import Dumper

    def yaml(correlation: Any) -> list[str]:
        text = dump({"correlation": correlation}, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10_000,
                    default_flow_style=None)  # fmt: skip
        return str(text).splitlines()

    fitted = ", ".join(f"{name} {odds:.3g}" for name, odds in guide.items())
    lines = [
        line
        for kind, path in files.items()
        for line in (f"For the policy, from {path.name}:", "", *yaml({kind: str(path)}), "")
    ]
    if stated:
        lines += [
            "Or in numbers, for the policy, which hold in these records (nothing is assumed of other features):",
            "",
        ]
        lines += yaml(stated)
    else:
        lines.append("No numbers for all other features together hold in these records: state the file.")
    return [*lines, *[f"# odds that a model fits, a guide and no limit: {fitted}"] * bool(guide)]


def _matrix(names: list[str], rows: list[list[float | None]]) -> Any:
    cells = [[f"{number} {name}", *("" if x is None else f"{x:.2f}" for x in row)]
             for number, (name, row) in enumerate(zip(names, rows, strict=True), start=1)]  # fmt: skip
    return table(["", *(str(number + 1) for number in range(len(names)))], cells)
