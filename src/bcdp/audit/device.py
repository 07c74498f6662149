"""A plan's own device as a mechanism to audit: the code that people run, not the tables it claims to follow."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.audit.blackbox import Mechanism
from bcdp.audit.population import Codes, Population, worth
from bcdp.device import answers
from bcdp.errors import refuse
from bcdp.plan import Plan
from bcdp.policy import NumericFeature
from bcdp.randomness import RecordWords


def device_mechanism(plan: Plan, population: Population) -> Mechanism:
    """What a device makes of the population's records: a whole number for each report, from fresh randomness."""
    if plan.mechanism != "survey":
        raise refuse("plan.mechanism", plan.mechanism, "survey")
    starts = np.cumsum([0, *(math.prod(symbols) for symbols in plan.symbols)])

    def reports(records: Codes) -> npt.NDArray[np.int64]:
        codes = {
            name: worth(size, column) if isinstance(plan.policy.features[name], NumericFeature) else column
            for name, size, column in zip(population.names, population.sizes, records.T, strict=True)
        }
        menu, answer = answers(plan, codes, RecordWords(None, range(len(records)), plan.id))
        return np.asarray(starts[menu] + answer, dtype=np.int64)

    return reports
