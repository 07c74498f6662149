"""Weights from tables of what is known of the population, or of the design: by open features, and by nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.errors import InputError, refuse
from bcdp.files import naming_file, read_batches
from bcdp.policy import Policy
from bcdp.records.encoding import as_arrow, numbers_of
from bcdp.records.open_groups import digits_of, value_number
from bcdp.statistics.shared.weighting import Known, Weighting

PEOPLE, WEIGHT = "people", "weight"
ACCEPTED = f"columns of open features, and `{PEOPLE}` (of the population) or `{WEIGHT}` (of the design)"


def weighting_of(policy: Policy, groups: Sequence[int], tables: Sequence[Any], strata: Sequence[str] = ()) -> Weighting:
    """The weights that some tables state for the groups of open values that occur.

    A table with a column `people` is a margin of the population: so many people, or such a share, have each combination
    of its open values. One margin is post-stratification, several are raking. A table with a column `weight` has the
    weights of the design. `strata` names the open features whose values, together, are strata of fixed sizes.

    >>> features = {"ill": {"type": "binary"}, "arm": {"type": "open", "values": ["a", "b"]}}
    >>> found = weighting_of(Policy(epsilon=1, features=features), [0, 1], [{"arm": ["a", "b"], "people": [30, 10]}])
    >>> found.weights(np.array([20.0, 20.0])).tolist()
    [1.5, 0.5]
    """
    digits = digits_of(policy, np.array(groups, dtype=np.int64))
    if unknown := [name for name in strata if name not in digits]:
        raise refuse("strata", unknown[0], f"open features: {', '.join(policy.open) or 'none'}")
    design, margins = np.ones(len(groups)), []
    for number, table in enumerate(map(_read, tables)):
        names, kind = _columns(policy, table)
        cells = {cell: column for column, cell in enumerate(_cells(policy, names, table))}
        if len(cells) < len(table):
            raise refuse(f"weights[{number}]", "a combination of values twice", "each combination once")
        numbers = _numbers(table, kind)
        own = list(zip(*(digits[name].tolist() for name in names), strict=True))
        if absent := [cell for cell in own if cell not in cells or not numbers[cells[cell]] > 0]:
            labels = _words(policy, names, absent[0])
            raise refuse(
                f"weights[{number}]", f"nothing for {labels}", "a number above 0 for all values that people have"
            )
        column = np.array([cells[cell] for cell in own], dtype=np.int64)
        if kind == WEIGHT:
            design = design * numbers[column]
        else:
            words = tuple(_words(policy, names, cell) for cell in cells)
            margins.append(Known(", ".join(names), column, numbers, words))
    totals = [margin.people.sum() for margin in margins]
    if margins and max(totals) - min(totals) > 1e-6 * max(totals):
        raise refuse("weights", f"margins of {min(totals):g} and {max(totals):g} people", "margins of one population")
    values = [tuple(int(digits[name][column]) for name in strata) for column in range(len(groups))]
    order = {value: number for number, value in enumerate(dict.fromkeys(values))}
    columns = np.array([order[value] for value in values], dtype=np.int64)
    return Weighting(design, columns, tuple(margins))


def tables_in(weights: Any) -> list[Any]:
    """One table, or a list of them, as a list.

    >>> tables_in({"arm": ["a"], "people": [30]}), tables_in(["design.csv"])
    ([{'arm': ['a'], 'people': [30]}], ['design.csv'])
    """
    several = isinstance(weights, Sequence) and not isinstance(weights, str)
    return list(weights) if several else [weights]


def _read(table: Any) -> pa.Table:
    if not isinstance(table, str | Path):
        return as_arrow(table)
    with naming_file(Path(table)):
        return pa.Table.from_batches(list(read_batches(Path(table), {PEOPLE: pa.float64(), WEIGHT: pa.float64()})))


def _columns(policy: Policy, table: pa.Table) -> tuple[list[str], str]:
    """The open features that a table is about, and whether it has people or weights."""
    columns = table.column_names
    if private := [name for name in columns if name in policy.features]:
        raise InputError(
            f"weights: got the column {private[0]!r}, which is answered in private; accepted: {ACCEPTED}: a weight by "
            "an answer would have to know it"
        )
    kinds = [name for name in columns if name in (PEOPLE, WEIGHT)]
    names = [name for name in columns if name not in kinds]
    if len(kinds) != 1 or not names or len(set(names)) < len(names) or not set(names) <= set(policy.open):
        raise refuse(
            "weights", f"columns {', '.join(columns)}", f"{ACCEPTED}; open: {', '.join(policy.open) or 'none'}"
        )
    return names, kinds[0]


def _cells(policy: Policy, names: Sequence[str], table: pa.Table) -> list[tuple[int, ...]]:
    """The combination of values of each row, by their numbers."""
    columns = [[value_number(policy, name, value) for value in table.column(name).to_pylist()] for name in names]
    return list(zip(*columns, strict=True))


def _numbers(table: pa.Table, kind: str) -> npt.NDArray[np.float64]:
    numbers = numbers_of(table.column(kind))
    if not all(math.isfinite(number) and number >= 0 for number in numbers) or not numbers.sum() > 0:
        raise refuse(f"weights.{kind}", "something else", "finite numbers of at least 0, not all 0")
    return numbers


def _words(policy: Policy, names: Sequence[str], cell: Sequence[int]) -> str:
    return ", ".join(f"{name} = {policy.open[name].values[code]}" for name, code in zip(names, cell, strict=True))
