"""Features with many values: the most frequent are shown, and the intervals of all values hold together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from bcdp import InputError, Policy, Tally, estimate, make_plan, privatize
from bcdp.exact import TOTAL
from bcdp.statistics.frequency import Frequency

VALUES = 120
FALSE_ALARM = 1e-9
CODES: dict[str, Any] = {
    "epsilon": 3,
    "features": {"code": {"type": "categorical", "values": {"integers": [7, 20_007]}}},
}


def policy(values: int, epsilon: float = 2.0) -> Policy:
    return Policy(
        epsilon=epsilon, features={"code": {"type": "categorical", "values": [f"c{i}" for i in range(values)]}}
    )


def collected(plan: Any, codes: Any, rng: np.random.Generator) -> Any:
    """The estimates from the answers of people with these values; the one menu asks one question."""
    table = plan.tables[0]
    answers = table.sample(codes, rng.integers(0, TOTAL, len(codes), dtype=np.uint32))
    counts = np.bincount(answers, minlength=table.symbols)
    given = np.flatnonzero(counts)
    reports = {"menu": np.zeros(len(given), dtype=int), "answer": given, "count": counts[given]}
    return estimate(Tally(plan).add(reports)).frequencies["code"]


def test_the_intervals_of_all_values_hold_together() -> None:
    """In 95% of collections at least; single intervals would all hold in none of them."""
    plan, rng, collections, people = make_plan(policy(VALUES)), np.random.default_rng(8), 60, 4000
    shares = np.arange(1, VALUES + 1) ** -1.0
    shares /= shares.sum()
    together = alone = 0
    for _ in range(collections):
        estimates = collected(plan, rng.choice(VALUES, people, p=shares), rng)
        low, high, raw, se = np.array([(e.low, e.high, e.raw, e.se) for e in estimates.values()]).T
        together += bool(((low <= shares) & (shares <= high)).all())
        alone += bool((np.abs(raw - shares) <= 1.96 * se).all())
    assert together >= binom.ppf(FALSE_ALARM, collections, 0.95)
    assert alone <= collections / 4


def test_the_most_frequent_values_are_shown_and_all_are_in_the_document() -> None:
    plan, rng = make_plan(policy(2000, epsilon=4.0)), np.random.default_rng(9)
    codes = np.where(rng.random(50_000) < 0.5, rng.integers(7, 10, 50_000), rng.integers(0, 2000, 50_000))
    records = pa.table({"code": [f"c{code}" for code in codes]})
    estimates = estimate(Tally(plan).add(privatize(plan, records)))
    (section,) = estimates.sections()
    assert len(section.rows) == 20
    assert {row.name for row in section.rows[:3]} == {"c7", "c8", "c9"}
    assert section.remarks == ("The 20 most frequent of 2,000 values.",)
    assert "together" in section.interval
    assert len(estimates.to_dict()["frequencies"]["code"]) == 2000
    few = estimate(Tally(make_plan(policy(3))).add({"menu": [0], "answer": [0], "count": [9]}))
    assert [section.interval for section in few.sections()] == [""]


class Unread(list[int]):
    """A list that only tells how long it is."""

    def __iter__(self) -> Any:
        raise AssertionError("read one by one")


def test_too_many_are_refused_before_they_are_read() -> None:
    values = Unread(range(300_000))
    with pytest.raises(InputError, match=r"features\.code\.values: got '300000 values'; accepted: .* 10000"):
        Policy(epsilon=1, features={"code": {"type": "categorical", "values": values}})
    with pytest.raises(AssertionError, match="one by one"):
        Policy(epsilon=1, features={"code": {"type": "categorical", "values": Unread([1, 2])}})
    with pytest.raises(InputError, match="features: got '20000 features'"):
        Policy(epsilon=1, features={f"x{i}": {"type": "binary"} for i in range(20_000)})


def test_of_more_values_than_can_be_listed_the_most_frequent_are_reported() -> None:
    """Their intervals hold the truth, and no estimate of the others is computed before it is looked at."""
    plan, rng = make_plan(Policy(**CODES)), np.random.default_rng(10)
    often = {17: 0.2, 0: 0.15, 20_000: 0.1}
    shares = np.full(20_001, (1 - sum(often.values())) / 19_998)
    shares[[*often]] = [*often.values()]
    estimates = collected(plan, rng.choice(20_001, 60_000, p=shares), rng)
    assert [value for value, _ in estimates.largest(3)] == [24, 7, 20_007]
    assert len(estimates) == 20_001
    assert all(estimates[code + 7].low <= share <= estimates[code + 7].high for code, share in often.items())
    low, high = estimates.columns[2:4]
    assert ((low <= shares) & (shares <= high)).all()
    with pytest.raises(KeyError):
        estimates[6]
    (section,) = Frequency.sections(plan.policy, {"code": estimates})
    assert section.remarks == ("The 20 most frequent of 20,001 values.",)
    assert [row.name for row in section.rows[:3]] == ["24", "7", "20007"]


def test_fake_reports_are_not_allowed_for_where_most_values_are_not_reported() -> None:
    plan = make_plan(Policy(**CODES))
    tally = Tally(plan).add(privatize(plan, {"code": [7] * 50}))
    assert len(estimate(tally).to_dict()["frequencies"]["code"]) == 100
    with pytest.raises(InputError, match="liars: got"):
        estimate(tally, liars=0.1)


def test_several_features_with_a_million_values_have_countable_answers() -> None:
    """Geometries give way until all answers can be counted, the levels that are kept stay what was asked."""
    million: dict[str, Any] = {"type": "categorical", "values": {"integers": [1, 1_000_000]}, "delta": 3.0}
    alone = make_plan(Policy(epsilon=3, features={"a": million})).tables[0]
    plan = make_plan(Policy(epsilon=3, features=dict.fromkeys("abc", million)))
    assert len(plan.menus) * (alone.symbols + 1) > 2**24 >= sum(math.prod(sizes) for sizes in plan.symbols)
    assert all(claim.certified <= 3.0 for claim in plan.certificate.features.values())
    assert {plan.tables[plan.questions[menu.questions[0]].table].levels for menu in plan.menus} == {1_000_000}
