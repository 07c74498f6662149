"""What the published counts tell, wherever a person reads it; tallies to publish; planning for counts."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

from bcdp import Policy, Tally, make_plan
from bcdp.cli.app import program
from bcdp.collector.dashboard import operator_document
from bcdp.correlation import Stronger
from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.mechanisms.counts_demand import counts_demands
from bcdp.plan import Plan, mechanism_of
from bcdp.plan.published_counts import counts_levels
from bcdp.present.promise import NOTHING_ASSUMED, promises
from bcdp.present.published_counts import VOID, counts_promises, least_people
from bcdp.present.report import write_report
from bcdp.present.words import one_in, small_odds
from bcdp.statistics import Single

FEATURES = {"smoker": {"type": "binary", "delta": 0.2}, "drinker": {"type": "binary"}}
POLICY = {"epsilon": 2, "features": FEATURES, "correlation": 0.05}


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Policy.parse(POLICY))


def run(*arguments: object) -> Any:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(program(words), words, catch_exceptions=False)


def test_words_are_never_below_the_level() -> None:
    for level in np.random.default_rng(1).exponential(0.01, 200):
        told = float(small_odds(level))
        assert math.log(told) >= level * (1 - 1e-12)
        assert told - 1 <= 1.11 * math.expm1(level)  # two digits of what is over 1
    assert one_in(1e-6) == "one chance in a million"
    assert one_in(0.3) == "one chance in 3"  # not 4, which would be less


def test_a_condition_is_told_where_the_level_needs_it(plan: Plan) -> None:
    smoker, drinker, whole = counts_promises(plan, promises(plan), 10_000)
    assert smoker.condition == "if the other answers move by at most q = 5 percentage points with it"
    assert drinker.condition == whole.condition == NOTHING_ASSUMED
    without = counts_levels(plan, 10_000, correlation=Stronger(plan.correlation_model, math.inf))
    assert smoker.level < without.features["smoker"].odds
    assert drinker.level >= without.features["drinker"].odds
    assert smoker.sentence == (
        "Whoever sees only the published counts of 10,000 people can raise the odds of a guess about “smoker” "
        f"at most {small_odds(smoker.level)} times (except with one chance in a million), {smoker.condition}."
    )


def test_nothing_is_said_of_few_people(plan: Plan, tmp_path: Path) -> None:
    assert counts_promises(plan, promises(plan), 999) == []
    assert counts_promises(plan, promises(plan), 12_345)[0].people == 12_000
    (tmp_path / "policy.yaml").write_text(json.dumps(POLICY))
    few, many = (run("plan", tmp_path / "policy.yaml", "--users", users) for users in (999, 1_000))
    assert "published ones" not in few.stdout
    assert "published ones of 1,000 people" in many.stdout
    assert json.loads(run("plan", tmp_path / "policy.yaml", "--users", 999, "--json").stdout)["counts"] is None


def test_plan_says_it_in_numbers_and_whom_to_trust(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(json.dumps(POLICY))
    shown = json.loads(run("plan", tmp_path / "policy.yaml", "--users", 20_000, "--json").stdout)["counts"]
    told = counts_levels(plan, 20_000)
    assert shown["record"] == {"epsilon": told.record.epsilon, "odds": told.record.odds}
    assert shown["features"]["smoker"]["odds"] == told.features["smoker"].odds
    words = run("plan", tmp_path / "policy.yaml", "--users", 20_000).stdout
    for trusted in ("the device alone", "the collector too", "the collector, as the plan names no anonymising relay"):
        assert trusted in words
    relay = {"url": "https://relay.example.org:8443/a", "key": f"7b0020{'09af' * 16}000400010001"}
    (tmp_path / "policy.yaml").write_text(json.dumps(POLICY | {"relay": relay}))
    words = run("plan", tmp_path / "policy.yaml", "--users", 20_000).stdout
    assert "either the collector or the relay, relay.example.org:8443: not to work together" in words


def test_report_and_dashboard_say_it(plan: Plan, tmp_path: Path) -> None:
    write_report(tmp_path / "few.html", plan, users=999)
    write_report(tmp_path / "many.html", plan, users=10_000)
    few, many = ((tmp_path / name).read_text("utf-8") for name in ("few.html", "many.html"))
    odds = small_odds(counts_promises(plan, promises(plan), 10_000)[0].level)
    assert "published numbers" not in few
    assert f"× {odds}" in many
    tally = counted(plan, 3_000)
    document = operator_document(tally)  # type: ignore[arg-type]
    assert [row["name"] for row in document["counts"]] == ["smoker", "drinker", None]
    assert operator_document(counted(plan, 900))["counts"] == []  # type: ignore[arg-type]
    assert document["counts_said"] == VOID


def counted(plan: Plan, people: int) -> Tally:
    return Tally.from_dict(document(plan, people), plan)


def document(plan: Plan, people: int) -> dict[str, Any]:
    """A tally whose every cell has about as many people; larger ones contain smaller ones."""
    sizes = [math.prod(symbols) for symbols in plan.symbols]
    cells = [(menu, answer) for menu, size in enumerate(sizes) for answer in range(size)]
    shares = [people // len(cells) + (place < people % len(cells)) for place in range(len(cells))]
    rows = [[*cell, share] for cell, share in zip(cells, shares, strict=True)]
    return {"plan": plan.id, "people": people, "counts": rows}


def publish(plan: Plan, folder: Path, tally: Tally, name: str = "public.json", only_added: bool = True) -> Any:
    plan.save(folder / "plan.json")
    tally.save(folder / "all.json")
    words = [
        "tally",
        *(str(folder / file) for file in ("plan.json", "all.json")),
        "-o",
        str(folder / name),
        "--publish",
        *["--only-added"] * only_added,
    ]
    return CliRunner().invoke(program(words), words)


def test_a_tally_is_published_once(plan: Plan, tmp_path: Path) -> None:
    first = publish(plan, tmp_path, counted(plan, 5_000))
    assert first.exit_code == 0
    assert "published counts of 5,000 people" in first.stdout
    assert Tally.load(tmp_path / "public.json", plan).people == 5_000
    assert publish(plan, tmp_path, counted(plan, 5_000)).exit_code == 0  # the same counts again tell nothing more
    for people in (5_001, 5_999, 4_000):  # nearly the same people, or fewer of them
        refused = publish(plan, tmp_path, counted(plan, people), f"{people}.json")
        assert isinstance(refused.exception, SystemExit | InputError)
        assert refused.exit_code != 0
        assert not (tmp_path / f"{people}.json").exists()
    later = publish(plan, tmp_path, counted(plan, 6_100), "later.json")
    assert later.exit_code == 0
    assert "published counts of 1,100 people" in later.stdout  # those who came between are told by the difference


def test_a_second_tally_is_refused_unless_people_were_only_added(plan: Plan, tmp_path: Path) -> None:
    assert publish(plan, tmp_path, counted(plan, 5_000), only_added=False).exit_code == 0
    assert publish(plan, tmp_path, counted(plan, 5_000), only_added=False).exit_code == 0  # the same one again
    refused = publish(plan, tmp_path, counted(plan, 9_000), "later.json", only_added=False)
    assert refused.exit_code != 0
    assert "deleted, corrected or moved" in str(refused.exception) + refused.output
    assert not (tmp_path / "later.json").exists()
    assert publish(plan, tmp_path, counted(plan, 9_000), "later.json").exit_code == 0


@pytest.mark.parametrize("deleted", [False, True])
def test_two_tallies_by_enumeration(deleted: bool) -> None:
    """All pairs of tallies: you and 999 others, then 1,000 newcomers, in place of you or in addition.

    Everybody else's value is known. Claimed of 1,000 people: odds rise by more with a chance of at most 1e-6.
    """
    plan, people = make_plan(Policy(epsilon=0.3, features={"a": {"type": "binary"}})), 1_000
    keep = plan.tables[0].dense().weights[0, 0] / TOTAL
    others, new = (binom.pmf(np.arange(n + 1), n, keep) for n in (people - 1, people))
    given = []
    for first in (keep, 1 - keep):
        both = np.zeros((people + 1, people + 2))  # those who say yes: in the first tally, and by how many it grows
        for yes, chance in ((1, first), (0, 1 - first)):
            grown = 1 + np.arange(people + 1) - yes * deleted  # beyond the first, plus 1
            both[np.arange(people)[:, None] + yes, grown] += chance * others[:, None] * new
        given.append(both)
    claim = np.exp(counts_levels(plan, people, 1e-6).record.odds)
    exceeded = max(one[one > claim * other].sum() for one, other in (given, given[::-1]))
    assert (exceeded <= 1e-6) == (not deleted)
    assert exceeded == pytest.approx(1.8e-4, rel=0.05) or not deleted


def test_counts_that_do_not_contain_the_last_ones_are_refused(plan: Plan, tmp_path: Path) -> None:
    assert publish(plan, tmp_path, counted(plan, 5_000)).exit_code == 0
    other = counted(plan, 9_000).to_dict()
    other["counts"][0][2] -= other["counts"][0][2] - 1  # one cell has fewer people than were published
    other["people"] = sum(count for *_, count in other["counts"])
    assert publish(plan, tmp_path, Tally.from_dict(other, plan), "other.json").exit_code != 0
    assert publish(plan, tmp_path, counted(plan, 9_000), "more.json").exit_code == 0


def by_region(plan: Plan, north: int, south: int) -> Tally:
    """A tally by open groups, of which each is one of `counted`."""
    groups = [[number, document(plan, people)] for number, people in enumerate((north, south)) if people]
    return Tally.from_dict({"plan": plan.id, "people": north + south, "groups": groups}, plan)


def test_groups_of_open_values_are_published_if_each_is_large(tmp_path: Path) -> None:
    """What is promised is about the smallest group, and nearly the same people in one group are refused."""
    features = {"smoker": {"type": "binary"}, "region": {"type": "open", "values": ["north", "south"]}}
    plan = make_plan(Policy(epsilon=1, features=features))
    assert publish(plan, tmp_path, by_region(plan, 9_000, 999)).exit_code != 0
    first = publish(plan, tmp_path, by_region(plan, 9_000, 1_200))
    assert first.exit_code == 0, first.output
    assert "by groups of open values, of at least 1,200 people each" in first.stdout
    plain = make_plan(Policy(epsilon=1, features={"smoker": features["smoker"]}))
    [told, _] = counts_promises(plain, promises(plain), 1_200)
    assert f"x{small_odds(told.level)}" in first.stdout
    for north, south in ((9_001, 1_200), (10_100, 1_201), (9_000, 1_199), (11_000, 900)):
        refused = publish(plan, tmp_path, by_region(plan, north, south), "more.json")
        assert refused.exit_code != 0
        assert not (tmp_path / "more.json").exists()
    later = publish(plan, tmp_path, by_region(plan, 10_100, 1_200), "later.json")  # nobody new in the south
    assert later.exit_code == 0
    assert "at least 1,100 people each" in later.stdout
    assert counts_promises(plan, promises(plan), least_people(plan, 10**6)) == []  # before, nobody knows the groups


def test_few_people_and_a_spoiled_note_are_refused(plan: Plan, tmp_path: Path) -> None:
    assert publish(plan, tmp_path, counted(plan, 999)).exit_code != 0
    assert not (tmp_path / "published.json").exists()
    assert publish(plan, tmp_path, counted(plan, 5_000), "published.json").exit_code != 0
    (tmp_path / "published.json").write_text('{"x": 3}')
    assert publish(plan, tmp_path, counted(plan, 5_000)).exit_code != 0


def test_a_plan_for_counts_keeps_them() -> None:
    features = {name: {"type": "binary"} for name in "abc"}
    demand = {"epsilon": 0.05, "people": 20_000, "chance": 1e-8}
    free = make_plan(Policy.parse({"epsilon": 4, "features": features}))
    kept = make_plan(Policy.parse({"epsilon": 4, "features": features, "counts": demand}))
    assert counts_levels(free, 20_000, 1e-8).record.epsilon > 0.05
    assert 0.9 * 0.05 < counts_levels(kept, 20_000, 1e-8).record.epsilon <= 0.05
    assert 0.3 < kept.certificate.epsilon < free.certificate.epsilon
    assert "counts" not in kept.collection  # a device checks what one report tells, and nothing else
    easy = {**demand, "epsilon": 3}
    assert make_plan(Policy.parse({"epsilon": 4, "features": features, "counts": easy})).id == free.id


def test_demands_on_counts_about_features_odds_and_honest_people_are_kept() -> None:
    features = {"ill": {"type": "binary"}, "pay": {"type": "numeric", "bounds": [0, 9]}, "old": {"type": "binary"}}
    stated = {"epsilon": 8, "features": features, "correlation": 0.02}
    demand = {"people": 10_000, "odds": 1.5, "features": {"ill": 0.05}, "honest": 0.9}
    policy = Policy.parse({**stated, "counts": demand})
    kept = make_plan(policy)
    levels = counts_levels(kept, 9_000)  # of the honest people
    assert levels.record.odds <= math.log(1.5)
    assert 0.9 * 0.05 < levels.features["ill"].epsilon <= 0.05
    assert {each.about: each.is_kept for each in counts_demands(kept, policy.counts)} == {
        "all answers together": True,
        "ill": True,
    }
    alone = make_plan(Policy.parse({**stated, "counts": {"people": 10_000, "odds": 1.5}}))
    assert counts_levels(alone, 9_000).features["ill"].epsilon > 0.05  # so that the demand about it binds
    assert kept.certificate.features["ill"].certified < alone.certificate.features["ill"].certified
    opened = {**features, "region": {"type": "open", "values": ["north", "south"]}}
    by_group = Policy.parse({**stated, "features": opened, "counts": {"people": 2_000, "epsilon": 0.5}})
    assert counts_levels(make_plan(by_group), 2_000).record.epsilon <= 0.5


def test_a_demand_that_no_plan_keeps_is_refused() -> None:
    """With nothing assumed, the answers about `old` reveal `ill`, and no delta of `ill` helps."""
    features = {"ill": {"type": "binary"}, "old": {"type": "binary"}}
    counts = {"people": 1_000, "features": {"ill": 1e-7}}
    with pytest.raises(InputError, match=r"counts.features.ill: got 1e-07; accepted: a larger level, more people"):
        make_plan(Policy.parse({"epsilon": 2, "features": features, "counts": counts}))


def test_27000_people_in_a_batch_are_worth_half_as_many_open_ones() -> None:
    """Odds of every guess within e^.3; the targets are those of one message for each person."""
    features = {
        "ill": {"type": "binary"},
        "pay": {"type": "numeric", "bounds": [0, 9]},
        "age": {"type": "numeric", "bounds": [0, 99]},
        "region": {"type": "categorical", "values": list("abcde")},
    }
    for people, demand, least in (
        (27_000, {"odds": math.exp(0.3)}, 13_900),
        (10_000, {"epsilon": 1}, 7_000),
        (3_000, {"epsilon": 1}, 1_600),
    ):
        counts = {"people": people, **demand}
        plan = make_plan(Policy.parse({"epsilon": 20, "features": features, "counts": counts}))
        # an open answer has a variance of at most 1 on the [-1, 1] scale
        assert people / mechanism_of(plan).largest_errors(plan)[Single("ill")] >= least


def test_demands_on_counts_are_checked() -> None:
    features = {"a": {"type": "binary"}}
    for counts, named in (
        ({"epsilon": 0, "people": 5_000}, "counts.epsilon"),
        ({"epsilon": 1, "people": 999}, "counts.people"),
        ({"epsilon": 1, "people": 5_000.5}, "counts.people"),
        ({"epsilon": 1, "people": 5_000, "chance": 0}, "counts.chance"),
        ({"epsilon": 1}, "counts.people"),
        ({"people": 5_000}, "at least one of epsilon, odds and features"),
        ({"odds": 1, "people": 5_000}, "counts.odds"),
        ({"epsilon": 1, "people": 5_000, "honest": 0}, "counts.honest"),
        ({"people": 5_000, "features": {"b": 1}}, "levels of the features a"),
        ({"people": 5_000, "features": {"a": -1}}, "counts.features.a"),
        ({"epsilon": 1, "people": 5_000, "users": 3}, "counts"),
        (7, "counts"),
    ):
        with pytest.raises(InputError, match=re.escape(named)):
            Policy.parse({"epsilon": 1, "features": features, "counts": counts})
    stated = Policy.parse({"epsilon": 1, "features": features, "counts": {"epsilon": 1, "people": 5_000}})
    assert Policy.parse(stated.to_dict()) == stated
    with pytest.raises(InputError, match="survey"):
        make_plan(stated.model_copy(update={"mechanism": "cascade"}))
