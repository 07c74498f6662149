"""The features: numbers within public bounds, and those with public values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Tag, ValidationInfo, field_validator

from bcdp.policy.base_feature import NO_ANSWER, NOT_APPLICABLE, ONE_TYPE, OWN, BaseFeature
from bcdp.policy.field_checks import Accepts, Number, expected, one_of
from bcdp.policy.multiple_feature import MultipleFeature
from bcdp.policy.names import OPEN, PROTECTED
from bcdp.policy.valued_features import (
    BinaryFeature,
    CategoricalFeature,
    OpenFeature,
    OrdinalFeature,
)

MOST_CUTS = 31
_A_FEATURE = "a mapping such as {type: numeric, bounds: [0, 100], delta: 0.2}"


def _ordered(bounds: tuple[float, float]) -> tuple[float, float]:
    half = (bounds[1] - bounds[0]) / 2  # devices divide by it
    if not 0 < half < math.inf:
        raise ValueError
    return bounds


def _rising(cuts: tuple[float, ...] | None) -> tuple[float, ...] | None:
    if cuts is None or (
        1 <= len(cuts) <= MOST_CUTS and all(previous < following for previous, following in pairwise(cuts))
    ):
        return cuts
    raise ValueError


class NumericFeature(BaseFeature):
    """A number within public bounds; what lies outside is moved to the nearer bound."""

    is_number: ClassVar[bool] = True

    type: Annotated[Literal["numeric"], ONE_TYPE]
    bounds: Annotated[tuple[Number, Number], AfterValidator(_ordered), Accepts("two finite numbers, low < high")]
    missing: Annotated[Literal["own"] | Number | None, Accepts("a finite number within the bounds, or own")] = None
    ranges: Annotated[
        tuple[Number, ...] | None,
        AfterValidator(_rising),
        Accepts(f"a list of 1 to {MOST_CUTS} rising numbers inside the bounds, where a range ends and the next begins"),
    ] = None

    @field_validator("ranges")
    @classmethod
    def _inside(cls, cuts: tuple[float, ...] | None, info: ValidationInfo) -> tuple[float, ...] | None:
        low, high = info.data.get("bounds", (-math.inf, math.inf))
        if cuts is not None and not low < cuts[0] <= cuts[-1] < high:
            raise expected(f"numbers above {low:g} and below {high:g}, the bounds")
        return cuts

    @field_validator("missing")
    @classmethod
    def _within(cls, missing: float | str | None, info: ValidationInfo) -> float | str | None:
        low, high = info.data.get("bounds", (-math.inf, math.inf))
        if isinstance(missing, int | float) and not low <= missing <= high:
            raise expected(f"a number within the bounds [{low:g}, {high:g}], or own")
        return missing

    @property
    def own(self) -> bool:
        return self.missing == OWN

    @property
    def imputes(self) -> bool:
        return self.missing is not None and not self.own

    def word_of(self, code: int, size: int) -> str:
        low, high = self.bounds
        rounded = size - self.extras
        if code >= rounded:
            return NO_ANSWER if self.own and code == rounded else NOT_APPLICABLE
        return f"near {low + (high - low) * code / (rounded - 1):g}"

    @property
    def joint_inputs(self) -> int:
        return 2 + self.extras

    @property
    def span(self) -> tuple[float, float]:
        return self.bounds

    def indicators(self, codes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        inside, share = codes <= 1, (codes + 1) / 2  # beyond 1 are the codes of no answer and not applicable
        beyond = [codes == 2 + extra for extra in range(self.extras)]
        return np.stack([np.where(inside, 1 - share, 0.0), np.where(inside, share, 0.0), *beyond], axis=1)

    def input_values(self, levels: int) -> npt.NDArray[np.float64]:
        if not self.extras:
            return super().input_values(levels)
        shares = np.linspace(0.0, 1.0, levels - self.extras)
        ends = np.stack([1 - shares, shares], axis=1)
        result = np.zeros((levels, 2 + self.extras))
        result[: len(ends), :2], result[len(ends) :, 2:] = ends, np.eye(self.extras)
        return result

    def worth(self, codes: npt.NDArray[Any], category: int | None = None) -> npt.NDArray[np.float64]:
        return codes if category is None else 2 * self.indicators(codes)[:, category] - 1

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where the ranges begin that a measured promise is about, all but the first; by default four equal ones."""
        low, high = self.bounds
        return self.ranges or tuple(low + (high - low) * part for part in (0.25, 0.5, 0.75))

    @property
    def definition(self) -> dict[str, Any]:
        return super().definition | ({} if self.ranges is None else {"ranges": list(self.ranges)})


def _class(feature: object) -> str | None:
    """The class whose mistakes to report: by type, or by its other keys while the type is itself a mistake."""
    if not isinstance(feature, Mapping):
        return None
    named = feature.get("type")
    if isinstance(named, str) and named in (*PROTECTED, OPEN):
        return f"{named.capitalize()}Feature"
    return "NumericFeature" if "bounds" in feature else "CategoricalFeature" if "values" in feature else "BinaryFeature"


Feature = BinaryFeature | NumericFeature | CategoricalFeature | OrdinalFeature | MultipleFeature
Declared = Annotated[
    Annotated[BinaryFeature, Tag("BinaryFeature")]
    | Annotated[NumericFeature, Tag("NumericFeature")]
    | Annotated[CategoricalFeature, Tag("CategoricalFeature")]
    | Annotated[OrdinalFeature, Tag("OrdinalFeature")]
    | Annotated[MultipleFeature, Tag("MultipleFeature")]
    | Annotated[OpenFeature, Tag("OpenFeature")],
    one_of(_class, _A_FEATURE),
]
