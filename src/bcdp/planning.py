"""From a policy to a plan, by the mechanism that the policy names."""

from __future__ import annotations

from collections.abc import Callable

from bcdp.cascade.device import plan_cascade
from bcdp.correlation import Correlation, correlation_of
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.survey.planner import plan_survey


def make_plan(
    policy: Policy, correlation: Correlation | None = None, progress: Callable[[str], None] = lambda line: None
) -> Plan:
    """The plan of a collection: public, executable on any device, with a certificate that `verify()` recomputes.

    `correlation` stands in for the policy's own statement, for a model that no policy can write down.

    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "age": {"type": "numeric",
    ...     "bounds": [0, 100]}}, correlation=0.05)
    >>> make_plan(policy).certificate.features["smoker"].certified <= 0.2
    True
    """
    model = correlation_of(policy) if correlation is None else correlation
    if policy.mechanism == "cascade":
        return plan_cascade(policy, model)
    return plan_survey(policy, model, progress)
