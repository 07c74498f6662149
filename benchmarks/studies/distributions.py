"""Distributions against the square wave with EM (arXiv 1912.01051), at the same level, on three laws.

    python benchmarks/studies/distributions.py            # errors side by side, one run
    python benchmarks/studies/distributions.py single     # numbers that many share, with more collections
    python distributions.py coverage   # intervals on two real files (needs statsmodels and scikit-learn)
    python benchmarks/studies/distributions.py pairs      # 20,000 exact pairs of prior and plan: is a claim exceeded?

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
from bcdp.records.encoding import as_arrow, encode
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
SINGLE = {"spiky": (0.13, 0.41, 0.77), "atom at 0": (0.0,)}  # numbers that many people share, if somebody knows them
Edges = tuple[float, ...]


def equal(bins: int) -> Edges:
    """The inner edges of equal bins."""
    return tuple(part / bins for part in range(1, bins))


def apart(places: tuple[float, ...], bins: int = 32) -> Edges:
    """The same with a bin of its own, one fine part wide, for each of some numbers."""
    around = {int(place * FINE) + side for place in places for side in (0, 1)}
    return tuple(sorted(part / FINE for part in around | {FINE * part // bins for part in range(1, bins)} if part))


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
def plan_of(budget: float, edges: Edges) -> Plan:
    features = {"x": {"type": "numeric", "bounds": [0, 1]}}
    tasks = [{"distribution": ["x"], "edges": edges, "quantiles": SHARES}]
    return make_plan(Policy(epsilon=budget, features=features, tasks=tasks))


@lru_cache
def rows_of(budget: float, edges: Edges) -> np.ndarray:
    """The chance of each answer from each bin; one question, asked of everybody."""
    plan = plan_of(budget, edges)
    table = plan.tables[plan.questions[plan.menus[0].questions[0]].table]
    return np.stack([table.row(level) for level in range(len(edges) + 1)]) / TOTAL


def in_bins(truth: np.ndarray, edges: Edges) -> np.ndarray:
    """The masses of the bins."""
    return np.add.reduceat(truth, [0, *(round(edge * FINE) for edge in edges)])


def ours(counts: np.ndarray, budget: float, edges: Edges) -> np.ndarray:
    """The shares of the bins."""
    tally = Tally(plan_of(budget, edges))
    tally.add({"menu": np.zeros(len(counts), np.int64), "answer": np.arange(len(counts)), "count": counts})
    found = estimate(tally).distributions["x"]
    return np.array([share.value for share in found.histogram])


# -- errors -----------------------------------------------------------------------------------------------------------


def errors(shares: np.ndarray, truth: np.ndarray, edges: Edges | None = None) -> tuple[float, float]:
    """The Wasserstein distance, and the mean absolute error of five quantiles; within bins, spread evenly."""
    inner = equal(len(shares)) if edges is None else edges
    found = np.interp(np.arange(1, FINE + 1) / FINE, [0.0, *inner, 1.0], [0.0, *np.cumsum(shares)])
    below = np.cumsum(truth)
    quantiles = [np.abs(np.searchsorted(found, s) - np.searchsorted(below, s)) / FINE for s in SHARES]
    return float(np.abs(found - below).mean()), float(np.mean(quantiles))


def ways(name: str, people: int, budget: float, rng: np.random.Generator) -> Iterator[tuple[str, tuple[float, float]]]:
    """The errors of every way in one collection."""
    truth = LAWS[name]()
    fine, coarse = square_wave(budget, _EM_BINS)
    counts = rng.multinomial(people, _law(truth @ fine))
    stop = 1e-3 * math.exp(budget)
    yield "square wave, EMS", errors(em(counts, coarse, stop, smooth=True), truth)
    yield "square wave, EM", errors(em(counts, coarse, stop), truth)
    cut = {"ours, 32 bins": equal(32), "ours, 128 bins": equal(128)}
    if name in SINGLE:
        cut["ours, 32 bins and one for each single number"] = apart(SINGLE[name])
    for way, edges in cut.items():
        law = rows_of(budget, edges)
        answers = rng.multinomial(people, _law(in_bins(truth, edges) @ law))
        yield way, errors(ours(answers, budget, edges), truth, edges)
        if way == "ours, 32 bins":
            yield f"{way}, likelihood", errors(em(answers, law, 1e-3, most=3000), truth, edges)


def _law(chances: np.ndarray) -> np.ndarray:
    return chances / chances.sum()


def compare(budgets: tuple[float, ...] = (1.0,), sizes: tuple[int, ...] = (10**4, 10**5, 10**6)) -> None:
    print("mean over", _TRIALS, "collections: Wasserstein distance / error of the quantiles 10, 25, 50, 75, 90%")
    for budget in budgets:
        for name in LAWS:
            for people in sizes:
                rng = np.random.default_rng([int(10 * budget), people, len(name)])
                seen: dict[str, list[tuple[float, float]]] = {}
                for _ in range(_TRIALS):
                    for way, found in ways(name, people, budget, rng):
                        seen.setdefault(way, []).append(found)
                cells = [
                    f"{way}: {np.mean([w for w, _ in f]):.4f} / {np.mean([q for _, q in f]):.4f}"
                    for way, f in seen.items()
                ]
                print(f"level {budget:g}, {name}, n = {people:,}:  " + ";  ".join(cells), flush=True)


def single(budget: float = 1.0, trials: int = 40) -> None:
    """Where many people share a number: EM, ours, ours with a bin for each such number."""
    fine, coarse = square_wave(budget, _EM_BINS)
    for name, places in SINGLE.items():
        truth, cut = LAWS[name](), {"ours, 128 bins": equal(128), "ours, single numbers apart": apart(places)}
        for people in (10**4, 10**5):
            rng = np.random.default_rng([people, len(name)])
            found: dict[str, list[float]] = {}
            for _ in range(trials):
                counts = rng.multinomial(people, _law(truth @ fine))
                shares = em(counts, coarse, 1e-3 * math.exp(budget))
                found.setdefault("EM", []).append(errors(shares, truth)[0])
                for way, edges in cut.items():
                    answers = rng.multinomial(people, _law(in_bins(truth, edges) @ rows_of(budget, edges)))
                    found.setdefault(way, []).append(errors(ours(answers, budget, edges), truth, edges)[0])
            shown = (f"{way} {np.mean(f):.4f} (+- {np.std(f) / math.sqrt(trials):.4f})" for way, f in found.items())
            print(f"{name}, n = {people:,}, {trials} collections: " + ", ".join(shown), flush=True)


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
    sys.path[:0] = [str(Path(__file__).parents[2] / "tests" / folder) for folder in ("", "statistics")]
    from test_distribution import untrue_of_waves

    from support import helpers
    from support.steps import fine

    helpers.sizes_of = fine
    rng = np.random.default_rng(1)
    untrue = sum(bool(untrue_of_waves(rng)) for _ in range(count))
    print(f"{count:,} plans with exact priors: {untrue} with a claim below the truth")
    sys.exit(untrue > 0)


if __name__ == "__main__":
    {"single": single, "coverage": coverage, "pairs": pairs}.get(sys.argv[-1], compare)()
