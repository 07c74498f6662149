"""Whether menus are drawn as often as the plan says; if not, devices do not follow it or reports get lost."""

from __future__ import annotations

from typing import cast

from bcdp.collector.metrics import metric
from bcdp.collector.rounding import rounded_count
from bcdp.collector.waves import expected_shares
from bcdp.mechanisms.survey.estimation.tally import SurveyTally
from bcdp.tally import Tally

_MOST_MENUS = 100  # of which each has lines of its own


def menu_counts(tally: Tally) -> list[int]:
    """How many people drew each menu."""
    survey = cast("SurveyTally", tally.whole)
    return [int(survey.counts(number).sum()) for number in range(len(tally.plan.menus))]


def menu_metrics(tally: Tally) -> list[str]:
    """People, menus and how well they agree with the plan, as lines of Prometheus' text format.

    The tally is the one that the operator is shown, so that the metrics reveal no more than the dashboard.
    """
    counts, shares = menu_counts(tally), expected_shares(tally)
    lines = metric("bcdp_people", "gauge", "People in the estimates that are shown.", {"": str(tally.people)})
    for key, check in tally.checks().items():
        meaning = f"At least the probability of {key} as unusual as these, if every device follows the plan."
        lines += metric(f"bcdp_{key}_p_value", "gauge", meaning, {"": f"{check.p:.2g}"})
    if len(counts) <= _MOST_MENUS:
        observed = {f'{{menu="{number}"}}': str(rounded_count(count)[0]) for number, count in enumerate(counts)}
        expected = {f'{{menu="{number}"}}': f"{share * tally.people:.6g}" for number, share in enumerate(shares)}
        lines += metric("bcdp_menu_people", "gauge", "People who drew a menu, rounded.", observed)
        lines += metric("bcdp_menu_people_expected", "gauge", "People who the plan expects to draw it.", expected)
    return lines
