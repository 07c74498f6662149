"""Menus up to exchange of interchangeable features: classes of features, questions about classes, what they tell."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.kinds import Kind
from bcdp.mechanisms.survey.shapes import Shape
from bcdp.mechanisms.survey.wholes import Whole
from bcdp.plan import Parts
from bcdp.statistics import Below, Single, Steps, Target

Array = npt.NDArray[np.float64]

_MOST_ROTATIONS = 2000  # menus made of one profile
NEGLIGIBLE = 1e-4  # budgets below this are not asked: an answer would tell less than 1e-8 of a plain one


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
    shared: bool = False  # whether two values may be coded alike
    parts: Parts = ()  # of a number, between which guesses are covered, if not between all its values
    odds: float = math.inf  # by how much all others together may move a guess about it
    apart: bool = False  # whether a menu never asks it together with others
    pair: tuple[int, int] | None = None  # the classes of two features, if it is how these go together
    scale: float = 1.0  # then, one over the second moment of an answer that always tells the truth, without averages
    whole: Whole | None = None  # then, the question about both as one

    @property
    def joinable(self) -> bool:
        """Whether a menu may ask it together with others."""
        return isinstance(self.members[0], Single | Below) and not self.apart

    @property
    def is_feature(self) -> bool:
        """Whether it may stand in a jointly shaped question: a feature by itself, a number in steps among them."""
        return isinstance(self.members[0], Single | Steps)

    def first(self, number: int) -> Profile:
        """The menu that asks nothing but this class, which is number so many."""
        return (ClassQuestion((number,) if self.pair is None else self.pair, self.alone, self.whole),)


@dataclass(frozen=True)
class ClassQuestion:
    """A question of the design: about one feature, or several jointly, each drawn from the class that is named.

    A joint question is one randomized response over all combinations of values, unless it has a shape of its own.
    """

    classes: tuple[int, ...]
    budget: float
    shape: Shape | Whole | None = None


Profile = tuple[ClassQuestion, ...]  # a menu up to exchange of interchangeable features


def information(classes: tuple[FeatureClass, ...], profile: Profile) -> Array:
    """What one menu tells about each class, summed over its features."""
    told = np.zeros(len(classes))
    for question in profile:
        budget = np.array([question.budget])
        for place, c in enumerate(question.classes):
            kind = classes[c].kind
            if question.shape is not None:
                told[c] += question.shape.information[place]
            elif len(question.classes) == 1:
                told[c] += float(kind.information(budget)[0])
            else:
                combinations = math.prod(classes[other].kind.values for other in question.classes)
                told[c] += float(kind.joint_information(combinations, budget)[0])
        if len(question.classes) > 1:
            _add_pairs(told, classes, question)
    return told


def _add_pairs(told: Array, classes: tuple[FeatureClass, ...], question: ClassQuestion) -> None:
    """What a question about several features tells of how two of them go together, where that is wanted."""
    wanted = [
        (number, (question.classes.index(c.pair[0]), question.classes.index(c.pair[1])))
        for number, c in enumerate(classes)
        if c.pair is not None and set(c.pair) <= set(question.classes)
    ]
    if not wanted:
        return
    if question.shape is not None:
        found = question.shape.information_of(tuple(pair for _, pair in wanted))[len(question.classes) :]
    else:
        combinations = math.prod(classes[c].kind.values for c in question.classes)
        contrast = math.expm1(question.budget) / (math.exp(question.budget) + combinations - 1)
        found = np.array([classes[number].scale * contrast**2 for number, _ in wanted])
    for (number, _), more in zip(wanted, found, strict=True):
        told[number] += more


def rotation(classes: tuple[FeatureClass, ...], profile: Profile) -> tuple[dict[int, int], int]:
    """How far each class moves on from menu to menu, and how many menus it takes (nearly so beyond 2000).

    Where all places of a class are alike, its features move on by as many as were asked; else one by one, so that each
    feature stands in each place equally often.
    """
    steps, turns = {}, 1
    for c in {c for question in profile for c in question.classes}:
        places = [(q.budget, q.shape and q.shape.means[i]) for q in profile for i, k in enumerate(q.classes) if k == c]
        members = len(classes[c].members)
        steps[c] = len(places) if len(set(places)) == 1 else 1
        turns = math.lcm(turns, members // math.gcd(members, steps[c]))
    return steps, min(turns, max(_MOST_ROTATIONS, *(len(classes[c].members) for c in steps)))
