"""Which folded square waves to draw, and how often: A-optimal for the shares below the edges of bins.

Of waves drawn with shares p, the least second moment of a decoded number is `t' M^-1 t`, inputs uniform, where
`M = sum p W D^-1 W'` adds up what each reveals (theory.md, section 4.9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bcdp.exact import MOST_CELLS, TOTAL, Floats, check_budget, check_whole, exp_down
from bcdp.randomizers.waves import MOST_BINS, Wave, Waves

LEAST_BUDGET = 1e-4  # below, weights that are integers could not distinguish the answers

_WIDTHS = (0.8, 1.0, 1.25, 1.6)  # times the share of subset selection, where one answer reveals most
_WIDER = (0.85, 1.0, 1.15, 1.3, 1.5, 1.8, 2.2, 2.7, 3.3, 4.0, 5.0)  # where one turn is as long as the number's range
_ROUNDS = 600
_ENOUGH = 2e-3  # no other shares of these waves could save more of the objective
_RARE = 2e-4  # shares below this are left out
_POWER = 0.8  # of the multiplicative step; 1 may swing


@dataclass(frozen=True)
class Circle:
    """A wave before it has weights: so many answers, the step from input to input, the width of the likely arc."""

    answers: int
    step: int
    width: int

    def law(self, bins: int, budget: float) -> Floats:
        """The chance of each answer from each input."""
        phase = (self.step * np.arange(bins)[:, None] + np.arange(self.answers)) % self.answers
        weights = np.where(phase < self.width, math.exp(budget), 1.0)
        return np.asarray(weights / weights[0].sum())


@lru_cache(maxsize=256)
def waves(bins: int, budget: float) -> Waves:
    """The waves that reveal the shares below the edges of so many bins best on average, within the budget.

    >>> table = waves(16, 1.0)
    >>> 0.999 < table.level <= 1.0
    True
    """
    check_whole("bins", bins, 2, MOST_BINS)
    circles, shares = best_shares(bins, max(check_budget(budget), LEAST_BUDGET))
    bound = exp_down(budget)
    designs = []
    for circle, share in zip(circles, shares.tolist(), strict=True):
        each = int(share * TOTAL) / (circle.width * float(bound) + circle.answers - circle.width)
        low = math.floor(each)
        if low:
            designs.append(Wave(circle.answers, circle.step, circle.width, math.floor(bound * low), low))
    return Waves(bins, tuple(designs))


@lru_cache(maxsize=256)
def best_shares(bins: int, budget: float) -> tuple[tuple[Circle, ...], Floats]:
    """The circles to draw from and how often, for the least mean variance of the shares below the bins' edges."""
    below = steps(bins) - steps(bins).mean(axis=0)
    wanted = below @ below.T / (bins - 1)
    circles = _candidates(bins, budget)
    shares = _balance(circles, bins, budget, wanted)
    kept = _affordable(circles, shares, bins)
    circles = [circles[i] for i in kept]
    return tuple(circles), _balance(circles, bins, budget, wanted)


@lru_cache(maxsize=1024)
def least_moment(bins: int, budget: float) -> float:
    """The least total second moment of the decoded shares below the bins' edges, nearly: fewer steps towards it."""
    circles, below = _candidates(bins, budget), steps(bins)
    wanted = below @ below.T
    shares = _balance(circles, bins, budget, wanted, rounds=60)
    return float(np.trace(np.linalg.solve(_Informations(circles, bins, budget).together(shares), wanted)))


def steps(bins: int) -> Floats:
    """For each bin, whether it is below each of the edges between bins: shape (bins, bins - 1).

    >>> steps(3).tolist()
    [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    """
    return np.asarray(np.arange(bins)[:, None] < np.arange(1, bins), dtype=np.float64)


def _candidates(bins: int, budget: float) -> list[Circle]:
    """Waves of one, two and three half turns over the range, and of every even number of them.

    An even number of half turns that has a divisor in common with the circle needs no more answers than the rest.
    """
    share, turn = 1 / (1 + math.exp(budget)), 2 * bins

    def circles(answers: int, step: int, factors: tuple[float, ...]) -> list[Circle]:
        widths = (min(max(round(answers * share * factor), 1), answers - 1) for factor in factors)
        return [Circle(answers, step, width) for width in widths]

    candidates = [circle for step in (1, 2, 3) if step < turn for circle in circles(turn, step, _WIDER)]
    for half_turns in range(2, bins + 1, 2):
        common = math.gcd(half_turns, turn)
        if common < turn:
            candidates += circles(turn // common, half_turns // common, _WIDTHS)
    return list(dict.fromkeys(candidates))


def _affordable(circles: list[Circle], shares: Floats, bins: int) -> list[int]:
    """The most frequent circles, as many as a table has room for."""
    kept, answers_left = [], MOST_CELLS // bins - 1
    for i in np.argsort(-shares):
        if shares[i] >= _RARE and circles[i].answers <= answers_left:
            kept.append(int(i))
            answers_left -= circles[i].answers
    return sorted(kept)


def _balance(circles: list[Circle], bins: int, budget: float, wanted: Floats, rounds: int = _ROUNDS) -> Floats:
    """The shares of least `trace(M^-1 wanted)`, by multiplicative steps."""
    informations = _Informations(circles, bins, budget)
    shares = np.full(len(circles), 1 / len(circles))
    for _ in range(rounds):
        matrix = informations.together(shares)
        half = np.linalg.solve(matrix, wanted)
        worth = informations.worth(np.linalg.solve(matrix, half.T)) / np.trace(half)
        if worth.max() < 1 + _ENOUGH:
            break
        shares = shares * worth**_POWER
        shares /= shares.sum()
    return shares


class _Informations:
    """`W D^-1 W'` of every circle: where all answers are equally likely on average, a function of the inputs' distance.

    That is so for an even number of half turns: the inputs then go round the circle, or through equal parts of it.
    """

    def __init__(self, circles: list[Circle], bins: int, budget: float) -> None:
        self._bins = bins
        self._apart = np.abs(np.subtract.outer(np.arange(bins), np.arange(bins)))
        self._even = np.array([bins % (c.answers // math.gcd(c.step, c.answers)) == 0 for c in circles])
        laws = [circle.law(bins, budget) for circle in circles]
        self._rows = np.array([
            (law[0] / law.mean(axis=0)) @ law.T for law, even in zip(laws, self._even, strict=True) if even
        ]).reshape(-1, bins)  # fmt: skip
        self._full = np.array([
            ((law / law.mean(axis=0)) @ law.T).ravel() for law, even in zip(laws, self._even, strict=True) if not even
        ]).reshape(-1, bins**2)  # fmt: skip

    def together(self, shares: Floats) -> Floats:
        """What the circles reveal together when drawn with these shares."""
        full = (shares[~self._even] @ self._full).reshape(self._bins, self._bins)
        return np.asarray((shares[self._even] @ self._rows)[self._apart] + full)

    def worth(self, prices: npt.NDArray[np.float64]) -> Floats:
        """The trace of what each circle reveals times the prices."""
        sums = np.array([np.trace(prices, offset) * (2 if offset else 1) for offset in range(self._bins)])
        result = np.zeros(len(self._even))
        result[self._even] = self._rows @ sums
        result[~self._even] = self._full @ prices.ravel()
        return result
