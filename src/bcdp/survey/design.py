"""Which menus to ask, and how often: A-optimal design by column generation (docs/theory.md, section 4.1).

Minimises the weighted sum of `1 / J`, the variance of each target's estimate times the number of people, second moments
counted. The result states a bound on how far it is from the best design of its class (the equivalence theorem).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.survey.pricing import FeatureClass, Market, Profile, Question, information

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_ENOUGH = 1e-4  # stop when no menu found is worth more than this beyond those already asked
_ROUNDS = 60
_HAIR = 1e-5  # of the objective may be given up for fewer menus


@dataclass(frozen=True)
class Design:
    """Menus up to exchange of interchangeable features, how often each is asked, and the proof of optimality."""

    profiles: tuple[Profile, ...]
    probabilities: Array
    objective: float
    gap: float  # the objective is at most this many times the smallest possible in the class


def design(
    classes: tuple[FeatureClass, ...],
    total: float,
    groups: bool = True,
    further: Callable[[Array], list[Profile]] = lambda prices: [],
    progress: Callable[[str], None] = lambda line: None,
) -> Design:
    """The A-optimal design over all menus of the class with totals up to `total`, starting from single questions.

    Classes that may stand beside others in a menu come first, then those that are only asked alone. `further(prices)`
    may offer menus from other sources; the gap does not speak of those.
    """
    joinable = tuple(c for c in classes if c.joinable)
    market = Market(joinable, total, groups) if joinable else None
    sizes = np.array([len(c.members) for c in classes])
    weights = np.array([c.weight for c in classes])
    profiles: list[Profile] = [(Question((j,), c.alone),) for j, c in enumerate(classes)]
    told = np.array([information(classes, profile) for profile in profiles])
    probabilities = np.full(len(profiles), 1 / len(profiles))
    tolerance = 1e-2  # of the search for menus: coarse while there is much to gain
    for round_number in range(_ROUNDS):
        probabilities = balance(told, sizes, weights, probabilities)
        objective, prices = _objective(told, sizes, weights, probabilities)
        progress(f"menus, round {round_number + 1}: n x error {objective:.5g}")
        if market is None:
            break
        offers = [market.best(prices[: len(joinable)], tolerance).profile, *further(prices)]
        gains = np.array([information(classes, profile) for profile in offers])
        useful = [i for i in range(len(offers)) if gains[i] @ prices > objective * (1 + max(tolerance, _ENOUGH))]
        if not useful:
            if tolerance <= _ENOUGH:
                break
            tolerance /= 10
            continue
        profiles += [offers[i] for i in useful]
        told = np.concatenate([told, gains[useful]])
        probabilities = np.append(0.9 * probabilities, np.full(len(useful), 0.1 / len(useful)))
    kept, probabilities = _tidy(told, sizes, weights, probabilities)
    objective, prices = _objective(told[kept], sizes, weights, probabilities)
    bound = float((told[: len(classes)] @ prices).max())  # of the single questions
    if market is not None:
        bound = max(bound, market.best(prices[: len(joinable)], tolerance=2e-5).bound)
    return Design(tuple(profiles[i] for i in kept), probabilities, objective, bound / objective)


def _tidy(told: Array, sizes: Integers, weights: Array, probabilities: Array) -> tuple[Integers, Array]:
    """The menus worth keeping, rarest tried first: without any other the objective stays within a hair."""
    kept = np.arange(len(probabilities))
    limit = _objective(told, sizes, weights, probabilities)[0] * (1 + _HAIR)
    best = balance(told, sizes, weights, probabilities)
    for menu in np.argsort(probabilities):
        rest = kept[kept != menu]
        if len(rest) == 0 or np.any(told[rest].sum(axis=0) == 0):
            continue
        start = best[kept != menu] + 1e-9
        tried = balance(told[rest], sizes, weights, start / start.sum())
        if _objective(told[rest], sizes, weights, tried)[0] <= limit:
            kept, best = rest, tried
    return kept, best


def _objective(told: Array, sizes: Integers, weights: Array, probabilities: Array) -> tuple[float, Array]:
    """The objective and the price of each class: what a little more information about one of its features is worth."""
    each = probabilities @ told / sizes
    return float((sizes * weights / each).sum()), weights / each**2


def balance(told: Array, sizes: Integers, weights: Array, start: Array) -> Array:
    """The best probabilities for fixed menus, by multiplicative updates, to a relative gap of 1e-7."""
    probabilities = start
    for _ in range(20_000):
        objective, prices = _objective(told, sizes, weights, probabilities)
        slope = told @ prices / objective
        if slope.max() <= 1 + 1e-7:
            break
        probabilities = probabilities * np.sqrt(slope)
        probabilities = probabilities / probabilities.sum()
    return probabilities
