"""The main promise of a plan that trusts more than devices, in words: what a batch reveals, and what is left without.

Levels are the claims of the plan, which `verify` has checked; conditions follow from its numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bcdp.mechanisms.counts_demand import KeptDemand, counts_demands
from bcdp.plan import CountsClaim, Plan
from bcdp.plan.messages import messages_each, why_one_message
from bcdp.policy import Policy
from bcdp.present.promise import NOTHING_ASSUMED, Promise, assumed_condition, promise_of_all, quoted
from bcdp.present.published_counts import CountsPromise
from bcdp.present.words import odds, one_in

ONE_REPORT = "one report"
_LITTLE = 0.999  # of a limit: a level below it has been lowered for another demand


@dataclass(frozen=True)
class BatchPromise:
    """What the counts of a batch reveal about each feature, then about all together; whom one trusts for that."""

    trust: str
    people: int  # in a batch, in the smallest group of open values
    honest: int
    chance: float
    counted: tuple[CountsPromise, ...]
    conditions: tuple[str, ...]
    fallback: Promise
    messages: int = 1  # that one person sends
    why_one: str | None = None  # where features cannot have messages of their own

    @property
    def against(self) -> str:
        """Whom the promise is about."""
        if self.trust == "relay":
            return f"the collector, who sees shuffled batches of at least {self.people:,} people"
        return f"whoever sees the published counts of at least {self.people:,} people"

    @property
    def holds(self) -> str:
        """The head of the conditions."""
        return f"It holds, except with {one_in(self.chance)}, if"

    @property
    def without(self) -> str:
        """What is left if the first condition fails."""
        fails = "relay and collector work together" if self.trust == "relay" else "single reports are seen"
        return (
            f"If {fails}, the promises about one report are left: for all answers together the odds change by a factor "
            f"of at most {odds(self.fallback.level)}, {self.fallback.condition}."
        )

    @property
    def sent(self) -> str:
        """How many messages a person sends, and so how many a batch has."""
        if self.messages == 1:
            reason = "" if self.why_one is None else f", because {self.why_one}"
            return f"Each person sends one message{reason}."
        return (
            f"Each person sends {self.messages} messages, and nothing in them shows that they come from one person: a "
            f"batch of {self.people:,} people is one of {self.messages * self.people:,} messages."
        )

    def to_dict(self) -> dict[str, Any]:
        """The promise as plain data."""
        *features, record = self.counted
        return {
            "trust": self.trust,
            "people": self.people,
            "honest_people": self.honest,
            "chance": self.chance,
            "messages": self.messages,
            "record": {"epsilon": record.epsilon, "odds": record.level},
            "features": {
                str(promise.name): {"epsilon": promise.epsilon, "odds": promise.level, "condition": promise.condition}
                for promise in features
            },
            "conditions": list(self.conditions),
            "fallback": self.without,
        }


def batch_promise(plan: Plan) -> BatchPromise | None:
    """The main promise of a plan whose policy trusts a relay or the collector; None where only devices are trusted.

    >>> from bcdp import make_plan
    >>> policy = Policy(epsilon=2, features={"ill": {"type": "binary"}}, trust="collector",
    ...     counts={"epsilon": 0.1, "people": 10_000})
    >>> batch_promise(make_plan(policy)).counted[-1].told
    'at most 1.13 times (except with one chance in a million)'
    """
    demand, claims = plan.policy.batch, plan.certificate.counts
    if demand is None or claims is None:
        return None
    honest = demand.honest_people
    counted = []
    for name, claim in claims.features.items():
        # with the condition left out wherever the record's level does without, to the digits that are reported
        unconditional = odds(claim.odds) == odds(claims.odds)
        condition = NOTHING_ASSUMED if unconditional else assumed_condition(plan, name)
        label, stated = plan.policy.features[name].label, claims if unconditional else claim
        counted.append(_promise(name, label, stated, honest, demand.chance, condition))
    counted.append(_promise(None, "all answers together", claims, honest, demand.chance, NOTHING_ASSUMED))
    return BatchPromise(
        trust=plan.policy.trust,
        people=demand.people,
        honest=honest,
        chance=demand.chance,
        counted=tuple(counted),
        conditions=_conditions(plan, honest),
        fallback=promise_of_all(plan),
        messages=messages_each(plan),
        why_one=why_one_message(plan.policy),
    )


def _promise(
    name: str | None, label: str, claim: CountsClaim, people: int, chance: float, condition: str
) -> CountsPromise:
    return CountsPromise(
        name, label, claim.epsilon, level=claim.odds, people=people, chance=chance, condition=condition
    )


def organisations(plan: Plan) -> str:
    """Who the two organisations are, as the plan names them."""
    relay, survey = plan.policy.relay, plan.policy.survey
    collector = "the collector" if survey is None else f"the collector ({quoted(survey.organiser)})"
    return f"{collector} and the relay ({relay.host if relay else 'none'})"


def _conditions(plan: Plan, honest: int) -> tuple[str, ...]:
    if plan.policy.trust == "relay":
        trusted = f"{organisations(plan)} do not work together, and the relay mixes"
    else:
        trusted = "the collector shows nobody single reports, and publishes one tally"
    group = " in every group of open values" if plan.policy.open else ""
    return (
        trusted,
        f"at least {honest:,} people{group} follow the plan and do not work with the observer",
        "the others' answers do not depend on this person's, as those of a household do",
    )


def binding_demand(stated: Policy, plan: Plan) -> KeptDemand | None:
    """Of the demands on counts and on one report, the one that a plan comes closest to; None without demands on counts.

    A plan that had to lower no level is limited by one report's.
    """
    if stated.counts is None:
        return None
    own = KeptDemand(ONE_REPORT, "epsilon", stated.epsilon, plan.certificate.epsilon)
    deltas = [
        KeptDemand(f"{name} in {ONE_REPORT}", "delta", feature.delta, plan.certificate.features[name].certified)
        for name, feature in stated.features.items()
        if feature.delta < stated.epsilon
    ]
    reached = [kept for kept in (own, *deltas) if kept.level > _LITTLE * kept.demanded]
    return max([*reached, *counts_demands(plan, stated.counts)], key=lambda kept: kept.level / kept.demanded)


def binding_line(kept: KeptDemand) -> str:
    """Which demand limits a plan, in a sentence."""
    return (
        f"The demand that limits the plan: {kept.form} of {kept.about}, {kept.level:.3g} of {kept.demanded:.3g} nats."
    )


def document_of(promise: BatchPromise | None) -> Mapping[str, Any]:
    """The part of `bcdp plan --json` about the main promise; nothing where only devices are trusted."""
    return {} if promise is None else {"batch": promise.to_dict()}
