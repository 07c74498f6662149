"""Counts become estimates: all that the plan's tasks ask for, in the features' own units (docs/theory.md, 4.3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any

import pyarrow as pa

import bcdp
from bcdp.errors import expect, refuse
from bcdp.estimates.weights import weighting_of
from bcdp.policy import Policy
from bcdp.policy.tasks import statistics
from bcdp.statistics import Decoder, Estimate, Section
from bcdp.statistics.interval import finite
from bcdp.statistics.model import RegressionEstimate
from bcdp.tally import Tally

TIDY = pa.schema(
    [(name, pa.string()) for name in ("about", "name", "label")]
    + [(name, pa.float64()) for name in ("value", "se", "low", "high")]
    + [("answers", pa.int64())]
)


@dataclass(frozen=True)
class Estimates:
    """Everything that the plan's tasks ask for; `people` is the number of reports.

    Each statistic's estimates are an attribute: `means`, `frequencies` and so on, empty where no task asks for it.
    `regression` is the first of `regressions`.

    >>> from bcdp import Policy, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=2, features={"region": {"type": "categorical", "values": ["north", "south"]}}))
    >>> found = estimate(Tally(plan).add(privatize(plan, {"region": ["north"] * 30 + ["south"] * 10})))
    >>> list(found.frequencies["region"]), found.means
    (['north', 'south'], {})
    """

    people: int
    level: float
    results: Mapping[str, Mapping[Any, Any]]  # of each statistic, by its key
    policy: Policy
    design_effects: Mapping[str, float] = field(default_factory=dict)  # of each feature, where people were weighted

    def __repr__(self) -> str:
        found = [f"{key} ({len(parts)})" for key, parts in self.results.items() if parts]
        return f"<Estimates of {self.people:,} people, intervals of {100 * self.level:g}%: {', '.join(found)}>"

    def __getattr__(self, name: str) -> Any:
        results = self.__dict__.get("results", {})
        if name not in results:
            raise AttributeError(f"'Estimates' has no attribute '{name}'")
        return results[name]

    @property
    def regressions(self) -> tuple[RegressionEstimate, ...]:
        """The regressions that the policy asks for; only surveys have them."""
        return tuple(self.results["regressions"].values())

    @property
    def regression(self) -> RegressionEstimate | None:
        """The first regression that the policy asks for; None if it asks for none."""
        return self.regressions[0] if self.regressions else None

    def sections(self) -> Iterator[Section]:
        """The estimates as rows to show, in the order of the policy's tasks."""
        kinds = [task.kind for task in self.policy.tasks]
        every = statistics().values()
        for statistic in sorted(every, key=lambda one: kinds.index(one.kind) if one.kind in kinds else len(kinds)):
            yield from statistic.sections(self.policy, self.results[statistic.key])

    def to_arrow(self) -> pa.Table:
        """One line for each number: what it is about, its value, standard error, interval and number of answers."""
        lines = [
            {"about": section.subject, "name": row.name, "label": row.label}
            | {part: float(getattr(row.number, part)) for part in ("value", "se", "low", "high")}
            | {"answers": row.answers}
            for section in self.sections()
            for row in section.rows
        ]
        return pa.Table.from_pylist(lines, schema=TIDY)

    def to_pandas(self) -> Any:
        """The lines of `to_arrow` as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The lines of `to_arrow` as a polars frame."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def _repr_html_(self) -> str:
        return bcdp.as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """The estimates in plain JSON; what is not finite is null."""
        documents = (statistic.document(self.results[statistic.key]) for statistic in statistics().values())
        parts = {key: value for document in documents for key, value in document.items()}
        effects = {"design_effects": finite(dict(self.design_effects))} if self.design_effects else {}
        return {"people": self.people, "level": self.level, **parts, **effects}


def estimate(
    tally: Tally, level: float = 0.95, weights: Sequence[Any] = (), strata: Sequence[str] = (), group: str = ""
) -> Estimates:
    """The estimates of all that the plan's tasks name, with intervals that hold the truth with probability `level`.

    The intervals are for the population that the people were drawn from. `weights` are tables of the population's
    people, or of the design's weights, by open features (`bcdp.estimates.weighting_of`). `strata` are open features of
    whose values the design fixed how many people there are. `group` names the people where a collection is told in
    parts: estimates of different people may be subtracted, even if their counts are equal.

    >>> from bcdp import Policy, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=2, features={"age": {"type": "numeric", "bounds": [0, 100]}}))
    >>> age = estimate(Tally(plan).add(privatize(plan, {"age": [30, 40] * 500}))).means["age"]
    >>> 0 <= age.low <= age.value <= age.high <= 100
    True
    """
    expect("tally", tally, Tally, "a Tally, for example Tally(plan).add(reports)")
    expect("level", level, float, "a number above 0 and below 1")
    if not 0 < level < 1:
        raise refuse("level", level, "a number above 0 and below 1")
    decoder, effects = _weighted(tally, weights, strata) if weights or strata else (tally.decoder(), {})
    results: dict[str, dict[Any, Any]] = {statistic.key: {} for statistic in statistics().values()}
    for task in tally.plan.policy.tasks:
        results[task.key].update(task.estimate(decoder, level))
    _mark(results, hashlib.sha256(json.dumps([group, tally.to_dict()]).encode()).hexdigest())
    return Estimates(tally.people, level, results, tally.plan.policy, effects)


def _weighted(tally: Tally, tables: Sequence[Any], strata: Sequence[str]) -> tuple[Decoder, dict[str, float]]:
    """What the tally tells if people count by weights, and the design effects."""
    if not tally.people:
        raise refuse("weights", "no reports", "a tally of somebody who is to be weighted")
    weighting = weighting_of(tally.plan.policy, list(tally.parts), tables, strata)
    found = tally.weighted(weighting, list(tally.parts.values()))
    return found, found.design_effects()


def _mark(part: Any, collection: str) -> None:
    """Every estimate knows of which collection it is."""
    if isinstance(part, Estimate):
        object.__setattr__(part, "collection", collection)
        _mark([inner for inner in vars(part).values() if isinstance(inner, Estimate)], collection)
    elif isinstance(part, Mapping):
        for inner in part.values():
            _mark(inner, collection)
    elif isinstance(part, tuple | list):
        for inner in part:
            _mark(inner, collection)
    elif is_dataclass(part) and not isinstance(part, type):
        _mark(vars(part), collection)
