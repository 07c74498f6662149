"""A regression is fitted: from what the answers reveal about its moments to coefficients with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics.regression.design_matrix import Column, Design, Moments, by_target, moment_targets, moments
from bcdp.statistics.regression.fake_reports import NormalEquations
from bcdp.statistics.regression.inference import Counted, Nothing
from bcdp.statistics.regression.least_squares import (
    Centred,
    Coefficient,
    Noise,
    centred,
    own_scale,
    own_scales,
    own_units,
    shrunk,
    solve,
    stretched,
    unshrunk,
    with_constant,
)
from bcdp.statistics.regression.logistic import log_odds_units, logistic, logit_of, parts_of
from bcdp.statistics.regression.model import Model, RegressionEstimate
from bcdp.statistics.shared.protocol import Decoder, Goal, Means
from bcdp.statistics.shared.ratios import ratio_interval, width
from bcdp.statistics.shared.special import logit

Array = npt.NDArray[np.float64]
Fitted = Mapping[tuple[Model, Column], RegressionEstimate]

_DRAWS, _FEWEST_DRAWS = 1000, 250
_ROOM = 400_000  # entries of all matrices drawn again
_RAREST = 1e-6
_PAPER_RADIUS = 1.0  # the ball of the paper's least squares, where the policy states none


def fit(decoder: Decoder, model: Model, design: Design, confidence: float) -> RegressionEstimate | None:
    """One regression from what a decoder reveals, with intervals of this confidence; None if it knows no
    covariances.
    """
    policy = decoder.policy
    targets = sorted(moment_targets(policy, design, model.intercept), key=repr)  # the same in every run
    joint = decoder.together(targets)
    if joint is None:
        return None
    moments_at_estimate = centred(moments(policy, design, by_target(policy, targets, joint.value)), model.intercept)
    if not moments_at_estimate.known:
        return _unknown(policy, model, design, moments_at_estimate, decoder.people)
    drawn = joint.drawn(max(_FEWEST_DRAWS, min(_DRAWS, _ROOM // len(design) ** 2)))
    redrawn = centred(moments(policy, design, by_target(policy, targets, drawn)), model.intercept)
    noise = Noise.of(moments_at_estimate, redrawn, model.explains)
    fitted = _line if model.link is None else _log_odds
    shown = fitted(policy, model, design, moments_at_estimate, redrawn, noise=noise, z=width(confidence))
    most = np.linalg.norm(own_units(policy, design)[:, :-2], axis=1) * (model.radius or math.inf)
    most[-1] = math.inf  # the radius does not bound the intercept
    ends = np.maximum(shown.low, -most), np.minimum(shown.high, most)
    numbers = [Coefficient(*row) for row in np.column_stack([shown.values, shown.errors, *ends]).tolist()]
    names = [column.name(policy) for column in design[:-1]]
    equations = NormalEquations(decoder, design, model.intercept, model.ridge or 0.0, confidence)
    return RegressionEstimate(
        design[-1].name(policy),
        numbers[-1],
        dict(zip(names, numbers[:-1], strict=True)),
        evidence=Counted(
            policy,
            design,
            moments_at_estimate,
            deviations=redrawn.deviations(),
            noise=noise,
            people=decoder.people,
            confidence=confidence,
            determined=shown.determined,
        ),
        design=design,
        rule=_rule(policy, design),
        link=model.link,
        refused=shown.refused,
        limits=tuple(most.tolist()),
        equations=equations if model.link is None and shown.determined else None,
    )


@dataclass(frozen=True)
class _Shown:
    """Shrunk coefficients in own units, the intercept last, and the intervals of the unshrunk ones."""

    values: Array
    errors: Array
    low: Array
    high: Array
    determined: bool = True
    refused: str | None = None

    @classmethod
    def unknown(cls, values: Array) -> _Shown:
        """Where the answers determine no coefficient."""
        infinite = np.full(len(values), math.inf)
        return cls(values, infinite, -infinite, infinite, False)


def _line(
    policy: Policy, model: Model, design: Design, estimated: Centred, redrawn: Centred, noise: Noise, z: float
) -> _Shown:
    """Least squares; a coefficient is a ratio, and what its interval leaves possible is judged without dividing."""
    theta, to_own = shrunk(estimated, noise, model.ridge, model.radius), own_units(policy, design)
    values = to_own @ with_constant(estimated, theta)
    raw, each = unshrunk(estimated, redrawn, model.ridge)
    if each is None:
        return _Shown.unknown(values)
    middle, drawn = to_own @ with_constant(estimated, raw), with_constant(redrawn, each) @ to_own.T
    contrasts = to_own[:, :-2] - to_own[:, -2:-1] * estimated.mean[:-1]  # the intercept takes the features' means along
    penalised = estimated.matrix + (model.ridge or 0.0) * np.eye(len(raw))
    below = stretched(penalised, redrawn.matrix - estimated.matrix, contrasts)
    ends = [
        ratio_interval(value, 1.0, np.cov(top + value * bottom, bottom), z)
        for value, top, bottom in zip(middle.tolist(), drawn.T, below.T, strict=True)
    ]
    if not np.isfinite(ends).all():
        return _Shown.unknown(values)
    return _Shown(values, drawn.std(axis=0), *np.transpose(ends))


def _log_odds(
    policy: Policy, model: Model, design: Design, estimated: Centred, redrawn: Centred, noise: Noise, z: float
) -> _Shown:
    """Logistic regression: the shrunk one has the moments that shrunk least squares has."""
    parts, to_own = parts_of(policy, design), log_odds_units(policy, design)
    matrix = noise.plausible(estimated.matrix)
    stable = Centred(matrix, matrix @ shrunk(estimated, noise, None, None), estimated.variance, estimated.mean)
    values = to_own @ logit_of(parts, stable)
    if unshrunk(estimated, redrawn, None)[1] is None:
        return _Shown.unknown(values)
    logit = logistic(parts, estimated, redrawn)
    if logit.again is None:
        return replace(_Shown.unknown(values), determined=True, refused=logit.refused)
    middle, errors = to_own @ logit.middle, (logit.again @ to_own.T).std(axis=0)
    half = z * errors + np.abs(logit.shifts @ to_own.T).sum(axis=0)
    return _Shown(values, errors, middle - half, middle + half, refused=logit.refused)


def _rule(policy: Policy, design: Design) -> str | None:
    """How values that are missing were counted, feature by feature; None where nothing may be missing."""
    rules = {name: policy.features[name].rule for column in design for name in column.features}
    return "; ".join(f"{name}: {rule}" for name, rule in rules.items() if rule is not None) or None


def _unknown(policy: Policy, model: Model, design: Design, estimated: Centred, people: int) -> RegressionEstimate:
    """What can be said without all moments: nothing about the features, and the target's mean if that is known."""
    slope, constant = own_scale(policy, design[-1].feature)
    mean = float(np.clip(np.nan_to_num(estimated.mean[-1]), -1.0, 1.0))
    middle = (mean - constant) / slope
    if model.link is not None:
        middle = _log_odds_of(middle)
    nothing = Coefficient(0.0, math.inf, -math.inf, math.inf)
    return RegressionEstimate(
        design[-1].name(policy),
        Coefficient(middle, math.inf, -math.inf, math.inf),
        {column.name(policy): nothing for column in design[:-1]},
        evidence=Nothing(model.terms, people),
        design=design,
        rule=_rule(policy, design),
        link=model.link,
    )


def goal_of(policy: Policy, model: Model, design: Design, data: Means) -> Goal:
    """What simulations compare: the predictions, or the log odds that they are made of."""

    def fitted(exact_moments: Moments, radius: float | None) -> Array:
        if not np.isfinite(exact_moments.second).all():
            return np.full(len(design), np.nan)
        middle = centred(exact_moments, model.intercept)
        if model.link is not None:
            return np.asarray(log_odds_units(policy, design) @ logit_of(parts_of(policy, design), middle))
        ridge = (model.ridge or 0.0) * np.eye(len(design) - 1)
        theta = solve(middle.matrix + ridge, middle.slope, radius)
        return np.asarray(own_units(policy, design) @ with_constant(middle, theta))

    def answer(estimates: Fitted) -> Array:
        estimate = estimates[model, design[-1]]
        return np.array([*(c.value for c in estimate.coefficients.values()), estimate.intercept.value])

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
