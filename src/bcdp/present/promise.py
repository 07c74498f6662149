"""What a plan promises, on which condition, and what is left without it, all from the plan's numbers alone.

The text `correlation.source` is whatever the operator wrote; it is quoted as that and decides nothing. The browser's
device makes the same words (`web/device/promise.js`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bcdp.correlation import Stronger
from bcdp.plan import Plan, Within, certify, mechanism_of
from bcdp.present.words import listed, odds, posterior_at_most, together

NOTHING_ASSUMED = "with nothing assumed, however the answers are related"
MEANING = (
    "A condition is about what the guesser knows: between people who differ in the answer, the chance of anything "
    "about their other answers differs by no more than the condition says, in percentage points (q) or as a factor "
    "(odds). Against somebody who knows of closer links, in general or for one person, only the promise with nothing "
    "assumed holds. Each promise is about one answer and one report."
)
_LARGE_ODDS = 1e6
_MOST_QUOTED = 300  # characters of what the operator wrote


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

    @property
    def told(self) -> str:
        """The promise as odds and as a guess."""
        return f"at most {odds(self.level)} times (a guess at 50% becomes at most {posterior_at_most(self.level)})"

    @property
    def left(self) -> str:
        """What is left if the condition fails."""
        if self.condition == NOTHING_ASSUMED:
            return "it has no condition"
        twice = "" if self.twice is None else f"at most {odds(self.twice)} times at twice {self.numbers}, "
        return f"{twice}at most {odds(self.nothing)} times with nothing assumed"

    @property
    def sentence(self) -> str:
        """All three in words."""
        fails = "" if self.condition == NOTHING_ASSUMED else f" If that is wrong: {self.left}."
        return (
            f"Whoever sees the report can raise the odds of a guess about {quoted(self.label)} {self.told}, "
            f"{self.condition}.{fails}"
        )

    def to_dict(self) -> dict[str, str]:
        """The words, for a page to show."""
        return {"label": self.label, "told": self.told, "condition": self.condition, "left": self.left}


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
    largest = [mechanism.largest_levels(plan, assumed) for assumed in (model, Stronger(model, 2.0), unconditional)]
    lawless, nothing = mechanism.levels(plan, without_laws), mechanism.levels(plan, unconditional)
    found = {}
    for name, feature in plan.policy.features.items():
        level, twice, certain = (levels.delta[name] for levels in largest)
        certain = max(certain, level)  # the last digits of doubles
        if odds(certain) == odds(level):  # then what is told holds without the condition
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
        found[name] = Promise(feature.label, level, condition, twice if doubles else None, certain, _numbers(assumed))
    return found


def promise_of_all(plan: Plan) -> Promise:
    """The promise for the whole record, several features together among it: it rests on nothing.

    >>> from bcdp import Policy, make_plan
    >>> promise_of_all(make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))).condition
    'with nothing assumed, however the answers are related'
    """
    level = certify(plan).epsilon
    return Promise("all answers together", level, NOTHING_ASSUMED, None, level)


def conditions(found: Mapping[str, Promise]) -> list[str]:
    """Each condition once, after the features that it stands for."""
    return together((name, promise.condition) for name, promise in found.items())


def operator_says(plan: Plan) -> str:
    """Where conditions come from, in the operator's own words, which nothing checks."""
    said = quoted(str(plan.correlation["source"]))
    return f"Where conditions come from, the operator says and nobody has checked: {said}"


def quoted(text: str) -> str:
    """What somebody wrote, between quotation marks that it cannot leave: on one line, nothing invisible, not too long.

    >>> quoted("a plan\\n“checked”\\x1b[2J")
    '“a plan\\\\u{a}"checked"\\\\u{1b}[2J”'
    """
    shown = text if len(text) <= _MOST_QUOTED else f"{text[: _MOST_QUOTED - 3]}..."
    plain = shown.replace("“", '"').replace("”", '"')
    visible = (letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}" for letter in plain)
    return f"“{''.join(visible)}”"


def _condition(plan: Plan, name: str, assumed: Sequence[Within], by_laws: bool) -> str:
    """The condition of a feature whose level rests on these bounds, and on laws that the plan states.

    A q that the odds imply is not mentioned, nor odds if q is 0.
    """
    points = sorted({_points(within.q) for within in assumed if within.q < 1 and within.q < within.odds_q})
    times = sorted({_times(within.odds) for within in assumed if within.q > 0 and within.odds < math.inf})
    parts = [_moved(points[0], points[-1])] if points else []
    if times:
        parts.append(_known(times[0], times[-1]))
    if by_laws:
        parts.append("the other answers depend on it as the plan's table of shares says")
    return f"if {', and '.join(parts)}{_within(plan)}{_covered(plan, name)}" if parts else NOTHING_ASSUMED


def _within(plan: Plan) -> str:
    """Among whom a condition is to hold, where some features are open (docs/theory.md, section 4.10)."""
    labels = [quoted(feature.label) for feature in plan.policy.open.values()]
    return f", among people with the same {listed(labels)}" if labels else ""


def open_said(plan: Plan) -> list[str]:
    """A sentence about each feature that is not protected."""
    return [f"{quoted(feature.label)} is sent as it is, not protected." for feature in plan.policy.open.values()]


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
    return f", for guesses which of these ranges it is in and no finer ones: {', '.join(feature.range_words)}"


def _moved(low: float, high: float) -> str:
    if high == 0:
        return "the other answers do not move with it at all (q = 0)"
    if low < high:
        return f"the other answers move by at most q = {low:g} to {high:g} percentage points with it, as the plan lists"
    return f"the other answers move by at most q = {high:g} percentage point{'s' * (high != 1)} with it"


def _points(q: float) -> float:
    """A q in percentage points, rounded down to hundredths: a condition is never stated weaker than it is."""
    hundredths = math.floor(10_000 * q) + 1
    while hundredths / 10_000 > q:
        hundredths -= 1
    return hundredths / 100


def _known(low: float, high: float) -> str:
    most, least = (repr(float(times)).removesuffix(".0") for times in (high, low))
    listed = (f"{least} to {most}", ", as the plan lists") if low < high else (most, "")
    return "knowing all the other answers could move the odds of it at most {} times{}".format(*listed)


def _times(odds: float) -> float:
    """Odds rounded down to hundredths, large ones to whole numbers: a condition is never stated weaker than it is."""
    if odds >= _LARGE_ODDS:
        return float(math.floor(odds))
    hundredths = math.floor(100 * odds) + 1
    while hundredths / 100 > odds:
        hundredths -= 1
    return hundredths / 100
