"""Open features: sent as they are, counted apart, and every promise within each group of their values."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

from bcdp import Device, InputError, Plan, Policy, Tally, estimate, estimate_by, make_plan, privatize
from bcdp.audit import audit_plan, population_from_prior, population_from_records, verify_limits
from bcdp.cli.app import program
from bcdp.collector.dashboard import operator_document
from bcdp.collector.http.errors import RefusalError
from bcdp.collector.http.report_body import Reader
from bcdp.collector.settings import Settings
from bcdp.collector.shown_counts import tally_of
from bcdp.collector.storage.store import open_store
from bcdp.correlation import correlation_of, estimate_correlation
from bcdp.correlation.private_sample import correlation_from_wave
from bcdp.exact import TOTAL
from bcdp.plan import certify
from bcdp.present.promise import COUNTS_BY_GROUP, open_said, promises
from bcdp.records.open_groups import group_numbers

STRENGTH = Fraction(1, 2)
REGION: dict[str, Any] = {"type": "open", "values": ["north", "south"], "label": "Region"}
FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "delta": 0.5},
    "age": {"type": "numeric", "bounds": [0, 100]},
    "region": REGION,
    "year": {"type": "open", "values": [2025, 2026]},
}
POLICY = Policy(epsilon=2, correlation=0.1, features=FEATURES)
PLAN = make_plan(POLICY)
TWO: dict[str, Any] = {"a": {"type": "binary", "delta": 0.3}, "b": {"type": "binary"}, "g": {**REGION, "label": "g"}}


def run(*arguments: object) -> str:
    words = [str(argument) for argument in arguments]
    found = CliRunner().invoke(program(words), words, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return str(found.stdout)


def people(size: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    region = rng.choice(["north", "south"], size, p=[0.3, 0.7])
    return {
        "region": region,
        "year": rng.choice([2025, 2026], size),
        "smoker": rng.random(size) < np.where(region == "north", 0.4, 0.2),
        "age": rng.uniform(20, 60, size),
    }


def trap() -> dict[tuple[int, int, int], Fraction]:
    """Two fair independent features, and a group that depends on whether they differ."""
    return {
        (a, b, g): Fraction(1, 4) * (1 + (STRENGTH if (a ^ b) == g else -STRENGTH)) / 2
        for a, b, g in itertools.product((0, 1), repeat=3)
    }


def law_given(prior: dict[tuple[int, int, int], Fraction], a: int, group: int | None) -> dict[int, Fraction]:
    """The law of b given a, and given the group if there is one to be given."""
    joint = {b: sum((p for (x, y, g), p in prior.items() if (x, y) == (a, b) and group in (None, g)), Fraction(0))
             for b in (0, 1)}  # fmt: skip
    return {b: p / sum(joint.values()) for b, p in joint.items()}


def told_about_a(plan: Plan, group: int | None) -> float:
    """By exact enumeration, how far one report moves the odds of a in the trap, the group being known or not."""
    prior, largest = trap(), Fraction(1)
    for menu in plan.menus:
        questions = [plan.questions[number] for number in menu.questions]
        for symbols in itertools.product(*(range(plan.tables[q.table].symbols) for q in questions)):
            chances = []
            for a in (0, 1):
                chance = Fraction(0)
                for b, share in law_given(prior, a, group).items():
                    values, weight = {"a": a, "b": b}, share
                    for question, symbol in zip(questions, symbols, strict=True):
                        level = 0
                        for name, size in zip(question.features, question.levels, strict=True):
                            level = level * size + values[name]
                        weight *= Fraction(int(plan.tables[question.table].row(level)[symbol]), TOTAL)
                    chance += weight
                chances.append(chance)
            largest = max(largest, chances[0] / chances[1], chances[1] / chances[0])
    return math.log(largest)


def test_the_trap_is_one() -> None:
    """q is 0 without the group and 1/2 within it, exactly."""
    prior = trap()
    assert sum(prior.values()) == 1
    assert law_given(prior, 0, None) == law_given(prior, 1, None)
    for group in (0, 1):
        zero, one = (law_given(prior, a, group) for a in (0, 1))
        assert sum(abs(zero[b] - one[b]) for b in (0, 1)) / 2 == STRENGTH


def test_a_plan_for_q_0_breaks_its_promise_within_the_group_and_one_for_the_groups_q_keeps_it() -> None:
    naive = make_plan(Policy(epsilon=2, correlation=0.0, features={"a": TWO["a"], "b": TWO["b"]}))
    assert told_about_a(naive, None) <= 0.3 < told_about_a(naive, 0)
    within = make_plan(Policy(epsilon=2, correlation=float(STRENGTH), features=TWO))
    for group in (None, 0, 1):
        assert told_about_a(within, group) <= within.certificate.features["a"].certified <= 0.3


def test_a_prior_with_the_group_is_bounded_within_it(tmp_path: Path) -> None:
    names = ["north", "south"]
    rows = [f"{a},{names[g]},{b},{float(p)!r}" for (a, b, g), p in trap().items()]
    prior = tmp_path / "prior.csv"
    prior.write_text("\n".join(["a,g,b,probability", *rows]))
    model = correlation_of(Policy(epsilon=2, features=TWO, correlation={"prior": str(prior)}))
    assert model.q("a", {"b"}) == pytest.approx(0.5, abs=1e-9)
    assert model.odds("a", {"b"}) == pytest.approx(3, abs=1e-9)
    assert model.laws("a", "b") is None
    plan = make_plan(Policy(epsilon=2, features=TWO, correlation={"prior": str(prior)}))
    assert max(told_about_a(plan, group) for group in (0, 1)) <= 0.3
    without = "\n".join(["a,b,probability", *(f"{a},{b},0.25" for a in (0, 1) for b in (0, 1))])
    prior.write_text(without)
    with pytest.raises(InputError, match="a column for each open feature too: g"):
        correlation_of(Policy(epsilon=2, features=TWO, correlation={"prior": str(prior)}))


def sample(size: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    cells = list(trap().items())
    drawn = rng.choice(len(cells), size, p=[float(p) for _, p in cells])
    a, b, g = np.array([cell for cell, _ in cells])[drawn].T
    return {"a": a, "b": b, "g": np.array(["north", "south"])[g]}


def test_a_sample_is_measured_within_the_groups() -> None:
    """The limit misses 1/2 with a chance of at most 5%, and this sample is fixed."""
    drawn = sample(40_000)
    inside = estimate_correlation(Policy(epsilon=2, features=TWO), drawn)
    without = estimate_correlation(Policy(epsilon=2, features={"a": TWO["a"], "b": TWO["b"]}), drawn)
    assert without.q("a", {"b"}) < 0.05 < 0.5 < inside.q("a", {"b"}) < 0.55
    assert inside.laws("a", "b") is None
    assert inside.source.endswith("within every group of g")
    # half of the failure for each of two groups
    half = estimate_correlation(
        Policy(epsilon=2, features={"a": TWO["a"], "b": TWO["b"]}),
        {name: np.asarray(column)[drawn["g"] == "north"] for name, column in drawn.items()},
        confidence=0.975,
    )
    assert inside.q("a", {"b"}) >= half.q("a", {"b"})


def test_a_group_without_records_has_no_bound() -> None:
    drawn = sample(4_000)
    only = {name: np.asarray(column)[drawn["g"] == "north"] for name, column in drawn.items()}
    found = estimate_correlation(Policy(epsilon=2, features=TWO), only)
    assert found.q("a", {"b"}) == 1
    assert found.odds("a", {"b"}) == math.inf
    assert any(note.startswith("in g = south: ") for note in found.notes)


def test_the_promise_says_among_whom_it_holds() -> None:
    conditions = {name: promise.condition for name, promise in promises(PLAN).items()}
    assert conditions["smoker"].endswith("with it, among people with the same “Region” and “year”")
    sent = [f"“{label}” is sent as it is, not protected." for label in ("Region", "year")]
    assert open_said(PLAN) == [*sent, COUNTS_BY_GROUP]
    assert open_said(make_plan(Policy(epsilon=1, features={"x": {"type": "binary"}}))) == []
    assert PLAN.correlation["source"] == "assumed: q = 0.1 for every feature, within every group of region, year"


def test_open_features_change_nothing_of_what_is_asked() -> None:
    """The same tables, menus and levels: an open feature takes part in nothing random."""
    closed = {name: feature for name, feature in FEATURES.items() if feature["type"] != "open"}
    plain = make_plan(Policy(epsilon=2, correlation=0.1, features=closed))
    assert (plain.tables_, plain.questions, plain.menus) == (PLAN.tables_, PLAN.questions, PLAN.menus)
    assert certify(plain) == certify(PLAN)
    assert verify_limits(PLAN.text).acceptable
    records, key = people(500), hashlib.sha256(b"a key for tests").digest()
    one = privatize(PLAN, records, key, list(range(500)))
    moved = privatize(PLAN, {**records, "region": records["region"][::-1]}, key, list(range(500)))
    assert one.drop(["group"]) == moved.drop(["group"])


def test_reports_tell_the_group_and_tallies_count_by_it() -> None:
    records = people(20_000)
    reports = privatize(PLAN, records)
    assert reports.column_names == ["menu", "answer", "group"]
    expected = 2 * (records["region"] == "south") + (records["year"] == 2026)
    assert reports["group"].to_pylist() == expected.tolist()
    tally = Tally(PLAN).add(reports)
    assert tally == Tally(PLAN).add(reports[:7_000]) + Tally(PLAN).add(reports[7_000:])
    assert {value: part.people for value, part in tally.by("region").items()} == {
        value: int((records["region"] == value).sum()) for value in ("north", "south")
    }
    assert tally.by("year")[2026].people == int((records["year"] == 2026).sum())
    assert tally.group(region="south", year="2025").people == int((expected == 2).sum())
    assert sum(part.people for part in tally.by("region").values()) == tally.people == tally.whole.people
    assert Tally.from_dict(json.loads(json.dumps(tally.to_dict())), PLAN) == tally
    assert pickle.loads(pickle.dumps(tally)) == tally
    grouped = reports.group_by(["menu", "answer", "group"]).aggregate([([], "count_all")])
    assert Tally(PLAN).add(grouped.rename_columns(["menu", "answer", "group", "count"])) == tally


def test_everything_is_told_by_an_open_feature() -> None:
    """Seven standard errors: a false alarm in 10^11 for each of four numbers."""
    tally = Tally(PLAN).add(privatize(PLAN, people(150_000)))
    found = estimate_by(tally, "region")
    for value, share in (("north", 0.4), ("south", 0.2)):
        mean = found[value].means["smoker"]
        assert abs(mean.value - share) < 7 * mean.se
    difference = found["north"].means["smoker"] - found["south"].means["smoker"]
    assert abs(difference.value - 0.2) < 7 * difference.se
    whole = estimate(tally).means["smoker"]
    assert abs(whole.value - 0.26) < 7 * whole.se
    with pytest.raises(InputError, match="an open feature: region, year"):
        estimate_by(tally, "smoker")
    plain = make_plan(Policy(epsilon=1, features={"a": {"type": "binary"}}))
    with pytest.raises(InputError, match="an open feature of the policy, and it has none"):
        estimate_by(Tally(plain), "a")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"region": ["north", "elsewhere"]}, "column 'region': got a value that is not listed"),
        ({"region": ["north", None]}, "1 of 2 records have no value; accepted: a value of every record"),
        ({"region": ["", "south"]}, "1 of 2 records have no value"),
        ({"year": [[1], [2]]}, "column 'year'"),
        ({"region": None}, "no column 'region'"),
    ],
)
def test_records_without_their_open_values_are_refused(changed: dict[str, Any], said: str) -> None:
    records = {"smoker": [0, 1], "age": [1, 2], "region": ["north", "south"], "year": [2025, 2026], **changed}
    with pytest.raises(InputError, match=said):
        privatize(PLAN, {name: column for name, column in records.items() if column is not None})


def test_reports_and_tallies_that_cannot_be_are_refused() -> None:
    for reports, said in (
        ({"menu": [0], "answer": [0]}, "no column group"),
        ({"menu": [0], "answer": [0], "group": [4]}, "numbers from 0 to 3"),
        ({"menu": [0], "answer": [0], "group": [-1]}, "numbers from 0 to 3"),
        ({"menu": [0], "answer": [99], "group": [0]}, "reports.answer"),
    ):
        with pytest.raises(InputError, match=said):
            Tally(PLAN).add(reports)
    good = Tally(PLAN).add(privatize(PLAN, people(100))).to_dict()
    part = good["groups"][0]
    for groups in ([], [part, part], [[9, part[1]]], [[0]], None, [[0, {"plan": "x"}]]):
        with pytest.raises(InputError, match="tally"):
            Tally.from_dict({**good, "groups": groups}, PLAN)


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ({"g": REGION}, "at least one feature that is not open"),
        ({"a": {"type": "binary"}, "g": {**REGION, "delta": 0.1}}, "features.g.delta: got an unknown key"),
        ({"a": {"type": "binary"}, "g": {"type": "open"}}, "features.g.values: got nothing"),
        (
            {"a": {"type": "binary"}, **{f"g{n}": {"type": "open", "values": list(range(n))} for n in (100, 101)}},
            "at most 10000 combinations",
        ),
    ],
)
def test_policies_that_are_refused(features: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Policy(epsilon=1, features=features)


def test_a_task_or_a_demand_on_counts_that_open_features_do_not_allow() -> None:
    with pytest.raises(InputError, match="by an open one everything can be told, without a task"):
        Policy(epsilon=2, features=FEATURES, tasks=[{"mean": ["smoker"], "by": "region"}])
    with pytest.raises(InputError, match=r"counts: .* accepted: levels of the features"):
        Policy(epsilon=2, features=FEATURES, counts={"features": {"region": 1}, "people": 10_000})
    assert Policy(**POLICY.to_dict()) == POLICY
    assert Policy.parse(json.loads(json.dumps(POLICY.to_dict()))).groups == POLICY.groups


def test_a_device_sends_the_group_and_keeps_it() -> None:
    memory: dict[str, dict[str, int]] = {}
    record = {"smoker": 1, "age": 30, "region": "south", "year": 2025}
    first = Device(memory).answer(PLAN, record)
    assert first["group"] == 2
    assert Device(memory).answer(PLAN, {**record, "region": "north"}) == first
    with pytest.raises(InputError, match="region"):
        Device({}).answer(PLAN, {"smoker": 1, "age": 30, "year": 2025})
    assert group_numbers(POLICY, pa.table({"region": ["north"] * 3, "year": [2026] * 3})).tolist() == [1, 1, 1]


def test_the_collector_counts_by_group(tmp_path: Path) -> None:
    reader = Reader(Settings(PLAN, "reports.db", "a token of sixteen".replace(" ", "-")))

    def body(*reports: dict[str, Any]) -> bytes:
        return json.dumps({"plan": PLAN.id, "reports": list(reports)}).encode()

    for wrong in ({"id": "a", "menu": 0, "answer": 0}, {"id": "a", "menu": 0, "answer": 0, "group": 4}):
        with pytest.raises(RefusalError):
            reader.read(body(wrong))
    given = [{"id": f"r{group}{k}", "menu": k % 2, "answer": 0, "group": group} for group in range(4) for k in range(5)]
    store = open_store(str(tmp_path / "reports.db"), PLAN.id)
    reports = reader.read(body(*given))
    store.add(dict(zip(reports.marks, reports.values, strict=True)))
    tally = tally_of(PLAN, store.counts())
    store.close()
    assert tally == Tally(PLAN).add({key: [report[key] for report in given] for key in ("menu", "answer", "group")})
    assert operator_document(tally)["people"] == 20
    plain = make_plan(Policy(epsilon=1, features={"a": {"type": "binary"}}))
    with pytest.raises(RefusalError, match="unknown field"):
        Reader(Settings(plain, "reports.db", "x" * 16)).read(
            json.dumps({"plan": plain.id, "reports": [given[0]]}).encode()
        )


def test_an_audit_is_of_one_group(tmp_path: Path) -> None:
    plan = make_plan(Policy(epsilon=2, correlation=0.0, features=TWO))
    drawn = sample(20_000)
    with pytest.raises(InputError, match="a value of every open feature: g="):
        population_from_records(plan, [drawn])
    found = audit_plan(plan, population_from_records(plan, [drawn], {"g": "north"}))
    assert not found.kept
    assert found.delta["a"].measured > 0.3
    right = make_plan(Policy(epsilon=2, correlation=0.52, features=TWO))
    assert audit_plan(right, population_from_records(right, [drawn], {"g": "north"})).kept


def test_a_private_wave_is_bounded_within_groups() -> None:
    """In the trap q is 1/2 in each group: the limit is wrong once in 10^9; all people together seem independent."""
    features = {"a": {"type": "binary"}, "b": {"type": "binary"}}
    drawn = sample(100_000)
    wave, mixed = (make_plan(Policy(epsilon=6, features=stated)) for stated in ({**features, "g": REGION}, features))
    model = correlation_from_wave(Tally(wave).add(privatize(wave, drawn)), 1 - 1e-9)
    assert 0.5 <= model.q("a", {"b"}) < 0.7
    assert 3 <= model.odds("a", {"b"}) < 8
    assert "within every group of g" in model.source
    assert model.laws("a", "b") is None
    assert correlation_from_wave(Tally(mixed).add(privatize(mixed, drawn)), 1 - 1e-9).q("a", {"b"}) < 0.3
    north = pa.table(drawn).filter(pc.equal(pa.array(drawn["g"]), "north"))
    silent = correlation_from_wave(Tally(wave).add(privatize(wave, north)), 1 - 1e-9)
    assert silent.q("a", {"b"}) == 1
    assert "in g = south: nobody answered, so every q is 1" in silent.notes


def test_an_audit_by_a_prior_is_of_one_group(tmp_path: Path) -> None:
    """Exactly what enumeration with fractions finds within the group; a plan for q = 0 breaks its promise there."""
    rows = [f"{a},{REGION['values'][g]},{b},{float(p)!r}" for (a, b, g), p in trap().items()]
    prior = tmp_path / "prior.csv"
    prior.write_text("\n".join(["a,g,b,probability", *rows]))
    plan = make_plan(Policy(epsilon=2, correlation=0.0, features=TWO))
    for number, name in enumerate(REGION["values"]):
        found = audit_plan(plan, population_from_prior(plan, prior, {"g": name}))
        assert found.delta["a"].measured == pytest.approx(told_about_a(plan, number), abs=1e-9)
        assert not found.kept
    right = make_plan(Policy(epsilon=2, correlation=0.5, features=TWO))
    assert audit_plan(right, population_from_prior(right, prior, {"g": "north"})).kept
    with pytest.raises(InputError, match="a value of every open feature: g="):
        population_from_prior(plan, prior)
    prior.write_text("a,g,b,probability\n0,north,0,0.5\n1,north,1,0.5\n")
    with pytest.raises(InputError, match="a group that the prior gives a probability"):
        population_from_prior(plan, prior, {"g": "south"})


def test_the_theorem_within_groups_is_the_formula_at_the_groups_q() -> None:
    """Randomized response about b alone tells of a, within the group, what odds of 3 say; without, nothing."""
    within = Policy(epsilon=2, correlation=float(STRENGTH), features=TWO, tasks=[{"mean": ["b"]}])
    plan = make_plan(within)
    level = plan.certificate.epsilon
    assert told_about_a(plan, None) == pytest.approx(0, abs=1e-8)
    assert told_about_a(plan, 0) == pytest.approx(2 * math.atanh(0.5 * math.tanh(level / 2)), abs=1e-9)


def test_the_command_line_tells_by_group_and_says_what_is_open(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY.to_yaml())
    plan, reports = tmp_path / "plan.json", tmp_path / "reports.csv"
    said = run("plan", tmp_path / "policy.yaml", "-o", plan)
    assert "“Region” is sent as it is, not protected." in said
    made = Plan.load(plan)
    records = tmp_path / "people.csv"
    drawn = people(3_000)
    lines = zip(*(drawn[name] for name in FEATURES), strict=True)
    records.write_text("\n".join([",".join(FEATURES), *(",".join(map(str, line)) for line in lines)]))
    run("privatize", plan, records, "-o", tmp_path / "reports.parquet")
    told = json.loads(run("estimate", plan, tmp_path / "reports.parquet", "--by", "region", "--json"))
    assert [told["groups"][value]["people"] for value in ("north", "south")] == [
        int((drawn["region"] == value).sum()) for value in ("north", "south")
    ]
    assert {entry["name"] for entry in told["differences"]} == {"smoker", "age"}
    assert "north less south" in run("estimate", plan, tmp_path / "reports.parquet", "--by", "region")
    assert not reports.exists()
    assert made.policy.open.keys() == {"region", "year"}
