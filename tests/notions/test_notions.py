"""Exact levels, conversions and trade-offs against definitions, the paper's examples and brute force."""

import itertools
import math

import numpy as np
import pytest

from bcdp.compare.leak import paper_prior
from bcdp.errors import InputError
from bcdp.notions import (
    bcdp_from,
    bcdp_from_cdp,
    bcdp_from_cdp_and_ldp,
    bcdp_from_ldp,
    bdp_from_ldp,
    budgets_from,
    cdp_from_ldp,
    dobrushin,
    ldp_from_bdp,
    ldp_from_cdp,
    ldp_limit,
    levels,
    linear_constraint,
    scale_budgets,
    scale_budgets_linearly,
    trade_off,
)
from bcdp.notions.tradeoff import allowed
from bcdp.present.pictures import draw_trade_off


def random_pair(rng, max_features=4, max_values=3, max_outputs=4):
    """A finite prior (sometimes with impossible records) and a finite mechanism."""
    shape = tuple(rng.integers(2, max_values + 1, size=rng.integers(1, max_features + 1)))
    prior = rng.dirichlet(np.full(math.prod(shape), rng.choice([0.05, 0.3, 1.0, 10.0]))).reshape(shape)
    if rng.random() < 0.3:
        prior = np.where(prior < np.quantile(prior, 0.3), 0.0, prior)
        prior /= prior.sum()
    kernel = rng.dirichlet(np.full(rng.integers(2, max_outputs + 1), rng.choice([0.5, 3.0, 100.0])), size=shape)
    return prior, kernel


def brute_force(prior, kernel):
    """The definitions, word for word: every record, every set of values, every set of outputs."""
    records = list(itertools.product(*map(range, prior.shape)))
    outputs = [list(s) for r in range(1, kernel.shape[-1]) for s in itertools.combinations(range(kernel.shape[-1]), r)]

    def worst(pairs):
        top = 0.0
        for first, second in pairs:
            for chosen in outputs:
                a, b = first[chosen].sum(), second[chosen].sum()
                if a > 0:
                    top = max(top, math.inf if b <= 0 else math.log(a / b))
        return top

    ldp = worst((kernel[a], kernel[b]) for a in records for b in records)
    possible = [r for r in records if prior[r] > 0]
    bdp = worst((kernel[a], kernel[b]) for a in possible for b in possible)
    cdp, bcdp = [], []
    for i in range(prior.ndim):
        near = [(a, b) for a in records for b in records if a[:i] + a[i + 1 :] == b[:i] + b[i + 1 :]]
        cdp.append(worst((kernel[a], kernel[b]) for a, b in near))
        laws = []
        for size in range(1, prior.shape[i] + 1):
            for event in itertools.combinations(range(prior.shape[i]), size):
                inside = [r for r in records if r[i] in event]
                mass = sum(prior[r] for r in inside)
                if mass > 0:
                    laws.append(sum(prior[r] * kernel[r] for r in inside) / mass)
        bcdp.append(worst(itertools.product(laws, laws)))
    return ldp, bdp, cdp, bcdp


def test_levels_are_the_definitions():
    rng = np.random.default_rng(1)
    for _ in range(150):
        prior, kernel = random_pair(rng, max_features=3)
        exact = levels(prior, kernel)
        ldp, bdp, cdp, bcdp = brute_force(prior, kernel)
        np.testing.assert_allclose([exact.ldp, exact.bdp], [ldp, bdp], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(exact.cdp, cdp, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(exact.bcdp, bcdp, rtol=1e-9, atol=1e-11)


def first_example(a, b, c):
    yes = np.array([[a, 0.0], [b, c]])  # rows x_1, columns x_2
    return np.full((2, 2), 0.25), np.stack([1 - yes, yes], axis=-1)


def test_first_example_of_the_paper_is_bcdp_and_not_ldp():
    exact = levels(*first_example(0.5, 0.5, 0.5))
    np.testing.assert_allclose(exact.bcdp, [math.log(2)] * 2, rtol=1e-15)
    assert exact.ldp == exact.bdp == math.inf
    assert np.all(exact.cdp == math.inf)


def test_first_example_is_not_bcdp_for_all_its_parameters():
    """The paper claims every a, b, c in (0, 1]; with b = c = 1 the answer 'no' proves x_1 = 0."""
    assert levels(*first_example(0.5, 1.0, 1.0)).bcdp[0] == math.inf


def second_example(copies):
    kernel = np.zeros((2, 2, 2, 4))
    for x1, x2, x3 in itertools.product(range(2), repeat=3):
        kernel[x1, x2, x3, 2 * (x1 ^ x2) + x3] += 0.5
        kernel[x1, x2, x3, 2 * x2 + (x1 ^ x3)] += 0.5
    if copies == 2:
        kernel = np.einsum("abcy,abcz->abcyz", kernel, kernel).reshape(2, 2, 2, 16)
    return np.full((2, 2, 2), 0.125), kernel


def test_second_example_of_the_paper_does_not_compose():
    np.testing.assert_allclose(levels(*second_example(1)).bcdp, [0, math.log(3), math.log(3)], atol=1e-15)
    assert levels(*second_example(2)).bcdp[0] == math.inf


def test_post_processing_never_raises_a_level():
    rng = np.random.default_rng(2)
    for _ in range(300):
        prior, kernel = random_pair(rng)
        merged = kernel @ rng.dirichlet(np.ones(3), size=kernel.shape[-1])
        before, after = levels(prior, kernel), levels(prior, merged)
        assert after.ldp <= before.ldp + 1e-9
        assert np.all(after.bcdp <= before.bcdp + 1e-9)
        assert np.all(after.cdp <= before.cdp + 1e-9)


def test_dobrushin_coefficients():
    rng = np.random.default_rng(3)
    independent = np.einsum("a,b,c->abc", *(rng.dirichlet(np.ones(k)) for k in (2, 3, 4)))
    assert dobrushin(independent, 1) == pytest.approx(0, abs=1e-12)
    xor = np.zeros((2, 2, 2))
    for x2, x3 in itertools.product(range(2), repeat=2):
        xor[x2 ^ x3, x2, x3] = 0.25
    assert dobrushin(xor, 0, others=(1,)) == dobrushin(xor, 0, others=(2,)) == 0  # pairs look harmless ..
    assert dobrushin(xor, 0) == 1  # .. and together they give x_1 away
    for q in (0.0, 0.15, 0.6, 1.0):
        assert dobrushin(paper_prior(10, q), 4) == pytest.approx(q, abs=1e-12)
    assert dobrushin([[0.5, 0.5], [0.0, 0.0]], 0) == 0  # an impossible value tells nothing


def test_exact_level_below_tight_form_below_the_papers_forms():
    """4,000 random priors and mechanisms: delta_i <= (*) <= LDP form and sum form; CDP alone is exceeded by many."""
    rng, forgets = np.random.default_rng(4), 0
    for _ in range(4_000):
        prior, kernel = random_pair(rng)
        exact = levels(prior, kernel)
        q = np.array([dobrushin(prior, i) for i in range(prior.ndim)])
        tight = bcdp_from(exact.cdp, exact.ldp, q)
        assert np.all(exact.bcdp <= tight + 1e-12)
        assert np.all(tight <= bcdp_from_cdp_and_ldp(exact.cdp, exact.ldp, q) + 1e-12)
        summed = bcdp_from(exact.cdp, min(ldp_from_cdp(exact.cdp), exact.ldp), q)
        assert np.all(summed <= bcdp_from_cdp(exact.cdp, q) + 1e-12)
        forgets += bool(np.any(exact.bcdp > exact.cdp + 1e-12))
    assert forgets > 100


def test_tight_form_is_attained():
    """Two binary features asked with budgets c and eps - c, the second equal to the first with probability q.

    So the form cannot be lowered: with a q that is 1% too small the level of this mechanism is above it.
    """
    for c, rest, q in ((0.2, 1.8, 0.1), (0.0, 1.0, 0.5), (1.0, 0.3, 0.9), (0.5, 0.5, 1.0), (0.7, 2.0, 0.0)):
        # given x_1 = 1 the second feature is always 0 with mass 1 - q and 1 with mass q; given 0 it is always 0
        prior = np.array([[0.5, 0.0], [0.5 * (1 - q), 0.5 * q]])
        answers = [np.array([[1, math.exp(-b)], [math.exp(-b), 1]]) / (1 + math.exp(-b)) for b in (c, rest)]
        kernel = np.einsum("ay,bz->abyz", *answers).reshape(2, 2, 4)
        assert dobrushin(prior, 0) == pytest.approx(q, abs=1e-12)
        exact = levels(prior, kernel).bcdp[0]
        assert exact == pytest.approx(float(bcdp_from(c, c + rest, q)), abs=1e-12)
        assert exact > bcdp_from(c, c + rest, 0.99 * q) + 1e-5 or q == 0


def test_arrows_of_the_relations_figure():
    rng = np.random.default_rng(5)
    for _ in range(300):
        prior, kernel = random_pair(rng)
        exact = levels(prior, kernel)
        assert exact.bdp <= bdp_from_ldp(exact.ldp) + 1e-12
        if np.all(prior > 0):
            assert exact.ldp <= ldp_from_bdp(exact.bdp) + 1e-12
        assert np.all(exact.bcdp <= bcdp_from_ldp(exact.ldp, prior.ndim) + 1e-12)
        assert np.all(exact.cdp <= cdp_from_ldp(exact.ldp, prior.ndim) + 1e-12)
        assert exact.ldp <= ldp_from_cdp(exact.cdp) + 1e-12


def test_budgets_invert_the_tight_form():
    rng = np.random.default_rng(6)
    for _ in range(500):
        delta, q = rng.uniform(0.01, 3, size=4), rng.uniform(0, 1, size=4)
        epsilon = min(rng.uniform(0.05, 4), float(np.min(np.maximum(ldp_limit(delta, q), delta))))
        c = budgets_from(delta, epsilon, q)
        certified = bcdp_from(c, epsilon, q)
        assert np.all(certified <= delta + 1e-9)
        capped = c < epsilon  # nothing is left on the table
        np.testing.assert_allclose(certified[capped], delta[capped], atol=1e-9)
    np.testing.assert_array_equal(ldp_limit([0.2, 0.2, 0.0], [0.0, 1.0, 0.5]), [math.inf, 0.2, 0.0])
    with pytest.raises(InputError, match=r"epsilon: got 2\.0; accepted: at most 0\.2"):
        budgets_from([0.2, 2.0], 2.0, [1.0, 1.0])


def test_linear_constraint_is_safe_and_the_exact_scale_is_larger():
    rng = np.random.default_rng(7)
    for _ in range(300):
        delta, q = rng.uniform(0.05, 3, size=5), rng.uniform(0.001, 1, size=5)
        direction = rng.uniform(0, 1, size=5)
        safe, exact = scale_budgets_linearly(delta, q, direction), scale_budgets(delta, q, direction)
        assert np.all(linear_constraint(delta, q) @ safe <= 1 + 1e-12)
        assert np.all(bcdp_from_cdp(safe, q) <= delta + 1e-12)
        assert np.all(bcdp_from_cdp(exact, q) <= delta)
        assert np.all(exact >= safe - 1e-12)
        assert np.any(bcdp_from_cdp(exact * (1 + 1e-9), q) > delta)


def test_no_overflow_and_no_loss_at_the_ends():
    assert bcdp_from(0.1, 5000.0, 0.5) == pytest.approx(5000 + math.log(0.5))
    assert bcdp_from(0.1, math.inf, 0.0) == 0.1
    assert bcdp_from(0.1, math.inf, 1e-300) == math.inf
    assert bcdp_from(1e-12, 2e-12, 0.5) == pytest.approx(1.5e-12, rel=1e-6)


def test_trade_off_is_the_neyman_pearson_curve():
    rng = np.random.default_rng(8)
    for _ in range(200):
        prior, kernel = random_pair(rng)
        feature = int(rng.integers(prior.ndim))
        delta = levels(prior, kernel).bcdp[feature]
        axes = tuple(a for a in range(prior.ndim) if a != feature)
        possible = np.flatnonzero(prior.sum(axis=axes) > 0)
        worst = 0.0
        for event, against in itertools.product(possible, possible):
            curve = trade_off(prior, kernel, feature, [event], [against])
            assert np.all(curve.beta >= allowed(delta, curve.alpha) - 1e-9)
            worst = max(worst, curve.level)
        assert worst == pytest.approx(delta, rel=1e-6, abs=1e-9)  # and the line is touched


def test_trade_off_of_randomized_response():
    """One bit with budget log 3: the curve has the one corner (1/4, 1/4)."""
    curve = trade_off([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], 0, [0], [1])
    np.testing.assert_allclose([curve.alpha, curve.beta], [[0, 0.25, 1], [1, 0.25, 0]])
    assert curve.level == pytest.approx(math.log(3))


def test_trade_off_picture(tmp_path):
    curve = trade_off([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], 0, [0], [1])
    draw_trade_off(curve, math.log(3), tmp_path / "curve.png", "smoker")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: levels([0.5, 0.6], [[1, 0], [0, 1]]), "prior"),
        (lambda: levels([0.5, np.nan], [[1, 0], [0, 1]]), "prior"),
        (lambda: levels([0.5, 0.5], [[1, 0], [0.5, 0.6]]), "kernel"),
        (lambda: levels([0.5, 0.5], [1, 0]), "kernel"),
        (lambda: bcdp_from(-1, 2, 0.1), "c: got -1"),
        (lambda: bcdp_from(1, math.nan, 0.1), "epsilon"),
        (lambda: bcdp_from(1, 2, 1.1), "q: got 1.1; accepted: numbers from 0 to 1"),
        (lambda: bcdp_from([1, 2], 2, [0.1, 0.1, 0.1]), "c: got 'shapes"),
        (lambda: linear_constraint([0.0, 1.0], 0.5), "delta"),
        (lambda: scale_budgets([1.0, 1.0], 0.5, [0, 0]), "direction"),
        (lambda: dobrushin([0.5, 0.5], 1), "feature: got 1; accepted: a number from 0 to 0"),
        (lambda: trade_off([0.5, 0.5], [[1, 0], [0, 1]], 0, [0], [2]), "against"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
