"""First and second moments from the counts of a survey, and what they might have been: the counts drawn again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bcdp.plan import Plan
from bcdp.survey.decoding import second_moment, target, targets, way
from bcdp.survey.moments import Column, Target, product
from bcdp.tally import SurveyTally

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Moments:
    """The means (.., columns) and second moments (.., columns, columns) of a design's columns, in [-1, 1] units.

    Unbiased, so that they may lie outside of what is possible; NaN for what was not answered.
    """

    mean: Array
    second: Array


def moments(tally: SurveyTally, design: tuple[Column, ...], means: bool) -> Moments:
    """The moments that the counts give; means only where asked for or needed."""
    return _moments(tally.plan, design, means, tally.counts)


def drawn_again(tally: SurveyTally, design: tuple[Column, ...], means: bool, draws: int) -> Moments:
    """The moments of so many tallies in which every menu's answers are drawn again from their own shares.

    Four imagined people, whose answers are all equally likely, keep a few equal answers from looking certain, as in the
    usual interval of a proportion. The same counts are drawn again alike, which protects nobody and gives everybody the
    same intervals.
    """
    rng = np.random.default_rng([crc32(tally.counts(menu).tobytes()) for menu in range(len(tally.plan.menus))])

    def counts(menu: int) -> Counts:
        found = tally.counts(menu)
        share = (found + 4 / found.size) / (found.sum() + 4)
        return rng.multinomial(int(found.sum()), share.ravel(), size=draws).reshape(draws, *found.shape)

    return _moments(tally.plan, design, means, counts)


def _moments(plan: Plan, design: tuple[Column, ...], means: bool, counts: Callable[[int], Counts]) -> Moments:
    policy = plan.policy
    products = {
        (i, j): product(policy, design[i], design[j]) for i in range(len(design)) for j in range(i, len(design))
    }
    categories = {column.feature for column in design if column.category is not None}
    features = {column.feature for column in design} if means else categories
    known = decoded_means(plan, counts, {asked for asked in products.values() if asked is not None} | features)
    shape = next(iter(known.values())).shape[:-1]
    unknown = np.full((*shape, 1), np.nan)
    mean = np.empty((*shape, len(design)))
    for i, column in enumerate(design):
        value = known.get(column.feature, unknown)
        mean[..., i] = value[..., 0] if column.category is None else 2 * value[..., column.category] - 1
    second = np.ones((*shape, len(design), len(design)))  # a sign's square is 1
    for (i, j), asked in products.items():
        if asked is not None:
            value = known.get(asked, unknown)[..., 0]
            second[..., i, j] = second[..., j, i] = value if i != j else (1 + value) / 2
        elif i != j:  # two categories exclude each other: 1 - 2 f - 2 g
            second[..., i, j] = second[..., j, i] = -1 - mean[..., i] - mean[..., j]
    return Moments(mean, second)


def decoded_means(plan: Plan, counts: Callable[[int], Counts], wanted: set[Target]) -> dict[Target, Array]:
    """The estimated mean, or the frequencies, of each target wanted, shape (.., 1) or (.., categories).

    `counts(menu)` gives shape (.., symbols of each question). Ways of asking are weighted by what each was designed to
    tell, as elsewhere (docs/theory.md, section 4.3).
    """
    found: dict[Target, dict[tuple[object, ...], Counts]] = {asked: {} for asked in wanted}
    question_of = {}
    for number, menu in enumerate(plan.menus):
        asking = [
            (axis, index, asked)
            for axis, index in enumerate(menu.questions)
            for asked in targets(plan.questions[index])
            if asked in wanted
        ]
        if not asking:
            continue
        answers = counts(number)
        first = answers.ndim - len(menu.questions)
        for axis, index, asked in asking:
            others = tuple(first + other for other in range(len(menu.questions)) if other != axis)
            key = way(plan, plan.questions[index], asked)
            question_of[key] = plan.questions[index], asked
            found[asked][key] = found[asked].get(key, 0) + answers.sum(axis=others)
    decode = {
        key: (
            plan.tables[question.table].decode(target(plan, question, asked).reshape(-1, _size(plan, asked))),
            1 / second_moment(plan, question, asked),
        )
        for key, (question, asked) in question_of.items()
    }
    return {asked: _combined(ways, decode) for asked, ways in found.items() if ways}


def _size(plan: Plan, asked: Target) -> int:
    feature = plan.policy.features[asked] if isinstance(asked, str) else None
    return len(feature.values) if feature is not None and feature.type == "categorical" else 1


def _combined(ways: dict[tuple[object, ...], Counts], decode: dict[tuple[object, ...], tuple[Array, float]]) -> Array:
    total: Array | float = 0.0
    weight: Array | float = 0.0
    for key, counts in ways.items():
        values, information = decode[key]
        total = total + information * (counts @ values)
        weight = weight + information * counts.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / weight)
