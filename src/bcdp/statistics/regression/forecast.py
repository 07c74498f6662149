"""What a regression will be able to reveal, before anybody is asked: from the plan's noise and an assumed
population.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.statistics.regression.default_population import typical_records
from bcdp.statistics.regression.design_matrix import Design, by_target, moment_targets, moments
from bcdp.statistics.regression.least_squares import Noise, centred
from bcdp.statistics.regression.sample_size import SEEN, Outlook, any_direction
from bcdp.statistics.shared.interval import finite
from bcdp.statistics.shared.protocol import Expected, Prospect
from bcdp.statistics.shared.target import Codes

Array = npt.NDArray[np.float64]

_DRAWS = 1000
_MANY = 10**9  # people whose noise is drawn: so many that the assumed population is seen as it is


@dataclass(frozen=True)
class Forecast:
    """What so many people would reveal if the features explained the share; None where no number of people is
    enough.
    """

    people: int
    share: float
    lost: float
    chance: float
    determined: bool
    errors: Mapping[str, float]
    to_show: int | None
    to_determine: int | None


def forecast(
    prospect: Prospect,
    design: Design,
    intercept: bool,
    guess: float,
    units: Callable[[float, float], Array],
    people: int,
    records: Codes | None,
) -> Forecast | None:
    """The forecast for so many people of a population; None if a target cannot be asked.

    Without records features are taken as independent, and to explain the guess in any direction. `units` takes least
    squares to what is reported, given the target's variance and the share explained.
    """
    policy = prospect.policy
    targets = sorted(moment_targets(policy, design, intercept), key=repr)  # the same in every run
    population = typical_records(policy, intercept) if records is None else records
    noisy = prospect.together(targets, _MANY, population)
    true = centred(moments(policy, design, by_target(policy, targets, noisy.value)), intercept)
    if not true.known:
        return None
    redrawn = centred(moments(policy, design, by_target(policy, targets, noisy.drawn(_DRAWS))), intercept)
    noise = Noise.of(true, redrawn, guess)
    matrix = true.matrix + 1e-6 * np.diag(noise.scale)  # a constant column cannot be divided by
    share, directions = guess, any_direction(matrix, _DRAWS)
    if records is not None:
        theta = np.asarray(np.linalg.lstsq(true.matrix, true.slope, rcond=None)[0], dtype=np.float64)
        share = min(max(float(true.slope @ theta / noise.variance), 1e-6), 1 - 1e-6)
        directions = np.tile(theta, (_DRAWS, 1))
    seen = Outlook(matrix, redrawn.deviations(), noise, _MANY, share, directions)
    enough = seen.determined(people)
    names = [column.name(policy) for column in design[:-1]]
    standard_errors = (
        (seen.errors(people) @ units(noise.variance, share)[:-1, :-2].T).std(axis=0)
        if enough
        else np.full(len(names), math.inf)
    )
    return Forecast(
        people,
        share,
        seen.lost(people),
        chance=seen.chance(people),
        determined=enough,
        errors=dict(zip(names, standard_errors.tolist(), strict=True)),
        to_show=seen.enough_to_show(),
        to_determine=seen.enough_to_determine(),
    )


def expected_from(outcome: str, prediction: Forecast | None, guessed: bool) -> Expected:
    """The forecast in words, and in plain JSON."""
    if prediction is None:
        lines: tuple[str, ...] = ("a feature of the regression may not be asked at all, so nothing will be known",)
        return Expected(f"regression of {outcome}", lines, {"target": outcome})
    share = f"if the features explain {100 * prediction.share:.3g}% of the variance"
    source = "the policy's guess" if guessed else "as in the data"
    show = _people(prediction.to_show)
    lines = (
        f"{share} ({source}), {prediction.people:,} people show that they help with a chance of "
        f"{100 * prediction.chance:.0f}%; {100 * SEEN:.0f}% takes {show}",
        f"the predictions lose about {100 * min(prediction.lost, prediction.share):.2g}% of the variance "
        "to the best ones",
        "standard errors of the coefficients: "
        + ", ".join(f"{name} {error:.3g}" for name, error in prediction.errors.items())
        if prediction.determined
        else f"the coefficients will not be determined, which takes {_people(prediction.to_determine)}",
    )
    document: dict[str, Any] = {
        "target": outcome,
        **finite({k: v for k, v in vars(prediction).items() if k != "errors"}),
    }
    return Expected(f"regression of {outcome}", lines, document | {"standard_errors": finite(dict(prediction.errors))})


def _people(number: int | None) -> str:
    return "more people than there are" if number is None else f"about {number:,} people"
