"""Every problem of a file against a policy at once, each with the line that settles it; never a value of a record."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import yaml

from bcdp.errors import InputError, refuse
from bcdp.files import table_in_memory
from bcdp.policy import (
    NOT_APPLICABLE,
    BinaryFeature,
    Dumper,
    Feature,
    MultipleFeature,
    NumericFeature,
    OpenFeature,
    Policy,
)
from bcdp.policy.base_feature import OWN
from bcdp.records.column_guesses import DATE, looks_like, rewritten, words_of
from bcdp.records.encoding import (
    arrow_types,
    codes_of,
    encode,
    holds_numbers,
    imputed_code,
    is_missing,
    values_coded,
)
from bcdp.records.follow_ups import asked_rows
from bcdp.records.open_groups import group_numbers
from bcdp.records.ticks import readable_sets, unticked, with_lists
from bcdp.records.whole_words import joined
from bcdp.records.word_verdicts import OTHER, listed_values, other_of, verdicts


@dataclass(frozen=True)
class DataProblem:
    """Something about a column: what was found, what settles it, and the keys of the feature that do, if any.

    `refused`: records are refused for it, unless `mended` says how they are written again. Else it is counted by the
    policy's rule, and worth knowing.
    """

    column: str
    found: str
    settled: str
    refused: bool
    keys: Mapping[str, Any] | None = None
    mended: str | None = None

    @property
    def sentence(self) -> str:
        """Both in one sentence."""
        return f"{self.column}: {self.found}; {self.settled}"

    @property
    def blocks(self) -> bool:
        """Whether a person has to settle it before the records can be used or written again."""
        return self.refused and self.mended is None


@dataclass(frozen=True)
class Checked:
    """What a file's records look like to a policy; `uncollected` are the columns that it does not name, by kind."""

    people: int
    problems: tuple[DataProblem, ...]
    uncollected: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """Whether the file cannot be used as it is."""
        return any(problem.refused for problem in self.problems)

    @property
    def blocked(self) -> bool:
        """Whether the file cannot be used even when it is written again."""
        return any(problem.blocks for problem in self.problems)


def check_data(policy: Policy, batches: Iterable[pa.RecordBatch], typed: bool = False) -> Checked:
    """All that is wrong or unusual about the columns of a table, the text of a CSV as it stands in the file.

    `typed`: the file states what its columns hold, so that devices refuse numbers in a column of texts.

    >>> policy = Policy(epsilon=1, features={"region": {"type": "categorical", "values": ["north", "south"]}})
    >>> table = pa.table({"region": ["north", "North", "east"]})
    >>> for problem in check_data(policy, table.to_batches()).problems:
    ...     print(problem.sentence)
    region: 1 of 3 is a listed value in other letters, first in row 2; -o writes it as listed
    region: 1 of 3 is not listed, first in row 3; add `other` to its values, and -o writes it so
    """
    people, seen = 0, dict[str, _Column]()
    names = list[str]()
    for batch in batches:
        table = with_lists(policy, pa.Table.from_batches([batch]))
        names, asked = names or table.column_names, _asked(policy, table)
        for name, values in zip(table.column_names, table.combine_chunks().columns, strict=True):
            column = seen.setdefault(name, _Column(name, policy, typed))
            column.look(values.combine_chunks(), people, asked.get(name))
        people += len(batch)
    if not people:
        raise refuse("data", "no rows", "a file with at least one record")
    problems = [*_absent(policy, names)]
    for name in policy.declared:
        if name in seen:
            problems += seen[name].problems(people)
    left = {name: column.kind for name, column in seen.items() if name not in policy.declared}
    return Checked(people, tuple(problems), left)


def _asked(policy: Policy, table: pa.Table) -> dict[str, npt.NDArray[np.bool_]]:
    """In which records each follow-up is asked, as far as the features that it depends on can be read."""
    parents = {parent for name in policy.blocks for parent in policy.features[name].asked_if or ()}
    if not parents <= set(table.column_names):
        return {}
    return dict(asked_rows(policy, {name: _readable(policy, name, table.column(name)) for name in parents}))


def _readable(policy: Policy, name: str, column: pa.ChunkedArray) -> npt.NDArray[np.int32]:
    """The codes of a column with values as far as it can be read, and numbers below 0 elsewhere."""
    feature, values = policy.features[name], column.combine_chunks()
    if isinstance(feature, MultipleFeature):
        return readable_sets(feature, values)
    assert not isinstance(feature, NumericFeature)
    known = codes_of(feature.values)
    imputed = imputed_code(feature, known, -2)
    return values_coded(joined(known, {"": imputed}), imputed, values)


def _absent(policy: Policy, names: list[str]) -> Iterator[DataProblem]:
    """The features without exactly one column."""
    for name in policy.declared:
        count = names.count(name)
        if count > 1:
            yield DataProblem(name, f"there are {count} columns of this name", "leave one of them in the file", True)
        elif not count:
            free = {other.strip().casefold(): other for other in names if other not in policy.declared}
            close = get_close_matches(name.strip().casefold(), free, n=1)
            settled = "add it to the file, or leave the feature out"
            if close:
                settled = f"name the column {free[close[0]]!r} of the file as the policy does, or the other way round"
            yield DataProblem(name, "there is no such column", settled, True)


class _Column:
    """The problems of one column, counted while its rows go by."""

    def __init__(self, name: str, policy: Policy, typed: bool) -> None:
        self.name, self.policy = name, policy
        self.feature = feature = policy.declared.get(name)
        self.kind: str | None = None
        self._is_date = isinstance(feature, NumericFeature) and feature.is_date
        self._typed_number = typed and isinstance(feature, NumericFeature) and not self._is_date
        self._unreadable = False
        self._counts, self._first = Counter[str](), dict[str, int]()
        self._currencies = set[str]()
        self._judge = None if feature is None else verdicts(feature)

    def look(self, values: pa.Array, rows: int, asked: npt.NDArray[np.bool_] | None = None) -> None:
        """Looks at some rows, of which so many stand before them; of a follow-up, at those in which it is `asked`."""
        places = np.arange(len(values))
        if asked is not None:
            hidden = ~asked & ~is_missing(pa.chunked_array([values]))
            hidden[hidden] = [str(word) != NOT_APPLICABLE for word in values.filter(pa.array(hidden)).to_pylist()]
            self._count("unasked", int(hidden.sum()), rows + int(hidden.argmax()))
            places, values = np.flatnonzero(asked), values.filter(pa.array(asked))
        if isinstance(self.feature, MultipleFeature):
            for problem, row in unticked(self.feature, values):
                self._count(problem, 1, rows + int(places[row]))
            return
        if self._is_date and pa.types.is_timestamp(values.type):
            values = values.cast(pa.date32(), safe=False)  # as it is read
        words = words_of(values)
        if words is None:
            self._unreadable = True
            return
        if rows == 0:
            self.kind = looks_like(self.name, values.type, words)
        if self._judge is None:
            return
        self._count("missing", words.missing, rows + int(places[words.first_missing]) if words.missing else rows)
        as_text = self._typed_number and not holds_numbers(values.type)
        for word, count, row in words:
            verdict = self._judge(word)
            if verdict.currency:
                self._currencies.add(verdict.currency)
            if kind := verdict.kind:
                self._count(kind, count, rows + int(places[row]))
            if as_text and kind in (None, "outside"):
                self._count("as text", count, rows + int(places[row]))

    def _count(self, what: str, count: int, row: int) -> None:
        if count:
            self._counts[what] += count
            self._first.setdefault(what, row + 1)

    def problems(self, people: int) -> Iterator[DataProblem]:
        """What was found, in words."""
        if self._unreadable:
            yield DataProblem(self.name, "it holds lists or records", "turn it into a number or a category first", True)
            return
        if len(self._currencies) > 1:
            yield DataProblem(self.name, "its amounts have several currencies", "convert them into one", True)
        if self.kind is not None and not (self._is_date and self.kind == DATE):
            settled = "leave it out: no statistic needs it"
            if self.kind == DATE:
                settled = "collect months, years or an age in its place: type: date, or a column of its own"
            yield DataProblem(self.name, f"it looks like {self.kind}, which single out people", settled, False)
        for what in _KINDS:
            if self._counts[what]:
                yield self._problem(what, people)

    def _problem(self, what: str, people: int) -> DataProblem:
        count = self._counts[what]
        is_are, has_have, it = ("is", "has", "it") if count == 1 else ("are", "have", "them")
        kind = self._rule(what, "its cell" if count == 1 else "their cells")
        sentence = kind.found.format(f"{count:,} of {people:,}", is_are, has_have)
        row, settled = f", first in row {self._first[what]:,}", kind.settled.format(it)
        return DataProblem(
            self.name, sentence + row, settled, kind.refused, kind.keys, kind.mended and f"{count:,} {kind.mended}"
        )

    def _rule(self, what: str, cells: str) -> _Kind:
        """What is reported of a kind of problem where the feature has a rule for it, or needs one."""
        feature, kind = self.feature, _KINDS[what]
        assert feature is not None
        if what in ("missing", "gap") and feature.missing is None:
            settled, keys = _rule_for(self.policy, self.name)
            return replace(kind, settled=settled, keys=keys)
        if what == "missing":
            return replace(kind, settled=self.policy.features[self.name].missing_said, refused=False)
        if what == "gap":
            return replace(kind, settled=f"-o leaves {cells} empty", mended="left empty")
        if what == "unlisted" and (other := other_of(feature)) is not None:
            return replace(kind, settled=f"-o writes {{0}} as {_braced(other)}", mended=f"written as {other!r}")
        return replace(kind, keys=_with_other(feature)) if what == "unlisted" else kind


def _braced(value: object) -> str:
    """A value inside a text that is formatted."""
    return repr(value).replace("{", "{{").replace("}", "}}")


def _with_other(feature: Feature | OpenFeature) -> dict[str, Any]:
    """The keys by which a feature lists `other`, which two values have no room for."""
    keys = {"values": [*listed_values(feature), OTHER]}
    return {"type": "categorical", **keys} if isinstance(feature, BinaryFeature) else keys


def _rule_for(policy: Policy, name: str) -> tuple[str, dict[str, Any] | None]:
    """What settles values that are missing: no answer as a value of its own, so that none is invented.

    Where its tasks refuse that, a person has to say what counts.
    """
    if name in policy.open:
        return "leave these records out: an open value is sent as it is, so each needs one", None
    stated = policy.to_dict()
    stated["features"][name]["missing"] = OWN
    try:
        if Policy.parse(stated).features[name].own:
            return "state `missing` (own: counted apart), or leave these records out", {"missing": OWN}
    except InputError:
        pass
    return "state as `missing` the value that counts for {0}, or leave these records out", None


@dataclass(frozen=True)
class _Kind:
    """A kind of problem: what is reported of it, what settles it, and whether records are refused for it.

    `mended` says how such words are written again, where that needs no rule of the feature.
    """

    found: str
    settled: str = ""
    refused: bool = True
    mended: str | None = None
    keys: Mapping[str, Any] | None = None


_KINDS = {
    "unasked": _Kind("{0} {2} a value where the question is not asked", "leave the cells empty, or correct the others"),
    "item": _Kind("{0} {2} an item that is not listed", "add it to the values, or correct {0} in the file"),
    "many": _Kind("{0} {2} more items than may be ticked", "raise `at_most`, or correct {0} in the file"),
    "missing": _Kind("{0} {2} no value"),
    "gap": _Kind("{0} {2} a word for no value"),
    "spelled": _Kind("{0} {1} a listed value in other letters", "-o writes {0} as listed", mended="written as listed"),
    "alias": _Kind("{0} {1} another word for a listed value", "-o writes {0} as listed", mended="written as listed"),
    "unlisted": _Kind("{0} {1} not listed", "add `other` to its values, and -o writes {0} so"),
    "amount": _Kind(
        "{0} {1} a number with separators or a currency",
        "-o writes {0} without",
        mended="written without separators and currency",
    ),
    "as text": _Kind(
        "{0} {1} a number in a column of texts", "-o writes {0} as a number", mended="written as a number"
    ),
    "date": _Kind("{0} {1} a date and no number", "state type: date, or collect a year or an age in its place"),
    "no date": _Kind("{0} {1} no date such as 1974-05-31", "correct {0} in the file, or leave the cells empty"),
    "timed": _Kind("{0} {2} a time of day", "-o writes {0} without", mended="written without the time of day"),
    "text": _Kind("{0} {1} no number", "correct {0} in the file, or leave the cells empty and state `missing`"),
    "outside": _Kind(
        "{0} {1} outside the bounds and counted as the nearer one",
        "wider bounds cost accuracy; take them from public knowledge",
        refused=False,
    ),
}


def mended(policy: Policy, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The columns that the policy names as text, their words as it lists them, for a file without blocking problems.

    >>> policy = Policy(epsilon=1, features={"region": {"type": "categorical", "values": ["north", "south", "other"]}})
    >>> mended(policy, pa.record_batch({"region": ["North", "east"], "id": [1, 2]})).to_pydict()
    {'region': ['north', 'other']}
    """
    kept = [name for name in batch.schema.names if name in policy.declared]
    columns = [rewritten(batch.column(name), _writing(policy.declared[name])) for name in kept]
    return pa.RecordBatch.from_arrays(columns, names=kept)


def _writing(feature: Feature | OpenFeature) -> Callable[[str], str | None]:
    judge = verdicts(feature)
    return lambda word: judge(word).written


def mended_csv(policy: Policy, batch: pa.RecordBatch) -> bytes:
    """These columns as a CSV; that `privatize` accepts it is not assumed but tried, by the same reader and rules."""
    buffer = io.BytesIO()
    pyarrow.csv.write_csv(mended(policy, batch), buffer)
    written = buffer.getvalue()
    reread = table_in_memory("mended.csv", written, arrow_types(policy))
    encode(policy, reread)
    group_numbers(policy, reread)
    if len(reread) != len(batch):
        raise refuse("data", f"{len(batch)} records that read as {len(reread)}", "values without line breaks")
    return written


def policy_lines(document: Mapping[str, Any], problems: Iterable[DataProblem]) -> list[str]:
    """The features of a policy's document with the keys that settle some problems, as lines to paste.

    A line is only given if the policy can be read with it: what its tasks or translations refuse is for a person.
    """
    changed: dict[str, dict[str, Any]] = {}
    for problem in problems:
        stated = document["features"]
        if problem.keys is None:
            continue
        feature = {**changed.get(problem.column, stated[problem.column]), **problem.keys}
        try:
            Policy.parse({**document, "features": {**stated, **changed, problem.column: feature}})
        except InputError:
            continue
        changed[problem.column] = feature
    return [f"  {_on_a_line(name)}: {_on_a_line(keys)}" for name, keys in changed.items()]


def _on_a_line(value: Any) -> str:
    """A value as YAML that stands in one line."""
    text = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=math.inf, default_flow_style=True)
    return text.removesuffix("\n").removesuffix("\n...")
