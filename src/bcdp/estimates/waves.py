"""Waves: one plan, collected several times from different people, reported as a trend and all together.

The trend is the slope of the line of least squares through the waves' estimates, whatever the truth does in between.
All together, either all people count equally, or all waves (theory.md, section 4.14).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from bcdp.errors import expect, refuse
from bcdp.estimates.by import Part, aligned
from bcdp.estimates.results import Estimates, estimate
from bcdp.estimates.smoothing import biased_width, smoothers
from bcdp.statistics import Estimate, Row, Section
from bcdp.statistics.shared.interval import shifted
from bcdp.statistics.shared.ratios import width
from bcdp.tally import Tally

SLOPE, ALL_PEOPLE, ALL_WAVES, SMOOTHED = "slope", "all people alike", "all waves alike", "smoothed"


@dataclass(frozen=True)
class Trend:
    """One number over the waves, by their times; its slope for one unit of time; all waves together, in two ways."""

    section: Section
    row: Row
    waves: Mapping[float, Estimate]
    slope: Estimate
    all_people: Estimate
    all_waves: Estimate
    smoothed: Mapping[float, Estimate] = field(default_factory=dict)  # by wave, where a bound on bends was stated

    @property
    def changes(self) -> dict[tuple[float, float], Estimate]:
        """The changes from each wave to the next."""
        return {(earlier, later): self.waves[later] - self.waves[earlier] for earlier, later in pairwise(self.waves)}

    def parts(self) -> Iterator[Part]:
        """All of it, one number after the other."""
        numbers: dict[str, Estimate] = {f"{time:.10g}": number for time, number in self.waves.items()}
        numbers |= {f"{later:.10g} less {earlier:.10g}": number for (earlier, later), number in self.changes.items()}
        numbers |= {SLOPE: self.slope, ALL_PEOPLE: self.all_people, ALL_WAVES: self.all_waves}
        numbers |= {f"{time:.10g} {SMOOTHED}": number for time, number in self.smoothed.items()}
        return (Part(name, self.section, self.row, number) for name, number in numbers.items())

    def to_dict(self) -> dict[str, Any]:
        """The trend in plain JSON; what is not finite is null."""
        changes = [
            {"from": earlier, "to": later, **number.to_dict()} for (earlier, later), number in self.changes.items()
        ]
        summary = {part: getattr(self, part).to_dict() for part in ("slope", "all_people", "all_waves")}
        smoothed = [{"at": time, **number.to_dict()} for time, number in self.smoothed.items()]
        stated = {"smoothed": smoothed} if smoothed else {}
        return {"about": self.section.subject, "name": self.row.name, **summary, "changes": changes, **stated}


@dataclass(frozen=True)
class WaveEstimates:
    """The estimates of every wave, by its time, and those of the waves' tallies added up."""

    waves: Mapping[float, Estimates]
    together: Estimates
    bends: Mapping[str, float]  # of smoothed numbers, by the names of their rows: how much the slope may change

    @property
    def trends(self) -> Iterator[Trend]:
        """Every number that can be subtracted, in the order of the policy's tasks."""
        rows = list(aligned([*self.waves.values(), self.together]))
        names = list(dict.fromkeys(row.name for _, row, _ in rows))
        for name, bend in self.bends.items():
            if name not in names:
                raise refuse("bends", name, f"one of {', '.join(names)}")
            if not 0 <= bend < math.inf:
                raise refuse(f"bends.{name}", bend, "a finite number of at least 0")
        return (
            self._trend(section, row, waves, overall)
            for section, row, (*numbers, overall) in rows
            if len(waves := self._known(numbers)) > 1
        )

    def _known(self, numbers: Sequence[Estimate]) -> dict[float, Estimate]:
        """The waves that a number is reported of."""
        return dict(zip(self.waves, numbers, strict=True))

    def _trend(self, section: Section, row: Row, waves: Mapping[float, Estimate], overall: Estimate) -> Trend:
        bend, pooled = self.bends.get(row.name), average(list(waves.values()), row.possible)
        smoothed = {} if bend is None else smooth(waves, bend, self.together.level, row.possible)
        return Trend(section, row, waves, slope(waves), overall, pooled, smoothed=smoothed)

    def parts(self) -> Iterator[Part]:
        """The parts of all trends."""
        return (part for trend in self.trends for part in trend.parts())

    def to_dict(self) -> dict[str, Any]:
        """The waves, their trends and all together in plain JSON."""
        waves = [{"at": time, **estimates.to_dict()} for time, estimates in self.waves.items()]
        trends = [trend.to_dict() for trend in self.trends]
        return {"waves": waves, "trends": trends, "together": self.together.to_dict()}


def estimate_waves(
    waves: Mapping[float, Tally],
    level: float = 0.95,
    weights: Any = (),
    *,
    liars: float = 0.0,
    bends: Mapping[str, float] = MappingProxyType({}),
) -> WaveEstimates:
    """The estimates of each wave, by the time at which it was collected; nobody may have answered in two of them.

    That people differ cannot be seen from counts. Equal counts are refused: devices that answer a plan again repeat
    their first answers. `weights` are those of `estimate`, for every wave. With `liars`, each wave allows for all fake
    reports of all waves. `bends` names numbers to be smoothed: how much the slope of each may change at a wave.

    >>> from bcdp import Policy, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=2, features={"smoker": {"type": "binary"}}))
    >>> years = {2021: 400, 2023: 300, 2024: 250}
    >>> tallies = {year: Tally(plan).add(privatize(plan, {"smoker": [1] * yes + [0] * 1000}))
    ...            for year, yes in years.items()}
    >>> found = estimate_waves(tallies)
    >>> [trend.row.name for trend in found.trends], found.together.people
    (['smoker'], 3950)
    """
    _check_times(waves)
    seen: list[Tally] = []
    for time, tally in waves.items():
        expect(f"waves[{time:.10g}]", tally, Tally, "a Tally, for example Tally(plan).add(reports)")
        if not tally.people:
            raise refuse(f"waves[{time:.10g}]", "no reports", "waves in which somebody answered")
        if tally in seen:
            raise refuse(f"waves[{time:.10g}]", "the counts of another wave again", "waves of different people")
        seen.append(tally)
    together = sum(seen[1:], start=seen[0])
    people = together.people
    estimates = {time: estimate(waves[time], level, weights, liars=liars, reports=people) for time in sorted(waves)}
    return WaveEstimates(estimates, estimate(together, level, weights, liars=liars), bends)


def smooth(
    waves: Mapping[float, Estimate],
    bend: float,
    confidence: float = 0.95,
    possible: tuple[float, float] = (-math.inf, math.inf),
) -> dict[float, Estimate]:
    """Each wave as the others help to know it, if the slope changes by at most `bend` at any wave (theory.md, 4.14).

    The interval allows for the largest bias. Waves without a finite standard error are left out.

    >>> parts = {at: Estimate(0.5, 0.02, 0.46, 0.54, 100, 0.5, collection=str(at)) for at in range(9)}
    >>> smoothed = smooth(parts, 0.001)
    >>> smoothed[4].se < 0.4 * parts[4].se, round(smoothed[4].value, 6)
    (True, 0.5)
    """
    known = {time: number for time, number in waves.items() if math.isfinite(number.se)}
    if len(known) < 2:
        return dict(known)
    parts, z = list(known.values()), width(confidence)
    errors = [number.se for number in parts]
    result = {}
    for time, smoother in zip(known, smoothers(list(known), errors, bend, confidence), strict=True):
        number = _combined(parts, smoother.weights.tolist(), (-math.inf, math.inf))
        low, high = (
            number.value + side * biased_width(smoother.bias / error, confidence) * error
            for side, error in (
                (-1, max(number.se, (number.value - number.low) / z)),
                (1, max(number.se, (number.high - number.value) / z)),
            )
        )
        result[time] = replace(
            number,
            value=min(max(number.value, possible[0]), possible[1]),
            low=max(low, possible[0]),
            high=min(high, possible[1]),
        )
    return result


def slope(numbers: Mapping[float, Estimate]) -> Estimate:
    """The slope of the line of least squares through the estimates of different people at these times, for one unit.

    >>> told = {2021: 0.5, 2022: 0.4, 2024: 0.2}
    >>> found = slope({at: Estimate(v, 0.01, v - 0.02, v + 0.02, 100, v, collection=str(at)) for at, v in told.items()})
    >>> round(found.value, 6), round(found.se, 6), round(found.high - found.value, 6)
    (-0.1, 0.004629, 0.009258)
    """
    _check_times(numbers)
    times = list(numbers)
    middle = math.fsum(times) / len(times)
    spread = math.fsum((time - middle) ** 2 for time in times)
    return _combined(list(numbers.values()), [(time - middle) / spread for time in times], (-math.inf, math.inf))


def average(numbers: Sequence[Estimate], possible: tuple[float, float] = (-math.inf, math.inf)) -> Estimate:
    """The average of estimates of different people, each counting alike, within what is possible.

    >>> parts = [Estimate(v, 0.03, v - 0.06, v + 0.06, 100, v, collection=str(v)) for v in (0.25, 0.5)]
    >>> round(average(parts).value, 6), round(average(parts).se, 6)
    (0.375, 0.021213)
    """
    if not numbers:
        raise refuse("numbers", "none", "at least one estimate")
    return _combined(numbers, [1 / len(numbers)] * len(numbers), possible)


def _check_times(waves: Mapping[float, Any]) -> None:
    if len(waves) < 2 or not all(isinstance(time, int | float) and math.isfinite(time) for time in waves):
        raise refuse("waves", list(waves), "at least two times that are finite numbers, such as years")


def _combined(parts: Sequence[Estimate], shares: Sequence[float], possible: tuple[float, float]) -> Estimate:
    """A linear combination of independent estimates.

    Each side of each interval stands for its own standard error, as in a difference of two.
    """
    collections = [part.collection for part in parts]
    if not all(collections) or len(set(collections)) < len(collections):
        raise refuse("estimates", "two of one collection", "estimates of different people, one of each collection")
    counted = [(share, part) for share, part in zip(shares, parts, strict=True) if share]
    ends = [(part.low, part.high) if share > 0 else (part.high, part.low) for share, part in counted]
    value, raw = (math.fsum(share * getattr(part, name) for share, part in counted) for name in ("value", "raw"))
    low, high = (
        math.fsum(share * end for (share, _), end in zip(counted, side, strict=True))
        for side in zip(*ends, strict=True)
    )
    moved = shifted(*counted)
    if math.isfinite(value) and moved is None:  # what fakes do is not random: their shifts add up
        down, up = (
            math.hypot(*(share * (end - part.value) for (share, part), end in zip(counted, side, strict=True)))
            for side in zip(*ends, strict=True)
        )
        low, high = value - down, value + up
    error = math.hypot(*(share * part.se for share, part in counted))
    rule = "; ".join(dict.fromkeys(part.rule for part in parts if part.rule)) or None
    answers = sum(part.answers for part in parts)
    low, high = max(low, possible[0]), min(high, possible[1])
    return Estimate(value, error, low, high=high, answers=answers, raw=raw, rule=rule, moved=moved)
