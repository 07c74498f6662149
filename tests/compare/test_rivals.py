"""The grids that tables are compared with (hdg.py): as good as their authors' own, or nothing is shown."""

from __future__ import annotations

import math
import sys

import numpy as np
import numpy.typing as npt
import pytest

from support.paths import ROOT

sys.path.append(str(ROOT / "benchmarks" / "studies"))  # last: some names are in both
import hdg

Array = npt.NDArray[np.float64]
COUNTS = np.array([5000.0, 1500.0, 2000.0, 0.0, 700.0, 800.0])
DRAWS = 400


@pytest.mark.parametrize(
    ("people", "budget", "parts"),
    [(10**6, 1.0, (16, 4)), (10**6, 0.2, (8, 2)), (10**6, 2.0, (32, 4)), (10**5, 1.0, (8, 2))],
)
def test_granularities_are_those_of_the_authors_program(people: int, budget: float, parts: tuple[int, int]) -> None:
    alone, together = hdg.granularities(people, 6, budget)
    assert (hdg.rounded(alone, 64), hdg.rounded(together, 64)) == parts


def test_granularities_end_at_the_values() -> None:
    assert [hdg.rounded(parts, 4) for parts in (0.1, 2.9, 3.0, 3.1, 99.0)] == [2, 2, 2, 4, 4]
    assert hdg.rounded(math.inf, 7) == 7


def deviations(drawn: Array, variance: Array) -> tuple[Array, float]:
    """Of the mean of each cell in standard errors, and of all squared deviations together, over what is expected."""
    missed = drawn - COUNTS
    return missed.mean(axis=0) / np.sqrt(variance / len(drawn)), float((missed**2 / variance).mean())


@pytest.mark.parametrize("oracle", [hdg.hashing, hdg.response])
@pytest.mark.parametrize("budget", [0.5, 2.0])
def test_oracles_are_unbiased_with_the_published_variance(oracle: hdg.Oracle, budget: float) -> None:
    """False alarms below 1e-9: seven standard errors of six means, and of 2,400 squares. 15% less of the noise, or
    counts that are 15% too small, are found out."""
    rng, e, people = np.random.default_rng(1), math.exp(budget), COUNTS.sum()
    size = round(e) + 1 if oracle is hdg.hashing else len(COUNTS)
    own = e / (e + size - 1)
    other = 1 / size if oracle is hdg.hashing else 1 / (e + size - 1)
    variance = (COUNTS * own * (1 - own) + (people - COUNTS) * other * (1 - other)) / (own - other) ** 2
    drawn = np.array([oracle(COUNTS, budget, rng) for _ in range(DRAWS)])
    room = 7 * math.sqrt(3 / drawn.size)  # the squares of cells that are told together vary a little more

    def holds(found: Array) -> bool:
        mean, squares = deviations(found, variance)
        return bool(np.abs(mean).max() < 7) and abs(squares - 1) < room

    assert holds(drawn)
    assert not holds(COUNTS + 0.85 * (drawn - COUNTS))
    assert not holds(0.85 * drawn)


def test_the_better_oracle_is_the_one_of_less_variance() -> None:
    """Randomized response for few cells, hashing for many: fewer than 3 e^budget + 2."""
    few, many = np.full(4, 1000.0), np.full(64, 1000.0)
    for counts, oracle in ((few, hdg.response), (many, hdg.hashing)):
        found = hdg.better(counts, 1.0, np.random.default_rng(2))
        assert found == pytest.approx(oracle(counts, 1.0, np.random.default_rng(2)))


def test_shares_that_are_not_negative_and_sum_to_one() -> None:
    shares = np.array([0.2, 0.3, 0.5])
    assert hdg.not_negative(shares) == pytest.approx(shares)
    assert hdg.not_negative(np.array([0.7, 0.6, -0.2])) == pytest.approx([0.55, 0.45, 0])
    assert hdg.not_negative(np.array([0.9, 0.3, 0.05, -0.5])) == pytest.approx([0.8, 0.2, 0, 0])
    assert hdg.not_negative(np.array([-1.0, -2.0])) == pytest.approx([0.5, 0.5])


def test_grids_that_share_a_feature_agree() -> None:
    rng = np.random.default_rng(3)
    cells = {(0,): rng.dirichlet(np.ones(8)), (1,): rng.dirichlet(np.ones(8)), (2,): rng.dirichlet(np.ones(8))}
    cells |= {pair: rng.dirichlet(np.ones(16)).reshape(4, 4) for pair in ((0, 1), (0, 2), (1, 2))}
    found = hdg.agreeing(cells, [4, 4, 4])
    assert min(one.min() for one in found.values()) >= 0
    shares = [found[0,].reshape(4, 2).sum(axis=1), found[0, 1].sum(axis=1), found[0, 2].sum(axis=1)]
    assert shares[1] == pytest.approx(shares[0], abs=1e-3)
    assert shares[2] == pytest.approx(shares[0], abs=1e-3)
    assert np.abs(cells[0, 1].sum(axis=1) - cells[0, 2].sum(axis=1)).max() > 0.05  # they did not before


def test_with_little_noise_the_table_is_the_truth() -> None:
    """Two features that go together, even within cells; at a budget of 20 hardly an answer is wrong."""
    rng = np.random.default_rng(4)
    block = rng.choice(16, 300_000, p=rng.dirichlet(np.ones(16)))
    people = np.stack(
        [block // 4 * 4 + rng.integers(0, 4, 300_000), block % 4 * 4 + rng.integers(0, 4, 300_000)], axis=1
    )
    truth = np.bincount(people[:, 0] * 16 + people[:, 1], minlength=256).reshape(16, 16) / len(people)
    found = hdg.estimated(people, [16, 16], 20.0, rng, sizes=lambda *_: (16.0, 4.0))
    assert found.tables[0, 1] == pytest.approx(truth, abs=2e-3)
    assert found.inside((0, 1), (0, 0), (7, 15)) == pytest.approx(truth[:8].sum(), abs=5e-3)
    shuffled = np.stack([people[:, 0], rng.permutation(people[:, 1])], axis=1)
    apart = hdg.estimated(shuffled, [16, 16], 20.0, rng, sizes=lambda *_: (16.0, 4.0))
    assert np.abs(apart.tables[0, 1] - truth).max() > 5e-3
