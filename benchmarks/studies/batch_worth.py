"""What answers are worth where only batches are seen, and how close the bound on one message is to the truth.

`python benchmarks/studies/batch_worth.py`: a binary feature, two numbers and one with five values, and four binary
features, nothing assumed about correlation, chance 1e-6. For each demand the number of openly asked people with the
same worst standard error for the first feature, by one message and by several. For one message also the level that an
exact computation finds where all others have the same record, the worst of all records: no bound can be lower, so it
limits what more exact accounting could gain. The exit code is 1 if a worth is below what the guide promises.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from bcdp import Plan, Policy, make_plan
from bcdp.mechanisms.survey.estimation.decoder import largest_errors
from bcdp.plan.messages import messages_each
from bcdp.statistics import Single
from support.helpers import full_kernel

CHANCE = 1e-6
RELAY = {"url": "https://relay.example.org/", "key": f"010020{'ab' * 32}000400010001"}
MIXED: dict[str, Any] = {
    "satisfied": {"type": "binary"},
    "income": {"type": "numeric", "bounds": [0, 1]},
    "age": {"type": "numeric", "bounds": [0, 1]},
    "region": {"type": "categorical", "values": list("abcde")},
}
BINARY: dict[str, Any] = {f"x{number}": {"type": "binary"} for number in range(4)}
CASES: list[tuple[dict[str, Any], int, dict[str, float], tuple[int, int]]] = [
    (MIXED, 27_000, {"odds": math.exp(0.3)}, (13_900, 20_500)),
    (MIXED, 10_000, {"epsilon": 1}, (7_000, 9_200)),
    (MIXED, 3_000, {"epsilon": 1}, (1_600, 2_450)),
    (BINARY, 10_000, {"epsilon": 0.3}, (4_800, 7_700)),
    (BINARY, 10_000, {"epsilon": 1}, (8_400, 9_600)),
    (BINARY, 3_000, {"epsilon": 0.3}, (780, 1_520)),
    (BINARY, 3_000, {"epsilon": 1}, (1_900, 2_650)),
]
POINTS = 2**16  # of the grid on which sums are convolved


def planned(features: dict[str, Any], people: int, demand: dict[str, float], **more: Any) -> Plan:
    counts = {"people": people, "chance": CHANCE, **demand}
    return make_plan(Policy(epsilon=20, features=features, trust="relay", relay=RELAY, counts=counts, **more))


def worth_of(plan: Plan, people: int) -> int:
    """How many openly asked people have the same largest standard error of the first feature, a binary one."""
    return math.floor(people / largest_errors(plan)[Single(next(iter(plan.policy.features)))])


def level_where_others_are_alike(plan: Plan, people: int) -> float:
    """The level of the counts for the worst two records, among others who all have the worst record for that.

    With others at the row `p`, the counts of rows `a` and `b` have the ratio `sum a/p` to `sum b/p`, both summed over
    all reports. So the excess is the mean of `sum (a - f b)/p` over `people` reports drawn from `p`, where positive.
    """
    kernel = full_kernel(plan)
    rows = kernel.reshape(-1, kernel.shape[-1])
    rows = rows[:, rows.max(axis=0) > 0]
    factor = math.exp(plan.certificate.counts.epsilon)  # type: ignore[union-attr]
    worst = (0.0, 0, 0, 0)
    for other, row in enumerate(rows):
        overlap = (rows / row) @ rows.T
        own = np.diag(overlap)
        spread = own[:, None] - 2 * factor * overlap + factor**2 * own
        one, two = np.unravel_index(np.argmax(spread), spread.shape)
        worst = max(worst, (float(spread[one, two]), int(one), int(two), other))
    _, one, two, other = worst
    row = rows[other]

    def above(level: float) -> float:
        return mean_above_0(row, (rows[one] - math.exp(level) * rows[two]) / row, people) - CHANCE

    return float(brentq(above, 0.2 * math.log(factor), 2 * math.log(factor), rtol=1e-5))


def mean_above_0(chances: np.ndarray, values: np.ndarray, people: int) -> float:
    """The mean of the positive part of the average of so many independent draws, by the fast Fourier transform."""
    mean = float(chances @ values)
    step = 24 * math.sqrt(people * float(chances @ (values - mean) ** 2)) / POINTS
    below = np.floor(values / step)
    law = np.zeros(POINTS)
    np.add.at(law, below.astype(int) % POINTS, chances * (below + 1 - values / step))
    np.add.at(law, (below.astype(int) + 1) % POINTS, chances * (values / step - below))
    total = np.fft.irfft(np.fft.rfft(law) ** people, POINTS)
    places = np.arange(POINTS)
    sums = (places + POINTS * np.round((people * mean / step - places) / POINTS)) * step
    return float((np.maximum(sums, 0) * total).sum()) / people


def main() -> int:
    """Prints a line for each demand."""
    failed = False
    for features, people, demand, least in CASES:
        plans = [planned(features, people, demand, messages="one"), planned(features, people, demand)]
        worth = [worth_of(plan, people) for plan in plans]
        claimed = plans[0].certificate.counts.epsilon  # type: ignore[union-attr]
        alike = level_where_others_are_alike(plans[0], people)
        form, level = next(iter(demand.items()))
        looser = {form: level * claimed / alike if form == "epsilon" else level ** (claimed / alike)}
        most = worth_of(planned(features, people, looser, messages="one"), people)
        print(
            f"{people:,} people, {len(features)} features, {form} {level:.3g}: one message {worth[0]:,}, at most "
            f"{most:,} by exact accounting ({claimed:.4f} is claimed, {alike:.4f} is true among others who are alike); "
            f"{messages_each(plans[1])} messages {worth[1]:,}",
            flush=True,
        )
        failed |= any(found < needed for found, needed in zip(worth, least, strict=True))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
