"""The nearest population that there can be: what all published estimates of one feature are computed from.

Combined values obey every identity, but noise can put them outside of what a population may be. Frequencies are moved
to at least 0 and a sum of 1, shares below edges are made to rise; scores, sets and margins of tables follow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bcdp.policy import MultipleFeature
from bcdp.statistics.code_groups import fitted
from bcdp.statistics.quantiles import monotone
from bcdp.statistics.shared.block_targets import item_target
from bcdp.statistics.shared.cell_targets import TableAxis
from bcdp.statistics.shared.interval import on_simplex
from bcdp.statistics.shared.joint_targets import Steps
from bcdp.statistics.shared.protocol import Decoder
from bcdp.statistics.shared.target import Role, Single, Target

Array = npt.NDArray[np.float64]

_FEWEST = 1e-9  # the share of answers below which nothing is known of those who gave them
_TOTAL = 1e4  # how much the sum of shares counts next to each number


@runtime_checkable
class OnePopulation(Decoder, Protocol):
    """A decoder whose values obey the identities between targets."""

    @property
    def concerned(self) -> Collection[Target]:
        """The targets whose values do."""


def value_shares(decoder: Decoder, name: str) -> Array | None:
    """The share of each value of a feature, also of no answer; None where no estimates have to agree about it."""
    feature = decoder.policy.features[name]
    if not isinstance(decoder, OnePopulation) or feature.is_number or isinstance(feature, MultipleFeature):
        return None
    if Single(name) in decoder.concerned:
        decoded = decoder.decode(Single(name))
        shares = decoded if feature.counts_values else decoded.shares()
        return fitted(decoder.policy, name, shares.value) if np.isfinite(shares.value).all() else None
    linear = [target for target in decoder.concerned if target.role is Role.VALUES and target.features == (name,)]
    wanted = [(target, decoder.decode(target).value) for target in linear]
    if len(linear) < 2 or not all(np.isfinite(value).all() for _, value in wanted):
        return None
    codes = {name: np.arange(feature.joint_inputs)}
    return _nearest([target.of(decoder.policy, codes) for target, _ in wanted], [value for _, value in wanted])


def shares_among(decoder: Decoder, name: str) -> Array | None:
    """The share of each value among those who have one; None where no estimates have to agree about it."""
    feature = decoder.policy.features[name]
    if not isinstance(decoder, OnePopulation) or Single(name) not in decoder.concerned:
        return None
    value = decoder.decode(Single(name)).value[: feature.joint_inputs - feature.extras]
    return on_simplex(value / value.sum()) if value.sum() > _FEWEST else None


def _nearest(numbers: Sequence[Array], values: Sequence[Array]) -> Array:
    """The shares of values whose means of some numbers are nearest to those given.

    >>> numbers = np.array([[0.0], [1.0], [1.0]]), np.array([[-1.0], [0.0], [1.0]])
    >>> _nearest(numbers, (np.array([0.7]), np.array([0.1]))).round(6).tolist()
    [0.3, 0.3, 0.4]
    """
    from scipy.optimize import nnls  # slow to import, and needed here only

    every, aim = np.hstack(numbers), np.concatenate(values)
    shares, _ = nnls(np.vstack([every.T, np.full(len(every), _TOTAL)]), np.append(aim, _TOTAL))
    return np.asarray(shares / shares.sum())


def axis_shares(decoder: Decoder, axis: TableAxis) -> Array | None:
    """The margin of a table along an axis; None where it is that of the table's own cells."""
    name, feature = axis.feature, decoder.policy.features[axis.feature]
    if not isinstance(decoder, OnePopulation) or axis.scored:
        return None
    if isinstance(feature, MultipleFeature):
        return _item_shares(decoder, axis, feature)
    if not axis.cuts:
        return value_shares(decoder, name)
    if feature.extras or Steps(name, axis.cuts) not in decoder.concerned:
        return None
    return step_shares(decoder, Steps(name, axis.cuts))


def _item_shares(decoder: OnePopulation, axis: TableAxis, feature: MultipleFeature) -> Array | None:
    """Not ticked and ticked, of a list that all people were shown and answered."""
    target = item_target(axis.feature, feature)
    if feature.extras or target not in decoder.concerned:
        return None
    ticked = min(max(float(decoder.decode(target).value[axis.item or 0]), 0.0), 1.0)
    return np.array([1 - ticked, ticked])


def step_shares(decoder: OnePopulation, steps: Steps) -> Array | None:
    """The share in each step, such that shares below edges are those of the number's distribution."""
    raw = decoder.decode(steps).value
    if not np.isfinite(raw).all():
        return None
    fixed: dict[int, float] = {0: 0.0, len(raw): 1.0}
    least, most = np.zeros(len(steps.cuts)), np.ones(len(steps.cuts))
    for target in decoder.concerned:
        if target.role is Role.DISTRIBUTION and target.features == steps.features:
            below, cuts = monotone(decoder.decode(target).value), target.cuts_by_feature[steps.feature]
            if np.isfinite(below).all():
                common = set(steps.cuts).intersection(cuts)
                fixed |= {steps.cuts.index(cut) + 1: float(below[cuts.index(cut)]) for cut in common}
                ends = np.concatenate([[0.0], below, [1.0]])
                least = np.maximum(least, ends[np.searchsorted(cuts, steps.cuts, side="right")])
                most = np.minimum(most, ends[np.searchsorted(cuts, steps.cuts, side="left") + 1])
    parts = (_summing(raw[start:end], fixed[end] - fixed[start]) for start, end in pairwise(sorted(fixed)))
    inner = np.clip(np.cumsum(np.concatenate([*parts]))[:-1], least, most)  # between the edges around each cut
    return np.asarray(np.diff(inner, prepend=0.0, append=1.0))


def _summing(shares: Array, total: float) -> Array:
    """The nearest shares that are at least 0 and have this sum."""
    return on_simplex(shares / total) * total if total > 0 else np.zeros_like(shares)


def mean_between(decoder: Decoder, name: str, mean: float) -> float:
    """A mean of a number in own units, within what the shares in its bins and in its steps leave possible."""
    feature = decoder.policy.features[name]
    if not isinstance(decoder, OnePopulation) or feature.extras:
        return mean
    for target in decoder.concerned:
        if target.features != (name,) or target.role not in (Role.STEPS, Role.DISTRIBUTION):
            continue
        cuts = target.cuts_by_feature[name]
        shares = step_shares(decoder, Steps(name, cuts)) if target.role is Role.STEPS else _bins(decoder, target)
        edges = np.array([feature.span[0], *cuts, feature.span[1]])
        if shares is not None:
            mean = min(max(mean, float(shares @ edges[:-1])), float(shares @ edges[1:]))
    return mean


def _bins(decoder: OnePopulation, target: Target) -> Array | None:
    """The share in each bin of a distribution."""
    below = monotone(decoder.decode(target).value)
    return np.diff(below, prepend=0.0, append=1.0) if np.isfinite(below).all() else None
