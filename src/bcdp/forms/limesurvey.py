"""The structure of a LimeSurvey survey: its tab-separated export, with one row for each part and language."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bcdp.errors import refuse
from bcdp.forms.conditions import conditions_of, joined
from bcdp.forms.languages import language_code
from bcdp.forms.questionnaire import (
    Conditions,
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

_ALWAYS = ("", "1")
_OTHER = "-oth-"
_POINTS = {"5": 5, "A": 5, "B": 10}  # types with a scale of so many points
_SCALES = {
    "C": [("N", {"en": "No"}), ("U", {"en": "Uncertain"}), ("Y", {"en": "Yes"})],
    "E": [("D", {"en": "Decrease"}), ("S", {"en": "Same"}), ("I", {"en": "Increase"})],
}
_PAIRS = {
    "Y": [("N", {"en": "No"}), ("Y", {"en": "Yes"})],
    "G": [("F", {"en": "Female"}), ("M", {"en": "Male"})],
}
_ARRAYS = {"A", "B", "C", "E", "F", "H", "K"}  # one question for each subquestion
_REASONS = {
    **dict.fromkeys("STUQ", "free text, which no table of answers protects"),
    "R": "a ranking; ask for the first choice instead",
    "X": "a text, not a question",
    "|": "a file",
    "*": "computed from other answers",
    "I": "the choice of a language",
    "1": "two scales at once",
    ":": "a table of numbers",
    ";": "a table of texts",
}


@dataclass
class SurveyPart:
    """A group, question, subquestion or answer, with its texts in all languages."""

    row: dict[str, str]
    texts: Text = field(default_factory=dict)
    helps: Text = field(default_factory=dict)
    group: SurveyPart | None = None
    subquestions: dict[str, SurveyPart] = field(default_factory=dict)
    answers: dict[str, SurveyPart] = field(default_factory=dict)

    def choices(self) -> list[tuple[str, Text]]:
        return [(code, part.texts) for code, part in self.answers.items()]


def reads(path: Path) -> bool:
    """Whether a file is such an export, by its header."""
    if path.suffix.lower() not in (".txt", ".tsv") or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return {"class", "type/scale", "name"} <= set(file.readline().strip().replace('"', "").split("\t"))


def read(path: Path) -> Questionnaire:
    """The questionnaire of a survey's structure."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [
                {key: (cell or "").strip() for key, cell in row.items() if key}
                for row in csv.DictReader(file, delimiter="\t")
            ]
    except (UnicodeDecodeError, csv.Error):
        raise refuse("form", str(path), "a LimeSurvey survey structure, tab-separated, in UTF-8") from None
    titles, parts = _parts(rows)
    questions, left_out = list[FormQuestion](), list[LeftOut]()
    values: dict[str, tuple[str, ...]] = {}
    for name, part in parts.items():
        try:
            conditions = _conditions(part, values)
            stated = list(_questions(name, part))
        except NotExpressibleError as reason:
            left_out.append(LeftOut(name, str(reason)))
            continue
        required = part.row.get("mandatory", "").upper() in ("Y", "S")
        for question in stated:
            values[question.name] = () if question.type == "multiple" else question.values
            questions.append(replace(question, helps=part.helps, required=required, asked_if=conditions))
    return assembled(titles, questions, left_out)


def _parts(rows: list[dict[str, str]]) -> tuple[Text, dict[str, SurveyPart]]:
    """The titles, and the questions by name: a part appears once for each language."""
    titles: Text = {}
    questions: dict[str, SurveyPart] = {}
    groups: dict[str, SurveyPart] = {}
    group = question = None
    for row in rows:
        kind, name, language = row["class"], row["name"], language_code(row.get("language", "")) or ""
        if kind == "SL" and name == "surveyls_title":
            titles[language] = text_of(row["text"])
        elif kind == "G":
            group = groups.setdefault(row.get("type/scale", "") or name, SurveyPart(row))
        elif kind == "Q":
            question = questions.setdefault(name, SurveyPart(row, group=group))
            question.texts[language] = text_of(row["text"])
            if text_of(row.get("help", "")):
                question.helps[language] = text_of(row["help"])
        elif kind in ("SQ", "A") and question is not None:
            among = question.subquestions if kind == "SQ" else question.answers
            among.setdefault(name, SurveyPart(row)).texts[language] = text_of(row["text"])
    return titles, questions


def _conditions(part: SurveyPart, values: dict[str, tuple[str, ...]]) -> Conditions:
    relevance = [part.group.row.get("relevance", "") if part.group else "", part.row.get("relevance", "")]
    return joined([conditions_of(expression, values) for expression in relevance if expression not in _ALWAYS])


def _questions(name: str, part: SurveyPart) -> Iterator[FormQuestion]:
    """The questions of a part: one, or one for each row of an array."""
    kind = part.row.get("type/scale", "")
    if part.row.get("array_filter") or part.row.get("array_filter_exclude"):
        raise NotExpressibleError("its rows depend on another answer")
    if kind in _REASONS or not kind:
        raise NotExpressibleError(_REASONS.get(kind, "without a type"))
    if kind in _ARRAYS:
        for code, subquestion in part.subquestions.items():
            texts = {
                language: f"{part.texts.get(language, '')} {text}".strip()
                for language, text in subquestion.texts.items()
            }
            yield _question(f"{name}_{code}", texts, kind, part)
    else:
        yield _question(name, part.texts, kind, part)


def _question(name: str, texts: Text, kind: str, part: SurveyPart) -> FormQuestion:
    if kind in ("N", "K"):
        bounds = number_of(part.row.get("min_num_value_n")), number_of(part.row.get("max_num_value_n"))
        return FormQuestion(name, "numeric", texts, bounds=bounds)
    if kind == "D":
        return dated(name, texts, (part.row.get("date_min"), part.row.get("date_max")))
    if kind in ("M", "P"):
        choices = [(code, item.texts) for code, item in part.subquestions.items()]
        return ticked(name, texts, choices + _other(part), _most(part.row.get("max_answers", "")))
    if kind in _POINTS:
        points: list[tuple[str, Text]] = [(str(point), {}) for point in range(1, _POINTS[kind] + 1)]
        return replace(listed(name, texts, points, ordered=True), remarks=())
    if kind in _SCALES or kind in _PAIRS:
        return replace(listed(name, texts, (_SCALES | _PAIRS)[kind], ordered=True), remarks=())
    if kind in ("L", "!", "O", "F", "H"):
        return listed(name, texts, part.choices() + _other(part), ordered=kind in ("F", "H"))
    raise NotExpressibleError(f"of the type {kind}, which a policy does not have")


def _other(part: SurveyPart) -> list[tuple[str, Text]]:
    return [(_OTHER, dict.fromkeys(part.texts, "Other"))] if part.row.get("other", "") == "Y" else []


def _most(cell: str) -> int | None:
    return int(cell) if cell.isdigit() and int(cell) else None
