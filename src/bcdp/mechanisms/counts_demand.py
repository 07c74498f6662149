"""Plans that keep demands on counts: what the tally of so many honest people may reveal about one of them.

The level of a tally falls with the local levels (theory.md, 4.8), so each demand is met by lowering the epsilon of a
report, or the delta of the feature that it is about, as little as a search finds necessary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bcdp.correlation import Correlation
from bcdp.errors import InputError, refuse
from bcdp.notions.privacy_blanket import CountsLevel
from bcdp.plan import Plan, mechanism_of
from bcdp.plan.published_counts import counts_levels
from bcdp.policy import Policy
from bcdp.policy.counts import CountsDemand

RECORD = "all answers together"

_CLOSE = 0.002  # a level in counts this close to its demand is not raised any more: a plan takes seconds to make
_AHEAD = (1.01, 1.02, 1.04)  # levels beyond one that breaks a demand, at which the plan may be of another kind
_SWEEPS = 3  # over the features, because lowering one level may raise what the counts reveal about another feature


@dataclass(frozen=True)
class KeptDemand:
    """A demand on counts, and what the counts of a plan reveal at most; both in nats."""

    about: str  # a feature, or RECORD
    form: str  # epsilon, or odds
    demanded: float
    level: float

    @property
    def is_kept(self) -> bool:
        """Whether the counts reveal no more than demanded."""
        return self.level <= self.demanded

    @property
    def used(self) -> float:
        """The level over the one that was demanded."""
        return self.level / self.demanded


def counts_demands(plan: Plan, demand: CountsDemand, correlation: Correlation | None = None) -> list[KeptDemand]:
    """Every demand on counts with the level of a plan, in the counts of the honest people among those expected.

    >>> from bcdp import make_plan
    >>> policy = Policy(epsilon=2, features={"ill": {"type": "binary"}}, counts={"epsilon": 0.1, "people": 10_000})
    >>> [kept.is_kept for kept in counts_demands(make_plan(policy), policy.counts)]
    [True]
    """
    levels = counts_levels(plan, demand.honest_people, demand.chance, correlation)
    about: list[tuple[str, CountsLevel, Mapping[str, float]]] = [(RECORD, levels.record, demand.record_levels)]
    about += [(name, levels.features[name], {"epsilon": level}) for name, level in demand.features.items()]
    return [
        KeptDemand(name, form, stated, getattr(level, form))
        for name, level, demanded in about
        for form, stated in demanded.items()
    ]


def plan_within_counts(
    policy: Policy,
    demand: CountsDemand,
    correlation: Correlation,
    progress: Callable[[str], None],
    seconds: float | None = None,
) -> Plan:
    """A plan whose counts keep every demand, with the largest epsilon and deltas that a search finds.

    With a relay that mixes, of one message and several the one with the smaller error.
    """
    separate = None
    if policy.trust == "relay" and policy.messages is None:
        separate = mechanism_of(policy).plan_messages(policy, demand, correlation, progress)
    try:
        together = _plan_of_one_message(policy, demand, correlation, progress, seconds)
    except InputError:
        if separate is None:
            raise
        return separate
    return together if separate is None or not _is_better(separate, together) else separate


def _is_better(separate: Plan, together: Plan) -> bool:
    """Whether messages of their own leave a smaller error, and inform about whatever one message informs about."""
    errors, others = (mechanism_of(plan).largest_errors(plan) for plan in (separate, together))
    informs = all(math.isfinite(errors.get(target, math.inf)) for target, error in others.items() if error < math.inf)
    objectives = (plan.certificate.objective for plan in (separate, together))
    first, second = (math.inf if objective is None else objective for objective in objectives)
    return informs and first < second


def _plan_of_one_message(
    policy: Policy,
    demand: CountsDemand,
    correlation: Correlation,
    progress: Callable[[str], None],
    seconds: float | None,
) -> Plan:
    search = _Search(demand, correlation, progress, seconds)
    for _ in range(_SWEEPS):
        if RECORD in search.broken(policy):
            policy = search.with_smaller_epsilon(policy)
        for name in search.broken(policy):
            if name != RECORD:
                policy = search.with_smaller_delta(policy, name)
        if not search.broken(policy):
            return _promising(search.plan(policy), policy)
    raise refuse("counts", f"demands about {', '.join(search.broken(policy))}", "larger levels, or more people")


def _promising(plan: Plan, policy: Policy) -> Plan:
    """The plan with its demands on counts as its main promise, if the policy trusts more than devices."""
    if policy.batch is None:
        return plan
    document = plan.model_dump(mode="json", by_alias=True, exclude={"certificate"})
    document["collection"] |= {"counts": policy.batch.model_dump(mode="json"), "trust": policy.trust}
    accuracy = plan.certificate.objective, plan.certificate.optimality_gap
    return Plan.certified(document, lambda draft: accuracy)


class _Search:
    """Plans of one policy with smaller levels; each is made once."""

    def __init__(
        self, demand: CountsDemand, correlation: Correlation, progress: Callable[[str], None], seconds: float | None
    ) -> None:
        self._demand, self._correlation, self._progress, self._seconds = demand, correlation, progress, seconds
        self._plans: dict[tuple[float, ...], Plan] = {}

    def plan(self, policy: Policy) -> Plan:
        """The plan of a policy."""
        key = (policy.epsilon, *(feature.delta for feature in policy.features.values()))
        if key not in self._plans:
            self._plans[key] = mechanism_of(policy).make_plan(policy, self._correlation, self._progress, self._seconds)
        return self._plans[key]

    def broken(self, policy: Policy) -> list[str]:
        """What the counts reveal too much about."""
        return list(dict.fromkeys(each.about for each in self._demands(policy) if not each.is_kept))

    def _demands(self, policy: Policy) -> list[KeptDemand]:
        return counts_demands(self.plan(policy), self._demand, self._correlation)

    def _used(self, policy: Policy, about: str) -> float:
        """How much of the demands about something the counts use up, the closest of them."""
        return max(each.used for each in self._demands(policy) if each.about == about)

    def with_smaller_epsilon(self, policy: Policy) -> Policy:
        """The policy with the largest epsilon that keeps the demands about the whole record."""

        def at(epsilon: float) -> Policy:
            self._progress(f"epsilon {epsilon:.3g}")
            return policy.model_copy(update={"epsilon": epsilon})

        return _largest(at, lambda tried: self._used(tried, RECORD), policy.epsilon)

    def with_smaller_delta(self, policy: Policy, name: str) -> Policy:
        """The policy with the largest delta of a feature that keeps the demand about it."""
        feature = policy.features[name]

        def at(delta: float) -> Policy:
            self._progress(f"delta of {name} {delta:.3g}")
            changed = feature.with_delta(delta)
            return policy.model_copy(update={"declared": {**policy.declared, name: changed}})

        try:
            return _largest(at, lambda tried: self._used(tried, name), min(feature.delta, policy.epsilon))
        except InputError:
            accepted = "a larger level, more people, or a smaller correlation: other answers reveal this feature too"
            raise refuse(f"counts.features.{name}", self._demand.features[name], accepted) from None


def _largest(at: Callable[[float], Policy], used: Callable[[Policy], float], most: float) -> Policy:
    """The policy of the largest level that a search finds to keep a demand which `most` breaks.

    A larger level may reveal less, where the plan changes to larger menus: some are tried, and searched from.
    """
    level, high = most / 2, most
    while used(at(level)) > 1:
        level, high = level / 2, level
    level = _close_to(at, used, level, high)
    for ahead in _AHEAD:
        if level * ahead < most and used(at(level * ahead)) <= 1:
            level = _close_to(at, used, level * ahead, min(most, level * ahead * _AHEAD[-1]))
    return at(level)


def _close_to(at: Callable[[float], Policy], used: Callable[[Policy], float], low: float, high: float) -> float:
    """A level from `low`, which keeps a demand, to `high`: one that nearly uses it up, or next to one that breaks it.

    The next to be tried is where the logarithm of what is used would reach 0 on a straight line, at least a tenth of
    the way from either end.
    """
    below, above = used(at(low)), used(at(high))
    while below < 1 - _CLOSE and above > 1 and high > low * (1 + _CLOSE / 2):
        share = math.log(below) / (math.log(below) - math.log(above)) if below > 0 and above < math.inf else 0.5
        level = low * (high / low) ** min(max(share, 0.1), 0.9)
        if (reached := used(at(level))) <= 1:
            low, below = level, reached
        else:
            high, above = level, reached
    return low if above > 1 else high
