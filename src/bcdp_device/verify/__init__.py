"""What a suspicious person's device runs before it answers: a plan's levels, recomputed from its JSON alone.

A second implementation on purpose. It shares no code with the planner, the tables or the plan's own certificate, and
needs only Python's integers and fractions: weights are read from the tables, `q` from the stated correlation, and every
level is the maximum over the menus of the exact certificate (theory.md, section 4), rounded up. What every reader
of plans refuses stands in vectors/README.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bcdp_device.errors import InputError, refuse
from bcdp_device.panels import Calendar
from bcdp_device.verify.collection import Collection, Feature, read_collection
from bcdp_device.verify.correlation import Correlation, read_correlation
from bcdp_device.verify.counts import untrue_counts
from bcdp_device.verify.levels import Levels, cascade_levels, survey_levels
from bcdp_device.verify.panel import read_panel, read_waves, repeated
from bcdp_device.verify.questions import Menu, linked, read_channels, read_menus, sends_all
from bcdp_device.verify.values import check_seen, mapping, number

FORMAT = 1  # the version of the plan's format
KEYS = ("bcdp", "mechanism", "collection", "correlation", "tables", "questions", "menus", "channels", "certificate")
CERTIFICATE_KEYS = ("epsilon", "features", "objective", "optimality_gap")
CLAIM_KEYS = ("asked", "certified", "c")


@dataclass(frozen=True)
class Verdict:
    """The levels of a plan in nats, rounded up, and in one sentence each what is above a claim or a person's limit."""

    epsilon: float
    c: Mapping[str, float]
    delta: Mapping[str, float]
    objections: tuple[str, ...]
    ranges: Mapping[str, Sequence[float]]  # the numbers of which delta covers guesses of the range only; its cuts

    @property
    def acceptable(self) -> bool:
        """Whether the plan claims the truth and keeps every limit."""
        return not self.objections


def verify_limits(
    plan: str | Mapping[str, Any], max_epsilon: float = math.inf, max_delta: Mapping[str, float] | None = None
) -> Verdict:
    """The levels of a plan, given as JSON text or as a mapping, and whether they keep a person's own limits.

    What the plan claims of itself is not believed: a claim below the computed level is an objection. A document that no
    device could execute is refused. Features that the limits do not name may have any level.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=2, features={"smoker": {"type": "binary"}}))
    >>> verify_limits(plan.text, max_epsilon=2.0, max_delta={"smoker": 1.0}).objections
    ('delta of smoker is 2, above the limit 1',)
    """
    return read(plan, max_epsilon, max_delta).verdict


@dataclass(frozen=True)
class Reading:
    """A plan's document, checked in every part: what it collects, what its menus ask, and its levels."""

    document: Mapping[str, Any]
    collection: Collection
    correlation: Correlation
    menus: Sequence[Menu]  # none in a cascade
    verdict: Verdict
    panel: Calendar | None
    waves: Sequence[int]  # of a panel's menus


def read(
    plan: str | Mapping[str, Any], max_epsilon: float = math.inf, max_delta: Mapping[str, float] | None = None
) -> Reading:
    """What `verify_limits` reads, with its verdict."""
    document = _document(plan)
    for part in ("collection", "correlation"):  # all other words are names that these state, or the format's own
        check_seen(part, document[part])
    collection = read_collection(document["collection"])
    panel = None
    if "panel" in document["collection"]:
        panel = read_panel(document["collection"], collection.features)
        collection = replace(collection, features=repeated(collection.features))
    _check_limits(max_epsilon, max_delta or {}, collection)
    correlation = read_correlation(document["correlation"], collection.features)
    menus = read_menus(document, collection.features) if document["mechanism"] == "survey" else []
    waves = read_waves(document, panel) if menus else []
    levels = _levels(document, menus, collection.features, correlation)
    wrong = _levels_if_wrong(document, menus, collection.features, correlation)
    if (collection.demand or panel) is not None and document["mechanism"] != "survey":
        raise refuse("mechanism", document["mechanism"], "survey, in a panel or with promises about counts")
    stated = [("epsilon", levels.epsilon, max_epsilon)]
    stated += [(f"delta of {name}", levels.delta[name], limit) for name, limit in (max_delta or {}).items()]
    above = [f"{name} is {level:.4g}, above the limit {limit:g}" for name, level, limit in stated if level > limit]
    objections = (*_untrue(document["certificate"], collection, levels, wrong), *above)
    if collection.demand is not None:
        objections += tuple(
            untrue_counts(
                document["certificate"]["counts"],
                collection.demand,
                document,
                menus,
                collection.features,
                correlation=correlation,
                levels=levels,
            )
        )
    verdict = Verdict(levels.epsilon, levels.c, levels.delta, objections, correlation.ranges)
    return Reading(document, collection, correlation, menus, verdict, panel, waves)


def _document(plan: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """The document of a plan of this version, all its parts there; a text in the canonical form."""
    if isinstance(plan, str):
        try:
            document = json.loads(plan, object_pairs_hook=_unique, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise InputError(f"plan: not JSON ({error}); accepted: a plan document") from None
    else:
        document = plan
    if mapping("plan", document).get("bcdp") != FORMAT or type(document["bcdp"]) is not int:
        raise refuse("bcdp", document.get("bcdp"), f"the version of the plan's format, {FORMAT}")
    mapping("plan", document, KEYS)
    if isinstance(plan, str) and plan != _canonical(document):
        raise InputError(
            "plan: not in canonical form; accepted: the text as `bcdp plan` wrote it, whose hash is its id"
        )
    return dict(document)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key appears twice")
    return dict(pairs)


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _canonical(document: Mapping[str, Any]) -> str:
    """The one text of a document: sorted keys, no spaces, and in the certificate no whole numbers."""
    canonical = {**document, "certificate": _as_floats(document["certificate"])}
    try:
        return json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except RecursionError:
        raise InputError("plan: objects within objects; accepted: a plan document") from None


def _as_floats(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _as_floats(value) for key, value in part.items()}
    return number("certificate", part) if type(part) is int else part


def _check_limits(max_epsilon: float, max_delta: Mapping[str, float], collection: Collection) -> None:
    if unknown := sorted(set(max_delta) - set(collection.features)):
        raise refuse("max_delta", unknown, f"features of the plan: {', '.join(collection.features)}")
    for name, limit in (("epsilon", max_epsilon), *max_delta.items()):
        if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit >= 0:
            raise refuse(f"limit of {name}", limit, "a number of at least 0")


def _levels(
    document: Mapping[str, Any], menus: Sequence[Menu], features: Mapping[str, Feature], correlation: Correlation
) -> Levels:
    if document["mechanism"] == "cascade":
        if any(feature.extras or feature.sets for feature in features.values()):
            raise refuse("mechanism", "cascade", "survey, where no answer is a value of its own or not all are asked")
        return cascade_levels(read_channels(document, features), features, correlation)
    if document["mechanism"] != "survey":
        raise refuse("mechanism", document["mechanism"], "survey or cascade")
    return survey_levels([linked(menus)] if sends_all(document) else menus, features, correlation)


def _levels_if_wrong(
    document: Mapping[str, Any], menus: Sequence[Menu], features: Mapping[str, Feature], correlation: Correlation
) -> Mapping[str, float]:
    """The levels of the features with a second demand, at its multiple of q and odds - 1; no laws are known there."""
    times = {name: feature.if_wrong.times for name, feature in features.items() if feature.if_wrong}
    if not times:
        return {}
    return _levels(document, menus, features, replace(correlation, times=times, laws={})).delta


def _untrue(stated: Any, collection: Collection, levels: Levels, wrong: Mapping[str, float]) -> Iterator[str]:
    """In one sentence each, the claims that are below the computed levels, or above what was asked."""
    keys = CERTIFICATE_KEYS if collection.demand is None else (*CERTIFICATE_KEYS, "counts")
    certificate = mapping("certificate", stated, keys)
    for key in ("objective", "optimality_gap"):
        if certificate[key] is not None:
            number(f"certificate.{key}", certificate[key])
    yield from _objections("epsilon", levels.epsilon, certificate["epsilon"], collection.epsilon)
    claims = mapping("certificate.features", certificate["features"], collection.features)
    for name, feature in collection.features.items():
        required = (*CLAIM_KEYS, "if_wrong") if feature.if_wrong else CLAIM_KEYS
        claim = mapping(f"certificate.features.{name}", claims[name], required, ("items",) if feature.items else ())
        if number(f"certificate.features.{name}.asked", claim["asked"], 0) != feature.delta:
            raise refuse(f"certificate.features.{name}.asked", claim["asked"], f"the policy's delta {feature.delta}")
        yield from _objections(f"delta of {name}", levels.delta[name], claim["certified"], feature.delta)
        yield from _objections(f"c of {name}", levels.c[name], claim["c"], math.inf)
        if feature.if_wrong:
            second = f"delta of {name} at {feature.if_wrong.times:g} times q and odds - 1"
            yield from _objections(second, wrong[name], claim["if_wrong"], feature.if_wrong.asked)
        stated_items = mapping(f"certificate.features.{name}.items", claim.get("items", {}), feature.items)
        for item, (_, asked) in feature.items.items():
            path = f"certificate.features.{name}.items.{item}"
            own = mapping(path, stated_items[item], CLAIM_KEYS)
            if number(f"{path}.asked", own["asked"], 0) != asked:
                raise refuse(f"{path}.asked", own["asked"], f"the policy's delta {asked}")
            c, delta = levels.items[name, item]
            yield from _objections(f"delta of {item} of {name}", delta, own["certified"], asked)
            yield from _objections(f"c of {item} of {name}", c, own["c"], math.inf)


def _objections(name: str, level: float, claimed: Any, asked: float) -> Iterator[str]:
    if level > number(f"certificate, {name}", claimed, 0):
        yield f"{name} is {level:.4g}, above the {claimed:.4g} that the plan claims"
    if claimed > asked:
        yield f"{name} is claimed to be {claimed:.4g}, above the {asked:.4g} that was asked"
