"""How often 95% intervals of survey practice hold the truth: `python practice_coverage.py [collections]`.

Counts are drawn from the exact laws of the answers, 2,000 collections of each kind: differences between two waves of
different people, slopes over three waves and all waves together, post-stratified means of a sample in which one region
is far too frequent, means of strata whose sizes were fixed, tier-stratified means where those who choose the strict
tier differ, means and shares among those who answered, and means and shares of mixed batches, of one message and of
several. The exit code is 1 if one is farther than 1.5 points from 95%. Differences between separate messages allow for
any association of what they ask, and only have to cover as much.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.estimates.power import imagined
from bcdp.estimates.tiers import estimate_tiers, make_tiers
from bcdp.estimates.waves import estimate_waves
from bcdp.plan.messages import messages_each

REGIONS = ["north", "south", "west"]
SHARES = {"north": 0.5, "south": 0.3, "west": 0.2}  # of the population
ASKED = {"north": 0.15, "south": 0.25, "west": 0.6}  # of the sample
SMOKE = {"north": 0.15, "south": 0.3, "west": 0.45}
AGE = {"north": 35.0, "south": 50.0, "west": 60.0}
TARGET, TOLERANCE = 0.95, 0.015

Counts = dict[int, tuple[int, Mapping[str, Any]]]  # of each group: its people, and what they are like


class Drawing:
    """Tallies of a plan, drawn by their counts from the exact laws of the answers."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._laws: dict[str, np.ndarray] = {}
        shapes = [int(np.prod(digits)) for digits in plan.symbols]
        self._menu = np.concatenate([np.full(size, number) for number, size in enumerate(shapes)])
        self._answer = np.concatenate([np.arange(size) for size in shapes])

    def _law(self, guess: Mapping[str, Any]) -> np.ndarray:
        key = repr(sorted(guess.items()))
        if key not in self._laws:
            counted: Any = imagined(self.plan, guess).whole
            law = np.concatenate([counted.counts(menu).ravel() for menu in range(len(self.plan.menus))]).astype(float)
            self._laws[key] = law / law.sum()
        return self._laws[key]

    def tally(self, rng: np.random.Generator, groups: Counts) -> Tally:
        """One collection: so many people of each group, who are like that."""
        total = Tally(self.plan)
        for group, (people, guess) in groups.items():
            counts = rng.multinomial(people, self._law(guess))
            opened = {"group": np.full(len(counts), group)} if self.plan.policy.open else {}
            total.add({"menu": self._menu, "answer": self._answer, "count": counts, **opened})
        return total


Found = Iterator[tuple[Any, float]]  # an estimate and its truth


def trends(rng: np.random.Generator, collections: int) -> Found:
    """Differences of two waves of different people."""
    features = {"smoker": {"type": "binary", "delta": 0.5}, "age": {"type": "numeric", "bounds": [0, 100]}}
    draw = Drawing(make_plan(Policy(epsilon=2, correlation=0.2, features=features)))
    before, after = {"smoker": 0.3, "age": 40.0}, {"smoker": 0.22, "age": 43.0}
    for _ in range(collections):
        one, two = (estimate(draw.tally(rng, {0: (20_000, guess)})) for guess in (before, after))
        for name in features:
            yield two.means[name] - one.means[name], after[name] - before[name]


def waves(rng: np.random.Generator, collections: int) -> Found:
    """Slopes over three waves of different sizes, unequally far apart, and all waves together."""
    features = {"smoker": {"type": "binary", "delta": 0.5}, "age": {"type": "numeric", "bounds": [0, 100]}}
    draw = Drawing(make_plan(Policy(epsilon=2, correlation=0.2, features=features)))
    sizes = {2021: 20_000, 2022: 5_000, 2025: 35_000}
    guess = {
        2021: {"smoker": 0.3, "age": 40.0},
        2022: {"smoker": 0.22, "age": 43.0},
        2025: {"smoker": 0.2, "age": 44.0},
    }
    people = sum(sizes.values())
    means = {name: [guess[year][name] for year in sizes] for name in features}
    line = {name: float(np.polyfit(list(sizes), told, 1)[0]) for name, told in means.items()}
    whole = {name: sum(sizes[year] * guess[year][name] for year in sizes) / people for name in features}
    for _ in range(collections):
        found = estimate_waves({year: draw.tally(rng, {0: (size, guess[year])}) for year, size in sizes.items()})
        for trend in found.trends:
            name = trend.row.name
            yield trend.slope, line[name]
            yield trend.all_people, whole[name]
            yield trend.all_waves, float(np.mean(means[name]))


def weighted(rng: np.random.Generator, collections: int) -> Found:
    """Post-stratified means."""
    return _by_region(rng, collections, lambda: rng.multinomial(20_000, list(ASKED.values())))


def stratified(rng: np.random.Generator, collections: int) -> Found:
    """Means of strata whose sizes the design fixed."""
    sizes = np.array([20_000 * share for share in ASKED.values()])
    return _by_region(rng, collections, lambda: sizes, strata=["region"])


def _by_region(rng: np.random.Generator, collections: int, sizes: Callable[[], np.ndarray], **how: Any) -> Found:
    features = {
        "smoker": {"type": "binary", "delta": 0.5},
        "age": {"type": "numeric", "bounds": [0, 100]},
        "region": {"type": "open", "values": REGIONS},
    }
    draw = Drawing(make_plan(Policy(epsilon=2, correlation=0.2, features=features)))
    population = {"region": REGIONS, "people": [SHARES[region] for region in REGIONS]}
    truth = {"smoker": sum(SHARES[r] * SMOKE[r] for r in REGIONS), "age": sum(SHARES[r] * AGE[r] for r in REGIONS)}
    for _ in range(collections):
        groups: Counts = {
            number: (int(size), {"smoker": SMOKE[region], "age": AGE[region]})
            for number, (region, size) in enumerate(zip(REGIONS, sizes(), strict=True))
        }
        found = estimate(draw.tally(rng, groups), weights=[population], **how)
        for name, true in truth.items():
            yield found.means[name], true


def tiers(rng: np.random.Generator, collections: int) -> Found:
    """Tier-stratified means, under selection."""
    plans = make_tiers(Policy(epsilon=2, features={"smoker": {"type": "binary"}}), {"strict": {"smoker": 0.2}, "a": {}})
    draws = {name: Drawing(plan) for name, plan in plans.items()}
    for _ in range(collections):
        strict = int(rng.binomial(20_000, 0.3))
        people = {"strict": (strict, 0.35), "a": (20_000 - strict, 0.25)}
        tallies = {name: draw.tally(rng, {0: (people[name][0], {"smoker": people[name][1]})})
                   for name, draw in draws.items()}  # fmt: skip
        yield estimate_tiers(tallies).stratified["smoker",], 0.3 * 0.35 + 0.7 * 0.25


def answered(rng: np.random.Generator, collections: int) -> Found:
    """Means and shares among those who answered, where a quarter to a third did not; and of all people, at the ends."""
    features = {
        "smoker": {"type": "binary", "delta": 0.5, "missing": "own"},
        "income": {"type": "numeric", "bounds": [0, 100], "missing": "own"},
        "party": {"type": "categorical", "values": ["a", "b", "c"], "missing": "own"},
    }
    draw = Drawing(make_plan(Policy(epsilon=2, correlation=0.2, features=features)))
    guess = {
        "smoker": {0: 0.5, 1: 0.2, "no answer": 0.3},
        "income": {"mean": 35.0, "no answer": 0.25},
        "party": {"a": 0.4, "b": 0.2, "c": 0.1, "no answer": 0.3},
    }
    for _ in range(collections):
        found = estimate(draw.tally(rng, {0: (20_000, guess)}))
        yield found.means["smoker"], 0.2 / 0.7
        yield found.means["income"], 35.0
        yield found.means["income"].lowest, 0.75 * 35.0
        yield found.means["income"].highest, 0.75 * 35.0 + 25
        yield found.frequencies["party"]["c"].among, 0.1 / 0.7
        yield found.frequencies["party"]["c"].highest, 0.4


MIXED = {
    "smoker": {"type": "binary"},
    "income": {"type": "numeric", "bounds": [0, 100]},
    "party": {"type": "categorical", "values": ["a", "b", "c", "d", "e"]},
}
PARTIES = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.08, "e": 0.02}
BATCHES = (3_000, 3_500, 8_000)
RELAY = {"url": "https://relay.example.org/", "key": f"010020{'ab' * 32}000400010001"}


def _mixed_plan(epsilon: float) -> Plan:
    counts = {"people": 3_000, "honest": 0.9, "epsilon": 1}
    return make_plan(Policy(epsilon=epsilon, features=MIXED, trust="relay", relay=RELAY, counts=counts))


def _of_batches(found: Any) -> Found:
    yield found.means["smoker"], 0.3
    yield found.means["income"], 35.0
    for value in "ace":
        yield found.frequencies["party"][value], PARTIES[value]


def mixed(rng: np.random.Generator, collections: int) -> Found:
    """Three batches that a relay mixed, counted together, of a plan at the high local levels that batches allow."""
    draw = Drawing(_mixed_plan(4))
    assert messages_each(draw.plan) == 1
    guess = {"smoker": 0.3, "income": 35.0, "party": PARTIES}
    for _ in range(collections):
        one, two, three = (draw.tally(rng, {0: (size, guess)}) for size in BATCHES)
        yield from _of_batches(estimate(one + two + three))


def _of_messages(rng: np.random.Generator, collections: int) -> Iterator[Any]:
    """The same with a message for each feature, of people whose answers go together: smokers earn less."""
    plan = _mixed_plan(20)
    assert messages_each(plan) == 3
    for _ in range(collections):
        total = Tally(plan)
        for size in BATCHES:
            smoker = (rng.random(size) < 0.3).astype(int)
            income = np.where(smoker == 1, 14.0, 44.0) + rng.uniform(-10, 10, size)
            party = np.where(income > 50, "a", rng.choice(list(PARTIES), size=size, p=POORER))
            total.add(privatize(plan, {"smoker": smoker, "income": income, "party": party}))
        yield estimate(total)


RICHER = 0.7 * 4 / 20  # all of them vote for a
POORER = [((share - RICHER) if value == "a" else share) / (1 - RICHER) for value, share in PARTIES.items()]


def messages(rng: np.random.Generator, collections: int) -> Found:
    """Means and shares of mixed batches, each feature in a message of its own."""
    for found in _of_messages(rng, collections):
        yield from _of_batches(found)


def between_messages(rng: np.random.Generator, collections: int) -> Found:
    """Differences and sums of estimates from different messages."""
    for found in _of_messages(rng, collections):
        yield found.means["smoker"] - found.frequencies["party"]["a"], 0.3 - PARTIES["a"]
        yield found.means["income"] + found.means["smoker"], 35.3


KINDS: dict[str, Callable[[np.random.Generator, int], Found]] = {
    "trend differences": trends,
    "slopes and pooled means": waves,
    "post-stratified means": weighted,
    "strata of fixed sizes": stratified,
    "tier-stratified means": tiers,
    "among those who answered": answered,
    "mixed batches": mixed,
    "mixed batches of several messages": messages,
    "differences between messages": between_messages,
}
CAUTIOUS = {"differences between messages"}  # by the Cauchy-Schwarz inequality


def coverage(kind: str, collections: int, seed: int = 1) -> tuple[float, int]:
    """The share of intervals that held the truth, and how many there were."""
    held = [one.low <= truth <= one.high for one, truth in KINDS[kind](np.random.default_rng(seed), collections)]
    return float(np.mean(held)), len(held)


def main() -> None:
    """Prints the coverage of each kind."""
    collections = int((*sys.argv[1:], "2000")[0])
    wrong = False
    for kind in KINDS:
        share, intervals = coverage(kind, collections)
        print(f"{kind}: {100 * share:.1f}% of {intervals:,} intervals")
        wrong |= share < TARGET - TOLERANCE or (share > TARGET + TOLERANCE and kind not in CAUTIOUS)
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
