"""How much a menu may spend: the largest budgets that the demands of a policy allow under a correlation model."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from bcdp.correlation import Correlation, product_q
from bcdp.mechanisms.survey.design.budgets_from_laws import exact_limit
from bcdp.notions import ldp_limit
from bcdp.policy import MultipleFeature, Policy

_SLACK = 1e-9  # kept aside of every demand, so that rounding can never break it


@dataclass(frozen=True)
class Binding:
    """The largest budget of a menu that asks one feature only, and whose demand it meets first."""

    budget: float
    by: str | None  # a feature, perhaps the one asked; None for epsilon


def binding(policy: Policy, correlation: Correlation, name: str) -> Binding:
    """How much may be asked of one feature alone, and what forbids more (theory.md, sections 4.1 and 4.5)."""
    return BudgetLimits(policy, correlation).binding(name)


class SecondDemand(NamedTuple):
    """A level that a feature demands besides its delta, at larger bounds."""

    delta: float
    q: float
    odds: float

    @property
    def limit(self) -> float:
        """The largest LDP level of all that is asked of others that it can live with."""
        return _level_limit(self.delta, self.q, self.odds)


@dataclass(frozen=True)
class BudgetLimits:
    """Budgets of menus that keep every demand of the policy."""

    policy: Policy
    correlation: Correlation

    @cached_property
    def epsilon(self) -> float:
        """The largest LDP level of a report."""
        return self.policy.epsilon - _SLACK

    def demand(self, name: str) -> float:
        """The level that a feature demands, at most epsilon."""
        return self.within(self.policy.features[name].delta)

    def within(self, delta: float) -> float:
        """What a delta leaves, at most epsilon."""
        return max(min(delta, self.policy.epsilon) - _SLACK, 0.0)

    def strictest(self, name: str) -> float:
        """The level that a feature and every item of it demand."""
        feature = self.policy.features[name]
        items = feature.strict_items.values() if isinstance(feature, MultipleFeature) else ()
        return min([self.demand(name), *(self.within(delta) for _, delta in items)])

    def second_demand(self, name: str, q: float, odds: float) -> SecondDemand | None:
        """What `if_wrong` still demands, where the stated bounds are these; None if nothing more than epsilon."""
        feature = self.policy.features[name]
        if feature.if_wrong is None or self.is_free(name):
            return None
        return SecondDemand(self.within(feature.if_wrong.level(feature.delta)), *feature.if_wrong.moved(q, odds))

    def is_free(self, name: str) -> bool:
        """Whether any menu keeps the demand of a feature, so that its correlation does not matter."""
        return self.strictest(name) >= self.epsilon

    def others(self, name: str) -> frozenset[str]:
        """All features outside its block; without one, all but this."""
        return self.policy.outside(name, frozenset(self.policy.features))

    def total_bounds(self, name: str) -> tuple[float, float]:
        """The q and odds of a feature against all others, as far as its demand depends on them."""
        if self.is_free(name):
            return 0.0, math.inf
        others = self.others(name)
        return self.correlation.q(name, others), self.correlation.odds(name, others)

    def level(self, name: str, others: frozenset[str]) -> float:
        """The largest LDP level of an answer about `others` that the demand of a feature allows."""
        return self._level_within(name, self.correlation.q(name, others), self.correlation.odds(name, others))

    def _level_within(self, name: str, q: float, odds: float) -> float:
        return min(_level_limit(self.strictest(name), q, odds), self._second_limit(name, q, odds))

    def _second_limit(self, name: str, q: float, odds: float) -> float:
        second = self.second_demand(name, q, odds)
        return math.inf if second is None else second.limit

    @property
    def any_menu(self) -> float:
        """The largest budget of a menu that may ask anything: what even an unasked feature's demand still allows."""
        return min(self.epsilon, *(self.level(name, self.others(name)) for name in self.policy.features))

    def without_asking(self, asked: Collection[str]) -> float:
        """The largest LDP level that the features which are never asked allow."""
        unasked = [name for name in self.policy.features if name not in asked]
        return min((self.level(name, self.others(name)) for name in unasked), default=math.inf)

    def binding(self, name: str) -> Binding:
        """How much may be asked of one feature alone, and what forbids more."""
        limits: dict[str | None, float] = {None: self.epsilon, name: self.demand(name)}
        limits |= {other: self._level_of_question(other, name) for other in self.others(name)}
        by = min(limits, key=lambda whose: limits[whose])
        return Binding(limits[by], by)

    def _level_of_question(self, name: str, asked: str) -> float:
        """The largest budget of a question about `asked` alone that the demand of another feature allows."""
        usual = self.level(name, frozenset({asked}))
        laws = self.correlation.laws(name, asked) if usual < self.epsilon else None
        if laws is None:
            return usual
        others = frozenset({asked})  # what is known of distributions says nothing where q is wrong
        second = self._second_limit(name, self.correlation.q(name, others), self.correlation.odds(name, others))
        return max(usual, min(exact_limit(laws, self.demand(name), self.epsilon), second))

    @cached_property
    def alone(self) -> dict[str, float]:
        """The largest budget of a menu that asks one feature only, for each."""
        names = self.policy.features
        if not self.correlation.alike or len(names) == 1:
            return {name: self.binding(name).budget for name in names}
        # what a feature's demand allows is the same whichever other is asked: the two strictest say it for all
        limits = {name: self.level(name, self.others(name)) for name in names}
        first, second = sorted(limits, key=lambda name: limits[name])[:2]
        return {
            name: min(self.epsilon, self.demand(name), limits[second if name == first else first]) for name in names
        }

    def values(self, names: frozenset[str]) -> float:
        """The largest budget of a menu that asks nothing but the values of these features, in one question."""
        limits = [self.level(other, names) for other in self.policy.features if other not in names]
        return min(self.epsilon, *limits, *(self.demand(name) for name in names))

    def product(self, names: frozenset[str]) -> float:
        """The largest budget of a menu that asks one product of these features only (theory.md, section 4.4)."""
        if len(names) > 2 or not names <= self.correlation.rounded:  # asked as values, or bounded like them
            return self.values(names)
        others = [other for other in self.policy.features if other not in names]
        limits = [self._level_within(other, product_q(self.correlation, other, names), math.inf) for other in others]
        return min(self.epsilon, *limits, *(self.demand(name) for name in names))


@lru_cache(maxsize=4096)
def _level_limit(demand: float, q: float, odds: float) -> float:
    return max(float(ldp_limit(demand, q, odds)), demand)
