"""Real servers for the collector's tests and benchmarks: the collector itself and a PostgreSQL of its own."""

from __future__ import annotations

import glob
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from bcdp import Plan, Policy, make_plan
from bcdp.collector.storage.report_marks import Marker
from support.local_http import local

TOKEN = "only-the-operator-knows"
HEADERS = {"content-type": "application/json"}
POSTGRES = Path(max(glob.glob("/usr/lib/postgresql/*/bin"), default="/usr/lib/postgresql/bin"))


def small_plan(epsilon: float = 2.0) -> Plan:
    """A plan with several menus of several answers."""
    features = {
        "smoker": {"type": "binary", "delta": 0.4, "label": "Do you smoke?"},
        "income": {"type": "numeric", "bounds": [0, 200000], "delta": 0.5},
        "region": {"type": "categorical", "values": ["north", "south", "east", "west"]},
    }
    return make_plan(Policy(epsilon=epsilon, features=features, correlation=0.05))


def upload(plan: Plan, reports: list[tuple[str, int, int]]) -> dict[str, Any]:
    """The body of a request with these reports."""
    rows = [{"id": identity, "menu": menu, "answer": answer} for identity, menu, answer in reports]
    return {"plan": plan.id, "reports": rows}


class Server:
    """`bcdp serve` in a process group of its own, listening on a free port of the loopback interface."""

    def __init__(self, folder: Path, plan: Path, store: str, *options: str, first: str = "") -> None:
        token = folder / "token"
        token.write_text(TOKEN)
        command = ["serve", str(plan), "--store", store, "--port", "0", "--token-file", str(token)]
        command += [*([] if "--refresh" in options else ["--refresh", "1"]), *options]
        start = f"{first}\nimport sys; from bcdp.cli import main; sys.exit(main())"
        self.log = folder / f"server-{time.monotonic_ns()}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen([sys.executable, "-c", start, *command], stderr=log, start_new_session=True)
        self.url = f"http://127.0.0.1:{self._port()}"
        for _ in range(1000):
            try:
                local.get(f"{self.url}/healthz", timeout=5)
                return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError(self.log.read_text())

    def _port(self) -> int:
        for _ in range(2000):
            for line in self.log.read_text().splitlines():
                if '"serving"' in line and line.endswith("}"):
                    return int(json.loads(line)["port"])
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(self.log.read_text())

    def kill(self) -> None:
        """Ends it as a power cut would end the process: at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Its exit code after a polite request to stop."""
        self.process.terminate()
        return self.process.wait(timeout=40)

    def people(self) -> int:
        """How many reports the service itself counts."""
        answer = local.get(f"{self.url}/v1/estimates", headers={"authorization": f"Bearer {TOKEN}"}, timeout=30)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["people"])


@contextmanager
def serving(folder: Path, plan: Path, store: str, *options: str, first: str = "") -> Iterator[Server]:
    """A server that is gone when the block ends; `first` is Python that runs before it, to break it."""
    server = Server(folder, plan, store, *options, first=first)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


class Postgres:
    """A PostgreSQL server of its own, in a temporary folder, on a free port of the loopback interface."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bcdp-postgres-"))
        self._as: list[str] = []
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(self.folder, "postgres", "postgres")
            self._as = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._run("initdb", "-D", "data", "-U", "bcdp", "--auth=trust", "--encoding=UTF8", "--locale=C")
        settings = f"port={self._port}\nlisten_addresses='127.0.0.1'\nunix_socket_directories=''\nwal_recycle=off\n"
        with (self.folder / "data/postgresql.conf").open("a") as file:
            file.write(settings)
        self.start()

    def start(self) -> None:
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop")

    def database(self, name: str) -> str:
        """The address of a new, empty database."""
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self._port), "-U", "bcdp", name)
        return f"postgresql://bcdp@127.0.0.1:{self._port}/{name}"

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as, str(POSTGRES / program), *arguments]
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 0, done.stderr.decode()


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path]:
    """A plan, and the file that holds it."""
    plan, path = small_plan(), tmp_path_factory.mktemp("collection") / "plan.json"
    plan.save(path)
    return plan, path


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running PostgreSQL."""
    from support.system import require

    require((POSTGRES / "initdb").exists(), "postgresql")
    server = Postgres()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store, of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "reports.db")
    return new_database(request.getfixturevalue("postgres"))


def new_database(server: Postgres) -> str:
    return server.database(f"reports_{time.monotonic_ns()}")


@dataclass(frozen=True)
class Stored:
    """What a store holds: marks of the ids that answered, and how often each answer to each menu was given."""

    marks: set[bytes]
    counts: dict[tuple[int, int], int]

    def holds(self, plan: Plan, identities: Iterable[str]) -> bool:
        """Whether these ids have answered."""
        mark = Marker(plan.id, None)
        return {mark(identity) for identity in identities} <= self.marks


_STORED = """
SELECT mark, NULL AS menu, NULL AS answer, NULL AS count FROM answered
UNION ALL SELECT NULL, menu, answer, count FROM counts
"""


def stored(url: str) -> Stored:
    """What a store holds, read without the package's code; a mark is there once, and has one answer.

    One statement reads both tables: PostgreSQL may still be committing what a server sent before it was killed.
    """
    rows = run_sql(url, _STORED)
    marks = [mark for mark, *_ in rows if mark is not None]
    contents = Stored(set(marks), {(menu, answer): count for mark, menu, answer, count in rows if mark is None})
    assert len(contents.marks) == len(marks) == sum(contents.counts.values())
    return contents


def run_sql(url: str, statement: str) -> list[Any]:
    """The rows that a statement gives, without the package's code."""
    connect = psycopg.connect if url.startswith("postgresql") else sqlite3.connect
    with closing(connect(url)) as connection:
        cursor = connection.execute(statement)
        rows = cursor.fetchall() if cursor.description else []
        connection.commit()
    return rows
