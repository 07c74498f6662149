"""A plan whose main promise is about a batch: its claims are true, met in every reader, and never below the truth."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcdp import Plan, Policy, make_plan
from bcdp.audit import verify_limits
from bcdp.cli import main
from bcdp.compare.baselines import open_people
from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.mechanisms.counts_demand import counts_demands
from bcdp.notions import Surplus, excess
from bcdp.plan import mechanism_of
from bcdp.plan.published_counts import counts_levels
from bcdp.present.batch_promise import batch_promise, binding_demand
from bcdp.present.trust_choices import ASSUMPTIONS, trust_choices
from bcdp.randomizers import response
from bcdp.statistics import headline
from bcdp.studio.job_bodies import trust_of
from support.helpers import build, full_kernel
from support.published_counts import Case, cases, claims_used
from support.readers import accepted_by_device, accepted_by_plan, accepted_by_verify, canonical

RELAY = {"url": "https://relay.example.org/", "key": f"010020{'ab' * 32}000400010001"}
FEATURES: dict[str, Any] = {
    "ill": {"type": "binary", "delta": 1.5},
    "income": {"type": "numeric", "bounds": [0, 1]},
    "region": {"type": "categorical", "values": ["n", "s", "e"]},
}
COUNTS: dict[str, Any] = {"people": 10_000, "honest": 0.9, "epsilon": 1, "features": {"income": 0.25}}


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy(epsilon=4, features=FEATURES, correlation=0.1, relay=RELAY, trust="relay", counts=COUNTS)


@pytest.fixture(scope="module")
def plan(policy: Policy) -> Plan:
    return make_plan(policy)


def test_the_plan_carries_its_main_promise(policy: Policy, plan: Plan) -> None:
    levels = counts_levels(plan, 9_000)
    assert plan.certificate.counts is not None
    assert plan.certificate.counts.model_dump() == levels.to_dict()
    assert all(kept.is_kept for kept in counts_demands(plan, policy.counts))  # type: ignore[arg-type]
    assert plan.certificate.counts.features["income"].epsilon <= 0.25
    assert Plan.parse(plan.text).id == plan.id
    promise = batch_promise(plan)
    assert promise is not None
    assert (promise.people, promise.honest, promise.counted[-1].name) == (10_000, 9_000, None)
    assert promise.counted[-1].level == plan.certificate.counts.odds
    assert "relay.example.org" in promise.conditions[0]


def test_a_plan_of_devices_alone_states_nothing_of_it(policy: Policy) -> None:
    alone = make_plan(policy.model_copy(update={"trust": "device"}))
    assert not {"trust", "counts"} & alone.collection.keys()
    assert "counts" not in json.loads(alone.text)["certificate"]
    assert batch_promise(alone) is None


def test_every_reader_refuses_a_claim_that_is_a_little_too_low(plan: Plan) -> None:
    """Claims are within 1e-4 of what is proved; a part in ten thousand of the chance is not forgiven."""
    texts = [plan.text]
    for form in ("epsilon", "odds"):
        for name in (None, *FEATURES):
            for times in (1 + 1e-12, 1 - 1e-3):
                document = json.loads(plan.text)
                claims = document["certificate"]["counts"]
                (claims if name is None else claims["features"][name])[form] *= times
                texts.append(canonical(document))
    expected = [True, *([True, False] * 8)]
    assert list(map(accepted_by_plan, texts)) == expected
    assert list(map(accepted_by_verify, texts)) == expected
    assert accepted_by_device(texts) == expected


def test_the_second_certifier_bounds_the_same_excess() -> None:
    """Other arithmetic: from above, and by less than the margin that planners leave."""
    from bcdp_device.verify.counts import _Bound

    rng = np.random.default_rng(5)
    for _ in range(200):
        people, epsilon = int(10 ** rng.uniform(0, 8)), float(rng.exponential(1.0))
        factor = 1 + float(rng.uniform(0, 1)) * (math.exp(epsilon) - 1)
        second = (factor - 1) ** 2 + float(rng.exponential(0.5))
        largest = math.exp(epsilon) - factor + 1e-12 * math.exp(epsilon)
        ours = excess(factor, Surplus(second, largest), people)
        other = _Bound(lambda _, second=second: second, epsilon, epsilon).excess(factor, people)
        assert ours * (1 - 1e-8) <= other <= ours * (1 + 5e-7) + 1e-300


def test_more_people_or_a_smaller_chance_break_nothing_but_what_was_claimed(plan: Plan) -> None:
    for key, value in (("honest", 0.89), ("chance", 9e-7), ("people", 9_900)):
        document = json.loads(plan.text)
        document["collection"]["counts"][key] = value
        with pytest.raises(InputError, match="counts"):
            Plan.parse(canonical(document))
        assert not verify_limits(canonical(document)).acceptable


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ({"trust": "relay", "counts": None}, "trust: got 'relay'; accepted: device, or counts"),
        ({"trust": "relay", "relay": None}, "trust: got 'relay'; accepted: device or collector"),
        ({"trust": "nobody"}, "trust: got 'nobody'; accepted: device, relay or collector"),
    ],
)
def test_what_a_policy_may_trust(stated: dict[str, Any], why: str) -> None:
    document = {"epsilon": 4, "features": FEATURES, "relay": RELAY, "counts": COUNTS} | stated
    with pytest.raises(InputError) as caught:
        Policy(**{key: value for key, value in document.items() if value is not None})
    assert why in str(caught.value)


@pytest.mark.slow
def test_no_batch_reveals_more_than_is_claimed() -> None:
    """Batches with fakes and two open groups, correlated priors; published_counts.py has 500 plans."""
    rng = np.random.default_rng(11)
    assert 0.05 < max(max(claims_used(rng, case, 1)) for case in cases(rng, 6)) <= 1


def test_claims_that_count_fakes_as_honest_people_are_found_out() -> None:
    rng = np.random.default_rng(12)
    plan = build({"bit": {"type": "binary", "delta": 20.0}}, [(("bit",), (2,), response(2, 1.5))], [(TOTAL, [0])])
    case = Case(plan, full_kernel(plan).reshape(2, -1), 4, [])
    assert max(claims_used(rng, case, 2)) <= 1 < max(claims_used(rng, case, 2, counted=40))


def test_which_demand_limits_the_plan() -> None:
    base: dict[str, Any] = {"features": {"ill": {"type": "binary"}}, "trust": "collector"}
    for epsilon, level, about in ((1.0, 1.0, "one report"), (12.0, 0.1, "all answers together")):
        policy = Policy(epsilon=epsilon, counts={"people": 10_000, "epsilon": level}, **base)
        binding = binding_demand(policy, make_plan(policy))
        assert binding is not None
        assert binding.about == about
        assert 0.97 < binding.level / binding.demanded <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("people", "demand", "worth"),
    [(27_000, {"odds": math.exp(0.3)}, 13_900), (10_000, {"epsilon": 1}, 7_000), (3_000, {"epsilon": 1}, 1_600)],
)
def test_what_protected_answers_are_worth(people: int, demand: dict[str, float], worth: int) -> None:
    """A binary feature, two numbers and one with five values; the search leaves no demand unused by more than 1%."""
    features: dict[str, Any] = {
        "bit": {"type": "binary"},
        "first": {"type": "numeric", "bounds": [0, 1]},
        "second": {"type": "numeric", "bounds": [0, 1]},
        "kind": {"type": "categorical", "values": list("abcde")},
    }
    policy = Policy(epsilon=12, features=features, counts={"people": people, **demand})
    plan = make_plan(policy)
    errors = mechanism_of(plan).largest_errors(plan)
    assert open_people(plan.policy, "bit", errors[headline(plan.policy, "bit")], people) >= worth
    assert all(0.99 < kept.used <= 1 for kept in counts_demands(plan, policy.counts))  # type: ignore[arg-type]


def test_whom_to_trust_as_a_choice() -> None:
    """The same demands against three observers; with a relay some of the people may be fakes."""
    choices = trust_choices(Policy(epsilon=0.3, features={"ill": {"type": "binary"}}), 10_000)
    device, relay, collector = choices
    assert [choice.trust for choice in choices] == ["device", "relay", "collector"]
    assert all(0.29 < choice.level <= 0.3 for choice in choices)
    assert device.fallback == device.level
    assert (device.people, relay.people, collector.people) == (1, 9_000, 10_000)
    assert 30 * device.open_people["ill"] < relay.open_people["ill"] < collector.open_people["ill"]
    assert max(relay.fallback, collector.fallback) <= 4
    few = trust_choices(Policy(epsilon=0.3, features={"ill": {"type": "binary"}}), 999)
    assert [choice.trust for choice in few] == ["device"]


def test_the_plan_command_states_the_main_promise_first(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy that a plan states, written to a file, makes the same plan again."""
    (tmp_path / "policy.yaml").write_text(plan.policy.to_yaml())
    files = [str(tmp_path / "policy.yaml"), "-o", str(tmp_path / "plan.json")]
    monkeypatch.setattr(sys, "argv", ["bcdp", "plan", *files, "--json"])
    assert main() == 0
    document = json.loads(capsys.readouterr().out)
    assert Plan.load(tmp_path / "plan.json").id == plan.id
    assert document["batch"]["honest_people"] == 9_000
    assert document["batch"]["record"]["epsilon"] <= 1
    assert "relay.example.org" in document["batch"]["conditions"][0]
    assert document["binding_demand"]["level"] <= document["binding_demand"]["demanded"]
    monkeypatch.setattr(sys, "argv", sys.argv[:-1])
    monkeypatch.setattr("bcdp.mechanisms.planning.make_plan", lambda *_, **__: plan)
    assert main() == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Main promise: what a person's answers reveal to the collector")
    assert shown.index("If relay and collector work together") < shown.index("What a report reveals, the fallback")


def test_the_studio_compares_whom_to_trust() -> None:
    sent: list[dict[str, Any]] = []
    trust_of({"policy": {"epsilon": 0.3, "features": {"ill": {"type": "binary"}}}, "people": 10_000}, sent.append)
    assert sent[-1]["names"] == ["ill"]
    assert [row[0] for row in sent[-1]["choices"]] == list(ASSUMPTIONS.values())
