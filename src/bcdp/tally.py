"""Reports become counts: exact, mergeable, independent of how many people answered.

A survey is counted by menu and answer; a cascade by the number, the sum and the products of its estimates. Where the
policy has open features, each group of open values is counted by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import bcdp
from bcdp.errors import InputError, expect, refuse
from bcdp.files import Source, naming_file, path_of, read_text, write_text
from bcdp.files.mistaken import refuse_mistaken
from bcdp.plan import A_PLAN, GROUP, PLAN_KEY, Plan, mechanism_of
from bcdp.records.encoding import as_arrow
from bcdp.records.open_groups import digits_of, value_number, whole_column
from bcdp.statistics import Decoder
from bcdp.statistics.shared.protocol import Weighed
from bcdp.statistics.shared.weighting import Weighting

SPARK_KEY = b"org.apache.spark.sql.parquet.row.metadata"
FORMAT = 1  # of the file; what states none has it too
LARGEST_COUNT = 2**53  # beyond it, whole numbers are not exact in JSON
FALSE_ALARMS = 1e-6  # how often a check raises an alarm, at most, if every device follows the plan


@dataclass(frozen=True)
class Check:
    """Whether reports can be those of devices that follow the plan, whatever people answer.

    `p` is at least the probability of counts as unusual as these; `where` names what is most unusual, no counts.
    """

    p: float
    where: str

    @property
    def alarm(self) -> bool:
        """Whether so unusual a count is hardly a coincidence."""
        return self.p < FALSE_ALARMS

    def to_dict(self) -> dict[str, Any]:
        """The check in plain JSON."""
        return {"p": self.p, "alarm": self.alarm, **({"where": self.where} if self.alarm else {})}


def smallest(tested: Sequence[tuple[str, Mapping[str, Check]]]) -> dict[str, Check]:
    """Of each check in several parts the smallest p-value times their number, and where it is."""
    least = {key: min(tested, key=lambda part: part[1][key].p) for key in tested[0][1]}
    return {
        key: Check(min(1.0, len(tested) * checks[key].p), name + checks[key].where)
        for key, (name, checks) in least.items()
    }


class Tally:
    """The counts of one plan's reports: `add` reports, add tallies with `+`, `save` and `load`.

    `Tally(plan)` is of the class by which the plan's mechanism counts.

    >>> from bcdp import Policy, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> monday, tuesday = (Tally(plan).add(privatize(plan, {"smoker": [0, 1, 1]})) for _ in range(2))
    >>> (monday + tuesday).people
    6
    """

    plan: Plan
    people: int
    groups: tuple[str, ...] = ()  # columns whose equal rows may be counted before they are added, as one with `count`

    def __new__(cls, plan: Plan) -> Tally:
        expect("plan", plan, Plan, A_PLAN)
        counted = OpenTally if plan.policy.open else mechanism_of(plan).tally()
        return super().__new__(cls if cls is not Tally else counted)

    def add(self, reports: Any) -> Tally:
        """Counts a batch of reports, all of them or, if any is refused, none; gives the tally itself."""
        raise NotImplementedError

    def decoder(self) -> Decoder:
        """What the counts reveal, as statistics see it."""
        raise NotImplementedError

    def checks(self) -> dict[str, Check]:
        """Tests of whether devices follow the plan, by what they look at; none where there are no menus."""
        return {}

    def weighted(self, weighting: Weighting, parts: Sequence[Tally]) -> Weighed:
        """What the tallies of several groups of people reveal together, each person counting by the group's weight."""
        raise refuse("weights", f"a {self.plan.mechanism}", "a survey: only its answers can be weighted")

    @property
    def parts(self) -> Mapping[int, Tally]:
        """The tally of each group of open values that occurs, by the number of the group."""
        return {0: self}

    @property
    def whole(self) -> Tally:
        """The counts of all groups of open values together."""
        return self

    def by(self, name: str) -> dict[Any, Tally]:
        """The tally of each value of an open feature, by the other open features as before."""
        raise refuse("by", name, "an open feature of the policy, and it has none")

    def group(self, **values: Any) -> Tally:
        """The tally of the people with these open values, by open features as before."""
        if values:
            raise refuse("group", sorted(values), "open features of the policy, and it has none")
        return self

    def waves(self) -> dict[int, Tally]:
        """The tally of each wave of a panel, of the plan of those who are asked in it (`plan.panel.wave_plans`)."""
        raise refuse("plan.panel", None, "the tally of a survey's plan with waves")

    def rows(self) -> list[list[int]]:
        """The counts as rows of the columns `groups` and a count, as `add` takes them; none where there are no such."""
        return []

    def _check_plan(self, table: pa.Table) -> None:
        made_for = _stated_plan(table.schema.metadata or {})
        if made_for is not None and made_for != self.plan.id.encode():
            raise refuse(
                "reports",
                f"plan {made_for.decode('ascii', 'replace')[:12]}..",
                f"reports of plan {self.plan.id[:12]}..",
            )

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if other.plan.id != self.plan.id:
            raise refuse("tally", f"plan {other.plan.id[:12]}..", f"a tally of the same plan {self.plan.id[:12]}..")
        return self._sum(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it can be added to

    def __reduce__(self) -> tuple[Any, ...]:
        return Tally.from_dict, (self.to_dict(), self.plan)

    def __repr__(self) -> str:
        return f"<Tally of plan {self.plan.id[:12]}..: {self.people:,} people>"

    def _repr_html_(self) -> str:
        return bcdp.as_html(self)

    def _sum(self, other: Tally) -> Tally:
        total = type(self)(self.plan)
        total._state([mine + theirs for mine, theirs in zip(self._arrays(), other._arrays(), strict=True)])
        return total

    def _arrays(self) -> list[npt.NDArray[Any]]:
        raise NotImplementedError

    def _state(self, arrays: list[npt.NDArray[Any]]) -> None:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The tally in plain JSON."""
        raise NotImplementedError

    def save(self, path: Source) -> None:
        """Writes the tally as JSON, to a path or an open file."""
        write_text(path, json.dumps(self.to_dict(), allow_nan=False))

    @staticmethod
    def load(path: Source, plan: Plan) -> Tally:
        """The tally in a file, for the plan that it counts."""
        accepted = "a file written by `bcdp tally`"
        expect("plan", plan, Plan, A_PLAN)
        refuse_mistaken(path, "a tally")
        text, name = read_text(path, accepted), path_of(path)
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"{name}: cannot be read (it is not JSON); accepted: {accepted}") from None
        with naming_file(name):
            return Tally.from_dict(document, plan)

    @staticmethod
    def from_dict(document: Any, plan: Plan) -> Tally:
        """The tally that `to_dict` describes, for the plan that it counts."""
        expect("plan", plan, Plan, A_PLAN)
        plan_id = document.get("plan") if isinstance(document, dict) else None
        if not isinstance(plan_id, str):
            raise refuse("tally.plan", "no plan's id", "a tally written by `bcdp tally`")
        if document.get("format", FORMAT) != FORMAT:
            raise refuse("tally.format", document["format"], f"{FORMAT}; read another one with the bcdp that wrote it")
        if plan_id != plan.id:
            raise refuse("tally.plan", f"{plan_id[:12]}..", f"the plan's id {plan.id[:12]}..")
        tally = Tally(plan)
        tally._read(document)
        return tally

    def _read(self, document: dict[str, Any]) -> None:
        raise NotImplementedError


class OpenTally(Tally):
    """A tally of its own for each group of open values that occurs: `by` distinguishes them, `whole` adds them up."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._parts: dict[int, Tally] = {}  # by the number of the group

    @property
    def groups(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns whose equal rows may be counted before they are added."""
        own = self._empty().groups
        return (*own, GROUP) if own else ()

    @property
    def people(self) -> int:  # type: ignore[override]
        """How many reports were counted."""
        return sum(part.people for part in self._parts.values())

    @property
    def whole(self) -> Tally:
        return sum((self._parts[number] for number in sorted(self._parts)), start=self._empty())

    def by(self, name: str) -> dict[Any, Tally]:
        policy = self.plan.policy
        if name not in policy.open:
            raise refuse("by", name, f"an open feature: {', '.join(policy.open)}")
        return {value: self.group(**{name: value}) for value in policy.open[name].values}

    def group(self, **values: Any) -> Tally:
        policy, numbers = self.plan.policy, np.array(list(self._parts), dtype=np.int64)
        if unknown := values.keys() - policy.open.keys():
            raise refuse("group", sorted(unknown), f"open features: {', '.join(policy.open)}")
        digits, kept = digits_of(policy, numbers), np.ones(len(numbers), dtype=bool)
        for name, value in values.items():
            kept &= digits[name] == value_number(policy, name, value)
        tally = OpenTally(self.plan)
        tally._parts = {number: self._parts[number] for number in numbers[kept].tolist()}
        return tally

    @property
    def parts(self) -> Mapping[int, Tally]:
        return dict(sorted((number, part) for number, part in self._parts.items() if part.people))

    def decoder(self) -> Decoder:
        return self.whole.decoder()

    def checks(self) -> dict[str, Check]:
        """Of all people and of each group: the smallest p-value times their number, as attacks may be on one group."""
        tested = [("", self.whole), *((self._named(number), part) for number, part in self.parts.items())]
        return smallest([(name, tally.checks()) for name, tally in tested])

    def waves(self) -> dict[int, Tally]:
        parts = {number: part.waves() for number, part in self._parts.items()}
        tallies: dict[int, Tally] = {}
        for wave, together in self.whole.waves().items():
            tallies[wave] = opened = OpenTally(together.plan)
            opened._parts = {number: waves[wave] for number, waves in parts.items() if waves[wave].people}
        return tallies

    def _named(self, number: int) -> str:
        values = self.plan.policy.groups[number]
        return ", ".join(f"{name} = {value}" for name, value in zip(self.plan.policy.open, values, strict=True)) + ": "

    def weighted(self, weighting: Weighting, parts: Sequence[Tally]) -> Weighed:
        return self._empty().weighted(weighting, parts)

    def add(self, reports: Any) -> OpenTally:
        """Counts a batch of reports, all of them or, if any is refused, none; gives the tally itself."""
        table = as_arrow(reports)
        self._check_plan(table)
        if GROUP not in table.column_names:
            raise refuse("reports", f"no column {GROUP}", f"a column {GROUP}, the number of the open values")
        numbers = whole_column(table, GROUP).to_numpy()
        most = len(self.plan.policy.groups)
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < most:
            wrong = int(numbers.min()) if int(numbers.min()) < 0 else int(numbers.max())
            raise refuse(f"reports.{GROUP}", wrong, f"numbers from 0 to {most - 1}")
        added = {
            int(number): self._empty().add(table.filter(pa.array(numbers == number)))
            for number in np.unique(numbers).tolist()
        }
        self._parts = {number: self._part(number) + part for number, part in added.items()} | {
            number: part for number, part in self._parts.items() if number not in added
        }
        return self

    def _empty(self) -> Tally:
        return mechanism_of(self.plan).tally()(self.plan)

    def _part(self, number: int) -> Tally:
        return self._parts.get(number) or self._empty()

    def _sum(self, other: Tally) -> Tally:
        assert isinstance(other, OpenTally)
        total = OpenTally(self.plan)
        numbers = {*self._parts, *other._parts}
        total._parts = {number: self._part(number) + other._part(number) for number in sorted(numbers)}
        return total

    def rows(self) -> list[list[int]]:
        parts = sorted(self._parts.items())
        return [[*cell, number, count] for number, part in parts for *cell, count in part.rows()]

    def to_dict(self) -> dict[str, Any]:
        parts = [[number, part.to_dict()] for number, part in sorted(self._parts.items()) if part.people]
        return {"format": FORMAT, "plan": self.plan.id, "people": self.people, "groups": parts}

    def _read(self, document: dict[str, Any]) -> None:
        rows = document.get("groups")
        most = len(self.plan.policy.groups)
        fitting = isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == 2 and type(row[0]) is int and 0 <= row[0] < most for row in rows
        )
        if not fitting or len({row[0] for row in rows or ()}) < len(rows or ()):
            raise refuse("tally.groups", "something else", f"rows of a number from 0 to {most - 1}, once, and a tally")
        for number, part in rows or ():
            tally = self._empty()
            if not isinstance(part, dict) or part.get("plan") != self.plan.id:
                raise refuse("tally.groups", "another plan's tally", "tallies of one plan")
            tally._read(part)
            self._parts[number] = tally
        if document.get("people") != self.people:
            raise refuse("tally.people", document.get("people"), f"{self.people}, the sum of the groups")


def _stated_plan(metadata: Mapping[bytes, bytes]) -> bytes | None:
    """The id of the plan that reports answer, where they say it; Spark says it of the column `menu`."""
    if PLAN_KEY in metadata or SPARK_KEY not in metadata:
        return metadata.get(PLAN_KEY)
    try:
        fields = json.loads(metadata[SPARK_KEY])["fields"]
        stated = [field["metadata"].get(PLAN_KEY.decode()) for field in fields if field["name"] in ("menu", "estimate")]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return str(stated[0]).encode() if stated and stated[0] is not None else None
