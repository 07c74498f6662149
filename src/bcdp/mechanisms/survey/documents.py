"""From a design to the plan's document: concrete menus, integer tables, questions (docs/theory.md, section 4.2)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bcdp.correlation import Correlation
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.kinds import Kind
from bcdp.mechanisms.survey.shapes import Shape
from bcdp.mechanisms.survey.spreading import Asked, Menu
from bcdp.mechanisms.survey.wholes import Whole
from bcdp.plan import collection_of
from bcdp.policy import Policy
from bcdp.statistics import Below, Product, Steps, Target
from bcdp.tables import Dense, Table, binary, categorical, joint, numeric, numeric_values, waves


def product_kind(policy: Policy, asked: Product) -> Kind:
    """What is asked of a product: a number, unless both features have two values."""
    return Kind("numeric" if any(policy.features[name].is_number for name in asked.features) else "binary")


def _features(asked: tuple[Target, ...]) -> tuple[str, ...]:
    """The features that a question touches."""
    return tuple(name for target in asked for name in target.features)


def document_of(policy: Policy, correlation: Correlation, menus: list[Menu]) -> dict[str, Any]:
    """The plan's document, but for its certificate."""
    tables: dict[Table, int] = {}
    questions: dict[Asked, int] = {}
    documents: list[dict[str, Any]] = []
    for question in (question for _, asked in menus for question in asked):
        if question not in questions:
            levels, table = _randomizer(policy, *question)
            questions[question] = len(documents)
            documents.append({"features": _features(question[0]), "levels": levels})
            documents[-1]["table"] = tables.setdefault(table, len(tables))
            if isinstance(question[0][0], Product) and not _is_parity(question[0][0]):
                documents[-1] |= {"kind": "product", "categories": question[0][0].categories}
            cuts = [target.cuts if isinstance(target, Steps | Below) else None for target in question[0]]
            documents[-1] |= {"cuts": cuts} if any(cuts) else {}
    asked_sets = {frozenset(name for names, _, _ in asked for name in _features(names)) for _, asked in menus}
    # one by one: a thousand features have a million of them, and few models look at any
    pairs = ((name, others) for asked in asked_sets for name in policy.features if (others := asked - {name}))
    return {
        "mechanism": "survey",
        "collection": collection_of(policy),
        "correlation": correlation.restricted(pairs).to_dict(),
        "tables": [table.to_dict() for table in tables],
        "questions": documents,
        "menus": [
            {"weight": weight, "questions": [questions[question] for question in asked]}
            for weight, (_, asked) in zip(_integer_weights([p for p, _ in menus]), menus, strict=True)
        ],
    }


def _randomizer(
    policy: Policy, asked: tuple[Target, ...], budget: float, shape: Shape | Whole | None
) -> tuple[tuple[int, ...], Table]:
    if isinstance(asked[0], Product) and _is_parity(asked[0]):
        return _parity(policy, asked[0], budget)
    if isinstance(asked[0], Product):
        table = numeric(budget) if product_kind(policy, asked[0]).name == "numeric" else binary(budget)
        return (table.levels,), table
    if isinstance(asked[0], Below):
        table = waves(len(asked[0].cuts) + 1, budget)
        return (table.levels,), table
    names = _features(asked)
    sizes = tuple(_levels(policy, target) for target in asked)
    if shape is not None:
        return sizes, shape.table
    if len(names) > 1:
        return sizes, joint(sizes, budget)
    kind = policy.features[names[0]].asked_as
    if kind == "categorical" or isinstance(asked[0], Steps):
        return sizes, categorical(sizes[0], budget)
    table = numeric(budget) if kind == "numeric" else binary(budget)
    return (table.levels,), table


def _is_parity(asked: Product) -> bool:
    """Whether a product is asked as the values of its features, in one question: more than two have no other."""
    return len(asked.features) > 2


def _parity(policy: Policy, asked: Product, budget: float) -> tuple[tuple[int, ...], Table]:
    """The question about values whose answer is the sign of their product, randomized."""
    sizes = tuple(policy.features[name].joint_inputs for name in asked.features)
    values = dict(zip(asked.features, np.indices(sizes).reshape(len(sizes), -1), strict=True))
    codes = {
        name: numeric_values(2)[value] if policy.features[name].is_number else value for name, value in values.items()
    }  # a number is rounded to one of its bounds
    signs = asked.of(policy, codes)[:, 0]
    return sizes, Dense(binary(budget).dense().weights[(signs > 0).astype(np.int64)])


def _levels(policy: Policy, target: Target) -> int:
    """How many levels a feature has in a question: a number is rounded to two, unless it enters in steps."""
    if isinstance(target, Steps):
        return target.size(policy)
    return policy.features[target.features[0]].joint_inputs


def _integer_weights(probabilities: list[Fraction]) -> list[int]:
    """Weights of at least 1 that sum to 2^32, as close to the probabilities as that allows."""
    total = sum(probabilities)
    weights = np.array([max(1, int(p / total * TOTAL)) for p in probabilities], dtype=np.int64)
    weights[int(weights.argmax())] += TOTAL - int(weights.sum())
    return [int(weight) for weight in weights]
