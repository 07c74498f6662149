"""What takes long, done in a process of its own: each job gets plain data and sends plain data, part by part.

The numbers are those of `bcdp plan`: they come from the same functions, for the same policy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bcdp.correlation import correlation_of
from bcdp.errors import InputError, refuse
from bcdp.mechanisms.planning import make_plan
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.present.fake_shifts import fake_shifts
from bcdp.present.plan_summary import of_little_use, own_errors, planned
from bcdp.present.published_counts import void
from bcdp.present.trust_choices import MOST_COLUMNS, choice_cells, trust_choices
from bcdp.present.words import number, posterior_at_most
from bcdp.present.words import odds as odds_of
from bcdp.studio.policy_edits import AXES, leaving_out, with_delta

Send = Callable[[dict[str, Any]], None]
_CLOSE = 0.02  # relative width at which a search ends
_SHARES_OF_FAKES = (0.001, 0.005, 0.01, 0.02, 0.05)
_MOST_TRIED = 12  # plans made in one search


def plain(value: Any) -> Any:
    """What JSON can hold: numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plan_of(given: Mapping[str, Any], send: Send) -> None:
    """Makes the plan of a policy: first the plan and its own errors, then all that `bcdp plan` reports."""
    policy, people = Policy.parse(given["policy"]), people_of(given)
    correlation = correlation_of(policy)
    plan = make_plan(policy, correlation, lambda line: send({"progress": line}))
    send({"plan": plan.text, "id": plan.id, "errors": own_errors(plan, people), "people": people})
    send({"numbers": _numbers(plan, correlation, people)})


def numbers_of(given: Mapping[str, Any], send: Send) -> None:
    """All that is reported of a plan for another number of people."""
    plan = Plan.parse(given["plan"])
    send({"numbers": _numbers(plan, plan.correlation_model, people_of(given))})


def _numbers(plan: Plan, correlation: Any, people: int) -> dict[str, Any]:
    summary = planned(plan, correlation, people)
    errors = {name: feature["standard_error"] for name, feature in summary.document["features"].items()}
    return {
        **summary.document,
        "tasks": [
            {"subject": expectation.subject, "lines": list(expectation.lines)} for expectation in summary.expected
        ],
        "counts_told": [promise.to_dict() for promise in summary.counted],
        "counts_said": void(plan),
        "little_use": {name: vars(use) for name, use in of_little_use(plan, errors, people).items()},
        "fakes": [{"share": share, "shifts": fake_shifts(plan, share)} for share in _SHARES_OF_FAKES],
    }


def curve_of(given: Mapping[str, Any], send: Send) -> None:
    """The errors of the plans along an axis, coarse first: each point is that of `bcdp plan` for the changed policy."""
    document, people, axis = given["policy"], people_of(given), AXES[given["axis"]]
    stated = Policy.parse(document)
    values = axis.values(stated, given.get("feature"))
    for index in coarse_first(len(values)):
        try:
            policy = Policy.parse(axis.changed(document, given.get("feature"), values[index]))
            plan = make_plan(policy)
        except InputError:
            continue  # such a policy has no plan: delta 0 with correlation, say
        errors = own_errors(plan, people)
        useless = list(of_little_use(plan, errors, people))
        send({"at": values[index], "errors": errors, "useless": useless, "of": len(values)})


def coarse_first(size: int) -> Iterator[int]:
    """The places of a grid: the ends, then the middle, then the middles between.

    >>> list(coarse_first(5))
    [0, 4, 2, 1, 3]
    """
    seen, step = set[int](), max(size - 1, 1)
    while len(seen) < size:
        for index in [*range(0, size, step), size - 1]:
            if index not in seen:
                seen.add(index)
                yield index
        step = max(step // 2, 1)


def ways_of(given: Mapping[str, Any], send: Send) -> None:
    """What would make a feature useful, computed: more people, a larger delta, or one feature fewer."""
    document, people, name = given["policy"], people_of(given), str(given["feature"])
    policy = Policy.parse(document)
    if name not in policy.features:
        raise refuse("feature", name, "one of the policy's")
    plan = make_plan(policy)
    use = of_little_use(plan, own_errors(plan, people), people).get(name)
    if use is None:
        send({"way": "useful already"})
        return
    low, high = policy.features[name].span
    width = f"±{number(use.useful)}" if high - low != 1 else f"±{number(100 * use.useful)} percentage points"
    if math.isfinite(use.people):
        send({"way": f"about {float(f'{use.people:.2g}'):,.0f} people, for {width}", "people": math.ceil(use.people)})

    def useful(changed: dict[str, Any]) -> bool:
        changed_plan = make_plan(Policy.parse(changed))
        return 2 * own_errors(changed_plan, people)[name] <= use.useful

    least = _least_delta(policy, name, lambda delta: useful(with_delta(document, name, delta)))
    if least is not None:
        becomes, times = posterior_at_most(least), odds_of(least)
        sentence = f"a delta of {least:g} in place of {policy.features[name].delta:g}: a guess at 50% becomes at most"
        send({"way": f"{sentence} {becomes}, its odds rise at most {times} times", "delta": least})
    else:
        send({"way": f"no larger delta alone, up to epsilon = {policy.epsilon:g}"})
    for other in policy.features:
        if other != name and len(policy.features) > 1 and useful(leaving_out(document, other)):
            send({"way": f"leaving out “{policy.features[other].label}”", "without": other})


def trust_of(given: Mapping[str, Any], send: Send) -> None:
    """Whom to trust, as a choice: the table of `bcdp plan --trust`."""
    policy, people = Policy.parse(given["policy"]), people_of(given)
    choices = trust_choices(policy, people, lambda line: send({"progress": line}))
    features = list(policy.features)
    names = features if len(features) <= MOST_COLUMNS else []
    send({"choices": [choice_cells(choice, names) for choice in choices], "names": names or ["worth"]})


def _least_delta(policy: Policy, name: str, useful: Callable[[float], bool]) -> float | None:
    """The least delta, in two digits, at which the feature is useful; None if even epsilon is not enough."""
    low, high = max(policy.features[name].delta, 1e-3), policy.epsilon
    if low >= high or not useful(high):
        return None
    for _ in range(_MOST_TRIED):
        if high <= low * (1 + _CLOSE):
            break
        middle = math.sqrt(low * high)
        low, high = (low, middle) if useful(middle) else (middle, high)
    return min(policy.epsilon, _two_digits_up(high))


def _two_digits_up(value: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.6g}")


def people_of(given: Mapping[str, Any]) -> int:
    """The number of people of a request."""
    people = given.get("people", 10_000)
    if isinstance(people, bool) or not isinstance(people, int) or not 1 <= people <= 10**12:
        raise refuse("people", people, "a whole number of at least 1")
    return people


JOBS: dict[str, Callable[[Mapping[str, Any], Send], None]] = {
    "plan": plan_of,
    "numbers": numbers_of,
    "curve": curve_of,
    "ways": ways_of,
    "trust": trust_of,
}
