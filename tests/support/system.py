"""System packages that some tests need: one way to say that a part of the system is missing."""

import os
import shutil

import pytest

CHROMIUM = shutil.which("chromium")


def require(present: object, package: str) -> None:
    """Skips the test where a system package is missing; where CI=true a missing package is a failure."""
    if not present:
        sentence = f"needs the package {package}"
        if os.environ.get("CI") == "true":
            pytest.fail(sentence)
        pytest.skip(sentence)
