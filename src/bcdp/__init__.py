"""Bayesian Coordinate Differential Privacy: every feature of a record gets its own guarantee."""
