"""A plan's own device as a mechanism to audit: the code that people run, not the tables it claims to follow."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.audit.blackbox import Mechanism
from bcdp.audit.population import Codes, Population, distinct_rows
from bcdp.device import answers
from bcdp.errors import refuse
from bcdp.plan import Plan, check_menus
from bcdp.plan.messages import linked_plan
from bcdp.randomness import RecordWords


def device_mechanism(plan: Plan, population: Population) -> Mechanism:
    """What a device makes of the population's records: a whole number for each report, from fresh randomness.

    A row of codes stands for somebody of the population who has them, drawn again for each report, because a device
    rounds the number that a person holds, not the middle of its bin.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> from bcdp.audit import audit_mechanism, population_of
    >>> everybody = population_of(["smoker"], [0.5, 0.5])
    >>> found = audit_mechanism(device_mechanism(plan, everybody), everybody, runs=10_000, confidence=1 - 1e-9, rng=1)
    >>> found.alarms(epsilon=plan.certificate.epsilon)
    ()
    """
    check_menus(plan)
    plan = linked_plan(plan)
    starts = np.cumsum([0, *(math.prod(symbols) for symbols in plan.symbols)])
    held = {name: population.held(plan.policy, name) for name in population.names}

    def reports(records: Codes) -> npt.NDArray[np.int64]:
        people = _somebody(population, records)
        codes = {name: column[people] for name, column in held.items()}
        menu, answer = answers(plan, codes, RecordWords(None, range(len(records)), plan.id))
        return np.asarray(starts[menu] + answer, dtype=np.int64)

    return reports


def _somebody(population: Population, records: Codes) -> npt.NDArray[np.intp]:
    """For each row of codes the place of a person who has them, drawn by the persons' probabilities."""
    known = len(population.codes)
    _, cell = distinct_rows(np.concatenate([population.codes, records]).T)
    order = np.argsort(cell[:known], kind="stable")
    first, end = (np.searchsorted(cell[:known][order], cell[known:], side) for side in ("left", "right"))
    if (first == end).any():
        raise refuse("records", records[np.argmax(first == end)].tolist(), "codes that somebody of the population has")
    below = np.concatenate([[0.0], np.cumsum(population.probabilities[order])])
    aim = below[first] + (below[end] - below[first]) * np.random.default_rng().random(len(records))
    return np.asarray(order[np.clip(np.searchsorted(below[1:], aim, "right"), first, end - 1)])
