"""Lines that `bcdp correlate` prints, at length: `python benchmarks/sweeps/correlate_lines.py`.

For 300 random files, with open features and numbers among them, the sample is audited under the plan that the printed
numbers make. The exit code is 1 if an audit exceeds the certificate.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "correlation"))

from test_correlation_claims import excesses

FILES, ROUNDED = 300, 1e-8


def main() -> int:
    """0 if no audit exceeds what was certified."""
    found = excesses(FILES, seed=32)
    printed = sum(stated > 0 for stated, _ in found)
    above = [excess for _, excess in found if excess > ROUNDED]
    print(f"{printed} of {FILES} files have numbers to print; audits of {len(above)} exceed the certificate")
    return int(bool(above) or printed < FILES / 3)


if __name__ == "__main__":
    sys.exit(main())
