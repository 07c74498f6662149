"""The exact check of a lower bound, in integers and fractions: nothing that the solver says is believed.

**Theorem 7** (theory.md, section 5). Some binary features, called sensitive, have demands `delta_i` under
correlations `q_i`; the others have no demand but `epsilon`. Each output of a mechanism that keeps the demands is a
function `f >= 0` of the record whose values, averages and extremes keep the linear inequalities that `forms` lists.
Let `w_i` be the weights of the errors, `r_i` any numbers, and take multipliers >= 0 for products of two of the
inequalities. If the quadratic form

    v (mean of f)^2  -  sum_i w_i r_i^2 e_i(f)^2  -  sum of multiplier * product,

averaged over the sign flips of the other features, is a positive semidefinite form in the averages and extremes, plus
one for each Fourier degree in the parts of `f` of that degree, then the estimates of any unbiased decoding have

    n x error, second moments counted and weighted by w,  >=  (sum_i w_i r_i)^2 / v.

A proof is `r` and the multipliers. Here the least `v` is computed, and with it the bound that they prove.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb
from typing import NamedTuple

Quadratic = dict[tuple[int, int], Fraction]  # the coefficients of products of two variables, the smaller number first
Matrix = list[list[Fraction]]

_EXP_UNIT = 10**9  # e^epsilon and e^delta are rounded up to a multiple of 1 / this


class Sensitive(NamedTuple):
    """A feature with a demand of its own, its correlation with all others, and the weight of its error."""

    delta: Fraction
    q: Fraction
    weight: Fraction


@dataclass(frozen=True)
class Problem:
    """What a bound is about: binary features, some with demands of their own, `others` with none but epsilon."""

    epsilon: Fraction
    sensitive: tuple[Sensitive, ...]
    others: int
    weight: Fraction  # of the error of each of the others

    @property
    def cells(self) -> int:
        """The number of combinations of the sensitive features; bit i of a cell is the value of feature i."""
        return 1 << len(self.sensitive)

    @property
    def targets(self) -> list[tuple[Fraction, int]]:
        """The weights of the errors `r`, and to how many features each belongs: the others have one error for all."""
        return [*((feature.weight, 1) for feature in self.sensitive), (self.weight, self.others)]


class ProductRow(NamedTuple):
    """A product of two forms, by their numbers; `distance`: of two local forms, how many flips apart they stand."""

    first: int
    second: int
    distance: int | None
    multiplier: Fraction


@dataclass(frozen=True)
class Proof:
    """`errors` are the `r`: of each sensitive feature, then one for all others."""

    problem: Problem
    errors: tuple[Fraction, ...]
    rows: tuple[ProductRow, ...]


def proved(proof: Proof) -> Fraction | None:
    """The bound that a proof proves; None if it proves nothing."""
    problem, local = proof.problem, [form.local for form in forms(proof.problem)]
    if not all(_is_valid(row, local, problem.others) for row in proof.rows):
        return None
    first, *others = remainder(proof)
    last = [last_pivot(matrix) for matrix in others]
    least = last_pivot(_by_the_mean(first, problem.cells))
    if least is None or not least < 0 or not all(pivot is not None and pivot >= 0 for pivot in last):
        return None
    errors = zip(problem.targets, proof.errors, strict=True)
    return sum((count * weight * error for (weight, count), error in errors), Fraction(0)) ** 2 / -least


def _is_valid(row: ProductRow, local: list[bool], others: int) -> bool:
    """Whether a product is known to be nonnegative. Only two local forms have a distance."""
    if not (0 <= row.first <= row.second < len(local) and row.multiplier >= 0):
        return False
    if local[row.first] and local[row.second]:
        return row.distance is not None and 0 <= row.distance <= others
    return row.distance is None


class Form(NamedTuple):
    """A nonnegative linear form; if it is local, the first variables are the values of `f` at one place."""

    local: bool
    coefficients: dict[int, Fraction]


@dataclass(frozen=True)
class Variables:
    """The numbers of the variables. The first ones are the averages of `f` on the cells."""

    cells: int
    sensitive: int

    def low(self, cell: int) -> int:
        """The least value on a cell."""
        return self.cells + cell

    def high(self, cell: int) -> int:
        """The largest value on a cell."""
        return 2 * self.cells + cell

    def side_low(self, feature: int, value: int) -> int:
        """The least value where a sensitive feature has this value."""
        return 3 * self.cells + 4 * feature + value

    def side_high(self, feature: int, value: int) -> int:
        """The largest value where a sensitive feature has this value."""
        return 3 * self.cells + 4 * feature + 2 + value

    @property
    def least(self) -> int:
        """The least value of all, which is the last variable."""
        return 3 * self.cells + 4 * self.sensitive

    @property
    def count(self) -> int:
        return self.least + 1

    @classmethod
    def of(cls, problem: Problem) -> Variables:
        return cls(problem.cells, len(problem.sensitive))


def forms(problem: Problem) -> list[Form]:
    """The inequalities (a) to (h) of Theorem 7, the local ones first."""
    at, most = Variables.of(problem), exp_up(problem.epsilon)
    odds = [exp_up(feature.delta) for feature in problem.sensitive]
    result: list[Form] = []

    def add(*terms: tuple[int, Fraction | int], local: bool = False) -> None:
        coefficients: dict[int, Fraction] = defaultdict(Fraction)
        for variable, coefficient in terms:
            coefficients[variable] += coefficient
        result.append(Form(local, {variable: c for variable, c in coefficients.items() if c}))

    def certificate(index: int, value: int, own: int, across: int, *, local: bool = False) -> None:
        """(**) for two variables that stand for `f` where the feature has this value, and where it has the other."""
        q, times = problem.sensitive[index].q, odds[index]
        bottom, top = at.side_low(index, 1 - value), at.side_high(index, value)
        add((across, times * (1 - q)), (bottom, times * q), (own, q - 1), (top, -q), local=local)

    neighbours = [(c, i, c >> i & 1, c ^ 1 << i) for c in range(at.cells) for i in range(at.sensitive)]
    for cell in range(at.cells):
        add((cell, 1), (at.low(cell), -1), local=True)
        add((cell, -1), (at.high(cell), 1), local=True)
    for cell, index, value, across in neighbours:
        certificate(index, value, cell, across, local=True)
    for cell, index, value, across in neighbours:
        add((at.low(cell), 1), (at.side_low(index, value), -1))
        add((at.high(cell), -1), (at.side_high(index, value), 1))
        certificate(index, value, at.low(cell), at.low(across))
        certificate(index, value, at.high(cell), at.high(across))
    for index in range(at.sensitive):
        for value in (0, 1):
            add((at.side_low(index, value), 1), (at.least, -1))
            add((at.least, most), (at.side_high(index, value), -1))
            certificate(index, value, at.side_low(index, value), at.side_low(index, 1 - value))
            certificate(index, value, at.side_high(index, value), at.side_high(index, 1 - value))
        add(*((cell, _sign(cell, index)) for cell in range(at.cells)))
    add((at.least, 1))
    return result


def _sign(cell: int, feature: int) -> int:
    return 2 * (cell >> feature & 1) - 1


def product(first: Form, second: Form, cells: int) -> tuple[Quadratic, Quadratic]:
    """A product of two forms: what is about averages and extremes, and what is about two values, if both are local."""
    plain: Quadratic = defaultdict(Fraction)
    values: Quadratic = defaultdict(Fraction)
    for i, a in first.coefficients.items():
        for j, b in second.coefficients.items():
            target = values if first.local and second.local and max(i, j) < cells else plain
            target[min(i, j), max(i, j)] += a * b
    return plain, values


def character(others: int, distance: int, degree: int) -> Fraction:
    """The average, over the ways to flip `distance` of the other features, of a product of `degree` of their signs."""
    ways = range(min(degree, distance) + 1)
    return Fraction(
        sum((-1) ** j * comb(degree, j) * comb(others - degree, distance - j) for j in ways), comb(others, distance)
    )


def squares(problem: Problem) -> Iterator[tuple[int, Quadratic]]:
    """The squares `e_i(f)^2` of the sensitive features, and their sum over the others, each with its Fourier degree."""
    cells = range(problem.cells)
    for feature in range(len(problem.sensitive)):
        yield 0, _square({cell: Fraction(_sign(cell, feature), problem.cells) for cell in cells})
    yield 1, mean_square(problem)


def mean_square(problem: Problem) -> Quadratic:
    """The square of the mean of `f`; in the parts of degree 1, the sum of `e_i(f)^2` over the other features."""
    return _square({cell: Fraction(1, problem.cells) for cell in range(problem.cells)})


def _square(coefficients: dict[int, Fraction]) -> Quadratic:
    form = Form(False, coefficients)
    return product(form, form, 0)[0]


def remainder(proof: Proof) -> list[Matrix]:
    """The quadratic form without `v (mean of f)^2`: of averages and extremes, then of the parts of each degree."""
    problem, known = proof.problem, forms(proof.problem)
    degrees = range(problem.others + 1)
    left: list[Quadratic] = [defaultdict(Fraction) for _ in degrees]
    separate: list[Quadratic] = [defaultdict(Fraction) for _ in degrees]
    for (degree, square), (weight, _), error in zip(squares(problem), problem.targets, proof.errors, strict=True):
        _add(left[degree], square, -weight * error**2)
    for row in proof.rows:
        plain, values = product(known[row.first], known[row.second], problem.cells)
        _add(left[0], plain, -row.multiplier)
        _add(separate[row.distance or 0], values, -row.multiplier)
    for degree in degrees:
        for distance in degrees:
            _add(left[degree], separate[distance], character(problem.others, distance, degree))
    return [_matrix(q, Variables.of(problem).count if degree == 0 else problem.cells) for degree, q in enumerate(left)]


def _add(total: Quadratic, quadratic: Quadratic, times: Fraction) -> None:
    for pair, coefficient in quadratic.items():
        total[pair] += times * coefficient


def _matrix(quadratic: Quadratic, size: int) -> Matrix:
    """The symmetric matrix of a quadratic form."""
    half = {pair: coefficient / (1 if pair[0] == pair[1] else 2) for pair, coefficient in quadratic.items()}
    return [[half.get((min(i, j), max(i, j)), Fraction(0)) for j in range(size)] for i in range(size)]


def _by_the_mean(matrix: Matrix, cells: int) -> Matrix:
    """The matrix with the mean of `f` as its last variable, in the place of the average on the first cell."""
    first = {0: Fraction(cells), **dict.fromkeys(range(1, cells), Fraction(-1))}  # cells * mean - the other averages

    def substituted(row: list[Fraction]) -> list[Fraction]:
        combined = [first.get(j, 0) * row[0] + (row[j] if j else 0) for j in range(len(row))]
        return [*combined[1:], combined[0]]

    half = [substituted(row) for row in matrix]
    columns = [substituted(list(column)) for column in zip(*half, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def last_pivot(matrix: Matrix) -> Fraction | None:
    """What elimination (LDL^T) leaves of a symmetric matrix's last entry, or None if a pivot before it is negative.

    The matrix with `x` added to its last entry is positive semidefinite exactly if this is at least `-x`.

    >>> last_pivot([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]])
    Fraction(0, 1)
    >>> last_pivot([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(4)]])
    """
    left = [list(row) for row in matrix]
    for j, pivots in enumerate(left[:-1]):
        if pivots[j] < 0 or (pivots[j] == 0 and any(row[j] for row in left[j + 1 :])):
            return None
        for i in range(j + 1, len(left)):
            if left[i][j]:
                factor = left[i][j] / pivots[j]
                for k in range(j + 1, i + 1):
                    left[i][k] -= factor * left[k][j]
    return left[-1][-1]


def exp_up(exponent: Fraction) -> Fraction:
    """The least multiple of 10^-9 that is known to be at least `e^exponent`, from the series and a bound on its rest.

    >>> exp_up(Fraction(0)), float(exp_up(Fraction(1)))
    (Fraction(1, 1), 2.718281829)
    """
    term, total, number = Fraction(1), Fraction(0), 0
    while number < 2 * exponent or term > Fraction(1, _EXP_UNIT**2):
        total, number = total + term, number + 1
        term *= exponent / number
    # each term that is left is less than half of the one before
    return Fraction(ceil((total + 2 * term) * _EXP_UNIT), _EXP_UNIT)
