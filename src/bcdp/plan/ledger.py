"""What one person has spent over several releases: `c` and `epsilon` add up, also adaptively; `delta` does not.

The conversion to `delta` is applied once, to the sums (docs/theory.md, section 2, composition), with a `q` and odds
that bound how everything else asked in any of the releases, taken together, goes with the feature. No plan states them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bcdp.errors import InputError, expect, refuse
from bcdp.files import written_whole
from bcdp.notions import bcdp_from
from bcdp.plan import A_PLAN, Plan

_FORMAT = 2  # format 1 had no q of the person, and digests by which plans were compared


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Release:
    """One thing that left the device: its LDP level and, per feature that it touched, its CDP level.

    What answered a plan also has the plan's id, the BCDP levels that the plan certifies on its own, and for each
    feature the `q` that the plan states for all the others together (1 where it states none).

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

    def __post_init__(self) -> None:
        stated = [("epsilon", self.epsilon), *((f"c.{feature}", level) for feature, level in self.c.items())]
        stated += [(f"delta.{feature}", level) for feature, level in self.delta.items()]
        for where, level in stated:
            if not level >= 0:
                raise refuse(f"release '{self.name}', {where}", level, "a number of at least 0")
        for feature, q in self.q.items():
            _check_q(f"release '{self.name}', q.{feature}", q)


def release_of(plan: Plan, date: str = "", name: str = "") -> Release:
    """What answering a plan once costs, by its certificate, which is verified first."""
    expect("plan", plan, Plan, A_PLAN)
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
    )


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

    `q` and `odds` are the person's own statements, one number or one for each feature: they bound how everything else
    asked in any of the releases, taken together, depends on the feature. Without them several releases count with
    `q = 1` and no limit on odds.

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

    def add(self, release: Release) -> Ledger:
        """The ledger with one more release, whatever that release depended on before it.

        A plan that was answered already adds nothing, because a device keeps its answer. A release that would exceed
        the limits is refused.
        """
        expect("release", release, Release, "a Release, for example release_of(plan)")
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

    def q_of(self, feature: str) -> float:
        """The q that counts: the person's; else that of a single release; else 1.

        Each plan's q is about what that plan asks. Nothing in two plans says how both depend on a feature together.
        """
        alone = self.releases[0].q.get(feature, 1.0) if len(self.releases) == 1 else 1.0
        return _of(self.q, feature, alone)

    def odds_of(self, feature: str) -> float:
        """The odds that count: the person's; else without a limit."""
        return _of(self.odds, feature, math.inf)

    def _states(self, feature: str) -> bool:
        """Whether the person has stated anything about a feature."""
        return any(not isinstance(stated, Mapping) or feature in stated for stated in (self.q, self.odds))

    def delta(self, feature: str, q: float | None = None) -> float:
        """The BCDP level of everything together, `q` bounding how everything else asked depends on this feature.

        Without a `q` it is `q_of(feature)`, and a single plan counts as it is certified.
        """
        certified = self.releases[0].delta if len(self.releases) == 1 and not self._states(feature) else {}
        if q is None and feature in certified:
            return certified[feature]
        assumed = self.q_of(feature) if q is None else q
        level = float(bcdp_from(self.c(feature), self.epsilon, assumed, self.odds_of(feature)))
        exact = level in (0.0, self.c(feature), self.epsilon)
        return level if exact else min(level * (1 + 1e-12), self.epsilon)  # above the rounding errors of the formula

    def objections(self) -> tuple[str, ...]:
        """What exceeds the limits, one sentence each."""
        stated = [("epsilon", self.epsilon, self.limits.epsilon)]
        for name, limit in self.limits.delta.items():
            unstated = len(self.releases) > 1 and not self._states(name)
            reason = ", because nobody has stated one for all plans together" * unstated
            most = f", odds {self.odds_of(name):g}" * (self.odds_of(name) < math.inf)
            stated.append((f"delta of {name} (q = {self.q_of(name):g}{most}{reason})", self.delta(name), limit))
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
        known = set(document) - ({"odds"} if version == _FORMAT else set())
        if version not in (1, _FORMAT) or known != (keys if version == 1 else keys | {"q"}):
            raise refuse("bcdp_ledger", version, f"format {_FORMAT}")
        stated, releases = document["limits"], document["releases"]
        if version == 1:
            releases = [{key: value for key, value in release.items() if key != "definitions"} for release in releases]
        limits = Limits(math.inf if stated["epsilon"] is None else stated["epsilon"], dict(stated["delta"]))
        stated_by_person = [document.get(what, _nothing()) for what in ("q", "odds")]
        return cls(tuple(Release(**release) for release in releases), limits, *stated_by_person)


def _check_q(where: str, q: object) -> None:
    if isinstance(q, bool) or not isinstance(q, int | float) or not 0 <= q <= 1:
        raise refuse(where, q, "a number from 0 to 1")


def _check_odds(where: str, odds: object) -> None:
    if isinstance(odds, bool) or not isinstance(odds, int | float) or not 1 <= odds < math.inf:
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
