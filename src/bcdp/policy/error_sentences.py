"""The mistakes in a policy, each as one sentence: the field's path, its value, what is accepted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from bcdp.errors import InputError, refuse
from bcdp.policy.field_checks import Accepts, nearest

_ENDS = {"min", "max", "minimum", "maximum", "low", "high"}  # what other programs call the ends of bounds
_SEPARATED = re.compile(r"[-+]?\d+([_,' ]\d{3})+(\.\d+)?|000")  # 000: what a list makes of 250,000
_TAG_POSITION = {"features": 2, "tasks": 2, "correlation": 1}  # where pydantic puts the class among the keys


def sentence(mistake: ErrorDetails, owner_of: Mapping[str, type[BaseModel]]) -> str:
    """One of pydantic's errors in the house's form; `owner_of`: the class of the fields under a key or a class's name.

    The class of the document itself stands under the empty name.
    """
    location = mistake["loc"]
    where = _path(location)
    if mistake["type"] == "expected":
        accepted = mistake["ctx"]["accepted"]
        return f"{refuse(where, mistake['input'], accepted)}{_meant(mistake['input'], accepted)}"
    pair = location[:2] == ("correlation", "Pairs") and len(location) > 3
    of_feature = pair or location[:2] == ("correlation", "QPerFeature")  # the key before the last is a feature's name
    of_item = location[2:4] == ("MultipleFeature", "items")
    owner = owner_of["QAndOdds" if of_feature else "ItemDemand" if of_item else str(("", *location)[-2])]
    fields = {field.alias or name: field for name, field in owner.model_fields.items()}
    if mistake["type"] == "missing":
        accepted = next(mark.text for mark in fields[str(location[-1])].metadata if isinstance(mark, Accepts))
        return f"{where}: got nothing; accepted: {accepted}"
    meant = "; write bounds: [least, greatest]" if location[-1] in _ENDS and "bounds" in fields else ""
    return f"{where}: got an unknown key; accepted: {', '.join(fields)}{meant or nearest(location[-1], fields)}"


def _meant(value: object, accepted: str) -> str:
    """The end of a sentence for two common mistakes: another spelling of a listed word, separators in a number."""
    words = re.split(r", | or ", accepted)
    if isinstance(value, str) and value not in words and value.strip().lower() in words:
        return f"; did you mean {value.strip().lower()!r}?"
    parts = value if isinstance(value, list | tuple) else [value]
    if "number" in accepted and any(isinstance(part, str) and _SEPARATED.fullmatch(part.strip()) for part in parts):
        return "; write numbers without separators, such as 250000"
    return ""


def broken_keys(value: object, path: tuple[object, ...] = ()) -> Iterator[str]:
    """A sentence for each key with half a surrogate pair, which pydantic cannot carry."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, inner in items:
        if isinstance(key, str) and any("\ud800" <= letter <= "\udfff" for letter in key):
            yield f"{dotted((*path, key))}: got a key with broken letters; accepted: Unicode text"
        yield from broken_keys(inner, (*path, key))


def too_long(features: object, most_features: int, most_values: int) -> Iterator[InputError]:
    """More features, or more values of one, than there may be: found before anything is read one by one."""
    if not isinstance(features, Mapping):
        return
    if len(features) > most_features:
        yield refuse("features", f"{len(features)} features", f"at most {most_features}")
    for name, feature in features.items():
        values = feature.get("values") if isinstance(feature, Mapping) else None
        if isinstance(values, list | tuple) and len(values) > most_values:
            accepted = f"a list of 1 to {most_values} different values"
            yield refuse(dotted(("features", name, "values")), f"{len(values)} values", accepted)


def dotted(keys: Iterable[object]) -> str:
    """The keys that lead to a field, as a person would write them: `tasks[0].regression.target`."""

    def shown(key: object) -> str:
        plain = isinstance(key, str) and key.isprintable() and key and not set(".:[]") & set(key)
        return f"[{key}]" if isinstance(key, int) else f".{key}" if plain else f".{key!r}"

    return "".join(map(shown, keys)).removeprefix(".")


def _path(location: tuple[int | str, ...]) -> str:
    """A location of pydantic's as a path: without its mark of a key, and without the names of classes."""
    keys = list(location[:-1] if location[-1] == "[key]" else location)
    tag = _TAG_POSITION.get(str(location[0]), len(keys))
    del keys[tag : tag + 1]
    return dotted(keys)
