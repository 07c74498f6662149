"""The paper's experiment and the comparisons: simulations with real reports that protect nobody."""

from bcdp.compare.catalogue import EXPERIMENTS, SEED, Experiment, find, run
from bcdp.compare.curves import Curve, Mechanism, Method
from bcdp.compare.results import Row, write_csv

__all__ = ["EXPERIMENTS", "SEED", "Curve", "Experiment", "Mechanism", "Method", "Row", "find", "run", "write_csv"]
