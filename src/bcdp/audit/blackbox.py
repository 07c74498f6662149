"""Lower limits on the levels of any mechanism, ours or another library's, from runs of it alone.

A level is the logarithm of the largest ratio between the probabilities of one event about the output, under two
hypotheses about the record. The event and the hypotheses are chosen on one half of the runs and judged on the other,
so the limits are exact at their confidence however the choice is made; it is divided over all numbers reported.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.audit.events import Choice, Outputs, choose, observed
from bcdp.audit.limits import log_ratio_below, mean_limits
from bcdp.audit.population import Codes, Population, distinct_rows
from bcdp.errors import refuse
from bcdp.notions import TradeOff

Array = npt.NDArray[np.float64]
Mechanism = Callable[[Codes], npt.NDArray[Any]]

MOST_RECORDS = 64  # among which epsilon and c are looked for


@dataclass(frozen=True)
class Limit:
    """A lower limit in nats, the two hypotheses and the tests behind it: `alpha` under the first, `beta` the second."""

    below: float
    hypotheses: tuple[Any, Any] | None
    tests: TradeOff | None


@dataclass(frozen=True)
class Measured:
    """Levels that are exceeded by the truth, all of them together with probability `confidence`."""

    confidence: float
    runs: int
    epsilon: Limit
    c: Mapping[str, Limit]
    delta: Mapping[str, Limit]

    def alarms(
        self, epsilon: float = math.inf, c: Mapping[str, float] | None = None, delta: Mapping[str, float] | None = None
    ) -> tuple[str, ...]:
        """The refuted ones of the claims, in nats, one sentence each; any of true claims with chance 1 - confidence."""
        claims = [("epsilon", self.epsilon, epsilon)]
        for notion, limits, claimed in (("c", self.c, c or {}), ("delta", self.delta, delta or {})):
            claims += [(f"{notion} of {name}", limits[name], claim) for name, claim in claimed.items()]
        return tuple(
            f"{name} is above {limit.below:.4g}, claimed {claim:.4g}"
            for name, limit, claim in claims
            if limit.below > claim
        )


def audit_mechanism(
    mechanism: Mechanism,
    population: Population,
    runs: int,
    confidence: float = 0.999,
    rng: np.random.Generator | int | None = None,
) -> Measured:
    """Lower limits on epsilon, c and delta of a mechanism, in nats, all true together with the stated confidence.

    `mechanism` turns records, one row of codes each, into as many outputs: whole numbers, or vectors of numbers. Half
    of the runs are on records of the population, for delta; the others are on its most frequent records, at random, for
    epsilon and c. `rng` draws records only.

    >>> from bcdp.audit import population_of
    >>> honest = audit_mechanism(lambda records: records[:, 0], population_of(["x"], [0.5, 0.5]), 4000)
    >>> honest.alarms(epsilon=1.0)[0][:16]
    'epsilon is above'
    """
    if not isinstance(runs, int) or runs < 8:
        raise refuse("runs", runs, "a whole number of at least 8")
    if not 0 < confidence < 1:
        raise refuse("confidence", confidence, "a number above 0 and below 1")
    generator = np.random.default_rng(rng)
    names = population.names
    risk = (1 - confidence) / (1 + 2 * len(names))
    records = population.draw(runs // 2, generator)
    halves = _halves(mechanism, records)
    delta = {}
    for column, name in enumerate(names):
        first, second = ((half[:, column], outputs) for half, outputs in halves)
        delta[name] = _limit(first, second, list(itertools.permutations(np.unique(first[0]).tolist(), 2)), risk)
    example, cell = distinct_rows(population.codes.T)
    often = np.argsort(-np.bincount(cell, population.probabilities), kind="stable")[:MOST_RECORDS]
    chosen = population.codes[example[often]]
    turns = generator.integers(0, len(chosen), size=runs - runs // 2)
    halves = _halves(mechanism, chosen[turns])
    middle = len(turns) // 2
    first, second = (turns[:middle], halves[0][1]), (turns[middle:], halves[1][1])
    differ = chosen[:, None, :] != chosen[None, :, :]
    once = differ.sum(axis=2) == 1
    alone = {name: _pairs(once & differ[:, :, column]) for column, name in enumerate(names)}
    return Measured(
        confidence,
        runs,
        _limit(first, second, _pairs(differ.any(axis=2)), risk),
        {name: _limit(first, second, alone[name], risk) for name in names},
        delta,
    )


def _pairs(wanted: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The places that are true, as pairs of hypotheses."""
    return [(a, b) for a, b in np.argwhere(wanted).tolist()]


def _halves(mechanism: Mechanism, records: Codes) -> list[tuple[Codes, Outputs]]:
    """The runs in two halves: records and outputs."""
    outputs = np.asarray(mechanism(records))
    if outputs.ndim not in (1, 2) or len(outputs) != len(records) or outputs.dtype.kind not in "iuf":
        raise refuse(
            "mechanism", f"outputs of shape {outputs.shape} and type {outputs.dtype}", "a number or a row per record"
        )
    middle, seen = len(records) // 2, observed(outputs)
    return [(records[:middle], seen[:middle]), (records[middle:], seen[middle:])]


def _limit(
    first: tuple[Codes, Outputs], second: tuple[Codes, Outputs], pairs: Sequence[tuple[int, int]], risk: float
) -> Limit:
    """The limit for the best of the pairs of hypotheses, chosen on the first runs and judged on the second."""
    choice = choose(*first, pairs, risk)
    return Limit(0.0, None, None) if choice is None else _judge(choice, *second, risk)


def _judge(choice: Choice, hypotheses: Codes, outputs: Outputs, risk: float) -> Limit:
    ranks = choice.ranks(outputs)
    likelier, other = choice.hypotheses
    hits, other_hits = ranks[hypotheses == likelier], ranks[hypotheses == other]
    if not len(hits) or not len(other_hits):
        return Limit(0.0, None, None)
    counts = [int((side < choice.accepted).sum()) for side in (hits, other_hits)]
    below = float(log_ratio_below(counts[0], len(hits), counts[1], len(other_hits), risk))
    cells = np.arange(choice.cells.size + 1)
    alpha = np.searchsorted(np.sort(other_hits), cells) / len(other_hits)
    beta = 1 - np.searchsorted(np.sort(hits), cells) / len(hits)
    return Limit(max(0.0, below), choice.hypotheses, TradeOff(alpha, beta, max(0.0, below)))


@dataclass(frozen=True)
class MeanAudit:
    """By which factor a mechanism stretches a record, at a stated confidence: 1 lies between the limits if unbiased."""

    low: float
    high: float
    confidence: float

    @property
    def unbiased(self) -> bool:
        """Whether the factor 1 is not refuted."""
        return self.low <= 1 <= self.high


def audit_mean(
    mechanism: Callable[[Array], npt.ArrayLike],
    record: npt.ArrayLike,
    bound: float,
    runs: int,
    confidence: float = 0.999,
) -> MeanAudit:
    """Limits of `<E[output], record> / |record|^2`, which is 1 for an unbiased mechanism and 2 for a doubled constant.

    `mechanism` turns an array of vectors into estimates of them; `bound` is the largest length of an estimate. Ask far
    from 0: a wrong factor cannot be seen where the mean is 0.

    >>> audit_mean(lambda x: 2 * x, [0.5, 0.5], bound=2.0, runs=1000).unbiased
    False
    """
    vector = np.asarray(record, dtype=np.float64)
    length = float(np.linalg.norm(vector))
    if vector.ndim != 1 or not 0 < length < math.inf:
        raise refuse("record", record, "a vector of finite numbers, not all 0")
    if not isinstance(runs, int) or runs < 2:
        raise refuse("runs", runs, "a whole number of at least 2")
    if not 0 < confidence < 1:
        raise refuse("confidence", confidence, "a number above 0 and below 1")
    estimates = np.asarray(mechanism(np.tile(vector, (runs, 1))), dtype=np.float64)
    if estimates.shape != (runs, len(vector)):
        raise refuse("mechanism", f"estimates of shape {estimates.shape}", f"shape {(runs, len(vector))}")
    longest = float(np.linalg.norm(estimates, axis=1).max())
    if not longest <= bound * (1 + 1e-9):
        raise refuse("bound", bound, f"at least the length {longest:.6g} of one of the estimates")
    low, high = mean_limits(estimates @ vector / length**2, bound / length, 1 - confidence)
    return MeanAudit(low, high, confidence)
