"""The collector under fire: `kill -9`, a database that stops at once, a disk that is full, and hostile requests.

    python benchmarks/sweeps/collector_faults.py [KILLS [RESTARTS [FILLS [REQUESTS]]]]

50 kills on each store, 10 restarts of PostgreSQL and 10 times a full disk, all under load; then 100,000 hostile
requests. The full disk needs root, to mount a small one. The tests do the same with smaller numbers.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from bcdp import Plan
from bcdp.collector.storage.report_marks import Marker
from support.collector_clients import KNOWN, Pressure, attack, kill_under_load
from support.collector_fixtures import Postgres, Server, new_database, serving, small_plan, stored, upload
from support.helpers import small_disk
from support.local_http import local


def main(kills: int, restarts: int, fills: int, requests: int) -> None:
    """Prints what was acknowledged, lost and counted twice, and what was answered to hostile requests."""
    postgres = Postgres()
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            plan, path = small_plan(), folder / "plan.json"
            plan.save(path)
            for kind, store in {"SQLite": str(folder / "kills.db"), "PostgreSQL": new_database(postgres)}.items():
                acknowledged, lost = kill_under_load(folder, plan, path, store, kills)
                print(f"{kind}: {kills} kills, {acknowledged:,} reports acknowledged, {lost} lost", flush=True)
                assert lost == 0
            store = new_database(postgres)
            with serving(folder, path, store, "--rate", "0") as server:
                told = under_load(server, plan, store, [postgres.stop, postgres.start] * restarts)
            print(f"PostgreSQL: {restarts} times stopped at once, {told}", flush=True)
            with small_disk(folder / "small", "3m") as disk:
                store, filler = str(disk / "reports.db"), disk / "filler"
                with serving(folder, path, store, "--rate", "0") as server:
                    told = under_load(server, plan, store, [partial(fill, filler), filler.unlink] * fills)
            print(f"SQLite: {fills} times a full disk, {told}", flush=True)
            hostile(folder, plan, path, requests)
    finally:
        postgres.remove()


def under_load(server: Server, plan: Plan, store: str, faults: list[Callable[[], None]]) -> str:
    """What became of the reports that were sent while a fault came and went: each second one mends the one before."""
    pressure = Pressure(plan)
    try:
        pressure.url = server.url
        for number, fault in enumerate(faults):
            wait_for(lambda: refusals(pressure) if number % 2 else len(pressure.acknowledged))  # noqa: B023
            fault()
        wait_for(lambda: len(pressure.acknowledged))
    finally:
        pressure.end()
    kept, mark = stored(store), Marker(plan.id, None)
    lost = len(set(map(mark, pressure.acknowledged)) - kept.marks)
    doubled = server.people() - len(kept.marks)
    assert kept.marks <= set(map(mark, pressure.sent))
    assert (lost, doubled, set(pressure.refused)) == (0, 0, {503})
    numbers = f"{len(pressure.acknowledged):,} reports acknowledged, {refusals(pressure):,} refused"
    return f"{numbers}, {lost} lost, {doubled} doubled"


def refusals(pressure: Pressure) -> int:
    return sum(pressure.refused.values())


def wait_for(number: Callable[[], int]) -> None:
    """Until a number has grown by 20."""
    enough, ends = number() + 20, time.monotonic() + 120
    while number() < enough:
        assert time.monotonic() < ends, "it did not happen within two minutes"
        time.sleep(0.01)


def fill(filler: Path) -> None:
    """Writes a file until there is no room for half a second."""
    with filler.open("wb", buffering=0) as file:
        for _ in range(25):
            with contextlib.suppress(OSError):
                while file.write(bytes(2**12)):
                    pass
            time.sleep(0.02)


def hostile(folder: Path, plan: Plan, path: Path, requests: int) -> None:
    """Prints how hostile requests were answered; nothing of them is stored."""
    store = str(folder / "hostile.db")
    with serving(folder, path, store, "--rate", "0") as server:
        local.post(f"{server.url}/v1/reports", json=upload(plan, [(KNOWN, 0, 1)])).raise_for_status()
        statuses = attack(server.url, plan, requests, seed=2)
        print(f"{sum(statuses.values()):,} hostile requests, by status: {dict(sorted(statuses.items()))}")
        assert max(statuses) < 500
        assert stored(store).counts == {(0, 1): 1}


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    main(*(given + [50, 10, 10, 100_000][len(given) :]))
