"""The shared vectors: what Python reads, answers and refuses is what vectors/*.json say, in this and every language."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bcdp import InputError, Plan
from bcdp.plan import certify

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "vectors"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "refused")
REFUSED = json.loads((FOLDER / "refused.json").read_text("utf-8"))


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_vectors", ROOT / "tools" / "make_vectors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = generator()


def read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return document


def test_the_generators_words_are_those_of_its_description() -> None:
    def mix(x: int) -> int:
        x = (x ^ (x >> 16)) * 0x21F0AAAD % 2**32
        x = (x ^ (x >> 15)) * 0x735A2D97 % 2**32
        return x ^ (x >> 15)

    records = np.array([0, 1, 77, 2**32 - 1], dtype=np.uint32)
    for seed, position in ((1, 0), (9, 3), (2**32 - 1, 1001)):
        expected = [mix((mix((mix(seed) + int(r)) % 2**32) + position) % 2**32) for r in records]
        assert MAKER.word(seed, records, position).tolist() == expected


def test_every_kind_of_plan_has_a_vector_and_all_are_small() -> None:
    assert set(NAMES) == set(MAKER.PLANS)
    assert sum(len(read(name)["answers"]) for name in NAMES) >= 10_000
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_000_000
    families = {table["family"] for name in NAMES for table in Plan.parse(read(name)["plan"]).tables_}
    assert families == {"dense", "response", "hadamard"}


@pytest.mark.parametrize("name", NAMES)
def test_the_id_every_level_and_every_answer(name: str) -> None:
    vector = read(name)
    plan = Plan.parse(vector["plan"])
    assert plan.text == vector["plan"]
    assert plan.id == vector["id"]
    levels = certify(plan)
    assert vector["levels"] == {"epsilon": levels.epsilon, "c": levels.c, "delta": levels.delta}
    menus, answers = MAKER.reports_of(plan, vector["seed"], len(vector["answers"]))
    assert (menus, answers) == (vector["menus"], vector["answers"])
    given = [(example["record"], example["words"]) for example in vector["examples"]]
    assert MAKER.answers_to(plan, given) == vector["examples"]
    assert {example["menu"] for example in vector["examples"]} == set(range(len(plan.menus)))


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["why"])
def test_refused(case: dict[str, str]) -> None:
    with pytest.raises(InputError):
        Plan.parse(case["plan"])
