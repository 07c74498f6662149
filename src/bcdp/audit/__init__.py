"""Nobody has to take our word for it: exact levels, statistical limits on black boxes, and a device's own check.

At a level delta every test of one guess against another has `e^delta alpha + beta >= 1` (theory.md,
Proposition 3), so error rates that are measured below that disprove the level. A device's own check uses Theorems 2 to
4, 6, 8 and 9.
"""

from bcdp.audit.blackbox import Limit, MeanAudit, Measured, audit_mean, audit_mechanism
from bcdp.audit.device import device_mechanism
from bcdp.audit.exact import Evidence, Level, PlanAudit, audit_plan, finer_levels
from bcdp.audit.population import (
    Population,
    in_ranges,
    population_from_file,
    population_from_prior,
    population_from_records,
    population_of,
)
from bcdp_device.verify import Verdict, verify_limits

__all__ = [
    "Evidence",
    "Level",
    "Limit",
    "MeanAudit",
    "Measured",
    "PlanAudit",
    "Population",
    "Verdict",
    "audit_mean",
    "audit_mechanism",
    "audit_plan",
    "device_mechanism",
    "finer_levels",
    "in_ranges",
    "population_from_file",
    "population_from_prior",
    "population_from_records",
    "population_of",
    "verify_limits",
]
