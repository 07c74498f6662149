"""Ordered values: mean scores, shares of sets and cumulative shares, from one design that serves what is wanted."""

from itertools import pairwise

import numpy as np
import pytest

from bcdp import Policy, Tally, estimate, make_plan, privatize
from bcdp.audit import verify_limits
from bcdp.errors import InputError
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.randomizers import optimal

VALUES = ["very bad", "bad", "fair", "good", "very good"]
TARGETS = {
    "mean": np.linspace(0, 1, 5)[:, None],
    "top two": np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]),
    "cumulative": (np.arange(5)[:, None] <= np.arange(4)).astype(float),
    "frequencies": np.eye(5),
}
TASKS = {
    "mean": {"mean": ["x"]},
    "top two": {"share": {"x": VALUES[3:]}},
    "cumulative": {"share": {"x": "cumulative"}},
    "frequencies": {"frequency": ["x"]},
}
# n times the variance under uniform answers of the best table, by an independent convex program (cvxpy) at budget 1
BEST = {"mean": 1.117, "top two": 1.161, "cumulative": 10.45, "frequencies": 12.23}


def policy(*tasks, epsilon=1.0, **more):
    return Policy(epsilon=epsilon, features={"x": {"type": "ordinal", "values": VALUES, **more}}, tasks=list(tasks))


@pytest.mark.parametrize("wanted", BEST)
def test_each_target_alone_is_as_precise_as_the_convex_program(wanted):
    plan = make_plan(policy(TASKS[wanted]))
    (target, _) = next(iter(plan.policy.tasks[0].targets(plan.policy)))
    numbers = TARGETS[wanted] * (2 if wanted == "mean" else 1) - (wanted == "mean")
    variance = 1 / information(plan)[target] - (numbers.mean(axis=0) ** 2).sum()
    assert variance / (4 if wanted == "mean" else 1) < 1.02 * BEST[wanted]
    assert plan.certificate.epsilon <= 1


@pytest.mark.parametrize("budget", [0.5, 1.0, 2.0, 3.0])
def test_no_other_column_would_improve_the_table(budget):
    """The equivalence theorem: the directional derivative towards every two-valued column is at most a small gap."""
    criterion = sum(numbers @ numbers.T / np.trace(numbers @ numbers.T) for numbers in TARGETS.values())
    table = optimal(criterion, np.full((5, 5), budget))
    assert table.level <= budget
    W = table.weights / 2.0**32
    inverse = np.linalg.inv((W / W.mean(axis=0)) @ W.T)
    inner = inverse @ criterion @ inverse
    sets = (np.arange(1, 31)[:, None] >> np.arange(5)) & 1
    offers = np.where(sets, np.exp(budget), 1.0)
    # prices of the rows: those at which every used column gains nothing, in the least-squares sense
    used = np.einsum("xy,xz,zy->y", W, inner, W) / W.mean(axis=0)
    prices = np.linalg.lstsq(W.T, used, rcond=None)[0]
    gains = (np.einsum("ox,xz,oz->o", offers, inner, offers) / offers.mean(axis=1) - offers @ prices) / offers.mean(
        axis=1
    )
    assert gains.max() < 0.01 * np.trace(criterion @ inverse)


def test_estimates_are_near_the_truth_and_agree_with_each_other():
    """Every deviation is below seven standard errors: a false alarm has a probability below 1e-10."""
    plan = make_plan(policy(*TASKS.values(), epsilon=3, scores=[0, 1, 2, 3, 10]))
    truth = np.array([0.05, 0.1, 0.15, 0.4, 0.3])
    answers = np.repeat(VALUES, (truth * 60_000).astype(int))
    found = estimate(Tally(plan).add(privatize(plan, {"x": answers})))
    mean = found.means["x"]
    assert abs(mean.raw - truth @ [0, 1, 2, 3, 10]) < 7 * mean.se
    shares = found.shares["x"]
    assert list(shares) == ["good or very good", *(f"at most {value}" for value in VALUES[:-1])]
    assert abs(shares["good or very good"].raw - 0.7) < 7 * shares["good or very good"].se
    frequencies = [found.frequencies["x"][value] for value in VALUES]
    for code, value in enumerate(VALUES[:-1]):
        below = shares[f"at most {value}"]
        assert abs(below.raw - truth[: code + 1].sum()) < 7 * below.se
        assert below.raw == pytest.approx(sum(share.raw for share in frequencies[: code + 1]), abs=1e-9)
    cumulative = [shares[f"at most {value}"] for value in VALUES[:-1]]
    for key in ("value", "low", "high"):
        assert all(getattr(one, key) <= getattr(two, key) for one, two in pairwise(cumulative))


def test_cumulative_shares_never_fall_where_few_answered():
    plan = make_plan(policy(TASKS["cumulative"], epsilon=0.5))
    for _ in range(5):
        shares = estimate(Tally(plan).add(privatize(plan, {"x": VALUES * 10}))).shares["x"]
        assert all(one.value <= two.value for one, two in pairwise(shares.values()))
        assert all(share.low <= share.value <= share.high for share in shares.values())


def test_no_answer_may_be_a_value_of_its_own():
    plan = make_plan(policy(TASKS["mean"], epsilon=3, missing="own"))
    answers = ["very bad"] * 10_000 + ["very good"] * 20_000 + [None] * 10_000
    mean = estimate(Tally(plan).add(privatize(plan, {"x": answers}))).means["x"]
    assert abs(mean.raw - (1 + 4 * 2 / 3)) < 7 * mean.se
    assert abs(mean.answered.raw - 0.75) < 7 * mean.answered.se


def test_the_second_certifier_reads_scores():
    plan = make_plan(policy(TASKS["mean"], scores=[1, 2, 4, 8, 16]))
    assert not verify_limits(plan.text).objections
    for scores in ("[1.0,2.0,4.0,8.0]", "[1.0,2.0,2.0,8.0,16.0]", '["a","b","c","d","e"]'):
        with pytest.raises(InputError, match="scores"):
            verify_limits(plan.text.replace("[1.0,2.0,4.0,8.0,16.0]", scores))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"scores": [1, 2, 3]}, "5 rising numbers"),
        ({"scores": [1, 2, 3, 3, 4]}, "5 rising numbers"),
        ({"scores": [1, 2, 3, 4, float("inf")]}, "rising numbers"),
        ({"values": ["only"]}, "2 to 100 different values"),
    ],
)
def test_what_is_no_scale_is_refused(more, message):
    with pytest.raises(InputError, match=message):
        policy(TASKS["mean"], **more)


@pytest.mark.parametrize(
    "sets", [{"x": []}, {"x": ["good", "good"]}, {"x": ["excellent"]}, {"x": VALUES}, {"y": ["good"]}]
)
def test_a_set_is_some_values_of_the_feature(sets):
    with pytest.raises(InputError, match=r"tasks\[0\]\.share"):
        policy({"share": sets})


def test_cumulative_shares_need_an_order():
    region = {"type": "categorical", "values": ["north", "south", "west"]}
    with pytest.raises(InputError, match="ordinal"):
        Policy(epsilon=1, features={"x": region}, tasks=[{"share": {"x": "cumulative"}}])
    plan = make_plan(Policy(epsilon=2, features={"x": region}, tasks=[{"share": {"x": ["north", "south"]}}]))
    answers = np.repeat(["north", "south", "west"], [10_000, 10_000, 20_000])
    share = estimate(Tally(plan).add(privatize(plan, {"x": answers}))).shares["x"]["north or south"]
    assert abs(share.raw - 0.5) < 7 * share.se
