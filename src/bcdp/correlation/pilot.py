"""From a pilot sample of records to limits on every correlation (measured-correlation.md).

The sample counts as public. Records are coded by the policy's own rules, as a device codes them. A number that is
*given* counts as its range, so that the limit covers guesses which of its ranges it is in (the model's `ranges`); a
number that is *asked* is divided between neighbouring inputs, as a device's random rounding does, so that the limit
covers tables about it (but not about its products with other numbers: the model's `rounded` says so). Where a task
reads a number in steps, a number that is asked has cells of its own in every step (the model's `cuts`). Where the
policy states a `missing` rule, "missing" is one more value of the feature that is given.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.correlation.estimated import Estimated, Tree
from bcdp.correlation.fitted_odds import fitted_odds
from bcdp.correlation.grouped import group_names, largest, within_groups
from bcdp.correlation.limits import (
    distance_limit,
    event_intervals,
    is_small,
    observed_distance,
    odds_between,
    odds_limit,
)
from bcdp.errors import refuse
from bcdp.files import read_batches
from bcdp.policy import Feature, Policy
from bcdp.questions.product import product_of
from bcdp.records.encoding import arrow_types, as_arrow, coded_cuts, coded_numbers, encode, is_missing
from bcdp.records.open_groups import group_numbers
from bcdp.statistics.shared.target import Role

Array = npt.NDArray[np.float64]
_Set = tuple[str, tuple[str, ...]]  # a feature that is given, and others that are known

STEPS = 16  # between the 17 levels of numeric tables
_MOST_TABLE = 2**22  # counts that are held at once
_FEW = 200
_MOST_TERMS = 200  # of the model that is fitted for the guide
_MOST_FITTED = 50_000  # records
_ROUNDING = 2.0**-30  # a device rounds up with chances that are multiples of 2^-32, given either of two values


@dataclass(frozen=True)
class _Coded:
    """A feature of every record: its value where it is given, and its cells, with shares, where it is asked."""

    values: int
    given: npt.NDArray[np.int64]
    cells: int
    parts: tuple[tuple[npt.NDArray[np.int64], Array | None], ...]
    inputs: npt.NDArray[np.int64] | None = None  # of a number: the input of each cell


def read_pilot(path: Path, policy: Policy) -> pa.Table:
    """The records of a sample file, those columns that the policy names.

    >>> policy = Policy(epsilon=1, features={"a": {"type": "binary"}})
    >>> _ = Path("sample.csv").write_text("a\\n0\\n1\\n")
    >>> len(read_pilot(Path("sample.csv"), policy))
    2
    """
    batches = list(read_batches(path, arrow_types(policy)))
    if not any(batch.num_rows for batch in batches):
        raise refuse("correlation.pilot", f"{path.name} without rows", "a file with at least one record")
    return pa.Table.from_batches(batches)


def estimate_correlation(
    policy: Policy,
    sample: Any,
    confidence: float = 0.95,
    model: Literal["pairs", "tree"] = "pairs",
    name: str = "a sample",
) -> Estimated | Tree:
    """Limits on `q`, from 0 to 1, of every pair and of all other features together, and on the odds of every pair.

    They are true together with `confidence`, within every group of open values. The sample is anything that Arrow can
    read, one column for each feature; it counts as public.

    >>> policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "b": {"type": "binary"}})
    >>> sample = {"a": [0, 1] * 500, "b": [0, 1, 1, 0] * 250}
    >>> found = estimate_correlation(policy, sample)
    >>> found.observed["a", "b"], round(found.q("a", {"b"}), 3)
    (0.0, 0.094)
    """
    if not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise refuse("confidence", confidence, "a number above 0 and below 1")
    table = as_arrow(sample)
    group = group_numbers(policy, table)
    failure = (1 - confidence) / len(policy.groups)  # of each group, so that all of them hold together
    parts = [_limits(policy, table.filter(pa.array(group == number)), failure, model)
             for number in range(len(policy.groups))]  # fmt: skip
    about = ", about numbers for guesses of their range" * any(f.is_number for f in policy.features.values())
    source = _source(table.num_rows, confidence, name, about + within_groups(policy))
    if policy.open:
        named = zip(group_names(policy), parts, strict=True)
        estimated = largest(parts, source, tuple(f"in {whose}: {note}" for whose, part in named for note in part.notes))
    else:
        estimated = replace(parts[0], source=source)
    tree = f"{source}; ASSUMING that the features form a tree" + ", numbers known by their ranges" * bool(about)
    return estimated if model == "pairs" else Tree(estimated, tree)


def _limits(policy: Policy, table: pa.Table, failing: float, model: str) -> Estimated:
    """The limits of one group, which fail together with at most this chance."""
    codes = encode(policy, table)
    steps = _steps(policy)
    coded = {i: _coded(codes[i], policy.features[i], table.column(i), model == "tree", steps.get(i, ())) for i in codes}
    names = tuple(coded)
    ranges = {i: feature.cuts for i, feature in policy.features.items() if feature.is_number}
    numbers = frozenset(ranges)
    multiplied = [(i, factors) for factors in _multiplied(policy) for i in names if i not in factors]
    sets = _sets(policy, coded, [(i, factors) for i, factors in multiplied if not numbers.issuperset(factors)])
    asked = [(i, factors) for i, factors in multiplied if numbers.issuperset(factors)]
    # the odds of a pair are one more thing to bound, unless the two limits of q bound them too: two cells
    further = sum(len(others) == 1 and coded[others[0]].cells > 2 for _, others in sets)
    # the same for every set, so that a hopeless one costs little
    failure = failing / max(len(sets) + len(asked) + further, 1)
    limits: dict[str, dict[frozenset[str], float]] = {i: {} for i in names}
    hulls, observed, pair_odds = {}, {}, {}
    for i, others in sets:
        counts = _counts(coded[i], [coded[j] for j in others])
        rounded = len(numbers.intersection(others))
        limits[i][frozenset(others)] = _limit(counts, failure, rounded)
        if len(others) == 1:
            pair = (i, others[0])
            observed[pair] = observed_distance(counts)
            if is_small(counts, not rounded) and counts.shape[1] == 2 and counts.sum(axis=1).min() > 0:
                hulls[pair] = _two_laws(counts, failure / 2)
                pair_odds[pair] = odds_between(*hulls[pair][:, 1])
            elif counts.shape[1] != 2:
                pair_odds[pair] = _pair_odds(counts, coded[others[0]], failure, model == "tree")
            else:
                pair_odds[pair] = math.inf
    products = {}
    for i, factors in asked:
        product = _as_number(product_of(policy, factors, (None,) * len(factors), codes), np.zeros(0))
        products[i, frozenset(factors)] = _limit(_counts(coded[i], [product]), failure, rounded=1)
    notes = tuple(_notes(policy, coded, sets))
    return Estimated(
        limits,
        hulls,
        observed,
        notes=notes,
        source="",
        rounded=numbers,
        products=products,
        ranges=ranges,
        pair_odds=pair_odds,
        cuts=steps,
    )


def odds_guide(policy: Policy, sample: Any) -> dict[str, float]:
    """For each feature, by how much all others together move the odds of a guess in a fitted logistic model, if small.

    A guide to what may be assumed, and no limit. Numbers count as their ranges, and of open groups the largest counts.

    >>> policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "b": {"type": "binary"}})
    >>> odds = odds_guide(policy, {"a": [0] * 400 + [1] * 400, "b": ([0] * 3 + [1]) * 100 + ([0] + [1] * 3) * 100})
    >>> round(odds["a"], 1)
    3.0
    """
    table = as_arrow(sample)
    group = group_numbers(policy, table)
    parts = [_fitted(policy, table.filter(pa.array(group == number))) for number in np.unique(group)]
    return {name: max(part[name] for part in parts) for name in policy.features if all(name in part for part in parts)}


def _fitted(policy: Policy, table: pa.Table) -> dict[str, float]:
    """The odds that a model of one group fits."""
    codes = encode(policy, table)
    each = max(1, table.num_rows // _MOST_FITTED)
    coded = {i: _coded(codes[i], policy.features[i], table.column(i), tree=False) for i in codes}
    records = {i: (own.given[::each], own.values) for i, own in coded.items()}
    if sum(values for _, values in records.values()) > _MOST_TERMS:
        return {}
    return {
        i: fitted_odds(*records[i], [records[j] for j in records if j in policy.outside(i, frozenset(records))])
        for i in records
    }


def _outside(policy: Policy, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each feature the others outside its block, about which alone something is assumed."""
    every = tuple(names)
    return {i: tuple(j for j in every if j in policy.outside(i, frozenset(every))) for i in every}


def _sets(policy: Policy, coded: Mapping[str, _Coded], further: list[_Set]) -> list[_Set]:
    """Every pair of features, and every feature with all others together, as far as they can be counted.

    Nothing is counted of what depends on each other by design.
    """
    outside = _outside(policy, coded)
    pairs = [(i, (j,)) for i in coded for j in outside[i]]
    wholes = [(i, outside[i]) for i in coded if len(outside[i]) > 1]
    return [
        (i, others)
        for i, others in [*pairs, *further, *wholes]
        if coded[i].values * _cells(coded, others) <= _MOST_TABLE
    ]


def _multiplied(policy: Policy) -> list[tuple[str, ...]]:
    """The features that the tasks multiply with each other, and the numbers that they square."""
    targets = (target for task in policy.tasks for target, _ in task.targets(policy))
    products = (target.features for target in targets if target.role is Role.PRODUCT)
    return list(dict.fromkeys(names for names in products if len(names) <= 2))  # more are asked as values


def _steps(policy: Policy) -> dict[str, tuple[float, ...]]:
    """The numbers that tasks read in steps, with all their cuts."""
    cuts_by_name: dict[str, set[float]] = {}
    for target in (target for task in policy.tasks for target, _ in task.targets(policy)):
        for name, cuts in target.cuts_by_feature.items():
            cuts_by_name.setdefault(name, set()).update(cuts)
    return {name: tuple(sorted(cuts)) for name, cuts in cuts_by_name.items()}


def _limit(counts: Array, failure: float, rounded: int) -> float:
    """A limit on the distance of any two rows, so many numbers among the others being rounded by the device."""
    return min(1.0, distance_limit(counts, failure, integers=rounded == 0) + rounded * _ROUNDING)


def _coded(
    codes: npt.NDArray[np.generic],
    feature: Feature,
    column: pa.ChunkedArray,
    tree: bool,
    steps: tuple[float, ...] = (),
) -> _Coded:
    """`tree`: what is known of the feature also says whether it is missing, on which the features beyond may depend.

    `steps`: cuts at which the answers about a number change, besides its ranges.
    """
    if feature.is_number:
        coded = _as_number(np.minimum(codes, 1.0), coded_cuts(feature), coded_numbers(feature, steps))
        unasked = codes == 1 + feature.extras if feature.follows else np.zeros(len(codes), dtype=np.bool_)
        if feature.follows:
            coded = _with_one_more(coded, unasked, STEPS + 1)
    else:
        coded = _as_value(codes, feature)
        unasked = codes == coded.values - 1 if feature.follows else np.zeros(len(codes), dtype=np.bool_)
    if feature.missing is None or (feature.own and coded.inputs is None):  # then it is among the values
        return coded
    missing = is_missing(column) & ~unasked
    more = _with_one_more(coded, missing, STEPS + 1 + feature.follows)
    return more if tree or feature.own else replace(coded, values=more.values, given=more.given)


def _with_one_more(coded: _Coded, where: npt.NDArray[np.bool_], number: int) -> _Coded:
    """The feature with one value and cell more, its last, which is an input of its own."""
    parts = tuple((np.where(where, coded.cells, cell), share) for cell, share in coded.parts)
    inputs = None if coded.inputs is None else np.append(coded.inputs, number)
    given = np.where(where, coded.values, coded.given)
    return _Coded(coded.values + 1, given, coded.cells + 1, parts, inputs)


def _pair_odds(counts: Array, other: _Coded, failure: float, tree: bool) -> float:
    """A limit on the odds of a pair; a question reveals no more of a number than its input, a tree also its range."""
    if other.inputs is None:
        return odds_limit(counts, failure, integers=True)
    if not tree:
        counts = counts @ (other.inputs[:, None] == np.arange(other.inputs.max() + 1))
    return odds_limit(counts, failure, integers=False, slack=_ROUNDING)


def _as_value(codes: npt.NDArray[np.generic], feature: Feature) -> _Coded:
    given, values = codes.astype(np.int64), len(feature.categories)
    return _Coded(values, given, values, ((given, None),))


def _as_number(codes: npt.NDArray[np.generic], cuts: Array, steps: Array | None = None) -> _Coded:
    """A number on the [-1, 1] scale, as its range; each step has cells of its own for the inputs that it touches.

    Steps begin at the cuts of the ranges, and at further ones.
    """
    numbers = codes.astype(np.float64)
    given = np.searchsorted(cuts, numbers, side="right")
    begin = cuts if steps is None else np.union1d(cuts, steps)
    step = np.searchsorted(begin, numbers, side="right")
    position, ends = ((x + 1) / 2 * STEPS for x in (numbers, np.array([-1.0, *begin, 1.0])))
    first = np.minimum(np.floor(ends[:-1]), STEPS - 1)
    last = np.maximum(np.ceil(ends[1:]), first + 1)
    start = np.cumsum([0, *(last - first + 1)]).astype(np.int64)
    below = np.clip(np.floor(position), first[step], last[step] - 1)
    cell, up = start[step] + (below - first[step]).astype(np.int64), position - below
    inputs = np.concatenate([np.arange(low, high + 1) for low, high in zip(first, last, strict=True)]).astype(np.int64)
    return _Coded(len(cuts) + 1, given, int(start[-1]), ((cell, 1 - up), (cell + 1, up)), inputs)


def _cells(coded: Mapping[str, _Coded], others: Sequence[str]) -> int:
    return math.prod(coded[j].cells for j in others)


def _counts(own: _Coded, others: Sequence[_Coded]) -> Array:
    """How many people have each value of the feature and each combination of the others' cells."""
    cells = math.prod(other.cells for other in others)
    counts = np.zeros(own.values * cells)
    for parts in itertools.product(*(other.parts for other in others)):
        combined, share = own.given, None
        for other, (cell, part) in zip(others, parts, strict=True):
            combined = combined * other.cells + cell
            share = part if share is None else share if part is None else share * part
        counts += np.bincount(combined, weights=share, minlength=len(counts))
    return counts.reshape(own.values, cells)


def _two_laws(counts: Array, failure: float) -> Array:
    """Two distributions of a two-valued feature, between which lie its distributions given every value of the other."""
    low, high = event_intervals(counts, failure)
    ends = np.array([low[:, 1].min(), high[:, 1].max()])  # of the second cell
    return np.stack([1 - ends, ends], axis=1)


def _notes(policy: Policy, coded: Mapping[str, _Coded], sets: list[_Set]) -> Iterator[str]:
    """Why some features cannot be bounded: a value that is seldom or never seen could mean anything."""
    for name, own in coded.items():
        seen = np.bincount(own.given, minlength=own.values)
        what = "ranges" if policy.features[name].is_number else "values"
        if policy.features[name].missing is not None and seen[-1] == 0:
            yield f"{name}: never missing in the sample, which its `missing` rule makes part of the promise: its q is 1"
        elif own.values > 1 and not seen.all():
            unseen = int((seen == 0).sum())
            yield f"{name}: {unseen} of its {own.values} {what} do not occur in the sample, so its q is 1"
        elif own.values > 1 and seen.min() < _FEW:
            yield f"{name}: the rarest of its {what} has only {seen.min()} records, which makes its limits wide"
    outside = _outside(policy, coded)
    complete = {i for i, others in sets if len(others) == len(outside[i])}
    if len(coded) > 1 and (incomplete := len(coded) - len(complete)):
        yield (
            f"{incomplete} features: all others together have too many combinations to count, so their q is 1, "
            "unless a tree is assumed"
        )


def _source(people: int, confidence: float, name: str, about: str) -> str:
    return f"estimated from {people:,} records of {name}: limits that hold together with {confidence:.4g}{about}"
