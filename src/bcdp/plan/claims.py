"""What a plan promises: levels that were asked, that certainly hold, and that are a feature's own."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from bcdp.questions import PlanPart

Finite = Annotated[float, Field(allow_inf_nan=False)]
Level = Annotated[Finite, Field(ge=0)]


class Claim(PlanPart):
    """What was promised, what certainly holds, and the own share of the budget."""

    asked: Level
    certified: Level
    c: Level


class FeatureCertificate(Claim):
    """The claim about one feature; of a list to tick also about `items` with a delta of their own.

    `if_wrong` is the level at the multiple of q and odds - 1 that the feature's second demand names.
    """

    items: dict[str, Claim] | None = None
    if_wrong: Level | None = None

    @model_serializer(mode="wrap")
    def _plain(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: part for key, part in cast("dict[str, Any]", write(self)).items() if part is not None}


class CountsClaim(PlanPart):
    """What the counts of a batch reveal at most, as `CountsLevel` has it."""

    epsilon: Level
    odds: Level


class CountsCertificate(CountsClaim):
    """The levels of the whole record and of each feature in the counts of the honest people that the plan states."""

    features: dict[str, CountsClaim]


class Certificate(PlanPart):
    """The plan's claims; `objective` is n times the total squared error, second moments and tasks' weights counted.

    `verify()` recomputes what concerns privacy; objective and gap are the planner's word on accuracy. `counts`, left
    out where only devices are trusted, is the main promise of any other plan.
    """

    epsilon: Level
    features: dict[str, FeatureCertificate]
    objective: Finite | None
    optimality_gap: Finite | None
    counts: CountsCertificate | None = None

    @model_serializer(mode="wrap")
    def _plain(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = write(self)
        return document if self.counts else {key: part for key, part in document.items() if key != "counts"}
