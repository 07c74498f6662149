"""Budgets from demands: never more than was asked, the theorem as printed, the best level never below the baseline."""

import math
from decimal import Context, Decimal

import numpy as np
import pytest

from bcdp.errors import InputError
from bcdp.mechanisms.cascade import Laplace, OneBit, budgets, certify, level_budgets, predicted_error, theorem_budgets

pytestmark = pytest.mark.slow

EXACT = Context(prec=60)
DIGITS = Decimal("1e-50")  # what 60 digits leave open, where (*) holds with equality


def exact_delta(c, epsilon, q, odds=math.inf):
    """(*) with 60 digits: log((1 - q) e^c + q e^epsilon); with odds, Theorem 8."""
    c, epsilon, q, odds = (Decimal(float(value)) for value in (c, epsilon, q, odds))
    if odds < Decimal("inf"):
        q = min(q, EXACT.divide(odds - 1, odds + 1))
        gained = EXACT.multiply(q, EXACT.exp(EXACT.subtract(epsilon, c)) - 1)
        more = 0 if gained == 0 or odds == 1 else 1 / EXACT.add(EXACT.divide(1, gained), EXACT.divide(1, odds - 1))
        return EXACT.add(c, EXACT.ln(EXACT.add(Decimal(1), Decimal(more))))
    mixture = EXACT.add(
        EXACT.multiply(EXACT.subtract(Decimal(1), q), EXACT.exp(c)), EXACT.multiply(q, EXACT.exp(epsilon))
    )
    return EXACT.ln(mixture)


def random_demands(rng):
    d = int(rng.integers(1, 7))
    delta = rng.choice([0.2, 1.0, *10 ** rng.uniform(-4, 0.7, 3)], d)
    q = rng.choice([0.0, 1.0, *10 ** rng.uniform(-3, 0, 3)], d)
    return delta, float(10 ** rng.uniform(-1, 1)), q


def keeps(chosen, delta, epsilon, q, odds=None):
    """Whether the certificate holds with 60 digits and stays within the demands."""
    most = np.full(len(q), np.inf) if odds is None else odds
    proved = all(
        exact_delta(c, chosen.epsilon, *bounds) <= EXACT.add(Decimal(float(claimed)), DIGITS)
        for c, claimed, *bounds in zip(chosen.c, chosen.delta, q, most, strict=True)
    )
    return proved and (chosen.delta <= delta).all() and chosen.epsilon <= epsilon and chosen.epsilon == chosen.c.max()


def test_certificates_hold_exactly_and_never_exceed_the_demands():
    """Random demands, correlations of 0 and 1 included; budgets 10% too high are caught."""
    rng = np.random.default_rng(11)
    for _ in range(60):
        delta, epsilon, q = random_demands(rng)
        for chosen in (budgets(delta, epsilon, q), theorem_budgets(delta, epsilon, q, float(rng.uniform(0.1, 1)))):
            assert keeps(chosen, delta, epsilon, q)
        best = budgets(delta, epsilon, q)
        assert not keeps(certify(1.1 * best.c, q), delta, epsilon, q)


def test_certificates_hold_under_odds_and_cost_no_accuracy():
    """Odds of 1 and without a limit among them; budgets 10% too high are caught, and odds that are forgotten matter."""
    rng, gained = np.random.default_rng(13), 0
    for _ in range(80):
        delta, epsilon, q = random_demands(rng)
        odds = rng.choice([1.0, math.inf, *(1 + 10 ** rng.uniform(-2, 1, 3))], len(delta))
        chosen, without = budgets(delta, epsilon, q, odds=odds), budgets(delta, epsilon, q)
        assert keeps(chosen, delta, epsilon, q, odds)
        assert not keeps(certify(1.1 * chosen.c, q, odds), delta, epsilon, q, odds)
        error, larger = (predicted_error(found.c, 1).sum() for found in (chosen, without))
        assert error <= larger * 1.01  # budgets that differ a little need one channel more
        gained += error < 0.99 * larger and not keeps(certify(chosen.c, q), delta, epsilon, q)
    assert gained > 10


def test_a_level_under_odds_by_hand():
    """1/(q (e^level - 1)) = 1/(e^delta - 1) - 1/(odds - 1), q = 1/3 by odds of 2; no limit for odds below e^delta."""
    largest = math.log1p(3 / (1 / math.expm1(0.2) - 1))
    assert level_budgets([0.2, 2.0], largest - 1e-9, 1.0, odds=2.0).c[0] == pytest.approx(0, abs=1e-8)
    with pytest.raises(InputError, match=rf"^level: got .*at most {largest:.6g} for these delta, q and odds"):
        level_budgets([0.2, 2.0], largest + 1e-6, 1.0, odds=2.0)
    assert level_budgets([0.2, 2.0], 2.0, 1.0, odds=1.2).epsilon == 2.0
    assert budgets([0.0, 1.0], 2.0, 0.5, odds=1.0).c.tolist() == [0.0, 1.0]


def test_certificate_by_hand():
    certified = certify([0.5, 2.0, 1.0], [0.25, 0.5, 0.0])
    assert certified.epsilon == 2.0
    assert certified.delta[0] == pytest.approx(math.log(0.75 * math.exp(0.5) + 0.25 * math.exp(2)), rel=1e-11)
    assert certified.delta[1:].tolist() == [2.0, 1.0]


def printed_theorem(delta, epsilon, q, zeta):
    """The paper's formula, literally, for sorted demands and one q > 0."""
    tilde = [min(value, epsilon) for value in delta]
    last = min(math.log((math.exp(zeta * tilde[0]) + q - 1) / q), tilde[-1])
    return [last if last <= value + 1e-12 else value - math.log(1 + q * math.exp(last) - q) for value in tilde[:-1]] + [
        last
    ]


@pytest.mark.parametrize("q", [0.001, 0.05, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("zeta", [0.2, 0.5, 1.0])
def test_the_theorem_is_the_papers(q, zeta):
    rng = np.random.default_rng(12)
    for delta in ([0.2, 0.2, 2.0, 2.0], [0.1, 0.5, 0.7, 3.0], [0.4], [1.0, 5.0, 9.0]):
        expected = np.maximum(printed_theorem(delta, 2.0, q, zeta), 0)
        order = rng.permutation(len(delta))
        found = theorem_budgets(np.array(delta)[order], 2.0, q, zeta).c
        np.testing.assert_allclose(found, expected[order], atol=1e-11)
        one_each = theorem_budgets(delta, 2.0, [q] * len(delta), zeta).c
        np.testing.assert_allclose(one_each, expected, atol=1e-11)


def test_without_correlation_every_feature_gets_its_demand():
    for chosen in (theorem_budgets([0.2, 3.0, 1.0], 2.0, 0.0, 0.5), budgets([0.2, 3.0, 1.0], 2.0, 0.0, zeta=0.5)):
        assert chosen.c.tolist() == [0.2, 2.0, 1.0]
        assert chosen.delta.tolist() == [0.2, 2.0, 1.0]


def test_a_label_without_a_bound_is_exempt_only_while_its_demand_is_the_largest():
    free = theorem_budgets([0.2, 1.0, 2.0], 2.0, [0.05, 0.05, 0.05], 0.5)
    exempt = theorem_budgets([0.2, 1.0, 2.0], 2.0, [0.05, 0.05, 1.0], 0.5)
    np.testing.assert_allclose(free.c, exempt.c)
    limited = budgets([0.2, 2.0, 0.3], 2.0, [0.001, 0.001, 1.0])
    assert limited.epsilon <= 0.3
    assert limited.delta[2] <= 0.3


def test_budgets_at_a_level_by_hand():
    chosen = level_budgets([0.2, 0.9, 2.0], 0.6, [0.1, 1.0, 0.3])
    assert chosen.c[0] == pytest.approx(math.log((math.exp(0.2) - 0.1 * math.exp(0.6)) / 0.9), abs=1e-10)
    assert chosen.c[1:].tolist() == [0.6, 0.6]
    largest = math.log(1 + math.expm1(0.2) / 0.1)
    assert level_budgets([0.2, 2.0], largest - 1e-9, 0.1).c[0] == pytest.approx(0, abs=1e-8)
    for level in (largest + 1e-6, 3.0):
        with pytest.raises(InputError, match=r"^level: got .*at most 1\.16"):
            level_budgets([0.2, 2.0], level, 0.1)
    with pytest.raises(InputError, match=r"^level: got .*at most 0\.2"):
        level_budgets([0.2, 2.0], 0.21, [1.0, 0.0])
    with pytest.raises(InputError, match=r"^level: got 0"):
        level_budgets([0.2], 0.0, 0.1)


@pytest.mark.parametrize("q", [0.0, 0.003, 0.01, 0.05, 0.12, 0.23, 0.4, 0.45, 0.8, 1.0])
def test_the_best_level_beats_a_fine_grid_and_the_baseline(q):
    delta = np.array([0.2, 2.0, 0.2, 0.9, *[2.0] * 6])
    best = predicted_error(budgets(delta, 2.0, q).c, 1).sum()
    assert best <= predicted_error(np.full(10, 0.2), 1).sum()
    largest = min(2.0, math.log1p(math.expm1(0.2) / q)) if q else 2.0
    for level in np.linspace(0.2, largest * (1 - 1e-9), 1000):
        assert best <= predicted_error(level_budgets(delta, level, q).c, 1).sum() * (1 + 1e-6)


def test_the_best_level_is_chosen_for_the_channel():
    delta, q = [0.2, 0.2, *[2.0] * 8], 0.12
    for channel in (OneBit(), Laplace()):
        own = predicted_error(budgets(delta, 2.0, q, channel=channel).c, 1, channel).sum()
        assert own <= predicted_error(budgets(delta, 2.0, q).c, 1, channel).sum() * (1 + 1e-9)
        assert own <= predicted_error([0.2] * 10, 1, channel).sum()


def test_an_independent_feature_with_demand_zero_is_left_out():
    chosen = budgets([0.0, 1.0], 2.0, [0.0, 0.3])
    assert chosen.c.tolist() == [0.0, 1.0]
    assert chosen.delta.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("zeta", [None, 0.5])
def test_infeasible_demands_get_one_clear_error(zeta):
    with pytest.raises(InputError, match=r"^delta: got \[0.0, 0\]; accepted: at least one demand above 0"):
        budgets([0.0, 0], 2.0, 0.0, zeta)
    with pytest.raises(InputError, match=r"^delta: got 0 for feature 1, whose q is 0.1.*accepted: a demand above 0"):
        budgets([1.0, 0.0], 2.0, 0.1, zeta)


@pytest.mark.parametrize("zeta", [None, 0.5])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("delta", [-0.1, 1.0]),
        ("delta", [math.nan, 1.0]),
        ("delta", []),
        ("delta", 1.0),
        ("delta", [[1.0]]),
        ("delta", ["a"]),
        ("epsilon", 0.0),
        ("epsilon", -1.0),
        ("epsilon", math.nan),
        ("epsilon", math.inf),
        ("epsilon", 701.0),
        ("q", -0.1),
        ("q", 1.1),
        ("q", math.nan),
        ("q", [0.1]),
        ("q", [0.1, 0.1, 0.1]),
    ],
)
def test_bad_demands_are_refused(name, value, zeta):
    arguments = {"delta": [0.2, 1.0], "epsilon": 2.0, "q": 0.1, "zeta": zeta} | {name: value}
    with pytest.raises(InputError, match=rf"^{name}: got .*; accepted: "):
        budgets(**arguments)


@pytest.mark.parametrize("odds", [0.9, -1.0, math.nan, [2.0], [2.0, 2.0, 2.0], "many"])
def test_bad_odds_are_refused(odds):
    with pytest.raises(InputError, match=r"^odds: got .*; accepted: one number of at least 1, infinite for no limit"):
        budgets([0.2, 1.0], 2.0, 0.1, odds=odds)


@pytest.mark.parametrize("zeta", [0.0, -0.5, 1.1, math.nan])
def test_zeta_outside_its_range_is_refused(zeta):
    with pytest.raises(InputError, match=r"^zeta: got .*accepted: a number above 0 and at most 1"):
        theorem_budgets([0.2, 1.0], 2.0, 0.1, zeta)


def test_an_unlimited_demand_is_epsilon():
    assert budgets([math.inf, math.inf], 2.0, 1.0).c.tolist() == [2.0, 2.0]
