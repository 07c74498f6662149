"""Tiers: people choose among published plans of one policy, some more protective than others.

Who chooses which tier may depend on what is asked, so tiers are strata: each describes its own people, and the whole is
their average by how many they are, unbiased whatever made people choose. Only where tiers were drawn at random do all
describe the same people, and may be averaged by how precise each is (theory.md, section 4.12).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from bcdp.errors import refuse
from bcdp.estimates.by import Part, aligned
from bcdp.estimates.power import precision
from bcdp.estimates.results import Estimates, estimate
from bcdp.mechanisms.planning import make_plan
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.statistics import Estimate, Row, Section
from bcdp.statistics.shared.ratios import width
from bcdp.tally import Tally

TIER = "tier"  # the open feature that names it
STRATIFIED, POOLED = "all, as strata", "all, pooled"

Key = tuple[str, ...]  # a feature, and for a frequency its value
Numbers = Mapping[Key, Estimate]


@dataclass(frozen=True)
class Tiered:
    """The estimates of every tier, and those of all people: by tiers as strata, and if they were drawn also pooled."""

    tiers: Mapping[str, Estimates]
    stratified: Numbers
    pooled: Numbers | None

    @property
    def choice_odds(self) -> dict[Key, float]:
        """By what factor the odds of a value differ at most between tiers, as estimated: what a choice gives away.

        Only of shares, and where every tier has some people with the value and some without, by the estimates.
        """
        found = {}
        for key in self.stratified:
            shares = [_numbers(one)[key].value for one in self.tiers.values()]
            if self._is_share(key) and all(0 < share < 1 for share in shares):
                odds = [share / (1 - share) for share in shares]
                found[key] = max(odds) / min(odds)
        return found

    def _is_share(self, key: Key) -> bool:
        features = next(iter(self.tiers.values())).policy.features
        return len(key) > 1 or not features[key[0]].is_number

    def parts(self) -> Iterator[Part]:
        """Each number of every tier, and of all people where it is an average over people."""
        combined = {STRATIFIED: self.stratified} | ({} if self.pooled is None else {POOLED: self.pooled})
        for section, row, numbers in aligned(list(self.tiers.values())):
            yield from (Part(name, section, row, number) for name, number in zip(self.tiers, numbers, strict=True))
            key = tuple(map(str, row.key))
            yield from (
                Part(name, section, row, estimates[key]) for name, estimates in combined.items() if key in estimates
            )

    def sections(self) -> Iterator[Section]:
        """The parts as rows to show, those of one number together."""
        for _, parts in groupby(self.parts(), lambda part: id(part.row)):
            listed = list(parts)
            _, section, row, _ = listed[0]
            rows = (
                Row(name, name, number, row.possible, (name,), number.answers, in_units=row.in_units)
                for name, *_, number in listed
            )
            yield Section(row.label, (row.label, section.heads[1]), tuple(rows), "dots")

    def to_dict(self) -> dict[str, Any]:
        """The tiers, and all people, in plain JSON."""
        tiers = {name: numbers.to_dict() for name, numbers in self.tiers.items()}
        combined = {"stratified": self.stratified, "pooled": self.pooled or {}}
        numbers = {
            name: [{"name": list(key), **number.to_dict()} for key, number in estimates.items()]
            for name, estimates in combined.items()
        }
        choice = [{"name": list(key), "odds": odds} for key, odds in self.choice_odds.items()]
        return {"tiers": tiers, **numbers, "choice": choice}


def make_tiers(policy: Policy, tiers: Mapping[str, Mapping[str, float]]) -> dict[str, Plan]:
    """A plan for each tier, with these deltas in place of the policy's; the tier is open in each of them.

    >>> policy = Policy(epsilon=2, features={"smoker": {"type": "binary"}})
    >>> plans = make_tiers(policy, {"strict": {"smoker": 0.2}, "usual": {}})
    >>> [round(plan.certificate.features["smoker"].certified, 3) for plan in plans.values()]
    [0.2, 2.0]
    """
    if len(tiers) < 2:
        raise refuse("tiers", sorted(tiers), "at least two, each with the deltas in which it differs")
    if TIER in policy.declared:
        raise refuse("features", TIER, "another name: the tier itself is an open feature of this name")
    document = policy.to_dict()
    plans = {}
    for name, deltas in tiers.items():
        if unknown := deltas.keys() - policy.features.keys():
            raise refuse(f"tiers.{name}", sorted(unknown), f"features: {', '.join(policy.features)}")
        features: dict[str, Any] = {feature: dict(stated) for feature, stated in document["features"].items()}
        for feature, delta in deltas.items():
            features[feature]["delta"] = delta
        features[TIER] = {"type": "open", "values": [name], "label": "Level of protection"}
        plans[name] = make_plan(Policy(**{**document, "features": features}))
    return plans


def estimate_tiers(tallies: Mapping[str, Tally], level: float = 0.95, drawn: bool = False) -> Tiered:
    """The means and frequencies of every tier and of all people; `drawn`: chance alone chose each person's tier.

    >>> from bcdp import privatize
    >>> policy = Policy(epsilon=2, features={"smoker": {"type": "binary"}})
    >>> plans = make_tiers(policy, {"strict": {"smoker": 0.2}, "usual": {}})
    >>> answers = {name: {"smoker": [0, 1] * 500, "tier": [name] * 1000} for name in plans}
    >>> found = estimate_tiers({name: Tally(plan).add(privatize(plan, answers[name])) for name, plan in plans.items()})
    >>> list(found.stratified), found.pooled
    ([('smoker',)], None)
    """
    if len(tallies) < 2:
        raise refuse("tallies", sorted(tallies), "the tallies of at least two tiers")
    asked = {name: _asked(tally.plan.policy) for name, tally in tallies.items()}
    if other := [name for name, each in asked.items() if each != next(iter(asked.values()))]:
        raise refuse(
            f"tallies.{other[0]}", "a plan that asks something else", "tiers of one policy: only levels differ"
        )
    estimates = {name: estimate(tally, level, group=f"{TIER}={name}") for name, tally in tallies.items()}
    numbers = {name: _numbers(each) for name, each in estimates.items()}
    keys = next(iter(numbers.values())).keys()
    people = sum(tally.people for tally in tallies.values())
    shares = {name: tally.people / people for name, tally in tallies.items() if tally.people}
    features = next(iter(tallies.values())).plan.policy.features
    spans = {key: features[key[0]].span if len(key) == 1 else (0.0, 1.0) for key in keys}
    stratified = {key: _average(numbers, key, shares, level, spans[key], people) for key in keys}
    return Tiered(estimates, stratified, _pooled(tallies, numbers, level, spans) if drawn else None)


def _asked(policy: Policy) -> dict[str, Any]:
    """What a policy asks for, whatever it promises."""
    document = policy.to_dict()
    features = {name: {key: value for key, value in stated.items() if key != "delta"}
                for name, stated in document["features"].items() if name != TIER}  # fmt: skip
    return {"features": features, "tasks": document.get("tasks")}


def _numbers(estimates: Estimates) -> dict[Key, Estimate]:
    """The estimates that are averages over people: of these alone an average over tiers is one over all people.

    A mean among those who answered is none; its ends are, and where no answer is a value so are frequencies.
    """
    means: dict[Key, Estimate] = {
        (name,): mean for name, mean in estimates.means.items() if not estimates.policy.features[name].extras
    }
    frequencies = estimates.frequencies.items()
    return means | {(name, str(value)): share for name, shares in frequencies for value, share in shares.items()}


def _pooled(
    tallies: Mapping[str, Tally], numbers: Mapping[str, Numbers], level: float, spans: Mapping[Key, tuple[float, float]]
) -> dict[Key, Estimate]:
    """Weighted by what each tier's plan was designed to reveal, which does not depend on the answers."""
    errors = {
        name: {(expected.about, expected.name): expected.error for expected in precision(tally.plan)}
        for name, tally in tallies.items()
    }
    pooled = {}
    for key in next(iter(numbers.values())):
        about = "Means" if len(key) == 1 else next(iter(tallies.values())).plan.policy.features[key[0]].label
        weights = {
            name: numbers[name][key].answers / errors[name][about, key[-1]]
            for name in tallies
            if math.isfinite(numbers[name][key].se)
        }
        total = sum(weights.values())
        shares = {name: weight / total for name, weight in weights.items()}
        pooled[key] = _average(numbers, key, shares, level, spans[key])
    return pooled


def _average(
    numbers: Mapping[str, Numbers],
    key: Key,
    shares: Mapping[str, float],
    level: float,
    span: tuple[float, float],
    people: int | None = None,
) -> Estimate:
    """A weighted average of independent estimates; `people`: so many chose their tiers, and others might otherwise."""
    parts = {name: numbers[name][key] for name in shares}
    raw = math.fsum(share * parts[name].raw for name, share in shares.items())
    variance = math.fsum(share**2 * parts[name].se ** 2 for name, share in shares.items())
    if people is not None:
        variance += math.fsum(share * (parts[name].raw - raw) ** 2 for name, share in shares.items()) / people
    least, most = span
    half, value = width(level) * math.sqrt(variance), min(max(raw, least), most)
    low, high = min(max(raw - half, least), value), max(min(raw + half, most), value)
    mark = hashlib.sha256(repr(sorted(part.collection for part in parts.values())).encode()).hexdigest()
    answers, rule = sum(part.answers for part in parts.values()), next(iter(parts.values())).rule
    return Estimate(value, math.sqrt(variance), low, high=high, answers=answers, raw=raw, rule=rule, collection=mark)
