"""The cascade as a plan: channels with integer weights, coordinates for every feature, reports and budgets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.cascade.allocation import budgets
from bcdp.cascade.bits import keep_weight
from bcdp.cascade.mechanism import mean_mechanism, open_channels, predicted_error
from bcdp.correlation import Correlation
from bcdp.plan import Plan, collection_of
from bcdp.policy import Policy
from bcdp.randomness import KeyedDraws, RecordWords
from bcdp.tables import TOTAL, log_up

Array = npt.NDArray[np.float64]


def coordinates(policy: Policy) -> list[str]:
    """The feature of each coordinate: one for a number or a bit, one indicator for each value of a category."""
    return [name for name, f in policy.features.items() for _ in (f.values if f.type == "categorical" else (None,))]


def plan_cascade(policy: Policy, correlation: Correlation) -> Plan:
    """The paper's mechanism at the best level for the policy's demands (docs/theory.md, section 3)."""
    names = list(policy.features)
    owners = [names.index(name) for name in coordinates(policy)]
    demands = np.array([policy.features[name].delta for name in names])
    q = np.array([correlation.q(name, frozenset(names) - {name}) for name in names])
    c = budgets(demands[owners], policy.epsilon, q[owners]).c
    errors = predicted_error(c, 1)
    objective = float(errors[np.isfinite(errors)].sum())  # of what is released
    document = {
        "mechanism": "cascade",
        "collection": collection_of(policy),
        "correlation": correlation.restricted([(name, frozenset(names) - {name}) for name in names]).to_dict(),
        "channels": [
            {"features": sorted({names[owners[i]] for i in opened.features}), "keep": keep_weight(opened.budget)}
            for opened in open_channels(c)
        ],
    }
    return Plan.certified(document, lambda draft: (objective, None))


def coordinate_budgets(plan: Plan) -> Array:
    """The budget of each coordinate: the sum over the channels that cover its feature."""
    spent = dict.fromkeys(plan.policy.features, 0.0)
    for channel in plan.channels:
        for name in channel.features:
            spent[name] += log_up(Fraction(channel.keep, TOTAL - channel.keep))
    return np.array([spent[name] for name in coordinates(plan.policy)])


def largest_estimates(plan: Plan) -> Array:
    """The largest absolute value that a report can hold in each coordinate; NaN where nothing is released."""
    c = coordinate_budgets(plan)
    total, precision = np.zeros(c.size), np.zeros(c.size)
    for opened in open_channels(c):  # one channel's vector has the length B = sqrt(m variance)
        total[opened.features] += math.sqrt(opened.features.size / opened.variance)
        precision[opened.features] += 1 / opened.variance
    return total / np.where(precision > 0, precision, np.nan) * (1 + 1e-9)


def release(plan: Plan, codes: Mapping[str, npt.NDArray[Any]], words: RecordWords) -> Array:
    """The unbiased private estimate of each record, one coordinate after the other, on the [-1, 1] scale."""
    records = coordinate_values(plan.policy, codes)
    return mean_mechanism(records, coordinate_budgets(plan), KeyedDraws(words)) if len(records) else records


def coordinate_values(policy: Policy, codes: Mapping[str, npt.NDArray[Any]]) -> Array:
    """Each record as numbers in [-1, 1], one column for each coordinate."""
    columns = []
    for name, feature in policy.features.items():
        if feature.type == "numeric":
            columns.append(codes[name])
        elif feature.type == "binary":
            columns.append(codes[name] * 2.0 - 1)
        else:
            columns.extend(2.0 * (codes[name] == value) - 1 for value in range(len(feature.values)))
    return np.stack(columns, axis=1)
