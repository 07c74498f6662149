"""Everything reported by the values of an open feature, which costs no privacy: each group's answers are its own
tally.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from bcdp.errors import expect
from bcdp.estimates.results import Estimates, estimate
from bcdp.statistics import Estimate, Row, Section
from bcdp.statistics.shared.interval import finite
from bcdp.tally import Tally


class Part(NamedTuple):
    """A number of some of the people, or of all of them: whose it is, and where estimates report it."""

    part: str
    section: Section
    row: Row
    number: Estimate


Difference = tuple[tuple[Any, Any], str, str, Estimate]  # of two groups: what it is about, its name, the difference


def estimate_by(tally: Tally, name: str, level: float = 0.95, *, liars: float = 0.0) -> dict[Any, Estimates]:
    """The estimates of each value of an open feature: all that the plan's tasks ask for.

    The groups are different people, so that any two estimates may be subtracted. With `liars`, each group allows for
    all fake reports of the collection, because an attack may concentrate on it.

    >>> from bcdp import Policy, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=2, features={"smoker": {"type": "binary"},
    ...     "region": {"type": "open", "values": ["north", "south"]}}))
    >>> people = {"smoker": [1, 0] * 500, "region": ["north"] * 600 + ["south"] * 400}
    >>> found = estimate_by(Tally(plan).add(privatize(plan, people)), "region")
    >>> {value: told.people for value, told in found.items()}
    {'north': 600, 'south': 400}
    >>> change = found["north"].means["smoker"] - found["south"].means["smoker"]
    """
    expect("tally", tally, Tally, "a Tally, for example Tally(plan).add(reports)")
    return {
        value: estimate(part, level, group=f"{name}={value!r}", liars=liars, reports=tally.people)
        for value, part in tally.by(name).items()
    }


def aligned(several: Sequence[Estimates]) -> Iterator[tuple[Section, Row, tuple[Estimate, ...]]]:
    """Every number that can be subtracted, of several estimates of one policy: where the first reports it, and all."""
    by_key = [
        [(section, row, row.number) for section in estimates.sections() for row in section.rows
         if isinstance(row.number, Estimate)]
        for estimates in several
    ]  # fmt: skip
    for numbers in zip(*by_key, strict=True):
        section, row, _ = numbers[0]
        yield section, row, tuple(number for *_, number in numbers)


def differences(groups: Mapping[Any, Estimates]) -> Iterator[Difference]:
    """Every number of one group less that of another."""
    for minuend, subtrahend in combinations(groups, 2):
        for section, row, (first, second) in aligned([groups[minuend], groups[subtrahend]]):
            yield (minuend, subtrahend), section.subject, row.name, first - second


def by_document(name: str, groups: Mapping[Any, Estimates]) -> dict[str, Any]:
    """The estimates of all groups in plain JSON, and their differences."""
    subtracted = [
        {"of": list(pair), "about": about, "name": row}
        | finite({part: getattr(number, part) for part in ("value", "se", "low", "high")})
        | ({} if number.moved is None else {"moved": number.moved})
        for pair, about, row, number in differences(groups)
    ]
    return {
        "by": name,
        "groups": {str(value): estimates.to_dict() for value, estimates in groups.items()},
        "differences": subtracted,
    }
