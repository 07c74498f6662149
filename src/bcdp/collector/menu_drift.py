"""Whether menus are drawn as often as the plan says; if not, devices do not follow it or reports get lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from bcdp.collector.metrics import metric
from bcdp.collector.rounding import rounded_count
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.tally import SurveyTally
from bcdp.tally import Tally

_LEAST = 5.0  # reports that a menu has to expect; those that expect fewer are counted as one
_MOST_MENUS = 100  # of which each has lines of its own


def menu_counts(tally: Tally) -> list[int]:
    """How many people drew each menu."""
    survey = cast("SurveyTally", tally.whole)
    return [int(survey.counts(number).sum()) for number in range(len(tally.plan.menus))]


def menu_p_value(counts: Sequence[int], weights: Sequence[int]) -> float:
    """The probability that menus drawn by the plan are at least as far from what it expects: Pearson's test.

    Menus that are messages of everybody are not drawn. That some messages are lost says nothing about devices.

    >>> round(menu_p_value([500, 500], [2**31, 2**31]), 2), menu_p_value([900, 100], [2**31, 2**31]) < 1e-9
    (1.0, True)
    """
    from scipy.special import chdtrc

    if sum(weights) > TOTAL:
        return 1.0
    observed = np.array(counts, dtype=float)
    expected = np.array(weights, dtype=float) / TOTAL * observed.sum()
    large = expected >= _LEAST
    observed = np.append(observed[large], observed[~large].sum())
    expected = np.append(expected[large], expected[~large].sum())
    observed, expected = observed[expected > 0], expected[expected > 0]
    if len(expected) < 2:
        return 1.0
    return float(chdtrc(len(expected) - 1, np.sum((observed - expected) ** 2 / expected)))


def menu_metrics(tally: Tally) -> list[str]:
    """People, menus and how well they agree with the plan, as lines of Prometheus' text format.

    The tally is the one that the operator is shown, so that the metrics reveal no more than the dashboard.
    """
    counts, weights = menu_counts(tally), [menu.weight for menu in tally.plan.menus]
    lines = metric("bcdp_people", "gauge", "People in the estimates that are shown.", {"": str(tally.people)})
    meaning = "Probability of menus at least as far from the plan's, if every device follows it."
    lines += metric("bcdp_menus_p_value", "gauge", meaning, {"": f"{menu_p_value(counts, weights):.2g}"})
    if len(counts) <= _MOST_MENUS:
        observed = {f'{{menu="{number}"}}': str(rounded_count(count)[0]) for number, count in enumerate(counts)}
        expected = {
            f'{{menu="{number}"}}': f"{weight / TOTAL * tally.people:.6g}" for number, weight in enumerate(weights)
        }
        lines += metric("bcdp_menu_people", "gauge", "People who drew a menu, rounded.", observed)
        lines += metric("bcdp_menu_people_expected", "gauge", "People who the plan expects to draw it.", expected)
    return lines
