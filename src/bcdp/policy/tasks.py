"""The tasks: what the collection is for. Each is one of the statistics, which stand in a package of their own."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache, reduce
from importlib import import_module
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainValidator, SerializeAsAny, Tag, TypeAdapter, ValidationInfo

from bcdp.policy.field_checks import Record, one_of

if TYPE_CHECKING:
    from bcdp.statistics import Statistic

# The word that names a statistic in a task, and where it stands. A new statistic is a file, and a line here.
STATISTICS = {
    "by": "bcdp.statistics.group_means.GroupMeans",  # before "mean", which its tasks name too
    "mean": "bcdp.statistics.mean.Mean",
    "share": "bcdp.statistics.share.Share",
    "frequency": "bcdp.statistics.frequency.Frequency",
    "table": "bcdp.statistics.tables.statistic.ContingencyTable",
    "change": "bcdp.statistics.change.Change",
    "distribution": "bcdp.statistics.distribution.Distribution",
    "regression": "bcdp.statistics.regression.statistic.Regression",
}


def statistics() -> dict[str, type[Statistic]]:
    """The class of each statistic, by the word that names it in a task; imported when this is called."""
    paths = ((word, path.rpartition(".")) for word, path in STATISTICS.items())
    return {word: getattr(import_module(module), name) for word, (module, _, name) in paths}


def _class(task: object) -> str | None:
    """The class of the task that is named, or of the first that is nearly named."""
    if not isinstance(task, Mapping):
        return None
    known = statistics()
    named = [word for word in known if word in task]
    nearly = [word for key in task for word in get_close_matches(str(key), known, n=1, cutoff=0.85)]
    return next((known[word].__name__ for word in named + nearly), None)


@lru_cache(maxsize=4)
def _reader(classes: tuple[type[Statistic], ...]) -> TypeAdapter[Statistic]:
    *forms, last = (statistic.form for statistic in classes)
    tagged: Any = reduce(or_, (Annotated[statistic, Tag(statistic.__name__)] for statistic in classes))
    return TypeAdapter(Annotated[tagged, one_of(_class, f"{', '.join(forms)} or {last}")])


def _read(task: Any, info: ValidationInfo) -> Statistic:
    return _reader(tuple(statistics().values())).validate_python(task, context=info.context)


if TYPE_CHECKING:
    Task = Statistic
else:
    Task = Annotated[SerializeAsAny[Record], PlainValidator(_read)]
