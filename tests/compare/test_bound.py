"""Lower bounds on any mechanism (theory.md, Theorem 7): the check against enumeration, and what it refuses."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import json
import sys
from collections.abc import Iterator
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bcdp.compare.bound.check
from bcdp import InputError, Policy, make_plan
from bcdp.cli import main
from bcdp.compare.bound import Bound, problem_of
from bcdp.compare.bound.check import Problem, ProductRow, Proof, Sensitive, exp_up, forms, last_pivot, remainder
from bcdp.compare.bound.solve import find_proof
from bcdp.compare.means import PAPER_Q, demands
from bcdp.compare.survey import PROOFS, means_plan, proof_name, survey_of
from support.system import require

pytestmark = pytest.mark.slow

Function = dict[tuple[int, int], Fraction]  # by cell, and by the other features' values as bits

SMALL = Problem(Fraction(1), (Sensitive(Fraction(1, 5), Fraction(1, 8), Fraction(1)),), 3, Fraction(1))
PAIR = Problem(
    Fraction(2),
    (Sensitive(Fraction(1, 5), Fraction(1, 8), Fraction(2)), Sensitive(Fraction(1, 2), Fraction(1, 4), Fraction(1))),
    *(2, Fraction(1, 2)),
)
FILE = Path(__file__).with_name("small-bound.json")
POLICY = """\
epsilon: 1
correlation: 0.1
features:
  a: {type: binary}
  b: {type: binary}
  hiv: {type: binary, delta: 0.2}
  c: {type: binary}
"""


def places(problem: Problem) -> list[tuple[int, int]]:
    return list(itertools.product(range(problem.cells), range(2**problem.others)))


def side(problem: Problem, feature: int, value: int) -> list[tuple[int, int]]:
    return [place for place in places(problem) if place[0] >> feature & 1 == value]


def variables(problem: Problem, f: Function) -> list[Fraction]:
    """Averages and extremes of a function by enumeration, in the order that the check has them."""
    rows = [[f[cell, z] for z in range(2**problem.others)] for cell in range(problem.cells)]
    found = [sum(row) / len(row) for row in rows] + [min(row) for row in rows] + [max(row) for row in rows]
    for feature in range(len(problem.sensitive)):
        sides = [[f[place] for place in side(problem, feature, value)] for value in (0, 1)]
        found += [*map(min, sides), *map(max, sides)]
    return [*found, min(f.values())]


def effect(problem: Problem, f: Function, feature: int) -> Fraction:
    """The average of `f(x) x_i`; the others are numbered after the sensitive features."""

    def sign(cell: int, z: int) -> int:
        return 2 * ((cell | z * problem.cells) >> feature & 1) - 1

    return sum((sign(*place) * value for place, value in f.items()), Fraction(0)) / len(f)


def within(problem: Problem, f: Function) -> bool:
    """Whether an output keeps epsilon and every demand, by (**) written out, with the rounded-up exponentials."""
    if max(f.values()) > exp_up(problem.epsilon) * min(f.values()):
        return False
    for number, feature in enumerate(problem.sensitive):
        for value in (0, 1):
            top = max(f[place] for place in side(problem, number, value))
            bottom = min(f[place] for place in side(problem, number, 1 - value))
            for cell, z in side(problem, number, value):
                left = (1 - feature.q) * f[cell, z] + feature.q * top
                right = (1 - feature.q) * f[cell ^ 1 << number, z] + feature.q * bottom
                if left > exp_up(feature.delta) * right:
                    return False
    return True


def outputs(problem: Problem, count: int) -> Iterator[tuple[Function, Function]]:
    """Random outputs at the edge of what the demands allow, sensitive features turned up, and others just outside."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        drawn = rng.choice([-1, 1, 1], len(places(problem))) * rng.integers(0, 9, len(places(problem)))
        f = dict(zip(places(problem), (Fraction(int(number)) for number in drawn), strict=True))
        turned = sum(1 << i for i in range(len(problem.sensitive)) if effect(problem, f, i) < 0)
        f = {(cell ^ turned, z): value for (cell, z), value in f.items()}
        low, high = Fraction(0), Fraction(1)
        for _ in range(12):
            middle = (low + high) / 2
            bent = {place: 1 + middle * value for place, value in f.items()}
            low, high = (middle, high) if min(bent.values()) > 0 and within(problem, bent) else (low, middle)
        yield tuple({place: 1 + size * value for place, value in f.items()} for size in (low, high))  # type: ignore[misc]


def at_place(problem: Problem, f: Function, z: int) -> list[Fraction]:
    """The variables of local forms: values at one place, and the extremes."""
    return [f[cell, z] for cell in range(problem.cells)] + variables(problem, f)[problem.cells :]


def values(problem: Problem, f: Function) -> list[list[Fraction]]:
    """Each form's values: at all places if it is local, else one."""
    found = []
    local, plain = [at_place(problem, f, z) for z in range(2**problem.others)], [variables(problem, f)]
    for form in forms(problem):
        lists = local if form.local else plain
        found.append([sum((c * own[v] for v, c in form.coefficients.items()), Fraction(0)) for own in lists])
    return found


@pytest.mark.parametrize("problem", [SMALL, PAIR])
def test_every_output_within_the_demands_keeps_all_inequalities(problem: Problem) -> None:
    """And outputs just outside break one: the inequalities say no less than the demands."""
    for inside, outside in outputs(problem, 25):
        assert min(map(min, values(problem, inside))) >= 0
        assert min(map(min, values(problem, outside))) < 0


@pytest.mark.parametrize("problem", [SMALL, PAIR])
def test_the_quadratic_forms_are_those_of_the_theorem(problem: Problem) -> None:
    """The identity of Theorem 7 for random functions and multipliers, averages over flips by enumeration."""
    rng = np.random.default_rng(6)
    known, others = forms(problem), problem.others
    for _ in range(10):
        f = {place: Fraction(int(rng.integers(-9, 10)), 7) for place in places(problem)}
        pairs = sorted({tuple(sorted(rng.integers(0, len(known), 2).tolist())) for _ in range(30)})
        rows = []
        for first, second in pairs:
            local = known[first].local and known[second].local
            distance = int(rng.integers(0, others + 1)) if local else None
            rows.append(ProductRow(first, second, distance, Fraction(int(rng.integers(1, 50)), 3)))
        errors = tuple(Fraction(int(rng.integers(1, 30)), 11) for _ in problem.targets)
        first_matrix, *levels = remainder(Proof(problem, errors, tuple(rows)))
        own = variables(problem, f)
        found = sum(a * b * first_matrix[i][j] for i, a in enumerate(own) for j, b in enumerate(own))
        for level, matrix in enumerate(levels, 1):
            for subset in (s for s in range(2**others) if s.bit_count() == level):
                part = [
                    sum((-1) ** (subset & z).bit_count() * f[cell, z] for z in range(2**others)) / Fraction(2**others)
                    for cell in range(problem.cells)
                ]
                found += sum(a * b * matrix[i][j] for i, a in enumerate(part) for j, b in enumerate(part))
        own_values = values(problem, f)
        products = sum(row.multiplier * average(problem, own_values, row) for row in rows)
        assert found == -targets(problem, f, errors) - products


def targets(problem: Problem, f: Function, errors: tuple[Fraction, ...]) -> Fraction:
    """The sum of `w r^2 e^2` over all features."""
    count = len(problem.sensitive)
    features = range(count + problem.others)
    each = [(*problem.targets[min(i, count)][:1], errors[min(i, count)]) for i in features]
    return sum((w * r**2 * effect(problem, f, i) ** 2 for i, (w, r) in zip(features, each, strict=True)), Fraction(0))


def average(problem: Problem, all_values: list[list[Fraction]], row: ProductRow) -> Fraction:
    """The average of a product of two forms over all places, and over all flips at the distance."""
    one, other = all_values[row.first], all_values[row.second]
    if row.distance is None:
        return Fraction(sum(one)) / len(one) * Fraction(sum(other)) / len(other)
    flips = [flip for flip in range(2**problem.others) if flip.bit_count() == row.distance]
    return sum(one[z] * other[z ^ flip] for z in range(len(one)) for flip in flips) / Fraction(len(one) * len(flips))


def test_elimination_agrees_with_eigenvalues() -> None:
    rng = np.random.default_rng(7)
    verdicts = set()
    for _ in range(300):
        size, rank = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        factor = rng.integers(-3, 4, (size, rank))
        matrix = factor @ factor.T - int(rng.integers(0, 2)) * np.diag(rng.integers(0, 2, size))
        pivot = last_pivot([[Fraction(int(entry)) for entry in row] for row in matrix])
        verdict = pivot is not None and pivot >= 0
        assert verdict == bool(np.linalg.eigvalsh(matrix).min() > -1e-9)
        verdicts.add(verdict)
    assert verdicts == {True, False}


@pytest.mark.parametrize("exponent", ["0", "0.000001", "0.2", "1", "2", "7.3", "20"])
def test_exponentials_are_rounded_up_by_little(exponent: str) -> None:
    getcontext().prec = 60
    true = Fraction(Decimal(exponent).exp())
    assert true <= exp_up(Fraction(exponent)) <= true + Fraction(11, 10**10)


def test_the_check_needs_nothing_but_whole_numbers() -> None:
    """It imports no solver, no floating point and nothing else of the package."""
    tree = ast.parse(Path(bcdp.compare.bound.check.__file__).read_text("utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"__future__", "collections", "collections.abc", "dataclasses", "fractions", "math", "typing"}
    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))
    assert not any(isinstance(node, ast.Constant) and isinstance(node.value, float) for node in ast.walk(tree))
    assert "theorem 7" in (ast.get_docstring(tree) or "").lower()


@pytest.mark.parametrize("q", PAPER_Q)
def test_proofs_of_the_picture_hold_and_lie_below_its_plans(q: float) -> None:
    """The survey is within 1.3% of what is possible at every q, and within 0.05% from q = 0.12 on."""
    bound = Bound.load(PROOFS / proof_name(q))
    assert bound.problem == problem_of(survey_of(demands(2, 10), 2.0, q))
    objective = means_plan(demands(2, 10), 2.0, q).certificate.objective
    assert objective is not None
    assert 1 <= objective / bound.least < (1.013 if q < 0.1 else 1.0005)


def test_what_is_not_allowed_proves_nothing() -> None:
    """A multiplier below 0, a distance too far, missing or needless, and forms that are not there."""
    proof = Bound.load(FILE).proof
    local = next(number for number, row in enumerate(proof.rows) if row.distance is not None)
    plain = next(number for number, row in enumerate(proof.rows) if row.distance is None)
    for number, change in [
        (local, {"multiplier": Fraction(-1)}),
        (local, {"distance": None}),
        (local, {"distance": 4}),
        (local, {"distance": -1}),
        (plain, {"distance": 0}),
        (plain, {"first": -1}),
        (plain, {"second": len(forms(proof.problem))}),
    ]:
        rows = list(proof.rows)
        rows[number] = rows[number]._replace(**change)
        with pytest.raises(InputError, match="prove nothing"):
            Bound.of(Proof(proof.problem, proof.errors, tuple(rows)))


def changed(text: str) -> Iterator[str]:
    """Files with one thing changed."""
    document = json.loads(text)

    def written(**changes: Any) -> str:
        return json.dumps(document | changes)

    rng = np.random.default_rng(8)
    rows, count = document["rows"], len(document["rows"])
    for number in rng.choice(count, 60, replace=False).tolist():
        for times in (rows[number][3] + 1, rows[number][3] - 1):  # one unit in the last place
            yield written(rows=[*rows[:number], [*rows[number][:3], times], *rows[number + 1 :]])
    for number in rng.choice(count, 40, replace=False).tolist():
        yield written(rows=rows[:number] + rows[number + 1 :])
        other = next(place for place in range(count) if rows[place][3] != rows[number][3])
        swapped = [list(row) for row in rows]
        swapped[number][3], swapped[other][3] = swapped[other][3], swapped[number][3]
        yield written(rows=swapped)
    for number in rng.choice(count - 1, 10, replace=False).tolist():
        yield written(rows=[*rows[:number], rows[number + 1], rows[number], *rows[number + 2 :]])
    for key in document:
        yield json.dumps({name: part for name, part in document.items() if name != key})
    unit = Decimal(1).scaleb(Decimal(document["bound"]).as_tuple().exponent)
    claims = [str(Decimal(document["bound"]) + unit), str(Decimal(document["bound"]) - unit), "4000", "1", "-1", "nan"]
    yield from (written(bound=claim) for claim in claims)
    yield from (written(epsilon=value) for value in ("1.000000001", "0.999999999", "20", "0", "1.0", 1))
    yield from (written(others={"count": count, "weight": "1"}) for count in (0, 2, 4, 29, "3"))
    yield written(others={"count": 3, "weight": "1.000001"})
    (own,) = document["sensitive"]
    for key, value in [("delta", "0.200000001"), ("delta", "0.199999999"), ("delta", "1.1"), ("weight", "0.999999")]:
        yield written(sensitive=[own | {key: value}])
    yield from (written(sensitive=[own | {"q": q}]) for q in ("0.099999999", "0.100000001", "0", "1", "1.1"))
    yield from (written(sensitive=listed) for listed in ([], [own, own]))
    for place, error in enumerate(document["errors"]):
        more = str(Decimal(error) + Decimal("0.000001"))
        yield written(errors=[*document["errors"][:place], more, *document["errors"][place + 1 :]])


def test_every_change_of_a_file_is_refused() -> None:
    """Without a checksum: the claim is exactly what the numbers prove, to twenty digits after the point."""
    text = FILE.read_text("utf-8")
    assert Bound.parse(text).text == text
    files = list(changed(text))
    assert len(set(files) - {json.dumps(json.loads(text))}) == len(files) >= 200
    for file in files:
        with pytest.raises(InputError):
            Bound.parse(file)


def test_a_proof_is_found_for_a_policy_and_is_nearly_its_plan() -> None:
    """The bound lies below what a plan reaches, and within half a percent of it, for one demand and for two."""
    require(importlib.util.find_spec("clarabel"), "clarabel")
    for own, q, others in [((0.2,), 0.3, 2), ((0.3, 0.6), 0.1, 3)]:
        policy = survey_of((*own, *([1.5] * others)), 1.5, q)
        objective = make_plan(policy).certificate.objective
        assert objective is not None
        assert 1 <= objective / Bound.of(find_proof(problem_of(policy))).least < 1.005


def test_bound_and_plan_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file is found, checked and compared with the plan; it stands in the place of the numerical search."""
    require(importlib.util.find_spec("clarabel"), "clarabel")
    policy, file = tmp_path / "policy.yaml", tmp_path / "bound.json"
    policy.write_text(POLICY, "utf-8")
    assert main(["bound", str(policy), "-o", str(file)]) == 0
    assert "proved: n x error >= 249.750" in capsys.readouterr().out
    assert main(["bound", "--check", str(file)]) == 0
    assert "checked in exact arithmetic" in capsys.readouterr().out
    assert main(["bound", str(policy), "--check", str(file), "--json"]) == 0
    assert 249.75 < json.loads(capsys.readouterr().out)["bound"] < 249.751
    assert main(["plan", str(policy), "--bound", str(file)]) == 0
    out = capsys.readouterr().out
    assert "proved: the error is at most 1.0000" in out
    assert "numerical" not in out
    assert main(["plan", str(policy), "--bound", str(file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["proved_limit"] <= document["objective"] < 1.0001 * document["proved_limit"]
    assert document["numerical_limit"] is None


def test_files_are_checked_without_the_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """And whoever wants to find a proof is told what to install."""
    monkeypatch.setitem(sys.modules, "clarabel", None)
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY, "utf-8")
    assert main(["bound", "--check", str(FILE)]) == 0
    assert main(["plan", str(policy), "--bound", str(FILE)]) == 0
    assert main(["bound", str(policy)]) == 2
    assert "bcdp-privacy[bound]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("q", None), "POLICY"),
        (("correlation: 0.1", "correlation: 0.2"), "a bound on this policy"),
        (("delta: 0.2", "delta: 0.3"), "a bound on this policy"),
        (("  c: {type: binary}\n", ""), "a bound on this policy"),
        (("type: binary}", "type: numeric, bounds: [0, 1]}"), "binary features only"),
        (("correlation: 0.1", "correlation: {pairs: {a: {b: 0.1}}}"), "one q"),
        (("correlation: 0.1", "correlation: {q: 0.1, odds: 2}"), "q without odds"),
        (("features", "tasks: [{mean: [hiv, a, b]}]\nfeatures"), "a mean of every feature"),
        (("features", "tasks: [{mean: [hiv, a, b, c]}, {mean: [a]}]\nfeatures"), "one weight"),
        ((", delta: 0.2", ""), "1 to 3"),
    ],
)
def test_bounds_about_something_else_are_refused(
    change: tuple[str, str | None], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.yaml"
    old, new = change
    arguments = ["bound"]
    if new is not None:
        policy.write_text(POLICY.replace(old, new), "utf-8")
        arguments += [str(policy), "--check", str(FILE)]
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_the_others_may_stand_anywhere_and_weigh_alike() -> None:
    """Frequencies of a binary feature count as its mean; the order of features does not matter."""
    policy = Policy(
        epsilon=1,
        features={
            "a": {"type": "binary"},
            "b": {"type": "binary", "delta": 0.5},
            "c": {"type": "binary", "delta": 0.2},
        },
        correlation={"b": 0.2, "default": 0.1},
        tasks=[{"frequency": ["a", "b", "c"]}],
    )
    low, high = problem_of(policy).sensitive
    assert low == (Fraction("0.2"), Fraction("0.1"), Fraction(1))
    assert high == (Fraction("0.5"), Fraction("0.2"), Fraction(1))
    assert problem_of(policy).weight == Fraction(1)
