"""What a store tells about who answered what, and when: nothing, once it is settled.

Each examination looks for order and links in every source; that a source which tells nothing is taken for one that does
has a probability of at most 1e-9 over all of them. The same examination finds both where they are: in a store that is
not settled yet, in one that keeps each report with its id, and in a write-ahead log that the database may not drop.
"""

from __future__ import annotations

import math
import random
import re
import secrets
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from bcdp import Plan
from bcdp.cli import main
from bcdp.collector import StoreError, open_store
from bcdp.collector.storage.report_marks import Marker
from support.collector_fixtures import POSTGRES, Postgres, new_database, run_sql, serving, upload
from support.collector_forensics import (
    FALSE_ALARM,
    Links,
    Places,
    links_told,
    newest_first,
    order_told,
    played_back,
    raw_places,
)
from support.local_http import http_client
from support.paths import ROOT

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]
Truth = dict[bytes, tuple[int, int]]  # in the order in which the reports came
PEOPLE = 240
UNSETTLED = (
    "import bcdp.collector.storage.group_commit as writer; writer._UNSETTLED_SECONDS = 1e6"  # not before the end
)


def cells(plan: Plan) -> list[tuple[int, int]]:
    """Every answer to every menu."""
    return [(menu, answer) for menu, digits in enumerate(plan.symbols) for answer in range(math.prod(digits))]


def people(plan: Plan) -> dict[str, tuple[int, int]]:
    """The answers of so many ids, each answer as likely as the others."""
    possible = cells(plan)
    return {secrets.token_hex(8): secrets.choice(possible) for _ in range(PEOPLE)}


def marked(plan: Plan, answers: dict[str, tuple[int, int]]) -> Truth:
    mark = Marker(plan.id, None)
    return {mark(identity): answer for identity, answer in answers.items()}


def files_of(url: str, postgres: Postgres | None) -> dict[str, bytes]:
    """The raw bytes of everything that a database keeps on disk, by kind."""
    if postgres is None:
        found = {path.name: path.read_bytes() for path in Path(url).parent.glob("reports.db*")}
        return {name: data for name, data in found.items() if data}
    run_sql(url, "CHECKPOINT")  # what is in memory goes to the files
    (number,) = run_sql(url, "SELECT oid FROM pg_database WHERE datname = current_database()")[0]
    tables = sorted((postgres.folder / f"data/base/{number}").iterdir(), key=lambda path: path.stat().st_mtime)
    log = sorted((postgres.folder / "data/pg_wal").glob("0*"))
    return {kind: b"".join(path.read_bytes() for path in paths) for kind, paths in (("tables", tables), ("log", log))}


def dump_of(url: str) -> bytes:
    """The database's own dump, as text."""
    command = [str(POSTGRES / "pg_dump"), url] if url.startswith("postgresql") else ["sqlite3", url, ".dump"]
    text = subprocess.run(command, capture_output=True, check=True).stdout
    return re.sub(rb"\\(un)?restrict .*\n", b"", text)  # chosen at random for each dump


def examine(url: str, postgres: Postgres | None, marks: list[bytes], folder: Path) -> tuple[dict[str, Places], Links]:
    """Every source that could tell the order of these marks, and the answers that they seem to have given."""
    sources: dict[str, Places] = {}
    for name, data in files_of(url, postgres).items():
        first, last = raw_places(data, marks)
        sources |= {f"first in {name}": first, f"last in {name}": last}
        sources[f"first in {name}, page by page"] = newest_first(first, 4096 if postgres is None else 8192)
    dump = dump_of(url).lower()
    sources["dump"] = {mark: dump.find(mark.hex().encode()) for mark in marks if mark.hex().encode() in dump}
    links: Links = {}
    if postgres is None:
        with tempfile.TemporaryDirectory(dir=folder) as empty:
            copy = Path(empty) / "copy.db"
            for ending in ("", "-wal"):
                if Path(f"{url}{ending}").exists():
                    shutil.copyfile(f"{url}{ending}", f"{copy}{ending}")
            sources["log played back"], links = played_back(copy, Path(empty))
    else:
        rows = run_sql(url, "SELECT mark, ctid::text::point, xmin::text::bigint FROM answered")
        place = {mark: tuple(map(int, re.findall(r"\d+", str(ctid)))) for mark, ctid, _ in rows}
        sources["ctid"] = {mark: block * 1000 + line for mark, (block, line) in place.items()}
        sources["xmin"] = {mark: xmin for mark, _, xmin in rows}
        together = run_sql(url, "SELECT mark, menu, answer FROM answered a JOIN counts c ON a.xmin = c.xmin")
        often = Counter(mark for mark, *_ in together)
        links = {mark: (menu, answer) for mark, menu, answer in together if often[mark] == 1}
    return sources, links


def told(sources: dict[str, Places], truth: Truth) -> list[str]:
    """The sources that tell the order."""
    level = FALSE_ALARM / (len(sources) + 1)  # and one for the links
    return [name for name, places in sources.items() if order_told(places, list(truth)) < level]


def test_what_is_kept_tells_no_order_and_no_answers(
    collection: Collection, store_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Reports sent one by one, each in a commit of its own: the files tell, until the collector stops or settles."""
    plan, path = collection
    postgres = request.getfixturevalue("postgres") if store_url.startswith("postgresql") else None
    answers = people(plan)
    truth = marked(plan, answers)
    possible = len(cells(plan))
    with serving(tmp_path, path, store_url, "--rate", "0", first=UNSETTLED) as server, http_client() as client:
        for identity, answer in answers.items():
            assert client.post(f"{server.url}/v1/reports", json=upload(plan, [(identity, *answer)])).is_success
        sources, links = examine(store_url, postgres, list(truth), tmp_path)
        logs = {"log played back"} if postgres is None else {"first in log", "ctid", "xmin", "dump"}
        assert logs <= set(told(sources, truth))
        assert links_told(links, truth, possible) < FALSE_ALARM
        assert server.stop() in (0, -15)

    sources, links = examine(store_url, postgres, list(truth), tmp_path)
    assert told(sources, truth) == []
    assert links_told(links, truth, possible) >= FALSE_ALARM / (len(sources) + 1)
    assert len(sources["dump"]) == PEOPLE  # the marks are there to be seen
    assert not sources.get("first in log")
    exported = tmp_path / "tally.json"
    assert main(["export", str(path), "--store", store_url, "-o", str(exported)]) == 0
    assert not any(mark.hex() in exported.read_text() for mark in truth)


def test_a_report_with_its_id_tells_everything(tmp_path: Path, collection: Collection) -> None:
    """The examination has power: in a table of ids and answers it finds the order of the ids."""
    truth = marked(collection[0], people(collection[0]))
    url = str(tmp_path / "reports.db")
    with closing(sqlite3.connect(url)) as connection:
        connection.execute("CREATE TABLE reports (mark BLOB, menu INTEGER, answer INTEGER)")
        connection.executemany("INSERT INTO reports VALUES (?, ?, ?)", [(m, *answer) for m, answer in truth.items()])
        connection.commit()
    sources, _ = examine(url, None, list(truth), tmp_path)
    assert {"first in reports.db, page by page", "dump"} <= set(told(sources, truth))


def test_the_examination_rarely_errs() -> None:
    """Places without meaning: of 2,000 examinations none cries out, and at most 5 of 100 would at the level 0.05."""
    rng = random.Random(1)
    marks = [n.to_bytes(16) for n in range(PEOPLE)]
    values = [order_told(dict(zip(marks, rng.sample(range(10**6), PEOPLE), strict=True)), marks) for _ in range(2000)]
    assert min(values) > FALSE_ALARM
    assert sum(value < 0.05 for value in values) < 150  # 100 are expected at most; 150 by chance: below 1e-6


def test_what_a_settled_file_holds_decides_its_bytes(tmp_path: Path, collection: Collection) -> None:
    """SQLite: the same ids and counts in another order, other groups, with other answers each: the same file.

    Only the numbers of changes in the file's head, which SQLite counts, may differ.
    """
    truth = marked(collection[0], people(collection[0]))
    shuffled = list(truth)
    random.Random(2).shuffle(shuffled)
    crossed = dict(zip(shuffled, truth.values(), strict=True))  # the same marks, the same answers, other links
    contents = []
    for name, reports, group, pauses in (("a", truth, 1, 1000), ("b", crossed, 7, 100), ("c", crossed, 240, 1)):
        store = open_store(str(tmp_path / f"{name}.db"), "plan")
        for number, start in enumerate(range(0, PEOPLE, group)):
            part = list(reports)[start : start + group]
            store.add({mark: reports[mark] for mark in part})
            if number % pauses == 0:
                store.settle()
        unsettled = (tmp_path / f"{name}.db-wal").stat().st_size
        store.settle()
        assert (tmp_path / f"{name}.db-wal").stat().st_size == 0
        assert unsettled > 0 or group == 240
        store.close()
        data = bytearray((tmp_path / f"{name}.db").read_bytes())
        data[24:28] = data[40:44] = data[92:96] = bytes(4)
        contents.append(bytes(data))
    assert contents[0] == contents[1] == contents[2]


def test_a_settled_database_is_in_the_order_of_its_contents(postgres: Postgres, collection: Collection) -> None:
    """PostgreSQL: every row of one transaction, in the order of its key; and two dumps are the same text."""
    truth = marked(collection[0], people(collection[0]))
    dumps = []
    for reports in (truth, dict(zip(reversed(truth), truth.values(), strict=True))):
        url = new_database(postgres)
        store = open_store(url, "plan")
        for mark, answer in reports.items():
            store.add({mark: answer})
        store.settle()
        for table, key in (("answered", "mark"), ("counts", "menu, answer")):
            rows = run_sql(url, f"SELECT {key} FROM {table} ORDER BY ctid")
            assert rows == sorted(rows)
        tables = " UNION ".join(f"SELECT xmin::text FROM {table}" for table in ("answered", "counts", "collection"))
        assert len(run_sql(url, tables)) == 1
        store.close()
        dumps.append(dump_of(url))
    assert dumps[0] == dumps[1]


def test_a_role_that_may_not_end_the_log_says_so(postgres: Postgres, collection: Collection, tmp_path: Path) -> None:
    """The tables tell nothing, the server's log does; the collector warns, and the documents say what to grant."""
    plan, path = collection
    url = new_database(postgres)
    role = f"plain_{secrets.token_hex(4)}"
    run_sql(url, f"CREATE ROLE {role} LOGIN")
    run_sql(url, f"GRANT ALL ON SCHEMA public TO {role}")
    answers = people(plan)
    truth = marked(plan, answers)
    plain = url.replace("bcdp@", f"{role}@")
    with serving(tmp_path, path, plain, "--rate", "0") as server, http_client() as client:
        for identity, answer in answers.items():
            assert client.post(f"{server.url}/v1/reports", json=upload(plan, [(identity, *answer)])).is_success
        assert server.stop() in (0, -15)
        assert server.log.read_text().count("write-ahead log still tells the order") == 1
    log = b"".join(path.read_bytes() for path in sorted((postgres.folder / "data/pg_wal").glob("0*")))
    assert order_told(raw_places(log, list(truth))[0], list(truth)) < FALSE_ALARM
    sources, links = examine(url, postgres, list(truth), tmp_path)
    assert not [name for name in told(sources, truth) if "log" not in name]
    assert not links


def test_a_dump_that_runs_is_let_end(postgres: Postgres) -> None:
    """A settled table would be empty for a transaction that began before; so it is not settled meanwhile."""
    url = new_database(postgres)
    store = open_store(url, "plan")
    store.add({bytes(16): (0, 0)})
    with closing(psycopg.connect(url)) as dump:
        dump.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        assert dump.execute("SELECT count(*) FROM collection").fetchone() == (1,)
        with pytest.raises(StoreError, match="others are reading"):
            store.settle()
        assert dump.execute("SELECT count(*) FROM answered").fetchone() == (1,)
    store.settle()
    assert run_sql(url, "SELECT settled FROM collection") == [(True,)]
    store.close()


def test_counts_are_whole_while_a_store_is_settled(store_url: str) -> None:
    """Whoever reads, or adds, while a store is written anew sees everything that was acknowledged before."""
    writers, reader = [open_store(store_url, "plan") for _ in range(2)], open_store(store_url, "plan")
    writers[0].check()
    ends = threading.Event()
    sent = [0, 0]

    def write(turn: int) -> None:
        while not ends.is_set():
            mark = secrets.token_bytes(16)
            assert writers[turn].add({mark: (0, turn)}) == {mark}
            sent[turn] += 1
            if turn == 0:
                with suppress(StoreError):  # PostgreSQL: the other one was at work for half a second
                    writers[0].settle()

    threads = [threading.Thread(target=write, args=(turn,)) for turn in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(150):
        before = sum(sent)
        assert int(reader.counts()["count"].sum()) >= before
    ends.set()
    for thread in threads:
        thread.join()
    assert int(reader.counts()["count"].sum()) == sum(sent)
    assert min(sent) > 0
    for store in (*writers, reader):
        store.close()


def test_the_documents_name_every_column(store_url: str) -> None:
    """The table of what is kept is the schema: no column more, none less, in either store."""
    page = (ROOT / "docs/guide/deploy.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (`.*?`) \|", page.partition("### What is kept")[2], re.MULTILINE)
    documented = {(table, column) for table, columns in rows for column in re.findall(r"`(\w+)`", columns)}
    store = open_store(store_url, "plan")
    store.check()
    store.close()
    if store_url.startswith("postgresql"):
        columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    else:
        columns = "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"
    assert documented == set(run_sql(store_url, columns))
