"""`bcdp policy` and `bcdp plan`: from a data file's columns to a policy, from a policy to a plan."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bcdp.cli.options import AsJson, Users
from bcdp.cli.output import check_output, remark, show, show_json, table, working
from bcdp.errors import refuse
from bcdp.wording import number, odds, unit_range

if TYPE_CHECKING:
    from bcdp.comparison import Errors
    from bcdp.correlation import Correlation
    from bcdp.plan import Certified, Plan
    from bcdp.policy import Policy

_MANY = 8  # features, beyond which equal rows are shown as one
_NAMED = 4  # features that a row for many names
_USELESS, _USEFUL = 0.1, 0.05  # half widths of 95% intervals, as shares of the range


def policy(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file with the columns to collect.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The policy to write.")],
    as_json: AsJson = False,
) -> None:
    """Write a policy to fill in, from the columns of a data file.

    Only names and types are taken from the file. Bounds and values are left for you to state from public knowledge:
    taken from people's data they would give some of it away. An existing policy is never replaced.

    Example:

        bcdp policy people.csv -o policy.yaml
    """
    from bcdp.files import written_whole
    from bcdp.skeleton import policy_skeleton

    check_output("--output", output, data)
    if output.is_file():
        raise refuse("--output", str(output), "a new file, because a policy that was filled in would be lost")
    text = policy_skeleton(data)
    with written_whole(output) as draft:
        draft.write_text(text, encoding="utf-8")
    if as_json:
        show_json({"policy": str(output)})
    else:
        show(f"{output} written. Fill in what says FILL, then: bcdp plan {output} -o plan.json")


def plan(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy, a YAML file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The plan to write, as JSON; else only shown.")
    ] = None,
    users: Users = 10_000,
    as_json: AsJson = False,
) -> None:
    """Design the collection: what each device will be asked, and the proof of what that protects.

    Shows for each feature the delta asked and certified, and what is left of it if the correlation was underestimated;
    then the standard error to expect, beside the paper's mechanism and uniform LDP at the same guarantee.

    Examples:

        bcdp plan policy.yaml --users 50000
        bcdp plan policy.yaml -o plan.json
    """
    from bcdp.comparison import compare
    from bcdp.correlation import Stronger, correlation_of
    from bcdp.files import written_whole
    from bcdp.plan import certify
    from bcdp.planning import make_plan
    from bcdp.policy import Policy

    check_output("--output", output, policy, ending=".json")
    stated = Policy.load(policy)
    correlation = correlation_of(stated)
    remark(*_needless(stated))
    with working("planning") as tell:
        made = make_plan(stated, correlation, tell)
        compared = compare(made, correlation)
        errors = {name: compared[name] for name in stated.features}  # in the order of the policy
        doubled, certain = (certify(made, Stronger(made.correlation_model, factor)) for factor in (2.0, math.inf))
        limit = _limit(made, correlation)
    if output is not None:
        with written_whole(output) as draft:
            made.save(draft)
    document = _document(made, errors, doubled, certain, limit, users)
    for name, limited in _bindings(made, correlation).items():
        document["features"][name] |= limited
    if as_json:
        show_json(document)
    else:
        _show(made, document, output)


def _needless(policy: Policy) -> list[str]:
    """A sentence about the demands that ask for less than epsilon already promises."""
    return _together(
        (name, f"delta {feature.delta:g} is above epsilon {policy.epsilon:g}, which already promises more")
        for name, feature in policy.features.items()
        if feature.delta > policy.epsilon
    )


def _together(sentences: Iterable[tuple[str, str]]) -> list[str]:
    """What is said of each feature, once for all of which the same is said."""
    groups: dict[str, list[str]] = {}
    for name, sentence in sentences:
        groups.setdefault(sentence, []).append(name)
    return [f"{_names(names)}: {sentence}" for sentence, names in groups.items()]


def _names(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)


def _bindings(made: Plan, correlation: Correlation) -> dict[str, dict[str, Any]]:
    """For each feature of a survey, how much could be asked of it alone, and whose demand forbids more."""
    from bcdp.survey.planner import binding

    if made.mechanism != "survey":
        return {}
    found = {name: binding(made.policy, correlation, name) for name in made.policy.features}
    return {name: {"budget_alone": b.budget, "limited_by": b.by or "epsilon"} for name, b in found.items()}


def _limited(document: dict[str, Any]) -> list[str]:
    """The binding demands in sentences."""

    def reason(name: str, by: str) -> str:
        return by if by == "epsilon" else "its own delta" if by == name else f"the delta of {by}"

    features = document["features"].items()
    return _together((name, f"limited by {reason(name, f['limited_by'])}") for name, f in features if "limited_by" in f)


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
    made: Plan, errors: dict[str, Errors], doubled: Certified, certain: Certified, limit: float | None, users: int
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


def _show(made: Plan, document: dict[str, Any], output: Path | None) -> None:
    features, allowed, used = document["features"], made.policy.epsilon, document["epsilon"]
    guarantees = {
        name: [f["asked"], f["certified"], *(f"x{odds(f[key])}" for key in _WRONG_Q), f["budget"]]
        for name, f in features.items()
    }
    errors = {
        name: [f["standard_error"], f["standard_error_paper"], f["standard_error_uniform_ldp"]]
        for name, f in features.items()
    }
    show(
        f"What a report tells; correlation {made.correlation['source']}",
        table(["feature", "delta asked", "certified", "odds", "at 2q", "at q = 1", "c"], _rows(guarantees)),
        f"the whole record: epsilon {used:.4g}{f' of the {allowed:g} allowed' * (used < 0.999 * allowed)}",
        *_limited(document),
        "",
        f"Standard errors for {document['users']:,} people, in own units",
        table(["feature", "this plan", "the paper", "uniform LDP"], _rows(errors)),
        *_accuracy(made, document["numerical_limit"]),
        *_useless(made, document),
        "",
        "odds: a report multiplies the odds of any guess about the feature by at most this (rounded up).",
        "at 2q, at q = 1: by at most this if the correlation is twice what was assumed, and with nothing assumed.",
        "c: the level (odds e^c) against somebody who knows all other features already, whatever the correlation.",
        "standard errors: for shares of 1/2 and numbers half at each bound, the largest; of categories, a typical one.",
        "",
        "nothing written; -o plan.json keeps the plan" if output is None else f"{output} written, id {made.id[:12]}..",
    )


_WRONG_Q = ("certified", "certified_at_twice_q", "certified_at_q_1")


def _rows(cells: dict[str, list[Any]]) -> list[list[Any]]:
    """A row for each feature; of many features, one for all that would read the same."""
    if len(cells) <= _MANY:
        return [[name, *row] for name, row in cells.items()]
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, row in cells.items():
        groups.setdefault(tuple(cell if isinstance(cell, str) else number(cell) for cell in row), []).append(name)
    return [[_names(names), *row] for row, names in groups.items()]


def _accuracy(made: Plan, limit: float | None) -> list[str]:
    """How far the plan is from the best that is known."""
    lines = []
    if made.certificate.optimality_gap is not None:
        menus = f"{len(made.menus)} menu{'s' * (len(made.menus) > 1)}"
        gap = made.certificate.optimality_gap
        lines.append(f"{menus}; the error is at most {gap:.4f} times the least possible without jointly shaped tables")
    if limit is not None and made.certificate.objective is not None:
        less = max(0.0, 100 * (1 - limit / made.certificate.objective))
        lines.append(
            f"a numerical search over groups of up to six features found no way to more than {less:.2f}% less error"
        )
    return lines


def _useless(made: Plan, document: dict[str, Any]) -> list[str]:
    """A sentence about features whose intervals would be wider than they are worth, and how many people they take."""
    found, users = [], document["users"]
    for name, feature in made.policy.features.items():
        low, high = unit_range(feature)
        half, useful = 2 * document["features"][name]["standard_error"], _USEFUL * (high - low)
        if math.isinf(half):
            found.append((name, "not asked, so the interval is the whole range"))
        elif half > _USELESS * (high - low):
            people = float(f"{users * (half / useful) ** 2:.2g}")
            enough = f"about {people:,.0f} people for +-{number(useful)}"
            found.append((name, f"of little use, the 95% interval is +-{number(half)} with {users:,} people; {enough}"))
    return _together(found)
