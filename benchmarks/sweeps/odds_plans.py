"""Plans and samples with odds at length: `python benchmarks/sweeps/odds_plans.py`.

The limits of 2,000 pilot samples hold as often as they say, and none of 200 random policies is planned worse with odds
than without. The exit code is 1 if that is not so.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "mechanisms"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "correlation"))

from test_odds_design import ROUNDING, ratios
from test_odds_sample import FALSE_ALARM, measured, sample_failures

SAMPLES, POLICIES = 2000, 200


def main() -> int:
    """0 if everything holds."""
    failed, most = sample_failures(measured, SAMPLES), int(binom.isf(FALSE_ALARM, SAMPLES, 0.05))
    print(f"in {failed} of {SAMPLES:,} samples a limit was below the truth; at most {most} are expected of 95% limits")
    found = []
    for number, ratio in enumerate(ratios(POLICIES, seed=1), start=1):
        found.append(ratio)
        if number % 20 == 0:
            print(f"{number} policies: the error with odds is {min(found):.3f} to {max(found):.6f} of that without,",
                  f"{sum(ratio < 0.999 for ratio in found)} gain", flush=True)  # fmt: skip
    return int(failed > most or max(found) > 1 + ROUNDING)


if __name__ == "__main__":
    sys.exit(main())
