"""Where records contradict what a policy states about correlation: lower confidence limits on q and odds.

For two values `a`, `a'` of a feature and any event E about the others, q is at least `P(E | a) - P(E | a')`, and odds
are at least `P(E | a) / P(E | a')`. Half of the records choose the values and the event, the other half bounds both
probabilities exactly (Clopper and Pearson). What is reported is true of the population that the records come from, all
of it together with the stated confidence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.correlation.from_policy import correlation_of
from bcdp.correlation.models import Correlation
from bcdp.policy import Policy
from bcdp.records.encoding import as_arrow, coded_cuts, encode, is_missing
from bcdp.records.open_groups import group_numbers
from bcdp.statistics.shared.special import betaincinv

Integers = npt.NDArray[np.int64]
Array = npt.NDArray[np.float64]

CONFIDENCE = 0.999
WHAT_TO_DO = (
    "A promise about these features would be false for such people. State larger numbers, or q = 1 and no odds where "
    "one answer decides another (a follow-up, a copy, 'none of these'); or leave one of them out; or take the numbers "
    "from records: correlation: {pilot: FILE}"
)
_PARTS = 8  # of the bounds of a number that is among the others
_MOST_TOGETHER = 12  # features: of more, two others together are not looked at
_MOST_GROUPS = 50  # of open values, the largest
_FEWEST = 20  # records of a group
_MOST_CELLS = 2**22


@dataclass(frozen=True)
class Contradiction:
    """A stated number that records contradict: `q` or `odds` of a feature with some others is at least `least`."""

    feature: str
    others: tuple[str, ...]
    number: str
    stated: float
    least: float
    decided: bool = False  # whether the others decide the feature's value in every record

    @property
    def sentence(self) -> str:
        """Which features, and by how much."""
        few = " and ".join(self.others) if len(self.others) < 3 else "all other features"
        decided = f"; in these records {few} always decides it" * self.decided
        number = "q" if self.number == "q" else "the odds ratio"
        return f"{self.feature}: {number} with {few} is at least {self.least:.3g}, not {self.stated:g}{decided}"


@dataclass(frozen=True)
class _Binned:
    """A feature of every record: what it is where it is given, and as one of the others."""

    given: Integers
    cell: Integers


@dataclass(frozen=True)
class _Comparison:
    """A feature and others in the records of one group, and the numbers stated of them."""

    rows: Integers
    feature: str
    others: tuple[str, ...]
    q: float
    odds: float


def contradictions(
    policy: Policy, sample: Any, confidence: float = CONFIDENCE, correlation: Correlation | None = None
) -> list[Contradiction]:
    """What records say against the policy's stated q and odds, the most telling for each feature and number.

    >>> features = {"ever": {"type": "binary"}, "often": {"type": "categorical", "values": ["no", "weekly", "daily"]}}
    >>> policy = Policy(epsilon=1, features=features, correlation=0.2)
    >>> records = {"ever": [0, 1] * 500, "often": ["no", "weekly", "no", "daily"] * 250}
    >>> [(found.feature, found.others, found.decided) for found in contradictions(policy, records)]
    [('ever', ('often',), True), ('often', ('ever',), False)]
    """
    model = correlation_of(policy) if correlation is None else correlation
    table = as_arrow(sample)
    codes = encode(policy, table)
    coded = {name: _coded(policy, name, codes[name], table.column(name)) for name in codes}
    compared = list(_comparisons(policy, model, list(coded), _groups(group_numbers(policy, table))))
    numbers = sum((comparison.q < 1) + (comparison.odds < math.inf) for comparison in compared)
    strongest: dict[tuple[str, str], Contradiction] = {}
    for comparison in compared:
        for contradiction in _contradicted(comparison, coded, (1 - confidence) / numbers):
            key, known = (
                (comparison.feature, contradiction.number),
                strongest.get((comparison.feature, contradiction.number)),
            )
            if known is None or (len(comparison.others), -contradiction.least) < (len(known.others), -known.least):
                strongest[key] = contradiction
    order = {name: number for number, name in enumerate(coded)}
    return sorted(strongest.values(), key=lambda comparison: (order[comparison.feature], comparison.number))


def _coded(policy: Policy, name: str, codes: npt.NDArray[Any], column: Any) -> _Binned:
    feature = policy.features[name]
    given = cell = codes.astype(np.int64)
    if feature.is_number:  # beyond 1 there is no answer, where that is a value
        given = np.where(
            codes > 1, len(feature.cuts) - 1 + codes, np.searchsorted(coded_cuts(feature), codes, side="right")
        )
        bins = np.minimum(((np.minimum(codes, 1.0) + 1) / 2 * _PARTS).astype(np.int64), _PARTS - 1)
        given, cell = given.astype(np.int64), np.where(codes > 1, _PARTS - 2 + codes, bins).astype(np.int64)
    if feature.imputes:
        given = np.where(is_missing(column), given.max(initial=0) + 1, given)
    return _Binned(given, cell)


def _groups(numbers: npt.NDArray[np.uint32]) -> list[Integers]:
    """The records of each group of open values, in an order that has nothing to do with theirs."""
    order = np.random.default_rng(0).permutation(len(numbers))
    groups, sizes = np.unique(numbers, return_counts=True)
    largest = [group for size, group in sorted(zip(sizes, groups, strict=True), reverse=True) if size >= _FEWEST]
    return [order[numbers[order] == group] for group in largest[:_MOST_GROUPS]]


def _comparisons(
    policy: Policy, model: Correlation, names: Sequence[str], groups: list[Integers]
) -> Iterator[_Comparison]:
    """Every feature with each other, with two others, and with all; bounds about rounded numbers are not compared.

    Nothing is stated about features of one block.
    """
    for feature in names:
        rest = [name for name in names if name not in policy.blocks.get(feature, (feature,))]
        sizes = {1, *([2] if len(names) <= _MOST_TOGETHER else []), len(rest)} - {0}
        for others in itertools.chain.from_iterable(itertools.combinations(rest, size) for size in sorted(sizes)):
            q, odds = model.q(feature, others), model.odds(feature, others)
            if model.rounded.isdisjoint(others) and (q < 1 or odds < math.inf):
                yield from (_Comparison(rows, feature, others, q, odds) for rows in groups)


def _contradicted(comparison: _Comparison, coded: Mapping[str, _Binned], failure: float) -> Iterator[Contradiction]:
    given = np.unique(coded[comparison.feature].given[comparison.rows], return_inverse=True)[1]
    cell = np.zeros(len(comparison.rows), dtype=np.int64)
    for other in comparison.others:
        _, cell = np.unique(
            cell * (coded[other].cell.max() + 1) + coded[other].cell[comparison.rows], return_inverse=True
        )
    values, cells = int(given.max()) + 1, int(cell.max()) + 1
    if values < 2 or cells < 2 or values * cells > _MOST_CELLS:
        return
    half = len(given) // 2
    chosen, tested = (
        np.bincount(given[part] * cells + cell[part], minlength=values * cells).reshape(values, cells).astype(float)
        for part in (slice(None, half), slice(half, None))
    )
    decided = bool(((chosen + tested > 0).sum(axis=0) == 1).all()) and len(comparison.others) < 3
    for number, stated, factor in (("q", comparison.q, 1.0), ("odds", comparison.odds, comparison.odds)):
        if stated < (1 if number == "q" else math.inf):
            low, high = _limits(chosen, tested, factor, failure)
            least = low - high if number == "q" else low / high
            if least > stated:
                yield Contradiction(comparison.feature, comparison.others, number, stated, least, decided)


def _limits(chosen: Array, tested: Array, factor: float, failure: float) -> tuple[float, float]:
    """A lower limit on the probability of an event given one value, and an upper limit given another.

    Values and event are those whose surplus over `factor` times the other probability is largest in `chosen`.
    """
    laws = chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    best, event, pair = 0.0, np.zeros(chosen.shape[1], dtype=bool), (0, 0)
    for a, b in itertools.permutations(np.flatnonzero(chosen.sum(axis=1)).tolist(), 2):
        surplus = laws[a] - factor * laws[b]
        if (gained := float(np.maximum(surplus, 0).sum())) > best:
            best, event, pair = gained, surplus > 0, (a, b)
    (inside, people), (other, others) = ((tested[value] @ event, tested[value].sum()) for value in pair)
    low = float(betaincinv(inside, people - inside + 1, failure / 2)) if inside else 0.0
    high = float(betaincinv(other + 1, others - other, 1 - failure / 2)) if other < others else 1.0
    return low, high
