"""The browser's device in Node: certificates as in Python, the same refusals, the examples of the documentation."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bcdp import InputError, Plan
from bcdp.plan import certify
from bcdp.tables import TOTAL
from conftest import require
from helpers import exact_q, listed, random_document, random_prior, sizes_of

ROOT = Path(__file__).resolve().parent.parent
VECTORS = ROOT / "vectors"
NODE = shutil.which("node")


def node(*arguments: str, given: str = "") -> str:
    require(NODE, "nodejs")
    done = subprocess.run([str(NODE), *arguments], input=given, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_examples_of_the_documentation() -> None:
    parts = (ROOT / "docs" / "browser.md").read_text("utf-8").split("```")
    examples = [part.removeprefix("js\n") for part in parts if part.startswith("js\n")]
    outputs = [part.removeprefix("text\n") for part in parts if part.startswith("text\n")]
    assert len(examples) == 1
    assert [node("--input-type=module", "--eval", example) for example in examples] == outputs


def test_what_the_browsers_device_does_in_node() -> None:
    assert "# fail 0" in node("--test", *map(str, sorted((ROOT / "tests" / "js").glob("*.test.js"))))


def random_laws(rng: np.random.Generator, document: dict[str, Any]) -> list[Any]:
    """Laws of values given another feature, for every pair whose bound is stated."""
    sizes = {"binary": 2, "categorical": 3}
    kinds = {name: feature["type"] for name, feature in document["collection"]["features"].items()}
    pairs = [(name, others[0]) for name, others, _ in document["correlation"]["bounds"] if len(others) == 1]
    told = [(name, other) for name, other in pairs if kinds[other] in sizes]
    return [[name, other, rng.dirichlet(np.ones(sizes[kinds[other]]), 3).tolist()] for name, other in told]


def test_levels_of_random_plans_are_pythons() -> None:
    """To the last bit; under known laws, where Python adds a margin of 1e-14, never above it."""
    rng = np.random.default_rng(7)
    plans = []
    for _ in range(300):
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
        plans.append(Plan.build(document))
    found = json.loads(node("tests/js/certify.js", given=json.dumps([plan.text for plan in plans])))
    for plan, (epsilon, c, delta) in zip(plans, found, strict=True):
        levels = certify(plan)
        assert float(epsilon) == levels.epsilon
        assert {name: float(level) for name, level in c.items()} == levels.c
        margin = 3e-14 if plan.correlation.get("laws") else 0.0
        for name, level in levels.delta.items():
            assert float(delta[name]) == level or level - margin <= float(delta[name]) <= level


def verdict(text: str) -> str:
    """What a device must say of a text: it reads the canonical form only, which Python does not insist on."""
    try:
        return "kept" if Plan.parse(text).text == text else "InputError"
    except InputError:
        return "InputError"


def respelled(token: str) -> list[str]:
    """Ways to write a number in JSON, one of them Python's; some are other numbers, or none."""
    shortest = repr(float(token))
    written = [token, shortest, shortest + "0", *(format(float(token), form) for form in (".0f", ".1f", "e", ".17e"))]
    return sorted({*written, shortest.replace("e-0", "e-"), shortest.upper(), f"{token}e0", f"-{token}"})


def test_a_plan_has_one_spelling() -> None:
    """Whatever else is the same plan to Python has another hash, so a browser would answer it once more."""
    rng = np.random.default_rng(12)
    texts = []
    for path in sorted(VECTORS.glob("*.json")):
        if path.stem == "refused":
            continue
        text = json.loads(path.read_text("utf-8"))["plan"]
        found = [match for match in re.finditer(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*', text) if match[0][0] != '"']
        for match in found[:12] + [found[place] for place in rng.choice(len(found), size=12)]:
            start, end = match.span()
            texts += [text[:start] + spelling + text[end:] for spelling in respelled(match[0])]
    kept = [verdict(text) for text in texts]
    assert json.loads(node("tests/js/verify.js", given=json.dumps(texts))) == kept
    assert kept.count("kept") > 50
    assert kept.count("InputError") > 500


def test_numbers_are_spelled_as_python_spells_them() -> None:
    """Random doubles over the whole range, and every power of ten at which a notation changes."""
    bits = np.random.default_rng(13).integers(0, 2**64, size=5000, dtype=np.uint64).view(np.float64)
    numbers = [*bits[np.isfinite(bits)].tolist(), *(m * 10.0**e for m in (1, -9.5) for e in range(-30, 30)), 0.0, -0.0]
    text = json.loads((VECTORS / "binary.json").read_text("utf-8"))["plan"]
    texts = [text.replace('"objective":null', f'"objective":{number!r}') for number in numbers]
    assert Plan.parse(texts[-1]).text == texts[-1] != text
    assert set(json.loads(node("tests/js/verify.js", given=json.dumps(texts)))) == {"kept"}


ODD = [None, True, -1, 0, 1, 2, 0.5, 1.5, "x", "", [], {}, [0], 1e308, TOTAL, TOTAL + 1, "numeric", "product"]


def places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Every list or object inside a document, with each of its keys; of a table's weights only the first few."""
    keys = list(part) if isinstance(part, dict) else range(min(len(part), 3)) if isinstance(part, list) else ()
    for key in keys:
        yield part, key
        yield from places(part[key])


def spoil(rng: np.random.Generator, document: Any) -> None:
    """Changes one thing in a document, which may stay a plan or not."""
    everywhere = list(places(document))
    part, key = everywhere[rng.integers(len(everywhere))]
    choice = rng.integers(5)
    if choice == 0:
        del part[key]
    elif choice == 1 and isinstance(part, list):
        part.append(part[key])
    elif choice == 2 and isinstance(part, dict):
        part["other"] = ODD[rng.integers(len(ODD))]
    elif choice == 3 and type(part[key]) in (int, float):
        part[key] += part[key] * rng.choice([-1e-3, 1e-3]) if type(part[key]) is float else int(rng.choice([-1, 1]))
    else:
        part[key] = ODD[rng.integers(len(ODD))]


def test_spoiled_plans_are_refused_here_and_there_alike() -> None:
    """A device must not answer what Python refuses, nor stumble: whatever is wrong is told as an `InputError`."""
    rng = np.random.default_rng(11)
    files = [path for path in sorted(VECTORS.glob("*.json")) if path.stem != "refused"]
    documents = [json.loads(json.loads(path.read_text("utf-8"))["plan"]) for path in files]
    texts = list[str]()
    while len(texts) < 1000:
        document = json.loads(json.dumps(documents[rng.integers(len(documents))]))
        document["collection"].pop("tasks", None)  # what the answers are for is no device's business
        spoil(rng, document)
        texts.append(json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    kept = [verdict(text) for text in texts]
    assert json.loads(node("tests/js/verify.js", given=json.dumps(texts))) == kept
    assert kept.count("kept") > 30
