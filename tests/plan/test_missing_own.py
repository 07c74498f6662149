"""No answer as a value of its own: protected like the others, told apart, and what it leaves open."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from bcdp import InputError, Plan, Policy, Tally, estimate, estimate_by, make_plan, privatize
from bcdp.audit import audit_plan, population_from_records, verify_limits
from bcdp.cli.app import program
from bcdp.compare.simulation import simulate
from bcdp.correlation import correlation_of, estimate_correlation
from bcdp.estimates.power import imagined, precision
from bcdp.exact import TOTAL
from bcdp.plan import certificate, certify
from bcdp.randomizers import Response
from bcdp.records.encoding import as_arrow, encode
from bcdp.statistics import Single
from bcdp.statistics.shared.nonresponse import AnsweredMean, AnsweredShare
from support.helpers import (
    exact_q,
    exceeded,
    full_kernel,
    listed,
    random_dense,
    random_document,
    random_prior,
    sizes_of,
    survey,
)

FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "delta": 0.5, "missing": "own"},
    "income": {"type": "numeric", "bounds": [0, 100], "missing": "own"},
    "party": {"type": "categorical", "values": ["a", "b"], "missing": "own"},
}
POLICY = Policy(epsilon=2, correlation=0.1, features=FEATURES)
PLAN = make_plan(POLICY)
BIT = {"type": "binary", "delta": 20.0}
NUMBER = {"type": "numeric", "bounds": [0, 100], "delta": 20.0, "missing": "own"}


def people(size: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    income = rng.uniform(20, 60, size)
    return {
        "smoker": [None if w < 0.3 else int(w < 0.5) for w in rng.random(size).tolist()],
        "income": np.where(rng.random(size) < 0.25, np.nan, income),
        "party": [None if w < 0.2 else "a" if w < 0.7 else "b" for w in rng.random(size).tolist()],
    }


def own_document(rng: np.random.Generator) -> dict[str, Any]:
    """A random survey in which some features have no answer as their last level."""
    while True:
        document = random_document(rng)
        levels = {
            name: min(q["levels"][q["features"].index(name)] for q in document["questions"] if name in q["features"])
            for name in {name for question in document["questions"] for name in question["features"]}
        }
        able = [name for name, size in levels.items() if size > 2]
        if able:
            break
    for name in able:
        if rng.random() < 0.8:
            feature = document["collection"]["features"][name]
            feature["missing"] = "own"
            if "values" in feature:
                feature["values"] = feature["values"][:2]
    return document


def test_levels_hold_for_every_prior_over_all_values_and_no_answer() -> None:
    """By enumeration of records, numbers between the levels among them; without the last level some claims fail."""
    rng = np.random.default_rng(24)
    checked, broken = 0, 0
    for _ in range(150):
        document = own_document(rng)
        draft = Plan.build(document)
        if not any(feature.own for feature in draft.policy.features.values()):
            continue
        prior = random_prior(rng, sizes_of(draft))
        document["correlation"] = listed(exact_q(draft, prior))
        plan = Plan.build(document)
        claims, kernel = certify(plan), full_kernel(plan)
        assert not exceeded(claims, prior, kernel)
        checked += 1
        complete = tuple(slice(-1 if feature.own else None) for feature in plan.policy.features.values())
        with np.errstate(divide="ignore", invalid="ignore"):
            least, most = (pick(kernel[complete].reshape(-1, kernel.shape[-1]), axis=0) for pick in (np.min, np.max))
            broken += math.log(np.nanmax(most / least)) < claims.epsilon - 1e-3
    assert checked > 100
    assert broken > 20  # what a certificate that forgot no answer would have claimed


@pytest.mark.parametrize("levels", [3, 4, 6, 18])
def test_guesses_between_ranges_and_no_answer(levels: int) -> None:
    """Theorem 6 with one part more, against the definition: all ends, all pairs of parts, extreme priors."""
    rng = np.random.default_rng(levels)
    table = random_dense(rng, levels * 2, 3, 0.8)
    features = {"x": {**NUMBER, "ranges": [30.0, 70.0]}, "b": BIT}
    document = survey(features, [table.to_dict()], [{"features": ["x", "b"], "levels": [levels, 2], "table": 0}],
                      [{"weight": TOTAL, "questions": [0]}])  # fmt: skip
    q = Fraction(1, 8)
    document["correlation"] = {"kind": "listed", "source": "s", "bounds": [["x", ["b"], float(q)]], "rounded": ["x"],
                               "ranges": {"x": [30.0, 70.0]}}  # fmt: skip
    claimed = certify(Plan.build(document)).delta["x"]
    f = table.weights.reshape(levels, 2, 3).astype(object)

    def at(share: Fraction) -> Any:
        place = share * (levels - 2)
        below = min(math.floor(place), levels - 3)
        return (1 - (place - below)) * f[below] + (place - below) * f[below + 1]

    parts = [[at(Fraction(k, 1000)) for k in range(a, b + 1, 5)] for a, b in ((0, 300), (300, 700), (700, 1000))]
    parts.append([f[-1]])
    worst = Fraction(1)
    fits = 16 % (levels - 2) == 0
    moved = q if fits else Fraction(1)
    for one in range(4):
        for two in range(4):
            if one == two:
                continue
            most = np.array([[[row[z][y] for row in parts[one]] for y in range(3)] for z in range(2)]).max(axis=2)
            least = np.array([[[row[z][y] for row in parts[two]] for y in range(3)] for z in range(2)]).min(axis=2)
            for y in range(3):
                for z in range(2):
                    top = (1 - moved) * most[z][y] + moved * most[:, y].max()
                    bottom = (1 - moved) * least[z][y] + moved * least[:, y].min()
                    worst = max(worst, Fraction(top) / Fraction(bottom))
    # the grid has the levels of 3, 4 and 7 inputs; elsewhere it comes near from below
    assert math.log(worst) <= claimed + (0 if fits else 1e-12)
    assert claimed - math.log(worst) < 0.02


def test_the_number_of_levels_that_bounds_about_roundings_cover_leaves_no_answer_out() -> None:
    """Five levels are four for numbers, which are not among the 17, and six are five, which are."""
    for levels, covered in ((3, True), (4, True), (5, False), (6, True), (17, False), (18, True)):
        table = Response(levels, TOTAL - (levels - 1) * 2**20, 2**20)
        document = survey({"x": NUMBER, "b": BIT}, [table.to_dict()],
                          [{"features": ["x"], "levels": [levels], "table": 0}],
                          [{"weight": TOTAL, "questions": [0]}])  # fmt: skip
        document["correlation"] = {"kind": "listed", "source": "s", "bounds": [["b", ["x"], 0.0]], "rounded": ["x"]}
        assert (certify(Plan.build(document)).delta["b"] == 0.0) is covered


def test_a_device_answers_as_it_should() -> None:
    """Through tables that lie in one answer of 2^19: of 24,000, ten do so less than once in 10^15 runs."""
    table = values = Response(3, TOTAL - 2 * 2**12, 2**12)
    document = survey(
        {"x": NUMBER, "b": {**BIT, "missing": "own"}}, [table.to_dict(), values.to_dict()],
        [{"features": ["x"], "levels": [3], "table": 0}, {"features": ["b"], "levels": [3], "table": 1}],
        [{"weight": TOTAL // 2, "questions": [0]}, {"weight": TOTAL // 2, "questions": [1]}],
    )  # fmt: skip
    plan = Plan.certified({key: part for key, part in document.items() if key != "certificate"})
    numbers = [0.0, 25.0, 100.0, None, 250.0, -3.0]
    answers = privatize(plan, {"x": numbers * 4000, "b": [0, 1, None, True, False, None] * 4000})
    menu, answer = (np.asarray(answers[name]).reshape(4000, 6) for name in ("menu", "answer"))
    told = [[np.count_nonzero((menu == k) & (answer == y), axis=0) for y in range(3)] for k in range(2)]
    lies = (
        told[0][1][0] + told[0][2][:3].sum() + told[0][0][2:5].sum() + told[0][1][[3, 5]].sum() + told[0][2][4:].sum()
    )
    assert lies < 10
    assert min(told[0][0][0], told[0][1][2], told[0][2][3], told[0][1][4], told[0][0][5]) > 1500
    bits = [told[1][y][k] for k, y in enumerate((0, 1, 2, 1, 0, 2))]
    assert np.sum(told[1]) - sum(bits) < 10
    up, down = told[0][1][1], told[0][0][1]  # rounded from a quarter: 6.2 standard errors, a false alarm in 10^9
    assert abs(up / (up + down) - 0.25) < 6.2 * math.sqrt(0.25 * 0.75 / (up + down))


@pytest.mark.parametrize("levels", [3, 4, 9])
def test_what_is_decoded_is_unbiased_at_every_value(levels: int) -> None:
    """Of every symbol the decoded shares, weighed by the chances of a number between the levels, and of no answer."""
    rng = np.random.default_rng(levels)
    table = random_dense(rng, levels, levels + 1, 1.0)
    policy = Policy(epsilon=20, features={"x": NUMBER})
    feature = policy.features["x"]
    decoded = table.decode(feature.input_values(levels))
    chances = table.weights / TOTAL
    for v in np.linspace(-1, 1, 11):
        place = (v + 1) / 2 * (levels - 2)
        below = min(int(place), levels - 3)
        law = np.zeros(levels)
        law[below], law[below + 1] = 1 - (place - below), place - below
        assert np.allclose(law @ chances @ decoded, [(1 - v) / 2, (1 + v) / 2, 0.0], atol=1e-9)
        assert np.allclose(Single("x").of(policy, {"x": np.array([v])}), [[(1 - v) / 2, (1 + v) / 2, 0.0]])
    assert np.allclose(chances[-1] @ decoded, [0.0, 0.0, 1.0], atol=1e-9)
    assert Single("x").of(policy, encode(policy, as_arrow({"x": [None]}))).tolist() == [[0.0, 0.0, 1.0]]


def test_the_mean_among_those_who_answered_is_the_ratio_of_the_closed_forms() -> None:
    """Response of three values: shares (y/n - o)/(k - o), covariance of the multinomial, delta method, Fieller."""
    table = Response(3, TOTAL - 2 * 2**30, 2**30)
    document = survey({"x": NUMBER}, [table.to_dict()], [{"features": ["x"], "levels": [3], "table": 0}],
                      [{"weight": TOTAL, "questions": [0]}])  # fmt: skip
    plan = Plan.build(document)
    counts = np.array([3000, 4100, 2900])
    tally = Tally(plan).add({"menu": [0] * 3, "answer": [0, 1, 2], "count": counts})
    found = estimate(tally).means["x"]
    n, k, o = counts.sum(), 0.5, 0.25
    low, high, none = (counts / n - o) / (k - o)
    assert math.isclose(found.value, 100 * high / (high + low), rel_tol=1e-9)
    assert math.isclose(found.answered.value, 1 - none, rel_tol=1e-9)
    assert math.isclose(found.lowest.value, 100 * high, rel_tol=1e-9)
    assert math.isclose(found.highest.value, 100 * (high + none), rel_tol=1e-9)
    y = (counts + 4 / 3) / (n + 4)  # four imagined people, as everywhere
    covariance = (np.diag(y) - np.outer(y, y)) / (n - 1) / (k - o) ** 2
    r = high / (high + low)
    slope = np.array([-r, 1 - r, 0]) / (high + low)
    assert math.isclose(found.se, 100 * math.sqrt(slope @ covariance @ slope), rel_tol=1e-6)
    for end in (found.low / 100, found.high / 100):  # where the difference is 1.96 of its own standard errors from 0
        line = np.array([-end, 1 - end, 0.0])
        distance = abs(high - end * (high + low)) / math.sqrt(line @ covariance @ line)
        assert math.isclose(distance, 1.959964, rel_tol=1e-5)
    assert found.rule == "among those who answered"


def test_the_mean_of_all_people_is_between_the_lowest_and_the_highest() -> None:
    """The truths are in a population where those who do not answer have more; errors of 6.2 standard errors."""
    records = people(60_000)
    hidden = np.where(np.isnan(records["income"]), 80.0, records["income"])
    found = estimate(Tally(PLAN).add(privatize(PLAN, records)))
    income, smoker, party = found.means["income"], found.means["smoker"], found.frequencies["party"]
    answered = records["income"][~np.isnan(records["income"])]
    assert abs(income.value - answered.mean()) < 6.2 * income.se
    assert abs(income.answered.value - len(answered) / 60_000) < 6.2 * income.answered.se
    assert income.lowest.value < hidden.mean() < income.highest.value
    assert income.lowest.value < income.value < income.highest.value
    assert abs(hidden.mean() - income.value) > 6.2 * income.se  # the mean of all is another
    assert abs(smoker.value - 0.2 / 0.7) < 6.2 * smoker.se
    assert list(party) == ["a", "b", "no answer"]
    assert abs(party["a"].value - 0.5) < 6.2 * party["a"].se
    assert abs(party["a"].among.value - 0.5 / 0.8) < 6.2 * party["a"].among.se
    assert abs(party["a"].highest.value - 0.7) < 6.2 * party["a"].highest.se
    assert math.isclose(sum(share.value for share in party.values()), 1.0)
    assert math.isclose(party["a"].among.value + party["b"].among.value, 1.0)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["means"]["income"]["lowest"]["value"] == income.lowest.value
    assert document["frequencies"]["party"]["a"]["among"]["value"] == party["a"].among.value
    subjects = [section.subject for section in found.sections()]
    assert subjects[:3] == ["Means", "smoker: no answer", "income: no answer"]
    assert subjects[3:] == ["party", "party, among those who answered", "party, at most"]
    other = estimate(Tally(PLAN).add(privatize(PLAN, people(60_000, 1)))).means["income"]
    assert abs((income - other).value) < 6.2 * (income - other).se
    assert (income.lowest - other.lowest).se > 0


def test_nothing_is_told_of_nobody_and_little_of_a_few() -> None:
    for records in (people(3), {"smoker": [None] * 50, "income": [None] * 50, "party": [None] * 50}):
        found = estimate(Tally(PLAN).add(privatize(PLAN, records)))
        for name, (low, high) in (("smoker", (0, 1)), ("income", (0, 100))):
            mean = found.means[name]
            assert low <= mean.low <= mean.high <= high
            assert math.isnan(mean.value) or mean.low <= mean.value <= mean.high
            assert isinstance(mean, AnsweredMean)
            assert mean.lowest.low <= mean.highest.high
        for share in list(found.frequencies["party"].values())[:2]:
            assert isinstance(share, AnsweredShare)
            assert 0 <= share.among.low <= share.among.high <= 1
            assert 0 <= share.highest.low <= share.highest.high <= 1
    empty = estimate(Tally(PLAN)).means["income"]
    assert math.isnan(empty.value)
    assert (empty.low, empty.high) == (0, 100)


def test_weights_and_groups_of_open_values() -> None:
    features = {"income": FEATURES["income"], "region": {"type": "open", "values": ["north", "south"]}}
    plan = make_plan(Policy(epsilon=2, features=features))
    income = people(40_000)["income"]
    income[:10_000] *= 0.5
    tally = Tally(plan).add(privatize(plan, {"income": income, "region": ["north"] * 10_000 + ["south"] * 30_000}))
    by = estimate_by(tally, "region")
    parts = [mean for part in by.values() if isinstance(mean := part.means["income"], AnsweredMean)]
    assert len(parts) == 2
    whole = estimate(tally, weights=[{"region": ["north", "south"], "people": [1, 1]}]).means["income"]
    top = sum(part.lowest.value for part in parts)  # of each person 0 without an answer
    bottom = sum(part.answered.value for part in parts)
    assert math.isclose(whole.value, top / bottom, rel_tol=1e-9)
    assert whole.se > 0


def test_what_cannot_be_told_is_refused_in_words() -> None:
    for task in (
        {"table": ["income", "party"]},
        {"regression": {"target": "income", "features": ["smoker"]}},
    ):
        with pytest.raises(InputError, match="a feature without `missing: own`: give this one a value that counts"):
            Policy(epsilon=2, features=FEATURES, tasks=[task])
    with pytest.raises(InputError, match=r"smoker.missing: got 'own'; accepted: .* or the mechanism survey"):
        make_plan(Policy(epsilon=2, features=FEATURES, mechanism="cascade"))
    with pytest.raises(InputError, match="own would add one called 'no answer'"):
        Policy(epsilon=2, features={"x": {"type": "categorical", "values": ["no answer", "b"], "missing": "own"}})
    table = Policy(epsilon=2, features=FEATURES, tasks=[{"table": ["smoker", "party"]}, {"mean": ["income"]}])
    assert estimate(imagined(make_plan(table), {})).tables["smoker", "party"].values[0] == (0, 1, "no answer")


def test_a_listed_value_that_is_called_own_is_meant_first() -> None:
    home = {"type": "categorical", "values": ["own", "rent"], "missing": "own"}
    policy = Policy(epsilon=2, features={"home": home})
    assert policy.features["home"].categories == ("own", "rent")
    assert encode(policy, as_arrow({"home": [None, "rent"]}))["home"].tolist() == [0, 1]
    assert policy.features["home"].rule == "missing counted as 'own'"


def test_a_sample_measures_no_answer_with_the_values() -> None:
    """Whoever is sick gives no income: then no answer tells all about it, whatever the numbers tell."""
    features = {"sick": {"type": "binary", "delta": 0.5}, "income": {**NUMBER, "delta": 2}}
    policy = Policy(epsilon=2, features=features)
    rng = np.random.default_rng(3)
    sick = rng.random(4000) < 0.3
    income = rng.uniform(0, 100, 4000)
    silent = {"sick": sick.astype(int), "income": np.where(sick, np.nan, income)}
    told = {"sick": sick.astype(int), "income": np.where(rng.random(4000) < 0.3, np.nan, income)}
    assert estimate_correlation(policy, silent).q("sick", {"income"}) == 1
    assert 0 < estimate_correlation(policy, told).q("sick", {"income"}) < 0.3
    limits = estimate_correlation(policy, told)
    plan = make_plan(policy, limits)
    assert Plan.parse(plan.text) == plan
    assert verify_limits(plan.text).acceptable
    assert plan.correlation_model.ranges == {"income": (25.0, 50.0, 75.0)}
    found = audit_plan(plan, population_from_records(plan, [told]))
    assert all(found.delta[name].kept for name in features)


def test_a_prior_has_no_answer_as_a_value(tmp_path: Path) -> None:
    rows = "smoker,party,probability\n0,a,0.3\n1,b,0.3\n,a,0.2\n0,,0.1\n,,0.1\n"
    (tmp_path / "prior.csv").write_text(rows)
    policy = Policy(epsilon=2, features={name: FEATURES[name] for name in ("smoker", "party")},
                    correlation={"prior": str(tmp_path / "prior.csv")})  # fmt: skip
    # given smoker 0, 1 and no answer, party is a with 3/4, 0 and 2/3
    assert math.isclose(correlation_of(policy).q("smoker", {"party"}), 1.0, rel_tol=1e-9)
    assert math.isclose(correlation_of(policy).q("party", {"smoker"}), 1.0, rel_tol=1e-9)
    assert make_plan(policy).certificate.features["smoker"].certified <= 0.5


def test_power_and_simulations_know_it() -> None:
    rows = {(one.about, one.name): one for one in precision(PLAN, {"income": {"mean": 40, "no answer": 0.25}})}
    assert math.isclose(rows["Means", "income"].value, 40, rel_tol=1e-9)
    assert math.isclose(rows["income: no answer", "answered"].value, 0.75, rel_tol=1e-9)
    found = simulate(POLICY, people(2000), users=2000, trials=2)
    assert found is not None
    for guess in ({"income": {"mean": 40, "no answer": 1.0}}, {"income": {"mean": 400, "no answer": 0.1}}):
        with pytest.raises(InputError, match="a share of 'no answer' below 1"):
            precision(PLAN, guess)


def test_files_with_empty_cells_from_the_command_line(tmp_path: Path) -> None:
    pa.csv.write_csv(pa.table(pa.table(people(500)).to_pydict()), tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(POLICY.to_yaml())

    def run(*words: object) -> str:
        arguments = [str(word) for word in words]
        done = CliRunner().invoke(program(arguments), arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return str(done.output)

    run("plan", tmp_path / "policy.yaml", "-o", tmp_path / "plan.json")
    said = run("check", tmp_path / "policy.yaml", tmp_path / "people.csv")
    assert "income" in said
    run("privatize", tmp_path / "plan.json", tmp_path / "people.csv", "-o", tmp_path / "reports.parquet")
    run("tally", tmp_path / "plan.json", tmp_path / "reports.parquet", "-o", tmp_path / "tally.json")
    told = run("estimate", tmp_path / "plan.json", tmp_path / "tally.json")
    assert "among those who answered" in told
    assert "income: what no answer leaves open" in told


def test_a_certificate_that_forgets_no_answer_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no answer were no part of its own, guesses between it and the ranges would cost nothing."""
    rows = np.full((6, 2), TOTAL // 2)
    rows[4:] = [[3 * TOTAL // 4, TOTAL // 4]] * 2  # no answer alone is told
    table = {"family": "dense", "weights": rows.tolist()}
    features = {"x": {**NUMBER, "ranges": [50.0]}, "b": BIT}
    document = survey(features, [table], [{"features": ["x", "b"], "levels": [3, 2], "table": 0}],
                      [{"weight": TOTAL, "questions": [0]}])  # fmt: skip
    document["correlation"] = {"kind": "listed", "source": "s", "bounds": [["x", ["b"], 0.0]], "rounded": ["x"],
                               "ranges": {"x": [50.0]}}  # fmt: skip
    plan = Plan.build(document)
    assert math.isclose(certify(plan).delta["x"], math.log(2), rel_tol=1e-9)
    whole = certificate._extremes
    monkeypatch.setattr(certificate, "_extremes", lambda f, parts, own: whole(f[:2], parts, False))
    certificate.joint_delta.cache_clear()
    assert certify(Plan.build(document)).delta["x"] == 0.0
    certificate.joint_delta.cache_clear()
