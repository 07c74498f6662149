"""A ledger's sums bound what several releases, adaptive ones too, tell about one person."""

import itertools

import numpy as np
import pytest

from bcdp.errors import InputError
from bcdp.ledger import Ledger, Release
from bcdp.notions import dobrushin, levels


def product_answer(budgets):
    """One randomized bit per feature: a kernel over binary features with the given budgets, and its output count."""
    features = len(budgets)
    kernel = np.ones((2,) * features + (2,) * features)
    for record in itertools.product(range(2), repeat=features):
        for output in itertools.product(range(2), repeat=features):
            for budget, x, y in zip(budgets, record, output, strict=True):
                kernel[record + output] *= 1 / (1 + np.exp(-budget)) if x == y else 1 / (1 + np.exp(budget))
    return kernel.reshape((2,) * features + (-1,))


def test_sums_bound_two_releases_the_second_chosen_by_the_first():
    rng = np.random.default_rng(11)
    for _ in range(200):
        prior = rng.dirichlet(np.full(8, 0.5)).reshape(2, 2, 2)
        first = rng.uniform(0, 1, size=3)
        cap = rng.uniform(0, 1, size=3)  # the second release, whatever the first said, stays within these
        kernel = product_answer(first)
        second = [product_answer(cap * rng.choice([0.3, 1.0], size=3)) for _ in range(kernel.shape[-1])]
        both = np.concatenate([kernel[..., [y]] * second[y] for y in range(len(second))], axis=-1)
        ledger = Ledger()
        for name, budgets in (("first", first), ("second", cap)):
            ledger = ledger.add(Release(name, budgets.sum(), {f"x{i}": b for i, b in enumerate(budgets)}))
        exact = levels(prior, both)
        assert exact.ldp <= ledger.epsilon + 1e-9
        for i in range(3):
            assert exact.cdp[i] <= ledger.c(f"x{i}") + 1e-9
            assert exact.bcdp[i] <= ledger.delta(f"x{i}", dobrushin(prior, i)) + 1e-9


def test_adding_deltas_instead_would_be_wrong():
    """Two copies of the paper's second example: each tells nothing about the first feature, together everything."""
    kernel = np.zeros((2, 2, 2, 4))
    for x1, x2, x3 in itertools.product(range(2), repeat=3):
        kernel[x1, x2, x3, 2 * (x1 ^ x2) + x3] += 0.5
        kernel[x1, x2, x3, 2 * x2 + (x1 ^ x3)] += 0.5
    prior = np.full((2, 2, 2), 0.125)
    exact = levels(prior, kernel)
    ledger = Ledger()
    for name in ("once", "twice"):
        ledger = ledger.add(Release(name, exact.ldp, {"x1": exact.cdp[0]}))
    assert exact.bcdp[0] == 0
    assert ledger.delta("x1", q=0.0) == np.inf


def test_an_untouched_feature_still_pays_for_correlation():
    ledger = Ledger().add(Release("income only", 1.0, {"income": 1.0}))
    assert ledger.c("smoker") == 0
    assert ledger.delta("smoker", 0.0) == 0
    assert ledger.delta("smoker", 1.0) == 1.0
    assert ledger.delta("smoker", 0.1) == pytest.approx(np.log(0.9 + 0.1 * np.e))


def test_bad_release_is_named():
    with pytest.raises(InputError, match=r"release 'a', c.smoker: got -1; accepted: a number of at least 0"):
        Release("a", 1.0, {"smoker": -1})
    with pytest.raises(InputError, match="epsilon"):
        Release("a", float("nan"))
