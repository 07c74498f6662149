"""How a feature stands in a jointly shaped question: the answer names some of its values, out of a public family."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bcdp.mechanisms.survey.design.information import Kind

Blocks = tuple[tuple[int, ...], ...]

_MOST_WHOLE = 512  # weights of a feature alone, up to which the family has all subsets
_BASES = 3  # sets of which a cyclic family is made, at most
_TRIED = 300


@dataclass(frozen=True)
class SubsetFamily:
    """How a feature stands in a shaped question: what is asked of it, and how many values an answer names.

    All subsets of that size may be named, or a `cyclic` family of them, in which every value is equally often.
    """

    kind: Kind
    subset: int = 1  # of a feature with two values, one: the answer is a value
    cyclic: bool = False

    @property
    def blocks(self) -> Blocks:
        """The subsets that an answer may name."""
        if self.cyclic:
            return _cyclic(self.kind.values, self.subset)[0]
        return tuple(itertools.combinations(range(self.kind.values), self.subset))

    @property
    def efficiency(self) -> float:
        """What answers reveal about all values together, as a share of what all subsets would reveal."""
        return _cyclic(self.kind.values, self.subset)[1] if self.cyclic else 1.0

    @property
    def counts(self) -> tuple[int, int]:
        """How many values are in the subset named, and how many are not."""
        return self.subset, self.kind.values - self.subset

    @property
    def weights(self) -> int:
        """The size of the table that asks this feature alone."""
        number = len(self.blocks) if self.cyclic else math.comb(self.kind.values, self.subset)
        return self.kind.values * number

    @property
    def scores(self) -> tuple[float, float]:
        """The standardised hit: mean 0 if the answer says nothing, and 1 if it always names the true value alone."""
        share = self.subset / self.kind.values
        scale = math.sqrt((self.kind.values - 1) * share * (1 - share))
        return (1 - share) / scale, -share / scale

    @property
    def scale(self) -> float:
        """One over the second moment of what is asked of the feature, without its average, at mean hit 1."""
        return self.kind.values / (self.kind.values - 1) if self.kind.name == "categorical" else 1.0


SIGN = SubsetFamily(Kind("binary"))


def places(kind: Kind) -> list[SubsetFamily]:
    """The sizes of subsets that a table of two features may name, of each the smallest good family."""
    if kind.name != "categorical":
        return [SubsetFamily(kind)]
    sizes = list(range(1, max(kind.values // 2, 1) + 1))
    if len(sizes) > 6:  # of many values, a few sizes do
        sizes = sorted({round(kind.values * share) for share in (0.02, 0.05, 0.1, 0.2, 0.35, 0.5)} - {0})
    families = []
    for size in sizes:
        family = SubsetFamily(kind, size)
        families.append(family if family.weights <= _MOST_WHOLE or size == 1 else SubsetFamily(kind, size, cyclic=True))
    return families


@lru_cache(maxsize=256)
def _cyclic(values: int, size: int) -> tuple[Blocks, float]:
    """All shifts of a few sets, and how evenly they distinguish values: chosen, by chance, to do so.

    What answers reveal about a contrast between values is the energy of the sets at its frequency; the error of all
    contrasts together is the sum of one over these, and least, for the same total, where they are equal.
    """
    rng = np.random.default_rng([values, size])
    best: tuple[list[tuple[int, ...]], float] = ([], 0.0)
    energy = np.zeros(values - 1)
    for _ in range(_BASES):
        tried = [tuple(sorted(rng.choice(values, size, replace=False).tolist())) for _ in range(_TRIED)]
        sets = np.zeros((len(tried), values))
        for row, chosen in zip(sets, tried, strict=True):
            row[list(chosen)] = 1
        energies = energy + np.abs(np.fft.fft(sets, axis=1)[:, 1:]) ** 2
        even = (values - 1) / (1 / np.maximum(energies, 1e-9)).sum(axis=1) / energies.mean(axis=1)
        top = int(even.argmax())
        if even[top] <= best[1] * 1.01:
            break
        energy = energies[top]
        best = ([*best[0], tried[top]], float(even[top]))
    shifts = {tuple(sorted((value + shift) % values for value in base)) for base in best[0] for shift in range(values)}
    if len(shifts) < values * len(best[0]):  # a set that is its own shift: count every shift, so that all are alike
        blocks = [tuple(sorted((v + shift) % values for v in base)) for base in best[0] for shift in range(values)]
        return tuple(blocks), best[1]
    return tuple(sorted(shifts)), best[1]
