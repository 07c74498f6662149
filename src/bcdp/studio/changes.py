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
    kept = [task for one in document.get("tasks", ()) if (task := _without(one, name))]
    named = document.get("correlation", 1)
    correlation = {k: v for k, v in named.items() if k != name} if isinstance(named, Mapping) else named
    rest = {key: value for key, value in document.items() if key != "tasks"}
    return {**rest, "features": features, "correlation": correlation or 1, **({"tasks": kept} if kept else {})}


def _without(task: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A task without a feature; empty if it is about nothing then."""
    found = dict(task)
    for key, value in task.items():
        if value == name:
            return {}
        if isinstance(value, list) and key != "quantiles":
            left = [other for other in value if other != name]
            if len(left) < len(value) and (key == "table" or not left):
                return {}
            found[key] = left
        elif isinstance(value, Mapping):
            inner = _without(value, name)
            if not inner:
                return {}
            found[key] = inner
    return found


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
        one = stated if isinstance(stated, Mapping) and stated.keys() <= {"q", "odds"} else {}
        return {**document, "correlation": {**one, self.key: value}}


AXES = {
    "delta": Axis("delta", 0.05, 0.0, of_feature=True),
    "odds": Axis("odds", 1.2, 20.0),
    "q": Axis("q", 0.01, 1.0),
}
