"""By how much all other features together move the odds of a guess, as a logistic model fits them: a guide, no proof.

No sample of usual size bounds it, because most combinations of the others are never seen. A logistic model with one
term for each cell of each other feature says what the seen ones have in common (measured-correlation.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.special import expit

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_STEPS = 25
_SETTLED = 1e-6
_PENALTY = 0.5  # of half the square of every term: keeps those finite whose cell was seen with one value only


def fitted_odds(given: Integers, values: int, others: Sequence[tuple[Integers, int]]) -> float:
    """The largest factor by which the fitted model moves the odds between two values, over the records' others.

    `given` is the value of each record, below `values`; each of `others` its cell of another feature, and how many
    cells that has. Values that never occur are left out.

    >>> cough, smoker = np.array([0, 0, 0, 1] * 500 + [0, 1, 1, 1] * 500), np.array([0] * 2000 + [1] * 2000)
    >>> round(fitted_odds(smoker, 2, [(cough, 2)]), 1)  # 3/4 against 1/4
    3.0
    """
    seen = np.flatnonzero(np.bincount(given, minlength=values))
    if len(seen) < 2 or not others:
        return 1.0
    patterns, which = np.unique(np.stack([cell for cell, _ in others], axis=1), axis=0, return_inverse=True)
    terms = np.hstack([np.eye(cells)[patterns[:, number]] for number, (_, cells) in enumerate(others)])
    counts = np.zeros((values, len(patterns)))
    np.add.at(counts, (given, which.ravel()), 1.0)
    moved = [_moved(terms, counts[seen[0]], counts[value]) for value in seen[1:]]
    scores = np.stack([np.zeros(len(patterns)), *moved])  # of each value against the first
    return float(np.exp((scores.max(axis=0) - scores.min(axis=0)).max()))


def _moved(terms: Array, zeros: Array, ones: Array) -> Array:
    """How far the fitted log odds of one value against another lie, at each combination, from those of all together."""
    people, base = zeros + ones, float(np.log(ones.sum() / zeros.sum()))
    coefficients = np.zeros(terms.shape[1])

    def lost(candidate: Array) -> float:
        """The penalised likelihood, negative, which is convex."""
        score = base + terms @ candidate
        return float(people @ np.logaddexp(0.0, score) - ones @ score + _PENALTY / 2 * candidate @ candidate)

    for _ in range(_STEPS):
        chance = expit(base + terms @ coefficients)
        slope = terms.T @ (ones - people * chance) - _PENALTY * coefficients
        bend = (terms * (people * chance * (1 - chance))[:, None]).T @ terms + _PENALTY * np.eye(len(coefficients))
        step, now = np.linalg.solve(bend, slope), lost(coefficients)
        while np.abs(step).max() > _SETTLED and lost(coefficients + step) > now:
            step = step / 2
        coefficients = coefficients + step
        if np.abs(step).max() <= _SETTLED:
            break
    return np.asarray(terms @ coefficients)
