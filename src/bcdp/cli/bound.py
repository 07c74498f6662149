"""`bcdp bound`: what no mechanism can beat, with a proof that anybody can check."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bcdp.cli.options import AsJson
from bcdp.cli.output import check_output, show, show_json, working
from bcdp.errors import refuse

if TYPE_CHECKING:
    from bcdp.compare.bound import Bound
    from bcdp.policy import Policy


def bound(
    policy: Annotated[Path | None, typer.Argument(metavar="POLICY", help="The policy, a YAML file.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The bound to write, as JSON; else only shown."),
    ] = None,
    check: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check a bound that was written, instead of finding one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove a lower bound on the error of every mechanism within the policy's demands.

    For binary features, one to three of them with a delta below epsilon and up to 28 others, and means or frequencies.
    The bound is on n times the error, summed over the features by weight, second moments counted, for every mechanism
    whose estimates are averages of unbiased decodings. A conic solver (pip install
    "bcdp-privacy[bound]") finds the proof in seconds to minutes; it is checked in exact arithmetic, and so is a file
    with --check, which needs no solver.

    Examples:

        bcdp bound policy.yaml -o bound.json
        bcdp bound --check bound.json
        bcdp plan policy.yaml --bound bound.json
    """
    from bcdp.compare.bound import Bound, problem_of
    from bcdp.files import written_whole
    from bcdp.policy import Policy

    check_output("--output", output, policy, check, ending=".json")
    stated = None if policy is None else Policy.load(policy)
    if check is not None:
        proved = read_bound(check, stated)
    elif stated is not None:
        from bcdp.compare.bound.solve import find_proof

        with working("proving"):
            proved = Bound.of(find_proof(problem_of(stated)))
    else:
        raise refuse("POLICY", None, "a policy to prove a bound for, or --check with a bound to check")
    if output is not None:
        with written_whole(output) as draft:
            draft.write_text(proved.text, encoding="utf-8")
    if as_json:
        show_json({**proved.stated, "bound": proved.least, "products": len(proved.proof.rows)})
    else:
        show(*_sentences(proved), *([] if check else [_kept(output)]))


def read_bound(path: Path, policy: Policy | None = None) -> Bound:
    """The bound in a file, checked; refused if it is not about the policy."""
    from bcdp.compare.bound import Bound, problem_of

    proved = Bound.load(path)
    if policy is not None and proved.problem != problem_of(policy):
        raise refuse(
            "bound", str(path), "a bound on this policy: its epsilon, deltas, q, weights and numbers of features"
        )
    return proved


def _sentences(proved: Bound) -> list[str]:
    own = ", ".join(f"delta {float(f.delta):g} (q = {float(f.q):g})" for f in proved.problem.sensitive)
    epsilon = float(proved.problem.epsilon)
    return [
        f"binary features: {proved.problem.others} within epsilon {epsilon:g}, one each with {own}",
        f"proved: n x error >= {math.floor(proved.least * 1000) / 1000:,.3f}, whatever the mechanism",
        "error: summed over the means of signs by weight, second moments counted, of averages of unbiased decodings.",
        f"The proof, {len(proved.proof.rows):,} products of inequalities, was checked in exact arithmetic.",
    ]


def _kept(output: Path | None) -> str:
    return "nothing written; -o bound.json keeps the proof" if output is None else f"{output} written"
