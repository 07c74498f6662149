"""Second demands at length: `python benchmarks/sweeps/if_wrong.py [pairs]`.

At least 500 exact pairs of prior and plan at the multiple of q that the plan names: none above its claim. The fifteen
published costs of a second demand. The exit code is 1 if a pair is above, or a cost more than 1% higher.
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "plan"))

from test_if_wrong import PUBLISHED, ROUNDING, pairs, paper

from bcdp import make_plan


def main(count: int = 500) -> int:
    """0 if everything holds."""
    found = list(islice(pairs(np.random.default_rng(0), plans=count), count))
    above = [level - claim for _, _, level, claim in found]
    reached = sum(more > -1e-6 for more in above)
    print(f"{len(found)} pairs of prior and plan: {sum(m > ROUNDING for m in above)} above the claim, {reached} at it")
    dearest = 0.0
    for (delta, q), costs in PUBLISHED.items():
        for factor, known in costs.items():
            plan = make_plan(paper(delta, q, if_wrong={"times": 2, "delta": factor}))
            objective = float(plan.certificate.objective or np.inf)
            dearest = max(dearest, objective / known)
            print(f"delta {delta}, q {q}, {factor} delta at twice q: n x error {objective:.1f}, published {known}")
    print(f"at most {dearest:.4f} of the published errors")
    return int(max(above) > ROUNDING or dearest > 1.01)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
