"""Experiments through their real code path: errors as predicted, promises kept, the same treatment for every curve."""

import csv
import math
import subprocess
import sys

import numpy as np
import pytest

from bcdp.compare import EXPERIMENTS, Curve, Method, curves, find, means, regression, run, write_csv
from bcdp.compare.means import Cascade, MeanSetting, SampleMean, expected_error
from bcdp.compare.regression import TwoCopies, excess_risk, population
from bcdp.compare.trials import run_trials, summarise
from bcdp.errors import InputError
from bcdp.mechanisms.cascade import certify, duchi_radius, least_squares, trust_region
from bcdp.mechanisms.survey import information
from bcdp.present.pictures import draw_experiment
from bcdp.statistics import Single

pytestmark = pytest.mark.slow

FALSE_ALARM = 1e-9
PAPER_CURVES = means.CURVES[:4]


@pytest.fixture(autouse=True)
def without_planning(monkeypatch):
    """The paper's curves only: planning a survey at every point takes seconds; a test below is about the survey."""
    monkeypatch.setattr(means, "CURVES", PAPER_CURVES)
    monkeypatch.setattr(means, "LIMITS", ())


def paper_setting(q, people=1_000):
    return MeanSetting(means.demands(2, 10), 2.0, q, people)


def errors_of(methods, trials, people=1_000, features=10, seed=5):
    """The unprojected errors of each trial and method."""
    scenario = means.MeanScenario(0.0, people, features, tuple(map(str, range(len(methods)))), tuple(methods))
    return np.array([scenario.trial((seed, trial))[1] for trial in range(trials)])


def nested_variances(low, high, people):
    """Each feature's variance, by hand: channels of 10 and of 8 features, with records of signs in ten features."""
    wide = duchi_radius(10, low, math.sqrt(10)) ** 2 / 10
    if low == high:
        return np.full(10, (wide - 1) / people)
    narrow = duchi_radius(8, high - low, math.sqrt(8)) ** 2 / 8
    share = narrow / (wide + narrow)  # of the wide channel, by inverse second moments
    both = share**2 * (wide - 1) + (1 - share) ** 2 * (narrow - 1)
    return np.array([wide - 1] * 2 + [both] * 8) / people


def consistent(errors, variances):
    """Whether the mean of the errors is that of sums of squares of normal numbers with these variances.

    Laurent and Massart's bounds for weighted chi-squared sums: false alarm at most 1e-9. Coordinates of points on a
    sphere, and so the errors of the means, have lighter tails than normal numbers.
    """
    x = math.log(2 / FALSE_ALARM)
    weights = variances / len(errors)
    spread = 2 * math.sqrt((weights**2).sum() * len(errors) * x)
    excess = errors.mean() - variances.sum()
    return -spread <= excess <= spread + 2 * weights.max() * x


@pytest.mark.parametrize("q", [0.01, 0.12, 1.0])
def test_simulated_errors_are_as_predicted(q):
    """False alarm 1e-9 for each; a budget 10% too high and a doubled output are noticed."""
    method = means.corrected(paper_setting(q))
    low, high = method.mechanism.budgets[0], method.mechanism.budgets[-1]
    variances = nested_variances(low, high, 1_000)
    assert method.predicted == pytest.approx(variances.sum(), rel=1e-9)
    too_high = Method(Cascade(tuple(1.1 * c for c in method.mechanism.budgets)))
    doubled = Method(method.mechanism, factor=2.0)
    right, spent_more, twice = errors_of([method, too_high, doubled], 2_000).T
    assert consistent(right, variances)
    assert not consistent(spent_more, variances)
    assert not consistent(twice, variances)


def test_the_published_curve_is_twice_the_corrected_one_report_by_report():
    setting = paper_setting(0.23)
    scenario = means.scenario(0.23, setting)
    names = list(scenario.curves)
    published, corrected = (scenario.methods[names.index(name)] for name in ("paper, as published", "paper, corrected"))
    assert published.mechanism == corrected.mechanism
    truth = SampleMean()
    distinct = [truth, *(method.mechanism for method in scenario.methods)]
    found = curves.simulate(distinct, lambda n, rng: means.signs(n, 10, rng), setting.people, (8,))
    error = ((2 * found[corrected.mechanism] - found[truth]) ** 2).sum()
    assert scenario.trial((8,))[1, names.index("paper, as published")] == error
    # Four times the variance, and the squared bias: the mean of the sample, 1 / people for each feature.
    assert published.predicted == pytest.approx(4 * corrected.predicted + 10 / setting.people, rel=1e-12)


def test_every_curve_gets_the_same_projection():
    """Estimates beyond the box cost the clipped distance in the first panel and the whole one in the second."""

    class Constant:
        def tally(self, records, rng):
            return np.zeros(10)

        def estimate(self, tally, people):
            return np.array([3.0, -3.0, *[0.5] * 8])

    scenario = means.MeanScenario(0.0, 100, 10, ("a", "b"), (Method(Constant()), Method(Constant(), factor=2.0)))
    truth = curves.simulate([SampleMean()], lambda n, rng: means.signs(n, 10, rng), 100, (1,))[SampleMean()]
    projected, plain = scenario.trial((1,))
    outside = np.array([3.0, -3.0, *[0.5] * 8])
    np.testing.assert_allclose(plain, [((k * outside - truth) ** 2).sum() for k in (1, 2)])
    inside = [np.array([1.0, -1.0, *[k / 2] * 8]) for k in (1, 2)]
    np.testing.assert_allclose(projected, [((point - truth) ** 2).sum() for point in inside])


@pytest.mark.parametrize("name", ["mean", "dimension", "fraction"])
def test_every_mechanism_keeps_every_demand(name):
    scenarios = EXPERIMENTS[name].scenarios(1_000)
    for scenario in scenarios:
        q = scenario.x if name == "mean" else means.CORRELATION
        sensitive = {"mean": 2, "dimension": scenario.features // 5, "fraction": round(10 * scenario.x)}[name]
        demands = np.array(means.demands(sensitive, scenario.features))
        for method in scenario.methods:  # type: ignore[attr-defined]
            kept = certify(method.mechanism.budgets, q)
            assert kept.epsilon <= means.EPSILON
            assert (kept.delta <= demands).all()


def test_the_best_level_never_loses_to_the_baseline_and_the_heuristic_does():
    for scenario in EXPERIMENTS["mean"].scenarios(10_000):
        predicted = dict(zip(scenario.curves, scenario.predicted()[1], strict=True))
        assert predicted["paper, best level"] <= predicted["min-delta LDP"] * (1 + 1e-9)
        if 0.1 < scenario.x < 1:
            assert predicted["paper, corrected"] > predicted["min-delta LDP"]


def test_batches_and_later_mechanisms_change_nothing(monkeypatch):
    """Small batches draw the same records for every mechanism; one more mechanism leaves the others' draws alone."""
    monkeypatch.setattr(curves, "BATCH", 30)

    def draw(n, rng):
        return means.signs(n, 3, rng)

    alone = curves.simulate([SampleMean(), Cascade((1.0,) * 3)], draw, 100, (4,))
    beside = curves.simulate([SampleMean(), Cascade((1.0,) * 3), Cascade((2.0,) * 3)], draw, 100, (4,))
    for mechanism, estimate in alone.items():
        np.testing.assert_array_equal(beside[mechanism], estimate)
    assert np.allclose(alone[SampleMean()] * 100 % 2, 0)  # a hundred signs: an even sum


def test_expected_error_of_one_feature_by_enumeration():
    """One feature: the channel's output is -B or B, so the variance is a sum of two terms."""
    radius = duchi_radius(1, 0.7, 1.0)
    likely = (1 + 1 / radius) / 2  # the mean is the record's value 1
    by_hand = likely * (radius - 1) ** 2 + (1 - likely) * (-radius - 1) ** 2
    assert expected_error([0.7], 50) == pytest.approx(by_hand / 50, rel=1e-9)


def test_population_by_brute_force():
    true = population()
    assert true.probabilities.sum() == pytest.approx(1, abs=1e-12)
    chance = dict(zip(map(tuple, true.records.tolist()), true.probabilities.tolist(), strict=True))
    for feature in range(regression.FEATURES):
        above = sum(p for record, p in chance.items() if record[feature] == 1)
        distance = 0.0
        for record, p in chance.items():
            if record[feature] == 1:
                other = (*record[:feature], -1.0, *record[feature + 1 :])
                distance += abs(p / above - chance[other] / (1 - above)) / 2
        assert true.q[feature] == pytest.approx(distance, abs=1e-12)
    assert true.q[0] == pytest.approx(0.191, abs=5e-4)
    mixed = 0.95 * np.eye(9) + 0.05
    np.testing.assert_allclose(true.second_moments[:9, :9], mixed, atol=1e-12)
    np.testing.assert_allclose(true.second_moments[9, :9], mixed @ regression.THETA, atol=1e-12)


def test_excess_risk_is_the_difference_of_two_risks():
    true, theta = population(), np.linspace(-0.5, 0.4, 9)

    def risk(coefficients):
        return true.probabilities @ (true.records[:, :9] @ coefficients - true.records[:, 9]) ** 2 / 2

    assert excess_risk(theta) == pytest.approx(risk(theta) - risk(regression.THETA), rel=1e-10)
    assert excess_risk(regression.THETA) == 0
    rng = np.random.default_rng(2)
    assert all(risk(regression.THETA + 0.01 * rng.standard_normal(9)) > risk(regression.THETA) for _ in range(20))


def test_records_are_drawn_from_the_population():
    """Hoeffding's inequality for each second moment: false alarm at most 1e-9 together; another theta is noticed."""
    people = 200_000
    records = population().draw(people, np.random.default_rng(6))
    width = math.sqrt(2 * math.log(2 * 100 / FALSE_ALARM) / people)
    excess = np.abs(records.T @ records / people - population().second_moments)
    assert excess.max() <= width
    flipped = records * np.array([*[1.0] * 9, -1.0])
    assert np.abs(flipped.T @ flipped / people - population().second_moments).max() > width


def test_regression_keeps_every_demand_and_needs_a_crowd():
    scenarios = regression.over_people(2_000)
    assert [scenario.people for scenario in scenarios] == [1_000, 2_000]
    for method in scenarios[0].methods[:3]:
        kept = certify(method.mechanism.budgets, population().q)
        assert kept.epsilon <= regression.EPSILON
        assert (kept.delta <= np.array(regression.DELTA)).all()
    rows = {(row.panel, row.curve): row for row in run("regression", trials=2, people=1_000)}
    assert ("second moments", "predicting 0") not in rows
    half = regression.THETA @ population().second_moments[:9, :9] @ regression.THETA / 2
    assert rows["excess risk", "predicting 0"].median == pytest.approx(half, rel=1e-12)
    assert rows["second moments", "min-delta LDP"].median > 100 > rows["second moments", "survey"].median
    scenarios[0].methods[3].mechanism.plan.verify()


def test_the_survey_errs_as_predicted_and_keeps_every_demand():
    """False alarm 1e-9 by the chi-squared bounds above; half of the people, so twice the error, is noticed."""
    setting = paper_setting(0.12, people=10_000)
    scenario = means.MeanScenario(0.12, 10_000, 10, ("survey",), (means.survey(setting),))
    plan = scenario.methods[0].mechanism.plan
    plan.verify()
    assert [plan.policy.features[f"x{i}"].delta for i in range(10)] == list(setting.delta)
    told = information(plan)
    variances = np.array([1 / told[Single(f"x{i}")] - 1 for i in range(10)]) / 10_000
    assert scenario.methods[0].predicted == pytest.approx(variances.sum(), rel=1e-9)
    errors = np.array([scenario.trial((9, trial))[1, 0] for trial in range(300)])
    assert consistent(errors, variances)
    assert not consistent(errors, 2 * variances)


def test_the_lower_bound_is_drawn_without_a_simulation(tmp_path, monkeypatch):
    """It stands below the survey, has no row where nothing is known, and no median."""
    setting = paper_setting(0.12)
    limits = (Curve("proved lower bound", means.bound),)
    scenario = means.scenario(0.12, setting, limits)
    rows = summarise("mean", [scenario], [np.array([scenario.trial((1, trial)) for trial in range(3)])])
    (row,) = [row for row in rows if row.curve == "proved lower bound"]
    assert row.panel == means.UNPROJECTED
    assert math.isnan(row.median)
    assert 0.98 * means.survey(setting).predicted < row.predicted <= means.survey(setting).predicted * (1 + 1e-9)
    draw_experiment(find("mean"), rows, tmp_path / "picture.png")
    write_csv(rows, tmp_path / "table.csv")
    assert "proved lower bound,0.12,,,,,0." in (tmp_path / "table.csv").read_text()


def test_two_copies_pool_their_batches(monkeypatch):
    """The estimate is the average of the batches' second moments, weighed by their people."""
    monkeypatch.setattr(curves, "BATCH", 70)
    mechanism = TwoCopies((1.0,) * 10)
    found = curves.simulate([mechanism], population().draw, 100, (3,))[mechanism]
    source, stream = (np.random.default_rng([3, k]) for k in (0, 1))
    batches = [(n, least_squares(population().draw(n, source), (1.0,) * 10, stream)) for n in (70, 30)]
    pooled = sum(n * fit.second_moments for n, fit in batches) / 100
    np.testing.assert_allclose(found.second_moments, pooled, rtol=1e-12)
    np.testing.assert_array_equal(
        found.theta, trust_region(found.second_moments[:9, :9], found.second_moments[:9, 9], 1.0)
    )


def test_two_copies_estimate_the_populations_second_moments():
    """Bernstein's inequality for each entry: false alarm at most 1e-9 together; copies twice too long are noticed."""
    people, mechanism = 60_000, TwoCopies((40.0,) * 10)
    found = curves.simulate([mechanism], population().draw, people, (3,))[mechanism].second_moments
    largest = duchi_radius(10, 20.0, math.sqrt(10)) ** 2  # of a product; its second moment is (largest / 10)^2
    x = math.log(2 * 100 / FALSE_ALARM)
    width = largest / 10 * math.sqrt(2 * x / people) + 2 * largest * x / (3 * people)
    assert np.abs(found - population().second_moments).max() <= width
    assert np.abs(4 * found - population().second_moments).max() > width


def test_results_do_not_depend_on_the_number_of_workers():
    scenarios = [means.scenario(q, paper_setting(q, 50)) for q in (0.05, 0.5)]
    shares = []
    one, two = (run_trials(scenarios, 5, 7, workers, shares.append) for workers in (1, 2))
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)
    assert sum(shares) == pytest.approx(2)
    assert not np.array_equal(one[0], run_trials(scenarios, 5, 8, 1, shares.append)[0])


def test_rows_hold_medians_quartiles_and_means():
    scenario = means.scenario(0.5, paper_setting(0.5))
    found = np.zeros((5, 2, 4))
    found[:, 1, 2] = [5.0, 1.0, 2.0, 3.0, 9.0]
    row = next(
        row
        for row in summarise("mean", [scenario], [found])
        if (row.panel, row.curve) == (means.UNPROJECTED, "paper, best level")
    )
    assert (row.q25, row.median, row.q75, row.mean, row.trials, row.n) == (2.0, 3.0, 5.0, 4.0, 5, 1_000)
    assert row.predicted == scenario.methods[2].predicted


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_table_and_picture(name, tmp_path):
    rows = run(name, trials=2, people=40)
    write_csv(rows, tmp_path / "table.csv")
    draw_experiment(find(name), rows, tmp_path / "picture.png")
    with (tmp_path / "table.csv").open() as file:
        read = list(csv.DictReader(file))
    assert ",".join(read[0]) == "experiment,panel,curve,x,median,q25,q75,mean,predicted,trials,n"
    assert len(read) == len(rows)
    assert all(math.isfinite(float(row["median"])) and row["trials"] == "2" for row in read)
    assert all(row["predicted"] == "" for row in read if row["panel"] != means.UNPROJECTED)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_a_curve_is_added_by_its_name_and_function(monkeypatch, tmp_path):
    extra = Curve("no privacy", lambda setting: Method(SampleMean(), predicted=0.0))
    monkeypatch.setattr(means, "CURVES", (*means.CURVES, extra))
    rows = run("fraction", trials=1, people=40)
    assert {row.median for row in rows if row.curve == "no privacy"} == {0.0}
    draw_experiment(find("fraction"), [row for row in rows if row.median > 0], tmp_path / "picture.png")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"name": "median"}, "NAME: got 'median'; accepted: mean, dimension, fraction, regression"),
        ({"name": "mean", "trials": 0}, "trials: got 0; accepted: a whole number of at least 1"),
        ({"name": "mean", "people": -1}, "n: got -1"),
        ({"name": "mean", "seed": -1}, "seed: got -1; accepted: a whole number of at least 0"),
        ({"name": "mean", "trials": True}, "trials: got True"),
        ({"name": "mean", "workers": 0}, "workers: got 0"),
    ],
)
def test_what_is_refused(arguments, named):
    with pytest.raises(InputError) as caught:
        run(**arguments)
    assert named in str(caught.value)


def test_only_the_parent_is_interrupted():
    """In a fresh process, because starting the first pool is what could lose the mask."""
    code = (
        "import signal\n"
        "from bcdp.compare.trials import _pool\n"
        "with _pool(1) as pool:\n"
        "    blocked = [pool.apply(signal.pthread_sigmask, (signal.SIG_BLOCK, ())),"
        " signal.pthread_sigmask(signal.SIG_BLOCK, ())]\n"
        "print(*(signal.SIGINT in signals for signals in blocked))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("True False\n", "")
