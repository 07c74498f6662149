"""The pages for developers name files that exist, and registries that have what the pages say."""

from __future__ import annotations

import re

import pytest

from support.paths import ROOT

PAGES = ["CONTRIBUTING.md", *(f"docs/development/{name}.md" for name in ("architecture", "release", "where-to-change"))]
TITLES = [
    "Estimate the variance of a number",
    "An ordinal feature",
    "A family of randomizers",
    "A third mechanism",
    "The version of the plan's format",
    "A minimum number of people per menu",
    "Another solver of linear programs",
    "A MySQL store",
    "A DuckDB engine",
    "The wording of a promise",
    "A command",
    "A language of the survey page",
]


def missing(text: str) -> list[str]:
    """What is named as a path (a folder ends in /) or as a module of the package, and is nowhere."""
    paths = re.findall(r"`([\w.*-]+/[\w./*-]*|[\w-]+\.(?:py|js|md|cff))`", text)
    lost = [
        path
        for path in paths
        if not any(_matches(base, path) for base in ("", "src", "src/bcdp", "src/bcdp/web/device"))
    ]
    modules = re.findall(r"`([a-z_]+(?:\.(?!yaml|json)[a-z_]+)+)\.?[A-Za-z_]*`", text)
    packages = {path.stem for path in (ROOT / "src" / "bcdp").iterdir()}
    return lost + [name for name in modules if name.split(".")[0] in packages and not _imported(name)]


def _matches(base: str, path: str) -> bool:
    return any((ROOT / base).glob(path.rstrip("/")))


def _imported(name: str) -> bool:
    """Whether a module is there, or the name before the last dot is one that defines or imports the rest."""
    path = ROOT / "src" / "bcdp" / name.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    for source in (path.parent.with_suffix(".py"), path.parent / "__init__.py"):
        if source.exists() and re.search(rf"\b{path.name}\b", source.read_text("utf-8")):
            return True
    return False


@pytest.mark.parametrize("page", PAGES)
def test_what_the_pages_name_exists(page: str) -> None:
    assert missing((ROOT / page).read_text("utf-8")) == []


def test_what_does_not_exist_is_noticed() -> None:
    text = "`plan/document.py` `plan/documents.py` `rooms/` `plan.document.Plan` `plan.documents` `tally.nothing`"
    assert missing(text) == ["plan/documents.py", "rooms/", "plan.documents", "tally.nothing"]


def test_twelve_changes_are_explained() -> None:
    text = (ROOT / "docs" / "development" / "where-to-change.md").read_text("utf-8")
    assert re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE) == TITLES
    for part in re.split(r"^\*\*", text, flags=re.MULTILINE)[1:]:
        assert re.search(r"`[\w./-]+\.(py|js)`", part), part.splitlines()[0]


def test_what_tests_share_is_in_support() -> None:
    """No test imports another: a file can be read, moved and run by itself."""
    files = [path for path in (ROOT / "tests").rglob("*.py") if "node_modules" not in path.parts]
    assert len(files) > 100
    shared = [
        path.name for path in files if re.search(r"^\s*(from|import) test_", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert shared == []
