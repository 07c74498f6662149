"""`bcdp policy` and `bcdp plan`: from a data file's columns to a policy, from a policy to a plan."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bcdp.cli.options import AsJson
from bcdp.cli.output import show, show_json, table, working
from bcdp.wording import odds

if TYPE_CHECKING:
    from bcdp.comparison import Errors
    from bcdp.correlation import Correlation
    from bcdp.plan import Claims, Plan

Users = Annotated[int, typer.Option("--users", metavar="N", min=1, help="People to expect, for the standard errors.")]


def policy(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file with the columns to collect.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The policy to write.")],
    as_json: AsJson = False,
) -> None:
    """Write a policy to fill in, from the columns of a data file.

    Only names and types are taken from the file. Bounds and values are left for you to state from public knowledge:
    taken from people's data they would give some of it away.

    Example:

        bcdp policy people.csv -o policy.yaml
    """
    from bcdp.files import written_whole
    from bcdp.skeleton import policy_skeleton

    text = policy_skeleton(data)
    with written_whole(output) as draft:
        draft.write_text(text, encoding="utf-8")
    if as_json:
        show_json({"policy": str(output)})
    else:
        show(f"{output} written. Fill in what says FILL, then: bcdp plan {output} -o plan.json")


def plan(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy, a YAML file.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The plan to write.")],
    users: Users = 10_000,
    as_json: AsJson = False,
) -> None:
    """Design the collection: what each device will be asked, and the proof of what that protects.

    Shows for each feature the delta asked and certified, its own budget, and the standard error to expect, beside the
    paper's mechanism and uniform LDP at the same guarantee; then what is left if the correlation was underestimated.

    Example:

        bcdp plan policy.yaml -o plan.json --users 50000
    """
    from bcdp.comparison import compare
    from bcdp.correlation import Stronger, correlation_of
    from bcdp.files import written_whole
    from bcdp.plan import certify
    from bcdp.planning import make_plan
    from bcdp.policy import Policy

    stated = Policy.load(policy)
    correlation = correlation_of(stated)
    with working("planning") as tell:
        made = make_plan(stated, correlation, tell)
        compared = compare(made, correlation)
        errors = {name: compared[name] for name in stated.features}  # in the order of the policy
        doubled, certain = (certify(made, Stronger(made.correlation_model, factor)) for factor in (2.0, math.inf))
        limit = _limit(made, correlation)
    with written_whole(output) as draft:
        made.save(draft)
    document = _document(made, errors, doubled, certain, limit, users)
    for name, limited in _bindings(made, correlation).items():
        document["features"][name] |= limited
    if as_json:
        show_json(document)
    else:
        _show(made, document, output)


def _bindings(made: Plan, correlation: Correlation) -> dict[str, dict[str, Any]]:
    """For each feature of a survey, how much could be asked of it alone, and whose demand forbids more."""
    from bcdp.survey.planner import binding

    if made.mechanism != "survey":
        return {}
    found = {name: binding(made.policy, correlation, name) for name in made.policy.features}
    return {name: {"budget_alone": b.budget, "limited_by": b.by or "epsilon"} for name, b in found.items()}


def _limited(document: dict[str, Any]) -> list[str]:
    """The binding demands in sentences, features of the same kind together."""
    groups: dict[tuple[float, str], list[str]] = {}
    for name, feature in document["features"].items():
        if "limited_by" in feature:
            by = feature["limited_by"]
            reason = "epsilon" if by == "epsilon" else "its own delta" if by == name else f"the delta of {by}"
            groups.setdefault((feature["budget_alone"], reason), []).append(name)
    lines = [
        f"{', '.join(names[:6])}{f' and {len(names) - 6} more' * (len(names) > 6)}: asked alone, at most {budget:.3g}, "
        f"limited by {reason}"
        for (budget, reason), names in groups.items()
    ]
    return [*lines, ""] if lines else []


def _limit(made: Plan, correlation: Correlation) -> float | None:
    """What no mechanism is known to beat, where that can be computed: surveys of the means of binary features."""
    from bcdp.survey import lower_bound

    binary = all(feature.type == "binary" for feature in made.policy.features.values())
    regression = any(task.kind == "regression" for task in made.policy.tasks)
    known = "laws" in made.correlation  # the bound is over all priors within q, and a known one may allow more
    if made.mechanism != "survey" or not binary or regression or known:
        return None
    return lower_bound(made.policy, correlation, made).numerical


def _document(
    made: Plan, errors: dict[str, Errors], doubled: Claims, certain: Claims, limit: float | None, users: int
) -> dict[str, Any]:
    from bcdp.comparison import standard_error

    features = {}
    for name, expected in errors.items():
        claim = made.certificate.features[name]
        features[name] = {
            "asked": claim.asked,
            "certified": claim.certified,
            "budget": claim.c,
            "standard_error": standard_error(made.policy, name, expected.plan, users),
            "standard_error_paper": standard_error(made.policy, name, expected.paper, users),
            "standard_error_uniform_ldp": standard_error(made.policy, name, expected.uniform, users),
            "certified_at_twice_q": doubled.delta[name],
            "certified_at_q_1": certain.delta[name],
        }
    return {
        "id": made.id,
        "epsilon": made.certificate.epsilon,
        "objective": made.certificate.objective,
        "optimality_gap": made.certificate.optimality_gap,
        "numerical_limit": limit,
        "users": users,
        "menus": len(made.menus),
        "features": features,
    }


def _show(made: Plan, document: dict[str, Any], output: Path) -> None:
    limit, users = document["numerical_limit"], document["users"]
    rows = [
        [name, f["asked"], f["certified"], f"x{odds(f['certified'])}", f["budget"], f["standard_error"],
         f["standard_error_paper"], f["standard_error_uniform_ldp"]]
        for name, f in document["features"].items()
    ]  # fmt: skip
    columns = ["feature", "delta asked", "certified", "odds", "budget", "std. error", "paper", "uniform LDP"]
    wrong = [
        [name, f["certified"], f["certified_at_twice_q"], f["certified_at_q_1"], f["budget"], made.certificate.epsilon]
        for name, f in document["features"].items()
    ]
    lines = [f"epsilon {made.certificate.epsilon:.4g} for the whole record; correlation {made.correlation['source']}"]
    if made.certificate.optimality_gap is not None:
        lines.append(
            f"{len(made.menus)} menus, within {made.certificate.optimality_gap:.4f} of the best of their class"
        )
    if limit is not None and made.certificate.objective is not None:
        lines.append(
            f"within {made.certificate.objective / limit:.4f} of what any mechanism is known to reach (numerical)"
        )
    show(
        f"Guarantee, and standard errors for {users:,} people in own units",
        table(columns, rows),
        "",
        *lines,
        "",
        *_limited(document),
        "If the correlation was underestimated: certified delta, and what holds with no assumption at all",
        table(["feature", "at q", "at 2q", "at q = 1", "c", "epsilon"], wrong),
        "",
        "odds: whoever sees a report can raise the odds of any guess about the feature by at most this factor.",
        f"{output} written, id {made.id[:12]}..",
    )
