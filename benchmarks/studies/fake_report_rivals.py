"""Two published defences against fake reports next to this package, on the same people and attacks.

    python benchmarks/studies/fake_report_rivals.py

LDPRecover (Sun et al., ICDE 2024) for k-ary randomized response: the frequencies of genuine people are those estimated
from all reports without those of malicious ones, `(1 + eta) f - eta g`, moved to the nearest frequencies; `g` spreads
what fakes add, 1 in all, evenly over the values with an estimate above 0, and `eta` is the assumed number of fakes per
genuine person, 0.2 unless known. Detection by frequent itemsets (Cao, Jia and Gong, USENIX Security 2021) for optimized
unary encoding: a set of values that more reports support together than chance allows was sent by fakes. Both are
written from descriptions of the papers.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from bcdp import Policy, Tally, estimate, make_plan, privatize
from bcdp.estimates import on_simplex
from bcdp.exact import TOTAL

Array = npt.NDArray[np.float64]

VALUES, EPSILON, PEOPLE, COLLECTIONS = 10, 1.0, 20_000, 200
TARGETS = (7,)
SHARES = 1 / np.arange(1, VALUES + 1)
SHARES /= SHARES.sum()
FALSE_ALARMS = 1e-6


def response_reports(rng: np.random.Generator, truth: npt.NDArray[np.int64]) -> Array:
    """Counts of k-ary randomized response."""
    keep = math.exp(EPSILON) / (math.exp(EPSILON) + VALUES - 1)
    other = rng.integers(VALUES - 1, size=len(truth))
    answers = np.where(rng.random(len(truth)) < keep, truth, other + (other >= truth))
    return np.bincount(answers, minlength=VALUES).astype(float)


def response_frequencies(counts: Array) -> Array:
    keep = math.exp(EPSILON) / (math.exp(EPSILON) + VALUES - 1)
    other = (1 - keep) / (VALUES - 1)
    return np.asarray((counts / counts.sum() - other) / (keep - other))


def recovered(frequencies: Array, eta: float) -> Array:
    above = frequencies > 0
    return on_simplex((1 + eta) * frequencies - eta * above / above.sum())


def unary_reports(rng: np.random.Generator, truth: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Optimized unary encoding: the true bit is kept with chance 1/2, any other set with 1/(e^eps + 1)."""
    bits = rng.random((len(truth), VALUES)) < 1 / (math.exp(EPSILON) + 1)
    bits[np.arange(len(truth)), truth] = rng.random(len(truth)) < 0.5
    return bits


def itemset_alarm(bits: npt.NDArray[np.bool_], size: int) -> bool:
    """Whether some set of values is supported by more reports than honest people give with the stated chance."""
    other = 1 / (math.exp(EPSILON) + 1)
    most = 0.5 * other ** (size - 1)
    sets = list(itertools.combinations(range(VALUES), size))
    limit = binom.isf(FALSE_ALARMS / len(sets), len(bits), most)
    return any(bits[:, list(chosen)].all(axis=1).sum() > limit for chosen in sets)


def main() -> None:
    rng = np.random.default_rng(1)
    values = [f"v{number}" for number in range(VALUES)]
    plan = make_plan(Policy(epsilon=EPSILON, features={"kind": {"type": "categorical", "values": values}}))
    largest = max(range(plan.symbols[0][0]), key=lambda symbol: decoded(plan, symbol))
    assert len(plan.menus) == 1
    assert plan.menus[0].weight == TOTAL
    for share in (0.0, 0.01, 0.05):
        fakes = int(share * PEOPLE)
        squared: dict[str, list[float]] = {}
        held = {"without": 0, "allowing": 0}
        alarms = dict.fromkeys(("itemsets of 2", "checks"), 0)
        for _ in range(COLLECTIONS):
            truth = rng.choice(VALUES, PEOPLE - fakes, p=SHARES)
            counts = response_reports(rng, truth)
            counts[list(TARGETS)] += fakes
            plain = response_frequencies(counts)
            rows = {
                "randomized response": on_simplex(plain),
                "LDPRecover, eta 0.2": recovered(plain, 0.2),
                "LDPRecover, eta known": recovered(plain, share / (1 - share)),
            }
            tally = Tally(plan).add(privatize(plan, {"kind": [values[code] for code in truth]}))
            if fakes:
                tally.add({"menu": np.zeros(fakes, dtype=int), "answer": np.full(fakes, largest)})
            allowing = estimate(tally, liars=max(share, 1e-9))
            rows["this package"] = np.array([number.value for number in allowing.frequencies["kind"].values()])
            for name, frequencies in rows.items():
                squared.setdefault(name, []).append(float(((frequencies - SHARES) ** 2).sum()))
            target = SHARES[TARGETS[0]]
            for name, estimates in (("allowing", allowing), ("without", estimate(tally))):
                number = estimates.frequencies["kind"][values[TARGETS[0]]]
                held[name] += number.low <= target <= number.high
            bits = unary_reports(rng, truth)
            forged = rng.random((fakes, VALUES)) < 1 / (math.exp(EPSILON) + 1)
            forged[:, list(TARGETS)] = True
            alarms["itemsets of 2"] += itemset_alarm(np.concatenate([bits, forged]), 2)
            alarms["checks"] += any(check.alarm for check in tally.checks().values())
        errors = ", ".join(f"{name} {PEOPLE * np.mean(each):.1f}" for name, each in squared.items())
        print(f"{100 * share:g}% fakes: people x squared error: {errors}")
        rates = [f"{name} {100 * number / COLLECTIONS:.0f}%" for name, number in {**held, **alarms}.items()]
        print(f"{100 * share:g}% fakes: interval of the target holds / alarms: {', '.join(rates)}")


def decoded(plan: object, symbol: int) -> float:
    """What a symbol adds to the share of the target."""
    table = plan.tables[0]  # type: ignore[attr-defined]
    return float(table.decode(np.eye(VALUES)[:, [TARGETS[0]]])[symbol, 0])


if __name__ == "__main__":
    main()
