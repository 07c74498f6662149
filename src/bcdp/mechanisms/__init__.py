"""The two mechanisms, and the verb that asks a policy's own for a plan."""

from bcdp.mechanisms.planning import make_plan

__all__ = ["make_plan"]
