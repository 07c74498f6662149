"""Every two published results that say the same agree, in small collections as well; and none is worse for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bcdp import Estimates, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.estimates.consistency import identities
from bcdp.statistics import Single, ValueMeans
from bcdp.statistics.tables.cells import margins_of
from bcdp.statistics.tables.pairs import largest_share, towards_independence, with_pairs

MOODS, REGIONS, TOOLS = ("bad", "poor", "fair", "good", "great"), ("n", "e", "s", "w"), ("a", "b", "c")
FEATURES: dict[str, Any] = {
    "pay": {"type": "numeric", "bounds": [0, 50], "ranges": [10, 25]},
    "sex": {"type": "binary", "values": ["f", "m"]},
    "mood": {"type": "ordinal", "values": list(MOODS)},
    "region": {"type": "categorical", "values": list(REGIONS)},
    "tools": {"type": "multiple", "values": list(TOOLS), "at_most": 2},
}
TASKS: list[dict[str, Any]] = [
    {"mean": ["pay", "mood", "sex"]},
    {"distribution": ["pay"], "bins": 25},
    {"frequency": ["mood", "region", "sex", "tools"]},
    {"share": {"mood": ["good", "great"]}},
    {"share": {"region": ["n", "e"]}},
    {"table": ["sex", "pay"]},
    {"table": ["region", "mood"]},
    {"table": ["region", "sex"]},
    {"table": ["tools", "sex"]},
    {"table": ["region", "sex", "pay"]},
    {"mean": ["pay"], "by": "sex"},
    {"mean": ["mood"], "by": "region"},
    {"mean": ["sex"], "by": "region"},
]
SCORES = np.arange(1, 6)
CLOSE = 1e-8


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Policy(epsilon=3, correlation=0.3, features=FEATURES, tasks=TASKS))


def people(rng: np.random.Generator, size: int) -> dict[str, Any]:
    region = rng.choice(4, size, p=[0.5, 0.3, 0.15, 0.05])
    male = rng.random(size) < np.array([0.6, 0.5, 0.4, 0.7])[region]
    ticked = [
        [TOOLS[item] for item in sorted(rng.choice(3, rng.integers(0, 3), replace=False).tolist())] for _ in range(size)
    ]
    return {
        "pay": np.minimum(rng.gamma(3, 5 + 2 * male), 49.9),
        "sex": np.array(["f", "m"])[male.astype(int)],
        "mood": np.array(MOODS)[np.clip(np.round(rng.normal(2.5 - 0.5 * region, 1.2)), 0, 4).astype(int)],
        "region": np.array(REGIONS)[region],
        "tools": ticked,
    }


def tables_of(found: Estimates) -> dict[tuple[str, ...], np.ndarray]:
    every: dict[tuple[str, ...], Any] = {**found.tables, **found.three_way_tables}
    return {
        names: np.array([cell.value for cell in table.every]).reshape([len(values) for values in table.values])
        for names, table in every.items()
    }


def shares_of(found: Estimates) -> dict[str, np.ndarray]:
    return {
        name: np.array([share.value for share in shares.values()])
        for name, shares in found.frequencies.items()
        if name != "tools"
    }


def agree_about_one_feature(found: Estimates) -> None:
    shares, distribution = shares_of(found), found.distributions["pay"]
    assert found.means["mood"].value == pytest.approx(shares["mood"] @ SCORES, abs=CLOSE)
    assert found.means["sex"].value == pytest.approx(shares["sex"][1], abs=CLOSE)
    assert found.shares["mood"]["good or great"].value == pytest.approx(shares["mood"][3:].sum(), abs=CLOSE)
    assert found.shares["region"]["n or e"].value == pytest.approx(shares["region"][:2].sum(), abs=CLOSE)
    bins, edges = np.array([share.value for share in distribution.histogram]), np.array(distribution.edges)
    assert bins @ edges[:-1] - CLOSE <= found.means["pay"].value <= bins @ edges[1:] + CLOSE
    assert distribution.mean.value == found.means["pay"].value


def agree_about_tables(found: Estimates) -> None:
    shares, tables = shares_of(found), tables_of(found)
    below = {10: found.distributions["pay"].cdf[4].value}  # bins of 2
    for names, table in tables.items():
        assert table.min() >= 0
        for name, margin in zip(names, margins_of(table), strict=True):
            if name in shares:
                assert margin == pytest.approx(shares[name], abs=CLOSE), names
            elif name == "pay":
                assert margin[0] == pytest.approx(below[10], abs=CLOSE), names
            else:
                item = found.frequencies["tools"][name.removeprefix("tools: ")]
                assert margin[1] == pytest.approx(item.value, abs=CLOSE), names
    three = tables["region", "sex", "pay"]
    assert three.sum(axis=2) == pytest.approx(tables["region", "sex"], abs=CLOSE)
    assert three.sum(axis=0) == pytest.approx(tables["sex", "pay"], abs=CLOSE)


def agree_about_groups(found: Estimates) -> None:
    shares, tables = shares_of(found), tables_of(found)

    def means(name: str, by: str) -> np.ndarray:
        return np.array([mean.value for mean in found.groups[name, by].values.values()])

    pay = means("pay", "sex")
    if np.isfinite(pay).all():
        assert pay @ shares["sex"] == pytest.approx(found.means["pay"].value, abs=50 * CLOSE)
    for name, scores in (("sex", np.arange(2)), ("mood", SCORES)):
        own, table = means(name, "region"), tables["region", name]
        known = np.isfinite(own) & (table.sum(axis=1) > CLOSE)
        assert own[known] * table.sum(axis=1)[known] == pytest.approx((table @ scores)[known], abs=10 * CLOSE)


def collected(plan: Plan, seed: int, size: int) -> Tally:
    """The counts of so many people, the same ones whenever the seed is."""
    records = people(np.random.default_rng(seed), size)
    return Tally(plan).add(privatize(plan, records, key=bytes(range(seed, seed + 32)), ids=range(size)))


@pytest.mark.parametrize("size", [300, 3_000, 20_000])
def test_every_result_describes_the_same_population(plan: Plan, size: int) -> None:
    for seed in range(2):
        found = estimate(collected(plan, seed, size))
        agree_about_one_feature(found)
        agree_about_tables(found)
        agree_about_groups(found)
        every = [row.number for section in found.sections() for row in section.rows]
        assert all(each.low <= each.value <= each.high for each in every if np.isfinite(each.value))


def test_identities_are_those_of_every_population(plan: Plan) -> None:
    """Each holds in any records; a score by frequencies, and a set by them, are two, and the sum of shares is one."""
    policy = plan.policy
    score = ValueMeans("mood", tuple((-1 + 0.5 * place,) for place in range(5)))
    pair = ValueMeans("mood", tuple((float(place >= 3),) for place in range(5)))
    targets = (Single("mood"), score, pair)
    found = identities(policy, targets)
    assert len(found.rows) == 3
    codes = {"mood": np.random.default_rng(1).integers(5, size=40)}
    values = np.concatenate([target.of(policy, codes).mean(axis=0) for target in targets])
    assert found.rows @ values + found.constants == pytest.approx(np.zeros(3), abs=1e-12)
    assert np.abs(found.rows @ (values + np.eye(7)[5] * 0.1) + found.constants).max() > 1e-3


def test_the_unbiased_values_are_kept_and_errors_fall(plan: Plan) -> None:
    tally = collected(plan, 2, 3_000)
    found, alone = estimate(tally), tally.decoder()
    frequencies = alone.decode(Single("mood"))
    assert [share.raw for share in found.frequencies["mood"].values()] == pytest.approx(frequencies.value.tolist())
    apart = estimate(tally, liars=1e-9)  # which are not combined
    for (name, value), other in (
        (("mood", "great"), apart.frequencies["mood"]["great"]),
        (("region", "n"), apart.frequencies["region"]["n"]),
    ):
        assert found.frequencies[name][value].se <= other.se * (1 + 1e-9)
    assert found.means["mood"].se < apart.means["mood"].se


def test_three_tables_of_two_have_a_table_of_three() -> None:
    """Random ones, which often contradict each other, are moved towards independence until they do not."""
    rng = np.random.default_rng(3)
    moved = 0
    for _ in range(10):
        first, second = (rng.dirichlet(np.full(8, 0.15)).reshape(2, 2, 2) + 0.01 for _ in range(2))
        uniform = [np.full(2, 0.5)] * 3
        pairs = {axes: _with_equal_margins(first if axes[0] else second, axes) for axes in ((0, 1), (0, 2), (1, 2))}
        share = largest_share(uniform, pairs)
        moved += share < 1
        kept = {axes: towards_independence(pair, share) for axes, pair in pairs.items()}
        table = with_pairs(np.full((2, 2, 2), 1 / 8), kept)
        assert table.min() >= 0
        for axes, pair in kept.items():
            (other,) = {0, 1, 2} - set(axes)
            assert table.sum(axis=other) == pytest.approx(pair, abs=1e-8)
    assert 0 < moved < 10


def _with_equal_margins(table: np.ndarray, axes: tuple[int, int]) -> np.ndarray:
    """A table of two features, half of the people at each value of either."""
    (other,) = {0, 1, 2} - set(axes)
    pair = table.sum(axis=other) / table.sum()
    share = float(np.clip(pair[0, 0] + pair[1, 1], 0.02, 0.98)) / 2
    return np.array([[share, 0.5 - share], [0.5 - share, share]])
