"""The browser's device in Node: certificates as in Python, the same refusals, the examples of the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcdp import Plan
from bcdp.plan import certify
from bcdp.plan.ledger import Ledger, release_of
from bcdp.present.promise import operator_says, promise_of_all, promises
from support.device_mutants import MUTANTS, QUICK, is_noticed, mutated
from support.helpers import exact_q, listed, random_document, random_prior, sizes_of
from support.ledger_priors import SECRET, random_plan
from support.node import NODE, node
from support.page_mutants import PAGE_MUTANTS, QUICK_PAGE, PageMutant, is_noticed_in_a_browser
from support.paths import ROOT
from support.plan_mutants import change_the_odds
from support.readers import accepted_by_device, accepted_by_plan, disagreements
from support.system import require

pytestmark = pytest.mark.slow
VECTORS = ROOT / "vectors"
WEB = ROOT / "src" / "bcdp" / "web"


def test_the_examples_of_the_documentation() -> None:
    parts = (ROOT / "docs" / "guide" / "browser.md").read_text("utf-8").split("```")
    examples = [part.removeprefix("js\n") for part in parts if part.startswith("js\n")]
    outputs = [part.removeprefix("text\n") for part in parts if part.startswith("text\n")]
    assert len(examples) == 2
    assert [node("--input-type=module", "--eval", example) for example in examples] == outputs


def test_what_the_browsers_device_does_in_node() -> None:
    assert "# fail 0" in node("--test", *map(str, sorted((ROOT / "tests" / "js").glob("*.test.js"))))


def test_every_mistake_has_its_place_in_the_device() -> None:
    """Those that would change nothing any more would all seem to be noticed, or never be tried."""
    every = [*MUTANTS, *((page.what, page.file, page.before, page.after) for page in PAGE_MUTANTS)]
    found = {(name, file): (WEB / file).read_text("utf-8").count(before) for name, file, before, _ in every}
    assert {name: times for name, times in found.items() if times != 1} == {}
    assert len(found) == len(every)


def test_the_tests_of_the_device_notice_mistakes(tmp_path: Path) -> None:
    """A few of them here; `make nightly` makes them all, each against every test."""
    require(NODE, "nodejs")
    chosen = [mutant for mutant in MUTANTS if mutant[0] in QUICK]
    assert len(chosen) == len(QUICK)
    for place, mutant in enumerate(chosen):
        folder = mutated(tmp_path / str(place), mutant)
        assert is_noticed(folder, str(NODE), "bcdp.test.js", "numbers.test.js"), mutant[0]


@pytest.mark.parametrize(
    "mutant", [page for page in PAGE_MUTANTS if page.what in QUICK_PAGE], ids=lambda page: page.what
)
def test_the_tests_of_the_pages_notice_mistakes(mutant: PageMutant, tmp_path: Path) -> None:
    """Likewise, in a browser."""
    assert is_noticed_in_a_browser(tmp_path, mutant)


def random_laws(rng: np.random.Generator, document: dict[str, Any]) -> list[Any]:
    """Laws of values given another feature, for every pair whose bound is stated."""
    sizes = {"binary": 2, "categorical": 3}
    kinds = {name: feature["type"] for name, feature in document["collection"]["features"].items()}
    pairs = [(name, others[0]) for name, others, _ in document["correlation"]["bounds"] if len(others) == 1]
    told = [(name, other) for name, other in pairs if kinds[other] in sizes]
    return [[name, other, rng.dirichlet(np.ones(sizes[kinds[other]]), 3).tolist()] for name, other in told]


def random_plans(rng: np.random.Generator, number: int) -> list[Plan]:
    plans = []
    for _ in range(number):
        document = random_document(rng)
        for feature in document["collection"]["features"].values():
            if feature["type"] != "numeric" and rng.random() < 0.3:
                feature["missing"] = "a" if feature["type"] == "categorical" else 0
        plan = Plan.build(document)
        if rng.random() < 0.5:
            document["correlation"] = listed(exact_q(plan, random_prior(rng, sizes_of(plan))))
            if rng.random() < 0.5:
                document["correlation"]["laws"] = random_laws(rng, document)
        else:
            document["correlation"]["default"] = float(rng.choice([0.0, 1e-30, 0.01, 0.1, 1 / 3, 1.0]))
        for _ in range(rng.integers(4)):
            change_the_odds(rng, document, [1, 1.5, 2.0, 2.999, 1e6 + 0.5, 1e300])
        plans.append(Plan.build(document))
    return plans


def test_levels_of_random_plans_are_pythons() -> None:
    """To the last bit."""
    plans = random_plans(np.random.default_rng(7), 300)
    found = json.loads(node("tests/js/certify.js", given=json.dumps([plan.text for plan in plans])))
    for plan, (epsilon, c, delta) in zip(plans, found, strict=True):
        levels = certify(plan)
        assert float(epsilon) == levels.epsilon
        assert {name: float(level) for name, level in c.items()} == levels.c
        assert {name: float(level) for name, level in delta.items()} == levels.delta


def test_ledgers_are_pythons() -> None:
    """Pairs and triples of plans, menus known or not, with and without a q and odds of the person."""
    rng, cases, stated = np.random.default_rng(9), [], []
    for number in range(60):
        plans = [random_plan(rng) for _ in range(2 + number % 2)]
        menus = [None if rng.random() < 0.5 else int(rng.integers(len(plan.menus))) for plan in plans]
        name = str(rng.choice([SECRET, "u", "v"]))
        q, odds = (None, 0.1, 0.0)[number % 3], (None, 2.0)[number % 2]
        ledger = Ledger(q={} if q is None else q, odds={} if odds is None else odds)
        for plan, menu in zip(plans, menus, strict=True):
            ledger = ledger.add(release_of(plan, menu=menu), again=True)
        cases.append([[plan.text for plan in plans], menus, name, q, odds])
        stated.append((ledger.delta(name), ledger.statement(name).condition))
    found = json.loads(node("tests/js/ledger.js", given=json.dumps(cases)))
    np.testing.assert_allclose(found, [level for level, _ in stated], rtol=1e-14)
    assert {condition for _, condition in stated} >= {
        "the condition of each plan that asks it",
        "your q and odds for everything asked",
    }


def test_promises_and_conditions_are_told_as_in_python() -> None:
    """Word for word, on random plans and on every vector; all kinds of conditions are among them."""
    texts = [plan.text for plan in random_plans(np.random.default_rng(8), 150)]
    vectors = [json.loads(path.read_text("utf-8")) for path in sorted(VECTORS.glob("*.json"))]
    vectors = [vector for vector in vectors if "plan" in vector]
    texts += [vector["plan"] for vector in vectors]
    odd = json.loads(vectors[0]["plan"])
    odd["correlation"]["source"] = "checked” by all\n\u00a0می\u200cخواهم, \U0001f512 " + 400 * "é"
    for feature in odd["collection"]["features"].values():
        feature["label"] = "عمر 5"
    texts.append(Plan.build(odd).text)
    plans = [Plan.build(json.loads(text)) for text in texts]
    said = [
        [*(promise.sentence for promise in (*promises(plan).values(), promise_of_all(plan))), operator_says(plan)]
        for plan in plans
    ]
    assert json.loads(node("tests/js/promises.js", given=json.dumps(texts))) == said
    every = " ".join(sentence for sentences in said for sentence in sentences)
    for words in (
        "nothing assumed, however",
        "q = 0)",
        "as the plan lists",
        "10 percentage points",
        "33.33",
        "of shares",
        "could move the odds of it at most 2 times",
        "times at twice q and odds,",
        "times at twice the odds,",
        "ranges it is in and no finer ones: -3.5 to -2, -2 to 0.125, 0.125 to 9.5, 9.5 to 12.25",
    ):
        assert words in every


def respelled(token: str) -> list[str]:
    """Ways to write a number in JSON, one of them Python's; some are other numbers, or none."""
    shortest = repr(float(token))
    written = [token, shortest, shortest + "0", *(format(float(token), form) for form in (".0f", ".1f", "e", ".17e"))]
    return sorted({*written, shortest.replace("e-0", "e-"), shortest.upper(), f"{token}e0", f"-{token}"})


def test_a_plan_has_one_spelling() -> None:
    """Whatever else would be the same plan has another hash, so a browser would answer it once more."""
    rng = np.random.default_rng(12)
    texts = []
    for path in sorted(VECTORS.glob("*.json")):
        if path.stem in ("refused", "spellings", "messages-of-groups"):  # no plans, and one that is slow
            continue
        text = json.loads(path.read_text("utf-8"))["plan"]
        found = [match for match in re.finditer(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*', text) if match[0][0] != '"']
        for match in found[:12] + [found[place] for place in rng.choice(len(found), size=12)]:
            start, end = match.span()
            texts += [text[:start] + spelling + text[end:] for spelling in respelled(match[0])]
    kept = list(map(accepted_by_plan, texts))
    assert disagreements(texts, plan=kept, device=accepted_by_device(texts)) == []
    assert kept.count(True) > 50
    assert kept.count(False) > 500


def test_numbers_are_spelled_as_python_spells_them() -> None:
    """Random doubles over the whole range, and every power of ten at which a notation changes."""
    bits = np.random.default_rng(13).integers(0, 2**64, size=5000, dtype=np.uint64).view(np.float64)
    numbers = [*bits[np.isfinite(bits)].tolist(), *(m * 10.0**e for m in (1, -9.5) for e in range(-30, 30)), 0.0, -0.0]
    text = json.loads((VECTORS / "binary.json").read_text("utf-8"))["plan"]
    texts = [text.replace('"objective":null', f'"objective":{number!r}') for number in numbers]
    assert Plan.parse(texts[-1]).text == texts[-1] != text
    assert set(json.loads(node("tests/js/verify.js", given=json.dumps(texts)))) == {"kept"}
