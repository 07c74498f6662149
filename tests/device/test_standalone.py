"""The standalone device: plain Python that reads, verifies and answers every vector bit for bit, once per plan."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zipfile
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bcdp_device
from bcdp import Plan, Policy, make_plan
from bcdp.plan.ledger import release_of as release_by_planner
from bcdp_device import Device, InputError, Ledger, Limits, NotTakenError, read_plan
from bcdp_device.answering import answers, drawn_menu, later_symbols, sample
from bcdp_device.device import release_of
from bcdp_device.records import code_of, codes_of, counted_date, group_of
from bcdp_device.sending import send_all
from bcdp_device.verify.collection import read_collection
from bcdp_device.verify.questions import TOTAL, Table
from support.documents import blocks
from support.helpers import loaded
from support.paths import ROOT

FOLDER = ROOT / "vectors"
VECTORS = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted(FOLDER.glob("*.json"))
    if path.stem not in ("refused", "spellings")
}
REFUSED = json.loads((FOLDER / "refused.json").read_text("utf-8"))
SPELLINGS = json.loads((FOLDER / "spellings.json").read_text("utf-8"))
MAKER = loaded(ROOT / "tools" / "make_vectors.py")
SHORT = 60  # reports of each generator that are compared: the planner's own code has compared all


@cache
def parsed(name: str) -> bcdp_device.Plan:
    return read_plan(VECTORS[name]["plan"])


def words_of(seed: int, record: int, count: int) -> list[int]:
    return [int(MAKER.word(seed, MAKER.np.array([record], dtype="uint32"), position)[0]) for position in range(count)]


def answered(plan: bcdp_device.Plan, record: Any, words: list[int], earlier: Any) -> list[dict[str, int]]:
    """The reports for a record; to a question about change, with the record of the earlier wave."""
    question = plan.menus[drawn_menu(plan, words[0])][0]
    symbols = None if question.since is None else later_symbols(plan, question, earlier, words[1:])
    return answers(plan, record, words, symbols)


@pytest.mark.parametrize("name", VECTORS)
def test_levels_examples_and_generated_reports(name: str) -> None:
    vector = VECTORS[name]
    plan, planned = parsed(name), Plan.parse(vector["plan"])
    assert plan.id == vector["id"]
    levels = {"epsilon": plan.levels.epsilon, "c": plan.levels.c, "delta": plan.levels.delta}
    assert levels == vector["levels"]
    records = [example["record"] for example in vector["examples"]]
    for example, before in zip(vector["examples"], records[::-1], strict=True):
        expected = [
            {"menu": menu, "answer": answer} | ({"group": example["group"]} if plan.open else {})
            for menu, answer in (
                enumerate(example["answers"]) if plan.several else [(example["menu"], example["answer"])]
            )
        ]
        assert answered(plan, example["record"], example["words"], before) == expected
    columns, earlier = (MAKER.records_of(planned, seed, SHORT) for seed in (vector["seed"], vector["seed"] + 1))
    needed = len(bcdp_device.answering.random_words(plan))
    people = len(vector["answers"]) // (len(plan.menus) if plan.several else 1)
    for number in range(SHORT):
        record = {name: column[number] for name, column in columns.items()}
        before = {name: column[number] for name, column in earlier.items()}
        reports = answered(plan, record, words_of(vector["seed"], number, needed), before)
        stored = range(number, len(vector["answers"]), people) if plan.several else [number]
        assert [(report["menu"], report["answer"]) for report in reports] == [
            (vector["menus"][place], vector["answers"][place]) for place in stored
        ]


@pytest.mark.parametrize("name", VECTORS)
def test_a_release_costs_what_the_planner_says(name: str) -> None:
    plan, planned = parsed(name), Plan.parse(VECTORS[name]["plan"])
    assert release_of(plan) == release_by_planner(planned)
    assert release_of(plan, 0) == release_by_planner(planned, menu=0)


def test_what_every_reader_refuses() -> None:
    for case in REFUSED:
        with pytest.raises(InputError):
            read_plan(case["plan"])


@pytest.mark.parametrize("name", SPELLINGS["features"])
def test_every_spelling_of_a_value(name: str) -> None:
    collection = read_collection({"epsilon": 1.0, "features": {name: SPELLINGS["features"][name]}})
    feature = collection.features[name]
    for owner, value, code in SPELLINGS["values"]:
        if owner == name and code is None:
            with pytest.raises(InputError):
                code_of(name, feature, value)
        elif owner == name:
            assert code_of(name, feature, value) == code, value


@pytest.mark.parametrize(
    "table",
    [
        Table("response", 3, 3, {"keep": TOTAL - 2 * 10**9, "other": 10**9}),
        Table("dense", 2, 3, {"weights": [[1, TOTAL - 1, 0], [5, 0, TOTAL - 5]]}),
        Table("hadamard", 3, 8, {"order": 4, "keep": 2**29 + 7}),
        Table("waves", 3, 5, {"waves": [[4, 1, 2, 2**30, 2**29]]}),
    ],
    ids=lambda table: table.family,
)
def test_each_symbol_has_as_many_words_as_its_weight(table: Table) -> None:
    """By the places where the symbol changes, found by halving: they leave each symbol exactly its weight."""
    columns = list(table.columns())
    for entered in range(table.levels):
        counted, start = [0] * table.symbols, 0
        while start < TOTAL:
            symbol, low, high = sample(table, entered, start), start, TOTAL
            while high - low > 1:  # every symbol's words lie in runs far longer than a step of the search
                middle = (low + high) // 2
                low, high = (middle, high) if sample(table, entered, middle) == symbol else (low, middle)
            counted[symbol] += high - start
            start = high
        assert counted == [column[entered] for column in columns]


def survey(name: str) -> tuple[bcdp_device.Plan, dict[str, Any]]:
    return parsed(name), VECTORS[name]["examples"][0]["record"]


def test_one_answer_for_good_by_mapping_and_by_file(tmp_path: Path) -> None:
    plan, record = survey("joint")
    for memory in ({}, tmp_path / "answers.json"):
        first = Device(memory, max_epsilon=20).answer(plan, record)
        assert all(Device(memory, max_epsilon=20).answer(plan, record) == first for _ in range(60))
    fresh = {json.dumps(Device({}, max_epsilon=20).answer(plan, record)) for _ in range(200)}
    assert len(fresh) > 1


def test_a_plan_above_the_limit_or_without_its_ticket_is_not_answered() -> None:
    plan, record = survey("joint")
    with pytest.raises(InputError, match="this device's limit"):
        Device({}, max_epsilon=plan.levels.epsilon / 2).answer(plan, record)
    assigned, record = survey("assigned")
    with pytest.raises(InputError, match="ticket of an invitation"):
        Device({}, max_epsilon=20).answer(assigned, record)
    for ticket, menu in VECTORS["assigned"]["tickets"][:20]:
        assert Device({}, max_epsilon=20).answer(assigned, record, ticket)["menu"] == menu
    (first, menu), *others = VECTORS["assigned"]["tickets"]
    device, other = Device({}, max_epsilon=20), next(ticket for ticket, drawn in others if drawn != menu)
    assert device.answer(assigned, record, first) == device.answer(assigned, record, first)
    with pytest.raises(InputError, match="ticket: got another one"):
        device.answer(assigned, record, other)


def test_messages_are_one_for_each_menu() -> None:
    plan, record = survey("messages")
    device = Device({}, max_epsilon=20)
    messages = device.messages(plan, record)
    assert [message["menu"] for message in messages] == list(range(len(plan.menus)))
    assert device.messages(plan, record) == messages
    with pytest.raises(InputError, match="messages"):
        device.answer(plan, record)


def test_the_ledger_refuses_by_the_largest_menu_and_enters_the_drawn_one(tmp_path: Path) -> None:
    plan, record = survey("menus")
    path = tmp_path / "ledger.json"
    Ledger(limits=Limits(epsilon=plan.levels.epsilon * 0.99)).save(path)
    for _ in range(30):  # whichever menu is drawn
        with pytest.raises(InputError, match="above the limit"):
            Device({}, path, max_epsilon=20).answer(plan, record)
    Ledger(limits=Limits(epsilon=plan.levels.epsilon)).save(path)
    report = Device({}, path, max_epsilon=20).answer(plan, record)
    assert Ledger.load(path).releases == (release_of(plan, report["menu"]),)
    with pytest.raises(InputError, match="its answer is lost"):
        Device({}, path, max_epsilon=20).answer(plan, record)


def test_what_may_pass_is_sent_again_and_nothing_else() -> None:
    pauses: list[float] = []

    def failing(statuses: list[int]) -> Any:
        def send_one(report: Any, identity: str) -> dict[str, int]:
            if statuses:
                raise NotTakenError(statuses.pop(0), "no")
            return {"accepted": 1}

        return send_one

    assert send_all({"a": {"menu": 0}}, failing([503, 429, 502]), 4, pauses.append) == {"accepted": 1}
    assert len(pauses) == 3
    assert 1 <= pauses[0] <= 3
    assert 4 <= pauses[2] <= 12
    with pytest.raises(NotTakenError, match="409"):
        send_all({"a": {"menu": 0}}, failing([409]), 4, pauses.append)
    with pytest.raises(NotTakenError, match="503"):
        send_all({"a": {"menu": 0}}, failing([503] * 4), 4, pauses.append)


def test_errors_do_not_quote_a_record() -> None:
    plan = parsed("own")
    for name, feature in plan.features.items():
        for value in ("a secret", ["a secret"], {"a secret": 1}):
            with pytest.raises(InputError) as caught:
                codes_of(plan, {name: value})
            assert "secret" not in str(caught.value), feature.kind
    opened, record = survey("open")
    with pytest.raises(InputError) as caught:
        group_of(opened, {**record, next(iter(opened.open)): "a secret"})
    assert "secret" not in str(caught.value)


def test_it_needs_nothing_but_an_old_pythons_own_library(tmp_path: Path) -> None:
    """Its files parse as Python 3.9, and without any installed package it answers a plan."""
    package = Path(bcdp_device.__file__).parent
    for path in package.rglob("*.py"):
        ast.parse(path.read_text("utf-8"), feature_version=(3, 9))
    (tmp_path / "plan.json").write_text(VECTORS["joint"]["plan"], encoding="utf-8")
    record = VECTORS["joint"]["examples"][0]["record"]
    script = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r})\n"
        "from bcdp_device import Device, read_plan\n"
        f"plan = read_plan(open({str(tmp_path / 'plan.json')!r}, encoding='utf-8').read())\n"
        f"print(Device({{}}, max_epsilon=20).answer(plan, {record!r}))\n"
        "print({'numpy', 'pydantic', 'bcdp', 'cryptography'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "set()"


def test_the_packages_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As printed, with a plan of its features; the address of its collector is nobody's."""
    policy = Policy(
        epsilon=2,
        features={
            "smoker": {"type": "binary"},
            "income": {"type": "numeric", "bounds": [0, 200000]},
            "region": {"type": "categorical", "values": ["north", "south"]},
        },
    )
    make_plan(policy).save(tmp_path / "plan.json")
    monkeypatch.chdir(tmp_path)
    delivered: list[str] = []

    def posted(url: str, body: bytes, kind: str) -> tuple[int, bytes]:
        delivered.append(url)
        return 200, b'{"accepted": 1, "duplicate": 0}'

    monkeypatch.setattr("bcdp_device.sending._post", posted)
    text = (ROOT / "packages" / "bcdp-device-python" / "README.md").read_text("utf-8")
    names: dict[str, Any] = {}
    for block in blocks(text):
        if block.language == "python":
            exec(block.text, names)
    assert names["device"].answer(names["plan"], names["record"]) == names["messages"][0]
    assert delivered == ["https://survey.example.org/v1/reports"]


def test_the_wheel_holds_the_device_alone_and_is_reproducible(tmp_path: Path) -> None:
    source = ROOT / "packages" / "bcdp-device-python"
    wheels = []
    for number in range(2):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / str(number))]
        subprocess.run(command, cwd=source, capture_output=True, check=True)
        (wheel,) = (tmp_path / str(number)).glob("*.whl")
        wheels.append(wheel.read_bytes())
    assert wheels[0] == wheels[1]
    assert len(wheels[0]) < 100_000
    package = Path(bcdp_device.__file__).parent
    expected = {path.relative_to(package.parent).as_posix() for path in package.rglob("*") if path.suffix != ".pyc"}
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == {name for name in expected if (package.parent / name).is_file()}


def test_every_date_has_its_number_or_is_refused() -> None:
    rows = json.loads((FOLDER / "words" / "dates.json").read_text("utf-8"))
    for since, unit, value, number in rows:
        dates = (date.fromisoformat(since), unit)
        if number is None:
            with pytest.raises(InputError):
                counted_date("day", dates, value)
        else:
            assert counted_date("day", dates, value) == number
            if len(str(value)) == 10:
                assert counted_date("day", dates, date.fromisoformat(value)) == number
