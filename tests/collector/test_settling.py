"""Stores are settled wherever their own folder can be written, and say so where they cannot be.

SQLite writes what it vacuums to the system's temporary folder, unless told otherwise: on a container's read-only root
there is none, on other machines it is outside the store's encrypted disk.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import repeat
from pathlib import Path

import pytest

from bcdp import Plan
from bcdp.collector import StoreError, open_store
from support.collector_fixtures import TOKEN, serving
from support.helpers import small_disk
from support.local_http import local
from support.system import require

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]
MARKS = 151_160
READ_ONLY = """
set -e
root=$1 data=$2; shift 2
mount --rbind / "$root"
mount -o remount,bind,ro "$root"
mount --bind "$data" "$root$data"
exec chroot "$root" "$@"
"""
SETTLES = """
import sys
from bcdp.collector.storage.messages import open_messages
from bcdp.collector.storage.store import open_store
kind, path = sys.argv[1:]
store = open_store(path, "plan") if kind == "reports" else open_messages(path, "https://example.org/v1/batch", 10, 0)
store.settle()
"""


def filled(kind: str, path: Path) -> None:
    """A store that is not settled, larger than what SQLite keeps in memory."""
    if kind == "reports":
        store = open_store(str(path), "plan")
        store.add({secrets.token_bytes(16): (0, 0) for _ in range(MARKS)})
        store.close()
    else:
        from bcdp.collector.storage.messages import mark_of, open_messages

        messages = open_messages(str(path), "https://example.org/v1/batch", 10, 0)
        sealed = [secrets.token_bytes(900) for _ in range(6_000)]
        messages.add({mark_of(message): message for message in sealed})
        messages.close()


@pytest.mark.parametrize(("kind", "table"), [("reports", "collection"), ("messages", "mixing")])
def test_a_store_is_settled_on_a_read_only_root(kind: str, table: str, tmp_path: Path) -> None:
    require(subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0, "util-linux, and its rights")
    data, root = tmp_path / "data", tmp_path / "root"
    data.mkdir()
    root.mkdir()
    path = data / "store.db"
    filled(kind, path)
    inside = [sys.executable, "-c", SETTLES, kind, str(path)]
    words = ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", str(root), str(data), *inside]
    done = subprocess.run(words, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(f"SELECT settled FROM {table}").fetchone() == (1,)
    assert {file.name for file in data.iterdir()} <= {"store.db", "store.db.lock", "store.db-wal", "store.db-shm"}


def test_a_store_that_is_not_settled_is_reported_at_start_and_exit(collection: Collection, tmp_path: Path) -> None:
    """With room for the reports and not for a second copy of them, which the log and the metrics say."""
    plan, path = collection
    with small_disk(tmp_path / "disk", "20m") as disk:
        store = disk / "reports.db"
        filled_store = open_store(str(store), plan.id)
        filled_store.add({secrets.token_bytes(16): (0, 0) for _ in range(MARKS)})
        filled_store.close()
        room = disk / "filler"
        room.write_bytes(bytes(20 * 2**20 - sum(file.stat().st_size for file in disk.iterdir()) - 2**20))
        with serving(tmp_path, path, str(store), "--rate", "0") as server:
            answer = local.get(f"{server.url}/metrics", headers={"authorization": f"Bearer {TOKEN}"})
            assert "bcdp_store_settled 0" in answer.text.splitlines()
            assert server.stop() in (0, -15)
        lines = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
        told = [line for line in lines if line["event"] == "not settled"]
        assert [line["level"] for line in told] == ["error", "error"]
        assert all("SQLITE_FULL" in line["cause"] for line in told)
        assert [line.get("when") for line in told] == ["start", "exit"]
        room.unlink()
        with serving(tmp_path, path, str(store), "--rate", "0") as server:
            answer = local.get(f"{server.url}/metrics", headers={"authorization": f"Bearer {TOKEN}"})
            assert "bcdp_store_settled 1" in answer.text.splitlines()
            assert server.stop() in (0, -15)
        assert "not settled" not in server.log.read_text()


def test_a_disk_that_the_write_ahead_log_fills_is_used_again(tmp_path: Path) -> None:
    """While somebody reads, the log grows; once they left and a little room is there, it is emptied before all else."""
    with small_disk(tmp_path / "disk", "12m") as disk:
        path = str(disk / "reports.db")
        store, another = open_store(path, "plan"), open_store(path, "plan")
        sent = 0

        def add(reports: int) -> None:
            nonlocal sent
            store.add({secrets.token_bytes(16): (0, 0) for _ in range(reports)})
            sent += reports

        add(100)
        another.check()  # a connection that stays
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM answered").fetchone()
            with pytest.raises(StoreError, match="the store is full"):
                list(map(add, repeat(200)))
        subprocess.run(["mount", "-o", "remount,size=13m", str(disk)], check=True)
        for _ in range(60):
            add(20)
        store.settle()
        assert int(another.counts()["count"].sum()) == sent
        store.close()
        another.close()
