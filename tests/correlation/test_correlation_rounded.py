"""Bounds about numbers that were rounded once: what they certify, and what they must not be used for."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcdp.audit import verify_limits
from bcdp.correlation import Listed, Stronger, Tree, correlation_of, estimate_correlation, product_q, unrounded_q
from bcdp.correlation.from_policy import write_pairs
from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.mechanisms.planning import make_plan
from bcdp.mechanisms.survey.design.planner import plan_evenly
from bcdp.plan import Plan, certify
from bcdp.policy import Policy
from bcdp.randomizers import Table, numeric, response
from support.helpers import Array, survey

BIT = {"type": "binary", "delta": 20.0}
NUMBER = {"type": "numeric", "bounds": [-1, 1], "delta": 20.0}
Law = list[tuple[float, float]]  # values of x (or of a function of it) and their probabilities

# Two laws of x, given s = 0 and s = 1, that agree once x is rounded at random to the levels 7/8 and 1.
MIDDLE: Law = [(15 / 16, 1.0)]
ENDS: Law = [(7 / 8, 0.5), (1.0, 0.5)]


def answers(table: Table, law: Law) -> Array:
    """The law of the answers to a table about a number in [-1, 1] that is rounded at random to its levels."""
    rows = table.dense().weights / TOTAL
    place = np.array([(value + 1) / 2 * (len(rows) - 1) for value, _ in law])
    near = np.maximum(0.0, 1 - np.abs(place[:, None] - np.arange(len(rows))))
    return np.asarray([p for _, p in law] @ near @ rows)


def level(table: Table, function: Any = lambda x: x) -> float:
    """The exact level of s under a question about a function of x."""
    one, other = (answers(table, [(function(x), p) for x, p in law]) for law in (MIDDLE, ENDS))
    return float(np.abs(np.log(one / other)).max())


def plan_about(question: dict[str, Any], table: Table, correlation: Listed) -> Plan:
    document = survey({"s": BIT, "x": NUMBER, "y": NUMBER}, [table.to_dict()], [question | {"table": 0}],
                      [{"weight": TOTAL, "questions": [0]}])  # fmt: skip
    return Plan.build({**document, "correlation": correlation.to_dict()})


def bounds(rounded: str, **products: float) -> Listed:
    """A bound of 0 on what s says of x and y, which are rounded, and bounds on their products."""
    sets = {("s", frozenset(others)): 0.0 for others in ("x", "xy")}
    return Listed(sets, "a sample", {}, frozenset(rounded), {("s", frozenset(n)): q for n, q in products.items()})


QUESTIONS: dict[str, tuple[dict[str, Any], Table, Any]] = {
    "values": ({"features": ["x"], "levels": [17]}, numeric(2.0), lambda x: x),
    "two levels": ({"features": ["x"], "levels": [2]}, response(2, 1.0), lambda x: x),
    "levels between": ({"features": ["x"], "levels": [33]}, response(33, 2.0), lambda x: x),
    "square": (
        {"features": ["x"], "levels": [17], "kind": "product", "categories": [None]},
        numeric(2.0),
        lambda x: 2 * x * x - 1,
    ),
    "product": (
        {"features": ["x", "y"], "levels": [17], "kind": "product", "categories": [None, None]},
        numeric(2.0),
        lambda x: x * 15 / 16,
    ),
}
COVERED = ("values", "two levels")


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_bound_about_rounded_numbers_covers_what_rounds_them_so(name: str) -> None:
    """Certified are at least the exact level; without the mark, those of squares, products and other levels are not."""
    question, table, function = QUESTIONS[name]
    true = level(table, function)
    marked, unmarked = (plan_about(question, table, bounds(rounded)) for rounded in ("xy", ""))
    assert (true < 1e-12) == (name in COVERED)
    assert certify(unmarked).delta["s"] == 0.0  # what the mark is there to prevent
    assert true <= certify(marked).delta["s"] + 1e-12
    assert (certify(marked).delta["s"] == 0.0) == (name in COVERED)
    assert verify_limits(marked.text).delta == pytest.approx(certify(marked).delta, abs=1e-11)


@pytest.mark.parametrize(("name", "numbers"), [("square", "x"), ("product", "xy")])
def test_a_product_has_a_bound_of_its_own(name: str, numbers: str) -> None:
    """The distance between the laws of the rounded product certifies it; a bound far below that is exceeded."""
    question, table, function = QUESTIONS[name]
    ladder = response(17, 30.0)  # answers the level itself, all but surely
    one, other = (answers(ladder, [(function(x), p) for x, p in law]) for law in (MIDDLE, ENDS))
    distance = float(np.abs(one - other).sum() / 2) + 1e-9
    plan = plan_about(question, table, bounds("xy", **{numbers: distance}))
    true, claimed = level(table, function), certify(plan).delta["s"]
    assert true <= claimed <= table.level
    assert verify_limits(plan.text).delta["s"] == pytest.approx(claimed, abs=1e-11)
    assert certify(plan_about(question, table, bounds("xy", **{numbers: true / 20}))).delta["s"] < true


def test_a_product_beside_another_question_is_not_covered() -> None:
    question, table, _ = QUESTIONS["square"]
    document = survey({"s": BIT, "x": NUMBER, "y": NUMBER}, [table.to_dict()],
                      [question | {"table": 0}, {"features": ["y"], "levels": [17], "table": 0}],
                      [{"weight": TOTAL, "questions": [0, 1]}])  # fmt: skip
    plan = Plan.build({**document, "correlation": bounds("xy", x=0.0).to_dict()})
    assert certify(plan).delta["s"] == certify(plan).epsilon == verify_limits(plan.text).delta["s"]


def duchi(kept: int, value: Array, side: Array) -> float:
    """The density of a channel's output in the direction `side`, up to a constant (theory.md, section 3)."""
    return float(1 + (2 * kept / TOTAL - 1) * np.linalg.norm(value) / math.sqrt(len(value)) * np.sign(value @ side))


def test_a_cascade_reads_numbers_as_they_are() -> None:
    """a moves with s between two directions of the sphere, which no rounding shows; b is 1. One direction tells."""
    low: Law = [(1 / 16, 1.0)]
    high: Law = [(1 / 8, 0.05), ((1 / 16 - 0.05 / 8) / 0.95, 0.95)]
    assert sum(a * p for a, p in high) == pytest.approx(1 / 16)  # within one step of 1/8: the same after rounding
    features = {"s": BIT, "a": NUMBER, "b": BIT}
    channels = [{"features": ["a", "b", "s"], "keep": 2**31 + 2**28}, {"features": ["a", "b"], "keep": 2**31 + 2**29}]
    document = survey(features, [], [], []) | {"mechanism": "cascade", "channels": channels}
    others = frozenset("ab")
    claims = {}
    for rounded in ("a", ""):
        model = Listed({("s", others): 0.0}, "a sample", {}, frozenset(rounded))
        plan = Plan.build({**document, "correlation": model.to_dict()})
        claims[rounded] = certify(plan).delta["s"]
        assert verify_limits(plan.text).delta["s"] == claims[rounded]
    side = np.array([1.0, -(1 / 16 + high[1][0]) / 2])  # (a, b) of both laws lie on different sides of it
    directions = np.array([0.0, *side]), side
    chances = [
        sum(p * duchi(channels[0]["keep"], np.array([s, a, 1.0]), directions[0])  # type: ignore[arg-type]
            * duchi(channels[1]["keep"], np.array([a, 1.0]), directions[1]) for a, p in law)  # type: ignore[arg-type]
        for s, law in ((-1.0, low), (1.0, high))
    ]  # fmt: skip
    true = abs(math.log(chances[0] / chances[1]))
    assert claims[""] < true <= claims["a"]


# -- a pilot of numbers -----------------------------------------------------------------------------------------------

POLICY = Policy(
    epsilon=2.0,
    features={"s": {"type": "binary", "delta": 0.2}, "x": {"type": "numeric", "bounds": [-1, 1]},
              "y": {"type": "numeric", "bounds": [-1, 1]}, "b": {"type": "binary"}},
    tasks=[{"regression": {"target": "y", "features": ["x", "b"]}}],
)  # fmt: skip


def sample(people: int, moved: bool) -> dict[str, Array]:
    """Independent records; or 98% of the numbers x move with s as `MIDDLE` and `ENDS` do."""
    rng = np.random.default_rng(0)
    s, b = rng.integers(0, 2, people), rng.integers(0, 2, people)
    x, y = rng.uniform(-1, 1, (2, people))
    near = np.where(s == 0, 15 / 16, np.where(rng.random(people) < 0.5, 7 / 8, 1.0))
    return {"s": s, "x": np.where(moved & (rng.random(people) < 0.98), near, x), "y": y, "b": b}


def asked_alone(plan: Plan, features: tuple[str, ...]) -> Table:
    number = next(n for n, q in enumerate(plan.questions) if q.kind == "product" and q.features == features)
    assert any(menu.questions == (number,) for menu in plan.menus)
    return plan.tables[plan.questions[number].table]


def test_a_regression_planned_with_a_pilot_keeps_its_promise() -> None:
    """The square of x tells of s what no rounding of x does; the plan made without the mark is exceeded."""
    found = estimate_correlation(POLICY, sample(200_000, moved=True))
    assert found.q("s", {"x"}) < 0.02 < 0.1 < product_q(found, "s", frozenset("x"))

    def true(plan: Plan) -> float:
        table = asked_alone(plan, ("x",))
        spread: Law = [(2 * x * x - 1, 0.02 / 2001) for x in np.linspace(-1, 1, 2001)]
        laws = [[(2 * x * x - 1, 0.98 * p) for x, p in law] + spread for law in (MIDDLE, ENDS)]
        one, other = (answers(table, law) for law in laws)
        return float(np.abs(np.log(one / other)).max())

    plan = make_plan(POLICY, found)
    assert true(plan) <= plan.certificate.features["s"].certified <= 0.2
    sets = {(name, others): q for name, by_set in found.limits.items() for others, q in by_set.items()}
    careless = make_plan(POLICY, Listed(sets | {("s", frozenset("xy")): 0.01}, "no mark"))
    assert true(careless) > 2 * careless.certificate.features["s"].certified


def test_products_of_independent_numbers_may_be_asked_loudly() -> None:
    """With nothing known of them, the demand of 0.2 for s would bind; squares, products and signs are all bounded."""
    known = estimate_correlation(POLICY, sample(200_000, moved=False))
    for features in (("x",), ("x", "y"), ("b", "x"), ("b", "y")):
        assert asked_alone(plan_evenly(POLICY, known), features).level > 1.5
    plan = make_plan(POLICY, known)
    assert plan.correlation["rounded"] == ["x", "y"]
    assert {tuple(numbers) for _, numbers, _ in plan.correlation["products"]} == {("x",), ("y",), ("x", "y")}
    assert Plan.parse(plan.text).correlation_model.to_dict() == plan.correlation


def test_a_cascade_planned_with_a_pilot_assumes_nothing_about_numbers() -> None:
    policy = Policy.parse(POLICY.to_dict() | {"mechanism": "cascade", "tasks": [{"mean": ["s", "x"]}]})
    plan = make_plan(policy, estimate_correlation(policy, sample(20_000, moved=False)))
    assert plan.certificate.epsilon <= 0.2


# -- where the mark goes ----------------------------------------------------------------------------------------------


def test_the_mark_is_kept_by_every_model() -> None:
    for model in ("pairs", "tree"):
        found = estimate_correlation(POLICY, sample(5000, moved=False), model=model)  # type: ignore[arg-type]
        assert isinstance(found, Tree) == (model == "tree")
        twice = Stronger(found, 2.0)
        assert found.rounded == twice.rounded == found.restricted([]).rounded == {"x", "y"}
        square = product_q(found, "s", frozenset("x"))
        assert product_q(twice, "s", frozenset("x")) == min(1.0, 2 * square)
        assert product_q(Stronger(found, math.inf), "s", frozenset("x")) == 1.0
        assert product_q(found.restricted([("s", frozenset("x"))]), "s", frozenset("x")) == square
        assert unrounded_q(found, "s", {"b", "x"}) == 1.0
        assert unrounded_q(found, "s", {"b"}) == found.q("s", {"b"})


def test_a_table_of_pairs_carries_the_mark(tmp_path: Path) -> None:
    """Written from a sample its first cell says of what; written by hand it is about the numbers themselves."""
    path = tmp_path / "pairs.csv"
    policy = Policy.parse(POLICY.to_dict() | {"correlation": {"pairs": str(path)}})
    write_pairs(path, POLICY, estimate_correlation(POLICY, sample(5000, moved=False)))
    text = path.read_text()
    mark, header = text.splitlines()[0].split(",", 1)
    assert mark.startswith("measured ")
    assert header == "s,x,y,b"
    assert correlation_of(policy).rounded == {"x", "y"}
    stated = POLICY.to_dict()
    for changed in ({"bounds": [0.0, 0.03125]}, {"missing": 0.5}):  # other levels, another value that is given
        features = stated["features"] | {"x": stated["features"]["x"] | changed}
        other = Policy.parse(stated | {"features": features, "correlation": {"pairs": str(path)}})
        with pytest.raises(
            InputError, match=r"pairs.csv\), first cell: got 'another text'; accepted: nothing, or what"
        ):
            correlation_of(other)
    path.write_text(text.removeprefix(mark))
    assert correlation_of(policy).rounded == frozenset()
