"""Three readers of plans, held against each other: what each says of a text, and what enumeration says of its claims.

A text is accepted if it is a plan that a device may answer: its form is right and its claims are true. `Plan.parse` and
the browser's device refuse with an error, `bcdp verify` with an error or an objection. All three agree on everything
but the content of `tasks`, which only `Plan.parse` checks.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from bcdp import InputError, Plan
from bcdp.audit import verify_limits
from support.enumeration import below_truth, enumerated, where_wrong
from support.paths import ROOT
from support.system import require

NODE = shutil.which("node")


def canonical(document: Any) -> str:
    """The text of a document as plans are written; half a letter is escaped, since no file can hold it."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def accepted_by_plan(text: str) -> bool:
    try:
        Plan.parse(text)
    except InputError:
        return False
    return True


def accepted_by_verify(text: str) -> bool:
    try:
        return verify_limits(text).acceptable
    except InputError:
        return False


def accepted_by_device(texts: list[str], script: Path = ROOT / "tests" / "js" / "verify.js") -> list[bool]:
    """The browser's device in Node, one process for all texts; any error but its own is a mistake of the device."""
    require(NODE, "nodejs")
    done = subprocess.run(
        [str(NODE), str(script)], input=json.dumps(texts), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = json.loads(done.stdout)
    assert set(verdicts) <= {"kept", "InputError"}, set(verdicts)
    return [verdict == "kept" for verdict in verdicts]


def disagreements(texts: list[str], **readers: list[bool]) -> list[tuple[dict[str, bool], str]]:
    """The texts that some readers accept and some refuse.

    Devices do not interpret tasks. The reader named `plan` does: it may refuse a text for its tasks alone.
    """
    rows = [(text, dict(zip(readers, said, strict=True))) for text, *said in zip(texts, *readers.values(), strict=True)]
    return [
        (said, text)
        for text, said in rows
        if len(set(said.values())) > 1 and not (_only_plan_refuses(said) and accepted_by_plan(without_tasks(text)))
    ]


def _only_plan_refuses(said: dict[str, bool]) -> bool:
    return all(accepted != (reader == "plan") for reader, accepted in said.items())


def without_tasks(text: str) -> str:
    """A plan's text without what its answers are for."""
    document = json.loads(text)
    document["collection"].pop("tasks", None)
    return canonical(document)


_LEVELS: dict[str, Any] = {}


def untrue(text: str) -> list[str]:
    """The claims of a survey that are below what an enumeration finds."""
    document = json.loads(text)
    key = canonical({part: document[part] for part in ("collection", "correlation", "tables", "questions", "menus")})
    if key not in _LEVELS:
        _LEVELS[key] = (*enumerated(document), enumerated(where_wrong(document))[2])
    epsilon, c, delta, wrong = _LEVELS[key]
    claims = document["certificate"]
    found = ["epsilon"] if below_truth(claims["epsilon"], epsilon) else []
    for name, claim in claims["features"].items():
        found += [f"c of {name}"] * below_truth(claim["c"], c[name])
        found += [f"delta of {name}"] * below_truth(claim["certified"], delta[name])
        found += [f"if_wrong of {name}"] * below_truth(claim.get("if_wrong", math.inf), wrong[name])
    return found
