"""Which menus to ask, and how often: A-optimal design by column generation (theory.md, section 4.1).

Minimises the weighted sum of `1 / J`, the variance of each target's estimate times the number of people, second moments
counted. The result states a bound on how far it is from the best design of its class (the equivalence theorem).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.design.classes.feature_classes import FeatureClass, Profile, information
from bcdp.mechanisms.survey.design.classes.many_classes import MergedPricing, balanced, fewest, joined, often
from bcdp.mechanisms.survey.design.joint.candidates import MANY_INTERACTIONS
from bcdp.mechanisms.survey.design.menu_pricing import MenuPricing

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_ENOUGH = 1e-4  # stop when no menu found is worth more than this beyond those already asked
_ENOUGH_OF_MANY = 1e-3  # where many pairs are wanted
_ROUNDS = 60
_NEWTON_STEPS = 50
_HAIR = 1e-5  # of the objective may be given up for fewer menus


@dataclass(frozen=True)
class Design:
    """Menus up to exchange of interchangeable features, how often each is asked, and the proof of optimality."""

    profiles: tuple[Profile, ...]
    probabilities: Array
    objective: float
    gap: float  # the objective is at most so many times the smallest of the class; below 1 if other menus beat it


def design(
    classes: tuple[FeatureClass, ...],
    total: float,
    groups: bool = True,
    further: Callable[[Array, float], list[Profile]] = lambda prices, enough: [],
    progress: Callable[[str], None] = lambda line: None,
    deadline: float = math.inf,
) -> Design:
    """The A-optimal design over all menus of the class with totals up to `total`, starting from single questions.

    `further(prices, enough)` may offer menus of other sorts that are worth more than `enough`; the gap does not speak
    of those. No round begins after the deadline, in seconds of the monotonic clock: the gap is then as large as it is.
    """
    joinable = [number for number, c in enumerate(classes) if c.joinable]  # others are only asked alone, or in shapes
    market = MenuPricing(tuple(classes[number] for number in joinable), total, groups) if joinable else None
    sizes = np.array([len(c.members) for c in classes])
    weights = np.array([c.weight for c in classes])
    profiles: list[Profile] = [c.first(j) for j, c in enumerate(classes)]
    informations = np.array([information(classes, profile) for profile in profiles])
    many = sum(bool(c.interaction) for c in classes) > MANY_INTERACTIONS
    merged = MergedPricing(market) if many and market is not None else None
    probabilities = np.full(len(profiles), 1 / len(profiles))
    tolerance = 1e-2  # of the search for menus: coarse while there is much to gain
    for round_number in range(_ROUNDS):
        if many:
            probabilities = balanced(informations, sizes, weights, probabilities, tolerance / 4)
            asked = often(probabilities, len(classes))
            profiles, informations, probabilities = (
                [profiles[i] for i in asked],
                informations[asked],
                probabilities[asked],
            )
        else:
            probabilities = balance(informations, sizes, weights)
        objective, prices = _objective(informations, sizes, weights, probabilities)
        progress(f"menus, round {round_number + 1}: n x error {objective:.5g}")
        if time.monotonic() > deadline:
            break
        enough = objective * (1 + max(tolerance, _ENOUGH))
        offers = further(prices, enough)
        if market is not None:
            own = prices[joinable]
            menu = merged.best(own, tolerance) if merged else market.best(own, tolerance).profile
            offers = [_of(joinable, menu), *offers]
        gains = np.array([information(classes, profile) for profile in offers])
        useful = [i for i in range(len(offers)) if gains[i] @ prices > enough]
        if not useful:
            if tolerance <= (_ENOUGH_OF_MANY if many else _ENOUGH):
                break
            tolerance /= 10
            continue
        profiles += [offers[i] for i in useful]
        informations = np.concatenate([informations, gains[useful]])
        probabilities = joined(probabilities, len(useful)) if many else probabilities
    tidy = _tidy_many if many else _tidy
    kept, probabilities = tidy(informations, sizes, weights)
    objective, prices = _objective(informations[kept], sizes, weights, probabilities)
    bound = float((informations[: len(classes)] @ prices).max())  # of the first questions
    if any(c.interaction for c in classes):  # interactions are asked by shapes: the gap speaks of those found
        offered = [*informations, *(information(classes, profile) for profile in further(prices, objective))]
        bound = float((np.array(offered) @ prices).max())
    if market is not None:
        bound = max(bound, merged.bound(prices[joinable], 1e-3) if merged else market.bound(prices[joinable], 2e-5))
    return Design(tuple(profiles[i] for i in kept), probabilities, objective, bound / objective)


def _of(numbers: list[int], profile: Profile) -> Profile:
    """A menu of some classes, their numbers among all of them."""
    return tuple(replace(question, classes=tuple(numbers[c] for c in question.classes)) for question in profile)


def _tidy(informations: Array, sizes: Integers, weights: Array) -> tuple[Integers, Array]:
    """The menus worth keeping, rarest tried first: without any other the objective stays within a hair."""
    kept, best = np.arange(len(informations)), balance(informations, sizes, weights)
    limit = _objective(informations, sizes, weights, best)[0] * (1 + _HAIR)
    for menu in np.argsort(best):
        rest = kept[kept != menu]
        if len(rest) == 0 or np.any(informations[rest].sum(axis=0) == 0):
            continue
        tried = balance(informations[rest], sizes, weights)
        if _objective(informations[rest], sizes, weights, tried)[0] <= limit:
            kept, best = rest, tried
    return kept, best


def _tidy_many(informations: Array, sizes: Integers, weights: Array) -> tuple[Integers, Array]:
    """Likewise for hundreds of menus: the rarest are dropped together, as long as none of them is worth much more."""
    even = np.full(len(informations), 1 / len(informations))
    best = balanced(informations, sizes, weights, even, _ENOUGH)

    def within(kept: Integers) -> bool:
        if np.any(informations[kept].sum(axis=0) == 0):
            return False
        tried = balanced(informations[kept], sizes, weights, best[kept], _ENOUGH)
        objective, prices = _objective(informations[kept], sizes, weights, tried)
        return bool((informations @ prices).max() <= objective * (1 + _ENOUGH_OF_MANY))

    kept = fewest(best, within)
    return kept, balanced(informations[kept], sizes, weights, best[kept], _ENOUGH)


def _objective(informations: Array, sizes: Integers, weights: Array, probabilities: Array) -> tuple[float, Array]:
    """The objective and the price of each class: what a little more information about one of its features is worth."""
    each = probabilities @ informations / sizes
    return float((sizes * weights / each).sum()), weights / each**2


def balance(informations: Array, sizes: Integers, weights: Array) -> Array:
    """The best probabilities for fixed menus, to a relative gap of 1e-7: Newton steps along a falling barrier."""
    menus = len(informations)
    probabilities = np.full(menus, 1 / menus)
    for barrier in 10.0 ** -np.arange(1, 10):
        for _ in range(_NEWTON_STEPS):
            step, decrement = _newton(informations, sizes, weights, probabilities, barrier / menus)
            shrinking = step < 0
            longest = float((0.9 * probabilities[shrinking] / -step[shrinking]).min(initial=1.0))
            probabilities = probabilities + longest * step
            if decrement < 1e-3 * barrier and longest == 1:
                break
        objective, prices = _objective(informations, sizes, weights, probabilities)
        if (informations @ prices).max() <= objective * (1 + 1e-7):
            break
    return np.asarray(probabilities / probabilities.sum())


def _newton(
    informations: Array, sizes: Integers, weights: Array, probabilities: Array, barrier: float
) -> tuple[Array, float]:
    """The step on the simplex towards the least `objective/objective now - barrier * sum log p`, and its gain."""
    objective, prices = _objective(informations, sizes, weights, probabilities)
    slope = -(informations @ prices) / objective - barrier / probabilities
    bend = informations * (2 * prices / (probabilities @ informations)) @ informations.T / objective + np.diag(
        barrier / probabilities**2
    )
    ones = np.ones(len(slope))
    solved = np.linalg.solve(bend, np.stack([slope, ones], axis=1))
    step = solved[:, 1] * (solved[:, 0].sum() / solved[:, 1].sum()) - solved[:, 0]
    return step, float(-slope @ step)
