"""What an audit lets somebody guess at: a value, a range of a number, or, beyond the promise, finer parts of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bcdp.audit.population import Codes, Population, in_ranges
from bcdp.plan import Plan

FINER = (16, 64)  # equal parts of a number's bounds
LEAST_RECORDS = 100  # in a part: fewer say nothing about anybody else


@dataclass(frozen=True)
class Guess:
    """What is guessed at about a feature: the code that each record has, out of so many; rare ones are left out."""

    feature: str
    codes: Codes
    size: int
    parts: int = 0  # equal ones of a number; 0: what the promise covers
    least: float = 0.0  # the probability below which a code is left out


def promised_guesses(plan: Plan, population: Population) -> list[Guess]:
    """For each feature the guesses that the plan's promise covers."""
    known = in_ranges(plan, population)
    columns = zip(known.names, known.codes.T, known.sizes, strict=True)
    return [Guess(name, codes, size) for name, codes, size in columns]


def finer_guesses(plan: Plan, population: Population) -> list[Guess]:
    """Guesses about numbers that the promise does not cover, because their `q` was measured by ranges.

    Where fewer than two parts have records enough there is nothing to guess between.
    """
    least = LEAST_RECORDS / population.people * (1 - 1e-9) if population.people else 1e-300
    guesses = []
    for name in plan.correlation_model.ranges:
        held, own = population.held(plan.policy, name), plan.policy.features[name].own
        for parts in FINER:
            codes = np.minimum((held + 1) / 2 * parts, parts - 1).astype(np.int64)
            codes = np.where(held > 1, parts, codes)  # after them no answer, where it is a value of its own
            if np.count_nonzero(np.bincount(codes, population.probabilities) >= least) > 1:
                guesses.append(Guess(name, codes, parts + own, parts, least))
    return guesses
