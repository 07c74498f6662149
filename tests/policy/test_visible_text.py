"""No text of a policy or a plan hides anything: three readers refuse the same characters, none that scripts need."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

from bcdp import InputError, Plan, Policy, make_plan
from bcdp.audit import verify_limits
from bcdp.policy.visible_text import is_visible
from bcdp_device.verify.values import check_seen
from support.paths import ROOT
from support.readers import accepted_by_device, accepted_by_plan, accepted_by_verify
from support.system import require

NODE = shutil.which("node")
JOINED = (
    "می\u200cخواهم",
    "क्\u200dष",
    "ක්\u200dර",
    "ক\u09cd\u200cষ",
    "ဗ\u200cမ",
)  # Persian, Hindi, Sinhala, Bengali, Burmese
SEEN = ("résumé", "e\u0301", "שלום", "1\u00a0000", "a\nb", "\U0001f600", "日本", "\ue000", *JOINED)
HIDDEN = (
    "a\u202eb",
    "a\u2066b",
    "a\u200fb",
    "a\u200bb",
    "a\U000e0041b",
    "a\xadb",
    "a\tb",
    "a\u200cb",
    "می\u200c",
    "\u200dمی",
)
SCRIPT = """
import { readFileSync } from "node:fs";
const source = readFileSync(process.argv[1], "utf8");
const HIDDEN = eval(/const HIDDEN =\\n?\\s*(.*);\\n/.exec(source)[1]);
const found = [];
for (let point = 0; point < 0x110000; point += 1) {
  const letter = String.fromCodePoint(point);
  if (HIDDEN.test(`a${letter}b`)) found.push(point);
  if (HIDDEN.test(`ی${letter}خ`)) found.push(-point);
}
console.log(JSON.stringify(found));
"""


def seen_by_verify(text: str) -> bool:
    try:
        check_seen("text", text)
    except InputError:
        return False
    return True


def test_every_character_is_judged_alike_by_three_readers() -> None:
    """Between letters that join, and between others; half of a pair is refused by each reader in its own way."""
    require(NODE, "nodejs")
    spelling = ROOT / "src" / "bcdp" / "web" / "device" / "reading" / "spelling.js"
    done = subprocess.run([str(NODE), "--input-type=module", "--eval", SCRIPT, str(spelling)],
                          capture_output=True, text=True, check=True)  # fmt: skip
    by_browser = {number for number in json.loads(done.stdout) if not 0xD800 <= abs(number) < 0xE000}
    points = [point for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    for judge in (is_visible, seen_by_verify):
        found = {point for point in points if not judge(f"a{chr(point)}b")}
        found |= {-point for point in points if not judge(f"ی{chr(point)}خ")}
        assert found == by_browser
    assert {0x200C, 0x200D} <= by_browser
    assert not {-0x200C, -0x200D} & by_browser
    assert {0x202E, 0x2066, 0x200B, 0xE0041, -0x202E, -0x200B} <= by_browser
    assert 4000 < len({abs(number) for number in by_browser}) < 4400  # tags and selectors of variants are 4,096 of them


def plan_with(text: str, place: str) -> Any:
    """The document of a plan with this text in a place."""
    features: dict[str, Any] = {"kind": {"type": "categorical", "values": ["north", "south"]}}
    if place == "name":
        features = {text: {"type": "binary"}}
    plan = make_plan(Policy(epsilon=1, features={"x": {"type": "binary"}} if place == "name" else features))
    if place == "name":
        return json.loads(plan.text.replace('"x"', json.dumps(text, ensure_ascii=False)))
    document = json.loads(plan.text)
    feature = document["collection"]["features"]["kind"]
    if place in ("label", "help"):
        feature[place] = text
    elif place == "value":
        feature["values"][0] = text
    elif place in ("labels", "helps"):
        feature[place] = {"fa": text}
    elif place == "value_labels":
        feature[place] = {"fa": [text, "other"]}
    elif place == "source":
        document["correlation"]["source"] = text
    else:
        survey = dict.fromkeys(("title", "purpose", "organiser", "contact"), "a")
        document["collection"]["survey"] = survey | {place: {"fa": text} if place == "titles" else text}
    return document


PLACES = (
    "name",
    "label",
    "help",
    "value",
    "labels",
    "helps",
    "value_labels",
    "source",
    "title",
    "contact",
    "decline",
    "titles",
)


def test_every_text_of_a_plan_is_held_to_it_by_three_readers() -> None:
    texts, right = [], []
    for place in PLACES:
        for text in (*SEEN, *HIDDEN):
            document = plan_with(text, place)
            texts.append(json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
            right.append(text in SEEN)
    for said in (list(map(accepted_by_plan, texts)), list(map(accepted_by_verify, texts)), accepted_by_device(texts)):
        assert said == right


@pytest.mark.parametrize("text", HIDDEN)
def test_a_policy_that_hides_something_is_refused_by_the_fields_name(text: str) -> None:
    features = {"kind": {"type": "categorical", "values": ["a", text], "label": text}}
    with pytest.raises(InputError) as refusal:
        Policy(epsilon=1, features=features)
    lines = str(refusal.value).splitlines()
    assert sorted(line.partition(": got")[0] for line in lines) == ["features.kind.label", "features.kind.values"]
    assert all("accepted: text without invisible characters" in line for line in lines)
    assert is_visible(str(refusal.value))  # what is wrong is shown escaped


def test_what_hides_is_named_in_a_plan_too() -> None:
    document = plan_with("a\u202eb", "source")
    for read in (lambda: Plan.build(document), lambda: verify_limits(document)):
        with pytest.raises(InputError, match=re.escape(r"correlation.source: got 'a\u202eb'; accepted: text without")):
            read()
