"""Routing, headers, refusals and bodies of the collector's HTTP service."""
