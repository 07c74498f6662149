"""The mixing relay under fire: 50 times `kill -9` under load, then 100,000 hostile requests.

    python benchmarks/sweeps/mixing_faults.py [KILLS [REQUESTS]]

The tests do the same with smaller numbers.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.mixing import Collection, attack_relay, kill_relay_under_load, mixing, wait_until

LEAST = 20


def main(kills: int, requests: int) -> None:
    """Prints what became of acknowledged messages, and what was answered to hostile requests."""
    with tempfile.TemporaryDirectory() as name:
        outcome = kill_relay_under_load(Path(name), kills, LEAST)
        print(f"{kills} kills, {outcome.acknowledged:,} messages acknowledged: {outcome.counted:,} reports counted,")
        print(f"{outcome.waiting} waiting, {outcome.lost} lost, {outcome.doubled} doubled; totals {outcome.totals};")
        print(f"smallest of {len(outcome.batches)} batches: {min(outcome.batches)}", flush=True)
        assert outcome.lost == outcome.doubled == 0
        assert min(outcome.batches) >= LEAST
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        collection = Collection(folder)
        given = ("--mix", str(LEAST), "--every", "1s", "--store", str(folder / "relay.db"), "--rate", "0")
        with collection.serving(LEAST) as server, mixing(folder, f"{server.url}/v1/batch", *given) as relay:
            statuses = attack_relay(relay, collection, requests, seed=2)
            print(f"{sum(statuses.values()):,} hostile requests, by status: {dict(sorted(statuses.items()))}")
            assert max(statuses) < 500
            wait_until(lambda: (now := relay.totals())["drawn"] == 0 and now["waiting"] < LEAST)
            totals = relay.totals()
            print(f"of the messages it kept: {totals}")
            assert totals["accepted"] + totals["duplicate"] <= 1  # one good message was sent again and again


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    main(*(given + [50, 100_000][len(given) :]))
