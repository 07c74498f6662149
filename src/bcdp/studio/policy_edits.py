"""Policies that differ in one thing, as plain documents: what a slider, a curve or an advice changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bcdp.errors import refuse
from bcdp.policy import Policy

_POINTS = 9


def with_delta(document: Mapping[str, Any], name: str, delta: float) -> dict[str, Any]:
    """The policy with another delta of a feature."""
    features = document["features"]
    return {**document, "features": {**features, name: {**features[name], "delta": delta}}}


def leaving_out(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The policy without a feature, and without the tasks that need it."""
    features = {other: feature for other, feature in document["features"].items() if other != name}
    kept = [task for stated in document.get("tasks", ()) if (task := _without(stated, name))]
    correlation = _correlation_without(document.get("correlation", 1), name)
    rest = {key: value for key, value in document.items() if key != "tasks"}
    return {**rest, "features": features, "correlation": correlation or 1, **({"tasks": kept} if kept else {})}


def _correlation_without(stated: Any, name: str) -> Any:
    """What is stated of how features are associated without one of them; two numbers for all name none."""
    if not isinstance(stated, Mapping):
        return stated
    if stated.keys() <= {"q", "odds"} and not any(isinstance(part, Mapping) for part in stated.values()):
        return stated
    if isinstance(pairs := stated.get("pairs"), Mapping):
        kept = {
            feature: {k: v for k, v in others.items() if k != name}
            for feature, others in pairs.items()
            if feature != name
        }
        return {**stated, "pairs": kept}
    return {key: value for key, value in stated.items() if key != name or isinstance(value, str)}


# the keys of a task that name features: a weight or a link is no name, even if a feature is called so
_NAMING = {"mean", "frequency", "distribution", "table", "by", "regression", "target", "features", "interactions"}


def _without(task: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A task without a feature; empty if it is about nothing then."""
    changed = dict(task)
    for key, value in task.items():
        if key not in _NAMING:
            continue
        if value == name:
            return {}
        if isinstance(value, list):
            left = [other for other in value if name not in (other, *(other if isinstance(other, list) else ()))]
            if len(left) < len(value) and (key == "table" or (not left and key != "interactions")):
                return {}
            changed[key] = left
        elif isinstance(value, Mapping):
            inner = _without(value, name)
            if not inner:
                return {}
            changed[key] = inner
    return {key: value for key, value in changed.items() if value != [] or key != "interactions"}


@dataclass(frozen=True)
class Axis:
    """A number of the policy that a curve runs along, from and to; `of_feature`: each feature has its own."""

    key: str
    low: float
    high: float
    of_feature: bool = False

    def values(self, policy: Policy, feature: str | None) -> list[float]:
        """The values at which plans are made, equally far apart as factors, what the policy states among them."""
        high = policy.epsilon if self.of_feature else self.high
        low = min(self.low, high / 10)
        if self.key == "odds":  # counted from 1 on
            steps = [1 + (low - 1) * ((high - 1) / (low - 1)) ** (k / (_POINTS - 1)) for k in range(_POINTS)]
        else:
            steps = [low * (high / low) ** (k / (_POINTS - 1)) for k in range(_POINTS)]
        return [float(f"{step:.3g}") for step in steps]

    def changed(self, document: Mapping[str, Any], feature: str | None, value: float) -> dict[str, Any]:
        """The policy with this number in place of its own."""
        if self.of_feature:
            if feature not in document["features"]:
                raise refuse("feature", feature, "one of the policy's")
            return with_delta(document, str(feature), value)
        stated = document.get("correlation", 1)
        numbers = stated if isinstance(stated, Mapping) and stated.keys() <= {"q", "odds"} else {}
        return {**document, "correlation": {**numbers, self.key: value}}


AXES = {
    "delta": Axis("delta", 0.05, 0.0, of_feature=True),
    "odds": Axis("odds", 1.2, 20.0),
    "q": Axis("q", 0.01, 1.0),
}
