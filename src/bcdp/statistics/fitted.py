"""A regression is fitted: from what the answers tell of its moments to coefficients with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics.columns import Column, Design, Moments, by_target, moment_targets, moments
from bcdp.statistics.evidence import Counted, Nothing
from bcdp.statistics.least_squares import (
    Centred,
    Coefficient,
    Noise,
    centred,
    own_scale,
    own_scales,
    own_units,
    shrunk,
    solve,
    unshrunk,
    with_constant,
)
from bcdp.statistics.logistic import log_odds_units, logistic, logit_of, parts_of
from bcdp.statistics.model import Model, RegressionEstimate
from bcdp.statistics.protocol import Decoder, Goal, Means
from bcdp.statistics.ratios import width
from bcdp.statistics.special import logit

Array = npt.NDArray[np.float64]
Fitted = Mapping[tuple[Model, Column], RegressionEstimate]

_DRAWS, _FEWEST_DRAWS = 1000, 250
_ROOM = 400_000  # entries of all matrices drawn again
_RAREST = 1e-6
_PAPER_RADIUS = 1.0  # the ball of the paper's least squares, where the policy states none


def fit(decoder: Decoder, model: Model, design: Design, confidence: float) -> RegressionEstimate | None:
    """One regression from what a decoder tells, with intervals of this confidence; None if it knows no covariances."""
    policy = decoder.policy
    targets = sorted(moment_targets(policy, design, model.intercept), key=repr)  # the same in every run
    told = decoder.together(targets)
    if told is None:
        return None
    found = centred(moments(policy, design, by_target(policy, targets, told.value)), model.intercept)
    if not found.known:
        return _unknown(policy, model, design, found, decoder.people)
    drawn = told.drawn(max(_FEWEST_DRAWS, min(_DRAWS, _ROOM // len(design) ** 2)))
    again = centred(moments(policy, design, by_target(policy, targets, drawn)), model.intercept)
    noise = Noise.of(found, again, model.explains)
    shown = (_line if model.link is None else _log_odds)(policy, model, design, found, again, noise)
    half = np.full(len(design), math.inf) if shown.errors is None else width(confidence) * shown.errors + shown.reach
    most = np.linalg.norm(own_units(policy, design)[:, :-2], axis=1) * (model.radius or math.inf)
    most[-1] = math.inf  # the radius does not bound the intercept
    errors = np.full(len(design), math.inf) if shown.errors is None else shown.errors
    ends = np.maximum(shown.middle - half, -most), np.minimum(shown.middle + half, most)
    numbers = [Coefficient(*row) for row in np.column_stack([shown.values, errors, *ends]).tolist()]
    names = [column.name(policy) for column in design[:-1]]
    return RegressionEstimate(
        design[-1].name(policy),
        numbers[-1],
        dict(zip(names, numbers[:-1], strict=True)),
        Counted(policy, design, found, again.deviations(), noise, decoder.people, confidence, shown.determined),
        design,
        _rule(policy, design),
        model.link,
        shown.refused,
    )


@dataclass(frozen=True)
class _Shown:
    """Shrunk and unshrunk coefficients in own units, the intercept last, and how uncertain they are.

    The errors are None where nothing is known; `reach` is what an interval needs beside them.
    """

    values: Array
    middle: Array
    errors: Array | None
    reach: Array
    determined: bool
    refused: str | None = None


def _line(policy: Policy, model: Model, design: Design, found: Centred, again: Centred, noise: Noise) -> _Shown:
    """Least squares."""
    theta, to_own = shrunk(found, noise, model.ridge, model.radius), own_units(policy, design)
    raw, each = unshrunk(found, again, model.ridge)
    values, middle = to_own @ with_constant(found, theta), to_own @ with_constant(found, raw)
    errors = None if each is None else (with_constant(again, each) @ to_own.T).std(axis=0)
    return _Shown(values, middle, errors, np.zeros(len(design)), each is not None)


def _log_odds(policy: Policy, model: Model, design: Design, found: Centred, again: Centred, noise: Noise) -> _Shown:
    """Logistic regression: the shrunk one has the moments that shrunk least squares has."""
    parts, to_own = parts_of(policy, design), log_odds_units(policy, design)
    matrix = noise.plausible(found.matrix)
    stable = Centred(matrix, matrix @ shrunk(found, noise, None, None), found.variance, found.mean)
    values = to_own @ logit_of(parts, stable)
    if unshrunk(found, again, None)[1] is None:
        return _Shown(values, values, None, np.zeros(len(design)), False)
    told = logistic(parts, found, again)
    errors = None if told.again is None else (told.again @ to_own.T).std(axis=0)
    reach = np.abs(told.shifts @ to_own.T).sum(axis=0)
    return _Shown(values, to_own @ told.middle, errors, reach, True, told.refused)


def _rule(policy: Policy, design: Design) -> str | None:
    """How values that are missing were counted, feature by feature; None where nothing may be missing."""
    rules = {name: policy.features[name].rule for column in design for name in column.features}
    return "; ".join(f"{name}: {rule}" for name, rule in rules.items() if rule is not None) or None


def _unknown(policy: Policy, model: Model, design: Design, found: Centred, people: int) -> RegressionEstimate:
    """What can be said without all moments: nothing about the features, and the target's mean if that is known."""
    slope, constant = own_scale(policy, design[-1].feature)
    mean = float(np.clip(np.nan_to_num(found.mean[-1]), -1.0, 1.0))
    middle = (mean - constant) / slope
    if model.link is not None:
        middle = _log_odds_of(middle)
    nothing = Coefficient(0.0, math.inf, -math.inf, math.inf)
    return RegressionEstimate(
        design[-1].name(policy),
        Coefficient(middle, math.inf, -math.inf, math.inf),
        {column.name(policy): nothing for column in design[:-1]},
        Nothing(model.terms, people),
        design,
        _rule(policy, design),
        model.link,
    )


def goal_of(policy: Policy, model: Model, design: Design, data: Means) -> Goal:
    """What simulations compare: the predictions, or the log odds that they are made of."""

    def fitted(found: Moments, radius: float | None) -> Array:
        if not np.isfinite(found.second).all():
            return np.full(len(design), np.nan)
        middle = centred(found, model.intercept)
        if model.link is not None:
            return np.asarray(log_odds_units(policy, design) @ logit_of(parts_of(policy, design), middle))
        ridge = (model.ridge or 0.0) * np.eye(len(design) - 1)
        theta = solve(middle.matrix + ridge, middle.slope, radius)
        return np.asarray(own_units(policy, design) @ with_constant(middle, theta))

    def answer(estimates: Fitted) -> Array:
        one = estimates[model, design[-1]]
        return np.array([*(c.value for c in one.coefficients.values()), one.intercept.value])

    true = moments(policy, design, data)
    slopes, constants = own_scales(policy, design)
    to_own = np.linalg.inv(slopes)
    own = np.append(to_own @ (true.mean - constants), 1.0)
    second = np.outer(own, own)  # of the columns in own units and the constant 1
    second[:-1, :-1] += to_own @ (true.second - np.outer(true.mean, true.mean)) @ to_own.T
    kept = [*range(len(design) - 1), len(design)]
    return Goal(
        f"regression of {design[-1].name(policy)}",
        answer,
        lambda means: fitted(moments(policy, design, means), model.radius or _PAPER_RADIUS),
        fitted(true, model.radius),
        second[np.ix_(kept, kept)],
        np.append(np.zeros(len(design) - 1), own[-2] if model.link is None else _log_odds_of(own[-2])),
    )


def _log_odds_of(chance: float) -> float:
    return float(logit(min(max(chance, _RAREST), 1 - _RAREST)))
