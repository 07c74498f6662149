"""Reports become counts: exact, mergeable, independent of how many people answered.

A survey is counted by menu and answer; a cascade by the number, the sum and the products of its estimates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt
import pyarrow as pa

import bcdp
from bcdp.errors import InputError, expect, refuse
from bcdp.files import Source, naming_file, path_of, read_text, write_text
from bcdp.plan import A_PLAN, PLAN_KEY, Plan, mechanism_of
from bcdp.statistics import Decoder

SPARK_KEY = b"org.apache.spark.sql.parquet.row.metadata"
LARGEST_COUNT = 2**53  # beyond it, whole numbers are not exact in JSON


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
        return super().__new__(cls if cls is not Tally else mechanism_of(plan).tally())

    def add(self, reports: Any) -> Tally:
        """Counts a batch of reports, all of them or, if any is refused, none; gives the tally itself."""
        raise NotImplementedError

    def decoder(self) -> Decoder:
        """What the counts tell, as statistics see it."""
        raise NotImplementedError

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
        total = Tally(self.plan)
        total._state([mine + theirs for mine, theirs in zip(self._arrays(), other._arrays(), strict=True)])
        return total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it can be added to

    def __reduce__(self) -> tuple[Any, ...]:
        return Tally.from_dict, (self.to_dict(), self.plan)

    def __repr__(self) -> str:
        return f"<Tally of plan {self.plan.id[:12]}..: {self.people:,} people>"

    def _repr_html_(self) -> str:
        return bcdp.as_html(self)

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
        found = document.get("plan") if isinstance(document, dict) else None
        if not isinstance(found, str):
            raise refuse("tally.plan", "no plan's id", "a tally written by `bcdp tally`")
        if found != plan.id:
            raise refuse("tally.plan", f"{found[:12]}..", f"the plan's id {plan.id[:12]}..")
        tally = Tally(plan)
        tally._read(document)
        return tally

    def _read(self, document: dict[str, Any]) -> None:
        raise NotImplementedError


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
