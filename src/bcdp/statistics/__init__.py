"""One file for each thing that can be asked for: the words of its task, its targets, its estimates, its rows."""

from bcdp.statistics.decoded import Decoded, error_without_privacy
from bcdp.statistics.interval import Estimate, on_simplex
from bcdp.statistics.protocol import Decoder, Expected, Goal, Means, Statistic
from bcdp.statistics.rows import Row, Section
from bcdp.statistics.target import Product, Single, Target

__all__ = [
    "Decoded",
    "Decoder",
    "Estimate",
    "Expected",
    "Goal",
    "Means",
    "Product",
    "Row",
    "Section",
    "Single",
    "Statistic",
    "Target",
    "error_without_privacy",
    "on_simplex",
]
