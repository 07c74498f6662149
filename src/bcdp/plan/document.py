"""The plan's document: JSON in a canonical form, its id the SHA-256 of that form."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import Field, ValidationError

import bcdp
from bcdp.correlation import Listed, PerFeature, correlation_from_dict
from bcdp.correlation.from_policy import as_stated
from bcdp.errors import InputError, accepted, refuse
from bcdp.exact import TOTAL
from bcdp.files import Source, naming_file, path_of, read_text, write_text
from bcdp.files.mistaken import refuse_mistaken
from bcdp.plan.certificate import Certified
from bcdp.plan.claims import Certificate, Claim, CountsCertificate
from bcdp.plan.mechanism import mechanism_of
from bcdp.plan.menu import Menu
from bcdp.plan.second_demand import check_if_wrong, levels_if_wrong
from bcdp.plan.structure import check_form
from bcdp.policy import Feature, MultipleFeature, Policy
from bcdp.policy.counts import CountsDemand
from bcdp.policy.visible_text import check_visible
from bcdp.questions import PlanPart, Question
from bcdp.randomizers import Table, table_from_dict

FORMAT = 1  # the version of the plan's format: any other is refused
PLAN_KEY = b"bcdp.plan"  # where reports name the plan that they answer
A_PLAN = "a Plan, from make_plan(policy) or Plan.load(path)"  # what every function of a plan says it accepts
# A plan states its correlation and mechanism itself.
_COLLECTION = {"epsilon", "features", "tasks", "order", "survey", "relay", "counts", "trust", "menu_from", "panel"}
_DEFAULTS = {"trust": "device", "panel": None}  # which a plan leaves out
# what a plan is, whatever it claims
_UNCLAIMED = {"policy", "correlation_model", "tables", "symbols", "levels", "_derived"}

Derived = TypeVar("Derived")


class Channel(PlanPart):
    """One channel of the cascade: the features it covers and the weight out of 2^32 with which its bit is kept."""

    features: Annotated[tuple[str, ...], Field(min_length=1)]
    keep: Annotated[int, Field(ge=TOTAL // 2, lt=TOTAL)]


class Plan(PlanPart):
    """A collection, ready to be executed and checked by anybody.

    `verify()` recomputes every level from the tables and refuses a plan whose claims are not true.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> plan.save("plan.json")
    >>> Plan.load("plan.json") == plan
    True
    >>> plan.certificate.features["smoker"].certified <= 1
    True
    """

    bcdp: Annotated[int, Field(ge=FORMAT, le=FORMAT)] = FORMAT
    mechanism: Literal["survey", "cascade"]
    collection: dict[str, Any]  # epsilon, features and tasks, as the policy states them, and the features' order
    correlation: dict[str, Any]
    tables_: tuple[dict[str, Any], ...] = Field(default=(), alias="tables")
    questions: tuple[Question, ...] = ()
    menus: tuple[Menu, ...] = ()
    channels: tuple[Channel, ...] = ()
    certificate: Certificate

    def __repr__(self) -> str:
        return f"<Plan {self.id[:12]}..: {self.mechanism} of {len(self.certificate.features):,} features>"

    def _repr_html_(self) -> str:
        return bcdp.as_html(self)

    @cached_property
    def policy(self) -> Policy:
        """The features, tasks and demands, and the correlation, unless it was measured."""
        if not set(self.collection) <= _COLLECTION:
            raise refuse("collection", sorted(self.collection), f"the keys {', '.join(sorted(_COLLECTION))}")
        if unstated := [key for key in _DEFAULTS if self.collection.get(key, "") == _DEFAULTS[key]]:
            raise refuse(f"collection.{unstated[0]}", self.collection[unstated[0]], "another value, or no such key")
        if ("counts" in self.collection) != (self.collection.get("trust", "device") != "device"):
            raise refuse("collection.trust", self.collection.get("trust"), "relay or collector with counts, or neither")
        if self.collection.get("menu_from", "ticket") != "ticket":
            raise refuse("collection.menu_from", self.collection["menu_from"], "ticket, or no such key")
        stated = {key: value for key, value in self.collection.items() if key != "order"}
        assumed = as_stated(self.correlation_model, _protected(stated.get("features")))
        own = {"mechanism": self.mechanism} | ({"correlation": assumed} if assumed else {})
        policy = Policy.parse({**stated, **own})
        if assumed is None:
            policy = policy.measured_by(self.correlation_model.source)
        order = self.collection.get("order", list(policy.declared))
        if not isinstance(order, list) or sorted(map(repr, order)) != sorted(map(repr, policy.declared)):
            raise refuse("collection.order", order, "the name of every feature once")
        return policy.model_copy(update={"declared": {name: policy.declared[name] for name in order}})

    @cached_property
    def correlation_model(self) -> PerFeature | Listed:
        """The assumption about correlation under which the certificate holds."""
        return correlation_from_dict(self.correlation)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The randomizers."""
        return tuple(_part(f"tables.{number}", document) for number, document in enumerate(self.tables_))

    @cached_property
    def symbols(self) -> tuple[tuple[int, ...], ...]:
        """For each menu, how many symbols each of its questions may answer: the digits of the report's `answer`."""
        return tuple(
            tuple(self.tables[self.questions[number].table].symbols for number in menu.questions) for menu in self.menus
        )

    @cached_property
    def text(self) -> str:
        """The canonical form: JSON with sorted keys and no spaces."""
        document = self.model_dump(mode="json", by_alias=True)
        return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

    @cached_property
    def id(self) -> str:
        """The SHA-256 of the canonical form, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def levels(self) -> Certified:
        """The true levels under the plan's own assumption about correlation, whatever it claims."""
        return mechanism_of(self).largest_levels(self, self.correlation_model)

    def derived(self, compute: Callable[[Plan], Derived]) -> Derived:
        """What a function computes from the plan, computed once for this object."""
        known: dict[Any, Any] = vars(self).setdefault("_derived", {})
        if compute not in known:
            known[compute] = compute(self)
        return cast("Derived", known[compute])

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        return state | {"__dict__": {name: state["__dict__"][name] for name in Plan.model_fields}}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Plan:
        """A copy, parts of it perhaps changed: it is another plan, so nothing found out about this one is kept."""
        copy = super().model_copy(update=update, deep=deep)
        for name in vars(copy).keys() - Plan.model_fields.keys():
            del vars(copy)[name]
        return copy

    def save(self, path: Source) -> None:
        """Writes the canonical form, to a path or an open file."""
        write_text(path, self.text)

    @classmethod
    def load(cls, path: Source) -> Plan:
        """The plan in a file, verified: a plan that promises more than it keeps is refused."""
        refuse_mistaken(path, "a plan")
        text = read_text(path, "a file written by `bcdp plan`")
        with naming_file(path_of(path)):
            return cls.parse(text)

    @classmethod
    def parse(cls, text: str) -> Plan:
        """The plan in a JSON text, verified; the text is the canonical form, whose hash is the plan's id."""
        try:
            document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique_keys)
        except (ValueError, RecursionError) as error:
            raise InputError(f"plan: not JSON ({error}); accepted: a file written by `bcdp plan`") from None
        if not isinstance(document, dict) or "certificate" not in document:  # counts, perhaps, which are not reported
            raise refuse("plan", "no certificate", "a JSON object written by `bcdp plan`")
        plan = cls.build(document)
        plan.verify()
        if plan.text != text:
            raise InputError(
                "plan: not in canonical form; accepted: the text as `bcdp plan` wrote it, with sorted keys, no spaces "
                "and every number as Python spells it"
            )
        return plan

    @classmethod
    def build(cls, document: Mapping[str, Any]) -> Plan:
        """The plan that a document describes, its form checked but not its claims."""
        for part in ("collection", "correlation"):  # every other text is a name or a word that these state
            check_visible(part, document.get(part))
        try:
            # keys in canonical order, so that a plan and its copy read from a file run over the features alike
            return cls.model_validate_json(json.dumps(document, allow_nan=False, sort_keys=True))
        except ValidationError as error:
            lines = [
                str(refuse(f"plan.{'.'.join(map(str, mistake['loc']))}", mistake["input"], accepted(mistake)))
                for mistake in error.errors(include_url=False)[:5]
            ]
            raise InputError("\n".join(lines)) from None
        except (TypeError, ValueError, RecursionError) as error:  # numbers and objects that JSON cannot hold
            raise InputError(f"plan: not JSON ({error}); accepted: a document written by `bcdp plan`") from None

    @classmethod
    def certified(
        cls,
        document: Mapping[str, Any],
        accuracy: Callable[[Plan], tuple[float | None, float | None]] = lambda draft: (None, None),
    ) -> Plan:
        """The plan of a document without a certificate, claiming the strongest levels that its tables keep.

        `accuracy` gives the objective and the optimality gap of the plan so far.
        """
        nothing = {"epsilon": 0.0, "features": {}, "objective": None, "optimality_gap": None}
        draft = cls.build({**document, "certificate": nothing})
        claims, wrong, (objective, gap) = draft.levels, draft.derived(levels_if_wrong), accuracy(draft)
        features = {
            name: {"asked": feature.delta, "certified": claims.delta[name], "c": claims.c[name]}
            | _item_claims(name, feature, claims)
            | ({"if_wrong": wrong[name]} if name in wrong else {})
            for name, feature in draft.policy.features.items()
        }
        certificate: dict[str, Any] = {
            "epsilon": claims.epsilon,
            "features": features,
            "objective": objective,
            "optimality_gap": gap,
        }
        if (demand := draft.policy.batch) is not None:
            counted = mechanism_of(draft).counts_told(draft, demand.honest_people, demand.chance, None)
            certificate["counts"] = None if counted is None else counted.to_dict()
        plan = cls.build({**document, "certificate": certificate})
        vars(plan).update({part: known for part, known in vars(draft).items() if part in _UNCLAIMED})
        check_form(plan)
        plan._check_claims(claims)
        return plan

    def verify(self) -> None:
        """Recomputes every level from the integer tables; raises `InputError` if a claim or a demand is not kept."""
        _ = self._kept

    @cached_property
    def _kept(self) -> bool:
        check_form(self)
        self._check_claims(self.levels)
        return True

    def _check_claims(self, true: Certified) -> None:
        claimed = self.certificate
        _keep("epsilon", true.epsilon, claimed.epsilon, self.policy.epsilon)
        for name, feature in self.policy.features.items():
            stated = claimed.features[name]
            if stated.asked != feature.delta:
                raise refuse(f"certificate.features.{name}.asked", stated.asked, f"the policy's delta {feature.delta}")
            _keep(f"features.{name}.certified", true.delta[name], stated.certified, feature.delta)
            _keep(f"features.{name}.c", true.c[name], stated.c, math.inf)
            self._check_items(name, stated.items, true)
        check_if_wrong(self, _keep)
        if self.policy.batch is not None:
            self._check_counts(self.policy.batch)

    def _check_counts(self, demand: CountsDemand) -> None:
        """Refuses a claim about counts that is not proved, or above what was asked."""
        for path, claimed in mechanism_of(self).broken_counts_claims(self):
            raise InputError(f"certificate.counts.{path}: {claimed!r} is below what is proved; accepted: a true claim")
        claims = cast("CountsCertificate", self.certificate.counts)
        for form, asked in demand.record_levels.items():
            _keep(f"counts.{form}", 0.0, getattr(claims, form), asked)
        for name, asked in demand.features.items():
            _keep(f"counts.features.{name}.epsilon", 0.0, claims.features[name].epsilon, asked)

    def _check_items(self, name: str, stated: Mapping[str, Claim] | None, true: Certified) -> None:
        """The claims about items with a delta of their own, one for each."""
        feature = self.policy.features[name]
        demands = feature.strict_items if isinstance(feature, MultipleFeature) else {}
        if set(stated or {}) != set(demands) or (stated is not None and not stated):
            raise refuse(
                f"certificate.features.{name}.items", sorted(stated or {}), f"one claim for each of {[*demands]}"
            )
        for item, claim in (stated or {}).items():
            path, delta = f"features.{name}.items.{item}", demands[item][1]
            if claim.asked != delta:
                raise refuse(f"certificate.{path}.asked", claim.asked, f"the policy's delta {delta}")
            _keep(f"{path}.certified", true.items[name, item][1], claim.certified, delta)
            _keep(f"{path}.c", true.items[name, item][0], claim.c, math.inf)


def _item_claims(name: str, feature: Feature, claims: Certified) -> dict[str, Any]:
    """The claims about items with a delta of their own; nothing where there are none."""
    if not isinstance(feature, MultipleFeature) or not feature.items:
        return {}
    levels = {item: claims.items[name, item] for item in feature.strict_items}
    return {
        "items": {
            item: {"asked": feature.strict_items[item][1], "certified": delta, "c": c}
            for item, (c, delta) in levels.items()
        }
    }


def collection_of(policy: Policy) -> dict[str, Any]:
    """What a plan states of its policy: all but the correlation and the mechanism, which it states itself.

    Demands on counts are added when the plan is known to keep them. A second demand on all features is stated by each.

    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary"}}, correlation=0.1)
    >>> "correlation" in collection_of(policy)
    False
    """
    document = policy.to_dict()
    stated = {key: document[key] for key in ("epsilon", "features", "tasks", "survey", "relay") if key in document}
    assigned = {"menu_from": policy.menu_from} if policy.menu_from == "ticket" else {}
    assigned |= {"panel": document["panel"]} if policy.panel else {}
    return stated | {"order": list(policy.declared)} | assigned


def _protected(features: object) -> list[str]:
    """The names of the features that are not open; whether they can be read is for the policy to say."""
    known = features.items() if isinstance(features, Mapping) else ()
    return [name for name, feature in known if not isinstance(feature, Mapping) or feature.get("type") != "open"]


def _part(path: str, document: dict[str, Any]) -> Table:
    try:
        return table_from_dict(document)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _keep(path: str, true: float, claimed: float, demand: float) -> None:
    if true > claimed:
        raise InputError(
            f"certificate.{path}: claimed {claimed!r}, but the tables give {true!r}; accepted: a true claim"
        )
    if claimed > demand:
        raise InputError(
            f"certificate.{path}: {claimed!r} is above the {demand!r} that was asked; accepted: at most that"
        )


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key appears twice")
    return document
