"""Claims about several messages: both readers in Python accept what is proved, and refuse what is a thousandth less.

The browser's device does the same in `tests/js/messages.test.js`, and `benchmarks/sweeps/readers.py` holds all three
against each other on mutants of random plans of several messages.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from typing import Any

import pytest

import bcdp.plan.message_counts
import bcdp.plan.published_counts
from bcdp_device.verify import counts
from support.readers import ROOT, accepted_by_plan, accepted_by_verify, canonical

pytestmark = pytest.mark.slow
PLAN = json.loads(json.loads((ROOT / "vectors" / "messages.json").read_text("utf-8"))["plan"])
FORMS = ("epsilon", "odds")


def claiming(name: str | None, form: str, share: float) -> str:
    """The plan with one claim about its counts changed, of a feature or of the record."""
    document = copy.deepcopy(PLAN)
    claims = document["certificate"]["counts"]
    (claims if name is None else claims["features"][name])[form] *= share
    return canonical(document)


NAMES = list(PLAN["certificate"]["counts"]["features"])
PROVED = [claiming(name, form, 1.001) for name in NAMES for form in FORMS]
BELOW = [claiming(name, form, 0.999) for name in (None, *NAMES) for form in FORMS]


@pytest.fixture(autouse=True)
def known_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of these texts claim the same about most of their counts."""
    monkeypatch.setattr(counts, "binary_excess", functools.cache(counts.binary_excess))


@pytest.mark.parametrize("accepts", [accepted_by_plan, accepted_by_verify])
def test_a_reader_accepts_what_is_proved_and_nothing_less(accepts: Callable[[str], bool]) -> None:
    assert all(map(accepts, PROVED))
    assert not any(map(accepts, BELOW))


BROKEN: dict[str, tuple[Any, str, Any]] = {
    "verify counts the first message only": (counts, "together", lambda single: single[0]),
    "verify knows no association": (counts, "own_factor", lambda factor, *_: factor),
    "verify counts twice the people": (
        counts, "_message_excess", lambda menu, people, right=counts._message_excess: right(menu, 2 * people)
    ),
    "the plan counts the first message only": (
        bcdp.plan.message_counts, "composed_excess",
        lambda grids, right=bcdp.plan.message_counts.composed_excess: right(grids[:1]),
    ),
    "the plan knows no association": (bcdp.plan.message_counts, "own_factor", lambda factor, *_: factor),
    "the plan counts twice the people": (
        bcdp.plan.published_counts, "_record_excess",
        lambda plan, people, right=bcdp.plan.published_counts._record_excess: right(plan, 2 * people),
    ),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_reader_of_messages_is_caught(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It accepts a claim that is too low."""
    monkeypatch.setattr(*BROKEN[broken])
    reader = accepted_by_verify if broken.startswith("verify") else accepted_by_plan
    assert any(map(reader, BELOW))
