"""The compiled kernel gives the reports and counts of the arrays, bit by bit, and refuses what they refuse."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bcdp import InputError, Plan, Policy, Tally, make_plan, privatize
from bcdp.engines.local import privatize_file
from bcdp.mechanisms.survey.answering import batches as bulk
from bcdp.plan.messages import sends_all
from bcdp.randomness import KeyedWords, RecordWords, room_for
from bcdp.records.encoding import as_arrow
from support.helpers import loaded
from support.plan_mutants import fresh_plans

pytest.importorskip("numba")

from support.paths import ROOT

MAKER = loaded(ROOT / "tools" / "make_vectors.py")
VECTORS = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "vectors").glob("*.json"))}
KEY = bytes(range(32))
Words = npt.NDArray[np.uint32]


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is used from the first record on, and more than one block is needed."""
    monkeypatch.setattr(bulk._Saved, "total", 1.0)
    monkeypatch.setattr(bulk, "BLOCK", 512)


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What a function gives where numba is not installed."""

    def without(work: Callable[..., Any], *given: Any) -> Any:
        with monkeypatch.context() as place:
            place.setattr(bulk, "kernel", lambda: None)
            return work(*given)

    return without


class Given:
    """Words that are written down, in the place of those of a key."""

    def __init__(self, words: Words) -> None:
        self._fours = np.pad(words, ((0, 0), (0, -words.shape[1] % 4))).reshape(len(words), -1, 4)

    def __len__(self) -> int:
        return len(self._fours)

    def first(self, into: object) -> Words:
        return np.ascontiguousarray(self._fours[:, 0])

    def following(self, fours: npt.NDArray[np.intp]) -> Words:
        rows = [row[1 : 1 + count] for row, count in zip(self._fours, fours, strict=True)]
        return np.concatenate([np.empty((0, 4), dtype=np.uint32), *rows])


def answered(plan: Plan, records: dict[str, list[Any]], words: Words) -> tuple[list[int], list[int]]:
    def given(part: slice) -> Any:
        return Given(words[part])

    menus, answers = bulk.reports(plan, as_arrow(records), given)
    return menus.tolist(), answers.tolist()


ANSWERED = [name for name, vector in VECTORS.items() if "answers" in vector]


# what the kernel does not know
BY_ARRAYS = {"own", "block", "batch-of-blocks", "ticks", "messages", "messages-of-groups", "panel"} | {
    "steps-and-no-number"
}


def test_blocks_lists_and_numbers_that_may_have_no_answer_are_left_to_the_arrays() -> None:
    plans = {name: Plan.parse(VECTORS[name]["plan"]) for name in ANSWERED}
    by_arrays = {name for name, plan in plans.items() if sends_all(plan) or bulk._program(bulk._Same(plan)) is None}
    assert by_arrays == BY_ARRAYS
    assert {"steps", "waves"} <= plans.keys()


@pytest.mark.parametrize("name", [name for name in ANSWERED if name not in BY_ARRAYS])
def test_every_answer_of_the_vectors(name: str) -> None:
    vector = VECTORS[name]
    plan, people = Plan.parse(vector["plan"]), len(vector["answers"])
    numbers = np.arange(people, dtype=np.uint32)
    words = np.stack([MAKER.word(vector["seed"], numbers, position) for position in range(40)], axis=1)
    records = MAKER.records_of(plan, vector["seed"], people)
    assert answered(plan, records, words) == (vector["menus"], vector["answers"])
    examples = vector["examples"]  # words at the boundaries of every table
    longest = max(len(example["words"]) for example in examples)
    given = np.array([example["words"] + [0] * (longest - len(example["words"])) for example in examples])
    columns = {name: [example["record"].get(name) for example in examples] for name in plan.policy.features}
    menus, answers = answered(plan, columns, given.astype(np.uint32))
    assert menus == [example["menu"] for example in examples]
    assert answers == [example["answer"] for example in examples]


def column(rng: np.random.Generator, feature: Any, size: int) -> Any:
    """Values of a feature in one of the forms in which files and programs hold them."""
    if feature.is_number:
        low, high = feature.bounds
        numbers = rng.uniform(low - (high - low) / 4, high + (high - low) / 4, size)
        numbers[rng.random(size) < 0.2] = rng.choice([low, high, (low + high) / 2])
        mask = None if feature.missing is None else rng.random(size) < 0.1
        if feature.dates is not None:
            return pa.array([feature.dates.written(min(max(number, low), high)) for number in numbers], mask=mask)
        return pa.array(numbers.astype(rng.choice([np.float64, np.float32])), mask=mask)
    values = feature.values or rng.choice([0, 1])  # the usual two, as numbers or as true and false
    listed = feature.values or ((False, True) if values else (0, 1))
    chosen = [listed[k] for k in rng.integers(0, len(listed), size)]
    if feature.missing is not None and rng.random() < 0.5:
        chosen = [None if gone else value for gone, value in zip(rng.random(size) < 0.1, chosen, strict=True)]
    if len({type(value) for value in listed}) > 1:
        chosen = [None if value is None else str(value).lower() for value in chosen]
    found = pa.array(chosen)
    return found.dictionary_encode() if rng.random() < 0.5 and not pa.types.is_boolean(found.type) else found


def records(rng: np.random.Generator, plan: Plan, size: int) -> pa.Table:
    """Records of a plan, of which a part is taken, in one piece or several."""
    columns: dict[str, Any] = {name: column(rng, feature, size + 3) for name, feature in plan.policy.features.items()}
    columns |= {name: [*rng.choice(one.values, size + 3).tolist()] for name, one in plan.policy.open.items()}
    table = pa.table({**columns, "id of a record": np.arange(size + 3) * 5 - 1000}).slice(3)
    return pa.concat_tables([table.slice(0, 100), table.slice(100)]) if rng.random() < 0.3 else table


def plans() -> Iterator[Plan]:
    rng = np.random.default_rng(5)
    yield from map(Plan.build, fresh_plans(rng, 40))


def test_random_plans_and_records(hidden: Callable[..., Any]) -> None:
    rng, compiled = np.random.default_rng(6), 0
    for plan in plans():
        table = records(rng, plan, 1500)
        reports = privatize(plan, table, KEY, "id of a record")
        compiled += bulk._program(bulk._Same(plan)) is not None
        assert reports.equals(hidden(privatize, plan, table, KEY, "id of a record"))
        counts = Tally(plan).add(reports)
        assert counts.to_dict() == hidden(Tally(plan).add, reports).to_dict()
    assert compiled >= 35


def test_the_comparison_sees_one_changed_word() -> None:
    """A kernel that read another word would not pass the tests above."""
    vector = VECTORS["menus"]
    plan, people = Plan.parse(vector["plan"]), len(vector["answers"])
    numbers = np.arange(people, dtype=np.uint32)
    words = np.stack([MAKER.word(vector["seed"], numbers, position) for position in range(40)], axis=1)
    records = MAKER.records_of(plan, vector["seed"], people)
    for position in range(3):
        wrong = words.copy()
        wrong[:, position] = np.roll(wrong[:, position], 1)
        if position != 1:  # of a feature that is not rounded
            assert answered(plan, records, wrong) != (vector["menus"], vector["answers"])


def test_words_after_the_first_four_are_those_of_each_position() -> None:
    ids = np.array([3, 10**18, -(2**52) + 12345, 77])  # the third would be a number that signals, as one of floats
    fours = np.array([0, 2, 1, 3])
    words = KeyedWords(KEY, "purpose").of(ids)
    whole = np.stack([RecordWords(KEY, ids, "purpose").column(position) for position in range(16)], axis=1)
    assert np.array_equal(words.first(room_for(4)), whole[:, :4])
    assert np.array_equal(words.first(room_for(9)), whole[:, :4])  # a place that is larger, as for a last part
    expected = [whole[record, 4 * k : 4 * k + 4] for record in range(4) for k in range(1, fours[record] + 1)]
    assert np.array_equal(words.following(fours), expected)


BITS = make_plan(Policy(epsilon=1, features={f"x{i}": {"type": "binary"} for i in range(10)}))


def yes_or_no(rng: np.random.Generator, count: int, shared: bool) -> Plan:
    """A plan of so many menus, each of one bit, drawn with any weights and kept with any, or all with the same."""
    plan = make_plan(Policy(epsilon=1, features={f"x{i}": {"type": "binary"} for i in range(count)}))
    document = json.loads(plan.text)
    weights = rng.multinomial(2**32 - count, rng.dirichlet(np.ones(count))) + 1
    for menu, weight in zip(document["menus"], weights.tolist(), strict=True):
        menu["weight"] = weight
    if not shared:
        keeps = (2**31 + rng.integers(0, 2**29, count)).tolist()
        document["tables"] = [{"family": "response", "levels": 2, "keep": k, "other": 2**32 - k} for k in keeps]
        for number, question in enumerate(document["questions"]):
            question["table"] = number
    return Plan.build(document)


@pytest.mark.parametrize("count", [1, 2, 3, 31, 32, 33, 70])
@pytest.mark.parametrize("shared", [True, False])
def test_bits_64_at_a_time(count: int, shared: bool, hidden: Callable[..., Any]) -> None:
    """Any number of menus and records, any weights, bits that begin anywhere in a byte."""
    rng = np.random.default_rng(count)
    plan = yes_or_no(rng, count, shared)
    for size, skipped in ((1000, 0), (64, 3), (63, 7), (2 * 512 + 65, 5)):
        bits = rng.integers(0, 2, (count, size + 9)).astype(bool)
        table = pa.table({**{f"x{i}": row for i, row in enumerate(bits)}, "id": np.arange(size + 9)}).slice(
            skipped, size
        )
        reports = privatize(plan, table, KEY, "id")
        assert reports.equals(hidden(privatize, plan, table, KEY, "id"))


@pytest.mark.parametrize("change", [{"menu": 10}, {"answer": 2}, {"menu": 2**32 - 1, "answer": 2**32 - 1}])
@pytest.mark.parametrize("place", [0, 1000, 2000])
def test_impossible_reports_are_refused(change: dict[str, int], place: int, hidden: Callable[..., Any]) -> None:
    columns = {name: np.zeros(2001, dtype=np.uint32) for name in ("menu", "answer")}
    for name, number in change.items():
        columns[name][place] = number
    counts = Tally(BITS)
    with pytest.raises(InputError) as caught:
        counts.add(pa.table(columns))
    assert counts.people == 0
    with pytest.raises(InputError) as expected:
        hidden(Tally(BITS).add, pa.table(columns))
    assert str(caught.value) == str(expected.value)


BAD = {
    "unknown": pa.array(["a", "z"] * 500).dictionary_encode(),
    "text": pa.array(["a", "z"] * 500),
    "missing": pa.array(["a", None] * 500).dictionary_encode(),
    "later": pa.chunked_array([["a", "b"] * 300, ["b", "z"] * 200]).dictionary_encode(),
    "beyond": pa.DictionaryArray.from_arrays(pa.array([0, 9] * 500, pa.int32()), pa.array(["a"]), safe=False),
}


@pytest.mark.parametrize("name", BAD)
def test_records_are_refused_in_the_same_words(name: str, hidden: Callable[..., Any]) -> None:
    """Or coded in the same way: an entry beyond a damaged dictionary counts as its last one."""
    plan = make_plan(Policy(epsilon=1, features={"x": {"type": "categorical", "values": ["a", "b"]}}))
    table = pa.table({"x": BAD[name], "id": np.arange(1000)})

    def told() -> Any:
        try:
            return privatize(plan, table, KEY, "id").to_pydict()
        except InputError as error:
            return str(error)

    assert told() == hidden(told)
    assert isinstance(told(), dict if name == "beyond" else str)


def test_files_by_one_and_two_threads(tmp_path: Path, hidden: Callable[..., Any]) -> None:
    rng = np.random.default_rng(9)
    plan = next(plans())
    pq.write_table(records(rng, plan, 20_000), tmp_path / "people.parquet", row_group_size=3000)

    def written(workers: int) -> bytes:
        output = tmp_path / "reports.parquet"
        privatize_file(plan, tmp_path / "people.parquet", output, KEY, "id of a record", workers=workers)
        return output.read_bytes()

    assert len({written(1), written(2), hidden(written, 1), hidden(written, 2)}) == 1


def test_numba_is_loaded_once_it_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    monkeypatch.setattr(bulk, "kernel", lambda: loaded.append(True))  # and there is none
    monkeypatch.setattr(bulk._Saved, "total", 0.0)
    people = {f"x{i}": [0, 1] * 500 for i in range(10)}
    reports = privatize(BITS, people)
    Tally(BITS).add(reports)
    assert bulk._Saved.total == pytest.approx(1000 * (bulk.RECORD + bulk.REPORT))
    assert not loaded
    monkeypatch.setattr(bulk._Saved, "total", 1 - 500 * bulk.RECORD)
    privatize(BITS, people)
    assert loaded


def test_without_numba_there_is_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in ("compiled", "bit_parallel"):
        monkeypatch.delitem(sys.modules, f"bcdp.mechanisms.survey.answering.{name}", raising=False)
        monkeypatch.delattr(f"bcdp.mechanisms.survey.answering.{name}", raising=False)
    assert bulk.kernel.__wrapped__() is None
