"""The shared vectors: what Python reads, answers and refuses is what vectors/*.json say, in this and every language."""

from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bcdp import InputError, Plan, Policy
from bcdp.exact import chance_up, odds_up
from bcdp.plan import certify, menu_of_ticket
from bcdp.plan.messages import messages_each, sends_all
from bcdp.policy.features import Dates
from bcdp.records.dates import date_numbers
from bcdp.records.encoding import as_arrow, encode
from support.helpers import loaded
from support.paths import ROOT

FOLDER = ROOT / "vectors"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem not in ("refused", "spellings"))
ODDS = json.loads((FOLDER / "words" / "odds.json").read_text("utf-8"))
SPELLINGS = json.loads((FOLDER / "spellings.json").read_text("utf-8"))
REFUSED = json.loads((FOLDER / "refused.json").read_text("utf-8"))


MAKER = loaded(ROOT / "tools" / "make_vectors.py")


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
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2_500_000
    families = {table["family"] for name in NAMES for table in Plan.parse(read(name)["plan"]).tables_}
    assert families == {"dense", "response", "hadamard", "waves", "projective"}


@pytest.mark.parametrize("name", NAMES)
def test_the_id_every_level_and_every_answer(name: str) -> None:
    vector = read(name)
    plan = Plan.parse(vector["plan"])
    assert plan.text == vector["plan"]
    assert plan.id == vector["id"]
    levels = certify(plan)
    assert vector["levels"] == {"epsilon": levels.epsilon, "c": levels.c, "delta": levels.delta}
    menus, answers = MAKER.reports_of(plan, vector["seed"], len(vector["answers"]) // messages_each(plan))
    assert (menus, answers) == (vector["menus"], vector["answers"])
    if plan.policy.open:
        assert MAKER.groups_of(plan, vector["seed"], len(answers) // messages_each(plan)) == vector["groups"]
    assert bool(plan.policy.open) == ("groups" in vector)
    assert (plan.policy.menu_from == "ticket") == ("tickets" in vector)
    ends = np.cumsum([menu.weight for menu in plan.menus])
    for ticket, menu in vector.get("tickets", ()):
        word = int(hashlib.sha256(f"bcdp menu\n{plan.id}\n{ticket}".encode()).hexdigest()[:8], 16)
        assert menu == menu_of_ticket(plan, ticket) == sum(word >= end for end in ends)
    given = [(example["record"], example["words"]) for example in vector["examples"]]
    assert MAKER.answers_to(plan, given) == vector["examples"]
    if not sends_all(plan):
        assert {example["menu"] for example in vector["examples"]} == set(range(len(plan.menus)))


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["why"])
def test_refused(case: dict[str, str]) -> None:
    with pytest.raises(InputError):
        Plan.parse(case["plan"])


@pytest.mark.parametrize("case", ODDS, ids=lambda case: repr(case["level"]))
def test_odds_are_told_in_one_way(case: dict[str, float | None]) -> None:
    """By 400 digits: no hundredth less is enough, and what is told bounds the odds up to one rounding of the level."""
    level, factor, percent = (math.inf if value is None else value for value in case.values())
    assert (odds_up(level), chance_up(level)) == (factor, percent)
    with localcontext(prec=400):
        odds, slack = Decimal(level).exp(), Decimal(math.ulp(level)).exp()
        told = [] if factor == math.inf else [(Decimal(round(100 * factor) - step) / 100, step) for step in (0, 1)]
        tenths = [(Decimal(round(10 * percent) - step), step) for step in (0, 1)]
        told += [(n / (1000 - n), step) for n, step in tenths if n < 1000]
        for bound, step in told:
            assert bound * slack >= odds if step == 0 else bound < odds
    assert factor < math.inf or level > 30


def test_every_date_has_its_number_or_is_refused() -> None:
    """Those of Arrow's own reader of dates, where it reads the text."""
    rows = json.loads((FOLDER / "words" / "dates.json").read_text("utf-8"))
    assert len(rows) == 141
    assert sum(number is None for *_, number in rows) == 26 + 29 + 30
    for since, unit, value, number in rows:
        dates = Dates(since=since, unit=unit)
        column = pa.chunked_array([pa.array([value])])
        if number is None:
            with pytest.raises(InputError):
                date_numbers(dates, "day", column)
            continue
        assert date_numbers(dates, "day", column).tolist() == [number]
        if len(str(value)) == 10:
            assert date_numbers(dates, "day", column.cast(pa.date32())).tolist() == [number]


@pytest.mark.parametrize("name", SPELLINGS["features"])
def test_every_spelling_of_a_value_has_its_code_or_is_refused(name: str) -> None:
    policy = Policy(epsilon=1, features={name: SPELLINGS["features"][name]})
    spelled = [(value, code) for feature, value, code in SPELLINGS["values"] if feature == name]
    assert len(spelled) > 20
    for value, code in spelled:
        if code is None:
            with pytest.raises(InputError):
                encode(policy, as_arrow({name: [value]}))
        else:
            assert encode(policy, as_arrow({name: [value]}))[name].tolist() == [code], value
