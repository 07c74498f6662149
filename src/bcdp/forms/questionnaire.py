"""A questionnaire as every format of forms states it: questions that a policy can express, and those it cannot."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bcdp.policy.visible_text import is_visible
from bcdp_device.dates import Unit, read_date

Text = dict[str, str]  # by language; "" where the form names none
Conditions = Mapping[str, tuple[str, ...]]  # for each other question, the values that it must have
QuestionType = Literal["numeric", "date", "binary", "categorical", "ordinal", "multiple"]

LONGEST_TEXT = 2000
_NO_AND_YES = {("no", "yes"), ("n", "y"), ("0", "1"), ("false", "true")}  # the share of the second is wanted
_INLINE_TAG = re.compile(r"</?(?:a|b|em|font|i|small|span|strong|sub|sup|u)\b[^>]*>", re.IGNORECASE)
_QUOTED_ANSWER = re.compile(r"\$\{[^}]*\}|\{[^{}]*\}|\[[a-z]\w*\]")


@dataclass(frozen=True)
class FormQuestion:
    """One question; `values` are the codes that files of answers have, `remarks` what to check before using it."""

    name: str
    type: QuestionType
    labels: Text = field(default_factory=dict)
    helps: Text = field(default_factory=dict)
    values: tuple[str, ...] = ()
    value_labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: tuple[float | None, float | None] = (None, None)
    days: tuple[str | None, str | None] = (None, None)  # the earliest and the latest date, in the form of its unit
    unit: Unit = "days"  # as exactly as a date is asked
    at_most: int | None = None
    required: bool = False
    asked_if: Conditions = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftOut:
    """Something of a form that a policy cannot express, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Questionnaire:
    titles: Text
    questions: tuple[FormQuestion, ...]
    left_out: tuple[LeftOut, ...]


class NotExpressibleError(ValueError):
    """A question, or its condition, that a policy cannot express; the message is the reason."""


def listed(
    name: str, labels: Text, choices: Sequence[tuple[str, Text]], *, ordered: bool = False, required: bool = False
) -> FormQuestion:
    """A question with one answer from a list of (code, labels).

    >>> listed("ill", {"": "Are you ill?"}, [("yes", {"": "Yes"}), ("no", {"": "No"})]).values
    ('no', 'yes')
    """
    codes = [code for code, _ in choices]
    if len(codes) < 2:
        raise NotExpressibleError("it has fewer than two choices")
    if len(set(codes)) < len(codes):
        raise NotExpressibleError("several choices have the same code")
    if len(codes) == 2 and (codes[1].lower(), codes[0].lower()) in _NO_AND_YES:
        choices = [choices[1], choices[0]]
    question_type: QuestionType = "binary" if len(codes) == 2 else "ordinal" if ordered else "categorical"
    return FormQuestion(
        name,
        question_type,
        labels,
        values=tuple(code for code, _ in choices),
        value_labels=words_of(choices),
        required=required,
        remarks=("confirm that the values rise from low to high; if they have no order: categorical",)
        if question_type == "ordinal"
        else (),
    )


def ticked(name: str, labels: Text, choices: Sequence[tuple[str, Text]], at_most: int | None = None) -> FormQuestion:
    """A question with any number of answers from a list, up to `at_most`."""
    if len({code for code, _ in choices}) < max(2, len(choices)):
        raise NotExpressibleError("it has fewer than two choices, or several with the same code")
    if at_most is not None and not 1 <= at_most <= len(choices):
        at_most = None
    codes = tuple(code for code, _ in choices)
    return FormQuestion(name, "multiple", labels, values=codes, value_labels=words_of(choices), at_most=at_most)


def words_of(choices: Iterable[tuple[str, Text]]) -> dict[str, tuple[str, ...]]:
    """The labels of all values, in those languages that have one for each."""
    texts = [labels for _, labels in choices]
    languages = dict.fromkeys(language for labels in texts for language in labels)
    complete = {language: tuple(labels.get(language, "") for labels in texts) for language in languages}
    return {language: words for language, words in complete.items() if all(words) and len(set(words)) == len(words)}


def text_of(value: object) -> str:
    """What a person reads of a label: no tags, entities, invisible letters or line breaks; other answers as `...`.

    >>> text_of("How old is <b>${name}</b>,&nbsp;roughly?")
    'How old is ..., roughly?'
    """
    plain = html.unescape(re.sub(r"<[^>]+>", " ", _INLINE_TAG.sub("", str("" if value is None else value))))
    words = " ".join(_QUOTED_ANSWER.sub("...", plain).split())
    if not is_visible(words):
        words = "".join(letter for letter in words if is_visible(letter))
    return words if len(words) <= LONGEST_TEXT else words[: LONGEST_TEXT - 3] + "..."


def number_of(value: object) -> float | None:
    """The finite number that a cell holds, or None.

    >>> number_of(" 12.50 "), number_of("today"), number_of(None), number_of("1e999")
    (12.5, None, None, None)
    """
    try:
        number = float(str(value).strip())
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def dated(name: str, labels: Text, ends: tuple[str | None, str | None], unit: Unit = "days") -> FormQuestion:
    """A question for a date; an end that is none, such as today, is left to be filled in.

    >>> dated("born", {"": "Born"}, ("1940-01-01", "today()")).days
    ('1940-01-01', None)
    """
    days = [end.strip().strip("'\"") if end else "" for end in ends]
    low, high = (day if read_date(day, unit) else None for day in days)
    return FormQuestion(name, "date", labels, days=(low, high), unit=unit)


def assembled(titles: Text, questions: Iterable[FormQuestion], left_out: Iterable[LeftOut]) -> Questionnaire:
    """The questionnaire, without follow-ups whose condition cannot hold in a policy."""
    expressible: dict[str, FormQuestion] = {}
    omitted = list(left_out)
    for question in questions:
        try:
            if question.name in expressible:
                raise NotExpressibleError("another question has the same name")
            conditions = _simplified(question.asked_if, expressible)
            expressible[question.name] = replace(question, asked_if=conditions)
        except NotExpressibleError as reason:
            omitted.append(LeftOut(question.name, str(reason)))
    return Questionnaire(titles, tuple(expressible.values()), tuple(omitted))


def _simplified(conditions: Conditions, earlier: Mapping[str, FormQuestion]) -> Conditions:
    """The conditions without those that others imply: a follow-up of a follow-up names its direct parent only."""
    for name, values in conditions.items():
        if name not in earlier:
            raise NotExpressibleError(f"its condition depends on {name}, which is left out or comes later")
        if earlier[name].type in ("numeric", "date", "multiple"):
            raise NotExpressibleError(f"its condition depends on {name}, which has no list of single values")
        if not values or not set(values) <= set(earlier[name].values):
            raise NotExpressibleError(f"its condition compares {name} with something that is not one of its values")
    implied = {
        parent
        for name in conditions
        for parent, values in _ancestors(name, earlier).items()
        if set(values) <= set(conditions.get(parent, ()))
    }
    direct = {name: values for name, values in conditions.items() if name not in implied}
    return {
        name: values
        for name, values in direct.items()
        if earlier[name].asked_if or set(values) < set(earlier[name].values)  # else it always holds
    }


def _ancestors(name: str, earlier: Mapping[str, FormQuestion]) -> Conditions:
    conditions = dict(earlier[name].asked_if)
    for parent in tuple(conditions):
        conditions = {**_ancestors(parent, earlier), **conditions}
    return conditions
