"""Distributions against the square wave with EM (arXiv 1912.01051), at the same level, on three laws.

    python benchmarks/distributions.py            # errors side by side, one run
    python benchmarks/distributions.py atom       # where EM is ahead, with more collections: maximum likelihood too
    python benchmarks/distributions.py coverage   # intervals on two real files (needs statsmodels and scikit-learn)
    python benchmarks/distributions.py pairs      # 20,000 exact pairs of prior and plan: is a claim exceeded?

The square wave is as published: reports in [-b, 1 + b], EM over 256 bins to the paper's threshold, with smoothing (EMS)
and without. Ours is the unbiased estimate of the shares below the edges of the bins, made to rise; and, for comparison,
maximum likelihood from the same answers. Answers are drawn from the law that the tables give them: nothing is different
from people who answer one by one, except the time it takes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.stats import beta

from bcdp import Plan, Policy, Tally, estimate, make_plan
from bcdp.exact import TOTAL
from bcdp.policy.encoding import as_arrow, encode
from bcdp.statistics import Below

FINE = 4096  # equal parts of [0, 1] in which the truth and every estimate are compared
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
_EM_BINS = 256
_TRIALS = 10


# -- laws on [0, 1], as masses of fine parts --------------------------------------------------------------------------


def _smooth() -> np.ndarray:
    return np.diff(beta(5, 2).cdf(np.linspace(0, 1, FINE + 1)))


def _spiky() -> np.ndarray:
    law = np.full(FINE, 0.2 / FINE)
    for place, mass in ((0.13, 0.3), (0.41, 0.3), (0.77, 0.2)):
        law[int(place * FINE)] += mass
    return law


def _atom() -> np.ndarray:
    law = 0.6 * np.diff(beta(2, 3).cdf(np.linspace(0, 1, FINE + 1)))
    law[0] += 0.4
    return law


LAWS: dict[str, Callable[[], np.ndarray]] = {"smooth": _smooth, "spiky": _spiky, "atom at 0": _atom}


# -- the square wave --------------------------------------------------------------------------------------------------


@lru_cache
def square_wave(budget: float, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """The chance of each of `bins` output parts from each fine part, and from each of as many input parts."""
    e = math.exp(budget)
    half = (budget * e - e + 1) / (2 * e * (e - 1 - budget))
    near, far = e / (2 * half * e + 1), 1 / (2 * half * e + 1)
    ends = np.linspace(-half, 1 + half, bins + 1)

    def law(places: np.ndarray) -> np.ndarray:
        inside = np.clip(
            np.minimum(ends[1:], places[:, None] + half) - np.maximum(ends[:-1], places[:, None] - half), 0, None
        )
        return far * np.diff(ends) + (near - far) * inside

    fine = law((np.arange(FINE) + 0.5) / FINE)
    return fine, fine.reshape(bins, FINE // bins, bins).mean(axis=1)


def em(counts: np.ndarray, law: np.ndarray, stop: float, smooth: bool = False, most: int = 10_000) -> np.ndarray:
    """The shares of the inputs by expectation maximisation, to the published rule: when the likelihood rises less."""
    shares, last = np.full(len(law), 1 / len(law)), -math.inf
    for _ in range(most):
        shares = shares * (law @ (counts / (shares @ law)))
        shares /= shares.sum()
        if smooth:
            shares = np.convolve(np.pad(shares, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
            shares /= shares.sum()
        likelihood = float(counts @ np.log(shares @ law))
        if abs(likelihood - last) < stop:
            break
        last = likelihood
    return shares


# -- ours -------------------------------------------------------------------------------------------------------------


@lru_cache
def plan_of(budget: float, bins: int) -> Plan:
    features = {"x": {"type": "numeric", "bounds": [0, 1]}}
    tasks = [{"distribution": ["x"], "bins": bins, "quantiles": SHARES}]
    return make_plan(Policy(epsilon=budget, features=features, tasks=tasks))


@lru_cache
def rows_of(budget: float, bins: int) -> np.ndarray:
    """The chance of each answer from each bin; one question, asked of everybody."""
    plan = plan_of(budget, bins)
    table = plan.tables[plan.questions[plan.menus[0].questions[0]].table]
    return np.stack([table.row(level) for level in range(bins)]) / TOTAL


def ours(counts: np.ndarray, budget: float, bins: int) -> np.ndarray:
    """The shares of the bins."""
    tally = Tally(plan_of(budget, bins))
    tally.add({"menu": np.zeros(len(counts), np.int64), "answer": np.arange(len(counts)), "count": counts})
    found = estimate(tally).distributions["x"]
    return np.array([share.value for share in found.histogram])


# -- errors -----------------------------------------------------------------------------------------------------------


def errors(shares: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """The Wasserstein distance, and the mean absolute error of five quantiles; within bins, spread evenly."""
    found = np.cumsum(np.repeat(shares * len(shares) / FINE, FINE // len(shares)))
    below = np.cumsum(truth)
    quantiles = [np.abs(np.searchsorted(found, s) - np.searchsorted(below, s)) / FINE for s in SHARES]
    return float(np.abs(found - below).mean()), float(np.mean(quantiles))


def ways(
    truth: np.ndarray, people: int, budget: float, rng: np.random.Generator
) -> Iterator[tuple[str, tuple[float, float]]]:
    """The errors of every way in one collection."""
    fine, coarse = square_wave(budget, _EM_BINS)
    counts = rng.multinomial(people, _law(truth @ fine))
    stop = 1e-3 * math.exp(budget)
    yield "square wave, EMS", errors(em(counts, coarse, stop, smooth=True), truth)
    yield "square wave, EM", errors(em(counts, coarse, stop), truth)
    for bins in (32, 128):
        law = rows_of(budget, bins)
        answers = rng.multinomial(people, _law(truth.reshape(bins, -1).sum(axis=1) @ law))
        yield f"ours, {bins} bins", errors(ours(answers, budget, bins), truth)
        if bins == 32:
            yield f"ours, {bins} bins, likelihood", errors(em(answers, law, 1e-3, most=3000), truth)


def _law(chances: np.ndarray) -> np.ndarray:
    return chances / chances.sum()


def compare(budgets: tuple[float, ...] = (1.0,), sizes: tuple[int, ...] = (10**4, 10**5, 10**6)) -> None:
    print("mean over", _TRIALS, "collections: Wasserstein distance / error of the quantiles 10, 25, 50, 75, 90%")
    for budget in budgets:
        for name, law in LAWS.items():
            for people in sizes:
                rng = np.random.default_rng([int(10 * budget), people, len(name)])
                seen: dict[str, list[tuple[float, float]]] = {}
                for _ in range(_TRIALS):
                    for way, found in ways(law(), people, budget, rng):
                        seen.setdefault(way, []).append(found)
                cells = [
                    f"{way}: {np.mean([w for w, _ in f]):.4f} / {np.mean([q for _, q in f]):.4f}"
                    for way, f in seen.items()
                ]
                print(f"level {budget:g}, {name}, n = {people:,}:  " + ";  ".join(cells), flush=True)


def atom(budget: float = 1.0, bins: int = 128) -> None:
    """An atom at the end of the range: EM, ours, and maximum likelihood from our answers."""
    truth, (fine, coarse), law = _atom(), square_wave(budget, _EM_BINS), rows_of(budget, bins)
    stop = 1e-3 * math.exp(budget)
    for people, trials in ((10**5, 40), (10**4, 20)):
        rng = np.random.default_rng([people, len("atom at 0")])
        found: dict[str, list[float]] = {"EM": [], "ours": [], "maximum likelihood": []}
        for _ in range(trials):
            counts = rng.multinomial(people, _law(truth @ fine))
            answers = rng.multinomial(people, _law(truth.reshape(bins, -1).sum(axis=1) @ law))
            found["EM"].append(errors(em(counts, coarse, stop), truth)[0])
            found["ours"].append(errors(ours(answers, budget, bins), truth)[0])
            found["maximum likelihood"].append(errors(em(answers, law, stop, most=2000), truth)[0])
        shown = (f"{way} {np.mean(f):.4f} (+- {np.std(f) / math.sqrt(trials):.4f})" for way, f in found.items())
        print(f"atom at 0, n = {people:,}, {trials} collections: " + ", ".join(shown), flush=True)


# -- intervals on real files ------------------------------------------------------------------------------------------


def real_files() -> Iterator[tuple[str, np.ndarray, tuple[float, float]]]:
    """Two files, chosen by name before they were looked at; bounds from what is written about them."""
    import statsmodels.api as sm
    from sklearn.datasets import load_diabetes

    fair = sm.datasets.fair.load_pandas().data  # the survey of Redbook, 6,366 women
    yield "fair: years married", fair["yrs_married"].to_numpy(), (0.0, 25.0)
    diabetes = load_diabetes(scaled=False).data[:, 2]  # body mass index
    yield "diabetes: body mass index", diabetes, (15.0, 45.0)


def coverage(trials: int = 2000, people: int = 20_000, budget: float = 1.0, bins: int = 32) -> None:
    """How often 95% intervals hold the truth of a population with the file's distribution."""
    for name, values, bounds in real_files():
        features = {"x": {"type": "numeric", "bounds": list(bounds)}}
        for band in ("pointwise", "simultaneous"):
            tasks = [{"distribution": ["x"], "bins": bins, "band": band}]
            plan = make_plan(Policy(epsilon=budget, features=features, tasks=tasks))
            _cover(plan, name, band, values, trials, people)


def _cover(plan: Plan, name: str, band: str, values: np.ndarray, trials: int, people: int) -> None:
    feature, bins = plan.policy.features["x"], plan.questions[0].levels[0]
    codes = encode(plan.policy, as_arrow({"x": values}))
    cdf = Below("x", feature.equal_cuts(bins)).of(plan.policy, codes).mean(axis=0)
    inside = np.clip(values, *feature.span)
    bars = np.diff([0.0, *cdf, 1.0])
    table = plan.tables[plan.questions[0].table]
    law = _law(bars @ (np.stack([table.row(level) for level in range(bins)]) / TOTAL))
    rng = np.random.default_rng(17)
    held = {"share below": np.zeros(bins - 1), "all shares below": np.zeros(1), "share of a bin": np.zeros(bins)}
    held |= {"quantile": np.zeros(5), "mean": np.zeros(1)}
    menu, answer = np.zeros(len(law), np.int64), np.arange(len(law))
    for _ in range(trials):
        counts = rng.multinomial(people, law)
        found = estimate(Tally(plan).add({"menu": menu, "answer": answer, "count": counts})).distributions["x"]
        one = np.array([share.low <= true <= share.high for share, true in zip(found.cdf, cdf, strict=True)])
        held["share below"] += one
        held["all shares below"] += one.all()
        held["share of a bin"] += [s.low <= true <= s.high for s, true in zip(found.histogram, bars, strict=True)]
        true = np.quantile(inside, list(found.quantiles), method="inverted_cdf")
        held["quantile"] += [q.low <= t <= q.high for q, t in zip(found.quantiles.values(), true, strict=True)]
        held["mean"] += found.mean.low <= inside.mean() <= found.mean.high
    shown = [
        f"{what} {100 * h.mean() / trials:.1f}% ({100 * h.min() / trials:.1f} to {100 * h.max() / trials:.1f})"
        for what, h in held.items()
    ]
    print(f"{name}, {band}, {trials} collections of {people:,}: " + "; ".join(shown), flush=True)


# -- exact pairs of prior and plan ------------------------------------------------------------------------------------


def pairs(count: int = 20_000) -> None:
    """Random surveys through waves under random priors within their exact q; exit code 1 if a claim is exceeded."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    import helpers
    from test_distribution import untrue_of_waves
    from test_steps import fine

    helpers.sizes_of = fine
    rng = np.random.default_rng(1)
    untrue = sum(bool(untrue_of_waves(rng)) for _ in range(count))
    print(f"{count:,} plans with exact priors: {untrue} with a claim below the truth")
    sys.exit(untrue > 0)


if __name__ == "__main__":
    {"atom": atom, "coverage": coverage, "pairs": pairs}.get(sys.argv[-1], compare)()
