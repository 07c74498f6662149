"""Write the JSON Schemas of policies, plans, tallies and estimates: src/bcdp/schemas/*.json.

    python tools/make_schemas.py

Policies and plans are described by the models that read them; what those leave to code is added here. A schema accepts
whatever the package accepts, and refuses unknown keys and wrong types. Limits that depend on other keys are not in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.policy.tasks import statistics
from bcdp.tally import FORMAT

FOLDER = Path(__file__).resolve().parents[1] / "src" / "bcdp" / "schemas"
Schema = dict[str, Any]

VALUE: Schema = {"type": ["string", "integer", "boolean"]}
DAY: Schema = {"type": ["string", "integer"], "description": "A day such as 1974-05-31; in years also 1974."}
CODES: Schema = {
    "type": "object",
    "required": ["file"],
    "properties": {"file": {"type": "string", "description": "A CSV file of codes and perhaps their labels."}},
    "additionalProperties": False,
}
KEYS = {  # what an editor shows at the key of a policy
    "epsilon": "The level of the whole record, in nats: odds of any guess change by a factor of at most e^epsilon.",
    "features": "What is collected: a name and a type each. Features without a delta are protected by epsilon.",
    "correlation": "How strongly features may go together: q, odds, or their source. Left out: nothing assumed.",
    "tasks": "What to estimate. Left out: every mean and every table of frequencies.",
    "if_wrong": "What must still hold if q and odds are larger than stated, such as {times: 2, delta: 1.5}.",
    "survey": "What people read first: title, purpose, organiser and contact.",
    "relay": "The relay through which devices send, so that the collector does not see who answers.",
    "counts": "Limits on what published counts, or a batch of a mixing relay, reveal.",
    "trust": "Whom people have to trust for the main promise: device, relay or collector.",
    "messages": "one: each person sends one message, also where several would be more accurate.",
    "menu_from": "Who chooses the questions: the device, or the ticket of an invitation.",
    "panel": "The same people over several waves, each asked in one of them.",
    "mechanism": "survey, or cascade, the mechanism of the paper.",
}
FEATURE_KEYS = {
    "delta": "The level of this feature, in nats, counting what all other features reveal.",
    "label": "What people read.",
    "help": "A second sentence below the label.",
    "missing": "The value that a missing answer counts as; own makes it an answer of its own.",
    "asked_if": "Ask only if another feature has these values, such as {drugs: yes}.",
    "bounds": "The least and the largest number; what lies outside is moved to the nearer bound.",
    "ranges": "Cuts between the ranges of a number, for guesses about its range.",
    "values": "The values, in the order in which they are shown.",
    "scores": "A number for each value of a scale; 1, 2, 3 and so on unless stated.",
    "at_most": "How many items a person may tick.",
    "items": "Items with a delta of their own, such as {tv: {delta: 0.2}}.",
}
ESTIMATE: Schema = {
    "type": "object",
    "required": ["value", "low", "high"],
    "properties": {
        "value": {"description": "The estimate, in the feature's own units."},
        "se": {"description": "Its standard error; null where nobody was asked."},
        "low": {"description": "The lower end of the confidence interval."},
        "high": {"description": "The upper end of the confidence interval."},
        "raw": {"description": "The unbiased estimate, before it is combined with others."},
        "answers": {"type": "integer", "description": "How many answers it rests on."},
        "open_people": {"description": "How many openly asked people would give the same standard error."},
        "moved": {"description": "How far a stated share of fake reports could have shifted it."},
        "rule": {"type": "string", "description": "How missing values were counted."},
    },
}
for _key in ("value", "se", "low", "high", "raw", "open_people", "moved"):
    ESTIMATE["properties"][_key]["type"] = ["number", "null"]


def policy_schema() -> Schema:
    """What a policy may say; a type decides about the other keys of a feature."""
    schema = Policy.model_json_schema()
    parts = schema["$defs"]
    for part in list(parts.values()):
        _accept_short_forms(part)
    parts["DateFeature"] = _date_feature(parts["NumericFeature"])
    kinds = {name.removesuffix("Feature").lower(): name for name in parts if name.endswith("Feature")}
    parts["Feature"] = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": list(kinds)}},
        "allOf": [
            {"if": {"properties": {"type": {"const": kind}}}, "then": {"$ref": f"#/$defs/{name}"}}
            for kind, name in kinds.items()
        ],
    }
    schema["properties"]["features"] |= {"minProperties": 1, "additionalProperties": {"$ref": "#/$defs/Feature"}}
    schema["properties"]["correlation"]["anyOf"] = schema["properties"]["correlation"].pop("oneOf")
    schema["properties"]["tasks"]["items"] = {"anyOf": [_task(part, parts) for part in statistics().values()]}
    for key, text in KEYS.items():
        schema["properties"][key]["description"] = text
    return _named(schema, "A policy of bcdp")


def _accept_short_forms(part: Schema) -> None:
    """One value where a list of values is read, days as texts, and what an editor says of a key."""
    properties = part.get("properties", {})
    if "asked_if" in properties:
        properties["asked_if"] = {
            "type": "object",
            "additionalProperties": {"anyOf": [VALUE, {"type": "array", "minItems": 1, "items": VALUE}]},
        }
    if "anyOf" in properties.get("values", {}) and part["title"] != "BinaryFeature":
        properties["values"]["anyOf"].append(CODES)
    if "start" in properties:
        properties["start"] = DAY
    if "type" in properties:
        for key in properties.keys() & FEATURE_KEYS.keys():
            properties[key]["description"] = FEATURE_KEYS[key]


def _date_feature(number: Schema) -> Schema:
    """Dates are numbers since the earliest, and stated by their ends and a unit."""
    kept = {key: value for key, value in number["properties"].items() if key not in ("bounds", "dates", "missing")}
    stated = {"from": DAY, "to": DAY, "unit": {"enum": ["days", "months", "years"]}, "missing": DAY}
    cuts = {"type": "array", "items": {"type": ["string", "integer"]}}
    return {
        **number,
        "properties": {**kept, "type": {"const": "date"}, **stated, "ranges": cuts},
        "required": ["type", "from", "to"],
        "description": "A date between two days.",
        "title": "DateFeature",
    }


def _task(statistic: type, parts: Schema) -> Schema:
    schema = TypeAdapter(statistic).json_schema()
    parts |= schema.pop("$defs", {})
    parts[statistic.__name__] = schema
    return {"$ref": f"#/$defs/{statistic.__name__}"}


def plan_schema() -> Schema:
    """The form of a plan. Whether its claims are true is computed from its tables (`bcdp verify`)."""
    return _named(Plan.model_json_schema(), "A plan of bcdp")


def tally_schema() -> Schema:
    """Counts of reports."""
    count = {"type": "array", "items": {"type": ["integer", "array", "number"]}}
    schema = {
        "type": "object",
        "required": ["format", "plan"],
        "properties": {
            "format": {"const": FORMAT},
            "plan": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "The id of the plan."},
            "people": {"type": "integer", "minimum": 0},
            "counts": {"type": "array", "items": count, "description": "Menu, answer, and how many people gave it."},
        },
    }
    return _named(schema, "A tally of bcdp")


def estimates_schema() -> Schema:
    """What `bcdp estimate --json` prints. A statistic from elsewhere adds a key of its own."""
    one = {"$ref": "#/$defs/Estimate"}
    by_name = {"type": "object", "additionalProperties": one}
    by_value = {"type": "object", "additionalProperties": by_name}
    cells = {"type": "array", "items": {**one, "required": ["values"]}}
    test = {
        "type": "object",
        "required": ["p", "alarm"],
        "properties": {"p": {"type": "number", "minimum": 0, "maximum": 1}, "alarm": {"type": "boolean"}},
    }
    schema = {
        "type": "object",
        "required": ["people", "level"],
        "properties": {
            "people": {"type": "integer", "minimum": 0},
            "level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "description": "Of intervals."},
            "means": by_name,
            "shares": by_value,
            "frequencies": by_value,
            "tables": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["features", "cells"],
                    "properties": {
                        "features": {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "string"}},
                        "cells": cells,
                    },
                },
            },
            "groups": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["mean", "by", "values", "differences"],
                    "properties": {"values": by_name, "differences": {"type": "array", "items": one}},
                },
            },
            "distributions": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["edges", "cdf", "histogram", "quantiles"],
                    "properties": {
                        "edges": {"type": "array", "items": {"type": ["number", "string"]}},
                        "cdf": {"type": "array", "items": one},
                        "histogram": {"type": "array", "items": one},
                        "quantiles": by_name,
                        "mean": one,
                    },
                },
            },
            "checks": {"type": "object", "additionalProperties": test},
        },
        "$defs": {"Estimate": ESTIMATE},
    }
    return _named(schema, "Estimates of bcdp")


def _named(schema: Schema, title: str) -> Schema:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_plain(schema), "title": title}


def _plain(schema: Any) -> Any:
    """Without the titles that only repeat a key."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _plain(part) for name, part in value.items()} if key in ("properties", "$defs") else _plain(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }


SCHEMAS = {"policy": policy_schema, "plan": plan_schema, "tally": tally_schema, "estimates": estimates_schema}


def text_of(name: str) -> str:
    """The file of a schema."""
    return json.dumps(SCHEMAS[name](), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every schema."""
    FOLDER.mkdir(exist_ok=True)
    for name in SCHEMAS:
        (FOLDER / f"{name}.json").write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
