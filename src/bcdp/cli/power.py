"""`bcdp power`: how many people to ask, and how precise so many answers are."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bcdp.cli.options import AsJson, PlanFile
from bcdp.cli.output import show, show_json, table
from bcdp.errors import InputError, refuse
from bcdp.present.words import most_frequent_line

if TYPE_CHECKING:
    from bcdp.estimates.power import Difference
    from bcdp.plan import Plan

_DIGITS = 3  # of people, rounded up


def power(
    plan: PlanFile,
    guess: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=X", help="A share of yes, or a mean, that you expect; may be repeated."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=X", help="The same in a second group of people, to see the difference."),
    ] = None,
    se: Annotated[float | None, typer.Option(metavar="S", help="The standard error to reach.")] = None,
    people: Annotated[int | None, typer.Option(metavar="N", min=1, help="How many people there will be.")] = None,
    chance: Annotated[float, typer.Option("--power", metavar="P", help="The chance to see a difference.")] = 0.8,
    share: Annotated[float, typer.Option(metavar="P", help="Of all people in the first group.")] = 0.5,
    confidence: Annotated[float, typer.Option(metavar="P", help="Of the intervals.")] = 0.95,
    top: Annotated[
        int | None, typer.Option(metavar="K", min=1, help="Find the K most frequent values, with the chance --power.")
    ] = None,
    shares: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="A CSV of values and how frequent each is, for --top; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell how many people a plan takes: for a standard error, for a difference between two groups, for a table.

    A population is imagined: shares and means as you guess, else values equally frequent and numbers half at each
    bound, features independent of each other. Numbers with a stated mean are spread over their range. With --se, the
    people for this standard error of each number, and of all numbers of a table. With --people, the standard errors,
    and the least difference between two groups of different people, such as the values of an open feature, that is
    seen with the chance --power. With --against, the people for the difference between the two guesses, or the chance
    to see it. With --top, the people of whose answers the K most frequent values of a feature come out above all
    others, with the chance --power; values are as frequent as --shares says, else one over their rank.

    Examples:

        bcdp power plan.json --se 0.01
        bcdp power plan.json --people 20000 --guess smoker=0.2
        bcdp power plan.json --guess smoker=0.2 --against smoker=0.25 --power 0.9
        bcdp power plan.json --top 20 --power 0.9 --shares job=jobs.csv
    """
    from bcdp.estimates.power import differences
    from bcdp.plan import Plan

    if se is not None and not se > 0:
        raise refuse("--se", se, "a number above 0, in the features' own units")
    if not 0 < chance < 1:
        raise refuse("--power", chance, "a number above 0 and below 1")
    if se is None and people is None and not against and top is None:
        raise refuse("--se, --people and --against", "none of them", "at least one: what the people are for")
    loaded = Plan.load(plan)
    if top is not None:
        _show_top(loaded, top, chance, shares or [], as_json)
        return
    other = _guesses(loaded, "--against", against) if against else None
    guesses = _guesses(loaded, "--guess", guess)
    known = [row for row in differences(loaded, guesses, other, share, confidence) if math.isfinite(row.error)]
    rows = [_row(difference, se, people, chance, other is not None) for difference in known]
    if as_json:
        show_json({"plan": loaded.id, "numbers": rows})
        return
    heads = {key: word for key, word in _WORDS.items() if any(key in row for row in rows)}
    shown = [[_told(key, row.get(key)) for key in heads] for row in rows]
    largest: dict[str, float] = {}
    if se is not None:
        for number in known:
            about = number.first.about
            largest[about] = max(largest.get(about, 0.0), number.first.people(se))
    together = [f"every number of {about}: {_up(most):,} people" for about, most in largest.items()]
    show(table(list(heads.values()), shown), *(["", *together] if together else []))


def _show_top(plan: Plan, top: int, chance: float, given: list[str], as_json: bool) -> None:
    """How many people find the most frequent values of each feature that has more of them."""
    from bcdp.estimates.most_frequent import people_to_find, valued_features

    laws = dict(_law(plan, text) for text in given)
    names = [*laws] or valued_features(plan, top)
    if not names:
        raise refuse("--top", top, "fewer values than some feature of the plan has that is asked for frequencies")
    needed = {name: people_to_find(plan, name, laws.get(name), top, chance) for name in names}
    if as_json:
        rows = [
            {"feature": name, "top": top, "chance": chance, "people": people, "shares": name in laws}
            for name, people in needed.items()
        ]
        show_json({"plan": plan.id, "numbers": [], "most_frequent": rows})
        return
    show(*(most_frequent_line(name, people, top, chance, name in laws) for name, people in needed.items()))


def _law(plan: Plan, text: str) -> tuple[str, dict[str, float]]:
    """The feature, and how frequent the values in a file are: a value and a number in each line, after the names."""
    from bcdp.files import read_text

    name, equals, path = text.partition("=")
    if not equals or name not in plan.policy.features:
        raise refuse("--shares", text, f"NAME=FILE, NAME one of {', '.join(plan.policy.features)}")
    law: dict[str, float] = {}
    lines = csv.reader(read_text(Path(path), "a CSV file of values and how frequent each is").splitlines())
    for number, row in enumerate(lines, 1):
        try:
            if number > 1 and row:
                law[row[0]] = law.get(row[0], 0.0) + float(row[1])
        except (ValueError, IndexError):
            raise InputError(f"{path}: got no number on line {number}; accepted: a value, a comma, a number") from None
    return name, law


_WORDS = {
    "about": "about",
    "name": "",
    "value": "imagined",
    "people_for_se": "people for it",
    "se": "std. error",
    "detectable": "difference seen",
    "difference": "difference",
    "people_for_difference": "people to see it",
    "power": "chance to see it",
}


def _row(difference: Difference, se: float | None, people: int | None, chance: float, two: bool) -> dict[str, Any]:
    """What is asked of one number, as plain data."""
    row: dict[str, Any] = {
        "about": difference.first.about,
        "name": difference.first.name,
        "value": difference.first.value,
    }
    if se is not None:
        row["people_for_se"] = math.ceil(difference.first.people(se))
    if people is not None:
        row |= {"se": difference.first.se(people), "detectable": difference.detectable(people, chance)}
    if two:
        needed = difference.people(chance)
        row |= {
            "difference": difference.value,
            "people_for_difference": math.ceil(needed) if math.isfinite(needed) else None,
        }
        if people is not None:
            row["power"] = difference.power(people)
    return row


def _told(key: str, value: Any) -> Any:
    return f"{_up(value):,}" if key.startswith("people") and value is not None else "" if value is None else value


def _up(people: float) -> int:
    """A number of people to three digits, rounded up."""
    unit: int = 10 ** max(0, len(str(math.ceil(people))) - _DIGITS)
    return math.ceil(people / unit) * unit


def _guesses(plan: Any, option: str, given: list[str] | None) -> dict[str, float]:
    guesses = {}
    for text in given or []:
        name, equals, value = text.rpartition("=")
        try:
            guesses[name] = float(value)
        except ValueError:
            raise refuse(option, text, "NAME=X, X a share or a mean") from None
        if not equals or name not in plan.policy.features:
            raise refuse(option, text, f"NAME=X, NAME one of {', '.join(plan.policy.features)}")
    return guesses
