"""HiGHS through highspy: a program starts at the vertex where the last one ended, in a fifth of the time."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.design.lp_solvers import Minimise

if TYPE_CHECKING:
    from bcdp.mechanisms.survey.design.linear_programs import Polytope

Array = npt.NDArray[np.float64]


def prepare(within: Polytope) -> Minimise:
    """Solves each program from the vertex where the last one ended, which any costs leave feasible."""
    highspy: Any = import_module("highspy")
    rows, columns = within.rows.shape
    solver, program = highspy.Highs(), highspy.HighsLp()
    solver.silent()
    solver.setOptionValue("presolve", "off")  # it would begin anew
    solver.setOptionValue("simplex_strategy", highspy.simplex_constants.SimplexStrategy.kSimplexStrategyPrimal)
    program.num_row_, program.num_col_ = rows, columns
    program.row_lower_, program.row_upper_ = within.least, within.most
    program.col_lower_, program.col_upper_ = within.lowest, np.full(columns, np.inf)
    program.col_cost_ = np.zeros(columns)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.num_row_, program.a_matrix_.num_col_ = rows, columns
    program.a_matrix_.start_, program.a_matrix_.index_ = within.rows.indptr, within.rows.indices
    program.a_matrix_.value_ = within.rows.data
    solver.passModel(program)
    numbers = np.arange(columns, dtype=np.int32)

    def solve(costs: Array) -> Array | None:
        solver.changeColsCost(columns, numbers, costs)
        solver.run()
        optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return np.array(solver.getSolution().col_value) if optimal else None

    return solve
