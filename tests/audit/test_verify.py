"""The device's own check: a second implementation that agrees with the first, and refuses what the first refuses."""

from __future__ import annotations

import ast
import copy
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bcdp_device
from bcdp import InputError, Plan, Policy, make_plan
from bcdp.audit import verify_limits
from bcdp.cli.app import main
from bcdp.correlation import FinitePrior
from bcdp.exact import TOTAL
from bcdp.plan import certify
from bcdp.randomizers import binary, hadamard, response
from support.helpers import exact_q, listed, random_document, random_prior, random_product_document, sizes_of, survey
from support.paths import ROOT

BINARY = {"type": "binary", "delta": 20.0}
REFUSED = json.loads((ROOT / "vectors" / "refused.json").read_text("utf-8"))


def test_it_shares_no_code_with_what_it_checks() -> None:
    """The device imports its own files and Python's own library only; its relay part, the ciphers that it needs."""
    folder = Path(bcdp_device.__file__).parent
    allowed = {*sys.stdlib_module_names, "bcdp_device"}
    for path in folder.rglob("*.py"):
        names = {name.partition(".")[0] for name in imported(ast.parse(path.read_text("utf-8")))}
        more = {"cryptography", "pyhpke"} if path.parent.name == "sealing" else set()
        if path == folder / "__init__.py":  # its public names, from its own modules
            more = {"import_module"}
            assert 'import_module(f"bcdp_device.{_MODULES[name]}")' in path.read_text("utf-8")
        assert names <= allowed | more, path
    borrowed = (
        "def f():\n    from bcdp.plan import certify\n    from ..plan import x\n    import bcdp.randomizers as t\n"
    )
    assert imported(ast.parse(borrowed)) == {"bcdp.plan", "..plan", "bcdp.randomizers"}
    assert imported(ast.parse("__import__('bcdp.plan'); importlib.import_module('x')")) == {
        "__import__",
        "import_module",
    }


def imported(tree: ast.AST) -> set[str]:
    """The modules that a file imports, wherever and however it does."""
    nodes = list(ast.walk(tree))
    found = {"." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)}
    found |= {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    words = {node.id for node in nodes if isinstance(node, ast.Name)}
    words |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return found | words & {"__import__", "import_module", "eval", "exec"}


@pytest.mark.parametrize("seed", range(4))
def test_two_implementations_agree_on_random_plans(seed: int) -> None:
    rng = np.random.default_rng(seed)
    infinite = 0
    for _ in range(150):
        document = random_document(rng) if rng.random() < 0.8 else random_product_document(rng)
        plan = Plan.build(document)
        if rng.random() < 0.5:
            document["correlation"]["default"] = float(rng.choice([0.0, 0.01, 0.3, 1.0]))
        else:
            document["correlation"] = listed(exact_q(plan, random_prior(rng, sizes_of(plan))))
            marked = [name for name, feature in plan.policy.features.items() if feature.type == "numeric"]
            if marked and rng.random() < 0.7:
                document["correlation"]["rounded"] = marked
                document["correlation"]["products"] = [["x0", marked[:2], 0.25], ["x2", marked[:1], 0.5]]
        if rng.random() < 0.3 and "missing" not in document["collection"]["features"]["x0"]:
            document["collection"]["features"]["x0"] |= {"missing": {"binary": 1, "categorical": "a"}.get(
                document["collection"]["features"]["x0"]["type"], 0.5)}  # fmt: skip
        first, second = certify(Plan.build(document)), verify_limits(document)
        infinite += math.isinf(first.epsilon)
        assert (first.epsilon, first.c, first.delta) == (second.epsilon, second.c, second.delta)
    assert 0 < infinite < 75


@pytest.mark.parametrize("mechanism", ["survey", "cascade"])
def test_it_agrees_on_plans_as_they_are_made(mechanism: str) -> None:
    features = {
        "smoker": {"type": "binary", "delta": 0.2},
        "income": {"type": "numeric", "bounds": [0, 1]},
        "region": {"type": "categorical", "values": list("abcde")},
    }
    plan = make_plan(Policy(epsilon=2, features=features, correlation=0.05, mechanism=mechanism))
    found = verify_limits(plan.text, max_epsilon=2.0, max_delta={"smoker": 0.2})
    assert found.acceptable
    assert found.epsilon == plan.certificate.epsilon
    for name, claim in plan.certificate.features.items():
        assert (found.delta[name], found.c[name]) == (claim.certified, claim.c)


def test_it_agrees_on_the_laws_of_a_known_prior() -> None:
    """Plans made for a prior state the laws of one feature given another, and are certified by them."""
    rng, smaller = np.random.default_rng(5), 0
    for _ in range(60):
        document = random_document(rng)
        plan = Plan.build(document)
        names = [name for name, feature in plan.policy.features.items() if feature.type != "numeric"]
        if len(names) < 2:
            continue
        sizes = [len(plan.policy.features[name].values or (0, 1)) for name in names]
        prior = FinitePrior(tuple(names), random_prior(rng, tuple(sizes)), "test")
        pairs = [(a, frozenset({b})) for a in names for b in names if a != b]
        document["correlation"] = prior.restricted(pairs).to_dict()
        asked = list(zip(names, sizes, strict=True))[1:]  # one menu for each feature but the first
        document["tables"] = [response(size, 1.0).to_dict() for _, size in asked]
        document["questions"] = [{"features": [n], "levels": [s], "table": k} for k, (n, s) in enumerate(asked)]
        document["menus"] = [{"weight": 1, "questions": [number]} for number in range(len(asked))]
        document["menus"][0]["weight"] += TOTAL - len(asked)
        agreed, bounded = certify(Plan.build(document)), verify_limits(document)
        assert agreed.delta == bounded.delta
        without = {key: value for key, value in document["correlation"].items() if key != "laws"}
        smaller += bounded.delta != verify_limits({**document, "correlation": without}).delta
    assert smaller > 5


def test_products_count_for_both_features() -> None:
    document = survey(
        {"x": BINARY, "y": BINARY},
        [binary(1.0).to_dict()],
        [{"features": ["x", "y"], "levels": [2], "table": 0, "kind": "product", "categories": [None, None]}],
        [{"weight": TOTAL, "questions": [0]}],
        q=0.3,
    )
    first, second = certify(Plan.build(document)), verify_limits(document)
    assert first.delta == second.delta
    assert second.c["x"] == second.c["y"] == second.epsilon <= 1.0


def test_the_certificate_is_not_believed() -> None:
    """A plan that claims 0.2 and gives 1: the limit is held against the level found, and the claim too."""
    question = {"features": ["x"], "levels": [2], "table": 0}
    document = survey({"x": BINARY}, [binary(1.0).to_dict()], [question], [{"weight": TOTAL, "questions": [0]}])
    document["certificate"]["features"]["x"]["certified"] = 0.2
    found = verify_limits(document, max_delta={"x": 0.2})
    untrue = "delta of x is 1, above the 0.2 that the plan claims"
    assert found.objections == (untrue, "delta of x is 1, above the limit 0.2")
    assert verify_limits(document, max_epsilon=1.0, max_delta={"x": 1.0}).objections == (untrue,)
    document["certificate"]["features"]["x"]["certified"] = found.delta["x"]
    assert verify_limits(document, max_epsilon=1.0, max_delta={"x": 1.0}).acceptable


def base() -> dict[str, Any]:
    return survey(
        {"x": BINARY, "y": {"type": "categorical", "values": ["a", "b", "c"], "delta": 20.0}},
        [binary(1.0).to_dict(), response(3, 1.0).to_dict(), hadamard(3, 1.0).to_dict()],
        [
            {"features": ["x"], "levels": [2], "table": 0},
            {"features": ["y"], "levels": [3], "table": 1},
            {"features": ["y"], "levels": [3], "table": 2},
        ],
        [{"weight": TOTAL - 5, "questions": [0, 1]}, {"weight": 5, "questions": [2]}],
        q=0.1,
    )


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("tables", 0, "keep"), 2**31 + 1, "tables.0"),
        (("tables", 0, "keep"), float(2**31), "tables.0.keep"),
        (("tables", 1, "other"), 0, "tables.1.other"),
        (("tables", 2, "order"), 3, "tables.2"),
        (("tables", 2, "keep"), 2**31, "tables.2.keep"),
        (("tables", 0), {"family": "dense", "weights": [[TOTAL, 0], [TOTAL, 1]]}, "tables.0.weights"),
        (("tables", 0), {"family": "dense", "weights": [[TOTAL + 1, -1], [TOTAL, 0]]}, "tables.0.weights"),
        (("tables", 0), {"family": "gauss"}, "tables.0.family"),
        (("questions", 0, "table"), 3, "questions.0.table"),
        (("questions", 0, "table"), -1, "questions.0.table"),
        (("questions", 1, "levels"), [4], "questions.1.levels"),
        (("questions", 0, "features"), ["z"], "questions.0.features"),
        (("menus", 0, "weight"), TOTAL, "menus"),
        (("menus", 1, "questions"), [1, 2], "menus.1"),
        (("menus", 1, "questions"), [], "menus.1.questions"),
        (("menus",), [], "menus"),
        (("correlation", "default"), 1.5, "correlation.default"),
        (("correlation", "kind"), "guess", "correlation.kind"),
        (("collection", "features"), [], "collection.features"),
    ],
)
def test_what_a_device_cannot_execute_is_refused(path: tuple[Any, ...], value: Any, named: str) -> None:
    document = base()
    verify_limits(document)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InputError, match=named):
        verify_limits(document)
    with pytest.raises(InputError):
        Plan.build(document).verify()


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["why"])
def test_what_every_reader_refuses(case: dict[str, str]) -> None:
    """A false claim is an objection, anything else an error."""
    try:
        found = verify_limits(case["plan"])
    except InputError:
        return
    assert any("that the plan claims" in why or "that was asked" in why for why in found.objections)


def test_bad_text_and_bad_limits_are_refused() -> None:
    for text in ("", "[]", "{", '{"a": 1, "a": 2}'):
        with pytest.raises(InputError, match="plan"):
            verify_limits(text)
    with pytest.raises(InputError, match="max_delta: got"):
        verify_limits(base(), max_delta={"z": 1.0})
    for limit in (-1.0, math.nan, True):
        with pytest.raises(InputError, match="limit of epsilon"):
            verify_limits(base(), max_epsilon=limit)


def test_levels_are_never_rounded_down() -> None:
    """The limit is the level's own float: one float less is exceeded, the float itself is not."""
    level = verify_limits(base()).epsilon
    assert verify_limits(base(), max_epsilon=level).acceptable
    assert not verify_limits(base(), max_epsilon=math.nextafter(level, 0)).acceptable
    doubled = copy.deepcopy(base())
    doubled["tables"][0] = binary(2.0).to_dict()
    assert verify_limits(doubled).epsilon > level


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = make_plan(Policy(epsilon=2, features={"smoker": {"type": "binary", "delta": 0.2}, "y": {"type": "binary"}}))
    plan.save(tmp_path / "plan.json")
    file = str(tmp_path / "plan.json")
    assert main(["verify", file, "--max-epsilon", "2", "--max-delta", "smoker=0.2"]) == 0
    assert "acceptable" in capsys.readouterr().out
    assert main(["verify", file, "--max-delta", "smoker=0.1", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["acceptable"] is False
    assert document["features"]["smoker"]["limit"] == 0.1
    assert main(["verify", file, "--max-delta", "smoker"]) == 2
    assert main(["verify", str(tmp_path / "none.json")]) == 2
    (tmp_path / "bad.json").write_text("{}")
    assert main(["verify", str(tmp_path / "bad.json")]) == 2


JUNK: tuple[Any, ...] = (None, True, -1, 0.5, 2**70, math.nan, "x", [], {}, [[]], [None], {"x": 1}, ["x", ["y"], 0.1])


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all parts of a document."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path] * bool(path) + [found for key, child in children for found in places(child, (*path, key))]


@pytest.mark.parametrize("kind", ["survey", "listed", "cascade"])
def test_junk_anywhere_is_refused_in_words_or_harmless(kind: str) -> None:
    """Whatever stands in the place of any part of a plan: a verdict or one clear refusal, never another error."""
    document = base()
    if kind == "listed":
        rows = [["x", ["y"], 0.2], ["y", ["x"], 0.3]]
        laws = [["x", "y", [[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]]]]
        document["correlation"] = {"kind": "listed", "bounds": rows, "source": "test", "laws": laws}
        document["collection"]["features"]["x"] = {"type": "numeric", "bounds": [0, 1], "delta": 20.0}
        marks = {"rounded": ["x"], "products": [["y", ["x"], 0.1]], "ranges": {"x": [0.25, 0.5, 0.75]}}
        document["correlation"] |= marks
    if kind == "cascade":
        document["mechanism"] = "cascade"
        document |= {"tables": [], "questions": [], "menus": []}
        document["channels"] = [{"features": ["x", "y"], "keep": 2**31 + 9}, {"features": ["y"], "keep": 2**31 + 1}]
    verify_limits(document)
    for path in places(document):
        for junk in JUNK:
            broken = copy.deepcopy(document)
            place: Any = broken
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = junk
            try:
                verify_limits(broken, max_epsilon=1.0)
            except InputError:
                continue
