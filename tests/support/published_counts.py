"""What counts tell, by enumeration: every tally of a few people, whoever the others are. No code of the bound.

The law of a tally is made person by person. The others' records are fixed; this person's is drawn from a prior.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.correlation import Listed
from bcdp.exact import TOTAL
from bcdp.notions import excess
from bcdp.plan import Plan
from bcdp.plan.published_counts import counts_levels, feature_surplus, record_surplus
from support.helpers import full_kernel, per_feature, random_dense, random_product_document, sizes_of, survey
from support.priors import plan_and_prior

Array = npt.NDArray[np.float64]
Kernel = Array  # record x report

MOST_TALLIES = 1_500
MOST_RECORDS = 8  # compared with each other, of each plan
SHARES = (0.02, 0.1, 0.3, 0.6, 0.9)  # of a level, at which factors are compared


def tally_laws(kernel: Kernel, others: tuple[int, ...]) -> Array:
    """For each record of one person, the chance of every tally beside others with the given records."""
    law = {(0,) * kernel.shape[1]: np.ones(1)}
    for record in others:
        law = _with(law, kernel[record][:, None])
    law = _with({tally: chance * np.ones(len(kernel)) for tally, chance in law.items()}, kernel.T)
    return np.array(list(law.values())).T


def _with(law: dict[tuple[int, ...], Array], report: Array) -> dict[tuple[int, ...], Array]:
    """The law of the tallies with one more report, whose chances may be several side by side."""
    found: dict[tuple[int, ...], Array] = {}
    for tally, chance in law.items():
        for place, chances in enumerate(report):
            more = (*tally[:place], tally[place] + 1, *tally[place + 1 :])
            found[more] = found.get(more, 0.0) + chance * chances
    return found


def exceeding(laws: Array, factor: float) -> float:
    """The largest hockey-stick divergence of two of the laws."""
    return max(
        (float(np.maximum(one - factor * other, 0).sum()) for one, other in itertools.permutations(laws, 2)),
        default=0.0,
    )


def raised(laws: Array, factor: float) -> float:
    """The largest chance, under one of two laws, of tallies that raise the odds of it by more than a factor."""
    pairs = itertools.permutations(laws, 2)
    return max((float(one[one > factor * other * (1 + 1e-9)].sum()) for one, other in pairs), default=0.0)


def given(prior: Array, axis: int, laws: Array) -> Array:
    """The laws of the tally given each value of a feature that can occur, the rest drawn from the prior."""
    rows = np.moveaxis(prior, axis, 0).reshape(prior.shape[axis], -1)
    numbers = np.moveaxis(np.arange(prior.size).reshape(prior.shape), axis, 0).reshape(rows.shape)
    return np.array([row @ laws[where] / row.sum() for row, where in zip(rows, numbers, strict=True) if row.sum() > 0])


@dataclass(frozen=True)
class Case:
    """A certified plan, its reports' chances by record, how many people to enumerate, and priors within its bounds.

    A prior comes with the features that it is about: all whose q and odds the plan states at least as large.
    """

    plan: Plan
    kernel: Kernel
    people: int
    priors: list[tuple[list[int], Array]]


def cases(rng: np.random.Generator, count: int) -> Iterator[Case]:
    """Plans that state exactly the q and odds of a prior, and plans with one q and priors at its extremes."""
    while count:
        draft, whole = plan_and_prior(rng)
        if multiplied := rng.random() < 0.2:
            draft = Plan.build(random_product_document(rng))
            whole = np.ones(sizes_of(draft), dtype=np.int64)
        kernel = full_kernel(draft)
        kernel = kernel.reshape(-1, kernel.shape[-1])
        people = next((n for n in range(8, 2, -1) if math.comb(n + kernel.shape[1] - 1, n) <= MOST_TALLIES), 0)
        if not people or not all(math.isfinite(table.level) for table in draft.tables):
            continue
        document = draft.model_dump(mode="json", by_alias=True)
        del document["certificate"]
        priors = [(list(range(whole.ndim)), whole / whole.sum())]
        if multiplied or rng.random() < 0.5:
            q = float(rng.choice([0.0, 0.05, 0.3, 1.0]))
            document["correlation"] = per_feature(q)
            priors = [extreme_prior(rng, whole.shape, int(rng.integers(whole.ndim)), q) for _ in range(6)]
        count -= 1
        yield Case(Plan.certified(document), kernel, people, priors)


def ranged_cases(rng: np.random.Generator, count: int) -> Iterator[Case]:
    """Plans that ask a number together with others, with its q by ranges: its values stand for the ranges.

    Within a range the number goes with the others in any way: each place of the others has a number of its own there.
    """
    while count:
        levels, ends = int(rng.integers(2, 5)), [0.0, *np.sort(rng.uniform(0.05, 0.95, rng.integers(1, 4))), 1.0]
        features: dict[str, Any] = {"b": {"type": "binary", "delta": 20.0}}
        features["k"] = {"type": "categorical", "values": ["u", "v", "w"], "delta": 20.0}
        features["x"] = {"type": "numeric", "bounds": [0, 1], "ranges": ends[1:-1], "delta": 20.0}
        asked = [{"features": ["b", "x"], "levels": [2, levels], "table": 0}]
        asked += [{"features": ["x", "k"], "levels": [levels, 3], "table": 1}]
        asked += [{"features": ["k"], "levels": [3], "table": 2}]
        tables = [random_dense(rng, size, int(rng.integers(2, 4)), rng.choice([0.3, 0.8, 1.5])) for size in
                  (2 * levels, 3 * levels, 3)]  # fmt: skip
        if not all(math.isfinite(table.level) for table in tables):
            continue
        weight = int(rng.integers(1, TOTAL))
        chosen = [[0], [0, 2], [1]][int(rng.integers(3))]
        menus = [{"weight": weight, "questions": chosen}, {"weight": TOTAL - weight, "questions": [2]}]
        document = survey(features, [table.to_dict() for table in tables], asked, menus)
        q = float(rng.choice([0.0, 0.05, 0.3]))
        sets = [("x", "b"), ("x", "bk"), ("x", "k"), ("b", "x"), ("b", "xk"), ("k", "x"), ("k", "bx"), ("b", "k")]
        bounds = {(name, frozenset(others)): q for name, others in sets}
        ranges = {"x": Plan.build(document).policy.features["x"].cuts}  # type: ignore[union-attr]
        plan = Plan.certified(document | {"correlation": Listed(bounds, "a sample", ranges=ranges).to_dict()})
        kernel = _by_ranges(rng, plan, list(pairwise(ends)))
        shape, kernel = kernel.shape[:-1], kernel.reshape(-1, kernel.shape[-1])
        people = next((n for n in range(8, 2, -1) if math.comb(n + kernel.shape[1] - 1, n) <= MOST_TALLIES), 0)
        if people:
            count -= 1
            yield Case(plan, kernel, people, [extreme_prior(rng, shape, 2, q) for _ in range(6)])


def _by_ranges(rng: np.random.Generator, plan: Plan, ranges: list[tuple[float, float]]) -> Array:
    """The reports' chances by b, k and the range of x; where in its range x is, chance decides for each place."""
    found = []
    for b, k, (low, high) in itertools.product(range(2), range(3), ranges):
        x = float(rng.choice([low, high, rng.uniform(low, high)]))
        chances = []
        for menu in plan.menus:
            answer = np.array([menu.weight / TOTAL])
            for question in (plan.questions[number] for number in menu.questions):
                rows = plan.tables[question.table].dense().weights.reshape(*question.levels, -1) / TOTAL
                for name, size in zip(question.features, question.levels, strict=True):
                    place = {"b": b, "k": k, "x": x * (size - 1)}[name]
                    rows = np.maximum(0.0, 1 - np.abs(place - np.arange(size))) @ rows.reshape(size, -1)
                answer = np.outer(answer, rows).ravel()
            chances.append(answer)
        found.append(np.concatenate(chances))
    return np.array(found).reshape(2, 3, len(ranges), -1)


def extreme_prior(rng: np.random.Generator, shape: tuple[int, ...], axis: int, q: float) -> tuple[list[int], Array]:
    """Two values of a feature; the others at one place, and with mass q at another for each of the two."""
    rows = np.zeros((shape[axis], math.prod(shape) // shape[axis]))
    common, *moved = rng.integers(rows.shape[1], size=3)
    for value, place in zip(rng.permutation(shape[axis])[:2], moved, strict=True):
        rows[value, common] += (1 - q) / 2
        rows[value, place] += q / 2
    rest = [size for place, size in enumerate(shape) if place != axis]
    return [axis], np.moveaxis(rows.reshape(shape[axis], *rest), 0, axis)


def populations(rng: np.random.Generator, case: Case, most: int) -> list[tuple[int, ...]]:
    """Who the others may be: all of one kind, and any."""
    records, others = len(case.kernel), case.people - 1
    alike = [(record,) * others for record in rng.permutation(records)[:most]]
    return [*alike, *(tuple(map(int, rng.integers(records, size=others))) for _ in range(most))]


def shares_used(rng: np.random.Generator, case: Case, most: int, bound: Any = excess) -> list[float]:
    """What is true as a share of what is proved, for records and features at several factors; above 1 is a violation.

    The divergence, and the chance of tallies that raise odds by more than a factor.
    """
    found, names = [], list(case.plan.policy.features)
    claims, records = case.plan.certificate, rng.permutation(len(case.kernel))[:MOST_RECORDS]
    about: dict[int, Any] = {axis: feature_surplus(case.plan, name) for axis, name in enumerate(names)}
    for others in populations(rng, case, most):
        laws = tally_laws(case.kernel, others)
        told = [(claims.epsilon, record_surplus(case.plan), laws[records])]
        for axes, prior in case.priors:
            for axis in axes:
                told.append((claims.features[names[axis]].certified, about[axis], given(prior, axis, laws)))
        for (level, surpluses, mine), share in itertools.product(told, SHARES):
            factor, odds = math.exp(share * level), math.exp(min(1.0, 1.3 * share) * level)
            proved = max(bound(factor, surpluses(factor), case.people), 1e-300)
            found.append((exceeding(mine, factor) - 1e-12) / proved)
            found.append((raised(mine, odds) - 1e-12) * (1 - factor / odds) / proved)
    return found


def claims_used(rng: np.random.Generator, case: Case, most: int, counted: int | None = None) -> list[float]:
    """What is true at the levels that a plan claims of a batch, as a share of the chance; above 1 is a violation.

    A batch holds the honest reports, fakes that the collector sent itself, and a report of another open group: the
    collector knows the fakes, and sees the groups apart. `counted`: people that are claimed for, else the honest ones.
    """
    used, names = [], list(case.plan.policy.features)
    fakes = tuple(map(int, rng.integers(case.kernel.shape[1], size=2)))
    stranger = case.kernel[int(rng.integers(len(case.kernel)))]
    for chance in (0.2, 0.02, 1e-3):
        claims = counts_levels(case.plan, counted or case.people, chance)
        for others in populations(rng, case, most):
            laws = batch_laws(case.kernel, others, fakes, stranger)
            about = [(claims.record, laws[rng.permutation(len(laws))[:MOST_RECORDS]])]
            for axes, prior in case.priors:
                about += [(claims.features[names[axis]], given(prior, axis, laws)) for axis in axes]
            for level, mine in about:
                used.append((exceeding(mine, math.exp(level.epsilon)) - 1e-12) / chance)
                used.append((raised(mine, math.exp(level.odds)) - 1e-12) / chance)
    return used


def batch_laws(kernel: Kernel, others: tuple[int, ...], fakes: tuple[int, ...], stranger: Array) -> Array:
    """For each record of one person, the chance of every batch: two groups of reports, each in no order."""
    symbols = kernel.shape[1]
    law = {(0,) * symbols: np.ones(1)}
    for report in fakes:
        law = _with(law, np.eye(symbols)[report][:, None])
    for record in others:
        law = _with(law, kernel[record][:, None])
    law = _with({tally: chance * np.ones(len(kernel)) for tally, chance in law.items()}, kernel.T)
    own = np.array(list(law.values())).T
    return (own[:, :, None] * stranger).reshape(len(kernel), -1)
