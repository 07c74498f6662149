"""Lower bounds on the error of any mechanism that are theorems, with proofs that anybody can check (Theorem 7)."""

from bcdp.compare.bound.document import Bound
from bcdp.compare.bound.problem import problem_of

__all__ = ["Bound", "problem_of"]
