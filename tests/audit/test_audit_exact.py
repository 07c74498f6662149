"""The exact audit: the true levels of a plan for a population, found by enumeration menu by menu."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from bcdp import InputError, Plan, Policy, make_plan
from bcdp.audit import (
    Population,
    audit_mechanism,
    audit_plan,
    device_mechanism,
    population_from_records,
    population_of,
    verify_limits,
)
from bcdp.audit.device import _somebody
from bcdp.audit.exact import Level
from bcdp.cli.app import main
from bcdp.compare.leak import PAPER_DELTA, leak, paper_prior, separate_responses
from bcdp.correlation import PerFeature
from bcdp.exact import TOTAL
from bcdp.notions import dobrushin, levels
from bcdp.plan import Question, certify
from bcdp.present.promise import NOTHING_ASSUMED, promises
from bcdp.randomizers import Dense, binary, numeric
from support.helpers import (
    exact_q,
    full_kernel,
    listed,
    random_document,
    random_prior,
    random_product_document,
    sizes_of,
    survey,
)
from support.paths import ROOT
from support.sweeps import some

pytestmark = pytest.mark.slow
VECTORS = ROOT / "vectors"
FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "values": ["no", "yes"], "delta": 0.2},
    "drinker": {"type": "binary", "values": ["no", "yes"]},
    "region": {"type": "categorical", "values": ["n", "s", "e"]},
}


def made(correlation: float = 0.05, **features: Any) -> Plan:
    return make_plan(Policy(epsilon=2, features={**FEATURES, **features}, correlation=correlation))


def near(first: float, second: float) -> bool:
    return first == second or abs(first - second) < 1e-9


def test_it_finds_the_levels_of_the_full_kernel() -> None:
    """Menu by menu and question by question gives what one kernel over all reports and all records gives."""
    rng = np.random.default_rng(20)
    for _ in some(300):
        plan = Plan.build(random_document(rng))
        prior = random_prior(rng, sizes_of(plan))
        found = audit_plan(plan, population_of(list(plan.policy.features), prior))
        exact = levels(prior, full_kernel(plan))
        assert near(found.epsilon.measured, exact.ldp)
        for place, name in enumerate(plan.policy.features):
            assert near(found.c[name].measured, exact.cdp[place])
            assert near(found.delta[name].measured, exact.bcdp[place])


def test_it_finds_the_levels_of_products() -> None:
    """Numbers are on a grid that may miss the worst of them, so epsilon and c are compared where there are none."""
    rng, compared = np.random.default_rng(21), 0
    for _ in (tried := some(150)):
        plan = Plan.build(random_product_document(rng))
        prior = random_prior(rng, sizes_of(plan))
        found = audit_plan(plan, population_of(list(plan.policy.features), prior))
        exact = levels(prior, full_kernel(plan))
        numbers = any(feature.type == "numeric" for feature in plan.policy.features.values())
        compared += not numbers
        assert exact.ldp <= found.epsilon.measured + 1e-9
        assert numbers or near(found.epsilon.measured, exact.ldp)
        for place, name in enumerate(plan.policy.features):
            assert near(found.delta[name].measured, exact.bcdp[place])
            assert exact.cdp[place] <= found.c[name].measured + 1e-9
            assert numbers or near(found.c[name].measured, exact.cdp[place])
    assert compared > len(tried) / 8


def violations(rng: np.random.Generator, plans: int, priors: int, stretch: float = 0.0) -> tuple[int, int]:
    """How many pairs of random plans and random priors, with the prior's own q, exceed their certificate."""
    found = broken = 0
    for _ in range(plans):
        document = random_document(rng)
        kernel_of = Plan.build(document)
        names = list(kernel_of.policy.features)
        for _ in range(priors):
            prior = random_prior(rng, sizes_of(kernel_of))
            bounds = exact_q(kernel_of, prior)
            document["correlation"] = listed({key: q * (1 - stretch) for key, q in bounds.items()})
            claims = verify_limits(document)
            measured = audit_plan(kernel_of, population_of(names, prior))
            found += 1
            broken += measured.epsilon.measured > claims.epsilon or any(
                measured.delta[name].measured > claims.delta[name] or measured.c[name].measured > claims.c[name]
                for name in names
            )
    return found, broken


def test_no_random_plan_and_prior_exceed_their_certificate() -> None:
    """Hundreds of pairs here; benchmarks/sweeps/audit_sweep.py does 100,000."""
    pairs, broken = violations(np.random.default_rng(7), plans=len(some(100)), priors=20)
    assert (pairs, broken) == (20 * len(some(100)), 0)


def test_a_certificate_with_half_the_correlation_is_caught() -> None:
    assert violations(np.random.default_rng(7), plans=30, priors=20, stretch=0.5)[1] > 20


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
def test_a_made_plan_keeps_its_promise_up_to_the_correlation_it_was_made_for(share: float) -> None:
    """All features at their first or all at their last value with probability `share`, else independent and fair."""
    plan = made(0.05)
    names = list(plan.policy.features)
    sizes = [len(FEATURES[name]["values"]) for name in names]
    prior = np.full(sizes, (1 - share) / math.prod(sizes))
    prior[0, 0, 0] += share / 2
    prior[tuple(size - 1 for size in sizes)] += share / 2
    found = audit_plan(plan, population_of(names, prior))
    assert found.kept == (share <= 0.05)
    exact = {name: dobrushin(prior, place) for place, name in enumerate(names)}
    at_most = certify(plan, PerFeature(1.0, exact)).delta
    assert all(found.delta[name].measured <= at_most[name] + 1e-12 for name in names)


def test_the_worst_answer_is_named() -> None:
    plan = Plan.build(
        survey(
            {"smoker": {"type": "binary", "values": ["no", "yes"], "delta": 20.0}},
            [binary(math.log(3)).to_dict()],
            [{"features": ["smoker"], "levels": [2], "table": 0}],
            [{"weight": TOTAL, "questions": [0]}],
        )
    )
    found = audit_plan(plan, population_of(["smoker"], [0.5, 0.5]))
    assert (
        found.words["smoker"] == "answering menu 0 with smoker: 'no' moves the odds of smoker 'no' against 'yes' by 3"
    )
    assert found.evidence["smoker"].factor == pytest.approx(3)


def test_products_are_enumerated_as_the_device_makes_them() -> None:
    """The sign of x times y, x and y opposite for 3 people in 4: the answer tells nothing about one alone if fair."""
    plan = Plan.build(
        survey(
            {"x": {"type": "binary", "delta": 20.0}, "y": {"type": "numeric", "bounds": [-1, 1], "delta": 20.0}},
            [binary(math.log(3)).to_dict()],
            [{"features": ["x", "y"], "levels": [2], "table": 0, "kind": "product", "categories": [None, None]}],
            [{"weight": TOTAL, "questions": [0]}],
        )
    )
    records = {"x": [0, 0, 1, 1], "y": [1.0, -1.0, 1.0, 1.0]}
    found = audit_plan(plan, population_from_records(plan, [records]))
    # x = 1: the product is 1, the answer 1 has 3/4; x = 0: products -1 and 1, the answer 1 has 1/2
    assert found.delta["x"].measured == pytest.approx(math.log((1 / 2) / (1 / 4)))
    assert found.epsilon.measured == pytest.approx(math.log(3))


def test_numbers_of_a_file_are_put_into_public_bins() -> None:
    """Smokers earn 10, others 0: a question about income tells as much of smoking as the ends of its table."""
    plan = Plan.build(
        survey(
            {
                "income": {"type": "numeric", "bounds": [0, 10], "delta": 20.0, "missing": 5},
                "smoker": {"type": "binary", "delta": 20.0},
            },
            [numeric(1.0).to_dict()],
            [{"features": ["income"], "levels": [numeric(1.0).levels], "table": 0}],
            [{"weight": TOTAL, "questions": [0]}],
        )
    )
    weights = numeric(1.0).dense().weights
    ends = np.maximum(weights[0] / weights[-1], weights[-1] / weights[0]).max()
    population = population_from_records(plan, [{"income": [0.0, 10.0, None], "smoker": [0, 1, 0]}])
    assert population.probabilities.sum() == pytest.approx(1)
    tied = population_from_records(plan, [{"income": [0.0, 10.0], "smoker": [0, 1]}] * 3)
    assert audit_plan(plan, tied).delta["smoker"].measured == pytest.approx(math.log(ends))
    with pytest.raises(InputError, match="no records"):
        population_from_records(plan, [])


def one_question(kind: str = "values") -> Plan:
    """Nothing but the number x, or its square, is asked, through 17 levels of which the upper ones differ."""
    ends = np.array([[TOTAL // 4, 3 * TOTAL // 4]] * 15 + [[TOTAL // 2, TOTAL // 2], [3 * TOTAL // 4, TOTAL // 4]])
    question: dict[str, Any] = {"features": ["x"], "levels": [17], "table": 0}
    return Plan.build(
        survey(
            {"s": {"type": "binary", "delta": 20.0}, "x": {"type": "numeric", "bounds": [-1, 1], "delta": 20.0}},
            [Dense(ends).to_dict()],
            [question if kind == "values" else {**question, "kind": kind, "categories": [None]}],
            [{"weight": TOTAL, "questions": [0]}],
        )
    )


SPREAD = {"s": [0, 0, 1, 1], "x": [0.9375, 0.9375, 0.875, 1.0]}  # in the middle of two levels, or on one of them


def test_numbers_are_rounded_as_the_device_rounds_them() -> None:
    """Both values of s give the same reports, so they tell nothing; numbers moved to the nearest bin would."""
    plan = one_question()
    population = population_from_records(plan, [SPREAD])
    assert audit_plan(plan, population).delta["s"].measured == 0
    assert audit_plan(plan, replace(population, numbers={})).delta["s"].measured > 0.1


def test_products_are_made_of_the_numbers_themselves() -> None:
    """2 x^2 - 1 of one step of x spans several levels: 0.7578125 is 14 of 16 and 1/16, 0.53125 is 12 and 1/4."""
    plan = one_question("product")
    population = population_from_records(plan, [SPREAD])
    first = 15 / 16 * 1 / 4 + 1 / 16 * 1 / 2  # the chance of symbol 0 if x is 0.9375
    other = (1 / 4 + 3 / 4) / 2
    expected = max(math.log(other / first), math.log((1 - first) / (1 - other)))
    assert audit_plan(plan, population).delta["s"].measured == pytest.approx(expected, abs=1e-11)


def test_the_device_is_run_on_the_numbers_themselves() -> None:
    """False alarm 1e-9; on the middles of bins, which nobody of these people holds, the same claim is refuted."""
    plan = one_question()
    people = population_from_records(plan, [SPREAD])
    for population, refuted in ((people, False), (replace(people, numbers={}), True)):
        found = audit_mechanism(device_mechanism(plan, population), population, 100_000, 1 - 1e-9, rng=3)
        assert bool(found.alarms(delta={"s": 0.0})) == refuted


def test_a_row_of_codes_stands_for_the_people_who_have_it() -> None:
    """Chi-square over 60,000 draws, false alarm 1e-9; people of equal chances instead are caught."""
    chances = np.array([0.1, 0.2, 0.3, 0.4])
    codes = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    population = Population(("s", "x"), codes, chances, (2, 9), {"x": np.array([0.1, 0.2, 0.3, 0.4])})
    seen = _somebody(population, np.repeat([[0, 1], [1, 0]], 30_000, axis=0))
    np.testing.assert_array_equal(codes[seen], np.repeat([[0, 1], [1, 0]], 30_000, axis=0))
    law = np.array([1 / 4, 1 / 3, 3 / 4, 2 / 3])
    assert chisquare(np.bincount(seen), 30_000 * law).pvalue > 1e-9
    assert chisquare(np.bincount(seen), np.full(4, 15_000)).pvalue < 1e-9
    with pytest.raises(InputError, match=r"records: got \[1, 1\]"):
        _somebody(population, np.array([[0, 1], [1, 1]]))


def nearness(value: float, level: int, size: int) -> float:
    return max(0.0, 1 - abs((value + 1) / 2 * (size - 1) - level))


def worth(kind: str, held: Any, category: int | None) -> Any:
    """What an answer stands for in a product: a number itself, or 1 for the value that is asked about and -1."""
    if category is not None:
        return 1 if held == category else -1
    return 2 * held - 1 if kind == "binary" else held


def symbol_law(plan: Plan, question: Question, held: dict[str, Any]) -> Any:
    """The chance of each symbol for one person, by the rules of the device, one level after the other."""
    kinds = {name: plan.policy.features[name].type for name in question.features}
    law = 0.0
    for place, digits in enumerate(np.ndindex(*question.levels)):
        if question.kind == "product":
            pairs = zip(question.features, question.categories, strict=True)
            factors = [worth(kinds[name], held[name], category) for name, category in pairs]
            value = math.prod(factors) if len(factors) == 2 else 2 * factors[0] ** 2 - 1
            share = nearness(value, digits[0], question.levels[0])
        else:
            share = 1.0
            for name, digit, size in zip(question.features, digits, question.levels, strict=True):
                share *= nearness(held[name], digit, size) if kinds[name] == "numeric" else held[name] == digit
        law = law + share * plan.tables[question.table].dense().weights[place] / TOTAL
    return law


def report_law(plan: Plan, held: dict[str, Any]) -> Any:
    laws = []
    for menu in plan.menus:
        asked = [symbol_law(plan, plan.questions[number], held) for number in menu.questions]
        laws.append(menu.weight / TOTAL * reduce(np.multiply.outer, asked).ravel())
    return np.concatenate(laws)


@pytest.mark.parametrize("document", [random_document, random_product_document])
def test_it_finds_the_levels_of_people_with_any_numbers(document: Any) -> None:
    """Every report of a few random people is enumerated here; as what is given, a number is its bin."""
    rng = np.random.default_rng(22)
    for _ in range(60):
        plan = Plan.build(document(rng))
        held, records, people = {}, {}, int(rng.integers(2, 9))
        for name, feature in plan.policy.features.items():
            held[name] = rng.uniform(-1, 1, people)
            records[name] = (held[name] + 1) / 2  # the bounds are 0 and 1
            if feature.type != "numeric":
                values = np.array(feature.values or (0, 1))
                held[name] = rng.integers(0, len(values), people)
                records[name] = values[held[name]]
        laws = np.stack([report_law(plan, {n: c[person] for n, c in held.items()}) for person in range(people)])
        population = population_from_records(plan, [records])
        found = audit_plan(plan, population)
        for (name, column), size in zip(held.items(), population.sizes, strict=True):
            given = np.rint((column + 1) / 2 * (size - 1)) if column.dtype.kind == "f" else column
            means = np.stack([laws[given == value].mean(axis=0) for value in np.unique(given)])
            possible = means[:, means.max(axis=0) > 0]
            with np.errstate(divide="ignore"):
                exact = np.log(possible.max(axis=0) / possible.min(axis=0)).max()
            assert near(found.delta[name].measured, exact)


def test_many_answers_are_enumerated_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = separate_responses(dict.fromkeys("abcdef", 0.5))
    population = population_of(list("abcdef"), paper_prior(6, 0.3))
    whole = audit_plan(plan, population)
    monkeypatch.setattr("bcdp.audit.exact._BLOCK_CELLS", 200)
    parts = audit_plan(plan, population)
    for name in "abcdef":
        assert parts.delta[name].measured == pytest.approx(whole.delta[name].measured, abs=1e-12)
    monkeypatch.setattr("bcdp.audit.exact.MOST_WORK", 1000)
    with pytest.raises(InputError, match="at most 1000"):
        audit_plan(plan, population)


@pytest.mark.parametrize("q", [0.01, 0.12, 0.5])
def test_common_practice_leaks_and_a_plan_does_not(q: float) -> None:
    """Six binary features, each through its own randomized response, at the paper's levels and for its prior."""
    found = leak(q, delta=PAPER_DELTA[:6])
    assert found.separate > 1.4 * found.asked
    assert found.planned <= found.asked
    # by hand: all answers agree; a person whose features are all equal gives this with the product of the keeps
    keep = [1 / (1 + math.exp(-level)) for level in PAPER_DELTA[:6]]
    same, other = math.prod(keep[1:]), math.prod(1 - k for k in keep[1:])
    rest = (1 - q) / 2 ** (len(keep) - 1)
    ratio = keep[0] / (1 - keep[0]) * (q * same + rest) / (q * other + rest)
    assert found.separate == pytest.approx(math.log(ratio), abs=1e-7)


def test_without_correlation_common_practice_is_right() -> None:
    found = leak(0.0, delta=PAPER_DELTA[:4])
    assert found.asked - 1e-8 < found.separate <= found.asked


def prior_file(path: Path, share: float) -> str:
    lines = ["smoker,drinker,region,probability"]
    for s, smoker in enumerate(("no", "yes")):
        for d, drinker in enumerate(("no", "yes")):
            lines += [f"{smoker},{drinker},{r},{(1 - share) / 12 + share * (s == d) / 6!r}" for r in "nse"]
    path.write_text("\n".join(lines))
    return str(path)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made().save(tmp_path / "plan.json")
    plan = str(tmp_path / "plan.json")
    assert main(["audit", plan, "--prior", prior_file(tmp_path / "loose.csv", 0.04), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document["features"]) == set(FEATURES)
    for level in (document["epsilon"], *document["features"].values()):
        assert level["measured"] <= level["certified"]
    assert main(["audit", plan, "--prior", prior_file(tmp_path / "tight.csv", 1.0)]) == 1
    shown = capsys.readouterr().out
    assert "delta smoker is" in shown
    assert "does NOT hold" in shown
    assert main(["audit", plan, "--prior", str(tmp_path / "none.csv")]) == 2
    assert main(["audit", plan]) == 2
    (tmp_path / "few.csv").write_text("smoker,probability\nno,0.5\nyes,0.5\n")
    assert main(["audit", plan, "--prior", str(tmp_path / "few.csv")]) == 2


def test_the_command_reads_records_and_runs_the_device(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """False alarm 1e-9, the risk that the device's limits have here; a device that tells the truth is caught."""
    monkeypatch.setattr("bcdp.audit.audit_mechanism", partial(audit_mechanism, confidence=1 - 1e-9))
    rows = [f"{s},{d},{r}" for s in ("no", "yes") for d in ("no", "yes") for r in "nse"]
    (tmp_path / "data.csv").write_text("\n".join(["smoker,drinker,region", *rows * 3]))
    made().save(tmp_path / "plan.json")
    command = ["audit", str(tmp_path / "plan.json"), "--data", str(tmp_path / "data.csv"), "--json"]

    def levels_shown() -> tuple[dict[str, Any], dict[str, Any]]:
        document = json.loads(capsys.readouterr().out)
        return document["epsilon"], document["features"]["drinker"]

    assert main(command) == 0
    assert all("device" not in level for level in levels_shown())
    assert main([*command, "--runs", "20000"]) == 0
    assert all(0 <= level["device"] <= level["certified"] for level in levels_shown())

    def truthful(plan: Plan, codes: Any, words: Any) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(words), dtype=np.int64), codes["drinker"]

    monkeypatch.setattr("bcdp.audit.device.answers", truthful)
    assert main([*command, "--runs", "20000"]) == 1
    assert all(level["measured"] <= level["certified"] < level["device"] for level in levels_shown())


def test_a_false_claim_is_shown_and_not_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(made().text)
    document["certificate"]["epsilon"] = 0.1
    Plan.build(document).save(tmp_path / "plan.json")
    prior = prior_file(tmp_path / "prior.csv", 0.0)
    assert main(["audit", str(tmp_path / "plan.json"), "--prior", prior, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["epsilon"]["measured"] > found["epsilon"]["certified"] == 0.1


def test_a_level_that_is_shown_as_the_one_with_nothing_assumed_is_compared_with_that() -> None:
    """By rounding of weights one menu reveals 5e-10 more than another; the promise about both has no condition."""
    plan = Plan.parse(json.loads((VECTORS / "told.json").read_text("utf-8"))["plan"])
    assert promises(plan)["place"].condition == NOTHING_ASSUMED
    certified, whole = plan.certificate.features["place"].certified, plan.certificate.epsilon
    assert 0 < whole - certified < 1e-8
    sizes = sizes_of(plan)
    names = list(plan.policy.features)
    place = names.index("place")
    prior = np.zeros(sizes)
    for value in range(sizes[place]):  # every other feature follows the place
        prior[tuple(value if axis == place else value % size for axis, size in enumerate(sizes))] = 1 / sizes[place]
    found = audit_plan(plan, population_of(names, prior))
    assert found.delta["place"].certified == whole
    assert found.kept


@pytest.mark.parametrize(("above", "kept"), [(0.0, True), (1.7e-9, True), (1e-7, False)])
def test_what_is_above_a_claim_by_a_rounding_is_no_violation(above: float, kept: bool) -> None:
    assert Level(0.3, 0.3 + above).kept == kept
