"""Fake reports: attacks against the stated bound, intervals under the worst attack, false alarms, and what is noticed.

python benchmarks/sweeps/fake_reports.py [bound | nonlinear | intervals | alarms | power]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.estimates import Estimates
from bcdp.exact import TOTAL
from bcdp.policy import NumericFeature
from bcdp.statistics import Estimate

PEOPLE = 2_000
KINDS: list[dict[str, Any]] = [
    {"type": "binary"},
    {"type": "numeric", "bounds": [0, 10]},
    {"type": "categorical", "values": ["a", "b", "c"]},
    {"type": "categorical", "values": ["a", "b", "c", "d", "e"]},
    {"type": "ordinal", "values": ["low", "middle", "high"]},
]
PLANS = {
    "one sensitive answer": {
        "epsilon": 2,
        "correlation": 0.2,
        "features": {
            "ill": {"type": "binary", "delta": 0.4},
            "age": {"type": "numeric", "bounds": [0, 100]},
            "region": {"type": "categorical", "values": ["north", "south", "east"]},
        },
    },
    "two answers at 1": {
        "epsilon": 1,
        "features": {"ill": {"type": "binary", "delta": 0.5}, "age": {"type": "numeric", "bounds": [0, 100]}},
    },
    "ten answers": {
        "epsilon": 2,
        "correlation": 0.05,
        "features": {
            "ill": {"type": "binary", "delta": 0.2},
            **{f"x{number}": {"type": "binary"} for number in range(9)},
        },
    },
}


def random_policy(rng: np.random.Generator, **more: Any) -> Policy:
    """Two to four features of any kind, some of them sensitive."""
    features = {}
    for number in range(rng.integers(2, 5)):
        kind = dict(KINDS[rng.integers(len(KINDS))])
        features[f"f{number}"] = kind | ({"delta": float(rng.uniform(0.3, 1.0))} if rng.random() < 0.4 else {})
    return Policy(epsilon=float(rng.uniform(1, 3)), correlation=float(rng.uniform(0, 0.3)), features=features, **more)


def records(rng: np.random.Generator, policy: Policy, people: int) -> dict[str, Any]:
    """People with arbitrary shares of each value."""
    drawn: dict[str, Any] = {}
    for name, feature in policy.features.items():
        if isinstance(feature, NumericFeature):
            drawn[name] = rng.uniform(*feature.bounds, people) * rng.random()
        else:
            values = list(feature.values or (0, 1))
            drawn[name] = [
                values[code] for code in rng.choice(len(values), people, p=rng.dirichlet(np.ones(len(values))))
            ]
    return drawn


def linear(estimates: Estimates) -> dict[tuple[str, str], Estimate]:
    """Means and shares, by what they are about."""
    shares = {
        (name, str(value)): number for name, each in estimates.frequencies.items() for value, number in each.items()
    }
    means = {(name, "mean"): number for name, number in estimates.means.items()}
    return {key: number for key, number in {**means, **shares}.items() if isinstance(number, Estimate)}


def all_bounded(estimates: Estimates) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Everything that has a bound, and the bound: the unbiased value, or that of which the bound is."""
    numbers = {key: (number.raw, number.moved) for key, number in linear(estimates).items()}
    for name, distribution in estimates.distributions.items():
        numbers |= {
            (name, f"quantile {share}"): (each.value, each.moved) for share, each in distribution.quantiles.items()
        }
        numbers[name, "mean of bins"] = distribution.mean.raw, distribution.mean.moved
    for regression in estimates.regressions:
        if regression.equations is not None:
            each = [*regression.coefficients.items(), ("intercept", regression.intercept)]
            unshrunk = regression.equations.coefficients.tolist()
            numbers |= {
                (regression.target, f"coefficient {name}"): (value, number.moved)
                for value, (name, number) in zip(unshrunk, each, strict=True)
            }
    return numbers


def with_fakes(honest: Tally, menus: Any, answers: Any, **groups: Any) -> Tally:
    return honest + Tally(honest.plan).add({"menu": np.asarray(menus), "answer": np.asarray(answers), **groups})


def drawn_menus(plan: Plan, rng: np.random.Generator, size: int) -> Any:
    weights = np.array([menu.weight for menu in plan.menus]) / TOTAL
    return rng.choice(len(weights), size, p=weights)


def answers_of(plan: Plan) -> list[int]:
    return [int(np.prod(symbols)) for symbols in plan.symbols]


def attacks(plan: Plan, rng: np.random.Generator, fakes: int) -> Iterator[tuple[str, Any, Any]]:
    """Fake reports of several kinds; where tickets assign menus, nobody chooses one."""
    sizes = answers_of(plan)
    menus = drawn_menus(plan, rng, fakes)
    yield "menus by chance, answers at random", menus, [rng.integers(sizes[menu]) for menu in menus]
    fixed = [int(rng.integers(size)) for size in sizes]
    yield "menus by chance, one answer each", menus, [fixed[menu] for menu in menus]
    if plan.policy.menu_from == "ticket":
        return
    for menu in range(len(sizes)):
        for answer in rng.permutation(sizes[menu])[:4]:
            yield "one report", [menu] * fakes, [answer] * fakes
    chosen = rng.integers(len(sizes), size=fakes)
    yield "menus at will", chosen, [fixed[menu] for menu in chosen]


def bound(attempts: int = 1_000) -> None:
    rng = np.random.default_rng(1)
    done = exceeded = claims = 0
    while done < attempts:
        more = {"menu_from": "ticket"} if rng.random() < 0.3 else {}
        plan = make_plan(random_policy(rng, **more))
        honest = Tally(plan).add(privatize(plan, records(rng, plan.policy, PEOPLE)))
        before = linear(estimate(honest))
        fakes = int(rng.integers(10, 100))
        for _, menus, answers in attacks(plan, rng, fakes):
            after = linear(estimate(with_fakes(honest, menus, answers), liars=fakes / (PEOPLE + fakes)))
            done += 1
            for key, number in after.items():
                assert number.moved is not None
                claims += 1
                exceeded += abs(number.raw - before[key].raw) > number.moved * (1 + 1e-9)
    print(f"bound: {done:,} attacks, {claims:,} claims, {exceeded} exceeded")
    print(f"bound: of the strongest single report, the least share reached {strongest():.3f}")


def nonlinear(attempts: int = 1_000) -> None:
    """Quantiles, coefficients and weighted estimates: random plans, people, weights, and attacks on a small group."""
    rng = np.random.default_rng(6)
    done, people = 0, 20_000
    kinds = ("mean", "quantile", "coefficient", "weighted")
    claims, exceeded, unbounded, reached = (dict.fromkeys(kinds, 0.0) for _ in range(4))
    while done < attempts:
        policy, records_of = random_analysis(rng, people)
        plan = make_plan(policy)
        honest = Tally(plan).add(privatize(plan, records_of))
        tables = [{"arm": ["a", "b"], rng.choice(["people", "weight"]): rng.uniform(1, 4, 2)}]
        options: dict[str, dict[str, Any]] = {"": {}, "weighted": {"weights": tables}}
        before = {name: all_bounded(estimate(honest, **each)) for name, each in options.items()}
        fakes = int(rng.integers(10, 200))
        for _, menus, answers in attacks(plan, rng, fakes):
            done += 1
            tally = with_fakes(honest, menus, answers, group=np.full(fakes, rng.integers(2)))
            for name, each in options.items():
                after = all_bounded(estimate(tally, liars=fakes / (people + fakes), **each))
                for key, (value, moved) in after.items():
                    kind = name or next((kind for kind in kinds if key[1].startswith(kind)), "mean")
                    if moved is None or key not in before[name]:
                        continue
                    claims[kind] += 1
                    unbounded[kind] += moved == np.inf
                    shift = abs(value - before[name][key][0])
                    exceeded[kind] += shift > moved * (1 + 1e-9) + 1e-12
                    reached[kind] = max(reached[kind], shift / moved)
    for kind in kinds:
        print(
            f"nonlinear: {done:,} attacks, {kind}: {claims[kind]:,.0f} claims, {exceeded[kind]:.0f} exceeded, "
            f"{unbounded[kind]:.0f} not bounded, largest share reached {reached[kind]:.2f}"
        )


def random_analysis(rng: np.random.Generator, people: int) -> tuple[Policy, dict[str, Any]]:
    """A policy with a distribution, a regression and an open group, and people whose answers depend on each other."""
    demand = {"delta": float(rng.uniform(0.5, 1.5))} if rng.random() < 0.3 else {}
    values = ["a", "b", "c"][: rng.integers(2, 4)]
    features = {
        "ill": {"type": "binary", **demand},
        "age": {"type": "numeric", "bounds": [0, 100]},
        "region": {"type": "categorical", "values": values},
        "arm": {"type": "open", "values": ["a", "b"]},
    }
    tasks = [
        {"mean": ["ill", "age"]},
        {"frequency": ["region"]},
        {"distribution": ["age"], "quantiles": [0.1, 0.5, 0.9]},
        {"regression": {"target": "age", "features": ["ill", "region"], "intercept": bool(rng.random() < 0.8)}},
    ]
    more = {"menu_from": "ticket"} if rng.random() < 0.3 else {}
    policy = Policy(epsilon=float(rng.uniform(2, 5)), correlation=0.3, features=features, tasks=tasks, **more)
    ill = rng.random(people) < rng.uniform(0.2, 0.8)
    region = rng.integers(len(values), size=people)
    age = rng.uniform(20, 60) + 20 * ill + 8 * region * rng.random() + 10 * rng.standard_normal(people)
    arm = rng.choice(["a", "b"], people, p=[0.9, 0.1])
    named = [values[code] for code in region]
    return policy, {"ill": ill, "age": np.clip(age, 0, 100), "region": named, "arm": arm}


def strongest() -> float:
    """Over plans and estimates, the least share of the bound that the strongest single report reaches."""
    rng, reached = np.random.default_rng(2), []
    for document in PLANS.values():
        plan = make_plan(Policy(**document))
        honest = Tally(plan).add(privatize(plan, records(rng, plan.policy, PEOPLE)))
        before, best = linear(estimate(honest)), dict[tuple[str, str], float]()
        fakes = 40
        for menu, size in enumerate(answers_of(plan)):
            for answer in range(size):
                tally = with_fakes(honest, [menu] * fakes, [answer] * fakes)
                for key, number in linear(estimate(tally, liars=fakes / (PEOPLE + fakes))).items():
                    limits = number.linear.honest_range(fakes) if number.linear is not None else None
                    assert limits is not None
                    shift = number.raw - before[key].raw
                    best[key] = max(best.get(key, 0.0), shift / -limits.least, -shift / limits.largest)
        reached += best.values()
    return min(reached)


def intervals(collections: int = 1_000) -> None:
    """Coverage with 2% fakes, all of them the report that shifts the sensitive share most."""
    rng = np.random.default_rng(3)
    people, fakes = 5_000, 102
    for name, document in PLANS.items():
        plan = make_plan(Policy(**document))
        truth = 0.3
        sample = records(rng, plan.policy, people)
        sample["ill"] = rng.random(people) < truth
        honest = Tally(plan).add(privatize(plan, sample))
        pairs = [(menu, answer) for menu, size in enumerate(answers_of(plan)) for answer in range(size)]
        menu, answer = max(
            pairs,
            key=lambda pair: estimate(with_fakes(honest, [pair[0]] * fakes, [pair[1]] * fakes)).means["ill"].raw,
        )
        held = plain = 0
        for _ in range(collections):
            sample["ill"] = rng.random(people) < truth
            tally = with_fakes(Tally(plan).add(privatize(plan, sample)), [menu] * fakes, [answer] * fakes)
            allowing = estimate(tally, liars=0.02).means["ill"]
            without = estimate(tally).means["ill"]
            held += allowing.low <= truth <= allowing.high
            plain += without.low <= truth <= without.high
        shares = (f"{100 * number / collections:.1f}%" for number in (held, plain))
        print("intervals: {}: {} hold allowing for fakes, {} without".format(name, *shares))


def alarms(collections: int = 20_000) -> None:
    """How often p-values of honest collections are below some levels."""
    rng = np.random.default_rng(4)
    levels = np.array([1e-1, 1e-2, 1e-3, 1e-4])
    below = {key: np.zeros(len(levels), dtype=int) for key in ("menus", "answers", "duplicates")}
    for start in range(0, collections, 500):
        plan = make_plan(random_policy(rng))
        for _ in range(min(500, collections - start)):
            size = int(rng.integers(50, 2_000))
            for key, check in Tally(plan).add(privatize(plan, records(rng, plan.policy, size))).checks().items():
                below[key] += check.p <= levels
    for key, counts in below.items():
        listed = ", ".join(
            f"{count / collections:.5f} at {level:g}" for count, level in zip(counts, levels, strict=True)
        )
        print(f"alarms: {key}: {listed}")


def power(collections: int = 100) -> None:
    """The share of attacked collections of 20,000 people in which some check raises an alarm."""
    rng = np.random.default_rng(5)
    people = 20_000
    for name, document in PLANS.items():
        plan = make_plan(Policy(**document))
        sizes = answers_of(plan)
        fixed = [0] * len(sizes)
        for share in (0.005, 0.01, 0.02, 0.05, 0.1):
            fakes = int(share * people)
            noticed = dict.fromkeys(("one report", "menus at will", "menus by chance, one answer each"), 0)
            for _ in range(collections):
                honest = Tally(plan).add(privatize(plan, records(rng, plan.policy, people - fakes)))
                menus = drawn_menus(plan, rng, fakes)
                will = rng.integers(len(sizes), size=fakes)
                rarest = int(np.argmin([menu.weight for menu in plan.menus]))
                for kind, sent, answers in (
                    ("one report", [rarest] * fakes, [0] * fakes),
                    ("menus at will", will, [fixed[menu] for menu in will]),
                    ("menus by chance, one answer each", menus, [fixed[menu] for menu in menus]),
                ):
                    checks = with_fakes(honest, sent, answers).checks()
                    noticed[kind] += any(check.alarm for check in checks.values())
            listed = ", ".join(f"{kind} {100 * count / collections:.0f}%" for kind, count in noticed.items())
            print(f"power: {name}: {100 * share:g}% fakes: {listed}")


PARTS = {"bound": bound, "nonlinear": nonlinear, "intervals": intervals, "alarms": alarms, "power": power}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
