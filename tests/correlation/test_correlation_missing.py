"""A `missing` rule makes "missing" one more value of a feature: what q has to know about it, whatever its source."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bcdp.correlation import FinitePrior, correlation_of, estimate_correlation
from bcdp.correlation.private_sample import TWO_RELEASES, correlation_from_wave
from bcdp.errors import InputError
from bcdp.mechanisms.planning import make_plan
from bcdp.notions import levels
from bcdp.plan import Plan
from bcdp.policy import Policy
from support.helpers import Array, full_kernel, random_prior, tally_of

# x is missing in 5% of the records, and y is 1 there. Coded as 0, missing values hide it: the law of y given the
# codes 0 and 1 is the same.
SHARES = {"0": 0.45, "1": 0.5, "": 0.05}
Y = {"0": 0.4, "1": 0.46, "": 1.0}


def policy(rule: bool = True, **changes: Any) -> Policy:
    x = {"type": "binary", "delta": 0.2} | ({"missing": 0} if rule else {})
    return Policy(**{"epsilon": 4.0, "features": {"x": x, "y": {"type": "binary"}}} | changes)


def sample() -> dict[str, list[int | None]]:
    """100,000 records with exactly the shares of the population."""
    rows = [
        (None if x == "" else int(x), y)
        for x, share in SHARES.items()
        for y, chance in ((1, Y[x]), (0, 1 - Y[x]))
        for _ in range(round(100_000 * share * chance))
    ]
    return {"x": [x for x, _ in rows], "y": [y for _, y in rows]}


def true_level(plan: Plan) -> float:
    """Of x, whose values are 0, 1 and missing: by enumeration of all reports."""
    kernel = full_kernel(plan)[[0, 1, 0]]  # missing is coded as 0
    prior = np.array([[share * (1 - Y[x]), share * Y[x]] for x, share in SHARES.items()])
    return float(levels(prior, kernel).bcdp[0])


def prior_file(folder: Path, shares: dict[str, float] = SHARES) -> str:
    rows = [f"{x},{y},{share * abs(1 - y - Y[x])!r}" for x, share in shares.items() for y in (0, 1)]
    path = folder / "prior.csv"
    path.write_text("\n".join(["x,y,probability", *rows]) + "\n")
    return str(path)


def test_a_pilot_counts_missing_as_a_value() -> None:
    """The promise holds for it by enumeration; read as the value 0, missing values would break it."""
    plan = make_plan(policy(), estimate_correlation(policy(), sample()))
    assert true_level(plan) <= plan.certificate.features["x"].certified + 1e-12 <= 0.2 + 1e-12
    filled = {"x": [x or 0 for x in sample()["x"]], "y": sample()["y"]}
    careless = make_plan(policy(False), estimate_correlation(policy(False), filled))
    assert true_level(careless) > 1.0  # what is promised there is about complete records only
    with pytest.raises(InputError, match=r"column 'x': [\d,]+ of [\d,]+ records have no value; accepted: .*`missing: "):
        estimate_correlation(policy(False), sample())


def test_a_prior_names_missing_by_an_empty_cell(tmp_path: Path) -> None:
    known = policy(correlation={"prior": prior_file(tmp_path)})
    model = correlation_of(known)
    assert model.q("x", {"y"}) == pytest.approx(0.6, abs=1e-9)  # 0.4 against 1
    assert model.q("y", {"x"}) == pytest.approx(0.0, abs=1e-9)  # as x is coded, y says nothing about it
    plan = make_plan(known)
    assert true_level(plan) == pytest.approx(plan.certificate.features["x"].certified, abs=1e-9)


def test_a_prior_that_does_not_speak_of_missing_bounds_nothing(tmp_path: Path) -> None:
    coded = {"0": 0.5, "1": 0.5}
    silent = correlation_of(policy(correlation={"prior": prior_file(tmp_path, coded)}))
    assert silent.q("x", {"y"}) == 1.0
    assert silent.laws("x", "y") is None
    assert silent.q("y", {"x"}) < 0.1
    assert true_level(make_plan(policy(correlation={"prior": prior_file(tmp_path, coded)}))) <= 0.2 + 1e-12
    never = correlation_of(policy(correlation={"prior": prior_file(tmp_path, coded | {"": 0.0})}))
    assert never.q("x", {"y"}) == pytest.approx(0.06, abs=1e-9)  # stated: it is never missing
    with pytest.raises(InputError, match=r"line 6\).*empty for a missing one, if there is a rule"):
        correlation_of(policy(False, correlation={"prior": prior_file(tmp_path)}))


def test_a_prior_with_missing_values_is_the_definition() -> None:
    """Three features, two of which may be missing: every distance by enumeration of what is given and what is told."""
    rng = np.random.default_rng(0)
    missing, values = {"a": 1, "c": 0}, {"a": 2, "b": 3, "c": 2}
    for _ in range(20):
        table = random_prior(rng, (3, 3, 3))
        model = FinitePrior(("a", "b", "c"), table, "test", missing)
        told = {name: [missing.get(name, 0) if code == values[name] else code for code in range(3)] for name in values}
        for name in values:
            for size in (1, 2):
                for others in itertools.combinations([other for other in values if other != name], size):
                    exact = distance(table, list(values), name, others, told)
                    assert exact <= model.q(name, others) <= exact + 3e-12
        assert model.coded.shape == (2, 3, 2)
        assert model.coded.sum() == pytest.approx(1)


def distance(table: Array, names: list[str], name: str, others: tuple[str, ...], told: dict[str, list[int]]) -> float:
    laws: dict[int, dict[tuple[int, ...], float]] = {}
    for record, p in np.ndenumerate(table):
        states = dict(zip(names, record, strict=True))
        cell = tuple(told[other][states[other]] for other in others)
        law = laws.setdefault(states[name], {})
        law[cell] = law.get(cell, 0.0) + p
    shares = [
        {z: p / math.fsum(law.values()) for z, p in law.items()} for law in laws.values() if sum(law.values()) > 0
    ]
    return max(
        (math.fsum(max(0.0, one[z] - other[z]) for z in one) for one, other in itertools.permutations(shares, 2)),
        default=0.0,
    )


NUMBERS = Policy(
    epsilon=1.0,
    features={"n": {"type": "numeric", "bounds": [0, 1], "missing": 0.5}, "b": {"type": "binary"},
              "k": {"type": "categorical", "values": ["u", "v"], "missing": "u"}},
)  # fmt: skip


def columns(missing: float) -> dict[str, Any]:
    rng, people = np.random.default_rng(1), 20_000
    n, gone = rng.uniform(0, 1, people), rng.random((2, people)) < missing
    k = rng.choice(["u", "v"], people)
    return {"n": np.where(gone[0], np.nan, n), "b": rng.integers(0, 2, people), "k": np.where(gone[1], None, k)}


def test_whatever_way_a_value_is_missing_it_counts() -> None:
    """NaN, null and a category without a value, in every form of table; as told they have their imputed value."""
    given = columns(0.1)
    frame = pd.DataFrame(given)
    tables = [given, frame, pa.Table.from_pandas(frame), pa.table({**given, "n": pa.array(given["n"])}),
              frame.assign(k=frame["k"].astype("category")), frame.assign(k=frame["k"].fillna(""))]  # fmt: skip
    found = [estimate_correlation(NUMBERS, table) for table in tables]
    assert all(each.limits == found[0].limits for each in found)
    assert found[0].q("n", {"b"}) < 0.1
    filled = frame.assign(n=frame["n"].fillna(0.5), k=frame["k"].fillna("u"))
    told = estimate_correlation(NUMBERS, filled)
    assert told.limits["b"] == found[0].limits["b"]


def test_a_sample_in_which_nothing_is_missing_says_so() -> None:
    found = estimate_correlation(NUMBERS, columns(0.0))
    assert found.q("n", {"b"}) == found.q("k", {"b"}) == 1.0
    assert found.q("b", {"n"}) < 0.1
    assert found.notes == tuple(
        f"{name}: never missing in the sample, which its `missing` rule makes part of the promise: its q is 1"
        for name in ("n", "k")
    )


def test_in_a_tree_missing_values_pass_on_what_they_say() -> None:
    """Given i = 1, j is often missing, and its codes are as frequent as ever: i tells of what depends on that."""
    features = {"i": {"type": "binary"}, "j": {"type": "binary", "missing": 0}, "k": {"type": "binary"}}
    i = [0] * 20_000 + [1] * 20_000
    j = ([0] * 10_000 + [1] * 10_000) + ([0] * 2_000 + [None] * 8_000 + [1] * 10_000)
    table = {"i": i, "j": j, "k": [int(value is None) for value in j]}
    told, passed = (
        estimate_correlation(Policy(epsilon=1.0, features=features), table, model=model).q("i", {"j"})
        for model in ("pairs", "tree")
    )
    assert told < 0.05 < 0.4 <= passed


def test_one_feature_has_no_others() -> None:
    alone = Policy(epsilon=1.0, features={"x": {"type": "binary"}})
    assert estimate_correlation(alone, {"x": [0, 1] * 500}).notes == ()


def test_a_wave_does_not_tell_what_was_missing() -> None:
    """The feature with the rule keeps q = 1; what the other one says of it is bounded as ever."""
    plan = make_plan(policy(correlation=1, features={"x": {"type": "binary", "missing": 0}, "y": {"type": "binary"}}))
    chances = np.tensordot(np.full((2, 2), 0.25), full_kernel(plan), axes=2)
    found = correlation_from_wave(tally_of(plan, np.round(10**8 * chances).astype(np.int64)))
    assert found.q("x", {"y"}) == 1.0
    assert found.laws("x", "y") is None
    assert found.q("y", {"x"}) < 0.01
    assert found.notes == ("x: answers do not tell whether a value was missing, so the q is 1", TWO_RELEASES)
