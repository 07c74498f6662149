"""What is stated about the correlation of the features: assumed numbers, or the file to take them from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    Tag,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from bcdp.policy.field_checks import PLACEHOLDER, Accepts, File, Number, Record, expected, one_of
from bcdp.policy.names import AnyName, NameOrDefault

SOURCES = ("pairs", "prior", "pilot")
_STATED = "a number between 0 and 1 (q), or {q: number between 0 and 1, odds: number of at least 1}"
_CORRELATION = (
    f"{_STATED}, {{feature: q or {{q: .., odds: ..}}, default: ..}}, {{pairs: path or {{feature: {{other: q}}}}}}, "
    "{prior: path} or {pilot: path, confidence: 0.95, model: pairs}"
)

Distance = Annotated[Number, Field(ge=0, le=1), Accepts("a number between 0 and 1")]
Odds = Annotated[Number, Field(ge=1), Accepts("a number of at least 1, or no such key for no limit")]


class OneQ(RootModel[Annotated[Number, Field(ge=0, le=1), Accepts(_CORRELATION)]]):
    """One `q` for every feature (theory.md, section 1)."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[Literal["one"]] = "one"

    def of(self, feature: str) -> float:
        """The `q` of a feature, between 0 and 1."""
        return self.root

    def odds_of(self, feature: str) -> float:
        """By how much everything else may move the odds of a guess about a feature: no limit."""
        return math.inf


class QAndOdds(Record):
    """How far everything else may move with a feature: `q`, and the factor `odds` by which it may move a guess's odds.

    What is left out is not limited: `q` is then 1 and there is no bound on the odds.
    """

    q: Distance | None = None
    odds: Odds | None = None

    @model_validator(mode="after")
    def _some(self) -> QAndOdds:
        if self.q is None and self.odds is None:
            raise expected(_STATED)
        return self

    @property
    def distance(self) -> float:
        """The `q` that counts."""
        return 1.0 if self.q is None else self.q

    @property
    def factor(self) -> float:
        """The odds that count, infinite if there is no limit."""
        return math.inf if self.odds is None else self.odds


def _as_both(stated: Any) -> Any:
    """A number means `q`; a mapping has its own sentences."""
    if isinstance(stated, Mapping | QAndOdds):
        return stated
    if isinstance(stated, bool) or not isinstance(stated, int | float) or not 0 <= stated <= 1:
        raise expected(_STATED + f"; write it in place of {PLACEHOLDER}" * (stated == PLACEHOLDER))
    return {"q": stated}


class OneOfBoth(QAndOdds):
    """One `q` and one bound on the odds for every feature (theory.md, section 1)."""

    kind: ClassVar[Literal["one_of_both"]] = "one_of_both"

    @field_validator("q", "odds")
    @classmethod
    def _for_all(cls, number: float | None, info: ValidationInfo) -> float | None:
        if info.field_name in ((info.context or {}).get("types") or {}):
            word = info.field_name
            raise expected(f"{{{word}: {{{word}: ..}}}} for the feature {word!r}, {{default: {{{word}: ..}}}} for all")
        return number

    def of(self, feature: str) -> float:
        """The `q` of a feature, between 0 and 1."""
        return self.distance

    def odds_of(self, feature: str) -> float:
        """By how much everything else may move the odds of a guess about a feature; infinite without a limit."""
        return self.factor


Both = Annotated[QAndOdds, BeforeValidator(_as_both)]


class QPerFeature(RootModel[dict[NameOrDefault, Both]]):
    """`q`, `odds` or both for each feature named, and `default` (if left out, nothing assumed) for the others."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[Literal["per_feature"]] = "per_feature"

    def _stated(self, feature: str) -> QAndOdds:
        return self.root.get(feature, self.root.get("default", QAndOdds(q=1.0)))

    def of(self, feature: str) -> float:
        """The `q` of a feature, between 0 and 1."""
        return self._stated(feature).distance

    def odds_of(self, feature: str) -> float:
        """By how much everything else may move the odds of a guess about a feature; infinite without a limit."""
        return self._stated(feature).factor

    @model_serializer
    def _shortest(self) -> dict[str, Any]:
        """A number where only `q` is stated, and no feature's name would then be read as the word for all."""
        words = self.root.keys() <= {"q", "odds"}
        return {
            name: both.q if both.odds is None and not words else both.model_dump(exclude_none=True)
            for name, both in self.root.items()
        }


class Pairs(Record):
    """`pairs[i][j]`: how far the distribution of feature j moves with feature i, and the odds of a guess about i
    with j.
    """

    kind: ClassVar[Literal["pairs"]] = "pairs"
    pairs: Annotated[
        dict[AnyName, Annotated[dict[AnyName, Both], Accepts("a mapping {other feature: q}", inside=True)]],
        Accepts("a path, or a mapping {feature: {other feature: q}}", inside=True),
    ]

    @field_serializer("pairs")
    def _shortest(self, pairs: dict[str, dict[str, QAndOdds]]) -> dict[str, Any]:
        """A number where only `q` is stated."""
        return {
            name: {
                other: both.q if both.odds is None else both.model_dump(exclude_none=True)
                for other, both in row.items()
            }
            for name, row in pairs.items()
        }


class PairsFile(Record):
    """The table of `Pairs` in a file."""

    kind: ClassVar[Literal["pairs_file"]] = "pairs_file"
    pairs: File


class Prior(Record):
    """A file with the probability of each record."""

    kind: ClassVar[Literal["prior"]] = "prior"
    prior: File


class Pilot(Record):
    """A file with a sample of records, and the confidence with which `q` is to be bounded from it.

    Model `pairs` bounds pairs of features and small tables of all of them; `tree` assumes besides that the features
    form a tree, in which those adjacent to a feature screen off the rest.
    """

    kind: ClassVar[Literal["pilot"]] = "pilot"
    pilot: File
    confidence: Annotated[Number, Field(gt=0, lt=1), Accepts("a number above 0 and below 1")] = 0.95
    model: Annotated[Literal["pairs", "tree"], Accepts("pairs or tree")] = "pairs"


def _class(correlation: object) -> str:
    if not isinstance(correlation, Mapping):
        return "OneQ"
    for source in SOURCES:  # what states a q or odds under one of these words is about a feature of that name
        stated = correlation.get(source, 0)
        if not isinstance(stated, int | float) and not _states_both(stated):
            return "PairsFile" if source == "pairs" and isinstance(stated, str | Path) else source.capitalize()
    return "OneOfBoth" if _states_both(correlation) else "QPerFeature"


def _states_both(stated: object) -> bool:
    """Whether it states `q`, `odds` or both: numbers under no other words."""
    if not isinstance(stated, Mapping) or not stated or not stated.keys() <= {"q", "odds"}:
        return False
    return not any(isinstance(number, Mapping) for number in stated.values())


Correlation = Annotated[
    Annotated[OneQ, Tag("OneQ")]
    | Annotated[OneOfBoth, Tag("OneOfBoth")]
    | Annotated[QPerFeature, Tag("QPerFeature")]
    | Annotated[Pairs, Tag("Pairs")]
    | Annotated[PairsFile, Tag("PairsFile")]
    | Annotated[Prior, Tag("Prior")]
    | Annotated[Pilot, Tag("Pilot")],
    one_of(_class, _CORRELATION),
]
