"""What a plan protects and the errors to expect, for so many people: the numbers of `bcdp plan` and of the studio."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bcdp.compare.baselines import Errors, compare, is_mean, open_people, standard_error, uniform_plans
from bcdp.correlation import Correlation
from bcdp.estimates.most_frequent import CHANCE, TOP, people_to_find, valued_features
from bcdp.mechanisms.survey.design.budget_limits import binding
from bcdp.mechanisms.survey.estimation.prospective_covariance import SurveyProspect
from bcdp.plan import Plan, mechanism_of
from bcdp.present.batch_promise import BatchPromise, batch_promise, document_of
from bcdp.present.promise import Promise, promises
from bcdp.present.published_counts import CountsPromise, counts_document, counts_promises, least_people
from bcdp.present.words import most_frequent_line, number
from bcdp.records.encoding import Codes
from bcdp.statistics import MANY, Expected, headline, scale_of_shares

_USELESS, _USEFUL = 0.1, 0.05  # half widths of 95% intervals, as shares of what they are compared with
_UNLIKELY = 0.5  # the chance of showing anything below which a regression is of little use


@dataclass(frozen=True, eq=False)
class Planned:
    """A plan and all that is reported of it before anybody is asked; `document` is plain data."""

    plan: Plan
    survey: Plan | None  # the plan, if its reports are answers to menus
    promised: Mapping[str, Promise]
    counted: Sequence[CountsPromise]
    expected: Sequence[Expected]
    document: dict[str, Any]
    batch: BatchPromise | None = None


@dataclass(frozen=True)
class LittleUse:
    """A feature whose 95% interval is wide next to its range: its half width, a useful one, and people for that."""

    half: float
    useful: float
    people: float

    def sentence(self, people: int) -> str:
        """What is of little use with so many people, and how many it takes."""
        if math.isinf(self.half):
            return "not asked, so the interval is the whole range"
        enough = f"about {float(f'{self.people:.2g}'):,.0f} people for +-{number(self.useful)}"
        return f"of little use, the 95% interval is +-{number(self.half)} with {people:,} people; {enough}"


def planned(plan: Plan, correlation: Correlation, people: int) -> Planned:
    """All that is reported of a plan for so many people, next to the paper's mechanism and uniform LDP.

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
    findable = list(_findable(survey)) if survey else []
    document = {
        "id": plan.id,
        "epsilon": plan.certificate.epsilon,
        "objective": plan.certificate.objective,
        "optimality_gap": plan.certificate.optimality_gap,
        "users": people,
        "menus": len(plan.menus),
        **({"open": list(plan.policy.open)} if plan.policy.open else {}),
        "features": features,
        **({"expected": [expectation.document for expectation in expected]} if expected else {}),
        **({"most_frequent": [each.document for each in findable]} if findable else {}),
        "tasks_of_little_use": tasks_of_little_use(expected, people),
        "counts": counts_document(counted),
    }
    batch = batch_promise(plan)
    document |= document_of(batch)
    return Planned(plan, survey, promised, counted, [*expected, *findable], document=document, batch=batch)


def _feature(plan: Plan, name: str, errors: Errors, promise: Promise, people: int) -> dict[str, Any]:
    claim = plan.certificate.features[name]
    return {
        "asked": claim.asked,
        "certified": claim.certified,
        "budget": claim.c,
        "standard_error": standard_error(plan.policy, name, errors.plan, people),
        "open_people": open_people(plan.policy, name, errors.plan, people),
        "standard_error_paper": standard_error(plan.policy, name, errors.paper, people),
        "standard_error_uniform_ldp": standard_error(plan.policy, name, errors.uniform, people),
        "condition": promise.condition,
        "certified_at_twice": claim.certified if promise.twice is None else promise.twice,
        "certified_with_nothing_assumed": promise.nothing,
    } | ({} if promise.if_wrong is None else {"if_wrong": _if_wrong(plan, name, promise.if_wrong)})


def _if_wrong(plan: Plan, name: str, promised: tuple[float, float]) -> dict[str, float | None]:
    """The second demand of a feature: at which multiple of q and odds - 1, what was asked, and what is kept."""
    feature, (times, level) = plan.policy.features[name], promised
    asked = None if feature.if_wrong is None else feature.if_wrong.level(feature.delta)
    return {"times": times, "asked": asked, "certified": level}


def own_errors(plan: Plan, people: int) -> dict[str, float]:
    """The standard error of each feature of a plan alone, in own units: those of `planned`, without the comparisons.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> own_errors(plan, 400)["smoker"] == own_errors(plan, 100)["smoker"] / 2
    True
    """
    errors = mechanism_of(plan).largest_errors(plan)
    return {
        name: standard_error(plan.policy, name, errors[headline(plan.policy, name)], people)
        for name in plan.policy.features
    }


def follow_up_words(plan: Plan) -> list[str]:
    """What the standard error of a follow-up's mean leaves out: nobody knows beforehand how many are asked it."""
    if not any(feature.follows and is_mean(plan.policy, name) for name, feature in plan.policy.features.items()):
        return []
    return ["a follow-up's mean is about those who are asked it: divide its standard error by their share."]


def expectations(plan: Plan, people: int, records: Mapping[str, Codes] | None = None) -> list[Expected]:
    """What every task of a survey will be able to reveal from so many people; of those with these codes, if given."""
    prospect = SurveyProspect(plan)
    return [expectation for task in plan.policy.tasks for expectation in task.expected(prospect, people, records)]


def _findable(plan: Plan) -> Iterator[Expected]:
    """How many people find the most frequent values of each feature with many."""
    for name in valued_features(plan, MANY):
        needed = people_to_find(plan, name)
        line = most_frequent_line(name, needed, TOP, CHANCE, known=False)
        document = {"feature": name, "top": TOP, "chance": CHANCE, "people": needed}
        yield Expected(f"most frequent values of {name}", (line,), document)


def _beside(expected: Sequence[Expected], uniform: Sequence[Plan], people: int) -> list[Expected]:
    """What is expected of every task, with the error of the better survey that protects all features alike."""
    others = zip(*(expectations(plan, people) for plan in uniform), strict=True) if uniform else ((),) * len(expected)
    return [
        _with_uniform(expectation, same_for_all) for expectation, same_for_all in zip(expected, others, strict=True)
    ]


def _with_uniform(expectation: Expected, same_for_all: Sequence[Expected]) -> Expected:
    """The standard error, or of a regression the people who show that it explains something."""
    key = "standard_error" if "standard_error" in expectation.document else "to_show"
    if key not in expectation.document:
        return expectation
    known = [known_number for other in same_for_all if (known_number := other.document[key]) is not None]
    ours, uniform, lines = expectation.document[key], min(known, default=None), expectation.lines
    if uniform and key == "to_show":
        lines = (*lines, f"uniform LDP: a chance of 90% takes about {number(uniform)} people")
    elif uniform and ours:
        times = number((uniform / ours) ** 2, 2)
        lines = (f"{lines[0]} (uniform LDP: {number(uniform, 2)}, {times} times the people)", *lines[1:])
    return replace(expectation, lines=lines, document={**expectation.document, f"{key}_uniform_ldp": uniform})


def of_little_use(plan: Plan, errors: Mapping[str, float], people: int) -> dict[str, LittleUse]:
    """The features whose standard errors leave little: the 95% interval is a tenth of the range to either side.

    Of more than ten values, it is as wide as a typical share. A feature that is only asked for its distribution, or
    with another, is not among them: `tasks_of_little_use` reports it.
    """
    reasons, asked = {}, {name for question in plan.questions for name in question.features}
    for name, feature in plan.policy.features.items():
        low, high = feature.span
        scale = high - low if is_mean(plan.policy, name) else scale_of_shares(len(feature.categories))
        use = _little_use(errors[name], scale, people)
        if use and (math.isfinite(use.half) or name not in asked):
            reasons[name] = use
    return reasons


def _little_use(error: float, scale: float, people: int) -> LittleUse | None:
    half, useful = 2 * error, _USEFUL * scale
    return LittleUse(half, useful, people * (half / useful) ** 2) if half > _USELESS * scale else None


def tasks_of_little_use(expected: Sequence[Expected], people: int) -> dict[str, str]:
    """Why tasks about several features, distributions and regressions will reveal little, each in a sentence."""
    reasons = ((expectation.subject, _why_little(expectation, people)) for expectation in expected)
    return {subject: why for subject, why in reasons if why}


def _why_little(expectation: Expected, people: int) -> str | None:
    error: float | None = expectation.document.get("standard_error")
    chance: float | None = expectation.document.get("chance")
    if error is None and chance is None:
        return "not asked, so nothing will be known"
    if expectation.scale is not None and error is not None:
        use = _little_use(error, expectation.scale, people)
        return None if use is None else use.sentence(people)
    if chance is None or chance >= _UNLIKELY:
        return None
    enough = expectation.document["to_show"]
    takes = "no number of people is enough" if enough is None else f"about {float(f'{enough:.2g}'):,.0f} people"
    shown = f"{people:,} people show that the features help with a chance of {100 * chance:.0f}%"
    return f"of little use, {shown}; {takes} for 90%"
