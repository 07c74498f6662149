"""Correlation models: assumed numbers, listed bounds, a known prior."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError
from bcdp.notions import total_variation

Array = npt.NDArray[np.float64]
Sets = Iterable[tuple[str, frozenset[str]]]  # a feature and a set of others
Rows = tuple[tuple[float, ...], ...]

_ROUNDING = 1e-12  # a distance is a sum of at most as many rounded terms as the prior has entries


class Correlation(Protocol):
    """A bound for every feature and every set of others; 1 where nothing is known."""

    def q(self, feature: str, others: Collection[str]) -> float:
        """A bound on the distance between the laws of `others` given two values of `feature`; 0 for no others."""

    def laws(self, feature: str, other: str) -> Array | None:
        """Laws of `other`, one per row: given any value of `feature`, its law is a mixture of them; None if unknown."""

    def restricted(self, sets: Sets) -> Correlation:
        """The same bounds for the given features and sets, as a model that can be written down."""

    def to_dict(self) -> dict[str, Any]:
        """The model in plain JSON."""


@dataclass(frozen=True)
class PerFeature:
    """One bound for each feature, whatever the others; `default` for the features not named."""

    default: float
    named: Mapping[str, float]
    source: str = "assumed"

    def q(self, feature: str, others: Collection[str]) -> float:
        return self.named.get(feature, self.default) if others else 0.0

    def laws(self, feature: str, other: str) -> None:
        return None

    def restricted(self, sets: Sets) -> Correlation:
        return self

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "per feature", "default": self.default, "named": dict(self.named), "source": self.source}


@dataclass(frozen=True)
class Listed:
    """Bounds for the sets that are listed, 1 for every other set: pairs, or the sets that a plan asks together.

    `rows` has, for some pairs, the laws of the second feature given the first (docs/theory.md, section 4.5).
    """

    bounds: Mapping[tuple[str, frozenset[str]], float]
    source: str
    rows: Mapping[tuple[str, str], Rows] = field(default_factory=dict)

    def q(self, feature: str, others: Collection[str]) -> float:
        return self.bounds.get((feature, frozenset(others)), 1.0) if others else 0.0

    def laws(self, feature: str, other: str) -> Array | None:
        found = self.rows.get((feature, other))
        return None if found is None else np.array(found)

    def restricted(self, sets: Sets) -> Correlation:
        return listed(self, [question for question in sets if question in self.bounds], self.source)

    def to_dict(self) -> dict[str, Any]:
        bounds = sorted([feature, sorted(others), q] for (feature, others), q in self.bounds.items())
        laws = sorted([feature, other, [list(row) for row in rows]] for (feature, other), rows in self.rows.items())
        document = {"kind": "listed", "bounds": bounds, "source": self.source}
        return document | ({"laws": laws} if laws else {})


def listed(model: Correlation, sets: Sets, source: str) -> Listed:
    """What a model says about the given sets, written down."""
    wanted = list(sets)
    laws = {(feature, next(iter(others))): others for feature, others in wanted if len(others) == 1}
    known = {pair: model.laws(*pair) for pair in laws}
    rows = {pair: tuple(map(tuple, array.tolist())) for pair, array in known.items() if array is not None}
    return Listed({(feature, others): model.q(feature, others) for feature, others in wanted}, source, rows)


def pairwise(matrix: Mapping[str, Mapping[str, float]], source: str) -> Listed:
    """A model from a matrix `matrix[i][j]`: how far the law of feature j can move with feature i."""
    return Listed({(i, frozenset({j})): q for i, row in matrix.items() for j, q in row.items() if i != j}, source)


@dataclass(frozen=True)
class Stronger:
    """Another model's bounds times a factor, at most 1: what if the assumption was too optimistic?

    An infinite factor assumes nothing: every bound is 1.
    """

    model: Correlation
    factor: float

    def q(self, feature: str, others: Collection[str]) -> float:
        if math.isinf(self.factor):
            return 1.0 if others else 0.0
        return min(1.0, self.factor * self.model.q(feature, others))

    def laws(self, feature: str, other: str) -> None:
        return None

    def restricted(self, sets: Sets) -> Correlation:
        return Stronger(self.model.restricted(sets), self.factor)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("a stronger correlation is a question about a plan, not the assumption of one")


@dataclass(frozen=True)
class FinitePrior:
    """A known law of binary and categorical features: every bound is exact (docs/theory.md, section 1).

    >>> prior = FinitePrior(("sick", "old"), np.array([[0.4, 0.1], [0.1, 0.4]]), "example")
    >>> round(prior.q("sick", {"old"}), 6), prior.laws("sick", "old").round(6).tolist()
    (0.6, [[0.8, 0.2], [0.2, 0.8]])
    """

    names: tuple[str, ...]
    probabilities: Array
    source: str

    def q(self, feature: str, others: Collection[str]) -> float:
        known = frozenset(self.names)
        if feature not in known or not known.issuperset(others):
            return 1.0 if others else 0.0
        return min(1.0, float(total_variation(self._given(feature, others)).max()) + _ROUNDING) if others else 0.0

    def laws(self, feature: str, other: str) -> Array | None:
        if feature == other or not {feature, other} <= set(self.names):
            return None
        return hull(self._given(feature, {other}))

    def _given(self, feature: str, others: Collection[str]) -> Array:
        """The law of the others for each value of the feature that can occur."""
        kept = [axis for axis, name in enumerate(self.names) if name == feature or name in others]
        table = self._marginal(tuple(kept))
        table = np.moveaxis(table, [self.names[axis] for axis in kept].index(feature), 0)
        table = table.reshape(len(table), -1)
        mass = table.sum(axis=1, keepdims=True)
        return np.asarray(table[mass[:, 0] > 0] / mass[mass[:, 0] > 0])

    def _marginal(self, kept: tuple[int, ...]) -> Array:
        if kept not in self._marginals:
            dropped = tuple(axis for axis in range(len(self.names)) if axis not in kept)
            self._marginals[kept] = self.probabilities.sum(axis=dropped)
        return self._marginals[kept]

    @cached_property
    def _marginals(self) -> dict[tuple[int, ...], Array]:
        return {}

    def restricted(self, sets: Sets) -> Correlation:
        return listed(self, sets, self.source)

    def to_dict(self) -> dict[str, Any]:
        raise InputError(
            "a prior is written into a plan as the bounds of the sets that the plan asks; call restricted()"
        )


def hull(laws: Array) -> Array:
    """Rows of which all the given laws are mixtures: of two values only the extreme laws are needed."""
    if laws.shape[1] == 2 and len(laws) > 2:
        return laws[[int(laws[:, 1].argmin()), int(laws[:, 1].argmax())]]
    return laws
