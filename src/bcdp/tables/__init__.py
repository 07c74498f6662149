"""Integer randomizer tables: build them, know their exact level, sample, decode (docs/theory.md, 4.1 and 4.2)."""

from bcdp.tables.categorical import binary, categorical, hadamard, response, subset
from bcdp.tables.dense import Dense
from bcdp.tables.documents import table_from_dict
from bcdp.tables.hadamard import Hadamard
from bcdp.tables.information import (
    binary_information,
    categorical_information,
    joint_information,
    numeric_information,
    steps_information,
)
from bcdp.tables.joint import joint, marginal_target
from bcdp.tables.laws import mixture_delta
from bcdp.tables.numeric import numeric, numeric_values
from bcdp.tables.protocol import Table
from bcdp.tables.response import Response
from bcdp.tables.wave_design import steps, waves
from bcdp.tables.waves import Waves

__all__ = [
    "Dense",
    "Hadamard",
    "Response",
    "Table",
    "Waves",
    "binary",
    "binary_information",
    "categorical",
    "categorical_information",
    "hadamard",
    "joint",
    "joint_information",
    "marginal_target",
    "mixture_delta",
    "numeric",
    "numeric_information",
    "numeric_values",
    "response",
    "steps",
    "steps_information",
    "subset",
    "table_from_dict",
    "waves",
]
