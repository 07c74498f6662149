"""How many people a collection takes, before anybody is asked: for a standard error, a difference, a whole table.

A population is imagined, and the tally that very many of its people would leave is estimated like any other: every
statistic reports its own standard error, which falls as one over the square root of the number of people.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import expect, refuse
from bcdp.estimates.results import estimate
from bcdp.exact import TOTAL
from bcdp.plan import A_PLAN, GROUP, Plan, Question, check_menus
from bcdp.policy import NO_ANSWER, NOT_APPLICABLE, Feature
from bcdp.questions import input_shares
from bcdp.records.encoding import UNANSWERED, codes_of, spelled
from bcdp.records.whole_words import joined
from bcdp.statistics.shared.special import ndtr, ndtri
from bcdp.tally import Tally

Array = npt.NDArray[np.float64]
Law = list[tuple[float, float]]  # codes, and the share of the people who have each
_MANY = 10**15  # people, of whom every cell has so many that rounding to whole ones reveals nothing


@dataclass(frozen=True)
class Precision:
    """One number of a collection: what it is about, its value in the population imagined, and n times its variance."""

    about: str
    name: str
    value: float
    error: float

    def se(self, people: float) -> float:
        """The standard error that so many people leave."""
        return math.sqrt(self.error / people)

    def people(self, se: float) -> float:
        """How many people leave this standard error."""
        return self.error / se**2


@dataclass(frozen=True)
class Difference:
    """A number in two groups of different people, `share` of them in the first.

    >>> one = Difference(Precision("Means", "ill", 0.2, 4.0), Precision("Means", "ill", 0.3, 4.0))
    >>> round(one.people(0.8)), round(one.power(12_559), 3), round(one.detectable(12_559, 0.8), 3)
    (12558, 0.8, 0.1)
    """

    first: Precision
    second: Precision
    share: float = 0.5
    level: float = 0.95

    @property
    def value(self) -> float:
        """The second less the first."""
        return self.second.value - self.first.value

    @property
    def error(self) -> float:
        """The number of people of both groups times the variance of their difference."""
        return self.first.error / self.share + self.second.error / (1 - self.share)

    @property
    def _width(self) -> float:
        return float(ndtri((1 + self.level) / 2))

    def people(self, power: float) -> float:
        """How many people, both groups together, show the difference with this chance; infinite if there is none."""
        return self.error * (self._width + float(ndtri(power))) ** 2 / self.value**2 if self.value else math.inf

    def power(self, people: float) -> float:
        """The chance that so many people show the difference: that their interval is on its side of 0."""
        return float(ndtr(abs(self.value) / math.sqrt(self.error / people) - self._width))

    def detectable(self, people: float, power: float) -> float:
        """The least difference that so many people show with this chance, if the groups vary as imagined."""
        return (self._width + float(ndtri(power))) * math.sqrt(self.error / people)


def precision(plan: Plan, guess: Mapping[str, Any] | None = None) -> list[Precision]:
    """Every number that a collection would report, with n times its variance, in the features' own units.

    `guess` says what the population may be like: the share of a feature's second value, shares of all its values, or
    the mean of a number; with `missing: own` also `{"mean": 50, "no answer": 0.2}`. Without a guess values are equally
    frequent and numbers half at each bound: then shares of two values and means of numbers have their largest variance.
    Features are taken as independent of each other.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> [smoker] = precision(plan, {"smoker": 0.2})
    >>> round(smoker.value, 9), math.ceil(smoker.people(0.01))
    (0.2, 10807)
    """
    expect("plan", plan, Plan, A_PLAN)
    check_menus(plan)
    estimates = estimate(imagined(plan, guess or {}))
    return [
        Precision(section.subject, row.name, row.number.value, row.number.se**2 * _MANY)
        for section in estimates.sections()
        for row in section.rows
    ]


def differences(
    plan: Plan,
    guess: Mapping[str, Any],
    against: Mapping[str, Any] | None = None,
    share: float = 0.5,
    level: float = 0.95,
) -> list[Difference]:
    """The same numbers in two groups of different people, one as guessed and one as it may be against that.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> [one] = differences(plan, {"smoker": 0.2}, {"smoker": 0.3})
    >>> 0.8 <= one.power(math.ceil(one.people(0.8))) < 0.8001
    True
    """
    for name, number in (("share", share), ("level", level)):
        if not 0 < number < 1:
            raise refuse(name, number, "a number above 0 and below 1")
    first = precision(plan, guess)
    second = first if against is None else precision(plan, {**guess, **against})
    return [Difference(before, after, share, level) for before, after in zip(first, second, strict=True)]


def imagined(plan: Plan, guess: Mapping[str, Any]) -> Tally:
    """The tally that very many people of a population would leave, as many in each cell as expected."""
    features = plan.policy.features
    if unknown := guess.keys() - features.keys():
        raise refuse("guess", sorted(unknown), f"features: {', '.join(features)}")
    laws = {name: _law(name, feature, guess.get(name)) for name, feature in features.items()}
    columns: dict[str, list[Any]] = {"menu": [], "answer": [], "count": []}
    for number, menu in enumerate(plan.menus):
        parts = [_answers(plan, plan.questions[index], laws) for index in menu.questions]
        shares = parts[0]
        for part in parts[1:]:  # a menu asks each feature once, and features are independent
            shares = np.multiply.outer(shares, part)
        counts = np.rint(shares.ravel() * (menu.weight / TOTAL * _MANY)).astype(np.int64)
        columns["menu"].append(np.full(len(counts), number))
        columns["answer"].append(np.arange(len(counts)))
        columns["count"].append(counts)
    reports = {name: np.concatenate(parts) for name, parts in columns.items()}
    group = {GROUP: np.zeros(len(reports["menu"]), dtype=np.int64)} if plan.policy.open else {}
    return Tally(plan).add({**reports, **group})


def _law(name: str, feature: Feature, guess: Any) -> Law:
    """The codes that people have, with their shares."""
    if feature.is_number:
        low, high = feature.span
        extras = [extra for extra, has in ((NO_ANSWER, feature.own), (NOT_APPLICABLE, feature.follows)) if has]
        shares = [1 / (2 + len(extras)) if guess is None else 0.0] * len(extras)
        if extras and isinstance(guess, Mapping) and set(guess) == {"mean", *extras}:
            guess, shares = guess["mean"], [_number(name, guess[extra]) for extra in extras]
        mean = (low + high) / 2 if guess is None else _number(name, guess)
        if not (low <= mean <= high and min([0.0, *shares]) >= 0 and sum(shares) < 1):
            also = "".join(f", and a share of {extra!r} below 1" for extra in extras)
            raise refuse(f"guess of {name}", guess, f"a mean within the bounds [{low:g}, {high:g}]{also}")
        above, rest = (mean - low) / (high - low), 1 - sum(shares)
        law = [(-1.0, (1 - above) * rest), (1.0, above * rest)]
        return [*law, *((UNANSWERED + number, share) for number, share in enumerate(shares))]
    size = len(feature.categories)
    if guess is None:
        return [(code, 1 / size) for code in range(size)]
    if not isinstance(guess, Mapping):
        if size - feature.extras != 2:
            raise refuse(f"guess of {name}", guess, "a share for each value")
        guess = {feature.categories[0]: 1 - _number(name, guess), feature.categories[1]: guess}
    last = {str(value): size - 1 - n for n, value in enumerate(feature.categories[::-1][: feature.extras])}
    known = joined(codes_of(getattr(feature, "values", None)), last)
    shares = [0.0] * size
    for value, share in guess.items():
        if spelled(value) not in known:
            raise refuse(f"guess of {name}", value, f"its values: {', '.join(map(repr, feature.categories[:12]))}")
        shares[known[spelled(value)]] += _number(name, share)
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise refuse(f"guess of {name}", guess, "shares from 0 to 1 that sum to 1")
    return list(enumerate(shares))


def _number(name: str, guess: Any) -> float:
    if isinstance(guess, bool) or not isinstance(guess, int | float) or not math.isfinite(guess):
        raise refuse(f"guess of {name}", guess, "a number")
    return float(guess)


def _answers(plan: Plan, question: Question, laws: Mapping[str, Law]) -> Array:
    """The distribution of the symbols that answer a question; numbers are at a bound, so none is rounded."""
    table, features = plan.tables[question.table], plan.policy.features
    combinations = list(itertools.product(*(laws[name] for name in question.features)))
    shares = np.array([math.prod(share for _, share in combination) for combination in combinations])
    codes = {
        name: np.array([combination[k][0] for combination in combinations], float if features[name].is_number else int)
        for k, name in enumerate(question.features)
    }
    inputs = input_shares(question.coordinates(plan.policy, codes), shares)
    possible = question.combinations(plan.policy)
    if possible is not None:  # of a block, as if all features were independent where that can be
        inputs = inputs[np.ravel_multi_index(tuple(possible.T), question.levels)]
        if not inputs.any():
            raise refuse("guess", ", ".join(question.features), "shares with which follow-ups can be as guessed")
        inputs = inputs / inputs.sum()
    return np.asarray(sum(inputs[given] * table.row(int(given)) for given in np.flatnonzero(inputs)) / TOTAL)
