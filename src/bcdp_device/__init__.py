"""A person's device in plain Python: reads a plan, verifies its promise, answers it once, and sends the report.

Nothing but Python's own library is needed. To send sealed reports through a relay, install the extra `relay`.
"""

from bcdp_device.device import Device
from bcdp_device.errors import InputError
from bcdp_device.ledger import Ledger, Limits
from bcdp_device.plan import Plan, read_plan
from bcdp_device.sending import NotTakenError, send
from bcdp_device.verify import Verdict, verify_limits

__all__ = [
    "Device",
    "InputError",
    "Ledger",
    "Limits",
    "NotTakenError",
    "Plan",
    "Verdict",
    "read_plan",
    "send",
    "verify_limits",
]
