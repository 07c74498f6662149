"""What one person has spent over several releases: `c` and `epsilon` add up, also adaptively; `delta` does not.

The conversion to `delta` is applied once, to the sums (docs/theory.md, section 2, composition), with a `q` that bounds
how everything asked in any of the releases depends on the feature.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bcdp.errors import InputError, refuse
from bcdp.files import written_whole
from bcdp.notions import bcdp_from
from bcdp.plan import Plan

_FORMAT = 1


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Release:
    """One thing that left the device: its LDP level and, per feature that it touched, its CDP level.

    What answered a plan also has the plan's id, the BCDP levels that the plan certifies on its own, for each feature
    the `q` that the plan states for all the others together (1 where it states none), and a digest of what the feature
    is, by which two plans' statements about it are known to speak of one thing.

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
    q: Mapping[str, float] = field(default_factory=_nothing)
    definitions: Mapping[str, str] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        stated = [("epsilon", self.epsilon), *((f"c.{feature}", level) for feature, level in self.c.items())]
        stated += [(f"delta.{feature}", level) for feature, level in self.delta.items()]
        for where, level in stated:
            if not level >= 0:
                raise refuse(f"release '{self.name}', {where}", level, "a number of at least 0")
        for feature, q in self.q.items():
            if not 0 <= q <= 1:
                raise refuse(f"release '{self.name}', q.{feature}", q, "a number from 0 to 1")
        if not isinstance(self.definitions, Mapping):
            raise refuse(f"release '{self.name}', definitions", self.definitions, "a digest for each feature")


def release_of(plan: Plan, date: str = "", name: str = "") -> Release:
    """What answering a plan once costs, by its certificate, which is verified first."""
    plan.verify()
    claims, names = plan.certificate, frozenset(plan.certificate.features)
    return Release(
        name or plan.id[:12],
        claims.epsilon,
        {feature: claim.c for feature, claim in claims.features.items()},
        plan.id,
        date,
        {feature: claim.certified for feature, claim in claims.features.items()},
        {feature: plan.correlation_model.q(feature, names - {feature}) for feature in claims.features},
        {feature: _definition(plan, feature) for feature in claims.features},
    )


def _definition(plan: Plan, name: str) -> str:
    """A digest of what a plan takes a feature to be: equal for two plans if they code the same thing.

    A measured `q` may speak of a number rounded at random once. Each plan rounds anew, so that is never the same thing.
    """
    document = plan.policy.features[name].definition
    if name in plan.correlation.get("rounded", []):
        document["rounded"] = plan.id
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Limits:
    """What a person is willing to spend in all, in nats; a feature that is not named has no limit of its own."""

    epsilon: float = math.inf
    delta: Mapping[str, float] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        for where, level in (("epsilon", self.epsilon), *((f"delta.{name}", d) for name, d in self.delta.items())):
            if isinstance(level, bool) or not isinstance(level, int | float) or not level >= 0:
                raise refuse(f"limits.{where}", level, "a number of at least 0")


@dataclass(frozen=True)
class Ledger:
    """The releases of one person so far, and the person's limits; adding a release gives a new ledger.

    >>> spent = Ledger().add(Release("spring", 1.0, {"smoker": 0.1})).add(Release("autumn", 1.0, {"income": 0.3}))
    >>> spent.epsilon, spent.c("smoker"), round(spent.delta("smoker", q=0.05), 3)
    (2.0, 0.1, 0.35)
    """

    releases: tuple[Release, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def add(self, release: Release) -> Ledger:
        """The ledger with one more release, whatever that release depended on before it.

        A plan that was answered already adds nothing, because a device keeps its answer. A release that would exceed
        the limits is refused.
        """
        if self.holds(release.plan):
            return self
        more = replace(self, releases=(*self.releases, release))
        if objections := more.objections():
            raise InputError(f"release '{release.name}': {'; '.join(objections)}; accepted: what the limits leave")
        return more

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

    def q(self, feature: str) -> float:
        """The largest q that the releases state; 1 if they are about different things, whose joint law nobody bounds.

        Things are the same if the features have the same names and the same definitions, as far as a `q` depends on it.
        """
        stated = max((release.q.get(feature, 1.0) for release in self.releases), default=0.0)
        first = self.releases[0].definitions if self.releases else {}
        alike = all(release.definitions == first and release.c.keys() <= first.keys() for release in self.releases)
        return stated if alike or len(self.releases) < 2 else 1.0

    def delta(self, feature: str, q: float | None = None) -> float:
        """The BCDP level of everything together, `q` bounding how the other features asked depend on this one.

        Without a `q` the releases' own are used, and a single plan counts as it is certified.
        """
        if q is None and len(self.releases) == 1 and feature in self.releases[0].delta:
            return self.releases[0].delta[feature]
        level = float(bcdp_from(self.c(feature), self.epsilon, self.q(feature) if q is None else q))
        exact = level in (0.0, self.c(feature), self.epsilon)
        return level if exact else min(level * (1 + 1e-12), self.epsilon)  # above the rounding errors of the formula

    def objections(self) -> tuple[str, ...]:
        """What exceeds the limits, one sentence each."""
        stated = [("epsilon", self.epsilon, self.limits.epsilon)]
        stated += [(f"delta of {name}", self.delta(name), limit) for name, limit in self.limits.delta.items()]
        return tuple(
            f"{name} would be {spent:.4g}, above the limit {limit:g}" for name, spent, limit in stated if spent > limit
        )

    def save(self, path: str | Path) -> None:
        """Writes the ledger as JSON, whole or not at all."""
        most = self.limits.epsilon if self.limits.epsilon < math.inf else None
        document = {
            "bcdp_ledger": _FORMAT,
            "limits": {"epsilon": most, "delta": dict(self.limits.delta)},
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
        if document["bcdp_ledger"] != _FORMAT or set(document) != {"bcdp_ledger", "limits", "releases"}:
            raise refuse("bcdp_ledger", document["bcdp_ledger"], f"format {_FORMAT}")
        stated = document["limits"]
        limits = Limits(math.inf if stated["epsilon"] is None else stated["epsilon"], dict(stated["delta"]))
        return cls(tuple(Release(**release) for release in document["releases"]), limits)


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
