"""The tasks: what the collection is for, and how much each purpose weighs."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StrictBool, Tag, ValidationInfo, field_validator

from bcdp.policy.checks import Accepts, Number, Record, expected, one_of
from bcdp.policy.names import AnyNames, CategoryNames, NumberName, NumberNames

Weight = Annotated[Number, Field(gt=0), Accepts("a finite number above 0")]


class MeanTask(Record):
    """The means of numeric and binary features."""

    kind: ClassVar[Literal["mean"]] = "mean"
    features: NumberNames = Field(alias="mean")
    weight: Weight = 1.0


class FrequencyTask(Record):
    """How often each value of categorical or binary features occurs."""

    kind: ClassVar[Literal["frequency"]] = "frequency"
    features: CategoryNames = Field(alias="frequency")
    weight: Weight = 1.0


class Regression(Record):
    """Least squares of a numeric or binary target on features of any type; categorical ones enter as indicators.

    `radius` bounds the length of the coefficients.
    """

    target: NumberName
    features: AnyNames
    intercept: Annotated[StrictBool, Accepts("true or false")] = True
    ridge: Annotated[Number | None, Field(ge=0), Accepts("null or a finite number of at least 0")] = None
    radius: Annotated[Number | None, Field(gt=0), Accepts("null or a finite number above 0")] = None

    @field_validator("features")
    @classmethod
    def _not_the_target(cls, features: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.data.get("target") in features:
            raise expected("features other than the target")
        return features


class RegressionTask(Record):
    """The coefficients of one regression."""

    kind: ClassVar[Literal["regression"]] = "regression"
    regression: Annotated[Regression, Accepts("a mapping {target: name, features: [names]}", inside=True)]
    weight: Weight = 1.0


def _class(task: object) -> str | None:
    """The class of the task that is named, or of the first that is nearly named."""
    if not isinstance(task, Mapping):
        return None
    kinds = ("mean", "frequency", "regression")
    named = [kind for kind in kinds if kind in task]
    nearly = [kind for key in task for kind in get_close_matches(str(key), kinds, n=1, cutoff=0.85)]
    return next((f"{kind.capitalize()}Task" for kind in named + nearly), None)


Task = Annotated[
    Annotated[MeanTask, Tag("MeanTask")]
    | Annotated[FrequencyTask, Tag("FrequencyTask")]
    | Annotated[RegressionTask, Tag("RegressionTask")],
    one_of(_class, "{mean: [names]}, {frequency: [names]} or {regression: {target: name, features: [names]}}"),
]
