"""The share of the people who have one of several values of a feature, or a value up to each one in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from bcdp.policy import Policy
from bcdp.policy.base_feature import Scalar
from bcdp.policy.field_checks import Accepts, expected
from bcdp.policy.names import CategoryName
from bcdp.statistics.one_population import value_shares
from bcdp.statistics.shared.interval import Estimate, bounded
from bcdp.statistics.shared.linear_form import LinearForm
from bcdp.statistics.shared.protocol import Array, Decoder, Goal, Means, Statistic, Weight
from bcdp.statistics.shared.rows import Row, Section
from bcdp.statistics.shared.target import Target
from bcdp.statistics.shared.value_targets import ValueMeans

CUMULATIVE = "cumulative"
_A_SET = "a list of different values of the feature, or cumulative for an ordinal one"

Labelled = dict[str, tuple[int, ...]]  # sets of values, as codes


class Share(Statistic):
    """The share of some values of a feature together, or of all up to each value of an ordinal one."""

    kind: ClassVar[str] = "share"
    form: ClassVar[str] = "{share: {name: [values]}}"
    key: ClassVar[str] = "shares"
    sets: Annotated[
        dict[CategoryName, Annotated[tuple[Scalar, ...] | Literal["cumulative"], Accepts(_A_SET)]],
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
            if values == CUMULATIVE:
                if ordinal.get(name, "ordinal") != "ordinal":
                    raise expected(f"a list of values of {name}; cumulative shares are for ordinal features")
                continue
            listed = known.get(name)
            if not values or len(set(values)) < len(values) or (listed and not set(values) < set(listed)):
                raise expected(f"for {name} a list of some, not all, of its values, each once")
        return sets

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        return ((_target(policy, name, self._labelled(policy, name)), 1.0) for name in self.sets)

    def scale(self, policy: Policy, target: Target, budget: float) -> float:
        return 4.0 / target.size(policy)  # a share is a mean on half the scale

    def estimate(self, decoder: Decoder, confidence: float) -> dict[str, dict[str, Estimate]]:
        return {name: self._shares(decoder, name, confidence) for name in self.sets}

    def _labelled(self, policy: Policy, name: str) -> Labelled:
        """The sets that are asked for, by what they are called."""
        categories, wanted = list(policy.features[name].categories), self.sets[name]
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
            words = policy.features[name].label
            rows = tuple(
                Row(
                    label,
                    f"{words}: {label}",
                    share,
                    (0.0, 1.0),
                    key=(name, label),
                    answers=share.answers,
                    raw=share.raw,
                )
                for label, share in shares.items()
            )
            yield Section(words, ("values", "share"), rows, "bars", f"{name}, from {rows[0].answers:,} answers")

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [self._goal(policy, name, data) for name in self.sets]

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
