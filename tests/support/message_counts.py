"""What the counts of several messages of each person reveal, by enumeration: every tally of every message.

The view of the collector is one tally for each message. Given everybody's records these are independent, so the law of
the view is the product of theirs; no code of the bound is used.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.correlation import FinitePrior
from bcdp.exact import TOTAL
from bcdp.plan import Plan
from bcdp.plan.messages import message_plans
from bcdp.plan.published_counts import counts_levels
from bcdp.randomizers import Table, response
from support.helpers import full_kernel, per_feature, random_dense, survey
from support.published_counts import batch_laws, exceeding, extreme_prior, given, raised, tally_laws

Array = npt.NDArray[np.float64]
RELAY = {"url": "https://relay.example.org/", "key": f"010020{'ab' * 32}000400010001"}
CHANCES = (0.2, 0.02, 1e-3)
MOST_VIEWS = 20_000


def in_messages(
    features: dict[str, Any],
    asked: list[tuple[tuple[str, ...], tuple[int, ...], Table]],
    messages: list[list[int]],
    correlation: dict[str, Any],
    counts: dict[str, Any] | None = None,
    relay: Mapping[str, str] = RELAY,
) -> Plan:
    """A verified plan that sends several messages, each answering some of the questions."""
    questions = [{"features": names, "levels": sizes, "table": k} for k, (names, sizes, _) in enumerate(asked)]
    menus = [{"weight": TOTAL, "questions": numbers} for numbers in messages]
    document = survey(features, [table.to_dict() for _, _, table in asked], questions, menus)
    promise = {"trust": "relay", "relay": dict(relay), "counts": counts or {"people": 1000, "epsilon": 20}}
    document["collection"] = {**document["collection"], **promise}
    return Plan.certified(document | {"correlation": correlation})


@dataclass(frozen=True)
class MessageCase:
    """A certified plan, the chances of each message's answers by record, people to enumerate, and priors."""

    plan: Plan
    kernels: list[Array]
    people: int
    priors: list[tuple[list[int], Array]]

    def views(self, others: tuple[int, ...], fakes: list[tuple[int, ...]], stranger: int) -> Array:
        """For each record the chance of all that the collector sees: fakes that it knows, and another open group."""
        laws = [
            batch_laws(kernel, others, known, kernel[stranger])
            for kernel, known in zip(self.kernels, fakes, strict=True)
        ]
        return functools.reduce(_product, laws)

    def linked(self, others: tuple[int, ...]) -> Array:
        """The same if the messages of each person can be linked: one tally of all answers together."""
        return tally_laws(functools.reduce(_product, self.kernels), others)


def _product(one: Array, other: Array) -> Array:
    return (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)


def message_cases(rng: np.random.Generator, count: int) -> Iterator[MessageCase]:
    """Plans of two or three messages about features of two or three values, one of them perhaps about two features."""
    while count:
        sizes = [int(size) for size in rng.choice([2, 2, 3], size=int(rng.integers(2, 4)))]
        names = [f"x{number}" for number in range(len(sizes))]
        features = {
            name: {"type": "categorical", "values": list("uvw"[:size]), "delta": 20.0}
            for name, size in zip(names, sizes, strict=True)
        }
        tables = [_table(rng, size) for size in sizes]
        if not all(math.isfinite(table.level) for table in tables):
            continue
        asked = [((name,), (size,), table) for name, size, table in zip(names, sizes, tables, strict=True)]
        numbers = list(range(len(names)))
        messages = [[number] for number in numbers]
        if len(numbers) == 3 and rng.random() < 0.4:
            messages = [numbers[:2], numbers[2:]]
        elif len(numbers) == 3 and rng.random() < 0.3:
            messages = messages[:2]  # one feature is never asked
        stated, priors = _priors(rng, names, sizes)
        plan = in_messages(features, asked, messages, stated)
        kernels = [full_kernel(alone).reshape(math.prod(sizes), -1) for alone in message_plans(plan)]
        views = [math.prod(math.comb(n + kernel.shape[1] - 1, n) for kernel in kernels) for n in (5, 4, 3)]
        people = next((n for n, size in zip((5, 4, 3), views, strict=True) if size <= MOST_VIEWS), 0)
        if people:
            count -= 1
            yield MessageCase(plan, kernels, people, priors)


def _table(rng: np.random.Generator, size: int) -> Table:
    if rng.random() < 0.5:
        return response(size, float(rng.choice([0.3, 1.0, 2.0])))
    return random_dense(rng, size, int(rng.integers(2, 4)), float(rng.choice([0.3, 0.8, 1.5])))


def _priors(
    rng: np.random.Generator, names: list[str], sizes: list[int]
) -> tuple[dict[str, Any], list[tuple[list[int], Array]]]:
    """One q and priors at its extremes, or a prior whose q and odds are stated exactly."""
    shape = tuple(sizes)
    if rng.random() < 0.5:
        q = float(rng.choice([0.0, 0.05, 0.3, 1.0]))
        return per_feature(q), [extreme_prior(rng, shape, int(rng.integers(len(sizes))), q) for _ in range(4)]
    prior = rng.dirichlet(np.full(math.prod(shape), float(rng.choice([0.5, 3.0])))).reshape(shape) + 1e-3
    known = FinitePrior(tuple(names), prior / prior.sum(), "test")
    others = {name: frozenset(names) - {name} for name in names}
    stated = {
        "kind": "per feature",
        "source": "a prior",
        "default": 1.0,
        "named": {name: min(1.0, known.q(name, others[name])) for name in names},
        "odds": {"named": {name: known.odds(name, others[name]) for name in names}},
    }
    return stated, [(list(range(len(names))), prior / prior.sum())]


def claims_used(rng: np.random.Generator, case: MessageCase, most: int, counted: int | None = None) -> list[float]:
    """What is true at the levels that are claimed of a batch, as a share of the chance; above 1 is a violation."""
    used, names, records = [], list(case.plan.policy.features), len(case.kernels[0])
    chance = float(rng.choice(CHANCES))
    claims = counts_levels(case.plan, counted or case.people, chance)
    for number in range(2 * most):
        alike = number < most
        others = (int(rng.integers(records)),) * (case.people - 1) if alike else tuple(
            map(int, rng.integers(records, size=case.people - 1))
        )  # fmt: skip
        fakes = [tuple(map(int, rng.integers(kernel.shape[1], size=2))) for kernel in case.kernels]
        laws = case.views(others, fakes, int(rng.integers(records)))
        about = [(claims.record, laws)]
        for axes, prior in case.priors:
            about += [(claims.features[names[axis]], given(prior, axis, laws)) for axis in axes]
        for level, mine in about:
            used.append((exceeding(mine, math.exp(level.epsilon)) - 1e-12) / chance)
            used.append((raised(mine, math.exp(level.odds)) - 1e-12) / chance)
    return used
