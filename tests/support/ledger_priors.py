"""The exact worst prior of several plans together, by linear programs, next to what a ledger states of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from bcdp import Plan
from bcdp.exact import TOTAL
from bcdp.plan.ledger import Ledger, release_of
from support.helpers import menu_kernel, random_table

Array = npt.NDArray[np.float64]

SECRET = "secret"  # asked, or not, in every plan
SIZES = {SECRET: 2, "u": 2, "v": 3, "w": 2}
MOST_HISTORIES, MOST_OUTPUTS = 4, 12
TOLERANCE = 1e-7  # of the solver


@dataclass(frozen=True)
class Bounds:
    """A condition: how far the joint distribution of some features may move with the secret."""

    names: tuple[str, ...]
    q: float
    odds: float


@dataclass(frozen=True)
class Compared:
    """The largest level that a linear program reaches, what the ledger states, and the sum of what plans certify."""

    kind: str
    worst: float
    stated: float
    deltas: float


def random_plan(rng: np.random.Generator) -> Plan:
    """A plan about the secret and one or two other features, in one to three menus of random tables."""
    others = [str(name) for name in rng.permutation(["u", "v", "w"])[: rng.integers(1, 3)]]
    kinds = {2: {"type": "binary"}, 3: {"type": "categorical", "values": ["a", "b", "c"]}}
    features = {name: {**kinds[SIZES[name]], "delta": 20.0} for name in (SECRET, *others)}
    tables, questions, menus = [], [], []
    for _ in range(rng.integers(1, 4)):
        left, chosen = [str(name) for name in rng.permutation(list(features))], []
        while left and (not chosen or rng.random() < 0.6):
            group = [left.pop() for _ in range(min(len(left), int(rng.integers(1, 3))))]
            sizes = [SIZES[name] for name in group]
            table = random_table(rng, math.prod(sizes))
            while table.ratio == math.inf:
                table = random_table(rng, math.prod(sizes))
            chosen.append(len(questions))
            questions.append({"features": group, "levels": sizes, "table": len(tables)})
            tables.append(table.to_dict())
        menus.append({"weight": int(rng.integers(1, 2**30)), "questions": chosen})
    menus[0]["weight"] += TOTAL - sum(menu["weight"] for menu in menus)
    odds = float(rng.choice([1.5, 4.0, math.inf]))
    stated = {"kind": "per feature", "default": float(rng.choice([0.0, 0.05, 0.2, 0.6])), "named": {}, "source": "test"}
    return Plan.certified(
        {
            "mechanism": "survey",
            "collection": {"epsilon": 20.0, "features": features},
            "correlation": stated | ({"odds": {"default": odds}} if odds < math.inf else {}),
            "tables": tables,
            "questions": questions,
            "menus": menus,
        }
    )


def compared(rng: np.random.Generator, plans: Sequence[Plan]) -> Iterator[Compared]:
    """Some histories of menus and the outputs that reveal most: each statement against the worst prior it allows.

    The ledger that knows the menus drawn is compared; the one that does not has to state at least as much.
    """
    person = Bounds((), float(rng.choice([0.02, 0.1, 0.4])), float(rng.choice([2.0, math.inf])))
    histories = list(itertools.product(*(range(len(plan.menus)) for plan in plans)))
    unknown = _ledger(plans, [None] * len(plans), person)
    for number in rng.permutation(len(histories))[:MOST_HISTORIES]:
        menus = histories[number]
        drawn = _ledger(plans, menus, person)
        levels = {statement.condition: statement.level for statement in drawn.statements(SECRET)}
        largest = {statement.condition: statement.level for statement in unknown.statements(SECRET)}
        assert all(level <= largest[condition] for condition, level in levels.items())
        assert drawn.delta(SECRET) == min(levels.values())
        _, on_plans, on_person = levels.values()
        deltas = math.fsum(release.delta[SECRET] for release in drawn.releases)
        for own, plan in enumerate(plans):
            for renamed in (False, True):
                named = [_renamed(plan, k if renamed and k != own else None) for k, plan in enumerate(plans)]
                model, others = plan.correlation_model, named[own][1:]
                bounds = Bounds(others, model.q(SECRET, set(others)), model.odds(SECRET, set(others)))
                yield Compared("plans", _worst(plans, menus, named, bounds), on_plans, deltas)
        named = [_renamed(plan, None) for plan in plans]
        everything = tuple(dict.fromkeys(name for names in named for name in names if name != SECRET))
        bounds = Bounds(everything, person.q, person.odds)
        yield Compared("person", _worst(plans, menus, named, bounds), on_person, deltas)


def _ledger(plans: Sequence[Plan], menus: Sequence[int | None], person: Bounds) -> Ledger:
    ledger = Ledger(q=person.q, odds=person.odds if person.odds < math.inf else {})
    for plan, menu in zip(plans, menus, strict=True):
        ledger = ledger.add(release_of(plan, menu=menu), again=True)
    return ledger


def _renamed(plan: Plan, number: int | None) -> tuple[str, ...]:
    """What a plan's features are: where it has a number, it means another thing by the secret's name."""
    return tuple(
        f"{name} of plan {number}" if name == SECRET and number is not None else name for name in plan.policy.features
    )


def _worst(plans: Sequence[Plan], menus: Sequence[int], named: Sequence[tuple[str, ...]], bounds: Bounds) -> float:
    """The largest level of the answers to these menus over all priors within one condition."""
    places = tuple(dict.fromkeys([SECRET, *(name for names in named for name in names)]))
    sizes = {name: SIZES.get(name, SIZES[SECRET]) for name in places}
    kernels = [
        _spread(menu_kernel(plan, plan.menus[menu]), names, sizes)
        for plan, menu, names in zip(plans, menus, named, strict=True)
    ]
    chances = kernels[0]
    for kernel in kernels[1:]:
        chances = (chances[..., :, None] * kernel[..., None, :]).reshape(*np.broadcast_shapes(
            chances.shape[:-1], kernel.shape[:-1]), -1)  # fmt: skip
    chances = np.broadcast_to(chances, (*sizes.values(), chances.shape[-1])).reshape(2, -1, chances.shape[-1])
    free = [chances[a].max(axis=0) / chances[1 - a].min(axis=0) for a in (0, 1)]
    telling = sorted(((free[a][y], a, y) for a in (0, 1) for y in range(chances.shape[-1])), reverse=True)
    margin = _margin(bounds.names, sizes)
    return max(
        math.log(worst_ratio(chances[a, :, y], chances[1 - a, :, y], margin, bounds))
        for _, a, y in telling[:MOST_OUTPUTS]
    )


def _spread(kernel: Array, names: tuple[str, ...], sizes: Mapping[str, int]) -> Array:
    """A kernel with one axis for each feature of all plans, of length 1 where its plan has no such feature."""
    places = list(sizes)
    order = sorted(range(len(names)), key=lambda axis: places.index(names[axis]))
    shape = [sizes[name] if name in names else 1 for name in places]
    return np.asarray(kernel.transpose(*order, len(names)).reshape(*shape, -1))


def _margin(names: tuple[str, ...], sizes: Mapping[str, int]) -> Array:
    """A matrix that adds up the distribution of everything but the secret to that of some features."""
    others = [name for name in sizes if name != SECRET]
    index = np.zeros([sizes[name] for name in others], dtype=np.int64)
    for axis, name in enumerate(others):
        if name in names:
            own = np.arange(sizes[name]).reshape([-1 if place == axis else 1 for place in range(len(others))])
            index = index * sizes[name] + own
    return np.asarray(index.reshape(-1, 1) == np.arange(index.max() + 1), dtype=np.float64)


def worst_ratio(above: Array, below: Array, margin: Array, bounds: Bounds) -> float:
    """The largest `sum P above / sum Q below`, the margins of P and Q within q and odds: a linear program.

    Variables are P, Q, the surplus of each cell of the margin, and their mass, scaled so that the denominator is 1.
    """
    places, cells = margin.shape
    none, rows = np.zeros, []
    rows.append(np.hstack([margin.T, -margin.T, -np.eye(cells), none((cells, 1))]))
    rows.append(np.concatenate([none(2 * places), np.ones(cells), [-bounds.q]])[None])
    if bounds.odds < math.inf:
        for p, q in ((1.0, -bounds.odds), (-bounds.odds, 1.0)):
            rows.append(np.hstack([p * margin.T, q * margin.T, none((cells, cells + 1))]))
    limits = np.vstack(rows)
    equal = none((3, 2 * places + cells + 1))
    equal[0, :places], equal[1, places : 2 * places], equal[2, places : 2 * places] = 1.0, 1.0, below
    equal[:2, -1] = -1.0
    solved = linprog(
        np.concatenate([-above, none(places + cells + 1)]),
        A_ub=limits, b_ub=none(len(limits)), A_eq=equal, b_eq=[0.0, 0.0, 1.0], bounds=(0, None), method="highs",
    )  # fmt: skip
    assert solved.status == 0, solved.message
    return float(-solved.fun)
