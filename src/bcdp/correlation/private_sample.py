"""From the counts of a first private wave to limits on the correlation of pairs (measured-correlation.md).

A wave planned with q = 1 needs no assumption. Where its menus ask two features together, the joint frequencies of their
values can be decoded without bias; Hoeffding's inequality bounds each, and from them the distributions of one given
the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from bcdp.correlation.estimated import Estimated, check_measurable
from bcdp.correlation.grouped import group_names, largest, within_groups
from bcdp.correlation.limits import odds_between
from bcdp.errors import refuse
from bcdp.policy import Policy
from bcdp.randomizers import marginal_target

if TYPE_CHECKING:
    from bcdp.mechanisms.survey.estimation.tally import SurveyTally
    from bcdp.plan import Plan, Question
    from bcdp.tally import Tally

Array = npt.NDArray[np.float64]

TWO_RELEASES = (
    "people who answer both this wave and the collection make two releases: the promise of one about a feature grows "
    "by the epsilon of the other; ask other people, or let them keep a ledger"
)
_MOST_VALUES = 8  # of either feature: 254 events about the other for each value


@dataclass(frozen=True)
class _PairAnswers:
    """Answers that reveal a pair: how many people gave each, and what each decodes to, answers x values x values."""

    counts: npt.NDArray[np.int64]
    decoded: Array


def correlation_from_wave(tally: Tally, confidence: float = 0.95) -> Estimated:
    """Limits on `q` and odds of the pairs asked together, true together with `confidence`; none for all others.

    With open features they are true within every group of their values.

    >>> from bcdp import Policy, Tally, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=2, features={"a": {"type": "binary"}, "b": {"type": "binary"}}))
    >>> tally = Tally(plan).add(privatize(plan, {"a": [0, 1] * 500, "b": [0, 1] * 500}))
    >>> 0 <= correlation_from_wave(tally).q("a", {"b"}) <= 1
    True
    """
    if not tally.plan.menus:
        raise refuse("tally", "a cascade's", "the tally of a survey, whose menus ask features together")
    if not 0 < confidence < 1:
        raise refuse("confidence", confidence, "a number above 0 and below 1")
    policy = tally.plan.policy
    check_measurable(policy, "private reports")
    failure = (1 - confidence) / len(policy.groups)  # of each group of open values, so that all of them hold together
    parts = [
        _limits(cast("SurveyTally", tally.parts[number]), failure) if number in tally.parts else _nothing(policy)
        for number in range(len(policy.groups))
    ]
    source = (
        f"estimated from {tally.people:,} private reports{within_groups(policy)}: limits that hold together with "
        f"{confidence:.4g}"
    )
    if not policy.open:
        return replace(parts[0], source=source, notes=(*parts[0].notes, TWO_RELEASES))
    named = zip(group_names(policy), parts, strict=True)
    notes = tuple(f"in {whose}: {note}" for whose, part in named for note in part.notes)
    return largest(parts, source, (*notes, TWO_RELEASES))


def _nothing(policy: Policy) -> Estimated:
    """What nobody's answers reveal."""
    return Estimated({name: {} for name in policy.features}, {}, {}, ("nobody answered, so every q is 1",), "")


def _limits(tally: SurveyTally, failing: float) -> Estimated:
    """The limits of one group, which fail together with at most this chance."""
    plan = tally.plan
    names = [name for name in plan.policy.features if 2 <= _values(plan, name) <= _MOST_VALUES]
    given = [name for name in names if not plan.policy.features[name].imputes]
    pairs = {(i, j): list(_asked(tally, i, j)) for i in given for j in names if i != j}
    together = {pair: asked for pair, asked in pairs.items() if asked}
    limits: dict[str, dict[frozenset[str], float]] = {name: {} for name in plan.policy.features}
    hulls, observed, pair_odds = {}, {}, {}
    # the odds of a pair are one more thing to bound, unless the four limits of q bound them too: two values
    bounded = sum(1 + (_values(plan, j) > 2) for _, j in together)
    for (i, j), asked in together.items():
        low, high, laws = _conditional(asked, failing / bounded)
        between = (high[:, None] - low[None, :])[~np.eye(len(low), dtype=bool)]
        limits[i][frozenset({j})] = min(1.0, float(between.max()))
        observed[i, j] = float(np.abs(laws[:, None] - laws[None]).sum(axis=2).max() / 2)
        if laws.shape[1] == 2:
            ends = np.array([low[:, 1].min(), high[:, 1].max()])
            hulls[i, j] = np.stack([1 - ends, ends], axis=1)
            pair_odds[i, j] = odds_between(*ends)
        else:
            cells = 2 ** np.arange(laws.shape[1]) - 1  # the sets of one value
            above, below = high[:, None, cells], np.maximum(low[None, :, cells], 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = np.where(above > 0, above / below, 0.0)
            pair_odds[i, j] = max(1.0, float(ratios[~np.eye(len(low), dtype=bool)].max()))
    notes = tuple(_notes(plan.policy, {name for name in limits if not limits[name]}))
    return Estimated(limits, hulls, observed, notes, "", pair_odds=pair_odds)


def _notes(policy: Policy, unbounded: set[str]) -> Iterator[str]:
    if len(policy.features) < 2:
        return
    silent = [name for name, feature in policy.features.items() if feature.imputes]
    if missing := len(unbounded.difference(silent)):
        yield f"{missing} features were asked together with no other, so their q is 1"
    if silent:
        yield f"{', '.join(silent)}: answers do not tell whether a value was missing, so the q is 1"


def _values(plan: Plan, name: str) -> int:
    """How many values a feature has; 0 for numbers, of which a wave reveals rounded levels only."""
    feature = plan.policy.features[name]
    return len(feature.categories)


def _asked(tally: SurveyTally, i: str, j: str) -> Iterator[_PairAnswers]:
    plan = tally.plan
    for number, menu in enumerate(plan.menus):
        questions = [plan.questions[index] for index in menu.questions]
        axes = {name: axis for axis, question in enumerate(questions) for name in question.features}
        if i not in axes or j not in axes or not all(questions[axes[n]].reads_values for n in (i, j)):
            continue
        counts = tally.counts(number)
        first, second = axes[i], axes[j]
        kept = counts.sum(axis=tuple(axis for axis in range(counts.ndim) if axis not in (first, second)))
        if first == second:
            yield _PairAnswers(kept, _decoded(plan, questions[first], (i, j)))
            continue
        first_decoded, second_decoded = (
            _decoded(plan, questions[axis], (name,)) for axis, name in ((first, i), (second, j))
        )
        product = first_decoded[:, None, :, None] * second_decoded[None, :, None, :]
        yield _PairAnswers((kept if first < second else kept.T).ravel(), product.reshape(-1, *product.shape[2:]))


def _decoded(plan: Plan, question: Question, names: tuple[str, ...]) -> Array:
    """What each answer decodes to: for one feature or two, an indicator of each value or pair of values."""
    targets = [
        marginal_target(question.levels, question.features.index(name), np.eye(_values(plan, name))) for name in names
    ]
    sizes = [target.shape[1] for target in targets]
    target = targets[0] if len(targets) == 1 else (targets[0][:, :, None] * targets[1][:, None, :])
    decoded = plan.tables[question.table].decode(target.reshape(len(target), -1))
    return decoded.reshape(-1, *sizes)


def _conditional(asked: list[_PairAnswers], failure: float) -> tuple[Array, Array, Array]:
    """Limits on the chance of every set of the second feature's values given each value of the first, and the
    distributions.
    """
    values, cells = asked[0].decoded.shape[1:]
    sets = (np.arange(1, 2**cells - 1)[:, None] >> np.arange(cells)) & 1
    tail = math.log(4 / failure)  # q needs two limits for each of two values, at one event
    weight, mean, share = np.zeros((values, len(sets))), np.zeros((values, len(sets))), np.zeros((values, cells))
    people = sum(int(answers.counts.sum()) for answers in asked)
    for answers in asked:
        if not answers.counts.any():
            continue
        worth = answers.decoded @ sets.T  # answers x values x sets
        ranges = np.ptp(worth, axis=0)
        weight += answers.counts.sum() / ranges**2
        mean += np.tensordot(answers.counts, worth, axes=(0, 0)) / ranges**2
        share += np.tensordot(answers.counts, answers.decoded, axes=(0, 0)) / people
    laws = np.maximum(share, 0.0) + 1e-12
    if people == 0:
        return np.zeros_like(weight), np.ones_like(weight), laws / laws.sum(axis=1, keepdims=True)
    radius = np.sqrt(tail / 2 / weight)
    low, high = np.clip(mean / weight - radius, 0.0, 1.0), np.clip(mean / weight + radius, 0.0, 1.0)
    # a share a / (a + b) increases in a and decreases in b; the complement of a set is its mirror in the order
    most = np.where(high > 0, high / np.maximum(high + low[:, ::-1], 1e-300), 0.0)
    return 1 - most[:, ::-1], most, laws / laws.sum(axis=1, keepdims=True)
