"""Policies to start from, each complete and checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from bcdp.errors import InputError
from bcdp.policy import Policy
from bcdp.policy.yaml_text import read_yaml

NAMES = ("health", "salary", "telemetry", "campus")


@dataclass(frozen=True)
class Template:
    """A policy as a person would write it, and as many people as it is meant for."""

    name: str
    title: str
    people: int
    policy: dict[str, Any]
    text: str


@cache
def load_templates() -> tuple[Template, ...]:
    """Every template, in the order in which it is offered.

    >>> [template.title for template in load_templates()][:2]
    ['A survey about health', 'A survey about pay']
    """
    return tuple(map(_load, NAMES))


def _load(name: str) -> Template:
    text = files("bcdp.studio").joinpath("templates", f"{name}.yaml").read_text("utf-8")
    mistakes: list[str] = []
    document = read_yaml(text, mistakes)
    if mistakes or not isinstance(document, dict):
        raise InputError("\n".join(mistakes))
    title, people = text.splitlines()[0].removeprefix("# ").split(", for ")
    Policy(**document)
    return Template(name, title, int(people.removesuffix(" people").replace(",", "")), document, text)
