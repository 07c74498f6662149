"""One file for each thing that can be asked for: the words of its task, its targets, its estimates, its rows."""

from bcdp.statistics.cells import Below, Interaction, Steps
from bcdp.statistics.decoded import Decoded, error_without_privacy
from bcdp.statistics.interval import Estimate, on_simplex
from bcdp.statistics.protocol import Decoder, Expected, Goal, Means, Statistic
from bcdp.statistics.rows import Row, Section
from bcdp.statistics.target import Product, Single, Target

__all__ = [
    "Below",
    "Decoded",
    "Decoder",
    "Estimate",
    "Expected",
    "Goal",
    "Interaction",
    "Means",
    "Product",
    "Row",
    "Section",
    "Single",
    "Statistic",
    "Steps",
    "Target",
    "error_without_privacy",
    "on_simplex",
]
