"""What a plan promises, what that rests on, and what somebody who sees a report can and cannot find out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

from bcdp.audit import PlanAudit
from bcdp.comparison import Errors
from bcdp.correlation import Stronger
from bcdp.estimates import Estimates
from bcdp.pictures import told_figure
from bcdp.plan import FeatureCertificate, Plan, certify
from bcdp.policy import Feature, NumericFeature
from bcdp.report.html import listing, paragraph, picture, section, table
from bcdp.wording import number, odds, sure

BROKEN = (
    "<b>The certificate does not hold for the population of the audit</b>: its features depend on each other more than "
    "the plan assumes, or a claim is false."
)


def summary(plan: Plan, errors: Mapping[str, Errors], users: int, found: Estimates | None, kept: bool) -> str:
    """Three sentences for who reads no further, after a warning where an audit did not find the promises kept."""
    people = f"{found.people:,} people answered" if found is not None else f"{users:,} people are expected to answer"
    how = (
        f"Each device draws one of {len(plan.menus)} menus of questions by chance, answers it through a public table "
        "of random choices and sends two small numbers. Nothing else leaves the device."
        if plan.mechanism == "survey"
        else "Each device sends its record with noise of its own, one number for each feature. Nothing else leaves it."
    )
    lines = [*([] if kept else [BROKEN]), f"{people}. {how}", _promise(plan)]
    gains = sorted(error.uniform / error.plan for error in errors.values() if 0 < error.plan < math.inf)
    if gains and 1.05 < gains[-1] < math.inf:
        few, many = number(gains[0], 2), number(gains[-1], 2)
        lines.append(
            f"Protecting all features alike would need <b>{f'{few} to {many}' if few != many else few} times as many "
            "people</b> for the same precision."
        )
    return "".join(paragraph(line, "key") for line in lines)


def _promise(plan: Plan) -> str:
    """The sensitive features' factors, strictest first, and that of the whole record, which rests on no assumption."""
    claims, whole = plan.certificate.features, f"<b>{odds(plan.certificate.epsilon)}</b>"
    guarded = sorted((c.asked, name) for name, c in claims.items() if c.asked < plan.policy.epsilon)
    if not guarded:
        return f"Whoever sees a report can multiply the odds of any guess about the person by at most {whole}."
    factors = [
        f"<b>{_label(plan, name)}</b> by at most <b>{odds(claims[name].certified)}</b>" for _, name in guarded[:4]
    ]
    return (
        f"Whoever sees a report can multiply the odds of a guess about {', about '.join(factors)}, as long as features "
        f"depend on each other no more than assumed; about the whole record, by at most {whole} in any case."
    )


def _label(plan: Plan, name: str) -> str:
    return escape(plan.policy.features[name].label)


def _strictest(plan: Plan) -> tuple[str, FeatureCertificate]:
    name, claim = min(plan.certificate.features.items(), key=lambda item: item[1].asked)
    return _label(plan, name), claim


def promises(plan: Plan) -> str:
    """The certificate in words."""
    rows = []
    for name, feature in plan.policy.features.items():
        claim = plan.certificate.features[name]
        rows.append([escape(feature.label), number(claim.asked), f"{claim.certified:.4f}",
                     f"&times; {odds(claim.certified)}", sure(claim.certified)])  # fmt: skip
    label, claim = _strictest(plan)
    return section(
        "What is promised",
        paragraph(
            f"Take &ldquo;{label}&rdquo;. If q below is right, whoever sees a person's report, and knows how people in "
            f"general are, can multiply the odds of any guess about it by at most {odds(claim.certified)}: a guess "
            f"that was right with probability 50% becomes right with at most {sure(claim.certified)}. That counts what "
            "the answers about other features give away."
        ),
        table(["feature", "&delta; asked", "&delta; certified", "odds move by at most", "50% becomes at most"], rows),
        paragraph(
            "The certified numbers are computed from the plan's integer tables and rounded up; <code>bcdp verify"
            "</code> and every device compute them again. A feature that was asked no more protection than the whole "
            "record may get more.",
            "quiet",
        ),
    )


def assumption(plan: Plan) -> str:
    """How correlated features may be, and what is left if they are more so."""
    doubled = certify(plan, Stronger(plan.correlation_model, 2.0)).delta
    nothing = certify(plan, Stronger(plan.correlation_model, math.inf)).delta
    everyone = frozenset(plan.policy.features)
    rows = []
    for name, feature in plan.policy.features.items():
        q = plan.correlation_model.q(name, everyone - {name})
        each = (plan.certificate.features[name].certified, doubled[name], nothing[name])
        rows.append([escape(feature.label), number(q, 3), *(f"&times; {odds(level)}" for level in each)])
    return section(
        "What must be true for it",
        paragraph(
            "One assumption, written q: between people who differ in a feature, how much can the chance of anything "
            "about their other features differ? A q of 0.2 says by at most 20 percentage points; 0, that the others do "
            "not depend on it; 1 assumes nothing. Somebody who knows of closer "
            "links for one person in particular is outside of it; the last column holds against anybody. "
            f"Where q comes from: {escape(str(plan.correlation['source']))}."
        ),
        table(["feature", "q", "odds move by at most", "if q were twice as large", "if nothing were assumed"], rows),
    )


def leakage(plan: Plan) -> str:
    """What the answers to each menu say of every feature, asked or not."""
    figure = told_figure(plan)
    if figure is None:
        return ""
    return section(
        "What one device's answers tell",
        paragraph(
            "A device answers one line of the picture, which chance has drawn. Each number is the factor by which its "
            "answers can move the odds of a guess about the feature below: also about features that are not asked, "
            "because features depend on each other. The largest number of a column is the promise above."
        ),
        picture(figure, "odds factors: rows are menus of questions, columns are features"),
    )


def audit(plan: Plan, audited: PlanAudit) -> str:
    """What is claimed beside the exact levels of one population; told is the feature that fares worst."""
    features = plan.policy.features
    levels = {escape(features[name].label): level for name, level in audited.delta.items()}
    levels["the whole record"] = audited.epsilon
    rows = [
        [name, f"{level.certified:.4f}", f"{level.measured:.4f}", "yes" if level.kept else "<b>NO</b>"]
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
        table(["level (odds e^level)", "certified", "found", "kept"], rows),
        paragraph(f"{verdict} Most telling about &ldquo;{_label(plan, worst)}&rdquo;: {escape(audited.words[worst])}."),
    )


def adversary(plan: Plan) -> str:
    """What somebody who sees a report can and cannot find out."""
    label, claim = _strictest(plan)
    cannot = [
        f"Read &ldquo;{label}&rdquo; off a report: a guess about it that was right with probability 50% becomes right "
        f"with at most {sure(claim.certified)}, one of 1% with at most {sure(claim.certified, 0.01)}, if q is right.",
        "Learn more by asking the same device again: it keeps its first answer and repeats it.",
        "Learn anything from which question a device was asked: chance alone decides that.",
    ]
    can = [
        "Learn about the population: that is what the collection is for. A person who is known to belong to a group "
        "shares what is learned of the group, whether or not that person took part.",
        "Learn more about several features together than about one: for such guesses only the factor "
        f"{odds(plan.certificate.epsilon)} of the whole record is promised.",
        "Learn more than promised about a feature if the features are more strongly correlated than assumed; the "
        "table under &ldquo;What must be true for it&rdquo; says how much more.",
        "Learn more from several collections about the same person: what they promise adds up "
        "(<code>bcdp ledger</code>).",
    ]
    return section("What an adversary cannot do", listing(cannot)) + section("What an adversary can do", listing(can))


def policy(plan: Plan) -> str:
    """The policy as it was stated."""
    rows = [
        [escape(feature.label), feature.type, escape(_values(feature)), number(feature.delta)]
        for feature in plan.policy.features.values()
    ]
    return section(
        "The policy",
        table(["feature", "kind", "possible values", "&delta;"], rows, words=(1, 2)),
        paragraph(f"&epsilon; = {number(plan.policy.epsilon)} for the whole record; mechanism: {plan.mechanism}."),
        paragraph(
            f"Plan <code>{plan.id}</code>: a public file that anybody can check and every device executes.", "quiet"
        ),
    )


def _values(feature: Feature) -> str:
    if isinstance(feature, NumericFeature):
        return f"{number(feature.bounds[0])} to {number(feature.bounds[1])}"
    words = [str(value) for value in feature.values or ("no", "yes")]
    return ", ".join(words if len(words) <= 12 else [*words[:10], f"and {len(words) - 10} more"])
