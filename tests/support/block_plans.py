"""Random plans with blocks, and the worst prior of each feature by a linear program that shares no code with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from bcdp.exact import TOTAL
from bcdp.plan import Plan
from bcdp.policy import MultipleFeature
from bcdp.policy.blocks import combinations

Array = npt.NDArray[np.float64]
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


def random_crossed_plan(rng: np.random.Generator, q: float, odds: float | None) -> Plan:
    """A plan that asks a random block, or a list to tick, with a feature outside in one question, and another outside.

    The feature outside is a number now and then, in steps or rounded; with `odds` or without.
    """
    while True:
        features = _with_outside(rng, random_features(rng) if rng.random() < 0.7 else _random_list(rng))
        draft = Plan.build(_document(features, [], [], q, odds))
        asked = tuple(name for name in features if name != "further")
        stepped = features["outside"] == {"type": "numeric", "bounds": [0, 10]} and rng.random() < 0.5
        cuts = [3.0, 5.0] if stepped else None
        sizes = tuple(3 if name == "outside" and cuts else _levels(draft, name, rng) for name in asked)
        inputs = len(combinations(draft.policy.features, asked, sizes))
        if inputs <= 40:
            break
    spread = float(rng.choice([0.2, 1.0, 2.0]))
    questions = [{"features": list(asked), "levels": list(sizes), "table": 0, "kind": "block"}]
    if cuts:
        questions[0]["cuts"] = [cuts if name == "outside" else None for name in asked]
    questions += [{"features": ["further"], "levels": [2], "table": 1}]
    tables = [_random_table(rng, inputs, spread), _random_table(rng, 2, spread)]
    return Plan.build(_document(features, tables, questions, q, odds))


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


@dataclass(frozen=True)
class Guess:
    """A guess between two values of a feature: the inputs that each may go with."""

    feature: str
    first: Array
    second: Array


def guesses(plan: Plan) -> Iterator[Guess]:
    """Every two values of each feature of the first question, and of each item with a delta.

    Two numbers may be near the same level, and so may "missing".
    """
    question, features = plan.questions[0], plan.policy.features
    possible = combinations(features, question.features, question.levels)
    for position, name in enumerate(question.features):
        feature, codes = features[name], possible[:, position]
        for a, b in product(np.unique(codes).tolist(), repeat=2):
            number = feature.is_number and a < question.levels[position] - feature.extras
            counted = feature.imputes and not feature.is_number and feature.categories[a] == feature.missing
            if a != b or number or counted:
                yield Guess(name, np.flatnonzero(codes == a), np.flatnonzero(codes == b))
        for item in (feature.items or {}) if isinstance(feature, MultipleFeature) else ():
            names = [[feature.values[number] for number in ticked] for ticked in feature.sets]
            has = np.array([*(int(item in ticked) for ticked in names), *range(2, 2 + feature.extras)])
            for a, b in product(np.unique(has[codes]).tolist(), repeat=2):
                if a != b:
                    yield Guess(f"{name}.{item}", np.flatnonzero(has[codes] == a), np.flatnonzero(has[codes] == b))


def worst_ratio(f: Array, guess: Guess, q: float, odds: float | None) -> float:
    """The largest P(y | first) / P(y | second) over all joint distributions, by linear programming.

    `f`: the probability of an answer y by the block's input and the value outside. The distributions of the outside
    given either value are within q of each other in total variation, and within the odds.
    """
    first, second, size = f[guess.first], f[guess.second], f.shape[1]
    ones, others = first.size, second.size
    count = ones + others + size + 1  # both distributions, the distance of their margins, and a scale
    objective = np.zeros(count)
    objective[:ones] = -first.ravel()
    equal = np.zeros((3, count))
    equal[0, ones : ones + others] = second.ravel()  # the denominator is 1
    equal[1, :ones], equal[1, -1] = 1, -1
    equal[2, ones : ones + others], equal[2, -1] = 1, -1
    above = []
    for z in range(size):
        margins = np.zeros(count)
        margins[z:ones:size] = 1
        margins[ones + z : ones + others : size] = -1
        for sign in (1, -1):
            row = sign * margins
            row[ones + others + z] = -1
            above.append(row)
        if odds is not None:
            for start, end in ((1.0, -odds), (-odds, 1.0)):
                above.append(np.where(margins > 0, start, np.where(margins < 0, end, 0.0)))
    total = np.zeros(count)
    total[ones + others : -1], total[-1] = 0.5, -q
    above.append(total)
    solved = linprog(
        objective, np.array(above), np.zeros(len(above)), equal, [1, 0, 0], bounds=(0, None), method="highs"
    )
    assert solved.status == 0, solved.message
    return float(-solved.fun)


def worst_by_feature(plan: Plan, q: float, odds: float | None) -> dict[str, float]:
    """For each feature of the first question, and each item with a delta, the largest ratio of any answer.

    The second question asks about something outside.
    """
    asked, further = (np.array(table["weights"]) / TOTAL for table in plan.tables_)
    question = plan.questions[0]
    possible = combinations(plan.policy.features, question.features, question.levels)
    worst: dict[str, float] = {}
    for guess in guesses(plan):
        name = guess.feature.partition(".")[0]
        block = plan.policy.blocks.get(name, (name,))
        inside = np.array([other in block for other in question.features])
        places = np.unique(possible[:, ~inside], axis=0, return_inverse=True)[1].ravel()
        own = np.unique(possible[:, inside], axis=0, return_inverse=True)[1].ravel()
        first, second = (np.unique(own[inputs]) for inputs in (guess.first, guess.second))
        for y, z in product(range(asked.shape[1]), range(further.shape[1])):
            f = np.zeros((own.max() + 1, places.max() + 1))
            f[own, places] = asked[:, y]
            both = (f[:, :, None] * further[:, z]).reshape(len(f), -1)
            ratio = worst_ratio(both, Guess(name, first, second), q, odds)
            worst[guess.feature] = max(worst.get(guess.feature, 1.0), ratio)
    return worst
