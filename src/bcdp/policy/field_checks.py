"""What a field accepts: a check, and the sentence that a person reads when it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    StrictStr,
    ValidationError,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from bcdp.policy.visible_text import VISIBLE, is_visible

PLACEHOLDER = "FILL"  # what a skeleton leaves for the person; it is never a value


class Record(BaseModel):
    """Frozen data without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def expected(accepted: str) -> PydanticCustomError:
    """A mistake, to be raised by a check that knows better than its field what is accepted."""
    return PydanticCustomError("expected", "{accepted}", {"accepted": accepted})


@dataclass(frozen=True)
class Accepts:
    """The sentence that replaces the machine's errors about a field; `inside`: its parts have their own sentences."""

    text: str
    inside: bool = False

    def check(self, value: Any, validate: Callable[[Any], Any]) -> Any:
        """The value as its field holds it, or the field's sentence."""
        parts = value if isinstance(value, list | tuple) else [value]
        if not self.inside and any(isinstance(part, str) and part == PLACEHOLDER for part in parts):
            raise expected(f"{self.text}; write it in place of {PLACEHOLDER}")
        try:
            return validate(value)
        except ValidationError as error:
            if any(mistake["type"] == "expected" or (self.inside and mistake["loc"]) for mistake in error.errors()):
                raise
            raise expected(self.text) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self.check, handler(source))


def one_of(class_of: Callable[[object], str | None], accepted: str) -> Discriminator:
    """The choice of the class that a part of a document is read as, None if it is like none of them."""

    def choose(value: object) -> str | None:  # documents are read, records are written
        return type(value).__name__ if isinstance(value, BaseModel) else class_of(value)

    return Discriminator(choose, "expected", "{accepted}", {"accepted": accepted})


def nearest(word: object, options: Iterable[str]) -> str:
    """The end of a sentence, with the option that may have been meant; empty if none is near."""
    close = get_close_matches(str(word), list(options), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def different(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values, if no two are equal or look the same in a file or on a form (1 and "1", true and "true")."""
    words = {str(value).lower() if isinstance(value, bool) else str(value) for value in values}
    if not len(words) == len(set(values)) == len(values):
        raise ValueError
    return values


def ordered(values: Any) -> Any:
    """The values, if their order is their own: that of a set is chance, and a plan's id would be too."""
    if isinstance(values, set | frozenset):
        raise expected("a list, because a set has no order")
    return values


def some(collection: Any) -> Any:
    """The collection, if it is not empty."""
    if not collection:
        raise ValueError
    return collection


def _storable(text: str) -> str:
    text.encode()  # raises on half a surrogate pair, which no file can hold
    return text


def visible(text: str) -> str:
    """The text, if a person sees all of it."""
    if not is_visible(text):
        raise expected(VISIBLE)
    return text


def _named(path: Path) -> Path:
    _storable(str(path))
    some(path.name)
    return path


Storable = Annotated[StrictStr, AfterValidator(_storable)]
Writable = Annotated[Storable, AfterValidator(visible)]
Text = Annotated[Writable, Accepts("text")]
File = Annotated[Path, AfterValidator(_named), Accepts("the path of a file, as text")]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
