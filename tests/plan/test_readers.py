"""Three readers of plans accept and refuse the same texts, and none accepts a claim below what enumeration finds.

They agree on everything but the content of `tasks`: `Plan.parse` refuses tasks that it does not know, and `bcdp verify`
and the browser's device read them only as canonical JSON without invisible letters.

`benchmarks/sweeps/readers.py` does the same with 5,000 mutants.
"""

from __future__ import annotations

import functools
import json
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bcdp.plan.document
import bcdp_device.verify
from bcdp_device.verify import collection, counts, levels, questions, values
from support.enumeration import size_of
from support.plan_mutants import cascade_plans, fresh_plans, mutants, vector_plans
from support.readers import (
    ROOT,
    accepted_by_device,
    accepted_by_plan,
    accepted_by_verify,
    canonical,
    disagreements,
    untrue,
    without_tasks,
)
from support.sweeps import some_of

pytestmark = pytest.mark.slow

REFUSED_CASES = json.loads((ROOT / "vectors" / "refused.json").read_text("utf-8"))
REFUSED = [case["plan"] for case in REFUSED_CASES]
AT_ONCE = 200  # texts for one process of Node
TASKS_REFUSED = json.loads((ROOT / "vectors" / "tasks" / "refused.json").read_text("utf-8"))


@pytest.fixture(scope="module", autouse=True)
def known_counts() -> Iterator[None]:
    """Counts of one binary question take a second to check, and most of these texts claim the same about them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "binary_excess", functools.cache(counts.binary_excess))
        yield


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """The vectors' plans, mutants of them and of fresh ones, and every case that was ever found to be refused."""
    rng, plans = np.random.default_rng(20), vector_plans()
    return [*map(canonical, plans), *mutants(rng, plans + fresh_plans(rng, 25), 400), *REFUSED, _beyond()]


def _beyond() -> str:
    """A plan that is right but for an epsilon that protects nobody."""
    plan = json.loads(next(case["plan"] for case in REFUSED_CASES if case["why"] == "an epsilon that protects nobody"))
    for name, claim in plan["certificate"]["features"].items():
        claim["asked"] = float(plan["collection"]["features"][name].get("delta", plan["collection"]["epsilon"]))
    return json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@pytest.fixture(scope="module")
def accepted(texts: list[str]) -> list[bool]:
    """What the browser's device says of them."""
    return accepted_by_device(texts)


def test_all_three_accept_and_refuse_the_same_texts(texts: list[str], accepted: list[bool]) -> None:
    said = {"plan": list(map(accepted_by_plan, texts)), "verify": list(map(accepted_by_verify, texts))}
    assert disagreements(texts, device=accepted, **said) == []
    assert 80 < sum(accepted) < 320
    assert not any(accepted[-len(REFUSED) :])


def test_devices_do_not_interpret_tasks() -> None:
    """Whatever `Plan.parse` refuses of tasks alone, and any other JSON, nested however deep."""
    texts = [case["plan"] for case in TASKS_REFUSED]
    stated = canonical({**json.loads(texts[0]), "collection": {**json.loads(texts[0])["collection"], "tasks": "!"}})
    deep = "[" * 500 + "]" * 500
    texts += [stated.replace('"!"', tasks) for tasks in (deep, '{"__proto__":{"bins":16.0}}', "-0.0", "1e+16", "null")]
    assert [text for text in texts if accepted_by_plan(text)] == []
    assert [text for text in texts if not accepted_by_verify(text)] == []
    assert all(accepted_by_device(texts))
    assert all(accepted_by_plan(without_tasks(text)) for text in texts)


@pytest.mark.parametrize(
    "tasks", ["NaN", "Infinity", "1e400", "-0", "1e16", "[1,]", '{"a":1,"a":1}', '"\\u0061"', " 1"]
)
def test_every_reader_refuses_tasks_in_another_spelling(tasks: str) -> None:
    plan = json.loads(TASKS_REFUSED[0]["plan"])
    plan["collection"]["tasks"] = "!"
    text = canonical(plan).replace('"!"', tasks)
    assert (accepted_by_plan(text), accepted_by_verify(text), accepted_by_device([text])) == (False, False, [False])


def test_what_is_accepted_claims_no_less_than_enumeration_finds(texts: list[str], accepted: list[bool]) -> None:
    """Changed plans that take seconds to enumerate are left to the sweep, which has 5,000; blocks to theirs.

    So is the vector about hyperplanes of 60 values, of which test_projective.py enumerates every field.
    """
    plans = [text for text, said in zip(texts, accepted, strict=True) if said and len(text) < 4000]
    plans = [text for text in plans if "asked_if" not in text]
    vectors = set(map(canonical, vector_plans()))
    most = {text: 100_000 if text in vectors else 2000 for text in plans}
    kept = [text for text in plans if size_of(json.loads(text)) < most[text]]
    assert [text for text in kept if untrue(text)] == []
    assert len(kept) > 50


def test_enumeration_finds_a_claim_that_is_one_double_too_low() -> None:
    """Random plans claim the lowest levels that are true; of values and their combinations enumeration knows them."""
    rng, found = np.random.default_rng(21), 0
    for document in fresh_plans(rng, 25)[2:]:
        if any("kind" in question for question in document["questions"]) or "ranges" in document["correlation"]:
            continue  # of products it knows less, and of ranges it allows for no rounding
        assert untrue(canonical(document)) == []
        claims = document["certificate"]["features"]
        name = max(claims, key=lambda name: float(claims[name]["certified"]))
        claims[name]["certified"] = math.nextafter(claims[name]["certified"], 0)
        assert untrue(canonical(document)) == [f"delta of {name}"]
        found += 1
    assert found > 8


def test_cascades_are_read_alike_and_never_by_a_browser() -> None:
    rng = np.random.default_rng(22)
    texts = mutants(rng, cascade_plans(), 200)
    said = {"plan": list(map(accepted_by_plan, texts)), "verify": list(map(accepted_by_verify, texts))}
    assert disagreements(texts, **said) == []
    assert 20 < sum(said["plan"]) < 180
    assert not any(accepted_by_device(texts))


def _forgiving(read: Any) -> Any:
    """A check of keys that does not mind unknown ones."""
    return lambda path, value, required=None, optional=(): read(
        path, value, required, (*optional, *(value if isinstance(value, dict) else ()))
    )


BROKEN: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "verify counts one double less": lambda patch: patch.setattr(
        levels, "_log_up", lambda ratio, up=levels._log_up: math.nextafter(up(ratio), 0)
    ),
    "verify reads any spelling": lambda patch: patch.setattr(bcdp_device.verify, "_canonical", lambda _: AnyText()),
    "verify reads any version": lambda patch: patch.setattr(bcdp_device.verify, "FORMAT", 2),
    "verify knows every key": lambda patch: [
        patch.setattr(room, "mapping", _forgiving(values.mapping))
        for room in (collection, questions, bcdp_device.verify)
    ],
    "verify overlooks the levels inside a range": lambda patch: patch.setattr(
        levels, "range", lambda *ends: range(*ends) if len(ends) < 3 or ends[2] != levels.STEP else (), raising=False
    ),
    "verify knows no ranges": lambda patch: patch.setattr(collection.Number, "parts", property(lambda _: None)),
    "verify counts no answers": lambda patch: patch.setattr(questions, "MOST_ANSWERS", math.inf),
    "verify has no largest epsilon": lambda patch: patch.setattr(collection, "LARGEST_EPSILON", math.inf),
    "verify believes claims": lambda patch: patch.setattr(bcdp_device.verify, "_objections", lambda *_: ()),
    "verify believes claims about counts": lambda patch: patch.setattr(
        bcdp_device.verify, "untrue_counts", lambda *_, **__: ()
    ),
    "verify counts twice the people": lambda patch: patch.setattr(
        counts, "_square_above", lambda n, *rest, right=counts._square_above: right(2 * n, *rest)
    ),
    "the plan believes claims about counts": lambda patch: patch.setattr(
        bcdp.plan.document.Plan, "_check_counts", lambda *_: None
    ),
    "the plan believes claims": lambda patch: patch.setattr(bcdp.plan.document, "_keep", lambda *_: None),
    "the plan has any form": lambda patch: patch.setattr(bcdp.plan.document, "check_form", lambda _: None),
}


class AnyText(str):
    """Equal to every text."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


def from_both_ends(texts: list[str], accepted: list[bool]) -> list[tuple[str, bool]]:
    """The texts with what is right, in the order in which they show most: the vectors, and what was ever refused."""
    cases = list(zip(texts, accepted, strict=True))
    return [cases[number] for number in sorted(range(len(cases)), key=lambda i: min(i, len(cases) - 1 - i))]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_reader_in_python_is_caught(
    broken: str, texts: list[str], accepted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By one of the texts at least."""
    BROKEN[broken](monkeypatch)
    name, reader = ("verify", accepted_by_verify) if broken.startswith("verify") else ("plan", accepted_by_plan)

    def verdict(text: str) -> bool:
        try:
            return reader(text)
        except (ValueError, LookupError, TypeError, AttributeError):
            return True  # a broken reader may stumble over what it should have refused

    assert any(
        disagreements([text], device=[said], **{name: [verdict(text)]})
        for text, said in from_both_ends(texts, accepted)
    )


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    some_of(
        [
            ("verify.js", "if (level > claimed)", "if (level > claimed * (1 + 1e-15))"),
            ("certificate.js", "= exactly(q);", "= exactly(q / 2);"),
            ("certificate.js", "[start, ...inside, end]", "[start, end]"),
            ("certificate.js", "2 ** 29", "2 ** 28"),
            ("reading/listed.js", "cut === own[place]", "true"),
            ("checks.js", "if (unknown.length || absent.length)", "if (absent.length)"),
            ("reading/plan.js", "if (written !== text)", "if (false)"),
            ("reading/plan.js", "document.bcdp !== FORMAT", "false"),
            ("reading/listed.js", "feature.inputs !== shares", "false"),
            ("reading/features.js", "!different(equal)", "false"),
            ("reading/questions.js", "answers > MOST_ANSWERS", "false"),
            ("reading/spelling.js", "number.toExponential()", "number.toExponential(15)"),
            ("exact.js", "kept + 1n", "kept"),
            ("counts.js", "(4 * n * h)", "(8 * n * h)"),
            ("counts.js", "claim >= bound.delta ||", "true ||"),
            ("reading/spelling.js", '(list === "counts" && name === "people")', "false"),
        ]
    ),
)
def test_a_broken_device_is_caught(
    file: str, right: str, wrong: str, texts: list[str], accepted: list[bool], tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "src" / "bcdp" / "web", tmp_path / "src" / "bcdp" / "web")
    shutil.copytree(ROOT / "tests" / "js", tmp_path / "tests" / "js")
    broken = tmp_path / "src" / "bcdp" / "web" / "device" / file
    source = broken.read_text("utf-8")
    assert source.count(right) == 1
    broken.write_text(source.replace(right, wrong), "utf-8")
    cases = from_both_ends(texts, accepted)
    for start in range(0, len(cases), AT_ONCE):
        part, right_answers = zip(*cases[start : start + AT_ONCE], strict=True)
        try:
            answers = accepted_by_device(list(part), tmp_path / "tests/js/verify.js")
        except AssertionError as error:  # an error that no reader may have, which is noticed as well
            assert "TypeError" in str(error)  # noqa: PT017
            return
        if disagreements(list(part), device=list(right_answers), broken=answers):
            return
    pytest.fail("nobody noticed")
