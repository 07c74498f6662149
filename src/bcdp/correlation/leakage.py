"""The leakage matrix: how much an answer about one feature reveals about each other one, in nats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bcdp.correlation.models import Correlation
from bcdp.notions import bcdp_from
from bcdp.policy import Policy
from bcdp.randomizers import binary, categorical, mixture_delta

Array = npt.NDArray[np.float64]


def leakage(policy: Policy, correlation: Correlation, budgets: Mapping[str, float]) -> Array:
    """For each feature (row), its level in nats under a question about each feature (column) at that one's budget.

    By the tight inequality of theory.md, section 2, or exactly where the distributions are known (section 4.5).

    >>> policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "b": {"type": "binary"}}, correlation=0)
    >>> from bcdp.correlation import PerFeature
    >>> leakage(policy, PerFeature(0.5, {}), {"a": 1.0, "b": 0.0}).round(3).tolist()
    [[1.0, 0.0], [0.62, 0.0]]
    """
    names = list(policy.features)
    return np.array([[_told(correlation, i, j, budgets[j]) for j in names] for i in names])


def _told(correlation: Correlation, name: str, asked: str, budget: float) -> float:
    if name == asked:
        return budget
    level = float(bcdp_from(0.0, budget, correlation.q(name, {asked}), correlation.odds(name, {asked})))
    laws = correlation.laws(name, asked)
    if laws is None or budget == 0:
        return level
    values = laws.shape[1]
    return min(level, mixture_delta(binary(budget) if values == 2 else categorical(values, budget), laws))
