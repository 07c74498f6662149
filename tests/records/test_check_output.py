"""`bcdp check -o`: what it writes is accepted by `privatize`, loses nothing a person can read, and is reported."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from bcdp import InputError, Policy, make_plan, privatize
from bcdp.cli import main
from bcdp.files import read_batches
from bcdp.policy.yaml_text import write_yaml
from bcdp.records.encoding import arrow_types, encode
from bcdp.records.open_groups import group_numbers

INCOME = {"type": "numeric", "bounds": [0, 200_000]}
REGION = {"type": "categorical", "values": ["north", "south"]}
SITE = {"type": "open", "values": ["a", "b"]}


def write(folder: Path, features: dict[str, Any], rows: list[list[str]], **more: Any) -> tuple[Path, Path]:
    policy, data = folder / "policy.yaml", folder / "data.csv"
    policy.write_text(write_yaml({"epsilon": 1, "features": features, **more}), "utf-8")
    with data.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[*features], *rows])
    return policy, data


def mended(policy: Path, data: Path) -> list[list[str]]:
    """The rows that -o writes, which `privatize` accepts; none if it writes no file."""
    output = data.with_name("mended.csv")
    output.unlink(missing_ok=True)
    code = main(["check", str(policy), str(data), "-o", str(output)])
    assert output.exists() == (code == 0)
    if code:
        return []
    plan = make_plan(Policy.load(policy))
    assert len(privatize(plan, output)) == len(pa.Table.from_batches(read_batches(data)))
    with output.open(encoding="utf-8", newline="") as file:
        return [*csv.reader(file)]


def accepted(policy: Path, data: Path) -> bool:
    """Whether `privatize` takes the records: what it refuses, it refuses here."""
    stated = Policy.load(policy)
    try:
        table = pa.Table.from_batches(read_batches(data, arrow_types(stated), [*stated.declared]))
        encode(stated, table)
        group_numbers(stated, table)
    except InputError:
        return False
    return True


@pytest.mark.parametrize(("word", "written"), [
    ("$41,000", "41000"), ("41000 USD", "41000"), ("USD 41'000.50", "41000.50"), ("-$5", "-5"),
    ("\u20ac 41 000", "41000"),
    ("41\u202f000\u00a0\u20ac", "41000"), ("\u00a041000", "41000"), ("1_000", "1000"), (" 7 ", " 7 "), ("1e3", "1e3"),
    ("n/a", ""), ("Unknown", ""), ("prefer not to say", ""), ("NAN", ""),
])  # fmt: skip
def test_numbers_that_a_person_can_read_are_kept(tmp_path: Path, word: str, written: str) -> None:
    policy, data = write(tmp_path, {"income": {**INCOME, "missing": "own"}, "region": REGION}, [[word, "north"]])
    assert mended(policy, data) == [["income", "region"], [written, "north"]]


@pytest.mark.parametrize(
    "word", ["41k", "1,5", "1.234,50", "12%", "about 40", "41 kg", "2024-01-31", "5\u00b2", "\uff11\uff12", "--5"]
)
def test_what_could_mean_several_things_is_left_for_a_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    """Nothing is written, where an empty cell would lose what the record says."""
    policy, data = write(tmp_path, {"income": {**INCOME, "missing": "own"}}, [[word], ["5"]])
    assert mended(policy, data) == []
    assert "mended.csv not written: it would still hold records that are refused" in capsys.readouterr().out


def test_two_currencies_are_not_one_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["$41,000"], ["41000 USD"], ["52000"]]
    assert len(mended(*write(tmp_path, {"income": INCOME}, rows))) == 4
    assert mended(*write(tmp_path, {"income": INCOME}, [*rows, ["41000 EUR"]])) == []
    assert "income: its amounts have several currencies; convert them into one" in capsys.readouterr().out


def test_open_columns_are_checked_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    features = {"region": REGION, "site": SITE}
    assert mended(*write(tmp_path, features, [["north", "A "], ["South", "b"]])) == [
        ["region", "site"], ["north", "a"], ["south", "b"],
    ]  # fmt: skip
    assert mended(*write(tmp_path, features, [["north", "c"]])) == []
    assert mended(*write(tmp_path, features, [["north", ""]])) == []
    told = capsys.readouterr().out
    assert "site: 1 of 1 has no value, first in row 1; leave these records out: an open value is sent as it is" in told
    assert "site: 1 of 1 is not listed" in told


def test_a_record_without_its_only_value_stays_a_record(tmp_path: Path) -> None:
    rows = [["north"], ["n/a"], ["south"], ["-"]]
    policy, data = write(tmp_path, {"region": {**REGION, "missing": "own"}}, rows)
    assert mended(policy, data) == [["region"], ["north"], [""], ["south"], [""]]


@pytest.mark.parametrize(("values", "word", "written"), [
    (["m", "f"], "no", None), (["m", "f"], "Female", "f"), ([1, 2, 3], "yes", None), (["A", "a"], "A ", "A"),
    ([1, 2, "other"], "2.00", "2"), (["f", "m", "not stated"], "none", None), (["n", "y"], "TRUE", "y"),
    (["x", "y"], "no answer", None),
])  # fmt: skip
def test_a_word_is_a_listed_value_only_if_it_can_mean_nothing_else(
    tmp_path: Path, values: list[Any], word: str, written: str | None
) -> None:
    policy, data = write(tmp_path, {"s": {"type": "categorical", "values": values}}, [[word]])
    assert mended(policy, data) == ([] if written is None else [["s"], [written]])


def test_what_was_changed_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    features = {"income": {**INCOME, "missing": "own"}, "region": {**REGION, "values": ["north", "south", "other"]}}
    rows = [["$1,000", "NORTH"], ["?", "Atlantis"], ["5", "north"], ["6", "East"]]
    policy, data = write(tmp_path, features, rows)
    arguments = ["check", str(policy), str(data), "-o", str(tmp_path / "out.csv")]
    changed = [
        "income: 1 left empty", "income: 1 written without separators and currency",
        "region: 1 written as listed", "region: 2 written as 'other'",
    ]  # fmt: skip
    assert main(arguments) == 0
    assert f"{tmp_path / 'out.csv'} written, changed:\n" + "\n".join(f"  {one}" for one in changed) in (
        capsys.readouterr().out.replace("\n    ", " ")
    )
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["changed"] == changed
    assert document["written"] == str(tmp_path / "out.csv")


def test_numbers_in_a_column_of_texts_are_reported(tmp_path: Path) -> None:
    """A Parquet file states its types, and `privatize` takes no texts for numbers."""
    policy, _ = write(tmp_path, {"income": INCOME}, [])
    data = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"income": ["5", "6"]}), data)
    assert main(["check", str(policy), str(data)]) == 1
    assert mended(policy, data) == [["income"], ["5"], ["6"]]


@pytest.mark.parametrize(("features", "more", "row"), [
    ({"s": {"type": "binary", "values": ["no", "yes"]}}, {"tasks": [{"mean": ["s"]}]}, ["maybe"]),
    ({"s": {"type": "categorical", "values": ["a", "b"], "missing": "own"}}, {}, ["c"]),
    ({"s": {"type": "categorical", "values": ["a", "b"], "value_labels": {"de": ["A", "B"]}}}, {}, ["c"]),
    ({"when": INCOME}, {}, ["2024-01-31"]),
    ({"x": INCOME}, {"tasks": [{"distribution": ["x"]}]}, [""]),
    ({"a: b, {c}": INCOME, "?": REGION}, {}, ["", "N/A"]),
    ({"s" * 200: {"type": "categorical", "values": ["a\u2028b", "yes", "1", "~", " #x"]}}, {}, ["c"]),
])  # fmt: skip
def test_lines_to_paste_load(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], features: dict[str, Any], more: dict[str, Any], row: list[str]
) -> None:
    policy, data = write(tmp_path, features, [[*row], ["", *row[1:]]], **more)
    main(["check", str(policy), str(data)])
    pasted(policy, features, more, capsys.readouterr().out)


def pasted(policy: Path, features: dict[str, Any], more: dict[str, Any], printed: str) -> None:
    """The printed lines, in place of those that they are for, are YAML and a policy."""
    _, found, text = printed.partition("\nFor the policy:\n")
    if found:
        lines = yaml.safe_load(text)["features"]
        assert lines.keys() <= features.keys()
        kept = {name: one for name, one in features.items() if name not in lines}
        merged = write_yaml({"epsilon": 1, **more}) + text.strip("\n") + "\n"
        merged += write_yaml({"features": kept}).partition("\n")[2] if kept else ""
        policy.with_name("pasted.yaml").write_text(merged, "utf-8")
        assert Policy.load(policy.with_name("pasted.yaml")).declared.keys() == features.keys()


LISTED = ["north", "south", "other", "own", "no", "yes", "m", "f", "A", "a", "no answer", "n/a", 0, 1, 2, True, False]
WORDS = [
    *("", "NA", "n/a", "-", "?", "unknown", "no answer", "North", "SOUTH ", "other", "east", "Yes", "N", "TRUE", "f"),
    *("Male", "0", "1.0", "2.00", "41", "-5", "1e999", "inf", "NAN", "$41,000", "41000 USD", "5 EUR", "1,5", "12%"),
    *(
        "1_000",
        "\u00a07",
        "\uff15",
        "2024-01-31",
        "1.1.2020",
        "about 40",
        'say "so"',
        "a,b",
        "own",
        "x" * 40,
        "+3",
        ".5",
    ),
]


@st.composite
def declared(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["numeric", "binary", "categorical", "open"]))
    if kind == "numeric":
        missing = draw(st.sampled_from([None, "own", 5]))
        return {"type": kind, "bounds": [0, 100]} | ({} if missing is None else {"missing": missing})
    size = (2, 2) if kind == "binary" else (1, 4)
    values = draw(
        st.lists(st.sampled_from(LISTED), min_size=size[0], max_size=size[1], unique_by=lambda v: str(v).lower())
    )
    feature: dict[str, Any] = {"type": kind, "values": values}
    if kind == "binary" and draw(st.booleans()):
        del feature["values"]
    if kind != "open" and draw(st.booleans()):
        feature["missing"] = draw(st.sampled_from(["own", *feature.get("values", [0])]))
    if "values" in feature and draw(st.booleans()):
        feature["value_labels"] = {"de": [f"w{number}" for number in range(len(values))]}
    return feature


@st.composite
def files(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], list[list[str]]]:
    names = draw(st.lists(st.sampled_from(["x", "Y", "a: b", "no", "1", "c,d"]), min_size=1, max_size=3, unique=True))
    features = {name: draw(declared()) for name in names}
    words = st.one_of(st.sampled_from(WORDS), st.sampled_from([str(value) for value in LISTED]))
    fine = {name: st.sampled_from([str(v) for v in one.get("values", [0, 1])]) for name, one in features.items()}
    odd = {name: draw(st.booleans()) for name in names}
    row = st.tuples(*(words if odd[name] else fine[name] for name in names)).map(list)
    rows = draw(st.lists(row, min_size=1, max_size=6))
    numbers = [name for name, one in features.items() if one["type"] in ("numeric", "binary")]
    tasks = {"tasks": [{"mean": numbers}]} if numbers and draw(st.booleans()) else {}
    return features, tasks, rows


NUMBERS = {"$41,000": "41000", "41000 USD": "41000", "5 EUR": "5", "1_000": "1000", "\u00a07": "7", "2.00": "2"}
YES, NO = {"yes", "true", "1", "1.0"}, {"no", "n", "false", "f", "0"}
MALE, FEMALE = {"male", "m"}, {"female", "f"}


def says_the_same(before: str, after: str) -> bool:
    """Whether a cell says after what it said before, by rules of this test."""
    plain, written = before.strip().casefold(), after.casefold()
    if not after:
        return plain in {"", "na", "n/a", "-", "?", "unknown", "no answer", "nan"}
    same = plain == written or NUMBERS.get(before) == after or after == "other"
    return same or any({plain, written} <= words for words in (YES, NO, MALE, FEMALE))


@given(case=files())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_whatever_is_written_is_accepted_and_keeps_every_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: tuple[dict[str, Any], dict[str, Any], list[list[str]]]
) -> None:
    features, tasks, rows = case
    policy, data = write(tmp_path, features, rows, **tasks)
    try:
        Policy.load(policy)
    except InputError:
        event("no policy")
        return
    output = tmp_path / "mended.csv"
    output.unlink(missing_ok=True)
    capsys.readouterr()
    as_it_is = main(["check", str(policy), str(data)]) == 0
    pasted(policy, features, tasks, capsys.readouterr().out)
    assert as_it_is == accepted(policy, data)
    written = main(["check", str(policy), str(data), "-o", str(output)]) == 0
    event(f"as it is {as_it_is}, written {written}")
    assert output.exists() == written
    assert written or not as_it_is
    if written:
        assert accepted(policy, output)
        with output.open(encoding="utf-8", newline="") as file:
            header, *after = csv.reader(file)
        assert header == [*features]
        cells = [pair for one, two in zip(rows, after, strict=True) for pair in zip(one, two, strict=True)]
        assert [pair for pair in cells if not says_the_same(*pair)] == []
