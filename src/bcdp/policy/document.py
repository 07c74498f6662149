"""The policy as a whole: read from a mapping or a file, with its defaults, and written again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, Field, PrivateAttr, ValidationError, ValidationInfo, field_validator

import bcdp
from bcdp.errors import InputError, refuse
from bcdp.policy.base_feature import IfWrong, Scalar
from bcdp.policy.blocks import blocks_of, mistakes_in
from bcdp.policy.correlation import SOURCES, Correlation, OneOfBoth, OneQ, Pairs, PairsFile, Pilot, Prior, QAndOdds
from bcdp.policy.counts import LARGEST_EPSILON, CountsDemand
from bcdp.policy.error_sentences import broken_keys, sentence, too_long
from bcdp.policy.features import Dates, Declared, Feature, NumericFeature, with_second_demand, without_dates
from bcdp.policy.field_checks import PLACEHOLDER, Accepts, Number, Record, Writable, expected, some
from bcdp.policy.multiple_feature import ItemDemand, MultipleFeature
from bcdp.policy.names import declared_types, linked_names, own_names, stated_bounds, stated_values
from bcdp.policy.relay import Relay
from bcdp.policy.survey import Panel, Survey, unfit_for_a_panel
from bcdp.policy.tasks import Task, statistics
from bcdp.policy.valued_features import (
    MOST_GROUPS,
    MOST_LISTED,
    BinaryFeature,
    CategoricalFeature,
    OpenFeature,
    OrdinalFeature,
)
from bcdp.policy.yaml_text import MOST_FEATURES, read_yaml, write_yaml

if TYPE_CHECKING:
    from bcdp.files import Source

_KEYS = "the keys epsilon and features"
_KINDS: dict[type, str] = {str: "plain text", list: "a list"}


class Policy(Record):
    """What is collected, how it is protected and what it is for, complete and checked.

    >>> policy = Policy(epsilon=2, features={"smoker": {"type": "binary", "delta": 0.2}, "age": {"type": "numeric",
    ...     "bounds": [0, 100]}})
    >>> policy.features["age"].delta, policy.tasks[0].features
    (2.0, ('smoker', 'age'))
    >>> Policy(epsilon=2, features={"age": {"type": "numeric", "bounds": [5, 1]}})
    Traceback (most recent call last):
    ...
    bcdp_device.errors.InputError: features.age.bounds: got [5, 1]; accepted: two finite numbers, low < high
    """

    epsilon: Annotated[
        Number,
        Field(gt=0, le=LARGEST_EPSILON),
        Accepts(f"a number above 0 and at most {LARGEST_EPSILON:g} (a larger one would protect nobody)"),
    ]
    if_wrong: Annotated[IfWrong | None, Accepts("{times: 2, delta: 1.5}, or no such key", inside=True)] = None
    declared: Annotated[
        dict[
            Annotated[Writable, Field(min_length=1, max_length=200), Accepts("text of 1 to 200 characters as a name")],
            Declared,
        ],
        AfterValidator(some),
        Accepts("a mapping with at least one {name: {type: ...}}", inside=True),
    ] = Field(alias="features")
    correlation: Correlation = OneQ(1.0)
    tasks: Annotated[
        tuple[Task, ...],
        AfterValidator(some),
        Accepts("a list of at least one task, or no such key for the default tasks", inside=True),
    ] = ()
    survey: Annotated[
        Survey | None, Accepts("a mapping with the keys title, purpose, organiser and contact", inside=True)
    ] = None
    relay: Annotated[Relay | None, Accepts("a mapping with the keys url and key", inside=True)] = None
    mechanism: Annotated[Literal["survey", "cascade"], Accepts("survey or cascade")] = "survey"
    counts: Annotated[
        CountsDemand | None, Accepts("{epsilon: 1, people: 100000, chance: 1.0e-6}, or no such key", inside=True)
    ] = None
    trust: Annotated[Literal["device", "relay", "collector"], Accepts("device, relay or collector")] = "device"
    messages: Annotated[Literal["one"] | None, Accepts("one, or no such key: then the planner chooses")] = None
    menu_from: Annotated[Literal["device", "ticket"], Accepts("device or ticket")] = "device"
    panel: Annotated[
        Panel | None, Accepts("{waves: 12, every: month, start: 2027-01-01}, or no such key", inside=True)
    ] = None

    _measured: str | None = PrivateAttr(None)

    @field_validator("tasks")
    @classmethod
    def _once(cls, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
        """Refuses what only one task may ask: of two estimates with one name, one would be lost."""
        named = [(task.kind, name) for task in tasks for name in task.once]
        for kind, name in dict.fromkeys(named):
            if named.count((kind, name)) > 1:
                raise expected(f"one task with the {kind} of {name}, with all that is wanted of it")
        return tasks

    @field_validator("counts")
    @classmethod
    def _about_features(cls, counts: CountsDemand | None, info: ValidationInfo) -> CountsDemand | None:
        protected = [
            name for name, feature in info.data.get("declared", {}).items() if not isinstance(feature, OpenFeature)
        ]
        if counts is not None and not set(counts.features) <= set(protected):
            raise expected(f"levels of the features {', '.join(protected)}")
        return counts

    @field_validator("trust")
    @classmethod
    def _has_a_batch(cls, trust: str, info: ValidationInfo) -> str:
        """Refuses a promise about many people's reports that states no such number, or no relay that mixes them."""
        if trust != "device" and info.data.get("counts", ...) is None:
            raise expected("device, or counts with the people and the levels of the promise")
        if trust == "relay" and info.data.get("relay", ...) is None:
            raise expected("device or collector, or relay with the url and the key of one (`bcdp keypair`)")
        return trust

    @field_validator("messages")
    @classmethod
    def _needs_a_relay(cls, messages: str | None, info: ValidationInfo) -> str | None:
        if messages is not None and info.data.get("trust", "relay") != "relay":
            raise expected("no such key unless trust is relay")
        return messages

    @field_validator("menu_from")
    @classmethod
    def _menus_nobody_knows(cls, menu_from: str, info: ValidationInfo) -> str:
        """Refuses menus by ticket where the promise is that nobody knows a person's menu."""
        if menu_from == "ticket" and info.data.get("trust", "device") != "device":
            raise expected("device where relay or collector are trusted: whoever knows a ticket knows its menu")
        return menu_from

    @field_validator("panel")
    @classmethod
    def _fits(cls, panel: Panel | None, info: ValidationInfo) -> Panel | None:
        if panel is not None and (accepted := unfit_for_a_panel(info.data)):
            raise expected(accepted)
        return panel

    def __init__(self, /, **document: Any) -> None:
        if long := next(too_long(document.get("features"), MOST_FEATURES, MOST_LISTED), None):
            raise long
        if broken := list(broken_keys(document)):
            raise InputError("\n".join(broken))
        wrong_dates: list[str] = []
        document = without_dates(document, wrong_dates)
        stated = document.get("features")
        types = declared_types(document.get("features"))
        filled = {**_default_tasks(types or {}), **document}
        context = {
            "types": types,
            "own": own_names(stated),
            "bounds": stated_bounds(stated),
            "values": stated_values(stated),
            "linked": linked_names(stated),
        }
        try:
            self.__pydantic_validator__.validate_python(filled, self_instance=self, context=context)
        except ValidationError as error:
            mistakes = [sentence(mistake, _owners()) for mistake in error.errors(include_url=False)]
            raise InputError("\n".join([*wrong_dates, *mistakes])) from None
        if wrong_dates:
            raise InputError("\n".join(wrong_dates))
        if wrong := [str(mistake) for mistake in mistakes_in(self.declared)]:
            raise InputError("\n".join(wrong))
        if self.panel is None and any(task.kind == "change" for task in self.tasks):
            raise refuse("tasks", "change", "no such task, or a panel: only there are people asked over several waves")

    @field_validator("declared")
    @classmethod
    def _with_defaults(cls, features: dict[str, Declared], info: ValidationInfo) -> dict[str, Declared]:
        """Each feature with its label and its delta, if they were left out."""

        def completed(name: str, feature: Declared) -> Declared:
            labels = feature.labels or {}
            label = labels.get("en", next(iter(labels.values()), name))
            defaults = {"label": label, "delta": info.data.get("epsilon", 0.0)}
            absent = defaults.keys() & type(feature).model_fields.keys() - feature.model_fields_set
            return with_second_demand(feature, info.data.get("if_wrong")).model_copy(
                update={key: defaults[key] for key in absent}
            )

        opened = [feature for feature in features.values() if isinstance(feature, OpenFeature)]
        if len(opened) == len(features):
            raise expected("at least one feature that is not open: there would be nothing to protect")
        if prod(len(feature.values) for feature in opened) > MOST_GROUPS:
            raise expected(f"open features with at most {MOST_GROUPS} combinations of values")
        return {name: completed(name, feature) for name, feature in features.items()}

    @cached_property
    def features(self) -> dict[str, Feature]:
        """The features that are protected, by their names."""
        return {name: feature for name, feature in self.declared.items() if not isinstance(feature, OpenFeature)}

    @cached_property
    def blocks(self) -> dict[str, tuple[str, ...]]:
        """For each feature that other questions depend on, or that depends on others, all that go with it."""
        return blocks_of(self.features)

    def outside(self, name: str, names: frozenset[str]) -> frozenset[str]:
        """Those of some features that are not in the block of a feature."""
        return names.difference(self.blocks.get(name, (name,)))

    @cached_property
    def open(self) -> dict[str, OpenFeature]:
        """The features that are not protected, which are sent as they are next to the report."""
        return {name: feature for name, feature in self.declared.items() if isinstance(feature, OpenFeature)}

    @property
    def batch(self) -> CountsDemand | None:
        """The people and the levels of the main promise, if that is about the counts of many; else None."""
        return None if self.trust == "device" else self.counts

    def shares_inputs(self, name: str) -> bool:
        """Whether two values of a feature may be coded the same way and differ in what they say of other features.

        In a panel the value is a history, and two histories may agree in the wave that is asked.
        """
        return self.panel is not None or self.features[name].shares_inputs

    @cached_property
    def groups(self) -> tuple[tuple[Scalar, ...], ...]:
        """The combinations of open values in the order of their numbers, the last feature changing fastest."""
        return tuple(product(*(feature.values for feature in self.open.values())))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Policy:
        """A copy, parts of it perhaps changed; `features` replaces those that are protected, or all of them."""
        changed = dict(update or {})
        if "features" in changed:
            changed["declared"] = {**changed.pop("features"), **self.open}
        copy = super().model_copy(update=changed, deep=deep)
        for name in vars(copy).keys() - Policy.model_fields.keys():
            del vars(copy)[name]
        return copy

    @classmethod
    def parse(cls, document: object) -> Policy:
        """The policy that a mapping holds, whatever its keys."""
        if not isinstance(document, Mapping):  # it may be a file of records, given by mistake: its words are not told
            raise refuse("policy", _KINDS.get(type(document), "no keys"), f"a mapping with at least {_KEYS}")
        if {"bcdp", "certificate"} <= document.keys():
            raise refuse("policy", "a plan", "a policy, from which a plan is made")
        if document and not {"epsilon", "features"} & document.keys():  # likewise: its keys are not reported
            raise refuse("policy", "other keys", f"a mapping with at least {_KEYS}")
        return cls(**{str(key): value for key, value in document.items()})

    @classmethod
    def load(cls, path: Source) -> Policy:
        """The policy in a YAML file; the files that it names are looked for in its folder."""
        mistakes: list[str] = []
        document = read_document(path, mistakes)
        if document is None and not mistakes:
            raise InputError(f"policy: got an empty file; accepted: YAML with at least {_KEYS}")
        try:
            policy = cls.parse(document)
        except InputError as error:
            mistakes.append(str(error))
        if mistakes:
            raise InputError("\n".join(mistakes))
        return policy

    def to_dict(self) -> dict[str, Any]:
        """The policy as plain data that JSON can hold, defaults written out: `Policy(**policy.to_dict()) == policy`."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def measured_by(self, source: str) -> Policy:
        """The policy of a plan whose correlation was measured: written down, it asks where that comes from."""
        copy = self.model_copy()
        copy._measured = source
        return copy

    def to_yaml(self) -> str:
        """The policy as the text of a YAML file, defaults written out.

        Of a plan whose correlation was measured it has a place to fill in: no policy can state what was.
        """
        if self._measured is None:
            return write_yaml(self.to_dict())
        source = " ".join(self._measured.split())
        return f"# correlation: {source}\n{write_yaml({**self.to_dict(), 'correlation': PLACEHOLDER})}"

    def _repr_html_(self) -> str:
        return bcdp.as_html(self)


def read_document(path: Source, mistakes: list[str]) -> object:
    """The plain data of a policy's file, its mistakes in `mistakes`; files it names are seen from outside."""
    from bcdp.files import path_of, read_text  # what policies need of them is little, what they import much
    from bcdp.files.mistaken import refuse_mistaken

    refuse_mistaken(path, "a policy")
    text = read_text(path, "a YAML file with a policy").removeprefix("\ufeff")  # the mark of some editors
    return _in_folder(read_yaml(text, mistakes), path_of(path).parent)


_RECORDS: tuple[type[BaseModel], ...] = (
    BinaryFeature,
    NumericFeature,
    Dates,
    CategoricalFeature,
    OrdinalFeature,
    MultipleFeature,
    ItemDemand,
    OpenFeature,
    IfWrong,
    OneOfBoth,
    QAndOdds,
    Pairs,
    PairsFile,
    Prior,
    Pilot,
)


def _owners() -> dict[str, type[BaseModel]]:
    """The class of the fields under a key or a class's name, for the sentences about them."""
    tasks = statistics()
    parts = {name: field.annotation for task in tasks.values() for name, field in task.model_fields.items()}
    nested = {name: part for name, part in parts.items() if isinstance(part, type) and issubclass(part, BaseModel)}
    records = {record.__name__: record for record in [*_RECORDS, *tasks.values()]}
    keys: dict[str, type[BaseModel]] = {"counts": CountsDemand, "if_wrong": IfWrong, "relay": Relay, "survey": Survey}
    return {"": Policy, "panel": Panel, **keys, **records, **nested}


def _default_tasks(types: Mapping[str, object]) -> dict[str, Any]:
    """The key for the tasks that are left out: means of what has one, frequencies of all but numbers and yes/no."""
    numbers = [name for name, named in types.items() if named in ("numeric", "binary", "ordinal")]
    categories = [name for name, named in types.items() if named in ("categorical", "ordinal", "multiple")]
    tasks = [{"mean": numbers}] * bool(numbers) + [{"frequency": categories}] * bool(categories)
    return {"tasks": tasks} if tasks else {}


def _in_folder(document: object, folder: Path) -> object:
    """The document with the files that it names as seen from outside the policy's folder, and the codes in them."""
    if not isinstance(document, dict):
        return document
    features, correlation = document.get("features"), document.get("correlation")
    if isinstance(features, dict):
        document = {**document, "features": {name: _with_codes(own, folder) for name, own in features.items()}}
    if not isinstance(correlation, dict):
        return document
    paths = {
        source: str(folder / path)
        for source, path in correlation.items()
        if source in SOURCES and isinstance(path, str) and path
    }
    return {**document, "correlation": {**correlation, **paths}}


def _with_codes(feature: object, folder: Path) -> object:
    """What a document states of a feature, with the codes of a file in place of its name."""
    match feature:
        case {"values": {"file": str() as path, **rest}} if path and not rest:
            from bcdp.files.codes import read_codes

            codes = read_codes(folder / path, MOST_LISTED)
            labelled: dict[str, Any] = {"value_labels": codes.labels} if codes.labels else {}
            return labelled | cast("dict[str, Any]", feature) | {"values": codes.values}
    return feature
