"""One file for each thing that can be asked for: the words of its task, its targets, its estimates, its rows."""

from bcdp.statistics.shared.block_targets import BlockAim, BlockValues
from bcdp.statistics.shared.decoded_values import Decoded, error_without_privacy
from bcdp.statistics.shared.interval import Estimate, on_simplex
from bcdp.statistics.shared.joint_targets import Below, BlockSteps, Interaction, Steps
from bcdp.statistics.shared.linear_form import LARGEST_SHARE_OF_FAKES
from bcdp.statistics.shared.protocol import Decoder, Expected, Goal, Means, Statistic, scale_of_shares
from bcdp.statistics.shared.rows import LISTED, MANY, Row, Section
from bcdp.statistics.shared.target import Askable, Margin, Product, Role, Single, Target
from bcdp.statistics.shared.value_targets import AimedValues, ValueMeans, headline

__all__ = [
    "LARGEST_SHARE_OF_FAKES",
    "LISTED",
    "MANY",
    "AimedValues",
    "Askable",
    "Below",
    "BlockAim",
    "BlockSteps",
    "BlockValues",
    "Decoded",
    "Decoder",
    "Estimate",
    "Expected",
    "Goal",
    "Interaction",
    "Margin",
    "Means",
    "Product",
    "Role",
    "Row",
    "Section",
    "Single",
    "Statistic",
    "Steps",
    "Target",
    "ValueMeans",
    "error_without_privacy",
    "headline",
    "on_simplex",
    "scale_of_shares",
]
