"""A feature of 10,000 values: clients, servers and decoding of hyperplanes, as ratios to Hadamard bits, on one core."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
from speed import KEY, best_of

from bcdp import Plan, Policy, Tally, make_plan, privatize
from bcdp.randomizers import hadamard, projective

VALUES, BUDGET = 10_000, 3.0
WORKS = ("privatize", "tally", "decode")


def plans() -> dict[str, Plan]:
    """The plan that the planner makes, and the same with Hadamard bits."""
    features = {"code": {"type": "categorical", "values": list(range(VALUES))}}
    plan = make_plan(Policy(epsilon=BUDGET, features=features))
    document = json.loads(plan.text)
    del document["certificate"]
    other = Plan.certified({**document, "tables": [hadamard(VALUES, BUDGET - 1e-9).to_dict()]})
    return {"hyperplanes": plan, "Hadamard bits": other}


def ratios(people: int) -> dict[str, float]:
    """How many times as quick as Hadamard bits each work is; and the seconds in which a million values are decoded."""
    codes = np.random.default_rng(2).integers(0, VALUES, people)
    records, works = pa.table({"id": np.arange(people), "code": codes}), dict[str, Callable[[], object]]()
    for name, plan in plans().items():
        reports = privatize(plan, records, KEY, "id")
        counts = np.bincount(np.array(reports["answer"]), minlength=plan.tables[0].symbols)
        works[f"{name} privatize"] = partial(privatize, plan, records, KEY, "id")
        works[f"{name} tally"] = partial(_count, plan, reports)
        works[f"{name} decode"] = partial(plan.tables[0].frequencies, counts)
    seconds = best_of(works, rounds=5)
    million = projective(10**6, BUDGET)
    drawn = np.random.default_rng(3).poisson(1.0, million.symbols)
    return {
        f"{work}, hyperplanes / Hadamard bits": seconds[f"Hadamard bits {work}"] / seconds[f"hyperplanes {work}"]
        for work in WORKS
    } | {"seconds to decode a million values": best_of({"": lambda: million.frequencies(drawn)}, rounds=2)[""]}


def table(rates: dict[str, float]) -> str:
    """The ratios for people to read."""
    rows = (f"| {name} | {number:.3g} |" for name, number in rates.items())
    return "\n".join(["", f"| {VALUES:,} values | |", "|---|---:|", *rows]) + "\n"


def _count(plan: Plan, reports: pa.Table) -> Tally:
    return Tally(plan).add(reports)


if __name__ == "__main__":
    print(table(ratios(500_000)))
