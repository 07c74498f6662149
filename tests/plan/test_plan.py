"""The plan's document: its id, its form, and that no changed document promises more than it keeps."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcdp.cli import main
from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.mechanisms.planning import make_plan
from bcdp.plan import Plan
from bcdp.plan.certificate import certify_menus
from bcdp.policy import Policy
from bcdp.randomizers import binary, hadamard, joint
from support.helpers import brute_ratios, log, random_dense, survey


def honest() -> dict[str, Any]:
    """A small plan with every family of tables, joint questions and all kinds of features, its claims just true."""
    rng = np.random.default_rng(0)
    features = {
        "a": {"type": "binary", "delta": 1.5},
        "b": {"type": "categorical", "values": ["u", "v", "w"], "delta": 1.5},
        "c": {"type": "numeric", "bounds": [0, 1], "delta": 1.5},
    }
    tables = [
        binary(0.4),
        hadamard(3, 0.5),
        random_dense(rng, 3, 3, 0.3),
        random_dense(rng, 6, 3, 0.2),
        joint((2, 2), 0.6),
    ]
    questions = [
        {"features": ["a"], "levels": [2], "table": 0},
        {"features": ["b"], "levels": [3], "table": 1},
        {"features": ["c"], "levels": [3], "table": 2},
        {"features": ["a", "b"], "levels": [2, 3], "table": 3},
        {"features": ["c", "a"], "levels": [2, 2], "table": 4},
    ]
    weights = (2**30, 2**31, 2**30)
    menus = [{"weight": w, "questions": q} for w, q in zip(weights, ([0, 1], [3, 2], [4, 1]), strict=True)]
    document = survey(features, [table.to_dict() for table in tables], questions, menus, q=0.3, epsilon=1.5)  # type: ignore[attr-defined]
    return Plan.certified(document).model_dump(mode="json", by_alias=True)


def parse(document: Any) -> Plan:
    return Plan.parse(json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def keeps_its_word(plan: Plan) -> bool:
    """Whether the claims are at least the levels found by enumeration, in fractions, and at most the demands."""
    epsilon, c, delta = brute_ratios(plan)
    claimed = plan.certificate
    stated = plan.collection["features"]
    return (
        log(epsilon) <= claimed.epsilon <= plan.collection["epsilon"]
        and set(claimed.features) == set(stated)
        and all(log(delta[name]) <= claim.certified <= claim.asked for name, claim in claimed.features.items())
        and all(
            claim.asked == stated[name].get("delta", plan.collection["epsilon"])
            for name, claim in claimed.features.items()
        )
        and all(log(c[name]) <= claim.c for name, claim in claimed.features.items())
    )


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
    for key in keys:
        yield (*path, key)
        yield from places(part[key], (*path, key))


JUNK: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 3, 0.5, -0.0, 5e-324, 1e300, 10**25, -(10**400), 2**63, 2**64, TOTAL, TOTAL - 1),
    *("", "a", "b", "NaN", "\ud800", "x" * 1000, [], {}, [[]], [None], {"": 0}, [1, [2, [3]]], [0, 0], [0, 1, 2]),
    *({"kind": "listed", "bounds": [], "source": ""}, [["a", ["b"], 0.0]], {"a": 0.0}, float("inf"), float("nan")),
]


def mutated(rng: np.random.Generator, document: Any) -> Any:
    """One small change somewhere: another number, another type, a key or an entry less or more."""
    result = copy.deepcopy(document)
    paths = list(places(result))
    path = paths[rng.integers(len(paths))]
    parent = result
    for key in path[:-1]:
        parent = parent[key]
    key, way = path[-1], rng.integers(8)
    value = parent[key]
    if way == 0:
        del parent[key]
    elif way == 1 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[rng.integers(len(parent))]))
    elif way == 1:
        parent[str(rng.choice(["x", "q", "weight", "a", "keep"]))] = copy.deepcopy(value)
    elif way == 2:
        parent[key] = JUNK[rng.integers(len(JUNK))]
    elif isinstance(value, bool) or not isinstance(value, int | float):
        other = paths[rng.integers(len(paths))]
        donor = document
        for step in other:
            donor = donor[step]
        parent[key] = copy.deepcopy(donor)
    elif isinstance(value, int) and way < 6:
        parent[key] = value + int(rng.choice([-(2**28), -1000, -1, 1, 1000, 2**28]))
    else:
        parent[key] = value * float(rng.choice([0.0, 0.5, 0.9, 0.999999, 1.000001, 1.1, 2.0, -1.0]))
    if isinstance(parent, list) and isinstance(value, int) and isinstance(key, int) and rng.random() < 0.5:
        there = int(rng.integers(len(parent))) if parent else 0  # a row of weights that still sums to 2^32
        if len(parent) == 3 and key < len(parent) and isinstance(parent[key], int) and isinstance(parent[there], int):
            parent[there] -= parent[key] - value
    return result


def test_no_changed_plan_promises_more_than_it_keeps() -> None:
    """1,000 mutations: refused with InputError and nothing else, or accepted with claims true by enumeration."""
    rng, document, accepted = np.random.default_rng(1), honest(), 0
    assert keeps_its_word(parse(document))
    for _ in range(1000):
        try:
            plan = parse(mutated(rng, document))
        except InputError:
            continue
        accepted += 1
        assert keeps_its_word(plan)
    assert accepted > 30  # not everything is refused: the test sees what is let through


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(
        ["collection", "correlation", "tables", "questions", "menus", "channels", "certificate", "mechanism"]
    ),
)
def test_nested_junk_is_refused_in_one_way(junk: Any, key: str) -> None:
    for document in (junk, {**honest(), key: junk}):
        try:
            plan = parse(document)
        except InputError:
            continue
        assert keeps_its_word(plan)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "null", "[]", '"plan"', "NaN", "1e400", '{"bcdp": 1e400}', '{"bcdp": ' + "9" * 5000 + "}"),
        *(
            "[" * 100_000,
            '{"a":' * 5000 + "1" + "}" * 5000,
            '{"a":' * 300 + "1" + "}" * 300,
            '{"a": 1, "a": 2}',
            '{"\\ud800": 1}',
        ),
    ],
)
def test_text_that_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="plan"):
        Plan.parse(text)


def change(document: Any, *path: Any, to: Any) -> Any:
    result = copy.deepcopy(document)
    part = result
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = to
    return result


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (("tables", 1), hadamard(3, 0.55).to_dict(), "the tables give"),  # a budget 10% too high
        (("tables", 4), joint((2, 2), 0.66).to_dict(), "the tables give"),
        (("correlation", "default"), 0.33, "the tables give"),
        (("correlation", "default"), 1.0, "the tables give"),
        (("certificate", "epsilon"), 0.0, "the tables give"),
        (("certificate", "features", "b", "certified"), 0.5, "the tables give"),
        (("certificate", "features", "b", "c"), 0.1, "the tables give"),
        (("certificate", "epsilon"), 1.6, "that was asked"),
        (("certificate", "features", "b", "certified"), 1.6, "that was asked"),
        (("certificate", "features", "b", "asked"), 1.6, "the policy's delta"),
        (("certificate", "features"), {}, "one claim for each"),
        (("menus", 0, "weight"), 2**30 - 1, "a sum of 2"),
        (("menus", 0, "weight"), 0, "weight"),
        (("menus", 0, "questions"), [0, 0], "each feature at most once"),
        (("menus", 0, "questions"), [0, 3], "each feature at most once"),
        (("menus", 0, "questions"), [9], "numbers below 5"),
        (("menus", 0, "questions"), [], "questions"),
        (("menus",), [], "at least one menu"),
        (("questions", 0, "features"), ["z"], "different features of the policy"),
        (("questions", 3, "features"), ["a", "a"], "different features of the policy"),
        (("questions", 1, "levels"), [4], "the number of values of b"),
        (("questions", 2, "levels"), [4], "4 levels"),
        (("questions", 0, "table"), 5, "a number below 5"),
        (("tables", 2, "weights", 0, 0), 7, "sum to"),
        (("mechanism",), "cascade", "channels"),
        (("channels",), [{"features": ["a"], "keep": 2**31}], "no channels"),
        (("collection", "features", "a", "delta"), 0.1, "delta"),
    ],
)
def test_each_way_to_break_a_plan_is_named(path: tuple[Any, ...], to: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(change(honest(), *path, to=to))


def test_too_many_answers_are_refused() -> None:
    features = {f"x{i}": {"type": "binary", "delta": 20.0} for i in range(25)}
    questions = [{"features": [name], "levels": [2], "table": 0} for name in features]
    menus = [{"weight": TOTAL, "questions": list(range(25))}]
    with pytest.raises(InputError, match="possible answers"):
        parse(survey(features, [binary(0.1).to_dict()], questions, menus))


# -- the id -----------------------------------------------------------------------------------------------------------


def shuffled(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: shuffled(part[key]) for key in reversed(part)}
    return [shuffled(entry) for entry in part] if isinstance(part, list) else part


def test_a_plan_is_one_text_whose_hash_is_its_id(tmp_path: Path) -> None:
    """In a mapping the order of keys does not matter; a text in another spelling is refused; a saved one is not."""
    document = change(honest(), "collection", "features", "a", to={"type": "binary", "delta": 1.5, "label": "été"})
    plan = Plan.build(document)
    assert plan.id == hashlib.sha256(plan.text.encode()).hexdigest()
    assert Plan.build(shuffled(document)).id == plan.id
    for other in (json.dumps(document, indent=7), plan.text + "\n", plan.text.replace("é", "\\u00e9")):
        with pytest.raises(InputError, match="not in canonical form"):
            Plan.parse(other)
    plan.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json")
    assert (loaded, loaded.id, loaded.text) == (plan, plan.id, plan.text)
    assert (tmp_path / "plan.json").read_bytes().decode("utf-8") == plan.text


@pytest.mark.parametrize("mechanism", ["survey", "cascade"])
def test_a_plan_runs_over_the_features_as_the_policy_wrote_them(mechanism: str, tmp_path: Path) -> None:
    features = {name: {"type": "binary"} for name in ("smoker", "age", "10", "income", "9")}
    plan = make_plan(Policy(epsilon=1, features=features, mechanism=mechanism))
    plan.save(tmp_path / "plan.json")
    assert list(Plan.load(tmp_path / "plan.json").policy.features) == list(features)


@pytest.mark.parametrize("order", [["a", "b"], ["a", "b", "c", "c"], ["a", "b", 3], "abc", {"a": 1}, None])
def test_an_order_names_every_feature_once(order: Any) -> None:
    with pytest.raises(InputError, match=r"collection\.order: got .*; accepted: the name of every feature once"):
        parse(change(honest(), "collection", "order", to=order))


def test_every_change_changes_the_id() -> None:
    """Whatever differs in the canonical text, the id differs: 300 mutations that still have a plan's form."""
    rng, document = np.random.default_rng(2), honest()
    plan, seen = Plan.build(document), 0
    for _ in range(600):
        try:
            other = Plan.build(mutated(rng, document))
        except InputError:
            continue
        seen += other.text != plan.text
        assert (other.id != plan.id) == (other.text != plan.text)
    assert seen > 100


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "latin"):
        with pytest.raises(InputError, match="cannot be read"):
            Plan.load(path)


def test_the_command_reads_the_policy_once_and_certifies_each_plan_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three plans: the one that is written and the two uniform ones beside it. Each reads its own document once more.

    Showing a plan computes nothing again; reading it from a file does, once.
    """
    made, read, certified = Policy.__init__, [], []

    def init(self: Policy, /, **document: Any) -> None:
        read.append(document["epsilon"])
        made(self, **document)

    def count(plan: Plan, correlation: Any) -> Any:
        if correlation is plan.correlation_model:
            certified.append(plan.policy.epsilon)
        return certify_menus(plan, correlation)

    monkeypatch.setattr(Policy, "__init__", init)
    monkeypatch.setattr("bcdp.mechanisms.survey.interface.largest_levels", count)
    policy = tmp_path / "policy.yaml"
    policy.write_text("{epsilon: 2, correlation: 0.1, features: {a: {type: binary, delta: 0.5}, b: {type: binary}}}")
    assert main(["plan", str(policy), "-o", str(tmp_path / "plan.json")]) == 0
    assert (read, certified) == ([2, 2, 0.5, 0.5], [2, 0.5, 0.5])
    plan = Plan.load(tmp_path / "plan.json")
    assert certified[3:] == [2]
    plan.verify()
    assert certified[3:] == [2]
