"""Panels and their rivals at one lifetime level: `python benchmarks/studies/panel_rivals.py [level]`.

n times the sum over waves of the variance of a yes/no question's mean on the scale from -1 to 1, half the people saying
yes, for 4, 12 and 52 waves. The level holds for every history of a person with at most so many changes, from whatever
is sent over all waves. Rivals answer in every wave:

- permanent and instantaneous response (RAPPOR, and L-GRR, which is the same for two values): one randomized answer for
  each value, kept and randomized again in every wave;
- L-OSUE: the same with one bit for each value, asymmetric when it is kept (OUE), symmetric in every wave (SUE);
- dBitFlipPM: kept answers that are sent as they are;
- the level split equally among the waves.

The budgets of each are the best for its error. A rival's level is the largest over pairs of histories and over
transcripts that are constant wherever both histories are; others could only make it larger, and the rival worse.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

WAVES, CHANGES = (4, 12, 52), (0, 1, 3)  # with three, two histories may overlap as with any number
FIRST = np.unique([*np.linspace(0.05, 3.0, 36), 0.25, 0.5, 1.0, 4.0, 6.0, 9.0])  # budgets of the kept answer
SIGNS = np.array(list(itertools.product((-1, 1), repeat=4)), dtype=np.float64)
BISECTIONS, LARGEST, MOST = 24, 30.0, 2000


def overlaps(waves: int, changes: int) -> Array:
    """In how many waves two histories have the values (1, 1), (1, 0), (0, 1) and (0, 0): all that can occur."""
    if changes == 0:
        return np.array([[0, waves, 0, 0]], dtype=np.float64)
    cuts = itertools.combinations_with_replacement(range(waves + 1), 2 if changes == 1 else 3)
    sizes = np.array([np.diff([0, *cut, waves]) for cut in cuts], dtype=np.float64)
    if changes != 1:
        return sizes[:: max(1, len(sizes) // MOST)]  # of many some: a smaller level is too kind to rivals
    rows = []
    for start, order in itertools.product(range(4), ((2, 1), (1, 2))):  # each history changes at most once
        states = np.bitwise_xor.accumulate([start, *order])
        row = np.zeros((len(sizes), 4))
        for state, size in zip(states, sizes.T, strict=True):
            row[:, state] += size
        rows.append(row[:, ::-1])
    return np.unique(np.concatenate(rows), axis=0)


def transcript_level(sizes: Array, kept: tuple[float, float], again: float) -> float:
    """The largest log ratio of one bit's transcripts between two histories.

    `kept`: the chance that the kept bit is 1, for value 1 and for value 0; `again`: the level of the bit in every wave.
    """
    sums = sizes[:, None, :] * SIGNS  # of the bits, each counted -1 or 1, where both histories are constant
    one, other = (
        _log_chance(kept[0], again, sums[..., a] + sums[..., b])
        + _log_chance(kept[1], again, sums[..., c] + sums[..., d])
        for a, b, c, d in ((0, 1, 2, 3), (0, 2, 1, 3))
    )
    return float(np.abs(one - other).max())


def _log_chance(chance: float, again: float, total: Array) -> Array:
    """The log probability, up to what all histories share, of bits with this sum that come from one kept bit."""
    return np.asarray(np.logaddexp(math.log(chance) + again * total / 2, math.log1p(-chance) - again * total / 2))


def response(level: float, sizes: Array) -> float:
    """Permanent and instantaneous response: the least n times the error of one wave."""

    def limit(first: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
        keep = 1 / (1 + math.exp(-first))
        return (
            lambda again: transcript_level(sizes, (keep, 1 - keep), again),
            lambda again: 1 / (math.tanh(first / 2) * math.tanh(again / 2)) ** 2,
        )

    return _best(level, limit)


def unary(level: float, sizes: Array) -> float:
    """L-OSUE: two bits, each with its own kept bits; the mean is estimated from their difference."""

    def limit(first: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
        true, false = 0.5, 1 / (math.exp(first) + 1)

        def total(again: float) -> float:
            return transcript_level(sizes, (true, false), again) + transcript_level(sizes, (false, true), again)

        def error(again: float) -> float:
            same = 1 / (1 + math.exp(-again))
            high, low = (chance * same + (1 - chance) * (1 - same) for chance in (true, false))
            return (high * (1 - high) + low * (1 - low)) / (high - low) ** 2 + 1

        return total, error

    return _best(level, limit)


def _best(level: float, limit: Callable[[float], tuple[Callable[[float], float], Callable[[float], float]]]) -> float:
    least = math.inf
    for first in FIRST.tolist():
        reached, error = limit(first)
        low, high = 0.0, LARGEST
        if reached(high) > level:
            for _ in range(BISECTIONS):
                middle = (low + high) / 2
                low, high = (middle, high) if reached(middle) <= level else (low, middle)
            high = low
        least = min(least, error(high)) if high > 1e-9 else least
    return least


def main() -> None:
    level = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    own = 1 / math.tanh(level / 2) ** 2
    print(f"lifetime level {level:g}; n times the sum of errors over waves")
    print("waves, changes: panel | permanent + instantaneous, L-GRR | L-OSUE | dBitFlipPM | equal split")
    for waves in WAVES:
        split = waves / math.tanh(level / waves / 2) ** 2
        for changes in CHANGES:
            sizes = overlaps(waves, changes)
            panel = waves**2 * own
            flips = waves * own if changes == 0 else math.inf
            rivals = [waves * response(level, sizes), waves * unary(level, sizes), flips, split]
            shown = " | ".join(f"{error:,.1f}" for error in (panel, *rivals))
            print(f"{waves}, {changes}{' or more' if changes > 1 else ''}: {shown}", flush=True)


if __name__ == "__main__":
    main()
