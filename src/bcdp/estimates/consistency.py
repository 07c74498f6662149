"""All estimates of one number describe one population: its mean, its distribution, its steps in tables.

A survey may ask for a number in several ways: its mean, the shares below some edges, the shares of its steps. The mean
lies within half a bin of that of the bins' middles, and shares of steps sum to shares below edges. These identities
change the unbiased values by generalized least squares (theory.md, section 4.22).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics import Decoded, Decoder, Means, Target
from bcdp.statistics.shared.decoded_values import JointEstimate
from bcdp.statistics.shared.joint_targets import Below, Steps
from bcdp.statistics.shared.linear_form import HonestRange
from bcdp.statistics.shared.target import Cuts, Role, Single

Array = npt.NDArray[np.float64]


class Identity(NamedTuple):
    """A linear function of targets that is 0 in every population, up to a `slack` to either side."""

    factors: Mapping[Target, Array]
    constant: float
    slack: float


class ConsistentDecoder:
    """What the answers reveal, with the identities between targets of one number.

    `concerned` are all targets that are wanted of numbers with identities; their values change together, once.
    """

    def __init__(self, unbiased: Decoder, identities: Sequence[Identity], concerned: Collection[Target]) -> None:
        self._unbiased, self._identities = unbiased, identities
        self._concerned = tuple(concerned)

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
        answers = tuple(before.answers[self._concerned.index(target)] for target in targets)
        square = np.ix_(wanted, wanted)
        return JointEstimate(value[wanted], covariance[square], answers, unbiased=before.value[wanted])

    @cached_property
    def _columns(self) -> dict[Target, npt.NDArray[np.intp]]:
        """Which of all values are those of each target."""
        ends = np.cumsum([target.size(self.policy) for target in self._concerned])
        starts = np.concatenate([[0], ends[:-1]])
        return {target: np.arange(start, end) for target, start, end in zip(self._concerned, starts, ends, strict=True)}

    @cached_property
    def _combined(self) -> tuple[JointEstimate, tuple[Array, Array]] | None:
        """The unbiased values of all targets, and the values and covariances by the identities.

        None where no covariances are known, or different messages ask for them.
        """
        joint = self._unbiased.together(self._concerned)
        if joint is None or len(set(joint.messages)) > 1:
            return None
        value, covariance = joint.value, joint.covariance
        for identity in self._identities:
            row = np.zeros(len(value))
            for target, factors in identity.factors.items():
                row[self._columns[target]] = factors
            if np.isfinite(value[row != 0]).all():
                value, covariance = _updated(value, covariance, row, identity)
        return joint, (value, covariance)


def _updated(value: Array, covariance: Array, row: Array, identity: Identity) -> tuple[Array, Array]:
    """The values and their covariance given that a linear function of them is 0, up to its slack.

    The slack counts like a variance: so every interval has room for the largest bias.
    """
    known = np.isfinite(value)
    along = np.where(np.outer(known, known), covariance, 0.0) @ row
    spread = float(row @ along) + identity.slack**2
    if not spread > 0:
        return value, covariance
    gap = float(row[known] @ value[known]) + identity.constant
    return value - along * gap / spread, covariance - np.outer(along, along) / spread


def consistent(decoder: Decoder) -> Decoder:
    """The same answers, read such that all estimates of a number agree; as they are where no number is asked twice."""
    policy = decoder.policy
    wanted = [target for task in policy.tasks for target, _ in task.targets(policy)]
    every = dict.fromkeys(part for target in wanted for part in (target, *target.margins))
    identities = {
        name: list(_identities(policy, [target for target in every if target.features == (name,)]))
        for name, feature in policy.features.items()
        if feature.is_number and not feature.extras
    }
    numbers = {name for name, each in identities.items() if each}
    if not numbers:
        return decoder
    concerned = dict.fromkeys(
        part for target in wanted if numbers.intersection(target.features) for part in (target, *target.margins)
    )
    return ConsistentDecoder(decoder, [each for listed in identities.values() for each in listed], concerned)


def _is_binned(target: Target) -> TypeGuard[Below | Steps]:
    """Whether a target is where a number is among some bins."""
    return target.role in (Role.DISTRIBUTION, Role.STEPS)


def _identities(policy: Policy, targets: Sequence[Target]) -> Iterator[Identity]:
    """What holds between the targets of one number."""
    shares = [target for target in targets if _is_binned(target)]
    if shares and Single(shares[0].feature) in targets:
        finest = min(shares, key=lambda binned: float(np.diff(_edges(policy, binned)).max()))
        yield _mean_identity(policy, Single(finest.feature), finest)  # one alone, so that no two biases add up
    for number, first in enumerate(shares):
        for second in shares[number + 1 :]:
            yield from _share_identities(policy, first, second)


def _mean_identity(policy: Policy, mean: Single, binned: Below | Steps) -> Identity:
    """A mean, on the [-1, 1] scale, is that of the middles of bins, up to half of the widest."""
    edges = _edges(policy, binned)
    middles, slack = (edges[:-1] + edges[1:]) / 2, float(np.diff(edges).max()) / 2
    if binned.role is Role.STEPS:
        return Identity({mean: np.ones(1), binned: -middles}, 0.0, slack)
    return Identity({mean: np.ones(1), binned: np.diff(middles)}, -float(middles[-1]), slack)


def _share_identities(policy: Policy, first: Below | Steps, second: Below | Steps) -> Iterator[Identity]:
    """The share below each edge that both have."""
    for cut in sorted(set(first.cuts) & set(second.cuts)):
        below: dict[Target, Array] = {
            target: sign * _below(policy, target, cut) for target, sign in ((first, 1.0), (second, -1.0))
        }
        yield Identity(below, 0.0, 0.0)


def _below(policy: Policy, binned: Below | Steps, cut: float) -> Array:
    """The share below one of the cuts, as a sum of the target's numbers."""
    index = binned.cuts.index(cut)
    if binned.role is Role.DISTRIBUTION:
        return np.asarray(np.eye(binned.size(policy))[index])
    return (np.arange(binned.size(policy)) <= index).astype(np.float64)


def _edges(policy: Policy, binned: Below | Steps) -> Array:
    low, high = policy.features[binned.feature].span
    cuts: Cuts = (low, *binned.cuts, high)
    return 2 * (np.array(cuts) - low) / (high - low) - 1
