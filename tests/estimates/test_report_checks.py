"""Tests of reports: false alarms by exact sums over all counts and people, and the attacks that they notice."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.report_checks import at_least
from bcdp.present.check_sentences import check_lines
from bcdp.tally import FALSE_ALARMS, Check

Array = npt.NDArray[np.float64]

SMALL = {"epsilon": 2, "features": {"ill": {"type": "binary", "delta": 0.5}, "old": {"type": "binary"}}}
LARGE = {
    "epsilon": 2,
    "correlation": 0.2,
    "features": {
        "ill": {"type": "binary", "delta": 0.4},
        "age": {"type": "numeric", "bounds": [0, 100]},
        "region": {"type": "categorical", "values": ["north", "south", "east"]},
    },
}
PEOPLE = 20_000


@pytest.fixture(scope="module")
def small() -> Plan:
    return make_plan(Policy(**SMALL))


@pytest.fixture(scope="module")
def large() -> Plan:
    return make_plan(Policy(**LARGE))


def honest(plan: Plan, rng: np.random.Generator) -> Tally:
    people = {
        "ill": rng.random(PEOPLE) < 0.2,
        "age": rng.uniform(10, 90, PEOPLE),
        "region": rng.choice(["north", "south", "east"], PEOPLE, p=[0.6, 0.3, 0.1]),
    }
    return Tally(plan).add(privatize(plan, people))


def with_fakes(tally: Tally, menus: Any, answers: Any) -> Tally:
    return tally + Tally(tally.plan).add({"menu": np.asarray(menus), "answer": np.asarray(answers)})


@pytest.mark.parametrize("people", [1, 7, 40])
def test_tails_are_those_of_the_binomial_distribution(people: int) -> None:
    for chance in (0.0, 1e-3, 0.4, 1.0):
        each = [math.comb(people, k) * chance**k * (1 - chance) ** (people - k) for k in range(people + 1)]
        exact = [math.fsum(each[k:]) for k in range(people + 1)]
        counted = at_least(np.arange(people + 1.0), people, np.full(people + 1, chance))
        np.testing.assert_allclose(counted, exact, rtol=1e-9, atol=1e-300)


def report_chances(plan: Plan) -> dict[tuple[int, ...], Array]:
    """For each record, the probability of every report (menu, answer), from the integer tables."""
    records = list(itertools.product(*(range(2) for _ in plan.policy.features)))
    chances = {}
    for record in records:
        code = dict(zip(plan.policy.features, record, strict=True))
        parts = []
        for menu in plan.menus:
            answers = np.ones(1)
            for question in (plan.questions[index] for index in menu.questions):
                given = sum(code[name] << position for position, name in enumerate(reversed(question.features)))
                answers = np.outer(answers, plan.tables[question.table].row(given) / TOTAL).ravel()
            parts.append(menu.weight / TOTAL * answers)
        chances[record] = np.concatenate(parts)
    return chances


def counts_of_all(people: int, each: Array) -> dict[tuple[int, ...], float]:
    """The probability of every vector of counts of people who all have these chances."""
    found: dict[tuple[int, ...], float] = {(0,) * len(each): 1.0}
    for _ in range(people):
        following: dict[tuple[int, ...], float] = {}
        for counts, chance in found.items():
            for cell, more in enumerate(each):
                key = (*counts[:cell], counts[cell] + 1, *counts[cell + 1 :])
                following[key] = following.get(key, 0.0) + chance * more
        found = following
    return found


def test_no_honest_people_raise_more_alarms_than_stated(small: Plan) -> None:
    """All counts of four people with every mixture of the two most different records: exact sums."""
    sizes = [math.prod(symbols) for symbols in small.symbols]
    cells = [(menu, answer) for menu, size in enumerate(sizes) for answer in range(size)]
    chances = report_chances(small)
    first, second = chances[0, 0], chances[1, 1]
    known: dict[tuple[int, ...], dict[str, float]] = {}

    def values(counts: tuple[int, ...]) -> dict[str, float]:
        if counts not in known:
            columns = np.array([(*cell, count) for cell, count in zip(cells, counts, strict=True)])
            tally = Tally(small).add({"menu": columns[:, 0], "answer": columns[:, 1], "count": columns[:, 2]})
            known[counts] = {key: check.p for key, check in tally.checks().items()}
        return known[counts]

    for others in range(5):
        ones, twos = counts_of_all(4 - others, first), counts_of_all(others, second)
        together: dict[tuple[int, ...], float] = {}
        for (left, p), (right, q) in itertools.product(ones.items(), twos.items()):
            key = tuple(map(sum, zip(left, right, strict=True)))
            together[key] = together.get(key, 0.0) + p * q
        for name in ("menus", "answers", "duplicates"):
            ordered = sorted((values(counts)[name], chance) for counts, chance in together.items())
            total = 0.0
            for p, chance in ordered:
                total += chance
                assert total <= p * (1 + 1e-9) or p == 1.0, (name, others)


def test_honest_people_raise_no_alarm(large: Plan) -> None:
    """Twenty collections, three checks each: a false alarm has a probability of at most 6e-5 times 1e-6."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        checks = honest(large, rng).checks()
        assert not any(check.p < 1e-12 for check in checks.values())
        assert set(checks) == {"menus", "answers", "duplicates"}


def test_fakes_of_one_menu_are_noticed(large: Plan) -> None:
    rng = np.random.default_rng(4)
    fakes = 0.15 * PEOPLE  # 20 standard errors of the most frequent menu
    for menu in range(len(large.menus)):
        tally = with_fakes(honest(large, rng), [menu] * int(fakes), [0] * int(fakes))
        checks = estimate(tally).checks
        assert checks["menus"].alarm
        assert checks["menus"].where == f"menu {menu}"
        assert "Alarm: menus" in check_lines(checks)[0]


def test_answers_that_nobody_gives_are_noticed_although_menus_are_drawn_as_planned(large: Plan) -> None:
    rng = np.random.default_rng(5)
    weights = np.array([menu.weight for menu in large.menus]) / TOTAL
    fakes = rng.choice(len(weights), PEOPLE // 2, p=weights)
    checks = with_fakes(honest(large, rng), fakes, np.zeros_like(fakes)).checks()
    assert not checks["menus"].alarm
    assert checks["answers"].alarm
    assert checks["duplicates"].alarm


def test_a_device_with_another_table_is_noticed(large: Plan) -> None:
    """A device that draws from a table with twice the budget sends answers that are no mixture of the plan's rows."""
    wide = make_plan(Policy(**{**LARGE, "epsilon": 2, "features": {"region": LARGE["features"]["region"]}}))  # type: ignore[index]
    rng = np.random.default_rng(6)
    symbols = wide.symbols[0][0]
    answers = np.where(rng.random(PEOPLE) < 0.9, 0, rng.integers(symbols, size=PEOPLE))
    assert Tally(wide).add({"menu": np.zeros(PEOPLE, dtype=int), "answer": answers}).checks()["answers"].alarm
    calm = Tally(wide).add(privatize(wide, {"region": ["north"] * PEOPLE})).checks()
    assert not any(check.alarm for check in calm.values())


def test_an_attack_on_one_open_group_is_noticed_there() -> None:
    features = {**LARGE["features"], "arm": {"type": "open", "values": ["a", "b"]}}  # type: ignore[dict-item]
    plan = make_plan(Policy(**{**LARGE, "features": features}))
    rng = np.random.default_rng(7)
    size = 4_000
    people = {
        "ill": rng.random(size) < 0.2,
        "age": rng.uniform(10, 90, size),
        "region": rng.choice(["north", "south", "east"], size),
        "arm": np.where(np.arange(size) < 200, "b", "a"),
    }
    tally = Tally(plan).add(privatize(plan, people))
    assert not any(check.alarm for check in tally.checks().values())
    fakes = {"menu": np.full(150, 2), "answer": np.zeros(150, dtype=int), "group": np.ones(150, dtype=int)}
    check = tally.add(fakes).checks()["menus"]
    assert check.alarm
    assert check.where == "arm = b: menu 2"


def test_what_is_shown() -> None:
    assert check_lines({}) == []
    calm = {"menus": Check(0.4, "menu 1")}
    assert check_lines(calm)[0].startswith("Menus, answers and repeated reports raise no alarm.")
    assert Check(FALSE_ALARMS, "menu 1").to_dict() == {"p": FALSE_ALARMS, "alarm": False}
    assert Check(1e-7, "menu 1").to_dict() == {"p": 1e-7, "alarm": True, "where": "menu 1"}
