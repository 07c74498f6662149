"""What is stated about the correlation of the features: assumed numbers, or the file to take them from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, RootModel, Tag

from bcdp.policy.checks import Accepts, File, Number, Record, one_of
from bcdp.policy.names import AnyName, NameOrDefault

SOURCES = ("pairs", "prior", "pilot")
_CORRELATION = (
    "a number between 0 and 1, or {feature: q, default: q}, {pairs: path or {feature: {other: q}}}, {prior: path} "
    "or {pilot: path, confidence: 0.95, model: pairs}"
)

Distance = Annotated[Number, Field(ge=0, le=1), Accepts("a number between 0 and 1")]


class OneQ(RootModel[Annotated[Number, Field(ge=0, le=1), Accepts(_CORRELATION)]]):
    """One `q` for every feature (docs/theory.md, section 1)."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[Literal["one"]] = "one"

    def of(self, feature: str) -> float:
        """The `q` of a feature, between 0 and 1."""
        return self.root


class QPerFeature(RootModel[dict[NameOrDefault, Distance]]):
    """A `q` for each feature that is named, and `default` (1, if left out: nothing assumed) for the others."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[Literal["per_feature"]] = "per_feature"

    def of(self, feature: str) -> float:
        """The `q` of a feature, between 0 and 1."""
        return self.root.get(feature, self.root.get("default", 1.0))


class Pairs(Record):
    """`pairs[i][j]`: the largest total variation distance between the laws of feature j given two values of i."""

    kind: ClassVar[Literal["pairs"]] = "pairs"
    pairs: Annotated[
        dict[AnyName, Annotated[dict[AnyName, Distance], Accepts("a mapping {other feature: q}", inside=True)]],
        Accepts("a path, or a mapping {feature: {other feature: q}}", inside=True),
    ]


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
    for source in SOURCES:  # a number under one of these words is the q of a feature of that name
        stated = correlation.get(source, 0)
        if not isinstance(stated, int | float):
            return "PairsFile" if source == "pairs" and isinstance(stated, str | Path) else source.capitalize()
    return "QPerFeature"


Correlation = Annotated[
    Annotated[OneQ, Tag("OneQ")]
    | Annotated[QPerFeature, Tag("QPerFeature")]
    | Annotated[Pairs, Tag("Pairs")]
    | Annotated[PairsFile, Tag("PairsFile")]
    | Annotated[Prior, Tag("Prior")]
    | Annotated[Pilot, Tag("Pilot")],
    one_of(_class, _CORRELATION),
]
