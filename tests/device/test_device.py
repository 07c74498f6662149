"""The device as it runs: every word counted, the menu blind to the record, repeated answers repeated.

A device's choice is a function of one 32-bit word at a time. How many of the 2^32 words lead to each result is counted,
so the tables' integers are checked against the running code.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from bcdp import Device, InputError, Plan, Policy, make_plan, privatize
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.answering.reference import answers
from bcdp.notions import levels
from bcdp.plan import Menu
from bcdp.questions import Coordinate
from bcdp.randomizers import Response, binary, hadamard, joint, numeric, response, subset
from bcdp.randomness import RecordWords
from bcdp.records.encoding import as_arrow, encode
from support.helpers import FEATURES, RECORDS, GivenWords, build, full_kernel, word_counts

KEY = bytes(range(32))
OTHER_KEY = bytes(range(150, 182))


PLAN = build(
    FEATURES,
    [
        (("bit",), (2,), binary(0.7)),
        (("number",), (17,), numeric(2.0)),
        (("kind",), (3,), response(3, 1.1)),
        (("place",), (5,), hadamard(5, 0.9)),
        (("place",), (5,), subset(5, 2, 0.8)),
        (("bit", "number", "kind"), (2, 2, 3), joint((2, 2, 3), 1.5)),
    ],
    [
        (1, [0]),
        (TOTAL // 3, [1, 2]),
        (12345, [5, 4]),
        (TOTAL - 1 - TOTAL // 3 - 12345, [0, 3, 1, 2]),
    ],
)


def codes_of_one(record: int, size: int) -> dict[str, Any]:
    codes = encode(PLAN.policy, as_arrow(RECORDS))
    return {name: np.repeat(values[record], size) for name, values in codes.items()}


def menu_start(plan: Plan, menu: int) -> int:
    return sum(other.weight for other in plan.menus[:menu])


def digits(plan: Plan, menu: int, answer: np.ndarray) -> list[np.ndarray]:
    return list(np.unravel_index(answer, plan.symbols[menu]))


def answer_digit(plan: Plan, record: int, menu: int, axis: int, position: int, up: bool) -> Callable[..., np.ndarray]:
    """The answer to one question of a menu as a function of one word; rounding goes up or down; the rest is fixed."""

    def result(words: np.ndarray) -> np.ndarray:
        size = len(words)
        others = np.full(size, 0 if up else TOTAL - 1, dtype=np.uint32)
        columns = dict.fromkeys(range(1, 20), others)
        columns |= {0: np.full(size, menu_start(plan, menu), dtype=np.uint32), position: words}
        menus, answer = answers(plan, codes_of_one(record, size), GivenWords(size, columns))  # type: ignore[arg-type]
        assert (menus == menu).all()
        return digits(plan, menu, answer)[axis]

    return result


def level_of(plan: Plan, record: int, question: int, up: bool) -> int:
    """The input level of a question, by hand."""
    level = 0
    for name, size in zip(plan.questions[question].features, plan.questions[question].levels, strict=True):
        value = RECORDS[name][record]
        if name == "number":
            place = value / 10 * (size - 1)
            digit = math.ceil(place) if up else math.floor(place)
        else:
            digit = value if name != "kind" else "abc".index(value)
        level = level * size + digit
    return level


def table_cases() -> list[tuple[int, int, int, int]]:
    """Menu, axis, question and the position of its table's word, counted as the device's description says."""
    cases = []
    for number, menu in enumerate(PLAN.menus):
        position = 1
        for axis, question in enumerate(menu.questions):
            position += len(PLAN.questions[question].features)
            cases.append((number, axis, question, position))
            position += 1
    return cases


@pytest.mark.parametrize(("menu", "axis", "question", "position"), table_cases())
def test_exactly_the_tables_weight_of_words_gives_each_symbol(
    menu: int, axis: int, question: int, position: int
) -> None:
    table = PLAN.tables[PLAN.questions[question].table]
    for record, up in itertools.product(range(4), (False, True)):
        row = table.row(level_of(PLAN, record, question, up))
        # a run of words is at least as long as the smallest weight, or ends at a multiple of the order's cell
        probes = np.concatenate([np.cumsum(row), np.cumsum(np.sort(row)[::-1]), np.arange(32) * (TOTAL // 32)])
        counted = word_counts(answer_digit(PLAN, record, menu, axis, position, up), probes)
        assert counted == {symbol: int(weight) for symbol, weight in enumerate(row) if weight}


def test_every_other_word_leaves_the_answer_alone() -> None:
    """No word is read twice: the word of one question's table does not move the answers to the other questions."""
    words = np.arange(0, TOTAL, TOTAL // 999, dtype=np.int64).astype(np.uint32)
    for menu, axis, _, position in table_cases():
        for other in set(range(len(PLAN.menus[menu].questions))) - {axis}:
            assert len(np.unique(answer_digit(PLAN, 2, menu, other, position, True)(words))) == 1


def test_a_float_threshold_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The textbook's comparison with e^b / (1 + e^b) keeps the truth for a word too many: above its budget."""
    budget = 0.7
    threshold = math.exp(budget) / (1 + math.exp(budget)) * TOTAL

    def textbook(self: Response, inputs: np.ndarray, words: np.ndarray) -> np.ndarray:
        return np.where(words < threshold, inputs, 1 - inputs)

    exact = PLAN.tables[0].row(1)
    assert word_counts(answer_digit(PLAN, 1, 0, 0, 2, True)) == {0: exact[0], 1: exact[1]}
    monkeypatch.setattr(Response, "sample", textbook)
    broken = word_counts(answer_digit(PLAN, 1, 0, 0, 2, True))
    assert broken == {0: exact[0] - 1, 1: exact[1] + 1}
    assert math.log(broken[1] / broken[0]) > budget >= PLAN.tables[0].level


def test_exactly_the_menus_weight_of_words_draws_it_whatever_the_record() -> None:
    for record in range(4):

        def drawn(words: np.ndarray, record: int = record) -> np.ndarray:
            given = GivenWords(len(words), {0: words})
            return answers(PLAN, codes_of_one(record, len(words)), given)[0]  # type: ignore[arg-type]

        ends = [menu_start(PLAN, menu) for menu in range(5)]
        assert word_counts(drawn, ends) == {menu: part.weight for menu, part in enumerate(PLAN.menus)}


def test_two_records_with_the_same_words_get_the_same_menu() -> None:
    size = 5000
    words = RecordWords(KEY, range(size))
    drawn = [answers(PLAN, codes_of_one(record, size), words) for record in range(4)]
    for menus, answer in drawn[1:]:
        np.testing.assert_array_equal(menus, drawn[0][0])
        assert (answer != drawn[0][1]).any()


@pytest.mark.parametrize("size", [2, 3, 17])
def test_rounding_at_random_is_right_on_average_to_one_word(size: int) -> None:
    """The words that round up are counted: exactly the fraction where it is a multiple of 2^-32, else rounded up."""
    for place in [0.0, 1 / 4, 3 / 8, 1 - 2**-20, 0.1, 0.3, 1 / 3, size - 1 - 2**-9, size - 1.0]:
        value = 2 * place / (size - 1) - 1
        exact = (value + 1) / 2 * (size - 1)
        counted = word_counts(
            lambda words, value=value: Coordinate.rounded(np.full(len(words), value), size).drawn(words),
            [math.floor((exact % 1) * TOTAL), math.ceil((exact % 1) * TOTAL)],
        )
        assert set(counted) <= {math.floor(exact), math.ceil(exact)}
        mean = sum(level * count for level, count in counted.items()) / TOTAL
        assert mean == exact if (exact * TOTAL).is_integer() else 0 <= mean - exact < 1 / TOTAL + 1e-12


def test_the_ends_of_the_range_are_never_moved() -> None:
    words = np.array([0, 1, TOTAL // 2, TOTAL - 1], dtype=np.uint32)
    for size in (2, 17):
        assert Coordinate.rounded(np.full(4, -1.0), size).drawn(words).tolist() == [0] * 4
        assert Coordinate.rounded(np.full(4, 1.0), size).drawn(words).tolist() == [size - 1] * 4


def test_with_rules_nothing_in_a_record_stops_a_report() -> None:
    rules = {"bit": 0, "number": 3, "kind": "b", "place": 4}
    plan = make_plan(Policy(epsilon=1, features={name: {**FEATURES[name], "missing": rules[name]} for name in rules}))
    strange = [math.nan, math.inf, -math.inf, 1e300, -5.0, None, 3.0]
    nothing = [None] * len(strange)
    reports = privatize(plan, {"bit": nothing, "number": strange, "kind": nothing, "place": nothing})
    assert len(reports) == len(strange)
    assert [field.type for field in reports.schema] == [pa.uint32(), pa.uint32()]
    for menu, answer in zip(reports["menu"].to_pylist(), reports["answer"].to_pylist(), strict=True):
        assert 0 <= answer < math.prod(plan.symbols[menu])


@pytest.mark.parametrize("mechanism", ["survey", "cascade"])
@pytest.mark.parametrize("people", [0, 1, 2])
def test_any_number_of_records_gives_as_many_reports(mechanism: str, people: int) -> None:
    plan = make_plan(Policy(epsilon=1, features=FEATURES, mechanism=mechanism))
    reports = privatize(plan, {name: values[:people] for name, values in RECORDS.items()})
    assert len(reports) == people
    assert reports.schema.metadata == {b"bcdp.plan": plan.id.encode()}
    assert reports.schema.types == (
        [pa.uint32(), pa.uint32()] if mechanism == "survey" else [pa.list_(pa.float64(), 10)]
    )


def test_bad_records_are_refused_before_anything_is_sent() -> None:
    with pytest.raises(InputError, match="no column 'kind', no column 'place'"):
        privatize(PLAN, {"bit": [1], "number": [1]})
    with pytest.raises(InputError, match=r"column 'kind': .*accepted: 'a', 'b', 'c'"):
        privatize(PLAN, {**RECORDS, "kind": ["a", "z", "b", "b"]})


def many(size: int) -> dict[str, Any]:
    generator = np.random.default_rng(3)
    return {
        "bit": generator.integers(0, 2, size),
        "number": generator.uniform(-1, 11, size),
        "kind": np.array(["a", "b", "c"])[generator.integers(0, 3, size)],
        "place": generator.integers(0, 5, size),
        "id": np.arange(size) * 7 - 40,
        "email": [f"person{i}@example.org" for i in range(size)],
    }


@pytest.mark.parametrize("ids", ["id", "email"])
@pytest.mark.parametrize("mechanism", ["survey", "cascade"])
def test_with_a_key_the_same_records_give_the_same_reports_in_any_batches(mechanism: str, ids: str) -> None:
    plan = PLAN if mechanism == "survey" else make_plan(Policy(epsilon=2, features=FEATURES, mechanism=mechanism))
    table = as_arrow(many(500))
    whole = privatize(plan, table, KEY, ids)
    assert privatize(plan, table, KEY, table.column(ids)).equals(whole)
    assert privatize(plan, table, KEY, list(many(500)[ids])).equals(whole)
    parts = [privatize(plan, part, KEY, ids) for part in (table.slice(0, 1), table.slice(1, 199), table.slice(200))]
    assert pa.concat_tables(parts).combine_chunks().equals(whole)
    order = np.random.default_rng(4).permutation(500)
    assert privatize(plan, table.take(order), KEY, ids).equals(whole.take(order))
    for other in (privatize(plan, table, OTHER_KEY, ids), privatize(plan, table), privatize(plan, table, ids=ids)):
        assert not other.equals(whole)
    renamed = table.set_column(table.column_names.index(ids), ids, [[f"{i}" for i in range(500)]])
    assert not privatize(plan, renamed, KEY, ids).equals(whole)


def test_words_are_the_records_own_for_this_plan() -> None:
    table = as_arrow(many(300))
    menus, answer = answers(PLAN, encode(PLAN.policy, table), RecordWords(KEY, many(300)["id"], PLAN.id))
    assert privatize(PLAN, table, KEY, "id").to_pydict() == {"menu": menus.tolist(), "answer": answer.tolist()}


def test_two_plans_must_not_share_their_words() -> None:
    """Two answers made from one word tell a bit for certain; made from words of their own they tell the sum.

    This is why the plan's id is part of the words' key: the exact law of two answers with shared words has no LDP.
    """
    weak, strong = binary(0.5), binary(1.0)
    edges = np.unique([0, *(int(t.row(x)[s]) for t in (weak, strong) for x in (0, 1) for s in (0, 1)), TOTAL])
    shared = np.zeros((2, 4))
    for low, high in itertools.pairwise(edges):
        for x in (0, 1):
            word, level = np.array([low], dtype=np.uint32), np.array([x])
            shared[x, int(weak.sample(level, word)[0] * 2 + strong.sample(level, word)[0])] += (high - low) / TOTAL
    own = np.stack([np.outer(weak.row(x), strong.row(x)).ravel() for x in (0, 1)]) / TOTAL**2
    assert levels([0.5, 0.5], shared).ldp == math.inf
    assert levels([0.5, 0.5], own).ldp <= 1.5
    plans = [build({"bit": {"type": "binary"}}, [(("bit",), (2,), t)], [(TOTAL, [0])]) for t in (weak, strong)]
    size = 4000
    seen = [np.array(privatize(p, {"bit": [0] * size}, KEY, range(size))["answer"]) for p in plans]
    # with shared words the second table never lies alone; with words of its own it does as often as chance says
    chance = weak.row(0)[0] / TOTAL * strong.row(0)[1] / TOTAL
    alone = int(np.sum((seen[1] == 1) & (seen[0] == 0)))
    assert abs(alone - size * chance) < 6.2 * math.sqrt(size * chance * (1 - chance))  # false alarm 6e-10


@pytest.mark.parametrize(
    ("key", "ids", "message"),
    [
        (b"short", "id", "key: got '5 bytes'; accepted: exactly 32 random bytes"),
        ("a text of thirty-two characters!", "id", "key: got 'str'; accepted: exactly 32 random bytes"),
        (b"password" * 4, "id", "key: .* not random"),
        (KEY, None, "ids: got None; accepted: a column's name or one id per record"),
        (KEY, "name", "ids: got 'name, the name of no column'; accepted: a column's name"),
        (KEY, range(3), "ids: got '3 ids'; accepted: one for each of the 4 records"),
        (KEY, [1, 2, 3, 1], "ids: got '3 different ids for 4 records'; accepted: a different id for each record"),
        (KEY, ["a", "b", "a", "b"], "ids: got '2 different ids for 4 records'; accepted: a different id"),
        (KEY, np.array([1, 2, 3, 1]), "ids: got '3 different ids for 4 records'; accepted: a different id"),
        (KEY, [0.5, 1.0, 2.0, 3.0], "ids: got 'float'; accepted: integers or texts"),
        (KEY, ["a", b"a", "b", b"b"], "ids: got 'bytes and str'; accepted: integers or texts of one kind"),
        (KEY, pa.array(["a", None, "b", "c"]), "ids: got '1 missing values'; accepted: an id for every record"),
    ],
)
def test_bad_keys_and_ids_are_refused(key: Any, ids: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        privatize(PLAN, {**RECORDS, "id": [1, 2, 3, 4]}, key, ids)


RECORD = {name: values[2] for name, values in RECORDS.items()}


def test_a_device_answers_each_plan_once() -> None:
    device = Device({}, max_epsilon=20)
    first = device.answer(PLAN, RECORD)
    assert set(first) == {"menu", "answer"}
    changed = {name: values[0] for name, values in RECORDS.items()}
    for _ in range(20):
        assert device.answer(PLAN, RECORD) == first
        assert device.answer(PLAN, changed) == first
    fresh = [tuple(Device({}, max_epsilon=20).answer(PLAN, RECORD).values()) for _ in range(60)]
    assert len(set(fresh)) > 1  # no menu has more than 2/3: all sixty are alike with a chance below 1e-10


def test_a_device_has_a_limit_unless_another_is_set() -> None:
    memory: dict[str, dict[str, int]] = {}
    assert 4 < PLAN.certificate.epsilon < 5
    with pytest.raises(InputError, match=r"epsilon: got 4.6.*at most 4, this device's limit; Device\(.., max_epsilon="):
        Device(memory).answer(PLAN, RECORD)
    assert memory == {}
    Device(memory, max_epsilon=PLAN.certificate.epsilon).answer(PLAN, RECORD)
    with pytest.raises(InputError, match=r"at most 4\.5"):  # a kept answer is no way around it
        Device(memory, max_epsilon=4.5).answer(PLAN, RECORD)
    for wrong in (-1.0, math.nan):
        with pytest.raises(InputError, match="max_epsilon"):
            Device({}, max_epsilon=wrong)


def test_answers_are_kept_by_plan() -> None:
    other = build(FEATURES, [(("number",), (17,), numeric(2.0))], [(TOTAL, [0])])
    memory: dict[str, dict[str, int]] = {}
    device = Device(memory, max_epsilon=20)
    kept = {plan.id: device.answer(plan, RECORD) for plan in (PLAN, other)}
    assert memory == kept
    assert Device(memory, max_epsilon=20).answer(other, {}) == kept[other.id]
    device.answer(PLAN, RECORD)["answer"] = -1
    assert memory == kept


def test_a_record_may_leave_out_only_what_has_a_rule() -> None:
    ruled = {name: {**feature, "missing": 1} if name == "bit" else feature for name, feature in FEATURES.items()}
    plan, memory = make_plan(Policy(epsilon=1, features=ruled)), dict[str, dict[str, int]]()
    present = {name: value for name, value in RECORD.items() if name != "bit"}
    for name in present:
        with pytest.raises(InputError, match=f"column '{name}': the record has no value; accepted: .*`missing: VALUE`"):
            Device(memory).answer(plan, {key: value for key, value in present.items() if key != name})
    with pytest.raises(InputError, match="column 'kind': got a value"):
        Device(memory).answer(plan, {**present, "kind": "z"})
    assert memory == {}
    assert Device(memory).answer(plan, present).keys() == {"menu", "answer"}


def test_a_file_remembers(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    first = Device(path, max_epsilon=20).answer(PLAN, RECORD)
    assert [Device(path, max_epsilon=20).answer(PLAN, RECORD) for _ in range(20)] == [first] * 20
    assert Device(str(path), max_epsilon=20).answer(PLAN, {}) == first
    assert json.loads(path.read_text()) == {PLAN.id: first}
    assert sorted(tmp_path.iterdir()) == [tmp_path / ".memory.json.lock", path]


def test_devices_that_share_a_file_share_their_answers(tmp_path: Path) -> None:
    """Both were there before the first answer, like two programs of one person."""
    path, link = tmp_path / "memory.json", tmp_path / "link.json"
    link.symlink_to(path)
    other = build(FEATURES, [(("number",), (17,), numeric(2.0))], [(TOTAL, [0])])
    one, two = Device(path, max_epsilon=20), Device(link, max_epsilon=20)
    kept = {PLAN.id: one.answer(PLAN, RECORD), other.id: two.answer(other, RECORD)}
    assert json.loads(path.read_text()) == kept
    assert two.answer(PLAN, {}) == kept[PLAN.id]
    assert one.answer(other, {}) == kept[other.id]
    assert link.is_symlink()


@pytest.mark.parametrize("lock", [None, nullcontext], ids=["locked", "broken"])
def test_two_programs_at_once_draw_one_answer(lock: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever draws first waits for the other to draw too, in vain if there is a lock; without one both have drawn."""
    if lock is not None:
        monkeypatch.setattr("bcdp_device.memory.locked", lock)
    both, drawn = threading.Barrier(2), []

    def slow(*given: Any) -> Any:
        drawn.append(given)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.3 if lock is None else 30)
        return answers(*given)

    monkeypatch.setattr("bcdp.device.memory.answers", slow)
    devices = [Device(tmp_path / "memory.json", max_epsilon=20) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        reports = [pool.submit(device.answer, PLAN, RECORD) for device in devices]
    assert len(drawn) == (1 if lock is None else 2)
    if lock is None:
        assert reports[0].result() == reports[1].result()


def test_an_answer_is_on_the_disk_before_it_can_be_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First the file's contents, then its name."""
    kept, fsync = list[tuple[bool, bool]](), os.fsync

    def noted(number: int) -> None:
        kept.append((stat.S_ISDIR(os.fstat(number).st_mode), (tmp_path / "memory.json").exists()))
        fsync(number)

    monkeypatch.setattr(os, "fsync", noted)
    Device(tmp_path / "memory.json", max_epsilon=20).answer(PLAN, RECORD)
    assert kept == [(False, False), (True, True)]


def test_a_changed_copy_of_a_plan_is_another_plan() -> None:
    plan = build(FEATURES, [((name,), (2,), binary(0.2)) for name in ("bit", "number")], [(1, [0]), (TOTAL - 1, [1])])
    plan.verify()
    same = plan.model_copy()
    assert (same.id, same) == (plan.id, plan)
    changed = plan.model_copy(update={"menus": (Menu(weight=TOTAL, questions=(0, 1)),)})
    assert changed.id != plan.id
    for use in (
        changed.verify,
        lambda: privatize(changed, RECORDS),
        lambda: Device({}).answer(changed, RECORD),
    ):
        with pytest.raises(InputError, match=r"certificate\.epsilon: claimed 0\.1\d*, but the tables give 0\.3"):
            use()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", '{"a": 5}', '{"a": {"menu": 1}}', '{"a": {"menu": 1, "answer": -1}}',
     '{"a": {"menu": true, "answer": 1}}', '{"a": {"menu": 1, "answer": 4294967296}}',
     '{"a": {"menu": 1, "answer": "1"}}'],
)  # fmt: skip
def test_a_broken_memory_is_refused_and_left_as_it_is(text: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"memory: .*accepted: a file written by a device"):
        Device(path)
    assert path.read_text() == text


def test_a_device_does_not_answer_a_cascade() -> None:
    plan = make_plan(Policy(epsilon=1, features=FEATURES, mechanism="cascade"))
    with pytest.raises(InputError, match=r"plan.mechanism: got 'cascade'; accepted: survey"):
        Device({}).answer(plan, RECORD)


def test_the_law_of_the_device_is_the_kernel_that_the_levels_are_about() -> None:
    """50,000 reports of one record against the kernel: false alarm 1e-9; a budget 10% too high is caught."""
    features = {"a": {"type": "binary"}, "b": {"type": "binary"}}
    size, laws = 50_000, []
    for budget in (1.0, 1.1):
        plan = build(features, [(("a",), (2,), binary(budget)), (("b",), (2,), binary(0.5))], [(TOTAL, [0, 1])])
        laws.append(full_kernel(plan)[1, 0])
        if budget == 1.0:
            reports = privatize(plan, {"a": [1] * size, "b": [0] * size}, KEY, range(size))
    counts = np.bincount(np.array(reports["answer"]), minlength=4)
    assert chisquare(counts, laws[0] * size).pvalue > 1e-9
    assert chisquare(counts, laws[1] * size).pvalue < 1e-9
