"""Files of any size: the same reports however they are read, memory that does not grow, nothing half-written."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from bcdp import InputError, Plan, Policy, Tally, make_plan, privatize
from bcdp.cli import main
from bcdp.engines.local import in_order, privatize_file, tally_files
from bcdp.exact import TOTAL
from bcdp.files import BATCH_ROWS, read_batches, row_count, written_whole
from bcdp.randomizers import Dense
from bcdp.randomizers.intervals import Intervals
from bcdp.randomness import RecordWords
from support.helpers import small_disk

pytestmark = pytest.mark.slow

KEY = bytes(range(32))
FEATURES: dict[str, Any] = {
    "bit": {"type": "binary", "missing": 0},
    "number": {"type": "numeric", "bounds": [0, 10], "missing": 5},
    "kind": {"type": "categorical", "values": ["a", "b", "c"], "missing": "b"},
}
PLAN = make_plan(Policy(epsilon=3, features=FEATURES, correlation=0.02))
CASCADE = make_plan(Policy(epsilon=3, features=FEATURES, mechanism="cascade"))
OUTPUT = {"privatize": ".parquet", "tally": ".json"}
BITS = make_plan(Policy(epsilon=1, features={f"x{i}": {"type": "binary"} for i in range(10)}))


def people(size: int, seed: int = 1) -> pa.Table:
    generator = np.random.default_rng(seed)
    missing = generator.random(size) < 0.1
    return pa.table(
        {
            "id": np.arange(size) * 7 - 3,
            "bit": pa.array(generator.integers(0, 2, size).astype(bool), mask=missing),
            "number": pa.array(generator.uniform(-1, 11, size).round(3), mask=np.roll(missing, 1)),
            "kind": pa.array(np.array(["a", "b", "c"])[generator.integers(0, 3, size)], mask=np.roll(missing, 2)),
            "unused": np.arange(size),
        }
    )


def write(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=1000)
    elif path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.feather.write_feather(table, path, compression="uncompressed", chunksize=777)
    return path


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    PLAN.save(tmp_path / "plan.json")
    return tmp_path / "plan.json"


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow", ".feather"])
@pytest.mark.parametrize("plan", [PLAN, CASCADE], ids=["survey", "cascade"])
def test_a_file_gives_the_reports_of_its_table_in_the_same_order(plan: Plan, ending: str, tmp_path: Path) -> None:
    table = people(5000)
    data = write(table, tmp_path / f"people{ending}")
    output = tmp_path / "reports.parquet"
    seen: list[float] = []
    assert privatize_file(plan, data, output, KEY, "id", advance=seen.append) == 5000 == sum(seen)
    written = pq.read_table(output)
    assert written.equals(privatize(plan, table, KEY, "id"))
    assert written.schema.metadata[b"bcdp.plan"] == plan.id.encode()
    assert tally_files(plan, [output]).people == 5000
    assert sorted(tmp_path.iterdir()) == sorted([data, output])


@pytest.mark.parametrize("mapped", [0, 2**30])
def test_an_arrow_file_is_read_in_either_way(mapped: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mapped where its batches are large, else read; the rows are those of the table."""
    monkeypatch.setattr("bcdp.files._MAPPED_BYTES", mapped)
    table = people(3000)
    data = write(table, tmp_path / "people.arrow")
    assert pa.Table.from_batches(list(read_batches(data))).equals(table)


def test_the_bytes_do_not_depend_on_workers_or_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(people(20_000), tmp_path / "people.parquet")
    outputs = []
    for workers, rows in [(1, BATCH_ROWS), (2, 1024), (5, 3333)]:
        monkeypatch.setattr("bcdp.files.BATCH_ROWS", rows)
        outputs.append(tmp_path / f"reports{workers}.parquet")
        privatize_file(PLAN, data, outputs[-1], KEY, "id", workers=workers)
    assert len({output.read_bytes() for output in outputs}) == 1
    privatize_file(PLAN, data, tmp_path / "fresh.parquet")
    assert (tmp_path / "fresh.parquet").read_bytes() != outputs[0].read_bytes()


@pytest.mark.parametrize("plan", ["survey", "cascade"])
def test_a_file_with_missing_values_and_no_rule_is_refused_with_their_number(
    plan: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the whole file, not of the batch that showed it first; nothing is written."""
    ruleless = {name: {**feature, "missing": None} for name, feature in FEATURES.items() if name != "kind"}
    made = make_plan(Policy(epsilon=3, features=ruleless | {"kind": FEATURES["kind"]}, mechanism=plan))
    table = people(20_000)
    data = write(table, tmp_path / "people.parquet")
    monkeypatch.setattr("bcdp.files.BATCH_ROWS", 1024)
    with pytest.raises(InputError) as caught:
        privatize_file(made, data, tmp_path / "reports.parquet")
    bits, numbers = (table.column(name).null_count for name in ("bit", "number"))
    assert str(caught.value).startswith(
        f"{data}: column 'bit': {bits:,} of 20,000 records have no value; "
        f"column 'number': {numbers:,} of 20,000 records have no value; accepted: complete records, or `missing: VALUE`"
    )
    assert list(tmp_path.iterdir()) == [data]


def test_work_is_done_ahead_in_order_and_stops_at_the_first_mistake() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        time.sleep(0.002 * ((item * 7) % 5))
        if item == 20:
            raise ValueError("twenty")
        return item

    assert list(in_order(work, range(20), 4)) == list(range(20))
    begun.clear()
    taken = iter(range(1000))
    with pytest.raises(ValueError, match="twenty"):
        list(in_order(work, taken, 4))
    assert len(begun) <= 26
    assert next(taken) <= 26, "no more items are read than are worked on"


def test_a_wide_table_is_read_in_short_batches(tmp_path: Path) -> None:
    table = pa.table({f"c{i}": np.zeros(30_000, dtype=np.int8) for i in range(600)})
    for name in ("wide.parquet", "wide.arrow"):
        sizes = [len(batch) for batch in read_batches(write(table, tmp_path / name))]
        assert sum(sizes) == 30_000
        assert max(sizes) * 600 <= 2**22


def test_only_what_is_asked_is_read(tmp_path: Path) -> None:
    path = write(people(100), tmp_path / "people.parquet")
    assert next(read_batches(path, None, ["id", "bit"])).schema.names == ["id", "bit"]
    assert next(read_batches(path, None, ["id", "nowhere"])).schema.names == people(1).schema.names  # to be told of


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow"])
def test_the_number_of_rows_is_known_or_judged(ending: str, tmp_path: Path) -> None:
    judged = row_count(write(people(4000), tmp_path / f"people{ending}"))
    assert judged == {".parquet": 4000, ".arrow": None}.get(ending, pytest.approx(4000, rel=0.02))
    assert row_count(tmp_path / f"nowhere{ending}") is None


def large_file(path: Path, size: int) -> Path:
    generator = np.random.default_rng(3)
    writer = None
    for start in range(0, size, 2**20):
        count = min(2**20, size - start)
        bits = generator.integers(0, 2, (10, count)).astype(bool)
        table = pa.table({"id": np.arange(start, start + count), **{f"x{i}": bits[i] for i in range(10)}})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=False)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return path


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "import sys, bcdp.cli; sys.exit(bcdp.cli.main())", *map(str, arguments)]


def peak_memory(*arguments: object) -> float:
    """The largest memory of one run of the program, in MB, as the run itself saw it at its end."""
    program = "import sys, bcdp.cli; code = bcdp.cli.main(); print(open('/proc/self/status').read(), file=sys.stderr)"
    told = subprocess.run(
        [sys.executable, "-c", f"{program}; sys.exit(code)", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    peak = re.search(r"VmHWM:\s+(\d+) kB", told.stderr)
    assert peak is not None
    return int(peak[1]) / 1024


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Five million people more take at most 60 MB more, and 600 MB in all.

    Holding them would take more: 18 bytes for a record are 90 MB, twice 8 bytes for the reports tallied are 80 MB.
    """
    BITS.save(tmp_path / "plan.json")
    (tmp_path / "key").write_bytes(KEY)
    peaks: dict[str, list[float]] = {"privatize": [], "tally": []}
    for size in (1_000_000, 6_000_000):
        data, reports = large_file(tmp_path / f"{size}.parquet", size), tmp_path / f"reports{size}.parquet"
        keyed = ["--key-file", tmp_path / "key", "--id-column", "id"]
        peaks["privatize"].append(peak_memory("privatize", tmp_path / "plan.json", data, "-o", reports, *keyed))
        again = shutil.copy(reports, tmp_path / f"again{size}.parquet")
        peaks["tally"].append(
            peak_memory("tally", tmp_path / "plan.json", reports, again, "-o", tmp_path / "tally.json")
        )
    for small, large in peaks.values():
        assert large < 600
        assert large < small + 60


def test_a_killed_run_leaves_nothing_that_matters(tmp_path: Path) -> None:
    BITS.save(tmp_path / "plan.json")
    (tmp_path / "key").write_bytes(KEY)
    data, output = large_file(tmp_path / "people.parquet", 3_000_000), tmp_path / "reports.parquet"
    output.write_text("what was there before")
    run = command(
        "privatize", tmp_path / "plan.json", data, "-o", output, "--key-file", tmp_path / "key", "--id-column", "id"
    )
    before = data.read_bytes()
    process = subprocess.Popen(run, stdout=subprocess.DEVNULL)
    draft = tmp_path / ".reports.parquet.draft"
    while process.poll() is None and not (draft.exists() and draft.stat().st_size > 1000):
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was killed while it wrote"
    assert output.read_text() == "what was there before"
    assert draft.exists()
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    assert not draft.exists()
    again = tmp_path / "again.parquet"
    privatize_file(BITS, data, again, KEY, "id")
    assert output.read_bytes() == again.read_bytes()
    assert data.read_bytes() == before


def test_two_runs_do_not_write_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with written_whole(path) as draft:
        draft.write_text("first")
        with pytest.raises(InputError, match="another run is writing it"), written_whole(path):
            pass
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_block_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), written_whole(path) as draft:
        draft.write_text(str(1 / 0))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match=r"nowhere/out.txt: cannot be written \(No such file"):
        written_whole(tmp_path / "nowhere" / "out.txt").__enter__()


@pytest.mark.parametrize("command", ["privatize", "tally"])
def test_a_full_disk_is_told_in_one_sentence_and_left_clean(
    command: str, plan_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write(people(1_000_000 if command == "privatize" else 1000), tmp_path / "people.parquet")
    if command == "tally":
        privatize_file(PLAN, data, tmp_path / "reports.parquet")
        data = tmp_path / "reports.parquet"
    before = data.read_bytes()
    with small_disk(tmp_path / "disk", "256k") as disk:
        if command == "tally":
            (disk / "filler").write_bytes(b"x" * 2**18)
        files, output = set(disk.iterdir()), disk / f"out{OUTPUT[command]}"
        assert main([command, str(plan_file), str(data), "-o", str(output)]) == 2
        assert (
            capsys.readouterr().err
            == f"bcdp: {output}: cannot be written (No space left on device); accepted: a place with enough room\n"
        )
        assert set(disk.iterdir()) == files
    assert data.read_bytes() == before


def damaged(path: Path, kind: str) -> Path:
    content = path.read_bytes()
    if kind == "truncated":
        content = content[: len(content) * 2 // 3]
    elif kind == "flipped":
        content = content[:200] + bytes(byte ^ 255 for byte in content[200:260]) + content[260:]
    elif kind == "empty":
        content = b""
    else:
        content = bytes(np.random.default_rng(5).integers(0, 256, len(content), dtype=np.uint8))
    path.write_bytes(content)
    return path


DAMAGES = {  # a shorter or other text is still a text, and Arrow files have no checksums
    ".parquet": ("truncated", "flipped", "empty", "noise"),
    ".arrow": ("truncated", "empty", "noise"),
    ".csv": ("empty", "noise"),
}


@pytest.mark.parametrize(("ending", "kind"), [(ending, kind) for ending, kinds in DAMAGES.items() for kind in kinds])
def test_a_damaged_file_is_refused_and_nothing_is_written(
    ending: str, kind: str, plan_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"reports{ending}"
    if ending == ".parquet":
        privatize_file(PLAN, write(people(5000), tmp_path / "people.parquet"), path)
    else:
        write(privatize(PLAN, people(5000)), path)
    content = damaged(path, kind).read_bytes()
    for name in ("tally", "privatize") if kind != "flipped" else ("tally",):  # privatize reads no reports' columns
        output = tmp_path / f"out{OUTPUT[name]}"
        assert main([name, str(plan_file), str(path), "-o", str(output)]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"bcdp: {path}: ")
        assert error.count("\n") == 1
        assert not output.exists()
        assert not list(tmp_path.glob(".*"))
    assert path.read_bytes() == content


def test_reports_of_two_plans_are_not_mixed(
    plan_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_plan(Policy(epsilon=2, features=FEATURES))
    data = write(people(1000), tmp_path / "people.parquet")
    paths = [tmp_path / "ours.parquet", tmp_path / "theirs.parquet"]
    for plan, path in zip((PLAN, other), paths, strict=True):
        privatize_file(plan, data, path)
    assert main(["tally", str(plan_file), *map(str, paths), "-o", str(tmp_path / "out.json")]) == 2
    assert f"bcdp: {paths[1]}: reports: got 'plan {other.id[:12]}..'" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


def test_a_file_without_rows_or_with_a_repeated_id_is_refused(tmp_path: Path) -> None:
    empty = write(people(0), tmp_path / "empty.parquet")
    with pytest.raises(InputError, match="has no rows"):
        privatize_file(PLAN, empty, tmp_path / "out.parquet")
    twice = write(pa.concat_tables([people(10), people(10)]), tmp_path / "twice.parquet")
    with pytest.raises(InputError, match="10 different ids for 20 records"):
        privatize_file(PLAN, twice, tmp_path / "out.parquet", KEY, "id")
    assert not (tmp_path / "out.parquet").exists()


def test_a_folder_is_its_finished_parts(tmp_path: Path) -> None:
    reports = privatize(PLAN, people(3000), KEY, "id")
    folder = tmp_path / "reports"
    folder.mkdir()
    with pytest.raises(InputError, match="the folder has no Parquet files"):
        tally_files(PLAN, [folder])
    for number, start in enumerate(range(0, 3000, 1000)):
        pq.write_table(reports.slice(start, 1000), folder / f"part-{number}.parquet")
    (folder / "_SUCCESS").touch()
    assert tally_files(PLAN, [folder]).to_dict() == Tally(PLAN).add(reports).to_dict()
    assert row_count(folder) == 3000
    (folder / "_temporary").mkdir()
    with pytest.raises(InputError, match="the folder is not finished"):
        tally_files(PLAN, [folder])


def test_a_group_by_of_any_database_is_a_tally(
    plan_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = privatize(PLAN, people(2000), KEY, "id")
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE reports (menu INTEGER, answer INTEGER)")
        rows = zip(reports["menu"].to_pylist(), reports["answer"].to_pylist(), strict=True)
        database.executemany("INSERT INTO reports VALUES (?, ?)", rows)
        grouped = database.execute("SELECT menu, answer, COUNT(*) AS count FROM reports GROUP BY menu, answer")
        columns = dict(zip([name for name, *_ in grouped.description], zip(*grouped, strict=True), strict=True))
    expected = Tally(PLAN).add(reports).to_dict()
    exact = pa.decimal128(38, 0)
    for table in (
        pa.table(columns),
        pa.table({name: pa.array(values, pa.int8()) for name, values in columns.items() if name != "count"})
        .append_column("count", pa.array(columns["count"], pa.uint64())),
        pa.table({name: pa.array(values, pa.int64()).cast(exact) for name, values in columns.items()}),
    ):  # fmt: skip
        for ending in (".csv", ".parquet"):
            path = write(table, tmp_path / f"grouped{ending}")
            assert main(["tally", str(plan_file), str(path), "-o", str(tmp_path / "tally.json")]) == 0
            assert json.loads((tmp_path / "tally.json").read_text()) == expected
    capsys.readouterr()


@pytest.mark.parametrize(
    ("count", "message"),
    [([1, -1], "reports.count: got -1"), ([1, 2**53], f"reports.count: got {2**53}"), ([1, None], "1 missing"),
     ([1.0, 2.0], "type double"), (["1", "2"], "type string")],
)  # fmt: skip
def test_counts_that_are_none_are_refused(count: Any, message: str) -> None:
    tally = Tally(PLAN)
    with pytest.raises(InputError, match=message):
        tally.add({"menu": [0, 0], "answer": [0, 1], "count": count})
    assert tally.people == 0


def test_a_plan_with_very_many_answers_is_counted_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = privatize(PLAN, people(3000), KEY, "id")
    expected = Tally(PLAN).add(reports).to_dict()
    monkeypatch.setattr("bcdp.mechanisms.survey.estimation.tally._LARGEST_RECTANGLE", 0)
    assert Tally(PLAN).add(reports).to_dict() == expected
    with pytest.raises(InputError, match=r"reports\.answer: got 99999"):
        Tally(PLAN).add({"menu": [0], "answer": [99999]})


def random_weights(generator: np.random.Generator, rows: int, size: int) -> np.ndarray:
    """Rows that sum to 2^32, with very small, very large and empty intervals among them."""
    ideal = np.exp(generator.normal(0, 4, (rows, size))) * (generator.random((rows, size)) < 0.9) + 1e-300
    weights = np.floor(ideal / ideal.sum(axis=1, keepdims=True) * TOTAL).astype(np.int64)
    weights[np.arange(rows), weights.argmax(axis=1)] += TOTAL - weights.sum(axis=1)
    return weights


def boundary_words(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every row with every word beside one of its boundaries, beside a multiple of 2^20, and some at random."""
    around = np.concatenate([weights.cumsum(axis=1), np.tile(np.arange(0, TOTAL, 2**20), (len(weights), 1))], axis=1)
    words = np.concatenate([around - 1, around, around + 1], axis=1) % TOTAL
    rows = np.repeat(np.arange(len(weights)), words.shape[1])
    return rows, words.ravel().astype(np.uint32)


@pytest.mark.parametrize(("rows", "size"), [(1, 1), (1, 10), (2, 2), (8, 8), (17, 40), (3, 600), (5000, 3)])
def test_the_interval_of_every_word_near_a_boundary_is_exact(rows: int, size: int) -> None:
    weights = random_weights(np.random.default_rng(rows * size), rows, size)
    row, words = boundary_words(weights if rows < 1000 else weights[:20])
    expected = (weights.cumsum(axis=1)[row] <= words[:, None].astype(np.int64)).sum(axis=1)
    np.testing.assert_array_equal(Intervals(weights).find(row, words), expected)
    np.testing.assert_array_equal(Dense(weights).sample(row, words), expected)


def test_a_guide_that_is_trusted_at_a_boundary_is_caught() -> None:
    weights = random_weights(np.random.default_rng(9), 8, 8)
    row, words = boundary_words(weights)
    expected = (weights.cumsum(axis=1)[row] <= words[:, None].astype(np.int64)).sum(axis=1)
    broken = Intervals(weights)
    assert broken._guide is not None
    unsure = np.flatnonzero(broken._guide == 8)[0]
    broken._guide[unsure] = broken._guide[unsure - 1]
    assert (broken.find(row, words) != expected).any()


def test_an_id_is_the_same_in_every_file(tmp_path: Path) -> None:
    """As an integer or as text, in any format, whatever the other rows hold: a rerun repeats, it does not redraw."""
    table = people(300)
    expected = privatize(PLAN, table, KEY, "id")
    as_text = table.set_column(0, "id", table["id"].cast(pa.string()))
    stranger = table.slice(0, 1).set_column(0, "id", [["A41"]])
    for records in (table, as_text, pa.concat_tables([as_text, stranger])):
        for ending in (".csv", ".parquet", ".arrow"):
            data = write(records, tmp_path / f"people{ending}")
            privatize_file(PLAN, data, tmp_path / "reports.parquet", KEY, "id")
            assert pq.read_table(tmp_path / "reports.parquet").slice(0, 300).equals(expected)


def test_ids_of_a_csv_are_not_taken_for_numbers(tmp_path: Path) -> None:
    """`007` is another person than `7`, and `NA` is nobody's lack of an id."""
    ids = ["7", "007", "NA", "7.0", "1e1", "10", "true"] * 50
    ids = [f"{text}{'-' * (place // 7)}" for place, text in enumerate(ids)]
    table = people(len(ids)).set_column(0, "id", [ids])
    write(table, tmp_path / "people.csv")
    privatize_file(PLAN, tmp_path / "people.csv", tmp_path / "reports.parquet", KEY, "id")
    assert pq.read_table(tmp_path / "reports.parquet").equals(privatize(PLAN, table, KEY, "id"))
    assert len(np.unique([RecordWords(KEY, ids).column(place) for place in range(3)], axis=1).T) == len(ids)


def test_texts_have_the_same_words_wherever_they_stand() -> None:
    texts = ["", "a", "ä", "0123456789abcdef", "0123456789abcdefg", "x" * 100, "b\0", "b"]
    expected = [RecordWords(KEY, [text]).column(0)[0] for text in texts]
    assert len(set(expected)) == len(texts)
    whole = pa.array(["before", *texts, "after"])
    for column in (texts, pa.array(texts), whole.slice(1, len(texts)), whole.cast(pa.large_string()).slice(1, 8)):
        assert RecordWords(KEY, column).column(0).tolist() == expected


@pytest.mark.parametrize("plan", [PLAN, CASCADE], ids=["survey", "cascade"])
def test_a_plan_read_from_its_text_gives_the_same_reports(plan: Plan) -> None:
    table = people(200)
    assert privatize(Plan.parse(plan.text), table, KEY, "id").equals(privatize(plan, table, KEY, "id"))


def test_a_single_changed_bit_in_reports_is_noticed(tmp_path: Path) -> None:
    """Another answer in the place of one is still a number; only the checksums that reports are written with tell."""
    ours, bare = tmp_path / "ours.parquet", tmp_path / "bare.parquet"
    privatize_file(PLAN, write(people(5000), tmp_path / "people.parquet"), ours)
    pq.write_table(pq.read_table(ours), bare, compression="none")
    counts = tally_files(PLAN, [ours]).to_dict()
    unnoticed = dict.fromkeys((ours, bare), 0)
    for path in unnoticed:
        content = path.read_bytes()
        for place in range(0, len(content), len(content) // 50):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with contextlib.suppress(InputError):
                unnoticed[path] += tally_files(PLAN, [path]).to_dict() != counts
    assert unnoticed[ours] == 0
    assert unnoticed[bare] > 5
