"""Hierarchical codes: shares of groups are unbiased and agree at every level, and their intervals hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from bcdp import InputError, Policy, Tally, estimate, make_plan, privatize
from bcdp.exact import TOTAL
from bcdp.statistics import code_groups, on_simplex

CODES = [*(f"1{n:02}" for n in range(24)), *(f"2{n:02}" for n in range(20, 24)), "310", "311", "4"]
LENGTHS = [1, 2]
SHARES = np.array([*[0.35 / 24] * 24, 0.3, 0.05, 0.04, 0.01, 0.1, 0.05, 0.1])
FALSE_ALARM = 1e-9


def policy(codes: Any = CODES, lengths: Any = LENGTHS, **more: Any) -> Policy:
    features = {"job": {"type": "categorical", "values": codes}}
    tasks = [{"share": {"job": {"prefixes": lengths}}}, {"frequency": ["job"]}]
    return Policy(epsilon=3, features=features, tasks=tasks, **more)


@pytest.fixture(scope="module")
def plan() -> Any:
    return make_plan(policy())


def collected(plan: Any, codes: Any, rng: np.random.Generator) -> Tally:
    """The answers of people with these codes; the one menu asks one question."""
    table = plan.tables[0]
    answers = table.sample(codes, rng.integers(0, TOTAL, len(codes), dtype=np.uint32))
    counts = np.bincount(answers, minlength=table.symbols)
    given = np.flatnonzero(counts)
    return Tally(plan).add({"menu": np.zeros(len(given), dtype=int), "answer": given, "count": counts[given]})


def counted(label: str, codes: npt.NDArray[Any]) -> float:
    """The exact share of a group among people with these codes."""
    start = label.removesuffix("*")
    exact = [code.startswith(start) if label.endswith("*") else code == start for code in CODES]
    return float(np.array(exact)[codes].mean())


def farthest(plan: Any, codes: npt.NDArray[Any], tally: Tally) -> float:
    """The largest distance of a group's unbiased share from its exact one, in standard errors."""
    shares = estimate(tally).shares["job"]
    return max(abs(share.raw - counted(label, codes)) / share.se for label, share in shares.items())


def test_shares_of_groups_are_those_of_the_people(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within seven standard errors, for all groups a false alarm below 1e-10; groups of other codes are not."""
    rng = np.random.default_rng(1)
    codes = rng.choice(len(CODES), 50_000, p=SHARES)
    tally = collected(plan, codes, rng)
    assert farthest(plan, codes, tally) < 7
    right = code_groups.groups_of

    def shifted(feature: Any, length: int) -> Any:
        names, own = right(feature, length)
        return code_groups.Groups(names, np.roll(own, 1))

    monkeypatch.setattr(code_groups, "groups_of", shifted)
    assert farthest(plan, codes, tally) > 7


@pytest.mark.parametrize("people", [50_000, 300])
def test_shares_agree_at_every_level(plan: Any, people: int) -> None:
    rng = np.random.default_rng(people)
    found = estimate(collected(plan, rng.choice(len(CODES), people, p=SHARES), rng))
    groups, codes = found.shares["job"], found.frequencies["job"]
    assert list(groups) == ["1*", "2*", "3*", "4*", "10*", "11*", "12*", "22*", "31*", "4"]
    levels = [{label: share for label, share in groups.items() if len(label) == size} for size in (2, 3)]
    levels[1]["4"] = groups["4"]
    for level, above in zip([levels[1], codes], levels, strict=True):
        for label, group in above.items():
            start = label.removesuffix("*")
            members = [share for code, share in level.items() if str(code).startswith(start)]
            assert group.value == pytest.approx(sum(share.value for share in members), abs=1e-12)
            assert group.raw == pytest.approx(sum(share.raw for share in members), abs=1e-9)
    for level in (*levels, codes):
        assert sum(share.value for share in level.values()) == pytest.approx(1, abs=1e-12)
        assert all(0 <= share.low <= share.value <= share.high <= 1 for share in level.values())
    difference = groups["1*"] - groups["2*"]  # of one collection: their covariance is known
    assert difference.se > max(groups["1*"].se, groups["2*"].se)


def test_intervals_hold(plan: Any) -> None:
    """Of each group in 95% of collections; a false alarm has a probability of 1e-9 for each of ten groups."""
    rng, collections, people = np.random.default_rng(3), 60, 3000
    held: dict[str, int] = {}
    for _ in range(collections):
        shares = estimate(collected(plan, rng.choice(len(CODES), people, p=SHARES), rng)).shares["job"]
        for label, share in shares.items():
            truth = sum(SHARES[code] for code in range(len(CODES)) if counted(label, np.array([code])))
            held[label] = held.get(label, 0) + (share.low <= truth <= share.high)
    assert len(held) == 10
    assert min(held.values()) >= binom.ppf(FALSE_ALARM, collections, 0.95)


def test_groups_of_many_rare_codes_do_not_gain() -> None:
    """Two groups with half of the people each keep them, whatever chance adds to their 100 and 900 codes.

    Codes that are fitted by themselves take 0.2 from the group of fewer codes.
    """
    codes = [*(f"1{number:03}" for number in range(100)), *(f"2{number:03}" for number in range(900))]
    unbiased = np.append(np.full(100, 0.5 / 100), np.full(900, 0.5 / 900)) + np.tile([0.02, -0.02], 500)
    groups, shares = code_groups.fitted_levels(policy(codes, [1]), "job", [1], unbiased)
    assert groups == pytest.approx([0.5, 0.5])
    assert shares.min() >= 0
    assert [shares[:100].sum(), shares[100:].sum()] == pytest.approx([0.5, 0.5])
    assert on_simplex(unbiased)[:100].sum() < 0.35


def test_the_question_is_that_about_frequencies(plan: Any) -> None:
    alone = Policy(epsilon=3, features={"job": {"type": "categorical", "values": CODES}})
    assert plan.tables == make_plan(alone).tables


def test_many_groups_are_reported_with_intervals_that_hold_together() -> None:
    codes = [f"{group:03}{number}" for group in range(130) for number in range(2)]
    plan, rng = make_plan(policy(codes, [2, 3])), np.random.default_rng(4)
    found = estimate(collected(plan, rng.integers(0, 260, 20_000), rng))
    few, many, _ = found.sections()
    assert (len(few.rows), few.interval) == (13, "")
    assert few.title.startswith("job by the first 2 characters")
    assert (len(many.rows), many.interval) == (20, ", of all groups together")
    assert many.remarks == ("The 20 largest of 130 groups.",)
    assert len(found.to_dict()["shares"]["job"]) == 143
    for label in ("05*", "051*"):  # codes that follow each other may be estimated alike
        share = found.shares["job"][label]
        assert share.linear is not None
        assert share.linear.standard_error() == pytest.approx(share.se)
    wide: dict[int, list[float]] = {3: [], 4: []}
    for label, share in found.shares["job"].items():
        if share.raw > 0:
            wide[len(label)].append((share.high - share.raw) / share.se)
    assert max(wide[3]) < 2.5 < 3 < min(wide[4])  # 1.96 standard errors for one, 3.6 for 130 together


def test_tables_frequencies_and_groups_are_one_population() -> None:
    jobs = ["11", "12", "21", "22"]
    features = {"job": {"type": "categorical", "values": jobs}, "old": {"type": "binary"}}
    tasks: list[Any] = [{"share": {"job": {"prefixes": [1]}}}, {"frequency": ["job"]}, {"table": ["job", "old"]}]
    plan = make_plan(Policy(epsilon=2, features=features, tasks=tasks))
    rng = np.random.default_rng(5)
    people = {"job": rng.choice(jobs, 400, p=[0.9, 0.05, 0.03, 0.02]), "old": [0, 1] * 200}
    found = estimate(Tally(plan).add(privatize(plan, people)))
    for label, share in found.shares["job"].items():
        codes = [each.value for code, each in found.frequencies["job"].items() if str(code).startswith(label[0])]
        assert share.value == pytest.approx(sum(codes), abs=1e-9)


def test_no_answer_is_beside_the_groups() -> None:
    feature = {"type": "categorical", "values": ["11", "12", "21", "22"], "missing": "own"}
    tasks = [{"share": {"job": {"prefixes": [1]}}}, {"frequency": ["job"]}]
    plan = make_plan(Policy(epsilon=3, features={"job": feature}, tasks=tasks))
    answers = ["11", "12", "21", None] * 5000
    found = estimate(Tally(plan).add(privatize(plan, {"job": answers})))
    groups = found.shares["job"]
    assert list(groups) == ["1*", "2*"]
    assert abs(groups["1*"].raw - 0.5) < 7 * groups["1*"].se
    whole = groups["1*"].value + groups["2*"].value + found.frequencies["job"]["no answer"].value
    assert whole == pytest.approx(1)


@pytest.mark.parametrize(
    ("feature", "wanted", "message"),
    [
        (CODES, {"prefixes": [3]}, "for job prefixes of lengths among 1, 2"),
        (CODES, {"prefixes": []}, r"\{prefixes: \[1, 2\]\}"),
        (CODES, {"prefixes": [0]}, r"\{prefixes: \[1, 2\]\}"),
        (CODES, {"prefixes": [1, 1]}, r"\{prefixes: \[1, 2\]\}"),
        (CODES, {"prefixes": [True]}, r"\{prefixes: \[1, 2\]\}"),
        ([11, 12, 21], {"prefixes": [1]}, "codes that are listed as text"),
        ({"integers": [10, 99]}, {"prefixes": [1]}, "codes that are listed as text"),
        (["north", "south"], {"prefixes": [1]}, "some of which begin alike"),
        ([f"{number:05}" for number in range(20_000)], {"prefixes": [3]}, "shorter prefixes: with 20000 codes at most"),
    ],
)
def test_what_makes_no_groups_is_refused(feature: Any, wanted: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"tasks\[0\]\.share.*{message}"):
        Policy(
            epsilon=1,
            features={"job": {"type": "categorical", "values": feature}},
            tasks=[{"share": {"job": wanted}}],
        )


def test_the_cascade_refuses_them() -> None:
    with pytest.raises(InputError, match=r"tasks\.0"):
        make_plan(policy(mechanism="cascade", correlation=0.1))
