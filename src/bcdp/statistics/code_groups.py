"""Groups of codes that begin alike: the levels of a hierarchical list, and shares that agree at every level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field, StrictInt

from bcdp.policy import Feature, Policy
from bcdp.policy.base_feature import Scalar
from bcdp.policy.field_checks import Record, different
from bcdp.questions import Question
from bcdp.statistics.shared.decoded_values import Decoded
from bcdp.statistics.shared.interval import Estimate, bounded, on_simplex
from bcdp.statistics.shared.linear_form import LinearForm, SomeNumbers
from bcdp.statistics.shared.protocol import Array, Decoder
from bcdp.statistics.shared.rows import LISTED, MANY
from bcdp.statistics.shared.target import Codes, OneFeature, Role, Single

MOST_READ = 2**20  # codes times groups of a level: what each answer says of each group is written out
_TOGETHER = 256  # values that joint questions may ask as well, whose answers count differently

Places = npt.NDArray[Any]


class Prefixes(Record):
    """Groups of codes by their first characters, at several levels."""

    prefixes: Annotated[tuple[Annotated[StrictInt, Field(ge=1)], ...], Field(min_length=1), AfterValidator(different)]


class Groups(NamedTuple):
    """What the groups of a level are called, and the group of each input; after them come what follows the codes."""

    names: tuple[str, ...]
    own: Places

    @property
    def size(self) -> int:
        """How many there are, each input that follows the codes by itself."""
        return int(self.own.max()) + 1


def groups_of(feature: Feature, length: int) -> Groups:
    """The groups of a feature's codes by so many first characters, in the order of their first codes.

    >>> from bcdp.policy import CategoricalFeature
    >>> job = CategoricalFeature(type="categorical", values=("11", "12", "2", "21"), missing="own")
    >>> names, own = groups_of(job, 1)
    >>> names, own.tolist()
    (('1*', '2*'), [0, 0, 1, 1, 2])
    >>> groups_of(job, 2).names  # a shorter code is a group by itself
    ('11*', '12*', '2', '21*')
    """
    names, own = _groups(tuple(feature.categories[: feature.joint_inputs - feature.extras]), length)
    return Groups(names, np.append(own, len(names) + np.arange(feature.extras)))


@lru_cache(maxsize=64)
def _groups(values: tuple[Scalar, ...], length: int) -> Groups:
    begin = [str(value)[:length] for value in values]
    numbers = {start: number for number, start in enumerate(dict.fromkeys(begin))}
    names = tuple(start + "*" * (len(start) == length) for start in numbers)
    return Groups(names, np.array([numbers[start] for start in begin], dtype=np.int64))


def mistake_in(name: str, prefixes: Sequence[int], values: Sequence[object] | None) -> str | None:
    """What would be accepted in the place of prefixes of a feature's codes; None if they are right."""
    if values is None or not all(isinstance(value, str) for value in values):
        return f"for {name} a list of its values; prefixes are of codes that are listed as text, like '0110'"
    codes = tuple(map(str, values))
    sizes = {length: len({code[:length] for code in codes}) for length in range(1, max(map(len, codes), default=0))}
    fitting = [length for length, size in sizes.items() if 1 < size < len(codes)]
    if not fitting:
        return f"for {name} a list of its values; prefixes need codes some of which begin alike, and others do not"
    if not set(prefixes) <= set(fitting):
        return f"for {name} prefixes of lengths among {', '.join(map(str, fitting))}"
    if len(codes) * max(sizes[length] for length in prefixes) > MOST_READ:
        return f"for {name} shorter prefixes: with {len(codes)} codes at most {MOST_READ // len(codes)} groups"
    return None


def lengths_of(policy: Policy, name: str) -> tuple[int, ...]:
    """The lengths of all prefixes by which tasks want shares of a feature's codes, from short to long."""
    stated = (getattr(task, "sets", {}).get(name) for task in policy.tasks)
    return tuple(sorted({length for each in stated if isinstance(each, Prefixes) for length in each.prefixes}))


@dataclass(frozen=True)
class CodeGroups(OneFeature):
    """Of each group of a feature's codes the share of the people who have one of them.

    Nothing is designed for it: the answers about the codes reveal it.
    """

    role: ClassVar[Role] = Role.VALUES
    feature: str
    length: int

    def size(self, policy: Policy) -> int:
        return groups_of(policy.features[self.feature], self.length).size

    def of(self, policy: Policy, codes: Codes) -> Array:
        return np.asarray(policy.features[self.feature].indicators(codes[self.feature]) @ self._members(policy))

    def answered_by(self, question: Question) -> bool:
        return question.reads_values and self.feature in question.features

    def at(self, policy: Policy, question: Question) -> Array:
        return question.at_inputs(policy, self.feature, self._members(policy))

    def _members(self, policy: Policy) -> Array:
        groups = groups_of(policy.features[self.feature], self.length)
        return np.eye(groups.size)[groups.own]


def fitted(policy: Policy, name: str, unbiased: Array) -> Array:
    """The shares of a feature's values that there can be: at least 0, with a sum of 1.

    Where groups of codes are wanted, these are fitted first, and the codes of each to the share of their group.
    """
    lengths = lengths_of(policy, name)
    return fitted_levels(policy, name, lengths, unbiased)[-1] if lengths else on_simplex(unbiased)


def fitted_levels(policy: Policy, name: str, lengths: Sequence[int], unbiased: Array) -> list[Array]:
    """The shares of the groups of each level, from the largest groups to the codes: each sums to that of its group.

    From above: a group's sum is unbiased, however many codes it has. If each code were moved to at least 0 first, a
    group of many rare codes would gain what chance adds to each.
    """
    levels = [groups_of(policy.features[name], length).own for length in lengths]
    levels.append(np.arange(len(unbiased)))
    above, totals, result = np.zeros(len(unbiased), dtype=np.int64), np.ones(1), list[Array]()
    for own in levels:
        sums, sizes = _summed(own, unbiased), np.bincount(own)
        parents = np.empty(len(sums), dtype=np.int64)
        parents[own] = above
        shares = np.empty(len(sums))
        order = np.argsort(parents, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(parents[order])) + 1):
            shares[members] = _nearest(sums[members], sizes[members], float(totals[parents[members[0]]]))
        above, totals = own, shares
        result.append(shares)
    return result


def _summed(own: Places, numbers: Array) -> Array:
    """The sum of the numbers of each group."""
    return np.asarray(np.bincount(own, numbers), dtype=np.float64)


def _nearest(sums: Array, sizes: Places, total: float) -> Array:
    """The nearest shares that are at least 0 and have this sum; squared errors count by one over how many codes each
    is of, because so their variances are.

    >>> _nearest(np.array([0.5, 0.4, -0.1]), np.array([1, 3, 1]), 1.0).round(6).tolist()
    [0.525, 0.475, 0.0]
    """
    if total <= 0:
        return np.zeros(len(sums))
    falling = np.argsort(-sums / sizes, kind="stable")
    shift = (np.cumsum(sums[falling]) - total) / np.cumsum(sizes[falling])
    last = np.flatnonzero((sums / sizes)[falling] > shift)[-1]
    return np.asarray(np.maximum(sums - shift[last] * sizes, 0.0))


def group_shares(
    decoder: Decoder, name: str, lengths: Sequence[int], confidence: float
) -> Iterator[tuple[str, Estimate]]:
    """The share of each group, level by level; each is the sum of the shares of its groups and codes.

    Of more than 100 groups of a level each interval has the confidence with which all of that level hold together. Of
    more than 10,000 codes, whose own shares are not made to sum to 1, those of the groups do.
    """
    policy, target = decoder.policy, Single(name)
    feature, codes = policy.features[name], decoder.decode(target)
    every = lengths_of(policy, name)
    known = bool(np.isfinite(codes.value).all())
    levels = dict(zip(every, fitted_levels(policy, name, every, codes.value), strict=False)) if known else {}
    for length in sorted(lengths):
        names, own = groups_of(feature, length)
        level = 1 - (1 - confidence) / len(names) if len(names) > MANY else confidence
        decoded = _sums(decoder, CodeGroups(name, length), codes)
        value, errors, low, high = bounded(decoded, 0.0, level)
        value = levels.get(length, value)
        rows = np.column_stack([value, errors, np.fmin(low, value), np.fmax(high, value), decoded.raw]).tolist()
        for group, (label, (share, se, start, end, raw)) in enumerate(zip(names, rows, strict=False)):
            members = SomeNumbers(target, tuple(np.flatnonzero(own == group).tolist()), len(own))
            form = LinearForm(decoder, level, members, (0.0, 1.0)) if len(own) <= LISTED else None
            answers, rule = decoded.answers, feature.rule
            yield label, Estimate(share, se, start, high=end, answers=answers, raw=raw, rule=rule, linear=form)


def _sums(decoder: Decoder, target: CodeGroups, codes: Decoded) -> Decoded:
    """The sums of the codes' shares over each group, with the variances that the answers' own spread reveals.

    Where joint questions may ask the codes as well, these are by the covariance of the shares of all codes.
    """
    own = groups_of(decoder.policy.features[target.feature], target.length).own
    sums, raw = _summed(own, codes.value), _summed(own, codes.raw)
    few = len(own) <= _TOGETHER
    joint = decoder.together([Single(target.feature) if few else target])
    assert joint is not None  # every survey knows it, and no other mechanism has such tasks
    covariance = joint.covariance
    if few:
        members = np.eye(len(sums))[own]
        covariance = members.T @ covariance @ members
    variance = np.maximum(np.diag(covariance), 0.0)
    nothing, doubt = np.zeros(len(sums)), variance**2 / max(codes.answers - 1, 1)
    return Decoded(sums, variance, nothing, 0.0, doubt, codes.answers, unbiased=raw)


def by_level(policy: Policy, name: str, shares: Mapping[str, Estimate]) -> Iterator[tuple[int, dict[str, Estimate]]]:
    """The shares of the groups of each level, with the length of its prefixes."""
    for length in lengths_of(policy, name):
        groups = groups_of(policy.features[name], length)
        yield length, {label: shares[label] for label in groups.names}
