"""What is given by mistake is refused in words, and no word of it tells what a file or an argument holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from pyarrow import parquet

from bcdp import Device, InputError, Ledger, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.cli.app import main
from bcdp.collector import Settings
from bcdp.collector.limits.invitations import make_tickets
from bcdp.correlation import correlation_of
from bcdp.plan.ledger import release_of

SECRET = "canary"
DOCUMENT: dict[str, Any] = {
    "epsilon": 2,
    "features": {"smoker": {"type": "binary", "delta": 0.2}, "age": {"type": "numeric", "bounds": [0, 100]}},
    "correlation": 0.1,
}
POLICY = Policy(**DOCUMENT)
PLAN = make_plan(POLICY)
PEOPLE = {"smoker": [0, 1], "age": [30.0, 4711.0]}
REPORTS = privatize(PLAN, PEOPLE)
TALLY = Tally(PLAN).add(REPORTS)

FILES = {
    "people.csv": f"id,smoker,age\n{SECRET},1,30\n{SECRET}2,0,40\n",
    "bare.csv": f"{SECRET},1,30\n{SECRET}2,0,40\n",
    "latin.csv": f"{SECRET}\xe9,1,30\n".encode("latin1"),
    "people.json": json.dumps({"people": [{SECRET: 1}], f"{SECRET}2": {"x": SECRET}}),
    "list.json": json.dumps([{SECRET: 1, "age": 3}]),
    "counts.json": json.dumps({"plan": PLAN.id, "people": 1, "counts": [[0, 0, SECRET]]}),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())  # type: ignore[attr-defined]
    Path("policy.yaml").write_text(yaml.safe_dump(DOCUMENT))
    PLAN.save("plan.json")
    TALLY.save("tally.json")
    parquet.write_table(REPORTS, "reports.parquet")
    for source in ("pairs", "prior", "pilot"):
        stated = {**DOCUMENT, "correlation": {source: "FILE"}}
        Path(f"{source}.yaml").write_text(yaml.safe_dump(stated))
    return tmp_path


COMMANDS = [
    "plan FILE",
    "privatize FILE people.csv -o new.parquet",
    "privatize plan.json people.csv -o new.parquet --key-file FILE --id-column id",
    "privatize plan.json people.csv -o new.parquet --key-file key --id-column nobody",
    "tally plan.json FILE -o new.json",
    "tally FILE reports.parquet -o new.json",
    "estimate FILE plan.json",
    "estimate plan.json FILE",
    "correlate FILE tally.json",
    "correlate plan.json FILE",
    "audit FILE",
    "audit plan.json --prior FILE",
    "verify FILE",
    "ledger add FILE plan.json",
    "ledger add new.json FILE",
    "ledger show FILE",
    "report FILE",
    "report plan.json FILE -o new.html",
    "serve FILE",
    "serve plan.json --tickets-key FILE",
    "tickets plan.json 2 --key-file FILE",
    "plan pairs.yaml",
    "plan prior.yaml",
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("given", FILES)
def test_a_file_given_by_mistake_is_not_quoted(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, given: str
) -> None:
    Path("key").write_bytes(bytes(range(32)))
    for source in ("pairs.yaml", "prior.yaml"):
        Path(source).write_text(Path(source).read_text().replace("FILE", given))
    assert main(command.replace("FILE", given).split()) == 2
    told = capsys.readouterr()
    assert "accepted: " in told.err
    assert SECRET not in told.err + told.out
    assert "Traceback" not in told.err


def test_swapped_files_tell_no_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("estimate tally.json plan.json", "tally tally.json reports.parquet -o new.json", "plan tally.json"):
        assert main(command.split()) == 2
        told = capsys.readouterr().err
        assert "counts" not in told
        assert "[" not in told


TABLE = pa.table(PEOPLE)
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a policy for a plan": (lambda: privatize(POLICY, PEOPLE), r"plan: got an object of type Policy; accepted: a Plan"),  # type: ignore[arg-type]
    "people before the plan": (lambda: privatize(TABLE, PLAN), r"plan: got an object of type Table; accepted: a Plan"),
    "columns before the plan": (lambda: privatize(PEOPLE, PLAN), r"plan: got an object of type dict; accepted"),  # type: ignore[arg-type]
    "a plan for people": (lambda: privatize(PLAN, PLAN), r"table: Plan cannot be read; accepted: pandas"),
    "a mapping for a policy": (lambda: make_plan(DOCUMENT), r"policy: got an object of type dict; accepted: a Policy"),  # type: ignore[arg-type]
    "a path for a policy": (lambda: make_plan("policy.yaml"), r"policy: got an object of type str; accepted"),  # type: ignore[arg-type]
    "reports for a tally": (lambda: estimate(REPORTS), r"tally: got an object of type Table; accepted: a Tally"),
    "the plan first": (lambda: estimate(PLAN, TALLY), r"tally: got an object of type Plan; accepted: a Tally"),  # type: ignore[arg-type]
    "counts as a level": (lambda: estimate(TALLY, TALLY.to_dict()), r"level: got an object of type dict; accepted"),  # type: ignore[arg-type]
    "a tally of people": (lambda: Tally(PEOPLE), r"plan: got an object of type dict; accepted: a Plan"),  # type: ignore[arg-type]
    "a tally as reports": (lambda: Tally(PLAN).add(TALLY), r"table: SurveyTally cannot be read; accepted"),
    "people as reports": (lambda: Tally(PLAN).add(PEOPLE), r"reports: got 'no column menu and no column answer'"),
    "a tally for a plan": (lambda: Tally.from_dict(TALLY.to_dict(), TALLY), r"plan: got an object of type SurveyTally"),  # type: ignore[arg-type]
    "a policy on the device": (lambda: Device({}).answer(POLICY, {}), r"plan: got an object of type Policy"),  # type: ignore[arg-type]
    "a list as a record": (lambda: Device({}).answer(PLAN, [4711]), r"record: got an object of type list"),  # type: ignore[arg-type]
    "a plan as a release": (lambda: Ledger().add(PLAN), r"release: got an object of type Plan; accepted: a Release"),  # type: ignore[arg-type]
    "a policy as a plan": (lambda: release_of(POLICY), r"plan: got an object of type Policy"),  # type: ignore[arg-type]
    "a tally as a plan": (lambda: Plan.parse(json.dumps(TALLY.to_dict())), r"plan: got 'no certificate'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_another_kind_of_object_is_named_and_not_shown(name: str) -> None:
    call, told = WRONG[name]
    with pytest.raises(InputError, match=told) as caught:
        call()
    assert "4711" not in str(caught.value)
    assert "counts" not in str(caught.value)


def test_two_columns_of_one_name_are_refused() -> None:
    """The reader of pandas refuses them too, and columns one by one would leave the last."""
    frame = pd.DataFrame([[0, 30.0, 1], [1, 40.0, 1]], columns=["smoker", "age", "smoker"])
    with pytest.raises(InputError, match=r"table: got 2 columns 'smoker'; accepted: one column for each"):
        privatize(PLAN, frame)
    frame.columns = ["smoker", "age", "id"]
    key = bytes(range(32))
    again = pd.concat([frame, frame["id"]], axis=1)
    with pytest.raises(InputError, match=r"ids: got 'id, the name of 2 columns'; accepted: a column's name"):
        privatize(PLAN, again, key=key, ids="id")
    assert len(privatize(PLAN, again)) == 2  # what nobody asks for may be there as often as it likes


@pytest.mark.parametrize("kind", ["binary", "categorical"])
@pytest.mark.parametrize("given", [set, frozenset])
def test_values_without_an_order_are_refused(kind: str, given: Callable[[Any], Any]) -> None:
    def made(values: Any) -> Policy:
        return Policy(epsilon=1, features={"area": {"type": kind, "values": values}})

    with pytest.raises(InputError, match=r"features\.area\.values: .*accepted: a list, because a set has no order"):
        made(given(["north", "south"]))
    assert made(["north", "south"]) == made(("north", "south"))


def test_keys_within_a_record_are_not_quoted() -> None:
    nested = [{SECRET: 1}, {SECRET: 2}]
    for column in ("smoker", "age"):
        with pytest.raises(InputError, match=rf"column '{column}': got 'lists or records'; accepted") as caught:
            privatize(PLAN, {**PEOPLE, column: nested})
        assert SECRET not in str(caught.value)
    with pytest.raises(InputError, match=r"ids: ") as caught:
        privatize(PLAN, {**PEOPLE, "id": nested}, key=bytes(range(32)), ids="id")
    assert SECRET not in str(caught.value)


def test_a_page_is_no_other_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "plan.json", "-o", "page.pdf"]) == 2
    assert "--output: got 'page.pdf'; accepted: a name that ends in .html or .htm" in capsys.readouterr().err
    assert not Path("page.pdf").exists()
    assert main(["report", "plan.json", "-o", "PAGE.HTM"]) == 0


def test_an_empty_token_opens_no_server(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bcdp.collector.server.serve", lambda *arguments: None)
    for text in ("", "\n"):
        Path("token").write_text(text)
        assert main(["serve", "plan.json", "--token-file", "token"]) == 2
        assert "token: got '0 characters'; accepted: at least 16" in capsys.readouterr().err


@pytest.mark.parametrize(
    "key", [bytes(32), b"\x00\xff" * 16, b"0123456789abcdef" * 2, b"correct horse battery staple 17\n"]
)
def test_a_key_that_is_not_random_is_refused_everywhere(
    key: bytes, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: privatize(PLAN, PEOPLE, key=key, ids=[1, 2]),
        lambda: make_tickets(key, PLAN.id, 1),
        lambda: Settings(PLAN, "reports.db", "t" * 16, key),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"key: .* not random; accepted: bytes .* `head -c 32 /dev/urandom`"):
            call()
    Path("key").write_bytes(key)
    assert (
        main(["privatize", "plan.json", "people.csv", "-o", "new.parquet", "--key-file", "key", "--id-column", "id"])
        == 2
    )
    assert main(["tickets", "plan.json", "1", "--key-file", "key"]) == 2
    assert capsys.readouterr().err.count("not random") == 2


def test_a_wrong_table_of_pairs_is_told_by_its_size(folder: Path) -> None:
    Path("pairs.csv").write_text(f",smoker,{SECRET}\nsmoker,0,0.1\n{SECRET},0.1,0\n")
    with pytest.raises(InputError, match=r"correlation.pairs \(pairs.csv\): got '3 rows, 2 names of no feature'"):
        correlation_of(Policy(**{**DOCUMENT, "correlation": {"pairs": "pairs.csv"}}))


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        ("plan people.csv", "`bcdp policy FILE -o policy.yaml` drafts one from a data file"),
        ("plan tally.json", "seems to be a tally; accepted: a policy"),
        ("privatize policy.yaml people.csv -o new.csv", "`bcdp plan POLICY -o plan.json` makes it from a policy"),
        ("privatize people.csv plan.json -o new.csv", "a plan; it comes before records and reports"),
        ("tally reports.parquet plan.json -o new.json", "a plan; it comes before records and reports"),
        ("estimate tally.json plan.json", "a plan; it comes before the tally"),
        ("report plan.json plan.json -o new.html", "a tally; it comes after the plan"),
    ],
)
def test_files_in_the_wrong_order_are_named_with_the_way_on(
    command: str, meant: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    assert meant in capsys.readouterr().err


@pytest.mark.parametrize(
    ("feature", "meant"),
    [
        ("{type: numeric, min: 0, max: 10}", "write bounds: [least, greatest]"),
        ("{type: numeric, bounds: [0, 1_000]}", "write numbers without separators, such as 250000"),
        ('{type: numeric, bounds: [0, "250,000"]}', "write numbers without separators, such as 250000"),
        ("{type: numeric, bounds: [0, 250,000]}", "write numbers without separators, such as 250000"),
        ("{type: Binary}", "did you mean 'binary'?"),
        ("{type: binary, label: Smoke?, help: ?}", "put a text with ? in quotes"),
        ("{type: binary, label: Do you: smoke}", "put a text with : in quotes"),
    ],
)
def test_common_mistakes_in_a_policy_are_answered_with_what_to_write(feature: str, meant: str, folder: Path) -> None:
    Path("mine.yaml").write_text(f"epsilon: 1\nfeatures:\n  a: {feature}\n", encoding="utf-8")
    with pytest.raises(InputError) as refusal:
        Policy.load("mine.yaml")
    assert meant in str(refusal.value)
