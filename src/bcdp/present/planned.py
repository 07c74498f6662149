"""What a plan protects and the errors to expect, for so many people: the numbers of `bcdp plan` and of the studio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bcdp.compare.baselines import Errors, compare, standard_error, uniform_plans
from bcdp.correlation import Correlation
from bcdp.mechanisms.survey.planner import binding
from bcdp.mechanisms.survey.prospect import SurveyProspect
from bcdp.plan import Plan, mechanism_of
from bcdp.policy.encoding import Codes
from bcdp.present.counts import CountsPromise, counts_document, counts_promises, least_people
from bcdp.present.promise import Promise, promises
from bcdp.present.words import number
from bcdp.statistics import Expected, Single

_USELESS, _USEFUL = 0.1, 0.05  # half widths of 95% intervals, as shares of the range


@dataclass(frozen=True, eq=False)
class Planned:
    """A plan and all that is told of it before anybody is asked; `document` is plain data."""

    plan: Plan
    survey: Plan | None  # the plan, if its reports are answers to menus
    promised: Mapping[str, Promise]
    counted: Sequence[CountsPromise]
    expected: Sequence[Expected]
    document: dict[str, Any]


@dataclass(frozen=True)
class LittleUse:
    """A feature whose 95% interval is wide beside its range: its half width, a useful one, and people for that."""

    half: float
    useful: float
    people: float


def planned(plan: Plan, correlation: Correlation, people: int) -> Planned:
    """All that is told of a plan for so many people, beside the paper's mechanism and uniform LDP.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> planned(plan, plan.correlation_model, 10_000).document["features"]["smoker"]["asked"]
    1.0
    """
    policy, promised = plan.policy, promises(plan)
    uniform = uniform_plans(policy)
    compared = compare(plan, correlation, uniform)
    features = {name: _feature(plan, name, compared[name], promised[name], people) for name in policy.features}
    survey = plan if plan.menus else None
    for name in policy.features if survey else ():
        limit = binding(policy, correlation, name)
        features[name] |= {"budget_alone": limit.budget, "limited_by": limit.by or "epsilon"}
    counted = counts_promises(plan, promised, least_people(plan, people))
    expected = _beside(expectations(survey, people), uniform, people) if survey else []
    document = {
        "id": plan.id,
        "epsilon": plan.certificate.epsilon,
        "objective": plan.certificate.objective,
        "optimality_gap": plan.certificate.optimality_gap,
        "users": people,
        "menus": len(plan.menus),
        **({"open": list(plan.policy.open)} if plan.policy.open else {}),
        "features": features,
        **({"expected": [one.document for one in expected]} if expected else {}),
        "counts": counts_document(counted),
    }
    return Planned(plan, survey, promised, counted, expected, document)


def _feature(plan: Plan, name: str, errors: Errors, promise: Promise, people: int) -> dict[str, Any]:
    claim = plan.certificate.features[name]
    return {
        "asked": claim.asked,
        "certified": claim.certified,
        "budget": claim.c,
        "standard_error": standard_error(plan.policy, name, errors.plan, people),
        "standard_error_paper": standard_error(plan.policy, name, errors.paper, people),
        "standard_error_uniform_ldp": standard_error(plan.policy, name, errors.uniform, people),
        "condition": promise.condition,
        "certified_at_twice": claim.certified if promise.twice is None else promise.twice,
        "certified_with_nothing_assumed": promise.nothing,
    }


def own_errors(plan: Plan, people: int) -> dict[str, float]:
    """The standard error of each feature of a plan alone, in own units: those of `planned`, without the comparisons.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> own_errors(plan, 400)["smoker"] == own_errors(plan, 100)["smoker"] / 2
    True
    """
    errors = mechanism_of(plan).largest_errors(plan)
    return {name: standard_error(plan.policy, name, errors[Single(name)], people) for name in plan.policy.features}


def expectations(plan: Plan, people: int, records: Mapping[str, Codes] | None = None) -> list[Expected]:
    """What every task of a survey will be able to tell from so many people; of those with these codes, if given."""
    prospect = SurveyProspect(plan)
    return [one for task in plan.policy.tasks for one in task.expected(prospect, people, records)]


def _beside(expected: Sequence[Expected], uniform: Sequence[Plan], people: int) -> list[Expected]:
    """What is expected of every task, with the error of the better survey that protects all features alike."""
    others = zip(*(expectations(plan, people) for plan in uniform), strict=True) if uniform else ((),) * len(expected)
    return [_with_uniform(one, alike) for one, alike in zip(expected, others, strict=True)]


def _with_uniform(one: Expected, alike: Sequence[Expected]) -> Expected:
    """The standard error, or of a regression the people who show that it explains something."""
    key = "standard_error" if "standard_error" in one.document else "to_show"
    if key not in one.document:
        return one
    known = [told for other in alike if (told := other.document[key]) is not None]
    ours, uniform, lines = one.document[key], min(known, default=None), one.lines
    if uniform and key == "to_show":
        lines = (*lines, f"uniform LDP: a chance of 90% takes about {number(uniform)} people")
    elif uniform and ours:
        times = number((uniform / ours) ** 2, 2)
        lines = (f"{lines[0]} (uniform LDP: {number(uniform, 2)}, {times} times the people)", *lines[1:])
    return replace(one, lines=lines, document={**one.document, f"{key}_uniform_ldp": uniform})


def of_little_use(plan: Plan, errors: Mapping[str, float], people: int) -> dict[str, LittleUse]:
    """The features whose standard errors leave little: the 95% interval is a tenth of the range to either side.

    A feature that is only asked for its distribution, or with another, is not among them: `expectations` tells of it.
    """
    found, asked = {}, {name for question in plan.questions for name in question.features}
    for name, feature in plan.policy.features.items():
        low, high = feature.span
        half, useful = 2 * errors[name], _USEFUL * (high - low)
        if half > _USELESS * (high - low) and (math.isfinite(half) or name not in asked):
            found[name] = LittleUse(half, useful, people * (half / useful) ** 2)
    return found
