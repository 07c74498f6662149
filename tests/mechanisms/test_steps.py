"""Numbers that enter a question by steps: what a device does, what is certified, what a sample knows of them."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bcdp import Plan, Policy
from bcdp.audit import audit_plan, population_of, verify_limits
from bcdp.correlation import Listed
from bcdp.mechanisms.survey.answering.reference import answers
from bcdp.plan import certify, joint_delta
from bcdp.plan.certificate import inputs_of_parts
from bcdp.policy import NumericFeature
from bcdp.randomizers import response
from bcdp.randomness import RecordWords
from bcdp.records.encoding import as_arrow, encode, step_of
from support.helpers import (
    exact_q,
    exceeded,
    full_kernel,
    listed,
    random_dense,
    random_document,
    random_prior,
    survey,
    with_steps,
    worst_prior,
)
from support.node import node
from support.steps import fine, on_eighths  # noqa: F401

X = {"type": "numeric", "bounds": [0, 1], "delta": 20.0}


def stepped_plan(rng: np.random.Generator) -> Plan:
    """A random survey of two or three features with at least one number that enters by steps, nothing claimed."""
    while True:
        document = with_steps(rng, random_document(rng), 0.8)
        plan = Plan.build(document)
        if len(plan.policy.features) <= 3 and any(question.cuts for question in plan.questions):
            return plan


@pytest.mark.usefixtures("on_eighths")
def test_no_prior_within_q_exceeds_the_certificate_of_steps() -> None:
    rng = np.random.default_rng(31)
    for _ in range(60):
        draft = stepped_plan(rng)
        prior = random_prior(rng, fine(draft))
        document = {**json.loads(draft.text), "correlation": listed(exact_q(draft, prior))}
        plan = Plan.build(document)
        assert exceeded(certify(plan), prior, full_kernel(plan)) == []


@pytest.mark.usefixtures("on_eighths")
def test_the_certificate_of_steps_is_attained_and_needs_shared_levels() -> None:
    """Two numbers of one step may go with different others: pairs of different levels alone miss that."""
    rng, missed = np.random.default_rng(32), 0
    for _ in range(25):
        table = random_dense(rng, 4, 3, 1.0)
        questions = [{"features": ["b", "x"], "levels": [2, 2], "table": 0, "cuts": [None, [0.5]]}]
        features = {"b": {"type": "binary", "delta": 20.0}, "x": X}
        menus = [{"weight": 2**32, "questions": [0]}]
        plan = Plan.build(survey(features, [table.to_dict()], questions, menus, q=0.7))
        claims = certify(plan)
        reached = exceeded(_lowered(claims, "x"), worst_prior(plan, "x"), full_kernel(plan))
        assert math.isinf(claims.delta["x"]) or "delta x" in reached
        missed += joint_delta(table, (2, 2), 1, Fraction(1), 0.7, shared=False) < claims.delta["x"]
    assert missed >= 3


def _lowered(claims: Any, name: str) -> Any:
    return type(claims)(claims.epsilon, claims.c, {**claims.delta, name: claims.delta[name] * (1 - 1e-6) - 1e-9})


def by_levels(f: np.ndarray[Any, Any], spans: Any, q: float) -> float:
    """Theorem 6 for steps, in doubles: given its range a number may be at any level that the range meets."""
    worst = 1.0
    for output in np.moveaxis(f, -1, 0):
        rows = [output[first : last + 1] for first, last in spans]
        most, least = [row.max(axis=0) for row in rows], [row.min(axis=0) for row in rows]
        for a, b in itertools.permutations(range(len(rows)), 2):
            above = (1 - q) * most[a] + q * most[a].max()
            below = (1 - q) * least[b] + q * least[b].min()
            with np.errstate(divide="ignore", invalid="ignore"):
                worst = max(worst, float(np.nan_to_num(above / below, posinf=math.inf).max()))
    return math.log(worst)


def test_guesses_of_ranges_meet_the_levels_of_their_steps() -> None:
    rng = np.random.default_rng(33)
    for _ in range(200):
        levels = int(rng.integers(2, 6))
        cuts = sorted((rng.choice(np.arange(1, 16), levels - 1, replace=False) / 16).tolist())
        ranges = sorted((rng.choice(np.arange(1, 16), int(rng.integers(1, 4)), replace=False) / 16).tolist())
        feature = NumericFeature(type="numeric", bounds=(0, 1), ranges=tuple(ranges))
        numbers = np.arange(0, 1, 1 / 64)
        own, part = (np.searchsorted(ends, numbers, side="right") for ends in (cuts, ranges))
        spans = tuple((int(own[part == k].min()), int(own[part == k].max())) for k in range(len(ranges) + 1))
        assert inputs_of_parts(feature, ranges, cuts) == spans
        table, q = random_dense(rng, 2 * levels, 3, 0.8), float(rng.choice([0.0, 0.1, 0.6]))
        found = joint_delta(table, (levels, 2), 0, Fraction(1), q, True, spans, stepped=True)
        expected = by_levels(table.weights.reshape(levels, 2, -1).astype(float), spans, q)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert found >= expected - 1e-12


def test_a_number_at_a_cut_begins_the_step_and_missing_has_its_level() -> None:
    feature = NumericFeature(type="numeric", bounds=(-3.5, 12.25), missing=0.1)
    low = np.nextafter(0.1, -1)
    policy = Policy(epsilon=1, features={"x": feature.model_dump()})
    codes = encode(policy, as_arrow({"x": [-99.0, low, 0.1, None, 5.0, 99.0]}))["x"]
    assert step_of(feature, (0.1, 5.0), codes).tolist()[2:] == [1, 1, 2, 2]
    assert inputs_of_parts(feature, (5.0,), (0.1, 5.0)) == ((0, 1), (2, 2), (1, 1))


def random_marked(rng: np.random.Generator) -> Plan:
    """Numbers by steps, rounded, or both in one menu, known of a sample by ranges, with cuts known or not, and odds."""
    features: Any = {"b": {"type": "binary", "delta": 20.0}, "x": {**X, "bounds": [-1.5, 6]}, "y": {**X}}
    if rng.random() < 0.5:
        features["x"]["ranges"] = [0.0, 2.25, 4]
    if rng.random() < 0.5:
        features["x"]["missing"] = float(rng.choice([0.0, 2.25, 5.5]))
    quarters = [-1.5 + 7.5 * share for share in (0.25, 0.5, 0.75)]
    ranges = features["x"].get("ranges", quarters)
    cuts = [ranges, [0.0, 4], [1, 2.25], quarters][rng.integers(4)]
    size = len(cuts) + 1
    asked: list[tuple[Any, Any]] = [
        ({"features": ["b", "x"], "levels": [2, size], "cuts": [None, cuts]}, random_dense(rng, 2 * size, 3, 0.8)),
        ({"features": ["x", "y"], "levels": [size, 3], "cuts": [cuts, None]}, response(3 * size, 0.9)),
        ({"features": ["y"], "levels": [2]}, response(2, 0.7)),
        ({"features": ["x", "y"], "levels": [size, 2], "cuts": [cuts, [0.5]]}, random_dense(rng, 2 * size, 2, 0.6)),
    ]
    questions = [{**question, "table": number} for number, (question, _) in enumerate(asked)]
    menus = [{"weight": 2**30, "questions": numbers} for numbers in ([0, 2], [1], [2], [3])]
    document = survey(features, [table.to_dict() for _, table in asked], questions, menus)
    names = list(features)
    sets = [(n, frozenset(others)) for n in names for size in (1, 2) for others in itertools.combinations(names, size)]
    bounds = {key: float(rng.choice([0.0, 0.05, 0.3])) for key in sets if key[0] not in key[1]}
    odds = {key: float(rng.choice([1.0, 1.5, 4.0])) for key in bounds if rng.random() < 0.5}
    known = {"x": tuple(sorted({*cuts, 3.0})), "y": (0.5,)} if rng.random() < 0.6 else {"y": (0.25, 0.5)}
    by_range = {"x": tuple(float(cut) for cut in ranges), "y": (0.25, 0.5, 0.75)} if rng.random() < 0.6 else {}
    rounded = frozenset("xy") if rng.random() < 0.8 else frozenset[str]()
    model = Listed(bounds, "a sample", rounded=rounded, ranges=by_range, listed_odds=odds, cuts=known)
    return Plan.build({**document, "correlation": model.to_dict()})


def test_three_readers_agree_on_steps() -> None:
    """Python, JavaScript and the device's own check, to the last bit; knowing the cuts matters."""
    rng = np.random.default_rng(34)
    plans = [random_marked(rng) for _ in range(60)]
    found = json.loads(node("tests/js/certify.js", given=json.dumps([plan.text for plan in plans])))
    lower = 0
    for plan, (_, c, delta) in zip(plans, found, strict=True):
        claims, second = certify(plan), verify_limits(plan.text)
        assert {name: float(level) for name, level in delta.items()} == claims.delta
        assert {name: float(level) for name, level in c.items()} == claims.c
        assert (second.delta, second.c, second.epsilon) == (claims.delta, claims.c, claims.epsilon)
        model = plan.correlation_model
        assert isinstance(model, Listed)
        blind = Listed(model.bounds, "", {}, model.rounded, {}, model.ranges, model.listed_odds)
        lower += certify(plan, blind).delta != claims.delta
    assert lower >= 10


def test_the_audit_finds_no_more_than_is_certified_and_a_device_that_rounds_is_caught() -> None:
    rng = np.random.default_rng(35)
    table = random_dense(rng, 6, 3, 1.2)
    questions = [{"features": ["b", "x"], "levels": [2, 3], "table": 0, "cuts": [None, [0.25, 0.5]]}]
    features = {"b": {"type": "binary", "delta": 20.0}, "x": X}
    document = survey(features, [table.to_dict()], questions, [{"weight": 2**32, "questions": [0]}], q=1.0)
    plan = Plan.build(document)
    prior = np.zeros((2, 9))
    prior[0, [0, 3, 8]] = prior[1, [1, 2, 5]] = 1 / 6
    audit = audit_plan(plan, population_of(["b", "x"], prior))
    claims = certify(plan)
    assert all(audit.delta[name].measured <= claims.delta[name] for name in features)
    codes = {"b": np.zeros(20_000, dtype=np.int32), "x": np.full(20_000, -0.5 + 1e-9)}
    _, given = answers(plan, codes, RecordWords(None, np.arange(20_000)))
    shares = np.bincount(given, minlength=3) / 20_000
    chances = table.weights[1] / 2**32
    assert np.abs(shares - chances).max() < 6.5 * 0.5 / math.sqrt(20_000)  # false alarms below 1e-9
    rounded = (table.weights[0] * 0.5 + table.weights[1] * 0.5) / 2**32
    assert np.abs(chances - rounded).max() > 2 * 6.5 * 0.5 / math.sqrt(20_000)  # a device that rounds would be seen
