"""The cascade on a device: it runs the plan's channels with the plan's integers, word for word, and no others."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.audit import verify_limits
from bcdp.exact import TOTAL, log_up
from bcdp.mechanisms.cascade import channels as cascade_channels
from bcdp.mechanisms.cascade.bits import randomized_signs
from bcdp.mechanisms.cascade.plans import coordinate_values, coordinates, estimate_records, largest_estimates
from bcdp.plan import certify
from bcdp.records.encoding import as_arrow, encode
from support.helpers import FEATURES, RECORDS, GivenWords, word_counts

pytestmark = pytest.mark.slow

FIXED = np.random.default_rng(5).integers(0, TOTAL, 100, dtype=np.uint32)  # the words that are not being counted


def plan_of(channels: list[tuple[list[str], int]], features: dict[str, Any] = FEATURES) -> Plan:
    """A plan with the given channels, which promises exactly what they keep."""
    stated = {name: {**feature, "delta": 400.0} for name, feature in features.items()}
    return Plan.certified(
        {
            "mechanism": "cascade",
            "collection": {"epsilon": 20.0, "features": stated, "order": list(stated)},
            "correlation": {"kind": "per feature", "default": 0.1, "named": {}, "source": "assumed"},
            "channels": [{"features": names, "keep": keep} for names, keep in channels],
        }
    )


def made_plan(deltas: list[float], correlation: Any) -> Plan:
    features = {
        name: {**feature, "delta": delta} for (name, feature), delta in zip(FEATURES.items(), deltas, strict=True)
    }
    return make_plan(Policy(epsilon=2, features=features, correlation=correlation, mechanism="cascade"))


def random_plan(seed: int) -> Plan:
    """Nested channels with any weights whose levels sum to at most 20, written in any order of features."""
    rng = np.random.default_rng(seed)
    left, channels = list(rng.permutation(list(FEATURES))), []
    while left and len(channels) < 5:
        keep = TOTAL // 2 + int(2 ** rng.uniform(0, 30.9))  # from the smallest weight to a level of 2.9
        channels.append(([str(name) for name in rng.permutation(left)], min(keep, TOTAL - 1)))
        left = left[: int(rng.integers(0, len(left) + 1))]
    return plan_of(channels)


PLANS = {
    "made": made_plan([0.2, 0.5, 2.0, 2.0], 0.05),
    "made, nothing assumed": made_plan([0.2, 0.5, 1.0, 2.0], 1.0),
    "made, one never asked": made_plan([0.7, 0.0, 1.3, 2.0], 0.0),
    "smallest": plan_of([(["kind", "bit"], TOTAL // 2 + 1), (["bit"], TOTAL // 2 + 1)]),
    "largest": plan_of([(["number"], 2**32 - 10)], {"number": FEATURES["number"]}),
    "twice the same": plan_of([(["number", "bit"], 2**31 + 10**9)] * 2),
} | {f"random {seed}": random_plan(seed) for seed in range(12)}


def reports(plan: Plan, record: int, words: dict[int, np.ndarray], size: int) -> np.ndarray:
    """What the device sends for one record with each of `size` choices of words."""
    codes = encode(plan.policy, as_arrow({name: RECORDS[name] for name in plan.policy.features}))
    columns = {position: np.full(size, word) for position, word in enumerate(FIXED)} | words
    repeated = {name: np.repeat(values[record], size) for name, values in codes.items()}
    return estimate_records(plan, repeated, GivenWords(size, columns))  # type: ignore[arg-type]


def covered(plan: Plan, number: int) -> np.ndarray:
    """The coordinates of a channel."""
    return np.array(
        [place for place, name in enumerate(coordinates(plan.policy)) if name in plan.channels[number].features]
    )


def position_of(plan: Plan, number: int) -> int:
    """The word that decides whether a channel keeps its bit: after its direction and the word that rounds."""
    return sum(len(covered(plan, before)) + 2 for before in range(number)) + len(covered(plan, number)) + 1


def true_direction(plan: Plan, record: int, number: int) -> np.ndarray:
    """The direction in which a channel points if it keeps its bit and the length is rounded up: towards the record."""
    codes = encode(plan.policy, as_arrow({name: RECORDS[name] for name in plan.policy.features}))
    own = coordinate_values(plan.policy, codes)[record, covered(plan, number)]
    first = position_of(plan, number) - 1 - len(own)
    direction = ndtri((FIXED[first : first + len(own)] + 0.5) / TOTAL)
    return direction if direction @ own >= 0 else -direction  # at 0 either will do, and the device takes this one


def words_that_keep(plan: Plan, record: int, number: int) -> int:
    """How many of the 2^32 words make a channel tell the truth about a record, all other words being fixed."""
    decides, covers = position_of(plan, number), covered(plan, number)
    rounded_up = {decides - 1: np.zeros(1, dtype=np.uint32)}
    ends = [
        reports(plan, record, rounded_up | {decides: np.array([word], dtype=np.uint32)}, 1)[0]
        for word in (0, TOTAL - 1)
    ]
    middle, half = (ends[0] + ends[1])[covers] / 2, (ends[0] - ends[1])[covers] / 2
    towards = true_direction(plan, record, number)
    assert (half * towards > 0).all(), "word 0 keeps the truth, the last word does not"

    def kept(words: np.ndarray) -> np.ndarray:
        columns = {decides - 1: np.zeros(len(words), dtype=np.uint32), decides: words}
        return ((reports(plan, record, columns, len(words))[:, covers] - middle) @ towards > 0).astype(np.int64)

    return word_counts(kept, [plan.channels[number].keep]).get(1, 0)


def counted(plan: Plan) -> list[set[int]]:
    """For each channel, the numbers of words that keep its bit, over all records."""
    return [{words_that_keep(plan, record, number) for record in range(4)} for number in range(len(plan.channels))]


@pytest.mark.parametrize("name", PLANS)
def test_exactly_keep_of_the_words_keep_the_bit_of_each_channel(name: str) -> None:
    """And the levels made of these counts are the plan's claims, by both certifiers."""
    plan = PLANS[name]
    assert counted(plan) == [{channel.keep} for channel in plan.channels]
    ratios = [Fraction(keep, TOTAL - keep) for (keep,) in counted(plan)]
    assert certify(plan).epsilon == log_up(math.prod(ratios, start=Fraction(1)))
    for feature, level in certify(plan).c.items():
        own = [ratio for ratio, channel in zip(ratios, plan.channels, strict=True) if feature in channel.features]
        assert level == log_up(math.prod(own, start=Fraction(1)))
        assert verify_limits(plan.text).c[feature] == pytest.approx(level, abs=1e-12)


@pytest.mark.parametrize("unit", [-1, 1])
@pytest.mark.parametrize("name", ["made", "smallest", "random 3"])
def test_one_word_more_or_less_is_seen(name: str, unit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a device that is broken by design, the count above fails in every channel."""
    broken = lambda signs, keep, words: randomized_signs(signs, keep + unit, words)  # noqa: E731
    monkeypatch.setattr(cascade_channels, "randomized_signs", broken)
    plan = PLANS[name]
    assert counted(plan) == [{channel.keep + unit} for channel in plan.channels]


def test_a_report_is_the_average_of_the_channels_by_precision() -> None:
    """Two channels by hand: `B U` of each, weighed by the inverse of its second moment `B^2 / m`."""
    plan = plan_of([(["number", "bit"], 2**31 + 10**8), (["bit"], 2**31 + 10**9)])
    order = coordinates(plan.policy)
    found = reports(plan, 1, {}, 1)[0]
    total, precision = np.zeros(len(order)), np.zeros(len(order))
    bound = np.zeros(len(order))
    for number, (channel, mean_length) in enumerate(zip(plan.channels, [2 / math.pi, 1.0], strict=True)):
        covers, decides = covered(plan, number), position_of(plan, number)
        m, contrast = len(covers), (2 * channel.keep - TOTAL) / TOTAL
        size = math.sqrt(m) / (contrast * mean_length)  # E|U_1| is 2/pi on the circle and 1 on the line
        towards = true_direction(plan, 1, number)
        share = math.sqrt(2 / 2) if m == 2 else 1.0  # the record is a corner of the box
        rounded = 1 if FIXED[decides - 1] < (0.5 + share / 2) * TOTAL else -1
        kept = 1 if FIXED[decides] < channel.keep else -1
        total[covers] += size * towards / np.linalg.norm(towards) * rounded * kept * m / size**2
        precision[covers] += m / size**2
        bound[covers] += size * m / size**2
    released = precision > 0
    assert released.tolist() == [name in ("bit", "number") for name in order]
    np.testing.assert_allclose(found[released], (total / np.where(released, precision, 1))[released], rtol=1e-12)
    assert np.isnan(found[~released]).all()
    np.testing.assert_allclose(largest_estimates(plan)[released], (bound[released] / precision[released]), rtol=1e-8)


@pytest.mark.parametrize("name", PLANS)
def test_what_a_device_sends_is_counted(name: str) -> None:
    plan = PLANS[name]
    records = {feature: RECORDS[feature] * 50 for feature in plan.policy.features}
    assert Tally(plan).add(privatize(plan, records)).people == 200


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        (
            [(["bit"], 2**31 + 9), (["number"], 2**31 + 9)],
            r"channels\.1\.features: got .*number.*; accepted: nested channels: some of bit, which channel 0 covers",
        ),
        (
            [(["bit"], 2**31 + 9), (["bit", "kind"], 2**31 + 9)],
            r"channels\.1\.features: got .*kind.*; accepted: nested",
        ),
        (
            [(["bit", "kind", "place"], 2**31 + 9), (["bit"], 2**31 + 9), (["kind"], 2**31 + 9)],
            r"channels\.2\.features: got .*kind.*; accepted: nested channels: some of bit, which channel 1 covers",
        ),
        ([(["bit"], 2**31)], r"channels\.0\.keep: got 2147483648; accepted: a weight above 2\^31"),
        ([(["bit", "bit"], 2**31 + 9)], r"channels\.0\.features: got .*; accepted: different features"),
        ([(["age"], 2**31 + 9)], r"channels\.0\.features: got .*; accepted: different features"),
        ([], r"channels: got 0; accepted: at least one channel"),
    ],
)
def test_channels_that_are_not_a_cascade_are_refused(channels: Any, message: str) -> None:
    document = json.loads(PLANS["random 0"].text)
    document["channels"] = [{"features": names, "keep": keep} for names, keep in channels]
    with pytest.raises(InputError, match=message):
        Plan.parse(json.dumps(document))


def test_a_policy_too_small_for_the_integers_is_refused() -> None:
    with pytest.raises(InputError, match=r"^epsilon and delta: got .*1e-10.*; accepted: an epsilon and a delta of at "):
        make_plan(Policy(epsilon=1e-10, features=FEATURES, mechanism="cascade"))


@pytest.mark.parametrize(
    "task",
    [
        {"regression": {"target": "bit", "features": ["number"]}},
        {"regression": {"target": "number", "features": ["bit", "kind"], "interactions": [["bit", "kind"]]}},
        {"regression": {"target": "bit", "features": ["number"], "link": "logit"}},
        {"regression": {"target": "kind", "features": ["number"]}},
        {"table": ["bit", "kind"]},
        {"mean": ["number"], "by": "kind"},
        {"distribution": ["number"]},
    ],
    ids=str,
)
def test_a_task_that_sums_do_not_tell_is_refused(task: dict[str, Any]) -> None:
    """With a sentence that names the mechanism which tells it; means and frequencies are told."""
    policy = {"epsilon": 2, "features": FEATURES, "mechanism": "cascade"}
    told = [{"mean": ["bit", "number"]}, {"frequency": ["kind"]}]
    with pytest.raises(InputError, match=r"^tasks\.2: got .*; accepted: means and frequencies .* mechanism survey"):
        make_plan(Policy(**policy, tasks=[*told, task]))
    plan = make_plan(Policy(**policy, tasks=told))
    found = estimate(Tally(plan).add(privatize(plan, RECORDS)))
    assert [len(section.rows) for section in found.sections()] == [2, 3]
