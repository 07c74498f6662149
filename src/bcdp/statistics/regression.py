"""Least squares of one feature on others, from the moments that a survey asked for (docs/theory.md, section 4.4).

Moments are estimated on the [-1, 1] scale, coefficients are given in the features' own units.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, StrictBool, ValidationInfo, field_validator

from bcdp.policy import Policy
from bcdp.policy.checks import Accepts, Number, Record, expected
from bcdp.policy.encoding import as_arrow, encode
from bcdp.policy.names import AnyNames, NumberName
from bcdp.statistics.columns import Design, Moments, design_of, moment_targets, moment_weights, moments
from bcdp.statistics.evidence import Counted, Nothing, RegressionEvidence
from bcdp.statistics.forecast import forecast, told
from bcdp.statistics.least_squares import (
    Centred,
    Coefficient,
    Noise,
    centred,
    own_scale,
    own_units,
    shrunk,
    solve,
    unshrunk,
    with_constant,
)
from bcdp.statistics.protocol import Decoder, Expected, Goal, Means, Statistic, Weight
from bcdp.statistics.ratios import width
from bcdp.statistics.rows import Row, Section
from bcdp.statistics.target import Target

Array = npt.NDArray[np.float64]

_DRAWS, _FEWEST_DRAWS = 1000, 250
_ROOM = 400_000  # entries of all matrices drawn again
_PAPER_RADIUS = 1.0  # the ball of the paper's least squares, where the policy states none


class Model(Record):
    """Least squares of a numeric or binary target on features of any type; categorical ones enter as indicators.

    `radius` bounds the length of the coefficients. `explains` is a guess what share of the target's variance the
    features explain, for which the questions are chosen.
    """

    target: NumberName
    features: AnyNames
    intercept: Annotated[StrictBool, Accepts("true or false")] = True
    ridge: Annotated[Number | None, Field(ge=0), Accepts("null or a finite number of at least 0")] = None
    radius: Annotated[Number | None, Field(gt=0), Accepts("null or a finite number above 0")] = None
    explains: Annotated[Number, Field(gt=0, lt=1), Accepts("a number above 0 and below 1")] = 0.1

    @field_validator("features")
    @classmethod
    def _not_the_target(cls, features: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.data.get("target") in features:
            raise expected("features other than the target")
        return features

    def design(self, policy: Policy) -> Design:
        """The columns, the target last."""
        return design_of(policy, self.features, self.target, self.intercept)


@dataclass(frozen=True)
class RegressionEstimate:
    """A linear prediction of the target: its coefficients, and the share of the target's variance that it explains.

    `rule` says how values that are missing were counted, where the policy has rules for them.
    """

    target: str
    intercept: Coefficient
    coefficients: Mapping[str, Coefficient]
    evidence: RegressionEvidence = field(repr=False, compare=False)
    design: Design
    rule: str | None = None

    @property
    def explained(self) -> Coefficient:
        """The share of the target's variance that the features explain."""
        return self.evidence.explained

    @property
    def adds(self) -> Mapping[str, Coefficient]:
        """For each feature the share that it adds to what the others explain."""
        return self.evidence.adds

    @property
    def remark(self) -> str:
        """Whether the features are seen to help, and what to do where the answers do not tell enough."""
        return self.evidence.remark

    def to_dict(self) -> dict[str, Any]:
        """The regression in plain JSON; what is not finite is null."""
        return {
            "target": self.target,
            "intercept": self.intercept.to_dict(),
            "coefficients": {name: number.to_dict() for name, number in self.coefficients.items()},
            "explained": self.explained.to_dict(),
            "adds": {name: number.to_dict() for name, number in self.adds.items()},
            "remark": self.remark,
            **({} if self.rule is None else {"rule": self.rule}),
        }

    def predict(self, policy: Policy, table: Any) -> Array:
        """The target predicted for each record of a table, in own units; the target's column is not needed."""
        records = as_arrow(table)
        needed = {column.feature: policy.features[column.feature] for column in self.design[:-1]}
        codes = encode(policy.model_copy(update={"features": needed}), records)
        total = np.full(len(records), self.intercept.value)
        for column, number in zip(self.design, self.coefficients.values(), strict=False):
            slope, constant = own_scale(policy, column)
            worth = policy.features[column.feature].worth(codes[column.feature], column.category)
            total += number.value * (worth - constant) / slope
        return total


class Regression(Statistic):
    """The coefficients of one regression."""

    kind: ClassVar[str] = "regression"
    form: ClassVar[str] = "{regression: {target: name, features: [names]}}"
    key: ClassVar[str] = "regressions"
    regression: Annotated[Model, Accepts("a mapping {target: name, features: [names]}", inside=True)]
    weight: Weight = 1.0

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        model = self.regression
        return moment_weights(policy, model.design(policy), model.intercept, model.explains)

    def estimate(self, decoder: Decoder, confidence: float) -> dict[Model, RegressionEstimate]:
        found = fit(decoder, self.regression, confidence)
        return {} if found is None else {self.regression: found}

    @classmethod
    def document(cls, estimates: Mapping[Model, RegressionEstimate]) -> dict[str, Any]:
        each = [one.to_dict() for one in estimates.values()]
        return {**({"regression": each[0]} if each else {}), **({cls.key: each} if len(each) > 1 else {})}

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[Model, RegressionEstimate]) -> Iterator[Section]:
        everything = (-math.inf, math.inf)
        for one in estimates.values():
            numbers = {"intercept": one.intercept, **one.coefficients}
            if all(math.isfinite(number.se) for number in numbers.values()):  # else they are not told
                yield Section(
                    f"{policy.features[one.target].label} by least squares",
                    ("", "coefficient"),
                    tuple(Row(name, f"{one.target}: {name}", number, everything) for name, number in numbers.items()),
                    title=f"{one.target} by least squares: coefficients in own units, shrunk as the noise asks",
                    interval=", unshrunk",
                )
            added = {f"added by {name}": share for name, share in one.adds.items() if len(one.adds) > 1}
            shares = {"all features": one.explained, **added}
            yield Section(
                f"{policy.features[one.target].label}: share of variance explained",
                ("", "share"),
                tuple(Row(name, f"{one.target}: {name}", share, (0.0, 1.0)) for name, share in shares.items()),
                title=f"{one.target}: share of variance explained, and what each feature adds to the others",
                remarks=(one.remark,),
            )

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [_goal(policy, self.regression, data)]

    def expected(
        self, policy: Policy, errors: Mapping[Target, float], people: int, data: Means | None = None
    ) -> Sequence[Expected]:
        model = self.regression
        found = forecast(policy, model.design(policy), model.intercept, model.explains, errors, people, data)
        return [told(model.target, found, guessed=data is None)]


def fit(decoder: Decoder, model: Model, confidence: float) -> RegressionEstimate | None:
    """The regression, with intervals of this confidence; None if the decoder cannot be bootstrapped."""
    policy, design = decoder.policy, model.design(decoder.policy)
    targets = moment_targets(policy, design, model.intercept)
    drawn = decoder.bootstrap(targets, max(_FEWEST_DRAWS, min(_DRAWS, _ROOM // len(design) ** 2)))
    if drawn is None:
        return None
    found = centred(moments(policy, design, decoder.means(targets)), model.intercept)
    if not found.known:
        return _unknown(policy, model, design, found, decoder.people)
    again = centred(moments(policy, design, drawn), model.intercept)
    noise = Noise.of(found, again, model.explains)
    theta = shrunk(found, noise, model.ridge, model.radius)
    raw, each = unshrunk(found, again, model.ridge)
    to_own = own_units(policy, design)
    reach = width(confidence)
    values, middle = to_own @ with_constant(found, theta), to_own @ with_constant(found, raw)
    errors = np.full(len(design), math.inf) if each is None else (with_constant(again, each) @ to_own.T).std(axis=0)
    most = np.abs(to_own[:, :-2]).max(axis=1) * (model.radius or math.inf)
    most[-1] = math.inf  # the radius does not bound the intercept
    half = np.where(np.isfinite(errors), reach * errors, math.inf)
    low, high = np.maximum(middle - half, -most), np.minimum(middle + half, most)
    numbers = [Coefficient(*row) for row in np.column_stack([values, errors, low, high]).tolist()]
    names = [column.name(policy) for column in design[:-1]]
    return RegressionEstimate(
        model.target,
        numbers[-1],
        dict(zip(names, numbers[:-1], strict=True)),
        Counted(policy, design, found, again.deviations(), noise, decoder.people, confidence, each is not None),
        design,
        _rule(policy, design),
    )


def _rule(policy: Policy, design: Design) -> str | None:
    """How values that are missing were counted, feature by feature; None where nothing may be missing."""
    rules = {column.feature: policy.features[column.feature].rule for column in design}
    return "; ".join(f"{name}: {rule}" for name, rule in rules.items() if rule is not None) or None


def _unknown(policy: Policy, model: Model, design: Design, found: Centred, people: int) -> RegressionEstimate:
    """What can be said without all moments: nothing about the features, and the target's mean if that is known."""
    slope, constant = own_scale(policy, design[-1])
    mean = float(np.clip(np.nan_to_num(found.mean[-1]), -1.0, 1.0))
    nothing = Coefficient(0.0, math.inf, -math.inf, math.inf)
    return RegressionEstimate(
        model.target,
        Coefficient((mean - constant) / slope, math.inf, -math.inf, math.inf),
        {column.name(policy): nothing for column in design[:-1]},
        Nothing(model.features, people),
        design,
        _rule(policy, design),
    )


def _goal(policy: Policy, model: Model, data: Means) -> Goal:
    design = model.design(policy)
    to_own = own_units(policy, design)

    def fitted(found: Moments, radius: float | None) -> Array:
        if not np.isfinite(found.second).all():
            return np.full(len(design), np.nan)
        middle = centred(found, model.intercept)
        ridge = (model.ridge or 0.0) * np.eye(len(design) - 1)
        theta = solve(middle.matrix + ridge, middle.slope, radius)
        return np.asarray(to_own @ [*theta, middle.mean[-1] - theta @ middle.mean[:-1], 1.0])

    def answer(estimates: Mapping[Model, RegressionEstimate]) -> Array:
        one = estimates[model]
        return np.array([*(c.value for c in one.coefficients.values()), one.intercept.value])

    true = moments(policy, design, data)
    slopes, constants = np.array([own_scale(policy, column) for column in design]).T
    own = np.append((true.mean - constants) / slopes, 1.0)
    second = np.outer(own, own)  # of the columns in own units and the constant 1
    second[:-1, :-1] += (true.second - np.outer(true.mean, true.mean)) / np.outer(slopes, slopes)
    kept = [*range(len(design) - 1), len(design)]
    return Goal(
        f"regression of {model.target}",
        answer,
        lambda means: fitted(moments(policy, design, means), model.radius or _PAPER_RADIUS),
        fitted(true, model.radius),
        second[np.ix_(kept, kept)],
        np.append(np.zeros(len(design) - 1), own[-2]),
    )
