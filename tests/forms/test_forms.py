"""Forms of other programs become policies that load, and name every question that they leave out."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bcdp import InputError, Policy
from bcdp.cli import main
from bcdp.forms import format_named, read_form
from bcdp.forms.conditions import conditions_of
from bcdp.forms.policy_form import questionnaire_of
from bcdp.forms.policy_text import policy_text
from bcdp.forms.questionnaire import LeftOut, NotExpressibleError, Questionnaire
from support.forms import EXAMPLES, form_file

PLACEHOLDERS = (
    ("from: FILL", "from: '1940-01-01'"),
    ("to: FILL", "to: '2030-12-31'"),
    ("[FILL, FILL]", "[0, 100]"),
    ("FILL]", "1000000]"),
    ("[FILL", "[-1000000"),
    ("FILL", "0.5"),
)
XLSFORMS = [example for example in EXAMPLES if example.name.endswith(".xlsform.md")]
HOUSEHOLD = next(example for example in XLSFORMS if example.name.startswith("household"))


def filled(text: str) -> str:
    """A draft in which somebody wrote numbers."""
    for placeholder, number in PLACEHOLDERS:
        text = text.replace(f" {placeholder}", f" {number}")
    return text


def drafted(path: Path) -> tuple[Policy, tuple[LeftOut, ...]]:
    questionnaire = read_form(path)
    assert questionnaire is not None
    return Policy(**yaml.safe_load(filled(policy_text(questionnaire)))), questionnaire.left_out


def names_in(path: Path) -> set[str]:
    """The names of all questions, read without the package: rows of a matrix count as the matrix."""
    if path.suffix == ".xlsx":
        import openpyxl

        header, *rows = openpyxl.load_workbook(path)["survey"].iter_rows(values_only=True)
        cells = [dict(zip(header, row, strict=True)) for row in rows]
        return {row["name"] or row["type"] for row in cells if not str(row["type"]).startswith(("begin", "end"))}
    if path.suffix == ".json":

        def elements(node: dict[str, Any]) -> list[dict[str, Any]]:
            children = [*node.get("pages", []), *node.get("elements", []), *node.get("questions", [])]
            return [node, *(inner for child in children for inner in elements(child))]

        return {
            node["name"]
            for node in elements(json.loads(path.read_text()))[1:]
            if node.get("type") not in (None, "panel")
        }
    with path.open(encoding="utf-8-sig", newline="") as file:
        if path.suffix == ".csv":
            return {row["Variable / Field Name"] for row in csv.DictReader(file)}
        return {row["name"] for row in csv.DictReader(file, delimiter="\t") if row["class"] == "Q"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_question_is_carried_over_or_named(example: Path, tmp_path: Path) -> None:
    path = form_file(example, tmp_path)
    policy, left_out = drafted(path)
    named = set(policy.declared) | {part.name for part in left_out}
    rows = {name for name in named if not names_in(path) & {name}}
    parents = {name.rsplit("_", 1)[0] for name in rows}
    assert names_in(path) == (named - rows) | parents
    assert all(part.reason for part in left_out)
    assert set(policy.declared).isdisjoint(part.name for part in left_out)


def test_there_are_thirty_forms() -> None:
    assert len(EXAMPLES) == 30


def questionnaire(tmp_path: Path, name: str) -> Questionnaire:
    (example,) = [example for example in EXAMPLES if example.name.startswith(f"{name}.")]
    return format_named(example.name.split(".")[1]).read(form_file(example, tmp_path))


def test_an_xlsform_keeps_languages_limits_and_conditions(tmp_path: Path) -> None:
    policy, _ = drafted(form_file(HOUSEHOLD, tmp_path))
    members, assets = policy.features["members"], policy.features["assets"]
    assert members.span == (1, 40)
    assert members.labels == {
        "en": "How many people live here?",
        "fr": "Combien de personnes vivent ici ?",
    }
    assert assets.type == "multiple"
    assert assets.model_dump()["at_most"] == 3
    assert policy.features["water"].categories == ("no", "yes")
    assert policy.features["source"].asked_if == {"water": ("no",)}


def test_a_scale_keeps_its_order_and_scores(tmp_path: Path) -> None:
    policy = drafted(form_file(next(path for path in EXAMPLES if path.name == "phq.redcap.csv"), tmp_path))[0]
    item = policy.features["phq1"]
    assert (item.type, item.categories, item.scale) == ("ordinal", (0, 1, 2, 3), (0.0, 1.0, 2.0, 3.0))
    assert item.label == "PHQ item 1: little interest or pleasure"
    assert policy.features["difficult"].asked_if == {"phq1": (1, 2, 3)}


def test_identifiers_are_marked(tmp_path: Path) -> None:
    marked = {
        question.name
        for question in questionnaire(tmp_path, "clinic").questions
        if any("identifier" in remark for remark in question.remarks)
    }
    assert marked == {"hiv", "art"}


def test_a_nested_follow_up_names_its_parent_only(tmp_path: Path) -> None:
    questions = {question.name: question for question in questionnaire(tmp_path, "demographics").questions}
    assert questions["weeks"].asked_if == {"pregnant": ("1",)}
    assert {question.name: question.asked_if for question in questionnaire(tmp_path, "conditions").questions} == {
        **{"a": {}, "b": {}, "last": {}},
        "both": {"a": ("1",), "b": ("x",)},
        "not": {"a": ("2", "3")},
    }


VALUES = {"a": ["1", "2", "3"], "b": ["no", "yes"], "list": []}


@pytest.mark.parametrize(
    ("expression", "conditions"),
    [
        ("${a} = 1", {"a": ("1",)}),
        ("[a] = '1' or [a] = '3'", {"a": ("1", "3")}),
        ("{a} anyof ['2', '3'] and {b} != 'no'", {"a": ("2", "3"), "b": ("yes",)}),
        ('((b.NAOK == "yes"))', {"b": ("yes",)}),
        ("not(selected(${b}, 'yes'))", {"b": ("no",)}),
        ("[a] >= 2", {"a": ("2", "3")}),
        ("${a} > 1 and ${a} < 3", {"a": ("2",)}),
        ("!({a} = '1' or {a} = '2')", {"a": ("3",)}),
        ("{a} = 'yes'", {"a": ()}),
    ],
)
def test_conditions_in_every_spelling(expression: str, conditions: dict[str, tuple[str, ...]]) -> None:
    assert conditions_of(expression, VALUES) == conditions


@pytest.mark.parametrize(
    "expression",
    [
        *(
            "${a} = 1 or ${b} = 'yes'",
            "${a} = ${b}",
            "{a} notempty",
            "count-selected(${a}) > 1",
            "${a} = 1)",
            "(${a} = 1",
        ),
        *(
            "${list} = 1",
            "[list(2)] = '1'",
            "${other} = 1",
            "not(${a} = 1 and ${b} = 'no')",
            "${a} + 1 = 2",
            "${b} > 1",
            "=",
        ),
    ],
)
def test_other_conditions_are_refused(expression: str) -> None:
    with pytest.raises(NotExpressibleError, match="its condition"):
        conditions_of(expression, VALUES)


POLICY = {
    "epsilon": 2,
    "features": {
        "age": {"type": "numeric", "bounds": [18, 99.5], "help": "In years"},
        "drugs": {"type": "binary", "values": ["no", "yes"], "labels": {"en": "Drugs?", "de": "Drogen?"}},
        "often": {"type": "ordinal", "values": ["monthly", "weekly", "it's daily"], "asked_if": {"drugs": "yes"}},
        "region": {
            **{"type": "categorical", "values": [1, 2, 3], "missing": "own"},
            "value_labels": {"en": ["N", "S", "E"], "de": ["Nord", "Süd", "Ost"]},
        },
        "media": {"type": "multiple", "values": ["tv", "web", "print"], "at_most": 2},
    },
}


@pytest.mark.parametrize("name", ["surveyjs", "xlsform"])
def test_a_policy_survives_a_round_trip(name: str, tmp_path: Path) -> None:
    document = json.loads(json.dumps(POLICY))
    if name == "xlsform":  # whose conditions have no quotes inside quotes, whose names are words
        document["features"]["often"]["values"] = ["monthly", "weekly", "daily"]
    policy = Policy(**document)
    path = tmp_path / ("form.json" if name == "surveyjs" else "form.xlsx")
    format_named(name).write(questionnaire_of(policy), path)
    again, left_out = drafted(path)
    assert not left_out
    kept = {"type", "label", "labels", "help", "values", "value_labels", "bounds", "at_most", "asked_if", "missing"}
    for feature_name, feature in policy.features.items():
        read = again.features[feature_name].model_dump(mode="json", include=kept)
        assert read == feature.model_dump(mode="json", include=kept)


@pytest.mark.parametrize("example", XLSFORMS, ids=lambda path: path.name)
def test_the_examples_are_xlsforms(example: Path, tmp_path: Path) -> None:
    from pyxform.errors import PyXFormError
    from pyxform.xls2xform import convert

    path = form_file(example, tmp_path)
    if example.name.startswith("education"):  # which has mistakes on purpose
        with pytest.raises(PyXFormError):
            convert(path)
    else:
        assert "<h:html" in convert(path).xform


def test_what_is_written_is_an_xlsform(tmp_path: Path) -> None:
    from pyxform.xls2xform import convert

    path = tmp_path / "form.xlsx"
    format_named("xlsform").write(questionnaire_of(Policy(**POLICY)), path)
    form = convert(path).xform
    assert "count-selected(.) &lt;= 2" in form
    assert "relevant=" in form


@pytest.mark.parametrize(("example", "keys"), [
    ("demographics.redcap.csv", {"dob": ("1900-01-01", "FILL", "days")}),
    ("numbers.surveyjs.json", {"born": ("FILL", "FILL", "days")}),
    ("nutrition.xlsform.md", {"birthday": ("FILL", "FILL", "days")}),
    ("ticks.limesurvey.txt", {"since": ("FILL", "FILL", "days")}),
])  # fmt: skip
def test_dates_are_carried_over(example: str, keys: dict[str, tuple[str, ...]], tmp_path: Path) -> None:
    path = form_file(next(path for path in EXAMPLES if path.name == example), tmp_path)
    questionnaire = read_form(path)
    assert questionnaire is not None
    declared = yaml.safe_load(policy_text(questionnaire))["features"]
    dates = {name: own for name, own in declared.items() if own["type"] == "date"}
    assert {name: (str(own["from"]), own["to"], own["unit"]) for name, own in dates.items()} == keys


@pytest.mark.parametrize("name", ["surveyjs", "xlsform"])
def test_dates_survive_a_round_trip(name: str, tmp_path: Path) -> None:
    """But for years, which SurveyJS asks for as numbers."""
    units = {"days": "2020-02-29", "months": "2020-02", "years": "2020"}
    ends = {"days": "1940-05-31", "months": "1940-05", "years": "1940"}
    features = {unit: {"type": "date", "from": ends[unit], "to": units[unit], "unit": unit} for unit in units}
    policy = Policy(epsilon=1, features=features)
    path = tmp_path / ("form.json" if name == "surveyjs" else "form.xlsx")
    format_named(name).write(questionnaire_of(policy), path)
    again, left_out = drafted(path)
    assert not left_out
    for unit in ("days", "months") if name == "surveyjs" else units:
        assert again.features[unit].definition == policy.features[unit].definition
    if name == "surveyjs":
        assert again.features["years"].span == (1940, 2020)


def test_the_command_lists_what_it_leaves_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form, policy = form_file(HOUSEHOLD, tmp_path), tmp_path / "policy.yaml"
    assert main(["policy", str(form), "-o", str(policy), "--json"]) == 0
    printed = capsys.readouterr()
    assert "village" in {part["name"] for part in json.loads(printed.out)["left_out"]}
    assert "left out: village: free text" in printed.err
    assert "village: free text" in policy.read_text()


def test_the_command_writes_a_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy, form = tmp_path / "policy.yaml", tmp_path / "form.json"
    policy.write_text(yaml.safe_dump(POLICY, sort_keys=False))
    assert main(["form", str(policy), "--to", "surveyjs", "-o", str(form)]) == 0
    assert "how it is protected" in capsys.readouterr().err
    assert [element["name"] for element in json.loads(form.read_text())["elements"]] == list(POLICY["features"])  # type: ignore[call-overload]
    assert main(["form", str(policy), "--to", "xlsform", "-o", str(form)]) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [("form.xlsx", b"not a workbook"), ("form.json", b"{}"), ("form.json", b"["), ("form.json", b"[]")],
)
def test_other_files_are_refused(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="accepted: "):
        read_form(tmp_path / name)
