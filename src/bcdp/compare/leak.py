"""What common practice gives away: every feature through its own randomized response, as if the others did not exist.

Each answer keeps its feature's nominal level, but the answers about the other features speak of it too, as far as the
features depend on each other. The exact levels are those of section 1 of theory.md, for the paper's prior.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bcdp.audit.exact import audit_plan
from bcdp.audit.population import Array, population_of
from bcdp.errors import refuse
from bcdp.exact import TOTAL
from bcdp.mechanisms.planning import make_plan
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.randomizers import binary

PAPER_DELTA = (0.2, 0.2, *(2.0,) * 8)
PAPER_EPSILON = 2.0


def paper_prior(features: int, q: float) -> Array:
    """The paper's distribution of binary features, one axis each: all equal with probability `q`, else independent
    and fair.
    """
    if not 0 <= q <= 1:
        raise refuse("q", q, "a number from 0 to 1")
    prior = np.full((2,) * features, (1 - q) / 2**features)
    prior[(0,) * features] += q / 2
    prior[(1,) * features] += q / 2
    return prior


def separate_responses(delta: Mapping[str, float]) -> Plan:
    """Common practice as a plan: one menu that asks each binary feature through its own randomized response.

    It claims what is usually claimed, the nominal levels; they hold only for independent features.
    """
    names = list(delta)
    document = {
        "mechanism": "survey",
        "collection": {
            "epsilon": math.fsum(delta.values()),
            "features": {name: {"type": "binary", "delta": level} for name, level in delta.items()},
        },
        "correlation": {"kind": "per feature", "default": 0.0, "named": {}, "source": "nothing said"},
        "tables": [binary(level).to_dict() for level in delta.values()],
        "questions": [{"features": [name], "levels": [2], "table": number} for number, name in enumerate(names)],
        "menus": [{"weight": TOTAL, "questions": list(range(len(names)))}],
        "certificate": {
            "epsilon": math.fsum(delta.values()),
            "features": {name: {"asked": level, "certified": level, "c": level} for name, level in delta.items()},
            "objective": None,
            "optimality_gap": None,
        },
    }
    return Plan.build(document)


@dataclass(frozen=True)
class Leak:
    """The exact level in nats of the first feature under the paper's prior: asked, and given by two designs."""

    q: float
    asked: float
    separate: float
    planned: float


def leak(q: float, delta: Sequence[float] = PAPER_DELTA, epsilon: float = PAPER_EPSILON) -> Leak:
    """The leak of the first of some binary features at correlation `q`: by common practice, and by a plan for it."""
    names = [f"x{number + 1}" for number in range(len(delta))]
    demands = dict(zip(names, delta, strict=True))
    features = {name: {"type": "binary", "delta": level} for name, level in demands.items()}
    plan = make_plan(Policy(epsilon=epsilon, features=features, correlation=q))
    population = population_of(names, paper_prior(len(delta), q))
    measured = [audit_plan(audited, population).delta["x1"].measured for audited in (separate_responses(demands), plan)]
    return Leak(q, delta[0], *measured)
