"""The distribution of a number: the share below each edge of some bins, the share in each bin, quantiles, the mean.

Shares below the edges are decoded without bias, with their covariances; the rest follows from them (theory.md,
section 4.9). Nothing is assumed of how numbers lie within a bin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator, Field, StrictInt, ValidationInfo, field_validator, model_validator

from bcdp.policy import Policy
from bcdp.policy.field_checks import Accepts, Number, expected, some
from bcdp.policy.names import NumericNames
from bcdp.statistics.quantiles import FakeBands, Quantile, SharesBelow, ended, monotone, quantile, shares_below
from bcdp.statistics.shared.decoded_values import JointEstimate
from bcdp.statistics.shared.follow_ups import partial_rule
from bcdp.statistics.shared.interval import Estimate, confined
from bcdp.statistics.shared.joint_targets import Below
from bcdp.statistics.shared.linear_form import LinearForm
from bcdp.statistics.shared.nonresponse import ratio_form, shares_of_last
from bcdp.statistics.shared.protocol import (
    Array,
    Decoder,
    Expected,
    Goal,
    Means,
    Prospect,
    Statistic,
    Weight,
    expected_error,
)
from bcdp.statistics.shared.ratios import width
from bcdp.statistics.shared.rows import Row, Section, as_dates
from bcdp.statistics.shared.target import Codes, Target

T = TypeVar("T")
_FEWEST_BINS, _BINS, _MOST_BINS, _MOST_QUANTILES = 16, 32, 256, 99


def _rising(shares: tuple[float, ...]) -> tuple[float, ...]:
    if len(shares) > _MOST_QUANTILES or not all(lower < upper for lower, upper in pairwise((0.0, *shares, 1.0))):
        raise ValueError
    return shares


def _edges(edges: tuple[float, ...]) -> tuple[float, ...]:
    if not _FEWEST_BINS <= len(edges) + 1 <= _MOST_BINS or not all(lower < upper for lower, upper in pairwise(edges)):
        raise ValueError
    return edges


def _stated(value: T | None) -> T:
    """What may be left out, but is not null."""
    if value is None:
        raise ValueError
    return value


class Distribution(Statistic):
    """The distributions of numbers, each cut into bins between its bounds: so many equal ones, or with stated edges.

    `band`: whether each interval of a share holds the truth with the probability that was asked for, or all of them
    at once; those of quantiles are computed from them.
    """

    kind: ClassVar[str] = "distribution"
    form: ClassVar[str] = "{distribution: [names]}"
    key: ClassVar[str] = "distributions"
    features: NumericNames = Field(alias="distribution")
    bins: Annotated[
        StrictInt | None,
        AfterValidator(_stated),
        Field(ge=_FEWEST_BINS, le=_MOST_BINS),
        Accepts(f"a whole number from {_FEWEST_BINS} to {_MOST_BINS}, or edges in their place"),
    ] = None
    edges: Annotated[
        tuple[Number, ...] | None,
        AfterValidator(_stated),
        AfterValidator(_edges),
        Accepts(f"a list of {_FEWEST_BINS - 1} to {_MOST_BINS - 1} rising numbers inside the bounds, in place of bins"),
    ] = None
    quantiles: Annotated[
        tuple[Number, ...],
        AfterValidator(some),
        AfterValidator(_rising),
        Accepts(f"a list of 1 to {_MOST_QUANTILES} rising numbers above 0 and below 1"),
    ] = (0.1, 0.25, 0.5, 0.75, 0.9)
    band: Annotated[Literal["pointwise", "simultaneous"], Accepts("pointwise or simultaneous")] = "pointwise"
    weight: Weight = 1.0

    @model_validator(mode="before")
    @classmethod
    def _equal(cls, stated: Any) -> Any:
        """Bins are equal, and 32, unless something else is stated."""
        unstated = isinstance(stated, Mapping) and not {"bins", "edges"} & stated.keys()
        return {**stated, "bins": _BINS} if unstated else stated

    @field_validator("edges")
    @classmethod
    def _inside(cls, edges: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        if info.data.get("bins") is not None:
            raise expected("no such key beside bins: edges take their place")
        bounds = (info.context or {}).get("bounds", {})
        for name in bounds.keys() & info.data.get("features", ()):
            low, high = bounds[name]
            if not low < edges[0] <= edges[-1] < high:
                raise expected(f"numbers above {low:g} and below {high:g}, the bounds of {name}")
        return edges

    @property
    def once(self) -> tuple[str, ...]:
        return self.features

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        # the mean over the edges counts: a distribution counts equally however many bins it has
        return ((target, 1 / target.size(policy)) for target in self._targets(policy).values())

    def _targets(self, policy: Policy) -> dict[str, Below]:
        return {name: self._target(policy, name) for name in self.features}

    def _target(self, policy: Policy, name: str) -> Below:
        return Below(name, self.edges or policy.features[name].equal_cuts(self.bins or _BINS))

    def estimate(self, decoder: Decoder, confidence: float) -> dict[str, DistributionEstimate]:
        estimates = {}
        for name in self.features:
            joint = decoder.together([self._target(decoder.policy, name)])
            if joint is not None:
                estimates[name] = self._estimated(decoder, name, joint, confidence)
        return estimates

    def _estimated(self, decoder: Decoder, name: str, joint: JointEstimate, confidence: float) -> DistributionEstimate:
        feature, target = decoder.policy.features[name], self._target(decoder.policy, name)
        edges = np.array([feature.span[0], *target.cuts, feature.span[1]])
        (answers,) = joint.answers
        partial, rule = feature.extras > 0, partial_rule(feature) or feature.rule
        joint = shares_of_last(joint) if partial else joint
        below = shares_below(joint, confidence, self.band == "simultaneous")

        def estimate(value: float, se: float, low: float, high: float, raw: float) -> Estimate:
            return Estimate(value, se, low, high=high, answers=answers, raw=raw, rule=rule)

        def shares(columns: Sequence[Array], factors: Array) -> tuple[Estimate, ...]:
            """Shares that are linear in those below the edges, or such over the share of those who have a number."""
            numbers = zip(*(column.tolist() for column in columns), strict=True)
            if partial:
                total = np.eye(len(target.cuts) + 1)[-1]
                forms = (
                    ratio_form(decoder, target, np.append(row, 0.0), total, (0.0, 1.0), confidence) for row in factors
                )
                return tuple(replace(estimate(*row), ratios=form) for row, form in zip(numbers, forms, strict=True))
            linear = (LinearForm(decoder, confidence, {target: row}, (0.0, 1.0)) for row in factors)
            return tuple(replace(estimate(*row), linear=form) for row, form in zip(numbers, linear, strict=True))

        z, middles = width(confidence), (edges[:-1] + edges[1:]) / 2
        bands = None if partial else FakeBands(decoder, target, joint, confidence, self.band == "simultaneous")
        half = float(np.max(np.diff(edges))) / 2
        linear = None
        if not partial:
            linear = LinearForm(decoder, confidence, {target: -np.diff(middles)}, feature.span, half)
        return DistributionEstimate(
            edges=tuple(edges.tolist()),
            cdf=shares(below.inner, np.eye(len(target.cuts))),
            histogram=shares(_histogram(joint, below, z), _bins_of(len(target.cuts))),
            quantiles={share: replace(quantile(below, edges, share), bands=bands) for share in self.quantiles},
            mean=replace(estimate(*_mean(joint, edges, z)), linear=linear),
            band=self.band,
            answers=answers,
            rule=rule,
        )

    @classmethod
    def document(cls, estimates: Mapping[str, DistributionEstimate]) -> dict[str, Any]:
        return {cls.key: {name: estimate.to_dict() for name, estimate in estimates.items()}}

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[str, DistributionEstimate]) -> Iterator[Section]:
        for name, estimate in estimates.items():
            feature = policy.features[name]
            rows = estimate.rows(name, feature.share, feature.span)
            whom = f", {words}" if (words := partial_rule(feature)) else ""
            yield Section(
                f"{feature.share}{whom}",
                ("quantile", "value"),
                rows,
                title=f"{name}{whom}, from {estimate.answers:,} answers",
                interval=", whole bins",
                remarks=(
                    f"Intervals of quantiles are computed from the {estimate.band} intervals of the shares below.",
                    *(as_dates(feature.written, rows) if feature.is_date else ()),
                ),
            )
            shares = tuple(
                Row(
                    feature.written(edge),
                    f"{feature.label} below {feature.written(edge)}",
                    share,
                    (0.0, 1.0),
                    ((name,), "below", edge),
                )
                for edge, share in zip(estimate.edges[1:-1], estimate.cdf, strict=True)
            )
            yield Section(
                f"{feature.label}: share of the people below{whom}",
                ("below", "share"),
                shares,
                "curve",
                interval=f", {estimate.band}",
                places=estimate.edges[1:-1],
                ends=feature.span,
            )

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [self._goal(policy, name, data) for name in self.features]

    def expected(self, prospect: Prospect, people: int, records: Codes | None = None) -> Sequence[Expected]:
        if records is not None:
            return ()  # anybody who has data simulates
        policy, errors = prospect.policy, prospect.errors
        errors_by_name = {
            name: math.sqrt(errors[target] / target.size(policy) / people)
            for name, target in self._targets(policy).items()
        }
        return [
            expected_error(f"distribution of {name}", "the share below an edge", error, 1.0, {"distribution": name})
            for name, error in errors_by_name.items()
        ]

    def _goal(self, policy: Policy, name: str, data: Means) -> Goal:
        target = self._target(policy, name)
        edges = len(target.cuts)

        def solved(means: Means) -> Array:
            return self._solved(policy, name, means) if target in means else np.full(edges, np.nan)

        return Goal(
            f"distribution of {name}",
            lambda estimates: np.array([share.value for share in estimates[name].cdf]),
            solved,
            self._solved(policy, name, data),
            np.eye(edges) / edges,
            np.arange(1, edges + 1) / (edges + 1),
        )

    def _solved(self, policy: Policy, name: str, means: Means) -> Array:
        """The shares below the edges, of those who have a number."""
        numbers = np.asarray(means[self._target(policy, name)])
        if policy.features[name].extras:
            numbers = numbers[:-1] / numbers[-1] if numbers[-1] > 0 else np.full(len(numbers) - 1, np.nan)
        return monotone(numbers)


@dataclass(frozen=True)
class DistributionEstimate:
    """A distribution in own units: `cdf` has the share below each inner edge, `histogram` that in each bin.

    A number at an edge is in the bin that begins there. `band` says of which intervals all hold together: none
    (pointwise), or those of `cdf` and `quantiles` (simultaneous). The mean counts numbers as the middles of their
    bins, and its interval adds half of the widest bin for that.
    """

    edges: tuple[float, ...]
    cdf: tuple[Estimate, ...]
    histogram: tuple[Estimate, ...]
    quantiles: Mapping[float, Quantile]
    mean: Estimate
    band: str
    answers: int
    rule: str | None = None

    def rows(self, name: str, label: str, span: tuple[float, float]) -> tuple[Row, ...]:
        """The quantiles and the mean, to be shown."""
        quantiles = (
            Row(
                f"{100 * share:g}%",
                f"{label}: {100 * share:g}% are below",
                quantile,
                span,
                ((name,), "quantiles", share),
                in_units=True,
            )
            for share, quantile in self.quantiles.items()
        )
        return (*quantiles, Row("mean", f"{label}: mean, to half a bin", self.mean, span, (name,), in_units=True))

    def agreeing(self, mean: Estimate) -> tuple[Estimate, DistributionEstimate]:
        """A mean that was asked for as well, within what the shares in the bins leave possible; both report it."""
        shares = np.array([share.value for share in self.histogram])
        ends = float(shares @ self.edges[:-1]), float(shares @ self.edges[1:])
        if math.isnan(mean.value) or math.isnan(ends[0]):
            return mean, self
        value = min(max(mean.value, ends[0]), ends[1])
        agreed = replace(mean, value=value, low=min(mean.low, value), high=max(mean.high, value))
        return agreed, replace(self, mean=agreed)

    def to_dict(self) -> dict[str, Any]:
        """The distribution in plain JSON; what is not finite is null."""
        return {
            "edges": list(self.edges),
            "cdf": [share.to_dict() for share in self.cdf],
            "histogram": [share.to_dict() for share in self.histogram],
            "quantiles": {str(share): quantile.to_dict() for share, quantile in self.quantiles.items()},
            "mean": self.mean.to_dict(),
            "band": self.band,
            "answers": self.answers,
            **({} if self.rule is None else {"rule": self.rule}),
        }


def _bins_of(edges: int) -> Array:
    """The shares in bins from those below so many edges: the first bin is below the first edge."""
    return np.eye(edges + 1, edges) - np.eye(edges + 1, edges, -1)


def _histogram(joint: JointEstimate, below: SharesBelow, z: float) -> tuple[Array, ...]:
    """The share in each bin: value, standard error, interval, and the unbiased share behind it."""
    change = _bins_of(len(joint.value))
    se = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", change, joint.covariance, change), 0.0))
    value, raw, centre = np.diff(below.value), np.diff(below.raw), np.diff(ended(joint.value))
    if np.isnan(raw).any():
        return value, np.full_like(value, np.inf), np.zeros_like(value), np.ones_like(value), raw
    return value, se, *confined(centre, z * se, (0.0, 1.0), value), raw


def _mean(joint: JointEstimate, edges: Array, z: float) -> tuple[float, float, float, float, float]:
    """The mean of the bins' middles in own units; its interval has half of the widest bin more on each side."""
    low, high, middles = float(edges[0]), float(edges[-1]), (edges[:-1] + edges[1:]) / 2
    if np.isnan(joint.value).any():
        return float("nan"), float("inf"), low, high, float("nan")
    gaps = np.diff(middles)  # who is below an edge is nearer by so much than who is not
    raw, centre = (float(middles[-1] - gaps @ shares) for shares in (joint.raw, joint.value))
    se = math.sqrt(max(float(gaps @ joint.covariance @ gaps), 0.0))
    reach, value = z * se + float(np.max(np.diff(edges))) / 2, min(max(centre, low), high)
    return value, se, max(value - reach, low), min(value + reach, high), raw
