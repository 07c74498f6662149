"""The command line: one thin command for each arrow from a policy to estimates, and the experiments."""

from bcdp.cli.app import main

__all__ = ["main"]
