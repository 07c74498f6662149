"""Menus up to exchange of interchangeable features: classes of features, questions about classes, what they reveal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.design.budget_limits import SecondDemand
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.mechanisms.survey.design.joint.cell_questions import CellQuestion
from bcdp.mechanisms.survey.design.joint.tables import Shape
from bcdp.notions import ldp_limit
from bcdp.plan import Parts
from bcdp.statistics import Role, Target

Array = npt.NDArray[np.float64]

_MOST_ROTATIONS = 2000  # menus made of one profile
NEGLIGIBLE = 1e-4  # budgets below this are not asked: an answer would reveal less than 1e-8 of a plain one


@dataclass(frozen=True)
class FeatureClass:
    """Interchangeable features, or products of features: the same kind, demand, correlation and weight.

    Products are asked alone, never together with other questions; and so is the mean of a number whose distribution is
    asked for too, because a menu asks each feature once.
    """

    members: tuple[Target, ...]
    kind: Kind
    delta: float
    q: float  # of the feature against all others together
    alone: float  # the largest budget of a menu that asks nothing else, by the correlation of pairs
    weight: float
    shared: bool = False  # whether two values may be coded the same way
    parts: Parts = ()  # of a number, between which guesses are covered, if not between all its values
    odds: float = math.inf  # by how much all others together may move a guess about it
    apart: bool = False  # whether a menu never asks it together with others
    interaction: tuple[int, ...] = ()  # the classes of two or three features, perhaps the same, if it is theirs
    scale: float = 1.0  # then, one over the second moment of an answer that always reveals the truth, without averages
    whole: CellQuestion | None = None  # then, of two features, the question about both as one
    begun: bool = False  # then, whether the design begins with the question about all of them
    second: SecondDemand | None = None  # what is demanded of it besides `delta`, at larger bounds

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """What its members have in common; classes with equal keys are one."""
        stated = (self.kind, self.delta, self.q, self.alone, self.weight, self.shared, self.parts, self.odds)
        return (*stated, self.apart, self.second or ())

    @cached_property
    def limit(self) -> float:
        """The largest LDP level of all that is asked of others that its demand can live with."""
        first = max(float(ldp_limit(self.delta, self.q, self.odds)), self.delta)
        return first if self.second is None else min(first, self.second.limit)

    @property
    def joinable(self) -> bool:
        """Whether a menu may ask it together with others."""
        return self.members[0].role in (Role.FEATURE, Role.VALUES, Role.DISTRIBUTION) and not self.apart

    @property
    def is_feature(self) -> bool:
        """Whether it may stand in a jointly shaped question: a feature by itself, a number in steps among them."""
        return self.members[0].role in (Role.FEATURE, Role.STEPS)

    def first(self, number: int) -> Profile:
        """The menu that asks nothing but this class, which is number so many."""
        return (ClassQuestion(self.interaction if self.begun else (number,), self.alone, self.whole),)


@dataclass(frozen=True)
class ClassQuestion:
    """A question of the design: about one feature, or several jointly, each drawn from the class that is named.

    A joint question is one randomized response over all combinations of values, unless it has a shape of its own.
    """

    classes: tuple[int, ...]
    budget: float
    shape: Shape | CellQuestion | None = None


Profile = tuple[ClassQuestion, ...]  # a menu up to exchange of interchangeable features


def information(classes: tuple[FeatureClass, ...], profile: Profile) -> Array:
    """What one menu reveals about each class, summed over its features."""
    total = np.zeros(len(classes))
    for question in profile:
        for c, _, more in tells(classes, question):
            total[c] += more
    return total


def tells(classes: tuple[FeatureClass, ...], question: ClassQuestion) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """What a question reveals: the class, the place or places in the question whose member it is, how much."""
    budget, shape = np.array([question.budget]), question.shape
    combinations = math.prod(classes[c].kind.values for c in question.classes)
    for position, c in enumerate(question.classes):
        kind = classes[c].kind
        if shape is not None:
            more = float(shape.information[position])
        elif len(question.classes) == 1:
            more = float(kind.information(budget)[0])
        else:
            more = float(kind.joint_information(combinations, budget)[0])
        yield c, (position,), more
    if len(question.classes) == 1:
        return
    numbers: dict[tuple[int, ...], list[int]] = {}
    for number, one_class in enumerate(classes):
        if one_class.interaction:
            numbers.setdefault(one_class.interaction, []).append(number)
    meeting = [
        (number, positions)
        for size in sorted(set(map(len, numbers)))
        for positions in itertools.combinations(range(len(question.classes)), size)
        for number in numbers.get(tuple(sorted(question.classes[i] for i in positions)), ())
    ]
    if not meeting:
        return
    if shape is not None:
        informations = shape.information_of(tuple(positions for _, positions in meeting))[len(question.classes) :]
    else:
        contrast = math.expm1(question.budget) / (math.exp(question.budget) + combinations - 1)
        informations = np.array([classes[number].scale * contrast**2 for number, _ in meeting])
    for (number, positions), more in zip(meeting, informations, strict=True):
        yield number, positions, float(more)


def rotation(classes: tuple[FeatureClass, ...], profile: Profile) -> tuple[dict[int, int], int]:
    """How far each class moves on from menu to menu, and how many menus it takes (nearly so beyond 2000).

    Where all places of a class are alike, its features move on by as many as were asked; else one by one, so that each
    feature stands in each place equally often.
    """
    steps, turns = {}, 1
    for c in {c for question in profile for c in question.classes}:
        uses = [(q.budget, q.shape and q.shape.means[i]) for q in profile for i, k in enumerate(q.classes) if k == c]
        members = len(classes[c].members)
        steps[c] = len(uses) if len(set(uses)) == 1 else 1
        turns = math.lcm(turns, members // math.gcd(members, steps[c]))
    return steps, min(turns, max(_MOST_ROTATIONS, *(len(classes[c].members) for c in steps)))
