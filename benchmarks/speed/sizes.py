"""How much room the package and each extra take, from what is installed here: `python benchmarks/speed/sizes.py`."""

from __future__ import annotations

import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def needed(names: list[str]) -> set[str]:
    """The distributions that these bring, on this system."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in names]
    while waiting:
        asked = waiting.pop()
        if asked.name not in found and (asked.marker is None or asked.marker.evaluate({"extra": ""})):
            found.add(asked.name)
            waiting += map(Requirement, distribution(asked.name).requires or ())
    return {distribution(name).metadata["Name"].lower() for name in found}


def megabytes(names: set[str]) -> float:
    """Of their files, without bytecode."""
    files = (file for name in names for file in distribution(name).files or () if file.suffix != ".pyc")
    return sum(Path(str(file.locate())).stat().st_size for file in files) / 1e6


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = needed(project["dependencies"])
    own = (
        sum(path.stat().st_size for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix != ".pyc") / 1e6
    )
    print(f"{'(none)':8} {own + megabytes(base):5.0f} MB, of which bcdp itself {own:.1f}")
    for extra, names in project["optional-dependencies"].items():
        print(f"{extra:8} {megabytes(needed(names) - base):+5.0f} MB")
