"""The cascade as a plan: channels with integer weights, coordinates for every feature, and reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.correlation import Correlation, unrounded_odds, unrounded_q
from bcdp.errors import refuse
from bcdp.mechanisms.cascade.allocation import budgets
from bcdp.mechanisms.cascade.bits import RESOLUTION
from bcdp.mechanisms.cascade.checks import check_complete, check_records, check_tasks
from bcdp.mechanisms.cascade.mechanism import (
    OpenChannel,
    average,
    open_channel,
    open_channels,
    predicted_error,
    run_channels,
)
from bcdp.plan import Plan, collection_of
from bcdp.policy import Policy
from bcdp.randomness import KeyedDraws, RecordWords
from bcdp.records.encoding import encoded_blocks

Array = npt.NDArray[np.float64]

_BLOCK = 2**17  # records that fit in the processor's cache


def coordinates(policy: Policy) -> list[str]:
    """The feature of each coordinate: one for a number or a bit, one indicator for each value of a category."""
    return [name for name, feature in policy.features.items() for _ in feature.columns]


def coordinate_budgets(policy: Policy, correlation: Correlation) -> Array:
    """The budget of each coordinate, at the best level for the policy's demands."""
    demands, others = policy.features, frozenset(policy.features)
    bounds = {name: (unrounded_q(correlation, name, others - {name}),
                     unrounded_odds(correlation, name, others - {name})) for name in demands}  # fmt: skip
    owners = coordinates(policy)
    q, odds = zip(*(bounds[name] for name in owners), strict=True)
    return budgets([demands[name].delta for name in owners], policy.epsilon, q, odds=odds).c


def make_plan(
    policy: Policy,
    correlation: Correlation,
    progress: Callable[[str], None] = lambda line: None,
    seconds: float | None = None,
) -> Plan:
    """The paper's mechanism at the best level for the policy's demands (theory.md, section 3), in no time."""
    check_complete(policy)
    check_tasks(policy)
    owners, names = coordinates(policy), frozenset(policy.features)
    c = coordinate_budgets(policy, correlation)
    channels = open_channels(c)
    if not channels:
        accepted = f"an epsilon and a delta of at least {RESOLUTION:.2g}: below it, weights are a fair coin's"
        raise refuse("epsilon and delta", f"budgets of at most {c.max():.3g}", accepted)
    errors = predicted_error(c, 1)
    objective = float(errors[np.isfinite(errors)].sum())  # of what is released
    document = {
        "mechanism": "cascade",
        "collection": collection_of(policy),
        "correlation": correlation.restricted([(name, names - {name}) for name in policy.features]).to_dict(),
        "channels": [
            {"features": sorted({owners[i] for i in opened.features}), "keep": opened.keep} for opened in channels
        ],
    }
    return Plan.certified(document, lambda draft: (objective, None))


def plan_channels(plan: Plan) -> list[OpenChannel]:
    """The plan's channels over coordinates, each with the plan's own integer."""
    owners = coordinates(plan.policy)
    covered = [frozenset(channel.features) for channel in plan.channels]
    return [
        open_channel(np.flatnonzero([owner in names for owner in owners]), channel.keep)
        for names, channel in zip(covered, plan.channels, strict=True)
    ]


def largest_estimates(plan: Plan) -> Array:
    """The largest absolute value that a report can hold in each coordinate; NaN where nothing is released."""
    channels = plan_channels(plan)
    lengths = [math.sqrt(opened.features.size * opened.variance) for opened in channels]  # B of each channel's vector
    return average(channels, lengths, (len(coordinates(plan.policy)),)) * (1 + 1e-9)


def report_schema(plan: Plan) -> pa.Schema:
    """One estimate of the whole record."""
    return pa.schema([("estimate", pa.list_(pa.float64(), len(coordinates(plan.policy))))])


def release(plan: Plan, records: pa.Table, words: Callable[[slice], RecordWords]) -> list[pa.Array]:
    """The private estimate of each record as a list."""
    blocks = encoded_blocks(plan.policy, records, _BLOCK)
    estimates = (estimate_records(plan, codes, words(part)) for part, codes in blocks)
    lists = [pa.FixedSizeListArray.from_arrays(pa.array(block.reshape(-1)), block.shape[1]) for block in estimates]
    return [pa.concat_arrays(lists)]


def estimate_records(plan: Plan, codes: Mapping[str, npt.NDArray[Any]], words: RecordWords) -> Array:
    """The unbiased private estimate of each record, one coordinate after the other, on the [-1, 1] scale."""
    records = coordinate_values(plan.policy, codes)
    if not len(records):
        return records
    return run_channels(check_records(records), plan_channels(plan), KeyedDraws(words))


def coordinate_values(policy: Policy, codes: Mapping[str, npt.NDArray[Any]]) -> Array:
    """Each record as numbers in [-1, 1], one column for each coordinate."""
    columns = [
        feature.worth(codes[name], category)
        for name, feature in policy.features.items()
        for category in feature.columns
    ]
    return np.stack(columns, axis=1)
