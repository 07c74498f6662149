"""A plan as an entry of the registry of differential-privacy deployments, in the registry's own fields.

Everything about privacy comes from the plan's numbers. What only the operator knows is marked to be filled in.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import yaml

from bcdp import __version__
from bcdp.plan import Plan
from bcdp.present.batch_promise import batch_promise
from bcdp.present.promise import open_said, operator_says, promise_of_all, promises, quoted

TO_FILL_IN = "TO FILL IN"
_MODELS = {"device": "Local", "relay": "Shuffle", "collector": "Central"}
_TRUST = {
    "device": "Nobody but the person's own device sees an answer; the collector sees randomized reports.",
    "relay": "The collector sees shuffled batches only, as long as it does not work together with the relay.",
    "collector": "The collector sees randomized reports one by one, and publishes their counts only.",
}
_UNIT = "All answers of one person to this collection; adjacent datasets differ in the answers of one person."


def registry_entry(plan: Plan, today: date) -> dict[str, Any]:
    """The entry as plain data, a draft of the registry's third tier; `today` stands for the day of publication.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"ill": {"type": "binary", "delta": 0.5}}))
    >>> registry_entry(plan, date(2026, 1, 31))["deployment"]["deployment_model"]["model_name"]
    'Local'
    """
    survey = plan.policy.survey
    name = f"Survey {plan.id[:12]}" if survey is None else survey.title
    labels = ", ".join(quoted(feature.label) for feature in plan.policy.features.values())
    return {
        "url_slug": f"{_slug(name)}-{plan.id[:12]}",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": name,
                "data_curators": [TO_FILL_IN if survey is None else survey.organiser],
                "description": f"Estimates with confidence intervals from randomized answers about {labels}.",
                "intended_use": TO_FILL_IN if survey is None else survey.purpose,
                "data_product_type": "Summary statistics",
                "data_product_region": TO_FILL_IN,
                "publication_date": today.isoformat(),
            },
            "dp_variant": {
                "variant_name": "Pure DP" if batch_promise(plan) is None else "Approximate DP",
                "data_domain": f"Records of one person each, with answers about {labels}.",
                "unprotected_quantities": " ".join(["That somebody answered, and how many did.", *open_said(plan)]),
            },
            "privacy_loss": _privacy_loss(plan),
            "deployment_model": {
                "model_name": _MODELS[plan.policy.trust],
                "model_name_details": _TRUST[plan.policy.trust],
                "release_type": "One release",
                "release_type_details": "A device remembers its first answer to the plan and repeats it.",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "Counts of reports are decoded into estimates and confidence intervals.",
                "composition": "One report is the whole release of a person: its level covers everything sent.",
            },
            "implementation": {
                "mechanisms": f"bcdp {__version__}, plan {plan.id}: every answer is drawn from a table of integers out "
                "of 2^32 with cryptographic randomness. Levels are computed from these integers and rounded up.",
            },
            "administrative": {"registry_authors": [TO_FILL_IN]},
        },
    }


class _Readable(yaml.SafeDumper):
    """Texts of several lines as they are read."""


def _text(dumper: _Readable, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Readable.add_representer(str, _text)


def registry_yaml(plan: Plan, today: date) -> str:
    """The entry as the registry's file."""
    entry = registry_entry(plan, today)
    return yaml.dump(entry, Dumper=_Readable, sort_keys=False, allow_unicode=True, width=110)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-") or "survey"


def _privacy_loss(plan: Plan) -> dict[str, Any]:
    """The level of the record, then each feature's with its condition: of a batch where that is the main promise."""
    batch, record_promise = batch_promise(plan), promise_of_all(plan)
    lines = [f"- {promise.sentence}" for promise in (record_promise, *promises(plan).values())]
    if batch is None:
        parameters = {"epsilon": record_promise.level}
        details = ["What one report reveals:", *lines]
    else:
        *features, record = batch.counted
        parameters = {"epsilon": record.epsilon, "delta": batch.chance}
        details = [f"Against {batch.against}. {batch.holds}: {'; '.join(batch.conditions)}."]
        details += [f"- {quoted(each.label)}: {each.told}, {each.condition}." for each in (record, *features)]
        details += ["", f"{batch.without} What one report reveals:", *lines]
    return {
        "privacy_unit": "One person",
        "privacy_unit_details": _UNIT,
        "privacy_parameters": parameters,
        "privacy_parameters_details": "\n".join([*details, "", operator_says(plan)]),
    }
