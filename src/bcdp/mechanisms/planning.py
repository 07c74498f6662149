"""From a policy to a plan, by the mechanism that the policy names."""

from __future__ import annotations

import math
from collections.abc import Callable

from bcdp.correlation import Correlation, correlation_of
from bcdp.errors import expect, refuse
from bcdp.mechanisms.counts_demand import plan_within_counts
from bcdp.plan import Plan, mechanism_of
from bcdp.policy import Policy


def make_plan(
    policy: Policy,
    correlation: Correlation | None = None,
    progress: Callable[[str], None] = lambda line: None,
    seconds: float | None = None,
) -> Plan:
    """The plan of a collection: public, executable on any device, with a certificate that `verify()` recomputes.

    Where the policy limits what counts may reveal, epsilon and deltas are lowered as far as that needs.
    `correlation` stands in for the policy's own statement, for a model that no policy can write down.
    With `seconds`, the search for menus ends after about so long, where counts are limited for each plan that is tried:
    the plan is the best so far, and its certificate's `optimality_gap` is as large as it then is.

    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "age": {"type": "numeric",
    ...     "bounds": [0, 100]}}, correlation=0.05)
    >>> make_plan(policy).certificate.features["smoker"].certified <= 0.2
    True
    """
    expect("policy", policy, Policy, "a Policy, from Policy(..) or Policy.load(path)")
    if seconds is not None and not 0 < seconds < math.inf:
        raise refuse("seconds", seconds, "a positive number")
    model = correlation_of(policy) if correlation is None else correlation
    if policy.counts is not None:
        return plan_within_counts(policy, policy.counts, model, progress, seconds)
    return mechanism_of(policy).make_plan(policy, model, progress, seconds)
