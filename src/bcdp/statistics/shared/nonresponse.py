"""Where no answer is a value of its own: what is true among those who answered, and what the others leave open.

A mean or a share among those who answered is a ratio of two estimates that vary together, with Fieller's interval. Of
all people it lies between what it would be if everybody without an answer were at one end or at the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics.shared.decoded_values import JointEstimate
from bcdp.statistics.shared.interval import Estimate, bounded, on_simplex
from bcdp.statistics.shared.linear_form import LinearForm, RatioForm
from bcdp.statistics.shared.protocol import Decoder
from bcdp.statistics.shared.ratios import ratio_interval, width
from bcdp.statistics.shared.rows import Row, Section
from bcdp.statistics.shared.target import Single, Target

Array = npt.NDArray[np.float64]

AMONG = "among those who answered"
_FEWEST = 1e-9  # the share of answers below which nothing is reported of those who gave them


@dataclass(frozen=True, kw_only=True)
class AnsweredMean(Estimate):
    """The mean among those who answered; how many these are; and the mean of all people under two assumptions."""

    answered: Estimate  # the share of the people who answered
    lowest: Estimate  # the mean of all, if everybody without an answer were at the lower end
    highest: Estimate  # likewise, at the upper end


@dataclass(frozen=True, kw_only=True)
class AnsweredShare(Estimate):
    """The share of all people who have a value; and that among those who answered, and if all others had it too."""

    among: Estimate
    highest: Estimate


def answered_mean(decoder: Decoder, target: Target, span: tuple[float, float], confidence: float) -> AnsweredMean:
    """The mean of a target that is how far people are at the lower end, at the upper end, and without an answer."""
    decoded, (low, high) = decoder.decode(target), span
    value, errors, starts, ends = bounded(decoded, 0.0, confidence)

    def part(position: int, scale: float, base: float) -> Estimate:
        """A share, or with a scale below 0 what is left of all next to it, in own units."""
        first, last = sorted((base + scale * float(starts[position]), base + scale * float(ends[position])))
        raw = base + scale * float(decoded.value[position])
        return Estimate(
            base + scale * float(value[position]),
            abs(scale) * float(errors[position]),
            first,
            last,
            decoded.answers,
            raw,
        )

    upper, both = np.array([[0.0, 1.0, 0.0]]), np.array([1.0, 1.0, 0.0])
    raw, error, start, end = ratios_of(decoder, target, upper, both, confidence)[0]
    inside = min(max(raw, 0.0), 1.0) if math.isfinite(raw) else math.nan
    centre = 0.5 if math.isnan(inside) else inside
    start, end = min(max(start, 0.0), centre), max(min(end, 1.0), centre)
    size = high - low
    return AnsweredMean(
        low + inside * size, error * size, low + start * size, high=low + end * size, answers=decoded.answers,
        raw=low + raw * size, rule=AMONG, ratios=ratio_form(decoder, target, upper[0], both, span, confidence),
        answered=part(2, -1.0, 1.0), lowest=part(1, size, low), highest=part(0, -size, high),
    )  # fmt: skip


def answered_shares(
    decoder: Decoder, name: str, shares: Mapping[Any, Estimate], confidence: float
) -> dict[Any, Estimate]:
    """The shares of a feature's values among all people, no answer last, with what is reported of each value
    besides.
    """
    *values, silent = shares
    size = len(values)
    under = np.append(np.ones(size), 0.0)
    among = ratios_of(decoder, Single(name), np.eye(size, size + 1), under, confidence)
    raw = np.array([each[0] for each in among])
    inside = on_simplex(raw) if np.isfinite(raw).all() else raw
    together = decoder.together([Single(name)])
    z, estimates = width(confidence), {}
    for number, value in enumerate(values):
        share, (ratio, error, start, end) = shares[value], among[number]
        own = float(inside[number])
        centre = 0.5 if math.isnan(own) else own
        ends = min(max(start, 0.0), centre), max(min(end, 1.0), centre)
        most = share.raw + shares[silent].raw
        spread = (
            math.inf if together is None else float(together.covariance[np.ix_([number, size], [number, size])].sum())
        )
        deviation = math.sqrt(max(spread, 0.0)) if math.isfinite(spread) else math.inf
        middle = min(max(most, 0.0), 1.0) if math.isfinite(most) else math.nan
        known = math.isfinite(middle)
        estimates[value] = AnsweredShare(
            share.value, share.se, share.low, share.high, share.answers, share.raw, linear=share.linear,
            among=Estimate(
                own, error, *ends, share.answers, ratio, AMONG,
                ratios=ratio_form(decoder, Single(name), np.eye(size, size + 1)[number], under, (0.0, 1.0), confidence),
            ),
            highest=Estimate(
                middle, deviation,
                min(max(most - z * deviation, 0.0), middle) if known else 0.0,
                max(min(most + z * deviation, 1.0), middle) if known else 1.0,
                share.answers, most,
            ),
        )  # fmt: skip
    return {**estimates, silent: shares[silent]}


def ratios_of(
    decoder: Decoder, target: Target, tops: Array, bottom: Array, confidence: float
) -> list[tuple[float, float, float, float]]:
    """Ratios of sums of a target's numbers, with standard errors (delta method) and intervals (Fieller)."""
    joint = decoder.together([target])
    if joint is None or not np.isfinite(joint.value).all():
        return [(math.nan, math.inf, 0.0, 1.0)] * len(tops)
    ratios, under = [], float(bottom @ joint.value)
    for top in tops:
        both, over = np.array([top, bottom]), float(top @ joint.value)
        start, end = ratio_interval(over, under, both @ joint.covariance @ both.T, width(confidence))
        if under <= _FEWEST:
            ratios.append((math.nan, math.inf, start, end))
            continue
        slope = (top - over / under * bottom) / under
        ratios.append((over / under, math.sqrt(max(float(slope @ joint.covariance @ slope), 0.0)), start, end))
    return ratios


def shares_of_last(joint: JointEstimate) -> JointEstimate:
    """All values but the last as shares of the last, with their covariance (delta method).

    >>> joint = JointEstimate(np.array([0.1, 0.2, 0.4]), np.diag([0.0, 0.0, 1e-4]), (100,))
    >>> shares_of_last(joint).value.tolist()
    [0.25, 0.5]
    """
    *_, total = joint.value
    if not total > _FEWEST:
        nothing = np.full(len(joint.value) - 1, math.nan)
        return JointEstimate(nothing, np.full((len(nothing),) * 2, math.nan), joint.answers)
    value = joint.value[:-1] / total
    slopes = np.hstack([np.eye(len(value)), -value[:, None]]) / total
    return JointEstimate(value, slopes @ joint.covariance @ slopes.T, joint.answers)


def ratio_form(
    decoder: Decoder, target: Target, top: Array, bottom: Array, span: tuple[float, float], confidence: float
) -> tuple[tuple[float, RatioForm], ...]:
    """A ratio of sums of a target's numbers, from 0 to 1, as what fake reports can shift, in own units."""
    over, under = (LinearForm(decoder, confidence, {target: factors}, (0.0, 1.0)) for factors in (top, bottom))
    return ((1.0, RatioForm(over, under, 0.0, span[1] - span[0], span[0], span)),)


def mean_of_shares(shares: Array) -> Array:
    """The mean from 0 to 1 among those who answered, from the shares of both ends and of no answer."""
    with np.errstate(divide="ignore", invalid="ignore"):
        answered = shares[0] + shares[1]
        return np.clip(np.where(answered > _FEWEST, shares[1:2] / answered, np.nan), 0.0, 1.0)


def mean_sections(policy: Policy, means: Mapping[str, Estimate]) -> Iterator[Section]:
    """What no answer leaves open of each mean."""
    for name, mean in means.items():
        if not isinstance(mean, AnsweredMean):
            continue
        feature = policy.features[name]
        least, most = (f"{end:,.15g}" for end in feature.span)
        remark = (
            f"answered: the share of the people who did; the mean of all if it were {least} or {most} for the others"
        )
        rows = (
            Row("answered", f"{feature.label}: share of the people who answered", mean.answered, (0.0, 1.0)),
            Row(
                "lowest",
                f"{feature.share}, of all, if it were {least} for all others",
                mean.lowest,
                feature.span,
                in_units=feature.in_units,
            ),
            Row(
                "highest",
                f"{feature.share}, of all, if it were {most} for all others",
                mean.highest,
                feature.span,
                in_units=feature.in_units,
            ),
        )
        title = f"{name}: what no answer leaves open"
        yield Section(f"{feature.label}: no answer", ("what", "value"), rows, title=title, remarks=(remark,))


def share_sections(label: str, name: str, shares: Mapping[Any, Estimate]) -> Iterator[Section]:
    """The shares among those who answered, and the most that each may be of all people."""
    answered = {value: share for value, share in shares.items() if isinstance(share, AnsweredShare)}
    if not answered:
        return
    answers = next(iter(answered.values())).answers
    parts: Sequence[tuple[str, dict[Any, Estimate], tuple[str, ...]]] = (
        (AMONG, {value: share.among for value, share in answered.items()}, ()),
        ("at most", {value: share.highest for value, share in answered.items()},
         ("of all people, if everybody without an answer had the value; at least, its frequency above",)),
    )  # fmt: skip
    for words, numbers, remarks in parts:
        rows = tuple(
            Row(
                str(value),
                f"{label} = {value}, {words}",
                number,
                possible=(0.0, 1.0),
                key=(),
                answers=number.answers,
                raw=number.raw,
            )
            for value, number in numbers.items()
        )
        title = f"{name}, {words}, from {answers:,} answers"
        yield Section(f"{label}, {words}", ("value", "frequency"), rows, "bars", title, remarks=remarks)
