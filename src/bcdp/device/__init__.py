"""A record becomes a report, on the device: answered with integer tables, remembered, sent once.

Sending the same report again costs nothing (theory.md, Proposition 4); a new answer is a second release, whose
levels add up (section 4.6).
"""

from bcdp.device.answering import privatize
from bcdp.device.memory import Device
from bcdp.device.sending import NotTakenError, send, send_messages
from bcdp.mechanisms.survey.answering.reference import answers

__all__ = ["Device", "NotTakenError", "answers", "privatize", "send", "send_messages"]
