"""Plans and samples with odds at length: `python benchmarks/odds_plans.py`.

None of 200 random policies is planned worse with odds than without, and the limits of 2,000 pilot samples hold as often
as they say. The exit code is 1 if that is not so.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_odds_design import worse
from test_odds_sample import FALSE_ALARM, measured, sample_failures

SAMPLES = 2000


def main() -> int:
    """0 if everything holds."""
    found = worse(200, seed=1)
    failed, most = sample_failures(measured, SAMPLES), int(binom.isf(FALSE_ALARM, SAMPLES, 0.05))
    print(f"{len(found)} of 200 policies are planned worse with odds than without", *found, sep="\n")
    print(f"in {failed} of {SAMPLES} samples a limit was below the truth; at most {most} are expected of 95% limits")
    return int(bool(found) or failed > most)


if __name__ == "__main__":
    sys.exit(main())
