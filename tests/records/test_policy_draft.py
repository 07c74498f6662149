"""The draft of a policy: it shows columns and types, and not one value."""

from __future__ import annotations

import datetime
import math
import re
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from bcdp.cli.records import column_lines
from bcdp.errors import InputError
from bcdp.policy import Policy
from bcdp.records.policy_draft import FileColumns, policy_skeleton

NAMES = ["no", "age", "a: b", "x\ny", "région", "grade", "price", "#", "k" * 200]
TYPES = [
    pa.bool_(),
    pa.int32(),
    pa.float64(),
    pa.string(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.large_string(),
    pa.decimal128(9, 2),
    pa.uint8(),
    pa.float32(),
]
COLUMNS = pa.schema(list(zip(NAMES, TYPES, strict=True)))


def write_parquet(path: Path, *rows: tuple[object, ...]) -> Path:
    columns = [pa.array([row[j] for row in rows], kind) for j, kind in enumerate(TYPES)]
    parquet.write_table(pa.Table.from_arrays(columns, schema=COLUMNS), path)
    return path


def filled(skeleton: str) -> str:
    return skeleton.replace("[FILL, FILL]", "[0, 1]").replace("[FILL]", "[a, b]")


def test_a_filled_skeleton_is_a_policy(tmp_path: Path) -> None:
    skeleton = policy_skeleton(write_parquet(tmp_path / "data.parquet"))
    (tmp_path / "policy.yaml").write_text(filled(skeleton), "utf-8")
    policy = Policy.load(tmp_path / "policy.yaml")
    categorical, numeric = "categorical", "numeric"
    kinds = ["binary", numeric, numeric, categorical, categorical, categorical, numeric, numeric, numeric]
    assert {name: feature.type for name, feature in policy.features.items()} == dict(zip(NAMES, kinds, strict=True))


def test_a_skeleton_does_not_depend_on_the_values(tmp_path: Path) -> None:
    """Nor on how many are missing; and no canary among the values shows, in Parquet or in CSV."""
    first = write_parquet(tmp_path / "a.parquet", (True, 31337, 4.25, "canary", "canary", "canary", 7, 3, 0.5))
    second = write_parquet(tmp_path / "b.parquet", *[(False, 5, 1e9, "b", "c", "d", 8, 4, 0.25)] * 50)
    assert policy_skeleton(first) == policy_skeleton(second) == policy_skeleton(write_parquet(tmp_path / "c.parquet"))
    tables = [
        pa.table({"flag": [True, False], "age": [31337, 2], "name": ["canary", "x"], "rate": [0.5, 31337.25]}),
        pa.table({"flag": [False], "age": [5], "name": ["other"], "rate": [1.5]}),
    ]
    for number, table in enumerate(tables):
        csv.write_csv(table, tmp_path / f"{number}.csv")
    skeleton = policy_skeleton(tmp_path / "0.csv")
    assert skeleton == policy_skeleton(tmp_path / "1.csv")
    assert not re.search("canary|31337", skeleton + policy_skeleton(first))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_with_missing_values_get_a_line_and_their_number_is_told(tmp_path: Path, ending: str) -> None:
    """However many they are, the draft is the same: its reader may be anybody."""
    drafts = []
    for gaps in (1, 7):
        size = 20
        columns = {
            "flag": pa.array([True] * (size - gaps) + [None] * gaps),
            "age": pa.array([40] * (size - gaps) + [None] * gaps),
            "rate": pa.array([0.5] * (size - gaps) + [None if ending == "csv" else math.nan] * gaps),
            "name": pa.array(["x"] * (size - gaps) + [None] * (gaps - 1) + [""]),
            "whole": pa.array([1] * size),
        }
        path = tmp_path / f"data.{ending}"
        parquet.write_table(pa.table(columns), path) if ending == "parquet" else csv.write_csv(pa.table(columns), path)
        told: list[FileColumns] = []
        drafts.append(policy_skeleton(path, told.append))
        assert [told[0].missing, told[0].people] == [dict.fromkeys(["flag", "age", "rate", "name"], gaps), size]
    assert drafts[0] == drafts[1]
    assert drafts[0].count("    missing: FILL  # ") == 4
    assert "missing" not in drafts[0].partition("whole:")[2]
    (tmp_path / "policy.yaml").write_text(filled(drafts[0]), "utf-8")
    with pytest.raises(InputError) as caught:
        Policy.load(tmp_path / "policy.yaml")
    paths = [line.partition(":")[0] for line in str(caught.value).split("\n")]
    assert paths == [f"features.{name}.missing" for name in ("flag", "age", "rate", "name")]
    complete = filled(drafts[0]).replace("missing: FILL", "missing: 1", 3).replace("missing: FILL", "missing: b")
    (tmp_path / "policy.yaml").write_text(complete, "utf-8")
    assert Policy.load(tmp_path / "policy.yaml").features["name"].missing == "b"


def test_a_number_is_missing_in_a_csv_where_no_number_stands(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("age,word\n3,NA\nNA,NA\n,x\nnull,y\n")
    told: list[FileColumns] = []
    policy_skeleton(tmp_path / "data.csv", told.append)
    assert [told[0].missing, told[0].people] == [{"age": 3}, 4]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_text_that_look_like_numbers_or_ids_are_told(tmp_path: Path, ending: str) -> None:
    """To whoever holds the file: the draft says nothing of it."""
    size = 300
    columns = {
        "income": [f"{1000 * place:,}" for place in range(size - 1)] + ["unknown"],
        "rate": ["$ 3.50", "-4%", "1'000", "+2 €", ".", "x"] * (size // 6),
        "id": [f"C-{place:03}" for place in range(size)],
        "day": [f"{1900 + place}-01-02 or so" for place in range(size)],
        "word": ["x", "y", None] * (size // 3),
    }
    path = tmp_path / f"data.{ending}"
    table = pa.table(columns)
    parquet.write_table(table, path) if ending == "parquet" else csv.write_csv(table, path)
    told: list[FileColumns] = []
    draft = policy_skeleton(path, told.append)
    assert told[0].numbers == {"income": size - 1, "rate": 4 * size // 6}
    notes = {sentence.partition(":")[0]: sentence for sentence in column_lines(told[0])}
    assert list(notes) == ["word", "income", "rate", "id", "day"]
    assert "299 of 300 values are numbers" in notes["income"]
    assert all("more than 200 different values" in notes[name] for name in ("id", "day"))
    assert "unknown" not in "".join(notes.values())
    parquet.write_table(table.slice(0, 3), tmp_path / "short.parquet")
    assert policy_skeleton(tmp_path / "short.parquet") == draft


def test_what_is_left_to_fill_is_named(tmp_path: Path) -> None:
    table = pa.table({"age": [1], "name": ["x"], "day": [datetime.date(2020, 1, 1)], "void": [None], "flag": [True]})
    parquet.write_table(table, tmp_path / "data.parquet")
    (tmp_path / "policy.yaml").write_text(policy_skeleton(tmp_path / "data.parquet"), "utf-8")
    with pytest.raises(InputError) as caught:
        Policy.load(tmp_path / "policy.yaml")
    lines = str(caught.value).split("\n")
    paths = [
        "features.day.from",
        "features.day.to",
        "features.age.bounds",
        "features.name.values",
        "features.void.type",
    ]
    paths += ["features.void.missing"]  # a column without a value
    assert [line.partition(":")[0] for line in lines] == paths
    assert all(line.endswith("in place of FILL") for line in lines)


def test_the_odds_are_true_claims(tmp_path: Path) -> None:
    """Each factor bounds e^level from above, by less than a hundredth, and says on which condition."""
    claims = re.findall(
        r"([\d.]+)\D*: odds of (?:any guess|a guess about it) move by at most x([\d.]+), "
        r"(?:if|whatever) the correlation",
        policy_skeleton(write_parquet(tmp_path / "data.parquet")),
    )
    assert {level for level, _ in claims} == {"0.2", "1.0"}
    for level, factor in claims:
        assert 0 <= float(factor) - math.exp(float(level)) < 0.01


def test_the_header_says_why_values_are_not_taken_from_the_data(tmp_path: Path) -> None:
    assert "would leak" in policy_skeleton(write_parquet(tmp_path / "data.parquet")).partition("epsilon:")[0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nowhere.csv", None),
        ("nowhere.parquet", None),
        ("data.txt", b"a,b\n1,2\n"),
        ("empty.csv", b""),
        ("broken.parquet", b"canary"),
        ("ragged.csv", b"a,b\ncanary\n1,2,3\n"),
        ("twice.csv", b"a,a\n1,2\n"),
        ("nameless.csv", b"a,\n1,2\n"),
        ("semicolons.csv", b"a;b\ncanary;2,5\n"),
        ("latin.csv", "a,b\ncanary,Jörg\n".encode("latin1")),
    ],
)
def test_files_that_do_not_serve(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=r"; accepted: ") as caught:
        policy_skeleton(tmp_path / name)
    assert "canary" not in str(caught.value)
    assert name in str(caught.value) or name in ("twice.csv", "nameless.csv")  # whose columns are told instead
