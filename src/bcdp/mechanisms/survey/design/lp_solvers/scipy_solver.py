"""SciPy's solver, which is always installed: every program is solved from the beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bcdp.mechanisms.survey.design.lp_solvers import Minimise

if TYPE_CHECKING:
    from bcdp.mechanisms.survey.design.linear_programs import Polytope


def prepare(within: Polytope) -> Minimise:
    """Solves each program from the beginning."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    constraints = LinearConstraint(within.rows, within.least, within.most)
    # no integers; `linprog` checks longer than it solves
    return lambda costs: milp(costs, constraints=constraints, bounds=Bounds(within.lowest, np.inf)).x
