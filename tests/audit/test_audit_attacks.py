"""Attacks on the mechanism: what each would tell, exactly, and that the package does not let it happen."""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bcdp import Device, InputError, Ledger, Plan, Release, Tally, privatize
from bcdp.audit import audit_mechanism, population_of, verify_limits
from bcdp.exact import TOTAL
from bcdp.notions import bcdp_from, dobrushin, levels
from bcdp.plan.ledger import release_of
from bcdp.randomizers import binary
from bcdp.randomness import RecordWords, check_key
from support.helpers import full_kernel, survey

PRIOR = np.array([[0.3, 0.2], [0.2, 0.3]])  # smoker x walker: q is 0.2
Q = dobrushin(PRIOR, 0)


def document_of(smoker: float = 0.2, walker: float = 1.0, together: bool = False) -> dict[str, Any]:
    """One question about each of two features, in two menus or together in one."""
    return survey(
        {name: {"type": "binary", "delta": 20.0} for name in ("smoker", "walker")},
        [binary(smoker).to_dict(), binary(walker).to_dict()],
        [{"features": ["smoker"], "levels": [2], "table": 0}, {"features": ["walker"], "levels": [2], "table": 1}],
        [{"weight": TOTAL, "questions": [0, 1]}]
        if together
        else [{"weight": TOTAL // 2, "questions": [0]}, {"weight": TOTAL // 2, "questions": [1]}],
        q=Q + 1e-12,
    )


def repeated(kernel: np.ndarray, times: int) -> np.ndarray:
    """The kernel of several fresh answers to the same plan."""
    whole = np.ones((*kernel.shape[:-1], 1))
    for _ in range(times):
        whole = (whole[..., :, None] * kernel[..., None, :]).reshape(*kernel.shape[:-1], -1)
    return whole


@pytest.mark.parametrize("times", [2, 3, 4])
def test_repeated_answers_tell_as_much_as_the_sums_say(times: int) -> None:
    """Without a memory c and T grow with every answer and delta follows (*) (theory.md, 4.6); it is reached.

    The features are tied as far as q allows at the worst point of (*): common mass where the answer is most likely.
    """
    plan = Plan.certified(document_of(together=True))
    kernel = full_kernel(plan)
    certified = plan.certificate.features["smoker"].certified
    c, epsilon = plan.certificate.features["smoker"].c, plan.certificate.epsilon
    law = bcdp_from(times * c, times * epsilon, Q)
    exact = levels(PRIOR, repeated(kernel, times))
    assert certified < exact.bcdp[0] <= float(law)
    worst = np.array([[0.5, 0.0], [0.5 * (1 - Q), 0.5 * Q]])  # given the first value always the least walkers
    assert levels(worst, repeated(kernel, times)).bcdp[0] == pytest.approx(float(law), abs=1e-6)
    ledger = Ledger()
    for number in range(times):
        ledger = ledger.add(Release(f"answer {number}", epsilon, {"smoker": c, "walker": 1.0}))
    assert ledger.delta("smoker", Q) == pytest.approx(float(law))


def test_a_memory_answers_once_however_often_it_is_asked() -> None:
    """A hundred requests, one answer; without a memory a hundred fresh ones differ but for a chance of 0.55^99."""
    plan, record = Plan.certified(document_of(together=True)), {"smoker": 1, "walker": 0}
    device = Device({})
    assert len({json.dumps(device.answer(plan, record)) for _ in range(100)}) == 1
    assert len({json.dumps(Device({}).answer(plan, record)) for _ in range(100)}) > 1
    ledger = Ledger()
    for _ in range(100):
        ledger = ledger.add(release_of(plan))
    assert ledger.delta("smoker") == plan.certificate.features["smoker"].certified


def test_a_menu_chosen_by_the_record_tells_it_whatever_the_budgets() -> None:
    """Smokers draw the first menu with 3/4 instead of 1/2: the menu's number adds log 3 to every level."""
    plan = Plan.certified(document_of())
    kernel = full_kernel(plan)
    split = kernel.reshape(2, 2, 2, 2)  # smoker, walker, menu, answer
    chance = np.array([[0.25, 0.75], [0.75, 0.25]])  # of each menu, given smoker
    chosen = (split * 2 * chance[:, None, :, None]).reshape(2, 2, -1)
    honest, broken = levels(PRIOR, kernel), levels(PRIOR, chosen)
    assert honest.bcdp[0] <= plan.certificate.features["smoker"].certified
    assert broken.cdp[0] == pytest.approx(honest.cdp[0] + math.log(3))
    assert broken.bcdp[0] > plan.certificate.features["smoker"].certified + 0.9 * math.log(3)
    assert found(chosen, plan)
    assert not found(kernel, plan)


def found(kernel: np.ndarray, plan: Plan) -> bool:
    """Whether an audit of 200,000 runs with fixed seeds refutes a claim of the plan."""
    ends, rng = kernel.cumsum(axis=-1), np.random.default_rng(30)

    def mechanism(records: Any) -> Any:
        return (rng.random(len(records))[:, None] >= ends[tuple(records.T)][:, :-1]).sum(axis=1)

    measured = audit_mechanism(mechanism, population_of(["smoker", "walker"], PRIOR), 200_000, rng=31)
    claims = plan.certificate
    return measured.alarms(claims.epsilon, None, {n: c.certified for n, c in claims.features.items()}) != ()


def test_declining_after_the_menu_is_seen_tells_the_record() -> None:
    """Smokers decline when asked about smoking, one time in two: silence becomes an answer that only they give."""
    plan = Plan.certified(document_of())
    kernel = full_kernel(plan)
    refuses = kernel.copy()
    refuses[1, :, :2] /= 2
    silent = np.concatenate([refuses, 1 - refuses.sum(axis=-1, keepdims=True)], axis=-1)
    assert levels(PRIOR, silent).bcdp[0] == math.inf
    assert found(silent, plan)
    # deciding before the draw, whatever the record, tells nothing more
    before = np.concatenate([kernel / 2, np.full((2, 2, 1), 0.5)], axis=-1)
    np.testing.assert_allclose(levels(PRIOR, before).bcdp, levels(PRIOR, kernel).bcdp, rtol=1e-12)


def test_a_report_is_sent_for_every_record_and_has_one_shape() -> None:
    document = document_of()
    document["collection"]["features"]["walker"]["missing"] = 0
    reports = privatize(Plan.certified(document), {"smoker": [0, 1, 0] * 50, "walker": [1, None, 0] * 50})
    assert len(reports) == 150
    assert reports.column("menu").null_count == reports.column("answer").null_count == 0


def test_swapped_tables_are_noticed_by_everybody() -> None:
    """The sensitive question answered with the large budget: the claims are kept as they were."""
    document = json.loads(Plan.certified(document_of()).text)
    document["questions"][0]["table"], document["questions"][1]["table"] = 1, 0
    with pytest.raises(InputError, match=r"certificate.features.smoker.certified: claimed"):
        Plan.parse(json.dumps(document))
    found = verify_limits(document, max_delta={"smoker": 0.5})
    assert found.objections == (
        "delta of smoker is 1, above the 0.2954 that the plan claims",
        "c of smoker is 1, above the 0.2 that the plan claims",
        "delta of smoker is 1, above the limit 0.5",
    )
    with pytest.raises(InputError):
        privatize(Plan.build(document), {"smoker": [1], "walker": [0]})


def test_a_float_threshold_breaks_its_budget_and_an_integer_table_does_not() -> None:
    """`random() < 1 / (1 + exp(-b))` on doubles, exactly: 2^53 equally likely numbers, so a rational level.

    The logarithm of a ratio is above b when the ratio is above exp(b); both are compared with 60 digits to spare.
    """
    from decimal import Decimal, localcontext

    rng, above = np.random.default_rng(32), 0
    with localcontext(prec=80):
        for budget in rng.uniform(0.01, 20, size=400).tolist():
            keep = Fraction(math.ceil(Fraction(1 / (1 + math.exp(-budget))) * 2**53), 2**53)
            ratio = keep / (1 - keep)
            above += Decimal(ratio.numerator) / Decimal(ratio.denominator) > Decimal(budget).exp()
            whole = binary(budget).ratio
            assert Decimal(whole.numerator) / Decimal(whole.denominator) <= Decimal(budget).exp()
    assert 100 < above < 300
    assert 1 / (1 + math.exp(-37.0)) == 1.0  # every answer true: no privacy at all
    assert binary(37.0).to_dict()["other"] >= 1


@pytest.mark.parametrize("key", [b"0" * 32, b"password" * 4, bytes(20) + b"0123456789ab", bytes(31) + b"1"])
def test_keys_that_were_typed_are_refused(key: bytes) -> None:
    with pytest.raises(InputError, match="not random"):
        check_key(key)


def test_a_guessed_key_reads_the_answers() -> None:
    """What a key of four digits would give away: try them all, and the record that explains every report remains."""
    plan = Plan.certified(document_of(smoker=3.0, walker=3.0, together=True))
    people = 64
    rng = np.random.default_rng(33)
    truth = {name: rng.integers(0, 2, people).tolist() for name in ("smoker", "walker")}

    def stretched(digits: int) -> bytes:
        return hashlib.sha256(str(digits).encode()).digest()  # looks random, and is not

    seen = privatize(plan, truth, stretched(4711), range(people))["answer"].to_pylist()
    guesses = []
    for digits in (1, 4711, 9999):
        words = RecordWords(stretched(digits), range(people), plan.id)
        lies = [(words.column(position) >= binary(3.0).keep).astype(int) for position in (2, 4)]
        guess = [(answer >> 1) ^ int(lie) for answer, lie in zip(seen, lies[0], strict=True)]
        guesses.append(sum(g == t for g, t in zip(guess, truth["smoker"], strict=True)))
    assert guesses[1] == people
    assert max(guesses[0], guesses[2]) < people


def test_reports_of_other_plans_do_not_mix() -> None:
    first, second = Plan.certified(document_of()), Plan.certified(document_of(smoker=0.3))
    records = {"smoker": [0, 1], "walker": [1, 0]}
    tally = Tally(first).add(privatize(first, records))
    with pytest.raises(InputError, match="accepted: reports of plan"):
        tally.add(privatize(second, records))
    with pytest.raises(InputError, match="accepted: a tally of the same plan"):
        _ = tally + Tally(second)
    assert tally.people == 2
