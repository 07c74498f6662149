"""Menus that tickets assign: device, collector and estimates agree on them, and fake reports shift less."""

from __future__ import annotations

import itertools
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcdp import Device, InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.collector import Settings, make_tickets
from bcdp.collector.http.errors import RefusalError
from bcdp.collector.http.report_body import Reader
from bcdp.compare.fertility import POLICY as DEMO
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.fake_reports import most_fakes
from bcdp.plan import menu_of_ticket
from bcdp.present.fake_shifts import fake_shifts
from bcdp.statistics import Estimate

FEATURES: dict[str, Any] = {
    "ill": {"type": "binary", "delta": 0.4},
    "old": {"type": "binary"},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
}
RECORD = {"ill": 1, "old": 0, "region": "south"}
PEOPLE, FAKES = 20_000, 400


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Policy(epsilon=2, correlation=0.2, features=FEATURES, menu_from="ticket"))


def test_levels_are_those_of_menus_that_devices_draw(plan: Plan) -> None:
    drawn = make_plan(Policy(epsilon=2, correlation=0.2, features=FEATURES))
    assert plan.certificate == drawn.certificate
    assert plan.id != drawn.id


def test_menus_are_as_frequent_as_the_plan_says(plan: Plan) -> None:
    """20,000 tickets; each menu's number within 6.5 standard errors, a false alarm has a probability below 1e-9."""
    counts = np.bincount([menu_of_ticket(plan, f"ticket {n}") for n in range(PEOPLE)], minlength=len(plan.menus))
    shares = np.array([menu.weight for menu in plan.menus]) / TOTAL
    errors = np.sqrt(PEOPLE * shares * (1 - shares))
    assert np.all(np.abs(counts - PEOPLE * shares) < 6.5 * errors)


def test_the_device_answers_the_menu_of_its_ticket(plan: Plan) -> None:
    for number in range(20):
        device = Device({})
        report = device.answer(plan, RECORD, f"ticket {number}")
        assert report["menu"] == menu_of_ticket(plan, f"ticket {number}")
        assert device.answer(plan, RECORD, f"ticket {number}") == report
    other = next(f"other {n}" for n in itertools.count() if menu_of_ticket(plan, f"other {n}") != report["menu"])
    with pytest.raises(InputError, match="ticket: got another one"):
        device.answer(plan, RECORD, other)
    with pytest.raises(InputError, match="ticket: got None; accepted: the ticket of an invitation"):
        Device({}).answer(plan, RECORD)


def test_the_collector_takes_no_other_menu(plan: Plan, tmp_path: Path) -> None:
    key = secrets.token_bytes(32)
    settings = Settings(plan, str(tmp_path / "reports.db"), "only-the-operator-knows", key)
    reader = Reader(settings)
    for ticket in make_tickets(key, plan.id, 20):
        assigned = menu_of_ticket(plan, ticket)
        for menu in range(len(plan.menus)):
            body = f'{{"plan":"{plan.id}","reports":[{{"id":"{ticket}","menu":{menu},"answer":0}}]}}'.encode()
            if menu == assigned:
                assert len(reader.read(body)) == 1
            else:
                with pytest.raises(RefusalError, match=r"reports\.menu: accepted: the menu of the report's ticket"):
                    reader.read(body)
    with pytest.raises(InputError, match="tickets_key: got None; accepted: the key of the tickets"):
        Settings(plan, str(tmp_path / "reports.db"), "only-the-operator-knows")


def test_a_promise_that_hides_menus_takes_none_from_tickets() -> None:
    counts = {"epsilon": 1, "people": 10_000}
    with pytest.raises(InputError, match="menu_from: got 'ticket'; accepted: device where relay or collector"):
        Policy(epsilon=2, features=FEATURES, trust="collector", counts=counts, menu_from="ticket")
    with pytest.raises(InputError, match="menu_from: got 'ticket'; accepted: the mechanism survey, or device"):
        make_plan(Policy(epsilon=2, features=FEATURES, mechanism="cascade", menu_from="ticket"))


def demo(**more: Any) -> Policy:
    import yaml

    return Policy(**yaml.safe_load(DEMO), **more)


def paper(**more: Any) -> Policy:
    features = {f"x{n}": {"type": "binary", **({"delta": 0.2} if n < 2 else {})} for n in range(10)}
    return Policy(epsilon=2, correlation=0.05, features=features, **more)


@pytest.mark.parametrize("policy", [demo, paper])
def test_fakes_shift_features_without_a_demand_by_a_fifth_at_most(policy: Any) -> None:
    """Of one in a hundred; a feature with a demand has few ways to be asked, and gains less."""
    drawn, assigned = (fake_shifts(make_plan(policy(**more)), 0.01) for more in ({}, {"menu_from": "ticket"}))
    declared = policy().features
    free = [name for name in drawn if declared[name].delta == policy().epsilon]
    assert len(free) >= 4
    assert all(drawn[name] >= 5 * assigned[name] for name in free)
    assert all(drawn[name] >= assigned[name] for name in drawn)


def attacked(plan: Plan, rng: np.random.Generator, answers: list[int], fakes: int) -> tuple[Tally, Tally]:
    """Honest reports, and with fakes that answer so in the menus that chance gives them."""
    people = {
        "ill": rng.random(PEOPLE) < 0.3,
        "old": rng.random(PEOPLE) < 0.5,
        "region": rng.choice(["north", "south", "east"], PEOPLE),
    }
    honest = Tally(plan).add(privatize(plan, people))
    shares = np.array([menu.weight for menu in plan.menus]) / TOTAL
    menus = rng.choice(len(shares), fakes, p=shares)
    sent = Tally(plan).add({"menu": menus, "answer": np.array(answers)[menus]})
    return honest, honest + sent


def test_no_attack_with_assigned_menus_exceeds_the_bound(plan: Plan) -> None:
    rng = np.random.default_rng(1)
    largest = 0.0
    for _ in range(40):
        answers = [int(rng.integers(np.prod(symbols))) for symbols in plan.symbols]
        honest, sent = attacked(plan, rng, answers, FAKES)
        without = estimate(honest).means
        allowing = estimate(sent, liars=FAKES / (PEOPLE + FAKES)).means
        for name in ("ill", "old"):
            number = allowing[name]
            assert isinstance(number, Estimate)
            assert number.moved is not None
            shift = abs(number.raw - without[name].raw)
            assert shift <= number.moved
            largest = max(largest, shift / number.moved)
    assert largest > 0.6  # tickets fall on menus by chance, and the bound allows for bad luck


def test_the_fakes_of_a_menu_are_bounded_by_chance(plan: Plan) -> None:
    shares = np.array([menu.weight for menu in plan.menus]) / TOTAL
    most = np.array(most_fakes(plan, FAKES))
    assert np.all(most >= FAKES * shares)
    assert np.all(most <= np.minimum(FAKES, FAKES * shares + 8 * np.sqrt(FAKES * shares) + 8))
    draws = np.random.default_rng(2).multinomial(FAKES, shares, size=10_000)
    assert np.all(draws <= most)
