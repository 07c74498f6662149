"""The proofs in proof/ compile, rest on the axioms of the reals alone, and agree with the documents and the vectors."""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import shutil
import subprocess
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bcdp import Policy, make_plan
from support.enumeration import where_wrong
from support.helpers import loaded
from support.paths import ROOT
from support.system import require

pytestmark = pytest.mark.slow
PROOF = ROOT / "proof"
ORDER = [line for line in (PROOF / "_CoqProject").read_text("utf-8").splitlines() if line.endswith(".v")]
# no plans, and such with blocks, waves, a million values or claims about batches, which the checker does not know
OTHERS = (
    "refused",
    "spellings",
    "block",
    "ticks",
    "batch",
    "batch-of-blocks",
    "batch-of-laws",
    "batch-of-ranges",
    "messages",
    "messages-of-groups",
    "panel",
    "steps-and-no-number",
    "integers",
)
VECTORS = sorted(path.stem for path in (ROOT / "vectors").glob("*.json") if path.stem not in OTHERS)
REFUSED = {case["why"]: case["plan"] for case in json.loads((ROOT / "vectors" / "refused.json").read_text("utf-8"))}
AXIOMS = {  # of the standard library: what its real numbers are made of
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
# What Coq must find wrong with these plans: a claim below the level, or tables and menus that are none.
TOO_LOW = [
    "epsilon is claimed one double too low",
    "certified of never is claimed one double too low",
    "more correlation than was counted on",
    "a law that was counted on is missing",
    "laws that are further apart",
    "a symbol that is never given hides the others",
    "a product that counts as if it were rounded once",
    "a square that counts as if it were rounded once",
    "a square beside it that counts as if it were rounded once",
    "a number of 4 levels that counts as if it were rounded once",
    "a product that is known less well",
    *(f"certified of {name} is claimed one double too low, under odds" for name in ("wage", "age", "part")),
    *(f"certified of {name} is claimed one double too low, under odds of each" for name in ("bit", "never")),
    "odds that were counted on are missing",
    "larger odds than were counted on",
    "odds of fewer others than were counted on",
    "no odds of a feature that counted on them",
]
IMPROPER = [
    "weights do not sum to 2^32",
    "a response that does not sum up",
    "a row that does not sum up",
    "a negative weight",
]


PLANS = loaded(PROOF / "plans.py")


def coqc(folder: Path, file: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["coqc", "-Q", ".", "", file], cwd=folder, capture_output=True, text=True, timeout=300)


def output(folder: Path, name: str, text: str) -> str:
    """What Coq prints about a file beside the compiled proofs."""
    (folder / name).write_text(text, encoding="utf-8")
    done = coqc(folder, name)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled proofs, one for all processes of a test run."""
    require(shutil.which("coqc"), "coq")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "proof"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            for name in ORDER:
                shutil.copy(PROOF / name, folder)
                done = coqc(folder, name)
                assert done.returncode == 0, done.stderr
            (folder / "done").touch()
    return folder


def theorems() -> set[str]:
    """What proof/ states as a theorem; lemmas are on the way to one."""
    found = {
        (Path(name).stem, theorem)
        for name in ORDER
        for theorem in re.findall(r"^Theorem (\w+)", (PROOF / name).read_text("utf-8"), flags=re.MULTILINE)
    }
    return {f"{module}.{theorem}" for module, theorem in found}


def named(pages: str) -> set[str]:
    """The Coq statements that pages of the explanation name, as in (Coq: Theorem1.theorem_1)."""
    text = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs" / "explanation").glob(pages))
    return {name for names in re.findall(r"\(Coq: ([\w.,\s]+)\)", text) for name in re.split(r",\s*", names)}


def test_all_files_are_compiled() -> None:
    assert sorted(ORDER) == sorted(path.name for path in PROOF.glob("*.v"))


def test_the_documents_name_every_theorem_and_no_other() -> None:
    assert named("theory/*.md") | named("proofs.md") == theorems()
    assert named("theory/*.md") >= {"Theorem1.theorem_1", "Certificate.theorem_3", "Certificate.theorem_4"}


def assumptions(folder: Path, text: str, terms: list[str]) -> list[set[str]]:
    """The axioms that each of the terms of a file rests on."""
    text += "".join(f"Print Assumptions {term}.\n" for term in terms)
    printed = re.split(r"^(?=Axioms:|Closed under)", output(folder, "Assumptions.v", text), flags=re.MULTILINE)[1:]
    parts = [part.removeprefix("Axioms:\n") for part in printed]
    return [set(re.findall(r"^([\w.]+)\s*:", part, flags=re.MULTILINE)) for part in parts]


def test_every_theorem_rests_on_the_axioms_of_the_reals_alone(built: Path) -> None:
    """Printed of one term that holds all of them: what any of them assumes, it assumes."""
    text = "".join(f"Require {module}.\n" for module in sorted({name.split(".")[0] for name in theorems()}))
    text += f"Definition every_theorem := ({', '.join(f'@{name}' for name in sorted(theorems()))}).\n"
    text += "Lemma left_open : 0 = 1.\nAdmitted.\nDefinition broken := (every_theorem, left_open).\n"
    used, broken = assumptions(built, text, ["every_theorem", "broken"])
    assert used == AXIOMS
    assert broken == AXIOMS | {"left_open"}  # what is not proved is seen


def script(text: str, statement: str) -> list[str]:
    """The proof of a statement, line by line."""
    proof = text[text.index("Proof.", text.index(f" {statement} ")) :]
    return proof[: proof.index("Qed.")].replace("  (* fails here *)", "").splitlines()


@pytest.mark.parametrize(
    ("name", "statement", "changed"), [("Exchanged", "star_certifies", 1), ("Linear", "paper_linear_constraint", 0)]
)
def test_a_wrong_inequality_fails_at_the_step_that_is_wrong(
    built: Path, name: str, statement: str, changed: int
) -> None:
    """The right proof, on a statement that is wrong (its negation is a theorem): Coq stops at the marked line."""
    text = (PROOF / "wrong" / f"{name}.v").read_text("utf-8")
    right = script((PROOF / "Theorem1.v").read_text("utf-8"), statement)
    lines = zip(right, script(text, statement), strict=True)
    assert sum(one != other for one, other in lines) == changed  # the formula, where the proof quotes it
    (built / f"{name}.v").write_text(text, encoding="utf-8")
    done = coqc(built, f"{name}.v")
    assert done.returncode != 0
    (failing,) = [number for number, line in enumerate(text.splitlines(), 1) if "(* fails here *)" in line]
    assert f"line {failing}," in done.stderr
    assert "Cannot find witness" in done.stderr


def log(ratio: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def margins(levels: Any, claims: dict[str, Any]) -> dict[str, Decimal]:
    """By how much each claim exceeds the logarithm of what Coq computed; the claims' order is the plan's."""
    epsilon, features = levels
    pairs = {"epsilon": (claims["epsilon"], epsilon)}
    for name, found in zip(claims["c"], features, strict=True):
        pairs |= {f"c of {name}": (claims["c"][name], found[0]), f"delta of {name}": (claims["delta"][name], found[1])}
    return {what: Decimal(claim) - log(ratio) for what, (claim, ratio) in pairs.items()}


def claims_of(plan: dict[str, Any]) -> dict[str, Any]:
    stated = plan["certificate"]
    return {
        "epsilon": stated["epsilon"],
        "c": {name: claim["c"] for name, claim in stated["features"].items()},
        "delta": {name: claim["certified"] for name, claim in stated["features"].items()},
    }


def computed(folder: Path, name: str, plans: list[dict[str, Any]]) -> list[Any]:
    return list(PLANS.levels(output(folder, name, PLANS.document(plans))))


def test_the_claims_of_every_vector_are_what_coq_computes(built: Path) -> None:
    """Never below the logarithm of the exact ratio, and at most one part in 10^9 of the ratio above it."""
    vectors = [json.loads((ROOT / "vectors" / f"{name}.json").read_text("utf-8")) for name in VECTORS]
    plans = [json.loads(vector["plan"]) for vector in vectors]
    for name, vector, plan, levels in zip(VECTORS, vectors, plans, computed(built, "Vectors.v", plans), strict=True):
        assert vector["levels"] == claims_of(plan), name
        for what, margin in margins(levels, claims_of(plan)).items():
            assert 0 <= margin <= Decimal("1e-9"), (name, what)
        lower = Decimal(math.nextafter(vector["levels"]["epsilon"], 0))
        assert lower < log(levels[0]), name  # the comparison is fine enough to see one double


def test_second_demands_are_what_coq_computes_at_the_larger_bounds(built: Path) -> None:
    """The checker reads q and odds: the second claims of a plan are the first ones of another assumption."""
    plan = json.loads(json.loads((ROOT / "vectors" / "if-wrong.json").read_text("utf-8"))["plan"])
    claims, features = claims_of(plan), plan["certificate"]["features"]
    claims["delta"] = {name: claim.get("if_wrong", claim["certified"]) for name, claim in features.items()}
    (levels,) = computed(built, "Second.v", [where_wrong(plan)])
    for what, margin in margins(levels, claims).items():
        assert 0 <= margin <= Decimal("1e-9"), what


def test_coq_objects_to_plans_that_must_be_refused(built: Path) -> None:
    plans = [json.loads(REFUSED[why]) for why in [*TOO_LOW, *IMPROPER]]
    found = dict(zip([*TOO_LOW, *IMPROPER], computed(built, "Refused.v", plans), strict=True))
    for why in TOO_LOW:
        assert min(margins(found[why], claims_of(json.loads(REFUSED[why]))).values()) < 0, why
    for why in IMPROPER:
        assert found[why] is None, why


def test_the_channels_of_a_cascade(built: Path) -> None:
    features = {
        "smoker": {"type": "binary", "delta": 0.3},
        "age": {"type": "numeric", "bounds": [0, 100], "delta": 1.0},
        "sex": {"type": "binary"},
    }
    stated = [0.05, {"odds": 1.5}, {"q": 0.1, "odds": 1.5}, {"smoker": {"odds": 1}, "default": {"odds": 2}}]
    made = [make_plan(Policy(epsilon=2, correlation=one, mechanism="cascade", features=features)) for one in stated]
    plans = [json.loads(plan.text) for plan in made]
    assert any(len(plan["channels"]) >= 2 for plan in plans)
    for plan, levels in zip(plans, computed(built, "Cascade.v", plans), strict=True):
        for what, margin in margins(levels, claims_of(plan)).items():
            assert 0 <= margin <= Decimal("1e-9"), what


def test_guesses_which_range_a_number_is_in(built: Path) -> None:
    """Three levels 0, 1/2, 1, ranges up to and from 3/4, q = 1/2. By values the ratio is 6, by ranges it is 7.

    The answer has chance .05, .03 at the first level, .03, .09 at the second, .01, .09 at the third. In the lower range
    the number may be at the first level where that gives .05, and at the second where that gives .09, against .01.
    Odds of 99 leave parts of 99, 1 and 96 out of 196: (99 * 9 + 3 + 96 * 3) / (9 + 99 + 96), with 5 for 3 by ranges.
    """
    first = [share * (2**32 // 100) for share in (5, 3, 3, 9, 1, 9)]
    features: dict[str, Any] = {"number": {"type": "numeric", "bounds": [0, 1]}, "sign": {"type": "binary"}}
    plan: dict[str, Any] = {
        "mechanism": "survey",
        "collection": {"features": features},
        "correlation": {"kind": "listed", "bounds": [["number", ["sign"], 0.5]]},
        "tables": [{"family": "dense", "weights": [[weight, 2**32 - weight] for weight in first]}],
        "questions": [{"features": ["number", "sign"], "levels": [3, 2], "table": 0}],
        "menus": [{"weight": 2**32, "questions": [0]}],
    }
    stated = [plan["correlation"], {**plan["correlation"], "odds": [["number", ["sign"], 99.0]]}]
    by_values = [{**plan, "correlation": correlation} for correlation in stated]
    by_ranges = [{**plan, "correlation": {**correlation, "ranges": {"number": [0.75]}}} for correlation in stated]
    found = computed(built, "Ranges.v", [*by_values, *by_ranges])
    exact = [Fraction(6), Fraction(1182, 204), Fraction(7), Fraction(1376, 204)]
    margins = [levels[1][0][1] - ratio for levels, ratio in zip(found, exact, strict=True)]
    assert margins[:2] == [0, 0]
    assert all(0 <= margin <= Fraction(1, 10**7) for margin in margins)  # ends of ranges move by 2^-30 of a step


def test_what_the_generator_does_not_know_is_not_covered() -> None:
    plan = json.loads(json.loads((ROOT / "vectors" / "product.json").read_text("utf-8"))["plan"])
    plan["collection"]["features"]["number"]["novelty"] = 1
    with pytest.raises(PLANS.UncoveredError, match="feature: novelty"):
        PLANS.plan_term(plan)
