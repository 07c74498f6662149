"""The second assumption, odds: its theorem and its exact certificate against linear programs and exact priors."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bcdp import Policy, make_plan
from bcdp.correlation import FinitePrior, Listed, PerFeature, Stronger, correlation_from_dict
from bcdp.errors import InputError
from bcdp.exact import TOTAL, log_up
from bcdp.notions import bcdp_from, budgets_from, dobrushin, largest_ratio, ldp_limit, odds
from bcdp.plan import Certified, Plan, Within, certify
from bcdp.plan.worst_prior import independent_ratio, joint_ratio
from bcdp.present.promise import operator_says, promise_of_all, promises
from bcdp.randomizers import binary
from bcdp_device.verify import verify_limits
from support.node import node
from support.plan_mutants import cascade_plans
from support.priors import (
    Case,
    binds,
    plan_and_prior,
    random_bounds,
    untrue_claims,
    worst_by_program,
    worst_by_programs,
)

BATCH = 5  # tables in one program
SOLVER = 1e-9  # relative, of the programs; they end at corners, and most differ by less than 1e-13


def random_table(rng: np.random.Generator) -> Any:
    """Weights of one output by own value and others, some of them extreme, some alike."""
    size, others = int(rng.integers(2, 4)), int(rng.integers(1, 7))
    weights = rng.integers(1, int(rng.choice([3, 10, 1000])), (size, others))
    return weights * rng.choice([1, 1, 1, 20], (size, others))


def cases(f: Any, rest: int, within: Within, alike: bool) -> list[Case]:
    """A linear program for each pair of values: others that say 1 or `rest` besides."""
    both = [np.concatenate([row, row * rest]).astype(float) for row in f]
    pairs = [(a, b) for a in range(len(f)) for b in range(len(f)) if alike or a != b]
    return [(both[a], both[b], *within) for a, b in pairs]


def differences(count: int, seed: int, masses: Any = None) -> Iterator[tuple[float, float]]:
    """How much random tables exceed what is certified, and the theorem, relatively, by the programs.

    `masses` replaces the three parts of `Within`.
    """
    rng = np.random.default_rng(seed)
    for _ in range(0, count, BATCH):
        drawn = []
        for _ in range(BATCH):
            f, rest, alike = random_table(rng), int(rng.choice([1, 1, 2, 9])), bool(rng.integers(2))
            drawn.append((f, rest, Within(*random_bounds(rng)), alike))
        each = [cases(*one) for one in drawn]
        reached = iter(worst_by_programs(list(itertools.chain(*each))))
        for (f, rest, within, alike), own in zip(drawn, each, strict=True):
            worst = max(1.0, *itertools.islice(reached, len(own)))
            used = within if masses is None else masses(*within)
            claimed = joint_ratio(f[:, :, None], f[:, :, None], Fraction(rest), used, range(len(f)) if alike else ())
            c, epsilon = kernel_levels(np.concatenate([f, f * rest], axis=1))
            theorem = math.exp(bcdp_from(math.log(c), math.log(epsilon), *within))
            yield worst / float(claimed) - 1, worst / theorem - 1


def test_the_certificate_of_a_table_is_what_a_linear_program_finds() -> None:
    """300 tables, beside other questions or not, equal levels among the pairs or not: neither below nor above.

    None of them exceeds the theorem.
    """
    certificate, theorem = zip(*differences(300, 1), strict=True)
    assert max(map(abs, certificate)) < SOLVER
    assert max(theorem) < SOLVER


class Broken(Within):
    """Bounds whose three parts are computed wrongly."""

    @property
    def masses(self) -> Any:
        (most, least), _, _ = super().masses
        return (most, least), (least, most), (1 - most, 1 - most)


class Halved(Within):
    """Bounds that take half of what the others may move."""

    @property
    def masses(self) -> Any:
        (most, least), _, (common, _) = super().masses
        return (most / 2, least / 2), (least / 2, most / 2), (common + (most + least) / 2,) * 2


@pytest.mark.parametrize(
    "wrong", [Broken, Halved, lambda q, odds: Within(q), lambda q, odds: Within(q, max(1.0, odds / 1.2))]
)
def test_the_programs_find_a_wrong_certificate(wrong: Any) -> None:
    assert max(abs(difference) for difference, _ in differences(60, 2, wrong)) > 1e-3


def kernel_levels(f: Any) -> tuple[float, float]:
    """The CDP level of the first feature and the LDP level, of one output."""
    return float((f.max(axis=0) / f.min(axis=0)).max()), float(f.max() / f.min())


def test_two_responses_reach_the_theorem() -> None:
    assert max(map(abs, tight_differences(300, 3))) < SOLVER


def tight_differences(count: int, seed: int) -> Iterator[float]:
    """By how much the worst priors of two random independent responses exceed the theorem, relatively."""
    rng = np.random.default_rng(seed)
    for _ in range(0, count, BATCH):
        drawn = [(*rng.exponential(1.0, 2), Within(*random_bounds(rng))) for _ in range(BATCH)]
        tables = [np.outer([math.exp(own), 1.0], [math.exp(rest), 1.0]) for own, rest, _ in drawn]
        reached = worst_by_programs([(*f, *within) for f, (*_, within) in zip(tables, drawn, strict=True)])
        for worst, (own, rest, within) in zip(reached, drawn, strict=True):
            theorem = float(bcdp_from(own, own + rest, *within))
            exact = independent_ratio(Fraction(math.exp(own)), Fraction(math.exp(rest)), within)
            assert log_up(exact) == pytest.approx(theorem, rel=1e-13, abs=1e-13)
            yield max(worst, 1.0) / math.exp(theorem) - 1


def test_a_theorem_that_forgets_the_other_direction_is_not_tight() -> None:
    """Without `q <= tanh(kappa/2)` it is still true, and larger than what any prior reaches."""
    f = np.outer([1.0, 1.0], [math.e**2, 1.0])
    reached = math.log(worst_by_program(f[0], f[1], 1.0, 2.0))
    forgets = math.log1p(1 / (1 / math.expm1(2.0) + 1))
    assert reached == pytest.approx(float(bcdp_from(0.0, 2.0, 1.0, 2.0)), rel=1e-12)
    assert forgets > reached + 0.1


def test_tanh_multiplies_and_infinite_odds_are_as_before() -> None:
    for kappa, gain in ((0.1, 3.0), (1.0, 1.0), (4.0, 0.2)):
        together = 2 * math.atanh(math.tanh(kappa / 2) * math.tanh(gain / 2))
        assert float(bcdp_from(0.3, 0.3 + gain, 1.0, math.exp(kappa))) == pytest.approx(0.3 + together, rel=1e-12)
    assert float(bcdp_from(0.3, 2.0, 0.2)) == float(bcdp_from(0.3, 2.0, 0.2, math.inf))
    assert float(bcdp_from(0.3, math.inf, 1.0, 2.0)) == pytest.approx(0.3 + math.log(2), rel=1e-12)


def test_limits_and_budgets_are_the_theorem_solved() -> None:
    rng = np.random.default_rng(4)
    met = 0
    for _ in range(1000):
        delta = float(rng.exponential(1.0)) + 0.01
        q, most = random_bounds(rng)
        limit = float(ldp_limit(delta, q, most))
        if limit == math.inf:
            assert float(bcdp_from(0.0, math.inf, q, most)) <= delta + 1e-12
        else:
            assert float(bcdp_from(0.0, limit, q, most)) == pytest.approx(delta, rel=1e-9)
        epsilon = min(limit, delta + 5) * float(rng.random())
        c = float(budgets_from(delta, epsilon, q, most))
        assert c <= epsilon
        if epsilon > delta:
            met += 1
            assert float(bcdp_from(c, epsilon, q, most)) == pytest.approx(delta, rel=1e-9)
    assert met > 200
    assert ldp_limit(0.2, 1.0, 1.0) == math.inf
    for wrong in (0.99, math.nan, -1.0):
        with pytest.raises(InputError, match="odds"):
            bcdp_from(0.1, 1.0, 0.5, wrong)


def test_no_prior_within_q_and_odds_exceeds_the_certificate() -> None:
    """150 exact pairs of a plan and a prior whose q and odds it states; all three readers are checked elsewhere."""
    rng, both = np.random.default_rng(5), 0
    for _ in range(150):
        plan, prior = plan_and_prior(rng)
        claims = certify(plan)
        assert untrue_claims(plan, claims, prior) == []
        both += binds(plan, claims)
    assert both > 75


def test_exact_priors_find_odds_that_are_too_small() -> None:
    """A certificate for half of what the true odds are above 1 is caught."""
    rng, caught = np.random.default_rng(6), 0
    for _ in range(150):
        plan, prior = plan_and_prior(rng)
        model = plan.correlation_model
        assert isinstance(model, Listed)
        less = {key: 1 + 0.5 * (most - 1) for key, most in model.listed_odds.items()}
        caught += bool(untrue_claims(plan, certify(plan, Listed({}, "too small", listed_odds=less)), prior))
    assert caught > 5


def test_the_verifier_finds_the_same_levels() -> None:
    rng = np.random.default_rng(7)
    for _ in range(100):
        plan, _ = plan_and_prior(rng)
        found = verify_limits(plan.text)
        assert Certified(found.epsilon, found.c, found.delta) == certify(plan)


def test_models_state_odds() -> None:
    assert PerFeature(0.1, {}, default_odds=2.0).odds("a", []) == 1.0
    rows = {("a", frozenset("bc")): 3.0, ("a", frozenset("bcd")): 2.0, ("a", frozenset("e")): 1.5}
    model = Listed({}, "test", listed_odds=rows)
    assert [model.odds("a", others) for others in ("b", "bc", "bcd", "e", "be", "")] == [
        2.0,
        2.0,
        2.0,
        1.5,
        math.inf,
        1,
    ]
    assert model.odds("b", "c") == math.inf
    kept = model.restricted([("a", frozenset("b")), ("a", frozenset("be"))])
    assert kept.odds("a", "b") == 2.0
    assert correlation_from_dict(kept.to_dict()) == kept
    assert Stronger(model, 2.0).odds("a", "b") == 4.0
    assert Stronger(model, 2.0).odds("a", "") == 1.0
    assert Stronger(model, math.inf).odds("a", "b") == math.inf


def test_a_known_prior_states_its_exact_odds() -> None:
    table = np.array([[[0.2, 0.1], [0.1, 0.1]], [[0.1, 0.2], [0.1, 0.1]]])
    prior = FinitePrior(("a", "b", "c"), table, "test")
    assert prior.odds("a", {"b", "c"}) == pytest.approx(2.0)
    assert prior.odds("a", {"b", "c"}) >= 2.0
    assert prior.odds("a", {"b"}) == pytest.approx(1.0)
    assert prior.odds("a", set()) == 1.0
    assert prior.odds("a", {"else"}) == math.inf
    assert odds(table, 0) == pytest.approx(2.0)
    assert odds(table, 0, (1,)) == pytest.approx(1.0)
    assert odds([[0.5, 0.0], [0.25, 0.25]], 0) == math.inf
    assert largest_ratio([[1.0, 0.0], [1.0, 0.0]]) == 1.0
    rng = np.random.default_rng(8)
    for _ in range(200):
        random = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)
        for feature in range(3):
            most = odds(random, feature)
            assert dobrushin(random, feature) <= (most - 1) / (most + 1) + 1e-12


@pytest.mark.parametrize("stated", [0.99, math.nan, math.inf, True, "2", None, -2, 10**400])
def test_odds_that_are_none_are_refused(stated: Any) -> None:
    listed = {"kind": "listed", "bounds": [], "source": "test"}
    named = {"kind": "per feature", "default": 0.1, "named": {}, "source": "test"}
    for document in (
        {**listed, "odds": [["a", ["b"], stated]]},
        {**named, "odds": {"default": stated}},
        {**named, "odds": {"named": {"a": stated}}},
    ):
        with pytest.raises(InputError, match=r"correlation\.odds"):
            correlation_from_dict(document)


def test_documents_without_odds_are_as_before() -> None:
    for model in (PerFeature(0.1, {"a": 0.2}), Listed({("a", frozenset("b")): 0.1}, "test")):
        assert "odds" not in model.to_dict()
    stated = PerFeature(0.1, {}, "test", 2.0, {"a": 1.5})
    assert stated.to_dict()["odds"] == {"default": 2.0, "named": {"a": 1.5}}
    assert correlation_from_dict(stated.to_dict()) == stated


def told(odds_rows: Any, q: float = 1.0) -> tuple[str, str]:
    """The condition and what is left of a sensitive feature beside two others, told by Python and by the browser."""
    features = {name: {"type": "binary", "delta": 20.0} for name in ("s", "x", "y")}
    bounds = [["s", [other], q] for other in ("x", "y")]
    plan = Plan.certified(
        {
            "mechanism": "survey",
            "collection": {"epsilon": 20.0, "features": features},
            "correlation": {"kind": "listed", "source": "test", "bounds": bounds, "odds": odds_rows},
            "tables": [binary(1.0).to_dict()],
            "questions": [{"features": [name], "levels": [2], "table": 0} for name in ("x", "y")],
            "menus": [{"weight": TOTAL // 2, "questions": [number]} for number in (0, 1)],
        }
    )
    found = promises(plan)
    said = [*(promise.sentence for promise in (*found.values(), promise_of_all(plan))), operator_says(plan)]
    assert json.loads(node("tests/js/promises.js", given=json.dumps([plan.text]))) == [said]
    return found["s"].condition, found["s"].left


KNOWING = "knowing all the other answers could move the odds of it at most"


def test_a_condition_names_the_odds() -> None:
    """Rounded down, beside q where both matter, with what is left at twice of what is stated."""
    both = [["s", ["x", "y"], 1.759]]
    condition, left = told(both)
    assert condition == f"if {KNOWING} 1.75 times"
    assert left == "at most 1.70 times at twice the odds, at most 2.72 times with nothing assumed"
    condition, left = told(both, q=0.0625)
    assert (
        condition
        == f"if the other answers move by at most q = 6.25 percentage points with it, and {KNOWING} 1.75 times"
    )
    assert left == "at most 1.20 times at twice q and odds, at most 2.72 times with nothing assumed"
    assert told(both, q=0.3)[0] == f"if {KNOWING} 1.75 times"  # odds of 1.759 allow no q above 0.275
    assert told(both, q=0.0) == told([], q=0.0)
    assert told([["s", ["x"], 2], ["s", ["y"], 1.25]])[0] == f"if {KNOWING} 1.25 to 2 times, as the plan lists"
    assert told([["s", ["x"], 1], ["s", ["y"], 1.0]])[0] == f"if {KNOWING} 1 times"


def test_a_cascade_is_certified_under_odds() -> None:
    """By the theorem, and alike by both readers."""
    for document in cascade_plans():
        document["correlation"] |= {"default": 0.3, "named": {}, "odds": {"default": 1.25, "named": {"age": 1}}}
        plan = Plan.build(document)
        levels = certify(plan)
        found = verify_limits(plan.text)
        assert Certified(found.epsilon, found.c, found.delta) == levels
        assert levels.delta["age"] == levels.c["age"]
        for name, odds_of in (("smoker", 1.25), ("income", 1.25), ("age", 1.0)):
            bound = float(bcdp_from(levels.c[name], levels.epsilon, 0.3, odds_of))
            assert levels.delta[name] == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    "stated", [{"odds": 2}, {"q": 0.2, "odds": 1.5}, {"x1": {"odds": 1}, "default": {"odds": 1.5}}]
)
def test_a_cascade_is_planned_under_odds(stated: Any) -> None:
    """Every demand is kept, those that odds alone limit are used up, and the error is below that without odds."""
    features: dict[str, Any] = {
        f"x{i}": {"type": kind, "delta": delta} | ({"bounds": [0, 9]} if kind == "numeric" else {})
        for i, (kind, delta) in enumerate([("binary", 0.2), ("binary", 0.3), ("numeric", 2.0), *[("binary", 2.0)] * 8])
    }
    policy = {"epsilon": 2, "features": features, "mechanism": "cascade"}
    plan = make_plan(Policy(**policy, correlation=stated))
    levels = certify(plan)
    found = verify_limits(plan.text)
    assert Certified(found.epsilon, found.c, found.delta) == levels
    assert all(levels.delta[name] <= features[name]["delta"] for name in features)
    assert levels.delta["x0"] == pytest.approx(0.2, rel=1e-6)
    without = make_plan(Policy(**policy, correlation=stated.get("q", 1.0))).certificate.objective
    assert plan.certificate.objective is not None
    assert without is not None
    assert plan.certificate.objective < 0.95 * without
    assert certify(plan, PerFeature(stated.get("q", 1.0), {})).delta["x0"] > 0.2  # the odds are needed
