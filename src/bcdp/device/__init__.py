"""A record becomes a report, on the device: answered with integer tables, remembered, sent once."""

from bcdp.device.answering import privatize
from bcdp.device.memory import Device
from bcdp.mechanisms.survey.answering import answers

__all__ = ["Device", "answers", "privatize"]
