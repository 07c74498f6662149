"""Fixtures that every test may use."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from support.collector_fixtures import collection, postgres, store_url  # noqa: F401
from support.system import CHROMIUM, require

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser without a window."""
    require(CHROMIUM, "chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=_ARGUMENTS)
        yield chromium
        chromium.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that at the end no process is left alone with a long one."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
