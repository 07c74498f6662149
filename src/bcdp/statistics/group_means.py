"""Means by group, and the differences between groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field, ValidationInfo, field_validator

from bcdp.policy import Policy
from bcdp.policy.field_checks import expected
from bcdp.policy.names import GroupedNames, GroupName
from bcdp.statistics.one_population import mean_between
from bcdp.statistics.shared.cell_targets import TableAxis, TableCells
from bcdp.statistics.shared.follow_ups import partial_rule
from bcdp.statistics.shared.interval import Estimate, confined, on_simplex
from bcdp.statistics.shared.joint_targets import Interaction, interaction, margin_of
from bcdp.statistics.shared.linear_form import LinearForm, RatioForm
from bcdp.statistics.shared.protocol import Decoder, Expected, Goal, Means, Prospect, Statistic, Weight, expected_error
from bcdp.statistics.shared.ratios import difference_interval, ratio_interval, width
from bcdp.statistics.shared.rows import Row, Section, as_dates
from bcdp.statistics.shared.target import Codes, Target
from bcdp.statistics.tables.cells import cuts_of, spread_of, table_values
from bcdp.statistics.tables.statistic import is_linked, published_pair

Array = npt.NDArray[np.float64]
Pair = tuple[str, str]  # the feature whose mean is reported, and the one that makes the groups

_FEWEST = 1e-9  # the share of a group below which its mean is not computed
_MOST_DIFFERENCES = 45  # that are shown: between ten groups


@dataclass(frozen=True)
class GroupEstimate:
    """The mean of each group, by its value, and the difference of every two, the first less the second."""

    values: Mapping[Any, Estimate]
    differences: Mapping[tuple[Any, Any], Estimate]

    def to_dict(self) -> dict[str, Any]:
        """The groups in plain JSON."""
        values = {str(group): mean.to_dict() for group, mean in self.values.items()}
        differences = [{"of": list(pair), **difference.to_dict()} for pair, difference in self.differences.items()]
        return {"values": values, "differences": differences}


class GroupMeans(Statistic):
    """The means of numeric, binary and ordinal features in every group that the values of another feature make."""

    kind: ClassVar[str] = "mean by group"
    form: ClassVar[str] = "{mean: [names], by: name}"
    key: ClassVar[str] = "groups"
    features: GroupedNames = Field(alias="mean")
    by: GroupName
    weight: Weight = 1.0

    @field_validator("by")
    @classmethod
    def _another(cls, by: str, info: ValidationInfo) -> str:
        if by in info.data.get("features", ()):
            raise expected("a feature other than those whose means are asked")
        return by

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        return (target for name in self.features for target in self._targets_of(policy, name))

    def _targets_of(self, policy: Policy, name: str) -> Iterator[tuple[Target, float]]:
        # the mean over k groups of squared errors, groups equally large: that of E[x 1[g]] k times, of the mean of x
        # once, and of the shares of groups as often as the square of a mean, taken as 1/3
        wanted = _targets(policy, (name, self.by))
        if len(wanted) == 1:  # cells: of each group the difference of two
            yield wanted[0], 2.0 * wanted[0].shape(policy)[1]
            return
        mean, groups, both = wanted
        size = len(table_values(policy.features[self.by]))
        half = 0.5 if groups.size(policy) == 1 else 1.0
        yield both, half * size
        yield mean, 1.0
        yield groups, half * size / 3

    def estimate(self, decoder: Decoder, confidence: float) -> dict[Pair, GroupEstimate]:
        return {(name, self.by): _groups(decoder, (name, self.by), confidence) for name in self.features}

    @classmethod
    def document(cls, estimates: Mapping[Pair, GroupEstimate]) -> dict[str, Any]:
        return {cls.key: [{"mean": name, "by": by, **estimate.to_dict()} for (name, by), estimate in estimates.items()]}

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[Pair, GroupEstimate]) -> Iterator[Section]:
        for (name, by), estimate in estimates.items():
            feature, group = policy.features[name], policy.features[by]
            low, high = feature.span
            rows = [
                Row(
                    str(value),
                    f"{feature.share}, {group.label} = {value}",
                    mean,
                    (low, high),
                    ((name, by), value),
                    in_units=feature.in_units,
                )
                for value, mean in estimate.values.items()
            ]
            shown = list(estimate.differences.items())[:_MOST_DIFFERENCES]
            rows += [
                Row(f"{first} - {second}", f"{feature.share}, {group.label}: {first} less {second}", mean,
                    (low - high, high - low), ((name, by), (first, second)), in_units=feature.in_units)
                for (first, second), mean in shown
            ]  # fmt: skip
            left = len(estimate.differences) - len(shown)
            remarks = (f"{left} more differences are in the JSON",) if left else ()
            absent = [str(value) for value, mean in estimate.values.items() if math.isnan(mean.value)]
            notes = (f"nobody was asked about: {', '.join(absent)}",) if absent else ()
            dates = as_dates(feature.written, rows[: len(estimate.values)]) if feature.is_date else ()
            subject, answers = f"{feature.share} by {group.label}", next(iter(estimate.values.values())).answers
            title = f"{subject}, from {answers:,} answers"
            yield Section(subject, ("group", "mean"), tuple(rows), "dots", title, remarks=(*remarks, *notes, *dates))

    def expected(self, prospect: Prospect, people: int, records: Codes | None = None) -> Sequence[Expected]:
        if records is not None:
            return ()  # anybody who has data simulates
        policy, errors = prospect.policy, prospect.errors
        expected = []
        for name in self.features:
            low, high = policy.features[name].span
            total = sum(weight * errors[target] for target, weight in self._targets_of(policy, name))
            error = math.sqrt(total / people) * (high - low) / 2
            subject, document = f"mean of {name} by {self.by}", {"mean": name, "by": self.by}
            expected.append(expected_error(subject, "a mean", error, high - low, document))
        return expected

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [_goal(policy, (name, self.by), data) for name in self.features]


def _targets(policy: Policy, pair: Pair) -> tuple[Target, Target, Interaction] | tuple[TableCells]:
    """The mean of all, the shares of the groups, and what they have together.

    Of a score, of what not everybody has, and of groups that not everybody is in, both ends in every group.
    """
    cuts = {pair[0]: None, pair[1]: cuts_of(policy, pair[1])}
    feature = policy.features[pair[0]]
    scored = bool(feature.scale)
    if scored or feature.extras or any(is_linked(policy, name) for name in pair):
        return (TableCells((TableAxis(pair[0], scored=scored), TableAxis(pair[1], cuts=cuts[pair[1]]))),)
    return margin_of(pair[0], None), margin_of(pair[1], cuts[pair[1]]), interaction(policy, cuts)


def _lines(policy: Policy, targets: tuple[Target, ...]) -> tuple[Array, Array, Array]:
    """`E[x 1[g]]` and `P(g)` of every group as straight lines in the values of the targets.

    The constant, and the slopes of the former, then of the latter. Of cells, among those who have a value.
    """
    if isinstance(targets[0], TableCells):
        rows, count = targets[0].shape(policy)
        ends = [np.kron(np.eye(rows)[end], np.eye(count)) for end in range(2)]
        return np.zeros(count), ends[1] - ends[0], ends[1] + ends[0]
    groups = targets[1]
    spread = spread_of(groups.size(policy))
    count, size = spread.shape
    middle = 1 / count if size > 1 else 0.0
    both = np.hstack([np.full((count, 1), 1 / count), np.zeros((count, size)), spread])
    shares = np.hstack([np.zeros((count, 1)), spread, np.zeros((count, size))])
    return 1 / count - spread.sum(axis=1) * middle, both, shares


def _groups(decoder: Decoder, pair: Pair, confidence: float) -> GroupEstimate:
    policy = decoder.policy
    targets, feature, group = _targets(policy, pair), policy.features[pair[0]], policy.features[pair[1]]
    joint = decoder.together(targets)
    constant, both, shares = _lines(policy, targets)
    low, high = feature.span
    rule = "; ".join(f"{name}: {rule}" for name in pair if (rule := _rule(policy, name, pair))) or None
    names, z = table_values(group), width(confidence)
    if joint is None or not np.isfinite(joint.value).all():
        nothing = Estimate(
            math.nan,
            math.inf,
            low,
            high=high,
            answers=0 if joint is None else joint.answers[-1],
            raw=math.nan,
            rule=rule,
        )
        unknown = Estimate(
            math.nan, math.inf, low - high, high=high - low, answers=nothing.answers, raw=math.nan, rule=rule
        )
        return GroupEstimate(dict.fromkeys(names, nothing), dict.fromkeys(combinations(names, 2), unknown))
    answers, scale = joint.answers[-1], (high - low) / 2
    tops, bottoms = both @ joint.value, constant + shares @ joint.value
    ratios, unbiased = list[_Ratio](), list[float]()
    forms = [
        RatioForm(_form(decoder, targets, up, confidence), _form(decoder, targets, down, confidence), float(more),
                  scale, low + scale, (low, high))
        for up, down, more in zip(both, shares, constant, strict=True)
    ]  # fmt: skip
    slopes = []
    for top, bottom, up, down in zip(tops, bottoms, both, shares, strict=True):
        pairwise = np.array([up, down])
        start, end = ratio_interval(float(top), float(bottom), pairwise @ joint.covariance @ pairwise.T, z)
        raw = float(top / bottom) if bottom > _FEWEST else math.nan
        ratios.append(_Ratio(raw, start, end))
        under = float(down @ joint.raw) + float(constant[len(unbiased)])
        unbiased.append(float(up @ joint.raw) / under if under > _FEWEST else math.nan)
        slopes.append((up - (0.0 if math.isnan(raw) else raw) * down) / max(float(bottom), _FEWEST))
    spread = np.array(slopes) @ joint.covariance @ np.array(slopes).T
    errors = np.sqrt(np.maximum(np.diag(spread), 0.0)).tolist()

    def estimated(
        ratio: _Ratio, reported: float, exact: float, error: float, parts: Sequence[tuple[float, RatioForm]]
    ) -> Estimate:
        """A mean or a difference of two in own units, its interval within what it can be."""
        ends = ratio.interval((-1.0 * len(parts), 1.0 * len(parts)), reported)
        offset = low + scale if len(parts) == 1 else 0.0
        value, start, end, raw = (offset + number * scale for number in (reported, *ends, exact))
        se = error * scale if ratio.is_determined else math.inf
        return Estimate(value, se, start, high=end, answers=answers, raw=raw, rule=rule, ratios=tuple(parts))

    inside = _published(decoder, pair, np.array([ratio.raw for ratio in ratios]), bottoms).tolist()
    values = {
        name: estimated(ratio, value, exact, error, [(1.0, form)])
        for name, ratio, value, exact, error, form in zip(names, ratios, inside, unbiased, errors, forms, strict=True)
    }
    differences = {}
    for a, b in combinations(range(len(names)), 2):
        correlation = float(np.clip(spread[a, b] / max(errors[a] * errors[b], 1e-300), -1, 1))
        difference = _Ratio(ratios[a].raw - ratios[b].raw, *difference_interval(ratios[a], ratios[b], correlation))
        error = math.sqrt(max(float(spread[a, a] + spread[b, b] - 2 * spread[a, b]), 0.0))
        parts = [(1.0, forms[a]), (-1.0, forms[b])]
        differences[names[a], names[b]] = estimated(
            difference, inside[a] - inside[b], unbiased[a] - unbiased[b], error, parts
        )
    return GroupEstimate(values, differences)


def _published(decoder: Decoder, pair: Pair, raw: Array, shares: Array) -> Array:
    """The means within what they can be: those of the table that is reported, or with the mean of all that they had."""
    inside = np.clip(raw, -1.0, 1.0)
    features = [decoder.policy.features[name] for name in pair]
    if any(feature.extras for feature in features):
        return inside
    low, high = features[0].span
    half = (high - low) / 2
    cells = None if features[0].is_number else published_pair(decoder, pair)
    if cells is not None:
        scores, sums = np.array(features[0].scale or (low, high)), cells.sum(axis=0)
        known = np.isfinite(raw) & (sums > _FEWEST)
        inside[known] = np.clip(((scores @ cells)[known] / sums[known] - low) / half - 1, -1.0, 1.0)
        return inside
    if not np.isfinite(raw).all():
        return inside
    average = min(max(float(shares @ raw), -1.0), 1.0)
    return _with_average(
        inside, on_simplex(shares), (mean_between(decoder, pair[0], low + (average + 1) * half) - low) / half - 1
    )


def _with_average(means: Array, shares: Array, average: float) -> Array:
    """Means of groups between -1 and 1, all moved alike as far as they can be, such that all people have this one.

    >>> _with_average(np.array([1.0, 0.2]), np.array([0.5, 0.5]), 0.7).round(9).tolist()
    [1.0, 0.4]
    """
    least, most = -2.0, 2.0
    if abs(float(shares @ means) - average) < 1e-12:
        return means
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (middle, most) if shares @ np.clip(means + middle, -1, 1) < average else (least, middle)
    return np.asarray(np.clip(means + most, -1.0, 1.0))


def _form(decoder: Decoder, targets: tuple[Target, ...], slopes: Array, confidence: float) -> LinearForm:
    """A linear function of the values of several targets, one after the other."""
    ends = np.cumsum([target.size(decoder.policy) for target in targets])
    parts = zip(targets, np.split(slopes, ends[:-1]), strict=True)
    return LinearForm(decoder, confidence, {target: part for target, part in parts if part.any()}, (-1.0, 1.0))


def _rule(policy: Policy, name: str, pair: Pair) -> str | None:
    """Whom a mean is about, where that is not everybody."""
    feature = policy.features[name]
    return (partial_rule(feature) if name == pair[0] else None) or feature.rule


class _Ratio(NamedTuple):
    """A ratio or a difference of two, and the ends of its interval; infinite where the denominator may be 0."""

    raw: float
    low: float
    high: float

    @property
    def is_determined(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def interval(self, span: tuple[float, float], reported: float) -> tuple[float, float]:
        """Its interval within a range, with the value that is reported."""
        if not math.isfinite(self.raw):
            return span
        reach = np.array(self.raw - self.low), np.array(self.high - self.raw)
        low, high = confined(np.array(self.raw), reach, span, np.array(reported))
        return float(low), float(high)


def _goal(policy: Policy, pair: Pair, data: Means) -> Goal:
    targets, (low, high) = _targets(policy, pair), policy.features[pair[0]].span
    constant, both, shares = _lines(policy, targets)

    def solved(means: Means) -> Array:
        if not all(wanted in means for wanted in targets):
            return np.full(len(constant), np.nan)
        value = np.concatenate([means[wanted] for wanted in targets])
        tops, bottoms = both @ value, constant + shares @ value
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(bottoms > _FEWEST, tops / bottoms, np.nan)
        return low + (np.clip(ratio, -1, 1) + 1) * (high - low) / 2

    truth = solved(data)
    real = np.isfinite(truth)
    size = len(truth)
    return Goal(
        f"mean of {pair[0]} by {pair[1]}",
        lambda estimates: np.where(real, [mean.value for mean in estimates[pair].values.values()], 0.0),
        lambda means: np.where(real, solved(means), 0.0),
        np.where(real, truth, 0.0),
        np.diag(real / max(int(real.sum()), 1)),
        np.full(size, (low + high) / 2),
    )
