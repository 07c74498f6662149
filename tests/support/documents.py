"""Reads a document as a person at a terminal would: its blocks in order, in one folder, outputs compared."""

from __future__ import annotations

import configparser
import csv
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stdout
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pyarrow.csv
import pyarrow.parquet as pq
import yaml

import bcdp
from bcdp.cli import main
from support.collector_fixtures import POSTGRES, Postgres, Server
from support.local_http import local
from support.paths import ROOT
from support.spark import SETTINGS
from support.system import require

LANGUAGES = {"python", "r", "sh", "yaml", "js", "json", "sql", "csv", "text", "nginx", "ini", "dockerfile"}
FEWER = {"experiment": ["--trials", "1", "--n", "500"], "simulate": ["--trials", "2", "--users", "500"]}
ELSEWHERE = {"R", "apt-get", "docker", "systemctl"}  # they would change the machine
QUICK = " ".join(f"--conf '{name}={value}'" for name, value in (SETTINGS | {"spark.sql.shuffle.partitions": 1}).items())
SPARK = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": f"--master local[2] {QUICK} pyspark-shell"}
POLICY = """\
epsilon: 2
features:
  smoker: {type: binary, delta: 0.2}
  drinker: {type: binary}
  region: {type: categorical, values: [north, south, east, west]}
"""


@dataclass(frozen=True)
class Block:
    """What stands between two fences, and the line of the first."""

    language: str
    text: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a document, in order; what stands outside of fences comes line by line, with the language `-`."""
    opened: tuple[int, str] | None = None
    held: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.lstrip().startswith("```"):
            if opened is None:
                yield Block("-", line, number)
            held.append(line)
        elif opened is None:
            opened, held = (number, line.strip()[3:]), []
        else:
            yield Block(opened[1], "".join(f"{row}\n" for row in held), opened[0])
            opened = None
    assert opened is None, f"line {opened}: a fence that is never closed"


def is_shown(shown: str, said: str) -> bool:
    """Whether a document shows what was said, apart from digits, which chance may change, and from spacing.

    A line `...` in the document stands for any lines.
    """
    parts = re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)
    return re.fullmatch(".*".join(re.escape(_plain(part)) for part in parts), _plain(said)) is not None


def _plain(text: str) -> str:
    without_ids = re.sub(r"\b[0-9a-f]{12,64}\b", "0", text)
    return " ".join(re.sub(r"-?\d[\d,.]*(e[-+]?\d+)?", "0", without_ids).split())


def kitchen(folder: Path) -> None:
    """Writes the small files that the how-to pages speak of: 1,024 people whose features are independent."""
    policy = folder / "policy.yaml"
    policy.write_text(f"{POLICY}correlation: 0.05\n")
    (folder / "first.yaml").write_text(f"{POLICY}correlation: 1\n")
    (folder / "key").write_bytes(os.urandom(32))
    kinds = list(product([0, 1], [0, 1], ["north", "south", "east", "west"]))
    columns = dict(zip(("smoker", "drinker", "region"), zip(*kinds * 64, strict=True), strict=True))
    people = pyarrow.table({"id": range(len(kinds) * 64), **{name: list(column) for name, column in columns.items()}})
    pq.write_table(people, folder / "people.parquet")
    for name in ("people.csv", "sample.csv"):
        pyarrow.csv.write_csv(people, folder / name)
    with (folder / "prior.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[*columns, "probability"], *([*kind, 1 / len(kinds)] for kind in kinds)])
    plan = bcdp.make_plan(bcdp.Policy.load(policy))
    plan.save(folder / "plan.json")
    reports = bcdp.privatize(plan, people)
    pq.write_table(reports, folder / "reports.parquet")
    bcdp.Tally(plan).add(reports).save(folder / "tally.json")


@dataclass
class Reader:
    """One reading of one document in the current folder; `postgres` gives a database server when one is needed."""

    postgres: Callable[[], Postgres]
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "document"})
    servers: list[Server] = field(default_factory=list)
    relays: list[subprocess.Popen[str]] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)  # those in the text, and the ones that stand for them here
    variables: dict[str, str] = field(default_factory=dict)

    def read(self, text: str) -> None:
        """Runs the document's blocks; whatever a text block shows right after a block that ran was its output."""
        said = ""
        try:
            for block in blocks(text):
                try:
                    said = self._do(block, said)
                except Exception as error:
                    error.add_note(f"in the block at line {block.line}:\n{block.text}")
                    raise
        finally:
            for server in self.servers:
                server.kill()
            for relay in self.relays:
                with relay:
                    relay.kill()

    def _do(self, block: Block, said: str) -> str:
        match block.language:
            case "-":
                assert not re.match(r" {4,}(bcdp|\$) ", block.text), "a command outside of a fenced block"
                return said
            case "python":
                return self._python(self._here(block.text))
            case "sh":
                lines = block.text.replace("\\\n", " ").splitlines()
                return "".join(self._shell(self._here(line)) for line in lines)
            case "text":
                assert not said or is_shown(block.text, said), f"what came out was:\n{said}"
            case "yaml":
                _write_yaml(block.text)
            case "sql":
                _count(block.text)
            case "json":
                json.loads(block.text)
            case "ini":
                configparser.ConfigParser(interpolation=None, strict=False).read_string(block.text)
            case language:
                assert language in LANGUAGES, f"language {language!r}; accepted: {', '.join(sorted(LANGUAGES))}"
        return ""

    def _here(self, text: str) -> str:
        for there, here in self.addresses.items():
            text = text.replace(there, here)
        return text

    def _python(self, text: str) -> str:
        if "pyspark" in text:  # a session of its own, which must not be there for other tests
            return self._run([sys.executable, "-c", text], 0)
        heard = io.StringIO()
        with redirect_stdout(heard):
            exec(compile(text, "document", "exec"), self.names)
        return heard.getvalue()

    def _shell(self, line: str) -> str:
        words = shlex.split(line, comments=True)
        expected = int(match[1]) if (match := re.search(r"# exit code (\d)", line)) else 0
        match words:
            case [] | [".", ".venv/bin/activate"]:
                return ""
            case ["make", *targets]:
                made = (ROOT / "Makefile").read_text()
                assert all(re.search(rf"^{target}:", made, re.MULTILINE) for target in targets), "no such target"
                return ""
            case ["pip", "install", package]:
                extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
                named = re.fullmatch(r"(?:\.|bcdp-privacy)(?:\[(.+)\])?", package)
                assert named, "neither this folder nor the package"
                assert named[1] in (None, *extras), "no such extra"
                return ""
            case ["systemctl", "stop", "bcdp"] if self.servers:
                assert {server.stop() for server in self.servers} <= {0, -15}
                self.servers.clear()
                return ""
            case [program, *_] if program in ELSEWHERE:
                return ""
            case ["bcdp", "serve", plan, *options]:
                self._serve(plan, options)
                return ""
            case ["bcdp", "relay", *options]:
                self._relay(options)
                return ""
            case ["bcdp", command, *rest] if not set("|<>;&$*") & set("".join(rest)) and "spark" not in rest:
                heard = io.StringIO()
                with redirect_stdout(heard):
                    code = main([command, *rest, *FEWER.get(command, [])])
                assert code == expected, f"exit code {code}"
                return heard.getvalue()
            case [program, *rest]:
                if "spark" in rest:
                    require(shutil.which("java"), "openjdk-17-jre-headless")
                if program == "createdb" or "pg_dump" in rest:
                    self._use_postgres()
                return self._run(["bash", "-ec", line], expected)
        raise AssertionError(line)

    def _run(self, command: list[str], expected: int) -> str:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], str(POSTGRES)])
        environment = {**os.environ, "PATH": path, **SPARK, **self.variables}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == expected, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def _serve(self, plan: str, options: list[str]) -> None:
        folder = Path("servers")
        folder.mkdir(exist_ok=True)
        server = Server(folder, Path(plan), "reports.db", *options)
        self.servers.append(server)
        self.addresses["127.0.0.1:8000"] = urlsplit(server.url).netloc
        assert local.get(f"{server.url}/healthz").status_code == 200

    def _relay(self, options: list[str]) -> None:
        command = [sys.executable, "-c", "from bcdp.cli import main; main()", "relay", *options, "--port", "0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.relays.append(process)
        assert process.stderr is not None
        address = process.stderr.readline().strip()
        assert address.startswith("relay: http://127.0.0.1:"), address
        self.addresses["127.0.0.1:8001"] = urlsplit(address.removeprefix("relay: ")).netloc
        for _ in range(400):
            try:
                local.get(f"{address.removeprefix('relay: ')}healthz", timeout=5)
                return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the relay does not answer")

    def _use_postgres(self) -> None:
        found = urlsplit(self.postgres().database(f"other_{os.urandom(4).hex()}"))
        self.variables |= {"PGHOST": str(found.hostname), "PGPORT": str(found.port), "PGUSER": str(found.username)}
        self.addresses |= {"db.example.org": f"{found.hostname}:{found.port}", "?sslmode=verify-full": ""}


def _write_yaml(text: str) -> None:
    """A policy has to be one; what its first line calls a file is a file for the blocks that follow."""
    named = re.match(r"# (\S+\.yaml)$", text, re.MULTILINE)
    path = Path(named[1] if named else "shown.yaml")
    path.write_text(text, encoding="utf-8")
    if "epsilon" in yaml.safe_load(text):
        bcdp.Policy.load(path)


def _count(query: str) -> None:
    """Runs a query over the reports, as a database would, and leaves its rows in counts.csv."""
    reports = pq.read_table("reports.parquet").select(["menu", "answer"])
    with closing(sqlite3.connect(":memory:")) as database, open("counts.csv", "w", newline="") as file:
        database.execute("CREATE TABLE reports (menu INTEGER, answer INTEGER)")
        database.executemany("INSERT INTO reports VALUES (?, ?)", zip(*reports.to_pydict().values(), strict=True))
        found = database.execute(query)
        csv.writer(file).writerows([[column[0] for column in found.description], *found])
