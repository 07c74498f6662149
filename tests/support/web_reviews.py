"""The survey page before an answer is given: its languages, its review, and storage that is full."""

from __future__ import annotations

from playwright.sync_api import Page, expect

FULL = """() => { const kept = (window.roomy = Storage.prototype.setItem);
Storage.prototype.setItem = function (key, value) {
  if (key.startsWith("bcdp.") && (WHICH).test(key)) throw new DOMException("full", "QuotaExceededError");
  return kept.call(this, key, value);
}; }"""
LANGUAGES = ("en", "de", "fr", "es", "ar")


def review(page: Page) -> None:
    page.locator("#next").click()
    expect(page.locator("#review")).to_be_visible()
