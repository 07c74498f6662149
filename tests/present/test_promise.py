"""The condition stands beside every promise: made from the plan's numbers, never from what its text says."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bcdp import Plan
from bcdp.cli.app import main
from bcdp.cli.demo import _planned, _Step
from bcdp.correlation import PerFeature, Stronger
from bcdp.exact import TOTAL
from bcdp.plan import certify
from bcdp.present.promise import NOTHING_ASSUMED, operator_says, promise_of_all, promises, quoted
from bcdp.present.report import write_report
from bcdp.present.words import odds, posterior_at_most
from bcdp.randomizers import binary
from support.helpers import exact_q, listed, random_document, random_prior, sizes_of
from support.node import node
from support.paths import ROOT

LIE = "nothing assumed: q = 1"


def two_bits(correlation: Any, menus: list[list[int]]) -> Plan:
    """A secret bit and an open one, through tables of budgets 0.2 and 1."""
    weights = [TOTAL // len(menus)] * len(menus)
    weights[0] += TOTAL - sum(weights)
    return Plan.certified(
        {
            "mechanism": "survey",
            "collection": {"epsilon": 2.0, "features": {"secret": {"type": "binary"}, "open": {"type": "binary"}}},
            "correlation": correlation,
            "tables": [binary(0.2).to_dict(), binary(1.0).to_dict()],
            "questions": [{"features": [name], "levels": [2], "table": n} for n, name in enumerate(("secret", "open"))],
            "menus": [
                {"weight": weight, "questions": questions} for weight, questions in zip(weights, menus, strict=True)
            ],
        }
    )


def per_feature(q: float, source: str = "assumed") -> dict[str, Any]:
    return {"kind": "per feature", "default": q, "named": {}, "source": source}


def test_the_three_parts_of_a_promise() -> None:
    """Both questions in one menu: e^0.2 (1 - q + q e) for q = 0.05, 0.1 and 1, by hand."""
    promise = promises(two_bits(per_feature(0.05), [[0, 1]]))["secret"]
    expected = [np.exp(0.2) * (1 - q + q * np.e) for q in (0.05, 0.1, 1.0)]
    assert expected == pytest.approx([1.3263, 1.4313, 3.3201], abs=1e-4)
    assert promise.sentence == (
        "Whoever sees the report can raise the odds of a guess about “secret” at most 1.33 times (a guess at 50% "
        "becomes at most 57.1%), if the other answers move by at most q = 5 percentage points with it. If that is "
        "wrong: at most 1.44 times at twice q, at most 3.33 times with nothing assumed."
    )
    whole = promise_of_all(two_bits(per_feature(0.05), [[0, 1]]))
    assert (whole.told, whole.condition) == (
        "at most 3.33 times (a guess at 50% becomes at most 76.9%)",
        NOTHING_ASSUMED,
    )


LAWS = {"bounds": [["open", ["secret"], 1.0], ["secret", ["open"], 0.3]], "laws": [["secret", "open", [[0.5, 0.5]]]]}


@pytest.mark.parametrize(("correlation", "menus", "condition", "twice"), [
    (per_feature(0.0), [[0, 1]], "if the other answers do not move with it at all (q = 0)", False),
    (per_feature(0.00001), [[0, 1]], "if the other answers do not move with it at all (q = 0)", True),
    (per_feature(0.01), [[0, 1]], "if the other answers move by at most q = 1 percentage point with it", True),
    (per_feature(0.29), [[0, 1]], "if the other answers move by at most q = 29 percentage points with it", True),
    (per_feature(1 / 3), [[0, 1]], "if the other answers move by at most q = 33.33 percentage points with it", True),
    (per_feature(1.0), [[0, 1]], NOTHING_ASSUMED, False),
    (per_feature(0.1), [[0]], NOTHING_ASSUMED, False),  # nothing else is asked
    ({"kind": "listed", "bounds": [["secret", ["open"], 0.25]]}, [[0, 1], [1], [0]],
     "if the other answers move by at most q = 25 percentage points with it", True),
    ({"kind": "listed", "bounds": []}, [[0, 1]], NOTHING_ASSUMED, False),
    ({"kind": "listed", **LAWS}, [[1]], "if the other answers depend on it as the plan's table of shares says", True),
])  # fmt: skip
def test_conditions_come_from_numbers(correlation: Any, menus: list[list[int]], condition: str, twice: bool) -> None:
    for source in ("assumed", LIE, ""):
        promise = promises(two_bits({**correlation, "source": source}, menus))["secret"]
        assert (promise.condition, promise.twice is not None) == (condition, twice)
    assert ("it has no condition" in promise.left) == (condition == NOTHING_ASSUMED)


def ranged(bounds: list[float], ranges: list[float], q: float = 0.1) -> Plan:
    """A number and a bit, each through a table of its own, and what was measured by ranges of the number."""
    number = {"type": "numeric", "bounds": bounds, "ranges": ranges}
    return Plan.certified(
        {
            "mechanism": "survey",
            "collection": {"epsilon": 2.0, "features": {"x": number, "bit": {"type": "binary"}}},
            "correlation": {"kind": "listed", "bounds": [["x", ["bit"], q], ["bit", ["x"], q]], "source": "a sample",
                            "ranges": {"x": ranges}},
            "tables": [binary(1.0).to_dict()],
            "questions": [{"features": [name], "levels": [2], "table": 0} for name in ("x", "bit")],
            "menus": [{"weight": TOTAL, "questions": [0, 1]}],
        }
    )  # fmt: skip


MOVED = "if the other answers move by at most q = 10 percentage points with it"


@pytest.mark.parametrize(("bounds", "ranges", "spelled"), [
    ([0, 100], [18, 65], "0 to 18, 18 to 65, 65 to 100"),
    ([-0.0, 1], [0.1 + 0.2], "0 to 0.3, 0.3 to 1"),
    ([-1e-5, 1e-5], [-0.0], "-1e-05 to 0, 0 to 1e-05"),
    ([-1e15, 1e17], [1e16], "-1000000000000000 to 1e+16, 1e+16 to 1e+17"),
    ([0, 1e15], [100000000000000.5, 200000000000001.5], "0 to 100000000000001, 100000000000001 to 200000000000002, "
                                                        "200000000000002 to 1000000000000000"),
])  # fmt: skip
def test_a_measured_promise_says_which_guesses_it_covers(bounds: Any, ranges: Any, spelled: str) -> None:
    """Of the number, not of the bit; and not where the promise holds with nothing assumed, which covers all guesses."""
    plan = ranged(bounds, ranges)
    condition = f"{MOVED}, for guesses which of these ranges it is in and no finer ones: {spelled}"
    promised = promises(plan)
    assert (promised["x"].condition, promised["bit"].condition) == (condition, MOVED)
    said = [*(promise.sentence for promise in (*promised.values(), promise_of_all(plan))), operator_says(plan)]
    assert json.loads(node("tests/js/promises.js", given=json.dumps([plan.text]))) == [said]
    assert promises(ranged(bounds, ranges, q=1.0))["x"].condition == NOTHING_ASSUMED


def test_bounds_that_differ_are_told_from_the_least_to_the_largest() -> None:
    features = {"a": {"type": "binary"}, "b": {"type": "binary"}, "c": {"type": "binary"}}
    document = {
        "mechanism": "survey",
        "collection": {"epsilon": 5.0, "features": features},
        "correlation": {"kind": "listed", "bounds": [["a", ["b"], 0.02], ["a", ["c"], 0.3]], "source": LIE},
        "tables": [binary(1.0).to_dict()],
        "questions": [{"features": [name], "levels": [2], "table": 0} for name in features],
        "menus": [{"weight": TOTAL // 2, "questions": menu} for menu in ([0, 1], [0, 2])],
    }
    condition = promises(Plan.certified(document))["a"].condition
    assert condition == "if the other answers move by at most q = 2 to 30 percentage points with it, as the plan lists"


def test_what_the_words_assume_is_enough_for_what_they_promise() -> None:
    """On random plans: the level under the q that a condition names, or none, is no more than is told."""
    rng, kinds = np.random.default_rng(3), set()
    for _ in range(200):
        document = random_document(rng)
        plan = Plan.build(document)
        if rng.random() < 0.5:
            document["correlation"] = listed(exact_q(plan, random_prior(rng, sizes_of(plan))))
        else:
            document["correlation"]["default"] = float(rng.choice([0.0, 0.01, 0.0123456, 0.29, 1 / 3, 1.0]))
        plan = Plan.build(document)
        for name, promise in promises(plan).items():
            stated = re.search(r"q = ([\d.]+)", promise.condition)
            kinds.add(promise.condition.split(" q ")[0] if stated else promise.condition)
            model = PerFeature(float(stated[1]) / 100 if stated else 1.0, {})
            assert certify(plan, model).delta[name] <= promise.level + 1e-13
            certain = certify(plan, Stronger(plan.correlation_model, np.inf)).delta[name]
            assert certify(plan).delta[name] <= promise.level <= promise.nothing <= max(certain, promise.level)
    assert len(kinds) >= 2


def test_what_somebody_wrote_cannot_leave_its_quotation_marks() -> None:
    assert quoted("a” b“ \x1b[31m\n\u202e") == '“a" b" \\u{1b}[31m\\u{a}\\u{202e}”'
    assert len(quoted("x" * 10_000)) == 302
    assert quoted("عمر 5") == "“\u2068عمر 5\u2069”"  # or the numbers of the sentence would be turned round
    assert quoted("می\u200cخواهم") == "“\u2068می\u200cخواهم\u2069”"
    plan = two_bits(per_feature(0.0, LIE), [[0, 1]])
    assert operator_says(plan) == f"Where conditions come from, the operator says and nobody has checked: “{LIE}”"


# ------------------------------------------------------------------------------------------------- where people read

PROMISE = re.compile(r"\bodds\b.*(\bat most\b|\bfactor of\b)|50%.*becomes|× [\d.]+|\bx\d+\.\d\d", re.DOTALL)
CONDITION = re.compile(r"\bif (q|the|this|that|features|its)\b|\bassum|\bcondition\b|\bcorrelation\b", re.IGNORECASE)


def lonely(blocks: list[str]) -> list[str]:
    """The blocks that promise something and do not say on which condition."""
    return [block for block in blocks if PROMISE.search(block) and not CONDITION.search(block)]


def blocks_of(page: str) -> list[str]:
    """Paragraphs, list entries and rows of tables, as they are read, each footnote where it is named."""
    notes = dict(re.findall(r'<li id="(condition-[a-z]+)">(.*?)</li>', page))
    page = re.sub(r'<a class="note" href="#([^"]*)">.*?</a>', lambda link: notes[link[1]], page)
    parts = re.findall(r"<(p|li|tr)\b[^>]*>(.*?)</\1>", page, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", " ", text)) for _, text in parts]


def test_a_promise_without_its_condition_would_be_found() -> None:
    assert lonely(["Whoever sees it can raise the odds of a guess by at most 1.23.", "smoker × 1.23 55.0%"])
    assert lonely(["a guess at 50% becomes at most 55.0%"])
    assert not lonely(["odds rise at most 1.23 times, if the other answers ..", "the odds in 1.23 cases"])


def test_a_footnote_counts_where_it_stands_on_the_page() -> None:
    row = '<tr><td>smoker × 1.23</td><td><a class="note" href="#condition-a">a</a></td></tr>'
    assert lonely(blocks_of(f'{row}<li id="condition-a">whenever it rains.</li>'))
    assert not lonely(blocks_of(f'{row}<li id="condition-a">if the others do not move.</li>'))
    with pytest.raises(KeyError):
        blocks_of(row)


@pytest.fixture
def lying(tmp_path: Path) -> tuple[Plan, str]:
    """A plan that rests on q = 0 while its text says that it rests on nothing, and its file."""
    plan = two_bits(per_feature(0.0, LIE), [[0, 1]])
    plan.save(tmp_path / "plan.json")
    return plan, str(tmp_path / "plan.json")


def test_the_report_page(lying: tuple[Plan, str], tmp_path: Path) -> None:
    write_report(tmp_path / "report.html", lying[0], 1000)
    page = (tmp_path / "report.html").read_text("utf-8")
    blocks = blocks_of(re.sub(r"<h3>How much accuracy.*?</section>", "", page, flags=re.DOTALL))
    assert sum(bool(PROMISE.search(block)) for block in blocks) >= 5
    assert lonely(blocks) == []
    row = next(block for block in blocks if block.split()[0] == "secret" and "×" in block)
    assert "do not move with it at all (q = 0)" in row
    assert f"× {odds(1.2)}" in row  # what is left with nothing assumed
    assert [block for block in blocks if "q = 1" in block] == [f"{operator_says(lying[0])}."]


def test_the_terminal(lying: tuple[Plan, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, file = lying
    (tmp_path / "people.csv").write_text("secret,open\n0,0\n0,1\n1,0\n1,1\n")
    policy = {"epsilon": 2, "correlation": 0.05, "features": {"secret": {"type": "binary", "delta": 0.2},
                                                             "open": {"type": "binary"}}}  # fmt: skip
    (tmp_path / "policy.yaml").write_text(json.dumps(policy))
    said = {}
    for command in (["verify", file], ["audit", file, "--data", str(tmp_path / "people.csv")],
                    ["plan", str(tmp_path / "policy.yaml")]):  # fmt: skip
        assert main(command) == 0
        said[command[0]] = capsys.readouterr().out
    for command in ("verify", "audit"):
        assert "open, secret: each if the other answers do not move with it at all (q = 0)" in said[command]
        assert said[command].count("q = 1") == (command == "verify")
    assert operator_says(plan) in said["verify"]
    assert f"x{odds(0.2)}  " in said["verify"]
    assert posterior_at_most(1.2) in said["verify"]
    assert "secret: if the other answers move by at most q = 5 percentage points with it" in said["plan"]
    assert main(["verify", file, "--json"]) == 0
    features = json.loads(capsys.readouterr().out)["features"]
    assert features["secret"]["condition"] == "if the other answers do not move with it at all (q = 0)"


def documents() -> list[Path]:
    return [
        ROOT / "README.md",
        *sorted(
            path for path in (ROOT / "docs").rglob("*.md") if not {"theory", "theory.md", "proofs.md"} & set(path.parts)
        ),
    ]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_the_documents(path: Path) -> None:
    """Paragraph by paragraph; an indented list belongs to the sentence before it."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert lonely(re.split(r"\n\n(?![-|])", text)) == []


def test_the_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = _planned(_Step(tmp_path, silent=False), pa.table({"age": [27]}))
    said = capsys.readouterr().out
    for promise in promises(plan).values():
        assert f": {promise.condition}" in said
        assert f"x{odds(promise.level)} " in said
        assert f"x{odds(promise.nothing)}" in said
