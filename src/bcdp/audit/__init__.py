"""Nobody has to take our word for it: exact levels, statistical limits on black boxes, and a device's own check."""

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
from bcdp.audit.verify import Verdict, verify_limits

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
