"""What the cascade accepts: records in the box, budgets, demands and a source of randomness."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.policy import MultipleFeature, Policy
from bcdp.randomness import Draws, KeyedDraws, RecordWords, SimulatedDraws
from bcdp.statistics import Role

Array = npt.NDArray[np.float64]
Randomness = np.random.Generator | Draws | None

LARGEST_BUDGET = 700.0  # its exponential is still a finite double


def as_draws(rng: Randomness, people: int) -> Draws:
    """The draws of `people` persons: AES under a fresh key if `rng` is None, simulated if it is a NumPy generator."""
    if rng is None:
        return KeyedDraws(RecordWords(None, range(people)))
    if isinstance(rng, np.random.Generator):
        return SimulatedDraws(rng)
    if not (hasattr(rng, "words") and hasattr(rng, "normals")):
        raise refuse("rng", rng, "None, a numpy.random.Generator, or draws from bcdp.randomness")
    return rng


def numbers(name: str, value: npt.ArrayLike, accepted: str) -> Array:
    """The value as an array of floats; anything that is not numeric is refused."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(name, value, accepted) from None


def check_records(x: npt.ArrayLike) -> Array:
    """The records as an array of shape (n, d), n and d at least 1, all entries in [-1, 1]."""
    accepted = "an array of shape (people, features), neither 0, of numbers from -1 to 1, none missing"
    records = numbers("x", x, accepted)
    if records.ndim != 2 or records.size == 0:
        raise refuse("x", f"shape {records.shape}", accepted)
    inside = np.abs(records) <= 1  # false for NaN, which must not reach a formula
    if not inside.all():
        raise refuse("x", float(records[~inside][0]), accepted)
    return records


def check_budgets(c: npt.ArrayLike, features: int | None = None) -> Array:
    """The budgets as an array of shape (features,), each from 0 to 700."""
    size = "one number" if features is None else f"{features} numbers, one"
    accepted = f"{size} for each feature, from 0 to {LARGEST_BUDGET:g}"
    budgets = numbers("c", c, accepted)
    if budgets.ndim != 1 or budgets.size == 0 or budgets.size != (features or budgets.size):
        raise refuse("c", f"shape {budgets.shape}", accepted)
    if not np.all((budgets >= 0) & (budgets <= LARGEST_BUDGET)):
        raise refuse("c", c, accepted)
    return budgets


def check_number(name: str, value: float, low: float, high: float = math.inf, *, open_low: bool = False) -> float:
    """The number itself, if it is finite and lies in [low, high], or in (low, high] with `open_low`."""
    above = f"above {low:g}" if open_low else f"of at least {low:g}"
    accepted = f"a number {above}" + ("" if math.isinf(high) else f" and at most {high:g}")
    number = numbers(name, value, accepted)
    fits = number.ndim == 0 and bool(np.isfinite(number)) and low <= number <= high
    if not fits or (open_low and number == low):
        raise refuse(name, value, accepted)
    return float(number)


def check_people(n: int) -> int:
    """The number of people, an integer of at least 1."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise refuse("n", n, "a whole number of people, at least 1")
    return int(n)


def check_complete(policy: Policy) -> None:
    """Raises `InputError` if no answer is a value of its own: sums do not reveal how its share varies with a mean.

    And if not all questions are asked of everybody.
    """
    if policy.menu_from == "ticket":
        raise refuse("menu_from", "ticket", "the mechanism survey, or device: a cascade has no menus")
    if policy.panel is not None:
        raise refuse("panel", f"{policy.panel.waves} waves", "the mechanism survey, or no such key: it has no menus")
    for name, feature in policy.features.items():
        if isinstance(feature, MultipleFeature):
            raise refuse(f"features.{name}.type", "multiple", "the mechanism survey, or other types")
        if feature.follows:
            raise refuse(f"features.{name}.asked_if", "a condition", "the mechanism survey, or no follow-ups")
        if feature.own:
            raise refuse(
                f"features.{name}.missing", "own", "a value that counts for no answer, or the mechanism survey"
            )


def check_tasks(policy: Policy) -> None:
    """Raises `InputError` for a task that asks for more than features by themselves: sums do not reveal products."""
    for number, task in enumerate(policy.tasks):
        if task.kind == "share" or not all(target.role is Role.FEATURE for target, _ in task.targets(policy)):
            accepted = "means and frequencies of all people; the mechanism survey tells everything else too"
            raise refuse(f"tasks.{number}", task.kind, accepted)
