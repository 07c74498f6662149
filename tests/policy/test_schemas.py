"""The JSON Schemas that the package ships: of today's models, true of every example, and with power."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml

from bcdp import Policy, Tally, estimate, make_plan, privatize
from support.documents import blocks
from support.helpers import loaded
from support.paths import ROOT

maker = loaded(ROOT / "tools" / "make_schemas.py")


class _DatesAsTexts(yaml.SafeLoader):
    """Reads YAML as editors do."""


_DatesAsTexts.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def schema(name: str) -> jsonschema.Draft202012Validator:
    text = (ROOT / "src" / "bcdp" / "schemas" / f"{name}.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def problems(name: str, document: Any) -> list[str]:
    return [error.message for error in schema(name).iter_errors(document)]


@pytest.mark.parametrize("name", maker.SCHEMAS)
def test_the_files_are_those_of_the_models(name: str) -> None:
    schema(name).check_schema(schema(name).schema)
    assert (ROOT / "src" / "bcdp" / "schemas" / f"{name}.json").read_text("utf-8") == maker.text_of(name)


def policies() -> list[tuple[str, Any]]:
    """Every policy of the documents and of the studio's templates, as an editor reads it."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = [(page.name, block.text) for page in pages for block in blocks(page.read_text("utf-8"))
             if block.language == "yaml"]  # fmt: skip
    templates = sorted((ROOT / "src" / "bcdp" / "studio" / "templates").glob("*.yaml"))
    texts += [(path.name, path.read_text("utf-8")) for path in templates]
    documents = [(name, yaml.load(text, _DatesAsTexts)) for name, text in texts]
    return [(name, each) for name, each in documents if isinstance(each, dict) and {"epsilon", "features"} <= set(each)]


def test_every_policy_of_the_documents_is_accepted() -> None:
    examples = policies()
    assert len(examples) > 25
    assert [(name, wrong) for name, policy in examples if (wrong := problems("policy", policy))] == []
    written = yaml.load(Policy(epsilon=1, features={"a": {"type": "binary"}}).to_yaml(), _DatesAsTexts)
    assert problems("policy", written) == []


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "two"},
        {"epsilon": 0},
        {"epsilon": 30},
        {"epsilonn": 1},
        {"features": {}},
        {"features": {"a": {"type": "binray"}}},
        {"features": {"a": {}}},
        {"features": {"a": {"type": "binary", "delta": -1}}},
        {"features": {"a": {"type": "binary", "bounds": [0, 1]}}},
        {"features": {"a": {"type": "numeric"}}},
        {"features": {"a": {"type": "categorical", "values": "north"}}},
        {"features": {"a": {"type": "date", "from": "2000-01-01"}}},
        {"features": {"a": {"type": "date", "from": "2000-01-01", "to": "2001-01-01", "unit": "weeks"}}},
        {"features": {"a": {"type": "multiple", "values": ["x", "y"], "at_most": "two"}}},
        {"correlation": {"odds": "large"}},
        {"tasks": [{"medain": ["a"]}]},
        {"tasks": {"mean": ["a"]}},
        {"trust": "nobody"},
        {"panel": {"waves": "many", "every": "month"}},
        {"counts": {"epsilon": 1, "peple": 10}},
        {"survey": {"title": 5}},
    ],
    ids=str,
)
def test_a_mistake_in_a_policy_is_refused(change: dict[str, Any]) -> None:
    right = {"epsilon": 1, "features": {"a": {"type": "binary", "delta": 0.5}}}
    assert problems("policy", right) == []
    assert problems("policy", right | change) != []


def test_plans_are_accepted_and_changed_ones_are_not() -> None:
    plans = [
        json.loads(vector["plan"]) if isinstance(vector["plan"], str) else vector["plan"]
        for path in sorted((ROOT / "vectors").glob("*.json"))
        if isinstance(vector := json.loads(path.read_text("utf-8")), dict) and "plan" in vector
    ]
    assert len(plans) > 25
    for plan in plans:
        assert problems("plan", plan) == []
        assert problems("plan", {**plan, "bcdp": 2}) != []
        assert problems("plan", {**plan, "note": "mine"}) != []
        assert problems("plan", {key: value for key, value in plan.items() if key != "certificate"}) != []


def test_tallies_and_estimates_are_accepted_and_changed_ones_are_not(tmp_path: Path) -> None:
    """Estimates of every statistic that the schema describes."""
    features = {
        "ill": {"type": "binary", "missing": "own"},
        "pay": {"type": "numeric", "bounds": [0, 10]},
        "region": {"type": "categorical", "values": ["n", "s"]},
    }
    tasks = [{"mean": ["pay"]}, {"frequency": ["ill"]}, {"share": {"region": ["n"]}}, {"table": ["ill", "region"]},
             {"mean": ["pay"], "by": "region"}, {"distribution": ["pay"], "bins": 16}]  # fmt: skip
    plan = make_plan(Policy(epsilon=4, features=features, tasks=tasks))
    people = {"ill": [0, 1, None, 1] * 500, "pay": np.linspace(0, 10, 2000), "region": ["n", "s"] * 1000}
    tally = Tally(plan).add(privatize(plan, people))
    tally.save(tmp_path / "tally.json")
    counted = json.loads((tmp_path / "tally.json").read_text("utf-8"))
    assert problems("tally", counted) == []
    assert problems("tally", counted | {"plan": "abc"}) != []
    assert problems("tally", counted | {"format": 2}) != []
    document = json.loads(json.dumps(estimate(tally).to_dict()))
    assert problems("estimates", document) == []
    described = set(schema("estimates").schema["properties"])
    assert described - set(document) <= {"checks"}
    document["means"]["pay"]["value"] = "5"
    assert len(problems("estimates", document)) == 1
