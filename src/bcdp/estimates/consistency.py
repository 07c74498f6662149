"""All estimates of a collection describe one population: means, distributions, frequencies, scores, sets, tables.

Several targets may say the same in different ways: a mean score is a sum of frequencies, a table's margins are
frequencies as well, shares of steps sum to shares below edges, a mean lies within half a bin of that of the bins'
middles. These identities change the unbiased values by generalized least squares (theory.md, section 4.22).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.records.encoding import UNANSWERED
from bcdp.statistics import Decoded, Decoder, Means, Target
from bcdp.statistics.shared.decoded_values import JointEstimate
from bcdp.statistics.shared.joint_targets import Below, Steps
from bcdp.statistics.shared.linear_form import HonestRange
from bcdp.statistics.shared.target import Codes, Cuts, Role, Single

Array = npt.NDArray[np.float64]

_LINEAR = (Role.FEATURE, Role.VALUES, Role.STEPS, Role.DISTRIBUTION, Role.INTERACTION, Role.CELLS)
_HOLDS = 1e-11  # a share of the largest variance, below which an identity holds already, as answers are read
_MOST_NUMBERS, _MOST_KINDS = 1_500, 5_000  # whose covariances, and of people whose identities, take no time
_POINTS = np.array([1 / 3, 2 / 3])  # of each bin: what is straight there is known from two


class Identities(NamedTuple):
    """Linear functions `rows @ values + constants` of targets, one after the other, that are 0 in every population."""

    targets: tuple[Target, ...]
    rows: Array
    constants: Array


class MeanOfBins(NamedTuple):
    """A linear function of a mean and of some bins that is 0 in every population, up to a `slack` to either side."""

    factors: dict[Target, Array]
    constant: float
    slack: float


class ConsistentDecoder:
    """What the answers reveal, with the identities between targets.

    `concerned` are all linear targets that are wanted of features with identities; their values change together, once.
    """

    def __init__(self, unbiased: Decoder, concerned: Collection[Target], related: Sequence[tuple[Target, ...]]) -> None:
        self._unbiased, self.concerned, self._related = unbiased, tuple(concerned), related

    @property
    def policy(self) -> Policy:
        """The policy of the plan that was answered."""
        return self._unbiased.policy

    @property
    def people(self) -> int:
        """How many reports were counted."""
        return self._unbiased.people

    def honest_range(self, target: Target, factors: Array, fakes: int) -> HonestRange | None:
        """That of the unbiased value."""
        return self._unbiased.honest_range(target, factors, fakes)

    def means(self, targets: Collection[Target]) -> Means:
        """The values of several targets, shape (size,)."""
        return {target: self._value(target, value) for target, value in self._unbiased.means(targets).items()}

    def _value(self, target: Target, unbiased: Array) -> Array:
        joint = self.together([target]) if target in self._columns else None
        return unbiased if joint is None or np.isnan(joint.value).any() else joint.value

    def decode(self, target: Target) -> Decoded:
        """The values of a target and their variances: those of its answers, by what the identities leave of them."""
        decoded = self._unbiased.decode(target)
        if target not in self._columns or self._combined is None or np.isnan(decoded.value).any():
            return decoded
        before, (value, covariance) = self._combined
        own = self._columns[target]
        left = np.diag(covariance)[own] / np.maximum(np.diag(before.covariance)[own], 1e-300)
        return replace(
            decoded,
            value=value[own],
            constant=decoded.constant * left,
            slope=decoded.slope * left,
            square=decoded.square * float(left.max()),
            doubt=decoded.doubt * left**2,
            unbiased=decoded.value,
        )

    def together(self, targets: Collection[Target]) -> JointEstimate | None:
        """The values of several targets and their covariances, by generalized least squares."""
        known = all(target in self._columns for target in targets)
        if not known or self._combined is None:
            return self._unbiased.together(targets)
        before, (value, covariance) = self._combined
        wanted = np.concatenate([self._columns[target] for target in targets])
        answers = tuple(before.answers[self.concerned.index(target)] for target in targets)
        square = np.ix_(wanted, wanted)
        return JointEstimate(value[wanted], covariance[square], answers, unbiased=before.value[wanted])

    @cached_property
    def _columns(self) -> dict[Target, npt.NDArray[np.intp]]:
        """Which of all values are those of each target."""
        ends = np.cumsum([target.size(self.policy) for target in self.concerned])
        starts = np.concatenate([[0], ends[:-1]])
        return {target: np.arange(start, end) for target, start, end in zip(self.concerned, starts, ends, strict=True)}

    @cached_property
    def _combined(self) -> tuple[JointEstimate, tuple[Array, Array]] | None:
        """The unbiased values of all targets, and the values and covariances by the identities.

        None where no covariances are known, different messages ask for them, or all identities hold as answers are
        read.
        """
        joint = self._unbiased.together(self.concerned)
        if joint is None or len(set(joint.messages)) > 1:
            return None
        known = [target for target in self.concerned if np.isfinite(joint.value[self._columns[target]]).all()]
        rows, constants = [np.zeros((0, len(joint.value)))], [np.zeros(0)]
        for related in self._related:
            always = identities(self.policy, tuple(target for target in related if target in known))
            own, row, constant = self._to_learn(always, joint.covariance)
            wide = np.zeros((len(row), len(joint.value)))
            wide[:, own] = row
            rows.append(wide)
            constants.append(constant)
        every, constants_of_all = np.concatenate(rows), np.concatenate(constants)
        slack = np.zeros(len(every))
        for mean in _means_of_bins(self.policy, known):
            row = np.zeros(len(joint.value))
            for target, factors in mean.factors.items():
                row[self._columns[target]] = factors
            every, slack = np.vstack([every, row]), np.append(slack, mean.slack)
            constants_of_all = np.append(constants_of_all, mean.constant)
        return (joint, _updated(joint, every, constants_of_all, slack)) if len(every) else None

    def _to_learn(self, always: Identities, covariance: Array) -> tuple[npt.NDArray[np.intp], Array, Array]:
        """The columns, rows and constants of those that do not hold as answers are read: their variance is above 0."""
        if not len(always.rows):
            return np.zeros(0, np.intp), np.zeros((0, 0)), np.zeros(0)
        own = np.concatenate([self._columns[target] for target in always.targets])
        inside = covariance[np.ix_(own, own)]
        spread, basis = np.linalg.eigh(always.rows @ inside @ always.rows.T)
        open_ones = basis[:, spread > _HOLDS * float(np.diag(inside).max())].T
        return own, open_ones @ always.rows, open_ones @ always.constants


def _updated(joint: JointEstimate, rows: Array, constants: Array, slack: Array) -> tuple[Array, Array]:
    """The values and their covariance given that linear functions of them are 0, up to their slack.

    The slack counts like a variance: so every interval has room for the largest bias.
    """
    known = np.isfinite(joint.value)
    value, covariance = np.where(known, joint.value, 0.0), np.where(np.outer(known, known), joint.covariance, 0.0)
    along = covariance @ rows.T
    matrix = rows @ along + np.diag(slack**2)
    unit = np.sqrt(np.maximum(np.diag(matrix), 1e-300))  # identities of all scales alike
    spread, basis = np.linalg.eigh(matrix / np.outer(unit, unit))
    kept = spread > 1e-9  # the others follow from these
    half = (along / unit) @ basis[:, kept] / np.sqrt(spread[kept])
    gap = basis[:, kept].T @ ((rows @ value + constants) / unit) / np.sqrt(spread[kept])
    value, covariance = value - half @ gap, covariance - half @ half.T
    value[~known], covariance[~known], covariance[:, ~known] = math.nan, math.nan, math.nan
    return value, covariance


def consistent(decoder: Decoder) -> Decoder:
    """The same answers, read such that all estimates agree; as they are where nothing is asked twice."""
    policy = decoder.policy
    wanted = [target for task in policy.tasks for target, _ in task.targets(policy)]
    every = [
        target
        for target in dict.fromkeys(part for target in wanted for part in (target, *target.margins))
        if target.role in _LINEAR
    ]
    related = list(_related(policy, every))
    if not related:
        return decoder
    touched = {name for targets in related for target in targets for name in target.features}
    while more := {name for t in every if touched.intersection(t.features) for name in t.features} - touched:
        touched |= more  # whatever varies with what changes
    first = dict.fromkeys(target for targets in related for target in targets)
    concerned, size = list[Target](), 0
    for target in (*first, *(t for t in every if t not in first and touched.intersection(t.features))):
        if size + target.size(policy) <= _MOST_NUMBERS:
            concerned.append(target)
            size += target.size(policy)
    inside = [tuple(target for target in targets if target in concerned) for targets in related]
    return ConsistentDecoder(decoder, concerned, inside)


def _related(policy: Policy, targets: Sequence[Target]) -> Iterator[tuple[Target, ...]]:
    """Targets of the same features between which there may be identities."""
    for names in dict.fromkeys(frozenset(target.features) for target in targets):
        members = [target for target in targets if names.issuperset(target.features)]
        if len(names) > 1:  # those of one feature alone have identities of their own
            members = [target for target in members if target.role is not Role.DISTRIBUTION]
            if all(target.role is not Role.CELLS for target in members):
                continue  # margins and interactions share nothing
        sizes = [target.size(policy) for target in members]
        if len(members) > 1 and sum(sizes) <= _MOST_NUMBERS and _kinds_of(policy, members) <= _MOST_KINDS:
            yield tuple(members)


def _kinds_of(policy: Policy, targets: Sequence[Target]) -> int:
    """How many kinds of people the targets distinguish at most."""
    return math.prod(len(each) for each in _points(policy, targets).values())


def _points(policy: Policy, targets: Sequence[Target]) -> dict[str, npt.NDArray[np.generic]]:
    """Of each feature the codes at which all targets are to be compared: two in each bin of a number."""
    points: dict[str, npt.NDArray[np.generic]] = {}
    for name in dict.fromkeys(name for target in targets for name in target.features):
        feature = policy.features[name]
        points[name] = np.arange(feature.joint_inputs) if not feature.is_number else np.zeros(0)
        if feature.is_number:
            edges = _scaled(policy, name, {cut for each in targets for cut in each.cuts_by_feature.get(name, ())})
            inside = edges[:-1, None] + np.diff(edges)[:, None] * _POINTS
            points[name] = np.append(inside.ravel(), UNANSWERED + np.arange(feature.extras))
    return points


def identities(policy: Policy, targets: tuple[Target, ...]) -> Identities:
    """All linear identities between some targets: what is 0 whatever a person's values are.

    They are the null space of the targets' numbers at every kind of person.
    """
    if len(targets) < 2:
        return Identities(targets, np.zeros((0, 0)), np.zeros(0))
    points = _points(policy, targets)
    grid = np.array(list(itertools.product(*(range(len(each)) for each in points.values()))))
    codes: Codes = {name: each[grid[:, place]] for place, (name, each) in enumerate(points.items())}
    numbers = np.hstack([*(target.of(policy, codes) for target in targets), np.ones((len(grid), 1))])
    spread, basis = np.linalg.eigh(numbers.T @ numbers / len(grid))
    null = basis[:, spread < 1e-10 * spread[-1]].T
    return Identities(targets, null[:, :-1], null[:, -1])


def _is_binned(target: Target) -> TypeGuard[Below | Steps]:
    """Whether a target is where a number is among some bins."""
    return target.role in (Role.DISTRIBUTION, Role.STEPS)


def _means_of_bins(policy: Policy, targets: Sequence[Target]) -> Iterator[MeanOfBins]:
    """Of each number with a mean and with bins: that mean, on the [-1, 1] scale, is that of the middles of bins.

    Of the finest alone, so that no two biases add up.
    """
    for name, feature in policy.features.items():
        shares = [target for target in targets if target.features == (name,) and _is_binned(target)]
        if not shares or feature.extras or Single(name) not in targets:
            continue
        binned = min(shares, key=lambda each: float(np.diff(_scaled(policy, name, each.cuts)).max()))
        edges = _scaled(policy, name, binned.cuts)
        middles, slack = (edges[:-1] + edges[1:]) / 2, float(np.diff(edges).max()) / 2
        if binned.role is Role.STEPS:
            yield MeanOfBins({Single(name): np.ones(1), binned: -middles}, 0.0, slack)
        else:
            yield MeanOfBins({Single(name): np.ones(1), binned: np.diff(middles)}, -float(middles[-1]), slack)


def _scaled(policy: Policy, name: str, cuts: Collection[float]) -> Array:
    """The ends of the bins between some cuts of a number, on the [-1, 1] scale."""
    low, high = policy.features[name].span
    every: Cuts = (low, *sorted(cuts), high)
    return 2 * (np.array(every) - low) / (high - low) - 1
