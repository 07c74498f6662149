"""A known distribution of the features: every bound is computed from it (theory.md, section 1)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bcdp.correlation.models import ROUNDING, Array, Correlation, Sets, Unrounded, listed
from bcdp.errors import InputError
from bcdp.notions import largest_ratio, total_variation


@dataclass(frozen=True)
class FinitePrior(Unrounded):
    """A known distribution of binary and categorical features: every bound is exact (theory.md, section 1).

    >>> prior = FinitePrior(("sick", "old"), np.array([[0.4, 0.1], [0.1, 0.4]]), "example")
    >>> round(prior.q("sick", {"old"}), 6), prior.laws("sick", "old").round(6).tolist()
    (0.6, [[0.8, 0.2], [0.2, 0.8]])
    >>> round(prior.odds("sick", {"old"}), 6)
    4.0
    """

    names: tuple[str, ...]
    probabilities: Array
    source: str
    missing: Mapping[str, int] = field(default_factory=dict)  # features whose last state is "missing", coded as this
    unknown: frozenset[str] = frozenset()  # features that may be missing, though the prior does not say when

    def q(self, feature: str, others: Collection[str]) -> float:
        if not self._knows(feature, others):
            return 1.0 if others else 0.0
        return min(1.0, float(total_variation(self._given(feature, others)).max()) + ROUNDING) if others else 0.0

    def odds(self, feature: str, others: Collection[str]) -> float:
        if not others:
            return 1.0
        return (
            largest_ratio(self._given(feature, others)) * (1 + ROUNDING) if self._knows(feature, others) else math.inf
        )

    def laws(self, feature: str, other: str) -> Array | None:
        if feature == other or not self._knows(feature, {other}):
            return None
        laws = self._given(feature, {other})
        two = laws.shape[1] == 2 and len(laws) > 2  # of two values all distributions are mixtures of the extreme ones
        return laws[[int(laws[:, 1].argmin()), int(laws[:, 1].argmax())]] if two else laws

    @property
    def coded(self) -> Array:
        """The distribution of the records as devices code them: what is missing has its imputed value."""
        return self._as_coded(self.probabilities, self.names)

    def _knows(self, feature: str, others: Collection[str]) -> bool:
        return feature not in self.unknown and frozenset(self.names).issuperset({feature, *others})

    def _given(self, feature: str, others: Collection[str]) -> Array:
        """The distribution of the others, as they are coded, for each value of the feature that can occur."""
        kept = [axis for axis, name in enumerate(self.names) if name == feature or name in others]
        names = [self.names[axis] for axis in kept]
        table = np.moveaxis(self._marginal(tuple(kept)), names.index(feature), 0)
        table = self._as_coded(table, [feature, *(name for name in names if name != feature)], others)
        table = table.reshape(len(table), -1)
        mass = table.sum(axis=1, keepdims=True)
        return np.asarray(table[mass[:, 0] > 0] / mass[mass[:, 0] > 0])

    def _as_coded(self, table: Array, names: Sequence[str], asked: Collection[str] | None = None) -> Array:
        """The table with "missing" of the features asked (by default of all) added to their imputed values."""
        for axis, name in enumerate(names):
            if name in self.missing and (asked is None or name in asked):
                table = np.moveaxis(table, axis, 0)
                missing, table = table[-1], table[:-1].copy()
                table[self.missing[name]] += missing
                table = np.moveaxis(table, 0, axis)
        return table

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
