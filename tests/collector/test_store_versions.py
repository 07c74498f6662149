"""Which stores and tallies are accepted: those of this format, by a number; others are refused with how to go on."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from bcdp import InputError, Plan, Tally
from bcdp.cli import main
from bcdp.collector import StoreError, open_store
from bcdp.collector.storage.messages import open_messages
from support.collector_fixtures import run_sql
from support.system import require

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]


def begun(url: str, plan_id: str = "plan") -> None:
    store = open_store(url, plan_id)
    store.add({bytes(16): (0, 0)})
    store.settle()
    store.close()


def number(url: str, schema: int) -> None:
    """States another schema's number, or none."""
    if url.startswith("postgresql"):
        stated = f"'bcdp schema {schema}'" if schema else "NULL"
        run_sql(url, f"COMMENT ON TABLE collection IS {stated}")
    else:
        run_sql(url, f"PRAGMA user_version = {schema}")


def test_a_later_schema_is_refused_with_how_to_go_on(store_url: str) -> None:
    begun(store_url)
    number(store_url, 2)
    for read_only in (False, True):
        with pytest.raises(
            StoreError, match=r"schema 2, this version of bcdp knows 1; export it with the version that"
        ):
            open_store(store_url, "plan", read_only).counts()


def test_a_store_without_a_number_is_read_and_numbered(store_url: str) -> None:
    begun(store_url)
    number(store_url, 0)
    store = open_store(store_url, "plan")
    assert int(store.counts()["count"].sum()) == 1
    store.settle()
    store.close()
    stated = "SELECT obj_description('collection'::regclass)"
    numbered = run_sql(store_url, stated if store_url.startswith("postgresql") else "PRAGMA user_version")
    assert numbered in ([(1,)], [("bcdp schema 1",)])


def test_a_message_store_has_a_number_too(tmp_path: Path) -> None:
    path = str(tmp_path / "relay.db")
    open_messages(path, "https://example.org/v1/batch", 2, 0).check()
    assert run_sql(path, "PRAGMA user_version") == [(1,)]
    number(path, 7)
    with pytest.raises(StoreError, match="schema 7"):
        open_messages(path, "https://example.org/v1/batch", 2, 0).check()


def test_tables_of_something_else_are_left_alone(store_url: str) -> None:
    """A table of reports of somebody else's is no earlier store; one of a name that is needed is named."""
    run_sql(store_url, "CREATE TABLE reports (author TEXT, title TEXT)")
    begun(store_url)
    assert run_sql(store_url, "SELECT * FROM reports") == []
    run_sql(store_url, "DROP TABLE counts")
    run_sql(store_url, "CREATE TABLE counts (sheep INTEGER)")
    with pytest.raises(
        StoreError, match="the database has a table counts of something else; give the store one of its"
    ):
        open_store(store_url, "plan").check()


def test_an_earlier_store_is_refused_with_how_to_go_on(store_url: str) -> None:
    run_sql(store_url, "CREATE TABLE reports (id TEXT PRIMARY KEY, menu INTEGER, answer INTEGER)")
    with pytest.raises(StoreError, match=r"earlier version .* export it with the version that wrote it"):
        open_store(store_url, "plan").check()


def test_a_tally_states_its_format(collection: Collection, tmp_path: Path) -> None:
    plan, _ = collection
    Tally(plan).save(tmp_path / "tally.json")
    document = json.loads((tmp_path / "tally.json").read_text())
    assert document["format"] == 1
    assert Tally.from_dict({key: value for key, value in document.items() if key != "format"}, plan) == Tally(plan)
    with pytest.raises(
        InputError, match=r"tally.format: got 2; accepted: 1; read another one with the bcdp that wrote"
    ):
        Tally.from_dict(document | {"format": 2}, plan)


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    bound = ["mount", "--bind", str(folder), str(folder)]
    require(os.getuid() == 0 and subprocess.run(bound, check=False).returncode == 0, "root, to mount a snapshot")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("state", ["settled", "in use", "in use, without its index"])
def test_a_read_only_snapshot_is_exported_or_says_why_not(
    collection: Collection, state: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, path = collection
    snapshot, place = tmp_path / "snap shot?", tmp_path / "reports.db"
    snapshot.mkdir()
    store = open_store(str(place), plan.id)
    store.add({bytes([number] * 16): (0, 0) for number in range(9)})
    if state == "settled":
        store.settle()
        store.close()
    for ending in ("", "-wal", *(["-shm"] if state == "in use" else [])):
        if (file := Path(f"{place}{ending}")).exists():
            shutil.copy(file, snapshot)
    output = tmp_path / "tally.json"
    command = ["export", str(path), "--store", str(snapshot / "reports.db"), "-o", str(output)]
    with read_only(snapshot):
        code = main(command)
    store.close()
    if state == "in use, without its index":
        assert code == 2
        assert "copy its files to a folder that can be written" in capsys.readouterr().err
        assert main(command) == 0  # where it can be
    else:
        assert code == 0
    assert Tally.load(output, plan).people == 9


def test_export_changes_nothing(collection: Collection, tmp_path: Path) -> None:
    plan, path = collection
    place = tmp_path / "reports.db"
    begun(str(place), plan.id)
    before = place.read_bytes()
    assert main(["export", str(path), "--store", str(place), "-o", str(tmp_path / "tally.json")]) == 0
    assert place.read_bytes() == before
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("SELECT settled FROM collection").fetchone() == (1,)
