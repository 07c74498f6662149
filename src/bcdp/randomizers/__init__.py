"""Integer randomizer tables: build them, know their exact level, sample, decode (theory.md, 4.1 and 4.2)."""

from bcdp.randomizers.categorical import binary, categorical, hadamard, response, subset
from bcdp.randomizers.dense import Dense
from bcdp.randomizers.documents import table_from_dict
from bcdp.randomizers.hadamard import Hadamard
from bcdp.randomizers.information import (
    binary_information,
    categorical_information,
    joint_information,
    numeric_information,
    steps_information,
)
from bcdp.randomizers.joint import joint, marginal_target
from bcdp.randomizers.laws import mixture_delta
from bcdp.randomizers.numeric import numeric, numeric_values
from bcdp.randomizers.optimal import least_moment, optimal
from bcdp.randomizers.projective import Projective, projective
from bcdp.randomizers.protocol import Table
from bcdp.randomizers.response import Response
from bcdp.randomizers.wave_design import steps, waves
from bcdp.randomizers.waves import Waves

__all__ = [
    "Dense",
    "Hadamard",
    "Projective",
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
    "least_moment",
    "marginal_target",
    "mixture_delta",
    "numeric",
    "numeric_information",
    "numeric_values",
    "optimal",
    "projective",
    "response",
    "steps",
    "steps_information",
    "subset",
    "table_from_dict",
    "waves",
]
