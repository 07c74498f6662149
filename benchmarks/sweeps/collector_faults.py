"""The collector under fire: 50 times `kill -9` under load on each store, then 100,000 hostile requests.

    python benchmarks/sweeps/collector_faults.py [KILLS [REQUESTS]]

The tests do the same with smaller numbers.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.collector_clients import KNOWN, attack, kill_under_load
from support.collector_fixtures import Postgres, new_database, serving, small_plan, stored, upload
from support.local_http import local


def main(kills: int, requests: int) -> None:
    """Prints what was acknowledged and lost, and what was answered to hostile requests."""
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
            store = str(folder / "hostile.db")
            with serving(folder, path, store, "--rate", "0") as server:
                local.post(f"{server.url}/v1/reports", json=upload(plan, [(KNOWN, 0, 1)])).raise_for_status()
                statuses = attack(server.url, plan, requests, seed=2)
                print(f"{sum(statuses.values()):,} hostile requests, by status: {dict(sorted(statuses.items()))}")
                assert max(statuses) < 500
                assert stored(store).counts == {(0, 1): 1}
    finally:
        postgres.remove()


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    main(*(given + [50, 100_000][len(given) :]))
