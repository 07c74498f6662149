"""The survey mechanism: few questions to each person, asked exactly, chosen by optimal design.

Menus are drawn whatever the record is, so each level is the largest over the menus (theory.md, Theorem 2), and
the error is at most `gap` times the best of the class (Theorem 5).
"""

from bcdp.mechanisms.survey.design.lower_bounds import LowerBound, lower_bound
from bcdp.mechanisms.survey.design.planner import plan_survey
from bcdp.mechanisms.survey.estimation.decoder import information

__all__ = ["LowerBound", "information", "lower_bound", "plan_survey"]
