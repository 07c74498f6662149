"""Files on the command line: nothing is lost, nothing is misread in silence, and no record is quoted."""

import os
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from bcdp import Policy, make_plan
from bcdp.cli import main
from bcdp.files import read_batches, written_whole
from bcdp.records.encoding import arrow_types, as_arrow, encode

WORDS = ["NA", "null", "nan", "NULL", "n/a", "EU"]
POLICY = Policy(
    epsilon=4,
    correlation=0,
    features={
        "area": {"type": "categorical", "values": WORDS, "missing": "NA"},
        "stage": {"type": "categorical", "values": [1, 2, 3], "missing": 1},
        "ill": {"type": "binary", "missing": 0},
        "age": {"type": "numeric", "bounds": [0, 10], "missing": 5},
    },
)
SECRET = "canary"


@pytest.fixture(scope="module")
def plan_text():
    return make_plan(POLICY).text


@pytest.fixture
def folder(tmp_path, plan_text, monkeypatch):
    """The working folder, with a policy, its plan and four people."""
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(plan_text, encoding="utf-8")
    Path("policy.yaml").write_text(POLICY.to_yaml(), encoding="utf-8")
    write_people("people.csv")
    return tmp_path


def write_people(path, **changes):
    """Four people, as a CSV; a change replaces a column's cells."""
    cells = {"area": ["NA", "EU", "nan", "EU"], "stage": [1, 2, 3, 1], "ill": [0, 1, 0, 1], "age": [1, 2, 3, 4]}
    columns = cells | changes
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    Path(path).write_text("\n".join(rows) + "\n", encoding="utf-8")


def codes_in(path):
    parts = [encode(POLICY, as_arrow(batch)) for batch in read_batches(Path(path), arrow_types(POLICY))]
    return {name: np.concatenate([part[name] for part in parts]).tolist() for name in POLICY.features}


def refused(capsys, *arguments):
    """The one line on stderr of a command that ends with exit code 2 and prints nothing else."""
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


# --- what a file says ---


def test_a_csv_and_a_parquet_file_of_the_same_table_agree(tmp_path):
    """Listed words that look like nothing count as themselves; what is missing is missing in both."""
    table = pa.table(
        {
            "area": [*WORDS, None, ""],
            "stage": pa.array([1.0, 2.0, 3.0, None, 1.0, 1.0, 2.0, 3.0]),
            "ill": [True, False, None, True, True, False, False, True],
            "age": [1.0, None, float("nan"), 4.0, 5.0, -3.0, 20.0, 8.0],
        }
    )
    pa.parquet.write_table(table, tmp_path / "people.parquet")
    frame = table.to_pandas()
    frame["ill"] = [{True: "TRUE", False: "FALSE"}.get(bit, "") for bit in table.column("ill").to_pylist()]
    for name, gap in (("people.csv", ""), ("OTHER.CSV", "")):
        frame.to_csv(tmp_path / name, index=False, na_rep=gap)
        assert codes_in(tmp_path / name) == codes_in(tmp_path / "people.parquet")
    assert codes_in(tmp_path / "people.csv")["area"] == [0, 1, 2, 3, 4, 5, 0, 0]
    assert codes_in(tmp_path / "people.csv")["stage"] == [0, 1, 2, 0, 0, 0, 1, 2]  # written as 1.0 by pandas


def test_numbers_are_missing_where_a_csv_says_so(tmp_path):
    ages = ["", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "10"]
    cells = {"area": ["EU"] * 10, "stage": [1] * 10, "ill": [1] * 10}
    write_people(tmp_path / "people.csv", age=ages, **cells)
    assert codes_in(tmp_path / "people.csv")["age"] == [0.0] * 9 + [1.0]


def test_a_column_that_is_not_collected_may_hold_anything(tmp_path):
    """Its type is not guessed from its first rows, and text that is not UTF-8 does not matter in it."""
    write_people(tmp_path / "people.csv", name=[1, 2, "x", ""])
    assert codes_in(tmp_path / "people.csv")["ill"] == [0, 1, 0, 1]


@pytest.fixture(params=[1, 2])
def processors(request):
    """With one processor Arrow reads a CSV in another way, and words its errors in another way."""
    before = pa.cpu_count()
    pa.set_cpu_count(request.param)
    yield
    pa.set_cpu_count(before)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"age": [1, 2, SECRET, 4]}, "people.csv: column 'age', line 4: got what is no number; accepted: a number"),
        ({"area": ["EU", SECRET, "EU", "EU"]}, "people.csv, row 2: column 'area': got a value that is not listed"),
        (
            {"stage": [1, 2, 3, SECRET]},
            "people.csv, row 4: column 'stage': got a value that is not listed; accepted",
        ),
        (
            {"ill": [SECRET, 1, 0, 1]},
            "people.csv, row 1: column 'ill': got a value that is not listed; accepted: 0",
        ),
        ({"age": [1, f"2,{SECRET}", 3, 4]}, "people.csv, line 3: cannot be read; accepted: 4 columns in every line"),
        ({"Ill": [SECRET] * 4, "ill": [1] * 4}, None),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["privatize", "plan.json", "people.csv", "-o", "reports.parquet"],
        ["simulate", "policy.yaml", "people.csv", "-o", "simulation"],
        ["correlate", "policy.yaml", "people.csv"],
        ["audit", "plan.json", "--data", "people.csv"],
    ],
)
def test_no_error_quotes_a_record(folder, capsys, command, change, told, processors):
    if told is None:
        Path("people.csv").write_text(f"area,stage,Ill,age\nEU,1,{SECRET},2\n")
        told = "people.csv: table: got no column 'ill' (did you mean 'Ill'?); accepted: one column for each"
    else:
        write_people("people.csv", **change)
    line = refused(capsys, *command)
    assert told in line
    assert SECRET not in line


@pytest.mark.parametrize("command", ["privatize", "simulate", "correlate", "policy", "audit"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            f"area,name\nEU,{SECRET}Jörg\n".encode("latin1"),
            "people.csv: its text is not UTF-8; accepted: a CSV in",
        ),
        (f"area;age\n{SECRET};3,5\n".encode(), "people.csv: its first line has ';' and no comma; accepted: a CSV with"),
        (b"", "people.csv: is empty; accepted: a CSV whose first line names the columns"),
    ],
)
def test_a_csv_of_another_kind_is_told_in_a_line(folder, capsys, command, content, told):
    Path("people.csv").write_bytes(content)
    arguments = {
        "privatize": ["plan.json", "people.csv", "-o", "reports.parquet"],
        "simulate": ["policy.yaml", "people.csv", "-o", "simulation"],
        "correlate": ["policy.yaml", "people.csv"],
        "policy": ["people.csv", "-o", "new.yaml"],
        "audit": ["plan.json", "--data", "people.csv"],
    }[command]
    line = refused(capsys, command, *arguments)
    assert told in line
    assert SECRET not in line


def test_rows_are_counted_over_the_whole_file(folder, capsys):
    """The 300,001st record stands in a later batch than the first."""
    people = {"area": ["EU"] * 300_001, "stage": [1] * 300_000 + [7], "ill": [0] * 300_001, "age": [1.0] * 300_001}
    pa.parquet.write_table(pa.table(people), "people.parquet")
    assert "row 300,001: column 'stage'" in refused(
        capsys, "privatize", "plan.json", "people.parquet", "-o", "r.parquet"
    )


# --- what was missing or outside is told ---


def test_missing_and_clipped_values_are_told_to_who_holds_them(folder, capsys):
    write_people("people.csv", area=["EU", "", "", "NA"], age=["11", "-1", "", "10"])
    told = [
        "note: area: 2 of 4 missing counted as 'NA', as the policy says",
        "note: age: 1 of 4 missing counted as 5, as the policy says",
        "note: age: 2 of 4 outside [0, 10], moved to the bound",
    ]
    for command in (
        ["privatize", "plan.json", "people.csv", "-o", "reports.parquet", "--json"],
        ["simulate", "policy.yaml", "people.csv", "-o", "simulation", "--users", "10", "--trials", "1", "--json"],
        ["correlate", "policy.yaml", "people.csv", "--json"],
    ):
        assert main(command) == 0
        assert capsys.readouterr().err.splitlines() == told
    write_people("people.csv")
    assert main(["privatize", "plan.json", "people.csv", "-o", "reports.parquet"]) == 0
    assert capsys.readouterr().err == ""


# --- outputs ---


def test_no_command_writes_over_what_it_reads(folder, capsys):
    assert main(["privatize", "plan.json", "people.csv", "-o", "reports.parquet"]) == 0
    assert main(["tally", "plan.json", "reports.parquet", "-o", "tally.json"]) == 0
    capsys.readouterr()
    os.link("people.csv", "hard.parquet")
    Path("soft.json").symlink_to("plan.json")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    for command in (
        ["privatize", "plan.json", "people.csv", "-o", "people.csv"],
        ["privatize", "plan.json", "people.csv", "-o", "hard.parquet"],
        ["privatize", "plan.json", "people.csv", "-o", "plan.json"],
        ["tally", "plan.json", "reports.parquet", "-o", "soft.json"],
        ["tally", "plan.json", "tally.json", "-o", "tally.json"],
        ["plan", "policy.yaml", "-o", "policy.yaml"],
        ["policy", "people.csv", "-o", "people.csv"],
        ["correlate", "policy.yaml", "people.csv", "-o", "people.csv"],
        ["report", "plan.json", "tally.json", "-o", "tally.json"],
    ):
        assert "accepted: another file than those that are read" in refused(capsys, *command)
    assert "accepted: a new file" in refused(capsys, "policy", "people.csv", "-o", "policy.yaml")
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize(
    ("command", "accepted"),
    [
        (["privatize", "plan.json", "people.csv", "-o", "reports.txt"], "a name that ends in .parquet"),
        (["tally", "plan.json", "reports.parquet", "-o", "tally.parquet"], "a name that ends in .json"),
        (["plan", "policy.yaml", "-o", "plan.yaml"], "a name that ends in .json"),
        (["correlate", "policy.yaml", "people.csv", "-o", "pairs.json"], "a name that ends in .csv"),
        (["estimate", "plan.json", "reports.parquet", "--plot", "e.txt"], "a name that ends in .png"),
        (["correlate", "policy.yaml", "people.csv", "--plot", "e.svg"], "a name that ends in .png"),
        (["privatize", "plan.json", "people.csv", "-o", "nowhere/r.parquet"], "a file in an existing folder that you"),
        (["plan", "policy.yaml", "-o", "folder.json"], "a file in an existing folder that you may write to"),
    ],
)
def test_an_output_that_cannot_be_is_told_before_any_work(folder, capsys, command, accepted):
    Path("folder.json").mkdir()
    assert accepted in refused(capsys, *command)


def test_reports_are_counted_once(folder, capsys):
    assert main(["privatize", "plan.json", "people.csv", "-o", "reports.parquet"]) == 0
    capsys.readouterr()
    Path("link.parquet").symlink_to("reports.parquet")
    os.link("reports.parquet", "hard.parquet")
    for again in ("reports.parquet", "./reports.parquet", "link.parquet", "hard.parquet"):
        for command in (["tally", "-o", "tally.json"], ["estimate"]):
            line = refused(capsys, *command, "plan.json", "reports.parquet", again)
            assert "accepted: each file once" in line
    assert not Path("tally.json").exists()


def test_reports_in_an_arrow_file_are_counted_like_those_in_a_parquet_file(folder):
    Path("key").write_bytes(bytes(range(32)))
    write_people("people.csv", id=[3, 1, 4, 15])
    with (
        pa.OSFile("people.arrow", "wb") as file,
        pa.ipc.new_file(file, (table := pa.csv.read_csv("people.csv")).schema) as to,
    ):
        to.write_table(table)
    for name in ("people.csv", "people.arrow"):
        for kind in ("parquet", "arrow"):
            main(["privatize", "plan.json", name, "-o", f"r.{kind}", "--key-file", "key", "--id-column", "id"])
            main(["tally", "plan.json", f"r.{kind}", "-o", f"{name}.{kind}.json"])
    assert len({path.read_text() for path in Path().glob("people.*.json")}) == 1
    assert len(list(Path().glob("people.*.json"))) == 4


def test_a_device_is_written_to_and_stays_a_device(folder, capsys):
    """A pipe stands for any device: as root, the real one must not be put at risk by a test."""
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    with written_whole(Path("pipe")) as place:
        place.write_text("through")
    assert os.read(reader, 100) == b"through"
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    os.close(reader)


def test_a_link_stays_a_link_and_its_file_is_replaced_whole(folder):
    Path("elsewhere").mkdir()
    target, link = Path("elsewhere/real.txt"), Path("link.txt")
    target.write_text("old")
    link.symlink_to(target)
    with written_whole(link) as draft:
        assert draft.parent.samefile(target.parent)  # so that it can take the file's place at once
        draft.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert [path.name for path in Path("elsewhere").iterdir()] == ["real.txt"]


def test_verify_without_limits_compares_nothing(folder, capsys):
    assert main(["verify", "plan.json"]) == 0
    told = capsys.readouterr().out
    assert "compared with nothing" in told
    assert "acceptable" not in told
    assert main(["verify", "plan.json", "--max-epsilon", "20"]) == 0
    assert capsys.readouterr().out.endswith("\nacceptable\n")
