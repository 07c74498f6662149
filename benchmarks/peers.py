"""Clients and servers of other libraries, timed one core each; runs in an environment of its own, without bcdp.

`python peers.py RECORDS` prints one JSON document: for each peer the reports a second of its client and of its server,
and what went wrong where it did. Every client answers about one random bit of ten, as the survey's devices do.
"""

from __future__ import annotations

import importlib.metadata
import json
import random
import sys
import time
from collections.abc import Callable

EPSILON, FEATURES = 1.0, 10


def rate(people: int, work: Callable[[], object]) -> float:
    """Reports a second of one core, the best of three runs, whatever else the machine does."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return people / best


def pure_ldp(records: list[list[int]]) -> tuple[float, float | None]:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer

    client = DEClient(EPSILON, 2, index_mapper=int)
    reports = [client.privatise(record[0]) for record in records]

    def serve() -> None:
        server = DEServer(EPSILON, 2, index_mapper=int)
        for report in reports:
            server.aggregate(report)

    return _client_rate(records, client.privatise), rate(len(records), serve)


def multi_freq_ldpy(records: list[list[int]]) -> tuple[float, float | None]:
    import numpy as np
    from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_GRR_Aggregator_MI, SMP_GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    GRR_Client(1, 2, EPSILON)  # compiled at its first call
    tuples = np.array(records)
    sizes = [2] * FEATURES

    def answer() -> list[tuple[int, int]]:
        return [SMP_GRR_Client(record, sizes, FEATURES, EPSILON) for record in tuples]

    reports = answer()
    server = rate(len(records), lambda: SMP_GRR_Aggregator_MI(reports, sizes, FEATURES, EPSILON))
    best = max(rate(len(records), answer), _client_rate(records, lambda bit: GRR_Client(bit, 2, EPSILON)))
    return best, server


def opendp(records: list[list[int]]) -> tuple[float, float | None]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_randomized_response_bool(prob=0.73)
    return _client_rate(records, lambda bit: measurement(bool(bit))), None


def diffprivlib(records: list[list[int]]) -> tuple[float, float | None]:
    from diffprivlib.mechanisms import Binary

    mechanism = Binary(epsilon=EPSILON, value0="0", value1="1")
    return _client_rate(records, lambda bit: mechanism.randomise("1" if bit else "0")), None


def _client_rate(records: list[list[int]], client: Callable[[int], object]) -> float:
    """The client's rate with the choice of the feature, which these libraries leave to their caller."""
    draw = random.random
    return rate(len(records), lambda: [client(record[int(draw() * FEATURES)]) for record in records])


def main() -> None:
    size = int(sys.argv[1])
    records = [[random.getrandbits(1) for _ in range(FEATURES)] for _ in range(size)]
    found = {}
    for name, peer in {
        "pure-ldp": pure_ldp,
        "multi-freq-ldpy": multi_freq_ldpy,
        "opendp": opendp,
        "diffprivlib": diffprivlib,
    }.items():
        try:
            client, server = peer(records)
            found[name] = {"version": importlib.metadata.version(name), "client": client, "server": server}
        except Exception as error:  # a peer that cannot run is a line of the table, not the end of the comparison
            found[name] = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
