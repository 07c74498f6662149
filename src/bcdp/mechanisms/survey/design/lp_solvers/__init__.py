"""Linear programming solvers, one file each; a new solver is a file, and its line in `SOLVERS`.

The first one that is installed is used. All reach the same optimum but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from bcdp.mechanisms.survey.design.linear_programs import Polytope

Array = npt.NDArray[np.float64]
Minimise = Callable[[Array], Array | None]
"""The vertex of least costs in one polytope; None if the solver fails."""

SOLVERS = {"highspy": "highspy_solver", "scipy": "scipy_solver"}  # the package and its file here; best first


@lru_cache(maxsize=1)
def installed_solver() -> Callable[[Polytope], Minimise]:
    """Prepares programs over one polytope with the best solver at hand."""
    module = next(file for package, file in SOLVERS.items() if find_spec(package) is not None)
    prepare: Callable[[Polytope], Minimise] = import_module(f"{__name__}.{module}").prepare
    return prepare
