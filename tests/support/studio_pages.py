"""The studio's page in a browser, and what a person does there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

SECONDS = 180_000  # a plan takes long where many tests run at once


class Visit:
    """A person's browser before a studio: what it asked for, and every complaint."""

    def __init__(self, browser: Browser, address: str, width: int = 1280, scheme: Any = "light") -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page = self.context.new_page()
        self.page.set_default_timeout(SECONDS)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(address)

    def ready(self) -> Page:
        self.page.wait_for_selector("body[data-state=ready]")
        return self.page

    def start(self, template: str) -> Page:
        self.page.get_by_role("button", name=template).click()
        return self.ready()


def saved(page: Page, button: str) -> str:
    with page.expect_download() as found:
        page.get_by_role("button", name=button).click()
    path: Path = found.value.path()
    return path.read_text("utf-8")
