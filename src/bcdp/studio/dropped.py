"""Files that are dropped on the page: looked at in memory, never written anywhere and in no log."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from bcdp.correlation.pilot import estimate_correlation, odds_guide
from bcdp.correlation.sources import prior_in
from bcdp.correlation.stated import stated_numbers
from bcdp.errors import InputError, refuse
from bcdp.files import table_in_memory
from bcdp.policy import Policy
from bcdp.policy.data_check import check_data, policy_lines
from bcdp.policy.encoding import arrow_types
from bcdp.policy.skeleton import skeleton_of
from bcdp.policy.yaml_text import read_yaml

MOST_BYTES = 2**28


def unpacked(body: bytes) -> tuple[dict[str, Any], bytes]:
    """A line of JSON and the file behind it, as the page sends them."""
    head, separator, content = body.partition(b"\n")
    try:
        given = json.loads(head)
    except ValueError:
        given = None
    if not separator or not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise refuse("request", "another form", "a line of JSON with the file's name, and the file")
    return given, content


def policy_of(given: dict[str, Any], content: bytes) -> dict[str, Any]:
    """A policy as its file states it; its mistakes are told when it is planned."""
    mistakes: list[str] = []
    try:
        document = read_yaml(content.decode("utf-8-sig"), mistakes)
    except UnicodeDecodeError:
        raise InputError(f"{given['name']}: its text is not UTF-8; accepted: a policy in UTF-8") from None
    if mistakes or not isinstance(document, dict) or not isinstance(document.get("features"), dict):
        raise InputError("\n".join(mistakes) or f"{given['name']}: accepted: a policy with epsilon and features")
    return {"policy": document}


def draft_of(given: dict[str, Any], content: bytes) -> dict[str, Any]:
    """A policy to fill in from the columns of a file, as `bcdp policy` drafts it."""
    table = table_in_memory(given["name"], content)
    text, lacking, people = skeleton_of(table)
    mistakes: list[str] = []
    document = read_yaml(text, mistakes)
    if mistakes:
        raise InputError("\n".join(mistakes))
    return {"policy": document, "people": people, "missing": dict(lacking)}


def checked(given: dict[str, Any], content: bytes) -> dict[str, Any]:
    """Every problem of a file, as `bcdp check` tells it."""
    policy = Policy.parse(given.get("policy"))
    found = check_data(policy, table_in_memory(given["name"], content, {}).to_batches())
    return {
        "people": found.people,
        "problems": [{"sentence": one.sentence, "refused": one.refused} for one in found.problems],
        "uncollected": dict(found.uncollected),
        "lines": policy_lines(policy, found.problems),
    }


def correlated(given: dict[str, Any], content: bytes) -> dict[str, Any]:
    """How features go together in a sample, as `bcdp correlate` tells it, and what a policy may state of it.

    A CSV whose last column is `probability` is a known prior: its numbers are exact, given all other features.
    """
    policy = Policy.parse({**given.get("policy", {}), "correlation": 1})
    if content.partition(b"\n")[0].rstrip().endswith(b"probability"):
        return _known(policy, given["name"], content)
    table: pa.Table = table_in_memory(given["name"], content, arrow_types(policy))
    found, guide = estimate_correlation(policy, table), odds_guide(policy, table)
    names = set(policy.features)
    q = {name: found.q(name, names - {name}) for name in policy.features}
    return {"people": len(table), "q": q, "odds_guide": guide, "stated": stated_numbers(q, guide), "notes": found.notes}


def _known(policy: Policy, name: str, content: bytes) -> dict[str, Any]:
    try:
        prior = prior_in(content.decode("utf-8-sig"), name, policy)
    except UnicodeDecodeError:
        raise InputError(f"{name}: its text is not UTF-8; accepted: a prior in UTF-8") from None
    names = set(policy.features)
    q = {name: prior.q(name, names - {name}) for name in policy.features}
    odds = {name: prior.odds(name, names - {name}) for name in policy.features}
    return {"people": None, "q": q, "stated": stated_numbers(q, odds), "notes": []}
