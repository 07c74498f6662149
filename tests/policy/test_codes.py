"""Values that a policy does not list: whole numbers from one to another, and codes in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bcdp import InputError, Plan, Policy, make_plan, privatize
from bcdp.policy.valued_features import MOST_LISTED, MOST_VALUES
from bcdp.records.encoding import encode
from bcdp_device import read_plan
from bcdp_device.records import code_of
from support.paths import ROOT

MILLION = {"integers": [-5, 999_994]}
CSV = "code,label,de\n0110,Officers,Offiziere\n110,Managers,Leitung\n 2320 ,Teachers,Lehrer\n"


def policy(values: Any, **rules: Any) -> Policy:
    return Policy(epsilon=2, features={"code": {"type": "categorical", "values": values, **rules}})


def coded(of: Policy, column: Any) -> list[int]:
    return [int(code) for code in encode(of, pa.table({"code": column}))["code"]]


@pytest.mark.parametrize("rules", [{}, {"missing": "own"}, {"missing": 0}])
def test_a_million_whole_numbers_are_stated_by_their_ends(rules: dict[str, Any]) -> None:
    plan = make_plan(policy(MILLION, **rules))
    assert len(plan.text) < 1000
    assert Plan.parse(plan.text).policy == plan.policy
    assert Policy(**plan.policy.to_dict()) == plan.policy
    assert len(plan.policy.features["code"].categories) == 1_000_000 + (rules == {"missing": "own"})
    assert len(privatize(plan, {"code": [7, 999_994]})) == 2


def test_whole_numbers_are_coded_as_the_same_numbers_in_a_list() -> None:
    """However a column writes them: all three readers of records agree with the list, value by value."""
    between, listed = ({"integers": [-3, 25]}, list(range(-3, 26)))
    columns: list[Any] = [
        pa.array([-3, 0, 25, None], pa.int8()),
        pa.array([25, 7], pa.uint64()),
        pa.array([3.0, -1.0, None]),
        pa.array(["0", "-2", "25.0", "", "7"]),
        pa.array(["7", "0", None]).dictionary_encode(),
    ]
    for column in columns:
        assert coded(policy(between, missing=5), column) == coded(policy(listed, missing=5), column)
    plans = [read_plan(make_plan(policy(values)).text) for values in (between, {"integers": [-3, 300_000]})]
    for word in ("-3", "0", "25", "25.0", 7, 7.0):
        places = [code_of("code", plan.features["code"], word) for plan in plans]
        assert places[0] == places[1] == coded(policy(between), [word])[0]


@pytest.mark.parametrize(
    "word", ["-4", "26", "007", "+7", "7.5", " 7", "7.00", "1e1", "", "x", "٧", "9" * 30, 7.5, -4, True]
)
def test_what_is_no_such_number_is_refused_by_every_reader(word: Any) -> None:
    for values in ({"integers": [-3, 25]}, {"integers": [-3, 300_000]}):
        of = policy(values)
        if word in ("26",) and values["integers"][1] > 26:
            continue
        with pytest.raises(InputError):
            coded(of, [word])
        with pytest.raises(InputError):
            code_of("code", read_plan(make_plan(of).text).features["code"], word)


@pytest.mark.parametrize(
    "values", [{"integers": [0, 2**20]}, {"integers": [5, 5]}, {"integers": [0, 5.0]}, {"integers": [0]}, {}, "0 to 9"]
)
def test_what_is_no_range_is_refused_with_what_is_accepted(values: Any) -> None:
    with pytest.raises(InputError, match=rf"^features.code.values: .*integers: \[first, last\].* {MOST_VALUES} whole"):
        policy(values)


def test_the_first_and_last_limits() -> None:
    assert len(policy({"integers": [1, MOST_VALUES]}).features["code"].categories) == MOST_VALUES
    scale: dict[str, Any] = {"type": "ordinal", "values": {"integers": [0, 10]}}
    assert Policy(epsilon=1, features={"well": scale}).features["well"].span == (1, 11)
    with pytest.raises(InputError, match="100 whole numbers"):
        Policy(epsilon=1, features={"well": {"type": "ordinal", "values": {"integers": [0, 100]}}})
    with pytest.raises(InputError, match="value_labels"):
        policy({"integers": [0, MOST_LISTED]}, value_labels={"en": ["zero"]})


def written(folder: Path, text: str) -> Path:
    (folder / "codes.csv").write_text(text, encoding="utf-8")
    path = folder / "policy.yaml"
    path.write_text("epsilon: 2\nfeatures:\n  job: {type: categorical, values: {file: codes.csv}}\n", encoding="utf-8")
    return path


def test_codes_of_a_file_are_text_with_labels(tmp_path: Path) -> None:
    job = Policy.load(written(tmp_path, CSV)).features["job"]
    assert job.categories == ("0110", "110", "2320")
    assert job.value_labels == {"en": ("Officers", "Managers", "Teachers"), "de": ("Offiziere", "Leitung", "Lehrer")}
    plain = Policy.load(written(tmp_path, "\ufeffcode\n\nA00\nB00\n")).features["job"]
    assert (plain.categories, plain.value_labels) == (("A00", "B00"), None)
    twice = Policy.load(written(tmp_path, "code,label\n1,Other\n2,Other\n")).features["job"]
    assert twice.value_labels == {"en": ("Other (1)", "Other (2)")}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("code\nA00\nB00\nA00\n", "the code of line 2 again on line 4"),
        ("code,label\nA00,one\nB00\n", "1 cells on line 3"),
        ("code,label\nA00,\n", "2 cells on line 2"),
        ("code\n", "no code"),
        ("", "no code"),
        ("code\n" + "\n".join(map(str, range(MOST_LISTED + 5))), f"more than {MOST_LISTED} codes"),
        ('code\n"A00\n', "no CSV"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_its_line(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(InputError, match=rf"codes\.csv: got .*{named}"):
        Policy.load(written(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, CSV)
    (tmp_path / "codes.csv").unlink()
    with pytest.raises(InputError, match=r"codes\.csv"):
        Policy.load(path)


def test_many_records_are_coded_by_subtraction() -> None:
    numbers = np.random.default_rng(1).integers(-5, 999_995, 1000)
    assert coded(policy(MILLION), numbers) == (numbers + 5).tolist()
    assert coded(policy(MILLION), numbers.astype(str)) == (numbers + 5).tolist()
    assert (ROOT / "vectors" / "integers.json").exists()  # answers of all devices
