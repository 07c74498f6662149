"""Counts become estimates: all that the plan's tasks ask for, in the features' own units (theory.md, 4.3)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import pyarrow as pa

import bcdp
from bcdp.errors import expect, refuse
from bcdp.estimates.consistency import consistent
from bcdp.estimates.weights import tables_in, weighting_of
from bcdp.policy import Policy
from bcdp.policy.tasks import statistics
from bcdp.statistics import Decoder, Estimate, Section
from bcdp.statistics.change import ChangeEstimate
from bcdp.statistics.distribution import DistributionEstimate
from bcdp.statistics.group_means import GroupEstimate
from bcdp.statistics.many_shares import ManyShares
from bcdp.statistics.quantiles import FakeBands, Quantile
from bcdp.statistics.regression.fake_reports import NormalEquations
from bcdp.statistics.regression.model import RegressionEstimate
from bcdp.statistics.shared.follow_ups import AskedMean, AskedShare
from bcdp.statistics.shared.interval import finite
from bcdp.statistics.shared.linear_form import LARGEST_SHARE_OF_FAKES, LinearForm, RatioForm
from bcdp.statistics.shared.nonresponse import AnsweredMean, AnsweredShare
from bcdp.statistics.tables.lines import TableEstimate, ThreeWayEstimate
from bcdp.statistics.tables.statistic import Pair, Triple
from bcdp.tally import Check, Tally

Number = Estimate | Quantile | RegressionEstimate  # what allows for fake reports
_SHARE_OF_FAKES = f"a number of at least 0 and below {LARGEST_SHARE_OF_FAKES}"
TIDY = pa.schema(
    [(name, pa.string()) for name in ("about", "name", "label")]
    + [(name, pa.float64()) for name in ("value", "se", "low", "high")]
    + [("answers", pa.int64())]
)


@dataclass(frozen=True)
class Estimates:
    """Everything that the plan's tasks ask for; `people` is the number of reports.

    `results` has the estimates of each statistic by its key. Those of this package's statistics are attributes too,
    empty where no task asks for them; a statistic from elsewhere is read from `results`.

    >>> from bcdp import Policy, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=2, features={"region": {"type": "categorical", "values": ["north", "south"]}}))
    >>> found = estimate(Tally(plan).add(privatize(plan, {"region": ["north"] * 30 + ["south"] * 10})))
    >>> list(found.frequencies["region"]), found.means
    (['north', 'south'], {})
    """

    people: int
    level: float
    results: Mapping[str, Mapping[Any, Any]]
    policy: Policy
    design_effects: Mapping[str, float] = field(default_factory=dict)  # of each feature, where people were weighted
    liars: float = 0.0  # the share of fake reports that intervals allow for
    checks: Mapping[str, Check] = field(default_factory=dict)  # whether devices follow the plan

    def __repr__(self) -> str:
        counts = [f"{key} ({len(parts)})" for key, parts in self.results.items() if parts]
        return f"<Estimates of {self.people:,} people, intervals of {100 * self.level:g}%: {', '.join(counts)}>"

    @property
    def means(self) -> Mapping[str, Estimate | AnsweredMean | AskedMean]:
        """The mean of each feature; of two values, the share of the second. With `missing: own`, an `AnsweredMean`.

        Of a follow-up, an `AskedMean`: that among those asked.
        """
        return self.results["means"]

    @property
    def frequencies(self) -> Mapping[str, Mapping[Any, Estimate | AnsweredShare | AskedShare]]:
        """Of each feature, the share of each of its values; with `missing: own`, an `AnsweredShare`; of a follow-up, an
        `AskedShare`.
        """
        return self.results["frequencies"]

    @property
    def shares(self) -> Mapping[str, Mapping[str, Estimate]]:
        """Of each feature the shares of sets of its values, by what they are called."""
        return self.results["shares"]

    @property
    def tables(self) -> Mapping[Pair, TableEstimate]:
        """The two-way table of each pair of features."""
        return {names: table for names, table in self.results["tables"].items() if len(names) == 2}

    @property
    def three_way_tables(self) -> Mapping[Triple, ThreeWayEstimate]:
        """The three-way table of each three features."""
        return {names: table for names, table in self.results["tables"].items() if len(names) == 3}

    @property
    def groups(self) -> Mapping[Pair, GroupEstimate]:
        """Means by group, for each pair of a feature and the one whose values are the groups."""
        return self.results["groups"]

    @property
    def changes(self) -> Mapping[str, ChangeEstimate]:
        """How each feature changed from one wave of a panel to the next."""
        return self.results["changes"]

    @property
    def distributions(self) -> Mapping[str, DistributionEstimate]:
        """The distribution of each number."""
        return self.results["distributions"]

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
        for statistic in sorted(
            every,
            key=lambda statistic_class: (
                kinds.index(statistic_class.kind) if statistic_class.kind in kinds else len(kinds)
            ),
        ):
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
        liars = {"liars": self.liars} if self.liars else {}
        checks = {"checks": {key: check.to_dict() for key, check in self.checks.items()}} if self.checks else {}
        return {"people": self.people, "level": self.level, **liars, **parts, **effects, **checks}


def estimate(
    tally: Tally,
    level: float = 0.95,
    weights: Any = (),
    strata: Sequence[str] = (),
    group: str = "",
    *,
    liars: float = 0.0,
    reports: int | None = None,
) -> Estimates:
    """The estimates of all that the plan's tasks name, with intervals that hold the truth with probability `level`.

    The intervals are for the population that the people were drawn from. `weights` is a table of the population's
    people, or of the design's weights, by open features, or a list of such tables (`bcdp.estimates.weighting_of`).
    `strata` are open features of whose values the design fixed how many people there are. `group` names the people
    where a collection is reported in parts: estimates of different people may be subtracted, even if counts are equal.
    With `liars`, intervals hold if at most this share of the reports is fake, and `moved` is how far so many could have
    shifted the value, where that is known (theory.md, section 4.18). It is the share of all `reports`, those of the
    tally unless stated: of a part of a collection, all fakes may be in this part.

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
    expect("liars", liars, float, _SHARE_OF_FAKES)
    if not 0 <= liars < LARGEST_SHARE_OF_FAKES:
        raise refuse("liars", liars, _SHARE_OF_FAKES)
    tables = tables_in(weights)
    decoder, effects = _weighted(tally, tables, strata) if tables or strata else (tally.decoder(), {})
    if not liars:  # else each estimate is bounded by its own answers
        decoder = consistent(decoder)
    results = results_of(decoder, level, agreeing=not liars)
    if liars and (
        any(isinstance(shares, ManyShares) for shares in results["frequencies"].values())
        or any(share.linear is None for shares in results["shares"].values() for share in shares.values())
    ):
        raise refuse("liars", liars, "0 where a feature has so many values that only the most frequent are reported")
    collection = hashlib.sha256(json.dumps([group, tally.to_dict()]).encode()).hexdigest()
    fakes = math.ceil(liars * (tally.people if reports is None else reports))

    def finished(number: Number) -> Number:
        allowing = number.if_fakes(fakes) if liars else number
        return replace(allowing, collection=collection) if isinstance(allowing, Estimate) else allowing

    policy, checks = tally.plan.policy, tally.checks()
    changed = _changed(results, finished)
    return Estimates(tally.people, level, changed, policy, effects, liars=liars, checks=checks)


def results_of(decoder: Decoder, level: float, *, agreeing: bool = True) -> dict[str, dict[Any, Any]]:
    """The estimates of each statistic by its key; if `agreeing`, the means of distributions are those of `means`."""
    results: dict[str, dict[Any, Any]] = {statistic.key: {} for statistic in statistics().values()}
    for task in decoder.policy.tasks:
        for name, found in task.estimate(decoder, level).items():
            known = results[task.key].get(name)
            # several tasks may ask for parts of one feature
            results[task.key][name] = {**known, **found} if isinstance(known, dict) else found
    for name, distribution in results["distributions"].items() if agreeing else ():
        if name in results["means"]:
            means, distributions = results["means"], results["distributions"]
            means[name], distributions[name] = distribution.agreeing(means[name])
    return results


def _weighted(tally: Tally, tables: Sequence[Any], strata: Sequence[str]) -> tuple[Decoder, dict[str, float]]:
    """What the tally reveals if people count by weights, and the design effects."""
    if not tally.people:
        raise refuse("weights", "no reports", "a tally of somebody who is to be weighted")
    weighting = weighting_of(tally.plan.policy, list(tally.parts), tables, strata)
    decoder = tally.weighted(weighting, list(tally.parts.values()))
    return decoder, decoder.design_effects()


def _changed(part: Any, change: Callable[[Number], Number]) -> Any:
    """The same with every estimate changed, also inside others; what has no estimate in it is kept as it is."""
    if isinstance(part, ManyShares):
        return part.changed(change)
    if isinstance(part, Mapping):
        new: Any = {key: _changed(inner, change) for key, inner in part.items()}
        return new if any(new[key] is not inner for key, inner in part.items()) else part
    if isinstance(part, tuple):
        new = tuple(_changed(inner, change) for inner in part)
        return new if any(after is not before for after, before in zip(new, part, strict=True)) else part
    if not is_dataclass(part) or isinstance(part, type | LinearForm | RatioForm | NormalEquations | FakeBands):
        return part
    before = {each.name: getattr(part, each.name) for each in fields(part)}
    after = {name: _changed(inner, change) for name, inner in before.items()}
    changed = {name: inner for name, inner in after.items() if inner is not before[name]}
    whole = replace(part, **changed) if changed else part
    return change(whole) if isinstance(whole, Number) else whole
