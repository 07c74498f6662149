"""What every test may need: one way to say that a part of the system is missing."""

import os

import pytest


def require(present: object, package: str) -> None:
    """Skips the test where a system package is missing; where CI=true a missing package is a failure."""
    if not present:
        sentence = f"needs the package {package}"
        if os.environ.get("CI") == "true":
            pytest.fail(sentence)
        pytest.skip(sentence)


from collector_fixtures import collection, postgres, store_url  # noqa: E402, F401
