"""What the answers say of a regression as a whole: the share explained, what each feature adds, and what to do next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from bcdp.policy import Policy
from bcdp.statistics.regression.advice import people_in_words, remedy
from bcdp.statistics.regression.design_matrix import Design, without
from bcdp.statistics.regression.least_squares import Centred, Coefficient, Noise
from bcdp.statistics.regression.sample_size import Outlook
from bcdp.statistics.regression.variance_explained import Explained, seen_to_help

_AIMED = 0.95  # advice from noisy answers has noise of its own: aimed at this, nine of ten collections show it
HELPS = "The answers show that the features help to predict the target."


class RegressionEvidence(Protocol):
    """What a regression's answers say beyond its coefficients."""

    @property
    def explained(self) -> Coefficient:
        """The share of the outcome's variance that the features explain."""

    @property
    def adds(self) -> dict[str, Coefficient]:
        """For each feature, and each two that interact, the share that it adds to what the others explain."""

    @property
    def remark(self) -> str:
        """Whether the features are seen to help, and what to do where the answers do not reveal enough."""


@dataclass(frozen=True, eq=False)
class Nothing:
    """The evidence of answers that leave a moment unknown."""

    terms: tuple[str, ...]
    people: int

    @property
    def explained(self) -> Coefficient:
        return Coefficient(0.0, math.inf, 0.0, 1.0)

    @property
    def adds(self) -> dict[str, Coefficient]:
        return dict.fromkeys(self.terms, self.explained)

    @property
    def remark(self) -> str:
        return (
            f"{self.people:,} people are too few, or a feature of the regression may not be asked: this predicts the "
            "mean."
        )


@dataclass(frozen=True, eq=False)
class Counted:
    """The evidence of moments with known noise, worked out when it is asked for."""

    policy: Policy
    design: Design
    found: Centred
    deviations: Centred  # the noise, drawn many times
    noise: Noise
    people: int
    confidence: float
    determined: bool

    @cached_property
    def helps(self) -> bool:
        """Whether the features are seen to help: by themselves, or by the share that they explain together."""
        seen = seen_to_help(self.found, self.deviations, self.noise, (1 - self.confidence) / 2)
        return seen or self._share.low > 0

    @cached_property
    def _explained(self) -> Explained:
        return Explained(self.found, self.deviations, self.noise, self.confidence)

    @cached_property
    def _share(self) -> Coefficient:
        return self._explained.share(np.zeros(len(self.design) - 1, dtype=np.bool_))

    @property
    def explained(self) -> Coefficient:
        return self._share if self.helps else replace(self._share, value=0.0)  # nothing stands out

    @cached_property
    def adds(self) -> dict[str, Coefficient]:
        terms = list(dict.fromkeys(column.term for column in self.design[:-1]))
        if len(terms) == 1:
            return {terms[0]: self.explained}
        return {term: self._explained.share(without(self.design[:-1], [term])) for term in terms}

    @cached_property
    def remark(self) -> str:
        remarks = [HELPS if self.helps else self._advice(), *self._constant()]
        if not self.determined:
            enough = self._outlook.enough_to_determine()
            likely = (None, None) if enough is None else self._outlook.likely_to_determine()
            people = None if enough is None else people_in_words(enough, *likely)
            remarks.append(remedy(self.policy, self.design, self.found, self.deviations, people))
        return " ".join(remarks)

    @cached_property
    def _outlook(self) -> Outlook:
        """What more people would reveal, if the features explained what of all that is possible is next to the guess.

        Their coefficients have a direction that these answers leave likely: what would have been seen is not there.
        """
        share = min(max(self.noise.guess, self.explained.low), max(self.explained.high, 1e-4))
        drawn = self.noise.drawn(self.found, len(self.deviations.slope), share * self.noise.variance)
        matrix = self.noise.plausible(self.found.matrix)
        return Outlook(matrix, self.deviations, self.noise, self.people, share, drawn)

    def _advice(self) -> str:
        enough = self._outlook.enough_to_show(_AIMED)
        share = f"features that explain {100 * self._outlook.share:.2g}% of the variance"
        rest = f"no number of people would show {share}."
        if enough is not None:
            rest = f"collect about {enough:,} people to show, nine times out of ten, {share}."
            if enough <= self.people:
                rest = f"{share} would have stood out nine times out of ten."
        return f"The answers cannot tell this from predicting the mean for everybody; {rest}"

    def _constant(self) -> list[str]:
        names = [column.name(self.policy) for column in self.design[:-1]]
        constant = [name for name, varies in zip(names, self.noise.varies, strict=True) if not varies]
        return [f"Not counted, as they are not seen to vary: {', '.join(constant)}."] if constant else []
