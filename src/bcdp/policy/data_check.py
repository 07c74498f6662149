"""Every problem of a file against a policy at once, each with the line that settles it; never a value of a record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import pyarrow as pa
import yaml

from bcdp.errors import InputError, refuse
from bcdp.files import NOT_A_NUMBER
from bcdp.policy import PLACEHOLDER, Dumper, Feature, Policy
from bcdp.policy.columns import DATE, ColumnWords, is_date, looks_like, number_in, number_meant, only_texts, words_of
from bcdp.policy.encoding import codes_of, spelled
from bcdp.policy.features import OWN

OTHER = "other"
_SAME = [  # words of one meaning, in small letters
    {"no", "n", "false", "f", "0", "0.0", "off", "none"},
    {"yes", "y", "true", "t", "1", "1.0", "on"},
    {"female", "f", "woman", "w"},
    {"male", "m", "man"},
]

_NO_VALUE = {  # words that stand for no value where no listed value is meant, in small letters
    *("na", "n/a", "n.a.", "#n/a", "nan", "null", "nil", "-", "--", "?", ".", "unknown", "missing"),
    *("no answer", "not available", "not applicable"),
}


@dataclass(frozen=True)
class DataProblem:
    """Something about a column: what was found, what settles it, and the keys of the feature that do, if any.

    `refused`: records are refused for it. Else it is counted by the policy's rule, and worth knowing.
    """

    column: str
    found: str
    settled: str
    refused: bool
    keys: Mapping[str, Any] | None = None
    renamed: str | None = None  # what the feature has to be called

    @property
    def sentence(self) -> str:
        """Both in one sentence."""
        return f"{self.column}: {self.found}; {self.settled}"


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


def check_data(policy: Policy, batches: Iterable[pa.RecordBatch]) -> Checked:
    """All that is wrong or unusual about the columns of a table, the text of a CSV as it stands in the file.

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
        names = names or batch.schema.names
        for name, values in zip(batch.schema.names, batch.columns, strict=True):
            column = seen.setdefault(name, _Column(name, policy))
            column.look(values, people)
        people += len(batch)
    if not people:
        raise refuse("data", "no rows", "a file with at least one record")
    problems = [*_absent(policy, names)]
    for name in policy.features:
        if name in seen:
            problems += seen[name].problems(people)
    left = {name: column.kind for name, column in seen.items() if name not in policy.features}
    return Checked(people, tuple(problems), left)


def _absent(policy: Policy, names: list[str]) -> Iterator[DataProblem]:
    """The features without exactly one column."""
    for name in policy.features:
        count = names.count(name)
        if count > 1:
            yield DataProblem(name, f"there are {count} columns of this name", "leave one of them in the file", True)
        elif not count:
            free = {other.strip().casefold(): other for other in names if other not in policy.features}
            close = get_close_matches(name.strip().casefold(), free, n=1)
            if close:
                near = free[close[0]]
                settled = f"name the feature {near!r} as the file does"
                yield DataProblem(name, "there is no such column", settled, True, {}, near)
            else:
                yield DataProblem(name, "there is no such column", "add it to the file, or leave the feature out", True)


class _Column:
    """The problems of one column, counted while its rows go by."""

    def __init__(self, name: str, policy: Policy) -> None:
        self.name, self.policy = name, policy
        self.feature = feature = policy.features.get(name)
        self.kind: str | None = None
        self._unreadable = False
        self._counts, self._first = Counter[str](), dict[str, int]()
        self._judge = None if feature is None else _judge(feature)

    def look(self, values: pa.Array, rows: int) -> None:
        """Looks at some rows, of which so many stand before them."""
        found = words_of(values)
        if found is None:
            self._unreadable = True
            return
        if rows == 0:
            self.kind = looks_like(self.name, values.type, found)
        if self._judge is None:
            return
        self._count("missing", found.missing, rows + found.first_missing)
        for word, count, row in found:
            if wrong := self._judge(word):
                self._count(wrong, count, rows + row)

    def _count(self, what: str, count: int, row: int) -> None:
        if count:
            self._counts[what] += count
            self._first.setdefault(what, row + 1)

    def problems(self, people: int) -> Iterator[DataProblem]:
        """What was found, in words."""
        feature = self.feature
        assert feature is not None
        if self._unreadable:
            yield DataProblem(self.name, "it holds lists or records", "turn it into a number or a category first", True)
            return
        if self.kind == DATE:
            yield DataProblem(
                self.name,
                "it looks like dates, which tell one person from another",
                "collect a year or an age in its place, by a column of its own",
                feature.is_number or self._counts["unlisted"] > 0,
                {"type": "numeric", "bounds": [PLACEHOLDER, PLACEHOLDER]},
            )
            return
        if self.kind is not None:
            yield DataProblem(self.name, f"it looks like {self.kind}", "leave it out: no statistic needs it", True)
            return
        for what, (told, settled, refused) in _SAID.items():
            if count := self._counts[what]:
                is_are = "is" if count == 1 else "are"
                found = told.format(f"{count:,} of {people:,}", is_are, "has" if count == 1 else "have")
                said = settled.format("it" if count == 1 else "them")
                yield self._problem(what, f"{found}, first in row {self._first[what]:,}", said, refused)

    def _problem(self, what: str, found: str, settled: str, refused: bool) -> DataProblem:
        feature = self.feature
        keys: dict[str, Any] | None = None
        assert feature is not None
        if what in ("missing", "gap") and feature.missing is None:
            keys = {"missing": _rule_for(self.policy, self.name)}
        elif what == "missing":
            refused, settled = False, feature.missing_said
        elif what == "unlisted":
            if _other_of(feature) is not None:
                settled = f"-o writes {'it' if self._counts[what] == 1 else 'them'} as {_other_of(feature)!r}"
            elif feature.counts_values:
                keys = {"values": [*feature.categories, OTHER]}
            else:
                keys = {"type": "categorical", "values": [*feature.categories, OTHER]}
                keys |= {} if feature.missing is None else {"missing": feature.missing}
        elif what in ("text", "gap") and feature.missing is not None:
            settled = f"-o leaves {'its cell' if self._counts[what] == 1 else 'their cells'} empty"
        return DataProblem(self.name, found, settled, refused, keys)


def _rule_for(policy: Policy, name: str) -> str:
    """What a feature may state for values that are missing: no answer as a value of its own, so that none is made up.

    Where its tasks refuse that, a person has to say what counts.
    """
    stated = policy.to_dict()
    stated["features"][name]["missing"] = OWN
    try:
        return OWN if Policy.parse(stated).features[name].own else PLACEHOLDER
    except InputError:
        return PLACEHOLDER


_SAID = {  # what is told of each kind of problem, what settles it, and whether records are refused for it
    "missing": ("{0} {2} no value", "state `missing` (own: counted apart), or leave these records out", True),
    "gap": ("{0} {2} a word for no value", "state `missing` (own: counted apart), and -o leaves the cells empty", True),
    "spelled": ("{0} {1} a listed value in other letters", "-o writes {0} as listed", True),
    "alias": ("{0} {1} another word for a listed value", "-o writes {0} as listed", True),
    "unlisted": ("{0} {1} not listed", "add `other` to its values, and -o writes {0} so", True),
    "grouped": ("{0} {1} a number in groups of three digits", "-o writes {0} without", True),
    "date": ("{0} {1} a date and no number", "collect a year or an age in its place", True),
    "text": ("{0} {1} no number", "correct {0} in the file, or leave the cells empty and state `missing`", True),
    "outside": (
        "{0} {1} outside the bounds and counted as the nearer one",
        "wider bounds cost accuracy; take them from public knowledge",
        False,
    ),
}


def _judge(feature: Feature) -> Callable[[str], str | None]:
    """What is wrong with a word of a column, None if nothing is."""
    return _number_judge(*feature.span) if feature.is_number else _value_judge(feature)


def _number_judge(low: float, high: float) -> Callable[[str], str | None]:
    def judge(word: str) -> str | None:
        if word in NOT_A_NUMBER:
            return "missing"
        number = number_in(word)
        if number is None:
            return "grouped" if number_meant(word) else "date" if is_date(word) else "text"
        return "missing" if math.isnan(number) else None if low <= number <= high else "outside"

    return judge


def _value_judge(feature: Feature) -> Callable[[str], str | None]:
    known, meant = codes_of(getattr(feature, "values", None)), _meanings(feature)

    def judge(word: str) -> str | None:
        if word in known:
            return None
        plain = word.strip().casefold()
        found = meant.get(plain)
        if found is None:
            return "gap" if plain in _NO_VALUE else "unlisted"
        return "spelled" if spelled(found).casefold() == plain else "alias"

    return judge


def _meanings(feature: Feature) -> dict[str, Any]:
    """The listed value that a word in small letters means, where only one can be meant."""
    values = feature.categories
    found: dict[str, set[int]] = {}
    for place, value in enumerate(values):
        plain = spelled(value).strip().casefold()
        found.setdefault(plain, set()).add(place)
        own = plain if not isinstance(value, bool) else spelled(value)
        for same in _SAME:
            if own in same:
                for word in same:
                    found.setdefault(word, set()).add(place)
    listed = {spelled(value).strip().casefold(): value for value in values}
    return {word: values[min(places)] for word, places in found.items() if len(places) == 1} | listed


def _other_of(feature: Feature) -> Any:
    """The value of a feature that stands for all unlisted ones, None if it has none."""
    return next((value for value in feature.categories if spelled(value).strip().casefold() == OTHER), None)


def mended(policy: Policy, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The columns that the policy names, their words as it lists them: what is left is for a person to correct.

    >>> policy = Policy(epsilon=1, features={"region": {"type": "categorical", "values": ["north", "south", "other"]}})
    >>> mended(policy, pa.record_batch({"region": ["North", "east"], "id": [1, 2]})).to_pydict()
    {'region': ['north', 'other']}
    """
    kept = [name for name in batch.schema.names if name in policy.features]
    columns = [_mended_column(policy.features[name], batch.column(name)) for name in kept]
    return pa.RecordBatch.from_arrays(columns, names=kept)


def _mended_column(feature: Feature, values: pa.Array) -> pa.Array:
    found = words_of(values)
    if found is None:
        return values
    return only_texts(values, _rewritten(feature, found))


def _rewritten(feature: Feature, found: ColumnWords) -> dict[str, str | None]:
    """Each word that is written otherwise, and how; None leaves the cell empty."""
    judge, rewritten = _judge(feature), dict[str, str | None]()
    meant, other = ({}, None) if feature.is_number else (_meanings(feature), _other_of(feature))
    for word in found.words:
        wrong = judge(word)
        if wrong == "grouped":
            rewritten[word] = str(number_meant(word))
        elif wrong in ("spelled", "alias"):
            rewritten[word] = spelled(meant[word.strip().casefold()])
        elif wrong == "unlisted" and other is not None:
            rewritten[word] = spelled(other)
        elif wrong in ("text", "gap") and feature.missing is not None:
            rewritten[word] = None
    return rewritten


def policy_lines(policy: Policy, problems: Iterable[DataProblem]) -> list[str]:
    """The features of a policy with the keys that settle some problems, as lines to paste."""
    changed: dict[str, dict[str, Any]] = {}
    names: dict[str, str] = {}
    for problem in problems:
        if problem.keys is None:
            continue
        feature, name = policy.features[problem.column], problem.column
        stated = feature.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"label", "delta"})
        kept = {"type": None} if "type" in problem.keys else stated
        own = {} if feature.label == name else {"label": feature.label}
        delta = {} if feature.delta == policy.epsilon else {"delta": feature.delta}
        names[name] = problem.renamed or names.get(name, name)
        changed.setdefault(name, {**kept, **own, **delta}).update(problem.keys)
    return [f"  {_on_a_line(names[name])}: {_on_a_line(keys)}" for name, keys in changed.items()]


def _on_a_line(value: Any) -> str:
    """A value as YAML that stands in one line."""
    text = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=math.inf, default_flow_style=True)
    return text.removesuffix("\n").removesuffix("\n...")
