"""`bcdp check`: every problem of a file at once, each with what settles it, and never a value of a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from pyarrow import parquet

from bcdp import InputError, Policy, make_plan, privatize
from bcdp.cli import main
from bcdp.records.column_guesses import looks_like, words_of
from bcdp.records.data_check import check_data, mended, policy_lines
from bcdp.records.encoding import encode

FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "values": ["no", "yes"], "delta": 0.2},
    "income": {"type": "numeric", "bounds": [0, 200_000]},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
}
DOCUMENT: dict[str, Any] = {"epsilon": 1, "features": FEATURES}
POLICY = Policy(**DOCUMENT)
FINE = {"smoker": "no", "income": "41000", "region": "north"}


def table(*changed: dict[str, str | None]) -> pa.Table:
    """The text of records, as a CSV has it, all fine but for what is changed."""
    rows = [FINE | change for change in changed]
    return pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in FINE})


def problems(*changed: dict[str, str | None], policy: Policy = POLICY) -> list[str]:
    return [problem.sentence for problem in check_data(policy, table(*changed).to_batches()).problems]


def test_a_file_that_is_fine_has_no_problems() -> None:
    found = check_data(POLICY, table({}, {"smoker": "yes"}).to_batches())
    assert found.problems == ()
    assert not found.refused
    assert found.people == 2


@pytest.mark.parametrize(("change", "told"), [
    ({"region": "North "}, "region: 1 of 2 is a listed value in other letters, first in row 2; -o writes it as listed"),
    ({"smoker": "TRUE"}, "smoker: 1 of 2 is another word for a listed value, first in row 2; -o writes it as listed"),
    ({"smoker": None}, "smoker: 1 of 2 has no value, first in row 2; state `missing` (own: counted apart), or leave "
                       "these records out"),
    ({"region": "Atlantis"}, "region: 1 of 2 is not listed, first in row 2; add `other` to its values, and -o writes "
                             "it so"),
    ({"region": "N/A "}, "region: 1 of 2 has a word for no value, first in row 2; state `missing` (own: counted "
                         "apart), or leave these records out"),
    ({"income": "41,000"}, "income: 1 of 2 is a number with separators or a currency, first in row 2; -o writes "
                           "it without"),
    ({"income": "2024-01-31"}, "income: 1 of 2 is a date and no number, first in row 2; state type: date, or collect a "
                               "year or an age in its place"),
    ({"income": "secret"}, "income: 1 of 2 is no number, first in row 2; correct it in the file, or leave the cells "
                           "empty and state `missing`"),
    ({"income": "200001"}, "income: 1 of 2 is outside the bounds and counted as the nearer one, first in row 2; wider "
                           "bounds cost accuracy; take them from public knowledge"),
])  # fmt: skip
def test_each_problem_is_told_with_what_settles_it(change: dict[str, str | None], told: str) -> None:
    assert problems({}, change) == [told]


def test_words_for_no_value_are_no_other_value() -> None:
    """With the line that settles it the cells are left empty and the file can be used; a listed word is a value."""
    features = {"region": {"type": "categorical", "values": ["north", "none", "other"]}}
    records = pa.table({"region": ["north", "n/a", "NULL", "-", "Unknown", "west", "none", None]})
    document = {"epsilon": 1, "features": features}
    policy = Policy(**document)
    found = check_data(policy, records.to_batches())
    assert [problem.found.partition(",")[0] for problem in found.problems] == [
        "1 of 8 has no value", "4 of 8 have a word for no value", "1 of 8 is not listed"
    ]  # fmt: skip
    [line] = policy_lines(document, found.problems)
    settled = Policy(epsilon=1, features=yaml.safe_load(line))
    [batch] = [mended(settled, batch) for batch in records.to_batches()]
    assert batch.to_pydict()["region"] == ["north", "", "", "", "", "other", "none", ""]
    assert not check_data(settled, [batch]).refused
    [gap, _] = [problem for problem in check_data(settled, records.to_batches()).problems if problem.refused]
    assert gap.settled == "-o leaves their cells empty"
    assert gap.keys is None
    listed = Policy(epsilon=1, features={"region": {"type": "categorical", "values": ["north", "n/a"]}})
    assert problems({"region": "N/A"}, policy=Policy(epsilon=1, features={**FEATURES, **listed.features})) == [
        "region: 1 of 1 is a listed value in other letters, first in row 1; -o writes it as listed"
    ]


def test_a_file_is_called_unusable_exactly_where_its_records_are_refused() -> None:
    """Against the rules that devices apply; numbers are read from text by the reader of files, which refuses others."""
    for change in ({"region": "North"}, {"smoker": "TRUE"}, {"smoker": None}, {"region": "x"}, {"income": None}, {}):
        records = table({}, change)
        try:
            encode(POLICY, records.set_column(1, "income", records.column("income").cast(pa.float64())))
            refused = False
        except InputError:
            refused = True
        assert check_data(POLICY, records.to_batches()).refused == refused, change


def test_all_problems_of_all_columns_are_told_at_once() -> None:
    found = problems({"smoker": "Y", "income": "1 000"}, {"region": "EAST"}, {"region": "west"}, {"income": "-5"})
    assert [sentence.partition(":")[0] for sentence in found] == ["smoker", "income", "income", "region", "region"]


def test_no_value_of_a_record_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secrets = ["Zanzibar77", "31415926", "sesame sesame", "q@secret.example"]
    (tmp_path / "policy.yaml").write_text(yaml.dump({"epsilon": 1, "features": FEATURES}))
    lines = ["smoker,income,region,contact", f"{secrets[2]},{secrets[1]},{secrets[0]},{secrets[3]}"]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    for option in ([], ["--json"], ["-o", str(tmp_path / "mended.csv")]):
        main(["check", str(tmp_path / "policy.yaml"), str(tmp_path / "data.csv"), *option])
        told = "".join(capsys.readouterr())
        assert not [secret for secret in secrets if secret in told]
        assert "contact" in told


def test_columns_are_found_by_nearly_their_names() -> None:
    found = check_data(POLICY, table({}).rename_columns(["smoker", "Income", "somewhere"]).to_batches())
    assert [p.sentence for p in found.problems] == [
        "income: there is no such column; name the column 'Income' of the file as the policy does, or the other way "
        "round",
        "region: there is no such column; add it to the file, or leave the feature out",
    ]
    assert policy_lines(DOCUMENT, found.problems) == []


@pytest.mark.parametrize(("words", "kind"), [
    (["2024-01-31", "2024-02-01"], "dates"), (["31.1.2024", "1/2/24"], "dates"),
    (["a@b.org", "c.d@e.com"], "identifiers"), ([f"{n:08x}" for n in range(977, 1010)], "identifiers"),
    ([f"I have no complaints, but in week {n} it rained" for n in range(30)], "free text"),
    (["north", "south"] * 15, None), ([str(1000 + n) for n in range(40)], None), (["a", "b"], None),
])  # fmt: skip
def test_what_nobody_should_collect_is_recognised(words: list[str], kind: str | None) -> None:
    found = words_of(pa.array(words))
    assert found is not None
    assert looks_like("answer", pa.string(), found) == kind
    records = pa.table({"region": words})
    told = check_data(Policy(epsilon=1, features={"region": FEATURES["region"]}), records.to_batches()).problems
    assert any("looks like" in problem.found for problem in told) == (kind is not None)


def test_identifiers_are_recognised_by_name_too() -> None:
    found = words_of(pa.array(range(30)))
    assert found is not None
    assert looks_like("userId", pa.int64(), found) == "identifiers"
    assert looks_like("width", pa.int64(), found) is None


def test_what_is_written_again_is_accepted_and_means_the_same(tmp_path: Path) -> None:
    policy = {"epsilon": 1, "features": FEATURES | {"region": {**FEATURES["region"], "values": ["north", "Other"]}}}
    (tmp_path / "policy.yaml").write_text(yaml.dump(policy))
    rows = [{"smoker": "Y", "region": "NORTH "}, {"smoker": "0", "income": "1,200"}, {"region": "Zanzibar"}]
    records = table(*rows).append_column("id", pa.array(["a", "b", "c"]))
    parquet.write_table(records, tmp_path / "data.parquet")
    arguments = [str(tmp_path / "policy.yaml"), str(tmp_path / "data.parquet")]
    assert main(["check", *arguments]) == 1
    assert main(["check", *arguments, "-o", str(tmp_path / "mended.csv")]) == 0
    assert (tmp_path / "mended.csv").read_text().splitlines() == [
        '"smoker","income","region"', '"yes","41000","north"', '"no","1200","north"', '"no","41000","Other"',
    ]  # fmt: skip
    assert main(["check", arguments[0], str(tmp_path / "mended.csv")]) == 0
    plan = make_plan(Policy.load(tmp_path / "policy.yaml"))
    mended_records = pa.Table.from_batches([mended(plan.policy, batch) for batch in records.to_batches()])
    assert len(privatize(plan, mended_records.set_column(1, "income", pa.array([1.0, 2, 3])))) == 3


def test_the_lines_settle_what_they_are_told_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pasted over the features, they leave nothing but what -o writes otherwise."""
    (tmp_path / "policy.yaml").write_text(yaml.dump({"epsilon": 1, "features": FEATURES}))
    records = table({}, {"smoker": None}, {"region": "Atlantis"}, {"smoker": "never", "income": None})
    parquet.write_table(records, tmp_path / "data.parquet")
    assert main(["check", str(tmp_path / "policy.yaml"), str(tmp_path / "data.parquet"), "--json"]) == 1
    lines = json.loads(capsys.readouterr().out)["lines"]
    pasted = yaml.safe_load("features:\n" + "\n".join(lines))["features"]
    assert pasted.keys() == FEATURES.keys()
    settled = Policy(epsilon=1, features=FEATURES | pasted)
    assert settled.features["smoker"].delta == 0.2
    rewritten = [mended(settled, batch) for batch in records.to_batches()]
    assert not check_data(settled, rewritten).refused
    assert main(["check", str(tmp_path / "policy.yaml"), str(tmp_path / "data.parquet")]) == 1
    assert capsys.readouterr().out.rstrip().endswith("\n".join(["For the policy:", "", "features:", *lines]))


def test_a_stated_rule_for_missing_values_settles_words_and_stays() -> None:
    """Words for no value in a column of numbers become empty cells; a feature that gets `other` keeps its rule."""
    rules = {"income": {**FEATURES["income"], "missing": 0}, "smoker": {**FEATURES["smoker"], "missing": "no"}}
    document = {"epsilon": 1, "features": FEATURES | rules}
    policy = Policy(**document)
    records = table({}, {"income": "prefer not to say"}, {"smoker": "sometimes"})
    found = check_data(policy, records.to_batches())
    assert found.problems[1].sentence == (
        "income: 1 of 3 has a word for no value, first in row 2; -o leaves its cell empty"
    )
    (line,) = policy_lines(document, found.problems)
    settled = Policy(epsilon=1, features=FEATURES | rules | yaml.safe_load(line))
    assert settled.features["smoker"].missing == "no"
    rewritten = [mended(settled, batch) for batch in records.to_batches()]
    assert not check_data(settled, rewritten).refused
    assert rewritten[0].column("income").to_pylist() == ["41000", "", "41000"]


def test_no_value_is_made_up_for_one_that_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is to be pasted counts no answer apart, or is for a person to say where a task needs a value."""
    found = check_data(POLICY, table({}, {"smoker": None}, {"income": None}).to_batches())
    lines = yaml.safe_load("\n".join(policy_lines(DOCUMENT, found.problems)))
    assert {name: line["missing"] for name, line in lines.items()} == {"smoker": "own", "income": "own"}
    spread = Policy(**DOCUMENT, tasks=[{"regression": {"target": "income", "features": ["smoker"]}}])
    homes = Policy(epsilon=1, features={"home": {"type": "categorical", "values": ["own", "rent"]}})
    for policy, gap in ((spread, table({}, {"income": None})), (homes, pa.table({"home": ["own", None]}))):
        [problem] = check_data(policy, gap.to_batches()).problems
        assert problem.keys is None  # of homes, own would be one
        assert "state as `missing` the value that counts for it" in problem.settled

    features = {**FEATURES, "smoker": {**FEATURES["smoker"], "missing": "own"}}
    (tmp_path / "policy.yaml").write_text(yaml.dump({"epsilon": 1, "features": features}))
    (tmp_path / "data.csv").write_text("smoker,income,region\n,1,north\nyes,2,south\n")
    assert main(["check", str(tmp_path / "policy.yaml"), str(tmp_path / "data.csv")]) == 0
    assert "smoker: 1 of 2 has no value, first in row 1; missing counted as no answer" in capsys.readouterr().out
    make_plan(Policy.load(tmp_path / "policy.yaml")).save(tmp_path / "plan.json")
    reports = ["-o", str(tmp_path / "reports.parquet")]
    assert main(["privatize", str(tmp_path / "plan.json"), str(tmp_path / "data.csv"), *reports]) == 0
    assert "smoker: 1 of 2 missing counted as no answer, as the policy says" in capsys.readouterr().err


def test_a_file_without_rows_and_columns_of_lists() -> None:
    with pytest.raises(InputError, match="at least one record"):
        check_data(POLICY, table().to_batches())
    records = table({}).set_column(0, "smoker", pa.array([["no"]]))
    assert [p.found for p in check_data(POLICY, records.to_batches()).problems] == ["it holds lists or records"]


def test_a_word_that_could_mean_two_values_means_none() -> None:
    policy = Policy(epsilon=1, features={"s": {"type": "categorical", "values": ["false", "female"]}})
    found = check_data(policy, pa.table({"s": ["f", "False"]}).to_batches())
    assert [problem.found.split(",")[0] for problem in found.problems] == [
        "1 of 2 is a listed value in other letters", "1 of 2 is not listed",
    ]  # fmt: skip
