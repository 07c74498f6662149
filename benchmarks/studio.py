"""From the release of a slider to new numbers in the studio, beside `make_plan` alone, for ten features.

    python benchmarks/studio.py [runs]

Prints the median time until the page has the plan with its own errors, and until it has all numbers, as multiples of
the time that `make_plan` takes in a process that has everything loaded; and `make_plan` itself in seconds.
"""

from __future__ import annotations

import asyncio
import sys
import time
from statistics import median
from typing import Any

from bcdp import Policy, make_plan
from bcdp.studio.jobs import Jobs

PEOPLE = 10_000


def document(delta: float) -> dict[str, Any]:
    """Ten features of all kinds, two of them sensitive; the delta of one is what the slider moves."""
    features: dict[str, Any] = {
        "ill": {"type": "binary", "delta": delta},
        "income": {"type": "numeric", "bounds": [0, 9]},
    }
    features["income"]["delta"] = 0.3
    features |= {f"yes or no {n}": {"type": "binary"} for n in range(4)}
    features |= {f"number {n}": {"type": "numeric", "bounds": [0, 100]} for n in range(3)}
    features["region"] = {"type": "categorical", "values": ["north", "south", "east", "west"]}
    return {"epsilon": 2, "features": features, "correlation": {"odds": 3, "q": 0.2}}


async def released(jobs: Jobs, given: dict[str, Any]) -> tuple[float, float]:
    """The seconds until the plan is there, and until all numbers are."""
    began, first = time.perf_counter(), 0.0
    async for part in jobs.run("plan", given):
        if "plan" in part:
            first = time.perf_counter() - began
        if "numbers" in part:
            return first, time.perf_counter() - began
    raise RuntimeError("the job ended early")


def main(runs: int) -> None:
    """Takes turns, so that whatever else the machine does counts for both."""
    jobs = Jobs()
    jobs.warm()
    make_plan(Policy(**document(0.2)))
    alone, plans, numbers = [], [], []
    for run in range(runs):
        given = document(0.2 + 0.01 * run)
        began = time.perf_counter()
        make_plan(Policy(**given))
        alone.append(time.perf_counter() - began)
        first, whole = asyncio.run(released(jobs, {"policy": given, "people": PEOPLE}))
        plans.append(first / alone[-1])
        numbers.append(whole / alone[-1])
    print(f"make_plan: {median(alone):.2f} s at the median of {runs} runs")
    print(f"the plan and its errors: {median(plans):.2f} times make_plan")
    print(f"all numbers: {median(numbers):.2f} times make_plan")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
