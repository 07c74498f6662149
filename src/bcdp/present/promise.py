"""What a plan promises, on which condition, and what is left without it, all from the plan's numbers alone.

The text `correlation.source` is whatever the operator wrote; it is quoted as that and decides nothing. The browser's
device makes the same words (`web/device/wording/promise.js`) from the same sentences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bcdp.correlation import Stronger
from bcdp.plan import Plan, Within, certify, levels_if_wrong, mechanism_of
from bcdp.present.sentences import sentence
from bcdp.present.words import listed, odds, posterior_at_most, together

NOTHING_ASSUMED = sentence("nothingAssumed")
MEANING = sentence("meaning")
EXCEEDED = {"q": "q", "the odds": "odds - 1", "q and odds": "q and odds - 1"}  # what a second demand multiplies
_LARGE_ODDS = 1e6
COUNTS_BY_GROUP = (
    "Nothing is promised about published counts: reports are counted by group, and what the counts reveal depends on "
    "the size of the smallest group, which is known only after the collection."
)
_MOST_QUOTED = 300  # characters of what the operator wrote
_JOINERS = "\u200c\u200d"  # a plan has them only between letters that they join or part
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")


@dataclass(frozen=True)
class Promise:
    """How far one report lets odds move, in nats, rounded up: on a condition, at twice it, and with nothing assumed.

    `twice` is None where that would be no other condition: nothing is assumed, or q is 0. `numbers` are those of the
    condition: "q", "q and odds", "the odds".
    """

    label: str
    level: float
    condition: str
    twice: float | None
    nothing: float
    numbers: str = "q"
    if_wrong: tuple[float, float] | None = None  # a stated multiple of q and odds - 1, and the level there

    @property
    def told(self) -> str:
        """The promise as odds and as a guess."""
        return sentence("told", times=_at_most(self.level), chance=posterior_at_most(self.level))

    @property
    def left(self) -> str:
        """What is left if the condition fails."""
        if self.condition == NOTHING_ASSUMED:
            return sentence("unconditional")
        nothing = _at_most(self.nothing)
        if self.if_wrong is not None:
            factor, level = self.if_wrong
            numbers, stated = EXCEEDED[self.numbers], repr(float(factor)).removesuffix(".0")
            return sentence("leftExceeded", times=_at_most(level), factor=stated, numbers=numbers, nothing=nothing)
        if self.twice is None:
            return sentence("left", nothing=nothing)
        return sentence("leftDoubled", times=_at_most(self.twice), numbers=self.numbers, nothing=nothing)

    @property
    def sentence(self) -> str:
        """All three in words."""
        fails = "" if self.condition == NOTHING_ASSUMED else sentence("otherwise", left=self.left)
        return sentence("promise", label=quoted(self.label), told=self.told, condition=self.condition) + fails

    def to_dict(self) -> dict[str, str]:
        """The words, for a page to show."""
        return {"label": self.label, "told": self.told, "condition": self.condition, "left": self.left}


def _at_most(level: float) -> str:
    return sentence("times", factor=odds(level))


def promises(plan: Plan) -> dict[str, Promise]:
    """The promise for each feature, its level computed again whatever the plan claims.

    >>> from bcdp import Policy, make_plan
    >>> features = {"smoker": {"type": "binary", "delta": 0.2}, "drinker": {"type": "binary"}}
    >>> promises(make_plan(Policy(epsilon=2, features=features, correlation=0.05)))["smoker"].condition
    'if the other answers move by at most q = 5 percentage points with it'
    """
    model, mechanism = plan.correlation_model, mechanism_of(plan)
    bounds = mechanism.bounds(plan, model)
    without_laws, unconditional = Stronger(model, 1.0), Stronger(model, math.inf)
    stronger = (mechanism.largest_levels(plan, assumed) for assumed in (Stronger(model, 2.0), unconditional))
    largest = [certify(plan), *stronger]
    lawless, nothing = mechanism.levels(plan, without_laws), mechanism.levels(plan, unconditional)
    result, wrong = {}, plan.derived(levels_if_wrong)
    for name, feature in plan.policy.features.items():
        level, twice, certain = (levels.delta[name] for levels in largest)
        certain = max(certain, level)  # the last digits of doubles
        if odds(certain) == odds(level):  # then what is reported holds without the condition
            level = certain
        needed = [
            (within[name], without.delta[name] > level)
            for within, without, whatever in zip(bounds, lawless, nothing, strict=True)
            if whatever.delta[name] > level
        ]
        assumed = [within for within, by_laws in needed if not by_laws]
        by_laws = len(assumed) < len(needed)
        doubles = by_laws or any(within.q > 0 for within in assumed)
        condition = _condition(plan, name, assumed, by_laws)
        result[name] = Promise(feature.label, level, condition, twice if doubles else None, certain, _numbers(assumed))
        if feature.if_wrong is not None and condition != NOTHING_ASSUMED:
            result[name] = replace(result[name], if_wrong=(feature.if_wrong.times, wrong[name]))
    return result


def promise_of_all(plan: Plan) -> Promise:
    """The promise for the whole record, several features together among it: it rests on nothing.

    >>> from bcdp import Policy, make_plan
    >>> promise_of_all(make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))).condition
    'with nothing assumed, however the answers are related'
    """
    level = certify(plan).epsilon
    return Promise(sentence("all"), level, NOTHING_ASSUMED, None, level)


def conditions(promised: Mapping[str, Promise]) -> list[str]:
    """Each condition once, after the features that it stands for."""
    return together((name, promise.condition) for name, promise in promised.items())


def operator_says(plan: Plan) -> str:
    """Where conditions come from, in the operator's own words, which nothing checks."""
    return sentence("operatorSays", said=quoted(str(plan.correlation["source"])))


def quoted(text: str) -> str:
    """What somebody wrote, between quotation marks that it cannot leave: on one line, nothing invisible, not too long.

    What runs from right to left keeps to itself, so that no number next to it is turned round.

    >>> quoted("a plan\\n“checked”\\x1b[2J")
    '“a plan\\\\u{a}"checked"\\\\u{1b}[2J”'
    """
    shown = text if len(text) <= _MOST_QUOTED else f"{text[: _MOST_QUOTED - 3]}..."
    plain = shown.replace("“", '"').replace("”", '"')
    seen = (letter if letter.isprintable() or letter in _JOINERS else f"\\u{{{ord(letter):x}}}" for letter in plain)
    visible = "".join(seen)
    return f"“\u2068{visible}\u2069”" if _RIGHT_TO_LEFT.search(visible) else f"“{visible}”"


def _condition(plan: Plan, name: str, assumed: Sequence[Within], by_laws: bool) -> str:
    """The condition of a feature whose level rests on these bounds, and on distributions that the plan states.

    A q that the odds imply is not mentioned, nor odds if q is 0.
    """
    points = sorted({_points(within.q) for within in assumed if within.q < 1 and within.q < within.odds_q})
    times = sorted({_times(within.odds) for within in assumed if within.q > 0 and within.odds < math.inf})
    parts = [_moved(points[0], points[-1])] if points else []
    if times:
        parts.append(_known(times[0], times[-1]))
    if by_laws:
        parts.append(sentence("byLaws"))
    if not parts:
        return NOTHING_ASSUMED
    apart = sentence("apart") if name in plan.policy.blocks else ""
    return sentence("condition", parts=", and ".join(parts)) + apart + _within(plan) + _covered(plan, name)


def assumed_condition(plan: Plan, name: str) -> str:
    """The condition that names all bounds and distributions which the plan states about a feature, needed or not."""
    model = plan.correlation_model
    bounds = [within[name] for within in mechanism_of(plan).bounds(plan, model)]
    known = any(model.laws(name, other) is not None for other in plan.policy.features if other != name)
    return _condition(plan, name, bounds, known)


def _within(plan: Plan) -> str:
    """Among whom a condition is to hold, where some features are open (theory.md, section 4.10)."""
    labels = [quoted(feature.label) for feature in plan.policy.open.values()]
    return sentence("within", labels=listed(labels)) if labels else ""


def open_said(plan: Plan) -> list[str]:
    """A sentence about each feature that is not protected, and what they do to the promise about published counts."""
    open_features = plan.policy.open.values()
    sent = [f"{quoted(feature.label)} is sent as it is, not protected." for feature in open_features]
    return [*sent, COUNTS_BY_GROUP] if sent and plan.policy.batch is None else sent


def panel_said(plan: Plan) -> list[str]:
    """What a panel's promises are about, and what devices keep between two waves."""
    panel = plan.policy.panel
    if panel is None:
        return []
    said = [sentence("panel", waves=str(panel.waves), every=panel.every, start=panel.start)]
    changed = dict.fromkeys(question.features[0] for question in plan.questions if question.since is not None)
    labels = [quoted(plan.policy.features[name].label) for name in changed]
    return [*said, sentence("changes", labels=listed(labels))] if labels else said


def _numbers(assumed: Sequence[Within]) -> str:
    """What is doubled where the condition is: the numbers that the bounds state."""
    if all(within.odds == math.inf for within in assumed):
        return "q"
    return "the odds" if all(within.q == 1 for within in assumed) else "q and odds"


def _covered(plan: Plan, name: str) -> str:
    """Which guesses about a feature are meant, if not all: what was measured by ranges speaks of ranges only."""
    feature = plan.policy.features[name]
    if name not in plan.correlation_model.ranges:
        return ""
    return sentence("ranges", ranges=", ".join(feature.range_words))


def _moved(low: float, high: float) -> str:
    if high == 0:
        return sentence("unmoved")
    if low < high:
        return sentence("movedBetween", low=f"{low:g}", high=f"{high:g}")
    return sentence("movedOne" if high == 1 else "moved", points=f"{high:g}")


def _points(q: float) -> float:
    """A q in percentage points, rounded down to hundredths: a condition is never stated weaker than it is."""
    hundredths = math.floor(10_000 * q) + 1
    while hundredths / 10_000 > q:
        hundredths -= 1
    return hundredths / 100


def _known(low: float, high: float) -> str:
    most, least = (repr(float(times)).removesuffix(".0") for times in (high, low))
    return sentence("learnedBetween", low=least, high=most) if low < high else sentence("learned", times=most)


def _times(odds: float) -> float:
    """Odds rounded down to hundredths, large ones to whole numbers: a condition is never stated weaker than it is."""
    if odds >= _LARGE_ODDS:
        return float(math.floor(odds))
    hundredths = math.floor(100 * odds) + 1
    while hundredths / 100 > odds:
        hundredths -= 1
    return hundredths / 100
