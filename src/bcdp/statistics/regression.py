"""The regression of one feature on others, from the moments that a survey asked for (docs/theory.md, section 4.4).

Moments are estimated on the [-1, 1] scale, coefficients are given in the features' own units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.policy.checks import Accepts
from bcdp.statistics.columns import Column, Design, moment_weights
from bcdp.statistics.fitted import Fitted, fit, goal_of
from bcdp.statistics.forecast import forecast, told
from bcdp.statistics.least_squares import own_units
from bcdp.statistics.logistic import log_odds_units, per_slope
from bcdp.statistics.model import Model, RegressionEstimate
from bcdp.statistics.protocol import Decoder, Expected, Goal, Means, Prospect, Statistic, Weight
from bcdp.statistics.rows import Row, Section
from bcdp.statistics.target import Codes, Target

Array = npt.NDArray[np.float64]

_WORDS = {  # of each link: what it is, and what is told of it
    None: ("least squares", "coefficients in own units"),
    "logit": ("logistic regression", "changes of the log odds by one unit"),
}


class Regression(Statistic):
    """The coefficients of one regression, or of one for each value of the target."""

    kind: ClassVar[str] = "regression"
    form: ClassVar[str] = "{regression: {target: name, features: [names]}}"
    key: ClassVar[str] = "regressions"
    regression: Annotated[Model, Accepts("a mapping {target: name, features: [names]}", inside=True)]
    weight: Weight = 1.0

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        model = self.regression
        designs = model.designs(policy)
        for design in designs:
            for target, weight in moment_weights(policy, design, model.intercept, model.explains):
                yield target, weight / len(designs)

    def estimate(self, decoder: Decoder, confidence: float) -> Fitted:
        model = self.regression
        each = {design[-1]: fit(decoder, model, design, confidence) for design in model.designs(decoder.policy)}
        return {(model, column): found for column, found in each.items() if found is not None}

    @classmethod
    def document(cls, estimates: Fitted) -> dict[str, Any]:
        each = [one.to_dict() for one in estimates.values()]
        return {**({"regression": each[0]} if each else {}), **({cls.key: each} if len(each) > 1 else {})}

    @classmethod
    def sections(cls, policy: Policy, estimates: Fitted) -> Iterator[Section]:
        for one in estimates.values():
            yield from _sections(policy, one)

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [goal_of(policy, self.regression, design, data) for design in self.regression.designs(policy)]

    def expected(self, prospect: Prospect, people: int, records: Codes | None = None) -> Sequence[Expected]:
        model, policy, found = self.regression, prospect.policy, []
        for design in model.designs(policy):
            units = _units(policy, model, design)
            one = forecast(prospect, design, model.intercept, model.explains, units, people, records)
            found.append(told(design[-1].name(policy), one, guessed=records is None))
        return found


def _units(policy: Policy, model: Model, design: Design) -> Callable[[float, float], Array]:
    """What takes the coefficients of least squares to those told, given the target's variance and the share."""
    if model.link is None:
        return lambda variance, share: own_units(policy, design)
    return lambda variance, share: log_odds_units(policy, design) * per_slope(variance, share)


def _sections(policy: Policy, one: RegressionEstimate) -> Iterator[Section]:
    """The coefficients, where they are determined, and the shares that are explained."""
    numbers, (way, unit) = {"intercept": one.intercept, **one.coefficients}, _WORDS[one.link]
    about = _label(policy, one.design[-1])
    if all(math.isfinite(number.se) for number in numbers.values()):  # else they are not told
        yield Section(
            f"{about} by {way}",
            ("", "coefficient"),
            tuple(
                Row(name, f"{one.target}: {name}", number, (-math.inf, math.inf)) for name, number in numbers.items()
            ),
            title=f"{one.target} by {way}: {unit}, shrunk as the noise asks",
            interval=", unshrunk",
        )
    added = {f"added by {name}": share for name, share in one.adds.items() if len(one.adds) > 1}
    shares = {"all features": one.explained, **added}
    yield Section(
        f"{about}: share of variance explained",
        ("", "share"),
        tuple(Row(name, f"{one.target}: {name}", share, (0.0, 1.0)) for name, share in shares.items()),
        title=f"{one.target}: share of variance explained, and what each feature adds to the others",
        remarks=(one.remark,),
    )


def _label(policy: Policy, target: Column) -> str:
    label = policy.features[target.feature].label
    return (
        label if target.category is None else f"{label} = {policy.features[target.feature].categories[target.category]}"
    )
