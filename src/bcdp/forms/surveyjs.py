"""SurveyJS: a form as JSON, with pages, panels and elements."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bcdp.errors import refuse
from bcdp.forms.conditions import conditions_of, joined
from bcdp.forms.languages import language_code
from bcdp.forms.questionnaire import (
    FormQuestion,
    LeftOut,
    NotExpressibleError,
    Questionnaire,
    Text,
    assembled,
    dated,
    listed,
    number_of,
    text_of,
    ticked,
)
from bcdp_device.dates import Unit

_ONE_OF = {"radiogroup", "dropdown", "imagepicker", "buttongroup"}
_SEVERAL_OF = {"checkbox", "tagbox"}
_EXTRA_CHOICES = {  # keys of an element, the value that they add, and its text
    **dict.fromkeys(["hasOther", "showOtherItem"], ("other", "Other")),
    **dict.fromkeys(["hasNone", "showNoneItem"], ("none", "None")),
    "showRefuseItem": ("refused", "Refuse to answer"),
    "showDontKnowItem": ("dontknow", "Don't know"),
}
_UNITS: dict[str, Unit] = {"date": "days", "month": "months"}  # by inputType
_REASONS = {
    "comment": "free text, which no table of answers protects",
    "ranking": "a ranking; ask for the first choice instead",
    "html": "a text, not a question",
    "image": "a picture, not a question",
    "expression": "computed from other answers",
    "file": "a file",
    "signaturepad": "a signature",
    "paneldynamic": "a panel that is repeated",
    "matrixdynamic": "a table with any number of rows",
    "matrixdropdown": "a table of several questions",
    "multipletext": "free text, which no table of answers protects",
}


class Element(NamedTuple):
    """An element of a form, and the conditions of the panels and the page around it."""

    keys: Mapping[str, Any]
    visible_if: tuple[str, ...]


def reads(path: Path) -> bool:
    """Whether a file is a form of this kind, by its name."""
    return path.suffix.lower() == ".json"


def read(path: Path) -> Questionnaire:
    """The questionnaire of a SurveyJS form."""
    try:
        form = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        raise refuse("form", str(path), "a SurveyJS form: JSON with pages or elements") from None
    if not isinstance(form, dict) or not (form.keys() & {"pages", "elements", "questions"}):
        raise refuse("form", str(path), "a SurveyJS form: JSON with pages or elements")
    questions, left_out = list[FormQuestion](), list[LeftOut]()
    values: dict[str, tuple[str, ...]] = {}
    for element in _elements(form, ()):
        name = str(element.keys.get("name") or element.keys.get("type"))
        try:
            stated = list(_questions(name, element.keys))
            conditions = joined([conditions_of(expression, values) for expression in element.visible_if])
        except NotExpressibleError as reason:
            left_out.append(LeftOut(name, str(reason)))
            continue
        for question in stated:
            values[question.name] = () if question.type == "multiple" else question.values
            helps = _texts(element.keys.get("description"))
            required = bool(element.keys.get("isRequired"))
            questions.append(replace(question, helps=helps, required=required, asked_if=conditions))
    return assembled(_texts(form.get("title")), questions, left_out)


def _elements(node: Mapping[str, Any], outer: tuple[str, ...]) -> Iterator[Element]:
    """All elements below a form, page or panel."""
    for child in (
        *_dictionaries(node.get("pages")),
        *_dictionaries(node.get("elements")),
        *_dictionaries(node.get("questions")),
    ):
        visible_if = (*outer, str(child["visibleIf"])) if child.get("visibleIf") else outer
        if child.get("type", "panel") == "panel":
            yield from _elements(child, visible_if)
        else:
            yield Element(child, visible_if)


def _dictionaries(children: Any) -> list[dict[str, Any]]:
    return [child for child in children or [] if isinstance(child, dict)]


def _questions(name: str, keys: Mapping[str, Any]) -> Iterator[FormQuestion]:
    """The questions of an element: one, or one for each row of a matrix."""
    kind, labels = str(keys["type"]), _texts(keys.get("title")) or {"": name}
    if kind == "matrix":
        columns = _choices(keys.get("columns"))
        for code, texts in _choices(keys.get("rows")):
            yield listed(f"{name}_{code}", texts, columns, ordered=True)
    elif kind == "text":
        yield _number(name, labels, keys)
    elif kind in ("slider", "nouislider"):
        yield FormQuestion(name, "numeric", labels, bounds=_bounds(keys, (0.0, 100.0)))
    elif kind == "boolean":
        yield _boolean(name, labels, keys)
    elif kind == "rating":
        yield replace(listed(name, labels, _ratings(keys), ordered=True), remarks=())
    elif kind in _ONE_OF | _SEVERAL_OF:
        yield _selected(name, labels, keys, kind)
    else:
        raise NotExpressibleError(_REASONS.get(kind, f"of the type {kind}, which a policy does not have"))


def _number(name: str, labels: Text, keys: Mapping[str, Any]) -> FormQuestion:
    if keys.get("inputType") in ("number", "range"):
        return FormQuestion(name, "numeric", labels, bounds=_bounds(keys, (None, None)))
    if keys.get("inputType") in _UNITS:
        unit = _UNITS[keys["inputType"]]
        return dated(name, labels, (str(keys.get("min", "")), str(keys.get("max", ""))), unit)
    if str(keys.get("inputType", "")).startswith(("date", "time", "week")):
        raise NotExpressibleError("a time of day or a week; ask for the date alone, or for a number")
    raise NotExpressibleError("free text, which no table of answers protects")


def _bounds(keys: Mapping[str, Any], default: tuple[float | None, float | None]) -> tuple[float | None, float | None]:
    limits = {"min": keys.get("min", keys.get("rangeMin")), "max": keys.get("max", keys.get("rangeMax"))}
    for validator in _dictionaries(keys.get("validators")):
        if validator.get("type") == "numeric":
            limits = {"min": validator.get("minValue", limits["min"]), "max": validator.get("maxValue", limits["max"])}
    low, high = number_of(limits["min"]), number_of(limits["max"])
    return default[0] if low is None else low, default[1] if high is None else high


def _boolean(name: str, labels: Text, keys: Mapping[str, Any]) -> FormQuestion:
    choices = [
        (_code(keys.get("valueFalse", False)), _texts(keys.get("labelFalse", "No"))),
        (_code(keys.get("valueTrue", True)), _texts(keys.get("labelTrue", "Yes"))),
    ]
    return listed(name, labels, choices)


def _ratings(keys: Mapping[str, Any]) -> list[tuple[str, Text]]:
    if keys.get("rateValues"):
        return _choices(keys["rateValues"])
    low, step = int(keys.get("rateMin", 1)), int(keys.get("rateStep", 1))
    high = int(keys.get("rateMax", low + step * (int(keys.get("rateCount", 5)) - 1)))
    return [(str(rate), {}) for rate in range(low, high + 1, max(step, 1))]


def _selected(name: str, labels: Text, keys: Mapping[str, Any], kind: str) -> FormQuestion:
    if keys.get("choicesByUrl") or keys.get("choicesFromQuestion"):
        raise NotExpressibleError("its choices are not in the form")
    if any("visibleIf" in choice for choice in _dictionaries(keys.get("choices"))) or keys.get("choicesVisibleIf"):
        raise NotExpressibleError("its choices depend on another answer")
    extra = [choice for key, choice in _EXTRA_CHOICES.items() if keys.get(key)]
    if kind in _SEVERAL_OF:  # none of these is the empty set
        extra = [choice for choice in extra if choice[0] != "none"]
    choices = _choices(keys.get("choices")) + [(code, {"": text}) for code, text in extra]
    if kind in _SEVERAL_OF or keys.get("multiSelect"):
        most = keys.get("maxSelectedChoices")
        return ticked(name, labels, choices, most if isinstance(most, int) and most > 0 else None)
    return listed(name, labels, choices)


def _choices(stated: Any) -> list[tuple[str, Text]]:
    """Choices: values alone, or with their texts."""
    choices = stated if isinstance(stated, Sequence) and not isinstance(stated, str) else []
    return [
        (_code(choice.get("value")), _texts(choice.get("text"))) if isinstance(choice, dict) else (_code(choice), {})
        for choice in choices
    ]


def _code(value: Any) -> str:
    """A value as text, as a file of answers spells it."""
    return str(value).lower() if isinstance(value, bool) else text_of(value)


def _texts(stated: Any) -> Text:
    """A text, or one for each language, where `default` is English unless the form says otherwise."""
    if isinstance(stated, dict):
        texts = {("en" if key == "default" else language_code(key) or ""): text for key, text in stated.items()}
        return {language: text_of(text) for language, text in texts.items() if text_of(text) and language}
    return {"": text_of(stated)} if stated not in (None, "") else {}


def write(questionnaire: Questionnaire, path: Path) -> None:
    """Writes the questionnaire as a SurveyJS form."""
    elements = [_element(question) for question in questionnaire.questions]
    form = {**_stated("title", questionnaire.titles), "elements": elements}
    path.write_text(json.dumps(form, ensure_ascii=False, indent=2) + "\n", "utf-8")


def _element(question: FormQuestion) -> dict[str, Any]:
    element: dict[str, Any] = {"name": question.name, **_control(question)}
    element |= _stated("title", question.labels) | _stated("description", question.helps)
    if question.required:
        element["isRequired"] = True
    if question.asked_if:
        element["visibleIf"] = " and ".join(
            f"{{{name}}} anyof [{', '.join(map(_quoted, values))}]" for name, values in question.asked_if.items()
        )
    return element


def _control(question: FormQuestion) -> dict[str, Any]:
    if question.type == "numeric":
        return {"type": "text", "inputType": "number", "min": question.bounds[0], "max": question.bounds[1]}
    if question.type == "date":
        return {"type": "text", **_date_input(question)}
    choices = [
        {
            "value": value,
            **_stated("text", {language: words[index] for language, words in question.value_labels.items()}),
        }
        for index, value in enumerate(question.values)
    ]
    if question.type == "ordinal":
        return {"type": "rating", "rateValues": choices}
    if question.type == "multiple":
        most = {} if question.at_most is None else {"maxSelectedChoices": question.at_most}
        return {"type": "checkbox", "choices": choices, **most}
    return {"type": "radiogroup", "choices": choices}


def _date_input(question: FormQuestion) -> dict[str, Any]:
    """The browser's own field for days and months; a year is a number."""
    low, high = question.days
    if question.unit == "years":
        return {"inputType": "number", "min": number_of(low), "max": number_of(high)}
    kind = next(kind for kind, unit in _UNITS.items() if unit == question.unit)
    return {"inputType": kind, "min": low, "max": high}


def _stated(key: str, texts: Text) -> dict[str, Any]:
    """A text under its key: alone, or one for each language, of which the first is the default."""
    if len(texts) < 2:
        return dict.fromkeys([key] * len(texts), next(iter(texts.values()), ""))
    default = texts.get("en", next(iter(texts.values())))
    return {key: {"default": default} | {code: text for code, text in texts.items() if code != "en"}}


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if "'" in value else f"'{value}'"
