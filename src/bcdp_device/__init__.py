"""A person's device in plain Python: reads a plan, verifies its promise, answers it once, and sends the report.

Nothing but Python's own library is needed. To send sealed reports through a relay, install the extra `relay`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bcdp_device.device import Device
    from bcdp_device.errors import InputError
    from bcdp_device.ledger import Ledger, Limits
    from bcdp_device.plan import Plan, read_plan
    from bcdp_device.sending import NotTakenError, send
    from bcdp_device.verify import Verdict, verify_limits

_MODULES = {
    "Device": "device",
    "InputError": "errors",
    "Ledger": "ledger",
    "Limits": "ledger",
    "NotTakenError": "sending",
    "Plan": "plan",
    "Verdict": "verify",
    "read_plan": "plan",
    "send": "sending",
    "verify_limits": "verify",
}

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


if not TYPE_CHECKING:  # type checkers know the names above, and no others

    def __getattr__(name: str) -> Any:
        """Import a public name from its module on first use: `bcdp` needs the errors alone to start."""
        if name in _MODULES:
            return getattr(import_module(f"bcdp_device.{_MODULES[name]}"), name)
        raise AttributeError(f"module 'bcdp_device' has no attribute '{name}'")
