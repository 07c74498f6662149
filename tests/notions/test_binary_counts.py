"""The count of one binary question: never less than the truth for any others, and nearly that."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from bcdp.notions import binary_counts
from bcdp.notions.binary_counts import binary_excess
from bcdp_device.verify.binary_counts import binary_excess as verified_excess


def true_excess(factor: float, keep: float, people: int, ones: int) -> float:
    """The larger of both orders, the others' distribution by convolution."""
    first = binom.pmf(np.arange(ones + 1), ones, keep)
    others = np.convolve(first, binom.pmf(np.arange(people - ones), people - 1 - ones, 1 - keep))
    one, zero = (chance * np.r_[0, others] + (1 - chance) * np.r_[others, 0] for chance in (keep, 1 - keep))
    return max(float(np.maximum(a - factor * b, 0).sum()) for a, b in ((one, zero), (zero, one)))


def cases(count: int) -> list[tuple[float, float, int]]:
    rng = np.random.default_rng(3)
    levels = rng.exponential(1.5, count) + 0.05
    return [(math.exp(rng.uniform() * level), 1 / (1 + math.exp(-level)), int(rng.integers(1, 80))) for level in levels]


def test_every_population_of_others_is_covered() -> None:
    closest = 0.0
    for factor, keep, people in cases(150):
        true = max(true_excess(factor, keep, people, ones) for ones in range(people))
        bound = binary_excess(factor, keep, people)
        assert true <= bound * (1 + 1e-12) + 1e-16
        closest = max(closest, true / bound)
    assert closest > 0.999


def test_blocks_that_give_nobody_away_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one population for each block in place of all in it, some others do worse than the bound."""

    def only_the_least(keep: float, people: int) -> tuple[Any, ...]:
        most, tails = people - 1, []
        while most >= 0:
            least = max(0, most - (people - 1 - most) // 16)
            sums = np.convolve(
                binary_counts._binomial(least, keep), binary_counts._binomial(people - 1 - least, 1 - keep)
            )
            tails.append(binary_counts._tail(sums))
            most = least - 1
        return tuple(tails[1:])  # and without the one whose others all have the input 1

    monkeypatch.setattr(binary_counts, "_tails", only_the_least)
    broken = [
        true_excess(factor, keep, people, ones) > binary_excess(factor, keep, people) + 1e-14
        for factor, keep, people in cases(60)
        if people > 2
        for ones in range(people)
    ]
    assert any(broken)


def test_the_second_certifier_has_the_same_bound() -> None:
    for factor, keep, people in cases(40):
        assert verified_excess(factor, keep, people) == pytest.approx(binary_excess(factor, keep, people), rel=1e-9)


def test_many_people_count_as_20000() -> None:
    assert binary_excess(1.1, 0.8, 10**9) == binary_excess(1.1, 0.8, 20_000) < binary_excess(1.1, 0.8, 10_000)
    assert binary_excess(4.1, 0.8, 5) == 0.0  # beyond what one report reveals
