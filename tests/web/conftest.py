"""Fixtures of the pages: a collector that serves them, its plan, and a visit."""

from support.web_pages import plan, server, visit  # noqa: F401
