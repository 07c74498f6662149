"""Policies as text: YAML that is read as people mean it, with every mistake on its line, and written for any reader."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, cast

import yaml

from bcdp.errors import InputError
from bcdp.policy.error_sentences import dotted
from bcdp.policy.valued_features import MOST_GROUPS

# Only what is unmistakable is not text. YAML 1.1 reads `no` as false, 1:30 as 90, 2024-01-01 as a date, 01234 as 668
# and 1e5 as text; people who write such values mean what they see.
_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, tuple[str, Callable[[str], object]]] = {
    "null": (r"~|null|Null|NULL|", lambda word: None),
    "bool": (r"true|True|TRUE|false|False|FALSE", lambda word: word.lower() == "true"),
    "int": (r"[-+]?(0|[1-9][0-9]*)", int),
    "float": (
        r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan",
        lambda word: float(word.replace(".inf", "inf").replace(".nan", "nan")),
    ),
}


MOST_FEATURES = 10_000
_MOST_ITEMS = MOST_GROUPS  # longer lists are read from files
_DEEPEST = 100  # lists and mappings inside each other


class _Loader(yaml.BaseLoader):
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth += 1
        if self._depth > _DEEPEST:
            mark = cast("Any", self).peek_event().start_mark
            raise yaml.MarkedYAMLError(problem=f"more than {_DEEPEST} lists inside each other", problem_mark=mark)
        try:
            return self._composed(parent, index)
        finally:
            self._depth -= 1

    def _composed(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):  # a few aliases of aliases are enough to fill the memory
            alias = cast("Any", self).peek_event()
            raise yaml.MarkedYAMLError(problem="an alias", problem_mark=alias.start_mark)
        # refused here, before the rest is read: that may take minutes
        if isinstance(parent, yaml.SequenceNode) and index >= _MOST_ITEMS:
            raise self._too_many(f"a list of more than {_MOST_ITEMS} values", _MOST_ITEMS)
        if isinstance(parent, yaml.MappingNode) and len(parent.value) >= MOST_FEATURES:
            raise self._too_many(f"more than {MOST_FEATURES} features", MOST_FEATURES)
        return super().compose_node(parent, index)

    def _too_many(self, got: str, most: int) -> InputError:
        line = cast("Any", self).peek_event().start_mark.line + 1
        return InputError(f"policy: got {got} on line {line}; accepted: at most {most}")


class Dumper(yaml.SafeDumper):
    """Writes YAML that this package and every other reader understand alike."""


def _represent_text(dumper: Dumper, text: str) -> yaml.ScalarNode:
    # Line breaks other than \n survive only as escapes, which only double quotes have.
    return dumper.represent_scalar(_TAG + "str", text, style=None if text.isprintable() else '"')


Dumper.add_representer(str, _represent_text)
for _name, (_pattern, _) in _WORDS.items():
    for _class in (_Loader, Dumper):
        _class.add_implicit_resolver(_TAG + _name, re.compile(f"(?:{_pattern})\\Z"), None)


def read_yaml(text: str, mistakes: list[str]) -> object:
    """The plain data that a YAML text holds; what it holds by mistake is added to `mistakes`, with its line."""
    try:
        return _plain(yaml.compose(text, Loader=_Loader), (), mistakes)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        raise _not_yaml(line, str(error.problem)) from None
    except yaml.reader.ReaderError as error:
        raise _not_yaml(text.count("\n", 0, error.position), "a control character") from None


def write_yaml(data: dict[str, Any]) -> str:
    """The text of a YAML file that holds plain data, its keys in their order."""
    return yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)


def one_line(data: Any) -> str:
    """Plain data as YAML on one line, texts in quotes where they need them.

    >>> one_line("no?"), one_line("null"), one_line(["yes", 1]), one_line({"drugs": "yes"})
    ('no?', "'null'", "['yes', 1]", "{drugs: 'yes'}")
    """
    text = yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=math.inf, default_flow_style=True)
    return text.removesuffix("...\n").rstrip("\n")


def _not_yaml(line: int, problem: str) -> InputError:
    accepted = "YAML, indented with spaces, without aliases"
    if sign := re.search(r"(?:got|found|character) '([][?:,{}&*!|>%@`])'", problem):
        accepted += f"; put a text with {sign[1]} in quotes"
    return InputError(f"policy: got what cannot be read on line {line + 1} ({problem}); accepted: {accepted}")


def _plain(node: yaml.Node | None, path: tuple[object, ...], mistakes: list[str]) -> object:
    if isinstance(node, yaml.MappingNode):
        return _plain_mapping(node, path, mistakes)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*path, position), mistakes) for position, item in enumerate(node.value)]
    if node is None:
        return None
    try:
        return _WORDS[node.tag.removeprefix(_TAG)][1](node.value) if node.tag != _TAG + "str" else node.value
    except (KeyError, ValueError):  # a tag that is not one of these, or a word that is not of this tag
        got = f"{node.value[:40]!r} as {node.tag.removeprefix(_TAG)} on line {node.start_mark.line + 1}"
        mistakes.append(f"{dotted(path) or 'policy'}: got {got}; accepted: a shorter value without a tag")
        return None


def _plain_mapping(node: yaml.MappingNode, path: tuple[object, ...], mistakes: list[str]) -> dict[object, object]:
    mapping: dict[object, object] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            where = dotted(path) or "policy"
            mistakes.append(f"{where}: got a list or a mapping as a key on line {line}; accepted: text as a key")
            continue
        key = _plain(key_node, path, mistakes)
        if key in mapping:
            mistakes.append(f"{dotted((*path, key))}: got the same key again on line {line}; accepted: each key once")
        else:
            mapping[key] = _plain(value_node, (*path, key), mistakes)
    return mapping
