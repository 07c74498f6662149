"""Claims of plans for tables against random priors, with what is missing as a value of its own."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt

from bcdp import Plan
from bcdp.plan import certify
from support.helpers import exact_q, exceeded, full_kernel, listed, random_prior

Array = npt.NDArray[np.float64]


def with_missing(plan: Plan, kernel: Array) -> Array:
    """The kernel with one more value of each feature that has a rule: missing, which is coded as another value."""
    for axis, feature in enumerate(plan.policy.features.values()):
        if feature.missing is not None:
            size = kernel.shape[axis]
            coded = 0 if feature.is_number else list(feature.categories).index(feature.missing)
            kernel = np.take(kernel, [*range(size), coded], axis=axis)
    return kernel


def untrue_of_tables(plan: Plan, rng: np.random.Generator, count: int, part: float = 1.0) -> list[list[str]]:
    """The claims that random priors exceed, missing values distinguished from those that they are coded as.

    The plan states so large a part of the prior's own q.
    """
    kernel = with_missing(plan, full_kernel(plan))
    exceeding = []
    for _ in range(count):
        prior = random_prior(rng, kernel.shape[:-1])
        bounds = {pair: part * q for pair, q in exact_q(plan, prior).items()}
        stated = Plan.build({**json.loads(plan.text), "correlation": listed(bounds)})
        exceeding.append(exceeded(certify(stated), prior, kernel))
    return exceeding
