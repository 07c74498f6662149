"""Several messages of each person: what their counts reveal, what is left if they are linked, and what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bcdp import Device, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.errors import InputError
from bcdp.exact import TOTAL, log_up
from bcdp.mechanisms.survey.answering.reference import answers
from bcdp.mechanisms.survey.estimation.decoder import largest_errors
from bcdp.notions.binary_counts import binary_excess
from bcdp.notions.composed_counts import ExcessGrid, composed_excess
from bcdp.notions.privacy_blanket import are_odds, least_odds
from bcdp.plan import Within, certify
from bcdp.plan.ledger import release_of
from bcdp.plan.message_counts import MessageCounts, own_factor
from bcdp.plan.messages import linked_plan, message_plans, messages_each, sends_all, why_one_message
from bcdp.plan.published_counts import claimable, counts_levels, lowered_factor
from bcdp.present.batch_promise import batch_promise
from bcdp.randomizers import response
from bcdp.randomness import RecordWords
from support.helpers import full_kernel, per_feature
from support.message_counts import RELAY, MessageCase, claims_used, in_messages, message_cases
from support.published_counts import exceeding, tally_laws

BITS: dict[str, Any] = {name: {"type": "binary", "delta": 20.0} for name in "abc"}


def of_bits(level: float, people: int = 10_000, **demands: Any) -> Plan:
    """Three yes or no questions, each in a message of its own."""
    asked = [((name,), (2,), response(2, level)) for name in BITS]
    return in_messages(BITS, asked, [[0], [1], [2]], per_feature(0.05), {"people": people, "epsilon": 20, **demands})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return of_bits(2.0)


@pytest.mark.slow
def test_no_batch_of_messages_reveals_more_than_is_claimed() -> None:
    """Every view of 3 to 5 people, correlated priors, fakes and groups; published_counts.py has 500 plans.

    The same enumeration finds claims for twice as many people.
    """
    rng = np.random.default_rng(5)
    every = list(message_cases(rng, 6))
    used = [max(claims_used(rng, case, 2)) for case in every]
    assert 0.6 < max(used) <= 1  # so that half of what is proved would be exceeded
    assert max(max(claims_used(rng, case, 1, 2 * case.people)) for case in every[:3]) > 1


def test_messages_that_share_an_id_are_one_message() -> None:
    """Two questions, 14 people, the others alike: separate messages reveal what is claimed, and nearly all of it.

    Messages that are linked by whatever they share exceed it by a factor of nearly two.
    """
    features = {name: BITS[name] for name in "ab"}
    asked = [((name,), (2,), response(2, 1.0)) for name in features]
    plan = in_messages(features, asked, [[0], [1]], per_feature(0.05))
    case = MessageCase(plan, [full_kernel(alone).reshape(4, -1) for alone in message_plans(plan)], 14, [])
    factor, others = math.exp(counts_levels(plan, 14, 0.02).record.epsilon), (0,) * 13
    assert 0.9 * 0.02 < exceeding(case.views(others, [(), ()], 0), factor) <= 0.02
    assert exceeding(case.linked(others), factor) > 1.9 * 0.02


@pytest.mark.parametrize(("people", "level", "factor"), [(6, 1.0, 2.0), (9, 0.5, 1.5), (12, 1.5, 1.7)])
def test_independent_counts_are_composed_from_above_and_closely(people: int, level: float, factor: float) -> None:
    """Against all tallies of two messages with everybody else alike, where the excess is largest; no grid there."""
    kernel = np.array([response(2, level).row(value) for value in (0, 1)]) / TOTAL
    keep = float(kernel.max())
    one, other = tally_laws(kernel, (0,) * (people - 1)), tally_laws(kernel, (1,) * (people - 1))
    true = max(
        exceeding(np.array([np.outer(a, b).ravel() for a, b in zip(first, second, strict=True)]), factor)
        for first in (one, other)
        for second in (one, other, other[::-1])
    )
    grid = ExcessGrid(lambda at: binary_excess(at, keep, people))
    assert true <= composed_excess([grid, grid])(factor) < 1.25 * true
    assert composed_excess([grid])(factor) < true


def test_the_level_of_a_feature_by_the_form_with_excess() -> None:
    """Theorem 19, on random functions: LDP and CDP with an excess each, priors within q and odds."""
    rng, closest = np.random.default_rng(3), 0.0
    for _ in range(3000):
        f = np.clip(rng.choice([0.0, 0.02, 0.3, 0.6], size=(2, 3)) * rng.uniform(0.5, 1, (2, 3)), 0, 1)
        prior = rng.dirichlet(np.ones(3), size=2)
        q = float(np.abs(prior[0] - prior[1]).sum() / 2)
        odds = float(max((prior[0] / prior[1]).max(), (prior[1] / prior[0]).max()))
        whole, own = rng.uniform(1.1, 4), rng.uniform(1.0, 1.1)
        eta = max(0.0, float(f.max() - whole * f.min()))
        eta_own = max(0.0, float((f.max(axis=0) - own * f.min(axis=0)).max()))
        for within in (Within(q), Within(q, odds)):
            most, least = map(float, within.masses[0])
            factor = own * (own + most * (whole - own)) / (own + least * (whole - own))
            assert own_factor(factor, whole, within) == pytest.approx(own, rel=1e-9)
            gap = float(prior[0] @ f[0] - factor * (prior[1] @ f[1]))
            assert gap <= max(eta, eta_own) + 1e-12
            closest = max(closest, gap - 0.9 * max(eta, eta_own))
    assert closest > 0  # nine tenths of it would be exceeded


@pytest.mark.parametrize(
    ("within", "whole", "outside"),
    [
        (Within(0.3239961955482439), 1.3391990531593612, 9.561155673907732e-12),
        (Within(0.9998959562871791, 1.0132320461626192), 1.3626860263646956, 8.198584636806219e-12),
        (Within(0.42869590398300084, 2.4932196203664434), 1.6003488370339929, 1.602417987119682e-09),
    ],
)
def test_a_level_that_is_found_is_one_that_readers_accept(within: Within, whole: float, outside: float) -> None:
    """Of a feature that is never asked: its odds are proved at a factor below which nothing is.

    Readers take that factor from the chance. A margin on the chance would move it.
    """
    excess_at = MessageCounts([], lambda _: outside, {}, {"x": within}).feature("x", whole)
    for margin, chance, accepted in ((claimable, 1e-6, True), (lambda same: same, 1e-6 * (1 - 1e-4), False)):
        level = log_up(Fraction(least_odds(margin(excess_at), chance, whole)))
        assert are_odds(lowered_factor(level), excess_at, 1e-6) is accepted


def test_linked_messages_are_one_menu_with_all_questions(plan: Plan) -> None:
    linked = linked_plan(plan)
    assert (sends_all(plan), messages_each(plan), messages_each(linked)) == (True, 3, 1)
    assert certify(plan).epsilon == certify(linked).epsilon == pytest.approx(6.0, abs=1e-6)
    assert release_of(plan).epsilon == release_of(plan, menu=0).epsilon == certify(plan).epsilon
    words = RecordWords(None, range(500), plan.id)
    codes = {name: np.random.default_rng(1).integers(0, 2, 500) for name in BITS}
    menus, separate = answers(plan, codes, words)
    _, together = answers(linked, codes, words)
    assert menus.tolist() == [0] * 500 + [1] * 500 + [2] * 500
    first, second, third = separate.reshape(3, -1)
    assert (4 * first + 2 * second + third).tolist() == together.tolist()


def test_rows_of_messages_are_in_an_order_that_links_nothing(plan: Plan) -> None:
    """Answers of one person are equal in every message; rows that kept the order of people would show it."""
    sure = of_bits(18.0 / 3)
    people = np.random.default_rng(2).integers(0, 2, 400)
    reports = privatize(sure, dict.fromkeys(BITS, people))
    assert reports.num_rows == 1200
    rows = list(zip(reports["menu"].to_pylist(), reports["answer"].to_pylist(), strict=True))
    assert rows == sorted(rows)
    tally = Tally(sure).add(reports)
    assert tally.people == 400
    assert Tally.from_dict(tally.to_dict(), sure) == tally
    lost = Tally(sure).add(reports.slice(5))  # some messages of the first menu did not arrive
    assert lost.people == 400


def test_estimates_of_different_messages_vary_together_in_a_way_that_is_not_known(plan: Plan) -> None:
    rng = np.random.default_rng(8)
    same = rng.integers(0, 2, 4000)
    estimates = estimate(Tally(plan).add(privatize(plan, dict.fromkeys(BITS, same))))
    a, b = estimates.means["a"], estimates.means["b"]
    assert (a + b).se == pytest.approx(a.se + b.se, rel=0.02)
    assert (a - b).se == pytest.approx(a.se + b.se, rel=0.02)


def test_a_device_keeps_its_messages_and_sends_each_under_an_id_of_its_own(plan: Plan, tmp_path: Any) -> None:
    device = Device(tmp_path / "memory.json", max_epsilon=20)
    first = device.messages(plan, {"a": 1, "b": 0, "c": 1})
    assert [report["menu"] for report in first] == [0, 1, 2]
    assert Device(tmp_path / "memory.json", max_epsilon=20).messages(plan, {"a": 0, "b": 0, "c": 0}) == first
    with pytest.raises(InputError, match=r"plan\.menus: got '3 messages'; accepted: a plan of one message"):
        device.answer(plan, {"a": 1, "b": 0, "c": 1})


def relayed(epsilon: float, people: int, level: float, **more: Any) -> Policy:
    features = {f"x{number}": {"type": "binary"} for number in range(4)}
    counts = {"people": people, "epsilon": level}
    return Policy(epsilon=epsilon, features=features, relay=RELAY, trust="relay", counts=counts, **more)


@pytest.mark.slow
def test_the_planner_sends_several_messages_where_the_fallback_allows_it() -> None:
    """10,000 people at .3 are worth 7,700 openly asked ones for each feature; within epsilon 4 one message is best."""
    several, capped = make_plan(relayed(20, 10_000, 0.3)), make_plan(relayed(4, 10_000, 0.3))
    worth = [10_000 / error for error in largest_errors(several).values()]
    assert sends_all(several)
    assert min(worth) >= 7_700
    assert not sends_all(capped)
    assert capped.certificate.epsilon <= 4
    assert 10_000 / max(largest_errors(capped).values()) >= 4_421
    assert not sends_all(make_plan(relayed(20, 10_000, 0.3, messages="one")))
    promise = batch_promise(several)
    assert promise is not None
    assert promise.messages == 4
    assert promise.to_dict()["messages"] == 4


@pytest.mark.slow
def test_demands_about_one_feature_lower_its_own_message() -> None:
    policy = relayed(20, 10_000, 1.0, correlation=0.02)
    counts = policy.counts.model_copy(update={"features": {"x1": 0.1}})  # type: ignore[union-attr]
    plan = make_plan(policy.model_copy(update={"counts": counts}))
    claims = plan.certificate
    assert sends_all(plan)
    assert claims.counts is not None
    assert 0.09 < claims.counts.features["x1"].epsilon <= 0.1
    assert claims.features["x1"].c < 0.5 * claims.features["x0"].c
    strict = Policy(
        **{**policy.to_dict(), "features": {**policy.to_dict()["features"], "x2": {"type": "binary", "delta": 1.5}}}
    )
    kept = make_plan(strict)
    assert kept.certificate.features["x2"].certified <= 1.5


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (lambda d: d["collection"].update(trust="collector"), r"menus: got '3 messages'"),
        (lambda d: d["menus"][0]["questions"].append(1), "each feature in at most one message"),
        (lambda d: d["menus"][0].update(weight=TOTAL - 1), "weights that sum to"),
        (lambda d: d["menus"].extend(d["menus"] * 11), "menus: got '36 messages'"),
    ],
    ids=["no relay", "a feature in two messages", "a message that is drawn", "too many"],
)
def test_what_is_no_plan_of_several_messages(plan: Plan, changed: Any, why: str) -> None:
    document = json.loads(plan.text)
    changed(document)
    with pytest.raises(InputError, match=why):
        Plan.build(document).verify()


ALSO = [{"mean": ["a", "b", "n"]}]


@pytest.mark.parametrize(
    ("features", "tasks", "why"),
    [
        ({}, ALSO, None),
        ({}, [*ALSO, {"table": ["a", "b"]}], "a and b are wanted together"),
        ({}, [{"mean": ["n"], "by": "a"}], "a and n are wanted together"),
        ({}, [{"regression": {"target": "n", "features": ["a"]}}], "a and n are wanted together"),
        ({}, [*ALSO, {"distribution": ["n"], "bins": 16}], "more than one thing is wanted of n"),
        ({}, [{"mean": ["a"]}], "one feature is wanted"),
        ({f"x{k}": {"type": "binary"} for k in range(33)}, [], "36 features are wanted, more than 32"),
        ({"c": {"type": "binary", "asked_if": {"a": 1}}}, [], "questions depend on the answers to others"),
    ],
)
def test_why_there_is_one_message(features: dict[str, Any], tasks: list[dict[str, Any]], why: str | None) -> None:
    asked = {"a": {"type": "binary"}, "b": {"type": "binary"}, "n": {"type": "numeric", "bounds": [0, 9]}, **features}
    wanted = {"tasks": tasks} if tasks else {}
    assert why_one_message(Policy(epsilon=1, features=asked, **wanted)) == why


def test_a_plan_of_one_message_says_why() -> None:
    features = {name: {"type": "binary"} for name in "ab"}
    counts = {"people": 1000, "epsilon": 1}
    tasks = [{"table": ["a", "b"]}]
    plan = make_plan(Policy(epsilon=1, features=features, tasks=tasks, relay=RELAY, trust="relay", counts=counts))
    promise = batch_promise(plan)
    assert promise is not None
    assert promise.sent == "Each person sends one message, because a and b are wanted together."


def test_one_message_is_a_choice_only_where_a_relay_mixes() -> None:
    with pytest.raises(InputError, match=r"messages: got 'one'; accepted: no such key unless trust is relay"):
        Policy(epsilon=1, features={"a": {"type": "binary"}}, messages="one")
