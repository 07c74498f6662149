"""The conic program whose dual proves a bound (theory.md, Theorem 7): least error over relaxed outputs.

Variables: the products of averages and extremes, and for each Fourier degree the products of the values' parts of that
degree. They would be the moments of a mechanism's outputs; all that is asked of them is that the matrices are positive
semidefinite and that products of valid inequalities are nonnegative.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bcdp.compare.bound.check import Problem, Quadratic, Variables, character, forms, mean_square, product, squares

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Relaxation:
    """The columns: products by pairs of variables; of each degree from 1; at each distance; J and t of the targets.

    J are the information of the targets, and `t >= 1 / J` their errors.
    """

    problem: Problem

    @property
    def size(self) -> int:
        """How many averages and extremes there are."""
        return Variables.of(self.problem).count

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of variables in the order of the cone of semidefinite matrices: the upper triangle by columns."""
        return [(i, j) for j in range(self.size) for i in range(j + 1)]

    @cached_property
    def place(self) -> dict[tuple[int, int], int]:
        return {pair: number for number, pair in enumerate(self.pairs)}

    @property
    def cell_pairs(self) -> int:
        """The pairs of two cells, which come first."""
        return self.problem.cells * (self.problem.cells + 1) // 2

    def of_degree(self, degree: int) -> int:
        """The first column of a Fourier degree; that of degree 0 are products of averages."""
        return 0 if degree == 0 else len(self.pairs) + (degree - 1) * self.cell_pairs

    def distance(self, distance: int) -> int:
        """The first column of the products of values so many flips apart."""
        return self.of_degree(self.problem.others + 1) + distance * self.cell_pairs

    @property
    def information(self) -> int:
        """The first column of J."""
        return self.distance(self.problem.others + 1)

    @property
    def errors(self) -> int:
        """The first column of t."""
        return self.information + len(self.problem.sensitive) + 1

    @property
    def columns(self) -> int:
        return self.errors + len(self.problem.sensitive) + 1

    def matrices(self) -> list[tuple[int, int]]:
        """The matrices that are semidefinite: the first column and the size of each."""
        return [
            (self.of_degree(degree), self.problem.cells if degree else self.size)
            for degree in range(self.problem.others + 1)
        ]

    def equations(self) -> tuple[sparse.csc_matrix, Array]:
        """What products at a distance are, what J is, and that the mean of `f` is 1."""
        entries: list[tuple[int, int, float]] = []
        number, others = 0, self.problem.others
        for distance in range(others + 1):
            shares = [float(character(others, distance, degree)) for degree in range(others + 1)]
            for pair in range(self.cell_pairs):
                entries.append((number, self.distance(distance) + pair, -1.0))
                entries += [(number, self.of_degree(degree) + pair, share) for degree, share in enumerate(shares)]
                number += 1
        for target, (degree, square) in enumerate(squares(self.problem)):
            entries.append((number, self.information + target, -1.0))
            entries += self._entries(number, square, self.of_degree(degree))
            number += 1
        entries += self._entries(number, mean_square(self.problem), 0)
        right = np.zeros(number + 1)
        right[number] = 1.0
        return self._matrix(entries, number + 1), right

    def inequalities(self) -> tuple[sparse.csc_matrix, list[tuple[int, int, int | None]]]:
        """Products of two forms, which are nonnegative, and of which forms, at which distance."""
        entries: list[tuple[int, int, float]] = []
        rows: list[tuple[int, int, int | None]] = []
        known = forms(self.problem)
        numbers = {
            frozenset(form.coefficients.items()): number for number, form in enumerate(known)
        }  # at q = 1 some agree
        for first, second in combinations_with_replacement(sorted(numbers.values()), 2):
            plain, values = product(known[first], known[second], self.problem.cells)
            both = known[first].local and known[second].local
            for distance in range(self.problem.others + 1 if values else 1):
                entries += self._entries(len(rows), plain, 0)
                entries += self._entries(len(rows), values, self.distance(distance))
                rows.append((first, second, distance if both else None))
        return self._matrix(entries, len(rows)), rows

    def _entries(self, row: int, quadratic: Quadratic, start: int) -> list[tuple[int, int, float]]:
        return [(row, start + self.place[pair], float(c)) for pair, c in quadratic.items()]

    def _matrix(self, entries: list[tuple[int, int, float]], rows: int) -> sparse.csc_matrix:
        row, column, value = zip(*entries, strict=True)
        return sparse.csc_matrix((value, (row, column)), shape=(rows, self.columns))
