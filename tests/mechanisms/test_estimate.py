"""Estimates: unbiased by exact expectation, as precise as the plan says, intervals that cover what they promise.

Where chance is involved, counts are drawn from the exact law of the answers; one test holds that law against the
device. Every check is also shown a mistake, which it must catch.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chisquare

from bcdp import Estimates, InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.estimates import Estimate, on_simplex
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.mechanisms.survey.estimation.readings import Ways
from bcdp.randomizers import binary, hadamard, joint, numeric, response
from bcdp.statistics import Single
from support.helpers import build, paper_plan, tally_of

KEY = bytes(range(32))
NORMAL_6 = 6.2  # standard errors that a normal number leaves with a chance of 6e-10
Population = Sequence[tuple[float, dict[str, Any]]]  # shares and records

FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary"},
    "income": {"type": "numeric", "bounds": [0, 200_000]},
    "region": {"type": "categorical", "values": ["north", "south", "east", "west"]},
    "vote": {"type": "binary", "values": ["no", "yes"]},
}
TASKS = [{"mean": ["smoker", "income"]}, {"frequency": ["region", "vote"]}]
POPULATION: Population = [
    (0.5, {"smoker": 1, "income": 20_000, "region": "north", "vote": "yes"}),
    (0.3, {"smoker": 0, "income": 155_000, "region": "north", "vote": "no"}),
    (0.15, {"smoker": 1, "income": 44_444, "region": "east", "vote": "yes"}),
    (0.05, {"smoker": 0, "income": 0, "region": "west", "vote": "yes"}),
]
SMOKERS, INCOME = 0.65, 0.5 * 20_000 + 0.3 * 155_000 + 0.15 * 44_444
REGIONS = {"north": 0.8, "south": 0.0, "east": 0.15, "west": 0.05}


def mixed_plan(mechanism: str, **changes: dict[str, Any]) -> Plan:
    features = {name: {**feature, **changes.get(name, {})} for name, feature in FEATURES.items()}
    return make_plan(Policy(epsilon=3, features=features, tasks=TASKS, mechanism=mechanism, correlation=0.0))


PLAN = build(
    FEATURES,
    [
        (("smoker",), (2,), binary(0.6)),
        (("smoker",), (2,), binary(1.2)),
        (("income",), (17,), numeric(1.5)),
        (("region",), (4,), response(4, 1.5)),
        (("region",), (4,), hadamard(4, 1.0)),
        (("smoker", "vote", "income"), (2, 2, 2), joint((2, 2, 2), 2.0)),
        (("vote", "region"), (2, 4), joint((2, 4), 2.0)),
    ],
    [
        (TOTAL // 8, [0, 2, 3]),
        (TOTAL // 4, [1]),
        (TOTAL // 4, [2, 4]),
        (TOTAL // 8, [6]),
        (TOTAL // 4, [5, 3]),
    ],
    tasks=TASKS,
)


CASCADE = make_plan(
    Policy(
        epsilon=3,
        features={**FEATURES, "smoker": {"type": "binary", "delta": 0.6}},
        tasks=TASKS,
        correlation=0.03,
        mechanism="cascade",
    )
)


def level_law(plan: Plan, name: str, size: int, value: Any) -> np.ndarray:
    """The law of one feature's level: rounding at random for a number, certainty for the others."""
    feature = plan.policy.features[name]
    law = np.zeros(size)
    if feature.type == "numeric":
        place = (value - feature.bounds[0]) / (feature.bounds[1] - feature.bounds[0]) * (size - 1)
        below = min(math.floor(place), size - 2)
        law[below], law[below + 1] = 1 - (place - below), place - below
    else:
        law[list(feature.values or (0, 1)).index(value)] = 1
    return law


def answer_law(plan: Plan, menu: int, record: dict[str, Any]) -> np.ndarray:
    """The law of one menu's answer for one record."""
    law = np.ones(1)
    for number in plan.menus[menu].questions:
        question = plan.questions[number]
        level = np.ones(1)
        for name, size in zip(question.features, question.levels, strict=True):
            level = np.outer(level, level_law(plan, name, size, record[name])).ravel()
        law = np.outer(law, level @ plan.tables[question.table].dense().weights / TOTAL).ravel()
    return law


def cell_law(plan: Plan, population: Population) -> tuple[np.ndarray, np.ndarray]:
    """All cells (menu, answer), one a row, and the probability that a person of the population reports each."""
    cells, laws = [], []
    for number, menu in enumerate(plan.menus):
        law = sum(share * answer_law(plan, number, record) for share, record in population) * (menu.weight / TOTAL)
        cells.extend((number, answer) for answer in range(len(law)))
        laws.append(law)
    probabilities = np.concatenate(laws)
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)
    return np.array(cells), probabilities / probabilities.sum()


def trials(plan: Plan, population: Population, people: int, repeats: int) -> list[Estimates]:
    """Estimates from repeated collections, with fixed randomness."""
    _, law = cell_law(plan, population)
    draws = np.random.default_rng(20).multinomial(people, law, size=repeats)
    return [estimate(tally_of(plan, counts)) for counts in draws]


def expected_estimates(plan: Plan, population: Population) -> Estimates:
    """The estimates from counts in proportion to their law: by linearity, their expectation, to 1e-9."""
    _, law = cell_law(plan, population)
    return estimate(tally_of(plan, np.round(law * 2**50).astype(np.int64)))


def test_the_law_of_the_counts_is_the_devices() -> None:
    """200,000 records through `privatize` against the law used below: false alarm 1e-9; another law is caught."""
    people = 200_000
    shares = [share for share, _ in POPULATION]
    who = np.random.default_rng(2).choice(len(POPULATION), people, p=shares)
    records = {name: [POPULATION[i][1][name] for i in who] for name in FEATURES}
    reports = privatize(PLAN, records, KEY, range(people)).to_pandas()
    cells, law = cell_law(PLAN, POPULATION)
    observed = reports.groupby(["menu", "answer"]).size().reindex(list(map(tuple, cells)), fill_value=0).to_numpy()
    assert chisquare(observed, law * people).pvalue > 1e-9
    other = [(share, {**record, "income": record["income"] * 0.9}) for share, record in POPULATION]
    assert chisquare(observed, cell_law(PLAN, other)[1] * people).pvalue < 1e-9
    # the records were one sample of the population, so the estimates are also near the truth
    found = estimate(Tally(PLAN).add(privatize(PLAN, records, KEY, range(people))))
    assert abs(found.means["income"].raw - INCOME) < NORMAL_6 * found.means["income"].se


CORNERS = [
    {"smoker": smoker, "income": income, "region": region, "vote": "yes"}
    for smoker, income, region in itertools.product((0, 1), (0, 31_111, 200_000), ("north", "west"))
]


@pytest.mark.parametrize("record", [*CORNERS, None])
def test_every_estimate_is_unbiased_by_exact_expectation(record: dict[str, Any] | None) -> None:
    """No chance involved; a decoding of twice the size is wrong by more than a thousand times the tolerance."""
    population = POPULATION if record is None else [(1.0, record)]
    found = expected_estimates(PLAN, population)
    smokers, income = (sum(share * person[name] for share, person in population) for name in ("smoker", "income"))
    assert found.means["smoker"].raw == pytest.approx(smokers, abs=1e-7)
    assert found.means["income"].raw == pytest.approx(income, abs=1e-7 * 200_000)
    doubled = 2 * (2 * found.means["smoker"].raw - 1)
    assert doubled != pytest.approx(2 * smokers - 1, abs=1e-4)
    for name in ("region", "vote"):
        for value, share in found.frequencies[name].items():
            truth = sum(part for part, person in population if person[name] == value)
            assert share.raw == pytest.approx(truth, abs=1e-7)
            assert share.value == pytest.approx(truth, abs=1e-7)


@pytest.mark.parametrize("values", [40, 300])
def test_many_categories_are_unbiased_too(values: int) -> None:
    plan = make_plan(Policy(epsilon=1, features={"place": {"type": "categorical", "values": list(range(values))}}))
    population: Population = [(0.7, {"place": 3}), (0.3, {"place": values - 1})]
    found = expected_estimates(plan, population).frequencies["place"]
    assert found[3].raw == pytest.approx(0.7, abs=1e-6)
    assert found[values - 1].raw == pytest.approx(0.3, abs=1e-6)
    assert max(abs(share.raw) for value, share in found.items() if value not in (3, values - 1)) < 1e-6
    assert sum(share.raw for share in found.values()) == pytest.approx(1, abs=1e-9)


def predicted_errors(plan: Plan, mean: float) -> dict[str, float]:
    """n times the squared error of each mean on the [-1, 1] scale: 1 / J less what the known mean saves."""
    errors, told = {}, information(plan)
    for target in map(Single, plan.policy.features):
        ways = [(way, sum(plan.menus[menu].weight for menu, _ in way.places) / TOTAL) for way in Ways(plan).of(target)]
        saved = sum(share / way.reading.second_moment**2 for way, share in ways)
        errors[target.feature] = 1 / told[target] - mean**2 * saved / told[target] ** 2
    return errors


@pytest.mark.parametrize(("q", "mean"), [(0.01, 0.0), (0.01, 0.8), (0.12, -0.8), (0.45, 0.0), (1.0, 0.8)])
def test_the_error_is_what_the_plan_predicts(q: float, mean: float) -> None:
    """The paper's setting, 600 collections of 20,000 people: within 6.2 standard errors (false alarm 6e-10).

    A prediction that is wrong by 30%, or an estimate of twice the size, is caught.
    """
    plan, people = paper_plan(q), 20_000
    ones = (1 + mean) / 2
    everyone = [(ones, dict.fromkeys(plan.policy.features, 1)), (1 - ones, dict.fromkeys(plan.policy.features, 0))]
    found = trials(plan, everyone, people, 600)
    values = np.array([[2 * each.means[name].raw - 1 for name in plan.policy.features] for each in found])
    predicted = sum(predicted_errors(plan, mean).values())
    if mean == 0:
        assert predicted == pytest.approx(plan.certificate.objective)

    def distance(values: np.ndarray, predicted: float) -> float:
        """Standard errors between the measured total error and the prediction."""
        errors = people * ((values - mean) ** 2).sum(axis=1)
        return float((errors.mean() - predicted) / (errors.std(ddof=1) / math.sqrt(len(errors))))

    assert abs(distance(values, predicted)) < NORMAL_6
    assert distance(values, predicted / 1.3) > NORMAL_6
    assert distance(values, predicted * 1.3) < -NORMAL_6
    if mean:
        assert distance(2 * values, predicted) > NORMAL_6


def test_intervals_cover_as_often_as_they_promise() -> None:
    """8,000 collections of 20,000 people: coverage within 6.2 standard errors of 95%, that is 95% +- 1.5%.

    False alarm 6e-10 for each interval. Standard errors that are 10% too small cover 92.2% and are caught. At the end
    of the range, as for a frequency of 0, an interval that is cut there covers 97.5%.
    """
    repeats = 8_000
    found = trials(PLAN, POPULATION, 20_000, repeats)
    margin = NORMAL_6 * math.sqrt(0.95 * 0.05 / repeats)
    truths = {
        **{("means", name): truth for name, truth in (("smoker", SMOKERS), ("income", INCOME))},
        **{("region", value): truth for value, truth in REGIONS.items()},
        ("vote", "yes"): 0.7,
    }

    def estimates_of(name: tuple[str, str]) -> list[Estimate]:
        return [each.means[name[1]] if name[0] == "means" else each.frequencies[name[0]][name[1]] for each in found]

    for name, truth in truths.items():
        all_of_it = estimates_of(name)
        coverage = np.mean([each.low <= truth <= each.high for each in all_of_it])
        assert abs(coverage - (0.95 if truth > 0 else 0.975)) < margin
        narrow = np.mean([abs(each.raw - truth) <= 0.9 * 1.959964 * each.se for each in all_of_it])
        assert narrow < 0.95 - margin


def test_a_wider_level_gives_wider_intervals() -> None:
    tally = tally_of(PLAN, _few_counts()[1])
    widths = [estimate(tally, level).means["income"] for level in (0.5, 0.95)]
    raw, se = widths[0].raw, widths[0].se
    assert widths[0].high == pytest.approx(min(max(raw + 0.6744898 * se, 0), 200_000), abs=1e-3 * se)
    assert widths[1].low == pytest.approx(min(max(raw - 1.9599640 * se, 0), 200_000), abs=1e-3 * se)


def _few_counts(people: int = 30_000) -> tuple[np.ndarray, np.ndarray]:
    cells, law = cell_law(PLAN, POPULATION)
    return cells, np.random.default_rng(6).multinomial(people, law)


@pytest.mark.parametrize("level", [0, 1, 0.0, 1.0, -0.5, 95, math.nan, "0.95", None, True])
def test_other_levels_are_refused(level: Any) -> None:
    with pytest.raises(InputError, match=r"level: got .*; accepted: a number above 0 and below 1"):
        estimate(Tally(PLAN), level)


def test_estimates_are_in_the_features_own_units_and_ranges() -> None:
    for people in (3, 50, 30_000):
        found = estimate(tally_of(PLAN, _few_counts(people)[1]))
        assert found.people == people
        income, smoker = found.means["income"], found.means["smoker"]
        for each, high in ((income, 200_000), (smoker, 1)):
            assert 0 <= each.low <= each.value <= each.high <= high or math.isinf(each.se)
        for shares in found.frequencies.values():
            values = [share.value for share in shares.values()]
            if not np.isnan(values).any():
                assert min(values) >= 0
                assert sum(values) == pytest.approx(1)
                assert sum(share.raw for share in shares.values()) == pytest.approx(1)
    assert found.means["income"].value == pytest.approx(INCOME, abs=NORMAL_6 * found.means["income"].se)
    assert list(found.frequencies["region"]) == ["north", "south", "east", "west"]
    assert list(found.frequencies["vote"]) == ["no", "yes"]


def test_answers_are_those_who_were_asked() -> None:
    cells, counts = _few_counts()
    found = estimate(tally_of(PLAN, counts))
    for name, answers in [
        *((n, found.means[n].answers) for n in found.means),
        ("vote", found.frequencies["vote"]["yes"].answers),
    ]:
        asking = [
            number
            for number, menu in enumerate(PLAN.menus)
            if any(name in PLAN.questions[question].features for question in menu.questions)
        ]
        assert answers == counts[np.isin(cells[:, 0], asking)].sum()


@pytest.mark.parametrize("mechanism", ["survey", "cascade"])
@pytest.mark.parametrize("people", [0, 1])
def test_of_nobody_nothing_is_known(mechanism: str, people: int) -> None:
    plan = PLAN if mechanism == "survey" else CASCADE
    record = {name: [POPULATION[0][1][name]] * people for name in FEATURES}
    found = estimate(Tally(plan).add(privatize(plan, record)))
    unknown = {"value": None, "se": None, "raw": None, "low": 0.0}
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["people"] == people
    for each, high in [
        (document["means"]["smoker"], 1.0),
        (document["means"]["income"], 200_000.0),
        *((document["frequencies"]["region"][value], 1.0) for value in REGIONS),
        *((document["frequencies"]["vote"][value], 1.0) for value in ("no", "yes")),
    ]:
        assert each == {**unknown, "high": high, "answers": each["answers"]}
        assert each["answers"] <= people
    assert found.means["income"].se == math.inf
    assert math.isnan(found.means["income"].value)


def test_two_equal_answers_are_not_certainty() -> None:
    """With two answers that agree, the randomizer's own noise is still there: the whole range stays possible."""
    plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    for answer in (0, 1):
        found = estimate(Tally(plan).add({"menu": [0, 0], "answer": [answer, answer]})).means["smoker"]
        assert found.se > 0.5
        assert found.high - found.low > 0.9


@pytest.mark.parametrize("mechanism", ["survey", "cascade"])
def test_a_feature_that_may_not_be_asked_has_no_estimate(mechanism: str) -> None:
    plan = mixed_plan(mechanism, income={"delta": 0.0})
    assert plan.certificate.features["income"].certified == 0
    records = {name: [record[name] for _, record in POPULATION] * 500 for name in FEATURES}
    found = estimate(Tally(plan).add(privatize(plan, records)))
    income = found.means["income"]
    assert (income.low, income.high, income.se) == (0, 200_000, math.inf)
    assert found.to_dict()["means"]["income"]["value"] is None
    assert math.isfinite(found.means["smoker"].se)


def test_a_feature_of_one_value_is_known_and_two_of_them_disturb_nobody() -> None:
    one = {"type": "categorical", "values": ["only"]}
    plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}, "a": one, "b": one}, correlation=0.1))
    found = estimate(Tally(plan).add(privatize(plan, {"smoker": [1, 0, 1], "a": ["only"] * 3, "b": ["only"] * 3})))
    for name in ("a", "b"):
        only = found.frequencies[name]["only"]
        assert (only.value, only.se, only.low, only.high, only.answers) == (1, 0, 1, 1, 3)
    assert math.isfinite(found.means["smoker"].se)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(-100, 100)))
def test_on_simplex_is_the_nearest_point(values: np.ndarray) -> None:
    """The optimality conditions of the projection: one shift for the positive entries, and no less for the rest."""
    nearest = on_simplex(values)
    assert nearest.min() >= 0
    assert nearest.sum() == pytest.approx(1, abs=1e-9)
    shift = (values - nearest)[nearest > 0]
    assert np.ptp(shift) < 1e-9
    assert np.all(values[nearest == 0] <= shift.mean() + 1e-9)


def test_on_simplex_against_a_grid() -> None:
    grid = np.array([(a, b, 100 - a - b) for a in range(101) for b in range(101 - a)]) / 100
    for values in np.random.default_rng(9).normal(0.3, 0.6, (50, 3)):
        best = ((grid - values) ** 2).sum(axis=1).min()
        ours = ((on_simplex(values) - values) ** 2).sum()
        assert ours <= best + 1e-12


def test_frequencies_on_the_simplex_stay_as_they_are() -> None:
    shares = np.array([0.2, 0.0, 0.5, 0.3])
    np.testing.assert_allclose(on_simplex(shares), shares, atol=1e-15)


def test_a_cascade_is_unbiased_far_from_zero() -> None:
    """300,000 records: within 6.2 standard errors of the truth (false alarm 6e-10); twice the estimate is caught."""
    people = 300_000
    sizes = [round(share * people) for share, _ in POPULATION]
    records = {
        name: list(
            itertools.chain(*([record[name]] * size for size, (_, record) in zip(sizes, POPULATION, strict=True)))
        )
        for name in FEATURES
    }
    reports = privatize(CASCADE, records, KEY, range(people))
    found = estimate(Tally(CASCADE).add(reports))
    pairs = [
        (found.means["smoker"], SMOKERS, 0.5),
        (found.means["income"], INCOME, 100_000),
        *((found.frequencies["region"][value], truth, 0.5) for value, truth in REGIONS.items()),
        (found.frequencies["vote"]["yes"], 0.7, 0.5),
    ]
    for each, truth, _ in pairs:
        distance = (each.raw - truth) / each.se
        assert abs(distance) < NORMAL_6
        assert each.answers == people
    doubled = [abs(2 * (each.raw - middle) + middle - truth) / each.se for each, truth, middle in pairs]
    assert max(doubled) > NORMAL_6
    assert sum(share.value for share in found.frequencies["region"].values()) == pytest.approx(1)


def test_a_cascade_keeps_its_demands_and_its_reports_have_one_shape() -> None:
    CASCADE.verify()
    for name, claim in CASCADE.certificate.features.items():
        assert claim.certified <= CASCADE.policy.features[name].delta == claim.asked
    assert CASCADE.certificate.epsilon <= 3
    records = {name: [record[name] for _, record in POPULATION] for name in FEATURES}
    reports = privatize(CASCADE, records)
    assert reports.schema.equals(pa.schema([("estimate", pa.list_(pa.float64(), 7))]))
    assert reports.schema.metadata == {b"bcdp.plan": CASCADE.id.encode()}
    assert np.isfinite(np.array(reports["estimate"].to_pylist())).all()


def test_a_cascades_intervals_cover() -> None:
    """1,200 collections of 300 people: standard errors cover within 6.2 of their own of 95%, that is 95% +- 3.9%.

    False alarm 6e-10. Standard errors that are a third too small cover 81% and are caught. The noise is as wide as the
    range here; the intervals, which are moved into it, cover no less.
    """
    repeats, people = 1_200, 300
    shares = [share for share, _ in POPULATION]
    who = np.random.default_rng(3).choice(len(POPULATION), repeats * people, p=shares)
    records = {name: np.array([record[name] for _, record in POPULATION])[who] for name in FEATURES}
    reports = privatize(CASCADE, records, KEY, range(repeats * people)).combine_chunks()
    found = [estimate(Tally(CASCADE).add(reports.slice(k * people, people))) for k in range(repeats)]
    margin = NORMAL_6 * math.sqrt(0.95 * 0.05 / repeats)
    for truth, all_of_it in (
        (SMOKERS, [each.means["smoker"] for each in found]),
        (INCOME, [each.means["income"] for each in found]),
        (REGIONS["north"], [each.frequencies["region"]["north"] for each in found]),
    ):
        away = np.array([abs(each.raw - truth) / (1.959964 * each.se) for each in all_of_it])
        assert abs(np.mean(away <= 1) - 0.95) < margin
        assert np.mean([each.low <= truth <= each.high for each in all_of_it]) > 0.95 - margin
        narrow = np.mean(away <= 0.67)
        assert narrow < 0.95 - margin
