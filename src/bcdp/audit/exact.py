"""The exact levels of a plan for a given population, menu by menu, next to what its certificate claims.

`epsilon` and `c` speak of all records, `delta` of the population: the largest ratio of an answer's probability between
two values of a feature, the rest drawn from the population (theory.md, section 1). A menu is drawn independently
of the record, so its answers are compared among themselves (section 4): the work grows with the sum over the menus.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bcdp.audit.guesses import Guess, finer_guesses, promised_guesses
from bcdp.audit.population import Array, Population, distinct_rows
from bcdp.correlation import Stronger
from bcdp.errors import refuse
from bcdp.exact import TOTAL, odds_up
from bcdp.plan import Menu, Plan, Question, certify, check_menus
from bcdp.plan.messages import linked_plan
from bcdp.plan.views import shared_codes
from bcdp.policy import NO_ANSWER, Feature, Policy

MOST_WORK = 2**37  # multiplications: a few minutes
_BLOCK_CELLS = 2**22
_MARGIN = 1e-12  # what is measured is rounded down by more than its rounding error, as claims are rounded up
_ROUNDED = 1e-8  # nats: a q of a sample written with nine decimals, a table's weights out of 2^32
_MARGIN_PER_RECORD = 2.0**-50  # a sum of so many positive terms is wrong by at most 2^-53 of itself for each of them


@dataclass(frozen=True)
class Level:
    """A level in nats: what the plan's certificate claims, and what was measured."""

    certified: float
    measured: float

    @property
    def kept(self) -> bool:
        """Whether no more was measured than is claimed, but for how numbers are rounded that people state."""
        return self.measured <= self.certified + _ROUNDED


@dataclass(frozen=True)
class Evidence:
    """The answer that reveals most about a feature: by which factor it moves the odds between two of its values."""

    menu: int
    symbols: tuple[int, ...]
    values: tuple[int, int]  # the codes between which the odds move, the likelier first
    factor: float


@dataclass(frozen=True)
class Kernel:
    """The probability of each symbol of a question for what the records hold, and which row is for which record."""

    chances: Array
    group: npt.NDArray[np.intp]


Finer = Mapping[str, Mapping[int, float]]  # of each number, its level by the number of parts


@dataclass(frozen=True)
class PlanAudit:
    """A plan's levels for one population, and for each feature the most telling answer, also in words.

    `finer`: of numbers whose promise is about guesses of their range, the levels of finer guesses, by how many equal
    parts these distinguish. They are no part of any promise.
    """

    epsilon: Level
    c: Mapping[str, Level]
    delta: Mapping[str, Level]
    evidence: Mapping[str, Evidence]
    words: Mapping[str, str]
    finer: Finer

    @property
    def kept(self) -> bool:
        """Whether every claim holds for this population."""
        return all(level.kept for level in (self.epsilon, *self.c.values(), *self.delta.values()))


def audit_plan(plan: Plan, population: Population) -> PlanAudit:
    """The exact levels of a survey for a population, in nats, whatever the plan claims.

    >>> from bcdp import Policy, make_plan
    >>> from bcdp.audit import audit_plan, population_of
    >>> features = {"smoker": {"type": "binary", "delta": 0.2}, "drinker": {"type": "binary"}}
    >>> plan = make_plan(Policy(epsilon=2, features=features, correlation=0.05))
    >>> audit_plan(plan, population_of(["smoker", "drinker"], [[0.25, 0.25], [0.25, 0.25]])).kept
    True
    >>> audit_plan(plan, population_of(["smoker", "drinker"], [[0.5, 0.0], [0.0, 0.5]])).kept  # q is 1, not 0.05
    False
    """
    check_menus(plan, "; audit_mechanism() measures what cannot be enumerated")
    plan = linked_plan(plan)
    names = tuple(plan.policy.features)
    population = population.ordered(names)
    claims, unconditional = plan.certificate, certify(plan, Stronger(plan.correlation_model, math.inf))
    promised, finer = promised_guesses(plan, population), finer_guesses(plan, population)
    strongest = _evidence(plan, population, [*promised, *finer])
    evidence = dict(zip(names, strongest, strict=False))
    epsilon, c = _any_record(plan)
    records = len(population.codes)
    return PlanAudit(
        epsilon=Level(claims.epsilon, _log_down(epsilon)),
        c={name: Level(claims.features[name].c, _log_down(c[name])) for name in names},
        delta={
            name: Level(
                _promised(claims.features[name].certified, unconditional.delta[name]),
                _log_down(evidence[name].factor, records),
            )
            for name in names
        },
        evidence=evidence,
        words={guess.feature: _words(plan, guess, evidence[guess.feature]) for guess in promised},
        finer=_levels(finer, strongest[len(promised) :], records),
    )


def _promised(certified: float, unconditional: float) -> float:
    """A level that is shown as the one with nothing assumed is promised as that one, so rounded up to it."""
    same_odds = odds_up(certified) == odds_up(unconditional)
    return max(certified, unconditional) if same_odds else certified


def finer_levels(plan: Plan, population: Population) -> Finer:
    """What finer guesses gain on a population than those that the plan covers, in nats: an observation, no promise.

    For each number whose `q` was measured by ranges, 16 and 64 equal parts of its bounds, those with 100 records.

    >>> from bcdp import Policy, make_plan
    >>> from bcdp.audit import finer_levels, population_from_records
    >>> from bcdp.correlation import estimate_correlation
    >>> policy = Policy(epsilon=2, features={"age": {"type": "numeric", "bounds": [0, 100]}, "ill": {"type": "binary"}})
    >>> people = {"age": [3, 20, 40, 60, 80] * 1000, "ill": [1, 0, 0, 1, 0] * 1000}
    >>> plan = make_plan(policy, estimate_correlation(policy, people))
    >>> sorted(finer_levels(plan, population_from_records(plan, [people]))["age"])
    [16, 64]
    """
    plan = linked_plan(plan)
    guesses = finer_guesses(plan, population)
    return _levels(guesses, _evidence(plan, population, guesses), len(population.codes))


def _levels(guesses: Sequence[Guess], strongest: Sequence[Evidence], records: int) -> Finer:
    levels: dict[str, dict[int, float]] = {}
    for guess, evidence in zip(guesses, strongest, strict=True):
        levels.setdefault(guess.feature, {})[guess.parts] = _log_down(evidence.factor, records)
    return levels


def _log_down(ratio: float, records: int = 0) -> float:
    margin = _MARGIN + records * _MARGIN_PER_RECORD
    return max(0.0, math.log(ratio) - margin) if ratio < math.inf else math.inf


def _evidence(plan: Plan, population: Population, guesses: Sequence[Guess]) -> list[Evidence]:
    """For each of these the most telling answer of any menu."""
    louder = [Evidence(-1, (), (0, 0), 1.0)] * len(guesses)
    for number, menu in enumerate(plan.menus if guesses else ()):
        of_menu = _menu_evidence(plan, population, guesses, number, menu)
        louder = [max(pair, key=lambda evidence: evidence.factor) for pair in zip(louder, of_menu, strict=True)]
    return louder


def _any_record(plan: Plan) -> tuple[float, dict[str, float]]:
    """`exp` of epsilon and of every c, over all records that a device may hold."""
    epsilon, c = 1.0, dict.fromkeys(plan.policy.features, 1.0)
    ratios = []
    for question in plan.questions:
        weights = plan.tables[question.table].dense().weights.astype(np.float64)
        numbers = {name for name in question.features if plan.policy.features[name].is_number}
        if not question.reads_values:
            reached = weights if numbers else weights[[0, -1]]  # signs alone make the product -1 or 1
            ratios.append(_largest_ratio(reached, 0))
            turned = _largest_ratio(np.stack([reached, reached[::-1]]), 0)  # a sign turns the other factor's number
            own = {name: ratios[-1] if name in numbers else turned for name in question.features}
        elif question.rules.asks_blocks:
            ratios.append(_largest_ratio(weights, 0))
            own = {name: _block_ratio(plan.policy, question, weights, name) for name in question.features}
        else:
            ratios.append(_largest_ratio(weights, 0))
            cells = weights.reshape(*question.levels, -1)
            own = {name: _largest_ratio(cells, axis) for axis, name in enumerate(question.features)}
        c |= {name: max(c[name], ratio) for name, ratio in own.items()}
    for menu in plan.menus:
        epsilon = max(epsilon, math.prod(ratios[number] for number in menu.questions))
    return epsilon, c


def _largest_ratio(weights: Array, axis: int) -> float:
    return _over(weights.max(axis=axis), weights.min(axis=axis))


def _over(high: Array, low: Array) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(high > 0, high / low, 1.0).max())


def _block_ratio(policy: Policy, question: Question, weights: Array, name: str) -> float:
    """Between two values of a feature, the others of its block being whatever they can be, and the rest held fixed.

    Two values that are shared by one code may each go with anything that the code goes with.
    """
    possible, axis = question.combinations(policy), question.features.index(name)
    assert possible is not None
    shared = shared_codes(policy.features[name], question.levels[axis])
    fixed = [digit for digit, other in enumerate(question.features) if policy.outside(name, frozenset({other}))]
    worst = 1.0
    for held in np.unique(possible[:, fixed], axis=0):
        alike = (possible[:, fixed] == held).all(axis=1)
        codes = possible[alike, axis]
        parts = {int(code): weights[alike][codes == code] for code in np.unique(codes)}
        pairs = ((a, b) for a, b in itertools.product(parts, repeat=2) if a != b or a in shared)
        worst = max([worst, *(_over(parts[a].max(axis=0), parts[b].min(axis=0)) for a, b in pairs)])
    return worst


def _question_kernel(plan: Plan, question: Question, held: Sequence[npt.NDArray[Any]]) -> Kernel:
    first, group = distinct_rows(held)
    return Kernel(_chances(plan, question, [column[first] for column in held]), group)


def _chances(plan: Plan, question: Question, held: Sequence[npt.NDArray[Any]]) -> Array:
    """The probability of each symbol for records of which this is held, feature by feature of the question."""
    weights = plan.tables[question.table].dense().weights / TOTAL
    coordinates = list(question.coordinates(plan.policy, dict(zip(question.features, held, strict=True))))
    ranks = question.ranks(plan.policy)
    if ranks is not None:
        weights = np.where(ranks[:, None] >= 0, weights[ranks], 0.0)
    if all(coordinate.chance is None for coordinate in coordinates):
        return np.asarray(weights[np.ravel_multi_index([each.below for each in coordinates], question.levels)])
    chance = np.ones((len(held[0]), 1))
    for coordinate in coordinates:
        chance = _both(chance, coordinate.distribution)
    return np.asarray(chance @ weights)


def _both(left: Array, right: Array) -> Array:
    """The probabilities of two independent answers together, row by row."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def _menu_evidence(
    plan: Plan, population: Population, guesses: Sequence[Guess], number: int, menu: Menu
) -> list[Evidence]:
    """The most telling answer of one menu, for every guess, whether its feature is asked or not."""
    questions = [plan.questions[index] for index in menu.questions]
    held = [[population.held(plan.policy, name) for name in question.features] for question in questions]
    first, group = distinct_rows(itertools.chain.from_iterable(held))
    laws, owners = _laws(population.probabilities, guesses, group, len(first))
    symbols = plan.symbols[number]
    if laws.nnz * math.prod(symbols) > MOST_WORK:
        raise refuse(
            f"menus.{number}",
            f"{math.prod(symbols)} answers for {len(first)} different records",
            f"at most {MOST_WORK} products of features, records and answers; fewer records",
        )
    kernels = [
        _question_kernel(plan, question, [column[first] for column in columns])
        for question, columns in zip(questions, held, strict=True)
    ]
    starts = np.flatnonzero(np.diff([feature for feature, _ in owners], prepend=-1))
    best = [Evidence(number, (0,) * len(symbols), (0, 0), 1.0)] * len(guesses)
    for prefix, block in _blocks(kernels):
        given = laws @ block
        high, low = np.maximum.reduceat(given, starts), np.minimum.reduceat(given, starts)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(high > 0, high / low, 1.0)
        for (guess, _), start, row in zip([owners[s] for s in starts], starts, factors, strict=True):
            answer = int(row.argmax())
            if row[answer] > best[guess].factor:
                rest = np.unravel_index(answer, symbols[len(prefix) :])
                own = [(index, value) for index, (owner, value) in enumerate(owners) if owner == guess]
                column = given[start : start + len(own), answer]
                values = own[int(column.argmax())][1], own[int(column.argmin())][1]
                best[guess] = Evidence(number, (*prefix, *map(int, rest)), values, float(row[answer]))
    return best


def _laws(
    probabilities: Array, guesses: Sequence[Guess], group: npt.NDArray[np.intp], groups: int
) -> tuple[sparse.csr_array, list[tuple[int, int]]]:
    """The distribution of the groups given each possible code of each guess, and which guess and code a row is for."""
    owners = [(index, code) for index, guess in enumerate(guesses) for code in range(guess.size)]
    starts = np.cumsum([0, *(guess.size for guess in guesses)])
    rows = np.stack([guess.codes + start for guess, start in zip(guesses, starts, strict=False)], axis=1)
    shares = np.repeat(probabilities, len(guesses))
    joint = sparse.csr_array((shares, (rows.ravel(), np.repeat(group, len(guesses)))), shape=(len(owners), groups))
    mass: Array = joint.sum(axis=1)
    joint.data /= np.repeat(mass, np.diff(joint.indptr))
    seen = np.flatnonzero((mass > 0) & (mass >= np.repeat([guess.least for guess in guesses], np.diff(starts))))
    return joint[seen], [owners[row] for row in seen]


def _blocks(kernels: Sequence[Kernel]) -> Iterator[tuple[tuple[int, ...], Array]]:
    """The probabilities of all answers, in blocks that fit into memory: the first symbols, then all that may follow."""
    split, tail = len(kernels), np.ones((len(kernels[0].group), 1))
    while split and tail.size * kernels[split - 1].chances.shape[1] <= _BLOCK_CELLS:
        split -= 1
        tail = _both(kernels[split].chances[kernels[split].group], tail)
    for prefix in itertools.product(*(range(kernel.chances.shape[1]) for kernel in kernels[:split])):
        head = np.ones(len(tail))
        for kernel, symbol in zip(kernels, prefix, strict=False):
            head = head * kernel.chances[kernel.group, symbol]
        yield prefix, head[:, None] * tail


def _words(plan: Plan, guess: Guess, evidence: Evidence) -> str:
    """The most telling answer in a sentence."""
    name, feature = guess.feature, plan.policy.features[guess.feature]
    if evidence.factor <= 1 + 1e-9:
        return f"no answer tells anything about {name}"
    ranged = name in plan.correlation_model.ranges
    likelier, other = (_value(feature, guess.size, code, ranged) for code in evidence.values)
    answers = [
        f"{question.rules.joiner.join(question.features)}: {_symbol(plan, question, symbol)}"
        for question, symbol in zip(
            (plan.questions[index] for index in plan.menus[evidence.menu].questions), evidence.symbols, strict=True
        )
    ]
    moved = f"by {evidence.factor:.4g}" if evidence.factor < math.inf else "to certainty"
    answered = f"answering menu {evidence.menu} with {', '.join(answers)}"
    return f"{answered} moves the odds of {name} {likelier} against {other} {moved}"


def _symbol(plan: Plan, question: Question, symbol: int) -> str:
    """A symbol in words, where it stands for a value: in randomized response."""
    table = plan.tables[question.table]
    if not question.reads_values or table.to_dict()["family"] != "response":
        return f"symbol {symbol} of {table.symbols}"
    codes = np.unravel_index(symbol, question.levels)
    return " and ".join(
        _value(plan.policy.features[name], levels, int(code))
        if (cuts := question.cuts_of(name)) is None or code > len(cuts)
        else plan.policy.features[name].words_between(cuts)[int(code)]
        for name, levels, code in zip(question.features, question.levels, codes, strict=True)
    )


def _value(feature: Feature, size: int, code: int, ranged: bool = False) -> str:
    return (*feature.range_words, NO_ANSWER)[code] if ranged else feature.word_of(code, size)
