"""Promises about the range that a number is in: the theorem against linear programs, and the second opinions."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from bcdp import InputError, Plan, Policy, make_plan
from bcdp.audit import verify_limits
from bcdp.correlation import Listed, PerFeature, Stronger, correlation_of, estimate_correlation
from bcdp.correlation.from_policy import write_pairs
from bcdp.exact import TOTAL
from bcdp.plan import certify, guessed_parts, joint_delta
from bcdp.policy import NumericFeature
from bcdp.questions import Coordinate
from bcdp.randomizers import Dense, Table, binary, response
from bcdp.records.encoding import range_of
from support.helpers import Array, random_dense, survey
from support.node import node

NUMBER: dict[str, Any] = {"type": "numeric", "bounds": [0, 1], "delta": 20.0}
BIT: dict[str, Any] = {"type": "binary", "delta": 20.0}
Parts = tuple[tuple[float, float], ...]


# -- the theorem ------------------------------------------------------------------------------------------------------


def lines(f: Array, places: Array) -> Array:
    """The weights of a number at these shares of its bounds, rounded at random to the levels: straight lines."""
    levels = np.linspace(0, 1, len(f))
    return np.stack([np.interp(places, levels, column) for column in f.T], axis=1)


def worst_odds(one: Array, two: Array, q: float) -> float:
    """The largest ratio of one answer's chances over all laws of number and others in two parts, by a linear program.

    `one` and `two` have the answer's weight for each number of the part (rows) and each value of the others (columns).
    The laws of the others in the two parts differ by at most q.
    """
    (a, k), b = one.shape, len(two)
    size = (a + b) * k + k + 1  # the two laws, by how much the first is above the second, a common scale
    marginal = np.zeros((k, size))
    for z in range(k):
        marginal[z, np.arange(a) * k + z] = 1.0
        marginal[z, a * k + np.arange(b) * k + z] = -1.0
        marginal[z, (a + b) * k + z] = -1.0
    moved = np.zeros((1, size))
    moved[0, (a + b) * k : -1], moved[0, -1] = 1.0, -q
    equal = np.zeros((3, size))
    equal[0, : a * k], equal[0, -1] = 1.0, -1.0
    equal[1, a * k : (a + b) * k], equal[1, -1] = 1.0, -1.0
    equal[2, a * k : (a + b) * k] = two.ravel()
    found = linprog(np.concatenate([-one.ravel(), np.zeros(size - a * k)]), A_ub=np.vstack([marginal, moved]),
                    b_ub=np.zeros(k + 1), A_eq=equal, b_eq=[0.0, 0.0, 1.0], method="highs")  # fmt: skip
    assert found.status == 0
    return -float(found.fun)


def by_programs(f: Array, parts: Parts, q: float) -> float:
    """The exact level of guesses between parts: numbers on a grid that has the ends, the levels and some others."""
    levels, worst = np.linspace(0, 1, len(f)), 1.0
    grids = [np.unique([low, high, *levels[(levels > low) & (levels < high)], *np.linspace(low, high, 5)])
             for low, high in parts]  # fmt: skip
    for symbol in range(f.shape[2]):
        rows = [lines(f[:, :, symbol], grid) for grid in grids]
        for a, b in np.ndindex(len(parts), len(parts)):
            if a != b:
                worst = max(worst, worst_odds(rows[a], rows[b], q))
    return math.log(worst)


def ends_only(f: Array, parts: Parts, q: float) -> float:
    """Broken by design: of each part only its ends are looked at, not the levels inside."""
    rows = [lines(f.reshape(len(f), -1), np.array(part)).reshape(2, *f.shape[1:]) for part in parts]
    above, below = (np.array([pick(row, axis=0) for row in rows]) for pick in (np.max, np.min))
    numerator = (1 - q) * above + q * above.max(axis=1, keepdims=True)
    denominator = (1 - q) * below + q * below.min(axis=1, keepdims=True)
    pairs = [(a, b) for a, b in np.ndindex(len(parts), len(parts)) if a != b]
    return math.log(max(float((numerator[a] / denominator[b]).max()) for a, b in pairs))


def random_case(rng: np.random.Generator, levels: int) -> tuple[Table, Array, Parts, float]:
    """A table over a number of so many levels and another feature, ranges with or without "missing", and a q."""
    others = int(rng.integers(2, 4))
    table = random_dense(rng, levels * others, int(rng.integers(2, 4)), float(rng.uniform(0.3, 1.5)))
    while table.weights.min() == 0:
        table = random_dense(rng, levels * others, 3, 1.0)
    cuts = np.sort(rng.uniform(0.02, 0.98, int(rng.integers(1, 4))))
    parts = tuple(pairwise([0.0, *cuts.tolist(), 1.0]))
    if rng.random() < 0.3:
        parts = (*parts, (float(rng.random()),) * 2)
    f = table.weights.reshape(levels, others, -1) / TOTAL
    return table, f, parts, float(rng.choice([0.0, 0.02, 0.2, 0.7, 1.0]))


@pytest.mark.parametrize("levels", [2, 3, 5, 9])
def test_the_certificate_is_the_largest_level_over_all_laws_within_ranges(levels: int) -> None:
    """Never below what any law of number and others reaches, nor more than the allowance for rounding above it."""
    rng, trapped = np.random.default_rng(levels), 0
    for _ in range(25):
        table, f, parts, q = random_case(rng, levels)
        claimed = joint_delta(table, (levels, f.shape[1]), 0, Fraction(1), q, True, parts)
        true = by_programs(f, parts, q)
        assert true - 1e-9 <= claimed <= true + 1e-6
        trapped += ends_only(f, parts, q) < true - 1e-6
    assert trapped == 0 if levels == 2 else trapped > 5  # the ends of a range alone do for two levels, not for more


def test_other_questions_of_the_menu_count_as_one_number() -> None:
    """Beside an independent question the certificate is that of the product of both, by linear programs again."""
    rng = np.random.default_rng(12)
    for _ in range(12):
        table, f, parts, q = random_case(rng, 3)
        beside = binary(float(rng.uniform(0.2, 1.5)))
        both = np.einsum("azs,wt->azwst", f, beside.dense().weights / TOTAL)
        claimed = joint_delta(table, (3, f.shape[1]), 0, beside.ratio, q, True, parts)
        true = by_programs(both.reshape(3, 2 * f.shape[1], -1), parts, q)
        assert true - 1e-9 <= claimed <= true + 1e-6


def test_values_within_a_range_may_go_with_the_others() -> None:
    """One number of the range is likely at the common point, another where the others move: ratio 7, by levels 6."""
    shares = np.array([[5, 3], [3, 9], [1, 9]]) * (TOTAL // 100)  # of the first answer: number x others
    table = Dense(np.stack([shares.ravel(), TOTAL - shares.ravel()], axis=1))
    parts = ((0.0, 0.75), (0.75, 1.0))
    ranged, by_levels = (joint_delta(table, (3, 2), 0, Fraction(1), 0.5, True, told) for told in (parts, ()))
    true = by_programs(table.weights.reshape(3, 2, 2) / TOTAL, parts, 0.5)
    assert true == pytest.approx(math.log(7), abs=1e-6)
    assert true <= ranged < true + 1e-6
    assert by_levels == pytest.approx(math.log(6), abs=1e-6)  # what would be claimed without looking into the range


def test_a_device_rounds_every_number_of_a_range_within_the_allowance() -> None:
    """Numbers around every cut: the chance of the upper level, a multiple of 2^-32, is that of a place nearby."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        low, width = float(rng.normal(0, 100)), float(rng.exponential(50)) + 1e-3
        cuts = sorted(low + width * float(share) for share in rng.uniform(0.05, 0.95, 3))
        feature = NumericFeature(type="numeric", bounds=(low, low + width), ranges=tuple(cuts))
        near = np.array([low, *(np.nextafter(cut, side) for cut in cuts for side in (-1e9, 1e9)), *cuts, low + width])
        codes = np.clip((near - feature.bounds[0]) / (feature.bounds[1] - feature.bounds[0]) * 2 - 1, -1, 1)
        parts = guessed_parts(feature, Listed({}, "a sample", ranges={"x": feature.cuts}), "x")
        for levels in (2, 5, 17):
            place = (codes + 1) / 2 * (levels - 1)
            below = np.minimum(np.floor(place), levels - 2)
            chance = np.ceil((place - below) * 2.0**32) / 2.0**32  # of all words below the bound, as a share
            word = np.minimum(chance * 2.0**32 - 1, 2.0**32 - 1).clip(0).astype(np.uint32)
            assert np.all((chance == 0) | (Coordinate.rounded(codes, levels).drawn(word) == below + 1))
            for seen, part in zip(below + chance, range_of(feature, codes), strict=True):
                start, end = (share * (levels - 1) for share in parts[part])
                assert start - 2.0**-30 <= seen <= end + 2.0**-30


# -- plans ------------------------------------------------------------------------------------------------------------


def random_plan(rng: np.random.Generator, q: float | None = None) -> Plan:
    """A number of 2 to 5 levels with stated or default ranges, perhaps a `missing` rule, beside others."""
    low = float(np.round(rng.normal(0, 10), 3))
    x = NUMBER | {"bounds": [low, low + 7.5]}
    if rng.random() < 0.6:
        x["ranges"] = sorted(np.round(low + 7.5 * rng.uniform(0.05, 0.95, int(rng.integers(1, 5))), 6).tolist())
    if rng.random() < 0.4:
        x["missing"] = float(np.round(low + 7.5 * rng.random(), 4))
    features = {"b": BIT, "k": {"type": "categorical", "values": ["u", "v", "w"], "delta": 20.0}, "x": x, "y": NUMBER}
    levels = int(rng.integers(2, 6))
    tables = [random_dense(rng, 2 * levels, 3, 0.8), random_dense(rng, 3 * levels, 2, 0.6), response(2 * levels, 0.9)]
    questions = [
        {"features": ["b", "x"], "levels": [2, levels], "table": 0},
        {"features": ["x", "k"], "levels": [levels, 3], "table": 1},
        {"features": ["x", "y"], "levels": [levels, 2], "table": 2},
        {"features": ["k"], "levels": [3], "table": 3},
        {"features": ["x"], "levels": [levels], "table": 4},
    ]
    tables = [*tables, response(3, 0.7), response(levels, 0.5)]
    menus = [{"weight": TOTAL // 4, "questions": asked} for asked in ([0, 3], [1], [2, 3], [4])]
    document = survey(features, [table.to_dict() for table in tables], questions, menus)  # type: ignore[attr-defined]
    sets = [("x", others) for others in ("bk", "k", "ky", "y")] + [(name, "x") for name in "bky"]
    bounds = {
        (name, frozenset(others)): float(rng.choice([0.0, 0.05, 0.3])) if q is None else q for name, others in sets
    }
    policy = Plan.build(document).policy
    ranges = {name: feature.cuts for name, feature in policy.features.items() if isinstance(feature, NumericFeature)}
    model = Listed(bounds, "a sample", ranges=ranges)
    return Plan.build({**document, "correlation": model.to_dict()})


def test_three_implementations_agree() -> None:
    """Python, JavaScript and the device's own check, to the last bit."""
    rng = np.random.default_rng(8)
    plans = [random_plan(rng) for _ in range(40)]
    found = json.loads(node("tests/js/certify.js", given=json.dumps([plan.text for plan in plans])))
    changed = 0
    for plan, (_, c, delta) in zip(plans, found, strict=True):
        claims, second = certify(plan), verify_limits(plan.text)
        assert {name: float(level) for name, level in delta.items()} == claims.delta
        assert {name: float(level) for name, level in c.items()} == claims.c
        assert (second.delta, second.c, second.epsilon) == (claims.delta, claims.c, claims.epsilon)
        assert second.ranges == plan.correlation_model.ranges
        apart = Listed(plan.correlation_model.bounds, "assumed")
        changed += certify(plan, apart).delta["x"] != claims.delta["x"]
        assert certify(plan, apart).c == claims.c  # whoever knows all others may tell any two numbers apart
    assert changed >= 5


def test_with_nothing_assumed_the_level_is_of_all_guesses() -> None:
    plan = random_plan(np.random.default_rng(3), q=0.1)
    assert certify(plan, Stronger(plan.correlation_model, math.inf)) == certify(plan, PerFeature(1.0, {}))


def refusals(text: str) -> tuple[bool, bool, bool]:
    """Whether Python, the device's own check and JavaScript refuse a plan."""

    def refused(read: Any) -> bool:
        try:
            read(text)
        except InputError:
            return True
        return False

    return (
        refused(Plan.parse),
        refused(verify_limits),
        json.loads(node("tests/js/verify.js", given=json.dumps([text]))) == ["InputError"],
    )


@pytest.mark.parametrize(
    ("cuts", "name"),
    [([0.5], "y"), ([0.25, 0.5], "y"), ([], "y"), ([0.75, 0.5, 0.25], "y"), ([0.25, 0.5, 0.75], "b"), ("x", "y"),
     ([0.25, 0.5, "x"], "y"), ([0.25, 0.5, None], "y"), ([0.25, 0.5, 0.75], "z")],
)  # fmt: skip
def test_ranges_that_are_not_the_features_are_refused(cuts: Any, name: str) -> None:
    document = json.loads(random_plan(np.random.default_rng(4), q=0.1).text)
    document["correlation"]["ranges"][name] = cuts
    assert refusals(json.dumps(document, sort_keys=True, separators=(",", ":"))) == (True,) * 3


def test_ranges_of_nothing_are_refused() -> None:
    document = json.loads(random_plan(np.random.default_rng(4), q=0.1).text)
    document["correlation"]["ranges"] = {}
    assert refusals(json.dumps(document, sort_keys=True, separators=(",", ":"))) == (True,) * 3


def test_coarser_ranges_than_stated_cannot_be_slipped_in() -> None:
    """A claim that is true of guesses of the half is refused where the feature states quarters."""
    plan = random_plan(np.random.default_rng(6), q=0.1)
    document = json.loads(plan.text)
    document["collection"]["features"]["y"]["ranges"] = [0.5]
    assert refusals(json.dumps(document, sort_keys=True, separators=(",", ":"))) == (True,) * 3
    document["correlation"]["ranges"]["y"] = [0.5]
    assert refusals(json.dumps(document, sort_keys=True, separators=(",", ":"))) == (False,) * 3


# -- policies and tables of pairs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranges", "accepted"),
    [
        ([], "a list of 1 to 31 rising numbers inside the bounds"),
        ([5, 5], "a list of 1 to 31 rising"),
        ([5, 4], "a list of 1 to 31 rising"),
        (["a"], "a list of 1 to 31 rising"),
        (7, "a list of 1 to 31 rising"),
        ([float("nan")], "a list of 1 to 31 rising"),
        ([0, 5], "numbers above 0 and below 10, the bounds"),
        ([5, 10], "numbers above 0 and below 10, the bounds"),
    ],
)
def test_ranges_that_are_no_good(ranges: Any, accepted: str) -> None:
    with pytest.raises(InputError, match=rf"features\.x\.ranges: got .*; accepted: {accepted}"):
        Policy(epsilon=1, features={"x": {"type": "numeric", "bounds": [0, 10], "ranges": ranges}})


def test_ranges_are_written_only_where_they_are_stated() -> None:
    stated, default = (
        Policy(epsilon=1, features={"x": {"type": "numeric", "bounds": [0, 10], **extra}})
        for extra in ({"ranges": [2, 5]}, {})
    )
    assert make_plan(stated).collection["features"]["x"]["ranges"] == [2.0, 5.0]
    assert "ranges" not in make_plan(default).collection["features"]["x"]
    assert "ranges" not in make_plan(stated).correlation  # nothing was measured: all guesses are covered
    assert Policy.parse(stated.to_dict()) == stated
    assert default.features["x"].definition == {"type": "numeric", "bounds": [0.0, 10.0], "missing": None}


def people(n: int = 40_000) -> dict[str, Array]:
    rng = np.random.default_rng(0)
    return {"s": rng.integers(0, 2, n), "x": rng.uniform(0, 100, n), "y": rng.uniform(0, 100, n)}


def policy_of(**x: Any) -> Policy:
    number = {"type": "numeric", "bounds": [0, 100]}
    features = {"s": {"type": "binary", "delta": 0.3}, "x": {**number, "delta": 0.5, **x}, "y": number}
    return Policy(epsilon=2, features=features)


def test_a_sample_is_measured_by_the_ranges() -> None:
    """s follows x below 10 only: seen by ranges that end there, and by quarters as far as they are mixed."""
    sample = people()
    sample["s"] = np.where(sample["x"] < 10, 1, sample["s"])
    quarters, kink = (estimate_correlation(policy_of(**extra), sample) for extra in ({}, {"ranges": [10]}))
    assert quarters.ranges == {"x": (25.0, 50.0, 75.0), "y": (25.0, 50.0, 75.0)}
    assert 0.18 < quarters.observed["x", "s"] < 0.22
    assert 0.48 < kink.observed["x", "s"] < 0.52
    assert "for guesses of their range" in kink.source


def test_a_number_told_is_bounded_at_its_17_levels_whatever_its_ranges() -> None:
    """The cells of odd ranges share the same levels: shares sum to one, and levels merge to those of the quarters."""
    sample = people()
    sample["x"] = np.clip(sample["x"] + 30 * sample["s"], 0, 100)
    limits = [estimate_correlation(policy_of(ranges=cuts), sample).observed["s", "x"]
              for cuts in ([25, 50, 75], [1e-9], [99.999999], [33.3, 33.4, 33.5], [50])]  # fmt: skip
    assert limits == pytest.approx([limits[0]] * 5, abs=0.01)


def test_tables_of_pairs_carry_the_ranges(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    made = policy_of(ranges=[10, 40])
    write_pairs(path, made, estimate_correlation(made, people(4000)))
    again = Policy.parse(made.to_dict() | {"correlation": {"pairs": str(path)}})
    assert correlation_of(again).ranges == {"x": (10.0, 40.0), "y": (25.0, 50.0, 75.0)}
    for other in ({}, {"ranges": [10, 41]}, {"ranges": [25, 50, 75]}):
        with pytest.raises(InputError, match="first cell: got 'another text'"):
            correlation_of(Policy.parse(policy_of(**other).to_dict() | {"correlation": {"pairs": str(path)}}))
    by_hand = path.read_text().split(",", 1)[1]
    path.write_text(f",{by_hand}")
    assert correlation_of(again).ranges == {}


@pytest.mark.parametrize("extra", [{}, {"ranges": [7, 60, 61]}, {"missing": 20, "ranges": [30, 50]}])
def test_a_plan_from_a_sample_keeps_its_demands_by_ranges(extra: dict[str, Any]) -> None:
    """Joint tables among them, planned for the ranges and certified again: within the demand, and not far below it."""
    policy, sample = policy_of(**extra), people()
    if "missing" in extra:
        sample["x"] = np.where(np.arange(len(sample["x"])) % 10 == 0, np.nan, sample["x"])
    plan = make_plan(policy, estimate_correlation(policy, sample))
    assert any(len(question.features) > 1 for question in plan.questions)
    for name, claim in plan.certificate.features.items():
        assert claim.certified <= policy.features[name].delta
        assert verify_limits(plan.text).delta[name] == claim.certified
    assert plan.certificate.features["x"].certified > 0.499
    assert Plan.parse(plan.text).correlation_model.ranges == {"x": policy.features["x"].cuts, "y": (25.0, 50.0, 75.0)}
