"""The draft of a policy from a questionnaire: everything but the deltas, which nobody but the planner can state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bcdp.forms.questionnaire import FormQuestion, Questionnaire, Text
from bcdp.policy import PLACEHOLDER
from bcdp.policy.yaml_text import one_line

Codes = dict[str, str | int]

_ENGLISH = "en"
_HEADER = f"""\
# A draft from a form: replace every {PLACEHOLDER}. delta limits how far a report changes the odds for a guess about an
# answer: 0.2 by a factor of at most 1.23, 1 by one of at most 2.72, if the correlation below is right. A question
# without a delta has epsilon. Take bounds from public knowledge, never from people's answers.
"""


def policy_text(questionnaire: Questionnaire) -> str:
    """The YAML text of a policy to be filled in, with what was left out as comments."""
    codes = {question.name: codes_of(question) for question in questionnaire.questions}
    lines = [
        _HEADER,
        "epsilon: 1.0  # for the whole record, whatever the correlation",
        "features:",
        *(line for question in questionnaire.questions for line in _feature(question, codes)),
        "correlation: 1  # nothing is assumed between questions; see the guide on correlation for smaller numbers",
        *_survey(questionnaire.titles),
        *_left_out(questionnaire),
    ]
    return "\n".join(lines) + "\n"


def _feature(question: FormQuestion, codes: Mapping[str, Codes]) -> Iterator[str]:
    yield f"  {one_line(question.name)}:"
    for key, value in declaration(question, codes).items():
        remark = "".join(f"  # {text}" for text in question.remarks) if key == "type" else ""
        yield f"    {key}: {value if value == PLACEHOLDER else one_line(value)}{remark}"
    yield f"    delta: {PLACEHOLDER}"


def declaration(question: FormQuestion, codes: Mapping[str, Codes]) -> dict[str, Any]:
    """The keys of a feature in a policy, without its delta; `codes` are those of all questions.

    >>> declaration(FormQuestion("age", "numeric", {"": "Age"}, bounds=(18, None)), {})
    {'type': 'numeric', 'label': 'Age', 'bounds': [18, 'FILL'], 'missing': 'own'}
    """
    keys: dict[str, Any] = {"type": question.type, **_texts("label", "labels", question.labels)}
    keys |= _texts("help", "helps", question.helps)
    if question.type == "numeric":
        keys["bounds"] = [PLACEHOLDER if bound is None else _short(bound) for bound in question.bounds]
    elif question.type == "date":
        keys |= {key: day or PLACEHOLDER for key, day in zip(("from", "to"), question.days, strict=True)}
        keys["unit"] = question.unit
    else:
        values = list(codes[question.name].values())
        keys["values"] = values
        labels = {language or _ENGLISH: list(words) for language, words in question.value_labels.items()}
        if labels := {language: words for language, words in labels.items() if words != list(question.values)}:
            keys["value_labels"] = labels
        if question.type == "ordinal" and _is_scale(values):
            keys["scores"] = values
    if question.at_most is not None:
        keys["at_most"] = question.at_most
    if question.asked_if:
        conditions = {name: [codes[name][value] for value in values] for name, values in question.asked_if.items()}
        keys["asked_if"] = {name: values if len(values) > 1 else values[0] for name, values in conditions.items()}
    if not question.required and question.type != "multiple":  # where nothing is ticked, nothing is missing
        keys["missing"] = "own"
    return keys


def _texts(single: str, several: str, texts: Text) -> dict[str, Any]:
    """A text as a policy writes it: the only one, or one for each language."""
    present = {language: text for language, text in texts.items() if text}
    if len(present) < 2:
        return dict.fromkeys([single] * len(present), next(iter(present.values()), ""))
    return {several: {language or _ENGLISH: text for language, text in present.items()}}


def codes_of(question: FormQuestion) -> Codes:
    """The values as a policy writes them: whole numbers as numbers, if all are.

    >>> codes_of(FormQuestion("sex", "binary", values=("1", "2")))
    {'1': 1, '2': 2}
    """
    numbers = all(re.fullmatch("0|-?[1-9][0-9]{0,14}", value) for value in question.values)
    return {value: int(value) if numbers else value for value in question.values}


def _is_scale(codes: list[str | int]) -> bool:
    """Whether codes are rising numbers other than 1, 2, .., which are the scores of every scale."""
    numbers = [code for code in codes if isinstance(code, int)]
    return len(numbers) == len(codes) and numbers == sorted(numbers) and numbers != list(range(1, len(codes) + 1))


def _short(number: float) -> float | int:
    return int(number) if number == int(number) else number


def _survey(titles: Text) -> Iterator[str]:
    for text in titles.values():
        if text:
            yield f"# survey: {{title: {one_line(text)}, purpose: .., organiser: .., contact: ..}}"
            return


def _left_out(questionnaire: Questionnaire) -> Iterator[str]:
    if questionnaire.left_out:
        yield "# Left out of this policy:"
    for part in questionnaire.left_out:
        yield f"#   {part.name}: {part.reason}"
