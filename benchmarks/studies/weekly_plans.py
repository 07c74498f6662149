"""A device that answers 52 weekly plans under a cap: `python benchmarks/studies/weekly_plans.py [devices]`.

The plans are those of one policy, and mean the same. A device has a cap on epsilon, or on the level of the strictest
feature. Counted is how many of the 52 plans it answers before one could exceed the cap:

- old: by the sum of the epsilons of the plans;
- new: by the menus that were drawn, and for a feature by the person's own q for everything asked, menu by menu.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bcdp import Policy, make_plan
from bcdp.exact import TOTAL
from bcdp.plan.ledger import Ledger, Release, release_of

WEEKS = 52
FEATURES = {
    "smoker": {"type": "binary", "delta": 0.2},
    "income": {"type": "numeric", "bounds": [0, 200_000]},
    "region": {"type": "categorical", "values": ["north", "south", "east", "west"]},
    "age": {"type": "numeric", "bounds": [18, 100]},
}
STRICT, Q = "smoker", 0.02
CAPS = (4.0, 8.0, 16.0)


def answered(plan: Release, menus: list[Release], drawn: npt.NDArray[np.int64], cap: float, about: str) -> int:
    """How many plans a device answers by the ledger before one could exceed the cap, whichever menu is drawn."""
    ledger = Ledger(q=Q if about else {})
    for week, menu in enumerate(drawn.tolist()):
        largest = ledger.add(_of_week(plan, week))
        if (largest.delta(about) if about else largest.epsilon) > cap:
            return week
        ledger = ledger.add(_of_week(menus[menu], week))
    return len(drawn)


def _of_week(release: Release, week: int) -> Release:
    return replace(release, plan=f"{week:064d}", name=f"week {week + 1}")


def main() -> None:
    devices = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    plan = make_plan(Policy(epsilon=2, correlation=Q, features=FEATURES))
    weights = np.array([menu.weight for menu in plan.menus]) / TOTAL
    whole, menus = release_of(plan), [release_of(plan, menu=number) for number in range(len(plan.menus))]
    mean = float(sum(weight * menu.epsilon for weight, menu in zip(weights, menus, strict=True)))
    print(f"a plan has epsilon {whole.epsilon:.2f}; its menus {mean:.2f} on average")
    for about, cap in itertools.product(("", STRICT), CAPS):
        rng = np.random.default_rng(1)
        drawn = rng.choice(len(menus), size=(devices, WEEKS), p=weights)
        old = min(WEEKS, int(cap / whole.epsilon))  # the sum of epsilons, whatever is asked and drawn
        new = np.mean([answered(whole, menus, each, cap, about) for each in drawn])
        print(f"cap {cap:g} on {about or 'epsilon'}: old {old}, new {new:.1f} of {WEEKS} plans", flush=True)


if __name__ == "__main__":
    main()
