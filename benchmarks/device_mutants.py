"""Every mistake of tests/device_mutants.py against all tests of the device: a table, and an error if one is alive."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from device_mutants import MUTANTS, ROOT, is_noticed, mutated

TESTS = sorted(path.name for path in (ROOT / "tests" / "js").glob("*.test.js"))


def main() -> None:
    node = shutil.which("node")
    if node is None:
        sys.exit("needs nodejs")
    alive = []
    for mutant in MUTANTS:
        with tempfile.TemporaryDirectory() as folder:
            noticed = is_noticed(mutated(Path(folder), mutant), node, *TESTS)
        print(f"{'noticed' if noticed else 'ALIVE  '}  {mutant[1]:24}  {mutant[0]}", flush=True)
        alive += [] if noticed else [mutant[0]]
    print(f"{len(MUTANTS) - len(alive)} of {len(MUTANTS)} noticed")
    sys.exit(f"not noticed: {', '.join(alive)}" if alive else 0)


if __name__ == "__main__":
    main()
