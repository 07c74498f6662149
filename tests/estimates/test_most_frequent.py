"""How many people find the most frequent values: the stated number does, and a tenth of it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

from bcdp import InputError, Policy, Tally, estimate, make_plan
from bcdp.cli.app import program
from bcdp.estimates.most_frequent import people_to_find
from bcdp.exact import TOTAL

VALUES, TOP, FALSE_ALARM = 150, 4, 1e-9
LAW = np.array([0.2, 0.16, 0.12, 0.09, *np.full(VALUES - TOP, 0.43 / (VALUES - TOP))])
CODES: dict[str, Any] = {"type": "categorical", "values": {"integers": [1, VALUES]}}
PLAN = make_plan(Policy(epsilon=3, features={"code": CODES}))
SHARES = dict(zip(range(1, VALUES + 1), LAW.tolist(), strict=True))


def answer_shares() -> Any:
    """The probability of each answer, for people with these values."""
    table = PLAN.tables[0]
    return np.sum([share * table.row(code) for code, share in enumerate(LAW)], axis=0) / TOTAL


def found(people: int, collections: int, rng: np.random.Generator) -> int:
    """In how many collections the most frequent values are on top."""
    times, answers = 0, answer_shares()
    for counts in rng.multinomial(people, answers / answers.sum(), collections):
        reports = {"menu": np.zeros(len(counts), int), "answer": np.arange(len(counts)), "count": counts}
        shares = estimate(Tally(PLAN).add(reports)).frequencies["code"]
        best = sorted(shares, key=lambda value: -shares[value].raw)[:TOP]
        times += set(best) == set(range(1, TOP + 1))
    return times


def test_the_people_that_are_stated_find_them_and_a_tenth_does_not() -> None:
    people, rng, collections = people_to_find(PLAN, "code", SHARES, TOP, 0.9), np.random.default_rng(5), 40
    assert people is not None
    assert found(people, collections, rng) >= binom.ppf(FALSE_ALARM, collections, 0.9)
    assert found(people // 10, collections, rng) <= binom.ppf(1 - FALSE_ALARM, collections, 0.5)


def test_more_people_find_more_values_more_often() -> None:
    needed = [people_to_find(PLAN, "code", SHARES, top, chance) or 0 for top, chance in ((2, 0.5), (2, 0.9), (3, 0.9))]
    assert 0 < needed[0] < needed[1] < needed[2]
    assert people_to_find(PLAN, "code", dict.fromkeys(range(1, 50), 1.0)) is None  # the 21st is as frequent


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"name": "x"}, "feature: got 'x'; accepted: .* code"),
        ({"top": VALUES}, f"from 1 to {VALUES - 1}"),
        ({"chance": 1.0}, "chance"),
        ({"shares": {999: 1.0}}, "999"),
        ({"shares": {1: -1.0}}, "at least 0"),
        ({"shares": {1: float("nan")}}, "at least 0"),
        ({"shares": {1: 0.0}}, "above 0"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        people_to_find(PLAN, **{"name": "code", **arguments})


def test_the_command_tells_the_same(tmp_path: Path) -> None:
    PLAN.save(tmp_path / "plan.json")
    law = tmp_path / "law.csv"
    law.write_text("code,share\n" + "".join(f"{code},{share}\n" for code, share in SHARES.items()), encoding="utf-8")
    command = ["power", str(tmp_path / "plan.json"), "--top", "4", "--power", "0.9", "--shares", f"code={law}"]
    shown = json.loads(CliRunner().invoke(program(command), [*command, "--json"]).stdout)
    people = people_to_find(PLAN, "code", SHARES, TOP, 0.9)
    assert shown["most_frequent"] == [{"feature": "code", "top": 4, "chance": 0.9, "people": people, "shares": True}]
    assert (
        "people find the 4 most frequent values in 90% of collections"
        in CliRunner().invoke(program(command), command).stdout
    )
