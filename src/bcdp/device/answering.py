"""A table of records becomes a table of reports: encoded by public rules, released by the plan's mechanism."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.errors import expect, refuse
from bcdp.files import read_batches
from bcdp.plan import A_PLAN, PLAN_KEY, Plan, mechanism_of, report_schema
from bcdp.plan.messages import messages_each
from bcdp.randomness import KeyedWords, as_ids, check_key, fresh_key
from bcdp.records.encoding import arrow_types, as_arrow
from bcdp.records.open_groups import group_numbers


def privatize(plan: Plan, table: Any, key: bytes | None = None, ids: Any = None) -> pa.Table:
    """The reports of a batch of records, one row each: `menu` and `answer`, or `estimate` for a cascade plan.

    With open features a report has one more column, `group`: the number of the person's open values, as they are.
    A plan of several messages gives one row for each message, sorted, so that nothing links those of one person.

    With a `key` and `ids` (a column's name, or one id per record) the same records give the same reports again; without
    them the randomness is fresh. An id stands for one record: its values must not change between two runs, because two
    answers drawn with the same words can be compared. The ids 7 and "7" are one, "007" is another. Arrow tables,
    pandas, polars, mappings of columns, lists of mappings and the paths of files are read the same way.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> privatize(plan, {"smoker": [True, False, True]}).column_names
    ['menu', 'answer']
    """
    expect("plan", plan, Plan, A_PLAN)
    plan.verify()
    records = _read(plan, Path(table)) if isinstance(table, str | os.PathLike) else as_arrow(table)
    secret = fresh_key() if key is None else check_key(key)
    identities = _ids(records, key, ids)
    keyed = KeyedWords(secret, plan.id)
    mechanism = mechanism_of(plan)
    # what is refused is refused before anything random
    groups = [group_numbers(plan.policy, records)] if plan.policy.open else []
    columns = mechanism.release(plan, records, lambda part: keyed.of(identities[part]))
    schema = report_schema(plan).with_metadata({PLAN_KEY: plan.id.encode()})
    each = messages_each(plan)
    reports = pa.table([*columns, *(pa.array(np.tile(group, each)) for group in groups)], schema=schema)
    # in an order that depends on what is in the messages alone: nothing links those of one person
    return reports.sort_by([(name, "ascending") for name in schema.names]) if each > 1 else reports


def _read(plan: Plan, path: Path) -> pa.Table:
    """The records of a file, whole; `bcdp.engines.local.privatize_file` reads files of any size."""
    batches = list(read_batches(path, arrow_types(plan.policy)))
    return pa.Table.from_batches(batches) if batches else as_arrow({name: [] for name in plan.policy.declared})


def _ids(records: pa.Table, key: bytes | None, ids: Any) -> Any:
    if ids is None:
        if key is not None:
            raise refuse("ids", None, "a column's name or one id per record, because a key repeats answers by id")
        return np.arange(len(records))
    if isinstance(ids, str):
        if (count := records.column_names.count(ids)) != 1:
            raise refuse("ids", f"{ids}, the name of {count or 'no'} column{'s' * (count > 1)}", "a column's name")
        ids = records.column(ids)
    if len(ids) != len(records):
        raise refuse("ids", f"{len(ids)} ids", f"one for each of the {len(records)} records")
    known = as_ids(ids)
    if (distinct := _distinct(known)) < len(known):
        raise refuse("ids", f"{distinct} different ids for {len(known)} records", "a different id for each record")
    return known


def _distinct(ids: npt.NDArray[Any] | pa.Array) -> int:
    if isinstance(ids, pa.Array):
        return len(ids.unique())
    pairs = (slice(start, start + 2**16) for start in range(0, max(len(ids) - 1, 0), 2**16))
    if all(np.all(ids[1:][pair] > ids[:-1][pair]) for pair in pairs):
        return len(ids)
    ordered = np.sort(ids)
    return len(ids) - int(np.count_nonzero(ordered[1:] == ordered[:-1]))
