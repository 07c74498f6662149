"""The path from a policy to estimates on the command line, as a person walks it."""

import json
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import yaml

from bcdp.cli import main

POLICY = """
epsilon: 2.0
features:
  smoker: {type: binary, delta: 0.2, values: [no, yes]}
  income: {type: numeric, bounds: [0, 200000], delta: 0.2, missing: 0}
  region: {type: categorical, values: [north, south, east, west]}
correlation: 0.05
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a policy, its plan, people as CSV and Parquet, and a key."""
    path = tmp_path_factory.mktemp("people")
    (path / "policy.yaml").write_text(POLICY)
    rng = np.random.default_rng(5)
    people = pa.table(
        {
            "id": np.arange(5000),
            "smoker": rng.choice(["no", "yes"], 5000, p=[0.7, 0.3]),
            "income": rng.gamma(2, 20000, 5000).round(),
            "region": rng.choice(["north", "south", "east", "west"], 5000),
        }
    )
    pa.parquet.write_table(people, path / "people.parquet")
    pa.csv.write_csv(people, path / "people.csv")
    (path / "key").write_bytes(os.urandom(32))
    assert main(["plan", str(path / "policy.yaml"), "-o", str(path / "plan.json")]) == 0
    return path


def run(capsys, *arguments):
    """The exit code, the JSON document on stdout and the lines on stderr."""
    code = main([*map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else None, err.splitlines()


def test_plan_states_what_users_rely_on(folder, capsys, tmp_path):
    code, document, _ = run(capsys, "plan", folder / "policy.yaml", "-o", tmp_path / "plan.json", "--users", 1000)
    assert code == 0
    assert {"id", "epsilon", "objective", "optimality_gap", "features"} <= set(document)
    for name, feature in document["features"].items():
        assert {"asked", "certified", "budget", "standard_error"} <= set(feature)
        assert feature["certified"] <= feature["asked"], name
    assert (
        document["features"]["smoker"]["certified_with_nothing_assumed"]
        >= document["features"]["smoker"]["certified_at_twice"]
        > 0.2
    )


def test_plan_is_readable(folder, capsys, tmp_path):
    assert main(["plan", str(folder / "policy.yaml"), "-o", str(tmp_path / "plan.json"), "--users", "1000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 110
    text = "\n".join(lines)
    for word in ("smoker", "uniform LDP", "the paper", "odds", "with nothing assumed", "1,000 people", "c: the level"):
        assert word in text
    assert "limited by the delta of" in text
    asked, certified = re.search(r"^the whole record +(\S+) +(\S+)", text, re.MULTILINE).groups()
    assert float(asked) == 2 > 1.001 * float(certified)  # the sentence above says why epsilon is not used up


def test_plan_without_output_shows_and_writes_nothing(folder, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["plan", str(folder / "policy.yaml")]) == 0
    assert "nothing written" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_plan_says_what_is_useless_and_how_many_people_it_takes(folder, capsys):
    """The sentence's numbers follow from the standard error: 2 of them are the half width, which falls as 1/sqrt(n)."""
    document = run(capsys, "plan", folder / "policy.yaml", "--users", 100)[1]
    half = 2 * document["features"]["smoker"]["standard_error"]
    people = float(f"{100 * (half / 0.05) ** 2:.2g}")
    assert main(["plan", str(folder / "policy.yaml"), "--users", "100"]) == 0
    told = capsys.readouterr().out
    assert f"the 95% interval is +-{half:.4g} with 100 people; about {people:,.0f} people for +-0.05" in told
    assert main(["plan", str(folder / "policy.yaml"), "--users", "1000000"]) == 0
    assert "of little use" not in capsys.readouterr().out


def test_plan_says_which_tasks_are_useless(capsys, tmp_path):
    """Every kind of task with few people, none with many; the people that it takes are enough when they come."""
    features = {"a": {"type": "binary"}, "n": {"type": "numeric", "bounds": [0, 100]},
                "c": {"type": "categorical", "values": ["x", "y", "z"]}}  # fmt: skip
    tasks = [
        {"table": ["a", "c"]},
        {"distribution": ["n"], "bins": 16},
        {"mean": ["n"], "by": "a"},
        {"regression": {"target": "n", "features": ["a"]}},
    ]
    subjects = ["table of a and c", "distribution of n", "mean of n by a", "regression of n"]
    path = tmp_path / "policy.yaml"
    path.write_text(yaml.dump({"epsilon": 1, "features": features, "tasks": tasks}))
    told = run(capsys, "plan", path, "--users", 300)[1]["tasks_of_little_use"]
    assert list(told) == subjects
    assert main(["plan", str(path), "--users", "300"]) == 0
    lines = " ".join(capsys.readouterr().out.split())
    assert not [subject for subject in subjects if f"{subject}: {told[subject]}" not in lines]
    enough = [float(re.search(r"about ([\d,]+) people", why)[1].replace(",", "")) for why in told.values()]
    assert run(capsys, "plan", path, "--users", int(max(enough)))[1]["tasks_of_little_use"] == {}


def test_the_shares_of_many_values_are_useless_sooner(capsys, tmp_path):
    """An interval of a share that is as wide as the share says nothing, even if it is narrow beside 1."""
    path = tmp_path / "policy.yaml"
    features = {"town": {"type": "categorical", "values": [f"town {number}" for number in range(50)]}}
    path.write_text(yaml.dump({"epsilon": 2, "features": features}))
    document = run(capsys, "plan", path, "--users", 3000)[1]
    assert 1 / 50 < 2 * document["features"]["town"]["standard_error"] < 1 / 10
    assert main(["plan", str(path), "--users", "3000"]) == 0
    assert "town: of little use" in capsys.readouterr().out


def test_plan_shows_equal_rows_of_many_features_together(capsys, tmp_path):
    features = [f"  x{i}: {{type: binary, delta: {0.2 if i < 2 else 1}}}" for i in range(12)]
    (tmp_path / "policy.yaml").write_text("\n".join(["epsilon: 1", "correlation: 0", "features:", *features]))
    assert main(["plan", str(tmp_path / "policy.yaml")]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("x")]
    assert [line.split("  ")[0] for line in lines[:2]] == ["x0, x1", "x2, x3, x4, x5 and 6 more"]


def test_plan_remarks_on_a_delta_that_promises_less_than_epsilon(capsys, tmp_path):
    (tmp_path / "policy.yaml").write_text("epsilon: 2\nfeatures: {a: {type: binary, delta: 3}, b: {type: binary}}\n")
    assert main(["plan", str(tmp_path / "policy.yaml"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["features"]["a"]["asked"] == 3
    assert err.splitlines() == ["note: a: delta 3 is above epsilon 2, which already promises more"]


def test_records_to_estimates(folder, capsys, tmp_path):
    reports, tally, picture = tmp_path / "reports.parquet", tmp_path / "tally.json", tmp_path / "e.png"
    assert run(capsys, "privatize", folder / "plan.json", folder / "people.csv", "-o", reports)[1]["people"] == 5000
    assert run(capsys, "tally", folder / "plan.json", reports, "-o", tally)[1]["people"] == 5000
    code, document, _ = run(capsys, "estimate", folder / "plan.json", tally, "--plot", picture)
    assert code == 0
    assert set(document["means"]) == {"smoker", "income"}
    assert {"value", "se", "low", "high", "answers"} <= set(document["means"]["income"])
    assert set(document["frequencies"]["region"]) == {"north", "south", "east", "west"}
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run(capsys, "estimate", folder / "plan.json", reports)[1]["means"]["smoker"]["answers"] > 0
    assert main(["estimate", str(folder / "plan.json"), str(tally)]) == 0
    assert "95% interval" in capsys.readouterr().out


def test_a_key_repeats_the_answers_whatever_the_format(folder, capsys, tmp_path):
    made = []
    for number, data in enumerate(("people.csv", "people.parquet", "people.parquet")):
        path = tmp_path / f"{number}.parquet"
        key = ["--key-file", folder / "key", "--id-column", "id"]
        assert run(capsys, "privatize", folder / "plan.json", folder / data, "-o", path, *key)[0] == 0
        made.append(pa.parquet.read_table(path))
    assert made[0].equals(made[1])
    assert made[1].equals(made[2])
    fresh = tmp_path / "fresh.parquet"
    run(capsys, "privatize", folder / "plan.json", folder / "people.parquet", "-o", fresh)
    assert not pa.parquet.read_table(fresh).equals(made[0])


def test_a_report_page_before_and_after(folder, capsys, tmp_path):
    reports, page = tmp_path / "reports.parquet", tmp_path / "page.html"
    assert run(capsys, "report", folder / "plan.json", "-o", page)[0] == 0
    before = page.read_text()
    run(capsys, "privatize", folder / "plan.json", folder / "people.csv", "-o", reports)
    assert run(capsys, "report", folder / "plan.json", reports, "-o", page)[1]["people"] == 5000
    after = page.read_text()
    assert "What was learned" not in before
    assert "What was learned" in after
    for text in (before, after):
        assert "What an adversary cannot do" in text
        assert 'src="http' not in text
        assert set(re.findall(r'href="(.)', text)) <= {"#"}  # the table of contents


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan", "nowhere.yaml"], "nowhere.yaml"),
        (["plan", "{policy}", "--users", "50k"], "--users: got '50k'; accepted: a whole number, such as 50000"),
        (["plan", "{policy}", "--users", "0"], "--users: got '0'; accepted: a number of at least 1"),
        (["plan", "{plan}"], "policy: got 'a plan'; accepted: a policy"),
        (["plan", "{csv}"], "seems to be a data file; accepted: a policy"),
        (["privatize", "{plan}", "nowhere.csv", "-o", "{out}"], "there is no such file"),
        (["privatize", "{plan}", "{policy}", "-o", "{out}"], "its ending '.yaml' is not known"),
        (["privatize", "{plan}", "{csv}", "-o", "{out}", "--key-file", "{key}"], "--id-column"),
        (["privatize", "{policy}", "{csv}", "-o", "{out}"], "policy.yaml: seems to be a policy; accepted: a plan"),
        (["privatize", "{plan}", "{csv}", "-o", "{out}", "--engine", "sprak"], "accepted: one of 'local', 'spark'"),
        (["tally", "{plan}", "{csv}", "-o", "{tally}"], "columns menu and answer"),
        (["estimate", "{plan}", "nowhere.json"], "nowhere.json: cannot be read (no such file or directory)"),
        (["estimate", "{plan}", "{other}"], "other.json: tally.plan: got 'ffffffffffff..'; accepted: the plan's id"),
        (["verify", "nowhere.json"], "nowhere.json: cannot be read (no such file or directory)"),
        (["ledger", "remove", "{out}"], "action: got 'remove'; accepted: one of 'add', 'show'"),
        (["weigh"], "No such command 'weigh'. bcdp alone shows all commands."),
    ],
)
def test_mistakes_are_told_in_a_line(folder, capsys, tmp_path, arguments, sentence):
    places = {"plan": "plan.json", "policy": "policy.yaml", "csv": "people.csv", "key": "key"}
    (folder / "other.json").write_text(json.dumps({"plan": "f" * 64}))
    places["other"] = "other.json"
    known = {name: str(folder / file) for name, file in places.items()}
    known |= {"out": str(tmp_path / "out.parquet"), "tally": str(tmp_path / "tally.json")}
    assert main([argument.format(**known) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("bcdp: ")
    assert sentence in err
    assert list(tmp_path.iterdir()) == []  # nothing half-written


def test_every_mistake_of_a_policy_has_its_line(capsys, tmp_path):
    (tmp_path / "policy.yaml").write_text("epsilon: -1\nfeatures: {a: {type: numeric, bounds: [2, 1]}}\n")
    assert main(["plan", str(tmp_path / "policy.yaml"), "-o", str(tmp_path / "plan.json")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("bcdp: ") for line in lines)


def test_policy_skeleton_asks_to_be_filled_in(folder, capsys, tmp_path):
    draft = tmp_path / "draft.yaml"
    assert run(capsys, "policy", folder / "people.csv", "-o", draft)[0] == 0
    assert main(["plan", str(draft), "-o", str(tmp_path / "plan.json")]) == 2
    assert "FILL" in capsys.readouterr().err
