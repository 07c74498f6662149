"""Jointly shaped tables and the bounds on any mechanism: certified, attained, never worse, close to the limit."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from bcdp import Policy, make_plan
from bcdp.correlation import correlation_of
from bcdp.errors import InputError
from bcdp.mechanisms.survey import information, lower_bound
from bcdp.mechanisms.survey.design import linear_programs as programs
from bcdp.mechanisms.survey.design.column_generation import design
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.mechanisms.survey.design.joint.subset_families import SubsetFamily
from bcdp.mechanisms.survey.design.joint.tables import best_shape, shaped_table
from bcdp.mechanisms.survey.design.linear_programs import Demand, Solver
from bcdp.mechanisms.survey.design.lower_bounds import closed_form
from bcdp.mechanisms.survey.design.lp_solvers import scipy_solver
from bcdp.mechanisms.survey.design.planner import Setting
from bcdp.notions import bcdp_from, levels
from bcdp.plan import certify, joint_delta
from bcdp.randomizers import categorical_information
from support.helpers import full_kernel, paper_plan, paper_policy
from support.sweeps import some

pytestmark = pytest.mark.slow

EVEN = ((0.1, 0.1, 0.8),)


def conditionals(priors, features):
    """For each prior and feature, the laws of the other features given its two values: shape (features, n, 2, rest)."""
    cube = priors.reshape(-1, *(2,) * features)
    laws = []
    for i in range(features):
        joint = np.moveaxis(cube, i + 1, 1).reshape(len(priors), 2, -1)
        laws.append(joint / joint.sum(axis=2, keepdims=True))
    return laws


def priors_within(q, features, count, rng):
    """Random laws whose every feature is within q of the others: random ones pulled towards independence."""
    corners = rng.dirichlet(np.full(2**features, 0.2), size=count) + 1e-12
    corners /= corners.sum(axis=1, keepdims=True)
    sides = rng.uniform(0.05, 0.95, size=(count, features))
    independent = np.ones((count, 1))
    for i in range(features):
        side = np.stack([sides[:, i], 1 - sides[:, i]], axis=1)
        independent = (independent[:, :, None] * side[:, None]).reshape(count, -1)

    def distances(share):
        mixed = share[:, None] * corners + (1 - share[:, None]) * independent
        laws = conditionals(mixed, features)
        return mixed, np.max([np.abs(law[:, 0] - law[:, 1]).sum(axis=1) / 2 for law in laws], axis=0)

    low, high = np.zeros(count), np.ones(count)
    for _ in range(12):  # the lower end always fits
        middle = (low + high) / 2
        fits = distances(middle)[1] <= q
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    mixed, distance = distances(low)
    assert np.all(distance <= q + 1e-9)
    return mixed


def exact_delta(priors, kernel, features):
    """The exact BCDP level of every feature under every prior, shape (n, features)."""
    flat = kernel.reshape(2**features, -1)
    columns = []
    for i in range(features):
        joint = np.moveaxis(priors.reshape(-1, *(2,) * features), i + 1, 1).reshape(len(priors), 2, -1)
        order = np.moveaxis(np.arange(2**features).reshape((2,) * features), i, 0).reshape(2, -1)
        laws = [joint[:, a] / joint[:, a].sum(axis=1, keepdims=True) @ flat[order[a]] for a in range(2)]
        columns.append(np.abs(np.log(laws[0] / laws[1])).max(axis=1))
    return np.stack(columns, axis=1)


def random_policy(rng, most=4):
    features = int(rng.integers(2, most + 1))
    classes = rng.choice([0.1, 0.2, 0.3, 0.5, 0.8, 1.2], size=2)
    deltas = [float(rng.choice([*classes, 2.0])) for _ in range(features)]
    return Policy(
        epsilon=2.0,
        features={f"x{i}": {"type": "binary", "delta": d} for i, d in enumerate(deltas)},
        correlation=float(rng.choice([0.01, 0.05, 0.12, 0.3, 0.6])),
    )


def signs(features):
    """All sign vectors, one per row, in the order of a table's inputs."""
    return np.array(list(itertools.product((-1.0, 1.0), repeat=features)))


def test_a_shape_decodes_with_its_squared_means():
    demands = (Demand(0.2, 0.05, False), Demand(0.2, 0.05, False), Demand(2.0, 0.0, False))
    shape = best_shape(np.array([40.0, 40.0, 1.0]), demands, 2.0, EVEN)
    table = shaped_table(shape)
    for place in range(3):
        target = signs(3)[:, place]
        assert 1 / table.second_moments(target).mean() == pytest.approx(shape.means[place] ** 2, rel=1e-6)


def test_a_shape_keeps_its_demands_and_beats_independent_answers():
    q = 0.05
    demands = (Demand(0.2, q, False), Demand(0.2, q, False), Demand(2.0, 0.0, False))
    prices = np.array([40.0, 40.0, 1.0])
    shape = best_shape(prices, demands, 2.0, EVEN)
    table = shaped_table(shape)
    assert table.level <= 2.0
    for place, demand in enumerate(demands):
        assert joint_delta(table, (2, 2, 2), place, Fraction(1), demand.q, demand.shared) <= demand.delta
    # independent answers: both sensitive features at a common budget, the rest of any total to the third
    best = 0.0
    for total, budget in itertools.product(np.linspace(0.01, 2, 200), np.linspace(0.001, 0.2, 200)):
        if 2 * budget <= total and bcdp_from(budget, total, q) <= 0.2:
            told = np.tanh(np.array([budget, budget, total - 2 * budget]) / 2) ** 2
            best = max(best, float(prices @ told))
    assert prices @ np.array(shape.means) ** 2 > 1.05 * best


def test_numbers_ask_for_more_than_bits():
    """Two numbers may share a level, so their certificate is stricter, and the shape for them tells less."""
    told = {}
    for shared in (False, True):
        demands = (Demand(0.2, 0.12, shared), Demand(0.2, 0.12, shared), Demand(2.0, 0.0, False))
        shape = best_shape(np.array([9.0, 9.0, 1.0]), demands, 2.0, EVEN)
        assert joint_delta(shaped_table(shape), (2, 2, 2), 0, Fraction(1), 0.12, shared) <= 0.2
        told[shared] = float(np.array([9.0, 9.0, 1.0]) @ np.array(shape.means) ** 2)
    assert told[True] < told[False]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (SubsetFamily(Kind("binary")), SubsetFamily(Kind("categorical", 3))),
        (SubsetFamily(Kind("categorical", 4), 2), SubsetFamily(Kind("categorical", 5), 2)),
    ],
)
def test_a_shape_over_categories_keeps_its_demands_and_tells_what_it_states(first, second):
    """The integer table's own decoding, and every pair of values, levels and outputs enumerated from (**)."""
    q, total, owed = 0.05, 2.0, (0.4, 2.0)
    demands = tuple(Demand(delta, q, False, place) for delta, place in zip(owed, (first, second), strict=True))
    shape = best_shape(np.array([5.0, 1.0]), demands, total, ((0.1, 0.5),))
    table, sizes = shaped_table(shape), tuple(place.kind.values for place in (first, second))
    f = table.weights.reshape(*sizes, -1) / 2**32
    assert np.all(table.weights.sum(axis=1) == 2**32)
    assert np.log(f.max(axis=(0, 1)) / f.min(axis=(0, 1))).max() <= total
    for place, (own, delta) in enumerate(zip((first, second), owed, strict=True)):
        side = np.moveaxis(f, place, 0)
        high = (1 - q) * side + q * side.max(axis=1, keepdims=True)
        low = (1 - q) * side + q * side.min(axis=1, keepdims=True)
        assert all(np.log(high[a] / low[b]).max() <= delta for a, b in itertools.permutations(range(sizes[place]), 2))
        worth = np.eye(sizes[place]) if own.kind.name == "categorical" else np.array([[-1.0], [1.0]])
        spread = np.broadcast_to(
            worth.reshape((-1, 1, worth.shape[1]) if place == 0 else (1, *worth.shape)), (*sizes, worth.shape[1])
        ).reshape(len(table.weights), -1)
        moments = np.array([table.second_moments(column) for column in spread.T]).sum(axis=0)
        assert np.ptp(moments) < 1e-6 * moments.mean()  # values are treated alike
        assert 1 / moments.mean() == pytest.approx(shape.information[place], rel=1e-6)
    assert shape.information.min() > 0.005  # it asks about both


STATED = {
    0.01: 374,
    0.05: 568,
    0.12: 998,
    0.23: 1767,
    0.34: 2656,
    0.45: 3671,
    1.0: 10067,
}  # theory.md, section 5


@pytest.mark.parametrize("q", [1e-9, 0.005, 0.03, 0.08, 0.17, 0.42, 0.7, *STATED])
def test_the_papers_setting_reaches_the_stated_error_and_the_limit(q):
    """From independence to no assumption: within 1% of the limit of all mechanisms, and what the theory states."""
    policy, plan = paper_policy(q), paper_plan(q)
    bound = lower_bound(policy, correlation_of(policy), plan)
    assert bound.closed_form <= bound.numerical
    assert 1 - 1e-9 <= plan.certificate.objective / bound.numerical <= 1.01
    assert plan.certificate.objective <= 1.001 * STATED.get(q, math.inf)


def test_never_worse_than_without_shapes():
    """10 random policies, d from 3 to 12, two to three classes, q from 0 to 1."""
    rng = np.random.default_rng(10)
    distances = []
    for _ in some(10, 2):
        classes = np.sort(rng.uniform(0.05, 1.5, size=rng.integers(1, 3)))
        deltas = [float(rng.choice([*classes, 2.0])) for _ in range(rng.integers(3, 13))]
        policy = Policy(
            epsilon=2.0,
            features={f"x{i}": {"type": "binary", "delta": d} for i, d in enumerate(deltas)},
            correlation=float(rng.uniform(0, 1) ** 2),
        )
        correlation = correlation_of(policy)
        setting = Setting.of(policy, correlation)
        plain = design(setting.classes, setting.total)
        plan = make_plan(policy)
        assert plan.certificate.objective <= plain.objective * 1.0005
        distances.append(plan.certificate.objective / lower_bound(policy, correlation, plan).numerical)
    assert min(distances) >= 1 - 1e-9
    assert np.median(distances) <= 1.02


def binaries(deltas, q):
    features = {f"x{i}": {"type": "binary", "delta": float(delta)} for i, delta in enumerate(deltas)}
    return Policy(epsilon=2.0, features=features, correlation=q)


@pytest.mark.parametrize(
    ("deltas", "q", "most"),
    [
        ((0.15, 0.2, 0.25, 0.3, 0.35, 0.4), 0.02, 607.2),
        ((0.2, 0.3, 0.4, 0.5, 0.6), 0.03, 294.8),
        ((0.1, 0.15, 0.2, 0.3, 0.5, 1, 2), 0.02, 1134.6),
    ],
)
def test_features_of_distinct_demands_are_asked_together(deltas, q, most):
    """Groups of all six: what shapes over at most four of them miss by up to an eighth; the bound looks at them too."""
    policy = binaries(deltas, q)
    plan = make_plan(policy)
    bound = lower_bound(policy, correlation_of(policy), plan)
    assert bound.numerical <= plan.certificate.objective <= min(most, 1.001 * bound.numerical)
    assert plan.certificate.optimality_gap < 1  # of plans without shapes


def test_joint_questions_ask_the_features_they_were_shaped_for():
    """Next to a scale that is asked for its mean, a table of other features is planned as without it."""
    pair = {"smoker": {"type": "binary", "delta": 0.5}, "region": {"type": "categorical", "values": ["n", "e", "s"]}}
    scale = {"happy": {"type": "ordinal", "values": ["bad", "fair", "good"]}}
    stated = {"epsilon": 4, "correlation": {"odds": 3, "q": 0.2}}
    alone = Policy(**stated, features=pair, tasks=[{"table": ["smoker", "region"]}])
    tasks = [{"table": ["smoker", "region"]}, {"mean": ["happy"], "weight": 1e-6}]
    plans = [make_plan(alone), make_plan(Policy(**stated, features=pair | scale, tasks=tasks))]
    table = next(target for target, _ in alone.tasks[0].targets(alone) if len(target.features) == 2)
    assert table.features == ("smoker", "region")
    for classes in (Setting.of(plan.policy, plan.correlation_model).classes for plan in plans):
        kinds = [c.is_feature for c in classes]
        assert kinds == sorted(kinds, reverse=True)  # numbers of features are numbers of classes
    first, second = (information(plan)[table] for plan in plans)
    assert second == pytest.approx(first, rel=0.02)


def test_the_bound_is_silent_where_it_cannot_look_at_every_group():
    """Nine distinct demands make 84 groups of six."""
    policy = binaries(np.linspace(0.2, 1, 9), 0.3)
    bound = lower_bound(policy, correlation_of(policy), make_plan(policy))
    assert bound.numerical is None
    assert bound.closed_form > 0


def categories(sizes, deltas, q, epsilon):
    kinds = [{"type": "categorical", "values": list(range(size))} if size > 2 else {"type": "binary"} for size in sizes]
    features = {f"x{i}": {**kind, "delta": delta} for i, (kind, delta) in enumerate(zip(kinds, deltas, strict=True))}
    return Policy(epsilon=epsilon, features=features, correlation=q)


def asked_one_by_one(sizes, deltas, q, epsilon):
    """n times the error if each person is asked one feature, by (*) and the best table for that feature alone."""
    told = []
    for i, size in enumerate(sizes):
        others = [max(math.log(1 + math.expm1(d) / q), d) for j, d in enumerate(deltas) if j != i]
        budget = min(epsilon, deltas[i], *others)
        told.append(categorical_information(size, budget) if size > 2 else math.tanh(budget / 2) ** 2)
    return sum(1 / math.sqrt(each) for each in told) ** 2


@pytest.mark.parametrize(
    ("sizes", "deltas", "q", "epsilon", "gain"),
    [
        ((2, 3, 3), (0.5, 2, 2), 0.1, 2, 1.15),
        ((2, 2, 4), (0.3, 3, 3), 0.02, 3, 1.10),
        ((3, 2), (0.3, 4), 0.02, 4, 1.10),
    ],
)
def test_categories_are_shaped_too(sizes, deltas, q, epsilon, gain):
    """Less error than one question for each person; (**) enumerated over the whole report, whose menus are outputs."""
    plan = make_plan(categories(sizes, deltas, q, epsilon))
    assert plan.certificate.objective * gain <= asked_one_by_one(sizes, deltas, q, epsilon)
    kernel = full_kernel(plan).reshape(*sizes, -1)
    for i, delta in enumerate(deltas):
        side = np.moveaxis(kernel, i, 0).reshape(sizes[i], -1, kernel.shape[-1])
        high = (1 - q) * side + q * side.max(axis=1, keepdims=True)
        low = (1 - q) * side + q * side.min(axis=1, keepdims=True)
        pairs = itertools.permutations(range(sizes[i]), 2)
        assert max(float(np.log(high[a] / low[b]).max()) for a, b in pairs) <= delta


def test_no_violation_under_ten_thousand_priors_for_fifty_plans():
    rng = np.random.default_rng(11)
    shaped = 0
    for _ in (tried := some(50, 3)):
        policy = random_policy(rng)
        plan = make_plan(policy)
        shaped += any(len(question.features) > 1 for question in plan.questions)
        features = len(policy.features)
        priors = priors_within(correlation_of(policy).q("x0", ["x1"]), features, 10_000, rng)
        exact = exact_delta(priors, full_kernel(plan), features).max(axis=0)
        certified = [plan.certificate.features[f"x{i}"].certified for i in range(features)]
        assert np.all(exact <= np.array(certified) + 1e-9)
    assert shaped >= len(tried) / 5  # the plans really use joint tables


def test_the_same_check_catches_a_plan_made_for_less_correlation():
    """Power: plans made for a quarter of the true correlation are exceeded by priors within the true one."""
    rng = np.random.default_rng(12)
    caught = 0
    for _ in range(10):
        policy = random_policy(rng)
        q = correlation_of(policy).q("x0", ["x1"])
        bold = make_plan(Policy(**{**policy.to_dict(), "correlation": q / 4}))
        features = len(policy.features)
        exact = exact_delta(priors_within(q, features, 10_000, rng), full_kernel(bold), features).max(axis=0)
        certified = [bold.certificate.features[f"x{i}"].certified for i in range(features)]
        caught += bool(np.any(exact > np.array(certified) + 1e-6))
    assert caught >= 3


def test_the_vectorised_check_is_the_exact_level():
    rng = np.random.default_rng(13)
    plan = make_plan(random_policy(rng, most=3))
    features = len(plan.policy.features)
    kernel = full_kernel(plan)
    for prior in priors_within(0.3, features, 20, rng):
        expected = levels(prior.reshape((2,) * features), kernel).bcdp
        np.testing.assert_allclose(exact_delta(prior[None], kernel, features)[0], expected, atol=1e-9)


def test_each_certificate_is_attained():
    """The worst prior of section 4 for each feature of a shaped plan: common mass at one point, the rest at the end."""
    plan = make_plan(paper_policy(0.05, features=3))
    kernel = full_kernel(plan).reshape(8, -1)
    claims = certify(plan)
    for i, (name, claimed) in enumerate(claims.delta.items()):
        q = plan.correlation_model.q(name, ["other"])
        own = np.moveaxis(np.arange(8).reshape(2, 2, 2), i, 0).reshape(2, -1)
        worst = 0.0
        for y, a in itertools.product(range(kernel.shape[1]), range(2)):
            f = kernel[own[:, :], y]
            for z in range(4):
                high = (1 - q) * f[a, z] + q * f[a].max()
                low = (1 - q) * f[1 - a, z] + q * f[1 - a].min()
                worst = max(worst, math.log(high / low))
        assert worst == pytest.approx(claimed, abs=1e-6)


def test_closed_form_bound_is_water_filling():
    """Equal features: the trace is shared equally; a cap that binds leaves the rest to the others."""
    policy = Policy(epsilon=2.0, features={f"x{i}": {"type": "binary"} for i in range(10)})
    equal = closed_form(policy, dict.fromkeys(policy.features, 1.0))
    assert equal == pytest.approx(100 / math.sinh(1) ** 2)
    tight = Policy(epsilon=2.0, features={"a": {"type": "binary", "delta": 0.2}, "b": {"type": "binary"}})
    caps = [math.tanh(0.1) ** 2, math.tanh(1) ** 2]
    assert closed_form(tight, {"a": 1.0, "b": 1.0}) == pytest.approx(1 / caps[0] + 1 / caps[1])


def test_closed_form_holds_for_random_answers():
    """Random answers within LDP 2 never tell more than the trace bound allows, and one within LDP 4 does."""
    rng = np.random.default_rng(14)
    corners = signs(4)
    for _ in range(2000):
        law = np.exp(rng.choice([0.0, 2.0], size=16) if rng.random() < 0.5 else rng.uniform(0, 2.0, size=16))
        means = law / law.mean() @ corners / 16
        assert (means**2).sum() <= math.sinh(1) ** 2
    law = np.where(corners.sum(axis=1) == 4, math.exp(4.0), 1.0)
    means = law / law.mean() @ corners / 16
    assert (means**2).sum() > math.sinh(1) ** 2


def test_bound_is_for_binary_features():
    policy = Policy(epsilon=2.0, features={"age": {"type": "numeric", "bounds": [0, 1]}})
    with pytest.raises(InputError, match=r"features\.age\.type: got 'numeric'; accepted: binary features only"):
        lower_bound(policy, correlation_of(policy), make_plan(policy))


def test_information_predicts_the_objective():
    plan = paper_plan(0.05)
    assert sum(1 / told for told in information(plan).values()) == pytest.approx(plan.certificate.objective)


@pytest.mark.parametrize("odds", [2.0, math.inf])
@pytest.mark.parametrize("place", [SubsetFamily(Kind("binary")), SubsetFamily(Kind("categorical", 5), 2)])
def test_programs_that_begin_where_the_last_one_ended_find_the_same_laws(odds, place, monkeypatch):
    pytest.importorskip("highspy")
    demands = (Demand(0.2, 0.1, False, odds=odds), Demand(0.5, 0.1, False, place, odds=odds), Demand(2.0, 0.1, False))
    warm = Solver()
    monkeypatch.setattr(programs, "installed_solver", lambda: scipy_solver.prepare)
    cold = Solver()
    rng = np.random.default_rng(1)
    for gains in rng.normal(size=(30, 8)):
        law = warm.law(warm.program(demands, 2.0), gains)
        assert np.allclose(law, cold.law(cold.program(demands, 2.0), gains), rtol=0, atol=1e-9)
        assert gains @ law > gains @ warm.law(warm.program(demands, 2.0), -gains) + 1e-3  # so that any law would not do


def test_a_plan_has_the_same_menus_and_tables_whoever_solves_its_programs(monkeypatch):
    pytest.importorskip("highspy")
    features = {"ill": {"type": "binary", "delta": 0.3}, "pay": {"type": "numeric", "bounds": [0, 9], "delta": 0.5}}
    features |= {"region": {"type": "categorical", "values": ["n", "s", "w"]}, "open": {"type": "binary"}}
    policy = Policy(epsilon=2, features=features, correlation={"odds": 3, "q": 0.2})
    plans = [make_plan(policy), make_plan(policy)]
    monkeypatch.setattr(programs, "installed_solver", lambda: scipy_solver.prepare)
    plans.append(make_plan(policy))
    assert plans[0].text == plans[1].text
    assert plans[0].menus == plans[2].menus
    assert [table.to_dict() for table in plans[0].tables] == [table.to_dict() for table in plans[2].tables]
