"""Conditions such as `${drugs} = 'yes' or ${drugs} = 'once'`, in the spellings of several kinds of forms.

A condition that a policy can express limits the values of some questions, all at once: for each of them, a set of
values. Everything else raises `NotExpressibleError`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bcdp.forms.questionnaire import Conditions, NotExpressibleError, number_of

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>\$\{[^}]+\}|\{[^}]+\}|\[[A-Za-z][^\]]*\])      # ${a}, {a}, [a]
      | (?P<text>'[^']*'|"[^"]*")
      | (?P<number>-?\d+(?:\.\d+)?)
      | (?P<operator>==|!=|<>|<=|>=|=|<|>|&&|\|\|)
      | (?P<word>[A-Za-z_][\w.-]*)
      | (?P<mark>[()\[\],!])
    )""",
    re.VERBOSE,
)
_WORDS = {"&&": "and", "||": "or", "==": "=", "<>": "!=", "eq": "=", "ne": "!=", "equal": "=", "notequal": "!="}
_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_UNKNOWN = "its condition is more than values of other questions: "


class _Token(NamedTuple):
    kind: str
    text: str


def conditions_of(expression: str, values: Mapping[str, Sequence[str]]) -> Conditions:
    """For each question that an expression names, the values with which it holds; `values` are all that each has.

    >>> conditions_of("${drugs} = 'yes' or ${drugs} = 'once'", {"drugs": ["no", "once", "yes"]})
    {'drugs': ('once', 'yes')}
    >>> conditions_of("selected(${a}, '1') and ${b} != 2", {"a": ["0", "1"], "b": ["1", "2", "3"]})
    {'a': ('1',), 'b': ('1', '3')}
    """
    parser = _Parser(_tokens(expression), values, expression)
    conditions = parser.alternatives()
    if parser.rest:
        raise NotExpressibleError(_UNKNOWN + expression)
    return {name: tuple(value for value in values[name] if value in held) for name, held in conditions.items()}


def _tokens(expression: str) -> list[_Token]:
    tokens, position = [], 0
    while expression[position:].strip():
        match = _TOKEN.match(expression, position)
        if match is None or match.lastgroup is None:
            raise NotExpressibleError(_UNKNOWN + expression)
        text = match[match.lastgroup]
        word = _WORDS.get(text.lower(), text)
        kind = "operator" if word in ("=", "!=") else match.lastgroup
        tokens.append(_Token(kind, word.lower() if word.lower() in ("and", "or", "not") else word))
        position = match.end()
    return tokens


class _Parser:
    """Recursive descent: alternatives of conjunctions of comparisons."""

    def __init__(self, tokens: list[_Token], values: Mapping[str, Sequence[str]], expression: str) -> None:
        self.rest = tokens
        self._values = values
        self._expression = expression

    def alternatives(self) -> dict[str, set[str]]:
        conditions = self._conjunction()
        while self._accept("or"):
            other = self._conjunction()
            if len(conditions) != 1 or conditions.keys() != other.keys():
                raise self._unknown()
            conditions = {name: held | other[name] for name, held in conditions.items()}
        return conditions

    def _conjunction(self) -> dict[str, set[str]]:
        conditions = self._comparison()
        while self._accept("and"):
            for name, held in self._comparison().items():
                conditions[name] = conditions.get(name, held) & held
        return conditions

    def _comparison(self) -> dict[str, set[str]]:
        if self._accept("not") or self._accept("!"):
            return self._complement(self._comparison())
        if self._accept("("):
            conditions = self.alternatives()
            self._expect(")")
            return conditions
        token = self._next()
        if token.text == "selected":
            self._expect("(")
            name = self._name(self._next())
            self._expect(",")
            conditions = {name: {self._value()}}
            self._expect(")")
            return conditions
        name = self._name(token)
        return self._compared(name, self._next())

    def _compared(self, name: str, comparison: _Token) -> dict[str, set[str]]:
        if comparison.text in ("=", "!="):
            value = {self._value()}
            return {name: value if comparison.text == "=" else set(self._values[name]) - value}
        if comparison.text.lower() == "anyof":
            self._expect("[")
            listed = {self._value()}
            while self._accept(","):
                listed.add(self._value())
            self._expect("]")
            return {name: listed}
        if comparison.text in _ORDER and all(number_of(value) is not None for value in self._values[name]):
            limit = number_of(self._value())
            if limit is not None:
                return {name: {value for value in self._values[name] if _ORDER[comparison.text](float(value), limit)}}
        raise self._unknown()

    def _complement(self, conditions: dict[str, set[str]]) -> dict[str, set[str]]:
        if len(conditions) != 1:
            raise self._unknown()
        return {name: set(self._values[name]) - held for name, held in conditions.items()}

    def _name(self, token: _Token) -> str:
        if token.kind not in ("name", "word"):
            raise self._unknown()
        name = token.text.strip("${}[] ").removesuffix(".NAOK").split("(")[0]  # a(3): whether item 3 of a is ticked
        if name not in self._values:
            raise NotExpressibleError(f"its condition depends on {name}, which is left out or comes later")
        if not self._values[name]:
            raise NotExpressibleError(f"its condition depends on {name}, which has no list of single values")
        return name

    def _value(self) -> str:
        token = self._next()
        if token.kind in ("text", "number") or token.text.lower() in ("true", "false"):
            return token.text.strip("'\"")
        raise self._unknown()

    def _next(self) -> _Token:
        if not self.rest:
            raise self._unknown()
        return self.rest.pop(0)

    def _accept(self, text: str) -> bool:
        if self.rest and self.rest[0].text == text and self.rest[0].kind != "text":
            self.rest.pop(0)
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise self._unknown()

    def _unknown(self) -> NotExpressibleError:
        return NotExpressibleError(_UNKNOWN + self._expression)


def joined(conditions: Sequence[Conditions]) -> Conditions:
    """All conditions at once, as those of a question within groups."""
    together: dict[str, tuple[str, ...]] = {}
    for condition in conditions:
        for name, values in condition.items():
            together[name] = tuple(value for value in together.get(name, values) if value in values)
    return together
