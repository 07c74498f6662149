"""Files of SPSS, Stata and SAS: labels become values, what is declared missing is missing, numbers are numbers."""

from __future__ import annotations

import gzip
import math
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from typer.testing import CliRunner

from bcdp import InputError, Policy
from bcdp.cli.app import program
from bcdp.files import read_batches, table_in_memory
from bcdp.files import statistical_packages as survey
from bcdp.records.encoding import arrow_types, encode
from bcdp.records.policy_draft import policy_skeleton, skeleton_of

pyreadstat = pytest.importorskip("pyreadstat")
pandas = pytest.importorskip("pandas")

SEX = {1: "Männlich", 2: "Weiblich", 3: "Divers "}
SMOKER = {0: "no", 1: "yes"}
AGES = [34.0, 18.0, None, 71.5, 44.0, 99.0]
RECORDS = pandas.DataFrame({
    "sex": [1.0, 2.0, 2.0, 3.0, 9.0, 1.0], "smoker": [0.0, 1.0, None, 1.0, 0.0, 0.0], "age": AGES,
    "town": ["Bonn", "Köln", "", "Bonn", "Köln", "Bonn"],
})  # fmt: skip
WORDS = ["Männlich", "Weiblich", "Weiblich", "Divers", None, "Männlich"]
POLICY = """
epsilon: 2
features:
  sex: {type: categorical, values: [Männlich, Weiblich, Divers], missing: own}
  smoker: {type: binary, values: ["no", "yes"], missing: "no"}
  age: {type: numeric, bounds: [18, 90], missing: own}
"""
TYPES = {"sex": pa.string(), "smoker": pa.string(), "age": pa.float64()}


def written(folder: Path, kind: str) -> Path:
    """The records as a program of this kind would keep them; 9 and 99 are declared missing where that can be."""
    path, labels = folder / f"people.{kind}", {"sex": SEX, "smoker": SMOKER}
    told = {"sex": "Your sex", "age": "Age in years"}
    if kind in ("sav", "zsav"):
        missing = {"sex": [9], "age": [{"lo": 98, "hi": 99}]}
        measures = {"sex": "nominal", "smoker": "nominal", "age": "scale", "town": "nominal"}
        pyreadstat.write_sav(
            RECORDS, path, variable_value_labels={**labels, "sex": {**SEX, 9: "refused"}, "age": {99: "refused"}},
            missing_ranges=missing, variable_measure=measures, column_labels=told, compress=kind == "zsav",
        )  # fmt: skip
    elif kind == "dta":
        records = RECORDS.assign(sex=[1, 2, 2, 3, "r", 1], age=[*AGES[:-1], None])
        pyreadstat.write_dta(records, path, variable_value_labels={**labels, "sex": {**SEX, "r": "refused"}},
                             missing_user_values={"sex": ["r"]}, column_labels=told)  # fmt: skip
    else:
        records = RECORDS.assign(sex=[1, 2, 2, 3, None, 1], age=[*AGES[:-1], None])
        if kind == "por":
            towns = ["Bonn", "Ulm", "", "Bonn", "Ulm", "Bonn"]
            pyreadstat.write_por(records.assign(town=towns), path, column_labels=[*map(told.get, records)])
        else:
            pyreadstat.write_xport(records, path, table_name="people", column_labels=told)
    return path


def read(path: Path, policy: Policy | None = None) -> dict[str, Any]:
    types = {} if policy is None else arrow_types(policy)
    return dict(pa.Table.from_batches(list(read_batches(path, types))).to_pydict())


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta"])
def test_labels_are_values_and_declared_missing_values_are_missing(tmp_path: Path, kind: str) -> None:
    found = read(written(tmp_path, kind))
    assert found["sex"] == WORDS
    assert found["smoker"] == ["no", "yes", None, "yes", "no", "no"]
    assert found["age"] == [34.0, 18.0, None, 71.5, 44.0, None]
    assert found["town"] == ["Bonn", "Köln", None, "Bonn", "Köln", "Bonn"]


@pytest.mark.parametrize("kind", ["xpt", "por"])
def test_files_without_labels(tmp_path: Path, kind: str) -> None:
    """Transport files of SAS have none, and portable files of SPSS need none."""
    path = written(tmp_path, kind)
    found = {name.lower(): column for name, column in read(path).items()}
    assert found["sex"] == [1.0, 2.0, 2.0, 3.0, None, 1.0]
    assert found["age"] == [34.0, 18.0, None, 71.5, 44.0, None]
    assert found["town"][:2] == ["Bonn", "Ulm" if kind == "por" else "Köln"]
    assert [part.num_rows for part in survey.survey_batches(path, 4, {}, None)] == [4, 2]
    assert {field.metadata[survey.LABEL].decode() for field in survey.survey_schema(path) if field.metadata} == {
        "Your sex", "Age in years"
    }  # fmt: skip


def test_a_portable_file_has_labels() -> None:
    """Written by PSPP; which labels are of values that are declared missing, such a file does not tell its reader."""
    path = Path(__file__).parent / "people.por"
    found = read(path)
    assert found["SEX"] == ["male", "female", "female", "other", None, "male"]
    assert found["SMOKER"] == ["no", "yes", None, "yes", "no", "no"]
    policy = Policy(epsilon=1, features={"AGE": {"type": "numeric", "bounds": [18, 90]}})
    assert read(path, policy)["AGE"] == [34.0, 18.0, None, 71.5, 44.0, None]
    assert "label: Your sex" in policy_skeleton(path)


def test_a_file_of_sas(tmp_path: Path) -> None:
    """Fisher's irises as the R package haven (MIT licence) has them among its examples."""
    path = tmp_path / "iris.sas7bdat"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "iris.sas7bdat.gz").read_bytes()))
    found = read(path)
    assert list(found) == ["Sepal_Length", "Sepal_Width", "Petal_Length", "Petal_Width", "Species"]
    assert found["Sepal_Length"][:3] == [5.1, 4.9, 4.7]
    assert found["Species"] == [name for name in ("setosa", "versic", "virgin") for _ in range(50)]  # so the file
    assert math.isclose(sum(found["Petal_Width"]), 179.9)
    assert [part.num_rows for part in survey.survey_batches(path, 100, {}, ["Species"])] == [100, 50]


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_a_policy_says_whether_a_column_has_numbers(tmp_path: Path, kind: str) -> None:
    """A number with a label for one value is a number; codes are read by their words."""
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    policy = Policy.load(tmp_path / "policy.yaml")
    table = pa.Table.from_batches(list(read_batches(written(tmp_path, kind), arrow_types(policy))))
    codes = encode(policy, table)
    assert codes["sex"].tolist() == [0, 1, 1, 2, 3, 0]
    assert codes["smoker"].tolist() == [0, 1, 0, 1, 0, 0]
    assert [math.isclose(code, 2.0) for code in codes["age"]] == [False, False, True, False, False, True]
    numbers = read(written(tmp_path, kind), Policy(epsilon=1, features={"sex": {"type": "numeric", "bounds": [1, 3]}}))
    assert numbers["sex"] == [1.0, 2.0, 2.0, 3.0, None, 1.0]


def test_a_draft_of_a_policy_has_the_questionnaire_s_words(tmp_path: Path) -> None:
    text = policy_skeleton(written(tmp_path, "sav"))
    assert "label: Your sex" in text
    assert "values: [Männlich, Weiblich, Divers]" in text
    smoker = yaml.safe_load(text)["features"]["smoker"]
    assert (smoker["type"], smoker["values"]) == ("binary", ["no", "yes"])
    assert "refused" not in text.split("features:")[1].replace("these are refused", "")
    assert "bounds: [FILL, FILL]" in text
    assert "34" not in text
    assert "Köln" not in text


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta", "xpt"])
def test_what_is_at_hand_is_read_as_the_file_is(tmp_path: Path, kind: str) -> None:
    """So does the studio: by the policy's types, by no types, and for a draft."""
    path = written(tmp_path, kind)
    content = path.read_bytes()
    path.rename(tmp_path / "elsewhere")
    held = [table_in_memory(path.name, content, types) for types in (TYPES, {}, None)]
    (tmp_path / "elsewhere").rename(path)
    for table, types in zip(held[:2], (TYPES, {}), strict=True):
        assert table.equals(pa.Table.from_batches(list(read_batches(path, types))))
    text, missing, people = skeleton_of(held[2])
    assert (text, people) == (policy_skeleton(path), 6)
    assert sum(missing.values()) >= 4


def with_sets(path: Path, *sets: str) -> Path:
    """The file with multiple-response sets, which SPSS keeps in a record before the end of the dictionary."""
    content, text = path.read_bytes(), "".join(f"{line}\n" for line in sets).encode()
    end = content.index(struct.pack("<ii", 999, 0))
    path.write_bytes(content[:end] + struct.pack("<iiii", 7, 7, 1, len(text)) + text + content[end:])
    return path


@pytest.fixture
def ticks(tmp_path: Path) -> Path:
    """People who ticked media and towns: the first as yes/no columns, the others as two columns with a code."""
    columns = {
        "tv": [1.0, 0.0, None, 0.0], "web": [1.0, 2.0, None, None],  # 2 is no: only 1 is counted
        "town1": [1.0, 3.0, None, 2.0], "town2": [3.0, None, None, 2.0], "age": [30.0, 40.0, 50.0, 60.0],
    }  # fmt: skip
    towns = {1: "Bonn", 2: "Ulm", 3: "Mainz"}
    pyreadstat.write_sav(
        pandas.DataFrame(columns), tmp_path / "ticks.sav", column_labels=["Television", "The web", "", "", "Age"],
        variable_value_labels={"tv": {0: "no", 1: "yes"}, "town1": towns, "town2": towns},
    )  # fmt: skip
    media, lived = "Media you use", "Towns you lived in"
    return with_sets(
        tmp_path / "ticks.sav", f"$media=D1 1 {len(media)} {media} tv web", f"$towns=C {len(lived)} {lived} town1 town2"
    )


def test_multiple_response_sets_are_lists_to_tick(ticks: Path) -> None:
    found = read(ticks)
    assert found["media"] == [["Television", "The web"], [], None, []]
    assert found["towns"] == [["Bonn", "Mainz"], ["Mainz"], None, ["Ulm"]]
    assert found["tv"] == ["yes", "no", None, "no"]  # its columns can be read as well
    parts = list(survey.survey_batches(ticks, 3, {}, ["towns"]))
    assert [part.num_rows for part in parts] == [3, 1]
    assert parts[0].schema.names == ["towns"]


def test_a_draft_has_the_sets_and_not_their_columns(ticks: Path) -> None:
    draft = yaml.safe_load(policy_skeleton(ticks))["features"]
    assert list(draft) == ["age", "media", "towns"]
    assert (draft["media"]["type"], draft["media"]["values"]) == ("multiple", ["Television", "The web"])
    assert (draft["towns"]["label"], draft["towns"]["values"]) == ("Towns you lived in", ["Bonn", "Ulm", "Mainz"])


def test_records_with_sets_are_encoded(ticks: Path) -> None:
    items = {"media": ["Television", "The web"], "towns": ["Bonn", "Ulm", "Mainz"]}
    lists = {name: {"type": "multiple", "values": values, "missing": "own"} for name, values in items.items()}
    policy = Policy(epsilon=1, features=lists)
    codes = encode(policy, pa.Table.from_batches(list(read_batches(ticks, arrow_types(policy)))))
    sets = policy.features["towns"].sets
    assert [sets[code] for code in codes["towns"][[0, 1, 3]]] == [(0, 2), (2,), (1,)]
    assert codes["media"].tolist() == [3, 0, 4, 0]


def test_commands_read_them(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    data = written(tmp_path, "sav")

    def run(*words: object) -> str:
        arguments = [str(word) for word in words]
        done = CliRunner().invoke(program(arguments), arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return str(done.output)

    run("policy", data, "-o", tmp_path / "draft.yaml")
    assert "Männlich" in (tmp_path / "draft.yaml").read_text("utf-8")
    run("check", tmp_path / "policy.yaml", data)
    run("plan", tmp_path / "policy.yaml", "-o", tmp_path / "plan.json")
    run("privatize", tmp_path / "plan.json", data, "-o", tmp_path / "reports.parquet")
    run("simulate", tmp_path / "policy.yaml", data, "--users", "50", "--trials", "1", "-o", tmp_path / "out")
    assert sum(batch.num_rows for batch in read_batches(tmp_path / "reports.parquet")) == 6


def test_long_files_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "sav")
    for rows in (1, 4, 6, 7):
        parts = list(survey.survey_batches(path, rows, {}, None))
        assert pa.Table.from_batches(parts).to_pydict()["sex"] == WORDS
        assert max(part.num_rows for part in parts) <= rows
    some = list(survey.survey_batches(path, 6, {}, ["age"]))
    assert some[0].schema.names == ["age"]


def test_what_cannot_be_read_is_refused_and_not_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "people.sav"
    broken.write_bytes(b"$FL2 somebody's income" * 9)
    with pytest.raises(InputError, match=r"cannot be read; accepted: a complete file of SPSS, Stata or SAS$"):
        list(read_batches(broken))
    with pytest.raises(InputError, match="there is no such file"):
        list(read_batches(tmp_path / "other.dta"))
    with pytest.raises(InputError, match=r"accepted: .*SPSS \(.sav\)"):
        list(read_batches(tmp_path / "people.xls"))
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(InputError, match=r"pip install 'bcdp-privacy\[survey-files\]'"):
        list(read_batches(broken))
    with pytest.raises(InputError, match=r"people.sav: .* pip install 'bcdp-privacy\[survey-files\]'"):
        table_in_memory("people.sav", b"$FL2")  # as the studio says it
