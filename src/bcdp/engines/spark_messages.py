"""Messages of a log such as Kafka's as records: those that a plan can answer, and the others with the reason.

One message that cannot be read must not stop a stream for good, nor get lost. So a stream is split in two: records go
on to `spark.privatize`, and what is refused goes to an output of its own (a dead-letter queue), for somebody to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from bcdp.device import privatize as to_reports
from bcdp.errors import InputError, refuse
from bcdp.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MESSAGE, _REASON, _UNREAD = "value", "refused", "unread"


class Messages(NamedTuple):
    """A stream, or a table, of messages in two parts."""

    records: DataFrame  # the columns of the records, and those that came with the message, such as its timestamp
    refused: DataFrame  # `value`, the message as it came, and `reason`, which quotes nothing of it


def read_messages(plan: Plan, messages: DataFrame, columns: str, ids: str) -> Messages:
    """The records in messages of JSON, in a column `value`; `columns` names and types them, as Spark writes it.

    A message is refused if it is no JSON of these columns, has no id, or holds a record that the plan cannot answer.
    """
    from pyspark.sql.functions import col, from_json

    if _MESSAGE not in messages.columns:
        raise refuse("messages", f"the columns {', '.join(messages.columns)}", f"a column {_MESSAGE} of JSON texts")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _UNREAD}
    parsed = from_json(col(_MESSAGE).cast("string"), f"{columns}, {_UNREAD} string", options).alias("record")
    others = [name for name in messages.columns if name != _MESSAGE]
    read = messages.select(col(_MESSAGE).cast("string").alias(_MESSAGE), *others, parsed)
    read = read.select(_MESSAGE, *others, "record.*")
    if missing := {ids, *plan.policy.declared} - set(read.columns):
        raise refuse("columns", f"no column {', '.join(sorted(missing))}", "the id and every feature of the plan")
    judged = read.mapInArrow(partial(_judged, plan.text, ids), _judged_schema(read))
    records = judged.where(f"{_REASON} IS NULL").drop(_MESSAGE, _UNREAD, _REASON)
    return Messages(records, judged.where(f"{_REASON} IS NOT NULL").selectExpr(_MESSAGE, f"{_REASON} AS reason"))


def _judged_schema(read: DataFrame) -> str:
    kinds = [f"`{field.name.replace('`', '``')}` {field.dataType.simpleString()}" for field in read.schema.fields]
    return ", ".join([*kinds, f"{_REASON} string"])


@lru_cache(maxsize=8)
def _plan(text: str) -> Plan:
    return Plan.parse(text)


def _judged(text: str, ids: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        reasons: list[str | None] = [None] * len(batch)
        for row in range(len(batch)):
            if batch.column(_UNREAD)[row].is_valid or not batch.column(_MESSAGE)[row].is_valid:
                reasons[row] = "not JSON of the columns"
            elif not batch.column(ids)[row].is_valid:
                reasons[row] = "no id"
        _judge(_plan(text), batch, [row for row, reason in enumerate(reasons) if reason is None], reasons)
        yield batch.append_column(_REASON, pa.array(reasons, pa.string()))


def _judge(plan: Plan, batch: pa.RecordBatch, rows: list[int], reasons: list[str | None]) -> None:
    """Notes why the plan cannot answer some of these rows: tries all at once, and halves of them where one fails."""
    if not rows:
        return
    try:
        to_reports(plan, batch.take(pa.array(rows)))  # under a fresh key, and forgotten
    except InputError as error:
        if len(rows) == 1:
            reasons[rows[0]] = str(error)
            return
        middle = len(rows) // 2
        _judge(plan, batch, rows[:middle], reasons)
        _judge(plan, batch, rows[middle:], reasons)
