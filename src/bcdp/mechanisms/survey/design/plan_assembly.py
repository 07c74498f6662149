"""From a design to the plan's document: concrete menus, integer tables, questions (theory.md, section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, cast

import numpy as np

from bcdp.correlation import Correlation
from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.design.joint.cell_questions import CellQuestion
from bcdp.mechanisms.survey.design.joint.tables import Shape
from bcdp.mechanisms.survey.design.menu_assignment import Asked, Menu
from bcdp.plan import collection_of
from bcdp.plan.structure import MOST_ANSWERS
from bcdp.policy import Policy
from bcdp.randomizers import Projective, Table, joint, projective
from bcdp.statistics import Askable, Margin, Role, Target


def _features(asked: tuple[Target, ...]) -> tuple[str, ...]:
    """The features that a question touches."""
    return tuple(name for target in asked for name in target.features)


def document_of(policy: Policy, correlation: Correlation, menus: list[Menu]) -> dict[str, Any]:
    """The plan's document, but for its certificate."""
    tables: dict[Table, int] = {}
    questions: dict[tuple[Asked, int | None], int] = {}
    documents: list[dict[str, Any]] = []
    in_waves = list(_in_waves(policy, menus))
    for question, since in ((question, since) for _, _, since, asked in in_waves for question in asked):
        if (question, since) not in questions:
            levels, table = _randomizer(policy, *question)
            questions[question, since] = len(documents)
            documents.append({"features": _features(question[0]), "levels": levels})
            documents[-1]["table"] = tables.setdefault(table, len(tables))
            documents[-1] |= {**question[0][0].question_keys, **({} if since is None else {"since": since})}
            cuts = [target.cuts_by_feature.get(name) for target in question[0] for name in target.features]
            documents[-1] |= {"cuts": cuts} if any(cuts) else {}
    asked_sets = {frozenset(name for names, _, _ in asked for name in _features(names)) for _, asked in menus}
    # one by one: a thousand features have a million of them, and few models look at any
    pairs = (
        (name, others) for asked in asked_sets for name in policy.features if (others := policy.outside(name, asked))
    )
    asked_tables = [
        [cast("int", documents[questions[question, since]]["table"]) for question in asked]
        for _, _, since, asked in in_waves
    ]
    return {
        "mechanism": "survey",
        "collection": collection_of(policy),
        "correlation": correlation.restricted(pairs).to_dict(),
        "tables": [table.to_dict() for table in _countable(list(tables), asked_tables)],
        "questions": documents,
        "menus": [
            {"weight": weight, "questions": [questions[question, since] for question in asked]}
            | ({} if wave is None else {"wave": wave})
            for weight, (_, wave, since, asked) in zip(
                _integer_weights([share for share, *_ in in_waves]), in_waves, strict=True
            )
        ],
    }


def _countable(tables: list[Table], menus: list[list[int]]) -> list[Table]:
    """The tables, with fewer hyperplanes where all menus together would have more answers than can be counted.

    The largest geometry that has a smaller one gives way first: it is a little less accurate at the same level.
    """
    while sum(math.prod(tables[number].symbols for number in menu) for menu in menus) > MOST_ANSWERS:
        smaller = {
            number: other
            for number, table in enumerate(tables)
            if isinstance(table, Projective) and (other := _smaller(table)) is not None
        }
        if not smaller:
            break
        largest = max(smaller, key=lambda number: tables[number].symbols)
        tables = [*tables[:largest], smaller[largest], *tables[largest + 1 :]]
    return tables


def _smaller(table: Projective) -> Projective | None:
    """The best geometry of the same level with fewer hyperplanes; None if there is none."""
    try:
        return projective(table.levels, table.level, table.hyperplanes - 1)
    except InputError:
        return None


def _in_waves(policy: Policy, menus: list[Menu]) -> Iterator[tuple[Fraction, int | None, int | None, list[Asked]]]:
    """Each menu with its share, its wave and the earlier wave that it asks about; in a panel, once for every wave.

    All waves are asked about equally often. A question about change belongs to the later wave.
    """
    if policy.panel is None:
        yield from ((share, None, None, asked) for share, asked in menus)
        return
    waves = policy.panel.waves
    for wave in range(1, waves + 1):
        for share, asked in menus:
            if asked[0][0][0].role is not Role.CHANGE:
                yield share / waves, wave, None, asked
            elif wave > 1:
                yield share / (waves - 1), wave, wave - 1, asked


def _randomizer(
    policy: Policy, asked: tuple[Askable, ...], budget: float, shape: Shape | CellQuestion | None
) -> tuple[tuple[int, ...], Table]:
    if shape is None and len(asked) == 1:
        return asked[0].randomizer(policy, budget)
    sizes = tuple(margin.levels(policy) for margin in cast("tuple[Margin, ...]", asked))
    return sizes, joint(sizes, budget) if shape is None else shape.table


def _integer_weights(probabilities: list[Fraction]) -> list[int]:
    """Weights of at least 1 that sum to 2^32, as close to the probabilities as that allows."""
    total = sum(probabilities)
    weights = np.array([max(1, int(p / total * TOTAL)) for p in probabilities], dtype=np.int64)
    weights[int(weights.argmax())] += TOTAL - int(weights.sum())
    return [int(weight) for weight in weights]
