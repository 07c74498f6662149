"""What a plan promises, what that rests on, and what somebody who sees a report can and cannot find out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from bcdp.audit import PlanAudit
from bcdp.compare.baselines import Errors
from bcdp.plan import Plan, certify, demands_if_wrong, mechanism_of
from bcdp.policy import Feature
from bcdp.present.batch_promise import batch_promise
from bcdp.present.pictures import leakage_figure
from bcdp.present.promise import MEANING, Promise, open_said, operator_says, panel_said, promise_of_all
from bcdp.present.published_counts import counts_promises, least_people, trusted, void
from bcdp.present.report.footnotes import LinkedFootnotes
from bcdp.present.report.html import (
    NOTHING,
    Html,
    PageSection,
    bold,
    code,
    joined,
    listing,
    paragraph,
    picture,
    section,
    table,
)
from bcdp.present.trust_choices import MOST_COLUMNS, choice_cells, trust_choices
from bcdp.present.words import finer_guesses, number, odds, one_in, posterior_at_most, rounded_up, small_odds

BROKEN = joined(
    [
        bold("The certificate does not hold for the population of the audit"),
        ": its features depend on each other more than the plan assumes, or a claim is false.",
    ]
)


def summary(
    plan: Plan, promised: Mapping[str, Promise], errors: Mapping[str, Errors], notes: LinkedFootnotes
) -> PageSection:
    """Sentences for who reads no further: what is promised, what it saves, and how people answer."""
    where = (
        "Where people's own devices answer, nothing else leaves them. Where the reports were computed from a file, the "
        "promises below are about the reports: people who have the file know the records."
    )
    lines = [_promise(plan, promised, notes), *_saving(errors)]
    how = f"{mechanism_of(plan).description(plan)} {where}"
    return section("In short", *(paragraph(line, kind="key") for line in lines), paragraph(how))


def _saving(errors: Mapping[str, Errors]) -> list[Html]:
    gains = sorted(error.uniform / error.plan for error in errors.values() if 0 < error.plan < math.inf)
    if not gains or not 1.05 < gains[-1] < math.inf:
        return []
    few, many = number(gains[0], 2), number(gains[-1], 2)
    times = bold(f"{f'{few} to {many}' if few != many else few} times as many people")
    return [joined(["Protecting all features alike would need ", times, " for the same precision."])]


def organiser(plan: Plan) -> PageSection:
    """What people read about the survey, as the organiser's own words; nothing if the policy has none."""
    survey = plan.policy.survey
    if survey is None:
        return NOTHING
    entries = [("What for", survey.purpose), ("Who asks", survey.organiser), ("Contact", survey.contact)]
    entries += [("How long it takes", f"about {survey.minutes} min")] if survey.minutes else []
    entries += [("People who decline", survey.decline)] if survey.decline else []
    intro = paragraph("In the organiser's words, which nobody has checked:", kind="quiet")
    return section(f"“{survey.title}”", intro, listing(joined([bold(name), f": {text}"]) for name, text in entries))


def _promise(plan: Plan, promised: Mapping[str, Promise], notes: LinkedFootnotes) -> Html:
    """The sensitive features' factors, strictest first, each with its condition; the whole record's rests on none."""
    record = joined([bold(odds(certify(plan).epsilon)), " with nothing assumed."])
    guarded = sorted((feature.delta, name) for name, feature in plan.policy.features.items())
    groups: dict[str, list[Html]] = {}
    for name in [name for delta, name in guarded if delta < plan.policy.epsilon][:4]:
        factor = ["about ", bold(_label(plan, name)), " by at most ", bold(odds(promised[name].level)), ", "]
        groups.setdefault(promised[name].condition, []).append(joined(factor))
    if not groups:
        return joined(["Whoever sees a report can multiply the odds of any guess about the person by at most ", record])
    parts = [part for condition, factors in groups.items() for part in (*factors, notes.words(condition), "; ")]
    start, end = "Whoever sees a report can multiply the odds of a guess ", "about the whole record, by at most "
    return joined([start, *parts, end, record])


def _label(plan: Plan, name: str) -> str:
    return plan.policy.features[name].label


def _strictest(plan: Plan, promised: Mapping[str, Promise]) -> tuple[str, Promise]:
    name = min(plan.policy.features, key=lambda name: plan.policy.features[name].delta)
    return _label(plan, name), promised[name]


def promises(plan: Plan, promised: Mapping[str, Promise], notes: LinkedFootnotes) -> PageSection:
    """The certificate in words: each promise, its condition, and what is left without it."""
    rows, wrong = [], any(promise.if_wrong for promise in promised.values())
    for name, promise in promised.items():
        asked = plan.certificate.features[name].asked
        rows.append([_label(plan, name), number(asked), f"{promise.level:.4f}", *_cells(promise, notes)])
    record = promise_of_all(plan)
    rows.append(["the whole record", number(plan.policy.epsilon), f"{record.level:.4f}", *_cells(record, notes)])
    label, promise = _strictest(plan, promised)
    return section(
        "What is promised",
        paragraph(
            f"Take “{label}”. Whoever sees a person's report, and knows how people in general are, can multiply the "
            f"odds of a guess about it by at most {odds(promise.level)}, ",
            notes.words(promise.condition),
            ": "
            f"a guess that was right with probability 50% becomes right with at most "
            f"{posterior_at_most(promise.level)}. That counts what the answers about other features give away."
        ),
        table(
            ["feature", "δ asked", "δ certified", "odds move by at most", "50% becomes at most",
             "condition", "if that is wrong" if wrong else "at twice that", "with nothing assumed"],
            rows,
        ),
        paragraph(
            "The certified numbers are computed from the plan's integer tables and rounded up; ",
            code("bcdp verify"),
            " and every device compute them again. A feature that was asked no more protection than the whole record "
            "may get more.",
            kind="quiet",
        ),
    )  # fmt: skip


def batch(plan: Plan, users: int, notes: LinkedFootnotes) -> PageSection:
    """The main promise about a batch, whom one trusts for it, and what is left without; nothing where there is none."""
    promise = batch_promise(plan)
    if promise is None:
        return NOTHING
    rows = [
        [counted.label, rounded_up(counted.epsilon), f"× {small_odds(counted.level)}", notes.cell(counted.condition)]
        for counted in promise.counted
    ]
    choices = trust_choices(plan.policy, users)
    names = list(plan.policy.features)[:MOST_COLUMNS] if len(plan.policy.features) <= MOST_COLUMNS else []
    return section(
        "The main promise",
        paragraph(f"What a person's answers reveal to {promise.against}:"),
        table(["feature", "ε of a batch", "odds move by at most", "condition"], rows),
        paragraph(promise.holds),
        listing(promise.conditions),
        paragraph(promise.without),
        paragraph(
            f"Whom to trust is a choice. At the same level, answers of {users:,} people are worth as much as those of "
            "so many openly asked people:"
        ),
        table(
            ["whom to trust", "hidden among", "ε of what is seen", "ε of one report", *(names or ["worth"])],
            [choice_cells(choice, names) for choice in choices], words=(0,),
        ),
    )  # fmt: skip


def _cells(promise: Promise, notes: LinkedFootnotes) -> list[str]:
    twice = "-" if promise.twice is None else f"× {odds(promise.twice)}"
    if promise.if_wrong is not None:
        times, level = promise.if_wrong
        twice = f"× {odds(level)} at {times:g} times"
    return [f"× {odds(promise.level)}", posterior_at_most(promise.level), notes.cell(promise.condition), twice,
            f"× {odds(promise.nothing)}"]  # fmt: skip


def counts(plan: Plan, promised: Mapping[str, Promise], people: int, notes: LinkedFootnotes) -> PageSection:
    """What the published counts alone reveal, and whom one has to trust for which promise; nothing of few people."""
    counted = counts_promises(plan, promised, least_people(plan, people))
    if not counted:
        return NOTHING
    rows = [
        [promise.label, rounded_up(promise.epsilon), f"× {small_odds(promise.level)}", notes.cell(promise.condition)]
        for promise in counted
    ]
    chance, people = one_in(counted[0].chance), counted[0].people
    return section(
        "What the published numbers tell",
        paragraph(
            f"Whoever sees only the counts of at least {people:,} people, and no single report, learns far less about "
            f"one of them. Except with {chance}, the odds of a guess, on its condition, move by at most:"
        ),
        table(["feature", "ε of the counts", "odds move by at most", "condition"], rows),
        paragraph(
            f"{void(plan)} ε of the counts: no outcome becomes more than e^ε times as likely, plus {chance}, whatever "
            "the person's answer is; odds are stated separately, because they may move by more than e^ε more often.",
            kind="quiet",
        ),
        table(["promise", "whom one has to trust"], trusted(plan), words=(1,)),
    )


def assumption(plan: Plan, notes: LinkedFootnotes) -> PageSection:
    """What the conditions mean, and what the operator says of them."""
    multiple = "as many times (q and odds - 1)" if demands_if_wrong(plan) else "twice"
    return section(
        "What must be true for it",
        notes.listed(),
        paragraph(
            f"{MEANING} A q of 0 says that the other answers do not depend on it. If a condition is wrong, the last "
            "column under “What is promised” holds, and the one before it if its numbers are at most "
            f"{multiple} as large."
        ),
        paragraph(f"{operator_says(plan)}."),
        *map(paragraph, [*open_said(plan), *panel_said(plan)]),
    )


def leakage(plan: Plan) -> PageSection:
    """What the answers to each menu say of every feature, asked or not."""
    figure = leakage_figure(plan)
    if figure is None:
        return NOTHING
    return section(
        "What one device's answers tell",
        paragraph(
            "A device answers one line of the picture, which chance has drawn. Each number is the factor by which its "
            "answers can move the odds of a guess about the feature below: also about features that are not asked, "
            "because features depend on each other. The largest number of a column is the promise above, on the same "
            "condition. Features have the names of the policy."
        ),
        picture(figure, "odds factors: rows are menus of questions, columns are features"),
    )


def audit(plan: Plan, audited: PlanAudit) -> PageSection:
    """The claims and the exact levels of one population, with the feature that fares worst."""
    features = plan.policy.features
    levels = {features[name].label: level for name, level in audited.delta.items()}
    levels["the whole record"] = audited.epsilon
    rows = [
        [name, f"{level.certified:.4f}", f"{level.measured:.4f}", "yes" if level.kept else bold("NO")]
        for name, level in levels.items()
    ]
    worst = max(features, key=lambda name: audited.delta[name].measured - features[name].delta)
    verdict = "Every claim holds for this population." if audited.kept else BROKEN
    return section(
        "What an audit found",
        paragraph(
            "Every answer of every menu was enumerated for the population at hand, and the level at which it tells one "
            "value of a feature from another was computed without looking at the claims."
        ),
        table(["level (odds e^level)", "certified", "measured", "kept"], rows),
        *(
            paragraph(
                f"Finer guesses about “{_label(plan, name)}” than its promise covers move their odds by "
                f"{finer_guesses(finer)}: an observation on these records, some of it by chance."
            )
            for name, finer in audited.finer.items()
        ),
        paragraph(verdict, f" Most telling about “{_label(plan, worst)}”: {audited.words[worst]}."),
    )


def adversary(plan: Plan, promised: Mapping[str, Promise], notes: LinkedFootnotes) -> tuple[PageSection, ...]:
    """What somebody who sees a report can and cannot find out."""
    label, promise = _strictest(plan, promised)
    cannot = [
        joined(
            [
                f"Read “{label}” off a report: a guess about it that was right with probability 50% becomes right "
                f"with at most {posterior_at_most(promise.level)}, one of 1% with at most "
                f"{posterior_at_most(promise.level, Fraction(1, 100))}, ",
                notes.words(promise.condition),
                ".",
            ]
        ),
        "Learn more by asking the same device again: it keeps its first answer and repeats it.",
        "Learn anything from which question a device was asked: chance alone decides that.",
    ]
    can = [
        "Learn about the population: that is what the collection is for. A person who is known to belong to a group "
        "shares what is learned of the group, whether or not that person took part.",
        "Learn more about several features together than about one: for such guesses only the factor "
        f"{odds(certify(plan).epsilon)} of the whole record is promised, with nothing assumed.",
        "Learn more than promised about a feature if its condition does not hold; the last columns under “What "
        "is promised” say how much more.",
        *(
            f"Learn more about “{_label(plan, name)}” by finer guesses than its promise covers: for these "
            "too only the factor of the whole record is promised."
            for name in plan.correlation_model.ranges
        ),
        joined(
            [
                "Learn more from several collections about the same person: conditions are about one plan, so what one "
                "promises about a feature grows by the ε of all others (",
                code("bcdp ledger"),
                ").",
            ]
        ),
    ]
    return section("What an adversary cannot do", listing(cannot)), section("What an adversary can do", listing(can))


def policy(plan: Plan) -> PageSection:
    """The policy as it was stated."""
    rows = [
        [feature.label, name, feature.type, _values(feature), number(feature.delta)]
        for name, feature in plan.policy.features.items()
    ]
    return section(
        "The policy",
        table(["feature", "name", "kind", "possible values", "δ"], rows, words=(1, 2, 3)),
        paragraph(f"ε = {number(plan.policy.epsilon)} for the whole record; mechanism: {plan.mechanism}."),
        paragraph(
            "Plan ", code(plan.id), ": a public file that anybody can check and every device executes.", kind="quiet"
        ),
    )


def _values(feature: Feature) -> str:
    if feature.is_number:
        return " to ".join(map(number, feature.span))
    words = [str(value) for value in feature.categories]
    return ", ".join(words if len(words) <= 12 else [*words[:10], f"and {len(words) - 10} more"])
