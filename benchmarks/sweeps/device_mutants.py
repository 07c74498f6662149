"""Every mutant of the device and the pages (tests/support) against the tests: a table; an error if one survives."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from support.device_mutants import MUTANTS, ROOT, is_noticed, mutated
from support.page_mutants import PAGE_MUTANTS, is_noticed_in_a_browser

TESTS = sorted(path.name for path in (ROOT / "tests" / "js").glob("*.test.js"))


def main() -> None:
    node = shutil.which("node")
    if node is None:
        sys.exit("needs nodejs")
    alive = []

    def tell(what: str, file: str, noticed: bool) -> None:
        print(f"{'noticed' if noticed else 'ALIVE  '}  {file:24}  {what}", flush=True)
        alive.extend([] if noticed else [what])

    for mutant in MUTANTS:
        with tempfile.TemporaryDirectory() as folder:
            tell(mutant[0], mutant[1], is_noticed(mutated(Path(folder), mutant), node, *TESTS))
    for page in PAGE_MUTANTS:
        with tempfile.TemporaryDirectory() as folder:
            tell(page.what, page.file, is_noticed_in_a_browser(Path(folder), page))
    every = len(MUTANTS) + len(PAGE_MUTANTS)
    print(f"{every - len(alive)} of {every} noticed")
    sys.exit(f"not noticed: {', '.join(alive)}" if alive else 0)


if __name__ == "__main__":
    main()
