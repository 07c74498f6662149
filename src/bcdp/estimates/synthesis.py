"""Synthetic records that agree with the published estimates: for teaching, testing programs, and a first look.

The records are drawn from the distribution of largest entropy whose published means, shares, cells and group means are
the estimates, up to their errors: `p(x)` is proportional to `exp(sum of theta_j T_j(x))`, one `T_j` for each published
number (theory.md, section 4.24). They follow from the estimates alone, so they cost nobody any privacy, and they hold
nothing that is not in the estimates: inference uses the estimates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.errors import expect, refuse
from bcdp.estimates.results import Estimates
from bcdp.policy import Feature, Policy
from bcdp.statistics import Estimate

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

MOST_RECORDS = 100_000
_FINE = 48  # parts of a number, at least
_SWEEPS = 240
_SETTLING = 0.35  # of the sweeps, after which steps shrink
_MARGIN = 0.05  # of an interval, that is kept between its ends and the records
_STEP = 0.15  # several constraints may be about one feature
_LEAST_SPREAD = 0.02
_FINEST = 1e-4  # no standard error counts as less: of so many records, more cannot be told


@dataclass(frozen=True)
class Agreement:
    """How the synthetic records agree with one published estimate."""

    name: str
    published: float
    synthetic: float
    inside: bool  # the published interval


@dataclass(frozen=True)
class Synthesis:
    """Synthetic records, and how they agree with every estimate that they were made to match."""

    records: pa.Table
    agreements: tuple[Agreement, ...]
    left_out: tuple[str, ...]  # what is published, and was not matched

    @property
    def outside(self) -> tuple[Agreement, ...]:
        """The estimates whose interval the records miss."""
        return tuple(each for each in self.agreements if not each.inside)


@dataclass(frozen=True)
class _Constraint:
    """A mean over all people that follows from an estimate: of numbers at every combination of some features."""

    names: tuple[str, ...]
    at: Array  # an axis for each feature
    estimate: Estimate
    label: str
    centre: float  # what the mean of `at` should be
    error: float
    scale: float = 1.0  # from the mean of `at` to the estimate's units
    among: Array | float = 1.0  # whom the estimate is about, at the same combinations

    @property
    def ends(self) -> tuple[float, float]:
        """Between what the mean of `at` lies in the interval, but for a margin where that does not end the range."""
        if not isinstance(self.among, float):
            return -math.inf, math.inf
        low, high, value = self.estimate.low, self.estimate.high, self.estimate.value
        least, most = low + _MARGIN * (high - low) * (low != 0), high - _MARGIN * (high - low) * (high != 1)
        return self.centre + (least - value) / self.scale, self.centre + (most - value) / self.scale

    def reached(self, state: Mapping[str, Integers]) -> float:
        """The estimate's number in some records; NaN where it is about none of them."""
        at = tuple(state[name] for name in self.names)
        among = self.among if isinstance(self.among, float) else float(self.among[at].mean())
        gap = float(self.at[at].mean()) - self.centre
        return self.estimate.value + self.scale * gap / among if among else math.nan


def synthesize(
    estimates: Estimates, people: int, seed: int = 0, advance: Callable[[float], object] = lambda share: None
) -> Synthesis:
    """So many synthetic records of the features that the estimates are about; `advance` is called with shares of work.

    >>> from bcdp import Policy, Tally, estimate, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=2, features={"ill": {"type": "binary"}}))
    >>> found = estimate(Tally(plan).add(privatize(plan, {"ill": [1, 0, 0, 0] * 500})))
    >>> made = synthesize(found, 1000)
    >>> len(made.records), [each.name for each in made.agreements]
    (1000, ['mean of ill'])
    """
    expect("estimates", estimates, Estimates, "estimates, by bcdp.estimate(tally)")
    if not isinstance(people, int) or not 1 <= people <= MOST_RECORDS:
        raise refuse("people", people, f"a whole number from 1 to {MOST_RECORDS:,}")
    policy, rng = estimates.policy, np.random.default_rng(seed)
    grids = {name: _grid(policy, name) for name in policy.features if name not in _unusable(policy)}
    constraints = list(_constraints(estimates, grids))
    wanted = {name for each in constraints for name in each.names}
    if not wanted:
        raise refuse("estimates", "none of features with values", "means, frequencies, tables, distributions or groups")
    state = {name: rng.integers(len(grids[name]), size=people) for name in policy.features if name in wanted}
    for _ in _settled(state, constraints, {name: len(grids[name]) for name in state}, rng):
        advance(1 / _SWEEPS)
    columns = {name: _written(policy.features[name], grids[name], at, rng) for name, at in state.items()}
    return Synthesis(pa.table(columns), tuple(_agreements(state, constraints)), tuple(_left_out(estimates, wanted)))


def _unusable(policy: Policy) -> set[str]:
    """Features that depend on others by design, lists, and those in which no answer is a value."""
    features = policy.features.items()
    return {name for name, each in features if name in policy.blocks or each.type == "multiple" or each.extras}


def _grid(policy: Policy, name: str) -> Array:
    """Where a feature may be: its codes, or for a number the middles of fine bins that respect every published edge."""
    feature = policy.features[name]
    if not feature.is_number:
        return np.arange(len(feature.categories), dtype=np.float64)
    low, high = feature.span
    cuts = {cut for task in policy.tasks for target, _ in task.targets(policy)
            for cut in target.cuts_by_feature.get(name, ())}  # fmt: skip
    edges = np.array(sorted({low, *cuts, high}))
    fine = [np.linspace(a, b, max(1, math.ceil(_FINE * (b - a) / (high - low))), endpoint=False)
            for a, b in pairwise(edges.tolist())]  # fmt: skip
    starts = np.append(np.concatenate(fine), high)
    return np.asarray((starts[:-1] + starts[1:]) / 2)


def _constraints(estimates: Estimates, grids: Mapping[str, Array]) -> Iterator[_Constraint]:
    """What is published about features with a grid, and known."""
    policy = estimates.policy
    sources = (_of_means, _of_frequencies, _of_tables, _of_bins, _of_groups)
    for constraint in (each for source in sources for each in source(estimates, policy, grids)):
        if math.isfinite(constraint.estimate.value) and math.isfinite(constraint.estimate.se):
            yield constraint


def _of_means(estimates: Estimates, policy: Policy, grids: Mapping[str, Array]) -> Iterator[_Constraint]:
    """On a scale from 0 to 1; of two values the share of the second."""
    for name, mean in estimates.means.items():
        if name in grids:
            low, scale = _scale(policy.features[name])
            at, centre, error = (grids[name] - low) / scale, (mean.value - low) / scale, max(mean.se / scale, _FINEST)
            yield _Constraint((name,), at, mean, f"mean of {name}", centre, error, scale=scale)


def _of_frequencies(estimates: Estimates, policy: Policy, grids: Mapping[str, Array]) -> Iterator[_Constraint]:
    for name, shares in estimates.frequencies.items():
        if name in grids:
            for code, (value, share) in enumerate(shares.items()):
                yield _share((name,), np.eye(len(shares))[code], share, f"{name} = {value}")


def _of_tables(estimates: Estimates, policy: Policy, grids: Mapping[str, Array]) -> Iterator[_Constraint]:
    cells: dict[tuple[str, ...], Iterator[Estimate]] = {names: each.every for names, each in estimates.tables.items()}
    cells |= {names: each.every for names, each in estimates.three_way_tables.items()}
    for names, every in cells.items():
        if set(names) <= set(grids):
            inside = [_inside(policy.features[name], grids[name]) for name in names]
            for numbers, cell in zip(np.ndindex(*map(len, inside)), every, strict=True):
                at = _crossed([rows[row] for rows, row in zip(inside, numbers, strict=True)])
                yield _share(names, at, cell, f"cell {numbers} of {' x '.join(names)}")


def _of_bins(estimates: Estimates, policy: Policy, grids: Mapping[str, Array]) -> Iterator[_Constraint]:
    for name, distribution in estimates.distributions.items():
        if name in grids:
            bins = np.searchsorted(np.array(distribution.edges[1:-1]), grids[name], side="right")
            for number, share in enumerate(distribution.histogram):
                yield _share((name,), (bins == number).astype(np.float64), share, f"bin {number + 1} of {name}")


def _of_groups(estimates: Estimates, policy: Policy, grids: Mapping[str, Array]) -> Iterator[_Constraint]:
    """Numbers less the published mean average to 0 in the group."""
    for names, groups in estimates.groups.items():
        if set(names) <= set(grids):
            (name, by), (_, scale) = names, _scale(policy.features[names[0]])
            for rows, (value, mean) in zip(_inside(policy.features[by], grids[by]), groups.values.items(), strict=True):
                at = _crossed([(grids[name] - mean.value) / scale, rows])
                error = max(mean.se / scale * float(rows.mean()), _FINEST)
                among = _crossed([np.ones(len(grids[name])), rows])
                label = f"mean of {name} where {by} = {value}"
                yield _Constraint(names, at, mean, label, 0.0, error, scale=scale, among=among)


def _share(names: tuple[str, ...], at: Array, estimate: Estimate, label: str) -> _Constraint:
    return _Constraint(names, at, estimate, label, estimate.value, max(estimate.se, _FINEST))


def _scale(feature: Feature) -> tuple[float, float]:
    """The lower bound of a number and how far the upper one is; of two values 0 and 1."""
    low, high = feature.span if feature.is_number else (0.0, 1.0)
    return low, high - low


def _inside(feature: Feature, at: Array) -> Array:
    """For each value or range of a feature in a table, which of its places are there."""
    if feature.is_number:
        codes = np.searchsorted(np.array(feature.cuts), at, side="right")
        return np.asarray(codes == np.arange(len(feature.cuts) + 1)[:, None], dtype=np.float64)
    return np.eye(len(at))


def _crossed(parts: Sequence[Array]) -> Array:
    return np.asarray(reduce(np.multiply.outer, parts), dtype=np.float64)


def _settled(
    state: dict[str, Integers], constraints: list[_Constraint], sizes: Mapping[str, int], rng: np.random.Generator
) -> Iterator[None]:
    """Gibbs sampling of the records in place, a sweep at a time, while every theta moves to where its mean is right.

    The records themselves are the sample whose means are compared, so that they end where the estimates are. A theta
    is held back by the estimate's variance: what noise made impossible is met up to its error.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, each in enumerate(constraints):
        groups.setdefault(each.names, []).append(number)
    stacked = {names: np.array([constraints[number].at for number in numbers]) for names, numbers in groups.items()}
    wanted, error = np.array([[each.centre, each.error] for each in constraints]).T
    variance, (least, most) = error**2, np.array([each.ends for each in constraints]).T
    wanted = np.clip(wanted, least, most)
    theta = np.zeros(len(constraints))
    for sweep in range(_SWEEPS):
        energies = {names: np.tensordot(theta[numbers], stacked[names], axes=1) for names, numbers in groups.items()}
        for name, own in state.items():
            logits = np.zeros((len(own), sizes[name]))
            for names, energy in energies.items():
                if name in names:
                    axis = names.index(name)
                    others = tuple(state[other] for other in names if other != name)
                    logits += np.moveaxis(energy, axis, -1)[others]
            state[name] = _drawn(logits, rng)
        step = _STEP * min(1.0, _SETTLING * _SWEEPS / (sweep + 1))
        for names, numbers in groups.items():
            reached = stacked[names].reshape(len(numbers), -1)
            counts = np.bincount(np.ravel_multi_index([state[name] for name in names], stacked[names].shape[1:]),
                                 minlength=reached.shape[1]) / len(next(iter(state.values())))  # fmt: skip
            mean = reached @ counts
            spread = np.maximum(reached**2 @ counts - mean**2, _LEAST_SPREAD)
            inside = np.clip(mean, least[numbers], most[numbers])
            held = np.where(mean == inside, variance[numbers] * theta[numbers], 0.0)  # no theta outside is held back
            theta[numbers] += step * (wanted[numbers] - mean - held) / (spread + variance[numbers])
        yield


def _drawn(logits: Array, rng: np.random.Generator) -> Integers:
    """A place for each record, with chances proportional to the exponentials."""
    ends: Array = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1)
    return np.asarray((ends < rng.random((len(ends), 1)) * ends[:, -1:]).sum(axis=1), dtype=np.int64)


def _agreements(state: Mapping[str, Integers], constraints: list[_Constraint]) -> Iterator[Agreement]:
    for each in constraints:
        number, estimate = each.reached(state), each.estimate
        yield Agreement(each.label, estimate.value, number, estimate.low <= number <= estimate.high)


def _written(feature: Feature, at: Array, drawn: Integers, rng: np.random.Generator) -> pa.Array:
    """The values of the places: a number anywhere in its bin, so that none stands for many."""
    if not feature.is_number:
        return pa.array([feature.categories[code] for code in drawn.tolist()])
    middles = (at[:-1] + at[1:]) / 2
    low, high = feature.span
    edges = np.concatenate([[low], middles, [high]])
    return pa.array(np.clip(rng.uniform(edges[drawn], edges[drawn + 1]), low, high))


def _left_out(estimates: Estimates, wanted: set[str]) -> Iterator[str]:
    """What is published and was not matched."""
    for name in _unusable(estimates.policy):
        yield f"{name}: a list, a feature with or of follow-ups, or one in which no answer is a value"
    yield from (f"{name}: nothing is published about it" for name in estimates.policy.features
                if name not in wanted and name not in _unusable(estimates.policy))  # fmt: skip
    yield from (f"the regression of {each.target}" for each in estimates.regressions)
    yield from (f"shares of sets of values of {name}" for name in estimates.shares)
