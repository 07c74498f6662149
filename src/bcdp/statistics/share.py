"""The share of the people who have one of several values of a feature, or a value up to each one in order.

Of codes, the share of each group that begins alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from bcdp.policy import Policy
from bcdp.policy.base_feature import Scalar
from bcdp.policy.field_checks import Accepts, expected
from bcdp.policy.names import CategoryName
from bcdp.statistics.code_groups import (
    Prefixes,
    by_level,
    fitted_levels,
    group_shares,
    groups_of,
    lengths_of,
    mistake_in,
)
from bcdp.statistics.frequency import SHOWN, scale_of_frequencies
from bcdp.statistics.one_population import value_shares
from bcdp.statistics.shared.interval import Estimate, bounded
from bcdp.statistics.shared.linear_form import LinearForm
from bcdp.statistics.shared.protocol import Array, Decoder, Goal, Means, Statistic, Weight
from bcdp.statistics.shared.rows import MANY, Row, Section
from bcdp.statistics.shared.target import Role, Single, Target
from bcdp.statistics.shared.value_targets import ValueMeans

CUMULATIVE = "cumulative"
_A_SET = (
    "a list of different values of the feature, cumulative for an ordinal one, or {prefixes: [1, 2]} for codes of "
    "which some begin alike"
)

Labelled = dict[str, tuple[int, ...]]  # sets of values, as codes


class Share(Statistic):
    """The share of some values of a feature together, or of all up to each value of an ordinal one.

    Of codes, such as those of occupations, the shares of all groups with the same first characters: these are sums of
    the frequencies of the codes, at every level.
    """

    kind: ClassVar[str] = "share"
    form: ClassVar[str] = "{share: {name: [values]}}"
    key: ClassVar[str] = "shares"
    sets: Annotated[
        dict[CategoryName, Annotated[tuple[Scalar, ...] | Literal["cumulative"] | Prefixes, Accepts(_A_SET)]],
        Field(alias="share", min_length=1),
        Accepts("a mapping such as {satisfied: [good, very good]}", inside=True),
    ]
    weight: Weight = 1.0

    @field_validator("sets")
    @classmethod
    def _of_the_feature(cls, sets: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        known: Mapping[str, Sequence[Any]] = (info.context or {}).get("values", {})
        ordinal: Mapping[str, object] = (info.context or {}).get("types") or {}
        for name, values in sets.items():
            if isinstance(values, Prefixes):
                if mistake := info.context and mistake_in(name, values.prefixes, known.get(name)):
                    raise expected(mistake)
                continue
            if values == CUMULATIVE:
                if ordinal.get(name, "ordinal") != "ordinal":
                    raise expected(f"a list of values of {name}; cumulative shares are for ordinal features")
                continue
            listed = known.get(name)
            if not values or len(set(values)) < len(values) or (listed and not set(values) < set(listed)):
                raise expected(f"for {name} a list of some, not all, of its values, each once")
        return sets

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        for name, wanted in self.sets.items():
            yield (
                Single(name) if isinstance(wanted, Prefixes) else _target(policy, name, self._labelled(policy, name)),
                1.0,
            )

    def scale(self, policy: Policy, target: Target, budget: float) -> float:
        if target.role is Role.FEATURE:
            return scale_of_frequencies(target.size(policy), budget)
        return 4.0 / target.size(policy)  # a share is a mean on half the scale

    def estimate(self, decoder: Decoder, confidence: float) -> dict[str, dict[str, Estimate]]:
        return {
            name: dict(group_shares(decoder, name, wanted.prefixes, confidence))
            if isinstance(wanted, Prefixes)
            else self._shares(decoder, name, confidence)
            for name, wanted in self.sets.items()
        }

    def _labelled(self, policy: Policy, name: str) -> Labelled:
        """The sets that are asked for, by what they are called."""
        categories, wanted = list(policy.features[name].categories), self.sets[name]
        assert not isinstance(wanted, Prefixes)
        if wanted == CUMULATIVE:
            last = len(policy.features[name].scale) - 1
            return {f"at most {categories[code]}": tuple(range(code + 1)) for code in range(last)}
        return {" or ".join(map(str, wanted)): tuple(sorted(categories.index(value) for value in wanted))}

    def _shares(self, decoder: Decoder, name: str, confidence: float) -> dict[str, Estimate]:
        labelled = self._labelled(decoder.policy, name)
        target = _target(decoder.policy, name, labelled)
        decoded = decoder.decode(target)
        value, errors, low, high = bounded(decoded, 0.0, confidence)
        if len(labelled) > 1:  # none is below the one before it, and neither are the ends of the intervals
            value, low, high = map(_rising, (value, low, high))
        shares = value_shares(decoder, name)
        if shares is not None:
            value = shares @ np.array(target.numbers)
        rule = decoder.policy.features[name].rule
        rows = np.column_stack([value, errors, np.fmin(low, value), np.fmax(high, value), decoded.raw]).tolist()
        linear = [LinearForm(decoder, confidence, {target: factors}, (0.0, 1.0)) for factors in np.eye(len(rows))]
        return {
            label: Estimate(share, se, start, high=end, answers=decoded.answers, raw=raw, rule=rule, linear=form)
            for label, form, (share, se, start, end, raw) in zip(labelled, linear, rows, strict=True)
        }

    @classmethod
    def document(cls, estimates: Mapping[str, Mapping[str, Estimate]]) -> dict[str, Any]:
        return {
            cls.key: {
                name: {label: share.to_dict() for label, share in shares.items()} for name, shares in estimates.items()
            }
        }

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[str, Mapping[str, Estimate]]) -> Iterator[Section]:
        for name, shares in estimates.items():
            sets = dict(shares)
            for length, groups in by_level(policy, name, shares):
                yield _level_section(policy, name, length, groups)
                sets = {label: share for label, share in sets.items() if label not in groups}
            if sets:
                rows = tuple(_row(policy, name, *each) for each in sets.items())
                title = f"{name}, from {rows[0].answers:,} answers"
                yield Section(policy.features[name].label, ("values", "share"), rows, "bars", title)

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [
            _groups_goal(policy, name, wanted, data) if isinstance(wanted, Prefixes) else self._goal(policy, name, data)
            for name, wanted in self.sets.items()
        ]

    def _goal(self, policy: Policy, name: str, data: Means) -> Goal:
        labelled = self._labelled(policy, name)
        target, size = _target(policy, name, labelled), len(labelled)

        def solved(means: Means) -> Array:
            inside = np.clip(means[target], 0.0, 1.0)
            return _rising(inside) if size > 1 and np.isfinite(inside).all() else inside

        return Goal(
            f"shares of {name}",
            lambda estimates: np.array([estimates[name][label].value for label in labelled]),
            solved,
            solved(data),
            np.eye(size) / size,
            np.full(size, 0.5),
        )


def _row(policy: Policy, name: str, label: str, share: Estimate) -> Row:
    words = f"{policy.features[name].label}: {label}"
    return Row(label, words, share, (0.0, 1.0), key=(name, label), answers=share.answers, raw=share.raw)


def _level_section(policy: Policy, name: str, length: int, groups: Mapping[str, Estimate]) -> Section:
    """The groups of one level; of more than 100 the largest."""
    many = len(groups) > MANY
    shown = nlargest(SHOWN, groups.items(), key=lambda item: item[1].raw) if many else groups.items()
    rows = tuple(_row(policy, name, *each) for each in shown)
    title = f"{name} by the first {f'{length} characters' if length > 1 else 'character'}"
    title = f"{title}, from {rows[0].answers:,} answers"
    remarks = (f"The {len(rows)} largest of {len(groups):,} groups.",) if many else ()
    interval = ", of all groups together" if many else ""
    words = policy.features[name].label
    return Section(words, ("codes", "share"), rows, "bars", title, interval=interval, remarks=remarks)


def _groups_goal(policy: Policy, name: str, wanted: Prefixes, data: Means) -> Goal:
    lengths = lengths_of(policy, name)
    levels = [(lengths.index(length), groups_of(policy.features[name], length)) for length in sorted(wanted.prefixes)]
    labels = [label for _, groups in levels for label in groups.names]

    def solved(means: Means) -> Array:
        unbiased = means[Single(name)]
        if not np.isfinite(unbiased).all():
            return np.full(len(labels), np.nan)
        shares = fitted_levels(policy, name, lengths, unbiased)
        return np.concatenate([shares[level][: len(groups.names)] for level, groups in levels])

    size = len(labels)
    blind = np.concatenate([np.full(len(groups.names), 1 / len(groups.names)) for _, groups in levels])
    return Goal(
        f"shares of {name}",
        lambda estimates: np.array([estimates[name][label].value for label in labels]),
        solved,
        solved(data),
        np.full(size, 1 / size),
        blind,
    )


def _target(policy: Policy, name: str, labelled: Labelled) -> ValueMeans:
    values = range(policy.features[name].joint_inputs)
    return ValueMeans(name, tuple(tuple(float(value in codes) for codes in labelled.values()) for value in values))


def _rising(numbers: Array) -> Array:
    """The nearest numbers that never fall: averages over neighbours that do."""
    blocks: list[tuple[float, int]] = []
    for number in numbers.tolist():
        total, size = number, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / size:
            more, further = blocks.pop()
            total, size = total + more, size + further
        blocks.append((total, size))
    return np.repeat([total / size for total, size in blocks], [size for _, size in blocks])
