"""What the published counts tell: never less than enumeration finds, and little more."""

from __future__ import annotations

import functools
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
import yaml
from scipy.optimize import brentq
from scipy.signal import fftconvolve
from scipy.stats import binom

from bcdp import Policy, make_plan
from bcdp.compare.fertility import POLICY
from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.notions import Surplus, counts_factor, excess
from bcdp.plan import Plan
from bcdp.plan.published_counts import counts_levels, feature_surplus, record_surplus
from bcdp.randomizers import Dense, response
from support.helpers import build, full_kernel
from support.paths import ROOT
from support.published_counts import cases, exceeding, ranged_cases, shares_used, tally_laws

pytestmark = pytest.mark.slow

Array = npt.NDArray[np.float64]
BIT = {"bit": {"type": "binary", "delta": 20.0}}


def one_bit(table: object) -> Plan:
    return build(BIT, [(("bit",), (2,), table)], [(TOTAL, [0])])  # type: ignore[list-item]


def test_no_tally_tells_more_than_is_proved() -> None:
    """All tallies of up to 8 people, correlated priors, others of every kind; published_counts.py has 500 plans."""
    rng = np.random.default_rng(7)
    used = [max(shares_used(rng, case, 2)) for case in cases(rng, 75)]
    assert max(used) <= 1
    assert max(used) > 0.85


@pytest.mark.parametrize(
    "broken",
    [
        lambda factor, surplus, people: excess(factor, surplus, 2 * people),
        lambda factor, surplus, people: excess(
            factor, surplus._replace(second_moment=surplus.second_moment / 2), people
        ),
        lambda factor, surplus, people: excess(factor, surplus, people) / 2,
    ],
    ids=["twice the people", "twice the blanket", "half the chance"],
)
def test_the_enumeration_sees_a_wrong_bound(broken: object) -> None:
    rng = np.random.default_rng(7)
    assert any(max(shares_used(rng, case, 1, broken)) > 1 for case in cases(rng, 25))


def test_tallies_of_open_groups_tell_what_the_smaller_one_does() -> None:
    """Of 3 people in your group and 5 in another: the bound for 3 holds, and the bound for all 8 does not."""
    plan = one_bit(response(2, 1.0))
    kernel = full_kernel(plan).reshape(2, -1)
    own, beside = tally_laws(kernel, (0, 1)), tally_laws(kernel, (0, 0, 1, 1))[0]
    both = np.array([np.outer(law, beside).ravel() for law in own])  # all that is published
    surplus = record_surplus(plan)(1.3)
    true = exceeding(both, 1.3)
    assert true == pytest.approx(exceeding(own, 1.3), abs=1e-12)
    assert excess(1.3, surplus, 8) < true <= excess(1.3, surplus, 3)


def batch_laws(kernel: Array, others: tuple[int, ...], fakes: tuple[int, ...], *, mixed: bool) -> Array:
    """For each record of one person, the chance of every sequence of reports in a batch; fakes are known answers."""
    honest = [None, *others]  # this person's report arrives first
    size, symbols = len(honest) + len(fakes), kernel.shape[1]
    orders = list(itertools.permutations(range(size))) if mixed else [tuple(range(size))]
    laws = np.zeros((len(kernel), symbols**size))
    for record in range(len(kernel)):
        rows = [kernel[record if other is None else other] for other in honest]
        rows += [np.eye(symbols)[answer] for answer in fakes]
        for order in orders:
            laws[record] += functools.reduce(np.kron, [rows[place] for place in order]) / len(orders)
    return laws


def test_a_mixed_batch_reveals_what_the_tally_of_its_honest_reports_does() -> None:
    """2 honest reports and 4 that the collector sent itself, all 2^6 sequences that it may see.

    The bound for the honest ones holds and the bound for all 6 does not; a relay that keeps the order voids both.
    """
    plan, factor, fakes = one_bit(response(2, 1.0)), 1.3, (0, 1, 1, 1)
    kernel = full_kernel(plan).reshape(2, -1)
    surplus = record_surplus(plan)(factor)
    for others in ((0,), (1,)):
        true = exceeding(batch_laws(kernel, others, fakes, mixed=True), factor)
        assert true == pytest.approx(exceeding(tally_laws(kernel, others), factor), abs=1e-12)
        assert excess(factor, surplus, 6) < true <= excess(factor, surplus, 2)
        assert exceeding(batch_laws(kernel, others, fakes, mixed=False), factor) > excess(factor, surplus, 2)


def test_numbers_by_ranges_in_joint_tables() -> None:
    """The range of a number that goes with the others in any way within it; 200 plans in published_counts.py."""
    rng = np.random.default_rng(2)
    used = [max(shares_used(rng, case, 2)) for case in ranged_cases(rng, 30)]
    assert 0.6 < max(used) <= 1  # so that half of what is proved would be exceeded


def test_a_feature_that_goes_with_the_others_needs_q() -> None:
    """Counted as if it were independent of what is asked, enumeration finds more than the claim."""
    features = {"own": {"type": "binary", "delta": 20.0}, **BIT}
    asked = [(("bit",), (2,), response(2, 1.0))]
    honest, careless = (build(features, asked, [(TOTAL, [0])], q=q) for q in (0.5, 0.0))
    kernel = full_kernel(honest).reshape(4, -1)  # by bit, then by own
    laws = tally_laws(kernel, (0,) * 5)
    given = np.array([0.5 * (laws[0] + laws[2]), laws[3]])  # the bit goes with it by 1/2
    true = exceeding(given, 1.05)
    assert excess(1.05, feature_surplus(honest, "own")(1.05), 6) >= true
    assert excess(1.05, feature_surplus(careless, "own")(1.05), 6) == 0.0


def blanket_mean(one: Array, other: Array, least: Array, factor: float, people: int) -> float:
    """Theorem 10 as it stands: the mean of the positive part of the sum of all surpluses, over people."""
    values = [*((one - factor * other) / least), 0.0]
    chances = [*least, 1 - least.sum()]
    total = 0.0
    for counts in itertools.product(range(people + 1), repeat=len(least)):
        rest = people - sum(counts)
        if rest >= 0:
            ways = math.factorial(people) / math.prod(math.factorial(k) for k in (*counts, rest))
            chance = ways * math.prod(p**k for p, k in zip(chances, (*counts, rest), strict=True))
            total += chance * max(0.0, sum(v * k for v, k in zip(values, (*counts, rest), strict=True)))
    return total / people


def test_both_steps_of_the_proof() -> None:
    """Tallies against the blanket, and the blanket against two numbers of it."""
    rng = np.random.default_rng(3)
    closest = [0.0, 0.0]
    for _ in range(60):
        kernel = np.exp(rng.choice([0.2, 0.7, 1.5]) * rng.choice([-1.0, 0.0, 1.0], (3, 3)))
        kernel /= kernel.sum(axis=1, keepdims=True)
        one, other, least = kernel[0], kernel[1], kernel.min(axis=0)
        people, factor = int(rng.integers(2, 7)), math.exp(rng.uniform(0, 0.5))
        laws = tally_laws(kernel, tuple(map(int, rng.integers(3, size=people - 1))))
        true = float(np.maximum(laws[0] - factor * laws[1], 0).sum())
        between = blanket_mean(one, other, least, factor, people)
        surplus = Surplus(
            float(((one - factor * other) ** 2 / least).sum()), float(((one - factor * other) / least).max())
        )
        proved = excess(factor, surplus, people)
        assert true <= between + 1e-12
        assert between <= proved + 1e-12
        if between > 1e-9:
            closest = [max(closest[0], true / between), max(closest[1], between / proved)]
    assert min(closest) > 0.8


@pytest.mark.parametrize("people", [1, 2, 7, 40])
def test_excess_is_computed_from_above(people: int) -> None:
    """Beside the same mean in whole numbers: never below, and above by no more than Stirling's formula is."""
    rng = np.random.default_rng(people)
    for _ in range(30):
        factor, largest = 1 + float(rng.exponential(0.3)), float(rng.exponential(1.0))
        second = (factor - 1) ** 2 + float(rng.exponential(0.5))
        drift, reach = Fraction(factor) - 1, Fraction(largest) + Fraction(factor) - 1
        variance = Fraction(second) - drift**2
        chance, step = variance / (reach**2 + variance), (reach**2 + variance) / reach
        zero = people * (chance + drift / step)
        spread = math.sqrt(people * chance * (1 - chance))
        h = Fraction(spread * min(1.0, spread / float(people * drift / step)))
        mean = Fraction(0)
        for k in range(people + 1):
            if k > zero - h:
                mean += math.comb(people, k) * chance**k * (1 - chance) ** (people - k) * (k - zero + h) ** 2
        exact = float(min(1, mean * step / (4 * people * h)))
        found = excess(factor, Surplus(second, largest), people)
        assert exact <= found <= exact * 1.1 + 1e-300


def exact_level(epsilon: float, people: int, chance: float) -> float:
    """Randomized response: the level in counts, the worst of three populations of others."""
    keep = 1 / (1 + math.exp(-epsilon))

    def true(factor: float, ones: int) -> float:
        first = binom.pmf(np.arange(ones + 1), ones, keep)
        second = binom.pmf(np.arange(people - ones), people - 1 - ones, 1 - keep)
        others = np.maximum(fftconvolve(first, second), 0)
        one, other = np.r_[0, others], np.r_[others, 0]
        return exceeding(np.array([keep * one + (1 - keep) * other, (1 - keep) * one + keep * other]), factor) - chance

    ends = (1.0, math.exp(epsilon))
    return max(math.log(brentq(true, *ends, args=(ones,))) for ones in (0, people // 2, people - 1))


@pytest.mark.parametrize("people", [1_000, 10_000, 100_000])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_randomized_response_is_nearly_exact(epsilon: float, people: int) -> None:
    """Up to 20,000 people by Theorem 15, of more by the blanket."""
    told = counts_levels(one_bit(response(2, epsilon)), people).features["bit"].epsilon
    assert 1 < told / exact_level(epsilon, people, 1e-6) <= (1.05 if people <= 20_000 else 1.4)


def test_odds_are_not_the_excess() -> None:
    """The level of the excess is exceeded a thousand times as often as its chance; that of the odds is not."""
    epsilon, people = 0.3, 10_000
    told = counts_levels(one_bit(response(2, epsilon)), people).features["bit"]
    keep = 1 / (1 + math.exp(-epsilon))
    others = binom.pmf(np.arange(people), people - 1, 1 - keep)
    up, stay = np.r_[0, others], np.r_[others, 0]
    one, other = keep * up + (1 - keep) * stay, (1 - keep) * up + keep * stay
    for law, rival in ((one, other), (other, one)):
        assert float(law[law > math.exp(told.odds) * rival].sum()) <= 1e-6
        assert float(law[law > math.exp(0.95 * told.epsilon) * rival].sum()) > 5e-4
        assert float(law[law > math.exp(0.85 * told.odds) * rival].sum()) > 1e-6


def test_the_demo() -> None:
    plan = make_plan(Policy.parse(yaml.safe_load(POLICY)))
    for people, most in ((10**4, 0.015), (10**5, 0.0042), (10**6, 0.0012)):
        told = counts_levels(plan, people)
        assert 0 < told.features["more_kids"].epsilon <= most
        assert told.features["more_kids"].epsilon < told.features["more_kids"].odds
        assert max(level.epsilon for level in told.features.values()) <= told.record.epsilon


def two_blankets(ratio: float, distance: float, least: float, people: int, factor: float) -> float:
    """A wrong formula: an answer is in one of two blankets, or in neither, which is taken to tell nothing."""
    share = distance / (ratio - 1)
    hidden = min(1.0, 2 * share * ratio / least)
    one: dict[tuple[int, int], float] = {}
    other: dict[tuple[int, int], float] = {}
    for both in range(people):
        for first in range(both + 1):
            chance = binom.pmf(both, people - 1, hidden) * binom.pmf(first, both, 0.5)
            neither = 1 - share - ratio * share
            for tally, a, b in (
                ((first + 1, both - first), ratio * share, share),
                ((first, both - first + 1), share, ratio * share),
                ((first, both - first), neither, neither),
            ):
                one[tally] = one.get(tally, 0.0) + chance * a
                other[tally] = other.get(tally, 0.0) + chance * b
    return sum(max(0.0, one[tally] - factor * other[tally]) for tally in one)


def test_the_formula_with_an_answer_in_neither_blanket_is_wrong() -> None:
    weights = [
        [357_000_000, TOTAL - 357_000_000],
        [994_000_000, TOTAL - 994_000_000],
        [3_300_000_000, TOTAL - 3_300_000_000],
    ]
    features = {"kind": {"type": "categorical", "values": ["a", "b", "c"], "delta": 20.0}}
    plan = build(features, [(("kind",), (3,), Dense(np.array(weights)))], [(TOTAL, [0])])
    kernel = np.array(weights) / TOTAL
    one, other, least = kernel[0], kernel[1], kernel.min(axis=0)
    factor, people = 2.0, 4
    true = exceeding(tally_laws(kernel, (2,) * (people - 1))[:2], factor)
    ratio = max((one / other).max(), (other / one).max())
    wrong = two_blankets(ratio, np.maximum(one - other, 0).sum(), (kernel[:2] / least).max(), people, factor)
    assert wrong < true / 2
    assert excess(factor, feature_surplus(plan, "kind")(factor), people) >= true
    assert excess(factor, record_surplus(plan)(factor), people) >= true


def rare_answers(share: float, level: float) -> Array:
    """Two answers that are rare and tell as much as randomized response; the third tells nothing."""
    high, low = (round(share * TOTAL * math.exp(sign * level / 2)) for sign in (1, -1))
    rest = TOTAL - high - low
    return np.array([[high, low, rest], [low, high, rest]])


def test_rare_answers_that_tell_as_much_are_hidden_less() -> None:
    """A bound from the total variation would be false: rare answers with a large ratio tell more at the same one."""
    people, level, share = 10_000, 0.3, 1e-3
    weights = rare_answers(share, level)
    kernel = weights / TOTAL
    rare = kernel[0, 0] + kernel[0, 1]
    numbers = np.arange(80)  # of others with a rare answer, all of one kind
    others_rare = binom.pmf(numbers, people - 1, rare)

    def true(factor: float) -> float:
        total = 0.0
        for number, chance in zip(numbers, others_rare, strict=True):
            others = chance * binom.pmf(np.arange(number + 1), number, kernel[0, 0] / rare)
            fewer = others_rare[number - 1] * binom.pmf(np.arange(number), number - 1, kernel[0, 0] / rare)
            one, other = (
                kernel[x, 2] * others
                + (kernel[x, 0] * np.r_[0, fewer] + kernel[x, 1] * np.r_[fewer, 0] if number else 0)
                for x in (0, 1)
            )
            total += float(np.maximum(one - factor * other, 0).sum())  # of tallies with so many rare answers
        return total - 1e-6

    exact = math.log(brentq(true, 1.0, math.exp(level)))
    distance = float(np.maximum(kernel[0] - kernel[1], 0).sum())
    alike = counts_levels(one_bit(response(2, 2 * math.atanh(distance))), people).features["bit"].epsilon
    told = counts_levels(one_bit(Dense(weights)), people).features["bit"].epsilon
    assert alike < exact / 2
    assert exact <= told <= 1.4 * exact


def test_excess_rises_with_both_numbers() -> None:
    """So that upper bounds may be put in their place."""
    for people, factor in itertools.product((3, 100, 10_000), (1.001, 1.03, 1.4)):
        found = [excess(factor, Surplus(second, 0.5), people) for second in np.linspace(0.2, 1.0, 9)]
        assert found == sorted(found)
        found = [excess(factor, Surplus(0.2, largest), people) for largest in np.linspace(0.3, 3.0, 9)]
        assert all(one <= other * 1.02 for one, other in itertools.pairwise(found))  # h is not quite the best one


def test_known_laws_count() -> None:
    """Where the law of what is asked is known given a feature, the counts tell no more of it than that law does."""
    document = json.loads((ROOT / "vectors" / "known-laws.json").read_text("utf-8"))["plan"]
    plan = Plan.parse(
        document
        if isinstance(document, str)
        else json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    )
    without = {key: value for key, value in plan.correlation.items() if key != "laws"}
    known, unknown = counts_levels(plan, 10**5), plan.model_copy(update={"correlation": without})
    for name, level in known.features.items():
        assert feature_surplus(plan, name)(1.01).second_moment <= feature_surplus(unknown, name)(1.01).second_moment
        assert level.epsilon <= known.record.epsilon


def test_what_is_refused() -> None:
    plan = one_bit(response(2, 1.0))
    for people, chance, named in ((0, 1e-6, "people"), (10, 0.0, "chance"), (10, 1.0, "chance")):
        with pytest.raises(InputError, match=named):
            counts_levels(plan, people, chance)
    cascade = make_plan(Policy(epsilon=1, mechanism="cascade", features=BIT))
    with pytest.raises(InputError, match="survey"):
        counts_levels(cascade, 1000)


def test_few_people_and_very_many() -> None:
    plan = one_bit(response(2, 1.0))
    told = [counts_levels(plan, people).record.epsilon for people in (1, 10**3, 10**8, 10**9)]
    assert told[0] == plan.certificate.epsilon
    assert told[0] > told[1] > told[2] == told[3] > 0


def test_a_factor_is_given_only_if_it_was_checked() -> None:
    def surpluses(factor: float) -> Surplus:
        return Surplus(0.02, 1.5 - factor)

    found = counts_factor(surpluses, 1_000, 1e-6, 1.5)
    assert excess(found, surpluses(found), 1_000) <= 1e-6 < excess(1 + (found - 1) * 0.999, surpluses(found), 1_000)
