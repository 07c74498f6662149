"""How many people a collection takes, before anybody is asked: for a standard error, a difference, a whole table.

A population is imagined, and the tally that very many of its people would leave is estimated like any other: every
statistic reports its own standard error, which falls as one over the square root of the number of people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import expect, refuse
from bcdp.estimates.consistency import consistent
from bcdp.estimates.results import Estimates, estimate, results_of
from bcdp.exact import TOTAL
from bcdp.plan import A_PLAN, GROUP, Plan, Question, check_menus
from bcdp.policy import NO_ANSWER, NOT_APPLICABLE, Feature, Policy
from bcdp.questions import input_shares
from bcdp.records.encoding import UNANSWERED, codes_of, spelled
from bcdp.records.whole_words import joined
from bcdp.statistics import Decoded, Decoder, Means, Target
from bcdp.statistics.shared.decoded_values import JointEstimate
from bcdp.statistics.shared.linear_form import HonestRange
from bcdp.statistics.shared.special import ndtr, ndtri
from bcdp.tally import Tally

Array = npt.NDArray[np.float64]
Law = list[tuple[float, float]]  # codes, and the share of the people who have each
_MANY = 10**15  # people, of whom every cell has so many that rounding to whole ones reveals nothing

_FEWER = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)  # between which errors are interpolated
_POINTS = 98  # of a number with a stated mean
_STEEPEST = 1e4  # the slope of a law of largest entropy: everybody is at a bound


@dataclass(frozen=True)
class Precision:
    """One number of a collection: what it is about, its value in the population imagined, and n times its variance."""

    about: str
    name: str
    value: float
    error: float
    fewer: tuple[tuple[float, float], ...] = ()  # numbers of people, with n times the variance that they leave

    def error_at(self, people: float) -> float:
        """N times the variance of what is published: what is known besides answers counts more if these are few."""
        if not self.fewer:
            return self.error
        sizes, errors = np.log(np.array([*self.fewer, (_MANY, self.error)])).T
        return math.exp(float(np.interp(math.log(people), sizes, errors)))

    def se(self, people: float) -> float:
        """The standard error that so many people leave."""
        return math.sqrt(self.error_at(people) / people)

    def people(self, se: float) -> float:
        """How many people leave this standard error."""
        return self.error / se**2 if not self.fewer else least_people(lambda people: self.se(people) <= se)


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
        """The number of people of both groups times the variance of their difference, for very many people."""
        return self.error_at(_MANY)

    def error_at(self, people: float) -> float:
        """The same for so many people."""
        first, second = people * self.share, people * (1 - self.share)
        return self.first.error_at(first) / self.share + self.second.error_at(second) / (1 - self.share)

    @property
    def _width(self) -> float:
        return float(ndtri((1 + self.level) / 2))

    def people(self, power: float) -> float:
        """How many people, both groups together, show the difference with this chance; infinite if there is none."""
        if not self.value:
            return math.inf
        if self.first.fewer or self.second.fewer:
            return least_people(lambda people: self.power(people) >= power)
        return self.error * (self._width + float(ndtri(power))) ** 2 / self.value**2

    def power(self, people: float) -> float:
        """The chance that so many people show the difference: that their interval is on its side of 0."""
        return float(ndtr(abs(self.value) / math.sqrt(self.error_at(people) / people) - self._width))

    def detectable(self, people: float, power: float) -> float:
        """The least difference that so many people show with this chance, if the groups vary as imagined."""
        return (self._width + float(ndtri(power))) * math.sqrt(self.error_at(people) / people)


def least_people(enough: Callable[[float], bool]) -> float:
    """The least number of people that is enough, where more are enough too; infinite if none is."""
    low, high = 0.0, math.log(_MANY)
    if not enough(math.exp(high)):
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(math.exp(middle)) else (middle, high)
    return math.exp(high)


@dataclass(frozen=True)
class _OfFewer:
    """A tally of very many people, read as if fewer had left the same shares of answers."""

    many: Decoder
    people: int

    @property
    def policy(self) -> Policy:
        """The policy of the plan that was answered."""
        return self.many.policy

    @property
    def _times(self) -> float:
        return self.many.people / self.people

    def decode(self, target: Target) -> Decoded:
        """The same values, with larger variances."""
        decoded, times = self.many.decode(target), self._times
        return replace(
            decoded,
            constant=times * decoded.constant,
            slope=times * decoded.slope,
            square=times * decoded.square,
            doubt=times**3 * decoded.doubt,
            answers=int(decoded.answers / times),
        )

    def means(self, targets: Collection[Target]) -> Means:
        """The same values."""
        return self.many.means(targets)

    def together(self, targets: Collection[Target]) -> JointEstimate | None:
        """The same values, with larger variances."""
        joint, times = self.many.together(targets), self._times
        if joint is None:
            return None
        answers = tuple(int(number / times) for number in joint.answers)
        return replace(joint, covariance=joint.covariance * times, answers=answers)

    def honest_range(self, target: Target, factors: Array, fakes: int) -> HonestRange | None:
        """That of very many people."""
        return self.many.honest_range(target, factors, fakes)


def _errors(decoder: Decoder, people: int) -> list[float]:
    """N times the variance of every number that so many people leave."""
    results = results_of(consistent(_OfFewer(decoder, people)), 0.95)
    estimates = Estimates(people, 0.95, results, decoder.policy)
    return [row.number.se**2 * people for section in estimates.sections() for row in section.rows]


def precision(plan: Plan, guess: Mapping[str, Any] | None = None) -> list[Precision]:
    """Every number that a collection would report, with n times its variance, in the features' own units.

    `guess` says what the population may be like: the share of a feature's second value, shares of all its values, or
    the mean of a number; with `missing: own` also `{"mean": 50, "no answer": 0.2}`. Without a guess values are equally
    frequent and numbers half at each bound: then shares of two values and means of numbers have their largest variance.
    A number with a stated mean has the distribution of largest entropy within its bounds: uniform in the middle.
    Features are taken as independent of each other.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> [smoker] = precision(plan, {"smoker": 0.2})
    >>> round(smoker.value, 9), math.ceil(smoker.people(0.01))
    (0.2, 10807)
    """
    expect("plan", plan, Plan, A_PLAN)
    check_menus(plan)
    tally = imagined(plan, guess or {})
    rows = [(section.subject, row) for section in estimate(tally).sections() for row in section.rows]
    precisions = [Precision(subject, row.name, row.number.value, row.number.se**2 * _MANY) for subject, row in rows]
    decoder = tally.decoder()
    if consistent(decoder) is decoder:
        return precisions
    errors = [_errors(decoder, people) for people in _FEWER]
    if any(len(each) != len(precisions) for each in errors):
        return precisions
    return [
        replace(each, fewer=tuple(zip(map(float, _FEWER), own, strict=True))) if _vary(each.error, own) else each
        for each, own in zip(precisions, zip(*errors, strict=True), strict=True)
    ]


def _vary(error: float, errors: Sequence[float]) -> bool:
    """Whether n times the variance depends on how many people there are."""
    every = [error, *errors]
    return min(every) > 0 and all(map(math.isfinite, every)) and max(every) > 1.001 * min(every)


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
        rest = 1 - sum(shares)
        codes = np.array([-1.0, 1.0]) if guess is None else np.linspace(-1, 1, _POINTS)
        own = rest * _with_mean(codes, 2 * (mean - low) / (high - low) - 1)
        law = list(zip(codes.tolist(), own.tolist(), strict=True))
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


def _with_mean(codes: Array, mean: float) -> Array:
    """The shares of largest entropy that have a mean: they rise or fall by the same factor from point to point.

    >>> _with_mean(np.array([-1.0, 0.0, 1.0]), 0.0).round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    if abs(mean) >= 1:
        return np.asarray(codes == math.copysign(1, mean), dtype=np.float64)

    def shares(slope: float) -> Array:
        weights = np.exp(slope * codes - abs(slope))
        return np.asarray(weights / weights.sum())

    low, high = -_STEEPEST, _STEEPEST
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if shares(middle) @ codes < mean else (low, middle)
    return shares(high)


def _number(name: str, guess: Any) -> float:
    if isinstance(guess, bool) or not isinstance(guess, int | float) or not math.isfinite(guess):
        raise refuse(f"guess of {name}", guess, "a number")
    return float(guess)


def _answers(plan: Plan, question: Question, laws: Mapping[str, Law]) -> Array:
    """The distribution of the symbols that answer a question."""
    table, features = plan.tables[question.table], plan.policy.features
    values, parts = zip(*(np.array(laws[name]).T for name in question.features), strict=True)
    shares = reduce(np.multiply.outer, parts).ravel()
    codes = {
        name: each.ravel().astype(float if features[name].is_number else int)
        for name, each in zip(question.features, np.meshgrid(*values, indexing="ij"), strict=True)
    }
    inputs = input_shares(question.coordinates(plan.policy, codes), shares)
    possible = question.combinations(plan.policy)
    if possible is not None:  # of a block, as if all features were independent where that can be
        inputs = inputs[np.ravel_multi_index(tuple(possible.T), question.levels)]
        if not inputs.any():
            raise refuse("guess", ", ".join(question.features), "shares with which follow-ups can be as guessed")
        inputs = inputs / inputs.sum()
    return np.asarray(sum(inputs[given] * table.row(int(given)) for given in np.flatnonzero(inputs)) / TOTAL)
