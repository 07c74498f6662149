"""The exact worst prior over histories of a panel, and of a panel with another plan, by linear programs.

Histories are enumerated: every sequence of values over the waves, whatever changes. The distribution of the other
feature's history given two histories of one feature is as far apart as the plan's bounds allow, and nothing else is
assumed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp import Plan
from bcdp.exact import TOTAL
from bcdp.plan.ledger import Ledger, release_of
from support.helpers import random_table
from support.ledger_priors import Bounds, worst_ratio

Array = npt.NDArray[np.float64]

SIZES = {"x": 2, "u": 3}
KINDS = {"x": {"type": "binary"}, "u": {"type": "categorical", "values": ["a", "b", "c"]}}
MOST_OUTPUTS = 6  # those that could reveal most


@dataclass(frozen=True)
class Compared:
    """What a linear program reaches, and what is stated: the level of `kind`."""

    kind: str
    worst: float
    stated: float


def random_panel(rng: np.random.Generator, waves: int | None = None) -> Plan:
    """A panel of one to four menus of random tables, some of them about change; without `waves` a plan of one time."""
    tables, questions, menus = [], [], []
    for _ in range(rng.integers(1, 5)):
        wave = None if waves is None else int(rng.integers(1, waves + 1))
        group = [str(name) for name in rng.permutation(list(SIZES))[: rng.integers(1, 3)]]
        changes = wave is not None and wave > 1 and rng.random() < 0.35
        group = group[:1] if changes else group
        levels = [SIZES[name] for name in group] * (1 + changes)
        apart = len(group) > 1 and rng.random() < 0.4
        for names, sizes in [([name], [SIZES[name]]) for name in group] if apart else [(group, levels)]:
            questions.append({"features": names, "levels": sizes, "table": len(tables)})
            if changes:
                questions[-1] |= {"kind": "change", "since": int(rng.integers(1, wave or 1))}
            table = random_table(rng, math.prod(sizes))
            while table.ratio == math.inf:
                table = random_table(rng, math.prod(sizes))
            tables.append(table.to_dict())
        asked = list(range(len(questions) - (len(group) if apart else 1), len(questions)))
        menus.append({"weight": int(rng.integers(1, 2**29)), "questions": asked} | ({"wave": wave} if wave else {}))
    menus[0]["weight"] += TOTAL - sum(menu["weight"] for menu in menus)
    odds = float(rng.choice([1.5, 4.0, math.inf]))
    stated = {"kind": "per feature", "default": float(rng.choice([0.0, 0.05, 0.2, 0.6])), "named": {}, "source": "test"}
    panel = {} if waves is None else {"panel": {"waves": waves, "every": "week", "start": "2027-01-04"}}
    return Plan.certified(
        {
            "mechanism": "survey",
            "collection": {"epsilon": 20.0, "features": KINDS, **panel},
            "correlation": stated | ({"odds": {"default": odds}} if odds < math.inf else {}),
            "tables": tables,
            "questions": questions,
            "menus": menus,
        }
    )


def histories(name: str, waves: int) -> npt.NDArray[np.int64]:
    """Every sequence of values, one row for each."""
    return np.array(list(itertools.product(range(SIZES[name]), repeat=waves)))


def kernel(plan: Plan, number: int, waves: int, at: int = 1) -> Array:
    """The chance of each output of a menu, by the histories of x and of u; of a plan without waves, asked `at` one."""
    menu, total = plan.menus[number], np.ones((SIZES["x"] ** waves, SIZES["u"] ** waves, 1))
    for question in (plan.questions[index] for index in menu.questions):
        weights, inputs = plan.tables[question.table].dense().weights / TOTAL, np.zeros(total.shape[:2], dtype=np.int64)
        wave = menu.wave or at
        asked = [(name, wave) for name in question.features]
        asked = asked if question.since is None else [(question.features[0], question.since), *asked]
        for name, when in asked:
            values = histories(name, waves)[:, when - 1]
            inputs = inputs * SIZES[name] + (values[:, None] if name == "x" else values[None])
        total = (total[..., :, None] * weights[inputs][..., None, :]).reshape(*total.shape[:2], -1)
    return total


def worst_level(chances: Array, bounds: Bounds) -> float:
    """The largest level of guesses about the first axis over all distributions of the second within bounds."""
    margin, worst = np.eye(chances.shape[1]), 0.0
    rows = np.unique(chances.transpose(2, 0, 1).reshape(chances.shape[2], -1), axis=0).reshape(-1, *chances.shape[:2])
    free = sorted(rows, key=lambda f: float(f.max() / f.min()), reverse=True)
    for f in free[:MOST_OUTPUTS]:
        if math.log(f.max() / f.min()) <= worst:
            continue
        _, places, counts = np.unique(f, axis=0, return_inverse=True, return_counts=True)
        distinct = dict(zip(places.ravel().tolist(), f, strict=True))
        for a, b in itertools.product(distinct, repeat=2):
            if a == b and counts[a] < 2:
                continue  # no two histories of it
            if np.log(distinct[a].max() / distinct[b].min()) > worst:
                worst = max(worst, math.log(worst_ratio(distinct[a], distinct[b], margin, bounds)))
    return worst


def of_panel(plan: Plan) -> Iterator[Compared]:
    """The worst of the whole panel about each feature's history, next to the plan's certificate."""
    panel = plan.policy.panel
    assert panel is not None
    for name in SIZES:
        model = plan.correlation_model
        other = next(each for each in SIZES if each != name)
        bounds = Bounds((other,), model.q(name, {other}), model.odds(name, {other}))
        levels = [
            worst_level(_by(name, kernel(plan, number, panel.waves)), bounds) for number in range(len(plan.menus))
        ]
        yield Compared("panel", max(levels), plan.certificate.features[name].certified)


def of_ledger(rng: np.random.Generator, plan: Plan, once: Plan) -> Iterator[Compared]:
    """A panel and a plan that is answered in one of its waves: two menus, next to the ledger's statements."""
    panel = plan.policy.panel
    assert panel is not None
    menu, more = (int(rng.integers(len(each.menus))) for each in (plan, once))
    first, second = (
        kernel(plan, menu, panel.waves),
        kernel(once, more, panel.waves, int(rng.integers(1, panel.waves + 1))),
    )
    both = (first[..., :, None] * second[..., None, :]).reshape(*first.shape[:2], -1)
    q, odds = float(rng.choice([0.02, 0.1, 0.4])), float(rng.choice([2.0, math.inf]))
    for name in SIZES:
        ledger = Ledger(q=q, odds=odds if odds < math.inf else {})
        for each, drawn in ((plan, menu), (once, more)):
            ledger = ledger.add(release_of(each, menu=drawn), again=True)
        _, on_plans, on_person = (statement.level for statement in ledger.statements(name))
        other, model = next(each for each in SIZES if each != name), plan.correlation_model
        stated = Bounds((other,), model.q(name, {other}), model.odds(name, {other}))
        yield Compared("ledger, on a plan's condition", worst_level(_by(name, both), stated), on_plans)
        yield Compared("ledger, on the person's", worst_level(_by(name, both), Bounds((other,), q, odds)), on_person)


def _by(name: str, chances: Array) -> Array:
    return chances if name == "x" else chances.transpose(1, 0, 2)
