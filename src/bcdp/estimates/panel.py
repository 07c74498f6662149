"""The waves of a panel: every wave by itself, changes and slopes, all waves together, and how many did not answer.

Each person answers in one wave, which chance chose. So waves are collections of different people (theory.md, 4.14).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bcdp.errors import expect, refuse
from bcdp.estimates.results import Estimates, estimate
from bcdp.estimates.waves import WaveEstimates
from bcdp.plan.panel import calendar_of, wave_shares
from bcdp.statistics import Estimate
from bcdp.tally import Tally


@dataclass(frozen=True)
class Answered:
    """How many people answered in a wave, of so many who are expected to be asked in it, where that is known."""

    people: int
    expected: float | None

    @property
    def nonresponse(self) -> float | None:
        """The share of those asked in the wave who did not answer, at least 0: who is asked is drawn, not counted."""
        return None if not self.expected else max(0.0, 1 - self.people / self.expected)

    def to_dict(self) -> dict[str, Any]:
        """The numbers in plain JSON."""
        return {"people": self.people, "expected": self.expected, "nonresponse": self.nonresponse}


@dataclass(frozen=True)
class PanelEstimates(WaveEstimates):
    """The estimates of every wave by its number, those of all waves together, and how many answered in each."""

    answered: Mapping[int, Answered]

    def _known(self, numbers: Sequence[Estimate]) -> dict[float, Estimate]:
        """Of changes there is none in the first wave."""
        return {wave: number for wave, number in super()._known(numbers).items() if math.isfinite(number.raw)}

    def to_dict(self) -> dict[str, Any]:
        """The waves, their trends, all together and how many answered in plain JSON."""
        answered = [{"wave": wave, **each.to_dict()} for wave, each in self.answered.items()]
        return {**super().to_dict(), "answered": answered}


def estimate_panel(
    tally: Tally,
    level: float = 0.95,
    weights: Any = (),
    *,
    liars: float = 0.0,
    bends: Mapping[str, float] = MappingProxyType({}),
    enrolled: int | None = None,
) -> PanelEstimates:
    """The estimates of each wave of a panel, by its number, and of all waves together.

    Waves without answers are left out; two have to have some. `enrolled` is how many devices drew a wave: then the
    share that did not answer is reported by wave. `weights`, `liars` and `bends` are those of `estimate_waves`.

    >>> from bcdp import Policy, make_plan, privatize
    >>> policy = Policy(epsilon=2, features={"smoker": {"type": "binary"}}, panel={"waves": 3, "every": "year",
    ...     "start": "2027-01-01"})
    >>> plan = make_plan(policy)
    >>> found = estimate_panel(Tally(plan).add(privatize(plan, {"smoker": [1, 0, 0] * 1000})), enrolled=3000)
    >>> list(found.waves), sum(answered.people for answered in found.answered.values())
    ([1, 2, 3], 3000)
    """
    expect("tally", tally, Tally, "a Tally, for example Tally(plan).add(reports)")
    if enrolled is not None and not tally.people <= enrolled:
        raise refuse("enrolled", enrolled, f"a whole number of at least {tally.people}, how many answered")
    parts = tally.waves()
    shares = wave_shares(tally.plan)
    answered = {
        wave: Answered(
            parts[wave].people if wave in parts else 0, None if enrolled is None else enrolled * shares[wave]
        )
        for wave in range(1, calendar_of(tally.plan).waves + 1)
    }
    known = [wave for wave, counted in answered.items() if counted.people]
    if len(known) < 2:
        raise refuse("tally", f"answers in {len(known)} waves", "answers in at least two waves")
    estimates: dict[float, Estimates] = {
        wave: estimate(parts[wave], level, weights, group=f"wave {wave}", liars=liars, reports=tally.people)
        for wave in known
    }
    return PanelEstimates(estimates, estimate(tally, level, weights, liars=liars), bends, answered)
