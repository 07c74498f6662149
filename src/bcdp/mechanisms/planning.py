"""From a policy to a plan, by the mechanism that the policy names."""

from __future__ import annotations

from collections.abc import Callable

from bcdp.correlation import Correlation, correlation_of
from bcdp.errors import expect
from bcdp.plan import Plan, mechanism_of
from bcdp.plan.counts import counts_levels
from bcdp.policy import Policy
from bcdp.policy.document import CountsDemand

_CLOSE = 0.02  # to the largest epsilon: a plan takes seconds to make


def make_plan(
    policy: Policy, correlation: Correlation | None = None, progress: Callable[[str], None] = lambda line: None
) -> Plan:
    """The plan of a collection: public, executable on any device, with a certificate that `verify()` recomputes.

    Where the policy says what the published counts may tell, `epsilon` is lowered as far as they need.
    `correlation` stands in for the policy's own statement, for a model that no policy can write down.

    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "age": {"type": "numeric",
    ...     "bounds": [0, 100]}}, correlation=0.05)
    >>> make_plan(policy).certificate.features["smoker"].certified <= 0.2
    True
    """
    expect("policy", policy, Policy, "a Policy, from Policy(..) or Policy.load(path)")
    model = correlation_of(policy) if correlation is None else correlation
    plan = mechanism_of(policy).make_plan(policy, model, progress)
    return plan if policy.counts is None else _kept_in_counts(policy, policy.counts, plan, model, progress)


def _kept_in_counts(
    policy: Policy, demand: CountsDemand, plan: Plan, correlation: Correlation, progress: Callable[[str], None]
) -> Plan:
    """The plan of the largest epsilon, at most the policy's, whose counts tell no more than demanded; by a search."""

    def told(made: Plan) -> float:
        return counts_levels(made, demand.people, demand.chance, correlation).record.epsilon

    if told(plan) <= demand.epsilon:
        return plan
    found, low, high = None, 0.0, policy.epsilon
    while found is None or high > low * (1 + _CLOSE):
        middle = (low + high) / 2 if found is None else (low * high) ** 0.5
        progress(f"epsilon {middle:.3g}")
        made = mechanism_of(policy).make_plan(policy.model_copy(update={"epsilon": middle}), correlation, progress)
        if told(made) <= demand.epsilon:
            found, low = made, middle
        else:
            high = middle
    return found
