"""What one person has spent over several releases: `c` and `epsilon` add up, also adaptively; `delta` does not.

Three statements bound the `delta` of everything together, and the smallest counts (theory.md, section 2,
composition): the sum of `epsilon`, with nothing assumed; what one plan certifies on its own condition plus the
`epsilon` of all others; and the conversion of the sums, with a `q` and odds that the person states.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from bcdp_device.errors import InputError, refuse
from bcdp_device.files import written_whole

_FORMAT = 3  # format 1 had no q of the person, and 2 neither menus nor open features
_DROPPED = {1: {"definitions", "q"}, 2: {"q"}}  # of releases in earlier formats: what plans stated of their features
_LARGEST_GAIN = 700.0  # whose exponential is a double
_MOST_HISTORIES = 256  # pairs of sums that are kept: beyond, neighbours are replaced by what is above both

Pairs = tuple[tuple[float, float], ...]  # the levels c and epsilon of menus, each pair above no other in both


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


class Statement(NamedTuple):
    """A bound on the BCDP level of everything together, in nats, and the condition on which it holds."""

    level: float
    condition: str


@dataclass(frozen=True)
class Release:
    """One thing that left the device: its LDP level and, per feature that it concerns, its CDP level.

    The answer to a plan also has the plan's id and the BCDP levels that the plan certifies on its own condition.
    `menus`: of a feature, the largest pairs of `c` and `epsilon` that one menu has. `open`: the features that were sent
    unprotected; None if that is not known.

    >>> spring, autumn = Release("spring", 1.0, {"smoker": 0.25}), Release("autumn", 0.5, {"smoker": 0.25})
    >>> Ledger().add(spring).add(autumn).c("smoker")
    0.5
    """

    name: str
    epsilon: float
    c: Mapping[str, float] = field(default_factory=_nothing)
    plan: str = ""
    date: str = ""
    delta: Mapping[str, float] = field(default_factory=_nothing)
    menus: Mapping[str, Pairs] = field(default_factory=_nothing)
    open: tuple[str, ...] | None = ()

    def __post_init__(self) -> None:
        stated = [("epsilon", self.epsilon), *((f"c.{feature}", level) for feature, level in self.c.items())]
        stated += [(f"delta.{feature}", level) for feature, level in self.delta.items()]
        stated += [(f"menus.{name}", level) for name, pairs in self.menus.items() for pair in pairs for level in pair]
        for where, level in stated:
            if not level >= 0:
                raise refuse(f"release '{self.name}', {where}", level, "a number of at least 0")

    def pairs(self, feature: str) -> Pairs:
        """The largest levels `c` of a feature and `epsilon` of one history of this release."""
        return self.menus.get(feature) or ((min(self.c.get(feature, 0.0), self.epsilon), self.epsilon),)

    def alone(self, feature: str) -> float:
        """The BCDP level of this release alone, on its own condition."""
        return min(self.delta.get(feature, self.epsilon), self.epsilon)


@dataclass(frozen=True)
class Limits:
    """What a person is willing to spend in all, in nats; a feature that is not named has no limit of its own."""

    epsilon: float = math.inf
    delta: Mapping[str, float] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        for where, level in (("epsilon", self.epsilon), *((f"delta.{name}", d) for name, d in self.delta.items())):
            if isinstance(level, bool) or not isinstance(level, (int, float)) or not level >= 0:
                raise refuse(f"limits.{where}", level, "a number of at least 0")


@dataclass(frozen=True)
class Ledger:
    """The releases of one person so far, and the person's limits; adding a release gives a new ledger.

    `q` and `odds` are the person's own statements, one number or one for each feature: they bound how everything else
    asked in any of the releases, taken together, depends on the feature among people with the same open values.

    >>> spent = Ledger().add(Release("spring", 1.0, {"smoker": 0.1})).add(Release("autumn", 1.0, {"income": 0.3}))
    >>> spent.epsilon, spent.c("smoker"), spent.delta("smoker"), round(spent.delta("smoker", q=0.05), 3)
    (2.0, 0.1, 2.0, 0.35)
    """

    releases: tuple[Release, ...] = ()
    limits: Limits = field(default_factory=Limits)
    q: float | Mapping[str, float] = field(default_factory=_nothing)
    odds: float | Mapping[str, float] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        for what, stated, check in (("q", self.q, _check_q), ("odds", self.odds, _check_odds)):
            each = (
                {f"{what}.{name}": x for name, x in stated.items()} if isinstance(stated, Mapping) else {what: stated}
            )
            for where, number in each.items():
                check(where, number)

    def add(self, release: Release, again: bool = False) -> Ledger:
        """The ledger with one more release, whatever that release depended on before it.

        A plan that was answered already adds nothing, because a device keeps its answer, unless it was answered
        `again`, on another device for example. A release that would exceed the limits is refused.
        """
        if not isinstance(release, Release):
            kind = type(release).__name__
            raise InputError(
                f"release: got an object of type {kind}; accepted: a Release, for example release_of(plan)"
            )
        if self.holds(release.plan) and not again:
            return self
        more = replace(self, releases=(*self.releases, release))
        if objections := more.objections():
            raise InputError(f"release '{release.name}': {'; '.join(objections)}; accepted: what the limits leave")
        return more

    def drew(self, release: Release) -> Ledger:
        """The ledger with what the menu that was drawn for a plan costs, in place of the plan's largest.

        >>> entered = Ledger().add(Release("spring", 1.0, plan="4f1c"))
        >>> entered.drew(Release("spring", 0.4, plan="4f1c")).epsilon
        0.4
        """
        entered = [number for number, known in enumerate(self.releases) if known.plan == release.plan]
        if not entered:
            raise refuse("plan", release.plan, "a plan that the ledger holds")
        releases = list(self.releases)
        releases[entered[-1]] = release
        return replace(self, releases=tuple(releases))

    def holds(self, plan: str) -> bool:
        """Whether the plan of this id was answered already."""
        return plan != "" and any(release.plan == plan for release in self.releases)

    @property
    def epsilon(self) -> float:
        """The LDP level of everything together."""
        return _sum_up(release.epsilon for release in self.releases)

    @property
    def features(self) -> tuple[str, ...]:
        """Every feature that a release or a limit names."""
        named = (feature for release in self.releases for feature in release.c)
        return tuple(dict.fromkeys([*named, *self.limits.delta]))

    def c(self, feature: str) -> float:
        """The CDP level of everything together for one feature: never above `epsilon`."""
        return _sum_up(min(release.c.get(feature, 0.0), release.epsilon) for release in self.releases)

    def q_of(self, feature: str) -> float:
        """The q that the person states, else 1: each plan's q is about what that plan asks, as it asks it."""
        return _of(self.q, feature, 1.0)

    def odds_of(self, feature: str) -> float:
        """The odds that the person states, else without a limit."""
        return _of(self.odds, feature, math.inf)

    def _states(self, feature: str) -> bool:
        """Whether the person has stated anything about a feature."""
        return any(not isinstance(stated, Mapping) or feature in stated for stated in (self.q, self.odds))

    def delta(self, feature: str, q: float | None = None) -> float:
        """The BCDP level of everything together: the smallest that is known.

        `q`, in place of the person's, bounds how everything else asked in any release depends on this feature.
        """
        return self.statement(feature, q).level

    def statement(self, feature: str, q: float | None = None) -> Statement:
        """The smallest of the levels that are known, and its condition."""
        return min(self.statements(feature, q), key=lambda statement: statement.level)

    def statements(self, feature: str, q: float | None = None) -> list[Statement]:
        """Every bound on the BCDP level of a feature that holds for everything together, each on its condition.

        Two plans may mean different things by one name, so what plans certify counts by the largest of them.
        """
        if any(feature in (release.open or ()) for release in self.releases):
            return [Statement(math.inf, "it was sent unprotected")]
        statements = [Statement(self.epsilon, "nothing assumed")]
        if asking := [number for number, release in enumerate(self.releases) if feature in release.c]:
            statements.append(Statement(max(self._on_its_condition(number, feature) for number in asking), _OF_PLANS))
        if q is not None or self._states(feature):
            statements.append(Statement(self._on_stated(feature, self.q_of(feature) if q is None else q), _OF_PERSON))
        return statements

    def _on_its_condition(self, number: int, feature: str) -> float:
        """What one plan certifies plus the epsilon of all others; open values sent with these void its condition."""
        others = [release for index, release in enumerate(self.releases) if index != number]
        own = self.releases[number]
        kept = all(release.open == () for release in others)
        return _sum_up([own.alone(feature) if kept else own.epsilon, *(release.epsilon for release in others)])

    def _on_stated(self, feature: str, q: float) -> float:
        """The largest level over all histories of menus, at a q for everything asked and the person's odds."""
        odds = self.odds_of(feature)
        _check_q("q", q)
        histories: Pairs = ((0.0, 0.0),)
        for release in self.releases:
            pairs = release.pairs(feature)
            histories = largest_pairs((_sum_up([c, d]), _sum_up([e, f])) for c, e in histories for d, f in pairs)
        return min(self.epsilon, max(_converted(c, epsilon, q, odds) for c, epsilon in histories))

    def objections(self) -> tuple[str, ...]:
        """What exceeds the limits, one sentence each."""
        stated = [("epsilon", self.epsilon, self.limits.epsilon)]
        for name, limit in self.limits.delta.items():
            level, condition = self.statement(name)
            unstated = len(self.releases) > 1 and not self._states(name)
            reason = "; you have stated no q or odds for all plans together" * unstated
            stated.append((f"delta of {name} ({condition}{reason})", level, limit))
        return tuple(
            f"{name} would be {spent:.4g}, above the limit {limit:g}" for name, spent, limit in stated if spent > limit
        )

    def save(self, path: str | Path) -> None:
        """Writes the ledger as JSON, whole or not at all."""
        most = self.limits.epsilon if self.limits.epsilon < math.inf else None
        document = {
            "bcdp_ledger": _FORMAT,
            "limits": {"epsilon": most, "delta": dict(self.limits.delta)},
            "q": _plain(self.q),
            **({"odds": _plain(self.odds)} if self.odds else {}),
            "releases": [{name: _plain(value) for name, value in vars(release).items()} for release in self.releases],
        }
        try:
            text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False)
        except ValueError:
            raise refuse("ledger", "a release of infinite level", "finite levels in a file") from None
        with written_whole(Path(path)) as draft:
            draft.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Ledger:
        """The ledger in a file; an empty one if there is no such file."""
        if not Path(path).exists():
            return cls()
        try:
            return cls._read(json.loads(Path(path).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            shown = error if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            raise InputError(f"ledger: {path} cannot be read ({shown}); accepted: a file of `bcdp ledger`") from None

    @classmethod
    def _read(cls, document: Any) -> Ledger:
        version, keys = document["bcdp_ledger"], {"bcdp_ledger", "limits", "releases"}
        known = set(document) - ({"odds"} if version != 1 else set())
        if version not in (1, 2, _FORMAT) or known != (keys if version == 1 else keys | {"q"}):
            raise refuse("bcdp_ledger", version, f"format {_FORMAT}")
        stated, releases = document["limits"], document["releases"]
        if version != _FORMAT:
            releases = [_of_earlier(release, _DROPPED[version]) for release in releases]
        limits = Limits(math.inf if stated["epsilon"] is None else stated["epsilon"], dict(stated["delta"]))
        stated_by_person = [document.get(what, _nothing()) for what in ("q", "odds")]
        return cls(tuple(map(_release, releases)), limits, *stated_by_person)


_OF_PLANS = "the condition of each plan that asks it"
_OF_PERSON = "your q and odds for everything asked"


def _of_earlier(release: Mapping[str, Any], dropped: set[str]) -> dict[str, Any]:
    """A release of an earlier format: nobody knows what a plan of it sent unprotected."""
    kept = {key: value for key, value in release.items() if key not in dropped}
    return kept | ({"open": None} if release.get("plan") else {})


def _release(document: Mapping[str, Any]) -> Release:
    menus = {name: tuple((c, epsilon) for c, epsilon in pairs) for name, pairs in document.get("menus", {}).items()}
    sent = document.get("open", ())
    return Release(**{**document, "menus": menus, "open": None if sent is None else tuple(sent)})


def largest_pairs(pairs: Iterable[tuple[float, float]]) -> Pairs:
    """The pairs that are above no other in both levels; of very many, pairs that are above them."""
    largest: list[tuple[float, float]] = []
    for c, epsilon in sorted(pairs, key=lambda pair: (-pair[1], -pair[0])):
        if not largest or c > largest[-1][0]:
            largest.append((c, epsilon))
    while len(largest) > _MOST_HISTORIES:  # c rises and epsilon falls along the list
        neighbours = (largest[start : start + 2] for start in range(0, len(largest), 2))
        largest = [(two[-1][0], two[0][1]) for two in neighbours]
    return tuple(largest)


def _converted(c: float, epsilon: float, q: float, odds: float) -> float:
    """The level that sums of c and epsilon imply (theory.md, Theorems 1 and 8), above the formula's rounding errors.

    It is `c + log(1 + X)` with `1/X = 1/(q (e^(epsilon - c) - 1)) + 1/(odds - 1)`, where odds also limit q.
    """
    if c >= epsilon or q == 0 or odds == 1:
        return min(c, epsilon)
    moved, gain = (q if odds == math.inf else min(q, (odds - 1) / (odds + 1))), epsilon - c
    if gain <= _LARGEST_GAIN:
        level = c + math.log1p(1 / (1 / (moved * math.expm1(gain)) + 1 / (odds - 1)))
    elif odds < math.inf:
        level = c + math.log(odds)  # what X is below
    else:
        free, held = epsilon + math.log(q), c + (math.log1p(-q) if q < 1 else -math.inf)
        level = free if math.isinf(free) else max(free, held) + math.log1p(math.exp(-abs(free - held)))
    return min(epsilon, math.nextafter(level * (1 + 1e-12), math.inf))


def _check_q(where: str, q: object) -> None:
    if isinstance(q, bool) or not isinstance(q, (int, float)) or not 0 <= q <= 1:
        raise refuse(where, q, "a number from 0 to 1")


def _check_odds(where: str, odds: object) -> None:
    if isinstance(odds, bool) or not isinstance(odds, (int, float)) or not 1 <= odds < math.inf:
        raise refuse(where, odds, "a finite number of at least 1")


def _of(stated: float | Mapping[str, float], feature: str, unstated: float) -> float:
    """What is stated for a feature, or for all."""
    return stated.get(feature, unstated) if isinstance(stated, Mapping) else stated


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _sum_up(levels: Iterable[float]) -> float:
    """The sum, rounded up."""
    known = list(levels)
    if math.inf in known:
        return math.inf
    exact = sum(map(Fraction, known), start=Fraction(0))
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
