"""A ledger's sums bound what several releases, adaptive ones too, tell about one person."""

import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from bcdp import Device, Plan, Policy, make_plan
from bcdp.cli.app import main
from bcdp.errors import InputError
from bcdp.ledger import Ledger, Limits, Release, release_of
from bcdp.notions import dobrushin, levels
from bcdp.tables import TOTAL, Dense
from helpers import full_kernel, listed, survey


def product_answer(budgets):
    """One randomized bit per feature: a kernel over binary features with the given budgets, and its output count."""
    features = len(budgets)
    kernel = np.ones((2,) * features + (2,) * features)
    for record in itertools.product(range(2), repeat=features):
        for output in itertools.product(range(2), repeat=features):
            for budget, x, y in zip(budgets, record, output, strict=True):
                kernel[record + output] *= 1 / (1 + np.exp(-budget)) if x == y else 1 / (1 + np.exp(budget))
    return kernel.reshape((2,) * features + (-1,))


def test_sums_bound_two_releases_the_second_chosen_by_the_first():
    rng = np.random.default_rng(11)
    for _ in range(200):
        prior = rng.dirichlet(np.full(8, 0.5)).reshape(2, 2, 2)
        first = rng.uniform(0, 1, size=3)
        cap = rng.uniform(0, 1, size=3)  # the second release, whatever the first said, stays within these
        kernel = product_answer(first)
        second = [product_answer(cap * rng.choice([0.3, 1.0], size=3)) for _ in range(kernel.shape[-1])]
        both = np.concatenate([kernel[..., [y]] * second[y] for y in range(len(second))], axis=-1)
        ledger = Ledger()
        for name, budgets in (("first", first), ("second", cap)):
            ledger = ledger.add(Release(name, budgets.sum(), {f"x{i}": b for i, b in enumerate(budgets)}))
        exact = levels(prior, both)
        assert exact.ldp <= ledger.epsilon + 1e-9
        for i in range(3):
            assert exact.cdp[i] <= ledger.c(f"x{i}") + 1e-9
            assert exact.bcdp[i] <= ledger.delta(f"x{i}", dobrushin(prior, i)) + 1e-9


def test_adding_deltas_instead_would_be_wrong():
    """Two copies of the paper's second example: each tells nothing about the first feature, together everything."""
    kernel = np.zeros((2, 2, 2, 4))
    for x1, x2, x3 in itertools.product(range(2), repeat=3):
        kernel[x1, x2, x3, 2 * (x1 ^ x2) + x3] += 0.5
        kernel[x1, x2, x3, 2 * x2 + (x1 ^ x3)] += 0.5
    prior = np.full((2, 2, 2), 0.125)
    exact = levels(prior, kernel)
    ledger = Ledger()
    for name in ("once", "twice"):
        ledger = ledger.add(Release(name, exact.ldp, {"x1": exact.cdp[0]}))
    assert exact.bcdp[0] == 0
    assert ledger.delta("x1", q=0.0) == np.inf


def test_an_untouched_feature_still_pays_for_correlation():
    ledger = Ledger().add(Release("income only", 1.0, {"income": 1.0}))
    assert ledger.c("smoker") == 0
    assert ledger.delta("smoker", 0.0) == 0
    assert ledger.delta("smoker", 1.0) == 1.0
    assert ledger.delta("smoker", 0.1) == pytest.approx(np.log(0.9 + 0.1 * np.e))


def test_bad_release_is_named():
    with pytest.raises(InputError, match=r"release 'a', c.smoker: got -1; accepted: a number of at least 0"):
        Release("a", 1.0, {"smoker": -1})
    with pytest.raises(InputError, match="epsilon"):
        Release("a", float("nan"))


@lru_cache
def made(epsilon=1.0, other="drinker"):
    features = {"smoker": {"type": "binary", "delta": 0.2}, other: {"type": "binary"}}
    return make_plan(Policy(epsilon=epsilon, features=features, correlation=0.05))


def test_one_plan_counts_as_it_is_certified():
    plan = made()
    spent = Ledger().add(release_of(plan))
    for name, claim in plan.certificate.features.items():
        assert spent.delta(name) == claim.certified
        assert spent.c(name) == claim.c
    assert spent.epsilon == plan.certificate.epsilon


def test_the_same_plan_again_adds_nothing_and_another_one_adds():
    first, second = made(), made(epsilon=1.5)
    once = Ledger().add(release_of(first, "2030-01-01"))
    assert once.add(release_of(first, "2030-02-02")) is once
    both = once.add(release_of(second))
    assert both.epsilon >= first.certificate.epsilon + second.certificate.epsilon
    assert both.delta("smoker") == pytest.approx(
        np.log(0.95 * np.exp(both.c("smoker")) + 0.05 * np.exp(both.epsilon)), rel=1e-11
    )


def test_releases_about_different_features_have_no_common_q():
    """Each plan bounds how its own features depend on each other; nobody bounds both plans' features together."""
    other = made(other="income")
    alone = Ledger().add(release_of(made()))
    assert alone.q("smoker") == 0.05
    both = alone.add(release_of(other))
    assert both.q("smoker") == 1.0
    assert both.delta("smoker") == both.epsilon
    assert both.delta("smoker", q=0.05) < both.epsilon
    # smoker = drinker xor income, all fair: independent in pairs, so each plan alone tells nothing of it by q = 0
    xor = np.zeros((2, 2, 2))
    for drinker, income in itertools.product(range(2), repeat=2):
        xor[drinker ^ income, drinker, income] = 0.25
    exact = levels(xor, product_answer([0.0, 2.0, 2.0]))
    assert dobrushin(xor, 0, (1,)) == dobrushin(xor, 0, (2,)) == 0
    assert exact.bcdp[0] > 0.7


def both_plans(first, second):
    return Ledger().add(release_of(first, name="first")).add(release_of(second, name="second"))


def test_one_name_for_two_things_has_no_common_q():
    """North or south in one plan, east or west in the other: each is independent of smoking, both together are not."""

    def about(**region):
        features = {"smoker": {"type": "binary", "delta": 0.1}, "region": region}
        return make_plan(Policy(epsilon=2, features=features, correlation=0.01))

    first, second = about(type="binary", values=["n", "s"]), about(type="binary", values=["e", "w"])
    spent = both_plans(first, second)
    assert spent.q("smoker") == 1.0
    # one answer about a fair bit a, one about b, smoking = a xor b: by enumeration
    kernels = [full_kernel(plan) for plan in (first, second)]
    laws = [sum(np.outer(kernels[0][v, a], kernels[1][v, a ^ v]) for a in (0, 1)) / 2 for v in (0, 1)]
    assert 1.4 < np.abs(np.log(laws[0] / laws[1])).max() <= spent.delta("smoker")
    assert spent.delta("smoker", q=0.01) < 0.6  # what the plans' own q would have said
    number = {"type": "numeric", "bounds": [0, 10]}
    for other in ({**number, "bounds": [0, 9]}, {**number, "missing": 0}, {"type": "categorical", "values": [1, 2]}):
        assert both_plans(about(**number), about(**other)).q("smoker") == 1.0
    assert both_plans(about(**number), about(**number, label="Income", delta=1.0)).q("smoker") == 0.01
    by_hand = Release("by hand", 1.0, {"smoker": 0.1}, q={"smoker": 0.01})
    assert Ledger().add(by_hand).q("smoker") == 0.01
    assert Ledger().add(by_hand).add(by_hand).q("smoker") == 1.0  # nobody says that they are about the same


def test_a_q_about_one_rounding_is_not_about_two():
    """Smokers hold 0 or 1/8, others 1/16: once rounded to a multiple of 1/8 all are alike, but not twice."""
    features = {"smoker": {"type": "binary", "delta": 20.0}, "a": {"type": "numeric", "bounds": [0, 2], "delta": 20.0}}
    question, menu = {"features": ["a"], "levels": [17], "table": 0}, {"weight": TOTAL, "questions": [0]}
    table = Dense(np.array([[3, 1]] + [[1, 3]] * 16) * (TOTAL // 4))

    def marked(rounded, epsilon):
        document = survey(features, [table.to_dict()], [question], [menu], epsilon=epsilon)
        document["correlation"] = listed({("smoker", ("a",)): 0.0, ("a", ("smoker",)): 0.0}) | rounded
        return Plan.build(document)

    assert both_plans(marked({}, 19.0), marked({}, 20.0)).q("smoker") == 0.0
    spent = both_plans(marked({"rounded": ["a"]}, 19.0), marked({"rounded": ["a"]}, 20.0))
    assert spent.q("smoker") == 1.0
    one = {0: np.array([3, 1]) / 4, 1 / 16: np.array([2, 2]) / 4, 1 / 8: np.array([1, 3]) / 4}  # a, then the answer
    smoker = (np.outer(one[0], one[0]) + np.outer(one[1 / 8], one[1 / 8])) / 2
    np.testing.assert_array_equal(smoker.sum(axis=0), one[1 / 16])
    true = np.abs(np.log(smoker / np.outer(one[1 / 16], one[1 / 16]))).max()
    assert 0.2 < true <= spent.delta("smoker")


def test_sums_are_rounded_up():
    spent = Ledger()
    for number in range(10):
        spent = spent.add(Release(f"{number}", 0.1))
    assert sum([Fraction(0.1)] * 10) <= Fraction(spent.epsilon) < Fraction(1.0) + Fraction(1, 10**15)
    assert Fraction(spent.epsilon) > 1  # 0.1 is a little more than a tenth


def test_limits_are_kept():
    plan, limits = made(), Limits(1.8, {"smoker": 0.3})
    spent = Ledger(limits=limits).add(release_of(plan))
    with pytest.raises(InputError, match=r"release .*: epsilon would be 2.001, above the limit 1.8; delta of smoker"):
        spent.add(release_of(made(epsilon=1.001)))
    with pytest.raises(InputError, match=r"limits\.delta\.smoker"):
        Limits(1.0, {"smoker": -1.0})
    unknown = Ledger(limits=Limits(delta={"weight": 0.5}))  # a feature not asked is bounded by epsilon alone
    with pytest.raises(InputError, match="delta of weight"):
        unknown.add(release_of(plan))


def test_a_file_holds_all_of_a_ledger(tmp_path):
    file = tmp_path / "me.json"
    assert Ledger.load(file) == Ledger()
    spent = Ledger(limits=Limits(5.0, {"smoker": 1.0})).add(release_of(made(), "2030-01-01", "spring"))
    spent.save(file)
    assert Ledger.load(file) == spent
    Ledger().save(file)
    assert Ledger.load(file) == Ledger()
    with pytest.raises(InputError, match="infinite"):
        Ledger().add(Release("all", np.inf)).save(file)
    assert Ledger.load(file) == Ledger()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"bcdp_ledger": 2, "limits": {"epsilon": null, "delta": {}}, "releases": []}',
        '{"bcdp_ledger": 1, "limits": {"epsilon": "much", "delta": {}}, "releases": []}',
        '{"bcdp_ledger": 1, "limits": {"epsilon": null, "delta": {}}, "releases": [{"name": "a"}]}',
        '{"bcdp_ledger": 1, "limits": {"epsilon": null, "delta": {}}, "releases": [{"name": "a", "epsilon": -1}]}',
        '{"bcdp_ledger": 1, "limits": {"epsilon": null, "delta": {}}, "releases": [{"name": "a", "epsilon": "1"}]}',
        '{"bcdp_ledger": 1, "limits": {"epsilon": null, "delta": {}},'
        ' "releases": [{"name": "a", "epsilon": 1, "definitions": 7}]}',
    ],
)
def test_what_is_no_ledger_is_refused_and_left_as_it_is(text, tmp_path):
    file = tmp_path / "me.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"ledger: .* cannot be read"):
        Ledger.load(file)
    assert file.read_text() == text


def test_a_device_refuses_what_exceeds_its_owners_limits(tmp_path):
    file, record = tmp_path / "me.json", {"smoker": True, "drinker": False}
    Ledger(limits=Limits(1.8)).save(file)
    memory = {}
    device = Device(memory, ledger=file)
    first = device.answer(made(), record)
    assert device.answer(made(), record) == first
    assert Ledger.load(file).epsilon == made().certificate.epsilon
    with pytest.raises(InputError, match="epsilon would be"):
        device.answer(made(epsilon=1.001), record)
    assert list(memory) == [made().id]
    assert len(Ledger.load(file).releases) == 1


def test_a_device_that_lost_its_memory_does_not_answer_again(tmp_path):
    file, record = tmp_path / "me.json", {"smoker": True, "drinker": False}
    Device({}, ledger=file).answer(made(), record)
    with pytest.raises(InputError, match="its answer is lost"):
        Device({}, ledger=file).answer(made(), record)


def test_a_record_that_is_refused_costs_nothing(tmp_path):
    file = tmp_path / "me.json"
    device = Device({}, ledger=file)
    with pytest.raises(InputError, match="column 'drinker'"):
        device.answer(made(), {"smoker": True, "drinker": "sometimes"})
    assert Ledger.load(file) == Ledger()
    device.answer(made(), {"smoker": True, "drinker": False})
    assert Ledger.load(file).epsilon == made().certificate.epsilon


def test_a_memory_is_no_ledger(tmp_path):
    with pytest.raises(InputError, match=r"ledger: .*accepted: another file"):
        Device(tmp_path / "me.json", ledger=tmp_path / "me.json")


@pytest.mark.parametrize("lock", [None, lambda path: nullcontext()], ids=["locked", "broken"])
def test_programs_that_answer_at_once_are_all_entered(lock, tmp_path, monkeypatch):
    """Two devices and a command: whoever has read the ledger waits until the others have, in vain if it is locked."""
    if lock is not None:
        monkeypatch.setattr("bcdp.memory.locked", lock)
        monkeypatch.setattr("bcdp.files.locked", lock)
    file, load, several = tmp_path / "me.json", Ledger.load, threading.Barrier(3)

    def slow(path):
        spent = load(path)
        with suppress(threading.BrokenBarrierError):
            several.wait(0.3 if lock is None else 30)
        return spent

    monkeypatch.setattr(Ledger, "load", slow)
    plans = [made(epsilon=1 + number / 8) for number in range(3)]
    plans[0].save(tmp_path / "plan.json")
    with ThreadPoolExecutor(3) as pool:
        pool.submit(main, ["ledger", "add", str(file), str(tmp_path / "plan.json")])
        for plan in plans[1:]:
            pool.submit(Device({}, ledger=file).answer, plan, {"smoker": True})
    entered = {release.plan for release in load(file).releases}
    assert (entered == {plan.id for plan in plans}) == (lock is None)


def test_the_command(tmp_path, capsys):
    file, plan, other = (str(tmp_path / name) for name in ("me.json", "plan.json", "other.json"))
    made().save(plan)
    made(epsilon=1.5).save(other)
    assert main(["ledger", "show", file]) == 2
    limits = ["--max-epsilon", "2", "--max-delta", "smoker=0.9"]
    assert main(["ledger", "add", file, plan, "--date", "2030-01-01", *limits]) == 0
    assert main(["ledger", "add", file, plan, "--date", "2030-01-02"]) == 0
    capsys.readouterr()
    assert main(["ledger", "show", file, "--q", "0.1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["releases"] == [{"plan": made().id, "date": "2030-01-01", "epsilon": made().certificate.epsilon}]
    assert document["features"]["smoker"]["limit"] == 0.9
    assert document["features"]["smoker"]["q"] == 0.1
    assert document["epsilon"]["limit"] == 2.0
    assert main(["ledger", "add", file, other]) == 1
    assert "REFUSED: epsilon would be" in capsys.readouterr().out
    assert len(Ledger.load(file).releases) == 1
    for wrong in (["add", file], ["show", file, plan], ["add", file, plan, "--date", "yesterday"], ["drop", file]):
        assert main(["ledger", *wrong]) == 2
