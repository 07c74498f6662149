"""Tests whether reports can be those of devices that follow the plan, whatever people answer (theory.md, 4.20).

Each test looks at numbers whose distribution is bounded for every honest population, so that a small p-value means
devices that are broken, reports that are lost, or fakes. None of them assumes a sample size or independent people:
only that each device draws as the plan says.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.readings import CountsOf, marginals
from bcdp.plan import Plan
from bcdp.plan.messages import sends_all
from bcdp.questions import Question
from bcdp.tally import Check

Array = npt.NDArray[np.float64]

_MOST_CELLS = 2**8  # of a question in all menus that ask it, and inputs; beyond, only equal reports are tested
_FEW = 8  # directions whose p-value is computed, those with the largest deviations
_NO_DIRECTION = 1e-9  # numbers that are 0 but for rounding


def report_checks(plan: Plan, people: int, counts: CountsOf) -> dict[str, Check]:
    """Tests of the menus, of the answers to each question over all menus, and of equal reports."""
    return {
        "menus": _menus(plan, people, counts),
        "answers": _answers(plan, people, counts),
        "duplicates": _duplicates(plan, people, counts),
    }


def at_least(count: Array, people: float, chance: Array) -> Array:
    """The probability that so many people or more have something that each has with this chance.

    >>> at_least(np.array([0.0, 2.0]), 2, np.array([0.5, 0.5])).tolist()
    [1.0, 0.25]
    """
    from scipy.special import betainc

    return np.where(count > 0, betainc(np.maximum(count, 1), np.maximum(people - count, 0) + 1, chance), 1.0)


def _menus(plan: Plan, people: int, counts: CountsOf) -> Check:
    """Each menu's number of reports is binomial: exact tails, twice for both sides, times the number of menus.

    Menus that are messages of everybody are not drawn.
    """
    if sends_all(plan):
        return Check(1.0, "")
    observed = np.array([counts(menu).sum() for menu in range(len(plan.menus))], dtype=float)
    chances = _chances(plan)
    rare = np.minimum(at_least(observed, people, chances), at_least(people - observed, people, 1 - chances))
    worst = int(rare.argmin())
    return Check(
        min(1.0, 2 * len(rare) * float(rare[worst])),
        f"menu {worst}",
    )


def _duplicates(plan: Plan, people: int, counts: CountsOf) -> Check:
    """No report can be sent more often than by people all of whose values make it as likely as possible."""
    cells, least, where = 0, 1.0, ""
    for number, (menu, chance) in enumerate(zip(plan.menus, _chances(plan), strict=True)):
        tables = [plan.tables[plan.questions[index].table] for index in menu.questions]
        observed = counts(number)
        senders = int(observed.sum()) if sends_all(plan) else people
        cells += observed.size
        given = np.nonzero(observed)
        if not len(given[0]):
            continue
        likely = np.full(len(given[0]), chance)
        for table, symbols in zip(tables, given, strict=True):
            likely *= table.largest_weights[symbols] / TOTAL
        rare = at_least(observed[given].astype(float), senders, likely)
        worst = int(rare.argmin())
        if rare[worst] < least:
            least, where = float(rare[worst]), f"menu {number}"
    return Check(min(1.0, cells * least), where)


def _answers(plan: Plan, people: int, counts: CountsOf) -> Check:
    """For each question, in all menus that ask it: numbers whose expectation is 0, or at most 0, for every record."""
    directions, least, where = 0, 0.0, ""
    for test in plan.derived(_answer_tests):
        directions += test.directions.shape[1]
        exponent = _rarest(test.rows, test.directions, _seen(plan, people, counts, test.askings))
        if exponent < least:
            least, where = exponent, ", ".join(test.features)
    return Check(min(1.0, math.exp(min(0.0, least + math.log(max(directions, 1))))), where)


@dataclass(frozen=True, eq=False)
class _AnswerTest:
    """A question in all menus that ask it, whatever their tables: as numbers, axes and tables of the menus.

    A cell is a symbol in a menu; the last cell is all other menus. `rows` has the probability of each cell at each
    input. Each column of `directions` is a number for each cell, whose sum over reports is tested. Its expectation is 0
    at every input (what the other cells do not explain of a cell's count, with both signs), or at most 0 (minus a
    share, and a share minus 1).
    """

    features: tuple[str, ...]
    askings: list[tuple[int, int, int]]
    rows: Array
    directions: Array


def _answer_tests(plan: Plan) -> list[_AnswerTest]:
    """One for each question with its own inputs: those whom chance lets answer it in one menu or another are alike."""
    askings: dict[Hashable, list[tuple[int, int, int]]] = defaultdict(list)
    questions: dict[Hashable, Question] = {}
    for number, menu in enumerate(plan.menus):
        for axis, question in enumerate(plan.questions[index] for index in menu.questions):
            key = (question.features, question.kind, question.levels, question.categories, question.cuts)
            askings[key].append((number, axis, question.table))
            questions[key] = question
    tests = []
    for same, question in questions.items():
        cells = 1 + sum(plan.tables[table].symbols for _, _, table in askings[same])
        if max(cells, question.inputs(plan.policy)) <= _MOST_CELLS:
            rows = _cell_probabilities(plan, askings[same])
            tests.append(_AnswerTest(question.features, askings[same], rows, _directions(rows)))
    return tests


def _cell_probabilities(plan: Plan, askings: Sequence[tuple[int, int, int]]) -> Array:
    chances = _chances(plan)
    asked = [chances[menu] * plan.tables[table].dense().weights / TOTAL for menu, _, table in askings]
    others = np.maximum(1 - sum(part.sum(axis=1, keepdims=True) for part in asked), 0.0)
    return np.concatenate([*asked, others], axis=1)


def _directions(rows: Array) -> Array:
    average = rows.mean(axis=0)
    scaled = np.divide(rows, average, out=np.zeros_like(rows), where=average > 0)
    decoder = scaled.T @ np.linalg.pinv(rows @ scaled.T, hermitian=True, rcond=1e-10)
    residual = np.eye(rows.shape[1]) - decoder @ rows
    residual = residual[:, np.abs(residual).max(axis=0) > _NO_DIRECTION]
    shares = decoder[:, np.abs(rows @ decoder - np.eye(len(rows))).max(axis=0) < _NO_DIRECTION]
    return np.concatenate([residual, -residual, -shares, shares - 1], axis=1)


def _seen(plan: Plan, people: int, counts: CountsOf, askings: Sequence[tuple[int, int, int]]) -> Array:
    """How many reports are in each cell, the last one all others; of several messages each, some may be lost."""
    asked = np.concatenate([marginals(counts(menu))(axis) for menu, axis, _ in askings]).astype(float)
    return np.append(asked, 0.0 if sends_all(plan) else people - asked.sum())


def _rarest(rows: Array, directions: Array, seen: Array) -> float:
    """The logarithm of the smallest of Chernoff's bounds, one for each direction: 0 where no sum is large."""
    sums, people = seen @ directions, float(seen.sum())
    spread = np.sqrt(np.maximum((rows @ directions**2).max(axis=0) * people, 1e-300))
    order = np.argsort(-sums / spread)[:_FEW]
    return min((_chernoff(rows, directions[:, column], float(sums[column]), people) for column in order), default=0.0)


def _chernoff(rows: Array, each: Array, total: float, people: float) -> float:
    """The logarithm of a bound on the probability that a sum over people is at least so large.

    For every factor `t > 0` it is at most `exp(-t total)` times the product of everybody's expectation of
    `exp(t each)`, and nobody's is larger than that of the worst input. The factor is searched; any gives a bound.
    """
    if total <= 0:
        return 0.0
    from scipy.optimize import minimize_scalar

    largest = float(np.abs(each).max())
    spread = float((rows @ each**2).max()) * people

    def bound(factor: float) -> float:
        return people * math.log(float((rows @ np.exp(factor * each)).max())) - factor * total

    end = min(4 * total / spread, 50 / largest)
    best = minimize_scalar(bound, bounds=(0.0, end), method="bounded", options={"xatol": end * 1e-4})
    return min(0.0, float(best.fun))


def _chances(plan: Plan) -> Array:
    return np.array([menu.weight for menu in plan.menus], dtype=float) / TOTAL
