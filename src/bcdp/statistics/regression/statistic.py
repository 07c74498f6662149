"""The regression of one feature on others, from the moments that a survey asked for (theory.md, section 4.4).

Moments are estimated on the [-1, 1] scale, coefficients are given in the features' own units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.policy.field_checks import Accepts
from bcdp.statistics.regression.design_matrix import Column, Design, moment_weights
from bcdp.statistics.regression.fit import Fitted, fit, goal_of
from bcdp.statistics.regression.forecast import expected_from, forecast
from bcdp.statistics.regression.least_squares import own_units
from bcdp.statistics.regression.logistic import log_odds_units, per_slope
from bcdp.statistics.regression.model import Model, RegressionEstimate
from bcdp.statistics.shared.protocol import Decoder, Expected, Goal, Means, Prospect, Statistic, Weight
from bcdp.statistics.shared.rows import Row, Section
from bcdp.statistics.shared.target import Codes, Target

Array = npt.NDArray[np.float64]

_WORDS = {  # of each link: what it is, and what is reported of it
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
        return {(model, column): estimate for column, estimate in each.items() if estimate is not None}

    @classmethod
    def document(cls, estimates: Fitted) -> dict[str, Any]:
        each = [estimate.to_dict() for estimate in estimates.values()]
        return {**({"regression": each[0]} if each else {}), **({cls.key: each} if len(each) > 1 else {})}

    @classmethod
    def sections(cls, policy: Policy, estimates: Fitted) -> Iterator[Section]:
        for estimate in estimates.values():
            yield from _sections(policy, estimate)

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [goal_of(policy, self.regression, design, data) for design in self.regression.designs(policy)]

    def expected(self, prospect: Prospect, people: int, records: Codes | None = None) -> Sequence[Expected]:
        model, policy, expected = self.regression, prospect.policy, []
        for design in model.designs(policy):
            units = _units(policy, model, design)
            prediction = forecast(
                prospect, design, model.intercept, guess=model.explains, units=units, people=people, records=records
            )
            expected.append(expected_from(design[-1].name(policy), prediction, guessed=records is None))
        return expected


def _units(policy: Policy, model: Model, design: Design) -> Callable[[float, float], Array]:
    """What takes the coefficients of least squares to those reported, given the target's variance and the share."""
    if model.link is None:
        return lambda variance, share: own_units(policy, design)
    return lambda variance, share: log_odds_units(policy, design) * per_slope(variance, share)


def _sections(policy: Policy, estimate: RegressionEstimate) -> Iterator[Section]:
    """The coefficients, where they are determined, and the shares that are explained."""
    numbers, (way, unit) = {"intercept": estimate.intercept, **estimate.coefficients}, _WORDS[estimate.link]
    about = _label(policy, estimate.design[-1])
    if all(math.isfinite(number.se) for number in numbers.values()):  # else they are not reported
        yield Section(
            f"{about} by {way}",
            ("", "coefficient"),
            tuple(
                Row(name, f"{estimate.target}: {name}", number, (-math.inf, math.inf))
                for name, number in numbers.items()
            ),
            title=f"{estimate.target} by {way}: {unit}, shrunk as the noise asks",
            interval=", unshrunk",
        )
    added = {f"added by {name}": share for name, share in estimate.adds.items() if len(estimate.adds) > 1}
    shares = {"all features": estimate.explained, **added}
    yield Section(
        f"{about}: share of variance explained",
        ("", "share"),
        tuple(Row(name, f"{estimate.target}: {name}", share, (0.0, 1.0)) for name, share in shares.items()),
        title=f"{estimate.target}: share of variance explained, and what each feature adds to the others",
        remarks=(estimate.remark,),
    )


def _label(policy: Policy, target: Column) -> str:
    label = policy.features[target.feature].label
    return (
        label if target.category is None else f"{label} = {policy.features[target.feature].categories[target.category]}"
    )
