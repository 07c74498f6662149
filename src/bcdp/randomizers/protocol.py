"""What every randomizer table offers, and the checks of what is handed to it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError, refuse
from bcdp.exact import MOST_CELLS, Floats, Integers, Words

if TYPE_CHECKING:
    from bcdp.randomizers.dense import Dense

Symbols = npt.NDArray[np.uint32]


class Table(Protocol):
    """A randomizer: input x gives symbol y with probability `weight(x, y) / 2^32` (theory.md, 4.2)."""

    def __hash__(self) -> int:
        """Tables are values: equal weights, equal hash."""

    @property
    def levels(self) -> int:
        """How many inputs there are: the key `levels` of a plan."""

    @property
    def symbols(self) -> int:
        """How many output symbols there are."""

    @property
    def ratio(self) -> Fraction | float:
        """The largest ratio of two weights of one symbol, exact; infinite when only one of them is 0."""

    @property
    def level(self) -> float:
        """The privacy level in nats: the logarithm of `ratio`, rounded up."""

    @property
    def second_moment(self) -> float:
        """The expected squared length of the decoded indicator vector, inputs uniform; infinite without decoding."""

    @property
    def overlaps(self) -> tuple[float, float]:
        """The most and the least that two rows overlap, `sum_y W(x,y) W(x',y) / w(y)`, w being a common part of all."""

    @property
    def largest_weights(self) -> Integers:
        """What no weight of each symbol exceeds; the largest over all inputs, unless that takes long to find."""

    def row(self, given: int) -> Integers:
        """The weights of one input, shape (symbols,), which sum to 2^32."""

    def dense(self) -> Dense:
        """The same table with all its weights written out."""

    def sample(self, inputs: npt.NDArray[Any], words: Words) -> Symbols:
        """One symbol for each input and 32-bit word: exactly `weight(x, y)` of the words give y."""

    def decode(self, target: npt.ArrayLike) -> Floats:
        """The value of each symbol whose mean at input x is `target[x]`; shape (symbols,) + target.shape[1:]."""

    def frequencies(self, counts: npt.ArrayLike) -> Floats:
        """The unbiased estimate of each input's frequency from the symbols' counts."""

    def indicator_moments(self) -> tuple[Floats, Floats]:
        """The expected square of each input's decoded indicator where it is true, and the largest where it is not."""

    def second_moments(self, target: npt.ArrayLike) -> Floats:
        """The expected square of the decoded value at each input, for a scalar target of shape (levels,)."""

    def to_dict(self) -> dict[str, Any]:
        """The table in plain JSON."""


def check_inputs(table: Table, inputs: npt.NDArray[Any], words: Words) -> None:
    """Refuses inputs outside the table, and words that are not one 32-bit word for each of them."""
    if inputs.dtype.kind not in "iu":
        raise refuse("inputs", inputs.dtype.name, "an array of integers")
    if inputs.size and not (inputs.min() >= 0 and inputs.max() < table.levels):
        outside = int(inputs.min() if inputs.min() < 0 else inputs.max())
        raise refuse("inputs", outside, f"integers from 0 to {table.levels - 1}")
    if words.dtype != np.uint32 or words.shape != inputs.shape:
        shown = f"{words.dtype.name} words of shape {words.shape}"
        raise refuse("words", shown, f"uint32 words of shape {inputs.shape}")


def check_input(table: Table, given: int) -> int:
    """The input itself, if the table has it."""
    if not 0 <= given < table.levels:
        raise refuse("input", given, f"an integer from 0 to {table.levels - 1}")
    return int(given)


def check_target(table: Table, target: npt.ArrayLike, dimensions: tuple[int, ...] = (1, 2)) -> Floats:
    """The target as finite floats, one (row) for each input."""
    array = np.asarray(target, dtype=np.float64)
    if array.ndim not in dimensions or array.shape[0] != table.levels or not np.isfinite(array).all():
        shapes = " or ".join({1: "({0},)", 2: "({0}, t)"}[n].format(table.levels) for n in dimensions)
        raise refuse("target", f"an array of shape {array.shape}", f"finite numbers of shape {shapes}")
    return array


def check_counts(table: Table, counts: npt.ArrayLike) -> tuple[Integers, int]:
    """The counts as integers and their sum, if there is one for each symbol and at least two answers."""
    array = np.asarray(counts)
    if array.shape != (table.symbols,) or array.dtype.kind not in "iu" or array.min() < 0:
        shown = f"an array of shape {array.shape} and type {array.dtype.name}"
        raise refuse("counts", shown, f"{table.symbols} integers of at least 0, one for each symbol")
    total = int(array.sum())
    if total < 2:
        raise refuse("counts", f"{total} answers", "at least 2 answers")
    return array.astype(np.int64), total


def check_cells(table: Table) -> None:
    """Refuses to write out a table of more than 2^22 weights."""
    if table.levels * table.symbols > MOST_CELLS:
        raise refuse("table", f"{table.levels} x {table.symbols} weights", f"at most {MOST_CELLS} weights to write out")


def alike(table: Table) -> tuple[Floats, Floats]:
    """The indicators' moments of a table that treats all inputs alike: those of the first, for each."""
    at = table.second_moments(np.eye(1, table.levels)[0])
    return np.full(table.levels, at[0]), np.full(table.levels, at[1:].max())


def undecodable(table: Table) -> InputError:
    """The error for a table whose answers do not determine the target."""
    return InputError(
        f"table: its level is {table.level:.3g} and its answers do not determine this target; "
        "accepted: a table with an unbiased decoding, for example one with a larger budget"
    )
