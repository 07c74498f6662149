"""How many people it takes to find the most frequent values of a feature, before anybody is asked (theory.md, 4.25)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.estimates.power import least_people
from bcdp.exact import TOTAL
from bcdp.plan import GROUP, Plan, check_menus
from bcdp.policy import Feature
from bcdp.records.encoding import codes_of, spelled
from bcdp.statistics import Single
from bcdp.statistics.shared.special import ndtr
from bcdp.tally import Tally

Array = npt.NDArray[np.float64]

TOP = 20
CHANCE = 0.9
_IMAGINED = 2**40  # people, of whom each menu has as many as its weight says
_APART = 2000  # values below the top that are looked at one by one; the rest in groups, each by its largest share
_CUTS = np.linspace(0.02, 0.98, 49)  # where between the least share of the top and the next one a threshold may be
_PAIRS = 1.05  # an allowance, set by simulation: errors of two values may vary more against each other than most do


def people_to_find(
    plan: Plan, name: str, shares: Mapping[Any, float] | None = None, top: int = TOP, chance: float = CHANCE
) -> int | None:
    """How many people find the `top` most frequent values of a feature, all of them, with this chance.

    They are found if their estimates are above those of all other values. `shares` are those of the population, by
    value; others do not occur. Unless stated they fall as one over the rank (Zipf's law). None if no number of people
    is enough: the feature is not asked, or the value after the last is as frequent.

    >>> from bcdp import Policy, make_plan
    >>> code = {"type": "categorical", "values": {"integers": [1, 300]}}
    >>> plan = make_plan(Policy(epsilon=3, features={"code": code}))
    >>> 5_000 < people_to_find(plan, "code", top=3) < people_to_find(plan, "code", top=5)
    True
    """
    check_menus(plan)
    if not 0 < chance < 1:
        raise refuse("chance", chance, "a number above 0 and below 1")
    law = _law(plan, name, shares)
    if not 1 <= top < len(law):
        raise refuse("top", top, f"a number from 1 to {len(law) - 1}, less than {name} has values")
    errors = _errors(plan, name, law)
    order = np.argsort(-law, kind="stable")
    law, errors = law[order], errors[order]
    if not (math.isfinite(errors[0]) and law[top - 1] > law[top]):
        return None
    above, below = (law[:top], errors[:top], np.ones(top)), _grouped(law[top:], errors[top:])
    people = least_people(lambda people: _missed(people, above, below) <= 1 - chance)
    return math.ceil(people) if math.isfinite(people) else None


Values = tuple[Array, Array, Array]  # shares, n times the squared error of each, and of how many values that is


def _missed(people: float, above: Values, below: Values) -> float:
    """About the chance that a value of the top is not found: the smaller of two sums (theory.md, 4.25).

    Either one of these, or another, is beyond a threshold; or one of these is below one of the others.
    """
    low, high = below[0][0], above[0][-1]
    thresholds = low + (high - low) * _CUTS[:, None]
    wrong = (ndtr((thresholds - above[0]) * np.sqrt(people / above[1])) @ above[2]) + (
        ndtr((below[0] - thresholds) * np.sqrt(people / below[1])) @ below[2]
    )
    size = above[2].sum() + below[2].sum()
    gaps, both = above[0][:, None] - below[0], above[0][:, None] * below[0]
    # estimates sum to 1 or nearly so: their errors vary against each other, and so do the people's values
    spread = (above[1][:, None] + below[1]) * _PAIRS * size / (size - 1) + 2 * both
    turned = ndtr(-gaps * np.sqrt(people / spread)) @ below[2]
    return min(float(wrong.min()), float(turned.sum()))


def _grouped(shares: Array, errors: Array) -> Values:
    """Falling shares, the first one by one; groups of the others have the largest share and error of each."""
    rest = len(shares) - _APART
    if rest <= 0:
        return shares, errors, np.ones(len(shares))
    starts = np.concatenate([np.arange(_APART), np.unique(np.linspace(_APART, len(shares) - 1, 500).astype(np.int64))])
    sizes = np.diff(np.append(starts, len(shares)))
    return shares[starts], np.maximum.reduceat(errors, starts), sizes.astype(np.float64)


def _law(plan: Plan, name: str, shares: Mapping[Any, float] | None) -> Array:
    """The share of each value of a feature, no answer and not applicable left out."""
    feature = plan.policy.features.get(name)
    if feature is None or not feature.counts_values or feature.is_number or feature.type == "multiple":
        listed = ", ".join(valued_features(plan)) or "none of this plan"
        raise refuse("feature", name, f"one whose values are counted: {listed}")
    size = _values(feature)
    if shares is None:
        ranks = 1 / np.arange(1, size + 1)
        return np.asarray(ranks / ranks.sum())
    known, law = codes_of(getattr(feature, "values", None)), np.zeros(size)
    for value, share in shares.items():
        code = known.get(spelled(value))
        if code is None or not (math.isfinite(share) and share >= 0):
            raise refuse(f"shares of {name}", f"{value}: {share}", "a share of at least 0 of a value of the feature")
        law[code] += share
    if not law.sum() > 0:
        raise refuse(f"shares of {name}", "0", "a share above 0")
    return np.asarray(law / law.sum())


def valued_features(plan: Plan, least: int = 0) -> list[str]:
    """The features of a plan whose values are counted, of which there are more than some number."""
    return [
        name
        for name, feature in plan.policy.features.items()
        if feature.counts_values and not feature.is_number and feature.type != "multiple" and _values(feature) > least
    ]


def _values(feature: Feature) -> int:
    return feature.joint_inputs - feature.extras


def _errors(plan: Plan, name: str, law: Array) -> Array:
    """n times the squared error of the share of each value, from as many answers to each menu as there would be."""
    menus = range(len(plan.menus))
    weights = np.array([menu.weight for menu in plan.menus]) / TOTAL
    counts = np.rint(weights * _IMAGINED).astype(np.int64)
    reports = {"menu": list(menus), "answer": [0 for _ in menus], "count": counts}
    group = {GROUP: [0 for _ in menus]} if plan.policy.open else {}
    decoded = Tally(plan).add({**reports, **group}).decoder().decode(Single(name))
    extras = np.zeros(plan.policy.features[name].extras)
    return np.asarray(decoded.variance(np.append(law, extras))[: len(law)] * _IMAGINED)
