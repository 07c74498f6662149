"""Clients and servers of other libraries, timed one core each; runs in an environment of its own, without bcdp.

`python peers.py RECORDS` prints one JSON document: for each peer the reports a second of its client and of its server,
and what went wrong where it did. Every client answers about one random bit of ten, as the survey's devices do.

Each is timed as its documents show it, one call for each person, and in the best bulk form that it allows: a loop that
numba compiles around a kernel that is itself compiled, or one call about all people. Where such a form is ours and not
the library's, its name says so. `cryptographic` says whether its random bits come from a cryptographic generator.
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


def multi_freq_ldpy_in_a_loop(records: list[list[int]]) -> tuple[float, float | None]:
    """Its own kernel, which is compiled, in a loop of ours that is compiled too."""
    import numpy as np
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from numba import njit

    many = np.tile(np.array(records, dtype=np.int64), (20, 1))
    menus, answers = np.empty((2, len(many)), dtype=np.int64)

    @njit
    def answer(many: np.ndarray, menus: np.ndarray, answers: np.ndarray) -> None:
        for person in range(len(many)):
            menus[person] = np.random.randint(0, FEATURES)  # noqa: NPY002 what numba knows
            answers[person] = GRR_Client(many[person, menus[person]], 2, EPSILON)

    answer(many, menus, answers)
    return rate(len(many), lambda: answer(many, menus, answers)), None


def mixed_in_a_loop(records: list[list[int]]) -> tuple[float, float | None]:
    """The same about one of a bit and ten categories; it has no mechanism for numbers."""
    import numpy as np
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from numba import njit

    rng = np.random.default_rng(1)
    sizes = np.array([2, 10])
    many = np.stack([rng.integers(0, size, 20 * len(records)) for size in sizes], axis=1)
    menus, answers = np.empty((2, len(many)), dtype=np.int64)

    @njit
    def answer(many: np.ndarray, menus: np.ndarray, answers: np.ndarray) -> None:
        for person in range(len(many)):
            menus[person] = np.random.randint(0, 2)  # noqa: NPY002 what numba knows
            answers[person] = GRR_Client(many[person, menus[person]], sizes[menus[person]], EPSILON)

    answer(many, menus, answers)
    return rate(len(many), lambda: answer(many, menus, answers)), None


def opendp(records: list[list[int]]) -> tuple[float, float | None]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_randomized_response_bool(prob=0.73)
    return _client_rate(records, lambda bit: measurement(bool(bit))), None


def opendp_on_bits(records: list[list[int]]) -> tuple[float, float | None]:
    """Its mechanism for a whole vector of bits, here those of all people at once; the choice of the feature is ours."""
    import numpy as np
    import opendp.prelude as dp

    dp.enable_features("contrib")
    many = np.array(records, dtype=np.uint8)
    size, rng, rows = len(many), np.random.default_rng(1), np.arange(len(many))
    space = dp.bitvector_domain(max_weight=size), dp.discrete_distance()
    measurement = dp.m.make_randomized_response_bitvec(*space, f=2 / (np.exp(EPSILON) + 1))

    def answer() -> object:
        chosen = np.packbits(many[rows, rng.integers(0, FEATURES, size)])
        return np.unpackbits(np.frombuffer(measurement(chosen.tobytes()), dtype=np.uint8))

    return rate(size, answer), None


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
    for name, package, cryptographic, peer in (
        ("pure-ldp", "pure-ldp", False, pure_ldp),
        ("multi-freq-ldpy", "multi-freq-ldpy", False, multi_freq_ldpy),
        ("multi-freq-ldpy, its kernel in a compiled loop of ours", "multi-freq-ldpy", False, multi_freq_ldpy_in_a_loop),
        ("the same, a bit and ten categories", "multi-freq-ldpy", False, mixed_in_a_loop),
        ("opendp", "opendp", True, opendp),
        ("opendp, all people as one vector of bits", "opendp", True, opendp_on_bits),
        ("diffprivlib", "diffprivlib", True, diffprivlib),
    ):
        try:
            client, server = peer(records)
            rates = {"client": client, "server": server, "cryptographic": cryptographic}
            found[name] = {"version": importlib.metadata.version(package), **rates}
        except Exception as error:  # a peer that cannot run is a line of the table, not the end of the comparison
            found[name] = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
