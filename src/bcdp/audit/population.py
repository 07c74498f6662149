"""Whom an audit is about: the possible records and their probabilities, from a prior or from a file of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.correlation import FinitePrior, correlation_of
from bcdp.encoding import as_arrow, encode
from bcdp.errors import InputError, refuse
from bcdp.plan import Plan
from bcdp.policy import NumericFeature, Policy

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

LEAST_BINS = 9  # of a number, so that two levels of a question do not make every number extreme


@dataclass(frozen=True)
class Population:
    """Records as rows of codes, one column per feature, and the probability of each; `sizes` counts possible codes."""

    names: tuple[str, ...]
    codes: Codes
    probabilities: Array
    sizes: tuple[int, ...]

    def draw(self, people: int, rng: np.random.Generator) -> Codes:
        """Independent records, shape (people, features)."""
        return np.asarray(self.codes[rng.choice(len(self.codes), size=people, p=self.probabilities)])

    def ordered(self, names: Sequence[str]) -> Population:
        """The same population with its features in another order."""
        if sorted(names) != sorted(self.names):
            raise refuse("population", list(self.names), f"the features {', '.join(names)}")
        places = [self.names.index(name) for name in names]
        return Population(
            tuple(names), self.codes[:, places], self.probabilities, tuple(self.sizes[place] for place in places)
        )


def population_of(names: Sequence[str], prior: npt.ArrayLike) -> Population:
    """The population of a prior given as an array with one axis for each feature.

    >>> population_of(["smoker", "drinker"], [[0.5, 0.2], [0.0, 0.3]]).codes.tolist()
    [[0, 0], [0, 1], [1, 1]]
    """
    array = np.asarray(prior, dtype=np.float64)
    if array.ndim != len(names) or array.ndim == 0 or not np.isfinite(array).all() or (array < 0).any():
        raise refuse("prior", f"shape {array.shape}", f"probabilities with one axis for each of {', '.join(names)}")
    if not abs(array.sum() - 1) < 1e-6:
        raise refuse("prior", f"probabilities that sum to {array.sum():.6g}", "a sum of 1")
    codes = np.argwhere(array > 0)
    return Population(tuple(names), codes.astype(np.int64), array[array > 0] / array.sum(), array.shape)


def population_from_prior(plan: Plan, path: str | Path) -> Population:
    """The population that a CSV describes: a column for each feature of the plan, and last its probability."""
    prior = correlation_of(Policy(**{**plan.policy.to_dict(), "correlation": {"prior": str(Path(path).absolute())}}))
    if not isinstance(prior, FinitePrior) or set(prior.names) != set(plan.policy.features):
        named = getattr(prior, "names", ())
        raise refuse(
            f"prior ({Path(path).name})", list(named), f"a column for each of {', '.join(plan.policy.features)}"
        )
    return population_of(prior.names, prior.probabilities).ordered(tuple(plan.policy.features))


def population_from_records(plan: Plan, tables: Iterable[Any]) -> Population:
    """The population of people whose records these are, each as probable as the others; a number counts as its bin."""
    names = tuple(plan.policy.features)
    sizes = tuple(_codes(plan, name) for name in names)
    parts = [_binned(plan.policy, encode(plan.policy, as_arrow(table)), sizes) for table in tables]
    if not sum(map(len, parts)):
        raise InputError("data: has no records; accepted: at least one record")
    codes, counts = np.unique(np.concatenate(parts), axis=0, return_counts=True)
    return Population(names, codes.astype(np.int64), counts / counts.sum(), sizes)


def _codes(plan: Plan, name: str) -> int:
    """How many codes a feature has: its values, or equally spaced public bins that hold the plan's own levels."""
    feature = plan.policy.features[name]
    if not isinstance(feature, NumericFeature):
        return len(feature.values or (0, 1))
    finest = max((max(question.levels) for question in plan.questions if name in question.features), default=2) - 1
    return finest * -(-(LEAST_BINS - 1) // finest) + 1


def _binned(policy: Policy, codes: Mapping[str, npt.NDArray[Any]], sizes: Sequence[int]) -> Codes:
    columns = [
        np.rint((codes[name] + 1) / 2 * (size - 1)) if isinstance(feature, NumericFeature) else codes[name]
        for (name, feature), size in zip(policy.features.items(), sizes, strict=True)
    ]
    return np.stack(columns, axis=1).astype(np.int64)


def worth(size: int, codes: Codes) -> Array:
    """A number's codes on the [-1, 1] scale on which devices round it."""
    return np.asarray(codes * (2.0 / (size - 1)) - 1, dtype=np.float64)
