"""Whom an audit is about: the possible records and their probabilities, from a prior or from a file of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.correlation import FinitePrior, correlation_of
from bcdp.correlation.grouped import GroupedPrior
from bcdp.errors import InputError, refuse
from bcdp.files import naming_file, read_batches
from bcdp.plan import Plan
from bcdp.policy import Feature, Policy
from bcdp.records.encoding import UNANSWERED, arrow_types, as_arrow, encode, range_of
from bcdp.records.open_groups import digits_of, group_numbers, value_number

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

LEAST_BINS = 9  # of a number, so that two levels of a question do not make every number extreme


@dataclass(frozen=True)
class Population:
    """Records as rows of codes, one column per feature, and the probability of each; `sizes` counts possible codes.

    The code of a number is its bin. `numbers` has what the records hold themselves, on the [-1, 1] scale on which
    devices round; a feature that is not there is held to be in the middle of its bin.
    """

    names: tuple[str, ...]
    codes: Codes
    probabilities: Array
    sizes: tuple[int, ...]
    numbers: Mapping[str, Array] = field(default_factory=dict)
    people: int | None = None  # whose records these are; None for a distribution

    def draw(self, people: int, rng: np.random.Generator) -> Codes:
        """Independent records, shape (people, features)."""
        return np.asarray(self.codes[rng.choice(len(self.codes), size=people, p=self.probabilities)])

    def ordered(self, names: Sequence[str]) -> Population:
        """The same population with its features in another order."""
        if sorted(names) != sorted(self.names):
            raise refuse("population", list(self.names), f"the features {', '.join(names)}")
        columns = [self.names.index(name) for name in names]
        sizes = tuple(self.sizes[column] for column in columns)
        return replace(self, names=tuple(names), codes=self.codes[:, columns], sizes=sizes)

    def held(self, policy: Policy, name: str) -> npt.NDArray[Any]:
        """What each record holds of a feature, as a device reads it: a number in [-1, 1], or the number of a value."""
        column = self.names.index(name)
        feature = policy.features[name]
        if name in self.numbers or not feature.is_number:
            return self.numbers.get(name, self.codes[:, column])
        bins = self.sizes[column] - feature.extras  # no answer and not applicable are the last codes
        number = np.asarray(self.codes[:, column] * (2.0 / (bins - 1)) - 1, dtype=np.float64)
        return np.where(self.codes[:, column] < bins, number, UNANSWERED + self.codes[:, column] - bins)


def population_of(names: Sequence[str], prior: npt.ArrayLike) -> Population:
    """The population of a prior given as an array with one axis for each feature.

    >>> population_of(["smoker", "drinker"], [[0.5, 0.2], [0.0, 0.3]]).codes.tolist()
    [[0, 0], [0, 1], [1, 1]]
    """
    array = np.asarray(prior, dtype=np.float64)
    if array.ndim != len(names) or array.ndim == 0 or not np.isfinite(array).all() or (array < 0).any():
        raise refuse("prior", f"shape {array.shape}", f"probabilities with one axis for each of {', '.join(names)}")
    if not abs(array.sum() - 1) < 1e-6:
        raise refuse("prior", f"probabilities that sum to {array.sum():.6g}", "a sum of 1")
    codes = np.argwhere(array > 0)
    return Population(tuple(names), codes.astype(np.int64), array[array > 0] / array.sum(), array.shape)


def population_from_prior(plan: Plan, path: str | Path, group: Mapping[str, str] | None = None) -> Population:
    """The population that a CSV describes: a column for each feature of the plan, and last its probability.

    With open features, which have columns too, it is that of one `group` of their values.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> _ = Path("prior.csv").write_text("smoker,probability\\n0,0.75\\n1,0.25\\n")
    >>> population_from_prior(plan, "prior.csv").probabilities.tolist()
    [0.75, 0.25]
    """
    policy, whose = plan.policy, group or {}
    _check_group(plan, whose)
    prior = correlation_of(Policy(**{**policy.to_dict(), "correlation": {"prior": str(Path(path).absolute())}}))
    if isinstance(prior, GroupedPrior):
        group_prior = prior.parts.get(tuple(value_number(policy, name, whose[name]) for name in policy.open))
        if group_prior is None:
            raise refuse("group", ", ".join(map("=".join, whose.items())), "a group that the prior gives a probability")
        prior = group_prior
    if not isinstance(prior, FinitePrior) or set(prior.names) != set(policy.features):
        named = getattr(prior, "names", ())
        raise refuse(f"prior ({Path(path).name})", list(named), f"a column for each of {', '.join(policy.features)}")
    return population_of(prior.names, prior.coded).ordered(tuple(policy.features))


def population_from_records(plan: Plan, tables: Iterable[Any], group: Mapping[str, str] | None = None) -> Population:
    """The population of people whose records these are, each as probable as the others.

    With open features it is that of one `group` of their values, because promises are about each group by itself.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> people = population_from_records(plan, [{"smoker": [0, 0, 0, 1]}])
    >>> people.codes.tolist(), people.probabilities.tolist()
    ([[0], [1]], [0.75, 0.25])
    """
    names = tuple(plan.policy.features)
    encoded = [encode(plan.policy, _within(plan, as_arrow(table), group or {})) for table in tables]
    held = {name: np.concatenate([np.empty(0), *(codes[name] for codes in encoded)]) for name in names}
    people = len(held[names[0]])
    if not people:
        raise InputError("data: has no records; accepted: at least one record")
    first, row = distinct_rows(held.values())
    kept = {name: column[first] for name, column in held.items()}
    numbers = {name: kept[name] for name, feature in plan.policy.features.items() if feature.is_number}
    sizes = {name: _size(plan, name) for name in names}
    bins = {name: _bins(plan.policy.features[name], values, sizes[name]) for name, values in numbers.items()}
    codes = np.stack(list((kept | bins).values()), axis=1).astype(np.int64)
    return Population(names, codes, np.bincount(row) / people, tuple(sizes.values()), numbers, people)


def _within(plan: Plan, table: pa.Table, group: Mapping[str, str]) -> pa.Table:
    """The records of one group of open values; all records where nothing is open."""
    _check_group(plan, group)
    digits, kept = digits_of(plan.policy, group_numbers(plan.policy, table)), np.ones(len(table), dtype=bool)
    for name, value in group.items():
        kept &= digits[name] == value_number(plan.policy, name, value)
    return table.filter(pa.array(kept))


def _check_group(plan: Plan, group: Mapping[str, str]) -> None:
    if set(group) != set(plan.policy.open):
        wanted = ", ".join(f"{name}=.." for name in plan.policy.open) or "none, because nothing is open"
        raise refuse("group", ", ".join(group) or "none", f"a value of every open feature: {wanted}")


def in_ranges(plan: Plan, population: Population) -> Population:
    """The population with each number as its range, where the plan's promise is about guesses of that range.

    >>> from bcdp import Policy, make_plan
    >>> from bcdp.correlation import Listed
    >>> policy = Policy(epsilon=1, features={"age": {"type": "numeric", "bounds": [0, 100], "ranges": [18, 65]}})
    >>> plan = make_plan(policy, Listed({}, "a sample", ranges={"age": (18, 65)}))
    >>> in_ranges(plan, population_from_records(plan, [{"age": [3, 18, 50, 70]}])).codes[:, 0].tolist()
    [0, 1, 1, 2]
    """
    codes, sizes, numbers = population.codes.copy(), list(population.sizes), dict(population.numbers)
    for name in plan.correlation_model.ranges:
        column, feature = population.names.index(name), plan.policy.features[name]
        if feature.cuts:
            numbers[name] = held = population.held(plan.policy, name)
            codes[:, column] = np.where(held > 1, len(feature.cuts) + 1, range_of(feature, held))
            sizes[column] = len(feature.cuts) + 1 + feature.extras
    return replace(population, codes=codes, sizes=tuple(sizes), numbers=numbers)


def distinct_rows(columns: Iterable[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Where each different row first stands in a table of these columns, and for every row which of those it is."""
    first, group = np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    for column in columns:
        values, code = np.unique(column, return_inverse=True)
        _, first, group = np.unique(group * len(values) + code, return_index=True, return_inverse=True)
    return first, group


def population_from_file(plan: Plan, path: Path, group: Mapping[str, str] | None = None) -> Population:
    """The population of people whose records a Parquet, CSV or Arrow file holds.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> _ = Path("people.csv").write_text("smoker\\n0\\n0\\n0\\n1\\n")
    >>> population_from_file(plan, Path("people.csv")).probabilities.tolist()
    [0.75, 0.25]
    """
    batches = list(read_batches(path, arrow_types(plan.policy)))
    with naming_file(path):
        return population_from_records(plan, [pa.Table.from_batches(batches)] if batches else [], group)


def _size(plan: Plan, name: str) -> int:
    """How many codes a feature has: its values, or equally spaced public bins that hold the plan's own levels."""
    feature = plan.policy.features[name]
    if not feature.is_number:
        return len(feature.categories)
    finest = max((max(question.levels) for question in plan.questions if name in question.features), default=2) - 1
    return finest * -(-(LEAST_BINS - 1) // finest) + 1 + feature.extras


def _bins(feature: Feature, numbers: Array, size: int) -> Array:
    """The bin of each coded number; after them no answer, where it is a value of its own, and not applicable."""
    last = size - 1 - feature.extras
    return np.where(numbers > 1, last - 1 + numbers, np.rint((numbers + 1) / 2 * last))
