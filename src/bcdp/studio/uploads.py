"""Files that are dropped on the page: looked at in memory, never written anywhere and in no log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from bcdp.correlation.contradictions import Contradiction, contradictions
from bcdp.correlation.from_policy import prior_in
from bcdp.correlation.pilot import estimate_correlation, odds_guide
from bcdp.correlation.stated import holding_numbers, stated_numbers
from bcdp.errors import InputError, refuse
from bcdp.files import ending, table_in_memory
from bcdp.policy import Policy
from bcdp.policy.yaml_text import read_yaml
from bcdp.records.data_check import check_data, policy_lines
from bcdp.records.encoding import arrow_types
from bcdp.records.policy_draft import skeleton_of

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
    """A policy as its file states it; its mistakes are reported when it is planned."""
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
    """Every problem of a file, as `bcdp check` reports it."""
    policy = Policy.parse(given.get("policy"))
    typed = ending(Path(given["name"])) != ".csv"
    result = check_data(policy, table_in_memory(given["name"], content, {}).to_batches(), typed)
    contradicted: list[Contradiction] = []
    if not result.refused:
        contradicted = contradictions(policy, table_in_memory(given["name"], content, arrow_types(policy)))
    return {
        "people": result.people,
        "problems": [
            *({"sentence": problem.sentence, "refused": problem.refused} for problem in result.problems),
            *(
                {"sentence": f"the records contradict the assumption: {problem.sentence}", "refused": True}
                for problem in contradicted
            ),
        ],
        "uncollected": dict(result.uncollected),
        "lines": policy_lines(given["policy"], result.problems),
    }


def correlated(given: dict[str, Any], content: bytes) -> dict[str, Any]:
    """How features are associated in a sample, as `bcdp correlate` reports it, and what a policy may state of it.

    A CSV whose last column is `probability` is a known prior: its numbers are exact, given all other features.
    """
    policy = Policy.parse({**given.get("policy", {}), "correlation": 1})
    if content.partition(b"\n")[0].rstrip().endswith(b"probability"):
        return _known(policy, given["name"], content)
    table: pa.Table = table_in_memory(given["name"], content, arrow_types(policy))
    estimated, guide = estimate_correlation(policy, table), odds_guide(policy, table)
    names = set(policy.features)
    q = {name: estimated.q(name, names - {name}) for name in policy.features}
    return {
        "people": len(table),
        "q": q,
        "odds_guide": guide,
        "stated": holding_numbers(policy, table, estimated),
        "notes": estimated.notes,
    }


def _known(policy: Policy, name: str, content: bytes) -> dict[str, Any]:
    try:
        prior = prior_in(content.decode("utf-8-sig"), name, policy)
    except UnicodeDecodeError:
        raise InputError(f"{name}: its text is not UTF-8; accepted: a prior in UTF-8") from None
    names = set(policy.features)
    q = {name: prior.q(name, names - {name}) for name in policy.features}
    odds = {name: prior.odds(name, names - {name}) for name in policy.features}
    return {"people": None, "q": q, "stated": stated_numbers(q, odds), "notes": []}
