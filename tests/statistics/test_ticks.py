"""Lists to tick: the errors of padded subset selection, exact levels of single items, and records of every form."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.audit import audit_plan, population_from_records, verify_limits
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.policy import MultipleFeature
from bcdp.present.plan_summary import planned as summary_of
from bcdp.randomizers.optimal import shortest
from bcdp.randomizers.ticks import one_item, padded
from bcdp.records.encoding import as_arrow, encode
from bcdp.statistics import Single
from bcdp.statistics.shared.block_targets import item_target

Array = npt.NDArray[np.float64]
MEDIA: dict[str, Any] = {"type": "multiple", "values": ["tv", "radio", "print", "web"], "at_most": 2}


def planned(epsilon: float = 2.0, **media: Any) -> Plan:
    return make_plan(Policy(epsilon=epsilon, features={"media": {**MEDIA, **media}}))


def list_of(plan: Plan) -> MultipleFeature:
    feature = plan.policy.features["media"]
    assert isinstance(feature, MultipleFeature)
    return feature


def total_variance(plan: Plan, share: float = 0.1) -> float:
    """n times the sum of the variances of all item shares, each item ticked with this chance before truncation."""
    feature = list_of(plan)
    items = len(feature.values)
    ticked = np.array([[item in one for item in range(items)] for one in feature.sets], dtype=float)
    law = np.array([share ** len(one) * (1 - share) ** (items - len(one)) for one in feature.sets])
    law /= law.sum()
    chances = plan.tables[0].dense().weights / 2.0**32
    decoded = plan.tables[0].decode(ticked)
    assert np.abs(chances @ decoded - ticked).max() < 1e-6
    return float((law @ chances) @ (decoded**2).sum(axis=1) - ((law @ ticked) ** 2).sum())


@pytest.mark.parametrize(
    ("items", "most", "epsilon", "best"),
    [(8, 3, 1, 47.44), (8, 3, 2, 9.09), (8, 3, 3, 4.12), (12, 2, 1, 75.19), (12, 2, 2, 11.15), (12, 2, 3, 4.09)],
)
def test_the_error_is_that_of_padded_subset_selection(items: int, most: int, epsilon: float, best: float) -> None:
    plan = planned(float(epsilon), values=[f"i{item}" for item in range(items)], at_most=most)
    assert total_variance(plan) < 1.02 * best
    assert plan.certificate.epsilon <= epsilon


@pytest.mark.parametrize("budget", [0.05, 0.5, 1.0, 4.0, 9.0])
def test_tables_keep_their_budget(budget: float) -> None:
    sets = [one for size in range(3) for one in itertools.combinations(range(4), size)]
    for table in (padded(sets, 4, 2, budget), one_item(sets, 4, budget)):
        assert budget * 0.999 < table.level <= budget
        ticked = np.array([[item in one for item in range(4)] for one in sets], dtype=float)
        assert np.abs(table.dense().weights / 2.0**32 @ table.decode(ticked) - ticked).max() < 1e-6


def test_a_stricter_item_is_certified_whatever_the_others_are() -> None:
    plan = planned(1.0, delta=1.0, items={"tv": {"delta": 0.2}})
    feature, weights = list_of(plan), plan.tables[0].dense().weights.astype(float)
    has = np.array([0 in one for one in feature.sets])
    pairs = ((has, ~has), (~has, has))
    worst = max(math.log((weights[one].max(axis=0) / weights[other].min(axis=0)).max()) for one, other in pairs)
    claims = plan.certificate.features["media"].items
    assert claims is not None
    assert claims["tv"].certified == pytest.approx(worst, rel=1e-12)
    assert 0.19 < claims["tv"].certified <= 0.2 < plan.certificate.features["media"].certified
    assert not verify_limits(plan.text).objections
    assert total_variance(plan) < total_variance(planned(0.2))  # all items as strict as one


def test_a_list_with_a_stricter_item_is_asked_nearly_as_well_as_can_be() -> None:
    """Better than separate features of which nothing is assumed; and no column would gain 3% (equivalence theorem)."""
    plan = planned(1.0, delta=1.0, items={"tv": {"delta": 0.2}})
    feature = list_of(plan)
    features = {str(item): {"type": "binary", "delta": 0.2 if item == "tv" else 1.0} for item in feature.values}
    separate = information(make_plan(Policy(epsilon=1, features=features, correlation=1)))
    assert total_variance(plan) < sum((1 / separate[Single(name)] - 0.8**2) / 4 for name in features)

    numbers = np.array(item_target("media", feature).numbers)
    criterion = numbers @ numbers.T
    W = plan.tables[0].dense().weights / 2.0**32
    inverse = np.linalg.pinv((W / W.mean(axis=0)) @ W.T, rcond=1e-4, hermitian=True)  # without what nobody wants
    inner = inverse @ criterion @ inverse
    prices = np.linalg.lstsq(W.T, np.einsum("xy,xz,zy->y", W, inner, W) / W.mean(axis=0), rcond=None)[0]
    strict = np.array([0 in ticked for ticked in feature.sets])
    limits = shortest(np.where(strict[:, None] != strict, 0.2, 1.0))
    chosen = (np.arange(1, 2 ** len(strict) - 1)[:, None] >> np.arange(len(strict)) & 1).astype(bool)
    distances = np.array([limits[inside].min(axis=0) for inside in chosen])
    offers = np.exp(np.vstack([-distances, distances]))
    offers /= offers.mean(axis=1, keepdims=True)
    gains = np.einsum("ox,xz,oz->o", offers, inner, offers) - offers @ prices
    assert gains.max() < 0.03 * np.trace(criterion @ inverse)


def test_no_prior_exceeds_the_claims_of_lists() -> None:
    features = {
        "media": {**MEDIA, "delta": 1.0, "items": {"tv": {"delta": 0.4}}},
        "drugs": {"type": "binary", "delta": 0.8},
        "which": {"type": "multiple", "values": ["x", "y", "z"], "asked_if": {"drugs": 1}},
    }
    plan = make_plan(Policy(epsilon=2, features=features))
    rng = np.random.default_rng(2)
    drugs = rng.integers(0, 2, 400)
    media = [[one for one in MEDIA["values"] if rng.random() < 0.4][:2] for _ in drugs]
    which = [[one for one in "xyz" if one != "x" or "tv" in ticked] if drug else None
             for drug, ticked in zip(drugs, media, strict=True)]  # fmt: skip
    records = {"media": media, "drugs": drugs.tolist(), "which": which}
    assert audit_plan(plan, population_from_records(plan, [records])).kept


@pytest.mark.parametrize("missing", [None, "own"])
def test_item_shares(missing: str | None) -> None:
    rule = {"missing": missing} if missing else {}
    plan = make_plan(Policy(epsilon=3, features={
        "media": {**MEDIA, **rule},
        "drugs": {"type": "binary"},
        "which": {"type": "multiple", "values": ["x", "y"], "asked_if": {"drugs": 1}},
    }))  # fmt: skip
    rng, people = np.random.default_rng(4), 40_000
    drugs = rng.integers(0, 2, people)
    media = [[one for one in MEDIA["values"] if rng.random() < 0.3][:2] for _ in range(people)]
    silent = rng.random(people) < (0.2 if missing else 0.0)
    which = [[one for one in "xy" if rng.random() < 0.6] if drug else None for drug in drugs]
    records = {"media": [None if no else one for no, one in zip(silent, media, strict=True)],
               "drugs": drugs.tolist(), "which": which}  # fmt: skip
    found = estimate(Tally(plan).add(privatize(plan, records)))
    for item in MEDIA["values"]:
        share = found.frequencies["media"][item]
        true = np.mean([item in one and not no for no, one in zip(silent, media, strict=True)])
        assert abs(share.raw - true) < 6.2 * share.se  # two false alarms in 10^9
    none = found.frequencies["media"]["none of these"]
    assert abs(none.raw - np.mean([not one and not no for no, one in zip(silent, media, strict=True)])) < 6.2 * none.se
    assert ("no answer" in found.frequencies["media"]) == bool(missing)
    share = found.frequencies["which"]["x"]
    assert abs(share.raw - np.mean(["x" in (one or []) for one in which])) < 6.2 * share.se
    among: Any = found.frequencies["which"]["x"]
    assert abs(among.among.raw - np.mean(["x" in one for one in which if one is not None])) < 6.2 * among.among.se


def test_records_of_every_form_have_one_code() -> None:
    policy = Policy(epsilon=1, features={"media": MEDIA})
    ticked = [["tv"], [], ["radio", "web"], ["web", "radio"]]
    lists = encode(policy, as_arrow({"media": ticked}))["media"].tolist()
    texts = encode(policy, as_arrow({"media": ["tv", "", "radio; web", "web|radio"]}))["media"].tolist()
    flags = {f"media_{item}": [int(item in one) for one in ticked] for item in MEDIA["values"]}
    assert lists == texts == encode(policy, as_arrow(flags))["media"].tolist()
    assert lists[2] == lists[3] != lists[0] != lists[1] == 0
    assert encode(policy, as_arrow({"media": ["none of these"]}))["media"].tolist() == [0]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (["tv", "radio", "web"], "more items than may be ticked"),
        (["TV"], "an item that is not listed"),
        ("tv;x", "not listed"),
    ],
)
def test_records_that_are_refused_name_the_row_and_no_value(value: Any, told: str) -> None:
    policy = Policy(epsilon=1, features={"media": MEDIA})
    with pytest.raises(InputError) as caught:
        encode(policy, as_arrow({"media": [["tv"] if isinstance(value, list) else "tv", value]}))
    assert told in str(caught.value)
    assert caught.value.row == 2
    assert "TV" not in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"at_most": 5}, "features.media.at_most: got 5; accepted: a whole number from 1 to 4"),
        ({"at_most": None, "values": [f"v{k}" for k in range(11)]}, "at most 1024 sets of items may be ticked"),
        ({"items": {"tvs": {"delta": 0.1}}}, "features.media.items: got {'tvs'"),
        ({"items": {"tv": {"delta": 2}}}, "features.media.items.tv.delta: got 2.0; accepted: at most the list's, 1"),
        ({"missing": "tv"}, "features.media.missing: got 'tv'; accepted: own"),
    ],
)  # fmt: skip
def test_lists_that_cannot_be(changed: dict[str, Any], told: str) -> None:
    features = {"media": {**MEDIA, "delta": 1, **changed}}
    with pytest.raises(InputError) as caught:
        Policy(epsilon=1, features=features)
    assert told in str(caught.value)


def test_other_joint_statistics_of_a_list_are_refused() -> None:
    with pytest.raises(InputError, match="and this one is multiple"):
        Policy(epsilon=1, features={"media": MEDIA, "a": {"type": "binary"}}, tasks=[{"mean": ["a"], "by": "media"}])
    task = {"table": ["media", "a"], "items": {"media": ["tvs"]}}
    with pytest.raises(InputError, match="some of the items of media"):
        Policy(epsilon=1, features={"media": MEDIA, "a": {"type": "binary"}}, tasks=[task])


def test_a_smaller_demand_on_a_list_limits_its_items() -> None:
    """As in the comparison with all features protected like the strictest one."""
    features = {"ill": {"type": "binary", "delta": 0.3}, "media": MEDIA | {"delta": 1, "items": {"tv": {"delta": 0.5}}}}
    policy = Policy(epsilon=2, correlation=0.2, features=features)
    stricter = policy.features["media"].with_delta(0.3)
    assert isinstance(stricter, MultipleFeature)
    assert stricter.strict_items["tv"][1] == stricter.delta == 0.3
    plan = make_plan(policy)
    assert summary_of(plan, plan.correlation_model, 1_000).document["features"].keys() == features.keys()
