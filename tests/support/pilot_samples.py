"""Random populations and samples of them, for what a pilot measures."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from bcdp.policy import Policy
from support.helpers import Array

FALSE_ALARM = 1e-9
SAMPLES = 2000


def policy_of(sizes: tuple[int, ...], **changes: Any) -> Policy:
    features = {f"x{i}": {"type": "categorical", "values": list(range(size))} for i, size in enumerate(sizes)}
    return Policy(**{"epsilon": 1.0, "features": features} | changes)


def drawn(rng: np.random.Generator, prior: Array, people: int) -> dict[str, Array]:
    cells = rng.choice(prior.size, size=people, p=prior.ravel())
    return {f"x{i}": column for i, column in enumerate(np.unravel_index(cells, prior.shape))}


def samples_of(people: int, cells: int) -> list[tuple[int, ...]]:
    """All ways in which so many people can fall into cells."""
    every = itertools.product(range(people + 1), repeat=cells - 1)
    return [(people - sum(rest), *rest) for rest in every if sum(rest) <= people]


def random_tree(rng: np.random.Generator, features: int) -> Array:
    """A prior of binary features that is a tree: each but the first depends on one before it."""
    parents = [int(rng.integers(0, i)) for i in range(1, features)]
    flips = [rng.uniform(0.02, 0.98, 2) for _ in parents]
    prior = np.zeros((2,) * features)
    first = float(rng.uniform(0.1, 0.9))
    for record in np.ndindex(prior.shape):
        chance = first if record[0] else 1 - first
        for i, (parent, ones) in enumerate(zip(parents, flips, strict=True), start=1):
            chance *= ones[record[parent]] if record[i] else 1 - ones[record[parent]]
        prior[record] = chance
    return prior
