"""A ledger's sums bound what several releases, adaptive ones too, tell about one person."""

import itertools
import json
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from bcdp import Device, Plan, Policy, make_plan
from bcdp.cli.app import main
from bcdp.errors import InputError
from bcdp.notions import bcdp_from, dobrushin, levels
from bcdp.plan.certificate import certify_menu, largest_budgets
from bcdp.plan.ledger import Ledger, Limits, Release, release_of
from support.helpers import full_kernel
from support.ledger_priors import TOLERANCE, compared, random_plan
from support.paths import ROOT

VECTORS = ROOT / "vectors"


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
    each = [(plan.certificate.features["smoker"].certified, plan.certificate.epsilon) for plan in (first, second)]
    largest = max(each[0][0] + each[1][1], each[1][0] + each[0][1])
    assert both.delta("smoker") == pytest.approx(largest, rel=1e-12)
    assert both.delta("smoker") < 0.8 * both.epsilon


def test_the_same_plan_answered_on_two_devices_is_two_releases(tmp_path, capsys):
    plan, file = made(), tmp_path / "me.json"
    twice = Ledger().add(release_of(plan)).add(release_of(plan), again=True)
    assert twice.epsilon == 2 * plan.certificate.epsilon
    plan.save(tmp_path / "plan.json")
    for options in ([], [], ["--again"]):
        assert main(["ledger", "add", str(file), str(tmp_path / "plan.json"), *options]) == 0
    assert Ledger.load(file).epsilon == twice.epsilon
    assert Ledger.load(file).delta("smoker") == twice.delta("smoker")
    assert main(["ledger", "show", str(file), "--again"]) == 2
    assert "--again" in capsys.readouterr().err


def test_a_plans_q_never_counts_where_it_does_not_hold():
    """The plan's q is about rounded numbers; with only odds stated, the certificate and q = 1 are all there is."""
    plan = Plan.parse(json.loads((VECTORS / "rounded-beside.json").read_text("utf-8"))["plan"])
    certified = plan.certificate.features["secret"].certified
    for odds in (2.5, 20.0):
        spent = Ledger(odds=odds).add(release_of(plan))
        pairs = largest_budgets(plan)["secret"]
        free = max(float(bcdp_from(c, epsilon, 1.0, odds)) for c, epsilon in pairs)
        assert spent.delta("secret") == pytest.approx(min(certified, free), rel=1e-11)
    assert spent.delta("secret") >= 0.910 > 0.4349


def test_open_values_void_the_conditions_of_other_plans(tmp_path):
    """hiv is independent of doctor, and equal to doctor among those who travel: travel sent as it is reveals it."""
    travel = {"type": "open", "values": ["no", "yes"]}
    opened = make_plan(Policy(epsilon=1, features={"age": {"type": "binary"}, "travel": travel}))
    both = Ledger().add(release_of(about("doctor"))).add(release_of(opened))
    assert both.delta("hiv") == both.epsilon
    assert both.delta("travel") == math.inf
    both.save(tmp_path / "me.json")
    assert Ledger.load(tmp_path / "me.json") == both
    protected = make_plan(Policy(epsilon=1, features={"age": {"type": "binary"}, "travel": {"type": "binary"}}))
    apart = Ledger().add(release_of(about("doctor"))).add(release_of(protected))
    assert apart.delta("hiv") == protected.certificate.epsilon < apart.epsilon
    document = json.loads((tmp_path / "me.json").read_text())
    for release in document["releases"]:
        del release["open"], release["menus"]
    (tmp_path / "me.json").write_text(json.dumps(document | {"bcdp_ledger": 2}))  # which did not say what was open
    assert Ledger.load(tmp_path / "me.json").delta("hiv") == both.epsilon


def test_the_menu_drawn_counts_in_place_of_the_largest(tmp_path):
    plan, file, record = made(), tmp_path / "me.json", {"smoker": True, "drinker": False}
    menu = Device({}, ledger=file).answer(plan, record)["menu"]
    drawn = certify_menu(plan, plan.menus[menu], plan.correlation_model)
    spent = Ledger.load(file)
    assert (spent.epsilon, spent.c("smoker"), spent.delta("smoker")) == (
        drawn.epsilon, drawn.c["smoker"], drawn.delta["smoker"],
    )  # fmt: skip
    costs = [release_of(plan, menu=number).epsilon for number in range(len(plan.menus))]
    assert max(costs) == plan.certificate.epsilon > min(costs)
    with pytest.raises(InputError, match="menu: got 99; accepted: the number of one of the plan's"):
        release_of(plan, menu=99)


def test_histories_count_menu_by_menu():
    """Two plans at q = 0.05: a menu that asks smoker asks nothing else, so c and epsilon are never largest together."""
    spent = Ledger(q=0.05).add(release_of(made())).add(release_of(made(epsilon=1.5)))
    histories = [
        np.log(0.95 * np.exp(c + d) + 0.05 * np.exp(e + f))
        for c, e in largest_budgets(made())["smoker"]
        for d, f in largest_budgets(made(epsilon=1.5))["smoker"]
    ]
    assert spent.delta("smoker") == pytest.approx(max(histories), rel=1e-11)
    assert spent.delta("smoker") < float(bcdp_from(spent.c("smoker"), spent.epsilon, 0.05)) - 0.04


def test_no_statement_is_below_the_exact_worst_prior():
    """Pairs and triples of random plans by linear programs; the sums of deltas, for comparison, are often below."""
    rng, found = np.random.default_rng(5), []
    for number in range(10):
        found += compared(rng, [random_plan(rng) for _ in range(2 + number % 2)])
    assert [one for one in found if one.worst > one.stated + TOLERANCE] == []
    for kind in ("plans", "person"):  # and none is needlessly high: each kind is reached
        assert any(one.worst > one.stated - 1e-6 for one in found if one.kind == kind)
    assert sum(one.worst > one.deltas + 0.1 for one in found) > 10


def test_very_many_histories_are_bounded_from_above():
    pairs = tuple((x / 400, 2 - (x / 400) ** 2) for x in range(400))
    wide = Release("wide", 2.0, {"smoker": 1.0}, menus={"smoker": pairs})
    spent = Ledger(q=0.1).add(wide).add(wide)
    exact = max(float(bcdp_from(c + d, e + f, 0.1)) for c, e in pairs for d, f in pairs[::7])
    assert exact <= spent.delta("smoker") < exact * 1.01


@lru_cache
def about(name, label=None):
    """A plan about HIV, which it never asks, and one other thing, said to be independent of it."""
    features = {"hiv": {"type": "binary", "delta": 0.0}, name: {"type": "binary", "label": label or name}}
    return make_plan(Policy(epsilon=2, features=features, correlation=0.0))


def true_level(first, second):
    """What both answers tell about hiv = doctor xor travel, all fair bits, by enumeration."""
    kernels = [full_kernel(plan) for plan in (first, second)]
    laws = [
        sum(np.outer(kernels[0][hiv, doctor], kernels[1][hiv, doctor ^ hiv]) for doctor in (0, 1)) / 2 for hiv in (0, 1)
    ]
    return np.abs(np.log(laws[0] / laws[1])).max()


XOR = [("doctor", None), ("travel", None)], [("visit", "to a doctor"), ("visit", "to another country")]


@pytest.mark.parametrize("plans", XOR, ids=["two names", "one name for two things"])
def test_what_two_plans_tell_together_is_bounded_though_each_tells_nothing(plans, tmp_path):
    """hiv = doctor xor travel: independent of either, so q = 0 is true in each plan, and of both together it is not."""
    first, second = (about(*stated) for stated in plans)
    assert first.id != second.id
    once = Ledger().add(release_of(first))
    assert (once.q_of("hiv"), once.delta("hiv")) == (1, 0)
    both = once.add(release_of(second))
    true = true_level(first, second)
    assert true == pytest.approx(np.log((np.exp(4) + 1) / (2 * np.exp(2))), rel=1e-6)
    assert round(true, 3) == 1.325
    assert true <= both.delta("hiv") == first.certificate.epsilon < both.epsilon
    assert both.delta("hiv", q=0.0) == 0  # what the plans' own q would have said
    file, memory = tmp_path / "me.json", {}
    Ledger(limits=Limits(delta={"hiv": 0.05})).save(file)
    device = Device(memory, ledger=file)
    device.answer(first, {"hiv": 1, plans[0][0]: 0})
    with pytest.raises(InputError, match=r"delta of hiv \(.*no q or odds for all plans.* above the limit 0.05"):
        device.answer(second, {"hiv": 1, plans[1][0]: 1})
    assert list(memory) == [first.id]
    replace(Ledger.load(file), q={"hiv": 0.0}).save(file)  # the person may know better, and then it is their word
    device.answer(second, {"hiv": 1, plans[1][0]: 1})
    assert Ledger.load(file).delta("hiv") == 0


def test_a_stated_q_is_about_everything():
    by_hand = Release("by hand", 1.0, {"smoker": 0.1, "drinker": 0.5})
    for stated in (0.1, {"smoker": 0.1}):
        spent = Ledger(q=stated)
        for _ in range(2):
            spent = spent.add(by_hand)
            formula = np.log(0.9 * np.exp(spent.c("smoker")) + 0.1 * np.exp(spent.epsilon))
            assert spent.q_of("smoker") == 0.1
            assert spent.delta("smoker") == pytest.approx(formula, rel=1e-11)
            assert spent.statement("smoker").condition == "your q and odds for everything asked"
    assert spent.q_of("drinker") == 1.0  # not named
    assert spent.delta("drinker") == spent.epsilon
    assert Ledger().add(by_hand).q_of("smoker") == 1.0
    assert Ledger(q=1e-20).add(by_hand).delta("smoker") > 0.1  # the formula in doubles gives 0.1
    for wrong in (-0.1, 1.1, float("nan"), True, "0.1", None, {"smoker": 2.0}):
        with pytest.raises(InputError, match=r"q(\.smoker)?: got .*; accepted: a number from 0 to 1"):
            Ledger(q=wrong)


def test_sums_are_rounded_up():
    spent = Ledger()
    for number in range(10):
        spent = spent.add(Release(f"{number}", 0.1))
    assert sum([Fraction(0.1)] * 10) <= Fraction(spent.epsilon) < Fraction(1.0) + Fraction(1, 10**15)
    assert Fraction(spent.epsilon) > 1  # 0.1 is a little more than a tenth


def test_stated_odds_are_about_everything_and_count_with_q(tmp_path):
    """By the theorem at c = 0.2 and epsilon = 2 (two releases), and kept in the file; a plan's odds never count."""
    spent = Ledger().add(Release("spring", 1.0, {"smoker": 0.1})).add(Release("autumn", 1.0, {"smoker": 0.1}))
    assert spent.odds_of("smoker") == math.inf
    assert spent.delta("smoker") == 2.0
    for odds, q in ((1.5, 1.0), (2.0, 0.1), (1.0, 1.0)):
        stated = replace(spent, odds=odds, q=q)
        level = float(bcdp_from(0.2, 2.0, q, odds))
        assert level <= stated.delta("smoker") <= level * (1 + 1e-11)
        stated.save(tmp_path / "me.json")
        assert Ledger.load(tmp_path / "me.json") == stated
    named = replace(spent, odds={"smoker": 1.5})
    assert (named.odds_of("smoker"), named.odds_of("other")) == (1.5, math.inf)
    for wrong in (0.9, math.inf, math.nan, True, "2", {"smoker": 0}):
        with pytest.raises(InputError, match="odds"):
            replace(spent, odds=wrong)


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
    for q in (0.25, {"smoker": 0.25}, {}):
        spent = Ledger(limits=Limits(5.0, {"smoker": 1.0}), q=q).add(release_of(made(), "2030-01-01", "spring"))
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
        '{"bcdp_ledger": 4, "limits": {"epsilon": null, "delta": {}}, "q": {}, "releases": []}',
        '{"bcdp_ledger": 2, "limits": {"epsilon": null, "delta": {}}, "releases": []}',
        '{"bcdp_ledger": 2, "limits": {"epsilon": null, "delta": {}}, "q": 2, "releases": []}',
        '{"bcdp_ledger": 2, "limits": {"epsilon": null, "delta": {}}, "q": null, "releases": []}',
        '{"bcdp_ledger": 1, "limits": {"epsilon": "much", "delta": {}}, "releases": []}',
        '{"bcdp_ledger": 1, "limits": {"epsilon": null, "delta": {}}, "releases": [{"name": "a"}]}',
        '{"bcdp_ledger": 1, "limits": {"epsilon": null, "delta": {}}, "releases": [{"name": "a", "epsilon": -1}]}',
        '{"bcdp_ledger": 1, "limits": {"epsilon": null, "delta": {}}, "releases": [{"name": "a", "epsilon": "1"}]}',
        '{"bcdp_ledger": 2, "limits": {"epsilon": null, "delta": {}}, "q": {},'
        ' "releases": [{"name": "a", "epsilon": 1, "definitions": {}}]}',
    ],
)
def test_what_is_no_ledger_is_refused_and_left_as_it_is(text, tmp_path):
    file = tmp_path / "me.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"ledger: .* cannot be read"):
        Ledger.load(file)
    assert file.read_text() == text


def test_a_ledger_of_format_1_still_opens_and_counts_by_the_rule_of_today(tmp_path):
    file, plan = tmp_path / "me.json", made()
    Ledger(limits=Limits(delta={"smoker": 0.9})).add(release_of(plan)).save(file)
    document = json.loads(file.read_text())
    assert document.pop("q") == {}
    release = document["releases"][0] | {"definitions": {"smoker": "5f", "drinker": "5f"}}
    another = release | {"plan": "another", "name": "another"}
    file.write_text(json.dumps(document | {"bcdp_ledger": 1, "releases": [release, another]}))
    spent = Ledger.load(file)
    assert [(r.plan, r.open) for r in spent.releases] == [(plan.id, None), ("another", None)]
    assert spent.delta("smoker") == spent.epsilon == 2 * plan.certificate.epsilon
    spent.save(file)
    assert Ledger.load(file) == spent


def test_a_device_refuses_what_exceeds_its_owners_limits(tmp_path):
    file, record = tmp_path / "me.json", {"smoker": True, "drinker": False}
    Ledger(limits=Limits(1.1)).save(file)
    memory = {}
    device = Device(memory, ledger=file)
    first = device.answer(made(), record)
    assert device.answer(made(), record) == first
    assert Ledger.load(file).epsilon == release_of(made(), menu=first["menu"]).epsilon >= 0.19
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
    assert 0.19 < Ledger.load(file).epsilon <= made().certificate.epsilon


def test_a_memory_is_no_ledger(tmp_path):
    with pytest.raises(InputError, match=r"ledger: .*accepted: another file"):
        Device(tmp_path / "me.json", ledger=tmp_path / "me.json")


@pytest.mark.parametrize("lock", [None, lambda path: nullcontext()], ids=["locked", "broken"])
def test_programs_that_answer_at_once_are_all_entered(lock, tmp_path, monkeypatch):
    """Two devices and a command: whoever has read the ledger waits until the others have, in vain if it is locked."""
    if lock is not None:
        monkeypatch.setattr("bcdp.device.memory.locked", lock)
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
            pool.submit(Device({}, ledger=file).answer, plan, {"smoker": True, "drinker": False})
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
    assert main(["ledger", "show", file, "--q", "0.1", "--json"]) == 0  # only for this look at it
    assert Ledger.load(file).q == {}
    document = json.loads(capsys.readouterr().out)
    assert document["releases"] == [{"plan": made().id, "date": "2030-01-01", "epsilon": made().certificate.epsilon}]
    assert document["features"]["smoker"]["limit"] == 0.9
    assert document["features"]["smoker"]["q"] == 0.1
    assert document["epsilon"]["limit"] == 2.0
    assert main(["ledger", "add", file, other]) == 1
    assert "REFUSED: epsilon would be" in capsys.readouterr().out
    assert len(Ledger.load(file).releases) == 1
    more = ["--max-epsilon", "3"]
    assert main(["ledger", "add", file, other, *more]) == 1
    assert "REFUSED: delta of smoker (the condition of each plan that asks it; you have" in capsys.readouterr().out
    assert main(["ledger", "add", file, other, *more, "--q", "smoker=0.05", "--q", "drinker=1"]) == 0
    assert "your q and odds for everything asked" in capsys.readouterr().out
    assert Ledger.load(file).q == {"smoker": 0.05, "drinker": 1.0}
    assert main(["ledger", "add", file, other, "--q", "0.2"]) == 0
    assert Ledger.load(file).q == 0.2
    for q in (["2"], ["x"], ["smoker=2"], ["smoker="], ["0.1", "smoker=0.1"], ["0.1", "0.2"], ["nan"]):
        assert main(["ledger", "show", file, *(word for stated in q for word in ("--q", stated))]) == 2
        assert "--q: got" in capsys.readouterr().err
    for wrong in (["add", file], ["show", file, plan], ["add", file, plan, "--date", "yesterday"], ["drop", file]):
        assert main(["ledger", *wrong]) == 2
