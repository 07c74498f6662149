"""A menu as it is written in a plan."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from bcdp.exact import TOTAL
from bcdp.questions import PlanPart


class Menu(PlanPart):
    """Questions answered together, and the weight out of 2^32 with which a device draws this menu.

    In a panel, also the `wave` in which it is answered, numbered from 1.
    """

    weight: Annotated[int, Field(ge=1, le=TOTAL)]
    questions: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)]
    wave: Annotated[int, Field(ge=1)] | None = None

    @model_serializer(mode="wrap")
    def _plain(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = write(self)
        if self.wave is None:
            del document["wave"]
        return document
