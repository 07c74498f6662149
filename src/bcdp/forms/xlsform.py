"""XLSForm, the spreadsheets of ODK and KoboToolbox: sheets `survey`, `choices` and `settings`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bcdp.errors import InputError, install, refuse
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
from bcdp_device.dates import Unit

ENDINGS = (".xlsx", ".xlsm")
_QUESTIONS = "survey"  # the sheet with one row for each question
Row = dict[str, str]
Choices = dict[str, list[tuple[str, Text]]]

_SELECT = re.compile(
    r"(?P<kind>select_one|select one from|select one|select1"
    r"|select_multiple from|select_multiple|select all that apply from)"
    r" +(?P<list>\S+)(?P<other> or_other| or specify other)?$"
)
_NUMBERS = {"integer", "int", "decimal", "range"}
_REASONS = {
    "text": "free text, which no table of answers protects",
    "string": "free text, which no table of answers protects",
    "time": "a time; ask for a number instead",
    "datetime": "a date with a time; ask for the date alone",
    "rank": "a ranking; ask for the first choice instead",
    "note": "a note, not a question",
    "calculate": "computed from other answers",
    "acknowledge": "an acknowledgement, not a question",
}
_MEDIA = {"image", "audio", "video", "file", "barcode", "geopoint", "geotrace", "geoshape", "background-audio"}
_METADATA = {
    "start",
    "end",
    "today",
    "deviceid",
    "subscriberid",
    "simserial",
    "phonenumber",
    "username",
    "email",
    "audit",
}
_LIMIT = re.compile(r"\.\s*(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)")
_DAY_LIMIT = re.compile(r"\.\s*(<=|>=|<|>)\s*date\(\s*['\"]([0-9-]+)['\"]\s*\)")
_UNITS: dict[str, Unit] = {"month-year": "months", "year": "years"}  # by appearance
_MOST_TICKS = re.compile(r"count-selected\(\s*\.\s*\)\s*(<=|<)\s*(\d+)")


class Group(NamedTuple):
    name: str
    relevant: str
    is_repeat: bool
    is_grid: bool


def reads(path: Path) -> bool:
    """Whether a file is a form of this kind, by its name."""
    return path.suffix.lower() in ENDINGS


def read(path: Path) -> Questionnaire:
    """The questionnaire of an XLSForm."""
    sheets = read_sheets(path)
    settings = next(iter(sheets.get("settings", [])), {})
    default = language_code(settings.get("default_language", "")) or ""
    questions, left_out = _questions(sheets[_QUESTIONS], _choices(sheets.get("choices", []), default), default)
    return assembled({"": text_of(settings.get("form_title", ""))}, questions, left_out)


def read_sheets(path: Path) -> dict[str, list[Row]]:
    """The sheets of a workbook as rows by column, both named in lower case."""
    try:
        import openpyxl
    except ImportError:
        raise InputError(f"{path}: the package openpyxl is missing; accepted: {install('forms')}") from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception:  # of zip, XML and openpyxl
        raise refuse("form", str(path), "an XLSForm: a workbook with the sheets survey and choices") from None
    sheets = {sheet.title.strip().lower(): _rows(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    book.close()
    if not sheets.get(_QUESTIONS) or "type" not in sheets[_QUESTIONS][0]:
        raise refuse("form", sorted(sheets), "an XLSForm: a workbook whose sheet survey has the columns type and name")
    return sheets


def _rows(cells: Iterator[Sequence[Any]]) -> list[Row]:
    header = [_column(str(cell or "")) for cell in next(cells, ())]
    rows = ({name: _cell(cell) for name, cell in zip(header, row, strict=False) if name} for row in cells)
    return [row for row in rows if any(row.values())]


def _column(title: str) -> str:
    """A column's name: `Label :: English (en)` is `label::English (en)`."""
    parts = [part.strip() for part in re.split(r"::?", title.strip(), maxsplit=1)]
    return "::".join([parts[0].lower().replace(" ", "_"), *parts[1:]])


def _cell(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell if cell is not None else "").strip()


def _texts(row: Row, column: str, default: str) -> Text:
    """The texts of one column in all its languages."""
    texts = {default: row.get(column, "")}
    for name, text in row.items():
        if name.startswith(f"{column}::") and (code := language_code(name.split("::", 1)[1])):
            texts[code] = text
    return {language: text_of(text) for language, text in texts.items() if text_of(text)}


def _choices(rows: list[Row], default: str) -> Choices:
    choices: Choices = {}
    for row in rows:
        name = row.get("name") or row.get("value") or ""
        if name:
            choices.setdefault(row.get("list_name") or row.get("list name", ""), []).append(
                (name, _texts(row, "label", default))
            )
    return choices


def _questions(rows: list[Row], choices: Choices, default: str) -> tuple[list[FormQuestion], list[LeftOut]]:
    questions, left_out, groups = list[FormQuestion](), list[LeftOut](), list[Group]()
    values: dict[str, tuple[str, ...]] = {}
    for row in rows:
        row_type = " ".join(row["type"].replace("_group", " group").replace("_repeat", " repeat").split())
        if row_type.lower() in ("begin group", "begin repeat"):
            appearance = row.get("appearance", "")
            is_repeat = row_type.lower() == "begin repeat"
            groups.append(Group(row.get("name", ""), row.get("relevant", ""), is_repeat, "table-list" in appearance))
        elif row_type.lower() in ("end group", "end repeat"):
            groups = groups[:-1]
        else:
            name = row.get("name", "") or row_type
            try:
                question = _question(row, row_type, choices, default, groups)
                relevant = [*(group.relevant for group in groups), row.get("relevant", "")]
                conditions = _conditions(relevant, values)
            except NotExpressibleError as reason:
                left_out.append(LeftOut(name, str(reason)))
                continue
            values[name] = () if question.type == "multiple" else question.values
            questions.append(_with_texts(question, row, default, conditions))
    return questions, left_out


def _conditions(relevant: list[str], values: dict[str, tuple[str, ...]]) -> Conditions:
    return joined([conditions_of(expression, values) for expression in relevant if expression.strip()])


def _with_texts(question: FormQuestion, row: Row, default: str, conditions: Conditions) -> FormQuestion:
    required = row.get("required", "").lower() in ("yes", "true", "true()", "1")
    return replace(question, helps=_texts(row, "hint", default), required=required, asked_if=conditions)


def _question(row: Row, row_type: str, choices: Choices, default: str, groups: list[Group]) -> FormQuestion:
    """The question of a row, without help and conditions."""
    name, labels = row.get("name", ""), _texts(row, "label", default)
    if any(group.is_repeat for group in groups):
        raise NotExpressibleError("it is asked several times, in a repeated group")
    if row_type.lower() in _NUMBERS:
        return FormQuestion(name, "numeric", labels, bounds=_bounds(row, whole=row_type.lower() in ("integer", "int")))
    if row_type.lower() == "date":
        appearance = row.get("appearance", "")
        return dated(name, labels, _days(row.get("constraint", "")), _UNITS.get(appearance, "days"))
    select = _SELECT.match(row_type)
    if select is None:
        raise NotExpressibleError(_reason(row_type.lower()))
    if row.get("choice_filter"):
        raise NotExpressibleError("its choices depend on another answer")
    options = list(choices.get(select["list"], []))
    if not options:
        raise NotExpressibleError(f"its choices are not in the form: {select['list']}")
    if select["other"]:
        options.append(("other", dict.fromkeys(options[0][1], "Other")))
    if re.search("multiple|all that apply", select["kind"]):
        return ticked(name, labels, options, _most_ticks(row.get("constraint", "")))
    ordered = "likert" in row.get("appearance", "") or any(group.is_grid for group in groups)
    return listed(name, labels, options, ordered=ordered)


def _reason(row_type: str) -> str:
    if row_type in _METADATA:
        return "recorded by the device without asking"
    if row_type in _MEDIA:
        return f"{row_type}, not an answer that can be counted"
    if row_type.startswith(("select_one_from_file", "select_multiple_from_file")):
        return "its choices are in another file"
    return _REASONS.get(row_type.split()[0], f"of the type {row_type}, which a policy does not have")


def _bounds(row: Row, whole: bool) -> tuple[float | None, float | None]:
    """The bounds that a constraint or the parameters of a range state."""
    parameters = dict(re.findall(r"(start|end)\s*=\s*(-?[\d.]+)", row.get("parameters", "")))
    low, high = number_of(parameters.get("start")), number_of(parameters.get("end"))
    if row["type"].strip() == "range" and not parameters:
        low, high = 0.0, 10.0  # as the specification says
    constraint = row.get("constraint", "")
    if " or " in constraint or "not(" in constraint:
        return low, high
    for operator, digits in _LIMIT.findall(constraint):
        limit = float(digits) + (whole and operator == ">") - (whole and operator == "<")
        if operator.startswith(">"):
            low = limit if low is None else max(low, limit)
        else:
            high = limit if high is None else min(high, limit)
    return (low, high) if low is None or high is None or low < high else (None, None)


def _days(constraint: str) -> tuple[str | None, str | None]:
    """The dates that a constraint states; one that excludes the date itself is taken to include it."""
    limits = {operator[0]: day for operator, day in _DAY_LIMIT.findall(constraint)}
    return (None, None) if " or " in constraint or "not(" in constraint else (limits.get(">"), limits.get("<"))


def _most_ticks(constraint: str) -> int | None:
    match = _MOST_TICKS.search(constraint)
    return None if match is None else int(match[2]) - (match[1] == "<")


def write(questionnaire: Questionnaire, path: Path) -> None:
    """Writes the questionnaire as an XLSForm."""
    import openpyxl

    book = openpyxl.Workbook()
    _fill(book.active, _QUESTIONS, [_row(question) for question in questionnaire.questions])
    choices = [row for question in questionnaire.questions for row in _choice_rows(question)]
    _fill(book.create_sheet(), "choices", choices or [{"list_name": "", "name": "", "label": ""}])
    title = next((text for text in questionnaire.titles.values() if text), "")
    _fill(book.create_sheet(), "settings", [{"form_title": title}])
    book.save(path)


def _fill(sheet: Any, title: str, rows: list[Row]) -> None:
    sheet.title = title
    header = list(dict.fromkeys(name for row in rows for name in row))
    sheet.append(header)
    for row in rows:
        sheet.append([row.get(name) for name in header])


def _row(question: FormQuestion) -> Row:
    kinds = {"numeric": "decimal", "date": "date", "multiple": f"select_multiple {question.name}"}
    row = {"type": kinds.get(question.type, f"select_one {question.name}"), "name": question.name}
    row |= _columns("label", question.labels) | _columns("hint", question.helps)
    row["required"] = "yes" if question.required else "no"
    if question.type == "ordinal":
        row["appearance"] = "likert"
    if question.type == "numeric":
        row["constraint"] = " and ".join(
            f". {operator} {bound:.15g}"
            for operator, bound in zip((">=", "<="), question.bounds, strict=True)
            if bound is not None
        )
    if question.type == "date":
        limits = zip((">=", "<="), question.days, strict=True)
        row["constraint"] = " and ".join(f". {operator} date('{_whole(day)}')" for operator, day in limits if day)
        row["appearance"] = {unit: appearance for appearance, unit in _UNITS.items()}.get(question.unit, "")
    if question.at_most is not None:
        row["constraint"] = f"count-selected(.) <= {question.at_most}"
    if question.asked_if:
        row["relevant"] = " and ".join(
            "(" + " or ".join(f"${{{name}}} = '{value}'" for value in values) + ")"
            for name, values in question.asked_if.items()
        )
    return row


def _whole(day: str) -> str:
    """The first day of a month or year.

    >>> _whole("1940"), _whole("1940-05"), _whole("1940-05-31")
    ('1940-01-01', '1940-05-01', '1940-05-31')
    """
    return day + "-01-01"[len(day) - 4 :] if len(day) < 10 else day


def _choice_rows(question: FormQuestion) -> Iterator[Row]:
    for index, value in enumerate(question.values):
        labels = {language: words[index] for language, words in question.value_labels.items()} or {"": value}
        yield {"list_name": question.name, "name": value, **_columns("label", labels)}


def _columns(column: str, texts: Text) -> Row:
    return {f"{column}::{language}" if language else column: text for language, text in texts.items()}
