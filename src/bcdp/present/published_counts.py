"""What the published counts reveal, in words, next to what a single report reveals, and whom each promise needs to
be true.

Nothing is said of small tallies: a stream of them gives single reports away.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bcdp.correlation import Stronger
from bcdp.plan import Plan, mechanism_of
from bcdp.plan.published_counts import CHANCE, LEAST_PEOPLE
from bcdp.present.promise import NOTHING_ASSUMED, Promise, quoted
from bcdp.present.words import one_in, small_odds

VOID = (
    "It holds for one tally, seen without single reports, times or tallies of parts of it, if the others' answers do "
    "not depend on this person's, as those of a household do."
)
_TICKETS = " Menus come from tickets, so it holds against those who do not know this person's ticket."


def void(plan: Plan) -> str:
    """What else has to be true for a promise about published counts."""
    return VOID + _TICKETS * (plan.policy.menu_from == "ticket")


@dataclass(frozen=True)
class CountsPromise:
    """How far published counts let odds move except with a small chance, in nats, rounded up; on which condition."""

    name: str | None  # of the feature; None for all together
    label: str
    epsilon: float
    level: float
    people: int
    chance: float
    condition: str

    @property
    def told(self) -> str:
        """The promise as odds."""
        return f"at most {small_odds(self.level)} times (except with {one_in(self.chance)})"

    @property
    def sentence(self) -> str:
        """All of it in words."""
        about = self.label if self.name is None else quoted(self.label)
        return (
            f"Whoever sees only the published counts of {self.people:,} people can raise the odds of a guess about "
            f"{about} {self.told}, {self.condition}."
        )

    def to_dict(self) -> dict[str, object]:
        """The words, for a page to show."""
        return {"name": self.name, "label": self.label, "told": self.told, "condition": self.condition}


def trusted(plan: Plan) -> list[tuple[str, str]]:
    """What a plan promises, and whom one has to trust for it."""
    relay = plan.policy.relay
    sender = "the collector, as the plan names no anonymising relay"
    if relay is not None:
        sender = f"either the collector or the relay, {relay.host}: not to work together"
    return [
        ("one report: delta and epsilon", "the device alone"),
        ("the published counts", "the collector too: to publish one tally, and to show nobody single reports"),
        ("who sent a report", sender),
    ]


def rounded_people(people: int) -> int:
    """So many people or fewer, in two digits: counts of fewer people reveal more, so what is said stays true.

    >>> rounded_people(254_654), rounded_people(1_000), rounded_people(7)
    (250000, 1000, 7)
    """
    unit: int = 10 ** max(0, len(str(people)) - 2)
    return people // unit * unit


def least_people(plan: Plan, people: int) -> int:
    """In the smallest tally, if so many answer: with open features nobody knows, as their groups are counted apart."""
    return 0 if plan.policy.open else people


def counts_promises(
    plan: Plan, promised: Mapping[str, Promise], people: int, chance: float = CHANCE
) -> list[CountsPromise]:
    """What counts of so many people promise about each feature, then about all together; none for few people.

    Where groups of open values are counted apart, it is so many in every group (theory.md, section 4.10). The
    conditions are those of what a single report promises.

    >>> from bcdp import Policy, make_plan
    >>> from bcdp.present.promise import promises
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> [promise.told for promise in counts_promises(plan, promises(plan), 100_000)][0]
    'at most 1.021 times (except with one chance in a million)'
    >>> counts_promises(plan, promises(plan), 999)
    []
    """
    if people < LEAST_PEOPLE:
        return []
    enough = rounded_people(people)
    tell, nothing_assumed = mechanism_of(plan).counts_told, Stronger(plan.correlation_model, math.inf)
    stated, nothing = (tell(plan, enough, chance, assumed) for assumed in (None, nothing_assumed))
    if stated is None or nothing is None:
        return []
    result = []
    for name, promise in promised.items():
        counted, condition = stated.features[name], promise.condition
        # with the condition left out wherever the level does without, to the digits that are reported
        if condition == NOTHING_ASSUMED or small_odds(counted.odds) == small_odds(nothing.features[name].odds):
            counted, condition = nothing.features[name], NOTHING_ASSUMED
        result.append(
            CountsPromise(
                name,
                promise.label,
                counted.epsilon,
                level=counted.odds,
                people=enough,
                chance=chance,
                condition=condition,
            )
        )
    record = stated.record
    return [
        *result,
        CountsPromise(
            None,
            "all answers together",
            record.epsilon,
            level=record.odds,
            people=enough,
            chance=chance,
            condition=NOTHING_ASSUMED,
        ),
    ]


def counts_document(promised: Sequence[CountsPromise]) -> dict[str, Any] | None:
    """What counts reveal as plain data; None where nothing is said."""
    if not promised:
        return None
    *features, record = promised
    return {
        "people": record.people,
        "chance": record.chance,
        "record": {"epsilon": record.epsilon, "odds": record.level},
        "features": {
            str(promise.name): {"epsilon": promise.epsilon, "odds": promise.level, "condition": promise.condition}
            for promise in features
        },
    }
