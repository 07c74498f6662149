"""The policy: what it reads, what it fills in, and that every mistake is told, all at once, in plain words."""

from __future__ import annotations

import copy
import doctest
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import bcdp.policy.document
from bcdp.errors import InputError
from bcdp.policy import (
    OneOfBoth,
    OneQ,
    Pairs,
    PairsFile,
    Pilot,
    Policy,
    Prior,
    QPerFeature,
)
from bcdp.statistics.frequency import Frequency
from bcdp.statistics.mean import Mean
from bcdp.statistics.regression.statistic import Regression
from support.policy_documents import documents

EXAMPLE: dict[str, Any] = {
    "epsilon": 2.0,
    "features": {
        "smoker": {"type": "binary", "delta": 0.2, "values": ["no", "yes"]},
        "income": {"type": "numeric", "bounds": [0, 200000], "delta": 0.2, "missing": 0},
        "region": {"type": "categorical", "values": ["north", "south", "east", "west"]},
    },
    "correlation": 0.05,
    "tasks": [
        {"mean": ["smoker", "income"]},
        {"frequency": ["region"], "weight": 2},
        {"regression": {"target": "income", "features": ["smoker"]}},
    ],
    "mechanism": "survey",
}
ABSENT = object()
LINE = re.compile(r"(?P<path>.+?): got .+; accepted: .+")


def changed(*changes: tuple[tuple[str | int, ...], Any]) -> dict[str, Any]:
    """The example with the values at some paths replaced, or removed if ABSENT."""
    document = copy.deepcopy(EXAMPLE)
    for path, value in changes:
        place: Any = document
        for key in path[:-1]:
            place = place[key]
        if value is ABSENT:
            del place[path[-1]]
        else:
            place[path[-1]] = value
    return document


def mistakes_of(document: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        Policy.parse(document)
    return str(caught.value).split("\n")


def paths_of(document: Any) -> list[str]:
    """The path of each mistake; every line has the house's form and none is the machine's."""
    return [checked_path(line) for line in mistakes_of(document)]


def checked_path(line: str) -> str:
    match = LINE.fullmatch(line)
    assert match is not None, line
    assert not re.search(r"pydantic|Input should|validation error|type=|\{accepted\}", line), line
    path = match["path"]
    if unknown := re.fullmatch(r".+: got an unknown key; accepted: (.*?)(; did you mean .*)?", line):
        assert path.rsplit(".", 1)[-1] not in unknown[1].split(", "), line
    return path


# --- what is read ---


def test_the_example_is_read() -> None:
    policy = Policy(**EXAMPLE)
    assert policy.epsilon == 2.0
    assert policy.features["region"].delta == 2.0, "delta defaults to epsilon"
    assert policy.features["smoker"].delta == 0.2
    assert policy.features["income"].bounds == (0.0, 200000.0)
    assert policy.features["income"].label == "income"
    assert isinstance(policy.correlation, OneQ)
    assert policy.correlation.of("income") == 0.05
    mean, frequency, regression = policy.tasks
    assert isinstance(mean, Mean)
    assert mean.features == ("smoker", "income")
    assert isinstance(frequency, Frequency)
    assert (frequency.features, frequency.weight) == (("region",), 2.0)
    assert isinstance(regression, Regression)
    assert regression.regression.intercept is True
    assert regression.regression.ridge is None


def test_a_regression_may_have_categorical_features_and_targets() -> None:
    (*_, task) = Policy(**changed(((*REGRESSION, "features"), ["smoker", "region"]))).tasks
    assert isinstance(task, Regression)
    assert task.regression.features == ("smoker", "region")
    policy = Policy(**changed(((*REGRESSION, "target"), "region")))
    (*_, task) = policy.tasks
    assert isinstance(task, Regression)
    values = policy.features["region"].categories
    assert [design[-1].name(policy) for design in task.regression.designs(policy)] == [f"region[{v}]" for v in values]


def test_a_product_of_features_is_no_column() -> None:
    (line,) = mistakes_of(changed(((*REGRESSION, "features"), ["smoker", ["smoker", "region"]])))
    assert (
        "got ['smoker', ['smoker', 'region']]; accepted: names; two that interact are a pair in `interactions`" in line
    )


def test_only_values_have_log_odds() -> None:
    (line,) = mistakes_of(changed(((*REGRESSION, "link"), "logit")))
    assert line.endswith("link: got 'logit'; accepted: null, because the target is a number")
    (line,) = mistakes_of(changed(((*REGRESSION, "link"), "probit")))
    assert line.endswith("link: got 'probit'; accepted: null or logit")
    for key, value in (("intercept", False), ("ridge", 0.5), ("radius", 1.0)):
        stated = {"target": "smoker", "features": ["income"], "link": "logit", key: value}
        (line,) = mistakes_of(changed((REGRESSION, stated)))
        assert line.endswith("accepted: null, or a regression with an intercept and without ridge and radius")


def test_a_task_of_another_kind_is_told_the_kinds() -> None:
    (line,) = mistakes_of(changed((("tasks", 0), {"median": ["income"]})))
    assert line.startswith(
        "tasks[0]: got {'median': ['income']}; accepted: {mean: [names], by: name}, {mean: [names]}, "
    )
    assert all(f"{{{kind}: " in line for kind in ("frequency", "table", "distribution", "regression"))


def test_what_is_no_policy_is_not_quoted(tmp_path: Path) -> None:
    """A file of records given by mistake stays unread in the error, and a plan is called one."""
    for text, told in (("name,age\ncanary,31\n", "'plain text'"), ("- canary\n", "'a list'")):
        with pytest.raises(InputError, match=f"policy: got {told}; accepted: a mapping") as caught:
            load(tmp_path, text)
        assert "canary" not in str(caught.value)
    assert mistakes_of({"bcdp": 1, "certificate": {}, "questions": []}) == [
        "policy: got 'a plan'; accepted: a policy, from which a plan is made"
    ]


def test_no_value_is_empty_because_an_empty_cell_is_missing() -> None:
    assert paths_of(changed(((*REGION, "values"), ["", "south"]))) == ["features.region.values"]


def test_the_docstring_examples_run() -> None:
    assert doctest.testmod(bcdp.policy.document).failed == 0
    assert doctest.testmod(bcdp.policy.document).attempted > 0


def test_left_out_tasks_are_all_means_and_frequencies_and_left_out_correlation_assumes_nothing() -> None:
    policy = Policy(**changed((("tasks",), ABSENT), (("correlation",), ABSENT), (("mechanism",), ABSENT)))
    assert [(task.kind, task.features) for task in policy.tasks if not isinstance(task, Regression)] == [  # type: ignore[attr-defined]
        ("mean", ("smoker", "income")),
        ("frequency", ("region",)),
    ]
    assert isinstance(policy.correlation, OneQ)
    assert policy.correlation.of("smoker") == 1.0
    assert policy.mechanism == "survey"


def test_a_policy_is_frozen() -> None:
    policy = Policy(**EXAMPLE)
    for record, field in ((policy, "epsilon"), (policy.features["income"], "delta"), (policy.tasks[0], "weight")):
        with pytest.raises(ValueError, match="frozen"):
            setattr(record, field, 1.0)


@pytest.mark.parametrize(
    ("correlation", "kind", "q"),
    [
        (0, OneQ, {"smoker": 0.0, "income": 0.0}),
        (0.3, OneQ, {"smoker": 0.3, "income": 0.3}),
        ({"smoker": 0.1, "default": 0.05}, QPerFeature, {"smoker": 0.1, "income": 0.05}),
        ({"smoker": 0.1}, QPerFeature, {"smoker": 0.1, "income": 1.0}),
        ({}, QPerFeature, {"smoker": 1.0}),
        ({"q": 0.2}, OneOfBoth, {"smoker": 0.2}),
        ({"odds": 2}, OneOfBoth, {"smoker": 1.0}),
        ({"q": 0.2, "odds": 1}, OneOfBoth, {"income": 0.2}),
        ({"smoker": {"q": 0.2, "odds": 3}, "default": {"odds": 2}}, QPerFeature, {"smoker": 0.2, "income": 1.0}),
        ({"smoker": 0.1, "default": {"q": 0.2, "odds": 2}}, QPerFeature, {"smoker": 0.1, "income": 0.2}),
        ({"pairs": {"smoker": {"income": 0.2}}}, Pairs, {}),
        ({"pairs": {"smoker": {"income": {"q": 0.2, "odds": 2}}, "income": {"smoker": {"odds": 3}}}}, Pairs, {}),
        ({"pairs": "matrix.csv"}, PairsFile, {}),
        ({"prior": "table.csv"}, Prior, {}),
        ({"pilot": "sample.parquet"}, Pilot, {}),
        ({"pilot": "sample.parquet", "confidence": 0.9}, Pilot, {}),
    ],
)
def test_every_form_of_correlation(correlation: Any, kind: type, q: dict[str, float]) -> None:
    policy = Policy(**changed((("correlation",), correlation)))
    assert type(policy.correlation) is kind
    assert {name: policy.correlation.of(name) for name in q} == q
    assert Policy(**policy.to_dict()) == policy


@pytest.mark.parametrize(
    ("correlation", "odds"),
    [
        (0.3, {"smoker": math.inf}),
        ({"odds": 2}, {"smoker": 2.0, "income": 2.0}),
        ({"q": 0.2}, {"smoker": math.inf}),
        ({"smoker": {"q": 0.2, "odds": 3}, "default": {"odds": 2}}, {"smoker": 3.0, "income": 2.0}),
        ({"smoker": 0.1, "default": {"q": 0.2, "odds": 2}}, {"smoker": math.inf, "income": 2.0}),
    ],
)
def test_odds_that_are_not_stated_have_no_limit(correlation: Any, odds: dict[str, float]) -> None:
    stated = Policy(**changed((("correlation",), correlation))).correlation
    assert {name: stated.odds_of(name) for name in odds} == odds


def test_a_policy_without_odds_is_written_as_ever() -> None:
    for correlation in (0.3, {"smoker": 0.1, "default": 0.05}):
        assert Policy(**changed((("correlation",), correlation))).to_dict()["correlation"] == correlation


def test_a_feature_may_be_called_like_the_words_for_an_assumption() -> None:
    features = {name: {"type": "binary"} for name in ("q", "odds", "prior")}
    for correlation in ({"odds": {"odds": 2}}, {"q": {"q": 0.2}}, {"q": 0.2, "prior": 0.1}, {"prior": {"odds": 3}}):
        policy = Policy(epsilon=1, features=features, correlation=correlation)
        assert policy == Policy(**policy.to_dict())
        assert type(policy.correlation) is QPerFeature
    for correlation in ({"odds": 2}, {"q": 0.2}):  # of the feature, or of all?
        with pytest.raises(InputError, match=r"accepted: \{(q|odds): \{\1: ..\}\} for the feature '\1'"):
            Policy(epsilon=1, features=features, correlation=correlation)


def test_a_feature_may_be_called_like_a_source_of_correlation() -> None:
    features = {"pilot": {"type": "binary"}, "prior": {"type": "binary"}}
    policy = Policy(epsilon=1, features=features, correlation={"pilot": 0.1, "default": 0.2})
    assert (policy.correlation.of("pilot"), policy.correlation.of("prior")) == (0.1, 0.2)


@pytest.mark.parametrize(
    ("feature", "rule"),
    [
        ({"type": "numeric", "bounds": [-1, 4]}, None),
        ({"type": "numeric", "bounds": [-1, 4], "missing": 4}, "missing counted as 4"),
        ({"type": "numeric", "bounds": [-1, 1e6], "missing": 123456.75}, "missing counted as 123456.75"),
        ({"type": "binary"}, None),
        ({"type": "binary", "missing": 0}, "missing counted as 0"),
        ({"type": "binary", "missing": True}, "missing counted as True"),
        ({"type": "binary", "values": ["no", "yes"]}, None),
        ({"type": "binary", "values": ["no", "yes"], "missing": "yes"}, "missing counted as 'yes'"),
        ({"type": "categorical", "values": [3, 1, "x.0", False], "missing": "x.0"}, "missing counted as 'x.0'"),
        ({"type": "categorical", "values": [3, 1, "x.0", False], "missing": False}, "missing counted as False"),
    ],
)
def test_the_rule_for_missing_values_in_words(feature: dict[str, Any], rule: str | None) -> None:
    assert Policy(epsilon=1, features={"a": feature}).features["a"].rule == rule


# --- mistakes ---

INCOME, SMOKER, REGION = ("features", "income"), ("features", "smoker"), ("features", "region")
REGRESSION = ("tasks", 2, "regression")
NOT_NUMBERS = ("2", True, None, [1], {"a": 1}, math.nan, math.inf, -math.inf, 10**400)


def replaced(path: tuple[str | int, ...], *values: Any) -> list[tuple[tuple[str | int, ...], Any, str]]:
    """Cases in which a value is wrong and the mistake is told at its own path."""
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
    return [(path, value, where) for value in values]


ONE_MISTAKE = [
    *replaced(("epsilon",), *NOT_NUMBERS, ABSENT, 0, -1, 20.1, "FILL"),
    *replaced(("features",), ABSENT, None, [], "income", 3),
    *replaced(("mechanism",), None, "surveys", 3, []),
    *replaced(INCOME, None, [], "numeric", 3),
    *replaced((*INCOME, "type"), ABSENT, None, "number", "Numeric", 3, [], {}, "FILL"),
    *replaced((*INCOME, "delta"), *NOT_NUMBERS, -0.1, "FILL"),
    *replaced((*INCOME, "bounds"), ABSENT, None, 5, "0-5", [], [1], [1, 2, 3], [5, 1], [1, 1], [0, True], [0, "1"]),
    *replaced((*INCOME, "bounds"), [0, math.nan], [-math.inf, 0], [-1.7e308, 1.7e308], [0, 5e-324], ["FILL", "FILL"]),
    *replaced((*INCOME, "missing"), "0", True, math.nan, -1, 200000.5, [0]),
    *replaced((*INCOME, "label"), None, 3, ["x"], "\ud800"),
    *replaced((*INCOME, "help"), 3, {}),
    *replaced((*INCOME, "values"), [1, 2]),
    *replaced((*INCOME, "colour"), "red"),
    *replaced((*SMOKER, "values"), [], ["a"], ["a", "b", "c"], ["a", "a"], [1, True], [1, "1"], [0.5, 1], "no", "FILL"),
    *replaced((*SMOKER, "values"), [None, "a"], [["a"], "b"], [2**53, 0], ["\ud800", "a"], {"a": 1, "b": 2}, 2),
    *replaced((*SMOKER, "missing"), "maybe", True, 0, 0.5, ["no"]),
    *replaced((*SMOKER, "bounds"), [0, 1]),
    *replaced(
        (*REGION, "values"), ABSENT, None, [], "north", ["a", "a"], [1.5], [None], list(range(100_001)), ["FILL"]
    ),
    *replaced((*REGION, "missing"), "up", 1, 0.5),
    *replaced((*REGION, "bounds"), [0, 1]),
    *replaced(("correlation",), "0.1", True, None, [0.1], math.nan, -0.1, 1.1),
    *replaced(("tasks",), None, [], {}, "mean", 3),
    *replaced(("tasks", 0), None, 3, "mean", [], {}, {"weight": 2}),
    *replaced(("tasks", 0, "mean"), None, [], "smoker", 3, ["smoker", "smoker"], {"smoker": 1}),
    *replaced(("tasks", 0, "mean", 0), "smokr", "region", 3, None, ["smoker"]),
    *replaced(("tasks", 0, "weight"), *NOT_NUMBERS, 0, -1),
    *replaced(("tasks", 0, "frequency"), ["region"]),
    *replaced(("tasks", 1, "frequency", 0), "income", "regions"),
    *replaced(REGRESSION, None, 3, [], "income"),
    *replaced((*REGRESSION, "target"), ABSENT, None, "incom", ["income"]),
    *replaced((*REGRESSION, "features"), ABSENT, None, [], "smoker", ["income"], ["smoker", "smoker"]),
    *replaced((*REGRESSION, "features", 0), "nobody", 5),
    *replaced((*REGRESSION, "intercept"), None, 1, "true"),
    *replaced((*REGRESSION, "ridge"), "0", -1, math.nan, True),
    *replaced((*REGRESSION, "radius"), "0", 0, -1, math.inf, True),
    *replaced((*REGRESSION, "link"), "probit", "logit", 1, True),
    *replaced((*REGRESSION, "lambda"), 1),
    *replaced(("epsilonn",), 1),
    (("features", ""), {"type": "binary"}, "features.''"),
    (("features", "x" * 201), {"type": "binary"}, "features." + "x" * 201),
    (("features", 7), {"type": "binary"}, "features[7]"),
    (("features", "a\nb"), 3, "features.'a\\nb'"),
    (("correlation",), {"smokr": 0.1}, "correlation.smokr"),
    (("correlation",), {"smoker": "0.1"}, "correlation.smoker"),
    (("correlation",), {"default": 2}, "correlation.default"),
    (("correlation",), {"default": {}}, "correlation.default"),
    (("correlation",), {"smoker": {"odds": 0.9}}, "correlation.smoker.odds"),
    (("correlation",), {"smoker": {"odds": 2, "q": 1.1}}, "correlation.smoker.q"),
    (("correlation",), {"smoker": {"colour": 2, "odds": 2}}, "correlation.smoker.colour"),
    *((("correlation",), {"odds": odds}, "correlation.odds") for odds in (0.99, 0, -2, math.inf, math.nan, True, "2")),
    (("correlation",), {"odds": None}, "correlation"),
    (("correlation",), {"pairs": []}, "correlation.pairs"),
    (("correlation",), {"pairs": ""}, "correlation.pairs"),
    (("correlation",), {"pairs": {"nobody": {"smoker": 0.1}}}, "correlation.pairs.nobody"),
    (("correlation",), {"pairs": {"smoker": {"nobody": 0.1}}}, "correlation.pairs.smoker.nobody"),
    (("correlation",), {"pairs": {"smoker": {"income": 1.1}}}, "correlation.pairs.smoker.income"),
    (("correlation",), {"pairs": {"smoker": 0.1}}, "correlation.pairs.smoker"),
    (("correlation",), {"pairs": {"smoker": {"income": {"odds": 0.5}}}}, "correlation.pairs.smoker.income.odds"),
    (("correlation",), {"pairs": {"smoker": {"income": {"chance": 2}}}}, "correlation.pairs.smoker.income.chance"),
    (("correlation",), {"pairs": {"smoker": {"income": {}}}}, "correlation.pairs.smoker.income"),
    (("correlation",), {"pairs": {"smoker": {"income": "odds 2"}}}, "correlation.pairs.smoker.income"),
    (("correlation",), {"pairs": "m.csv", "default": 1}, "correlation.default"),
    (("correlation",), {"prior": None}, "correlation.prior"),
    (("correlation",), {"prior": "p.csv", "confidence": 0.9}, "correlation.confidence"),
    (("correlation",), {"pilot": []}, "correlation.pilot"),
    (("correlation",), {"pilot": "s.csv", "confidence": 1}, "correlation.confidence"),
    (("correlation",), {"pilot": "s.csv", "confidence": 0}, "correlation.confidence"),
]


@pytest.mark.parametrize(("path", "value", "expected"), ONE_MISTAKE)
def test_each_mistake_is_told_once_at_its_path(path: tuple[str | int, ...], value: Any, expected: str) -> None:
    found = paths_of(changed((path, value)))
    if path == ("features",) and not isinstance(value, dict):  # nothing is then known about the names in the tasks
        assert found == [expected]
    elif path == INCOME or path == (*INCOME, "type") or path == (*REGRESSION, "target"):
        assert expected in found
    else:
        assert found == [expected]


def test_the_sentence_names_the_value_and_what_is_accepted() -> None:
    (line,) = mistakes_of(changed(((*INCOME, "bounds"), [5, 1])) | {"tasks": [{"mean": ["income"]}]})[:1]
    assert line == "features.income.bounds: got [5, 1]; accepted: two finite numbers, low < high"


@pytest.mark.parametrize(
    ("path", "value", "suggested"),
    [
        ((*INCOME, "bound"), [0, 1], "bounds"),
        ((*INCOME, "mising"), 0, "missing"),
        (("epsilom",), 1, "epsilon"),
        (("tasks", 0, "wieght"), 1, "weight"),
        (("tasks", 0), {"means": ["income"]}, "mean"),
        (("tasks", 0, "mean", 1), "incme", "income"),
        ((*REGRESSION, "intersept"), True, "intercept"),
        (("correlation",), {"smokers": 0.1}, "smoker"),
        (("correlation",), {"smoker": {"ods": 2}}, "odds"),
        (("correlation",), {"pilot": "s.csv", "confidense": 0.9}, "confidence"),
    ],
)
def test_the_nearest_word_is_suggested(path: tuple[str | int, ...], value: Any, suggested: str) -> None:
    assert any(line.endswith(f"; did you mean {suggested!r}?") for line in mistakes_of(changed((path, value))))


def test_all_mistakes_are_told_at_once() -> None:
    document = changed(
        (("epsilon",), "2"),
        ((*SMOKER, "type"), "binry"),
        ((*SMOKER, "delta"), -1),
        ((*INCOME, "bounds"), [5, 1]),
        ((*INCOME, "label"), 3),
        ((*REGION, "missing"), "up"),
        ((*REGION, "colour"), "red"),
        (("correlation",), {"nobody": 0.1, "smoker": 7}),
        (("tasks", 0, "mean"), ["region", "incme"]),
        ((*REGRESSION, "ridge"), -1),
        (("mechanism",), "magic"),
        (("extra",), 1),
    )
    assert sorted(paths_of(document)) == sorted(
        [
            "epsilon",
            "features.smoker.type",
            "features.smoker.delta",
            "features.income.bounds",
            "features.income.label",
            "features.region.missing",
            "features.region.colour",
            "correlation.nobody",
            "correlation.smoker",
            "tasks[0].mean[0]",
            "tasks[0].mean[1]",
            "tasks[2].regression.ridge",
            "mechanism",
            "extra",
        ]
    )


@pytest.mark.parametrize("document", [None, [], "policy", 3, [EXAMPLE]])
def test_what_is_not_a_mapping_is_refused(document: Any) -> None:
    assert paths_of(document) == ["policy"]


def test_keys_that_are_not_text_are_refused() -> None:
    assert paths_of({**EXAMPLE, 3: 1, None: 2}) == ["3", "None"]
    assert paths_of({**EXAMPLE, "self": 1}) == ["self"]
    assert paths_of(changed((("tasks", 0, "\ud800"), 1))) == ["tasks[0].'\\ud800'"]


# --- YAML ---

HEAD = "epsilon: 1\nfeatures:\n  a: {type: binary}\n"


def load(folder: Path, text: str) -> Policy:
    path = folder / "policy.yaml"
    path.write_text(text, "utf-8")
    return Policy.load(path)


def test_yaml_keeps_the_words_that_people_write(tmp_path: Path) -> None:
    words = "no, yes, on, off, y, N, 01234, 1:30, 2024-01-01, 0x1F, 1_000, 'true', \"7\", nan, =, <<"
    texts = ("no", "yes", "on", "off", "y", "N", "01234", "1:30", "2024-01-01", "0x1F", "1_000", "true", "7", "nan")
    text = f"epsilon: 1e0\nfeatures:\n  no: {{type: categorical, values: [{words}, false, -3, +4]}}\n"
    feature = load(tmp_path, "\ufeff" + text).features["no"]
    assert feature.values == (*texts, "=", "<<", False, -3, 4)
    assert [type(value) for value in feature.values[-3:]] == [bool, int, int]


def test_numbers_in_yaml(tmp_path: Path) -> None:
    text = "epsilon: .5\nfeatures:\n  a: {type: numeric, bounds: [-1e5, +2.5E+3], missing: -0}\n"
    policy = load(tmp_path, text)
    assert (policy.epsilon, policy.features["a"].bounds) == (0.5, (-1e5, 2500.0))


@pytest.mark.parametrize("form", ["{{prior: {}}}", "{{pilot: {}}}", "{{pairs: {}}}"])
def test_files_are_looked_for_beside_the_policy(tmp_path: Path, form: str) -> None:
    def named(policy: Policy) -> Path:
        (path,) = [value for value in policy.correlation.__dict__.values() if isinstance(value, Path)]
        return path

    assert named(load(tmp_path, HEAD + f"correlation: {form.format('data/table.csv')}")) == tmp_path / "data/table.csv"
    assert named(load(tmp_path, HEAD + f"correlation: {form.format('/data/table.csv')}")) == Path("/data/table.csv")


@pytest.mark.parametrize(
    ("text", "expected", "told"),
    [
        ("", ["policy"], "empty"),
        ("# nothing but a comment\n", ["policy"], "empty"),
        ("- 1\n", ["policy"], "a mapping"),
        ("a: [1,\n", ["policy"], "line 2"),
        (HEAD + "a: b: c\n", ["policy"], "line 4"),
        (HEAD + "\tb: c\n", ["policy"], "line 4"),
        (HEAD + "b: \x01\n", ["policy"], "line 4"),
        (HEAD + "---\nb: 1\n", ["policy"], "line 4"),
        (HEAD + "b: &x 1\nc: *x\n", ["policy"], "line 5"),
        ("[" * 5000, ["policy"], "inside each other"),
        (HEAD + "? [a, b]\n: 1\n", ["policy"], "line 4"),
        (HEAD + "epsilon: 2\nfeatures: {}\n", ["epsilon", "features"], "line 4"),
        (HEAD + "  a: {type: binary}\n", ["features.a"], "line 4"),
        (HEAD + "  b: {type: binary, type: numeric, delta: -1}\n", ["features.b.type", "features.b.delta"], "line 4"),
        (HEAD + "correlation: !!int abc\n", ["correlation", "correlation"], "line 4"),
        (HEAD + "correlation: !!python/name:os.system x\n", ["correlation", "correlation"], "line 4"),
        (HEAD + f"correlation: {'9' * 5000}\n", ["correlation", "correlation"], "line 4"),
        (HEAD + "  1: {type: binary}\n  null: {type: binary}\n", ["features[1]", "features.None"], "text"),
    ],
)
def test_mistakes_in_the_yaml_itself(tmp_path: Path, text: str, expected: list[str], told: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    assert [checked_path(line) for line in str(caught.value).split("\n")] == expected
    assert told in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "nowhere.yaml", tmp_path, tmp_path / "bytes.yaml"):
        with pytest.raises(InputError, match=r"cannot be read \(.*\); accepted: a YAML file with a policy"):
            Policy.load(path)


# --- any policy ---


@settings(max_examples=150, deadline=None, derandomize=True)
@given(document=documents())
def test_any_policy_survives_the_way_to_data_and_text_and_back(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]
) -> None:
    policy = Policy(**document)
    plain = json.loads(json.dumps(policy.to_dict()))
    assert Policy(**plain) == policy
    assert Policy(**plain).to_dict() == plain
    folder = tmp_path_factory.mktemp("policy")
    again = load(folder, policy.to_yaml())
    paths = {source: str(folder / path) for source, path in _paths(plain.get("correlation"))}
    assert again.to_dict() == plain | {
        "correlation": {**plain["correlation"], **paths} if paths else plain["correlation"]
    }
    assert yaml.safe_load(policy.to_yaml()) == plain, "other readers of YAML understand it alike"


def _paths(correlation: Any) -> list[tuple[str, str]]:
    if not isinstance(correlation, dict):
        return []
    return [(key, value) for key, value in correlation.items() if isinstance(value, str) and key != "model"]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(document=documents())
def test_defaults_and_missing_values_are_always_usable(document: dict[str, Any]) -> None:
    policy = Policy(**document)
    assert policy.tasks
    for name, feature in policy.features.items():
        given_feature = document["features"][name]
        assert feature.delta == given_feature.get("delta", document["epsilon"])
        assert feature.label == given_feature.get("label", name)
        if feature.missing is None:
            assert "missing" not in given_feature
        elif feature.type == "numeric":
            assert feature.bounds[0] <= feature.missing <= feature.bounds[1]
        else:
            assert feature.missing in (feature.values or (0, 1))


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["FILL", "\ud800"])
    | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3),
    max_leaves=4,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a document with each of its keys or positions."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@settings(max_examples=400, deadline=None, derandomize=True)
@given(document=documents(), data=st.data())
def test_a_damaged_policy_is_a_policy_or_a_list_of_mistakes(document: dict[str, Any], data: st.DataObject) -> None:
    damaged = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        if not (available := places(damaged)):
            break
        container, key = available[data.draw(st.integers(0, len(available) - 1))]
        act = data.draw(st.sampled_from(["replace", "remove", "add"]))
        if act == "replace":
            container[key] = data.draw(JUNK)
        elif act == "remove":
            del container[key]
        elif isinstance(container, list):
            container.append(data.draw(JUNK))
        else:
            container[data.draw(st.text(max_size=8) | st.integers() | st.just("\ud800") | st.none())] = data.draw(JUNK)
    try:
        policy = Policy.parse(damaged)
    except InputError as error:
        for line in str(error).split("\n"):
            checked_path(line)
    else:
        assert Policy(**json.loads(json.dumps(policy.to_dict(), allow_nan=False))) == policy
