"""Plans in which every feature is asked in a message of its own, at the largest levels that all demands allow.

Everybody answers everything, and only the sum of the messages' levels counts if somebody links them. So a large
epsilon with a small level of the counts favours them, and a small epsilon one message (theory.md, section 4.19).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import cast

from bcdp.correlation import Correlation
from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.design.menu_assignment import Menu
from bcdp.mechanisms.survey.design.plan_assembly import document_of
from bcdp.mechanisms.survey.design.planner import Setting, total_error
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.notions.composed_counts import ExcessGrid
from bcdp.notions.privacy_blanket import are_odds, is_factor, least_factor
from bcdp.plan import Plan
from bcdp.plan.message_counts import MessageCounts
from bcdp.plan.messages import wanted_targets, why_one_message
from bcdp.plan.published_counts import claimable, lowered_factor, message_counts
from bcdp.policy import Policy
from bcdp.policy.counts import CountsDemand
from bcdp.statistics import Askable

_CLOSE = 1.002  # two levels that differ by less are not distinguished
_SMALLEST = 1e-3  # level of a message that is worth sending
_SWEEPS = 3  # over the features, because each message's level changes what all of them reveal

Levels = Mapping[str, float]  # of each feature's message


def plan_messages(
    policy: Policy, demand: CountsDemand, correlation: Correlation, progress: Callable[[str], None]
) -> Plan | None:
    """The plan with a message for each feature that keeps every demand; None where there is none.

    Each feature has to be wanted by itself, as a mean, frequencies or a distribution: what is asked in two messages
    cannot be put together.
    """
    if why_one_message(policy) is not None:
        return None
    asked = cast("set[Askable]", wanted_targets(policy))
    targets = {target.features[0]: target for target in sorted(asked, key=lambda each: each.features)}
    search = _LevelSearch(policy, demand, correlation, targets)
    levels = search.largest(progress)
    if levels is None:
        return None
    errors = Setting.of(policy, correlation).errors
    try:
        return Plan.certified(search.document(levels), lambda draft: (total_error(errors, information(draft)), None))
    except InputError:  # a demand is met but for the last digit
        return None


@dataclass(frozen=True)
class _LevelSearch:
    """Levels of messages, and whether a plan with them keeps every demand."""

    policy: Policy
    demand: CountsDemand
    correlation: Correlation
    targets: Mapping[str, Askable]
    _known: dict[object, ExcessGrid] = field(default_factory=dict)  # of messages through tables that were tried

    def document(self, levels: Levels) -> dict[str, object]:
        """The plan's document, but for its certificate."""
        menus: list[Menu] = [(Fraction(1), [((target,), levels[name], None)]) for name, target in self.targets.items()]
        document = document_of(self.policy, self.correlation, menus)
        document["menus"] = [{**menu, "weight": TOTAL} for menu in document["menus"]]
        promise = {"counts": self.demand.model_dump(mode="json"), "trust": self.policy.trust}
        return {**document, "collection": document["collection"] | promise}

    def largest(self, progress: Callable[[str], None]) -> Levels | None:
        """The levels that a search finds: all alike, then those of features with demands of their own lower."""
        levels: Levels = dict.fromkeys(self.targets, self.policy.epsilon / len(self.targets) * (1 - 1e-9))
        for _ in range(_SWEEPS):
            share = _largest(partial(self._record_kept, levels), 1.0)
            if share is None:
                return None
            levels = _scaled(levels, share)
            progress(f"{len(levels)} messages at a level of {max(levels.values()):.3g}")
            for name in self._broken(levels):
                own = _largest(partial(self._feature_kept, levels, name), levels[name]) if name in levels else None
                if own is None:  # the other messages alone reveal too much about this feature
                    levels = _scaled(levels, 0.5)
                    break
                levels = {**levels, name: own}
            if not self._broken(levels) and self._record_kept(levels):
                return levels
        return None

    def _feature_kept(self, levels: Levels, name: str, level: float) -> bool:
        return name not in self._broken({**levels, name: level})

    def _record_kept(self, levels: Levels, share: float = 1.0) -> bool:
        draft = self._draft(_scaled(levels, share))
        if draft.levels.epsilon > self.policy.epsilon:
            return False
        record = claimable(self._counts(draft).record)
        forms = {"epsilon": is_factor, "odds": are_odds}
        return all(
            forms[form](lowered_factor(level * (1 - 1e-4)), record, self.demand.chance)
            for form, level in self.demand.record_levels.items()
        )

    def _broken(self, levels: Levels) -> list[str]:
        """The features of which one report, or the counts, would reveal too much."""
        draft = self._draft(levels)
        broken = [name for name, feature in self.policy.features.items() if draft.levels.delta[name] > feature.delta]
        if not self.demand.features:
            return broken
        counts, chance = self._counts(draft), self.demand.chance
        whole = least_factor(claimable(counts.record), chance, math.exp(draft.levels.epsilon))
        return broken + [
            name
            for name, level in self.demand.features.items()
            if level < draft.levels.delta[name]
            and not is_factor(lowered_factor(level * (1 - 1e-4)), claimable(counts.feature(name, whole)), chance)
            and name not in broken
        ]

    def _counts(self, draft: Plan) -> MessageCounts:
        return message_counts(draft, self.demand.honest_people, self.correlation, self._known)

    def _draft(self, levels: Levels) -> Plan:
        nothing = {"epsilon": 0.0, "features": {}, "objective": None, "optimality_gap": None}
        return Plan.build({**self.document(levels), "certificate": nothing})


def _scaled(levels: Levels, share: float) -> Levels:
    return {name: level * share for name, level in levels.items()}


def _largest(kept: Callable[[float], bool], most: float) -> float | None:
    """The largest level up to `most` that a search by bisection finds to be kept; None if there is none.

    >>> round(_largest(lambda level: level <= 0.25, 1.0) or 0.0, 2)
    0.25
    """
    if kept(most):
        return most
    low, high = most / 2, most
    while not kept(low):
        if low < _SMALLEST * most:
            return None
        low, high = low / 2, low
    while high > low * _CLOSE:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low
