"""Whom to trust, as a choice: the same level against three observers, and what answers are then worth.

The level is the one that the policy demands: of one report, if only devices are trusted; of what the collector sees of
a batch, if a relay mixes; of published counts, if the collector is trusted. Each is a plan of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bcdp.compare.baselines import open_people
from bcdp.correlation import Correlation, correlation_of
from bcdp.mechanisms.counts_demand import plan_within_counts
from bcdp.plan import Plan, mechanism_of
from bcdp.plan.published_counts import CHANCE
from bcdp.policy import Policy
from bcdp.policy.counts import LEAST_COUNTED, CountsDemand
from bcdp.present.published_counts import least_people
from bcdp.statistics import headline

HONEST = 0.9  # of a batch, unless the policy states it: a collector could send some reports itself
USUAL_FALLBACK = 4.0  # nats of one report, if the policy allows no more: what devices answer unless a person says more

MOST_COLUMNS = 6  # features whose worth is shown one by one
ASSUMPTIONS = {
    "device": "the person's device alone",
    "relay": "relay and collector do not work together",
    "collector": "the collector shows nobody single reports",
}


@dataclass(frozen=True)
class TrustChoice:
    """A plan whose level, in nats, is the same as that of the other choices, against another observer."""

    trust: str
    people: int  # whose reports hide one of them; 1 where one report is seen
    level: float
    fallback: float  # the level of one report
    open_people: Mapping[str, int]  # for each feature, how many openly asked people have the same standard error

    @property
    def assumption(self) -> str:
        """Whom one has to trust."""
        return ASSUMPTIONS[self.trust]

    def to_dict(self) -> dict[str, Any]:
        """The choice as plain data."""
        return {
            "trust": self.trust,
            "assumption": self.assumption,
            "people": self.people,
            "level": self.level,
            "fallback": self.fallback,
            "open_people": dict(self.open_people),
        }


def choice_cells(choice: TrustChoice, names: Sequence[str]) -> list[str]:
    """A row of a table: whom to trust, among how many people, the levels, and the worth for each of these features."""
    hidden = f"{choice.people:,}" if choice.people > 1 else "-"
    worth = [f"{choice.open_people[name]:,}" for name in names]
    if not names:
        few, many = min(choice.open_people.values()), max(choice.open_people.values())
        worth = [f"{few:,} to {many:,}"]
    return [choice.assumption, hidden, f"{choice.level:.3g}", f"{choice.fallback:.3g}", *worth]


def trust_choices(
    policy: Policy, people: int, progress: Callable[[str], None] = lambda line: None
) -> tuple[TrustChoice, ...]:
    """The three choices for so many people; only the first where no batch is large enough to promise anything.

    >>> device, relay, collector = trust_choices(Policy(epsilon=0.3, features={"ill": {"type": "binary"}}), 10_000)
    >>> device.open_people["ill"] < relay.open_people["ill"] < collector.open_people["ill"] < 10_000
    True
    """
    model, alone = correlation_of(policy), _alone(policy)
    plan = mechanism_of(alone).make_plan(alone, model, progress, None)
    choices = [_choice(plan, "device", 1, plan.certificate.epsilon, people)]
    batch = policy.counts.people if policy.counts else least_people(plan, people)
    if batch < LEAST_COUNTED or mechanism_of(plan).counts_told(plan, batch, CHANCE, model) is None:
        return tuple(choices)
    for trust, honest in (("relay", policy.counts.honest if policy.counts else HONEST), ("collector", 1.0)):
        progress(f"trusting {trust}")
        choices.append(_batched(policy, alone, model, trust=trust, batch=batch, honest=honest, people=people))
    return tuple(choices)


def _alone(policy: Policy) -> Policy:
    """The policy with its demands about one report."""
    counts = policy.counts
    level = policy.epsilon if counts is None else min([policy.epsilon, *counts.record_levels.values()])
    single = {} if counts is None else counts.features
    features = {
        name: feature.with_delta(min(feature.delta, level, single.get(name, math.inf)))
        for name, feature in policy.features.items()
    }
    return policy.model_copy(update={"epsilon": level, "features": features, "counts": None, "trust": "device"})


def _batched(
    policy: Policy, alone: Policy, correlation: Correlation, *, trust: str, batch: int, honest: float, people: int
) -> TrustChoice:
    """The best plan with the same levels in the counts of a batch, its reports limited as the policy allows."""
    most = max(policy.epsilon, USUAL_FALLBACK)
    stated = {name: feature.delta for name, feature in alone.features.items() if feature.delta < alone.epsilon}
    chance = policy.counts.chance if policy.counts else CHANCE
    demand = CountsDemand(people=batch, epsilon=alone.epsilon, features=stated, chance=chance, honest=honest)
    features = {name: feature.with_delta(most) for name, feature in alone.features.items()}
    plan = plan_within_counts(
        alone.model_copy(update={"epsilon": most, "features": features}), demand, correlation, lambda line: None
    )
    counted = mechanism_of(plan).counts_told(plan, demand.honest_people, chance, correlation)
    level = plan.certificate.epsilon if counted is None else counted.record.epsilon
    return _choice(plan, trust, demand.honest_people, level, people)


def _choice(plan: Plan, trust: str, hidden: int, level: float, people: int) -> TrustChoice:
    errors = mechanism_of(plan).largest_errors(plan)
    worth = {
        name: open_people(plan.policy, name, errors[headline(plan.policy, name)], people)
        for name in plan.policy.features
    }
    return TrustChoice(trust, hidden, level, fallback=plan.certificate.epsilon, open_people=worth)
