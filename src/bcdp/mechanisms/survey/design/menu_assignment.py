"""From a design over classes to concrete menus: who stands in which place, and how often (theory.md, section 4.1).

Where only features count, interchangeable ones take turns in every place. Where it is wanted how every two of them go
together, each two have to meet about equally often: of many ways to fill the places of a menu the one is taken whose
information is worth most after all menus so far, and the menus' shares are then balanced once more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.design.classes.feature_classes import (
    ClassQuestion,
    FeatureClass,
    Profile,
    information,
    rotation,
    tells,
)
from bcdp.mechanisms.survey.design.column_generation import Design
from bcdp.mechanisms.survey.design.joint.cell_questions import CellQuestion
from bcdp.mechanisms.survey.design.joint.tables import Shape
from bcdp.statistics import Askable

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Asked = tuple[tuple[Askable, ...], float, Shape | CellQuestion | None]  # a question: its budget, and its shape
Menu = tuple[Fraction, list[Asked]]  # how often it is asked, and its questions

_ROUNDS = 2  # how often each two features meet in the menus of a profile, about
_MOST_MENUS = 400  # of one profile
_WAYS = 150  # to fill the places of a question, that are tried
_BEGIN = 0.05  # of what is known in the end counts as known before the first menu
_STEPS = 300  # of balancing
_RARE = 1e-7


def menus_of(classes: tuple[FeatureClass, ...], design: Design) -> list[Menu]:
    """Concrete menus in which all members of a class are estimated equally well."""
    if any(c.interaction and len(c.members) > 1 for c in classes):
        return _meeting(classes, design)
    return list(_in_turns(classes, design))


def _in_turns(classes: tuple[FeatureClass, ...], design: Design) -> Iterator[Menu]:
    """Interchangeable features take turns in every place of a profile, so that each is estimated equally well."""
    for profile, probability in zip(design.profiles, design.probabilities, strict=True):
        steps, turns = rotation(classes, profile)
        for turn in range(turns):
            used = dict.fromkeys(steps, 0)
            questions = []
            for question in profile:
                names = []
                for c in question.classes:
                    names.append(classes[c].members[(turn * steps[c] + used[c]) % len(classes[c].members)])
                    used[c] += 1
                questions.append((cast("tuple[Askable, ...]", tuple(names)), question.budget, question.shape))
            yield Fraction(float(probability)) / turns, questions


def _meeting(classes: tuple[FeatureClass, ...], design: Design) -> list[Menu]:
    """Every two members of two classes meet in about equally many menus."""
    numbers = _numbered(classes)
    sizes = np.array([len(c.members) for c in classes])
    weights = np.repeat([c.weight for c in classes], sizes)
    informed = design.probabilities @ np.array([information(classes, profile) for profile in design.profiles])
    collected, rng = np.repeat(_BEGIN * informed / sizes, sizes), np.random.default_rng(0)
    rows, menus, shares = list[Array](), list[list[Asked]](), list[float]()
    for profile, probability in zip(design.profiles, design.probabilities.tolist(), strict=True):
        turns = _turns(classes, profile)
        for _ in range(turns):
            row, menu = _filled(classes, profile, numbers, weights / collected**2, rng)
            collected = collected + probability / turns * row
            rows.append(row)
            menus.append(menu)
            shares.append(probability / turns)
    each, asked = np.array(rows), np.array(shares) / sum(shares)
    for _ in range(_STEPS):  # climbs to the best shares of these menus
        asked = asked * np.sqrt(each @ (weights / (asked @ each) ** 2))
        asked /= asked.sum()
    return [(Fraction(float(share)), menu) for share, menu in zip(asked, menus, strict=True) if share > _RARE]


def _filled(
    classes: tuple[FeatureClass, ...],
    profile: Profile,
    numbers: list[dict[int, Integers]],
    prices: Array,
    rng: np.random.Generator,
) -> tuple[Array, list[Asked]]:
    """What a menu reveals about each member of each class, and its questions, filled in the way that is worth most."""
    row, menu, used = np.zeros(len(prices)), list[Asked](), dict[int, list[int]]()
    for question in profile:
        ways = _ways(classes, question, used, rng)
        seen = [
            (numbers[c][len(positions)][tuple(ways[:, position] for position in positions)], more)
            for c, positions, more in tells(classes, question)
        ]
        best = int(np.sum([prices[at] * more for at, more in seen], axis=0).argmax())
        for at, more in seen:
            row[at[best]] += more
        members = list(zip(question.classes, ways[best].tolist(), strict=True))
        for c, member in members:
            used.setdefault(c, []).append(member)
        menu.append((tuple(classes[c].members[member] for c, member in members), question.budget, question.shape))
    return row, menu


def _numbered(classes: tuple[FeatureClass, ...]) -> list[dict[int, Integers]]:
    """The numbers of all members of all classes; of interactions also by their features' numbers in their classes."""
    starts = np.cumsum([0, *(len(c.members) for c in classes)])
    rank = {target: number for c in classes if c.is_feature for number, target in enumerate(c.members)}
    numbers = []
    for c, start in zip(classes, starts.tolist(), strict=False):
        own = {1: np.arange(start, start + len(c.members))}
        if c.interaction:
            by_features = np.full([len(classes[number].members) for number in c.interaction], -1)
            for number, target in zip(own[1].tolist(), c.members, strict=True):
                for margins in itertools.permutations(target.margins):
                    if all(m in classes[k].members for m, k in zip(margins, c.interaction, strict=True)):
                        by_features[tuple(rank[margin] for margin in margins)] = number
            own[len(c.interaction)] = by_features
        numbers.append(own)
    return numbers


def _turns(classes: tuple[FeatureClass, ...], profile: Profile) -> int:
    """So many menus that each member of each class that a profile informs about may be estimated well in some of
    them.
    """
    informed: dict[int, list[float]] = {}
    for question in profile:
        for c, _, more in tells(classes, question):
            informed.setdefault(c, []).append(more)
    # places that reveal unequally much count as fewer
    longest = max(
        len(classes[c].members) * sum(m * m for m in more) / max(sum(more) ** 2, 1e-300) for c, more in informed.items()
    )
    return min(_MOST_MENUS, math.ceil(_ROUNDS * longest)) if longest > 1 + 1e-6 else 1


def _ways(
    classes: tuple[FeatureClass, ...], question: ClassQuestion, used: dict[int, list[int]], rng: np.random.Generator
) -> Integers:
    """Ways to fill the places of a question with members that the menu has not asked yet, one in each row."""
    free = {c: sorted(set(range(len(classes[c].members))) - set(used.get(c, ()))) for c in set(question.classes)}
    sizes = [len(free[c]) for c in question.classes]
    if math.prod(sizes) <= _WAYS:
        rows = [[free[c][m] for c, m in zip(question.classes, way, strict=True)] for way in np.ndindex(*sizes)]
        positions = list(enumerate(question.classes))
        same_class = [(i, j) for (i, first), (j, second) in itertools.combinations(positions, 2) if first == second]
        return np.array([row for row in rows if all(row[i] != row[j] for i, j in same_class)])
    drawn = {c: rng.permuted(np.tile(members, (_WAYS, 1)), axis=1) for c, members in free.items()}
    taken, columns = dict.fromkeys(free, 0), []
    for c in question.classes:
        columns.append(drawn[c][:, taken[c]])
        taken[c] += 1
    return np.stack(columns, axis=1)
