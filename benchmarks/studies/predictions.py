"""Does `bcdp power` predict the spread of what is published? `python predictions.py [collections] [people ..]`.

A number's mean next to its distribution and to a table, scores next to frequencies and a set. Answers are drawn from
the law that the prediction imagines. For each kind of result the least and the largest ratio of its predicted standard
error to the root mean square of its error over many collections; results that noise moves to the end of their range
more than rarely have no such standard error, and are counted apart.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import Any

import numpy as np

from bcdp import Policy, Tally, estimate, make_plan
from bcdp.estimates.power import imagined, precision

FEATURES: dict[str, Any] = {
    "pay": {"type": "numeric", "bounds": [0, 50], "ranges": [10, 25], "delta": 0.7},
    "sex": {"type": "binary", "values": ["f", "m"]},
    "mood": {"type": "ordinal", "values": ["bad", "fair", "good", "great"]},
}
TASKS: list[dict[str, Any]] = [
    {"mean": ["pay", "mood"]},
    {"distribution": ["pay"], "bins": 32},
    {"frequency": ["mood", "sex"]},
    {"share": {"mood": ["good", "great"]}},
    {"table": ["sex", "pay"], "shrink": False},
    {"mean": ["pay"], "by": "sex"},
]
GUESS: dict[str, Any] = {"pay": 20, "sex": 0.4, "mood": {"bad": 0.2, "fair": 0.3, "good": 0.35, "great": 0.15}}
SIZES, COLLECTIONS = (3_000, 30_000, 300_000), 400


def study(people: int, collections: int) -> None:
    plan = make_plan(Policy(epsilon=3, correlation=0.3, features=FEATURES, tasks=TASKS))
    ideal: Any = imagined(plan, GUESS).whole
    laws = [ideal.counts(number).astype(np.float64) for number in range(len(plan.menus))]
    law = np.concatenate([part.ravel() for part in laws])
    menu = np.concatenate([np.full(part.size, number) for number, part in enumerate(laws)])
    answer = np.concatenate([np.arange(part.size) for part in laws])
    predicted = precision(plan, GUESS)
    values = []
    rng = np.random.default_rng(people)
    for counts in rng.multinomial(people, law / law.sum(), size=collections):
        estimates = estimate(Tally(plan).add({"menu": menu, "answer": answer, "count": counts}))
        values.append([row.number.value for section in estimates.sections() for row in section.rows])
    ratios, left = defaultdict(list), 0
    for one, own in zip(predicted, np.array(values).T, strict=True):
        error = one.se(people)
        if not np.isfinite(error):
            continue
        if one.about in ("Means", "pay: mean by sex") or 3 * error < one.value < 1 - 3 * error:
            ratios[one.about].append(error / float(np.sqrt(np.nanmean((own - one.value) ** 2))))
        else:
            left += 1
    for about, every in ratios.items():
        line = {"people": people, "about": about, "least": round(min(every), 3), "most": round(max(every), 3)}
        print(json.dumps(line | {"results": len(every)}), flush=True)
    print(json.dumps({"people": people, "near an end": left}), flush=True)


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    for size in arguments[1:] or SIZES:
        study(size, (arguments or [COLLECTIONS])[0])
