"""The paper's experiment and the comparisons: simulations with real reports that protect nobody."""

from bcdp.compare.catalogue import EXPERIMENTS, SEED, Experiment, find, run
from bcdp.compare.curves import Curve, Method, Procedure
from bcdp.compare.trials import Point, write_csv

Mechanism, Row = Procedure, Point  # their former names

__all__ = [
    "EXPERIMENTS",
    "SEED",
    "Curve",
    "Experiment",
    "Method",
    "Point",
    "Procedure",
    "find",
    "run",
    "write_csv",
]
