"""Entries of the registry of deployments: in its fields, and with nothing said of privacy but what the plan keeps."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from bcdp import Plan
from bcdp.audit import verify_limits
from bcdp.cli import main
from bcdp.present.promise import promises
from bcdp.present.registry_entry import TO_FILL_IN, registry_entry, registry_yaml
from support.paths import ROOT

TODAY = date(2026, 1, 31)
TEXT = {"type": "string", "minLength": 1}


def section(required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": required.split(), "properties": properties}


def one_of(*values: str) -> dict[str, Any]:
    return {"enum": list(values)}


def texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, TEXT)


NAMES = {"type": "array", "items": TEXT, "minItems": 1}
# the fields and values that the registry accepted in July 2026
PUBLISHED = section(
    "url_slug status tier deployment",
    url_slug={"type": "string", "pattern": "^[a-z0-9-]+$"},
    status=one_of("Draft", "Pending"),
    tier={"enum": [1, 2, 3]},
    deployment=section(
        "basic",
        basic=section(
            "name data_curators description intended_use data_product_type data_product_region publication_date",
            **texts("name", "intended_use", "data_product_region", "description"),
            data_curators=NAMES,
            data_product_type=one_of("Summary statistics", "Dataset", "Synthetic data"),
            publication_date={"type": "string", "format": "date"},
        ),
        dp_variant=section(
            "",
            variant_name=one_of("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
            **texts("data_domain", "unprotected_quantities"),
        ),
        privacy_loss=section(
            "",
            **texts("privacy_unit", "privacy_unit_details", "privacy_parameters_details"),
            privacy_parameters=section("", epsilon={"type": "number"}, delta={"type": ["number", "string"]}),
        ),
        deployment_model=section(
            "",
            model_name=one_of("Local", "Central", "Shuffle", "Federated"),
            release_type=one_of("One release", "Many releases"),
            data_source_type=one_of("Static", "Dynamic"),
            access_type=one_of("Interactive", "Non-interactive"),
            **texts("model_name_details", "actors", "release_type_details", "access_type_details"),
        ),
        accounting=section("", **texts("post_processing", "composition")),
        implementation=section("", **texts("preprocessing_and_hyperparameter_tuning", "mechanisms", "justification")),
        administrative=section("registry_authors", **texts("sources", "notes"), registry_authors=NAMES),
    ),
)


def vector(name: str) -> Plan:
    return Plan.parse(json.loads((ROOT / "vectors" / f"{name}.json").read_text("utf-8"))["plan"])


@pytest.mark.parametrize("name", ["binary", "odds", "open", "relayed", "batch", "messages", "ticks", "own", "designed"])
def test_an_entry_has_the_fields_of_the_registry(name: str) -> None:
    plan = vector(name)
    entry = yaml.safe_load(registry_yaml(plan, TODAY))
    assert entry == registry_entry(plan, TODAY)
    jsonschema.validate(entry, PUBLISHED, format_checker=jsonschema.FormatChecker())


@pytest.mark.parametrize("name", ["binary", "odds", "open", "ticks"])
def test_levels_are_those_of_one_report(name: str) -> None:
    """Each promise is there with its condition, and epsilon is the level of the record."""
    plan = vector(name)
    loss = registry_entry(plan, TODAY)["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": verify_limits(plan.text).epsilon}
    for promise in promises(plan).values():
        assert promise.sentence in loss["privacy_parameters_details"]


@pytest.mark.parametrize(("name", "model"), [("batch", "Shuffle"), ("messages", "Shuffle"), ("binary", "Local")])
def test_a_batch_is_approximate_and_states_what_is_left(name: str, model: str) -> None:
    plan = vector(name)
    deployment = registry_entry(plan, TODAY)["deployment"]
    assert deployment["deployment_model"]["model_name"] == model
    counts = plan.certificate.counts
    assert (deployment["dp_variant"]["variant_name"] == "Approximate DP") == (counts is not None)
    if counts is not None and plan.policy.batch is not None:
        parameters = {"epsilon": counts.epsilon, "delta": plan.policy.batch.chance}
        assert deployment["privacy_loss"]["privacy_parameters"] == parameters
        assert "relay and collector work together" in deployment["privacy_loss"]["privacy_parameters_details"]


def test_the_command_counts_what_is_left_to_fill_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, output = tmp_path / "plan.json", tmp_path / "entry.yaml"
    vector("binary").save(plan)
    assert main(["export", str(plan), "--registry", "-o", str(output)]) == 0
    assert f"{output.read_text().count(TO_FILL_IN)} fields" in capsys.readouterr().out
    assert main(["export", str(plan), "--registry", "-o", str(tmp_path / "entry.json")]) == 2
    assert "ends in .yaml" in capsys.readouterr().err
