"""One page that a person can open: what a plan protects, what was learned, and what it cost in accuracy."""

from bcdp.present.report.page import write_report

__all__ = ["write_report"]
