"""A regression as a policy states it, and as it is reported: coefficients, the share explained, predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, StrictBool, ValidationInfo, field_validator

from bcdp.errors import refuse
from bcdp.policy import Policy
from bcdp.policy.field_checks import Accepts, Number, Record, expected
from bcdp.policy.names import CategoryPair, ColumnName, ColumnNames
from bcdp.records.encoding import as_arrow, encode
from bcdp.statistics.regression.design_matrix import Column, Design, design_of
from bcdp.statistics.regression.fake_reports import NormalEquations
from bcdp.statistics.regression.inference import RegressionEvidence
from bcdp.statistics.regression.least_squares import Coefficient, own_scale
from bcdp.statistics.shared.special import expit

Array = npt.NDArray[np.float64]
Pairs = tuple[tuple[str, ...], ...]


class Model(Record):
    """The regression of a target on features of any type; categorical ones enter as indicators.

    Features with values may interact: each two of `interactions` have a column for the product of their columns. A
    categorical target has one regression for each value. `radius` bounds the length of the coefficients. `explains`
    is a guess what share of the target's variance the features explain, for which the questions are chosen. With the
    link `logit` the log odds of a value are a line in the features, not its share.
    """

    target: ColumnName
    features: ColumnNames
    intercept: Annotated[StrictBool, Accepts("true or false")] = True
    ridge: Annotated[Number | None, Field(ge=0), Accepts("null or a finite number of at least 0")] = None
    radius: Annotated[Number | None, Field(gt=0), Accepts("null or a finite number above 0")] = None
    explains: Annotated[Number, Field(gt=0, lt=1), Accepts("a number above 0 and below 1")] = 0.1
    link: Annotated[Literal["logit"] | None, Accepts("null or logit")] = None
    interactions: Annotated[
        tuple[CategoryPair, ...] | None, Accepts("null or a list of pairs of features with values", inside=True)
    ] = None

    @field_validator("features", mode="before")
    @classmethod
    def _no_products(cls, features: Any) -> Any:
        if isinstance(features, list | tuple) and any(isinstance(feature, list | tuple) for feature in features):
            raise expected("names; two that interact are a pair in `interactions`")
        return features

    @field_validator("features")
    @classmethod
    def _not_the_target(cls, features: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.data.get("target") in features:
            raise expected("features other than the target")
        return features

    @field_validator("link")
    @classmethod
    def _of_values(cls, link: str | None, info: ValidationInfo) -> str | None:
        types, stated = (info.context or {}).get("types") or {}, info.data
        if link is not None and types.get(stated.get("target")) == "numeric":
            raise expected("null, because the target is a number")
        if link is not None and not (
            stated.get("intercept", True) and stated.get("ridge") is stated.get("radius") is None
        ):
            raise expected("null, or a regression with an intercept and without ridge and radius")
        return link

    @field_validator("interactions")
    @classmethod
    def _fitting(cls, pairs: Pairs | None, info: ValidationInfo) -> Pairs | None:
        stated = info.data
        if pairs is None:
            return None
        if not pairs or len(set(map(frozenset, pairs))) < len(pairs):
            raise expected("null or a list of different pairs of features")
        if not set(stated.get("features", ())).issuperset(name for pair in pairs for name in pair):
            raise expected("pairs of two features of this regression")
        if not stated.get("intercept", True) or stated.get("link") is not None:
            raise expected("null, or a regression with an intercept and without link")
        return pairs

    @property
    def terms(self) -> tuple[str, ...]:
        """The features, and each two that interact, as results call them."""
        return (*self.features, *(" x ".join(pair) for pair in self.interactions or ()))

    def designs(self, policy: Policy) -> tuple[Design, ...]:
        """The columns, the target last; of a categorical target, for each value."""
        columns = policy.features[self.target].columns
        if columns == (0,):
            raise refuse("regression.target", self.target, "a feature that has more than one value")
        return tuple(
            design_of(
                policy, self.features, Column(self.target, outcome_column), self.intercept, self.interactions or ()
            )
            for outcome_column in columns
        )


@dataclass(frozen=True)
class RegressionEstimate:
    """A prediction of the target: its coefficients, and the share of the target's variance that least squares explains.

    `target` names a value in brackets where the feature has several. With the link `logit`, coefficients are of the log
    odds, and `refused` says why they are not reported, where they are not. `rule` says how values that are missing were
    counted, where the policy has rules for them.
    """

    target: str
    intercept: Coefficient
    coefficients: Mapping[str, Coefficient]
    evidence: RegressionEvidence = field(repr=False, compare=False)
    design: Design
    rule: str | None = None
    link: str | None = None
    refused: str | None = None
    limits: tuple[float, ...] = ()  # how large each coefficient may be by the policy's radius, the intercept last
    equations: NormalEquations | None = field(default=None, repr=False, compare=False)  # of least squares
    unbounded: str | None = None  # says that fake reports could do anything, where they could

    @property
    def explained(self) -> Coefficient:
        """The share of the target's variance that the features explain."""
        return self.evidence.explained

    @property
    def adds(self) -> Mapping[str, Coefficient]:
        """For each feature, and each two that interact, the share that it adds to what the others explain."""
        return self.evidence.adds

    @property
    def remark(self) -> str:
        """Whether the features are seen to help, and what to do where the answers do not reveal enough."""
        return " ".join(filter(None, (self.evidence.remark, self.refused, self.unbounded)))

    def if_fakes(self, fakes: int) -> RegressionEstimate:
        """The same with intervals that hold even if so many reports are fake; a remark where nothing bounds them."""
        shifts = None if self.equations is None else self.equations.shifts(fakes)
        if self.equations is None or shifts is None:
            return replace(self, unbounded="The coefficients do not allow for fake reports.")
        (low, high), (first, last) = shifts
        middle, numbers = self.equations.coefficients, [*self.coefficients.values(), self.intercept]
        moved = np.maximum(-low, high)
        changed = [
            replace(
                number,
                low=max(min(number.low, start), -limit),
                high=min(max(number.high, end), limit),
                moved=shift,
            )
            for number, start, end, limit, shift in zip(
                numbers, (middle + first).tolist(), (middle + last).tolist(), self.limits, moved.tolist(), strict=True
            )
        ]
        any_amount = "So many fake reports could shift the coefficients by any amount."
        return replace(
            self,
            intercept=changed[-1],
            coefficients=dict(zip(self.coefficients, changed, strict=False)),
            unbounded=None if np.isfinite(moved).all() else any_amount,
        )

    def to_dict(self) -> dict[str, Any]:
        """The regression in plain JSON; what is not finite is null."""
        return {
            "target": self.target,
            **({} if self.link is None else {"link": self.link}),
            "intercept": self.intercept.to_dict(),
            "coefficients": {name: number.to_dict() for name, number in self.coefficients.items()},
            "explained": self.explained.to_dict(),
            "adds": {name: number.to_dict() for name, number in self.adds.items()},
            "remark": self.remark,
            **({} if self.rule is None else {"rule": self.rule}),
        }

    def predict(self, policy: Policy, table: Any) -> Array:
        """The target predicted for each record of a table, in own units; the target's column is not needed.

        Of values the chance is predicted: with the link `logit` it is between 0 and 1.
        """
        records = as_arrow(table)
        needed = {name: policy.features[name] for column in self.design[:-1] for name in column.features}
        codes = encode(policy.model_copy(update={"features": needed}), records)
        total = np.full(len(records), self.intercept.value)
        for column, number in zip(self.design, self.coefficients.values(), strict=False):
            own = np.full(len(records), number.value)
            for name, category in column.factors:
                slope, constant = own_scale(policy, name)
                own *= (policy.features[name].worth(codes[name], category) - constant) / slope
            total += own
        return total if self.link is None else np.asarray(expit(total))
