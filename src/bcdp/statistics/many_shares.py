"""The shares of up to a million values: each is an estimate once it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bcdp.policy import Feature
from bcdp.statistics.shared.interval import Estimate
from bcdp.statistics.shared.protocol import Array


@dataclass(frozen=True, eq=False)
class ManyShares(Mapping[Any, Estimate]):
    """The share of each value, from arrays with one entry for each; `changes` are made when one is looked at.

    Intervals have the `confidence` with which all of them hold together. The covariance of so many is not computed.
    """

    feature: Feature
    confidence: float
    answers: int
    columns: tuple[Array, Array, Array, Array, Array]  # value, standard error, both ends, unbiased
    changes: tuple[Callable[[Estimate], Estimate], ...] = ()

    def __getitem__(self, value: Any) -> Estimate:
        codes = self.feature.codes_with(value)
        matching = codes or [code for code, name in self._extras() if name == value]
        if not matching:
            raise KeyError(value)
        return self.at(matching[0])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.feature.categories)

    def __len__(self) -> int:
        return len(self.columns[0])

    def at(self, code: int) -> Estimate:
        """The share of the value with this number."""
        value, error, low, high, raw = (float(column[code]) for column in self.columns)
        share = Estimate(value, error, low, high, self.answers, raw, rule=self.feature.rule)
        for change in self.changes:
            share = change(share)
        return share

    def changed(self, change: Callable[[Any], Any]) -> ManyShares:
        """The same with every estimate changed."""
        return replace(self, changes=(*self.changes, change))

    def largest(self, count: int) -> list[tuple[Any, Estimate]]:
        """The values with the largest unbiased shares, of equal ones those listed first."""
        raw = self.columns[-1]
        least = np.partition(raw, -count)[-count] if count < len(raw) else raw.min()
        largest = np.flatnonzero(raw >= least)
        best = largest[np.argsort(-raw[largest], kind="stable")][:count]
        return [(self.feature.categories[code], self.at(code)) for code in best.tolist()]

    def _extras(self) -> Iterator[tuple[int, Any]]:
        first = len(self) - self.feature.extras
        return enumerate(self.feature.categories[first:], first)
