"""The form of a plan: its parts fit together, so that a device can execute it. What it promises is not looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bcdp.correlation import Listed, PerFeature
from bcdp.errors import refuse
from bcdp.exact import MOST_CELLS, TOTAL
from bcdp.plan.mechanism import mechanism_of
from bcdp.plan.messages import MOST_MESSAGES, sends_all
from bcdp.policy import Feature, MultipleFeature
from bcdp.questions import Question

if TYPE_CHECKING:
    from bcdp.plan.document import Plan
    from bcdp.plan.menu import Menu

MOST_ANSWERS = 2**24  # all menus together: what a tally counts, one by one


def check_form(plan: Plan) -> None:
    """Raises `InputError` for the first part that does not fit the others."""
    features = plan.policy.features
    if set(plan.certificate.features) != set(features):
        raise refuse(
            "certificate.features", sorted(plan.certificate.features), f"one claim for each of {sorted(features)}"
        )
    counts = plan.certificate.counts
    if (counts is None) != (plan.policy.batch is None) or (counts and set(counts.features) != set(features)):
        raise refuse(
            "certificate.counts", counts and sorted(counts.features), "claims of all features, if trust is stated"
        )
    numbers = {name for name, feature in features.items() if feature.is_number}
    if plan.correlation_model.rounded not in (set(), numbers):  # else a number that is none might pass for a sign
        raise refuse(
            "correlation.rounded", sorted(plan.correlation_model.rounded), "all numeric features, or no such key"
        )
    _check_ranges(plan)
    _check_told_cuts(plan)
    if isinstance(plan.correlation_model, Listed):
        _check_laws(plan.correlation_model, features)
    mechanism_of(plan).check_form(plan)


def check_questions(plan: Plan) -> None:
    """Questions fit the features and tables that they name, menus the questions."""
    for number, question in enumerate(plan.questions):
        _check_question(plan, f"questions.{number}", question)
    _check_menus(plan)
    _check_waves(plan)
    if sends_all(plan):
        _check_messages(plan)


def _check_ranges(plan: Plan) -> None:
    """The ranges that the bounds speak of are those of the features."""
    for name, cuts in plan.correlation_model.ranges.items():
        feature = plan.policy.features.get(name)
        if feature is None or not cuts or cuts != feature.cuts or not _inside(cuts, feature.span):
            raise refuse(f"correlation.ranges.{name}", cuts, "the ranges of a numeric feature, as it states them")


def _inside(cuts: tuple[float, ...], bounds: tuple[float, float]) -> bool:
    """Whether ranges are between the bounds: four equal ones need not be, of bounds that are doubles side by side."""
    return bounds[0] < cuts[0] and cuts[-1] < bounds[1]


def _check_told_cuts(plan: Plan) -> None:
    """Cuts by which bounds distinguish what is asked of a number are inside its bounds."""
    for name, cuts in plan.correlation_model.cuts.items():
        feature = plan.policy.features.get(name)
        if feature is None or not feature.is_number or not _inside(cuts, feature.span):
            raise refuse(f"correlation.cuts.{name}", cuts, "rising numbers inside the bounds of a numeric feature")


def _check_laws(model: Listed, features: Mapping[str, Feature]) -> None:
    """A distribution has one share for each value of what it is about; numbers have no values."""
    for (_, about), rows in model.rows.items():
        if about in features and len(features[about].categories) != len(rows[0]):
            raise refuse(f"correlation.laws of {about}", f"{len(rows[0])} values", "one for each value, and no numbers")


def _check_menus(plan: Plan) -> None:
    total = sum(menu.weight for menu in plan.menus)
    if total != TOTAL and not sends_all(plan):
        raise refuse("menus", f"weights that sum to {total}", f"a sum of 2^32 = {TOTAL}")
    for number, menu in enumerate(plan.menus):
        if max(menu.questions) >= len(plan.questions):
            raise refuse(f"menus.{number}.questions", menu.questions, f"numbers below {len(plan.questions)}")
        asked = list(asked_features(plan, menu))
        if len(set(asked)) != len(asked):
            raise refuse(f"menus.{number}", asked, "each feature at most once in a menu")
    answers = sum(math.prod(digits) for digits in plan.symbols)
    if answers > MOST_ANSWERS:
        raise refuse("menus", f"{answers} possible answers", f"at most {MOST_ANSWERS} in all menus together")


def _check_waves(plan: Plan) -> None:
    """In a panel every menu has a wave, and a question about change an earlier one; elsewhere there are no waves."""
    panel = plan.policy.panel
    if panel and not isinstance(plan.correlation_model, PerFeature):
        raise refuse("correlation.kind", plan.correlation["kind"], "per feature, in a panel")
    if panel is None and any(menu.wave is not None for menu in plan.menus):
        raise refuse("menus", "waves", "no such keys without a panel")
    if panel is None and any(question.since is not None for question in plan.questions):
        raise refuse("questions", "a question about change", "none without a panel")
    for number, menu in enumerate(plan.menus if panel else ()):
        path, asked = f"menus.{number}", [plan.questions[index] for index in menu.questions]
        if panel and not 1 <= (menu.wave or 0) <= panel.waves:
            raise refuse(f"{path}.wave", menu.wave, f"the number of one of {panel.waves} waves, from 1")
        since = [question.since for question in asked if question.since is not None]
        if since and (len(asked) > 1 or since[0] >= (menu.wave or 0)):
            raise refuse(f"{path}.questions", menu.questions, "a question about change alone, since an earlier wave")


def _check_messages(plan: Plan) -> None:
    """Several messages of one person: only a relay that mixes keeps them apart, and each feature is in one."""
    if plan.policy.trust != "relay" or len(plan.menus) > MOST_MESSAGES:
        accepted = f"menus whose weights sum to 2^32, or 2 to {MOST_MESSAGES} messages with trust: relay"
        raise refuse("menus", f"{len(plan.menus)} messages", accepted)
    asked = [name for menu in plan.menus for name in asked_features(plan, menu)]
    if len(set(asked)) != len(asked):
        raise refuse("menus", asked, "each feature in at most one message")


def asked_features(plan: Plan, menu: Menu) -> tuple[str, ...]:
    """The features that a menu asks about."""
    return tuple(name for number in menu.questions for name in plan.questions[number].features)


def _check_question(plan: Plan, path: str, question: Question) -> None:
    features = plan.policy.features
    check_names(path, question.features, features)
    question.rules.check(path, question, features)
    if question.table >= len(plan.tables):
        raise refuse(f"{path}.table", question.table, f"a number below {len(plan.tables)}")
    if not question.rules.asks_blocks and (linked := sorted(plan.policy.blocks.keys() & set(question.features))):
        raise refuse(f"{path}.kind", question.kind, f"block, because other questions depend on {', '.join(linked)}")
    lists = [name for name in question.features if isinstance(features[name], MultipleFeature)]
    if lists and len(question.features) > 1 and not question.rules.asks_blocks:
        raise refuse(f"{path}.features", question.features, "a list to tick alone, or in its block")
    levels, needed = plan.tables[question.table].levels, question.inputs(plan.policy)
    if levels != needed:
        raise refuse(f"{path}.table", f"{levels} levels", f"{needed} levels")
    cells = levels * plan.tables[question.table].symbols
    if len(question.levels) > 1 and cells > MOST_CELLS:
        raise refuse(f"{path}.table", f"{cells} weights", f"at most {MOST_CELLS} in a table of several features")


def check_names(path: str, names: tuple[str, ...], features: Mapping[str, object]) -> None:
    """Names of features, each at most once."""
    if len(set(names)) != len(names) or not set(names) <= set(features):
        raise refuse(f"{path}.features", names, "different features of the policy")
