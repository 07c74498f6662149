"""Random plans with blocks, under assumed bounds or under such as a sample measures."""

from __future__ import annotations

from typing import Any

import numpy as np

from bcdp.correlation import Listed
from bcdp.exact import TOTAL
from bcdp.plan import Plan
from bcdp.policy.blocks import combinations

Features = dict[str, dict[str, Any]]


def random_features(rng: np.random.Generator) -> Features:
    """A block of two to four features: follow-ups of one question, of several, or of each other; and one outside it."""
    features: Features = {"outside": {"type": "categorical", "values": ["p", "q", "r"][: int(rng.integers(2, 4))]}}
    parents: list[str] = []
    for number in range(int(rng.integers(2, 5))):
        values = [f"v{value}" for value in range(int(rng.integers(2, 4)))]
        feature: dict[str, Any] = {"type": "categorical", "values": values}
        if number and rng.random() < 0.35:
            feature = {"type": "numeric", "bounds": [0, 10]}
        if rng.random() < 0.3:
            feature["missing"] = str(rng.choice([values[0], "own"])) if "values" in feature else "own"
        if number:
            chosen = rng.choice(parents, size=min(len(parents), 1 + int(rng.random() < 0.2)), replace=False)
            feature["asked_if"] = {
                str(parent): [v for k, v in enumerate(features[parent]["values"]) if k == 0 or rng.random() < 0.4]
                for parent in chosen
            }
        features[f"f{number}"] = feature
        if "values" in feature:
            parents.append(f"f{number}")
    return features


def random_plan(rng: np.random.Generator, q: float, odds: float | None) -> Plan:
    """A plan that asks a random block and the feature outside it in one menu, through random tables."""
    while True:
        features = random_features(rng)
        draft = Plan.build(_document(features, [], [], q, odds))
        block = tuple(name for name in features if name != "outside")
        sizes = tuple(_levels(draft, name, rng) for name in block)
        inputs = len(combinations(draft.policy.features, block, sizes))
        if inputs <= 24:
            break
    spread = float(rng.choice([0.2, 1.0, 2.0]))
    tables = [_random_table(rng, inputs, spread), _random_table(rng, len(features["outside"]["values"]), spread)]
    questions = [
        {"features": list(block), "levels": list(sizes), "table": 0, "kind": "block"},
        {"features": ["outside"], "levels": [len(features["outside"]["values"])], "table": 1},
    ]
    return Plan.build(_document(features, tables, questions, q, odds))


def random_crossed_plan(rng: np.random.Generator, q: float, odds: float | None, *, steps: bool = False) -> Plan:
    """A plan that asks a random block, or a list to tick, with a feature outside in one question, and another outside.

    The feature outside is a number now and then, in steps or rounded; with `odds` or without. With `steps` numbers of
    the block, and such as have no answer, may be in steps too.
    """
    while True:
        features = _with_outside(rng, random_features(rng) if rng.random() < 0.7 else _random_list(rng))
        draft = Plan.build(_document(features, [], [], q, odds))
        asked = tuple(name for name in features if name != "further")
        stepped = features["outside"] == {"type": "numeric", "bounds": [0, 10]} and rng.random() < 0.5
        cuts = {"outside": [3.0, 5.0]} if stepped else {}
        numbers = [name for name in asked if draft.policy.features[name].is_number] if steps else []
        cuts |= {name: [3.0, 5.0] for name in numbers if rng.random() < 0.5}
        sizes = tuple(
            3 + draft.policy.features[name].extras if name in cuts else _levels(draft, name, rng) for name in asked
        )
        inputs = len(combinations(draft.policy.features, asked, sizes))
        if inputs <= 40:
            break
    spread = float(rng.choice([0.2, 1.0, 2.0]))
    questions = [{"features": list(asked), "levels": list(sizes), "table": 0, "kind": "block"}]
    if cuts:
        questions[0]["cuts"] = [cuts.get(name) for name in asked]
    questions += [{"features": ["further"], "levels": [2], "table": 1}]
    tables = [_random_table(rng, inputs, spread), _random_table(rng, 2, spread)]
    return Plan.build(_document(features, tables, questions, q, odds))


def random_measured_plan(rng: np.random.Generator, q: float = 0.0, odds: float | None = None) -> Plan:
    """One of these plans, with a number, and bounds as a sample gives them: between ranges, of rounded numbers.

    Each feature has a q of its own, and odds now and then; `q` and `odds` are not used.
    """
    while True:
        plan = random_plan(rng, q, odds) if rng.random() < 0.5 else random_crossed_plan(rng, q, odds, steps=True)
        if any(plan.policy.features[name].is_number for name in plan.questions[0].features):
            return _measured(rng, plan)


def _measured(rng: np.random.Generator, plan: Plan) -> Plan:
    document = plan.model_dump(mode="json", by_alias=True)
    asked = frozenset(name for question in plan.questions for name in question.features)
    stated = document["collection"]["features"].items()
    numbers = {name: feature for name, feature in stated if feature["type"] == "numeric"}
    for feature in numbers.values():
        if rng.random() < 0.6:
            feature["ranges"] = sorted(set(np.round(rng.uniform(0.5, 9.5, int(rng.integers(1, 4))), 3).tolist()))
        if feature.get("missing") is None and rng.random() < 0.4:
            feature["missing"] = float(np.round(10 * rng.random(), 3))
    features = Plan.build(document).policy.features
    pairs = [(name, plan.policy.outside(name, asked)) for name in features]
    rounded = frozenset(numbers) if rng.random() < 0.6 else frozenset[str]()
    known = {name: cuts for question in plan.questions for name in numbers if (cuts := question.cuts_of(name))}
    model = Listed(
        {pair: float(rng.choice([0.0, 0.05, 0.3, 0.8, 1.0])) for pair in pairs},
        "a sample",
        rounded=rounded,
        ranges={name: features[name].cuts for name in numbers} if rng.random() < 0.8 else {},
        listed_odds={pair: float(rng.choice([1.5, 3.0])) for pair in pairs if rng.random() < 0.4},
        cuts={name: tuple(cuts) for name, cuts in known.items()} if rounded and rng.random() < 0.6 else {},
    )
    return Plan.build(document | {"correlation": model.to_dict()})


def _random_list(rng: np.random.Generator) -> Features:
    """A list to tick, an item of which has a delta of its own now and then."""
    own = {"items": {"u": {"delta": 0.5}}} if rng.random() < 0.5 else {}
    missing = {"missing": "own"} if rng.random() < 0.3 else {}
    return {"list": {"type": "multiple", "values": ["u", "v", "w"], "at_most": 2, "delta": 20.0, **own, **missing}}


def _with_outside(rng: np.random.Generator, features: Features) -> Features:
    """Two features outside the block, at different places of the policy."""
    kinds: list[dict[str, Any]] = [
        {"type": "categorical", "values": ["p", "q", "r"]},
        {"type": "binary", "missing": 1},
        {"type": "numeric", "bounds": [0, 10]},
        {"type": "numeric", "bounds": [0, 10], "missing": "own"},
    ]
    outside = kinds[rng.choice(len(kinds))]
    block = {name: feature for name, feature in features.items() if name != "outside"}
    first, last = ({"outside": outside}, {}) if rng.random() < 0.5 else ({}, {"outside": outside})
    return {**first, **block, **last, "further": {"type": "binary"}}


def _levels(plan: Plan, name: str, rng: np.random.Generator) -> int:
    feature = plan.policy.features[name]
    return int(rng.integers(2, 4)) + feature.extras if feature.is_number else feature.joint_inputs


def _random_table(rng: np.random.Generator, inputs: int, spread: float) -> dict[str, Any]:
    ideal = np.exp(rng.normal(size=(inputs, int(rng.integers(2, 5)))) * spread)
    weights = np.floor(ideal / ideal.sum(axis=1, keepdims=True) * TOTAL).astype(np.int64)
    weights[:, 0] += TOTAL - weights.sum(axis=1)
    return {"family": "dense", "weights": weights.tolist()}


def _document(
    features: Features, tables: list[Any], questions: list[Any], q: float, odds: float | None
) -> dict[str, Any]:
    bounds = {} if odds is None else {"odds": {"default": odds}}
    return {
        "mechanism": "survey",
        "collection": {"epsilon": 20.0, "features": features},
        "correlation": {"kind": "per feature", "default": q, "named": {}, **bounds, "source": "assumed"},
        "tables": tables,
        "questions": questions,
        "menus": [{"weight": TOTAL, "questions": [0, 1] if questions else [0]}],
        "certificate": {"epsilon": 0.0, "features": {}, "objective": None, "optimality_gap": None},
    }
