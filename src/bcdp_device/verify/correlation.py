"""What a plan states of the correlation of its features: the one thing that a device takes as an assumption."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bcdp_device.errors import refuse
from bcdp_device.verify.collection import Feature
from bcdp_device.verify.values import at_least_1, mapping, names, rising, sequence, share, text

KEYS = {
    "per feature": (("kind", "default", "named", "source"), ("odds",)),
    "listed": (("kind", "bounds", "source"), ("laws", "rounded", "products", "ranges", "odds", "cuts")),
}
FARTHEST_FROM_1 = Fraction(1, 2**30)  # the sum of a law, whose probabilities are doubles

Law = tuple[int, ...]  # probabilities up to a common factor
Bounds = Mapping[tuple[str, frozenset[str]], Fraction]


@dataclass(frozen=True)
class Correlation:
    """What a plan states for a feature and a set of others: q is 1 if it states none, 0 for no others."""

    default: Fraction = Fraction(1)
    named: Mapping[str, Fraction] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=dict)
    products: Bounds = field(default_factory=dict)
    laws: Mapping[tuple[str, str], Sequence[Law]] = field(default_factory=dict)
    rounded: frozenset[str] = frozenset()
    ranges: Mapping[str, Sequence[float]] = field(default_factory=dict)  # numbers, as given, seen by these alone
    usual_odds: Fraction | None = None
    odds_of: Mapping[str, Fraction] = field(default_factory=dict)
    odds_given: Bounds = field(default_factory=dict)
    cuts: Mapping[str, frozenset[float]] = field(default_factory=dict)  # numbers, as others, that q tells apart there
    times: Mapping[str, float] = field(default_factory=dict)  # by which q and odds - 1 of some features are multiplied

    @property
    def sets_differ(self) -> bool:
        """Whether anything is stated of a feature and some others that is not stated of it and any others."""
        return bool(self.bounds or self.products or self.laws or self.rounded or self.odds_given)

    def q(self, name: str, others: frozenset[str], seen: str) -> Fraction:
        """The bound for answers that see the numbers among the others in this way (`questions.Question.sees`)."""
        stated = self._stated_q(name, others, seen)
        return Fraction(min(1.0, self.times[name] * float(stated))) if name in self.times else stated

    def _stated_q(self, name: str, others: frozenset[str], seen: str) -> Fraction:
        if not others:
            return Fraction(0)
        if seen == "multiplied":
            return self.products.get((name, others), Fraction(1))
        if seen == "as they are" and others & self.rounded:
            return Fraction(1)
        return self.bounds.get((name, others), self.named.get(name, self.default))

    def odds(self, name: str, others: frozenset[str], seen: str) -> Fraction | None:
        """How many times answers that see the others so could move the odds of a guess: None if nothing is stated."""
        stated = self._stated_odds(name, others, seen)
        if stated is None or name not in self.times:
            return stated
        larger = 1 + self.times[name] * (float(stated) - 1)
        return None if math.isinf(larger) else Fraction(larger)

    def _stated_odds(self, name: str, others: frozenset[str], seen: str) -> Fraction | None:
        if seen == "multiplied" or (seen in ("in steps", "as they are") and others & self.rounded):
            return None
        larger = [odds for (feature, known), odds in self.odds_given.items() if feature == name and others <= known]
        return min(larger, default=self.odds_of.get(name, self.usual_odds))


def read_correlation(stated: Any, features: Mapping[str, Feature]) -> Correlation:
    """The assumption that a plan states."""
    kind = mapping("correlation", stated).get("kind")
    if not isinstance(kind, str) or kind not in KEYS:
        raise refuse("correlation.kind", kind, "'per feature' or 'listed'")
    mapping("correlation", stated, *KEYS[kind])
    text("correlation.source", stated["source"])
    if kind == "per feature":
        named = mapping("correlation.named", stated["named"])
        return Correlation(
            share("correlation.default", stated["default"]),
            {text("correlation.named", name): share(f"correlation.named.{name}", q) for name, q in named.items()},
            **_odds(stated["odds"]) if "odds" in stated else {},
        )
    return Correlation(
        bounds=_bounds("correlation.bounds", stated["bounds"]),
        products=_bounds("correlation.products", stated.get("products", [])),
        laws=_laws(stated.get("laws", []), features),
        rounded=_rounded(stated["rounded"], features) if "rounded" in stated else frozenset(),
        ranges=_ranges(stated["ranges"], features) if "ranges" in stated else {},
        odds_given=_bounds("correlation.odds", stated.get("odds", []), at_least_1),
        cuts=_cuts(stated["cuts"], features) if "cuts" in stated else {},
    )


def _odds(stated: Any) -> dict[str, Any]:
    path = "correlation.odds"
    if not mapping(path, stated, (), ("default", "named")):
        raise refuse(path, stated, "default or named or both")
    named = mapping(f"{path}.named", stated.get("named", {}))
    usual = at_least_1(f"{path}.default", stated["default"]) if "default" in stated else None
    return {"usual_odds": usual, "odds_of": {text(path, name): at_least_1(path, odds) for name, odds in named.items()}}


def _rounded(stated: Any, features: Mapping[str, Feature]) -> frozenset[str]:
    """All numbers are seen through one rounding or none is: among factors, whatever is not marked counts as a sign."""
    numbers = [name for name, feature in features.items() if feature.kind == "numeric"]
    return frozenset(names("correlation.rounded", stated, numbers, max(1, len(numbers))))


def _ranges(stated: Any, features: Mapping[str, Feature]) -> dict[str, tuple[float, ...]]:
    """The ranges that the bounds speak of, which are those of the features."""
    ranges = {}
    for name, cuts in mapping("correlation.ranges", stated).items():
        path, known = f"correlation.ranges.{name}", features[name].number if name in features else None
        if known is None or rising(path, cuts, *known.bounds) != known.cuts:
            raise refuse(path, cuts, "the ranges of a numeric feature, as it states them")
        ranges[name] = known.cuts
    if not ranges:
        raise refuse("correlation.ranges", stated, "at least one number")
    return ranges


def _cuts(stated: Any, features: Mapping[str, Feature]) -> dict[str, frozenset[float]]:
    """At which cuts bounds tell numbers apart, as others."""
    cuts_by_name = {}
    for name, cuts in mapping("correlation.cuts", stated).items():
        known = features[name].number if name in features else None
        if known is None:
            raise refuse(f"correlation.cuts.{name}", cuts, "cuts of a numeric feature")
        cuts_by_name[name] = frozenset(rising(f"correlation.cuts.{name}", cuts, *known.bounds))
    if not cuts_by_name:
        raise refuse("correlation.cuts", stated, "at least one number")
    return cuts_by_name


def _bounds(path: str, stated: Any, read: Callable[[str, Any], Fraction] = share) -> Bounds:
    rows = [tuple(sequence(path, row)) for row in sequence(path, stated)]
    if any(len(row) != 3 for row in rows):
        raise refuse(path, stated, "rows of [feature, [other features], number]")
    bounds = {
        (text(path, name), frozenset(text(path, other) for other in sequence(path, others))): read(path, most)
        for name, others, most in rows
    }
    if len(bounds) < len(rows):
        raise refuse(path, stated, "each feature and set of others once")
    return bounds


def _laws(stated: Any, features: Mapping[str, Feature]) -> dict[tuple[str, str], Sequence[Law]]:
    path, result = "correlation.laws", dict[tuple[str, str], Sequence[Law]]()
    for row in sequence(path, stated):
        if len(sequence(path, row)) != 3:
            raise refuse(path, row, "rows of [feature, other feature, laws]")
        name, about = (text(path, feature) for feature in row[:2])
        laws = [_law(path, law) for law in sequence(path, row[2], 1)]
        if name == about or (name, about) in result or any(len(law) != len(laws[0]) for law in laws):
            raise refuse(path, row, "laws of one length, each feature and another feature once")
        if about in features and features[about].values != len(laws[0]):
            raise refuse(f"{path} of {about}", f"{len(laws[0])} values", "one share for each value, and no numbers")
        result[name, about] = laws
    return result


def _law(path: str, stated: Any) -> Law:
    shares = [share(path, p) for p in sequence(path, stated)]
    if abs(sum(shares, start=Fraction(0)) - 1) > FARTHEST_FROM_1:
        raise refuse(path, stated, "probabilities that sum to 1")
    common = math.lcm(*(p.denominator for p in shares))
    return tuple(int(p * common) for p in shares)
