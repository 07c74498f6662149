"""Follow-ups: what is true among those asked, next to what is true of all people.

Among those asked a mean or a share is a ratio of two estimates that vary together, with Fieller's interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.policy import Feature, Policy
from bcdp.statistics.shared.interval import Estimate, on_simplex
from bcdp.statistics.shared.nonresponse import AMONG, ratio_form, ratios_of
from bcdp.statistics.shared.protocol import Decoder
from bcdp.statistics.shared.ratios import width
from bcdp.statistics.shared.rows import Row, Section
from bcdp.statistics.shared.target import Single, Target

Array = npt.NDArray[np.float64]

ASKED = "among those asked"
ASKED_ANSWERED = "among those asked who answered"


@dataclass(frozen=True, kw_only=True)
class AskedMean(Estimate):
    """The mean among those asked, and how many these are."""

    asked: Estimate  # the share of the people who were asked, and answered


@dataclass(frozen=True, kw_only=True)
class AskedShare(Estimate):
    """The share of all people who were asked and have a value, and that among those asked."""

    among: Estimate


def among_words(feature: Feature) -> str:
    """Whom the estimates of a follow-up are about."""
    return ASKED_ANSWERED if feature.own else ASKED


def partial_rule(feature: Feature) -> str | None:
    """Whom estimates of a feature are about that not everybody has; None of any other."""
    if not feature.extras:
        return None
    return among_words(feature) if feature.follows else AMONG


def asked_mean(decoder: Decoder, target: Target, feature: Feature, confidence: float) -> AskedMean:
    """The mean of a target that is how far people are at the lower end, at the upper end, and in neither."""
    low, high = feature.span
    size = target.size(decoder.policy)
    ends, upper = (np.arange(size) < 2).astype(float), (np.arange(size) == 1).astype(float)
    raw, error, start, end = ratios_of(decoder, target, upper[None], ends, confidence)[0]
    inside, start, end = _inside(raw, start, end)
    asked, scale = _total(decoder, target, ends, confidence), high - low
    return AskedMean(
        low + inside * scale, error * scale, low + start * scale, high=low + end * scale, answers=asked.answers,
        raw=low + raw * scale, rule=among_words(feature), asked=asked,
        ratios=ratio_form(decoder, target, upper, ends, (low, high), confidence),
    )  # fmt: skip


def asked_shares(decoder: Decoder, name: str, shares: Mapping[Any, Estimate], confidence: float) -> dict[Any, Estimate]:
    """The shares of a follow-up's values among all people, each with that among those asked; then the others."""
    feature = decoder.policy.features[name]
    count = len(shares) - feature.extras
    values = (np.arange(len(shares)) < count).astype(float)
    among = ratios_of(decoder, Single(name), np.eye(count, len(shares)), values, confidence)
    raw = np.array([each[0] for each in among])
    fitted = on_simplex(raw) if np.isfinite(raw).all() else raw
    estimates: dict[Any, Estimate] = dict(shares)
    tops = np.eye(count, len(shares))
    for (value, share), (ratio, error, start, end), own, top in zip(
        shares.items(), among, fitted.tolist(), tops, strict=False
    ):
        _, start, end = _inside(own, start, end)
        estimates[value] = AskedShare(
            share.value, share.se, share.low, share.high, share.answers, share.raw, linear=share.linear,
            among=Estimate(
                own, error, start, end, share.answers, raw=ratio, rule=among_words(feature),
                ratios=ratio_form(decoder, Single(name), top, values, (0.0, 1.0), confidence),
            ),
        )  # fmt: skip
    return estimates


def asked_items(
    decoder: Decoder, target: Target, feature: Feature, shares: Mapping[Any, Estimate], confidence: float
) -> dict[Any, Estimate]:
    """The shares of a list's items among all people, each with that among those asked, the last number."""
    count, size = len(shares) - feature.extras, target.size(decoder.policy)
    bottom = (np.arange(size) == size - 1).astype(float)
    among = ratios_of(decoder, target, np.eye(count, size), bottom, confidence)
    estimates: dict[Any, Estimate] = dict(shares)
    tops = np.eye(count, size)
    for (value, share), (ratio, error, start, end), top in zip(shares.items(), among, tops, strict=False):
        inside, start, end = _inside(ratio, start, end)
        estimates[value] = AskedShare(
            share.value, share.se, share.low, share.high, share.answers, share.raw, linear=share.linear,
            among=Estimate(
                inside, error, start, end, share.answers, raw=ratio, rule=among_words(feature),
                ratios=ratio_form(decoder, target, top, bottom, (0.0, 1.0), confidence),
            ),
        )  # fmt: skip
    return estimates


def _inside(value: float, start: float, end: float) -> tuple[float, float, float]:
    """A share and its interval between 0 and 1, the interval around it."""
    inside = min(max(value, 0.0), 1.0) if math.isfinite(value) else math.nan
    centre = 0.5 if math.isnan(inside) else inside
    return inside, min(max(start, 0.0), centre), max(min(end, 1.0), centre)


def _total(decoder: Decoder, target: Target, parts: Array, confidence: float) -> Estimate:
    """The share of the people in some parts of a target together."""
    joint = decoder.together([target])
    if joint is None or not np.isfinite(joint.value).all():
        return Estimate(math.nan, math.inf, 0.0, 1.0, joint.answers[0] if joint else 0, raw=math.nan)
    raw, error = float(parts @ joint.value), math.sqrt(max(float(parts @ joint.covariance @ parts), 0.0))
    half = width(confidence) * error
    value, start, end = _inside(raw, raw - half, raw + half)
    return Estimate(value, error, start, end, joint.answers[0], raw)


def asked_mean_sections(policy: Policy, means: Mapping[str, Estimate]) -> Iterator[Section]:
    """How many people each mean among those asked is about."""
    for name, mean in means.items():
        if isinstance(mean, AskedMean):
            feature = policy.features[name]
            words = "asked and answered" if feature.own else "asked"
            rows = (Row("asked", f"{feature.label}: share of the people who were {words}", mean.asked, (0.0, 1.0)),)
            yield Section(f"{feature.label}: asked", ("what", "value"), rows, title=f"{name}: how many were {words}")


def asked_share_sections(policy: Policy, name: str, shares: Mapping[Any, Estimate]) -> Iterator[Section]:
    """The shares among those asked."""
    asked = {value: share.among for value, share in shares.items() if isinstance(share, AskedShare)}
    if not asked:
        return
    label, words = policy.features[name].label, among_words(policy.features[name])
    rows = tuple(
        Row(str(value), f"{label} = {value}, {words}", share, (0.0, 1.0), answers=share.answers, raw=share.raw)
        for value, share in asked.items()
    )
    title = f"{name}, {words}, from {rows[0].answers:,} answers"
    yield Section(f"{label}, {words}", ("value", "share"), rows, "bars", title)
