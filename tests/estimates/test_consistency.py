"""All estimates of one number agree: mean, distribution, groups, steps; and are no worse for it in any population."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import gammaincc

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.estimates.consistency import ConsistentDecoder, consistent
from bcdp.statistics import Single, Steps, Target
from bcdp.statistics.shared.joint_targets import Below
from bcdp.statistics.shared.special import ndtr

FEATURES: dict[str, Any] = {
    "pay": {"type": "numeric", "bounds": [0, 50], "ranges": [10, 25]},
    "sex": {"type": "binary", "values": ["f", "m"]},
}
TASKS: list[dict[str, Any]] = [
    {"mean": ["pay"]},
    {"mean": ["pay"], "by": "sex"},
    {"table": ["sex", "pay"]},
    {"distribution": ["pay"], "bins": 50},
]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Policy(epsilon=2, features=FEATURES, tasks=TASKS))


def people(rng: np.random.Generator, size: int) -> dict[str, Any]:
    """Whole numbers are all at the lower end of their bins: as far from the bins' middles as can be."""
    return {
        "pay": np.floor(np.minimum(rng.gamma(3.0, 5.0, size), 49.999)),
        "sex": rng.choice(["f", "m"], size, p=[0.4, 0.6]),
    }


def test_one_population(plan: Plan) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        found = estimate(Tally(plan).add(privatize(plan, people(rng, 3_000))))
        mean, distribution = found.means["pay"], found.distributions["pay"]
        assert distribution.mean.value == mean.value
        shares, edges = np.array([share.value for share in distribution.histogram]), np.array(distribution.edges)
        assert shares @ edges[:-1] - 1e-9 <= mean.value <= shares @ edges[1:] + 1e-9
        assert mean.low <= mean.value <= mean.high
        for group in found.groups["pay", "sex"].values.values():
            assert group.low <= group.value <= group.high


def test_the_unbiased_value_is_kept(plan: Plan) -> None:
    tally = Tally(plan).add(privatize(plan, people(np.random.default_rng(2), 3_000)))
    found, unbiased = estimate(tally), tally.decoder()
    assert found.means["pay"].raw == pytest.approx(25 + 25 * unbiased.means([Single("pay")])[Single("pay")][0])
    target = Below("pay", tuple(float(edge) for edge in range(1, 50)))
    raw = [share.raw for share in found.distributions["pay"].cdf]
    assert raw == pytest.approx(unbiased.means([target])[target].tolist())
    assert found.means["pay"].value != found.means["pay"].raw
    assert found.means["pay"].se < estimate(tally, liars=0.001).means["pay"].se  # which are not combined


def test_sums_follow(plan: Plan) -> None:
    """A difference has the values that are reported, and a standard error of their joint covariance."""
    found = estimate(Tally(plan).add(privatize(plan, people(np.random.default_rng(3), 3_000))))
    first, second = found.distributions["pay"].histogram[10:12]
    total = first + second
    direct = found.distributions["pay"].cdf[11] - found.distributions["pay"].cdf[9]
    assert total.se == pytest.approx(direct.se)
    assert total.value == pytest.approx(direct.value)


def test_the_error_falls_and_intervals_hold() -> None:
    """100 collections of whole numbers, whose mean is as far from that of the bins as can be.

    Both errors are of the same collections. At least 75 of 100 intervals that hold with 95% or more hold, but for a
    chance below 1e-9.
    """
    features = {"pay": {"type": "numeric", "bounds": [0, 50]}}
    tasks = [{"mean": ["pay"]}, {"distribution": ["pay"], "bins": 50}]
    plan = make_plan(Policy(epsilon=2, features=features, tasks=tasks))
    rng = np.random.default_rng(4)
    squares, held = np.zeros(2), 0
    truth = float(gammaincc(3.0, np.arange(1, 50) / 5.0).sum())  # of the gamma distribution, rounded down
    for _ in range(100):
        records = {"pay": people(rng, 2_000)["pay"]}
        found = estimate(Tally(plan).add(privatize(plan, records))).means["pay"]
        squares += (found.value - truth) ** 2, (found.raw - truth) ** 2
        held += found.low <= truth <= found.high
    assert squares[0] < 0.9 * squares[1]
    assert held >= 75


def test_intervals_have_room_for_the_largest_bias() -> None:
    """Counting a bias of at most b like a variance b^2 keeps the coverage of intervals of 90% and more, for every b."""
    bias = np.linspace(0, 50, 5_001)
    for confidence, z in ((0.9, 1.6449), (0.95, 1.96), (0.99, 2.5758)):
        reach = z * np.sqrt(1 + bias**2)
        assert (ndtr(reach - bias) - ndtr(-reach - bias)).min() > confidence - 1e-4


def test_nothing_changes_where_no_number_is_asked_twice() -> None:
    plan = make_plan(Policy(epsilon=2, features=FEATURES, tasks=[{"mean": ["pay"]}, {"frequency": ["sex"]}]))
    decoder = Tally(plan).add(privatize(plan, people(np.random.default_rng(5), 500))).decoder()
    assert consistent(decoder) is decoder


def test_generalized_least_squares(plan: Plan) -> None:
    """The update is that of a regression on all unbiased values at once, identities being observations."""
    decoder = Tally(plan).add(privatize(plan, people(np.random.default_rng(6), 3_000))).decoder()
    combined = consistent(decoder)
    assert isinstance(combined, ConsistentDecoder)
    targets = combined.concerned
    before, after = decoder.together(targets), combined.together(targets)
    assert before is not None
    assert after is not None
    spread, basis = np.linalg.eigh(before.covariance)
    root = basis * np.sqrt(np.maximum(spread, 0.0))  # values are the unbiased ones plus root times standard numbers
    rows, right = [np.eye(len(root))], [np.zeros(len(root))]
    starts = dict(zip(targets, np.cumsum([0, *(t.size(plan.policy) for t in targets)]).tolist(), strict=False))

    def observe(factors: dict[Target, np.ndarray], constant: float, slack: float) -> None:
        row = np.zeros(len(root))
        for target, own in factors.items():
            row[starts[target] : starts[target] + len(own)] = own
        rows.append((row @ root / slack)[None])
        right.append(np.array([-(row @ before.value + constant) / slack]))

    below, steps = (next(t for t in targets if isinstance(t, kind)) for kind in (Below, Steps))
    for place, cut in enumerate((10.0, 25.0)):  # edges of bins, and of steps
        edge = np.eye(49)[below.cuts.index(cut)]
        observe({below: edge, steps: -(np.arange(3) <= place).astype(float)}, 0.0, 1e-8)
    middles = (np.arange(50) + 0.5) / 25 - 1
    observe({Single("pay"): np.ones(1), below: np.diff(middles)}, -float(middles[-1]), 1 / 50)
    solved = np.linalg.lstsq(np.concatenate(rows), np.concatenate(right), rcond=None)[0]
    assert after.value == pytest.approx(before.value + root @ solved, abs=1e-6)
