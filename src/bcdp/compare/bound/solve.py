"""The search for a proof: multipliers from a conic solver (the extra `bound`), rounded to fractions.

The solver runs three times. First it seeks products that bound all variables, so that rounding errors can be paid for.
Then it seeks the least error of the relaxation, which gives the errors `r` and reveals which products matter. Last,
with `r` fixed, it seeks the multipliers of all these products. Nothing rests on any of it: `check` decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bcdp.compare.bound.check import Problem, ProductRow, Proof, proved
from bcdp.compare.bound.document import UNIT
from bcdp.compare.bound.relaxation import Relaxation
from bcdp.errors import InputError

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_SLACKS = (1e-6, 1e-7)  # by which products may be negative at first: those that hardly matter then have no multiplier
_SMALL = 1e-5  # a multiplier that is left out, where the value is 1
_MARGINS = (1e-7, 1e-6, 1e-5)  # what the semidefinite forms have to spare for rounding, tried in turn
_CLOSE = 1 - 1e-4  # to the relaxation's value: good enough


def find_proof(problem: Problem) -> Proof:
    """A proof of a lower bound, the best of a search; most are within 1e-4 of the best that the relaxation has."""
    program = _ConeProgram(Relaxation(problem))
    anchors = program.solve(np.zeros(len(problem.targets)), slack=1e-2, margin=1.0).multipliers > 1e-3
    candidates: list[tuple[Fraction, Proof]] = []
    for slack in _SLACKS:
        value, proofs = _proofs(program, anchors, slack)
        for proof in proofs:
            if (bound := proved(proof)) is not None:
                candidates.append((bound, proof))
                break
        if candidates and candidates[-1][0] >= _CLOSE * value:
            break
    if not candidates:
        raise InputError("bound: the solver found no proof; accepted: less extreme demands, or fewer features")
    return max(candidates, key=lambda pair: pair[0])[1]


def _proofs(program: _ConeProgram, anchors: Bools, slack: float) -> tuple[float, Iterator[Proof]]:
    """The least error of the relaxation, and what may prove it."""
    problem = program.relaxation.problem
    weights, counts = np.array(problem.targets, dtype=float).T
    scale = _rough_error(problem)
    first = program.solve(np.zeros(len(weights)), weights * counts**2 / scale, slack=slack)
    value = first.cost * scale
    errors = _alike(problem, counts / first.information)
    prices = weights * np.array(errors, dtype=float) ** 2 / value
    kept = anchors | (first.multipliers > _SMALL * first.cost)

    def proof(margin: float) -> Proof:
        solution = program.solve(prices, margin=margin, kept=kept)
        multipliers = [_rounded(value * multiplier) for multiplier in solution.multipliers]
        rows = (ProductRow(*name, times) for name, times in zip(program.names, multipliers, strict=True) if times > 0)
        return Proof(problem, errors, tuple(rows))

    return value, map(proof, _MARGINS)


def _alike(problem: Problem, errors: Array) -> tuple[Fraction, ...]:
    """The errors, rounded, with their average for features that are alike."""
    kinds = [*problem.sensitive, None]
    means = {kind: np.mean([e for e, other in zip(errors, kinds, strict=True) if other == kind]) for kind in kinds}
    return tuple(_rounded(float(means[kind])) for kind in kinds)


def _rounded(number: float) -> Fraction:
    return Fraction(round(number * UNIT), UNIT)


def _rough_error(problem: Problem) -> float:
    """The error if everybody gave away of every feature what its demand allows: the scale of all numbers."""
    levels = [*(feature.delta for feature in problem.sensitive), problem.epsilon]
    informations = [math.tanh(float(level) / 2) ** 2 for level in levels]
    return sum(
        float(weight) * count / each for (weight, count), each in zip(problem.targets, informations, strict=True)
    )


class _Found(NamedTuple):
    cost: float
    information: Array  # of each target, summed over its features
    multipliers: Array  # of each product; 0 if it was left out


@dataclass(frozen=True)
class _ConeProgram:
    """The relaxation in the solver's words: the least `cost x` such that `A x + s = b`, `s` in a product of cones."""

    relaxation: Relaxation

    @cached_property
    def names(self) -> list[tuple[int, int, int | None]]:
        """The products: two forms and a distance."""
        return self._products[1]

    @cached_property
    def _products(self) -> tuple[sparse.csr_matrix, list[tuple[int, int, int | None]]]:
        rows, names = self.relaxation.inequalities()
        return rows.tocsr(), names

    @cached_property
    def _equations(self) -> tuple[sparse.csc_matrix, Array]:
        return self.relaxation.equations()

    def solve(
        self,
        prices: Array,
        weights: Array | None = None,
        *,
        slack: float = 0.0,
        margin: float = 0.0,
        kept: Bools | None = None,
    ) -> _Found:
        """The largest value at these prices, or with weights the least sum of weight / information.

        The traces of all matrices count `margin` times as value, which leaves the dual's matrices so much to spare.
        """
        import clarabel

        relaxation, (equations, right) = self.relaxation, self._equations
        kept = np.ones(len(self.names), dtype=np.bool_) if kept is None else kept
        products = self._products[0][kept]
        largest = abs(products).max(axis=1).toarray().ravel()  # each product is divided by its largest coefficient
        blocks = [equations, -sparse.diags(1 / largest) @ products]
        rights = [right, np.full(len(largest), slack)]
        cones = [clarabel.ZeroConeT(len(right)), clarabel.NonnegativeConeT(len(largest))]
        cost = np.zeros(relaxation.columns)
        cost[relaxation.information : relaxation.errors] = -prices
        for start, size in relaxation.matrices():
            scales = np.array([1.0 if i == j else math.sqrt(2) for i, j in relaxation.pairs[: size * (size + 1) // 2]])
            blocks.append(-sparse.diags(scales, start, shape=(len(scales), relaxation.columns)))
            rights.append(np.zeros(len(scales)))
            cones.append(clarabel.PSDTriangleConeT(size))
            cost[start : start + len(scales)][scales == 1] = -margin
        if weights is None:
            used = relaxation.errors
        else:
            used, count = relaxation.columns, len(weights)
            cost[relaxation.errors :] = weights
            for information, error in zip(
                range(used - 2 * count, used - count), range(used - count, used), strict=True
            ):
                signs, indices = [-1.0, -1.0, 1.0, -1.0], ([0, 0, 1, 1], [information, error, information, error])
                blocks.append(sparse.csc_matrix((signs, indices), shape=(3, used)))  # error * information >= 1
                rights.append(np.array([0.0, 0.0, 2.0]))
                cones.append(clarabel.SecondOrderConeT(3))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
        matrix = sparse.vstack(blocks, format="csc")[:, :used]
        none = sparse.csc_matrix((used, used))
        solution = clarabel.DefaultSolver(none, cost[:used], matrix, np.concatenate(rights), cones, settings).solve()
        multipliers = np.zeros(len(kept))
        multipliers[kept] = np.array(solution.z)[len(right) : len(right) + len(largest)] / largest
        return _Found(solution.obj_val, np.array(solution.x)[relaxation.information : relaxation.errors], multipliers)
