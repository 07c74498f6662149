"""Policies of every kind, drawn by hypothesis."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from bcdp.policy.visible_text import is_visible

ODD_WORDS = [
    "no",
    "default",
    "pairs",
    "pilot",
    "type",
    "a.b",
    "[key]",
    "1e5",
    "null",
    "OneQ",
    "odds",
    "q",
    "~",
    "<<",
    "0",
    "a\xa0 b",
]
LETTERS = st.characters(exclude_categories=["Cs"]).filter(is_visible)
NAMES = st.one_of(
    st.sampled_from(ODD_WORDS), st.text(LETTERS, min_size=1, max_size=200).filter(lambda text: text != "FILL")
)
LEVELS = st.sampled_from([0.05, 0.3, 1, 2.5]) | st.floats(0, 1e300)
SCALARS = st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | NAMES


def word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def scalars(low: int, high: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(SCALARS, min_size=low, max_size=high, unique_by=(word, lambda value: value))


@st.composite
def features(draw: st.DrawFn) -> dict[str, Any]:
    feature: dict[str, Any] = {"type": draw(st.sampled_from(["binary", "numeric", "categorical", "ordinal"]))}
    if feature["type"] == "numeric":
        low, width = draw(st.floats(-1e300, 1e300)), draw(st.floats(1e-300, 1e300))
        high = low + width if low + width > low else math.nextafter(low, math.inf)
        feature["bounds"] = [low, high]
        choices = [low, high]
    elif feature["type"] in ("categorical", "ordinal") or draw(st.booleans()):
        size = 2 if feature["type"] == "binary" else 6
        choices = feature["values"] = draw(scalars(1 if feature["type"] == "categorical" else 2, size))
    else:
        choices = [0, 1, False, True]
    optional = {"missing": st.sampled_from(choices), "delta": LEVELS, "label": SCALARS.map(word), "help": NAMES}
    return feature | {key: draw(value) for key, value in optional.items() if draw(st.booleans())}


@st.composite
def documents(draw: st.DrawFn, most: int = 5, files: bool = True, heaviest: float = 1e300) -> dict[str, Any]:
    """A valid policy of any shape with up to `most` features; without `files`, one that states all numbers itself."""
    named = draw(st.dictionaries(NAMES, features(), min_size=1, max_size=most))
    epsilon = st.sampled_from([0.3, 1, 3.0, 20]) | st.floats(1e-300, 20)
    document: dict[str, Any] = {"epsilon": draw(epsilon), "features": named}
    distance = st.sampled_from([0, 0.01, 0.2, 1]) | st.floats(0, 1)
    both = st.fixed_dictionaries({"odds": st.floats(1, 1e300)}, optional={"q": distance})
    stated = both | distance.map(lambda q: {"q": q}) if named.keys() & {"q", "odds"} else both | distance
    anyone = st.sampled_from(sorted(named))
    path = st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8})?\.csv", fullmatch=True)
    words = sorted(named.keys() ^ {"default"})  # a feature of that name cannot be meant by it
    pairs = st.dictionaries(anyone, st.dictionaries(anyone, distance | both))
    sources = [
        distance,
        st.dictionaries(st.sampled_from(words), stated) if words else st.just({}),
        st.fixed_dictionaries({"pairs": pairs | path if files else pairs}),
    ]
    if not named.keys() & {"q", "odds"}:
        sources.append(both)
    if files:
        extras = {"confidence": st.floats(0.01, 0.99), "model": st.sampled_from(["pairs", "tree"])}
        sources += [
            st.fixed_dictionaries({"prior": path}),
            st.fixed_dictionaries({"pilot": path}, optional=extras),
        ]
    if draw(st.booleans()):
        document["correlation"] = draw(st.one_of(sources))
    numbers = sorted(name for name, feature in named.items() if feature["type"] != "categorical")
    categories = sorted(name for name, feature in named.items() if feature["type"] != "numeric")
    tasks = []
    weight = {"weight": st.sampled_from([0.5, 2]) | st.floats(1 / heaviest, heaviest)}
    if numbers:
        some = st.lists(st.sampled_from(numbers), min_size=1, unique=True)
        tasks.append(st.fixed_dictionaries({"mean": some}, optional=weight))
    if categories:
        some = st.lists(st.sampled_from(categories), min_size=1, unique=True)
        tasks.append(st.fixed_dictionaries({"frequency": some}, optional=weight))
    if numbers and len(named) > 1:
        others = sorted(named.keys() - {numbers[0]})
        plan = {"target": st.just(numbers[0]), "features": st.just(others)}
        extras = {"intercept": st.booleans(), "ridge": st.none() | LEVELS, "radius": st.none() | st.floats(1e-9, 9)}
        fit = st.fixed_dictionaries(plan, optional=extras)
        tasks.append(st.fixed_dictionaries({"regression": fit}, optional=weight))
    if draw(st.booleans()):
        document["tasks"] = draw(st.lists(st.one_of(tasks), min_size=1, max_size=3))
    if draw(st.booleans()):
        document["mechanism"] = draw(st.sampled_from(["survey", "cascade"]))
    return document
