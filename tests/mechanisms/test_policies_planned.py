"""Any policy becomes a plan that keeps it, word for word and level for level, or is refused in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from bcdp import InputError, Plan, Policy, Tally, make_plan, privatize
from bcdp.audit import verify_limits
from bcdp.plan import certify
from bcdp.policy import Feature
from support.policy_documents import documents

pytestmark = pytest.mark.slow

KEY = bytes(range(32))
POLICIES = documents(most=3, files=False, heaviest=1e100)  # squares of heavier ones are no doubles


def values(feature: Feature) -> st.SearchStrategy[Any]:
    """What a person may answer: a value, a number beyond the bounds, nothing where a rule says what it counts as."""
    if feature.type == "numeric":
        given = st.floats(allow_nan=feature.missing is not None) | st.floats(*feature.bounds)
    else:
        given = st.sampled_from(feature.values or (0, 1))
    return given if feature.missing is None else st.none() | given


def same(first: Mapping[str, float], second: Mapping[str, float]) -> bool:
    return first.keys() == second.keys() and all(abs(first[name] - second[name]) <= 1e-12 for name in first)


def check_plan(plan: Plan, policy: Policy) -> None:
    """The plan is its text, states the policy, and two certifiers agree that it keeps every demand."""
    assert Plan.parse(plan.text) == plan
    assert list(plan.policy.features.items()) == list(policy.features.items())
    assert plan.policy.tasks == policy.tasks
    first, second = certify(plan), verify_limits(plan.text, policy.epsilon)
    assert second.acceptable
    assert abs(first.epsilon - second.epsilon) <= 1e-12
    assert same(first.c, second.c)
    assert same(first.delta, second.delta)
    assert first.epsilon <= plan.certificate.epsilon <= policy.epsilon
    for name, feature in policy.features.items():
        claim = plan.certificate.features[name]
        assert first.delta[name] <= claim.certified <= claim.asked == feature.delta
        assert first.c[name] <= claim.c


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(document=POLICIES, mechanism=st.sampled_from(["survey", "cascade"]), data=st.data())
def test_any_policy_is_planned_and_kept_or_refused(
    document: dict[str, Any], mechanism: str, data: st.DataObject
) -> None:
    policy = Policy(**{**document, "mechanism": mechanism})
    try:
        plan = make_plan(policy)
    except InputError:
        event(f"{mechanism} refused")
        return
    event(f"{mechanism} planned")
    check_plan(plan, policy)
    record = {name: [data.draw(values(feature))] for name, feature in policy.features.items()}
    reports = privatize(plan, record, KEY, ids=[0])
    assert Tally(plan).add(reports).people == 1
