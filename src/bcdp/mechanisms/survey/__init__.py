"""The survey mechanism: few questions to each person, asked exactly, chosen by optimal design."""

from bcdp.mechanisms.survey.decoding import information
from bcdp.mechanisms.survey.limit import LowerBound, lower_bound
from bcdp.mechanisms.survey.planner import plan_survey

__all__ = ["LowerBound", "information", "lower_bound", "plan_survey"]
